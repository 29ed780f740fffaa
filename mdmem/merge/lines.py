"""Two or three texts compared line by line: what they share, where they differ, and the changes of two sides together.

Owns the alignment of lines and the three-way merge by line. Line endings are no part of what a line says: they are
merged beside it. It must never guess: where both sides changed the same lines otherwise, the place is a clash.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, TypeVar

from mdmem.model import Clash

PAIRS = 250_000
"""Pairs of equal lines up to which a stretch without landmarks is compared exactly; beyond, it counts as rewritten."""
DEPTH = 40
"""How often a stretch is cut at its landmarks; honest texts need three or four."""

Take = Literal["ours", "theirs"]
"""Whose version a merged text has where both sides clash."""

Block = tuple[int, int, int]
"""Equal lines: where they begin in one text and in the other, and how many."""
Span = tuple[int, int]
T = TypeVar("T")


def pick(base: T, ours: T, theirs: T) -> T:
    """Give what one side made of something; ours where both changed it."""
    return theirs if ours == base else ours


# --- what two texts share


def blocks(one: Sequence[str], other: Sequence[str]) -> list[Block]:
    """List the stretches of lines that two texts share, in the order of both.

    Lines that occur once in each are landmarks, and what lies between two of them is compared by itself: that takes
    hardly more than linear time, and does not align one blank line with another far away.
    """
    found: list[Block] = []
    stack = [(0, len(one), 0, len(other), 0)]
    while stack:
        a, a_end, b, b_end, depth = stack.pop()
        head = _shared(one, other, (a, a_end), (b, b_end))
        found.append((a, b, head))
        a, b = a + head, b + head
        tail = _shared_behind(one, other, (a, a_end), (b, b_end))
        a_end, b_end = a_end - tail, b_end - tail
        found.append((a_end, b_end, tail))
        if a == a_end or b == b_end:
            continue
        marks = _landmarks(one[a:a_end], other[b:b_end]) if depth < DEPTH else []
        if not marks:
            found += ((a + i, b + j, size) for i, j, size in _compared(one[a:a_end], other[b:b_end]))
            continue
        cuts = [(a, b), *((a + i, b + j) for i, j in marks), (a_end, b_end)]
        stack += ((i, i_end, j, j_end, depth + 1) for (i, j), (i_end, j_end) in pairwise(cuts))
    return sorted(block for block in found if block[2])


def _shared(one: Sequence[str], other: Sequence[str], here: Span, there: Span) -> int:
    most = min(here[1] - here[0], there[1] - there[0])
    return next((at for at in range(most) if one[here[0] + at] != other[there[0] + at]), most)


def _shared_behind(one: Sequence[str], other: Sequence[str], here: Span, there: Span) -> int:
    most = min(here[1] - here[0], there[1] - there[0])
    return next((at for at in range(most) if one[here[1] - 1 - at] != other[there[1] - 1 - at]), most)


def _landmarks(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the lines that occur once in each of two stretches, as many as stand in the same order in both."""
    here, there = Counter(one), Counter(other)
    spots = {line: place for place, line in enumerate(other) if there[line] == 1 and here[line] == 1}
    return _rising([(place, spots[line]) for place, line in enumerate(one) if line in spots])


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Choose the longest row of pairs that rises on both sides; the first sides rise already."""
    lows: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(lows, place)
        before.append(ends[length - 1] if length else -1)
        lows[length : length + 1] = [place]
        ends[length : length + 1] = [number]
    row: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        row.append(pairs[at])
        at = before[at]
    return row[::-1]


def _compared(one: Sequence[str], other: Sequence[str]) -> Iterator[Block]:
    """Compare two stretches without landmarks."""
    here, there = Counter(one), Counter(other)
    if 0 < sum(count * there[line] for line, count in here.items()) <= PAIRS:
        for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
            yield block.a, block.b, block.size


def differences(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """List where two texts differ, as spans of lines of both."""
    found, a, b = [], 0, 0
    for i, j, size in [*blocks(one, other), (len(one), len(other), 0)]:
        if (a, b) != (i, j):
            found.append((a, i, b, j))
        a, b = i + size, j + size
    return found


# --- the changes of two sides


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the merge, as spans of the three texts: which of them it is taken from.

    `same` is in all three, `both` takes ours and then theirs, `clash` is for a person to decide.
    """

    take: Literal["same", "ours", "theirs", "both", "clash"]
    base: Span
    ours: Span
    theirs: Span


