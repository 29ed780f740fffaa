"""Lines into a document of bullets: changed in place, taken out, or laid behind the others of their kind.

Owns where new lines and sections go. Every byte outside of the lines that are named stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mdmem.distill.page import Page, home, place_for, place_in
from mdmem.model import Claim
from mdmem.text.sections import KINDS, Language, heading_of, language_of


@dataclass(frozen=True, slots=True)
class _Edit:
    """A span that gives way to some rows; `apart` asks for blank lines around them. Edits of one place go by rank."""

    start: int
    end: int
    rank: int
    rows: tuple[str, ...]
    apart: bool = False


def laid(page: Page, lines: Mapping[int, str], added: Sequence[tuple[Claim, str]], *, title: str) -> str:
    """Give a document with other lines for the bullets that begin at some offsets ("" for none), and with new ones.

    An empty document begins with the title.
    """
    source = page.source
    edits = [*_changes(page, lines), *_additions(page, added)]
    if not source.strip("\ufeff \t\r\n") and added:
        edits.append(_Edit(len(source), len(source), -1, (title,)))
    pieces: list[str] = []
    at, tail = 0, ""
    for edit in sorted(edits, key=lambda one: (one.start, one.rank)):
        piece = source[at : edit.start]
        tail = (tail + piece)[-4:]
        text = _text(edit, tail, source, page.ending)
        pieces += (piece, text)
        at, tail = max(at, edit.end), (tail + text)[-4:]
    text = "".join([*pieces, source[at:]])
    closed = not source or source.endswith("\n")
    return text if closed or not text.endswith("\n") else text.removesuffix("\n").removesuffix("\r")


def _changes(page: Page, lines: Mapping[int, str]) -> Iterator[_Edit]:
    for bullet in page.bullets:
        new = lines.get(bullet.start)
        if new:
            yield _Edit(bullet.start, bullet.start + len(bullet.line), 0, (new,))
        elif new is not None:
            yield _Edit(bullet.start, bullet.end, 0, ())


def _additions(page: Page, added: Sequence[tuple[Claim, str]]) -> Iterator[_Edit]:
    """Yield the new lines by section, and the sections that have to be made for them."""
    by_place: dict[int, list[str]] = {}
    bare: set[int] = set()
    new: dict[int, list[str]] = {}
    for claim, line in added:
        section = home(page, claim)
        if section is None:
            new.setdefault(KINDS.index(claim.kind), []).append(line)
            continue
        at = place_in(page, section)
        by_place.setdefault(at, []).append(line)
        bare |= set() if section.bullets else {at}
    for at, rows in by_place.items():
        yield _Edit(at, at, 1, tuple(rows), apart=at in bare)
    language = page.language or (_language(added) if added else "en")
    for rank, rows in new.items():
        at, level = place_for(page, KINDS[rank])
        head = f"{'#' * level} {heading_of(KINDS[rank], language)}"
        yield _Edit(at, at, 2 + rank, (head, "", *rows), apart=True)


def _language(added: Sequence[tuple[Claim, str]]) -> Language:
    """Tell the language of most new lines; of as many in each, that of the longer text."""
    rows = [(language_of(claim.text), len(claim.text.encode())) for claim, _ in added]
    weights = {language: [size for each, size in rows if each == language] for language, _ in rows}
    return max(weights, key=lambda language: (len(weights[language]), sum(weights[language])))


def _text(edit: _Edit, tail: str, source: str, ending: str) -> str:
    """Write the rows of an edit, given the last characters in front of them."""
    if edit.end > edit.start:
        return "".join(edit.rows)
    text = "".join(row + ending for row in edit.rows)
    plain = tail.replace("\r", "").lstrip("\ufeff")
    if plain and not plain.endswith("\n"):
        text, plain = ending + text, plain + "\n"
    if edit.apart:
        after = source[edit.start : edit.start + 2]
        text = ("" if not plain or plain.endswith("\n\n") else ending) + text
        text += "" if not after or after[0] == "\n" or after == "\r\n" else ending
    return text
