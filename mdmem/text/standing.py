"""Which entries of a log are known ones: found again by what they say, however the file around them changed.

Pure. Two entries are the same when clock, text and comment are: line endings, bullets and offsets do not count. It
must never take a part of an entry for the whole of another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from mdmem.text import entries
from mdmem.text.entries import LogEntry
from mdmem.text.items import Pairs, split_comment

Key = tuple[str, str, Pairs]
"""Clock, text and comment of an entry."""

SIMILAR = 0.6
"""How much of an entry is still the same after somebody corrected it."""

_HEADS = re.compile(rf"\n{entries.HEAD}(?= |\r?$)", re.MULTILINE)


def key(entry: LogEntry) -> Key:
    """Give what makes an entry the same as another."""
    return entry.time, entry.text, entry.meta


def key_of(block: str) -> Key | None:
    """Give the key of a rendered entry, None for a text that is none."""
    found = entries.parse(block).entries
    return key(found[0]) if found else None


@dataclass(frozen=True, slots=True)
class Clocks:
    """The times of day that lines of a log begin with, counted: those of all entries.

    Of `unsure` ones some may be no entry's: a line that is no item of a list may be code, or text.
    """

    often: Counter[str]
    unsure: frozenset[str] = frozenset()


def clocks(source: str) -> Clocks:
    """Count the times of day that lines begin with. Parses nothing."""
    found: Counter[tuple[str, bool]] = Counter()
    for head in _HEADS.finditer("\n" + source.removeprefix("\ufeff")):
        found[head["time"].replace("：", ":"), bool(head["bullet"])] += 1
    often: Counter[str] = Counter()
    for (clock, _), count in found.items():
        often[clock] += count
    return Clocks(often, frozenset(clock for clock, listed in found if not listed))


def openings(source: str) -> set[str]:
    """Give what stands behind the time of day where a line begins with one: so begin all entries. Parses nothing."""
    found = set()
    lined = "\n" + source.removeprefix("\ufeff")
    for head in _HEADS.finditer(lined):
        end = lined.find("\n", head.end())
        line = lined[head.end() : end if end >= 0 else len(lined)]
        found.add(split_comment(line.removesuffix("\r"))[0].strip())
    return found


def count(source: str) -> Counter[Key]:
    """Count the entries of a log by key."""
    return Counter(map(key, entries.parse(source).entries))


@dataclass(frozen=True, slots=True)
class Apart:
    """A log without some entries, and of each of those whether it stood there."""

    rest: str
    stood: tuple[bool, ...]


def without(source: str, blocks: Sequence[str], base: str = "") -> Apart:
    """Take rendered entries out of a log, of equal ones the last, as long as `base` holds them no more often.

    An entry that `base` holds too stays, and counts as standing there.
    """
    kept = count(base) if base else Counter()
    places: dict[Key, list[LogEntry]] = {}
    for entry in entries.parse(source).entries:
        places.setdefault(key(entry), []).append(entry)
    spare = {one: len(there) - kept[one] for one, there in places.items()}
    stood, gone = [False] * len(blocks), []
    for number in range(len(blocks) - 1, -1, -1):
        wanted = key_of(blocks[number])
        if wanted is None or not places.get(wanted):
            continue
        entry = places[wanted].pop()
        stood[number] = True
        spare[wanted] -= 1
        if spare[wanted] >= 0:
            gone.append(entry)
    return Apart(cut(source, gone), tuple(stood))


def cut(source: str, gone: Iterable[LogEntry]) -> str:
    """Take these entries of a log out of it."""
    for entry in sorted(gone, key=lambda one: one.start, reverse=True):
        source = entries.remove(source, entry)
    return source


def corrected(source: str, base: str, blocks: Sequence[str]) -> tuple[bool, ...]:
    """Tell of each rendered entry whether one that only `source` has may be the same, corrected by a person.

    Same minute and similar text, the same text under another clock, or the same id; one entry is the correction of one
    other at most.
    """
    fresh = list((count(source) - count(base)).elements())
    found = []
    for block in blocks:
        wanted = key_of(block)
        match = next((one for one in fresh if wanted and _alike(one, wanted)), None)
        if match is not None:
            fresh.remove(match)
        found.append(match is not None)
    return tuple(found)


def _alike(one: Key, other: Key) -> bool:
    same_id = dict(one[2]).get("id") == dict(other[2]).get("id", "")
    return same_id or one[1] == other[1] or (one[0][:5] == other[0][:5] and is_like(one[1], other[1]))


def is_like(one: str, other: str) -> bool:
    """Tell whether one text may be the other, corrected: with words before or behind it, or for the most part alike."""
    short, long = sorted((one, other), key=len)
    grown = (long.startswith(short) and _parts(long, len(short))) or (
        long.endswith(short) and _parts(long, len(long) - len(short))
    )
    if short and grown:
        return True
    pair = SequenceMatcher(None, one[:2000], other[:2000])
    # The first two are upper bounds of the third, and cheap.
    return all(ratio() >= SIMILAR for ratio in (pair.real_quick_ratio, pair.quick_ratio, pair.ratio))


def _parts(text: str, at: int) -> bool:
    """Tell whether no word of letters that are parted by spaces goes on at this place."""
    return not all(char.isascii() and char.isalnum() for char in text[max(at - 1, 0) : at + 1])
