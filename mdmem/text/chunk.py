"""The passages of a document: exact spans that join up to it, cut along its headings, paragraphs and sentences.

Where a long stretch must be cut, the place is chosen by the text that follows it, not by counting from the top: the
same text is cut at the same places wherever it stands, so an inserted line changes the passage it is in and hardly
ever another. Takes time in proportion to the text. It never changes, trims or normalises text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from mdmem.text.lines import Line, lines
from mdmem.text.markdown import Heading, outline

LIMIT = 1600
"""The size of a passage in characters, at most."""
HEADING = 200
"""How much of a heading a passage carries."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: its span, the lines it shows (without blank ones at its ends) and the headings it stands under.

    The headings are those that hold where its text begins; of several short sections in one passage, the first's.
    """

    start: int
    end: int
    line: int
    last_line: int
    headings: tuple[str, ...]


def chunks(source: str, start: int, end: int, *, limit: int = LIMIT) -> tuple[Chunk, ...]:
    """Divide `source[start:end]` into passages of at most `limit` characters that concatenate to exactly that.

    Short sections under one parent share a passage. Longer ones are cut between paragraphs, then list items, lines,
    sentences, words and characters. A fence that fits into a passage is never cut.
    """
    layout = lines(source, start, end)
    text = _Text(source, layout, [line.start for line in layout], _ranks(layout, limit), limit)
    titles = outline(source, layout)
    places = tuple(heading.start for heading in titles)
    levels = tuple(heading.level for heading in titles)
    spans = _divide(text, tuple(zip(places, levels, strict=True)), start, end)
    return tuple(_described(text, titles, places, _paths(titles), spans))


@dataclass(frozen=True, slots=True)
class _Text:
    """A document with its lines, and for each line how good a place to cut the beginning of it is."""

    source: str
    layout: Sequence[Line]
    starts: Sequence[int]
    ranks: Sequence[int]
    limit: int


_Span = tuple[int, int]
_Outline = Sequence[tuple[int, int]]  # start and level of each heading


# --- sections


def _divide(text: _Text, titles: _Outline, start: int, end: int) -> Iterator[_Span]:
    """Yield the passages of a section and of the sections under it."""
    if end - start <= text.limit:
        if start < end:
            yield start, end
        return
    if not titles:
        yield from _split(text, start, end)
        return
    short: list[int] = []
    for begin, stop, inner in _parts(text, titles, start, end):
        if stop - begin <= text.limit:
            short.append(begin)
            continue
        yield from _join(text, short, begin)
        short = []
        yield from _divide(text, inner, begin, stop)
    yield from _join(text, short, end)


def _parts(text: _Text, titles: _Outline, start: int, end: int) -> Iterator[tuple[int, int, _Outline]]:
    """Yield a section's own text, then each section directly under it with the headings inside.

    Headings with no text of their own go with what they introduce.
    """
    tops: list[int] = []
    for place, (_, level) in enumerate(titles):
        if not tops or level <= titles[tops[-1]][1]:
            tops.append(place)
    begin = start
    if not _only_headings(text, start, titles[0][0]):
        begin = titles[0][0]
        yield start, begin, ()
    for top, after in zip(tops, [*tops[1:], len(titles)], strict=True):
        stop = titles[after][0] if after < len(titles) else end
        yield begin, stop, titles[top + 1 : after]
        begin = stop


def _only_headings(text: _Text, start: int, end: int) -> bool:
    return _body(text, start, end) is None


def _body(text: _Text, start: int, end: int) -> int | None:
    """Return the start of the first line that is neither a heading nor blank."""
    for place in range(bisect_right(text.starts, start) - 1, bisect_left(text.starts, end)):
        if text.layout[place].kind not in ("heading", "blank"):
            return max(start, text.starts[place])
    return None


def _join(text: _Text, begins: list[int], end: int) -> Iterator[_Span]:
    """Yield neighbouring short sections, as many in a passage as have room; the last ends at `end`."""
    if not begins:
        return
    at = begins[0]
    while end - at > text.limit:
        near = begins[bisect_right(begins, at) : bisect_right(begins, at + text.limit)]
        cut = _choose(text, near, at, end)
        cut = near[-1] if cut is None else cut
        yield at, cut
        at = cut
    yield at, end


# --- one long section


def _split(text: _Text, start: int, end: int) -> Iterator[_Span]:
    """Yield the passages of a section that has no sections under it."""
    at = start
    while end - at > text.limit:
        cut = _cut(text, at, end)
        yield at, cut
        at = cut
    yield at, end


PARAGRAPH, ITEM, LINE, ANY_LINE, NOWHERE = 4, 3, 2, 1, 0


def _ranks(layout: Sequence[Line], limit: int) -> list[int]:
    """Rank the beginning of each line as a place to cut; inside code that fits into a passage there is none."""
    ranks = []
    last: Line | None = None  # the last line that is not blank
    blank = False
    for line in layout:
        ranks.append(_rank(line, last, blank))
        blank = line.kind == "blank"
        last = last if blank else line
    for first, stop in _code(layout):
        size = layout[stop - 1].end - layout[first].start
        ranks[first + 1 : stop] = [ANY_LINE if size > limit else NOWHERE] * (stop - first - 1)
    return ranks


def _rank(line: Line, last: Line | None, blank: bool) -> int:
    if line.kind == "blank":
        return ANY_LINE if last and last.kind != "heading" else NOWHERE
    if last and last.kind == "heading":  # what follows a heading stays with it, unless it must be whole
        return LINE if line.kind in ("fence", "code") else NOWHERE
    if line.kind == "item":
        return PARAGRAPH if blank and not line.level else LINE if line.level else ITEM
    return PARAGRAPH if blank else LINE


def _code(layout: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each stretch of code, be it an item that opens a fence, and the line after it."""
    place = 0
    while place < len(layout):
        first = place
        place += 1
        if layout[first].kind not in ("fence", "code", "item"):
            continue
        while place < len(layout) and layout[place].kind == "code":
            place += 1
        if place - first > 1:
            yield first, place


