"""Two versions of a file that clash where the place is gone from the file since: what of them comes back with a choice.

Pure. It must never bring back what both versions have and somebody took out since: only what differs between them is
to be chosen from. Of a log that is whole entries, of a front matter whole keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mdmem.merge.documents import key_lines
from mdmem.merge.files import three_way
from mdmem.merge.lines import Span, Text, blocks, cut_lines, differences
from mdmem.merge.logs import recognised
from mdmem.text import entries, frontmatter, standing, units

Row = tuple[str, str]
"""A line and how it ends."""


@dataclass(frozen=True, slots=True)
class Remains:
    """Two versions without what both had and the file has no more, and the file with what only the first of them had.

    What was put in its place since is left as it is: then nothing of that place is gone.
    """

    version: bytes
    other: bytes
    now: bytes


def remains(path: str, version: bytes, other: bytes, now: bytes | None) -> Remains:
    """Give what is left to choose from in a file, None for one that is gone, that was made from `version`."""
    if units.is_log(path):
        return Remains(version, other, _log(path, version, other, now))
    return _lines(version, other, now or b"", is_document=path.endswith(".md"))


def is_bare(path: str, data: bytes) -> bool:
    """Tell whether a file has nothing but what a new one begins with."""
    return data.strip() in (b"", entries.heading(path).strip().encode() if units.is_log(path) else b"")


# --- a log, by entry


def _log(path: str, version: bytes, other: bytes, now: bytes | None) -> bytes:
    source, contrary = _decoded(version), _decoded(other)
    log = entries.parse(source).entries
    spare = standing.count(contrary)
    differing = [place for place, entry in enumerate(log) if not _taken(spare, standing.key(entry))]
    there = set(recognised(log, entries.parse(_decoded(now or b"")).entries).values())
    lost = [log[place] for place in differing if place not in there]
    texts = [f"{source[entry.start : entry.end].rstrip()}\n" for entry in lost]
    canvas = _begun(path, source, contrary) if now is None else now
    made = three_way(path, b"", canvas, "".join(texts).encode("utf-8", "surrogateescape"))
    return canvas if made.clashes or made.data is None else made.data


def _taken(spare: Counter[standing.Key], key: standing.Key) -> bool:
    spare[key] -= 1
    return spare[key] >= 0


def _begun(path: str, source: str, contrary: str) -> bytes:
    """Give what a log that is gone begins with anew: its heading, or all between its entries if that is at stake."""
    between, others = _between(source), _between(contrary)
    ending = entries.line_ending(source)
    said = between if between.split() != others.split() else entries.heading(path).replace("\n", ending)
    return said.encode("utf-8", "surrogateescape")


def _between(source: str) -> str:
    out, at = [], 0
    for entry in entries.parse(source).entries:
        out.append(source[at : entry.start])
        at = entry.end
    return "".join([*out, source[at:]])


# --- any other text, by line


def _lines(version: bytes, other: bytes, now: bytes, *, is_document: bool) -> Remains:
    source = _decoded(version)
    texts = cut_lines(source), cut_lines(_decoded(other)), cut_lines(_decoded(now))
    differing = _differing(source if is_document else "", texts[0], texts[1])
    rows: list[Row] = []
    gone: set[int] = set()
    at = 0
    for start, end, cut, cut_end in differences(texts[0].lines, texts[2].lines):
        rows += texts[2].part((at, cut_end))
        at = cut_end
        if not _says(texts[2].lines[cut:cut_end]):  # taken out, and nothing put there
            follows = texts[2].lines[cut_end : cut_end + 1]
            back = _back(texts[0].lines, (start, end), differing, (rows[-1][:1] if rows else (), follows))
            rows += (row for place in back for row in texts[0].part((place, place + 1)))
            gone.update(set(range(start, end)).difference(back))
    rows += texts[2].part((at, len(texts[2].lines)))
    pairs = {a + step: b + step for a, b, size in blocks(texts[0].lines, texts[1].lines) for step in range(size)}
    kept = _without(texts[0], gone), _without(texts[1], {pairs[place] for place in gone})
    return Remains(*(_joined(text, source) for text in (*kept, rows)))


def _differing(document: str, version: Text, other: Text) -> set[int]:
    """Number the lines of a version which the other has not just so; of a front matter whole keys with its rules."""
    hunks = differences(version.lines, other.lines)
    found = {line for start, end, _, _ in hunks for line in range(start, end)}
    span = frontmatter.block_span(document)
    if isinstance(span, tuple):
        last = document.count("\n", 0, span[1])
        if any(end and start <= last for start, end, _, _ in hunks):
            found |= {0, last}
        for start, end in key_lines(document):
            if not found.isdisjoint(range(start, end)):
                found.update(range(start, end))
    return found


def _back(
    lines: Sequence[str], span: Span, differing: Collection[int], around: tuple[Sequence[str], Sequence[str]]
) -> list[int]:
    """Choose the lines to put back of a stretch that was taken out, with a blank one wherever one parted them.

    `around` are the lines before and behind it, empty at the ends of the file.
    """
    wanted = [line for line in range(*span) if line in differing]
    if not wanted:
        return []
    parted = list(pairwise(wanted))
    parted += [(span[0] - 1, wanted[0])] if _says(around[0]) else []
    parted += [(wanted[-1], span[1])] if _says(around[1]) else []
    blank = (next((line for line in range(one + 1, two) if not lines[line].strip()), None) for one, two in parted)
    return sorted({*wanted, *(line for line in blank if line is not None)})


def _says(lines: Sequence[str]) -> bool:
    return any(line.strip() for line in lines)


def _without(text: Text, gone: Collection[int]) -> Iterator[Row]:
    return (row for place, row in enumerate(text.part((0, len(text.lines)))) if place not in gone)


def _joined(rows: Iterable[Row], source: str) -> bytes:
    """Put lines together: each one ends but perhaps the last."""
    listed = list(rows)
    ending = entries.line_ending(source)
    ended = [line + (end if end.endswith("\n") else ending) for line, end in listed[:-1]]
    return "".join([*ended, *map("".join, listed[-1:])]).encode("utf-8", "surrogateescape")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
