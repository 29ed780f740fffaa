"""A change taken back by a new commit, so that history keeps both.

Owns which change is meant, and what of other edits goes into history before it. It must never take along what a
person edited since.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mdmem.errors import MdmemError, NotFound, Refused
from mdmem.model import Change
from mdmem.store.journal import Record
from mdmem.store.repo import CommitInfo
from mdmem.vault import history, messages
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import Delivery
from mdmem.vault.place import Place
from mdmem.vault.recovery import Recovery
from mdmem.vault.resolutions import REOPENED, RESOLVED, Resolutions, key_of, trailer
from mdmem.vault.rewriting import TRIES, Rewriting, not_yet


@dataclass(slots=True)
class Undoing:
    """The way back for changes."""

    place: Place
    notices: list[str]
    delivery: Delivery
    commits: Commits
    rewriting: Rewriting
    resolutions: Resolutions
    recovery: Recovery

    def undo(self, rev: str | None) -> Change:
        """Take the last change back, or the one that is named, by a new commit; a conflict that it settled waits again.

        The last change may be a choice for what stood in the file already: then there is nothing to commit. What
        people edited in its files becomes a commit before; with no change named, Refused: theirs may be what is meant.
        """
        with self.rewriting.changing():
            self.commits.commit_placed()
            if rev is None and self.delivery.waiting():
                raise not_yet("the last change", "", self.commits.failure)
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
                    records = self.rewriting.carry_out(steps, op="undo", message=said)
                if records is not None:
                    return self.rewriting.finish(records)
        raise Refused("a file is being saved all the time", "nothing was changed: try again")

    def _spare(self, info: CommitInfo, *, named: bool) -> None:
        """Commit what people edited in the files of a change; without a word, it could be taken for the last one."""
        paths = [file.path for file in info.files]
        found = self.commits.found(paths if named else None)
        mine = sorted(found.keys() - self.place.repo.ignored(sorted(found)).keys())
        here = messages.counted_with_verb([path for path in paths if path in mine])
        if here and not named:
            raise history.unclear(info, f"{here} edited by hand since the last change")
        self.rewriting.commit_before(paths)
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
