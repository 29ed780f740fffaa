"""The vault's index at work: opened, refreshed and, when it cannot be used, built anew beside the old one.

Owns the order of locks, generations and stores, and the keyword leg that ranking asks. It must never change a memory
file; where STATE cannot be written, the same index is built in memory, so that the answers stay the same.
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mdmem import config, indexer
from mdmem.errors import Busy, MdmemError, StorageFailed
from mdmem.model import Progress, Reindexed
from mdmem.store import catalog as catalogs
from mdmem.store import generations
from mdmem.store import lexical as lexicals
from mdmem.store.catalog import Catalog, Filter
from mdmem.store.generations import Generation, Identity
from mdmem.store.lexical import Lexical, Stats
from mdmem.store.lock import Lock
from mdmem.text import analyze, passages, units
from mdmem.vault.place import Place

TRIES = 20
"""How often a reader looks again while a writer swaps files under it; 50 ms each."""


@dataclass(frozen=True, slots=True)
class Stores:
    """The open stores of one generation, or of none: then they live in memory."""

    catalog: Catalog
    lexical: Lexical
    path: Path | None = None

    def close(self) -> None:
        self.catalog.close()
        self.lexical.close()


class Index:
    """The index of one vault."""

    def __init__(self, place: Place, notices: list[str]) -> None:
        self.place = place
        self.state = place.state
        self.settings = place.settings
        self.notices = notices
        self.progress: Progress | None = None
        self._lock = Lock(place.state / "locks" / "indexes.lock", command=place.command)
        self._wait = place.settings.whole("lock.timeout_ms")

    @property
    def directory(self) -> Path | None:
        """Where the serving generation lies."""
        generation, _ = generations.current(self.state, self.identity())
        return generation.path if generation else None

    def identity(self) -> Identity:
        """Name everything that the index depends on besides the files: another identity means a new build."""
        return {
            "schema": [catalogs.SCHEMA, lexicals.SCHEMA],
            "text": [analyze.VERSION, units.VERSION, passages.VERSION],
            "whoosh": lexicals.version(),
            "python": f"{sys.version_info.major}.{sys.version_info.minor}",
            "vault": str(self.place.root),
            "zone": self.settings.text("timezone") or "/".join(time.tzname),
        }

    @contextmanager
    def open(self) -> Iterator[Stores]:
        """Give the stores, refreshed from the files, to read from in one consistent state."""
        stores = self._refreshed()
        try:
            yield stores
        finally:
            stores.close()

    def refresh(self, *, full: bool = False) -> Reindexed:
        """Bring the index up to date; `full` builds it anew beside the old one. Raises Busy, StorageFailed."""
        started = time.monotonic()
        with self._lock.hold(self._wait):
            generation, reason = generations.current(self.state, self.identity())
            if full or generation is None:
                self._say(reason)
                done = self._build()
            else:
                done = self._update(generation)
        return replace(done, took_ms=(time.monotonic() - started) * 1000)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Yield path and size in bytes of every memory file."""
        yield from ((file.path, file.size) for file in self._scan().files)

    def stale(self, stores: Stores) -> int:
        """Count the files that the stores are behind."""
        return len(indexer.stale(self._scan(), stores.catalog, surely=True))

    def _refreshed(self) -> Stores:
        try:
            return self._served()
        except (StorageFailed, PermissionError) as error:
            message = error.message if isinstance(error, MdmemError) else str(error)
            self.notices.append(f"the index cannot be kept ({message}); the files were read instead")
            return self._in_memory()

    def _served(self) -> Stores:
        generation, _ = generations.current(self.state, self.identity())
        stores = _to_read(generation)
        if stores and not indexer.stale(self._scan(), stores.catalog):
            return stores
        if stores:
            stores.close()
        try:
            with self._lock.hold(self._wait):
                generation, reason = generations.current(self.state, self.identity())
                if generation is None:
                    self._say(reason)
                    self._build()
                else:
                    self._update(generation)
                stores = _to_read(generations.named(self.state))
        except Busy:
            self.notices.append("another mdmem is updating the index; the newest changes may be missing")
            stores = self._while_written()
        return stores or self._in_memory()

    def _while_written(self) -> Stores | None:
        """Read what a live writer is working on: its commits are atomic, only names may change under us."""
        for _ in range(TRIES):
            stores = _to_read(generations.named(self.state))
            if stores:
                return stores
            time.sleep(0.05)
        return None

    def _build(self) -> Reindexed:
        generation = generations.create(self.state)
        stores = _open(generation)
        try:
            done = self._run(stores)
        finally:
            stores.close()
        generations.seal(generation, self.identity())
        generations.swap(generation)
        return done

    def _update(self, generation: Generation) -> Reindexed:
        generations.mark_writing(generation)
        stores = _open(generation)
        try:
            return self._run(stores)
        finally:
            whole = _agree(stores)
            stores.close()
            if whole:  # else one of the two commits is missing: what is not sealed is built anew
                generations.seal(generation, self.identity())

    def _run(self, stores: Stores) -> Reindexed:
        step = partial(self.progress, "indexing") if self.progress else None
        return indexer.update(self._scan(), stores.catalog, stores.lexical, self._sources(), step)

    def _in_memory(self) -> Stores:
        stores = Stores(Catalog(None), Lexical(None))
        self._run(stores)
        return stores

    def _scan(self) -> indexer.Scan:
        return indexer.scan(str(self.place.root), self.settings.items("roots"))

    def _sources(self) -> indexer.Sources:
        return indexer.Sources(
            read=self._read,
            moment=self.place.moment,
            stem=lexicals.stem,
            max_bytes=self.settings.whole("index.max_file_mb") * 2**20,
        )

    def _read(self, path: str) -> bytes | None:
        try:
            snapshot = self.place.read(path)
        except MdmemError:
            return None
        return snapshot.data if snapshot else None

    def _say(self, reason: str) -> None:
        if reason:
            self.notices.append(f"{reason}; it was built anew")


