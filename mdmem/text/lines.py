"""The lines of a Markdown text and what each of them is: heading, list item, code, comment, text.

Follows CommonMark where that decides what is a heading and what is code. One pass over the text, in time in
proportion to it, whatever it is. Lines end at `\n` only; offsets are into the source as given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["blank", "text", "item", "heading", "fence", "code", "comment"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its newline. `level` is a heading's on its first line, else 0; of an item, its indentation.

    `fence` is the line that opens one; `code` everything inside, the closing line, and indented code. A fence may
    also be opened on the line of an `item`.
    """

    start: int
    end: int
    kind: Kind
    level: int = 0


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open fence: its closing run, the columns of the list item and the depth of the quotation around it."""

    run: str
    base: int
    quotes: int


@dataclass(slots=True)
class _State:
    """What is open at a line: `items` by content column, a `paragraph` by items and quotes around it and start."""

    last_close: int
    fence: _Fence | None = None
    comment: bool = False
    empty_item: bool = False
    items: list[int] = field(default_factory=list)
    paragraph: tuple[int, int, int] | None = None


_SPACE = " \t\r"
_ATX = re.compile(r"#{1,6}(?=[ \t\r]|$)")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t\r]|$)")
_QUOTE = re.compile(r"(?:>[ \t]*)+")
_UNDERLINE = re.compile(r"=+$|-+$")


def lines(source: str, start: int = 0, end: int | None = None) -> list[Line]:
    """List the lines of a stretch of Markdown with what each of them is."""
    end = len(source) if end is None else end
    state = _State(source.rfind("-->", start, end))
    found: list[Line] = []
    at = start
    while at < end:
        stop = source.find("\n", at, end) + 1 or end
        text = source[at:stop].rstrip("\n")
        kind, level = _classify(state, text.removeprefix("\ufeff") if at == 0 else text, at)
        if kind == "heading" and state.paragraph:
            _underline(found, state.paragraph[2], level)
            level = 0
        if kind == "heading":
            state.paragraph = None
        found.append(Line(at, stop, kind, level))
        at = stop
    return found


def _underline(found: list[Line], start: int, level: int) -> None:
    """Make the lines of the paragraph that starts there a heading."""
    place = len(found)
    while place and found[place - 1].start >= start:
        place -= 1
        found[place] = replace(found[place], kind="heading", level=0)
    found[place] = replace(found[place], level=level)


def _classify(state: _State, text: str, at: int) -> tuple[Kind, int]:
    """Say what a line is after the lines before it; a heading with a paragraph still open is its underline."""
    bare = text.strip(_SPACE)
    if state.fence and _continues(state, state.fence, text, bare):
        return "code", 0
    if state.comment:
        state.comment = "-->" not in text
        return "comment", 0
    if not bare:
        if state.empty_item:  # an item may begin with one empty line, its own
            state.items = state.items[:-1]
        state.paragraph, state.empty_item = None, False
        return "blank", 0
    state.empty_item = False
    return _open(state, bare, at, _columns(text))


def _columns(text: str) -> int:
    """Return the width of a line's indentation."""
    return len(text[: len(text) - len(text.lstrip(" \t"))].expandtabs(4))


def _continues(state: _State, fence: _Fence, text: str, bare: str) -> bool:
    """Tell whether a line still belongs to the fence; closes it where this is the last."""
    quoted = _QUOTE.match(bare) if fence.quotes else None
    if fence.quotes and (not quoted or quoted.group().count(">") < fence.quotes):
        state.fence = None
        return False
    columns = _columns(text)
    if bare and columns < fence.base:
        state.fence = None
        return False
    rest = bare[quoted.end() :] if quoted else bare
    if rest.startswith(fence.run) and not rest.strip(fence.run[0]) and columns - fence.base < 4:
        state.fence = None
    return True


