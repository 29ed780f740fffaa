"""A file as it stands: what is there, how it looks, and its bytes of one moment.

Owns what tells two states of a file apart. It must never change anything.
"""

from __future__ import annotations

import io
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mdmem.errors import Refused, StorageFailed
from mdmem.fsio import paths
from mdmem.fsio.trouble import telling


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells two states of a file apart without reading it."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bytes of a file as they stood between two equal looks at it."""

    data: bytes
    stat: os.stat_result

    @property
    def stamp(self) -> Stamp:
        return stamp(self.stat)


class Displaced(Refused):
    """Somebody else saved the file meanwhile. `theirs` is that version, if it could be read; it is in place."""

    def __init__(self, path: str, theirs: Snapshot | None = None) -> None:
        super().__init__(f"{path} was saved by another program just now", "run the command again")
        self.theirs = theirs


class TooLarge(StorageFailed):
    """The file has more bytes than the caller wants in memory; none of them was read."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        super().__init__(f"{path} is too large: {size / 2**20:,.0f} MB, and at most {limit / 2**20:,.0f} MB are read")


def stamp(stat: os.stat_result) -> Stamp:
    """Take from a stat what tells two states of a file apart."""
    return Stamp(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def look(path: str, *, root: Path) -> os.stat_result | None:
    """Stat what stands at `path`, a link itself and not its target; None when nothing does."""
    *folders, name = paths.split(path)
    try:
        with telling("look at", path), paths.descend(root, folders) as folder:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except StorageFailed as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def leads_to(path: str, fd: int, *, root: Path) -> bool:
    """Tell whether `path` still names the file that is open as `fd`."""
    there = look(path, root=root)
    return there is not None and os.path.samestat(there, os.fstat(fd))


def read(path: str, *, root: Path, limit: int | None = None) -> Snapshot | None:
    """Read a regular file between two equal stats; None when missing, Displaced when it never stands still.

    TooLarge for one of more than `limit` bytes.
    """
    *folders, name = paths.split(path)
    with telling("read", path), suppress(FileNotFoundError):
        with paths.descend(root, folders) as folder:
            if limit is not None and (size := os.stat(name, dir_fd=folder, follow_symlinks=False).st_size) > limit:
                raise TooLarge(path, size, limit)
            if snapshot := read_settled(folder, name):
                return snapshot
        raise Displaced(path)
    return None


def read_settled(folder: int, name: str) -> Snapshot | None:
    """Read what stands still there; None when it does not."""
    for pause in (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032):
        time.sleep(pause)
        with io.FileIO(paths.open_regular(folder, name, os.O_RDONLY), "r") as file:
            before = os.fstat(file.fileno())
            data = file.readall()
            if stamp(before) == stamp(os.fstat(file.fileno())):
                return Snapshot(data, before)
    return None


def peek(folder: int, name: str) -> Snapshot | None:
    """Read what stands there; None when it is nothing, no regular file, or still being written."""
    with suppress(OSError):
        return read_settled(folder, name)
    return None
