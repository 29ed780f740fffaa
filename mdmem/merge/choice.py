"""What a person makes of two versions that clash: one of them, both, or a text with both marked to choose from.

Owns git's conflict markers, which mdmem writes only into a text that is opened in an editor, and reads in files where
git left them. It must never change a line that is outside of a clash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mdmem.merge.files import three_way
from mdmem.merge.lines import Text, cut_lines, differences
from mdmem.model import Clash
from mdmem.text import frontmatter, units
from mdmem.text.lines import lines as classified

OPEN, MIDDLE, CLOSE, BASE = "<<<<<<<", "=======", ">>>>>>>", "|||||||"


def sides(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> tuple[bytes | None, bytes | None]:
    """Merge as far as that is possible, once with our version where it clashes and once with theirs."""
    return three_way(path, base, ours, theirs).data, three_way(path, base, ours, theirs, take="theirs").data


def contrast(ours: bytes, theirs: bytes) -> tuple[Clash, ...]:
    """List the places where one version differs from the other, as if all of them were clashes."""
    one, other = _text(ours), _text(theirs)
    found = [(i, one.text((i, i_end)), other.text((j, j_end))) for i, i_end, j, j_end in _differences(one, other)]
    return tuple(Clash(f"line {at + 1}", mine, mine, yours) for at, mine, yours in found)


def both(path: str, ours: bytes, theirs: bytes) -> bytes:
    """Put two versions together: ours, and below each place what differs in theirs.

    Entries of a log become entries of the same minute; in a front matter theirs becomes a comment.
    """
    if units.is_log(path):
        merged = three_way(path, None, ours, theirs)
        if not merged.clashes and merged.data is not None:
            return merged.data
    one, other = _text(ours), _text(theirs)
    span = frontmatter.block_span(_decoded(ours)) if path.endswith(".md") and not units.is_log(path) else None
    head = _decoded(ours).count("\n", 0, span[1]) if isinstance(span, tuple) else 0
    out: list[str] = []
    at = 0
    for i, i_end, j, j_end in _differences(one, other):
        mark = "# " if i < head else ""
        out += [one.text((at, i_end)), *_ended(one, i_end, j < j_end)]
        out += (f"{mark}{line}" for line in other.text((j, j_end)).splitlines(keepends=True))
        out += _ended(other, j_end, i_end < len(one.lines))
        at = i_end
    return "".join([*out, one.text((at, len(one.lines)))]).encode("utf-8", "surrogateescape")


def marked(ours: bytes, theirs: bytes, *, names: tuple[str, str]) -> bytes:
    """Give a text with both versions parted by markers wherever they differ."""
    one, other = _text(ours), _text(theirs)
    out: list[str] = []
    at = 0
    for i, i_end, j, j_end in _differences(one, other):
        out += [one.text((at, i)), f"{OPEN} {names[0]}\n", one.text((i, i_end)), *_ended(one, i_end, i < i_end)]
        out += [f"{MIDDLE}\n", other.text((j, j_end)), *_ended(other, j_end, j < j_end), f"{CLOSE} {names[1]}\n"]
        at = i_end
    return "".join([*out, one.text((at, len(one.lines)))]).encode("utf-8", "surrogateescape")


def _differences(one: Text, other: Text) -> list[tuple[int, int, int, int]]:
    return differences(one.lines, other.lines)


def _ended(text: Text, end: int, wanted: bool) -> Iterator[str]:
    """Yield the newline that is missing behind a last line when something is to follow it."""
    if wanted and end == len(text.lines) and not text.closed:
        yield "\n"


def _text(data: bytes) -> Text:
    return cut_lines(_decoded(data))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# --- markers that git left


@dataclass(frozen=True, slots=True)
class Block:
    """One conflict in a text: its span with the markers, its line, and the versions; the base only if git wrote it."""

    start: int
    end: int
    line: int
    base: str
    ours: str
    theirs: str


def blocks(text: str) -> tuple[Block, ...]:
    """Find the conflicts that git's markers enclose; examples inside code are none."""
    if OPEN not in text:
        return ()
    found: list[Block] = []
    opened: list[tuple[str, int, int, bool]] = []  # the markers so far: which, where, to where, in code
    for number, line in enumerate(classified(text), 1):
        mark = _mark(text[line.start : line.end])
        if mark == OPEN:
            opened, first = [(mark, line.start, line.end, line.kind == "code")], number
        elif mark and opened and mark not in (one[0] for one in opened):
            opened.append((mark, line.start, line.end, line.kind == "code"))
            if mark == CLOSE:
                found += _block(text, opened, first)
                opened = []
    return tuple(found)


def _mark(line: str) -> str:
    mark, rest = line[:7], line[7:].rstrip("\r\n")
    known = mark in (OPEN, CLOSE, BASE) or (mark == MIDDLE and not rest)
    return mark if known and (not rest or rest.startswith(" ")) else ""


def _block(text: str, marks: list[tuple[str, int, int, bool]], line: int) -> Iterator[Block]:
    ends = {mark: (start, end) for mark, start, end, _ in marks}
    if MIDDLE not in ends or all(code for *_, code in marks):
        return
    split = ends.get(BASE, ends[MIDDLE])
    base = text[split[1] : ends[MIDDLE][0]] if BASE in ends else ""
    ours, theirs = text[ends[OPEN][1] : split[0]], text[ends[MIDDLE][1] : ends[CLOSE][0]]
    yield Block(ends[OPEN][0], ends[CLOSE][1], line, base, ours, theirs)


def cut(text: str, side: str) -> str:
    """Give the text with `ours`, `theirs` or `both` in the place of each conflict."""
    versions = [{"ours": one.ours, "theirs": one.theirs, "both": one.ours + one.theirs} for one in blocks(text)]
    return filled(text, [one[side] for one in versions])


def filled(text: str, instead: Sequence[str]) -> str:
    """Give the text with one of these in the place of each conflict, in order."""
    out, at = [], 0
    for block, kept in zip(blocks(text), instead, strict=True):
        out += [text[at : block.start], kept]
        at = block.end
    return "".join([*out, text[at:]])
