"""Daily logs merged by entry: what one side added, corrected or took out is done to the other side's text.

Owns which entry of one version is which of another. Two entries are the same when clock, text and comment are. It
must never drop an entry that one side added, nor count one twice that both have.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from mdmem.merge.lines import Take, by_line, pick
from mdmem.merge.parts import Name, Side, Sides, Slot, Texts, combine, decide
from mdmem.model import Clash
from mdmem.text import entries, standing
from mdmem.text.entries import LogEntry
from mdmem.text.items import Pairs

ALIKE = 100
"""Pairs of entries of one minute up to which those that are most alike are looked for."""


def merge(base: str, ours: str, theirs: str, *, take: Take = "ours") -> tuple[str, tuple[Clash, ...]]:
    """Merge two versions of a daily log by entry; by line where that could not be read back."""
    logs = [entries.parse(text).entries for text in (base, ours, theirs)]
    names = _named(*logs)
    was, mine, yours = (
        Side(text, {name: (entry.start, entry.end) for name, entry in zip(own, log, strict=True)})
        for text, own, log in zip((base, ours, theirs), names, logs, strict=True)
    )
    # Where a clock was corrected on one side only, ours tells where the entry stands.
    clocks = {
        name: entry.time
        for own, log in ((names[at], logs[at]) for at in (0, 2, 1))
        for name, entry in zip(own, log, strict=True)
    }
    decided = decide(was, mine, yours, settle=_settle, where=lambda name: f"entry {clocks[name]}")
    known = {
        side.part(name): standing.key(entry)
        for side, own, log in zip((was, mine, yours), names, logs, strict=True)
        for name, entry in zip(own, log, strict=True)
    }

    def holds(text: str, parts: Mapping[Name, str]) -> bool:
        return standing.count(text) == Counter(known.get(part) or standing.key_of(part) for part in parts.values())

    sides = Sides(was, mine, yours, lambda canvas: _slot(canvas, clocks), holds)
    merged = combine(sides, decided, where="the text between entries", take=take)
    return merged if merged is not None else by_line(base, ours, theirs, take=take)


def left(base: str, ours: str) -> str:
    """Give a version of a log without the entries that were added to it: what became of those that the base has."""
    log, was = entries.parse(ours).entries, entries.parse(base).entries
    known = recognised(was, log)
    order = [known[place] for place in sorted(known)]
    if order != sorted(order) and _between(base, was) == _between(ours, log):
        return _reordered(base, was, {known[place]: _whole(ours, log[place]) for place in known})
    return standing.cut(ours, (one for place, one in enumerate(log) if place not in known))


def _reordered(base: str, was: Sequence[LogEntry], parts: Mapping[int, str]) -> str:
    """Have parts stand where the entries of `base` stand that they are: nobody means to move what is put back."""
    for place in reversed(range(len(was))):
        part = parts.get(place, "")
        if standing.key_of(part) != standing.key(was[place]):
            base = base[: was[place].start] + part + base[was[place].end :]
    return base


def _whole(source: str, entry: LogEntry) -> str:
    part = source[entry.start : entry.end]
    return part if part.endswith("\n") else f"{part}\n"


def _between(source: str, log: Sequence[LogEntry]) -> str:
    """Give the text of a log that is no entry's, without spaces and the ends of lines."""
    return "".join(standing.cut(source, log).split())


def _slot(canvas: Side, clocks: Mapping[Name, str]) -> Slot:
    """Place an entry behind the last one that is not later; of one minute ours come before theirs."""

    def rank(name: Name) -> tuple[str, bool]:
        return clocks[name], isinstance(name, tuple) and name[0] == "theirs"

    lowest = list(accumulate(map(rank, reversed(list(canvas.spans))), min))[::-1]
    return lambda name: bisect_right(lowest, rank(name))


# --- which entry is which


def _named(base: Sequence[LogEntry], ours: Sequence[LogEntry], theirs: Sequence[LogEntry]) -> tuple[list[Name], ...]:
    """Name the entries of three versions: alike what is the same entry, was corrected, or was added on both sides."""
    mine, yours = recognised(base, ours), recognised(base, theirs)
    first: list[Name] = [mine.get(place, ("ours", place)) for place in range(len(ours))]
    second: list[Name] = [yours.get(place, ("theirs", place)) for place in range(len(theirs))]
    new = [_new(base, side, origin) for side, origin in ((ours, mine), (theirs, yours))]
    for there, here in _matched(new[0], new[1], standing.key):
        if first[here] != second[there]:
            first[here] = second[there] = ("both", here)
    return list(range(len(base))), first, second


