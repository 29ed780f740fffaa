"""Entries that a log held and that a saved version of it lacks: taken out, corrected, moved, or dropped unseen.

Pure. The evidence is order, not time: an editor's older copy lacks just what was written after it was read, while
whoever takes an entry out has before them what was written later. It must never call an entry dropped that the
person may have seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from mdmem.text import entries, standing
from mdmem.text.entries import LogEntry

Folded = tuple[str, str]
"""Clock and text of an entry; spaces, bullet and comment do not count."""

Verdict = Literal["kept elsewhere", "deleted", "unclear", "stale"]

CALM_NS = 60_000_000_000
"""After so long without being missed, an entry may well have been taken out on purpose."""


@dataclass(frozen=True, slots=True)
class Known:
    """An entry that the log held. `order` grows with each placing, in ns; 0 for one that was not placed here."""

    entry: LogEntry
    block: str
    order: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What else is known of a version: `seen` entries stood in one that a person saved before.

    `elsewhere` tells whether a text stands in another file now, `coming` is what is being written by mdmem itself, and
    `saved` is when the version was, in ns.
    """

    seen: Collection[Folded]
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
    corrected = standing.corrected(now, before + evidence.coming, [one.block for one in absent])
    present = Counter(map(id, known)) - Counter(map(id, absent))
    last = max((one.order for one in known if present[id(one)]), default=0)
    alone = _same(_without(before, absent), now)
    found: list[tuple[Known, Verdict]] = []
    for one, is_corrected in zip(absent, corrected, strict=True):
        stood = evidence.saved - one.order >= CALM_NS
        if is_corrected or evidence.elsewhere(one.entry.text):
            verdict: Verdict = "kept elsewhere"
        elif one.order <= last or folded(one.entry) in evidence.seen:
            verdict = "deleted"
        else:
            verdict = "unclear" if alone and stood else "stale"
        found.append((one, verdict))
    return found


def _without(source: str, gone: Sequence[Known]) -> str:
    for one in sorted(gone, key=lambda one: one.entry.start, reverse=True):
        source = source[: one.entry.start] + source[one.entry.end :]
    return source


def _same(one: str, other: str) -> bool:
    """Compare two versions but for blank lines and the ends of lines."""
    lines = [[line.rstrip() for line in text.split("\n") if line.strip()] for text in (one, other)]
    return lines[0] == lines[1]
