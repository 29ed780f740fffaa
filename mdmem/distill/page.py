"""MEMORY.md as read: its bullets, its sections by kind, and where a new line would go.

Owns the structure of that file, and of the overflow's. It must never change a byte: `revision` does.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mdmem.distill.words import content, pool
from mdmem.model import Claim, ClaimKind
from mdmem.text import claims, markdown, sections
from mdmem.text.claims import Said
from mdmem.text.entries import line_ending
from mdmem.text.frontmatter import front_matter
from mdmem.text.lines import Line, lines
from mdmem.text.sections import KINDS, Language

_BLOCK_TAGS = (
    "address|article|aside|blockquote|body|center|details|dd|div|dl|dt|fieldset|figcaption|figure|footer|form"
    "|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|ol|p|section|summary|table|tbody|td|tfoot|th"
    "|thead|title|tr|ul"
)
_ENDS_LIST = re.compile(r"[<>#|]|[-*_][ \t]*(?:[-*_][ \t]*){2,}\Z|`{3}|~{3}")


@dataclass(frozen=True, slots=True)
class Bullet:
    """An item at column 0: its span with the newline, its line without, what it says, the kind of its section.

    `stop` is the end of what belongs to it; it is `alone` where that is its own line and no more.
    """

    start: int
    end: int
    stop: int
    line: str
    said: Said
    kind: ClaimKind | None

    @property
    def alone(self) -> bool:
        """Tell whether nothing is written beneath it."""
        return self.stop == self.end


@dataclass(frozen=True, slots=True)
class Section:
    """What stands between a heading and the next: its level (0 for what is before any), title, kind and span.

    `start` is where the heading begins, `body` what follows it, `reach` the end of it with all that is nested in it.
    """

    level: int
    title: str
    kind: ClaimKind | None
    start: int
    body: int
    end: int
    reach: int
    bullets: tuple[Bullet, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A document of bullets read; `known` are the normal forms of whatever a line of it says."""

    source: str
    sections: tuple[Section, ...]
    known: frozenset[str]
    ending: str
    language: Language | None

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """All bullets, in the order of the file."""
        return tuple(bullet for section in self.sections for bullet in section.bullets)


def known_lines(source: str) -> tuple[str, ...]:
    """List the bullets of a document as they stand, without line endings."""
    return tuple(bullet.line for bullet in read(source).bullets)


def read(source: str) -> Page:
    """Read a document of bullets. Takes any str."""
    body = front_matter(source).body_start
    layout = lines(source, body)
    html = _html(source, layout)
    layout = [replace(line, kind="code", level=0) if line.start in html else line for line in layout]
    heads = [head for head in markdown.outline(source, layout) if head.start not in html]
    starts = [line.start for line in layout]
    kinds, reaches = _kinds(heads), _reaches(heads, len(source))
    stop = heads[0].start if heads else len(source)
    found = [Section(0, "", None, body, body, stop, stop, _bullets(source, layout[: bisect_left(starts, stop)], None))]
    for place, head in enumerate(heads):
        end = heads[place + 1].start if place + 1 < len(heads) else len(source)
        own = layout[bisect_left(starts, head.end) : bisect_left(starts, end)]
        bullets = _bullets(source, own, kinds[place])
        found.append(Section(head.level, head.text, kinds[place], head.start, head.end, end, reaches[place], bullets))
    known = frozenset(_said(source, layout))
    return Page(source, tuple(found), known, line_ending(source), _language(source, heads))


_OPENS_HTML = re.compile(rf"(?i) {{0,3}}<(?:(pre|script|style|textarea)(?=[\s>]|\Z)|/?(?:{_BLOCK_TAGS})(?=[\s/>]|\Z))")


def _html(source: str, layout: Sequence[Line]) -> frozenset[int]:
    """Find the lines of HTML blocks, by their starts: up to the closing tag of a `<pre>`, of others to a blank line."""
    found: set[int] = set()
    closing = ""
    for line in layout:
        text = _bare(source, line)
        opened = _OPENS_HTML.match(text) if not closing and line.kind == "text" else None
        if opened:
            closing = f"</{opened[1].casefold()}>" if opened[1] else "\n"
        if closing == "\n" and line.kind == "blank":
            closing = ""
        if closing:
            found.add(line.start)
            closing = "" if closing in text.casefold() else closing
    return frozenset(found)


