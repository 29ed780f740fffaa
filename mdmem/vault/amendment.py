"""What is there already, changed: an entry or document given another text, a key, or taken out.

Owns what becomes of a text that was changed meanwhile: it is merged, and the commit says so; what of it does not merge
is kept as a conflict. It must never lose what a person typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mdmem import merge
from mdmem.errors import BadInput, Conflicted, NotFound, Refused
from mdmem.merge import Contest
from mdmem.model import Change
from mdmem.store.journal import Record
from mdmem.text import changes, edits, markdown, units
from mdmem.text.units import Unit
from mdmem.vault import archives, conflicts, messages, whereabouts
from mdmem.vault.daylog import encoded
from mdmem.vault.place import Place, checked, pick, split_guard, whole
from mdmem.vault.replacement import Step
from mdmem.vault.resolutions import Resolutions
from mdmem.vault.rewriting import TRIES, Rewriting

DEEP = 20
"""How many versions of a file are looked through for an entry that is gone."""

CHANGED = "changed meanwhile, at the same place"
GONE = "taken out or moved meanwhile"
RESTLESS = "in a file that was being saved all the time"
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


@dataclass(frozen=True, slots=True)
class Clashed:
    """An edit of which a part is kept as a conflict."""

    record: Record
    address: str


@dataclass(slots=True)
class Amendments:
    """The ways in which a unit is changed. `find` looks an address up: (path, unit)."""

    place: Place
    notices: list[str]
    rewriting: Rewriting
    resolutions: Resolutions
    find: Callable[[str], tuple[str, Unit]]

    def edit(self, address: str, text: str, *, was: str | None) -> Change:
        """Give a unit another text. Where it is not `was` any more, both changes are merged.

        Raises Conflicted when not all of them merges, or the file never comes to rest: then both versions are kept.
        """
        clash: list[Clashed] = []

        def rewrite(path: str, source: str, unit: Unit) -> str:
            if clash:  # it was about another version
                self.resolutions.close(clash.pop().record, "changed again")
            meant = unit if was is None or unit.text == was else _moved(path, source, unit, was)
            if meant is not None:
                return edits.with_text(source, meant, text)
            return self._merged(path, source, unit, (was or "", text), clash)

        said = Said("edit", f"Edit {{}}: {changes.headline(text)}", text, was)
        try:
            change = self._amend(address, rewrite, said)
        except NotFound:
            if was is not None:
                self._keep_of_gone(address, was, text)
            raise
        except Conflicted:
            for one in clash:  # all of it is kept in another
                self.resolutions.close(one.record, "kept as a whole")
            raise
        if clash:
            hint = "1 conflict kept, what did not clash is in the file: `mdmem conflicts`"
            raise Conflicted(f"{clash[0].address} was {CHANGED}", hint)
        return change

    def _merged(self, path: str, source: str, unit: Unit, typed: tuple[str, str], clash: list[Clashed]) -> str:
        """Merge a change from one text to another into a unit that has become a third.

        What clashes stays as it is, and goes to `clash` once both versions are kept.
        """
        base, theirs = (encoded(edits.with_text(source, unit, one)) for one in typed)
        merged = merge.three_way(path, base, encoded(source), theirs)
        fresh = (merged.data or b"").decode("utf-8", "surrogateescape")
        if merged.clashes:
            record = self._keep(path, unit.address, (base, encoded(source), theirs), CHANGED)
            if fresh == source:
                raise _conflicted(unit.address, CHANGED)
            clash.append(Clashed(record, unit.address))
            return fresh
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
                home = self._home(path, base)
                now = self.place.read(home)
                theirs = encoded(edits.with_text(markdown.decode(base).text, unit, text))
                named = unit.address.replace(stem.partition("#")[0], units.stem_of(home), 1)
                self._keep(home, named, (base, now.data if now else None, theirs), GONE)
                raise _conflicted(unit.address, GONE)

    def _home(self, path: str, base: bytes) -> str:
        """Give the present name of a file that held this once; its old one where that is not clear."""
        where = whereabouts.find(self.place, path, base, since=whereabouts.stood(self.place, path))
        return path if where.maybe else where.path

    def _versions(self, path: str) -> Iterator[bytes]:
        """Yield the last committed versions of a file, newest first."""
        for info in self.place.repo.history(paths=[path], k=DEEP):
            blobs = [file.new for file in info.files if file.path == path and file.new]
            yield from dict(self.place.repo.blobs(blobs)).values()

    def _keep(self, path: str, address: str, versions: tuple[Content, Content, Content], why: str) -> Record:
        """Keep two versions for a person to choose from; the file has the vault's where they clash."""
        return conflicts.keep(self.resolutions, Contest.of(path, *versions, stands="ours"), why=why, address=address)

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
        with self.rewriting.changing():
            path, unit = self._find(address)
            archives.require_plain(path, unit)
            self.rewriting.commit_before([path])
            for _ in range(TRIES):
                records = self._try(address, rewrite, said)
                if records is not None:
                    return self.rewriting.finish(records)
            if said.was is not None:
                self._keep_of_restless(address, said)
        raise Refused(f"{path} is being saved all the time", "nothing was changed: try again")

    def _keep_of_restless(self, address: str, said: Said) -> None:
        path, found = self._find(address)
        now = self.place.read(path)
        unit = _unit(path, now.data, found.address) if now else None
        if now is not None and unit is not None:
            source = markdown.decode(now.data).text
            base, theirs = (encoded(edits.with_text(source, unit, one or "")) for one in (said.was, said.text))
            self._keep(path, unit.address, (base, now.data, theirs), RESTLESS)
            raise _conflicted(unit.address, RESTLESS)

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
        wanted = encoded(fresh) if fresh is not None else None
        if wanted == base.data:
            raise BadInput(f"{unit.address} is like that already", "nothing was changed")
        return self.rewriting.carry_out([Step(path, base, wanted)], op=said.op, message=said.of(unit))

    def _find(self, address: str) -> tuple[str, Unit]:
        try:
            return self.find(address)
        except NotFound:
            # A file that cannot be read is not one that lacks the entry.
            self.place.read(units.path_of(checked(split_guard(address)[0])))
            raise


def _conflicted(address: str, why: str) -> Conflicted:
    return Conflicted(f"{address} was {why}", "1 conflict kept, the file is as it was: `mdmem conflicts`")


def _moved(path: str, source: str, unit: Unit, text: str) -> Unit | None:
    """Find the entry that had this text where another has its address now: a twin before it came or went."""
    if unit.kind != "entry":
        return None
    found = [one for one in units.read(path, encoded(source)).units if one.time == unit.time and one.text == text]
    return found[0] if len(found) == 1 else None


def _unit(path: str, data: bytes, address: str) -> Unit | None:
    """Find a unit by its address in this very version of its file."""
    if "#" not in address and units.is_log(path):
        return whole(path, data)
    return pick(units.read(path, data).units, address)
