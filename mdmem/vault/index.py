"""The vault's index at work: opened, refreshed and, when it cannot be used, built anew beside the old one.

Owns the order of locks, generations and stores. It must never change a memory file, nor give an answer from an index
that is not what was written; where STATE cannot be written, the same index is built in memory.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from mdmem import fsio, indexer
from mdmem.errors import Busy, Damaged, StorageFailed
from mdmem.model import Progress, Reindexed
from mdmem.store import catalog as catalogs
from mdmem.store import generations
from mdmem.store import lexical as lexicals
from mdmem.store.catalog import Catalog
from mdmem.store.generations import Found, Generation, Identity
from mdmem.store.lexical import Lexical
from mdmem.store.lock import Lock
from mdmem.text import analyze, passages, units
from mdmem.vault.place import Place

TRIES = 20
"""How often a reader looks again while a writer swaps files under it; 50 ms each."""

ROUNDS = 3
"""How often a question is asked before an index that gives no answer counts as damaged, whatever its sums say."""

T = TypeVar("T")


class Moved(Damaged):
    """A file was changed while it was read, by a writer or by damage: what was read of it may be anything."""


@dataclass(frozen=True, slots=True)
class Stores:
    """The open stores of one generation, or of none: then they live in memory. `guard` keeps the generation there."""

    catalog: Catalog
    lexical: Lexical
    generation: Generation | None = None
    guard: int | None = None

    @property
    def path(self) -> Path | None:
        """Where the generation lies."""
        return self.generation.path if self.generation else None

    def check(self) -> None:
        """Raise Damaged if a file was changed since it was examined: then what was read of it may be anything."""
        name = generations.moved(self.generation) if self.generation else ""
        if name:
            raise Moved(f"the index is damaged ({name} was changed while it was read)")

    def close(self) -> None:
        self.catalog.close()
        self.lexical.close()
        if self.guard is not None:
            generations.leave(self.guard)


class Index:
    """The index of one vault. A `patient` one, as a long-lived process wants it, lets half-saved files settle first."""

    def __init__(self, place: Place, notices: list[str]) -> None:
        self.place = place
        self.state = place.state
        self.settings = place.settings
        self.notices = notices
        self.progress: Progress | None = None
        self.patient = False
        self._lock = Lock(place.state / "locks" / "indexes.lock", command=place.command)
        self._wait = place.settings.whole("lock.timeout_ms")

    @property
    def directory(self) -> Path | None:
        """Where the serving generation lies."""
        generation = generations.current(self.state, self.identity()).generation
        return generation.path if generation else None

    def identity(self) -> Identity:
        """Name everything that the index depends on besides the files: another identity means a new build.

        The git directory's inode is a part of it: an index that came with somebody's copy of a vault is not opened.
        """
        return {
            "schema": [generations.FORMAT, catalogs.SCHEMA, lexicals.SCHEMA],
            "text": [analyze.VERSION, units.VERSION, passages.VERSION],
            "whoosh": lexicals.version(),
            "python": f"{sys.version_info.major}.{sys.version_info.minor}",
            "vault": str(self.place.root),
            "repository": self.place.repo.git_dir.stat().st_ino,
            "zone": self.settings.text("timezone") or "/".join(time.tzname),
        }

    @contextmanager
    def open(self) -> Iterator[Stores]:
        """Give the stores, refreshed from the files, to read from in one consistent state. Damaged may be raised."""
        stores = self._refreshed()
        try:
            yield stores
        finally:
            stores.close()

    def ask(self, question: Callable[[Stores], T]) -> T:
        """Put a question to the stores, refreshed from the files; it may be put more than once.

        An index that turns out to be damaged meanwhile is set aside and built anew, with a notice: no answer is taken
        from files that were changed while they were read.
        """
        for asked in range(ROUNDS + 1):
            with self.open() as stores:
                try:
                    answer = question(stores)
                    stores.check()
                    return answer
                except Damaged as error:
                    if stores.generation is None:
                        raise
                    problem, generation = error, stores.generation
            if asked + 1 >= ROUNDS or generations.harm(generation):
                self._retire(generation, problem)
        stores = self._in_memory()
        try:
            return question(stores)
        finally:
            stores.close()

    def _retire(self, generation: Generation, problem: Damaged) -> None:
        """Set a damaged generation aside, unless somebody else has done so, is at it, or only wrote to it."""
        with suppress(Busy, StorageFailed), self._lock.hold(self._wait):
            if generations.named(self.state) != generation:
                return
            if not isinstance(problem, Moved) or generations.harm(generation):
                generations.set_aside(generation)
                self._say(problem.message)

    def retire(self) -> None:
        """Set the generation that serves aside: the next refresh builds another. Raises Busy, StorageFailed."""
        with self._lock.hold(self._wait):
            generation = generations.named(self.state)
            if generation:
                generations.set_aside(generation)

    def opened(self, generation: Generation) -> Stores | None:
        """Open a generation as it was left, to be closed by the caller; None when it cannot be."""
        return _to_read(generation)

    def forget(self, units: Collection[int], paths: Collection[str]) -> None:
        """Forget units, and of files whatever tells that they are known: the next refresh takes them in again.

        Raises Busy, StorageFailed, Damaged.
        """
        with self._lock.hold(self._wait):
            generation = generations.examined(self.state, self.identity()).generation
            if generation is None:
                return
            with self._writing(generation) as stores:
                stores.catalog.begin()
                try:
                    with stores.lexical.writing() as writer:
                        for unit in units:
                            writer.remove(unit)
                    stores.catalog.drop_units(units)
                    for row in stores.catalog.files():
                        if row.path in paths:
                            stores.catalog.put_file(replace(row, stamp="", hash=b""))
                    stores.catalog.recount()
                    stores.catalog.remember("lexical", stores.lexical.version)
                    stores.catalog.commit()
                except BaseException:
                    stores.catalog.rollback()
                    raise

    def refresh(self, *, full: bool = False) -> Reindexed:
        """Bring the index up to date; `full` builds it anew beside the old one. Raises Busy, StorageFailed."""
        started = time.monotonic()
        with self._lock.hold(self._wait):
            done = self._bring_up(full=full)
        return replace(done, took_ms=(time.monotonic() - started) * 1000)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Yield path and size in bytes of every memory file."""
        yield from ((file.path, file.size) for file in self.scan().files)

    def stale(self, stores: Stores) -> int:
        """Count the files that the stores are behind."""
        return len(indexer.stale(self.scan(), stores.catalog, surely=True))

    def _refreshed(self) -> Stores:
        try:
            return self._served()
        except (StorageFailed, PermissionError) as error:
            self.notices.append(f"the index cannot be kept ({fsio.why(error)}); the files were read instead")
            return self._in_memory()

    def _served(self) -> Stores:
        stores = self._at_hand()
        if stores:
            return stores
        try:
            with self._lock.hold(self._wait):
                self._bring_up()
                stores = _to_read(generations.named(self.state))
        except Busy:
            self.notices.append("another mdmem is updating the index; the newest changes may be missing")
            stores = self._while_written()
        return stores or self._in_memory()

    def _at_hand(self) -> Stores | None:
        """Open the generation that serves, if it is whole and up to date; it may be swapped while we look."""
        for _ in range(ROUNDS):
            generation = generations.current(self.state, self.identity()).generation
            if generation is None:
                return None
            stores = _to_read(generation)
            if stores is None:
                continue
            with suppress(Damaged):
                if not indexer.stale(self.scan(), stores.catalog):
                    return stores
            stores.close()
            return None
        return None

    def _while_written(self) -> Stores | None:
        """Read what a live writer is working on: its commits are atomic, only names may change under us."""
        for _ in range(TRIES):
            generation = generations.named(self.state)
            stores = _to_read(generation) if generation and generations.is_plausible(generation) else None
            if stores:
                return stores
            time.sleep(0.05)
        return None

    def _bring_up(self, *, full: bool = False) -> Reindexed:
        """Update the generation that serves, or build another; called under the lock."""
        found = generations.examined(self.state, self.identity())
        if found.generation and not full:
            try:
                return self._update(found.generation)
            except Damaged as error:
                found = Found(reason=error.message, damaged=found.generation)
        if found.damaged:
            generations.set_aside(found.damaged)
        done = self._build()
        if full:
            generations.sweep(self.state, generations.named(self.state), aside=True)
        self._say(found.reason)
        return done

    def _build(self) -> Reindexed:
        generation = generations.create(self.state)
        try:
            stores = _open(generation)
            try:
                done = self._run(stores)
            finally:
                stores.close()
            generations.seal(generation, self.identity())
            generations.swap(generation)
        except BaseException:
            if generations.named(self.state) != generation:
                generations.discard(generation)
            raise
        return done

    def _update(self, generation: Generation) -> Reindexed:
        with self._writing(generation) as stores:
            return self._run(stores)

    @contextmanager
    def _writing(self, generation: Generation) -> Iterator[Stores]:
        """Open a generation to be changed, and record what it is afterwards."""
        generations.mark_writing(generation)
        stores = _open(generation)
        try:
            yield stores
        finally:
            whole = _agree(stores)
            stores.close()
            if whole:  # else one of the two commits is missing: what is not sealed is built anew
                generations.seal(generation, self.identity())
                generations.sweep(self.state, generation)

    def _run(self, stores: Stores) -> Reindexed:
        step = partial(self.progress, "indexing") if self.progress else None
        return indexer.update(self.scan(), stores.catalog, stores.lexical, self.sources(), step)

    def _in_memory(self) -> Stores:
        stores = Stores(Catalog(None), Lexical(None))
        self._run(stores)
        return stores

    def scan(self) -> indexer.Scan:
        """List the memory files as they are."""
        return indexer.without_shadowed(indexer.scan(str(self.place.root), self.settings.items("roots")))

    def sources(self) -> indexer.Sources:
        """Give what the indexer needs to read files."""
        return indexer.Sources(
            read=self.place.said,
            moment=self.place.moment,
            stem=lexicals.stem,
            max_bytes=self.settings.whole("index.max_file_mb") * 2**20,
            patient=self.patient,
        )

    def _say(self, reason: str) -> None:
        if reason:
            self.notices.append(f"{reason}; it was built anew")


