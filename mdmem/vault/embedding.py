"""Giving vectors to what passages say.

Owns cutting the texts from the files as they are now, and keeping vectors as they come: an interruption loses no more
than the last few. It must never touch the index.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mdmem.errors import MdmemError
from mdmem.model import Finding
from mdmem.store.catalog import Catalog, Passage
from mdmem.store.encoder import Encoder
from mdmem.store.vectors import Vectors
from mdmem.text import scripts, units
from mdmem.text.passages import passages
from mdmem.vault.place import Place

if TYPE_CHECKING:
    from mdmem.store.vectors import Matrix

TOGETHER = 64
"""Passages whose vectors are kept in one transaction."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many passages may be embedded, and for how many seconds; None for any."""

    passages: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Embedded:
    """How many passages were given a vector, how many still wait for one, and what went wrong."""

    done: int = 0
    left: int = 0
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Saying:
    """What a passage says, by its hash, and the address of its unit."""

    hash: bytes
    text: str
    address: str


def embed(
    listed: Sequence[Passage],
    place: Place,
    catalog: Catalog,
    cache: Vectors,
    encoder: Callable[[], Encoder],
    *,
    limits: Limits = Limits(),
    progress: Callable[[int, int], None] | None = None,
) -> Embedded:
    """Give vectors to the passages that have none. `progress` is called with the passages done and all of them.

    Goes on where it was interrupted or met its limits. Raises what the encoder and the cache raise.
    """
    missing = cache.missing({passage.saying for passage in listed})
    if not missing:
        return Embedded()
    wanted = [passage for passage in listed if passage.saying in missing]
    work = _Work(cache, encoder(), progress, len(missing))
    started = time.monotonic()
    for saying in sayings(wanted, place, catalog, missing):
        if limits.passages is not None and work.taken >= limits.passages:
            break
        if limits.seconds is not None and time.monotonic() - started > limits.seconds:
            break
        work.take(saying)
    work.save()
    return Embedded(work.taken, len(missing) - work.taken, tuple(work.findings))


def sayings(wanted: Sequence[Passage], place: Place, catalog: Catalog, missing: set[bytes]) -> Iterator[Saying]:
    """Yield what the wanted passages say, each text once."""
    left = set(missing)
    found = catalog.locate(list(dict.fromkeys(passage.unit for passage in wanted)))
    for path in dict.fromkeys(one.path for one in found.values()):
        try:
            data = place.legible(path)
        except MdmemError:
            continue
        for unit in units.read(path, data).units if data is not None else ():
            for passage in passages(unit):
                if passage.hash in left:
                    left.discard(passage.hash)
                    yield Saying(passage.hash, passage.saying, unit.address)


@dataclass(slots=True)
class _Work:
    """Texts on their way to vectors, some at a time."""

    cache: Vectors
    encoder: Encoder
    progress: Callable[[int, int], None] | None
    total: int
    taken: int = 0
    findings: list[Finding] = field(default_factory=list)
    waiting: list[Saying] = field(default_factory=list)

    def take(self, saying: Saying) -> None:
        """Take one more text."""
        self.waiting.append(saying)
        self.taken += 1
        if len(self.waiting) >= TOGETHER:
            self.save()

    def save(self) -> None:
        """Embed and keep what waits."""
        if not self.waiting:
            return
        self.cache.put(list(zip([saying.hash for saying in self.waiting], self._embedded(), strict=True)))
        self.waiting = []
        if self.progress:
            self.progress(self.taken, self.total)

    def _embedded(self) -> Iterator[Matrix | None]:
        """Yield the vectors of each waiting text; None where the model cannot read it, or fails over it."""
        import numpy

        known, name = self.encoder.card.scripts, self.encoder.card.name
        windows = [
            self.encoder.windows(saying.text) if scripts.readable(saying.text, known) else [] for saying in self.waiting
        ]
        vectors = iter(self.encoder.passages([window for some in windows for window in some]))
        for saying, some in zip(self.waiting, windows, strict=True):
            found = [next(vectors) for _ in some]
            whole = [vector for vector in found if vector is not None]
            if len(whole) < len(found):
                self.findings.append(Finding(saying.address, None, f"{name} cannot embed a passage of it"))
            yield numpy.stack(whole) if whole else None
