"""Which of several versions of a file a save was made from: the one that takes the fewest changes.

Pure. It must never take a text that came for the correction of one that it is not like: what is missing then would
count as taken out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from mdmem.merge.changes import shared
from mdmem.text import standing, units
from mdmem.text.items import CLOCK

_ENTRY = re.compile(rf"\s*[-*+] (?:\[[ xX]\] )?({CLOCK})")
_WORD = re.compile(r"[0-9A-Za-z_]+|[^\s0-9A-Za-z_]")

Lines = Counter[str]
Distance = tuple[int, int, int]


def nearest(path: str, versions: Sequence[bytes], now: bytes, *, older: bool = False) -> int:
    """Tell which of the versions, newest first, a save was made from: the one from which it differs in fewest lines.

    Of a log, where no two lines are alike by chance, it is the one to which the fewest lines came, then in whose
    corrected lines the fewest words differ, and then from which the fewest lines went. Of equals it is the oldest; but
    the newest, unless `older`, where that is one of them. Raises ValueError where there is no version.
    """
    measure = _OfLog() if units.is_log(path) else _OfDocument()
    differences = [_differing(version, now) for version in versions]
    floors = [measure.floor(came, went) for came, went in differences]
    distances: dict[int, Distance] = {}
    for place in sorted(range(len(versions)), key=floors.__getitem__):
        if distances and floors[place] > min(distances.values()):
            break
        distances[place] = measure.distance(*differences[place])
    least = min(distances.values())
    close = sorted(place for place, distance in distances.items() if distance == least)
    return close[0] if not close[0] and not older else close[-1]


def added(version: bytes, now: bytes) -> int:
    """Count the lines of a save that a version does not have."""
    return _differing(version, now)[0].total()


def _differing(version: bytes, now: bytes) -> tuple[Lines, Lines]:
    """Give the lines that came to a version, and those that went."""
    start = version.rfind(b"\n", 0, shared(version, now)) + 1  # whole lines only
    old, new = (Counter(one[start:].decode("utf-8", "surrogateescape").splitlines()) for one in (version, now))
    return new - old, old - new


class _OfDocument:
    """How far apart versions of a document are."""

    def floor(self, came: Lines, went: Lines) -> Distance:
        """Give what the distance is at least, in no time."""
        return self.distance(came, went)

    def distance(self, came: Lines, went: Lines) -> Distance:
        """Count the lines that differ."""
        return came.total() + went.total(), 0, 0


class _OfLog:
    """How far apart versions of a log are. Remembers pairs of lines: the same differ from version to version."""

    def __init__(self) -> None:
        self._parted = cache(_parted)
        self._words = cache(_words)
        self._apart = cache(self._differ)
        self._is_like = cache(standing.is_like)

    def floor(self, came: Lines, went: Lines) -> Distance:
        """Give what the distance is at least: with a correction for every line that went, wherever there may be one."""
        fresh, gone = self._by_minute(came), self._by_minute(went)
        corrected = sum(min(len(fresh[minute]), len(gone[minute])) for minute in fresh.keys() & gone.keys())
        return came.total() - corrected, 0, went.total()

    def distance(self, came: Lines, went: Lines) -> Distance:
        """Count lines that came, words that differ in corrected lines, which are none that came, and lines that went.

        An old word that a save has tells more than an entry that it lacks, which both sides may have taken out.
        """
        fresh, gone = self._by_minute(came), self._by_minute(went)
        corrected = [
            words for minute in fresh.keys() & gone.keys() for words in self._corrected(fresh[minute], gone[minute])
        ]
        return came.total() - len(corrected), sum(corrected), went.total()

    def _corrected(self, fresh: Sequence[str], gone: Sequence[str]) -> Iterator[int]:
        """Pair lines with those that they may be, corrected, the nearest first: in so many words does each differ."""
        pairs = [(self._apart(new, old), i, j) for i, new in enumerate(fresh) for j, old in enumerate(gone)]
        news, olds = set(range(len(fresh))), set(range(len(gone)))
        for words, i, j in sorted(pairs):
            if i in news and j in olds and self._is_like(fresh[i], gone[j]):
                news.remove(i)
                olds.remove(j)
                yield words

    def _by_minute(self, lines: Lines) -> dict[str, list[str]]:
        """Give the texts of entries by the minute that they begin with."""
        found: dict[str, list[str]] = {}
        for minute, text in map(self._parted, lines.elements()):
            if minute:
                found.setdefault(minute, []).append(text)
        return found

    def _differ(self, one: str, other: str) -> int:
        words, others = self._words(one), self._words(other)
        return (words - others).total() + (others - words).total()


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def _parted(line: str) -> tuple[str, str]:
    """Part a line into the minute that it begins with, "" for none, and the rest."""
    found = _ENTRY.match(line)
    return (found[1][:5], line[found.end() :].strip()) if found else ("", line)
