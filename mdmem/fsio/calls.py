"""The calls that may change the disk, each by a name, so that a test can record it, let it fail or drop it.

Owns nothing but these names. Whoever changes the disk goes through `calls.<name>`, and never holds on to a call
under a name of its own.
"""

from __future__ import annotations

import errno
import os
from functools import cache
from typing import Any

open = os.open
write = os.write
pwrite = os.pwrite
truncate = os.ftruncate
fsync = os.fsync
fdatasync = os.fdatasync
rename = os.rename
link = os.link
unlink = os.unlink
mkdir = os.mkdir
chmod = os.fchmod
chown = os.fchown

NOREPLACE, EXCHANGE = 1, 2
"""How `rename_how` treats what has the name already: it fails, or the two swap names."""


def rename_how(flags: int, source: int, name: str, target: int, to: str) -> None:
    """Rename as `flags` say. OSError with ENOSYS, EINVAL or EOPNOTSUPP where system or file system cannot."""
    import ctypes

    call = getattr(_libc(), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(source, os.fsencode(name), target, os.fsencode(to), flags):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@cache
def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
