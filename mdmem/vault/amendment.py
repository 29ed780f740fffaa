"""What is there already, changed: an entry or document given another text, taken out, or a change taken back.

Owns the order of such a change: what waits is delivered, what is in the file goes into history first, then the file
is replaced. A text that was changed meanwhile is merged, and the commit says so; what does not merge is kept as a
conflict. It must never mix a change silently with what another wrote, nor lose what a person typed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from mdmem import fsio, merge
from mdmem.errors import BadInput, Busy, Conflicted, MdmemError, NotFound, Refused
from mdmem.model import Change
from mdmem.store.journal import Record
from mdmem.text import changes, edits, markdown, units
from mdmem.text.units import Unit
from mdmem.vault import conflicts, history, messages
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import Delivery
from mdmem.vault.place import Place, checked, pick, split_guard, whole
from mdmem.vault.replacement import Replacements, Step

TRIES = 5
LATER = "nothing was changed: try again when that is over"

DEEP = 20
"""How many versions of a file are looked through for an entry that is gone."""

CHANGED = "changed meanwhile, at the same place"
GONE = "taken out or moved meanwhile"
Content = bytes | None
MERGED = "Merged with what another had changed there meanwhile."

Rewrite = Callable[[str, str, Unit], str | None]
"""Gives from path, source and unit the new source, None for no file."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a commit says: its operation, its subject with `{}` for the address, and the new text if there is one.

    `was` is the text that the change began with, where that matters.
    """

    op: str
    subject: str
    text: str | None = None
    was: str | None = None

    def of(self, unit: Unit) -> str:
        """Write the message for a change of this unit."""
        shown = unit.text if self.text is None else self.text
        said = messages.of_change(self.op, self.subject.replace("{}", unit.address, 1), unit.address, shown)
        if self.was in (None, unit.text):
            return said
        subject, _, rest = said.partition("\n\n")
        return f"{subject}\n\n{MERGED}\n\n{rest}"


@dataclass(slots=True)
class Amendments:
    """The ways in which a vault's files are changed. `find` looks an address up: (path, unit)."""

    place: Place
    notices: list[str]
    delivery: Delivery
    commits: Commits
    replacements: Replacements
    find: Callable[[str], tuple[str, Unit]]

    def edit(self, address: str, text: str, *, was: str | None) -> Change:
        """Give a unit another text. Where it is not `was` any more, both changes are merged.

        Raises Conflicted when they do not merge, or the file never comes to rest: then both versions are kept.
        """

        def rewrite(path: str, source: str, unit: Unit) -> str:
            meant = unit if was is None or unit.text == was else _moved(path, source, unit, was)
            if meant is not None:
                return edits.with_text(source, meant, text)
            return self._merged(path, source, unit, (was or "", text))

        said = Said("edit", f"Edit {{}}: {changes.headline(text)}", text, was)
        try:
            return self._amend(address, rewrite, said)
        except NotFound:
            if was is not None:
                self._keep_of_gone(address, was, text)
            raise

    def _merged(self, path: str, source: str, unit: Unit, typed: tuple[str, str]) -> str:
        """Merge a change from one text to another into a unit that has become a third."""
        was, text = typed
        base, theirs = (_encoded(edits.with_text(source, unit, one)) for one in (was, text))
        merged = merge.three_way(path, base, _encoded(source), theirs)
        if merged.clashes or merged.data is None:
            self._keep(path, unit.address, (base, _encoded(source), theirs), CHANGED)
        fresh = (merged.data or b"").decode("utf-8", "surrogateescape")
        if fresh == source:
            raise BadInput(f"{unit.address} is like that already", "another made the same change meanwhile")
        self.notices.append(f"{unit.address} was changed meanwhile: both changes are merged")
        return fresh

    def _keep_of_gone(self, address: str, was: str, text: str) -> None:
        """Keep what was typed for a unit that is gone, if a committed version of its file still had it so."""
        stem = checked(split_guard(address)[0])
        path = units.path_of(stem)
        for base in self._versions(path):
            unit = _unit(path, base, stem)
            if unit is not None and unit.text == was:
                now = self.place.read(path)
                theirs = _encoded(edits.with_text(markdown.decode(base).text, unit, text))
                self._keep(path, unit.address, (base, now.data if now else None, theirs), GONE)

    def _versions(self, path: str) -> Iterator[bytes]:
        """Yield the last committed versions of a file, newest first."""
        for info in self.place.repo.history(paths=[path], k=DEEP):
            blobs = [file.new for file in info.files if file.path == path and file.new]
            yield from dict(self.place.repo.blobs(blobs)).values()

    def _keep(self, path: str, address: str, versions: tuple[Content, Content, Content], why: str) -> NoReturn:
        """Keep two versions for a person to choose from, and say so."""
        conflicts.keep(self.replacements.journal, path, *versions, why=why, address=address, at=self.place.now())
        raise Conflicted(f"{address} was {why}", "1 conflict kept, the file is as it was: `mdmem conflicts`")

    def set_field(self, address: str, key: str, value: str | None) -> Change:
        """Set one key of a unit, or remove it."""

        def rewrite(path: str, source: str, unit: Unit) -> str:
            return edits.with_field(path, source, unit, key, value)

        # The address first: a key may hold braces.
        said = Said("edit", f"Edit {{}}: remove {key}", f"without {key}")
        if value is not None:
            said = Said("edit", f"Edit {{}}: set {key}", f"{key} = {value}")
        return self._amend(address, rewrite, said)

    def remove(self, address: str) -> Change:
        """Take an entry out of its log, or a document away."""

        def rewrite(path: str, source: str, unit: Unit) -> str | None:
            return edits.without(source, unit)

        return self._amend(address, rewrite, Said("rm", "Remove {}"))

    def _amend(self, address: str, rewrite: Rewrite, said: Said) -> Change:
        with self.delivery.writing(self._wait()):
            self._require_rest()
            self.delivery.deliver()
            path, _ = self._find(address)
            self._commit_before([path])
            for _ in range(TRIES):
                records = self._try(address, rewrite, said)
                if records is not None:
                    return self._finish(records)
            if said.was is not None:
                self._keep_of_restless(address, said)
        raise Refused(f"{path} is being saved all the time", "nothing was changed: try again")

    def _keep_of_restless(self, address: str, said: Said) -> None:
        path, found = self._find(address)
        now = self.place.read(path)
        unit = _unit(path, now.data, found.address) if now else None
        if now is not None and unit is not None:
            source = markdown.decode(now.data).text
            base, theirs = (_encoded(edits.with_text(source, unit, one or "")) for one in (said.was, said.text))
            self._keep(path, unit.address, (base, now.data, theirs), "in a file that was being saved all the time")

    def _try(self, address: str, rewrite: Rewrite, said: Said) -> list[Record] | None:
        """Change the file as it is now; None when somebody saved it meanwhile."""
        path, found = self._find(address)
        base = self.place.read(path)
        unit = _unit(path, base.data, found.address) if base else None
        if base is None or unit is None or unit.text != found.text:
            return None
        decoded = markdown.decode(base.data)
        if not decoded.editable:
            raise Refused(f"{path}: {decoded.problem}", "save it as UTF-8 first; nothing was changed")
        fresh = rewrite(path, decoded.text, unit)
        wanted = _encoded(fresh) if fresh is not None else None
        if wanted == base.data:
            raise BadInput(f"{unit.address} is like that already", "nothing was changed")
        return self._carry_out([Step(path, base, wanted)], op=said.op, message=said.of(unit))

    def _find(self, address: str) -> tuple[str, Unit]:
        try:
            return self.find(address)
        except NotFound:
            # A file that cannot be read is not one that lacks the entry.
            self.place.read(units.path_of(checked(split_guard(address)[0])))
            raise

    def _carry_out(self, steps: Sequence[Step], *, op: str, message: str) -> list[Record] | None:
        try:
            return self.replacements.carry_out(steps, op=op, message=message, group=os.urandom(8).hex())
        except fsio.Displaced:
            return None

    def undo(self, rev: str | None) -> Change:
        """Take the last change back, or the one that is named, by a new commit."""
        with self.delivery.writing(self._wait()):
            self._require_rest()
            self.delivery.deliver()
            self.commits.commit_placed()
            if rev is None and self.delivery.waiting():
                raise Busy("the last change is not yet in history", LATER)
            info = history.undoable(self.place, rev) if rev else history.last(self.place)
            self._commit_before([file.path for file in info.files])
            said = messages.message(f"Undo: {info.subject}", f"Takes back {info.id[:12]}.", op="undo", undoes=info.id)
            for _ in range(TRIES):
                steps = list(history.taken_back(self.place, info))
                if not steps:
                    raise NotFound(f"{info.id[:8]} is taken back already", "`mdmem log` shows what happened")
                records = self._carry_out(steps, op="undo", message=said)
                if records is not None:
                    return self._finish(records)
        raise Refused("a file is being saved all the time", "nothing was changed: try again")

    def commit(self) -> list[Change]:
        """Commit what was edited by hand. Raises Busy when git is in the middle of something."""
        with self.delivery.writing(self._wait()):
            self.delivery.deliver()
            made = self.commits.commit_by_hand()
        return [history.change(self.place, history.named(self.place, commit)) for commit in made]

    def _require_rest(self) -> None:
        """Leave the files alone while git is in the middle of something: it could neither go on nor back."""
        if reason := self.place.repo.unfinished():
            raise Busy(reason, LATER)

    def _commit_before(self, paths: Sequence[str]) -> None:
        """Commit what is in files before they are changed, so that each change is a commit of its own.

        Raises Busy when that is not possible now: a change on top could not be told apart later. A path that git
        does not take at all is changed all the same.
        """
        try:
            self.commits.commit_by_hand(paths)
        except MdmemError as error:
            raise Busy(f"what {paths[0]} holds is not yet in history: {error.message}", LATER) from error
        for path in self.commits.changed(paths):
            if reason := self.commits.obstacle(path):
                raise Busy(f"what {path} holds is not yet in history: {reason}", LATER)

    def _finish(self, records: Sequence[Record]) -> Change:
        """Commit a change and give it; without a commit when git cannot take it now."""
        commits = self.commits.commit_placed()
        commit = next((commits[record.id] for record in records if record.id in commits), None)
        if commit:
            return history.change(self.place, history.named(self.place, commit))
        first = records[0]
        subject = str(first.extra["message"]).partition("\n")[0]
        return Change("", self.place.now(), "person", self.place.repo.person.name, first.op, None, subject, "", ())

    def _wait(self) -> int:
        return self.place.settings.whole("lock.timeout_ms")


def _moved(path: str, source: str, unit: Unit, text: str) -> Unit | None:
    """Find the entry that had this text where another has its address now: a twin before it came or went."""
    if unit.kind != "entry":
        return None
    found = [one for one in units.read(path, _encoded(source)).units if one.time == unit.time and one.text == text]
    return found[0] if len(found) == 1 else None


def _encoded(source: str) -> bytes:
    return source.encode("utf-8", "surrogateescape")


def _unit(path: str, data: bytes, address: str) -> Unit | None:
    """Find a unit by its address in this very version of its file."""
    if "#" not in address and units.is_log(path):
        return whole(path, data)
    return pick(units.read(path, data).units, address)
