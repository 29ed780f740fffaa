"""Chroma in one generation of the index: kept in step with the cached vectors, and asked where there are very many.

Owns `chroma/` of a generation, a folder for each model, and the lock that lets one process at it. A mark beside each
folder tells how far it is. It is filled from the cache alone; when it is damaged it is cleared and filled again. What
fails three times within an hour is left alone until the index is built anew: all vectors are compared meanwhile.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import fsio
from mdmem.errors import StorageFailed
from mdmem.store.catalog import Passage
from mdmem.store.encoder import Card
from mdmem.store.lock import Lock
from mdmem.store.vector import Unusable, Vector
from mdmem.store.vectors import Vectors

if TYPE_CHECKING:
    from mdmem.store.vectors import Matrix

CHROMA = "chroma"
FAILURES = "failures.json"
"""When Chroma failed here, in seconds since 1970."""

OFTEN, HOUR = 3, 3_600
"""So many failures within so many seconds are the end of trying."""

PATIENCE, OPENING = 2.0, 6.0
"""Seconds that a search waits for an answer of Chroma's, and for its start beside that, before it compares all."""

BATCH = 2_000
"""Passages whose vectors are in memory at once while Chroma is filled."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What was so when nothing was missing: the version of the keyword index, and the number of texts in the cache.

    `filled` is the version with which Chroma was brought in step, `upto` the last passage that it knows of, -1 when
    there are none, 0 when it was never filled.
    """

    version: int = -1
    vectors: int = -1
    upto: int = 0
    filled: int = -1


class Neighbours:
    """Chroma's index of one generation for one model."""

    def __init__(self, generation: Path, card: Card, lock: Lock) -> None:
        self._home = generation / CHROMA
        self._name = card.fingerprint[:16]
        self._lock = lock
        self._card = card

    def _make(self) -> Vector:
        return Vector(self._home / self._name, model=self._card.fingerprint, dimension=self._card.dimension)

    def _make_quick(self) -> Vector:
        model, dimension = self._card.fingerprint, self._card.dimension
        return Vector(self._home / self._name, model=model, dimension=dimension, deadline=PATIENCE, opening=OPENING)

    def is_given_up(self) -> bool:
        """Tell whether it has failed too often to be tried again in this generation."""
        times = self._failures()
        return any(late - early <= HOUR for early, late in zip(times, times[OFTEN - 1 :], strict=False))

    def _failures(self) -> list[float]:
        try:
            found = json.loads((self._home / FAILURES).read_bytes())
            return sorted(float(each) for each in found)[-100:]
        except (OSError, ValueError, TypeError):
            return []

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Note a failure of the block, and clear what it left: another try begins with empty files."""
        if self.is_given_up():
            raise Unusable("it failed three times within an hour; `mdmem reindex --full` tries again")
        try:
            yield
        except Unusable:
            with suppress(StorageFailed):
                times = [*self._failures(), time.time()]
                fsio.put(FAILURES, json.dumps(times).encode(), root=self._home, durable=False)
            self.clear()
            self.put_mark(replace(self.mark(), upto=0, filled=-1))
            raise

    @property
    def folder(self) -> str:
        """The folder in STATE."""
        return f"index/{self._home.parent.name}/{CHROMA}/{self._name}"

    def is_there(self) -> bool:
        """Tell whether the generation still is."""
        return self._home.parent.is_dir()

    def mark(self) -> Mark:
        """Read how far the vectors are."""
        try:
            found = json.loads((self._home / f"{self._name}.json").read_bytes())
            return Mark(*(int(found[name]) for name in ("version", "vectors", "upto", "filled")))
        except (OSError, ValueError, TypeError, KeyError):
            return Mark()

    def put_mark(self, mark: Mark) -> None:
        """Note how far the vectors are; without the note they are only looked at once more."""
        with suppress(StorageFailed):
            fsio.put(f"{self._name}.json", json.dumps(asdict(mark)).encode(), root=self._home, durable=False)

    def intact(self) -> bool:
        """Tell whether Chroma's files are what was written last; while another process is at them, they are."""
        with self._lock.try_hold() as held:
            return not held or self._make().intact()

    def fill(self, listed: Sequence[Passage], cache: Vectors, *, doubted: Collection[str] = ()) -> int:
        """Bring Chroma in step with the cached vectors of these passages, and give the last passage that it knows of.

        Vectors of the `doubted` passages, given by key, are put in again. Raises Unusable; 0 when another process is
        at it.
        """
        with self._lock.try_hold() as held:
            if not held:
                return 0
            fsio.mkdir(f"{CHROMA}/{self._name}", root=self._home.parent)
            with self._counting(), self._make() as vector:
                if not vector.intact():
                    vector.clear()
                    fsio.mkdir(f"{CHROMA}/{self._name}", root=self._home.parent)
                vector.start()
                _fill(vector, listed, cache, doubted)
        return max((passage.id for passage in listed), default=-1)

    def nearest(self, query: Matrix, k: int) -> list[str]:
        """Give the keys of the passages nearest to a query. Raises Unusable."""
        with self._lock.try_hold() as held:
            if not held:
                raise Unusable("another process is at it")
            with self._counting(), self._make_quick() as vector:
                return [owner(name) for name, _ in vector.nearest(query, k)]

    def stored(self, sample: int) -> tuple[set[str], dict[str, Matrix]]:
        """Give the names of all vectors that are kept, and the vectors of so many of them. Raises Unusable, Busy."""
        with self._lock.hold(0), self._make() as vector:
            names = vector.ids()
            return names, vector.vectors(sorted(names)[:: max(1, len(names) // max(1, sample))][:sample])

    def clear(self) -> None:
        """Remove what there is of this model's index."""
        self._make().clear()

    def remove_others(self) -> None:
        """Remove what was kept here for other models."""
        for path in self._home.iterdir() if self._home.is_dir() else ():
            if path.is_dir() and path.name not in (self._name, "tmp"):
                shutil.rmtree(path, ignore_errors=True)


def _fill(vector: Vector, listed: Sequence[Passage], cache: Vectors, doubted: Collection[str]) -> None:
    names = vector.ids()
    known = {owner(name) for name in names}.difference(doubted)
    wanted = {passage.key: passage for passage in listed}
    vector.drop([name for name in names if owner(name) not in wanted or owner(name) in doubted])
    fresh = [passage for key, passage in wanted.items() if key not in known]
    for start in range(0, len(fresh), BATCH):
        some = fresh[start : start + BATCH]
        places, vectors = cache.matrix([passage.saying for passage in some])
        if places:
            vector.put(_numbered(some[place].key for place in places), vectors)


def _numbered(keys: Iterable[str]) -> list[str]:
    """Name each vector by its passage, further windows of one passage by a number behind that."""
    seen: dict[str, int] = {}
    names = []
    for key in keys:
        names.append(f"{key}.{seen[key]}" if key in seen else key)
        seen[key] = seen.get(key, 0) + 1
    return names


def names_of(listed: Sequence[Passage], places: Iterable[int]) -> list[str]:
    """Name the vectors of passages, given by place, as Chroma has them."""
    return _numbered(listed[place].key for place in places)


def owner(name: str) -> str:
    """Give the key of the passage that a vector is of, by the vector's name."""
    return name.partition(".")[0]