def _open(generation: Generation) -> Stores:
    catalog = Catalog(generation.catalog)
    try:
        return Stores(catalog, Lexical(generation.lexical), generation)
    except BaseException:
        catalog.close()
        raise


def _agree(stores: Stores) -> bool:
    """Tell whether the catalog has recorded Whoosh's last commit."""
    with suppress(Damaged, StorageFailed):
        return stores.lexical.version == stores.catalog.fact("lexical")
    return False


def _to_read(generation: Generation | None) -> Stores | None:
    """Open a generation in one consistent state; None when a writer is between its two commits, or took it away."""
    guard = generations.enter(generation) if generation else None
    if generation is None or guard is None:
        return None
    with ExitStack() as undo:
        undo.callback(generations.leave, guard)
        if generation.catalog.exists():
            with suppress(Damaged):
                stores = replace(_open(generation), guard=guard)
                undo.pop_all()
                undo.callback(stores.close)
                stores.catalog.snapshot()
                if _agree(stores) and not generations.moved(generation):
                    undo.pop_all()
                    return stores
    return None


def within(path: str) -> str:
    """Give the vault-relative path that `in:` or `--in` means: below memory/ unless it begins with a slash."""
    path = os.path.normpath(path.strip() or ".")
    if path.startswith("/"):
        return path.lstrip("/")
    return path if path == "memory" or path.startswith("memory/") else units.HOME + path
