"""What is there already, changed: an entry or document given another text, taken out, or a change taken back.

Owns the order of such a change: what waits is delivered, what is in the file goes into history first, then the file
is replaced. It must never mix a change with what another wrote in the same file, nor act on a text it has not seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mdmem import fsio
from mdmem.errors import BadInput, Busy, MdmemError, NotFound, Refused
from mdmem.model import Change
from mdmem.store.journal import Record
from mdmem.text import changes, edits, markdown, units
from mdmem.text.units import Unit
from mdmem.vault import history, messages
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import Delivery
from mdmem.vault.place import Place, checked, pick, split_guard, whole
from mdmem.vault.replacement import Replacements, Step

TRIES = 5
LATER = "nothing was changed: try again when that is over"

Rewrite = Callable[[str, str, Unit], str | None]
"""Gives from path, source and unit the new source, None for no file."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a commit says: its operation, its subject with `{}` for the address, and the new text if there is one."""

    op: str
    subject: str
    text: str | None = None

    def of(self, unit: Unit) -> str:
        """Write the message for a change of this unit."""
        shown = unit.text if self.text is None else self.text
        return messages.of_change(self.op, self.subject.replace("{}", unit.address, 1), unit.address, shown)


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
        """Give a unit another text; Refused when it is not `was` any more."""

        def rewrite(path: str, source: str, unit: Unit) -> str:
            if was is not None and unit.text != was:
                raise Refused(f"{unit.address} was changed meanwhile", "nothing was changed: edit it again")
            return edits.with_text(source, unit, text)

        return self._amend(address, rewrite, Said("edit", f"Edit {{}}: {changes.headline(text)}", text))

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
        raise Refused(f"{path} is being saved all the time", "nothing was changed: try again")

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
        wanted = fresh.encode("utf-8", "surrogateescape") if fresh is not None else None
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


def _unit(path: str, data: bytes, address: str) -> Unit | None:
    """Find a unit by its address in this very version of its file."""
    if "#" not in address and units.is_log(path):
        return whole(path, data)
    return pick(units.read(path, data).units, address)
