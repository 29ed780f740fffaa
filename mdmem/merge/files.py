"""Whole files merged three ways: which way is right for a file, and what of its bytes is no text.

Owns encoding, byte order mark and line endings around the merges of texts. It must never write a marker into a
file, nor put a text together from bytes that are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdmem.merge import documents, logs
from mdmem.merge.lines import Take, by_line, pick
from mdmem.model import Clash
from mdmem.text import markdown, units

WHOLE = "the whole file"
_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of two versions of a file, None for no file; where they clash, `data` has one side's."""

    data: bytes | None
    clashes: tuple[Clash, ...]


def three_way(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, *, take: Take = "ours"
) -> Merged:
    """Merge two versions of the file at a vault-relative path that both come from `base`; None is no file.

    Where they clash the result has the version of the side to `take`, and nothing else depends on that. Daily logs are
    merged by entry, documents by key of their front matter and by line, other texts by line, and what is no text as a
    whole.
    """
    if theirs in (base, ours):
        return Merged(ours, ())
    if ours == base:
        return Merged(theirs, ())
    if ours is None or theirs is None or not all(is_text(path, data) for data in (base, ours, theirs)):
        clash = Clash(WHOLE, *map(_shown, (base, ours, theirs)))
        return Merged(ours if take == "ours" else theirs, (clash,))
    texts = [_decoded(data or b"") for data in (base, ours, theirs)]
    marked = pick(*(text.startswith(_MARK) for text in texts))
    merged, clashes = _by_kind(path, _alike([text.removeprefix(_MARK) for text in texts]), take)
    return Merged((_MARK * marked + merged).encode("utf-8", "surrogateescape"), clashes)


def is_text(path: str, data: bytes | None) -> bool:
    """Tell whether a file may be put together from pieces; of a Markdown file also one with bytes that are none."""
    found = markdown.decode(data or b"")
    return not found.problem or (path.endswith(".md") and found.editable and b"\0" not in (data or b""))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _shown(data: bytes | None) -> str:
    return _decoded(data or b"")


def _alike(texts: Sequence[str]) -> tuple[str, str, str]:
    """Give three texts the same usual line ending: that of the side which changed it."""
    usual = [_usual(text) for text in texts]
    wanted = pick(*usual) or usual[1] or usual[2]
    base, ours, theirs = (
        text if ending in (wanted, None) else text.replace("\r\n", "\n").replace("\n", wanted or "\n")
        for text, ending in zip(texts, usual, strict=True)
    )
    return base, ours, theirs


def _usual(text: str) -> str | None:
    """Name the line ending that most lines have, None where no line ends."""
    newlines = text.count("\n")
    return ("\r\n" if text.count("\r\n") * 2 > newlines else "\n") if newlines else None


def _by_kind(path: str, texts: tuple[str, str, str], take: Take) -> tuple[str, tuple[Clash, ...]]:
    if path.endswith(".md"):
        return logs.merge(*texts, take=take) if units.is_log(path) else documents.merge(*texts, take=take)
    return by_line(*texts, union=path.endswith(".tsv"), take=take)


def left(path: str, base: bytes, ours: bytes) -> bytes:
    """Give what one side made of what the base has: of a log, its version without the entries that were added."""
    if not units.is_log(path) or not all(is_text(path, data) for data in (base, ours)):
        return ours
    return logs.left(_decoded(base), _decoded(ours)).encode("utf-8", "surrogateescape")