_Hunk = tuple[int, int, int, int, int]
"""A change: its span in the base, its span in its side, and which side: 0 ours, 1 theirs."""


def pieces(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], *, union: bool = False) -> list[Piece]:
    """Lay the changes of two sides side by side. With `union`, what both add at one place is no clash."""
    found: list[Piece] = []
    at, mine, yours = 0, 0, 0
    for group in _grouped(base, ours, theirs):
        start, end = group[0][0], max(hunk[1] for hunk in group)
        stable = start - at
        found.append(Piece("same", (at, start), (mine, mine + stable), (yours, yours + stable)))
        mine, yours = mine + stable, yours + stable
        grown = [sum(h[3] - h[2] - (h[1] - h[0]) for h in group if h[4] == side) for side in (0, 1)]
        spans = ((start, end), (mine, mine + end - start + grown[0]), (yours, yours + end - start + grown[1]))
        sides = {hunk[4] for hunk in group}
        if len(sides) == 1:
            found.append(Piece("theirs" if 1 in sides else "ours", *spans))
        else:
            found += _contested((base, ours, theirs), spans, union)
        at, mine, yours = end, spans[1][1], spans[2][1]
    rest = len(base) - at
    return [*found, Piece("same", (at, len(base)), (mine, mine + rest), (yours, yours + rest))]


