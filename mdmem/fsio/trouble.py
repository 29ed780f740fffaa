"""What the system says when a file cannot be had, in words for a person: the cause, and what to do about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from mdmem.errors import MdmemError, StorageFailed

_TRY_AGAIN = "then run the command again"
_CAUSES = {
    errno.ENOSPC: ("the disk is full", f"free some space, {_TRY_AGAIN}"),
    errno.EDQUOT: ("the disk quota is used up", f"free some space, {_TRY_AGAIN}"),
    errno.EFBIG: ("the limit on file sizes is reached", f"raise `ulimit -f`, {_TRY_AGAIN}"),
    errno.EROFS: ("the file system is read-only", f"make it writable, {_TRY_AGAIN}"),
    errno.EACCES: ("permission denied", "look at owner and mode of the file and its folders"),
    errno.EPERM: ("permission denied", "look at owner, mode and attributes (`lsattr`) of the file"),
    errno.ELOOP: ("it is a symbolic link", "put the file itself there: links are not followed"),
    errno.ENOTDIR: ("a folder on the way is a link or no folder", "links are not followed: use real folders"),
    errno.EISDIR: ("it is not a regular file", "move it away, or choose another name"),
    errno.ENXIO: ("it is not a regular file", "move it away, or choose another name"),
    errno.ENOENT: ("it is not there", "look whether the folder was moved or unmounted"),
    errno.EMFILE: ("too many files are open", f"raise `ulimit -n`, {_TRY_AGAIN}"),
    errno.ENFILE: ("too many files are open", f"close other programs, {_TRY_AGAIN}"),
    errno.EIO: ("the disk reports an error", "look at the disk before you go on"),
}


_SAID = {
    "Out of diskspace": errno.ENOSPC,
    "database or disk is full": errno.ENOSPC,
    **{os.strerror(code): code for code in _CAUSES if code not in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR)},
}
"""How git, SQLite and the system name a cause; not those that a program also has for what it was asked."""


def told(words: str) -> tuple[str, str] | None:
    """Find in the words of a program why the system refused it: cause and hint; None when they do not say."""
    return next((_CAUSES[code] for said, code in _SAID.items() if said in words), None)


def why(error: Exception) -> str:
    """Say in words for a person what failed, without the system's number of it."""
    if isinstance(error, MdmemError):
        return error.message
    if not isinstance(error, OSError):
        return str(error)
    cause, _ = _CAUSES.get(error.errno or 0, (error.strerror or str(error), ""))
    return f"cannot reach {os.fsdecode(error.filename)}: {cause}" if error.filename else cause


@contextmanager
def telling(verb: str, path: str) -> Iterator[None]:
    """Turn an OSError of the block into a StorageFailed that says what could not be done to `path`, and why."""
    try:
        yield
    except OSError as error:
        cause, hint = _CAUSES.get(error.errno or 0, (error.strerror or str(error), "look at the disk"))
        raise StorageFailed(f"cannot {verb} {path}: {cause}", hint) from error
