"""How a file is reached: its path is checked, walked down one real folder at a time, and opened if it is regular.

Owns the names of files and folders, their making and their durability. It must never follow a link below the root,
or wait for a file that is no regular one.
"""

from __future__ import annotations

import errno
import os
import stat as modes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from unicodedata import category

from mdmem.errors import BadInput
from mdmem.fsio import calls
from mdmem.fsio.trouble import telling

_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def check_relative(path: str) -> str:
    """Return `path` if it may be part of an address, else raise BadInput.

    Relative, `/` between components, none empty, dot-led or above 255 bytes, no backslash, NUL or control.
    """
    for part in split(path):
        if part.startswith(".") or "\\" in part or any(category(char) == "Cc" for char in part):
            raise BadInput(f"{path!r} is no path of a vault", "no `\\`, control or leading `.` in a name")
    return path


def split(path: str) -> list[str]:
    """Split a path into names that lead nowhere but down; weaker than an address, to reach any file there is."""
    parts = path.split("/")
    try:
        fits = all(part not in ("", ".", "..") and len(os.fsencode(part)) <= 255 for part in parts)
    except UnicodeEncodeError:
        fits = False
    if not fits or "\0" in path:
        raise BadInput(f"{path!r} is no path of a vault", "use names with `/` between them, without `..`")
    return parts


@contextmanager
def descend(root: Path, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """Walk down from the root, one real folder at a time, and lend the last one's descriptor."""
    here = calls.open(root, _FOLDER)
    try:
        for name in names:
            above, here = here, step(here, name, create)
            os.close(above)
        yield here
    finally:
        os.close(here)


def step(here: int, name: str, create: bool) -> int:
    """Open a real folder in an open one, with O_PATH; the descriptor is the caller's to close."""
    with suppress(FileNotFoundError):
        return calls.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here)
    if not create:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    with suppress(FileExistsError):
        calls.mkdir(name, 0o700, dir_fd=here)
    return calls.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here)


def open_regular(folder: int, name: str, flags: int) -> int:
    """Open a regular file of mode 0600 and no other kind."""
    fd = calls.open(name, flags | _SAFELY, 0o600, dir_fd=folder)
    if not modes.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
    return fd


def reach(path: str, *, root: Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file and return its descriptor, the caller's to close; O_CREAT makes its folders too."""
    *folders, name = split(path)
    with telling(_verb(flags), path), descend(root, folders, create=bool(flags & os.O_CREAT)) as folder:
        return open_regular(folder, name, flags)


@contextmanager
def opened(path: str, *, root: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Lend what `reach` opens. An OSError of the block becomes StorageFailed."""
    fd = reach(path, root=root, flags=flags)
    try:
        with telling(_verb(flags), path):
            yield fd
    finally:
        os.close(fd)


def _verb(flags: int) -> str:
    return "read" if flags & os.O_ACCMODE == os.O_RDONLY else "write"


def sync_folders(path: str, *, root: Path) -> None:
    """Make the name of `path`, and those of the folders it lies in, durable up to the root."""
    with telling("save", path):
        sync_chain(root, split(path)[:-1])


def sync_chain(root: Path, folders: list[str]) -> None:
    """Sync each folder on the way, the deepest first and the root last."""
    for depth in range(len(folders), -1, -1):
        with descend(root, folders[:depth]) as folder:
            sync_folder(folder)


def sync_folder(folder: int) -> None:
    """Make the names in an open folder durable."""
    fd = calls.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        calls.fsync(fd)
    finally:
        os.close(fd)


def discard(folder: int, name: str) -> None:
    """Remove a name if that can be done; for files of ours that `sweep` clears otherwise."""
    with suppress(OSError):
        calls.unlink(name, dir_fd=folder)
