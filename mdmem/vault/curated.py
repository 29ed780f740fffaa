"""MEMORY.md as the program edits it: where it is, which of its lines are the program's, and what it holds near a text.

Owns the bytes of that file between reading and writing, and the form in which claims wait for a person. It must never
turn a file that is no UTF-8 into another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from mdmem import distill, fsio
from mdmem.errors import Refused
from mdmem.model import Claim, ClaimKind, Entry, Pending
from mdmem.text import analyze, changes, claims, markdown
from mdmem.vault import facts
from mdmem.vault.daylog import encoded
from mdmem.vault.place import Place

HOME, OLD_HOME = "memory/MEMORY.md", "MEMORY.md"

NOT_OURS = "it would replace a line that a person wrote"

NEAR = 40
"""So many lines of memory are shown to a model: those that share most words with what it is asked about."""

KINDS: tuple[ClaimKind, ...] = ("preference", "fact", "decision", "todo")


@dataclass(slots=True)
class Page:
    """MEMORY.md at work: its text as decoded, and which lines are the program's."""

    before: str
    text: str
    ours: set[str]
    moved: list[distill.Moved] = field(default_factory=list)
    is_new: bool = False

    @classmethod
    def of(cls, data: bytes | None, ours: set[str]) -> Page:
        """Take the file as it is. Raises Refused where that is no UTF-8."""
        text = text_of(data)
        return cls(text, text, ours, is_new=data is None)

    def take(self, made: distill.Revision) -> None:
        """Go on with what a revision made of it."""
        self.text = made.text
        self.ours |= {*made.added, *(new for _, new in (*made.confirmed, *made.replaced))}
        self.moved += made.moved

    def put_instead(self, claim: Claim) -> bool:
        """Put a claim in the place of the line that it replaces, where that is a person's; tell whether it is."""
        for line in distill.known_lines(self.text) if claim.replaces else ():
            said, found = claims.read(line), re.search(rf"(?m)^{re.escape(line)}(?=\r?$)", self.text)
            if said and found and said.text == claim.replaces and line not in self.ours:
                new = claims.line_of(claim)
                self.text = self.text[: found.start()] + new + self.text[found.end() :]
                self.ours.add(new)
                return True
        return False

    @property
    def data(self) -> bytes | None:
        """The bytes it shall have; None for no file."""
        return None if self.is_new and not self.text else encoded(self.text)

    def files(self, home: str, year: int, read: Callable[[str], bytes | None]) -> dict[str, bytes | None]:
        """Give the files that it is kept in: its own, and where lines moved out of it, the archive of the year."""
        files = {home: self.data}
        if self.moved:
            place = archive(year)
            files[place] = encoded(distill.overflow.keep(text_of(read(place)), self.moved, title=title(place)))
        return files


def path(place: Place) -> str:
    """Give the path of MEMORY.md, also where a vault has it at its root."""
    if fsio.look(HOME, root=place.root) is None and fsio.look(OLD_HOME, root=place.root) is not None:
        return OLD_HOME
    return HOME


def title(path: str) -> str:
    """Give the title of such a document."""
    return f"What MEMORY.md had no room for in {path.rpartition('/')[2].removesuffix('.md')}"


def holds_lines(place: Place, file: str) -> bool:
    """Tell whether a file is MEMORY.md, or one of the documents for lines that had no room in it."""
    return file == path(place) or file.startswith(archive(0).rpartition("/")[0] + "/")


def archive(year: int) -> str:
    """Give the path of the document for lines that had no room any more in a year."""
    return f"memory/archives/memory/{year}.md"


def read(place: Place) -> Page:
    """Read MEMORY.md. Raises StorageFailed, Refused."""
    snapshot = place.read(path(place))
    return Page.of(snapshot.data if snapshot else None, set())


def text_of(data: bytes | None) -> str:
    """Give the text of a file, a mark at its beginning included. Raises Refused for what is no UTF-8."""
    decoded = markdown.decode(data or b"")
    if not decoded.editable:
        raise Refused(f"MEMORY.md: {decoded.problem}", "save it as UTF-8 first; nothing was changed")
    return decoded.text


def near(page: Page, entries: Sequence[Entry]) -> list[str]:
    """Give the lines of memory that share words with these entries, in the order of the file."""
    lines = distill.known_lines(page.text)
    if len(lines) <= NEAR:
        return list(lines)
    wanted = set[str]().union(*(analyze.terms_in(entry.text, str) for entry in entries))
    ranked = sorted(lines, key=lambda line: -len(wanted & analyze.terms_in(line, str)))[:NEAR]
    return [line for line in lines if line in ranked]


def left_of(place: Place, addresses: Collection[str]) -> list[str]:
    """Name the lines of MEMORY.md that come from these entries alone, which are gone."""
    data = place.content(path(place)) if addresses else None
    found = [said for line in markdown.decode(data or b"").text.splitlines() if (said := claims.read(line))]
    return [
        f"MEMORY.md still says so, from that entry: {changes.headline(said.text)}"
        for said in found
        if said.sources and {one.partition("@")[0] for one in said.sources} <= set(addresses)
    ]


# What waits for a person


def row(claim: Claim, reason: str, today: str) -> tuple[str, ...]:
    """Write down a claim that waits."""
    key = claims.digest(claim.text)
    return (
        key,
        today,
        claim.kind,
        f"{claim.confidence:.2f}",
        reason,
        ",".join(claim.sources),
        claim.replaces,
        claim.text,
    )


def pending(data: bytes | None) -> Iterator[Pending]:
    """Yield the claims that wait, as they were written down."""
    for fields in facts.rows(data):
        key, noted, kind, sure, reason, sources, replaces, text = (*fields, *[""] * 8)[:8]
        if kind in KINDS and text:
            found = Claim(kind, text, tuple(filter(None, sources.split(","))), _number(sure), replaces)
            yield Pending(0, key, found, reason, noted)


def _number(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0