def _open(generation: Generation) -> Stores:
    return Stores(Catalog(generation.catalog), Lexical(generation.lexical), generation.path)


def _agree(stores: Stores) -> bool:
    """Tell whether the catalog has recorded Whoosh's last commit."""
    return stores.lexical.version == stores.catalog.fact("lexical")


def _to_read(generation: Generation | None) -> Stores | None:
    """Open a generation in one consistent state; None when a writer is between its two commits, or took it away."""
    if generation is None or not generation.catalog.exists():
        return None
    try:
        stores = _open(generation)
    except (*lexicals.BROKEN, *catalogs.BROKEN):
        return None
    stores.catalog.snapshot()
    if _agree(stores):
        return stores
    stores.close()
    return None


class KeywordLeg:
    """What ranking asks, answered by the catalog and Whoosh."""

    def __init__(self, stores: Stores, settings: config.Settings) -> None:
        self._catalog = stores.catalog
        self._lexical = stores.lexical
        totals = stores.catalog.totals()
        self._units = totals["entries"] + totals["documents"]
        self._stats = Stats(
            passages=totals["passages"],
            average=totals["length"] / max(1, totals["passages"]) or 1.0,
            k1=settings.number("search.bm25_k1"),
            b=settings.number("search.bm25_b"),
        )

    def stem(self, word: str) -> str:
        return lexicals.stem(word)

    def score(self, weights: dict[str, float]) -> dict[int, float]:
        return self._lexical.score(weights, self._stats)

    def importance(self, weights: dict[str, float]) -> dict[str, float]:
        counts = {term: self._lexical.frequency(term) for term in weights}
        return {term: weight * self._stats.idf(counts[term]) for term, weight in weights.items() if counts[term]}

    def rarity(self, units: int) -> float:
        return math.log(1 + (self._units - units + 0.5) / (units + 0.5))

    def units(self, term: str) -> set[int]:
        return self._lexical.units(term)

    def scan(self, needle: str) -> set[int]:
        return self._catalog.scan(needle)

    def match(self, needle: str, pattern: re.Pattern[str]) -> set[int]:
        return self._catalog.match(needle, pattern)

    def tagged(self, tag: str) -> set[int]:
        return self._catalog.select(Filter(tags=(tag,)))

    def under(self, path: str) -> set[int]:
        return self._catalog.select(Filter(within=within(path)))

    def everything(self) -> set[int]:
        return self._catalog.select(Filter())

    def keys(self, units: Iterable[int]) -> dict[int, str]:
        return self._catalog.keys(units)


def within(path: str) -> str:
    """Give the vault-relative path that `in:` or `--in` means: below memory/ unless it begins with a slash."""
    path = os.path.normpath(path.strip() or ".")
    if path.startswith("/"):
        return path.lstrip("/")
    return path if path == "memory" or path.startswith("memory/") else units.HOME + path
