"""A daily log as it stands before something is placed in it: what will be written, and what is there already.

Owns the form of a record in its file, and where it then stands. It must never touch a file.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from mdmem import fsio
from mdmem.errors import Refused
from mdmem.store.journal import Record, Tracked
from mdmem.text import absence, entries, markdown, standing, units
from mdmem.text.entries import LogEntry

HEAD = len("- 1")
"""Characters of a torn entry that tell it from other text."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a record went."""

    path: str
    address: str
    lines: tuple[int, int]


@dataclass(slots=True)
class Known:
    """What explains that a text stands in a log: how often it was placed by hash, ever and not yet committed; HEAD."""

    ever: Counter[str]
    uncommitted: Counter[str]
    committed: str

    def explains(self, block: str, often: int, in_head: int) -> bool:
        """Tell whether it is known why a block stands there that often."""
        # The first alone fails for a text that was removed since; the second for one the user committed.
        return often <= self._sum(self.ever, block) and often - in_head <= self._sum(self.uncommitted, block)

    def add(self, block: str) -> None:
        """Count one more of these blocks as known."""
        self.ever[digest(block)] += 1
        self.uncommitted[digest(block)] += 1

    def _sum(self, counts: Counter[str], block: str) -> int:
        unix = block.replace("\r\n", "\n")  # somebody may have changed the file's line endings since
        return counts[digest(unix)] + counts[digest(unix.replace("\n", "\r\n"))]


