"""`Vault`: the one object through which everything goes.

Owns the wiring and the order of things: a write is journal, file, commit; a read brings the index up to date first.
It must never lose what it acknowledged: whatever fails after the journal is a notice, and the next command goes on.
"""

from __future__ import annotations

import builtins
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem import config, fsio
from mdmem.errors import MdmemError, NotFound, StorageFailed
from mdmem.model import Added, Answer, Change, Edit, Entry, NewEntry, Progress, Query, Reindexed, Status
from mdmem.store.journal import Journal
from mdmem.store.lock import Lock
from mdmem.text import units
from mdmem.text.units import Unit
from mdmem.vault import birth, history, intake, numbers, reading
from mdmem.vault.amendment import Amendments
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import Delivery
from mdmem.vault.index import Index
from mdmem.vault.index import within as vault_path
from mdmem.vault.place import Place, check_guard, checked
from mdmem.vault.replacement import Replacements

if TYPE_CHECKING:  # what only some commands need is imported where they need it: the rest would wait 30 ms for it
    from mdmem.store.encoder import Card
    from mdmem.vault.meaning import Meaning
    from mdmem.vault.searching import Recent


class Vault:
    """A vault, open. `notices` gathers what the user should know about the last calls."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.notices: list[str] = []
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
        vault._prepare_state()
        with vault._delivery.writing(vault._wait):
            notices = birth.complete(vault.place, vault._commits)
            if hooks:
                notices += birth.install_hooks(vault.place)
        return vault, tuple(notices)

    @property
    def root(self) -> Path:
        """The vault's folder."""
        return self.place.root

    @property
    def settings(self) -> config.Settings:
        """The settings in force."""
        return self.place.settings

    # The parts, made when first needed.

    @cached_property
    def _journal(self) -> Journal:
        return Journal(self.place.state / "journal")

    @cached_property
    def _replacements(self) -> Replacements:
        return Replacements(self.place, self._journal, self.notices)

    @cached_property
    def _delivery(self) -> Delivery:
        lock = Lock(self.place.state / "locks" / "write.lock", command=self.place.command)
        return Delivery(self.place, self._journal, self.notices, lock, self._replacements.settle)

    @cached_property
    def _commits(self) -> Commits:
        lock = Lock(self.place.state / "locks" / "commit.lock", command=self.place.command)
        return Commits(self.place, self._journal, self.notices, lock)

    @cached_property
    def _amendments(self) -> Amendments:
        self._prepare_state()
        return Amendments(self.place, self.notices, self._delivery, self._commits, self._replacements, self._find)

    @cached_property
    def _index(self) -> Index:
        with suppress(StorageFailed):  # then the index tells that it is made in memory
            self._prepare_state()
        return Index(self.place, self.notices)

    @cached_property
    def _meaning(self) -> Meaning:
        from mdmem.vault.meaning import Meaning

        return Meaning(self.place, self.notices)

    @cached_property
    def _recent(self) -> Recent:
        from mdmem.vault.searching import Recent

        return Recent()

    def show_progress(self, progress: Progress | None) -> None:
        """Have `progress` called while the index is brought up to date."""
        self._index.progress = progress

    def _prepare_state(self) -> None:
        """Make the state's folder. Raises StorageFailed."""
        state = self.place.state
        if not state.is_dir():
            fsio.mkdir(str(state).lstrip("/"), root=Path("/"))

    def _catch_up(self) -> None:
        """Finish what earlier commands acknowledged, if nobody else is at it. Reads never wait for it."""
        try:
            if not self._delivery.waiting():
                return
            with self._delivery.writing_if_free() as held:
                if held:
                    self._delivery.deliver()
            self._commits.commit_placed(wait=False)
        except MdmemError as error:
            self.notices.append(error.message)

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
        records = [intake.record(self.place, item, group) for item in items]
        if not records:
            return []
        for path in {record.path for record in records}:
            self._delivery.require_regular(path or "")
        self._prepare_state()
        self._journal.append(*records)
        own = frozenset(record.id for record in records)
        try:
            with self._delivery.writing(self._wait):
                self._delivery.deliver(own)
        except MdmemError as error:
            self.notices.append(f"kept, not yet in the log: {error.message}; nothing to repeat")
        commits: dict[str, str] = {}
        try:
            commits |= self._commits.commit_placed(own=own)
            commits |= intake.committed_by_others(self._journal, own - commits.keys())
        except MdmemError as error:  # the text is safe: whatever fails from here on is for the next command
            self.notices.append(error.message)
        return intake.added(records, self._delivery.placed, commits, self.notices)

    # Reading

    def search(self, query: str | Query, **options: Any) -> Answer:
        """Search memory; `options` are the fields of `Query` besides its text. Raises Missing for an absent mode."""
        from mdmem.vault import searching

        wanted = replace(query, **options) if isinstance(query, Query) else Query(query, **options)
        self._catch_up()
        answer = searching.search(self.place, self._index, lambda: self._meaning, self._recent, wanted)
        return replace(answer, notices=(*answer.notices, *self.notices))

    def get(self, address: str) -> Entry:
        """Give the entry or document with this address or id. Raises NotFound, Refused for another text than `@…`."""
        self._catch_up()
        path, unit = self._find(address)
        return self.place.entry(path, unit)

    def _find(self, address: str) -> tuple[str, Unit]:
        path, unit, guard = reading.find(self.place, self._index, address)
        check_guard(unit, guard)
        return path, unit

    def last(self) -> Entry:
        """Give the newest entry. Raises NotFound in an empty vault."""
        found = [entry for entry in self.list(k=20) if entry.kind == "entry"] or [
            entry for entry in self.list() if entry.kind == "entry"
        ]
        if not found:
            raise NotFound("there is no entry yet", "keep one with `mdmem add`")
        return found[0]

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
        self._catch_up()
        wanted = reading.bounds(Query("", since=since, until=until, tags=tuple(tags), within=within))
        with self._index.open() as stores:
            return reading.listed(self.place, stores, wanted, limit=k, offset=(page - 1) * (k or 0))

    def tags(self) -> builtins.list[tuple[str, int]]:
        """Count the entries and documents of each tag: by falling count, then by name."""
        self._catch_up()
        with self._index.open() as stores:
            return stores.catalog.tags()

    def today(self) -> tuple[str, builtins.list[Entry]]:
        """Give the path of today's log and its entries, in the order of the file."""
        self._catch_up()
        path = self.place.log_path(self.place.now().date())
        found = reading.Files(self.place).units(path)
        return path, [self.place.entry(path, unit) for unit in found if unit.kind == "entry"]

    def attention(self) -> builtins.list[str]:
        """Say what waits for a person: hand edits not committed, entries held, files that do not parse."""
        waiting = self._delivery.waiting()
        edited = self._commits.changed().keys() - {one.path for one in waiting}
        with self._index.open() as stores:
            broken = [file.path for file in stores.catalog.files() if file.problems]
        said = (
            (len(waiting), "change", "waiting to be delivered: the next command tries again"),
            (len(edited), "file", "edited by hand: `mdmem commit` takes it into history"),
            (len(broken), "file", "read as plain text: `mdmem reindex` says why"),
        )
        lines = [f"{count} {noun}{'s' * (count > 1)} {what}" for count, noun, what in said if count]
        return lines + [f"{finding.path}: {finding.message}" for finding in self.settings.findings]

    # Changing

    def edit(self, address: str, text: str, *, was: str | None = None) -> Change:
        """Give an entry or document another text, and change nothing else of its file.

        `was` is the text that the change began with: Refused when another stands there now.
        """

        return self._amendments.edit(address, text, was=was)

    def set_field(self, address: str, key: str, value: str | None) -> Change:
        """Set or remove one key: of a document's front matter, of an entry's comment. All other bytes stay."""

        return self._amendments.set_field(address, key, value)

    def remove(self, address: str) -> Change:
        """Take an entry out of its log, or a document away. History keeps it."""

        return self._amendments.remove(address)

    # History

    def undo(self, rev: str | None = None) -> Change:
        """Take the last change back, or the one that is named, by a new commit.

        What was undone already is skipped. Raises Refused when the same place was changed again since, Busy when the
        last change is not yet in history.
        """
        return self._amendments.undo(rev)

    def commit(self) -> builtins.list[Change]:
        """Commit what was edited by hand. Raises Busy when git is in the middle of something."""
        return self._amendments.commit()

    def log(self, *, k: int | None = 20, path: str | None = None) -> builtins.list[Change]:
        """List changes newest first; of one file, or one entry, when `path` names it."""
        self._catch_up()
        if path is None:
            return history.log(self.place, k=k)
        stem, sign, _ = path.partition("#")
        name = units.path_of(checked(stem))
        found = history.log(self.place, paths=[name], k=None if sign else k)
        if sign:
            found = [replace(one, edits=tuple(e for e in one.edits if e.address == path)) for one in found]
            found = [one for one in found if one.edits][:k]
        return found

    def diff(self, old: str | None = None, new: str | None = None) -> builtins.list[Edit]:
        """Compare two revisions by entry; HEAD with the files as they are when none is named."""
        self._catch_up()
        if not self.place.repo.head():
            raise NotFound("there is no history yet", "`mdmem commit` begins it")
        now = {} if new is not None else self._commits.changed()
        return history.diff(
            self.place, self.place.repo.resolve(old or "HEAD"), new and self.place.repo.resolve(new), now
        )

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
        for path in map(vault_path, paths):
            if not any(fsio.look(name, root=self.root) for name in (path, path + ".md")):
                raise NotFound(f"there is no {path} in the vault", "paths are those that `mdmem list` prints")
        self._catch_up()
        self._index.progress = progress or self._index.progress
        if model is None:
            card = self._meaning.prepare_if_there(self._index.progress)
            return self._embedded(self._meaning, card, self._index.refresh(full=full), anew=full)
        from mdmem.vault import models, preferences
        from mdmem.vault.meaning import Meaning

        models.check_choice(self.root, model)
        chosen = Meaning(self.place, self.notices, model=model)
        card = chosen.prepare(self._index.progress)
        done = self._embedded(chosen, card, self._index.refresh(full=full), anew=full)
        scope: config.Scope = "user" if card.kind == "folder" else "vault"
        preferences.keep(config.settings_file(self.root, scope), "embedding.model", card.name, scope)
        self.place = replace(self.place, settings=config.load(self.root))
        self._meaning = chosen
        with self._index.open() as stores:
            chosen.forget_others(stores, card)
        return done

    def _embedded(self, meaning: Meaning, card: Card | None, done: Reindexed, *, anew: bool) -> Reindexed:
        if card is None:
            return done
        started = time.monotonic()
        with self._index.open() as stores:
            embedded = meaning.complete(stores, card, self._index.progress, anew=anew)
        return replace(
            done,
            embedded=embedded.done,
            failures=(*done.failures, *embedded.findings),
            took_ms=done.took_ms + (time.monotonic() - started) * 1000,
        )

    def status(self) -> Status:
        """Count what there is, and say where it is and how fresh the index is."""
        from mdmem.vault import inventory

        self._catch_up()
        waiting, uncommitted = len(self._delivery.waiting()), len(self._commits.changed())
        with self._index.open() as stores:
            now = inventory.status(
                self.place, self._index, self._meaning, stores, pending=waiting, uncommitted=uncommitted
            )
        self.notices += inventory.complaints(now)
        return now

    # Numbers of the last list on a terminal

    def remember(self, terminal: str, addresses: Sequence[str]) -> None:
        """Keep the addresses that a terminal has just shown with numbers."""
        with suppress(StorageFailed):  # a convenience: its loss shows when a number is asked for
            self._prepare_state()
            numbers.put(self.place.state, terminal, addresses)

    def recall(self, terminal: str, number: int) -> str:
        """Give the address that has this number on a terminal. Raises NotFound."""
        return numbers.get(self.place.state, terminal, number)

    def resolve_path(self, text: str) -> str:
        """Give the vault-relative path that was typed for `--in`, with a leading slash."""
        return "/" + vault_path(text)