def _grouped(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[list[_Hunk]]:
    """Yield the changes in order, those that meet together."""
    sides = (ours, theirs)
    hunks = sorted((*hunk, side) for side in (0, 1) for hunk in differences(base, sides[side]))
    group: list[_Hunk] = []
    for hunk in hunks:
        if group and not _meet(group, hunk, sides):
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


def _meet(group: list[_Hunk], hunk: _Hunk, sides: tuple[Sequence[str], Sequence[str]]) -> bool:
    """Tell whether a change overlaps others: in lines, at one place, or beside each other with the same new line."""
    start, end = group[0][0], max(one[1] for one in group)
    if hunk[0] < end or start == end == hunk[0] == hunk[1]:
        return True
    beside = [one for one in group if one[1] == hunk[0] and one[4] != hunk[4]]
    fresh = {line for line in sides[hunk[4]][hunk[2] : hunk[3]] if line.strip()}
    return any(not fresh.isdisjoint(sides[one[4]][one[2] : one[3]]) for one in beside)


def _contested(
    texts: tuple[Sequence[str], Sequence[str], Sequence[str]], spans: tuple[Span, Span, Span], union: bool
) -> Iterator[Piece]:
    """Decide a stretch that both sides changed: what they changed alike is agreed, the rest is taken, or clashes."""
    base, ours, theirs = (text[span[0] : span[1]] for text, span in zip(texts, spans, strict=True))
    (b, b_end), (o, o_end), (t, t_end) = spans
    head = _shared(ours, theirs, (0, len(ours)), (0, len(theirs)))
    tail = _shared_behind(ours, theirs, (head, len(ours)), (head, len(theirs)))
    ours, theirs = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    middle: Literal["ours", "theirs", "both", "clash"] = "clash"
    if ours == theirs or theirs == base:
        middle = "ours"
    elif ours == base:
        middle = "theirs"
    elif not base and (union or (_listed(ours) and _listed(theirs))):
        middle = "both"
    yield Piece("ours", (b, b), (o, o + head), (t, t + head))
    yield Piece(middle, (b, b_end), (o + head, o_end - tail), (t + head, t_end - tail))
    yield Piece("ours", (b_end, b_end), (o_end - tail, o_end), (t_end - tail, t_end))


_ITEM = re.compile(r"[ \t]*[-*+] |[ \t]+\S|[ \t]*\Z")


def _listed(added: Sequence[str]) -> bool:
    """Tell whether lines are items of a list: what two people add to one is no contradiction."""
    return bool(added) and added[0].lstrip().startswith(("- ", "* ", "+ ")) and all(map(_ITEM.match, added))


# --- texts with their line endings


@dataclass(frozen=True, slots=True)
class Text:
    """A text as lines, and how each of them ends: with a newline or, the last, perhaps with none."""

    lines: list[str]
    ends: list[str]

    @property
    def closed(self) -> bool | None:
        """Tell whether the last line is ended, None where there is no line."""
        return self.ends[-1].endswith("\n") if self.ends else None

    def part(self, span: Span) -> list[tuple[str, str]]:
        """Give some of the lines with their endings."""
        return list(zip(self.lines[span[0] : span[1]], self.ends[span[0] : span[1]], strict=True))

    def text(self, span: Span) -> str:
        """Give some of the lines as a text."""
        return "".join(line + end for line, end in self.part(span))


def cut_lines(text: str) -> Text:
    """Cut a text into lines; a carriage return before the newline belongs to the ending."""
    *whole, last = text.split("\n")
    lines = [line.removesuffix("\r") for line in whole]
    ends = ["\r\n" if line.endswith("\r") else "\n" for line in whole]
    if last:
        lines.append(last.removesuffix("\r"))
        ends.append("\r" if last.endswith("\r") else "")
    return Text(lines, ends)


def by_line(
    base: str, ours: str, theirs: str, *, union: bool = False, take: Take = "ours"
) -> tuple[str, tuple[Clash, ...]]:
    """Merge two texts that come from one base. Where they clash, the text has those lines of the side to `take`."""
    if theirs == base or ours == theirs:
        return ours, ()
    if ours == base:
        return theirs, ()
    texts = cut_lines(base), cut_lines(ours), cut_lines(theirs)
    rows: list[tuple[str, str]] = []
    clashes: list[Clash] = []
    for piece in pieces(*(text.lines for text in texts), union=union):
        if piece.take == "clash":
            said = (text.text(span) for text, span in zip(texts, (piece.base, piece.ours, piece.theirs), strict=True))
            clashes.append(Clash(f"line {len(rows) + 1}", *said))
            piece = replace(piece, take=take)
        rows += _rows(piece, *texts)
    return _joined(rows, *texts), tuple(clashes)


def _rows(piece: Piece, base: Text, ours: Text, theirs: Text) -> list[tuple[str, str]]:
    mine, yours = ours.part(piece.ours), theirs.part(piece.theirs)
    if piece.take == "same":
        ends = zip(base.part(piece.base), mine, yours, strict=True)
        return [(one[0], pick(one[1], two[1], three[1])) for one, two, three in ends]
    if piece.take == "both":
        spare = Counter(line for line, _ in mine)
        return mine + [row for row in yours if not row[0].strip() or not _taken(spare, row[0])]
    return yours if piece.take == "theirs" else mine


def _taken(spare: Counter[str], line: str) -> bool:
    spare[line] -= 1
    return spare[line] >= 0


def _joined(rows: list[tuple[str, str]], base: Text, ours: Text, theirs: Text) -> str:
    """Put lines together: each one ends but the last, which does as in the side that changed that."""
    usual = Counter(end for text in (ours, theirs) for end in text.ends if end.endswith("\n")).most_common(1)
    ending = usual[0][0] if usual else "\n"
    known = (pick(base.closed, ours.closed, theirs.closed), ours.closed, theirs.closed)
    closed = next((one for one in known if one is not None), True)
    ended = [line + (end if end.endswith("\n") else "\r\n" if end == "\r" else ending) for line, end in rows]
    if rows and not closed:
        line, end = rows[-1]
        ended[-1] = line + ("" if end.endswith("\n") else end)
    return "".join(ended)
