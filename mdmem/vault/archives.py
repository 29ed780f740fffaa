"""What archives say: the text of a compressed document, and the logs of a closed year that are packed in one.

Owns the way from the bytes of an archive, which is what stands on disk and in history, to what a person reads. It must
never write, nor let a damaged archive hide anything but itself.
"""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mdmem import indexer
from mdmem.errors import MdmemError, Refused, StorageFailed
from mdmem.store import archive
from mdmem.text import entries, markdown, packs, units
from mdmem.text.packs import Member

if TYPE_CHECKING:
    from mdmem.vault.place import Place

KEPT = 64 * 2**20
"""Bytes of expanded archives that a process keeps at hand: some years of logs."""

DEEP = 50
"""So many commits of an archive are looked through for one that can be read."""


@dataclass(slots=True)
class _Recent:
    """The archives that were expanded last, by their bytes."""

    _kept: OrderedDict[bytes, bytes] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def expanded(self, data: bytes) -> bytes:
        with self._lock:
            if data in self._kept:
                self._kept.move_to_end(data)
                return self._kept[data]
        said = archive.expand(data)
        with self._lock:
            if data not in self._kept and len(said) <= KEPT // 2:
                self._kept[data] = said
                self._size += len(said)
            while self._size > KEPT:
                self._size -= len(self._kept.popitem(last=False)[1])
        return said


_recent = _Recent()


def legible(path: str, data: bytes) -> bytes:
    """Give what these bytes of a file say: of an archive what is packed in it. Raises StorageFailed, which names it."""
    if not packs.is_archive(path):
        return data
    try:
        return _recent.expanded(data)
    except StorageFailed as error:
        raise StorageFailed(f"{path}: {error.message}", error.hint) from error


def shown(path: str, data: bytes | None) -> bytes | None:
    """Give what these bytes of a file say, or why that cannot be told."""
    try:
        return None if data is None else legible(path, data)
    except StorageFailed as error:
        return f"({error.message})\n".encode("utf-8", "surrogateescape")


def problem(path: str, data: bytes) -> str:
    """Say why these bytes of an archive cannot be read, without its name; "" where they can, and for another file."""
    try:
        legible(path, data)
    except StorageFailed as error:
        return error.message.removeprefix(f"{path}: ")
    return ""


def damaged(place: Place) -> Iterator[tuple[str, str]]:
    """Yield the archives of the vault that cannot be read, and why."""
    for file in indexer.scan(str(place.root), place.settings.items("roots")).files:
        if packs.is_archive(file.path):
            try:
                place.legible(file.path)
            except MdmemError as error:
                yield file.path, error.message.removeprefix(f"{file.path}: ")


def remedy(place: Place, path: str) -> str:
    """Say how the newest version of an archive in history that can be read comes back."""
    name = shlex.quote(path)
    with suppress(MdmemError):
        head = place.repo.read("HEAD", path)
        if head is not None and not problem(path, head):
            return f"`git checkout HEAD -- {name}`, in the vault, brings back the version in history"
        for info in place.repo.history(paths=[path], k=DEEP):
            for blob in (file.new for file in info.files if file.path == path and file.new):
                if not any(problem(path, data) for _, data in place.repo.blobs([blob])):
                    return f"`git checkout {info.id[:12]} -- {name}`, in the vault, brings back one that can be read"
    return "history has no version that can be read: take it from a backup, or from another clone"


def holding(place: Place, wanted: Callable[[str], bool]) -> list[str]:
    """List the archives, under whatever name, that hold a log whose path is wanted."""
    found = []
    for file in indexer.scan(str(place.root), place.settings.items("roots")).files:
        data = place.said(file.path) if packs.is_archive(file.path) or file.path.startswith(packs.FOLDER) else None
        if data is not None and any(wanted(one.path) for one in packs.members(data)):
            found.append(file.path)
    return found


def log(place: Place, path: str) -> tuple[str, Member] | None:
    """Find the archived log that stood at a path: the path of its archive, and itself; None where there is none.

    Raises StorageFailed where it may be in an archive that cannot be read.
    """
    failed: MdmemError | None = None
    for home in packs.homes(path):
        # Where somebody expanded an archive, that one is read.
        for archived in (home.removesuffix(packs.SUFFIX), home):
            try:
                said = place.legible(archived)
            except MdmemError as error:
                failed, said = error, None
            found = next((one for one in packs.members(said or b"") if one.path == path), None)
            if found:
                return archived, found
            if said is not None:
                break
    if failed:
        raise failed
    return None


def of_year(place: Place, name: str) -> list[str]:
    """List the archives of a year: one, or those of its months; what stands there uncompressed, too, and hides one."""
    folder = place.root / packs.FOLDER
    mine = re.compile(rf"{name}(-\d\d)?\.md(\.zst)?")
    if indexer.link_on_the_way(str(place.root), packs.FOLDER.rstrip("/")):
        return []
    return [packs.FOLDER + one for one in sorted(filter(mine.fullmatch, os.listdir(folder)))] if folder.is_dir() else []


def clocks(place: Place, path: str) -> frozenset[str]:
    """Give the minutes of the entries that an archive has of the log at a path: their addresses are taken."""
    try:
        found = log(place, path)
    except MdmemError:  # nobody can tell; an entry must not wait for that
        found = None
    if found is None:
        return frozenset()
    return frozenset(entry.time[:5] for entry in entries.parse(markdown.decode(found[1].data).text).entries)


def require_plain(path: str, unit: units.Unit) -> None:
    """Refuse to change what is in an archive."""
    stem = unit.address.partition("#")[0]
    if packs.is_archive(path) or stem != units.stem_of(path):
        hint = f"nothing was changed; `mdmem unpack {stem}` puts it back as a file of its own, to be changed"
        raise Refused(f"{unit.address} is in the archive {path}", hint)
