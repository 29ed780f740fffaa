"""`Vault`: the one object through which everything goes.

Owns the wiring and the order of things: a write is journal, file, commit; a read brings the index up to date first.
It must never lose what it acknowledged: whatever fails after the journal is a notice, and the next command goes on.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from mdmem import config, fsio
from mdmem.errors import BadInput, Busy, MdmemError, NotFound, Refused, StorageFailed
from mdmem.model import Added, Answer, Change, Edit, Entry, NewEntry, Query, Reindexed, Status
from mdmem.store.catalog import Filter
from mdmem.store.journal import Journal, Record
from mdmem.store.lock import Lock
from mdmem.text import changes, entries, fields, markdown, units
from mdmem.text.units import Unit
from mdmem.vault import birth, history, reading
from mdmem.vault.commits import Commits, digest, message
from mdmem.vault.delivery import Delivery
from mdmem.vault.index import Index
from mdmem.vault.index import within as vault_path
from mdmem.vault.place import Place, check_guard, checked

TRIES = 5


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
    def _delivery(self) -> Delivery:
        lock = Lock(self.place.state / "locks" / "write.lock", command=self.place.command)
        return Delivery(self.place, self._journal, self.notices, lock)

    @cached_property
    def _commits(self) -> Commits:
        lock = Lock(self.place.state / "locks" / "commit.lock", command=self.place.command)
        return Commits(self.place, self._journal, self.notices, lock)

    @cached_property
    def _index(self) -> Index:
        with suppress(StorageFailed):  # then the index tells that it is made in memory
            self._prepare_state()
        return Index(self.place, self.notices)

    def _prepare_state(self) -> None:
        """Make the state's folder. Raises StorageFailed."""
        state = self.place.state
        if not state.is_dir():
            fsio.mkdir(str(state).lstrip("/"), root=Path("/"))

    def _catch_up(self) -> None:
        """Finish what earlier commands acknowledged, if nobody else is at it. Reads never wait for it."""
        try:
            if self._journal.is_empty() or not self._journal.scan(settled=False):
                return
            with self._delivery.lock.try_hold() as held:
                if held:
                    self._delivery.deliver()
            self._delivery.sync()
            self._commits.commit_placed()
        except (StorageFailed, Busy, Refused) as error:
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
        group = hashlib.sha256(repr(self.place.now()).encode()).hexdigest()[:16]
        records = [self._record(item, group) for item in items]
        if not records:
            return []
        for path in {record.path for record in records}:
            self._delivery.require_regular(path or "")
        self._prepare_state()
        self._journal.append(*records)
        try:
            with self._delivery.writing(self._wait):
                self._delivery.deliver(own=frozenset(record.id for record in records))
        except (Busy, StorageFailed) as error:
            self.notices.append(f"kept, not yet in the log: {error.message}; nothing to repeat")
        commits = self._commits.commit_placed()
        return [self._added(record, commits) for record in records]

    def _record(self, item: NewEntry, group: str) -> Record:
        try:
            text = entries.with_tags(entries.normalise(item.text), item.tags)
            meta = tuple((key, value) for key, value in (("id", item.id), ("source", item.source)) if value)
            entries.render("00:00", text, meta)
        except ValueError as error:
            raise BadInput(f"this cannot be kept: {error}", "nothing was kept") from error
        at = config.local(self.settings, item.at) if item.at else self.place.now()
        return Record(
            op="add",
            path=self.place.log_path(at.date()),
            text=text,
            meta=meta,
            at=at.isoformat(timespec="seconds"),
            source=item.source,
            group=group,
        )

    def _added(self, record: Record, commits: dict[str, str]) -> Added:
        placed = self._delivery.placed.get(record.id)
        address = placed.address if placed else None
        commit = commits.get(record.id) or (self._committed(record.id) if placed else None)
        return Added(
            address=address,
            id=dict(record.meta).get("id") or address,
            path=placed.path if placed else record.path,
            lines=placed.lines if placed else None,
            commit=commit,
            pending=commit is None,
            notices=tuple(self.notices),
        )

    def _committed(self, record: str) -> str | None:
        """Look whether another process committed a record of ours along with its own."""
        return next((one.commit for one in self._journal.scan() if one.record.id == record), None)

    # Reading

    def search(self, query: str | Query, **options: Any) -> Answer:
        """Search memory; `options` are the fields of `Query` besides its text. Raises Missing for an absent mode."""
        wanted = replace(query, **options) if isinstance(query, Query) else Query(query, **options)
        self._catch_up()
        answer = reading.search(self.place, self._index, wanted)
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
        lines = []
        waiting = [one for one in self._journal.scan(settled=False) if one.state in ("waiting", "placed")]
        if waiting:
            lines.append(f"{len(waiting)} changes wait to be delivered")
        edited = self._commits.changed()
        if edited:
            lines.append(f"{len(edited)} files edited by hand: `mdmem commit` takes them into history")
        lines += [f"{finding.path}: {finding.message}" for finding in self.settings.findings]
        return lines

    # Changing

    def edit(self, address: str, text: str, *, was: str | None = None) -> Change:
        """Give an entry or document another text, and change nothing else of its file.

        `was` is the text that the change began with: Refused when another stands there now.
        """

        def change(source: str, unit: Unit) -> str:
            if was is not None and unit.text != was:
                raise Refused(f"{unit.address} was changed meanwhile", "nothing was changed: edit it again")
            return _with_text(source, unit, text)

        return self._change(address, change, op="edit", subject=f"Edit {{}}: {changes.headline(text)}", body="")

    def set_field(self, address: str, key: str, value: str | None) -> Change:
        """Set or remove one key: of a document's front matter, of an entry's comment. All other bytes stay."""

        def change(source: str, unit: Unit) -> str:
            if unit.kind == "document":
                return fields.set_field(source, key, value)
            pairs = [(k, v) for k, v in unit.meta if k != key] + ([(key, value)] if value is not None else [])
            return entries.replace(source, _log_entry(source, unit), meta=pairs)

        what = f"Set {key} of {{}}" if value is not None else f"Remove {key} from {{}}"
        return self._change(address, change, op="edit", subject=what, body=f"{key}: {value}" if value else "")

    def remove(self, address: str) -> Change:
        """Take an entry out of its log, or a document away. History keeps it."""

        def change(source: str, unit: Unit) -> str | None:
            return entries.remove(source, _log_entry(source, unit)) if unit.kind == "entry" else None

        return self._change(address, change, op="rm", subject="Remove {}", body="")

    def _change(
        self, address: str, change: Callable[[str, Unit], str | None], *, op: str, subject: str, body: str
    ) -> Change:
        self._prepare_state()
        with self._delivery.writing(self._wait):
            self._delivery.deliver()
            path, unit = self._find(address)
            self._commit_before(path)
            for _ in range(TRIES):
                path, unit = self._find(address)
                base = self._base(path)
                decoded = markdown.decode(base.data)
                if not decoded.editable:
                    raise Refused(f"{path}: {decoded.problem}", "save it as UTF-8 first; nothing was changed")
                fresh = change(decoded.text, unit)
                wanted = fresh.encode("utf-8", "surrogateescape") if fresh is not None else None
                said = message(
                    subject.format(unit.address), body or f"- {unit.address}: {changes.headline(unit.text)}", op=op
                )
                if wanted == base.data:
                    raise BadInput(f"{unit.address} is like that already", "nothing was changed")
                record = self._replacement(op, path, base.data, wanted, said)
                if self._replace(record, base, wanted):
                    break
            else:
                raise Refused(f"{path} is being saved all the time", "nothing was changed: try again")
        return self._finish([record])

    def _base(self, path: str) -> fsio.Snapshot:
        base = self.place.read(path)
        if base is None:
            raise NotFound(f"{path} is gone", "nothing was changed")
        return base

    def _replacement(
        self, op: str, path: str, now: bytes | None, wanted: bytes | None, said: str, group: str = ""
    ) -> Record:
        return Record(
            op=op, path=path, before=digest(now), after=digest(wanted), group=group or None, extra={"message": said}
        )

    def _replace(self, record: Record, base: fsio.Snapshot | None, wanted: bytes | None) -> bool:
        """Journal a replacement and do it; False when somebody saved in between, and nothing was changed."""
        path = record.path or ""
        self._journal.append(record)
        try:
            if wanted is None:
                fsio.unlink(path, root=self.root)
            else:
                fsio.replace(path, wanted, root=self.root, base=base, tmp=self.place.state / "tmp")
        except MdmemError as error:
            self._journal.mark("void", [record.id])
            if isinstance(error, fsio.Displaced):
                return False
            raise
        self._journal.mark("placed", [record.id], path=path)
        return True

    def _commit_before(self, *paths: str) -> None:
        """Commit what is in these files before they are changed, so that each change is a commit of its own."""
        self._commits.commit_placed()
        try:
            self._commits.commit_by_hand(paths)
        except (Busy, StorageFailed) as error:
            self.notices.append(f"hand edits are not yet in history: {error.message}")

    def _finish(self, records: Sequence[Record]) -> Change:
        """Commit placed replacements and give the change; without a commit when git cannot take it now."""
        commits = self._commits.commit_placed()
        commit = next((commits[record.id] for record in records if record.id in commits), None)
        if commit:
            return history.change(self.place, history.named(self.place, commit))
        first = records[0]
        said = str(first.extra["message"])
        return Change("", self.place.now(), "person", "", first.op, None, said.partition("\n")[0], "", ())

    # History

    def undo(self, rev: str | None = None) -> Change:
        """Take the last change back, or the one that is named, by a new commit.

        What was undone already is skipped. Raises Refused when the same place was changed again since.
        """
        self._prepare_state()
        with self._delivery.writing(self._wait):
            self._delivery.deliver()
            self._commits.commit_placed()
            info = history.named(self.place, rev) if rev else history.last(self.place)
            self._commit_before(*(file.path for file in info.files))
            steps = list(history.taken_back(self.place, info))
            if not steps:
                raise NotFound(f"{info.id[:8]} is taken back already", "`mdmem log` shows what happened")
            said = (
                message(f"Undo: {info.subject}", f"Takes back {info.id[:12]}.", op="undo").rstrip()
                + f"\nMdmem-Undoes: {info.id}\n"
            )
            records = [self._replacement("undo", path, now, wanted, said, info.id) for path, now, wanted in steps]
            for record, (path, now, wanted) in zip(records, steps, strict=True):
                base = self.place.read(path)
                if (base.data if base else None) != now or not self._replace(record, base, wanted):
                    raise Refused(f"{path} was saved just now", "look at `mdmem log`, then undo again")
        return self._finish(records)

    def commit(self) -> builtins.list[Change]:
        """Commit what was edited by hand. Raises Busy when git is in the middle of something."""
        self._prepare_state()
        with self._delivery.writing(self._wait):
            self._delivery.deliver()
            self._commits.commit_placed()
            made = self._commits.commit_by_hand()
        return [history.change(self.place, history.named(self.place, commit)) for commit in made]

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
        self, paths: Sequence[str] = (), *, full: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> Reindexed:
        """Bring the index up to date, or build it anew. Raises Busy while another process does.

        An index knows what changed, so that `paths` need not say it: they must exist, and that is all.
        """
        for path in paths:
            if (
                fsio.look(vault_path(path), root=self.root) is None
                and fsio.look(vault_path(path) + ".md", root=self.root) is None
            ):
                raise NotFound(f"there is no {path} in the vault", "paths are those that `mdmem list` prints")
        self._prepare_state()
        self._catch_up()
        return self._index.refresh(full=full, progress=progress)

    def status(self) -> Status:
        """Count what there is, and say where it is and how fresh the index is."""
        self._catch_up()
        with self._index.open() as stores:
            totals = stores.catalog.totals()
            stale = self._index.stale(stores)
            directory = self._index.directory
        waiting = [one for one in self._journal.scan(settled=False) if one.state in ("waiting", "placed")]
        return Status(
            vault=str(self.root),
            state_dir=str(self.place.state),
            index_dir=str(directory) if directory else None,
            entries=totals["entries"],
            documents=totals["documents"],
            chunks=totals["passages"],
            stale=stale,
            head=self.place.repo.head(),
            pending=len(waiting),
            uncommitted=len(self._commits.changed()),
            layers=self._layers(),
        )

    def _layers(self) -> tuple[tuple[str, int, int], ...]:
        """Count files and bytes of the five layers of memory."""
        layers = {
            name: [0, 0]
            for name in ("L0 live context", "L1 sessions", "L2 logs and documents", "L3 curated", "L4 soul")
        }
        for path, size in self._index.sizes():
            name = path.rpartition("/")[2]
            layer = "L4 soul" if name in ("SOUL.md", "IDENTITY.md") else "L2 logs and documents"
            layer = "L3 curated" if path in ("memory/MEMORY.md", "MEMORY.md") else layer
            layers[layer][0] += 1
            layers[layer][1] += size
        return tuple((name, files, size) for name, (files, size) in layers.items())

    # Numbers of the last list on a terminal

    def remember(self, terminal: str, addresses: Sequence[str]) -> None:
        """Keep the addresses that a terminal has just shown with numbers."""
        try:
            self._prepare_state()
            data = json.dumps(builtins.list(addresses)).encode()
            fsio.put(_numbers(terminal), data, root=self.place.state, durable=False)
        except StorageFailed:
            pass  # a convenience: its loss shows when a number is asked for

    def recall(self, terminal: str, number: int) -> str:
        """Give the address that has this number on a terminal. Raises NotFound."""
        try:
            snapshot = fsio.read(_numbers(terminal), root=self.place.state)
            return str(json.loads(snapshot.data if snapshot else b"[]")[number - 1 if number > 0 else sys.maxsize])
        except (StorageFailed, ValueError, IndexError):
            raise NotFound(f"there is no number {number} here", "search or list first") from None

    def resolve_path(self, text: str) -> str:
        """Give the vault-relative path that was typed for `--in`, with a leading slash. Raises NotFound."""
        path = vault_path(text)
        with self._index.open() as stores:
            if stores.catalog.select(Filter(within=path)):
                return "/" + path
        raise NotFound(f"there is nothing in {text}", "`mdmem list` prints paths")


def _numbers(terminal: str) -> str:
    return f"terminals/{hashlib.sha256(terminal.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.json"


def _log_entry(source: str, unit: Unit) -> entries.LogEntry:
    return next(entry for entry in entries.parse(source).entries if entry.start == unit.start)


def _with_text(source: str, unit: Unit, text: str) -> str:
    if markdown.readable(source[unit.start : unit.end]) != source[unit.start : unit.end].removeprefix("\ufeff"):
        raise Refused(f"{unit.address} holds bytes that are no text", "mend them in an editor; nothing was changed")
    try:
        text = entries.normalise(text) if unit.kind == "entry" else text
    except ValueError as error:
        raise BadInput(f"this cannot be kept: {error}", "nothing was changed") from error
    if unit.kind == "entry":
        return entries.replace(source, _log_entry(source, unit), text=text)
    ending = entries.line_ending(source)
    mark = "\ufeff" if not unit.start and source.startswith("\ufeff") else ""
    return source[: unit.start] + mark + text.replace("\r\n", "\n").replace("\n", ending)