def _new(base: Sequence[LogEntry], side: Sequence[LogEntry], origin: Mapping[int, int]) -> dict[int, LogEntry]:
    """Give the entries of a version that the base does not have just so, by place."""
    found = dict(enumerate(side))
    for place, old in origin.items():
        if standing.key(base[old]) == standing.key(side[place]):
            del found[place]
    return found


def recognised(old: Sequence[LogEntry], new: Sequence[LogEntry]) -> dict[int, int]:
    """Find the entries of a version in an older one: by place in `new`, the place in `old`.

    First those that are equal, then by id, by text under another clock, and last by their minute.
    """
    found: dict[int, int] = {}
    gone, come = dict(enumerate(old)), dict(enumerate(new))
    for trait in (standing.key, _id, _body):
        for place, origin in _matched(gone, come, trait):
            found[place] = origin
    for place, origin in [*_most_alike(gone, come), *_matched(gone, come, lambda entry: entry.time)]:
        found[place] = origin
    return found


def _id(entry: LogEntry) -> Hashable:
    return dict(entry.meta).get("id") or None


def _body(entry: LogEntry) -> Hashable:
    return (entry.text, entry.meta) if entry.text else None


def _matched(
    gone: dict[int, LogEntry], come: dict[int, LogEntry], trait: Callable[[LogEntry], Hashable]
) -> list[tuple[int, int]]:
    """Pair entries with the same trait in their order, and take them off both lists."""
    pools: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for origin, entry in gone.items():
        pools[trait(entry)].append(origin)
    pairs = []
    for place, entry in come.items():
        mark = trait(entry)
        if mark is not None and pools[mark]:
            pairs.append((place, pools[mark].popleft()))
    for place, origin in pairs:
        del come[place], gone[origin]
    return pairs


def _most_alike(gone: dict[int, LogEntry], come: dict[int, LogEntry]) -> Iterator[tuple[int, int]]:
    """Pair entries of one minute where there are several, the most alike first."""
    for clock in {entry.time for entry in gone.values()} & {entry.time for entry in come.values()}:
        before = [origin for origin, entry in gone.items() if entry.time == clock]
        after = [place for place, entry in come.items() if entry.time == clock]
        if 1 < len(before) * len(after) <= ALIKE:
            ratios = sorted((-_ratio(gone[one], come[two]), two, one) for one in before for two in after)
            for distance, place, origin in ratios:
                if -distance >= standing.SIMILAR and origin in gone and place in come:
                    del gone[origin], come[place]
                    yield place, origin


def _ratio(one: LogEntry, other: LogEntry) -> float:
    return SequenceMatcher(None, one.text[:2000], other.text[:2000]).ratio()


# --- one entry that both sides corrected


def _settle(name: Name, texts: Texts) -> str | None:
    """Bring two corrections of one entry together: its text by line, its comment by key; None where they clash."""
    read = [entries.parse(text).entries for text in texts]
    if any(len(found) != 1 for found in read):
        return None
    was, mine, yours = (found[0] for found in read)
    if mine.time != yours.time:
        return None
    text, clashes = by_line(was.text, mine.text, yours.text)
    meta = _meta(was.meta, mine.meta, yours.meta)
    if clashes or meta is None:
        return None
    try:
        return entries.replace(texts[1], mine, text=entries.normalise(text), meta=meta)
    except ValueError:
        return None


def _meta(was: Pairs, mine: Pairs, yours: Pairs) -> Pairs | None:
    base, ours, theirs = dict(was), dict(mine), dict(yours)
    found = []
    for key in dict.fromkeys((*ours, *theirs)):
        one, two, three = base.get(key), ours.get(key), theirs.get(key)
        if two not in (one, three) and three != one:
            return None
        value = pick(one, two, three)
        if value is not None:
            found.append((key, value))
    return tuple(found)
