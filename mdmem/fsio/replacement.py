"""Replacing a file that others save too: as a whole, and only if it still holds what the caller has seen.

Owns the way from a draft in tmp/ to its place, and a removal the same way back. It must never lose a version that
somebody saved meanwhile: that one gets its place again, or stays in tmp/, where `leftovers` finds it.
"""

from __future__ import annotations

import errno
import io
import os
import stat as modes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from mdmem.fsio import calls, paths
from mdmem.fsio.snapshot import Displaced, Snapshot, peek, read_settled
from mdmem.fsio.tail import write_whole
from mdmem.fsio.trouble import telling

_UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


@dataclass(frozen=True, slots=True)
class Replaced:
    """The file after `replace`. `links` above 1: other names still lead to the old content, as `kept` does."""

    stat: os.stat_result
    links: int
    kept: Path | None


@dataclass(frozen=True, slots=True)
class _Change:
    """One replacement on its way: first `draft`, then `swap` in the folder `spare`, at last `name` in `folder`."""

    path: str
    data: bytes
    base: Snapshot | None
    folder: int
    name: str
    spare: int
    prefix: str = ""
    token: str = field(default_factory=lambda: os.urandom(8).hex())

    @property
    def draft(self) -> str:
        return f"{self.prefix}mdmem-{self.token}.part"

    @property
    def swap(self) -> str:
        # The hashes tell, after a crash, whether this file is the base, ours, or a save that nobody has seen.
        was = sha256(self.base.data if self.base else b"").hexdigest()
        return f"{self.prefix}mdmem-{self.token}-{was}-{sha256(self.data).hexdigest()}.swap"


def replace(path: str, data: bytes, *, root: Path, base: Snapshot | None, tmp: Path) -> Replaced:
    """Put other bytes in the place of `base`, or of nothing, as a whole and durably; they are prepared in `tmp`.

    Displaced: what stood there was not the base; it stands there again. The version that was taken out stays in
    `tmp` until `sweep`, in case an editor is still writing into it. StorageFailed: nothing was changed or, when
    only the folder could not be synced, not durably.
    """
    *folders, name = paths.split(path)
    with telling("write", path), paths.descend(root, folders, create=base is None) as folder:
        try:
            with paths.descend(tmp.parent, [tmp.name], create=True) as spare:
                return _replace(_Change(path, data, base, folder, name, spare), tmp)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        beside = f".{os.fsdecode(os.fsencode(name)[:80])}."
        return _replace(_Change(path, data, base, folder, name, folder, beside), None)


def remove(path: str, *, root: Path, base: Snapshot, tmp: Path) -> None:
    """Take a file away that still holds `base`, durably; what was taken stays in `tmp` until `sweep`.

    Displaced: what stood there was not the base; it stands there again. StorageFailed: nothing was changed or, when
    only the folder could not be synced, not durably.
    """
    *folders, name = paths.split(path)
    with telling("remove", path), paths.descend(root, folders) as folder:
        try:
            with paths.descend(tmp.parent, [tmp.name], create=True) as spare:
                _take_out(_Change(path, b"", base, folder, name, spare))
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        beside = f".{os.fsdecode(os.fsencode(name)[:80])}."
        change = _Change(path, b"", base, folder, name, folder, beside)
        _take_out(change)
        paths.discard(folder, change.swap)


def _take_out(change: _Change) -> None:
    base = change.base
    if not _same(_standing(change.folder, change.name), base):
        raise Displaced(change.path, peek(change.folder, change.name))
    calls.rename(change.name, change.swap, src_dir_fd=change.folder, dst_dir_fd=change.spare)
    held = peek(change.spare, change.swap)
    if not _same(held, base):
        # Where the name was taken again meanwhile, what was taken out stays in tmp/, and `sweep` names it.
        with suppress(OSError):
            calls.link(change.swap, change.name, src_dir_fd=change.spare, dst_dir_fd=change.folder)
            calls.unlink(change.swap, dir_fd=change.spare)
        raise Displaced(change.path, held)
    paths.sync_folder(change.folder)


def _replace(change: _Change, tmp: Path | None) -> Replaced:
    base = change.base
    with _drafted(change) as file:
        theirs = _standing(change.folder, change.name)
        if not _same(theirs, base):
            raise Displaced(change.path, theirs)
        kept = None
        if base is None:
            _enter(change)
        elif _exchange(change):
            # Before the sync: a foreign save should not be away from its name for the length of one.
            _inspect(change, base)
            kept = tmp and tmp / change.swap
            if kept is None:
                paths.discard(change.spare, change.swap)
        paths.sync_folder(change.folder)
        return Replaced(os.fstat(file.fileno()), base.stat.st_nlink if base else 1, kept)


@contextmanager
def _drafted(change: _Change) -> Iterator[io.FileIO]:
    """Lend the new file, written and durable; whatever still has its first name at the end goes away."""
    try:
        fd = paths.open_regular(change.spare, change.draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with io.FileIO(fd, "w") as file:
            write_whole(fd, change.data, 0)
            if change.base is not None:
                _dress(fd, change.base.stat)
            calls.fsync(fd)
            yield file
    finally:
        paths.discard(change.spare, change.draft)


def _dress(fd: int, like: os.stat_result) -> None:
    ours = os.fstat(fd)
    if (ours.st_uid, ours.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            calls.chown(fd, like.st_uid, like.st_gid)
    calls.chmod(fd, modes.S_IMODE(like.st_mode))


def _standing(folder: int, name: str) -> Snapshot | None:
    """Read what stands there, and refuse anything that is no regular file."""
    with suppress(FileNotFoundError):
        return read_settled(folder, name)
    return None


def _same(one: Snapshot | None, other: Snapshot | None) -> bool:
    return (one and one.data) == (other and other.data)


def _enter(change: _Change) -> None:
    """Give the draft a name that must still be free."""
    try:
        try:
            calls.rename_how(calls.NOREPLACE, change.spare, change.draft, change.folder, change.name)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            calls.link(change.draft, change.name, src_dir_fd=change.spare, dst_dir_fd=change.folder)
    except FileExistsError as error:
        raise Displaced(change.path, peek(change.folder, change.name)) from error


def _exchange(change: _Change) -> bool:
    """Swap draft and file. False where the file system cannot: then the old content is gone, not in hand."""
    calls.rename(change.draft, change.swap, src_dir_fd=change.spare, dst_dir_fd=change.spare)
    try:
        calls.rename_how(calls.EXCHANGE, change.spare, change.swap, change.folder, change.name)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            calls.rename(change.swap, change.name, src_dir_fd=change.spare, dst_dir_fd=change.folder)
            return False
        paths.discard(change.spare, change.swap)
        if isinstance(error, FileNotFoundError):
            raise Displaced(change.path) from error
        raise
    return True


def _inspect(change: _Change, base: Snapshot) -> None:
    """Look at what was taken out. Not the base: what was saved last gets the name, and Displaced is raised."""
    held = peek(change.spare, change.swap)
    if _same(held, base):
        return
    there = change.data
    with suppress(OSError):
        for _ in range(5):
            calls.rename_how(calls.EXCHANGE, change.spare, change.swap, change.folder, change.name)
            out = peek(change.spare, change.swap)
            if out and out.data == there:
                break
            # Saved once more while ours stood there: that version is the newest, so it goes back instead.
            there, held = held.data if held else b"", out
        if there == change.data:
            paths.discard(change.spare, change.swap)
    raise Displaced(change.path, held)
