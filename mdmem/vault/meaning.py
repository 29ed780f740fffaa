"""What the vault's memory means to a model: which passages have vectors, and where these are.

Owns the order of the model, the cache of vectors and Chroma. All of it comes from the files and the model, and may be
lost. It must never fail a command that can do without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from mdmem import config, fsio
from mdmem.errors import MdmemError, StorageFailed
from mdmem.model import Progress
from mdmem.store import encoder as encoders
from mdmem.store import vectors as caches
from mdmem.store.catalog import Passage
from mdmem.store.encoder import Card, Encoder
from mdmem.store.lock import Lock
from mdmem.store.vector import Unusable
from mdmem.store.vectors import Vectors
from mdmem.vault.embedding import Embedded, Limits, embed
from mdmem.vault.index import Stores
from mdmem.vault.neighbours import Mark, Neighbours
from mdmem.vault.place import Place
from mdmem.vault.space import EXACT, FarNearness, Nearness, Space

CACHE = "vectors.sqlite"

CANDIDATES = 2_000
"""Passages that Chroma names for one query: filters and units with many passages leave enough of them."""

PATIENCE = 3.0
"""Seconds that a search spends on embedding, at most: a slow model does not get through all it may."""

FOREGROUND = Limits(passages=256, seconds=PATIENCE)
"""What a search embeds before it answers; the rest is left to `reindex`."""


@dataclass(frozen=True, slots=True)
class Answering:
    """What a query is near to, and what the user should know about it."""

    nearness: Nearness | FarNearness
    cache: Vectors
    notices: tuple[str, ...] = ()


class Meaning:
    """The semantic side of one vault's index, by one model."""

    def __init__(self, place: Place, notices: list[str], *, model: str | None = None) -> None:
        self.place = place
        self.notices = notices
        self.model = place.settings.text("embedding.model") if model is None else model
        self.limits: Limits | None = None  # of what a search embeds, where others than usual
        self._models = config.cache_dir()
        self._card: Card | None = None
        self._encoder: Encoder | None = None
        self._listed: tuple[object, list[Passage]] | None = None
        self._space: Space | None = None
        self._embedding = Lock(place.state / "locks" / "vectors.lock", command=place.command)
        self._chroma = Lock(place.state / "locks" / "chroma.lock", command=place.command)

    # The model

    def card(self) -> Card | None:
        """Give the card of the model, if it is ready to serve."""
        if self._card is None and self.model:
            self._card = encoders.ready(self.model, self._models)
        return self._card

    def absence(self) -> str:
        """Say why no model can serve; "" where one can, or where none is wished for."""
        if not self.model or self.card():
            return ""
        if not encoders.at_hand(self.model, self._models):
            return f"the model {self.model} is not installed"
        return f"the model {self.model} is not prepared yet; `mdmem reindex` does it"

    def prepare(self, progress: Progress | None = None) -> Card:
        """Make the model ready to serve, which takes seconds once. Raises Missing, Refused, StorageFailed, Busy."""
        step = partial(progress, "preparing the model") if progress else None
        download = self.place.settings.flag("embedding.download")
        card = self.card()
        if card is None or encoders.damage(card, self._models):
            card = encoders.prepare(self.model, self._models, progress=step, download=download)
        self._card = card
        return card

    def prepare_if_there(self, progress: Progress | None = None) -> Card | None:
        """Make the model ready to serve if it is on this machine; say why not otherwise."""
        try:
            if self.model and (self.card() or encoders.at_hand(self.model, self._models)):
                return self.prepare(progress)
        except MdmemError as error:
            self.notices.append(f"keyword search only: {error.message}")
            return None
        if self.model:
            self.notices.append(f"keyword search only: {self.absence()}")
        return None

    def encoder(self, card: Card) -> Encoder:
        """Give the model itself, loaded by the first call. Raises Missing, StorageFailed."""
        if self._encoder is None:
            self._encoder = encoders.load(card, self._models)
        return self._encoder

    # The vectors

    def cache(self, card: Card) -> Vectors:
        """Open the cache of vectors; a damaged one is thrown away, and where none can be kept it lives in memory."""
        path = self.place.state / CACHE
        try:
            return Vectors(path, card.fingerprint, card.dimension)
        except caches.BROKEN as error:
            if not caches.is_damage(error):
                self._say_unkept(error)
                return Vectors(None, card.fingerprint, card.dimension)
        self._discard()
        return Vectors(path, card.fingerprint, card.dimension)

    def _discard(self) -> None:
        """Throw away a damaged cache."""
        self._space = None
        self.notices.append("the cache of vectors was damaged; what it held is embedded anew")
        for name in (CACHE, f"{CACHE}-journal"):
            fsio.unlink(name, root=self.place.state)

    def _say_unkept(self, error: Exception) -> None:
        cause, hint = fsio.told(str(error)) or (str(error), f"look at {self.place.state / CACHE}")
        self.notices.append(f"vectors cannot be kept: {cause}; {hint}")

    def passages(self, stores: Stores) -> list[Passage]:
        """List the passages of the index, read again when it has changed."""
        state = (stores.path, stores.lexical.version)
        if self._listed is None or self._listed[0] != state or stores.path is None:
            self._listed = state, stores.catalog.passages()
            self._space = None
        return self._listed[1]

    def state(self, stores: Stores) -> object:
        """Name what an answer depends on besides the query: the same name, the same answer. None where it has none."""
        if stores.path is None:
            return None
        card, stat = self.card(), fsio.look(CACHE, root=self.place.state)
        vectors = (stat.st_size, stat.st_mtime_ns, stat.st_ino) if stat else None
        return stores.path, stores.lexical.version, card and card.fingerprint, vectors

    def answering(self, text: str, listed: Sequence[Passage], stores: Stores, card: Card) -> Answering:
        """Embed what is new, within limits, then the text, and compare. Raises what libraries and stores raise."""
        try:
            return self._answering(text, listed, stores, card)
        except caches.BROKEN as error:
            if not caches.is_damage(error):
                self._say_unkept(error)
                return self._answering(text, listed, stores, card, kept=False)
        self._discard()
        return self._answering(text, listed, stores, card)

    def _answering(
        self, text: str, listed: Sequence[Passage], stores: Stores, card: Card, *, kept: bool = True
    ) -> Answering:
        cache = self.cache(card)
        if not kept:
            cache.leave_file()
        near = self.neighbours(stores, card)
        mark = near.mark() if near else Mark()
        notices: tuple[str, ...] = ()
        if near is None or not _is_complete(mark, stores, cache):
            embedded = self._embed_some(listed, stores, cache, card)
            self._space = None if embedded.done else self._space
            notices = _left(embedded)
            if near and not embedded.left:
                near.put_mark(replace(mark, version=stores.lexical.version, vectors=cache.tried()))
        query = self.encoder(card).query(text)
        if near and len(listed) > EXACT and mark.upto:
            try:
                keys = near.nearest(query, CANDIDATES)
                fresh = [passage for passage in listed if passage.id > mark.upto]
                return Answering(FarNearness(listed, keys, fresh, cache, query), cache, notices)
            except Unusable as error:
                notices += (f"the vector index cannot be used ({error}); all vectors were compared",)
        if self._space is None:
            self._space = Space(listed, cache)
            if count := self._doubt(near, mark, cache):
                cache.close()
                again = self._answering(text, listed, stores, card, kept=kept)
                what = f"{count:,} vector{'s were' if count > 1 else ' was'} damaged and embedded anew"
                return replace(again, notices=(what, *again.notices))
        return Answering(Nearness(self._space, query), cache, notices)

    def _doubt(self, near: Neighbours | None, mark: Mark, cache: Vectors) -> int:
        """Forget vectors that are not what was written, and count them and those that should be there and are not."""
        lost = cache.bad | (cache.absent if near and near.mark().vectors == cache.tried() else set())
        if not lost or near is None:
            return 0
        self._space = None
        cache.forget(lost)
        near.put_mark(replace(mark, version=-1, vectors=-1))
        return len(lost)

    def _embed_some(self, listed: Sequence[Passage], stores: Stores, cache: Vectors, card: Card) -> Embedded:
        """Embed what a search may, unless another process is at it; where STATE cannot be written, in memory."""
        with ExitStack() as stack:
            try:
                held = stack.enter_context(self._embedding.try_hold())
            except StorageFailed:
                cache.leave_file()
                held = True
            if not held:
                return Embedded(left=len(cache.missing({passage.saying for passage in listed})))
            return embed(
                listed, self.place, stores.catalog, cache, lambda: self.encoder(card), limits=self.limits or FOREGROUND
            )

    def neighbours(self, stores: Stores, card: Card) -> Neighbours | None:
        """Give Chroma's side of a generation; None for an index in memory."""
        return Neighbours(stores.path, card, self._chroma) if stores.path else None

    def filled_upto(self, stores: Stores, card: Card) -> int:
        """Give the last passage that Chroma knows of, as in `Mark`."""
        near = self.neighbours(stores, card)
        return near.mark().upto if near else 0

    def complete(self, stores: Stores, card: Card, progress: Progress | None = None, *, anew: bool = False) -> Embedded:
        """Embed all that has no vector, and bring Chroma in step; `anew` looks at every vector. Raises Busy.

        Interrupted at any moment, the next call goes on from there.
        """
        step = partial(progress, "embedding") if progress else None
        try:
            return self._complete(stores, card, step, anew)
        except caches.BROKEN as error:
            if not caches.is_damage(error):
                cause, hint = fsio.told(str(error)) or (str(error), "look at the disk: is it full?")
                raise StorageFailed(f"vectors cannot be kept: {cause}", hint) from error
        self._discard()
        return self._complete(stores, card, step, anew)

    def _complete(self, stores: Stores, card: Card, step: Callable[[int, int], None] | None, anew: bool) -> Embedded:
        near = self.neighbours(stores, card)
        cache = self.cache(card)
        try:
            if near and not anew and _is_filled(near.mark(), stores, cache) and near.intact():
                return Embedded()
            listed = self.passages(stores)
            stores.catalog.rollback()  # embedding takes its time: a reader's lock must not keep writers out meanwhile
            with self._embedding.hold(self.place.settings.whole("lock.timeout_ms")):
                if anew:
                    cache.forget_damaged()
                done = embed(listed, self.place, stores.catalog, cache, lambda: self.encoder(card), progress=step)
            self._space = None
            if near and not done.left:
                upto = self._fill(near, listed, cache)
                version = stores.lexical.version
                near.put_mark(Mark(version, cache.tried(), upto, version if upto else -1))
            return done
        finally:
            cache.close()

    def advance(self, stores: Stores, card: Card) -> int:
        """Embed some of what has no vector, and load the model; give how many passages are left. Starts no Chroma."""
        listed = self.passages(stores)
        stores.catalog.rollback()
        try:
            cache = self.cache(card)
            try:
                embedded = self._embed_some(listed, stores, cache, card)
                self._space = None if embedded.done else self._space
                self.encoder(card)
            finally:
                cache.close()
        except caches.BROKEN as error:
            if caches.is_damage(error):
                self._discard()
            return 0
        return embedded.left

    def forget_others(self, stores: Stores, card: Card) -> None:
        """Remove the vector indexes of other models; their vectors stay in the cache."""
        if near := self.neighbours(stores, card):
            near.remove_others()

    def _fill(self, near: Neighbours, listed: Sequence[Passage], cache: Vectors) -> int:
        """Fill Chroma, twice if its files turn out to be bad; without it every vector is compared."""
        problem = ""
        for _ in range(2):
            try:
                return near.fill(listed, cache)
            except Unusable as error:
                problem = str(error)
                near.clear()
            except StorageFailed:
                if near.is_there():
                    raise
                problem = "another mdmem built the index anew; run `mdmem reindex` once more"
                break
        self.notices.append(f"the vector index was not filled: {problem}")
        return 0


def _is_complete(mark: Mark, stores: Stores, cache: Vectors) -> bool:
    """Tell whether nothing has changed since no vector was missing."""
    return mark.version == stores.lexical.version and mark.vectors == cache.tried()


def _is_filled(mark: Mark, stores: Stores, cache: Vectors) -> bool:
    """Tell whether Chroma is in step as well."""
    return _is_complete(mark, stores, cache) and mark.filled == stores.lexical.version


def _left(embedded: Embedded) -> tuple[str, ...]:
    if not embedded.left:
        return ()
    passages = f"{embedded.left:,} passage{'s are' if embedded.left > 1 else ' is'}"
    return (f"{passages} not yet searched by meaning; `mdmem reindex` embeds the rest",)