def _cut(text: _Text, at: int, end: int) -> int:
    """Choose where the passage that begins at `at` ends: at the best kind of place there is within reach."""
    first, last = bisect_right(text.starts, at), bisect_right(text.starts, min(at + text.limit, end - 1))
    for rank in (PARAGRAPH, ITEM, LINE, ANY_LINE):
        near = [text.starts[place] for place in range(first, last) if text.ranks[place] >= rank]
        cut = _choose(text, near, at, end)
        if cut is None and near and _next(text, last, rank, end) - near[-1] <= text.limit:
            cut = near[-1]  # a short passage, but what follows stays whole
        if cut is not None:
            return cut
    return _cut_line(text, at, end)


def _next(text: _Text, place: int, rank: int, end: int) -> int:
    """Return the next place of this rank or better within a passage's reach, or one out of reach."""
    begin = text.starts[place - 1]
    while place < len(text.starts) and text.starts[place] < end:
        if text.ranks[place] >= rank or text.starts[place] - begin > 2 * text.limit:
            return text.starts[place]
        place += 1
    return end


def _choose(text: _Text, places: Sequence[int], at: int, end: int) -> int | None:
    """Choose the place that the text after it marks out, among those that leave no scrap on either side."""
    low, high = at + text.limit // 2, at + text.limit
    for top in (min(high, end - text.limit // 4), high):
        near = places[bisect_left(places, low) : bisect_right(places, top)]
        if near:
            return max(near, key=lambda place: (_mark(text.source, place), place))
    return None


def _mark(source: str, place: int) -> int:
    return crc32(source[place : place + 64].encode("utf-8", "surrogatepass"))


# --- one long line

_SENTENCE = re.compile(r"[.!?][)\"'”’\]]*\s+|[。！？…][”’」』）]*")
_CLAUSE = re.compile(r"[,;:、，；：]\s*|\s+")


def _cut_line(text: _Text, at: int, end: int) -> int:
    """Cut inside a line: after a sentence, else after a clause or word, else anywhere between two characters."""
    low, high = at + text.limit // 2, min(at + text.limit, end - 1)
    window = text.source[low : high + 1]
    for pattern in (_SENTENCE, _CLAUSE):
        ends = (low + found.end() for found in pattern.finditer(window))
        cut = _choose(text, list(_safe(text.source, at, ends, high)), at, end)
        if cut is not None:
            return cut
    anywhere = range(high, max(low, high - 256), -1)
    return next(_safe(text.source, at, anywhere, high), high)


def _safe(source: str, at: int, places: Iterable[int], high: int) -> Iterator[int]:
    return (place for place in places if place <= high and not _joined(source, at, place))


_JOINER = "\u200d"


def _joined(source: str, at: int, place: int) -> bool:
    """Tell whether the characters around a place are one to a reader, in a passage that begins at `at`."""
    left, right = source[place - 1], source[place]
    return (
        unicodedata.category(right)[0] == "M"
        or _JOINER in (left, right)
        or (left == "\r" and right == "\n")
        or "\U0001f3fb" <= right <= "\U0001f3ff"  # skin tones
        or (_is_flag_letter(right) and _flag_letters(source, at, place) % 2 == 1)
        or ("\ud800" <= left <= "\udfff" and "\ud800" <= right <= "\udfff")
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters(source: str, at: int, place: int) -> int:
    """Count the flag letters before a place: two of them make a flag."""
    first = place
    while first > at and _is_flag_letter(source[first - 1]):
        first -= 1
    return place - first


# --- what a passage is


def _paths(titles: Sequence[Heading]) -> list[tuple[str, ...]]:
    """Return for each heading the headings it stands under, and itself."""
    paths = []
    above: list[Heading] = []
    for heading in titles:
        above = [*(other for other in above if other.level < heading.level), heading]
        paths.append(tuple(other.text[:HEADING] for other in above))
    return paths


def _described(
    text: _Text,
    titles: Sequence[Heading],
    places: Sequence[int],
    paths: Sequence[tuple[str, ...]],
    spans: Iterable[_Span],
) -> Iterator[Chunk]:
    """Give each span its lines and headings."""
    above = text.source.count("\n", 0, text.starts[0]) + 1 if text.starts else 1
    for start, end in spans:
        body = _body(text, start, end)
        heading = bisect_right(places, end - 1 if body is None else body) - 1
        first, last = _shown(text, start, end)
        yield Chunk(start, end, above + first, above + last, paths[heading] if heading >= 0 else ())


def _shown(text: _Text, start: int, end: int) -> tuple[int, int]:
    """Return the places of the first and the last line of a span that are not blank; of a blank one, its first."""
    first, last = bisect_right(text.starts, start) - 1, bisect_left(text.starts, end) - 1
    full = [place for place in range(first, last + 1) if text.layout[place].kind != "blank"]
    return (full[0], full[-1]) if full else (first, first)
