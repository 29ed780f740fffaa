"""The daily log's grammar: which lines are heads, where an entry ends, and how one is changed in its file.

Owns the reading of a log to spans and the edits of single entries; `items` lays an entry out. Works on str
alone and knows no files, clock or time zone. It must never change a byte it was not asked to, never raise on
what it reads, and never take more than linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from mdmem.text.items import (
    BLANKS,
    CLOCK,
    INDENT,
    Pairs,
    decode_meta,
    encode_meta,
    fence_after,
    first_line,
    lay_out,
    normalise,
    render,
    split_comment,
    stands_alone,
    with_tags,
    without_outer_blanks,
)

__all__ = [
    "HEAD",
    "Log",
    "LogEntry",
    "Passage",
    "addition",
    "decode_meta",
    "encode_meta",
    "heading",
    "label",
    "line_ending",
    "log_date",
    "normalise",
    "parse",
    "remove",
    "render",
    "replace",
    "with_tags",
]

_NAME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:-.+)?\.md(?:\.zst)?", re.DOTALL)
HEAD = (
    r"(?:(?P<bullet>[-*] (?:\[[ xX]\] )?)|(?P<level>#{1,6}) )?"
    rf"(?P<bold>\*\*)?(?P<time>{CLOCK})(?:[-–—~～〜]{CLOCK})?(?(bold)\*\*)"
)
"""What an entry begins with, before a space or the end of the line."""

_HEAD = re.compile(rf"{HEAD}(?= |\Z)")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|\Z)")
_INDENT = re.compile(r"\A(?:\t| {1,2})")


def label(time: str, twin: int) -> str:
    """Give what follows `#` in the address of the entry of a time that is the `twin`th, from 1."""
    return time if twin == 1 else f"{time}.{twin}"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry: what it says and where it stands, as offsets into the source and 1-based inclusive lines.

    `time` is `HH:MM` or `HH:MM:SS`. `twin` counts entries of the same time in file order, from 1. `text` has
    LF and no comment. `end` is behind the last line that is not blank; `closed` tells that a newline ends it.
    """

    time: str
    twin: int
    text: str
    meta: Pairs
    start: int
    end: int
    line: int
    last_line: int
    closed: bool

    @property
    def label(self) -> str:
        """What follows `#` in an address: `14:30`, `14:30:05`, `14:30.2`."""
        return label(self.time, self.twin)


