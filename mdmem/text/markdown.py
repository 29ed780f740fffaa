"""Markdown as far as memory needs it: bytes to text, lines and what they are, headings, tags, links, titles.

A reader of structure, not a renderer: it follows CommonMark where that decides what is a heading and what is code,
and takes time in proportion to the text, whatever the text is. It never changes a source. Offsets are into the
source as given; lines end at `\\n` only.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mdmem.text.lines import Line, lines

# --- bytes and text


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file as text, what is wrong with its encoding and where, and whether the text may be written back."""

    text: str
    problem: str | None = None
    editable: bool = True
    line: int | None = None


# The mark of UTF-32 begins with that of UTF-16, so it is looked for first.
_WIDE = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode(data: bytes) -> Decoded:
    """Decode a file losslessly: bytes that are not UTF-8 become lone surrogates, which encode to the same bytes.

    UTF-16 and UTF-32 with a byte order mark are decoded to be read, but must not be written back.
    """
    for mark, codec in _WIDE:
        if data.startswith(mark):
            name = codec.upper()
            problem = f"the file is {name}: it can be read but not edited; save it as UTF-8"
            return Decoded(data.decode(codec, "replace").removeprefix("\ufeff"), problem, False, 1)
    text = data.decode("utf-8", "surrogateescape")
    bad = _SURROGATE.search(text) if not text.isascii() else None
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        return Decoded(text, f"byte 0x{ord(bad.group()) - 0xDC00:02X} on line {line} is not UTF-8", line=line)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        return Decoded(text, f"there is a NUL byte on line {line}", line=line)
    return Decoded(text)


def readable(text: str) -> str:
    """Return the text for indexing and showing: undecodable bytes as U+FFFD, NUL as a space, no byte order mark.

    Character for character, so that offsets hold; only a leading byte order mark shifts them by one.
    """
    text = text.replace("\0", " ").removeprefix("\ufeff")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


# --- headings and title


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside code, comments, lists and quotations: its text, its span with the newline, its line."""

    level: int
    text: str
    start: int
    end: int
    line: int


def headings(source: str, start: int = 0) -> tuple[Heading, ...]:
    """List the headings of a document whose text begins at `start`, both `# so` and underlined."""
    return outline(source, lines(source, start))


def outline(source: str, layout: list[Line]) -> tuple[Heading, ...]:
    """List the headings among lines that were already told apart."""
    first = source.count("\n", 0, layout[0].start) + 1 if layout else 1
    found = []
    for place, line in enumerate(layout):
        if line.kind == "heading" and line.level:
            last = place
            while last + 1 < len(layout) and layout[last + 1].kind == "heading" and not layout[last + 1].level:
                last += 1
            text = _heading_text(source, layout[place : last + 1])
            found.append(Heading(line.level, text, line.start, layout[last].end, first + place))
    return tuple(found)


def _heading_text(source: str, own: list[Line]) -> str:
    texts = [source[line.start : line.end].strip(" \t\r\n\ufeff") for line in own]
    if len(texts) > 1:
        return " ".join(strip_comments(text) for text in texts[:-1])
    text = strip_comments(texts[0]).lstrip("#").strip(" \t\r")
    closed = text.rstrip("#")
    return closed.rstrip(" \t\r") if not closed or closed[-1] in " \t" else text


def title(source: str, fields: Mapping[str, object], fallback: str) -> str:
    """Return a text's title: the field, else the first main heading, else the first heading, else `fallback`."""
    given = fields.get("title")
    if isinstance(given, str) and given.strip():
        return given.strip()
    found = [heading for heading in headings(source) if heading.text]
    chosen = next((heading for heading in found if heading.level == 1), found[0] if found else None)
    return readable(chosen.text) if chosen else fallback


# --- tags and links

_TAG = re.compile(r"(?<!\S)#(?=\w)")
_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_TICKS = re.compile("`+")
_JOINERS = "_-/\u200c\u200d"


def tags(text: str) -> tuple[str, ...]:
    """List the tags of a text without `#`, each once: words after a `#` at a line's start or after a space.

    A word has at least one letter, of any script, and may be nested with `/`. Code, links and comments have none.
    """
    found: dict[str, None] = {}
    for prose in _prose(text):
        masked = _LINK.sub(_masked, prose)
        for mark in _TAG.finditer(masked):
            word = masked[mark.end() : _word_end(masked, mark.end())].rstrip("-/")
            if any(char.isalpha() for char in word):
                found[word] = None
    return tuple(found)


