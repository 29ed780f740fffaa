"""What is there already, changed: an entry or document given another text, taken out, or a change taken back.

Owns the order of such a change: what waits is delivered, what is in the file goes into history first, then the file
is replaced. A text that was changed meanwhile is merged, and the commit says so; what of it does not merge is kept as
a conflict. It must never mix a change silently with what another wrote, nor lose what a person typed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mdmem import fsio, merge
from mdmem.errors import BadInput, Busy, Conflicted, MdmemError, NotFound, Refused, StorageFailed
from mdmem.merge import Contest
from mdmem.model import Change
from mdmem.store.journal import Record
from mdmem.store.repo import CommitInfo
from mdmem.text import changes, edits, markdown, units
from mdmem.text.units import Unit
from mdmem.vault import conflicts, history, messages, whereabouts
from mdmem.vault.commits import Commits
from mdmem.vault.daylog import encoded
from mdmem.vault.delivery import CALM, Delivery
from mdmem.vault.place import Place, checked, pick, split_guard, whole
from mdmem.vault.reasons import STALE
from mdmem.vault.recovery import Recovery
from mdmem.vault.replacement import Replacements, Step
from mdmem.vault.resolutions import REOPENED, RESOLVED, Resolutions, key_of, trailer

TRIES = 5
LATER = "nothing was changed: try again when that is over"

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
    """The ways in which a vault's files are changed. `find` looks an address up: (path, unit)."""

    place: Place
    notices: list[str]
    delivery: Delivery
    commits: Commits
    replacements: Replacements
    resolutions: Resolutions
    recovery: Recovery
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
        """Take the last change back, or the one that is named, by a new commit; a conflict that it settled waits again.

        The last change may be a choice for what stood in the file already: then there is nothing to commit. What
        people edited in its files becomes a commit before; with no change named, Refused: theirs may be what is meant.
        """
        with self.delivery.writing(self._wait()):
            self._require_rest()
            self.delivery.deliver()
            self.commits.commit_placed()
            if rev is None and self.delivery.waiting():
                raise _not_yet("the last change", "", self.commits.failure)
            chosen = None if rev else self.resolutions.unwritten(history.latest(self.place))
            if chosen:
                return self._take_back(chosen)
            info = history.undoable(self.place, rev) if rev else history.last(self.place)
            self._spare(info, named=bool(rev))
            for _ in range(TRIES):
                steps = list(history.taken_back(self.place, info))
                if not steps:
                    raise NotFound(f"{info.id[:8]} is taken back already", "`mdmem log` shows what happened")
                if info.trailers.get("Mdmem-Op") in history.BACK:
                    self.recovery.hold(steps)
                with self._reopening(info) as conflict:
                    said = messages.of_undo(info.subject, info.id, conflict)
                    records = self._carry_out(steps, op="undo", message=said)
                if records is not None:
                    return self._finish(records)
        raise Refused("a file is being saved all the time", "nothing was changed: try again")

    def _spare(self, info: CommitInfo, *, named: bool) -> None:
        """Commit what people edited in the files of a change; without a word, it could be taken for the last one."""
        paths = [file.path for file in info.files]
        found = self.commits.found(paths if named else None)
        mine = sorted(found.keys() - self.place.repo.ignored(sorted(found)).keys())
        here = messages.counted_with_verb([path for path in paths if path in mine])
        if here and not named:
            raise history.unclear(info, f"{here} edited by hand since the last change")
        self._commit_before(paths)
        if here:
            self.notices.append(f"{here} edited by hand: that is in history now, and stays")
        elif mine:
            what = f"{messages.counted_with_verb(mine)} edited by hand, and left so"
            self.notices.append(f"{what}: `mdmem commit`, then `mdmem undo`, takes that back")

    def _take_back(self, chosen: Record) -> Change:
        """Have a conflict wait again for which what stood in the file was chosen."""
        self._reopen(key_of(chosen))
        subject = f"Undo: Resolve {chosen.extra['address']}"
        return Change("", self.place.now(), "person", self.place.repo.person.name, "undo", None, subject, "", ())

    @contextmanager
    def _reopening(self, info: CommitInfo) -> Iterator[str]:
        """Have the conflict wait again that a change settled, or not any more if it reopened it; gives the trailer.

        It waits before the change is taken back: should that be broken off, it waits too early rather than never.
        """
        done, _, key = info.trailers.get("Mdmem-Conflict", "").partition(" ")
        if done == RESOLVED:
            self._reopen(key)
        try:
            yield trailer(key, reopened=done == RESOLVED) if done in (RESOLVED, REOPENED) else ""
        except MdmemError:
            if done == RESOLVED:
                self.resolutions.close_again(key)
            raise
        if done == REOPENED:
            self.resolutions.close_again(key)

    def _reopen(self, key: str) -> None:
        if self.resolutions.reopen(key):
            said = "the conflict waits again: `mdmem conflicts`"
        else:
            said = "the conflict that this had settled is no longer kept: its other version is in history, if anywhere"
        if said not in self.notices:
            self.notices.append(said)

    def commit(self) -> None:
        """Commit what was edited by hand. Raises Busy when git is in the middle of something, StorageFailed."""
        with self.delivery.writing(self._wait()):
            self.delivery.deliver()
            try:
                self.commits.commit_by_hand()
                self._put_back()
            except StorageFailed as error:
                hint = f"nothing was lost, every file is as it was: {error.hint}"
                raise StorageFailed(error.message, hint) from error

    def _put_back(self) -> None:
        """Put back, and commit, what the versions that were committed just now had dropped."""
        if not any(one.reason in (None, STALE) and one.record.op == "restore" for one in self.delivery.waiting()):
            return
        time.sleep(CALM)
        self.delivery.deliver()
        self.commits.commit_placed()

    def _require_rest(self) -> None:
        """Leave the files alone while git is in the middle of something: it could neither go on nor back."""
        if reason := self.place.repo.unfinished():
            raise Busy(reason, LATER)

    def _commit_before(self, paths: Sequence[str]) -> None:
        """Commit what is in files before they are changed, so that each change is a commit of its own.

        Raises Busy when that is not possible now, StorageFailed when the disk does not let it be: a change on top
        could not be told apart later. A path that git does not take at all is changed all the same.
        """
        try:
            self.commits.commit_by_hand(paths)
        except MdmemError as error:
            raise _not_yet(f"what {paths[0]} holds", "", error) from error
        for path in self.commits.changed(paths):
            if reason := self.commits.obstacle(path):
                raise _not_yet(f"what {path} holds", reason, self.commits.failure)

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


def _not_yet(what: str, reason: str, error: MdmemError | None) -> MdmemError:
    """Make the error for what must be in history before the files are changed: the reason, or what failed there."""
    reason = error.message if error else reason
    message = f"{what} is not yet in history{f': {reason}' if reason else ''}"
    if isinstance(error, StorageFailed):
        return StorageFailed(message, f"nothing was changed: {error.hint}")
    return Busy(message, LATER)


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
