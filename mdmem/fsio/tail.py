"""The end of a file: what is added there, as a whole or not at all, and what is cut off.

Owns appending and its sync. It must never leave half of its bytes behind, or cut off bytes of somebody else.
"""

from __future__ import annotations

import errno
import io
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdmem.fsio import calls, paths
from mdmem.fsio.snapshot import Displaced, Stamp, stamp
from mdmem.fsio.trouble import telling


@dataclass(frozen=True, slots=True)
class Appended:
    """Where appended bytes begin, and the file right after. `sync` makes it durable and closes `file`."""

    path: str
    root: Path
    offset: int
    stat: os.stat_result
    file: io.FileIO
    fresh: bool


def append(path: str, data: bytes, *, root: Path, expect: Stamp | Literal["any", "missing"] = "any") -> Appended:
    """Add bytes to the end of a file in one write, after the file's own line ending where its last line has none.

    `expect` is the state the caller has seen; the file and its folders are made unless that is a stamp. Displaced:
    the file was another, or became another meanwhile, so that nobody knows whether the bytes are in it: look, and
    redo. StorageFailed: the file is as it was. Not durable before `sync`, which must follow, best outside the lock.
    """
    *folders, name = paths.split(path)
    with (
        telling("append to", path),
        ExitStack() as failed,
        paths.descend(root, folders, create=isinstance(expect, str)) as folder,
    ):
        file = failed.enter_context(_at_end(folder, name, path, expect))
        before = os.fstat(file.fileno())
        joint = _missing_ending(file.fileno(), before.st_size)
        write_whole(file.fileno(), joint + data, before.st_size)
        after = os.fstat(file.fileno())
        whole = after.st_size == before.st_size + len(joint) + len(data)
        if not (whole and _still_there(folder, name, after)):
            raise Displaced(path)
        failed.pop_all()
        return Appended(path, root, before.st_size + len(joint), after, file, before.st_size == 0)


def _at_end(folder: int, name: str, path: str, expect: Stamp | str) -> io.FileIO:
    making = {"any": os.O_CREAT, "missing": os.O_CREAT | os.O_EXCL}.get(str(expect), 0)
    try:
        file = io.FileIO(paths.open_regular(folder, name, os.O_RDWR | os.O_APPEND | making), "r+")
    except (FileExistsError, FileNotFoundError) as error:
        raise Displaced(path) from error
    if isinstance(expect, Stamp) and stamp(os.fstat(file.fileno())) != expect:
        file.close()
        raise Displaced(path)
    return file


def _missing_ending(fd: int, size: int) -> bytes:
    tail = os.pread(fd, 65536, max(0, size - 65536))
    if not tail or tail.endswith(b"\n"):
        return b""
    line_end = tail.rfind(b"\n")
    return b"\r\n" if line_end > 0 and tail[line_end - 1] == 0x0D else b"\n"


def _still_there(folder: int, name: str, stat: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), stat)
    except FileNotFoundError:
        return False


def write_whole(fd: int, data: bytes, size: int) -> None:
    """Write bytes at the end of an open file of `size` bytes; when not all went in, cut back what did."""
    written = 0
    try:
        while written < len(data):
            # A second round is rare: it completes a write that came back short, or learns from its error why.
            written += _some(calls.write(fd, data[written:]))
    finally:
        if 0 < written < len(data):
            _cut_back(fd, size, written)


def _some(count: int) -> int:
    if count <= 0:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return count


def _cut_back(fd: int, size: int, written: int) -> None:
    # What failed already is the error to tell; a torn line that cannot be cut is mended by whoever delivers it.
    with suppress(OSError):
        if os.fstat(fd).st_size == size + written:
            calls.truncate(fd, size)


def sync(appended: Appended) -> None:
    """Make appended bytes durable, for a new file also each folder's entry, and close the file whatever happens."""
    with telling("save", appended.path), appended.file:
        calls.fdatasync(appended.file.fileno())
        if appended.fresh:
            paths.sync_chain(appended.root, paths.split(appended.path)[:-1])


def truncate(path: str, size: int, *, root: Path, expect: Stamp) -> None:
    """Cut a file to `size` bytes, durably; Displaced when it is not in the state the caller has seen."""
    with paths.opened(path, root=root, flags=os.O_RDWR) as fd:
        if stamp(os.fstat(fd)) != expect:
            raise Displaced(path)
        calls.truncate(fd, size)
        calls.fdatasync(fd)