def _open(state: _State, bare: str, at: int, columns: int) -> tuple[Kind, int]:
    """Classify a line that is neither blank nor inside a fence or comment."""
    items = state.items
    depth = bisect_right(items, columns)
    indent = columns - (items[depth - 1] if depth else 0)
    if depth < len(items):
        state.items = items[:depth]
    opened = _block(state, bare, at, columns) if indent < 4 else None
    if opened:
        return opened
    if state.paragraph:  # it goes on, and so does the item it is in, however little this line is indented
        state.items = items
        return "text", 0
    if indent >= 4:
        return "code", 0
    state.paragraph = (depth, 0, at)
    return "text", 0


def _block(state: _State, bare: str, at: int, columns: int) -> tuple[Kind, int] | None:
    """Open the block that begins on this line, or return None where it is only text."""
    depth = len(state.items)
    goes_on = state.paragraph is not None and state.paragraph[:2] == (depth, 0)
    if goes_on and _UNDERLINE.match(bare):
        return _plain(state) if depth else ("heading", 1 if bare[0] == "=" else 2)
    if _is_rule(bare):
        return _plain(state)
    if atx := _ATX.match(bare):
        _plain(state)
        return ("text", 0) if depth else ("heading", atx.end())  # in a list it does not divide the document
    if fence := _FENCE.match(bare):
        return _fence(state, fence.group(), 0)
    if bare.startswith("<!--"):
        return _comment(state, bare, at)
    item = _ITEM.match(bare)
    if item and (not goes_on or _interrupts(bare, item)):
        return _item(state, bare, item, at, columns)
    if quote := _QUOTE.match(bare):
        return _quotation(state, bare, quote, at)
    return None


def _is_rule(bare: str) -> bool:
    if bare[0] not in "-*_":
        return False
    marks = bare.replace(" ", "").replace("\t", "")
    return len(marks) >= 3 and not marks.strip(bare[0])


def _interrupts(bare: str, item: re.Match[str]) -> bool:
    """Tell whether a list may begin in the middle of a paragraph: a line that only wraps at a number may not."""
    return item.group(1) in (None, "1") and bool(bare[item.end() :].strip(_SPACE))


def _plain(state: _State) -> tuple[Kind, int]:
    state.paragraph = None
    return "text", 0


def _fence(state: _State, run: str, quotes: int) -> tuple[Kind, int]:
    state.fence = _Fence(run, state.items[-1] if state.items else 0, quotes)
    state.paragraph = None
    return "fence", 0


def _comment(state: _State, bare: str, at: int) -> tuple[Kind, int]:
    """Open a comment; one that nothing closes would hide the rest of the document, so it counts as text."""
    state.paragraph = None
    state.comment = "-->" not in bare and state.last_close > at
    return ("comment" if state.comment else "text"), 0


def _item(state: _State, bare: str, item: re.Match[str], at: int, columns: int) -> tuple[Kind, int]:
    rest = bare[item.end() :].lstrip(_SPACE)
    gap = _columns(bare[item.end() :])
    content = columns + item.end() + (gap if rest and gap < 5 else 1)
    state.items = [*state.items, content]
    state.paragraph, state.empty_item = None, not rest
    fence = _FENCE.match(rest) if gap < 5 else None
    if fence:
        _fence(state, fence.group(), 0)
    elif _is_prose(rest) and gap < 5:
        state.paragraph = (len(state.items), 0, at)
    return "item", columns


def _is_prose(rest: str) -> bool:
    """Tell whether what follows a marker on its line opens a paragraph."""
    return bool(rest) and not _ATX.match(rest) and not _is_rule(rest)


def _quotation(state: _State, bare: str, quote: re.Match[str], at: int) -> tuple[Kind, int]:
    rest, quotes = bare[quote.end() :], quote.group().count(">")
    fence = _FENCE.match(rest)
    if fence:
        return _fence(state, fence.group(), quotes)
    state.paragraph = (len(state.items), quotes, at) if _is_prose(rest) else None
    return "text", 0
