"""MEMORY.md made lighter: what it says twice becomes one line, and what is done goes to the overflow.

Owns that edit, on the lines of the program alone. It must never take out a line without saying where it went.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from itertools import combinations

from mdmem.distill import page as pages
from mdmem.distill.checks import is_ours
from mdmem.distill.laying import laid
from mdmem.distill.page import Bullet
from mdmem.distill.revision import TITLE, Moved
from mdmem.distill.words import content
from mdmem.text import claims as lines
from mdmem.text.claims import fold
from mdmem.text.difference import difference

MOST = 0.75
"""The share of its content words that the shorter of two lines has in common with one that says nearly the same."""

STRUCK = re.compile(r"~~.*~~", re.DOTALL)
"""A line that somebody struck out says that it is no longer so."""


@dataclass(frozen=True, slots=True)
class Folded:
    """MEMORY.md as it should be: `moved` goes to the overflow, `merged` are lines that went, and what each joined."""

    text: str
    moved: tuple[Moved, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()


def folded(source: str, *, ours: Container[str], is_old: Callable[[str], bool]) -> Folded:
    """Merge lines of the program that say the same, and move those out that are done or struck, once they are old.

    `source` is the file decoded by `markdown.decode`, `ours` holds the lines, without endings, that are the program's.
    """
    page = pages.read(source)
    free = [bullet for bullet in page.bullets if is_ours(bullet, ours)]
    moved = [bullet for bullet in free if _is_over(bullet) and is_old(bullet.line)]
    first: dict[str, Bullet] = {}
    changed = {bullet.start: "" for bullet in moved}
    merged: list[tuple[str, str]] = []
    for bullet in (one for one in free if one not in moved):
        kept = first.setdefault(f"{bullet.said.box} {fold(bullet.said.text)}", bullet)
        if kept is not bullet:
            before = changed.get(kept.start, kept.line)
            said = lines.read(before)
            changed[kept.start] = lines.write(lines.confirmed(said or kept.said, bullet.said.sources))
            changed[bullet.start] = ""
            merged.append((bullet.line, changed[kept.start]))
    if not changed:
        return Folded(source)
    text = laid(page, changed, [], title=TITLE)
    return Folded(text, tuple(Moved(one.kind or "fact", one.line) for one in moved), tuple(merged))


def alike(source: str, *, ours: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield what lines of the program say that come from one entry and say nearly the same, each with an earlier one.

    One entry often gives two facts: only lines that share most of what they say, and differ in nothing, count.
    """
    free = [bullet for bullet in pages.read(source).bullets if is_ours(bullet, ours) and not _is_over(bullet)]
    taken: set[int] = set()
    for first, other in combinations(free, 2):
        if not taken & {first.start, other.start} and _is_like(first, other):
            taken |= {first.start, other.start}
            yield first.said.text, other.said.text


def _is_like(first: Bullet, other: Bullet) -> bool:
    sources = ({address.partition("@")[0] for address in one.said.sources} for one in (first, other))
    if first.said.box != other.said.box or not set.intersection(*sources):
        return False
    said = [set(content(one.said.text)) for one in (first, other)]
    shared = len(said[0] & said[1])
    texts = first.said.text, other.said.text
    return (
        shared > 1
        and shared >= MOST * min(map(len, said))
        and fold(texts[0]) != fold(texts[1])
        and not difference(*texts)
    )


def joined(source: str, pair: tuple[str, str], *, ours: Container[str]) -> str | None:
    """Take out the later of two lines of the program, by what they say; the earlier gets its sources. None without."""
    page = pages.read(source)
    free = [bullet for bullet in page.bullets if is_ours(bullet, ours)]
    first = next((one for one in free if one.said.text == pair[0]), None)
    other = next((one for one in free if one.said.text == pair[1]), None)
    if first is None or other is None:
        return None
    line = lines.write(lines.confirmed(first.said, other.said.sources))
    return laid(page, {first.start: line, other.start: ""}, [], title=TITLE)


def _is_over(bullet: Bullet) -> bool:
    return bullet.said.box == "x" or STRUCK.fullmatch(bullet.said.text) is not None
