"""Which of several versions of a file a save was made from: the one that takes the fewest changes.

Pure. It must never take a text that came for the correction of one that it is not like: what is missing then would
count as taken out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mdmem.text import standing, units
from mdmem.text.items import CLOCK

_ENTRY = re.compile(rf"\s*[-*+] (?:\[[ xX]\] )?({CLOCK})")
_WORD = re.compile(r"[0-9A-Za-z_]+|[^\s0-9A-Za-z_]")

Lines = Counter[str]


def nearest(path: str, versions: Sequence[bytes], now: bytes, *, older: bool = False) -> int:
    """Tell which of the versions, newest first, a save was made from: the one from which it differs in fewest lines.

    Of a log, where no two lines are alike by chance, it is the one to which the fewest lines came, then in whose
    corrected lines the fewest words differ, and then from which the fewest lines went. Of equals it is the oldest; but
    the newest, unless `older`, where that is one of them. Raises ValueError where there is no version.
    """
    lines = _lines(now)
    measure = _changed_in_log if units.is_log(path) else _changed
    distances = [measure(_lines(version), lines) for version in versions]
    least = min(distances)
    close = [place for place, distance in enumerate(distances) if distance == least]
    return close[0] if not close[0] and not older else close[-1]


def added(version: bytes, now: bytes) -> int:
    """Count the lines of a save that a version does not have."""
    return (_lines(now) - _lines(version)).total()


def _lines(version: bytes) -> Lines:
    return Counter(version.decode("utf-8", "surrogateescape").splitlines())


def _changed(version: Lines, now: Lines) -> tuple[int, int, int]:
    return (version - now).total() + (now - version).total(), 0, 0


def _changed_in_log(version: Lines, now: Lines) -> tuple[int, int, int]:
    """Count lines that came, words that differ in corrected lines, which are none that came, and lines that went.

    An old word that a save has tells more than an entry that it lacks, which both sides may have taken out.
    """
    came, went = now - version, version - now
    gone: dict[str, list[str]] = {}
    for line in went.elements():
        minute, text = _parted(line)
        gone.setdefault(minute, []).append(text)
    words = []
    for minute, text in map(_parted, came):
        like = [one for one in gone.get(minute, ()) if minute and standing.is_like(text, one)]
        words += [min(_changed(_words(one), _words(text))[0] for one in like)] if like else []
    return came.total() - len(words), sum(words), went.total()


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def _parted(line: str) -> tuple[str, str]:
    """Part a line into the minute that it begins with, "" for none, and the rest."""
    found = _ENTRY.match(line)
    return (found[1][:5], line[found.end() :].strip()) if found else ("", line)
