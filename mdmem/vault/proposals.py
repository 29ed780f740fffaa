"""What a language model proposes for versions that did not merge: taken, or shown to a person.

Owns which conflicts it was asked about, and what it said. A proposal is made outside of every lock, and taken only
where no fact of either version is missing from it and the file is still as it was. It must never choose a side.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from mdmem import config, fsio, merge
from mdmem.distill import BadReply, merging
from mdmem.errors import MdmemError
from mdmem.model import Change, Conflict, Proposal
from mdmem.text import sections
from mdmem.vault import conflicts
from mdmem.vault.conflicts import Author, Conflicts
from mdmem.vault.place import Place

if TYPE_CHECKING:
    from mdmem.store.llm import Model

FOLDER = "proposals"
"""Of STATE: one file for each conflict that a model was asked about."""

_ENTRY = re.compile(r"(?P<head>- \d\d:\d\d(?::\d\d)? )(?P<text>[^\n]*?)(?P<tail>(?: <!-- mdmem:[^\n]*-->)?\n?)")
"""A block that is one entry on one line: only its text is the model's to change."""


@dataclass(frozen=True, slots=True)
class Proposals:
    """The proposals for the conflicts of a vault."""

    place: Place
    conflicts: Conflicts
    wait_ms: int

    def known(self, conflict: Conflict) -> Proposal | None:
        """Give what a model said of a conflict as it stands now, None where none was asked."""
        with suppress(MdmemError, ValueError, TypeError, KeyError):
            snapshot = fsio.read(_path(conflict), root=self.place.state)
            given = json.loads(snapshot.data) if snapshot else None
            if given:
                return Proposal(str(given["text"]), str(given["reason"]), tuple(given["doubts"]), str(given["model"]))
        return None

    def beside(self, found: Sequence[Conflict]) -> list[Conflict]:
        """Give conflicts with what was proposed for them."""
        return [replace(one, proposal=self.known(one)) for one in found]

    def make(self, model: Model) -> Iterator[Change]:
        """Ask about each conflict once; yield the commits of what was taken. Raises what `ask` raises."""
        for one in self.open():
            change = self._take(one, self._ask(one, model))
            if change is not None:
                yield change

    def open(self) -> list[Conflict]:
        """List the conflicts that no model was asked about, as they stand now."""
        kept = [one for one in self.conflicts.listed() if one.kind == "kept" and one.file is not None]
        return [one for one in kept if not one.meanwhile and self.known(one) is None]

    def _ask(self, conflict: Conflict, model: Model) -> Proposal:
        text = conflicts.draft(conflict)
        bases = [clash.base for clash in conflict.clashes]
        parts, reasons, doubts = list[str](), list[str](), list[str]()
        found = merge.blocks(text)
        if len(found) != len(bases):
            return Proposal("", "", ("it is too tangled for a model",), model.name)
        for block, base in zip(found, bases, strict=True):
            said = _asked(model, base, block.ours, block.theirs)
            if isinstance(said, BadReply):
                return Proposal("", "", (said.reason,), model.name)
            parts.append(said.text)
            reasons.append(said.reason)
            doubts += said.doubts
        return Proposal(merge.filled(text, parts), "\n".join(reasons), tuple(doubts), model.name)

    def _take(self, conflict: Conflict, said: Proposal) -> Change | None:
        with suppress(MdmemError):  # then it is asked again
            data = json.dumps(asdict(said)).encode()
            fsio.put(_path(conflict), data, root=self.place.state, durable=False)
        if said.doubts or not said.text:
            return None
        by = Author(said.model, said.reason)
        data = said.text.encode("utf-8", "surrogateescape")
        return self.conflicts.resolve(conflict.id, data, was=conflict.file, wait_ms=self.wait_ms, by=by)


def _asked(model: Model, *versions: str) -> merging.Proposal | BadReply:
    """Ask about the three versions of one place: base, ours, theirs."""
    entries = [_ENTRY.fullmatch(version) for version in versions[1:]]
    heads = {(entry["head"], entry["tail"]) for entry in entries if entry}
    base = _ENTRY.fullmatch(versions[0])
    if all(entries) and len(heads) == 1:
        head, tail = heads.pop()
        texts: Sequence[str] = [base["text"] if base else "", *(entry["text"] for entry in entries if entry)]
    else:
        head, tail, texts = "", "\n", versions
    if not merging.fits(*texts):
        return BadReply("it is too long for a model")
    template = config.prompt("merge", sections.language_of("\n".join(texts)))
    said = merging.propose(model.ask(merging.prompt(template, *texts)).text, *texts)
    if isinstance(said, BadReply):
        return said
    plain = said.text.strip("\n")
    if head and "\n" in plain:
        return BadReply("it made several lines of one")
    return merging.Proposal(f"{head}{plain}{tail}", said.reason, said.doubts)


def _path(conflict: Conflict) -> str:
    said = json.dumps([conflict.path, conflict.ours, conflict.theirs])
    return f"{FOLDER}/{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}.json"
