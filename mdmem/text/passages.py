"""What a unit is found by: its passages, each as weighted words for BM25 and as one text for a model.

Pure. It must never give away what a reader does not see: comments and front matter are no part of any text here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mdmem.text import analyze, chunk, markdown
from mdmem.text.units import Unit

VERSION = 2
"""Part of the index's identity: raise it whenever the same unit would give other passages."""

LONG = 1000
"""Characters of a title, of all tags and of all headings that stand with every passage: a heading of a megabyte above
a thousand passages would be read a thousand times. The passage in which it stands has all of it."""

_COMMENT = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`)|<!--.*?-->", re.DOTALL)
"""A comment, or code, in which there are none."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a unit: its words by field, and what it says with the headings that it stands under."""

    fields: tuple[analyze.Field, ...]
    saying: str

    @property
    def hash(self) -> bytes:
        """The name of what it says: passages that say the same share a vector. Empty where it says nothing."""
        return hashlib.sha256(self.saying.encode("utf-8", "surrogatepass")).digest()[:16] if self.saying else b""


def passages(unit: Unit) -> Iterator[Passage]:
    """Yield the passages of a unit in order; the title, the path and the tags stand with every one."""
    tags = " ".join(unit.tags)[:LONG]
    common = [analyze.Field(unit.title[:LONG], 2), analyze.Field(unit.address, 1), analyze.Field(tags, 1)]
    if _is_of_a_log(unit):  # whose title is its day: found as a whole, or every 2026 would find it
        common = [analyze.Field(f"{unit.day} {unit.time or ''}", 1, parts=False)]
    for piece in chunk.chunks(unit.text, 0, len(unit.text)):
        text = markdown.strip_comments(unit.text[piece.start : piece.end])
        headings = analyze.Field(" ".join(piece.headings)[:LONG], 1)
        yield Passage((*common, headings, analyze.Field(text, 1)), _saying(unit, piece.headings, text.strip()))


def _is_of_a_log(unit: Unit) -> bool:
    return unit.day is not None and unit.title == unit.day.isoformat()


def _saying(unit: Unit, headings: tuple[str, ...], text: str) -> str:
    """Put the title and the headings before a text that does not hold them; a log's title is but a date."""
    text = _COMMENT.sub(lambda found: found[1] or "", text).strip()
    if not text or all(line.startswith("#") and line.lstrip("#")[:1] in ("", " ") for line in text.split("\n") if line):
        return ""  # headings alone are near to every question
    above = dict.fromkeys(headings if _is_of_a_log(unit) else (unit.title, *headings))
    lines = (line[:LONG] for line in above if line and line not in text)
    return "\n".join([*lines, text])
