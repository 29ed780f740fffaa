"""What all lines of the journal together say of each record.

Owns how they are gathered: from where it was when the segments only grew, from the beginning when they did not. It
must never touch a file, or parse a line that nobody asks about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from mdmem.store.journal import lines
from mdmem.store.journal.lines import Tracked


class Story:
    """The lines of all segments by the id of their record: first the record, then its marks in order."""

    def __init__(self) -> None:
        self._records: dict[bytes, bytes] = {}
        self._marks: dict[bytes, list[bytes]] = {}
        self._read: dict[str, bytes] = {}
        self._parsed: dict[bytes, tuple[int, Tracked]] = {}
        self.order = 0
        """The last placing's."""
        self.last: tuple[str, str] = ("", "")
        """The file of the last placing, and its stamp."""

    def read(self, segments: Mapping[str, bytes]) -> Story:
        """Take in what the segments hold now, by name, in their order; give this, or another if they were rewritten."""
        if not self._are_continued(segments):
            return Story().read(segments)
        for name, data in segments.items():
            end = data.rfind(b"\n") + 1
            end = len(data) if lines.is_whole(data[end:]) else end  # or somebody is just writing it
            self._tell(lines.split(data[len(self._read.get(name, b"")) : end]))
            self._read[name] = data[:end]
        return self

    def _are_continued(self, segments: Mapping[str, bytes]) -> bool:
        """Tell whether nothing changed, and nothing was added but at the very end."""
        if list(segments)[: len(self._read)] != list(self._read):
            return False
        *before, last = self._read or [""]
        return all(segments[name] == self._read[name] for name in before) and segments.get(last, b"").startswith(
            self._read.get(last, b"")
        )

    def _tell(self, fresh: Iterable[bytes]) -> None:
        """Add lines; of a record that stands in two, the first counts."""
        placed = b""
        for line in filter(lines.is_whole, fresh):
            if not lines.is_mark(line):
                self._records.setdefault(lines.record_id(line), line)
                continue
            placed = line if lines.is_placing(line) else placed
            for id in lines.marked(line):
                self._marks.setdefault(id, []).append(line)
        if placed:
            mark = json.loads(placed[9:])
            self.order, self.last = mark["order"], (mark.get("path", ""), mark.get("stamp", ""))

    def ids(self, *, settled: bool = True) -> Iterator[bytes]:
        """Yield the ids of the records, in their order; with or without the settled ones."""
        return (id for id in self._records if settled or self.is_open(id))

    def is_open(self, id: bytes) -> bool:
        """Tell whether a record is not settled yet."""
        return id not in self._marks or not lines.is_settled(self._marks[id][-1])

    def tracked(self, id: bytes) -> Tracked:
        """Parse what there is of one record."""
        marks = self._marks.get(id, [])
        known = self._parsed.get(id)
        if known is None or known[0] != len(marks):
            known = self._parsed[id] = len(marks), lines.tracked(self._records[id], marks)
        return known[1]

    def commit(self, id: bytes) -> str | None:
        """Give the last commit that a mark tells of this record."""
        return next(filter(None, map(lines.commit_of, reversed(self._marks.get(id, [])))), None)

    def size(self, name: str) -> int:
        """Count the bytes of a segment that tell of what is not settled."""
        open_ = {line for id in self.ids(settled=False) for line in (self._records[id], *self._marks.get(id, ()))}
        return sum(len(line) for line in lines.split(self._read.get(name, b"")) if line in open_)
