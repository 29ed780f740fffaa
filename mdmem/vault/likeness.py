"""The vectors compared with what they are of: the cache with the model, Chroma with the cache.

Owns telling which texts have a vector that cannot be, and which of Chroma's are not the cache's. It must never load a
model for less than a sample, nor change anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from mdmem.model import Diagnosis
from mdmem.store import vectors as caches
from mdmem.store.catalog import Passage
from mdmem.store.encoder import Card, Encoder
from mdmem.store.vector import Unusable
from mdmem.store.vectors import Vectors
from mdmem.text import scripts
from mdmem.vault.embedding import sayings
from mdmem.vault.index import Stores
from mdmem.vault.meaning import CACHE, Meaning
from mdmem.vault.neighbours import Mark, Neighbours, names_of, owner
from mdmem.vault.place import Place

ALIKE = 0.99
"""The least cosine of a cached vector with one that is made again; the same model on the same machine gives 1."""

SAME = 0.9999
"""The least cosine of a vector in Chroma with the cached one it was filled from."""

AFRESH = "`mdmem verify --fix` embeds it again"
REFILL = "`mdmem verify --fix` puts it right"


@dataclass(slots=True)
class Unlike:
    """What was compared and what differs: texts by hash, and passages by key, whose vectors are to be made again."""

    found: list[Diagnosis] = field(default_factory=list)
    hashes: set[bytes] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    refill: bool = False
    discard: bool = False
    vectors: int = 0
    compared: int = 0
    neighbours: int = 0

    def tell(self, kind: str, path: str, message: str, hint: str) -> None:
        self.found.append(Diagnosis(kind, path, None, message, hint, room="vectors"))


def compare(place: Place, meaning: Meaning, stores: Stores, card: Card, chosen: Sequence[int]) -> Unlike:
    """Compare all vectors of the index by what they are, and those of the chosen units with new ones."""
    made = Unlike()
    path = place.state / CACHE
    if not path.exists():
        return made
    try:
        cache = Vectors(path, card.fingerprint, card.dimension)
    except caches.BROKEN as error:
        made.discard = caches.is_damage(error)
        hint = "`mdmem verify --fix` embeds anew" if made.discard else f"look at {path}"
        made.tell("vectors", CACHE, f"the cache of vectors cannot be read: {error}", hint)
        return made
    try:
        _compare_cache(made, place, meaning, stores, cache, chosen)
        _compare_chroma(made, meaning, stores, card, cache)
    except caches.BROKEN as error:
        made.discard = caches.is_damage(error)
        made.tell("vectors", CACHE, f"the cache of vectors cannot be read: {error}", "`mdmem verify --fix` embeds anew")
    finally:
        cache.close()
    return made


def mend(meaning: Meaning, stores: Stores, card: Card, unlike: Unlike) -> None:
    """Embed again what has a wrong vector, and put Chroma right; all other vectors stay. Raises Busy, StorageFailed."""
    near = meaning.neighbours(stores, card)
    listed = meaning.passages(stores)
    keys = unlike.keys | {passage.key for passage in listed if passage.saying in unlike.hashes}
    cache = meaning.cache(card)
    try:
        cache.forget(unlike.hashes)
        was_filled = near is not None and near.mark().upto
        if near:
            near.put_mark(Mark())
        meaning.complete(stores, card)
        if near and was_filled and keys:
            with suppress(Unusable):
                near.fill(listed, cache, doubted=keys)
    finally:
        cache.close()


def _compare_cache(
    made: Unlike, place: Place, meaning: Meaning, stores: Stores, cache: Vectors, chosen: Sequence[int]
) -> None:
    listed = stores.catalog.passages()
    wanted = {passage.saying for passage in listed}
    missing = cache.missing(wanted)
    bad = set(cache.damaged()) & wanted
    made.vectors = len(wanted) - len(missing)
    made.hashes |= bad
    owners = {passage.saying: passage.unit for passage in reversed(listed)}
    found = stores.catalog.locate([owners[digest] for digest in bad])
    for digest in sorted(bad):
        one = found.get(owners[digest])
        what = f"{one.address if one else digest.hex()} has a vector that no model can have given"
        made.tell("vectors", one.path if one else CACHE, what, AFRESH)
    some = [one for one in listed if one.unit in set(chosen) and one.saying not in missing | bad]
    _embed_again(made, place, meaning, stores, cache, some)


def _embed_again(
    made: Unlike, place: Place, meaning: Meaning, stores: Stores, cache: Vectors, some: Sequence[Passage]
) -> None:
    if not some:
        return
    card = meaning.card()
    assert card
    encoder = meaning.encoder(card)
    units = {passage.saying: passage.unit for passage in some}
    for saying in sayings(some, place, stores.catalog, {passage.saying for passage in some}):
        made.compared += 1
        if not _is_alike(saying.text, saying.hash, encoder, cache):
            made.hashes.add(saying.hash)
            one = stores.catalog.locate([units[saying.hash]]).get(units[saying.hash])
            what = f"{saying.address} has another vector than {card.name} gives"
            made.tell("vectors", one.path if one else CACHE, what, AFRESH)


def _is_alike(text: str, digest: bytes, encoder: Encoder, cache: Vectors) -> bool:
    readable = scripts.readable(text, encoder.card.scripts)
    fresh = [one for one in encoder.passages(encoder.windows(text) if readable else []) if one is not None]
    _, kept = cache.matrix([digest])
    if len(kept) != len(fresh):
        return False
    return all(float(new @ old) >= ALIKE for new, old in zip(fresh, kept, strict=True))


def _compare_chroma(made: Unlike, meaning: Meaning, stores: Stores, card: Card, cache: Vectors) -> None:
    near = meaning.neighbours(stores, card)
    if near is None or not near.mark().upto:
        return
    place = near.folder
    if not near.intact():
        made.refill = True
        made.tell("chroma", place, "the vector index is damaged", REFILL)
        return
    try:
        _compare_names(made, near, cache, stores, place)
    except Unusable as error:
        made.refill = True
        made.tell("chroma", place, f"the vector index cannot be used: {error}", REFILL)


def _compare_names(made: Unlike, near: Neighbours, cache: Vectors, stores: Stores, place: str) -> None:
    mark = near.mark()
    listed = [passage for passage in stores.catalog.passages() if passage.id <= mark.upto]
    places, matrix = cache.matrix([passage.saying for passage in listed])
    rows = dict(zip(names_of(listed, places), matrix, strict=True))
    names, sample = near.stored(100)
    made.neighbours = len(names)
    missing = {owner(name) for name in rows.keys() - names}
    extra = {owner(name) for name in names - rows.keys()} if mark.filled == stores.lexical.version else set()
    other = {
        owner(name) for name, kept in sample.items() if name in rows and float(kept @ rows[name]) / _norm(kept) < SAME
    }
    for keys, what in ((missing, "missing from"), (extra, "left over in"), (other, "another one in")):
        if keys:
            count = f"{len(keys):,} passage{'s' if len(keys) > 1 else ''}"
            made.keys |= keys
            made.refill = True
            made.tell("chroma", place, f"the vector of {count} is {what} the vector index", REFILL)


def _norm(vector: caches.Matrix) -> float:
    return float((vector @ vector) ** 0.5) or 1.0
