"""The socket of a vault's long-lived process: where it lies, and whether who is there is the same user.

Owns the folder's checks. It must never use one that somebody else could reach, nor talk to another user.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat as modes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmem import config
from mdmem.errors import Refused


def name(root: Path) -> str:
    """Name the socket of the vault at `root`, an absolute path without links."""
    return f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}.sock"


def path(root: Path) -> Path:
    """Give the path of a vault's socket, be it there or not."""
    return config.runtime_dir() / name(root)


@contextmanager
def reached(root: Path) -> Iterator[str]:
    """Lend a path to a vault's socket that holds while its folder is open, however long the folder's own is.

    Raises FileNotFoundError where there is no such folder, Refused where it is not private.
    """
    place = path(root)
    folder = os.open(place.parent, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        stat = os.fstat(folder)
        if stat.st_uid != os.geteuid() or modes.S_IMODE(stat.st_mode) & 0o077:
            raise Refused(f"{place.parent} is not private", "make it your own, of mode 0700")
        by_descriptor = f"/proc/self/fd/{folder}"
        yield f"{by_descriptor}/{place.name}" if os.path.isdir(by_descriptor) else str(place)
    finally:
        os.close(folder)


def is_same_user(connection: socket.socket) -> bool:
    """Tell whether the other end runs as the same user, where the system can say so."""
    return peer(connection)[1] == os.geteuid()


def peer(connection: socket.socket) -> tuple[int, int]:
    """Give process and user of the other end; where the system does not say, 0 and the user that we are."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:  # then the folder's mode alone keeps others out
        return 0, os.geteuid()
    pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return pid, user
