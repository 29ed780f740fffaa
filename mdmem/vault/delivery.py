"""From the journal to the file: acknowledged entries put into their logs, once each, whatever happened before.

Owns the write lock and where an entry goes. It must never change an earlier byte of a log, and never place a record
that already stands there: a record is looked for before it is written, unless it is this very process's own.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from stat import S_ISREG

from mdmem import fsio
from mdmem.errors import Busy, MdmemError, Refused, StorageFailed
from mdmem.store.journal import Journal, Mark, Record, Tracked
from mdmem.store.lock import Lock
from mdmem.text import markdown, packs, units
from mdmem.vault import archives
from mdmem.vault.daylog import DayLog, Known, Placed, digest, encoded
from mdmem.vault.observation import Observation, is_of_another_boot, text_of
from mdmem.vault.place import Place
from mdmem.vault.reasons import MERGE, POWER, RECOVERED, STALE, TORN

SMALL = 1024
"""Bytes up to which entries are appended; what is larger replaces the file, so that no reader sees half of it."""

CALM, SHORT_CALM, LONG = 0.3, 0.05, 2.0
"""Seconds without a change after which entries are put back, and how short a rest will do after so long a wait."""

TRIES = 5


@dataclass(slots=True)
class Delivery:
    """The way of records into files. `settle` tells of other changes that were under way whether they happened."""

    place: Place
    journal: Journal
    notices: list[str]
    lock: Lock
    settle: Callable[[Sequence[Tracked]], None]
    observation: Observation
    placed: dict[str, Placed] = field(default_factory=dict)
    put_back: int = 0
    behind: list[str] = field(default_factory=list)  # files whose save from an older copy is to be merged
    _missed: dict[str, float] = field(default_factory=dict)
    _back: dict[str, Tracked] = field(default_factory=dict)
    _unsynced: list[fsio.Appended] = field(default_factory=list)
    _grown: dict[str, bool] = field(default_factory=dict)

    @contextmanager
    def writing(self, timeout_ms: int) -> Iterator[None]:
        """Hold the write lock; what was appended in the block is made durable after it. Raises Busy."""
        try:
            with self.lock.hold(timeout_ms):
                self._sweep()
                yield
        finally:
            self._sync()

    @contextmanager
    def writing_if_free(self) -> Iterator[bool]:
        """Hold the write lock if nobody else does; the block gets whether it is held."""
        try:
            with self.lock.try_hold() as held:
                if held:
                    self._sweep()
                yield held
        finally:
            self._sync()

    def _sync(self) -> None:
        while self._unsynced:
            try:
                fsio.sync(self._unsynced.pop())
            except StorageFailed as error:
                self.notices.append(f"kept in the journal, but the log may not be durable: {error.message}")

    def _sweep(self) -> None:
        """Clear what replacements left behind, and name what is not ours to delete."""
        with suppress(StorageFailed):
            for stray in fsio.sweep(self.place.state / "tmp"):
                what = "another program saved this version of a file while it was being replaced"
                self.notices.append(f"{what}: {stray.path}; put it where it belongs, or delete it")

    def require_regular(self, path: str) -> None:
        """Refuse a log that is no regular file, before anything is kept. Raises StorageFailed."""
        stat = fsio.look(path, root=self.place.root)
        if stat is not None and not S_ISREG(stat.st_mode):
            raise StorageFailed(f"{path} is not a regular file", "move it away; nothing was kept")

    def waiting(self) -> list[Tracked]:
        """List what is acknowledged and not yet in history."""
        if self.journal.is_empty():
            return []
        return [one for one in self.journal.scan(settled=False) if one.state in ("waiting", "placed")]

    def deliver(self, own: frozenset[str] = frozenset()) -> None:
        """Place what waits, in the order of the journal; called under the lock. `own` was journalled just now."""
        self._grown = {}
        open_ = self._after_power_loss(self.waiting())
        torn = self._torn(open_)
        waiting = [one for one in open_ if one.state == "waiting" and one.record.id not in torn]
        if waiting and (reason := self.place.repo.unfinished()):
            # A log that changes now would keep git from going on, or back.
            self.notices.append(f"kept, not yet in the log: {reason}; nothing to repeat")
            return
        self.settle([one for one in waiting if not one.record.is_entry and one.record.op != MERGE])
        if self.is_foreign() and self.observe([self.journal.last[0]]):
            waiting = [one for one in self.waiting() if one.state == "waiting" and one.record.id not in torn]
        self.behind = [one.file for one in waiting if one.record.op == MERGE and self._is_due(one)]
        self._back = {one.record.id: one for one in waiting if _is_back(one)}
        due = (one.record for one in waiting if one.record.is_entry and self._is_due(one))
        adds = sorted(due, key=lambda record: record.path or "")
        for path, records in groupby(adds, key=lambda record: record.path or ""):
            try:
                self._place(path, list(records), own)
            except (StorageFailed, Refused, Busy) as error:
                self.notices.append(f"kept, not yet in the log: {error.message}; nothing to repeat")

    def _is_due(self, one: Tracked) -> bool:
        """Tell whether it may be seen to: to what an editor dropped, only when that file has come to rest."""
        if one.record.is_entry and one.reason != STALE and (one.record.op == "add" or one.reason):
            return True
        stat = fsio.look(one.record.path or "", root=self.place.root)
        if stat is None or not stat.st_size or self.place.repo.is_at_work():
            return False
        first = self._missed.setdefault(one.record.id, time.monotonic())
        waited = (self.place.now() - datetime.fromisoformat(one.noted)).total_seconds() if one.noted else 0.0
        waited = max(waited, time.monotonic() - first)
        quiet = abs(time.time() - max(stat.st_mtime, stat.st_ctime))
        if self._is_ours(one.file, fsio.stamp(stat)):
            quiet = waited  # the last to write was mdmem: nobody else did since this was missed
        if quiet < (SHORT_CALM if waited >= LONG else CALM):
            return False
        seen = one.record.extra.get("head")
        if seen and not self._grew_from(seen):  # git had put another version there, and nobody's editor
            self.journal.mark("void", [one.record.id], reason="the branch is another one now")
            return False
        return True

    def _grew_from(self, seen: str) -> bool:
        if seen not in self._grown:  # most of what is missed was missed at once
            self._grown[seen] = self.place.repo.grew_from(seen)
        return self._grown[seen]

    def is_foreign(self) -> bool:
        """Tell whether somebody else wrote to the log that mdmem wrote to last. Asked after `waiting`."""
        path = self.journal.last[0]
        stat = fsio.look(path, root=self.place.root) if path else None
        return stat is not None and self.observation.is_foreign(path, fsio.stamp(stat))

    def _after_power_loss(self, open_: list[Tracked]) -> list[Tracked]:
        """Have entries placed once more whose log never reached the disk, though the note of it did."""
        placed = [one for one in open_ if is_of_another_boot(one) and one.record.is_entry]
        lost = []
        for path, group in groupby(sorted(placed, key=lambda one: one.path or ""), key=lambda one: one.path or ""):
            with suppress(StorageFailed, Refused):
                snapshot = self._read(path)
                lost += DayLog(path, snapshot).missing(list(group))
        if not lost:
            return open_
        self.journal.mark("waiting", [one.record.id for one in lost], reason=POWER)
        return self.waiting()

    def _torn(self, open_: Sequence[Tracked]) -> set[str]:
        """Hold what is left of a batch of which some never reached the disk: it was not acknowledged."""
        torn = self._incomplete(open_)
        if not torn:
            return set()
        at_rest = self.journal.is_at_rest()
        torn = self._incomplete(open_)  # who was just writing the rest may be done
        if at_rest:
            self.journal.mark_all([Mark(state="held", ids=(id,), reason=TORN) for id in torn])
        return torn

    def _incomplete(self, open_: Sequence[Tracked]) -> set[str]:
        here = Counter(one.record.group for one in open_)
        short = [one for one in open_ if here[one.record.group] < int(one.record.extra.get("of", 1))]
        if not short:
            return set()
        known = Counter(one.record.group for one in self.journal.scan())
        known.update(one.group for one in self.journal.receipts())
        return {one.record.id for one in short if known[one.record.group] < int(one.record.extra["of"])}

    def observe(self, paths: Iterable[str]) -> bool:
        """Look what somebody else who wrote to these logs dropped; tell whether anybody did. Called under the lock."""
        foreign = {}
        for path in paths:
            try:
                snapshot = self._read(path)
            except (StorageFailed, Refused):  # whoever needs the file says what is wrong with it
                continue
            if snapshot and self.observation.is_foreign(path, snapshot.stamp):
                foreign[path] = snapshot
        for path in fsio.being_written(foreign, root=self.place.root):
            del foreign[path]  # what it lacks may come yet
        self.observation.look(foreign)
        return bool(foreign)

    def _place(self, path: str, records: list[Record], own: frozenset[str]) -> None:
        for _ in range(TRIES):
            log = DayLog(path, self._read(path))
            if log.snapshot and self.observation.is_foreign(path, log.snapshot.stamp):
                self.place.require_rest([path])
                self.observation.look({path: log.snapshot})
            # Somebody may have written even what was journalled just now, and died before it was marked.
            spared = own if self._is_ours(path, log.snapshot.stamp if log.snapshot else None) else frozenset()
            there = self._standing(log, [record for record in records if record.id not in spared], own)
            doubled = log.doubled([record for record in records if record.id not in there])
            if doubled:
                self.journal.mark("void", doubled, reason="it comes back as what it was")
                records = [record for record in records if record.id not in doubled]
            back = [one.record for one in self._back.values() if one.file == path]
            taken = archives.clocks(self.place, path)
            fresh = log.render([record for record in records if record.id not in there], back, taken)
            try:
                offset, stamp = self._write(log, list(fresh.values()))
            except fsio.Displaced:
                own = frozenset()  # nobody knows whether it was written: look for it
                continue
            self._note(log, records, {**there, **fresh}, offset, stamp)
            self.placed.update(log.places(there, fresh, offset))
            self._say([record for record in records if record.id in self._back and record.id in fresh], path)
            return
        raise Refused(f"{path} is being saved all the time", "it is delivered by the next command")

    def _is_ours(self, path: str, stamp: fsio.Stamp | None) -> bool:
        """Tell whether a log is as mdmem left it when it noted that last."""
        return stamp is None or self.journal.last == (path, text_of(stamp))

    def _say(self, back: Sequence[Record], path: str) -> None:
        self.put_back += len(back)
        if back:
            what = "entry is" if len(back) == 1 else "entries are"
            asked = self._back[back[0].id].reason == RECOVERED
            why = "" if asked else ": an editor had saved an older copy"
            self.notices.append(f"{len(back)} {what} put back in {units.stem_of(path)}{why}")

    def _read(self, path: str) -> fsio.Snapshot | None:
        snapshot = self.place.read(path)
        if snapshot is None and self.place.repo.tree("HEAD", path):
            snapshot = self.place.awaited(path)
        if snapshot and _ends_in_zeros(path, snapshot.data):
            self._cut_zeros(path, snapshot)
            snapshot = self.place.read(path)
        return snapshot

    def _cut_zeros(self, path: str, snapshot: fsio.Snapshot) -> None:
        """Take off the zeros that a power failure leaves in the place of bytes, keeping a copy of the torn line."""
        whole = snapshot.data.rstrip(b"\0")
        torn = snapshot.data[whole.rfind(b"\n") + 1 :]
        aside = f"torn/{hashlib.sha256(path.encode('utf-8', 'surrogateescape') + torn).hexdigest()[:16]}"
        fsio.put(aside, torn, root=self.place.state)
        fsio.truncate(path, len(whole), root=self.place.root, expect=snapshot.stamp)
        self.notices.append(
            f"{path} ended in zeros, as after a power failure: cut; a copy is {self.place.state}/{aside}"
        )

    # Records that a process placed before it died

    def _standing(self, log: DayLog, strange: Sequence[Record], own: frozenset[str]) -> dict[str, str]:
        """Find records that stand in the log already, or as the torn end of it: record id → text as it stands."""
        maybe = [record for record in strange if log.source and log.may_hold(record)]
        return log.find(maybe, self._known(log, {record.id for record in strange}), whole=own) if maybe else {}

    def _known(self, log: DayLog, strange: set[str]) -> Known:
        """Gather what else explains that a text stands in the log: records placed before, and HEAD."""
        ever: Counter[str] = Counter()
        uncommitted: Counter[str] = Counter()
        for one in self.journal.scan():
            if one.block is not None and one.path == log.path and one.record.id not in strange:
                ever[digest(one.block)] += 1
                uncommitted[digest(one.block)] += one.state == "placed"
        for receipt in self.journal.receipts():
            if receipt.block and receipt.path == log.path and receipt.id not in strange:
                ever[receipt.block] += 1
        committed = b""
        with suppress(MdmemError):  # a damaged repository must not keep anything out of the log
            committed = self.place.repo.read("HEAD", log.path) or b""
        return Known(ever, uncommitted, committed.decode("utf-8", "surrogateescape"))

    # Writing

    def _write(self, log: DayLog, blocks: list[str]) -> tuple[int, str | None]:
        """Write blocks behind the log, and the missing end of a torn one.

        Gives the first one's offset in bytes, and how the file looked right after.
        """
        data = encoded("".join(blocks))
        if log.rest:
            whole = log.data + encoded(log.rest)
            return len(whole), self._replace(log, whole + data)
        if not data:
            return 0, None
        head = b"" if log.data else encoded(log.heading)
        if len(data) < SMALL:
            seen = log.snapshot.stamp if log.snapshot else None
            done = fsio.append(log.path, head + data, root=self.place.root, expect=seen or "missing")
            self._unsynced.append(done)
            return done.offset + len(head), text_of(fsio.stamp(done.stat))
        base = log.data or head
        joint = encoded(log.ending) if not base.endswith(b"\n") else b""
        return len(base + joint), self._replace(log, base + joint + data)

    def _replace(self, log: DayLog, data: bytes) -> str:
        done = fsio.replace(log.path, data, root=self.place.root, base=log.snapshot, tmp=self.place.state / "tmp")
        return text_of(fsio.stamp(done.stat))

    def _note(
        self, log: DayLog, records: Sequence[Record], blocks: dict[str, str], offset: int, stamp: str | None
    ) -> None:
        """Mark records as placed; should that fail, the next command finds them in the log."""
        marks = []
        for record in records:
            block = blocks[record.id]
            fresh = record.id not in log.found
            at = offset if fresh else None
            marks.append(Mark(state="placed", ids=(record.id,), path=log.path, block=block, offset=at, stamp=stamp))
            offset += len(encoded(block)) if fresh else 0
        try:
            self.journal.mark_all(marks)
        except StorageFailed as error:
            self.notices.append(f"in the log, not yet in history: {error.message}; nothing to repeat")


def _ends_in_zeros(path: str, data: bytes) -> bool:
    """Tell whether a log ends as after a power failure; the last byte of an archive may well be zero."""
    return data.endswith(b"\0") and not packs.is_archive(path) and markdown.decode(data).editable


def _is_back(one: Tracked) -> bool:
    """Tell whether an entry stood in its log before."""
    return one.record.op == "restore" or one.reason in (STALE, RECOVERED)