@dataclass(frozen=True, slots=True)
class Passage:
    """Text of no entry: whole lines between headings and heads, without the blank ones around."""

    start: int
    end: int
    line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Log:
    """A daily log read. Spans are disjoint and in file order.

    Every line that is not blank is in exactly one entry or passage, unless it is a column-0 heading that
    ended what stood above it: that is in none. A byte order mark at the start is in none either.
    """

    entries: tuple[LogEntry, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    start: int
    end: int
    text: str  # without its line ending


@dataclass(frozen=True, slots=True)
class _Head:
    time: str
    listed: bool
    level: int  # of a heading, else 0
    width: int  # of the head as typed, without the space behind it


REMEMBERED = range(4096, 1 << 20)
"""Lengths of the logs of which the last ones read are kept in memory: of one change, each is asked for many times."""


def log_date(name: str) -> date | None:
    """Tell the day a file name stands for: `2026-11-29.md`, `2026-11-29-1430-slug.md`, either with `.zst`."""
    found = _NAME.fullmatch(name)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def heading(path: str) -> str:
    """Give what the log at a path begins with."""
    return f"# {log_date(path.rpartition('/')[2])}\n\n"


def line_ending(source: str) -> str:
    """Name the line ending that most lines have: CR LF, else LF."""
    return "\r\n" if source.count("\r\n") * 2 > source.count("\n") else "\n"


# Reading


def parse(source: str, *, only: Container[str] | None = None) -> Log:
    """Read a daily log. Takes any str, in linear time. With `only`, entries of other labels are passed over."""
    if only is None and len(source) in REMEMBERED:
        return _remembered(source)
    return _parse(source, only)


@lru_cache(maxsize=8)
def _remembered(source: str) -> Log:
    return _parse(source, None)


def _parse(source: str, only: Container[str] | None) -> Log:
    entries: list[LogEntry] = []
    passages: list[Passage] = []
    seen: Counter[str] = Counter()
    for head, lines in _blocks(source):
        if head:
            seen[head.time] += 1
            if only is None or label(head.time, seen[head.time]) in only:
                entries.append(_entry(source, head, lines, seen[head.time]))
        elif lines:
            passages.append(Passage(lines[0].start, lines[-1].end, lines[0].number, lines[-1].number))
    return Log(tuple(entries), tuple(passages))


def _entry(source: str, head: _Head, lines: list[_Line], twin: int) -> LogEntry:
    first, comment = split_comment(lines[0].text[head.width + 1 :])
    further = _dedent([line.text for line in lines[1:]], listed=head.listed)
    return LogEntry(
        time=head.time,
        twin=twin,
        text="\n".join(without_outer_blanks([first, *further])),
        meta=decode_meta(comment) or (),
        start=lines[0].start,
        end=lines[-1].end,
        line=lines[0].number,
        last_line=lines[-1].number,
        closed=source.endswith("\n", lines[-1].start, lines[-1].end),
    )


def _blocks(source: str) -> Iterator[tuple[_Head | None, list[_Line]]]:
    """Yield each entry's lines with its head and each passage's with None, without blank ones at the end."""
    head: _Head | None = None
    held: list[_Line] = []
    fence = ""
    for line in _lines(source):
        found = _read_head(line.text, fenced=bool(fence))
        if found or (not fence and _ends(head, line.text)):
            yield head, _trimmed(held)
            # A head closes whatever fence was open: one forgotten fence must not swallow the rest of the day.
            head, held, fence = found, [line] if found else [], ""
        elif held or line.text.strip(BLANKS):
            held.append(line)
            # A fence inside a list item ends with the item, so it reaches no line of column 0.
            fence = fence_after(line.text, fence, widest=1 if head and head.listed else 3)
    yield head, _trimmed(held)


def _lines(source: str) -> Iterator[_Line]:
    start, number = 1 if source.startswith("\ufeff") else 0, 0
    while start < len(source):
        number += 1
        newline = source.find("\n", start)
        end = newline + 1 if newline >= 0 else len(source)
        yield _Line(number, start, end, source[start:end].removesuffix("\n").removesuffix("\r"))
        start = end


def _read_head(line: str, *, fenced: bool) -> _Head | None:
    found = _HEAD.match(line)
    if not found:
        return None
    listed, level = bool(found["bullet"]), len(found["level"] or "")
    bare_without_text = not listed and not level and not line[found.end() :].strip(BLANKS)
    if bare_without_text or (fenced and not listed):
        return None
    return _Head(found["time"].replace("：", ":"), listed, level, found.end())


def _ends(head: _Head | None, line: str) -> bool:
    """Tell whether a line that is no head ends what stands above it: a heading of its level or above."""
    heading = _HEADING.match(line)
    return heading is not None and (head is None or not head.level or len(heading[1]) <= head.level)


def _trimmed(lines: list[_Line]) -> list[_Line]:
    stop = len(lines)
    while stop and not lines[stop - 1].text.strip(BLANKS):
        stop -= 1
    return lines[:stop]


def _dedent(lines: list[str], *, listed: bool) -> list[str]:
    """Take one tab or at most two spaces off each line.

    Under a bare or heading head only if all lines have them: there two spaces may be those of a nested list.
    """
    if not listed and not all(line.startswith((INDENT, "\t")) for line in lines if line.strip(BLANKS)):
        return lines
    return [_INDENT.sub("", line) for line in lines]


# Changing


def addition(source: str, item: str) -> str:
    """Give what to write behind `source` so that the rendered item follows it, in the file's line ending."""
    ending = line_ending(source)
    if not source or source.endswith("\n"):
        return item.replace("\n", ending)
    return ("\n" if source.endswith("\r") else ending) + item.replace("\n", ending)


def replace(
    source: str, entry: LogEntry, *, text: str | None = None, meta: Iterable[tuple[str, str]] | None = None
) -> str:
    """Give the source with another (normalised) text or other metadata in this entry, all else as it was.

    The head stays as typed wherever the new text can be read back under it, else it becomes `- HH:MM`.
    Without a new text only the comment changes; without new metadata it stays as typed. ValueError: no such
    entry there.
    """
    said, pairs = entry.text if text is None else text, entry.meta if meta is None else tuple(meta)
    if (said, pairs) == (entry.text, entry.meta):
        return source
    rest = source[entry.end :]
    *versions, certain = _versions(source, entry, said, pairs)
    wanted = [(entry.time, said, pairs), *_reading(source[entry.start :])[1:]]
    new = next((version for version in versions if _reading(version + rest) == wanted), certain)
    return source[: entry.start] + new + rest


def remove(source: str, entry: LogEntry) -> str:
    """Give the source without the entry's lines, every other byte as it was."""
    return source[: entry.start] + source[entry.end :]


def _reading(source: str) -> list[tuple[str, str, Pairs]]:
    """Give what a stretch of a log says, apart from where it says it: entries, then passages."""
    log = parse(source)
    passages = (("", source[passage.start : passage.end], ()) for passage in log.passages)
    return [*((entry.time, entry.text, entry.meta) for entry in log.entries), *passages]


def _versions(source: str, entry: LogEntry, text: str, pairs: Pairs) -> list[str]:
    """Write the entry anew in several ways: the one nearest to what was typed first, the certain one last."""
    old = source[entry.start : entry.end]
    line = old.partition("\n")[0].removesuffix("\r")
    head = _read_head(line, fenced=False)
    if not head:
        raise ValueError(f"no entry {entry.label} begins at offset {entry.start}")
    typed, (beside, comment) = line[: head.width], split_comment(line[head.width + 1 :])
    if pairs != entry.meta:
        comment = encode_meta(pairs)
    comment = comment.strip(BLANKS) if pairs else ""
    alone = stands_alone(text)
    apart = alone or not beside.strip(BLANKS)  # a heading that stood above its text goes on to do so
    if head.listed:
        items = [lay_out(typed, text, comment, alone=alone)]
    else:
        items = [lay_out(typed, text, comment, alone=apart, indent=indent) for indent in ("", INDENT)]
    items.append(lay_out(f"- {entry.time}", text, comment, alone=alone))
    anew = [_as_in(source, entry, item) for item in items]
    return [first_line(typed, beside, comment) + old[len(line) :], *anew] if text == entry.text else anew


def _as_in(source: str, entry: LogEntry, item: str) -> str:
    return (item if entry.closed else item.removesuffix("\n")).replace("\n", line_ending(source))