def _word_end(text: str, at: int) -> int:
    """Return the end of a word, with the marks that many scripts write as characters of their own."""
    while at < len(text):
        char = text[at]
        if not (char.isalnum() or char in _JOINERS or unicodedata.category(char)[0] == "M"):
            break
        at += 1
    return at


def links(text: str) -> tuple[str, ...]:
    """List the targets of `[[target]]` and `[[target|text]]` outside code, each once, as typed."""
    found = (link.group(1).rstrip("\\").strip() for prose in _prose(text) for link in _LINK.finditer(prose))
    return tuple(dict.fromkeys(target for target in found if target))


def _prose(text: str) -> Iterator[str]:
    """Yield the text block by block, without code and with code spans and comments masked."""
    if "#" not in text and "[[" not in text:
        return
    begin = end = 0
    for line in lines(text):
        if line.kind in ("text", "item", "heading"):
            if line.kind != "text" and begin < end:
                yield _without_spans(text[begin:end])
                begin = line.start
            begin, end = (line.start if begin >= end else begin), line.end
        elif begin < end:
            yield _without_spans(text[begin:end])
            begin = end = line.end
    if begin < end:
        yield _without_spans(text[begin:end])


def _masked(match: re.Match[str]) -> str:
    return "`" * len(match.group())


def _without_spans(text: str) -> str:
    """Mask code spans and comments with backticks, which are no part of a word and no space."""
    pieces, at = [], 0
    for start, end in _spans(text):
        pieces += [text[at:start], "`" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of code and comments, in order and apart.

    A run of backticks ends at the next of its length: the runs are listed by length once, so that a text of
    nothing but odd runs takes no longer than another.
    """
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    last_close, at = text.rfind("-->"), 0
    for opening in re.finditer(r"\\.|`+|<!--", text, re.DOTALL):
        start, end = opening.span()
        if start < at or text[start] == "\\":
            continue
        mark = "-->" if text[start] == "<" else opening.group()
        close = _next(runs.get(len(mark), ()), end) if text[start] == "`" else None
        if text[start] == "<" and end <= last_close:
            close = text.index("-->", end)
        if close is not None:
            at = close + len(mark)
            yield start, at


def _next(places: Sequence[int], at: int) -> int | None:
    """Return the first of the places from `at` on."""
    place = bisect_left(places, at)
    return places[place] if place < len(places) else None


# --- comments and conflicts

_OWN_COMMENT = "<!-- mdmem:"


def strip_comments(text: str) -> str:
    """Remove the `<!-- mdmem: … -->` that ends a line, with the spaces before it; all other comments stay."""
    if _OWN_COMMENT not in text:
        return text
    code = ("fence", "code")
    pieces = [(text[line.start : line.end], line.kind) for line in lines(text)]
    return "".join(piece if kind in code else _without_comment(piece) for piece, kind in pieces)


def _without_comment(line: str) -> str:
    content = line.rstrip("\r\n")
    ending = line[len(content) :]
    content = content.rstrip(" \t")
    start = content.rfind(_OWN_COMMENT)
    if start < 0 or not content.endswith("-->") or content.find("-->", start) + 3 != len(content):
        return line
    return content[:start].rstrip(" \t") + ending


_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})(?= |\r?$)", re.MULTILINE)


def conflict_markers(source: str) -> int | None:
    """Return the line of the first git conflict left in the text, or None; examples inside code are none."""
    opened = middle = None
    for marker in _CONFLICT.finditer(source):
        if marker.group() == "<<<<<<<":
            opened, middle = marker.start(), None
        elif marker.group() == "=======" and opened is not None:
            middle = marker.start()
        elif marker.group() == ">>>>>>>" and opened is not None and middle is not None:
            if not _all_code(source, (opened, middle, marker.start())):
                return source.count("\n", 0, opened) + 1
            opened = middle = None
    return None


def _all_code(source: str, places: tuple[int, ...]) -> bool:
    layout = lines(source)
    starts = [line.start for line in layout]
    return all(layout[bisect_right(starts, place) - 1].kind == "code" for place in places)
