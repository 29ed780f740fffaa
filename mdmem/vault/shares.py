"""What of a version of a log is whose: the entries of a group, those of other groups, and what a person wrote.

Owns that parting, by the text of entries and their place in the journal. It must never write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mdmem.store.journal import Journal, Tracked
from mdmem.text import entries, standing
from mdmem.vault import daylog
from mdmem.vault.daylog import decoded, encoded
from mdmem.vault.place import Place


@dataclass(frozen=True, slots=True)
class Share:
    """What of a log's version belongs to whom: `content` with the entries of a group, `by_hand` without them."""

    content: bytes
    by_hand: bytes | None
    there: tuple[Tracked, ...]
    lost: tuple[Tracked, ...] = ()


@dataclass(frozen=True, slots=True)
class Shares:
    """The way in which the logs of a vault are parted."""

    place: Place
    journal: Journal

    def part(self, path: str, data: bytes | None, group: list[Tracked], blob: str | None) -> Share:
        """Part a version of a log into the entries of a group, those of later groups, and what a person wrote."""
        if data is None:
            return Share(b"", None, (), tuple(group))
        for version in self._ended_in(path, data, group):
            if self._is_head(path, version.removesuffix(_written(group)), blob):
                return Share(version, None, tuple(group))
        blocks = [one.block or "" for one in group]
        foreign = self._foreign(path, group)
        # The save that lacked what is being put back is a version of its own.
        back = [one.block or "" for one in (*group, *foreign) if one.record.op == "restore"]
        head = decoded(self.place.repo.read("HEAD", path) or b"")
        head = standing.without(head, back).rest if back else head
        ours = standing.without(decoded(data), blocks, head)
        forms = _forms(foreign)
        others = standing.without(ours.rest, forms, head)
        strange = [block for block, stood in zip(forms, others.stood, strict=True) if stood]
        content = standing.without(decoded(data), strange, head).rest
        by_hand = None if self._is_head(path, encoded(others.rest), blob) else encoded(others.rest)
        there = tuple(one for one, stood in zip(group, ours.stood, strict=True) if stood)
        lost = tuple(one for one, stood in zip(group, ours.stood, strict=True) if not stood)
        return Share(encoded(content), by_hand, there, lost)

    def _ended_in(self, path: str, data: bytes, group: Sequence[Tracked]) -> Iterator[bytes]:
        """Yield the versions of a log that ended in just these entries: as it is, or before later ones were placed."""
        written = _written(group)
        if not all(one.block for one in group):
            return
        if data.endswith(written):
            yield data
        later = [one for one in self._foreign(path, group) if one.state == "placed"]
        later.sort(key=lambda one: one.order)
        end = len(data)
        for count, one in enumerate(later, 1):  # there may be thousands
            end -= len(_written([one]))
            if end > 0 and data.endswith(written, 0, end) and data.endswith(_written(later[:count])):
                yield data[:end]

    def _foreign(self, path: str, group: Sequence[Tracked]) -> list[Tracked]:
        """Give the entries that may stand in a log and are not of this group.

        Asked after reading the log: whatever stands in it was in the journal before, if only as waiting.
        """
        ids = {one.record.id for one in group}
        open_adds = [one for one in self.journal.scan(settled=False) if one.record.is_entry and one.file == path]
        return [one for one in open_adds if one.record.id not in ids and one.state in ("placed", "waiting")]

    def _is_head(self, path: str, rest: bytes, blob: str | None) -> bool:
        """Tell whether HEAD has these bytes, but for a line ending that an entry behind them needed."""
        if blob is None:
            return rest.strip() in (b"", entries.heading(path).strip().encode())
        versions = (rest, rest.removesuffix(b"\n"), rest.removesuffix(b"\r\n"))
        return blob in map(self.place.repo.blob_id, versions)


def _forms(others: Sequence[Tracked]) -> list[str]:
    """Give the forms in which entries may stand in their log, placed ones first."""
    blocks = [one.block for one in others if one.state == "placed" and one.block]
    return blocks + [form for one in others if one.state == "waiting" for form in daylog.forms(one.record)]


def _written(group: Sequence[Tracked]) -> bytes:
    return encoded("".join(one.block or "" for one in group))