class DayLog:
    """A log and its bytes. `found` are records that stand in it, `rest` what is missing of a torn one."""

    def __init__(self, path: str, snapshot: fsio.Snapshot | None) -> None:
        self.path = path
        self.snapshot = snapshot
        self.data = snapshot.data if snapshot else b""
        decoded = markdown.decode(self.data)
        if not decoded.editable:
            raise Refused(f"{path}: {decoded.problem}", "save it as UTF-8")
        self.source = decoded.text
        self.ending = entries.line_ending(self.source)
        self.heading = entries.heading(path)
        self.clocks = standing.Clocks(Counter())
        self.found: dict[str, str] = {}
        self.rest = ""

    # What stands there

    def may_hold(self, record: Record) -> bool:
        """Tell whether its text could stand there, whole or as the log's torn end. Parses nothing."""
        if record.op == "restore":
            return True
        blocks = self._forms(record)
        opening = next(iter(standing.openings(blocks[0])), "")
        if opening in self.source and (opening in self._openings or "" in self._openings):
            return True  # where that stands alone, the text may stand in the next line
        return any(map(self._tail, blocks))

    @cached_property
    def _count(self) -> Counter[standing.Key]:
        return standing.count(self.source)

    @cached_property
    def _held(self) -> Counter[absence.Folded]:
        return absence.held(self.source)

    @cached_property
    def _openings(self) -> set[str]:
        return standing.openings(self.source)

    def find(self, records: Sequence[Record], known: Known, *, whole: Collection[str] = frozenset()) -> dict[str, str]:
        """Find records whose text stands there unexplained, whole or as the log's torn end: id → text.

        Those whose ids are in `whole` are looked for as a whole only.
        """
        there, in_head = self._count, standing.count(known.committed)
        for record in records:
            if record.op == "restore":
                if self.holds(record):
                    self.found[record.id] = self._forms(record)[0]
                continue
            for block in self._forms(record):
                key = standing.key_of(block)
                if key and there[key] and not known.explains(block, there[key], in_head[key]):
                    known.add(block)
                    self.found[record.id] = block
                    break
        self._find_torn([record for record in records if record.id not in whole], known)
        return self.found

    def missing(self, placed: Sequence[Tracked]) -> list[Tracked]:
        """List those of the entries, as they were placed, that do not stand there."""
        stood = standing.without(self.source, [one.block or "" for one in placed]).stood
        return [one for one, stands in zip(placed, stood, strict=True) if not stands]

    def doubled(self, coming: Sequence[Record]) -> list[str]:
        """List the ids of entries that are to be put back and would stand there more often than they did."""
        if all(record.op != "restore" for record in coming):
            return []
        there = self._held.copy()
        found = []
        for record in sorted(coming, key=lambda record: record.op == "restore"):
            for entry in entries.parse(forms(record)[0]).entries[:1]:
                there[absence.folded(entry)] += 1
                if record.op == "restore" and there[absence.folded(entry)] > int(record.extra["count"]):
                    found.append(record.id)
        return found

    def holds(self, record: Record) -> bool:
        """Tell whether an entry that is to be put back stands there, as often as it should."""
        found = entries.parse(forms(record)[0]).entries
        return bool(found) and self._held[absence.folded(found[0])] >= int(record.extra["count"])

    def _find_torn(self, records: Sequence[Record], known: Known) -> None:
        """Find the record that the log ends in the middle of, be it only without its last line's ending."""
        for record in records:
            if record.op == "restore":
                continue
            if record.id in self.found:
                block = self.found[record.id]
                tail = self._tail(block)
                if tail.rstrip("\r\n") == block.rstrip("\r\n"):
                    self.rest = block[len(tail) :]
                continue
            for block in self._forms(record):
                tail = self._tail(block)
                if tail and not self.rest and not self._is_known(tail, known):
                    self.found[record.id] = block
                    self.rest = block[len(tail) :]

    def _tail(self, block: str) -> str:
        """Give the end of the log that the block begins with, as long as it is not all of it."""
        start = self.source.rfind("\n" + block[:HEAD]) + 1
        tail = self.source[start:]
        return tail if HEAD <= len(tail) < len(block) and block.startswith(tail) else ""

    def _is_known(self, tail: str, known: Known) -> bool:
        """Tell whether the log's end was there before, as a text of its own."""
        if known.committed.rstrip("\r\n").endswith("\n" + tail.rstrip("\r\n")):
            return True
        whole = tail.rstrip("\r\n") + self.ending
        key = standing.key_of(whole)
        often = self._count[key] if key else 0
        if key is None or not often:
            return False
        return known.explains(whole, often, standing.count(known.committed)[key])

    # What is written

    def _forms(self, record: Record) -> list[str]:
        return [block.replace("\n", self.ending) for block in forms(record)]

    def render(
        self, records: Sequence[Record], back: Sequence[Record] = (), archived: Collection[str] = ()
    ) -> dict[str, str]:
        """Render records as they will stand: the second entry of a minute gets seconds.

        So does one in whose minute another of `back` stood, which is on its way there again, or of those that an
        archive has of this log: its address is taken.
        """
        if records:
            self.clocks = standing.clocks(self.source)
        taken = {clock[:5] for clock in self.clocks.often}
        reserved = {_clock(forms(record)[0])[:5] for record in back} | set(archived)
        returning = {record.id for record in back}
        blocks = {}
        for record in records:
            short, long = self._forms(record)
            minute = _clock(short)
            blocks[record.id] = long if minute in (taken if record.id in returning else taken | reserved) else short
            taken.add(minute)
        return blocks

    # Where it then stands

    def places(self, there: Mapping[str, str], fresh: Mapping[str, str], offset: int) -> Iterator[tuple[str, Placed]]:
        """Tell where records stand now that `fresh` ones were written at `offset`."""
        if there or any(_clock(block) in self.clocks.unsure for block in fresh.values()):
            yield from self._looked_up({**there, **fresh})
            return
        head = 0 if self.data else self.heading.count("\n")
        line = head + self.data.count(b"\n") + (bool(self.data) and not self.data.endswith(b"\n")) + 1
        for record, block in fresh.items():
            clock = _clock(block)
            self.clocks.often[clock] += 1
            label = entries.label(clock, self.clocks.often[clock])
            below = line + block.count("\n")
            yield record, Placed(self.path, f"{units.stem_of(self.path)}#{label}", (line, below - 1))
            line = below

    def _looked_up(self, blocks: Mapping[str, str]) -> Iterator[tuple[str, Placed]]:
        """Find records by reading the log as it is now; of equal ones the last came last."""
        joint = self.ending if self.source and not self.rest and not self.source.endswith("\n") else ""
        written = "".join(block for record, block in blocks.items() if record not in self.found)
        source = (self.source or self.heading) + (joint if written else "") + self.rest + written
        left: dict[standing.Key, list[LogEntry]] = {}
        for entry in entries.parse(source).entries:
            left.setdefault(standing.key(entry), []).append(entry)
        for record, block in reversed(list(blocks.items())):
            found = left.get(standing.key_of(block) or ("", "", ()))
            if found:
                entry = found.pop()
                address = f"{units.stem_of(self.path)}#{entry.label}"
                yield record, Placed(self.path, address, (entry.line, entry.last_line))


def forms(record: Record) -> tuple[str, str]:
    """Render a record as it may stand in a log with LF: with minutes, and with seconds; as it stood, if it did."""
    if record.op == "restore":
        return record.extra["block"], record.extra["block"]
    at = datetime.fromisoformat(record.at or "")
    short, long = (entries.render(at.strftime(form), record.text or "", record.meta) for form in ("%H:%M", "%H:%M:%S"))
    return short, long


def _clock(block: str) -> str:
    return block[2:].split(maxsplit=1)[0]


def digest(block: str) -> str:
    """Give the SHA-256 of an entry as it stands."""
    return hashlib.sha256(encoded(block)).hexdigest()


def encoded(text: str) -> bytes:
    """Give the bytes that a text was decoded from."""
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """Give a text from which `encoded` gives these bytes again."""
    return data.decode("utf-8", "surrogateescape")
