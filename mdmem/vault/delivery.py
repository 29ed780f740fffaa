"""From the journal to the file: acknowledged entries put into their logs, once each, whatever happened before.

Owns the write lock and where an entry goes. It must never change an earlier byte of a log, and never place a record
that already stands there: a record is looked for before it is written, unless it is this very process's own.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from stat import S_ISREG

from mdmem import fsio
from mdmem.errors import Refused, StorageFailed
from mdmem.store.journal import Journal, Mark, Record, Tracked
from mdmem.store.lock import Lock
from mdmem.text import entries, markdown, units
from mdmem.vault.place import Place

SMALL = 1024
"""Bytes up to which an entry is appended; what is larger replaces the file, so that no reader sees half of it."""

RENAME_GAP = 0.1
"""Seconds for which a log that history knows may be missing while an editor renames its new version into place."""

TRIES = 5


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a record went."""

    path: str
    address: str
    lines: tuple[int, int]


@dataclass(slots=True)
class Delivery:
    """The way of records into files."""

    place: Place
    journal: Journal
    notices: list[str]
    lock: Lock
    placed: dict[str, Placed] = field(default_factory=dict)
    _unsynced: list[fsio.Appended] = field(default_factory=list)

    @contextmanager
    def writing(self, timeout_ms: int) -> Iterator[None]:
        """Hold the write lock; what was appended in the block is made durable after it. Raises Busy."""
        try:
            with self.lock.hold(timeout_ms):
                yield
        finally:
            self.sync()

    def sync(self) -> None:
        """Make what was appended durable."""
        while self._unsynced:
            try:
                fsio.sync(self._unsynced.pop())
            except StorageFailed as error:
                self.notices.append(f"kept in the journal, but the log may not be durable: {error.message}")

    def require_regular(self, path: str) -> None:
        """Refuse a log that is no regular file, before anything is kept. Raises StorageFailed."""
        stat = fsio.look(path, root=self.place.root)
        if stat is not None and not S_ISREG(stat.st_mode):
            raise StorageFailed(f"{path} is not a regular file", "move it away; nothing was kept")

    def deliver(self, own: frozenset[str] = frozenset()) -> None:
        """Place what waits, in the order of the journal; called under the lock. `own` was journalled just now."""
        waiting = [one for one in self.journal.scan(settled=False) if one.state == "waiting"]
        self._settle([one for one in waiting if one.record.op != "add"])
        adds = sorted((one.record for one in waiting if one.record.op == "add"), key=lambda record: record.path or "")
        for path, records in groupby(adds, key=lambda record: record.path or ""):
            try:
                self._place(path, list(records), own)
            except (StorageFailed, Refused) as error:
                self.notices.append(f"kept, not yet in the log: {error.message}; nothing to repeat")

    def _settle(self, changes: Iterable[Tracked]) -> None:
        """Tell of each change that was under way when its process died whether it happened."""
        for one in changes:
            snapshot = self.place.read(one.record.path or "")
            done = (hashlib.sha256(snapshot.data).hexdigest() if snapshot else None) != one.record.before
            self.journal.mark("placed" if done else "void", [one.record.id], path=one.record.path)

    def _place(self, path: str, records: list[Record], own: frozenset[str]) -> None:
        for _ in range(TRIES):
            snapshot = self._read(path)
            log = _Log(path, snapshot)
            strange = [record for record in records if record.id not in own]
            there = self._find(log, strange)
            todo = [record for record in records if record.id not in there]
            blocks = dict(there)
            blocks.update(log.render(todo))
            try:
                offset = self._write(log, [blocks[record.id] for record in todo])
            except fsio.Displaced:
                own = frozenset()  # nobody knows whether it was written: look for it
                continue
            self._note(log, records, blocks, {record.id for record in todo}, offset)
            return
        raise Refused(f"{path} is being saved all the time", "it is delivered by the next command")

    def _read(self, path: str) -> fsio.Snapshot | None:
        snapshot = self.place.read(path)
        if snapshot is None and self.place.repo.tree("HEAD", path):
            deadline = time.monotonic() + RENAME_GAP
            while snapshot is None and time.monotonic() < deadline:
                time.sleep(0.01)
                snapshot = self.place.read(path)
        return snapshot

    def _find(self, log: _Log, records: Sequence[Record]) -> dict[str, str]:
        """Find records that a process placed before it died: their text stands there more often than is known of."""
        found: dict[str, str] = {}
        if not records or not log.source:
            return found
        known = self._known()
        for record in records:
            for block in log.forms(record):
                digest = _digest(block)
                if log.count(block) > known.get(digest, 0) or log.complete(block):
                    known[digest] = known.get(digest, 0) + 1
                    found[record.id] = block
                    break
        return found

    def _known(self) -> dict[str, int]:
        known: dict[str, int] = {}
        placed = [_digest(one.block) for one in self.journal.scan() if one.block is not None]
        for digest in (*placed, *(receipt.block for receipt in self.journal.receipts() if receipt.block)):
            known[digest] = known.get(digest, 0) + 1
        return known

    def _write(self, log: _Log, blocks: list[str]) -> int:
        """Write blocks behind the log, and the missing end of a torn one; give the offset in bytes."""
        data = _bytes("".join(blocks))
        if log.rest:
            whole = log.snapshot.data + _bytes(log.rest) if log.snapshot else b""
            self._replace(log, whole + data)
            return len(whole)
        if not data:
            return 0
        head = b"" if log.snapshot else _bytes(log.heading)
        if len(blocks) == 1 and len(data) < SMALL:
            done = fsio.append(
                log.path, head + data, root=self.place.root, expect=log.snapshot.stamp if log.snapshot else "missing"
            )
            self._unsynced.append(done)
            return done.offset + len(head)
        base = log.snapshot.data if log.snapshot else head
        joint = _bytes(entries.line_ending(log.source)) if base and not base.endswith(b"\n") else b""
        self._replace(log, base + joint + data)
        return len(base + joint)

    def _replace(self, log: _Log, data: bytes) -> None:
        fsio.replace(log.path, data, root=self.place.root, base=log.snapshot, tmp=self.place.state / "tmp")

    def _note(self, log: _Log, records: list[Record], blocks: dict[str, str], fresh: set[str], offset: int) -> None:
        """Mark the records as placed, and keep where this process's own went."""
        marks = []
        for record in records:
            block = blocks[record.id]
            at = offset if record.id in fresh else None
            marks.append(Mark(state="placed", ids=(record.id,), path=log.path, block=block, offset=at))
            offset += len(_bytes(block)) if record.id in fresh else 0
        self.journal.mark_all(marks)
        self.placed.update(_addresses(log.path, self.place.read(log.path), records, blocks))


