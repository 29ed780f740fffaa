"""MEMORY.md made lighter: what it says twice becomes one line, and what is done goes to the overflow.

Owns that edit, on the lines of the program alone. It must never take out a line without saying where it went.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass

from mdmem.distill import page as pages
from mdmem.distill.checks import is_ours
from mdmem.distill.laying import laid
from mdmem.distill.page import Bullet
from mdmem.distill.revision import TITLE, Moved
from mdmem.text import claims as lines
from mdmem.text.claims import fold

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


def _is_over(bullet: Bullet) -> bool:
    return bullet.said.box == "x" or STRUCK.fullmatch(bullet.said.text) is not None
