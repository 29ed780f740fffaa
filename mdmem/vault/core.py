"""`Vault`: the one object through which everything goes.

Owns the order of things: a write is journal, file, commit; a read brings the index up to date first. It must never
lose what it acknowledged: whatever fails after the journal is a notice, and the next command goes on.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.errors import Busy, Conflicted, MdmemError, NotFound, StorageFailed
from mdmem.model import (
    Added,
    Answer,
    Change,
    Conflict,
    Distilled,
    Edit,
    Entry,
    Held,
    NewEntry,
    Pending,
    Progress,
    Query,
    Reindexed,
    Status,
    Verification,
)
from mdmem.text import units
from mdmem.vault import birth, history, indexing, intake, numbers, reading, recovery, saving
from mdmem.vault.conflicts import draft, meant
from mdmem.vault.index import within as vault_path
from mdmem.vault.parts import Parts
from mdmem.vault.place import Place
from mdmem.vault.upkeep import Upkeep


class Vault:
    """A vault, open. `notices` gathers what the user should know about the last calls."""

    def __init__(self, place: Place) -> None:
        self.notices: list[str] = []
        self.parts = Parts(place, self.notices)
        self._wait = place.settings.whole("lock.timeout_ms")

    @classmethod
    def open(cls, path: str | Path | None = None, *, command: str = "python") -> Vault:
        """Open the vault at `path`, or the one that is meant where the program runs. Raises NoVault."""
        return cls(Place.find(config.find_vault(explicit=path), command=command))

    @classmethod
    def init(cls, path: str | Path, *, hooks: bool = False) -> tuple[Vault, tuple[str, ...]]:
        """Make a vault, or complete one that is there; give it and what to know about it."""
        root = birth.prepare(config.expand(path))
        vault = cls(Place.find(root, command="init"))
        vault.place.prepare()
        with vault.parts.delivery.writing(vault._wait):
            notices = birth.complete(vault.place, vault.parts.commits)
            if hooks:
                notices += birth.install_hooks(vault.place)
        return vault, tuple(notices)

    @property
    def place(self) -> Place:
        """Where the vault stands."""
        return self.parts.place

    @property
    def root(self) -> Path:
        """The vault's folder."""
        return self.place.root

    @property
    def settings(self) -> config.Settings:
        """The settings in force."""
        return self.place.settings

    def show_progress(self, progress: Progress | None) -> None:
        """Have `progress` called while the index is brought up to date."""
        self.parts.index.progress = progress

    # Adding

    def add(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        at: datetime | None = None,
        source: str | None = None,
        id: str | None = None,
    ) -> Added:
        """Keep a text as an entry of its day's log; when this returns, it survives a crash and a power cut.

        Raises BadInput for a text or tag that cannot be kept, StorageFailed when nothing was kept.
        """
        return self.add_batch([NewEntry(text, tuple(tags), at, source, id)])[0]

    def add_batch(self, items: Iterable[NewEntry]) -> builtins.list[Added]:
        """Keep many entries with one sync and one commit; all of them, or none when one cannot be kept."""
        group = os.urandom(8).hex()
        records = intake.whole([intake.record(self.place, item, group) for item in items])
        if not records:
            return []
        for path in {record.path for record in records}:
            self.parts.delivery.require_regular(path or "")
        self.place.prepare()
        self.parts.journal.append(*records)
        own = frozenset(record.id for record in records)
        is_others = False  # whether another mdmem is writing, which then sees to it
        try:
            with self.parts.delivery.writing(self._wait):
                self.parts.delivery.deliver(own)
        except MdmemError as error:
            is_others = isinstance(error, Busy)
            self.notices.append(f"kept, not yet in the log: {error.message}; nothing to repeat")
        commits: dict[str, str] = {}
        try:
            commits |= self.parts.commits.commit_placed(own=own & self.parts.delivery.placed.keys())
            commits |= intake.committed_by_others(self.parts.journal, own - commits.keys())
            self.parts.mend()
        except MdmemError as error:  # the text is safe: whatever fails from here on is for the next command
            self.notices.append(error.message)
        if own - commits.keys() and not (is_others or self.parts.commits.is_others):
            self.parts.kept.update()  # a work tree that is removed takes the journal along
        return intake.added(records, self.parts.delivery.placed, commits, self.notices)

    # Reading

    def search(self, query: str | Query, **options: Any) -> Answer:
        """Search memory; `options` are the fields of `Query` besides its text. Raises Missing for an absent mode."""
        from mdmem.vault import searching

        wanted = replace(query, **options) if isinstance(query, Query) else Query(query, **options)
        self.parts.catch_up()
        answer = searching.search(self.place, self.parts.index, lambda: self.parts.meaning, self.parts.recent, wanted)
        return replace(answer, notices=(*answer.notices, *self.notices))

    def get(self, address: str) -> Entry:
        """Give the entry or document with this address or id. Raises NotFound, Refused for another text than `@…`."""
        self.parts.catch_up()
        path, unit = self.parts.find(address)
        self.notices += reading.packed_beside(self.place, path, unit)
        return self.place.entry(path, unit)

    def last(self) -> Entry:
        """Give the newest entry. Raises NotFound in an empty vault."""
        for k in (20, None):  # the newest few often hold one
            if found := [entry for entry in self.list(k=k) if entry.kind == "entry"]:
                return found[0]
        raise NotFound("there is no entry yet", "keep one with `mdmem add`")

    def list(
        self,
        *,
        k: int | None = None,
        page: int = 1,
        since: datetime | None = None,
        until: datetime | None = None,
        tags: Sequence[str] = (),
        within: str | None = None,
    ) -> builtins.list[Entry]:
        """List entries and documents newest first, undated ones last; `k` on a page, all when None."""
        self.parts.catch_up()
        wanted = reading.bounds(Query("", since=since, until=until, tags=tuple(tags), within=within))
        return self.parts.index.ask(
            lambda stores: reading.listed(self.place, stores, wanted, limit=k, offset=(page - 1) * (k or 0))
        )

    def tags(self) -> builtins.list[tuple[str, int]]:
        """Count the entries and documents of each tag: by falling count, then by name."""
        self.parts.catch_up()
        return self.parts.index.ask(lambda stores: stores.catalog.tags())

    def today(self) -> tuple[str, builtins.list[Entry]]:
        """Give the path of today's log and its entries, in the order of the file. Raises StorageFailed."""
        self.parts.catch_up()
        path = self.place.log_path(self.place.now().date())
        found = reading.Files(self.place).units(path)
        if not found:
            self.place.read(path)  # one that cannot be read is not one without entries
        return path, [self.place.entry(path, unit) for unit in found if unit.kind == "entry"]

    def attention(self) -> builtins.list[str]:
        """Say what waits for a person: hand edits, texts held, conflicts, claims to review, files that do not parse."""
        from mdmem.vault import attention

        return attention.lines(self.parts)

    # Changing

    def edit(self, address: str, text: str, *, was: str | None = None) -> Change:
        """Give an entry or document another text, and change nothing else of its file.

        `was` is the text that the change began with: Refused when another stands there now.
        """
        try:
            return self.parts.amendments.edit(address, text, was=was)
        except Conflicted:  # a work tree that is removed takes along what is kept
            self.parts.kept.update()
            raise

    def set_field(self, address: str, key: str, value: str | None) -> Change:
        """Set or remove one key: of a document's front matter, of an entry's comment. All other bytes stay."""
        return self.parts.amendments.set_field(address, key, value)

    def remove(self, address: str) -> Change:
        """Take an entry out of its log, or a document away. History keeps it; what MEMORY.md has from it is named."""
        from mdmem.vault import curated

        change = self.parts.amendments.remove(address)
        self.notices += curated.left_of(self.place, [edit.address for edit in change.edits if edit.after is None])
        return change

    # History

    def undo(self, rev: str | None = None) -> Change:
        """Take the last change back, or the one that is named, by a new commit.

        What was undone already is skipped. Raises Refused when the same place was changed again since, Busy when the
        last change is not yet in history.
        """
        change = self.parts.undoing.undo(rev)
        self.parts.kept.update()
        return change

    def commit(self) -> builtins.list[Change]:
        """Commit what was edited by hand, and what waits; give all commits that this made, oldest first.

        Raises Busy when git is in the middle of something, StorageFailed.
        """
        self.place.prepare()
        before = len(self.parts.commits.made)
        saving.save(self.parts.delivery, self.parts.commits, wait_ms=self._wait)
        return history.changes_of(self.place, [commit for commit, _ in self.parts.commits.made[before:]])

    def log(self, *, k: int | None = 20, path: str | None = None) -> builtins.list[Change]:
        """List changes newest first; of one file, or one entry, when `path` names it."""
        self.parts.catch_up()
        return history.log(self.place, k=k) if path is None else history.log_of(self.place, path, k=k)

    def diff(self, old: str | None = None, new: str | None = None) -> builtins.list[Edit]:
        """Compare two revisions by entry; HEAD with the files as they are when none is named."""
        self.parts.catch_up()
        if not self.place.repo.head():
            raise NotFound("there is no history yet", "`mdmem commit` begins it")
        now = {} if new is not None else self.parts.commits.changed()
        return history.diff(
            self.place, self.place.repo.resolve(old or "HEAD"), new and self.place.repo.resolve(new), now
        )

    # What is kept, and what waits

    def held(self) -> builtins.list[Held]:
        """List texts that are not in their file: dropped, deleted by hand, in conflict, on their way, taken by git."""
        self.parts.catch_up()
        return recovery.listed(self.parts)

    def kept_texts(self) -> builtins.list[Held]:
        """List what the journal holds, without finishing, adopting or expiring anything first."""
        return self.parts.recovery.listed()

    def recover(self, id: str) -> Change | None:
        """Put back what `held` lists by this id; None when it waits, as notices say. Raises NotFound, Refused."""
        return next(iter(self.recover_all([id])), None)

    def recover_all(self, ids: Sequence[str]) -> builtins.list[Change]:
        """Put back what `held` lists by these ids; give the commits that did. Raises NotFound, Refused."""
        return recovery.put_back(self.parts, ids, wait_ms=self._wait)

    def drop(self, id: str) -> None:
        """Forget what `held` lists by this id. Raises NotFound."""
        with self.parts.delivery.writing(self._wait):
            self.parts.recovery.forget(*self.parts.recovery.find(id))
        self.parts.kept.update()

    def conflicts(self) -> builtins.list[Conflict]:
        """List versions that did not merge: kept ones, saves that will not, and markers that git left in files."""
        self.parts.catch_up()
        found = recovery.looked(self.parts, [self.parts.kept.adopt], self.parts.conflicts.listed)
        return self.parts.proposals.beside(found) if found else []

    def draft(self, conflict: Conflict) -> str:
        """Give a text with both versions of a conflict, parted by markers, for a person to edit. Raises Refused."""
        return draft(conflict)

    def resolve(self, id: str, choice: str, *, was: str | None = None) -> Change | None:
        """Settle the conflict with this id by `ours`, `theirs`, `both`, or the text of the file as it shall be.

        `was` is the file that this text began with: what was done to it since is merged into the text.
        None when nothing was left to write, or git's own merge is to be finished. Raises NotFound, Refused, Busy, and
        BadInput for a text that still holds markers.
        """
        change = self.parts.conflicts.resolve(id, meant(choice), was=was, wait_ms=self._wait)
        self.parts.kept.update()
        return change

    # Distilling

    def checkpoint(self, *, dry_run: bool = False) -> Distilled:
        """Bring what matters in new log entries into MEMORY.md, by one commit; a dry run tells what it would do.

        Raises Busy while another process keeps house, Missing where the model that is set is not there, StorageFailed,
        Refused. A model that does not answer is a failure in what this gives, and its entries wait.
        """
        from mdmem.vault import distilling

        return distilling.checkpoint(self.parts, dry_run=dry_run)

    def pending(self) -> builtins.list[Pending]:
        """List the claims that wait for a person's yes. Raises StorageFailed."""
        self.parts.catch_up()
        return self.parts.review.listed()

    def accept(self, *ids: str, text: str | None = None) -> Change | None:
        """Take claims that wait into MEMORY.md, one of them with another text. Raises NotFound, BadInput, Refused."""
        return self.parts.review.accept(ids, text=text)

    def reject(self, *ids: str) -> Change | None:
        """Reject claims that wait, for good. Raises NotFound."""
        return self.parts.review.reject(ids)

    @property
    def upkeep(self) -> Upkeep:
        """What a process may do that watches over the vault."""
        return self.parts.upkeep

    # The index

    def reindex(
        self,
        paths: Sequence[str] = (),
        *,
        full: bool = False,
        model: str | None = None,
        progress: Progress | None = None,
    ) -> Reindexed:
        """Bring the indexes up to date, or build them anew. Raises Busy while another process does.

        An index knows what changed, so that `paths` need not say it: they must exist, and that is all. With `model`
        everything is embedded by that one, and from then on it is the vault's; until then the old one serves. Raises
        Missing or Refused for a model that cannot serve.
        """
        return indexing.reindex(self.parts, paths, full=full, model=model, progress=progress)

    def verify(
        self, *, sample: float | None = None, fix: bool = False, progress: Progress | None = None
    ) -> Verification:
        """Compare the indexes with the files; `sample` is a share from 0 to 1 of what it takes longer to compare.

        With `fix` what differs is healed, and nothing else. Raises Busy, StorageFailed.
        """
        from mdmem.vault import verification

        self.parts.catch_up()
        shown = progress or self.parts.index.progress
        return verification.verify(
            self.place, self.parts.index, self.parts.meaning, sample=sample, fix=fix, progress=shown
        )

    def status(self) -> Status:
        """Count what there is, and say where it is and how fresh the index is."""
        from mdmem.vault import inventory

        self.parts.catch_up()
        waiting, found = len(self.parts.delivery.waiting()), self.parts.commits.found()
        now = self.parts.index.ask(
            lambda stores: inventory.status(
                self.place, self.parts.index, self.parts.meaning, stores, pending=waiting, uncommitted=len(found)
            )
        )
        for contest in self.parts.conflicts.saves(found):
            said = "was saved from an older copy, and does not merge: `mdmem conflicts`"
            self.notices.append(f"{units.stem_of(contest.path)} {said}")
        self.notices += inventory.complaints(self.place, now)
        return now

    # Numbers of the last list on a terminal

    def remember(self, terminal: str, addresses: Sequence[str]) -> None:
        """Keep the addresses that a terminal has just shown with numbers."""
        with suppress(StorageFailed):  # a convenience: its loss shows when a number is asked for
            self.place.prepare()
            numbers.put(self.place.state, terminal, addresses)

    def recall(self, terminal: str, number: int) -> str:
        """Give the address that has this number on a terminal. Raises NotFound."""
        return numbers.get(self.place.state, terminal, number)

    def resolve_path(self, text: str) -> str:
        """Give the vault-relative path that was typed for `--in`, with a leading slash."""
        return "/" + vault_path(text)
