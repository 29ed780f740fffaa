"""Files changed as a whole, all those of one change or none: journalled, done, and finished after a crash.

Owns the records of such changes. It must never write over a version of a file that it has not seen. Called under the
write lock throughout.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from mdmem import fsio, merge
from mdmem.errors import MdmemError, StorageFailed
from mdmem.merge import Patch
from mdmem.store.journal import Journal, Record, Tracked
from mdmem.vault.daylog import decoded, encoded
from mdmem.vault.place import Place
from mdmem.vault.reasons import KEPT


@dataclass(frozen=True, slots=True)
class Step:
    """What a change does to one file: `base` stands there, `wanted` shall; None is no file."""

    path: str
    base: fsio.Snapshot | None
    wanted: bytes | None
    proof: Callable[[bytes], None] | None = None
    """Looks at what was written, read back from the disk, before the next step; raises StorageFailed."""

    @property
    def before(self) -> bytes | None:
        return held(self.base)


@dataclass(frozen=True, slots=True)
class Versions:
    """A file around one change: what it held before, and what it held after."""

    before: bytes | None
    after: bytes | None


@dataclass(slots=True)
class Replacements:
    """The way of whole files into their place."""

    place: Place
    journal: Journal
    notices: list[str]

    def carry_out(self, steps: Sequence[Step], *, op: str, message: str, group: str) -> list[Record]:
        """Do all steps of a change durably and give their records, or none of them.

        Raises fsio.Displaced when somebody saved one of the files meanwhile, StorageFailed when it cannot be done;
        then everything is as it was.
        """
        records = [_record(step, op, message, group) for step in steps]
        self.journal.append(*records)
        tried: list[Step] = []
        try:
            for step in steps:
                tried.append(step)
                self._put(step)
                if step.proof:
                    step.proof(held(self.place.read(step.path)) or b"")
        except MdmemError:
            with suppress(MdmemError):  # what is not marked, the next command looks at again
                self._put_back(tried)
                self.journal.mark("void", [record.id for record in records])
            raise
        self._mark_placed(records)
        return records

    def _put(self, step: Step) -> None:
        root, tmp = self.place.root, self.place.state / "tmp"
        if step.wanted is not None:
            fsio.replace(step.path, step.wanted, root=root, base=step.base, tmp=tmp)
        elif step.base is not None:
            fsio.remove(step.path, root=root, base=step.base, tmp=tmp)

    def _put_back(self, tried: Sequence[Step]) -> None:
        for step in reversed(tried):
            there = self.place.read(step.path)
            if held(there) == step.wanted != step.before:
                self._put(Step(step.path, there, step.before))

    def _mark_placed(self, records: Sequence[Record]) -> None:
        for record in records:
            try:
                self.journal.mark("placed", [record.id], path=record.path)
            except StorageFailed as error:
                self.notices.append(f"changed, not yet in history: {error.message}; nothing to repeat")

    def settle(self, waiting: Sequence[Tracked]) -> None:
        """Finish each change that was under way when its process died: done in one file, it is done in all."""
        for one in waiting:
            if one.record.op in KEPT:
                self.journal.mark("held", [one.record.id], reason=KEPT[one.record.op])
        changes = (one for one in waiting if one.record.op not in KEPT)
        for _, group in groupby(changes, key=lambda one: one.record.group):
            try:
                self._settle([one.record for one in group])
            except MdmemError as error:
                self.notices.append(f"a change that was broken off waits: {error.message}")

    def _settle(self, records: Sequence[Record]) -> None:
        done = [record for record in records if self._is_done(record)]
        for record in records if done else ():
            if record not in done and self._redo(record):
                done.append(record)
        self._mark_placed(done)
        self.journal.mark("void", [record.id for record in records if record not in done])

    def _is_done(self, record: Record) -> bool:
        """Tell whether a change reached its file, where somebody may have saved that since."""
        path = record.path or ""
        now = held(self.place.read(path))
        if digest(now) == record.after:
            return True
        known = versions(record, None, self.place.repo.read("HEAD", path))
        if known is None or now in (None, known.before):
            return False
        merged = merge.three_way(path, known.before, known.after, now)
        return merged.data == now and not merged.clashes

    def _redo(self, record: Record) -> bool:
        """Do what is missing of a change, unless somebody changed the file meanwhile."""
        snapshot = self.place.read(record.path or "")
        known = versions(record, None, held(snapshot))
        if known is None or digest(held(snapshot)) != record.before:
            return False
        self._put(Step(record.path or "", snapshot, known.after))
        return True


def held(snapshot: fsio.Snapshot | None) -> bytes | None:
    """Give what a file held, None for no file."""
    return snapshot.data if snapshot else None


def _record(step: Step, op: str, message: str, group: str) -> Record:
    change = merge.patch(step.before or b"", step.wanted or b"")
    return Record(
        op=op,
        path=step.path,
        before=digest(step.before),
        after=digest(step.wanted),
        group=group,
        extra={"message": message, "patch": [change.start, decoded(change.cut), decoded(change.put)]},
    )


def versions(record: Record, now: bytes | None, head: bytes | None) -> Versions | None:
    """Tell a change apart from what else happened to its file: from the file now, or from its version in HEAD.

    None when both were changed otherwise since.
    """
    start, cut, put = record.extra["patch"]
    change = Patch(start, encoded(cut), encoded(put))
    if digest(now) == record.after:
        before = merge.backward(now or b"", change) if record.before else None
        return Versions(before, now)
    if digest(head) == record.before:
        after = merge.forward(head or b"", change) if record.after else None
        return Versions(head, after)
    return None


def digest(data: bytes | None) -> str | None:
    """Give the SHA-256 of a file's bytes, None for no file."""
    return hashlib.sha256(data).hexdigest() if data is not None else None
