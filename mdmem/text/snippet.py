"""What to show of a hit: the best passage of a text, and a line of it with the places that matched.

Pure. It must never show a character that is not in the text it was given, and never cut one in half.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdmem.text import analyze

Span = tuple[int, int]

CANDIDATES = 50
"""Passages of one text that are compared in full, at most."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query looks for: terms with their importance, and folded substrings."""

    terms: Mapping[str, float]
    needles: tuple[str, ...]
    stem: analyze.Stem


def marks(text: str, wanted: Wanted) -> list[tuple[int, int, float]]:
    """Find the stretches of a text that matched, in order and without overlap, with their importance."""
    unified, back = _aligned(text, analyze.unify)
    found = [
        (back[start], back[end - 1] + 1, weight)
        for token in analyze.tokens(unified, wanted.stem)
        for start, end, terms in _pieces(token)
        if (weight := max((wanted.terms.get(term, 0.0) for term in terms), default=0.0))
    ]
    return _merged(found + _needles(text, wanted.needles))


def _pieces(token: analyze.Token) -> list[tuple[int, int, tuple[str, ...]]]:
    """Part a CJK run into its bigrams and characters, for a part of it may match; any other token is one piece."""
    if not token.parts or not analyze.is_cjk(token.whole[0]):
        return [(token.start, token.end, (*token.whole, *token.parts))]
    return [
        (token.start + n, token.start + n + size, (term,))
        for size, terms in ((2, token.whole), (1, token.parts))
        for n, term in enumerate(terms)
    ]


def _needles(text: str, needles: Iterable[str]) -> list[tuple[int, int, float]]:
    folded, back = _aligned(text, lambda c: " " if c.isspace() else analyze.unify(c).casefold())
    found = []
    for needle in filter(None, needles):
        pattern = re.compile(" +".join(re.escape(word) for word in needle.split(" ")))
        for match in pattern.finditer(folded):
            found.append((back[match.start()], back[match.end() - 1] + 1, 1.0 + len(needle)))
    return found


def _aligned(text: str, change: analyze.Stem) -> tuple[str, list[int] | range]:
    """Change a text character by character; the second value leads from each new character to the old."""
    if text.isascii():
        return change(text) if change is analyze.unify else "".join(map(change, text)), range(len(text))
    pieces = [change(c) for c in text]
    back = [place for place, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), back


def _merged(found: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    merged: list[tuple[int, int, float]] = []
    for start, end, weight in sorted(found):
        if merged and start <= merged[-1][1]:
            old = merged.pop()
            start, end, weight = old[0], max(old[1], end), max(old[2], weight)
        merged.append((start, end, weight))
    return merged


def likeliest(texts: Sequence[str], wanted: Wanted) -> list[int]:
    """Number the passages that hold any of what is wanted, as cheaply as can be told; the first if none seems to."""
    signs = dict.fromkeys([*(sign for needle in wanted.needles for sign in needle.split(" ")), *wanted.terms])
    found = [number for number, text in enumerate(texts) if any(map(analyze.fold(text).__contains__, signs))]
    return found[:CANDIDATES] or [0]


def worth(text: str, wanted: Wanted) -> float:
    """Tell how much of what is wanted a passage holds: the importance of its distinct terms, and substrings."""
    terms = analyze.terms_in(text, wanted.stem)
    folded = analyze.fold(text)
    value = sum(weight for term, weight in wanted.terms.items() if term in terms)
    return value + sum(len(needle) for needle in wanted.needles if needle in folded)


def snippet(text: str, wanted: Wanted, *, width: int = 120) -> tuple[str, tuple[Span, ...]]:
    """Cut a line of about `width` characters around what matched, and give the spans to mark in it."""
    places = marks(text, wanted)
    start, end = _window(text, places, width)
    line = re.sub(r"\s", " ", text[start:end])
    left, right = "…" if text[:start].strip() else "", "…" if text[end:].strip() else ""
    spans = ((max(a, start), min(b, end)) for a, b, _ in places if a < end and b > start)
    shift = len(left) - start
    return left + line + right, tuple((a + shift, b + shift) for a, b in spans)


def _window(text: str, places: list[tuple[int, int, float]], width: int) -> Span:
    """Choose the stretch whose matches are worth most; the first of equals."""
    if len(text) <= width:
        return _trim(text, 0, len(text))
    best, gain = 0, -1.0
    for place, (start, _, _) in enumerate(places):
        value = sum(weight for _, end, weight in places[place : place + 20] if end <= start + width)
        if value > gain:
            best, gain = start, value
    start = max(0, min(best - width // 4, len(text) - width))
    return _trim(text, _softly(text, start, -1), _softly(text, min(len(text), start + width), 1))


def _softly(text: str, at: int, step: int) -> int:
    """Move a cut out of a word by a few characters, and always out of a combined character."""
    for place in range(at, at + 12 * step, step):
        if not 0 < place < len(text) or text[place - 1].isspace() or text[place].isspace():
            return max(0, min(place, len(text)))
    while 0 < at < len(text) and (
        unicodedata.combining(text[at]) or text[at] in "\u200d\ufe0f" or text[at - 1] == "\u200d"
    ):
        at += step
    return at


def _trim(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
