"""The document that takes what MEMORY.md has no room for: the same lines, by section, under a title of its own.

Owns that document's text. It only ever grows; what a person changes in it stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from mdmem.distill import page as pages
from mdmem.distill.laying import laid
from mdmem.distill.revision import Moved
from mdmem.model import Claim
from mdmem.text import claims as lines
from mdmem.text.claims import fold


def keep(source: str, moved: Iterable[Moved], *, title: str) -> str:
    """Give the document with more lines; a claim that it has already is not added again.

    `source` is "" for a new document, which then begins with the title.
    """
    page = pages.read(source)
    known, added = set(page.known), []
    for one in moved:
        said = lines.read(one.line)
        text = said.text if said else one.line
        if fold(text) not in known:
            known.add(fold(text))
            added.append((Claim(one.kind, text), one.line))
    return laid(page, {}, added, title=f"# {title}")


def read(source: str) -> tuple[Moved, ...]:
    """List the lines of the document, with the kinds of their sections; what stands in none is a fact."""
    return tuple(Moved(bullet.kind or "fact", bullet.line) for bullet in pages.read(source).bullets)