class _Log:
    """A daily log as it is read before something is placed in it."""

    def __init__(self, path: str, snapshot: fsio.Snapshot | None) -> None:
        self.path = path
        self.snapshot = snapshot
        decoded = markdown.decode(snapshot.data if snapshot else b"")
        if not decoded.editable:
            raise Refused(f"{path}: {decoded.problem}", "save it as UTF-8")
        self.source = decoded.text
        self.ending = entries.line_ending(self.source)
        self.rest = ""
        day = entries.log_date(path.rpartition("/")[2])
        self.heading = f"# {day}\n\n"

    def forms(self, record: Record) -> list[str]:
        """Give the two ways a record may stand in the log: with minutes, and with seconds."""
        return [self._block(record, clock) for clock in _clocks(record)]

    def _block(self, record: Record, clock: str) -> str:
        return entries.render(clock, record.text or "", record.meta).replace("\n", self.ending)

    def count(self, block: str) -> int:
        return ("\n" + self.source).count("\n" + block)

    def complete(self, block: str) -> bool:
        """Tell whether the log ends in a part of the block, and remember the rest of it."""
        start = self.source.rfind("\n" + block[:7]) + 1
        tail = self.source[start:]
        if self.rest or len(tail) < 7 or not block.startswith(tail) or tail == block:
            return False
        self.rest = block[len(tail) :]
        return True

    def render(self, records: Sequence[Record]) -> dict[str, str]:
        """Render records as they will stand: the second entry of a minute gets seconds."""
        taken = {entry.time[:5] for entry in entries.parse(self.source).entries} if records else set()
        blocks = {}
        for record in records:
            minute, second = _clocks(record)
            blocks[record.id] = self._block(record, second if minute in taken else minute)
            taken.add(minute)
        return blocks


def _clocks(record: Record) -> tuple[str, str]:
    at = datetime.fromisoformat(record.at or "")
    return at.strftime("%H:%M"), at.strftime("%H:%M:%S")


def _addresses(
    path: str, snapshot: fsio.Snapshot | None, records: Sequence[Record], blocks: dict[str, str]
) -> Iterator[tuple[str, Placed]]:
    """Tell where placed records stand; of equal ones the last came last."""
    left = list(entries.parse(markdown.decode(snapshot.data if snapshot else b"").text).entries)
    for record in reversed(records):
        clock = blocks[record.id][2:].split(maxsplit=1)[0]
        for entry in reversed(left):
            if entry.time == clock and entry.text == record.text:
                left.remove(entry)
                yield record.id, Placed(path, f"{units.stem_of(path)}#{entry.label}", (entry.line, entry.last_line))
                break


def _digest(block: str) -> str:
    return hashlib.sha256(_bytes(block)).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
