"""Whose the lines of MEMORY.md are: those that the program wrote, and those of them that a person took out.

Owns that reading of history. A line is the program's only while it is byte for byte what a commit of the program's
wrote; whatever a person touched, moved out and back, or took back is theirs. It must never write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from mdmem.store.repo import CommitInfo
from mdmem.text import claims, markdown
from mdmem.vault.place import Place

PROGRAM = frozenset({"checkpoint", "nightly", "review"})
"""Operations whose commits write lines that are the program's."""


@dataclass(slots=True)
class Authorship:
    """The lines that are the program's, without their ends; and by digest the claims that people took out again.

    `since` tells when each line of the program's came there.
    """

    ours: set[str] = field(default_factory=set)
    taken_out: dict[str, str] = field(default_factory=dict)
    since: dict[str, datetime] = field(default_factory=dict)

    def wrote(self, before: Counter[str], after: Counter[str], when: datetime) -> None:
        """Take in a change that the program made.

        What it only says again was not wanted back: on another branch a person may have taken it out meanwhile.
        """
        known = {claims.digest(said.text) for line in before - after if (said := claims.read(line))}
        for line in after - before:
            if said := claims.read(line):
                self.ours.add(line)
                self.since[line] = when
                if claims.digest(said.text) not in known:
                    self.taken_out.pop(claims.digest(said.text), None)

    def edited(self, before: Counter[str], after: Counter[str]) -> None:
        """Take in a change that a person made."""
        for line in before - after:
            if line in self.ours and line not in after:
                self.ours.discard(line)
                if said := claims.read(line):
                    self.taken_out[claims.digest(said.text)] = said.text
        for line in after - before:
            if said := claims.read(line):
                self.taken_out.pop(claims.digest(said.text), None)

    def merged(self, before: Counter[str], after: Counter[str], when: datetime) -> None:
        """Take in a merge: a line of the program's stays so where two of its comments became one."""
        texts = {replace(said, sources=(), confirmations=1) for line in self.ours if (said := claims.read(line))}
        own = {
            line
            for line in after - before
            if (said := claims.read(line)) and said.sources and replace(said, sources=(), confirmations=1) in texts
        }
        self.edited(before, after)
        self.ours |= own
        self.since |= {line: self.since.get(line, when) for line in own}


def of(place: Place, path: str) -> Authorship:
    """Read whose the lines of a file are, by its history and by how it stands now."""
    found, last = Authorship(), Counter[str]()
    for info, before, last in _versions(place, path):
        if info.trailers.get("Mdmem-Op", "") in PROGRAM:
            found.wrote(before, last, info.date)
        elif len(info.parents) > 1:
            found.merged(before, last, info.date)
        else:
            found.edited(before, last)
    found.edited(last, lines(place.content(path)))
    return found


def _versions(place: Place, path: str) -> Iterator[tuple[CommitInfo, Counter[str], Counter[str]]]:
    """Yield each change of a file, oldest first, and the lines before and after."""
    infos = list(place.repo.history(paths=[path]))[::-1] if place.repo.head() else []
    changed = [(info, file) for info in infos for file in info.files if file.path == path]
    wanted = {blob for _, file in changed for blob in (file.old, file.new) if blob}
    blobs = {blob: lines(data) for blob, data in place.repo.blobs(sorted(wanted))}
    for info, file in changed:
        old, new = (blobs.get(blob or "", Counter()) for blob in (file.old, file.new))
        yield info, old, new


def lines(data: bytes | None) -> Counter[str]:
    """Count the lines of a file, without their ends."""
    return Counter(line.removesuffix("\r") for line in markdown.decode(data or b"").text.split("\n"))
