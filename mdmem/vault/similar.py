"""Entries that a model finds nearly the same: pairs for a person to decide about, never merged here.

Owns which pairs are worth a person's time: a vector tells what a text is about, not what it says of it, so that each
pair is also read word by word. It must never propose what differs in a number, a name, a denial or an opposite.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.model import Resemblance
from mdmem.store.catalog import Found
from mdmem.text import claims, duplicates, scripts, units
from mdmem.text.difference import difference
from mdmem.text.units import Unit
from mdmem.vault.index import Stores
from mdmem.vault.place import Place

if TYPE_CHECKING:
    from mdmem.store.encoder import Card
    from mdmem.store.vectors import Matrix
    from mdmem.vault.parts import Parts

MOST = 20
"""So many pairs in one night: more are a burden, and the next night comes."""

NEWEST, BLOCK = 4_000, 1_000
"""Each of the newest entries is compared with all others, so many at a time: 4,000 with 20,000 take three seconds."""

CANDIDATES = 2_000
"""Pairs that are read word by word."""

USUAL = 0.3
"""A model whose texts are nearer to each other than this, all in all, has its scale in the rest: E5 begins at 0.8."""

READABLE = 0.9
"""The share of a text that the model must know the script of: the rest of it would not count."""


FILE = "alike.json"
"""A file of STATE: the pairs that were found last, until a person has decided about them; disposable."""


LINES = "lines.json"
"""The same for lines of MEMORY.md."""


def keep(place: Place, found: Sequence[Resemblance], file: str = FILE) -> None:
    """Keep pairs for a person to decide about, in place of those that were kept. Raises StorageFailed."""
    data = json.dumps([asdict(pair) for pair in found], ensure_ascii=False).encode("utf-8", "surrogatepass")
    fsio.put(file, data, root=place.state, durable=False)


def kept(place: Place, file: str = FILE) -> list[Resemblance]:
    """Give the pairs that were kept."""
    with suppress(MdmemError, ValueError, TypeError, KeyError):
        snapshot = fsio.read(file, root=place.state)
        given = json.loads(snapshot.data.decode("utf-8", "surrogatepass")) if snapshot else []
        return [Resemblance(tuple(one["addresses"]), tuple(one["texts"]), float(one["cosine"])) for one in given]
    return []


PAIR = "alike:"
"""What the id of an entry begins with that says nearly the same as an earlier one."""


LINE = "line:"
"""What the id of a line of MEMORY.md begins with that says nearly the same as an earlier one."""


def line_key(pair: Resemblance) -> str:
    """Give the id by which a pair of lines waits, and by which it was rejected: by what they say."""
    return LINE + hashlib.sha256(" ".join(map(claims.digest, pair.texts)).encode()).hexdigest()[:16]


def key(pair: Resemblance) -> str:
    """Give the id by which a pair waits, and by which it was rejected."""
    return PAIR + hashlib.sha256(" ".join(pair.addresses).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Near:
    """Two units by their numbers in the index, and the cosine of what they say."""

    one: int
    other: int
    cosine: float


def find(parts: Parts) -> list[Resemblance]:
    """Find pairs of entries that say nearly the same, by the vectors at hand, the nearest first. [] without a model."""
    card = parts.meaning.card()
    if card is None:
        return []
    return parts.index.ask(lambda stores: _found(parts, stores, card))


def _found(parts: Parts, stores: Stores, card: Card) -> list[Resemblance]:
    listed = parts.meaning.passages(stores)
    often = Counter(passage.unit for passage in listed)
    where = stores.catalog.locate([unit for unit, count in often.items() if count == 1])
    entries = {unit: found for unit, found in where.items() if found.kind == "entry"}
    chosen = sorted((one for one in listed if one.unit in entries), key=lambda one: entries[one.unit].date or 0.0)
    cache = parts.meaning.cache(card)
    try:
        places, matrix = cache.matrix([one.saying for one in chosen])
    finally:
        cache.close()
    rows = [chosen[place].unit for place in places]
    near = pairs(rows, matrix, parts.place.settings.number("nightly.similar"))
    return list(_read(parts.place, near, entries, card))


def pairs(rows: Sequence[int], matrix: Matrix, least: float) -> list[Near]:
    """Give the pairs of units whose vectors, one a row, are at least so near, the nearest first.

    `rows` has the unit of each vector, the newest last; a unit with several vectors is left out. What the model gives
    any two texts does not count: `least` is for one that gives 0 to texts that have nothing in common.
    """
    import numpy

    often = Counter(rows)
    keep = [place for place, unit in enumerate(rows) if often[unit] == 1]
    if len(keep) < 2:
        return []
    kept = matrix[keep]
    bound = least + max(0.0, _level(kept) - USUAL) * (1 - least)
    found: list[Near] = []
    for start in range(max(0, len(keep) - NEWEST), len(keep), BLOCK):
        block = kept[start : start + BLOCK]
        cosines = block @ kept[: start + len(block)].T
        ones, others = numpy.nonzero(cosines >= bound)
        found += [
            Near(rows[keep[other]], rows[keep[start + one]], float(cosines[one, other]))
            for one, other in zip(ones, others, strict=True)
            if other < start + one
        ]
    return sorted(found, key=lambda one: (-round(one.cosine, 4), one.one, one.other))[:CANDIDATES]


def _level(matrix: Matrix) -> float:
    """Give the usual cosine of two texts: that of the mean of all with itself."""
    if len(matrix) < 50:
        return 0.0
    mean = matrix.mean(axis=0)
    return float(mean @ mean)


def _read(place: Place, near: Sequence[Near], entries: dict[int, Found], card: Card) -> Iterator[Resemblance]:
    wanted = {entries[unit].path: None for one in near for unit in (one.one, one.other)}
    there = {path: {unit.address: unit for unit in _units(place, path)} for path in wanted}
    taken: set[int] = set()
    for one in near:
        if len(taken) >= 2 * MOST or taken & {one.one, one.other}:
            continue
        first, second = (there[entries[unit].path].get(entries[unit].address) for unit in (one.one, one.other))
        if first and second and is_alike(first, second, card.scripts):
            taken |= {one.one, one.other}
            told = [place.entry(entries[number].path, unit) for number, unit in ((one.one, first), (one.other, second))]
            yield Resemblance(
                (claims.guarded(told[0]), claims.guarded(told[1])), (first.text, second.text), round(one.cosine, 3)
            )


def _units(place: Place, path: str) -> tuple[Unit, ...]:
    data = place.content(path)
    return units.read(path, data).units if data is not None and path.endswith(".md") else ()


def is_alike(first: Unit, second: Unit, known: Sequence[str]) -> bool:
    """Tell whether two entries that are near each other may say the same, and are worth asking about.

    What is the same word for word was left on purpose, and what happened on two days happened twice.
    """
    texts = [duplicates.folded(unit.text) for unit in (first, second)]
    metas = [dict(unit.meta) for unit in (first, second)]
    if texts[0] == texts[1] or any(metas[0].get(key) != metas[1].get(key) for key in ("persona", "expires")):
        return False
    if any(duplicates.is_measured(text) or scripts.share(text, known) < READABLE for text in texts):
        return False
    if first.day != second.day and any(duplicates.is_event(text) for text in texts):
        return False
    return not difference(*texts)
