"""Entries that a log held and that a saved version of it lacks: taken out, corrected, moved, or dropped unseen.

Pure. The evidence is order, not time: an editor's older copy lacks just what was written after it was read, while
whoever takes an entry out has before them what was written later. It must never call an entry dropped that the
person may have seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mdmem.text import entries, standing
from mdmem.text.entries import LogEntry

Folded = tuple[str, str]
"""Clock and text of an entry; spaces, bullet and comment do not count."""

Verdict = Literal["kept elsewhere", "deleted", "unclear", "stale"]

CALM_NS = 60_000_000_000
"""After so long without being missed, an entry may well have been taken out on purpose."""

HASTE_NS = 3_000_000_000
"""In less time nobody notices what was put back, and takes it out again."""


@dataclass(frozen=True, slots=True)
class Known:
    """An entry that the log held. `order` grows with each placing, in ns; 0 for one that was not placed here."""

    entry: LogEntry
    block: str
    order: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What else is known of a version: `seen` entries stood in an earlier save, `base` is what it was made from.

    That may be some entries too new, for it may have been read between two commits. `unseen` ones came after it, and
    `back` ones were put into the file while an editor may have been writing it. `elsewhere` tells whether a text stands
    in another file now, `coming` is what is being written by mdmem itself, `committed` is in history, and `saved` is
    when the version was, in ns.
    """

    seen: Collection[Folded]
    base: Collection[Folded]
    unseen: Collection[Folded]
    back: Collection[Folded]
    committed: Collection[Folded]
    elsewhere: Callable[[str], bool]
    saved: int
    coming: str = ""


def folded(entry: LogEntry) -> Folded:
    """Give what makes an entry the same as another for whoever reads it."""
    return entry.time, " ".join(entry.text.split())


def held(source: str) -> Counter[Folded]:
    """Count the entries of a log."""
    return Counter(map(folded, entries.parse(source).entries))


def missing(known: Sequence[Known], source: str) -> list[Known]:
    """List the known entries that a version lacks, in order; of equal ones the last."""
    there = held(source)
    gone = []
    for one in sorted(known, key=lambda one: one.order):
        there[folded(one.entry)] -= 1
        if there[folded(one.entry)] < 0:
            gone.append(one)
    return gone


def judge(known: Sequence[Known], before: str, now: str, evidence: Evidence) -> list[tuple[Known, Verdict]]:
    """Say of each known entry that `now` lacks how it went; `before` is the log with all that is known."""
    absent = missing(known, now)
    found = list(zip(absent, _verdicts(known, absent, before, now, evidence), strict=True))
    open_ = [one for one, verdict in found if verdict == "stale"]
    if not _same(standing.cut(before, (one.entry for one in open_)), now):
        return found
    # Nothing else was changed: what has stood there for long, or was put back before, may have been taken out.
    stood = {id(one) for one in open_ if evidence.saved - one.order >= _calm(one, evidence)}
    return [(one, "unclear" if id(one) in stood else verdict) for one, verdict in found]


def _calm(one: Known, evidence: Evidence) -> int:
    return HASTE_NS if folded(one.entry) in evidence.back else CALM_NS


def _verdicts(
    known: Sequence[Known], absent: Sequence[Known], before: str, now: str, evidence: Evidence
) -> Iterator[Verdict]:
    corrected = standing.corrected(now, before + evidence.coming, [one.block for one in absent])
    typed = Counter(clock[:5] for clock, _ in (held(now) - held(before + evidence.coming)).elements())
    typed.subtract(one.entry.time[:5] for one, is_corrected in zip(absent, corrected, strict=True) if is_corrected)
    read = _read(known, absent, evidence)
    for one, is_corrected in zip(absent, corrected, strict=True):
        verdict = "kept elsewhere" if is_corrected or evidence.elsewhere(one.entry.text) else read(one)
        minute = one.entry.time[:5]
        if verdict in ("deleted", "unclear") and typed[minute] > 0 and folded(one.entry) in evidence.committed:
            verdict = "kept elsewhere"  # another text of that minute stands in its place, and history has this one
            typed[minute] -= 1
        yield verdict


def _read(known: Sequence[Known], absent: Sequence[Known], evidence: Evidence) -> Callable[[Known], Verdict]:
    """Give what tells, from the order of things alone, whether who saved a version had read a missing entry."""
    gone = set(map(id, absent))
    there = [one for one in known if id(one) not in gone]
    last = max((one.order for one in there if folded(one.entry) not in evidence.back), default=0)
    last_back = max((one.order for one in there), default=0)
    # Whoever has one of the later entries has read the later version.
    unseen = evidence.unseen if not any(folded(one.entry) in evidence.unseen for one in there) else ()

    def verdict(one: Known) -> Verdict:
        if folded(one.entry) in evidence.seen:
            return "deleted"
        if folded(one.entry) in unseen or one.order > last_back:
            return "stale"
        return "deleted" if one.order <= last or folded(one.entry) in evidence.base else "unclear"

    return verdict


def _same(one: str, other: str) -> bool:
    """Compare two versions but for blank lines and the ends of lines."""
    lines = [[line.rstrip() for line in text.split("\n") if line.strip()] for text in (one, other)]
    return lines[0] == lines[1]