def _kinds(heads: Sequence[markdown.Heading]) -> list[ClaimKind | None]:
    """Tell the kind of each heading: its own, else that of the one it is nested in. A title has none."""
    is_titled = len(heads) > 1 and heads[0].level == 1 and not any(head.level == 1 for head in heads[1:])
    found: list[ClaimKind | None] = []
    around: list[tuple[int, ClaimKind | None]] = []
    for place, head in enumerate(heads):
        while around and around[-1][0] >= head.level:
            around.pop()
        own = None if is_titled and not place else sections.kind_of(head.text)
        kind = own or (around[-1][1] if around else None)
        around.append((head.level, kind))
        found.append(kind)
    return found


def _reaches(heads: Sequence[markdown.Heading], end: int) -> list[int]:
    """Give where each section ends with all that is nested in it."""
    found, open_ = [end] * len(heads), list[int]()
    for place, head in enumerate(heads):
        while open_ and heads[open_[-1]].level >= head.level:
            found[open_.pop()] = head.start
        open_.append(place)
    return found


def _bullets(source: str, own: Sequence[Line], kind: ClaimKind | None) -> tuple[Bullet, ...]:
    found = []
    for place, line in enumerate(own):
        text = _bare(source, line)
        said = claims.read(text) if line.kind == "item" and not line.level else None
        if said:
            found.append(Bullet(line.start, line.end, _stop(source, own, place), text, said, kind))
    return tuple(found)


def _bare(source: str, line: Line) -> str:
    return source[line.start : line.end].removesuffix("\n").removesuffix("\r").removeprefix("\ufeff")


def _stop(source: str, own: Sequence[Line], place: int) -> int:
    """Give the end of what belongs to the item on a line: what is indented beneath it, or goes on without a gap."""
    stop, gap = own[place].end, False
    for line in own[place + 1 :]:
        text = _bare(source, line)
        if line.kind == "blank":
            gap = True
            continue
        indented = text[:1] in (" ", "\t")
        goes_on = line.kind in ("text", "code") and not gap and not _ENDS_LIST.match(text)
        if not indented and not goes_on:
            break
        stop, gap = line.end, False
    return stop


def _said(source: str, layout: Sequence[Line]) -> list[str]:
    """List the normal form of every line of text, each bullet at any depth."""
    found = []
    for line in layout:
        if line.kind in ("item", "text"):
            text = _bare(source, line).strip()
            said = claims.read(text)
            found.append(claims.fold(said.text if said else text))
    return found


def _language(source: str, heads: Sequence[markdown.Heading]) -> Language | None:
    """Tell the language of a document by its sections' headings, else by its text; None where it has no letters."""
    named = " ".join(head.text for head in heads if sections.kind_of(head.text))
    text = named or " ".join(head.text for head in heads if head.level > 1)
    if not text and len(heads) == 1 and heads[0].level == 1:  # a title alone says nothing of the language of the rest
        text = markdown.strip_comments(source[: heads[0].start] + source[heads[0].end :])
    text = text or ("" if heads else markdown.strip_comments(source))
    return sections.language_of(text) if any(map(str.isalpha, text)) else None


# --- where a line goes


def home(page: Page, claim: Claim) -> Section | None:
    """Choose the section for a claim: the one of its kind; of several for facts, the one that speaks of the same."""
    of_kind = [section for section in page.sections if section.kind == claim.kind]
    if claim.kind != "fact":
        return next((section for section in of_kind if sections.kind_of(section.title)), None)
    near = max(of_kind, key=lambda section: _shared(section, claim), default=None)
    if near and _shared(near, claim) > 0.25:
        return near
    return next((section for section in of_kind if sections.is_general(section.title)), None)


def _shared(section: Section, claim: Claim) -> float:
    """Give the share of a claim's words that a section holds already."""
    units = content(claim.text)
    here = pool(" ".join([section.title, *(bullet.said.text for bullet in section.bullets)]))
    return sum(here.has(unit) for unit in units) / max(1, len(units))


def place_in(page: Page, section: Section) -> int:
    """Give the offset behind the last bullet of a section, or behind its last line where it has none."""
    if section.bullets:
        return section.bullets[-1].stop
    text = page.source[section.body : section.end].rstrip()
    at = page.source.find("\n", section.body + len(text)) if text else section.body - 1
    return len(page.source) if at < 0 else at + 1


def place_for(page: Page, kind: ClaimKind) -> tuple[int, int]:
    """Give the offset and level of a new section: behind the last that comes before it by rights, else in front."""
    own = [one for one in page.sections if one.kind and sections.kind_of(one.title)]
    levels = [section.level for section in own] or [2]
    level = max(set(levels), key=levels.count)
    rank = KINDS.index(kind)
    before = [section for section in own if section.kind and KINDS.index(section.kind) <= rank]
    after = [section for section in own if section.kind and KINDS.index(section.kind) > rank]
    if before:
        return max(section.reach for section in before), level
    return (after[0].start if after else len(page.source)), level
