"""Files that people deleted: noted for `recover`, unless they only have another name now, or stand there again.

Owns the records of deleted files, and when they are let go. It must never write a memory file, nor take a text for
standing elsewhere of which a line is missing there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from mdmem import indexer
from mdmem.errors import MdmemError
from mdmem.store.journal import Journal, Mark, Record, Tracked
from mdmem.text import changes, packs, renames, units
from mdmem.vault import archives
from mdmem.vault.place import Place
from mdmem.vault.reasons import DELETED, FILE_GONE

Content = bytes | None

SHOWN = 5
"""Entries of a deleted log that its record begins with."""


class Standing:
    """The memory files as they stand, read where their size says that they may be what is looked for."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._by_size: dict[int, list[str]] = {}
        for file in indexer.scan(str(place.root), place.settings.items("roots")).files:
            self._by_size.setdefault(file.size, []).append(file.path)
        self.paths = {path for paths in self._by_size.values() for path in paths}
        self._blobs: dict[str, str] = {}

    def twin(self, path: str, blob: str, size: int) -> str | None:
        """Find another file with the bytes that a blob has."""
        return next((one for one in self._by_size.get(size, ()) if one != path and self.blob(one) == blob), None)

    def blob(self, path: str) -> str:
        """Give the id that git gives to what a file holds."""
        if path not in self._blobs:
            self._blobs[path] = self._place.repo.blob_id(self._place.content(path) or b"")
        return self._blobs[path]


@dataclass(slots=True)
class Departures:
    """The files that went."""

    place: Place
    journal: Journal

    def find(self) -> None:
        """Note files that are gone, though no commit says so yet."""
        repo = self.place.repo
        if not repo.head() or not (self.place.root / "memory").is_dir() or repo.is_at_work():
            return
        standing = Standing(self.place)
        tree = set(filter(self.place.is_memory, repo.tree()))
        gone = tree - standing.paths
        gone -= {one.file for one in self.journal.scan(settled=False) if one.state == "placed"} if gone else set()
        if gone:
            come = {path: self.place.content(path) for path in standing.paths - tree}
            self.note(list(self.records(repo.read_many("HEAD", sorted(gone)), dict.fromkeys(sorted(gone)) | come)))

    def origins(self, paths: Iterable[str]) -> list[str]:
        """Give the files that are gone and stand, byte for byte, as one of these new files: they were renamed."""
        tree = {path: leaf[1] for path, leaf in self.place.repo.tree().items() if self.place.is_memory(path)}
        fresh = [path for path in paths if self.place.is_memory(path) and path not in tree]
        if not fresh:
            return []
        standing = Standing(self.place)
        came = {standing.blob(path) for path in fresh if path in standing.paths}
        return [path for path, blob in tree.items() if path not in standing.paths and blob in came]

    def old_names(self, fresh: Mapping[str, bytes]) -> dict[str, str]:
        """Give of new documents the names that they have in history, where one is much like a file that is gone."""
        come = {path: data for path, data in fresh.items() if self.place.is_memory(path) and not units.is_log(path)}
        gone = set(filter(self.place.is_memory, self.place.repo.tree())) - Standing(self.place).paths if come else set()
        if not gone:
            return {}
        return {new: old for old, new in renames.find(self.place.repo.read_many("HEAD", sorted(gone)), come).items()}

    def successor(self, path: str, data: bytes, commit: str) -> str | None:
        """Find a file that came after a commit and holds much of what a deleted file held there."""
        standing, then = Standing(self.place), self.place.repo.tree(commit)
        come = {other: self.place.content(other) or b"" for other in sorted(standing.paths - then.keys() - {path})}
        return renames.find({path: data}, come).get(path)

    def records(self, before: Mapping[str, bytes], after: Mapping[str, Content]) -> Iterator[Record]:
        """Make the records of files that a person deleted; `before` holds what HEAD has of them.

        What was renamed, or stands in another file byte for byte, is not lost.
        """
        said = ({path: archives.shown(path, data) for path, data in each.items()} for each in (before, after))
        deleted = renames.sort(*said).deleted
        gone = [path for path in deleted if path in before and path.endswith((".md", packs.ARCHIVE))]
        head = self.place.repo.head() if gone else None
        standing = Standing(self.place) if head else None
        for path in gone if standing else ():
            data = before[path]
            blob = self.place.repo.blob_id(data)
            if standing and data.strip() and not standing.twin(path, blob, len(data)):
                noted = self.place.now().isoformat(timespec="seconds")
                extra = {"commit": head, "noted": noted, "blob": blob, "size": len(data)}
                yield Record(op=FILE_GONE, path=path, text=_told(path, data), extra=extra)

    def note(self, records: Iterable[Record]) -> None:
        """Keep records of deleted files, each deletion once."""
        known = {(one.record.path, one.record.extra.get("blob")) for one in self._held()}
        fresh = [record for record in records if (record.path, record.extra["blob"]) not in known]
        if fresh:
            self.journal.append(*fresh)
            self.journal.mark("held", [record.id for record in fresh], reason=DELETED)

    def let_go(self) -> None:
        """Let go of what stands in its place again, with nothing missing, or byte for byte in another file."""
        if held := self._held():
            standing = Standing(self.place)
            found = [(one.record.id, self._where(one.record, standing)) for one in held]
            self.journal.mark_all([Mark(state="void", ids=(id,), reason=where) for id, where in found if where])

    def _where(self, record: Record, standing: Standing) -> str | None:
        """Tell where the text of a deleted file stands now; None where it does not."""
        path, blob = record.path or "", str(record.extra.get("blob"))
        now = self.place.content(path) if path in standing.paths else None
        if now is not None and (self.place.repo.blob_id(now) == blob or self._is_within(record, now)):
            return "it stands there again"
        twin = standing.twin(path, blob, int(record.extra.get("size", -1)))
        return f"it stands in {twin}" if twin else None

    def _is_within(self, record: Record, now: bytes) -> bool:
        with suppress(MdmemError):  # a commit that cannot be read: then it stays listed
            data = self.place.repo.read(str(record.extra["commit"]), record.path or "")
            return data is not None and renames.holds_all(now, data)
        return False

    def _held(self) -> list[Tracked]:
        if self.journal.is_empty():
            return []
        scanned = self.journal.scan(settled=False)
        return [one for one in scanned if one.record.op == FILE_GONE and one.state == "held"]


def _told(path: str, data: bytes) -> str:
    """Say what a file was in a few words: its title, or how many entries it had and which."""
    found = units.read(path, archives.shown(path, data) or b"").units
    if listed := [unit for unit in found if unit.kind == "entry"]:
        count = f"{len(listed)} entries" if len(listed) > 1 else "1 entry"
        return f"{count}: {' · '.join(changes.headline(unit.text) for unit in listed[:SHOWN])}"
    return changes.headline(found[0].title if found else path)
