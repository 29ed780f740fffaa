"""Legs that give again what the real ones gave, so that many rankings of the same queries cost little.

What the keyword leg is asked depends on the query alone, and what the semantic leg knows is a cosine for each unit. So
each answer is asked for once, and kept in memory; every ranking is `mdmem.retrieve`'s own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mdmem import Vault, retrieve
from mdmem.config import Settings
from mdmem.model import Mode
from mdmem.retrieve.keyword import KeywordLeg
from mdmem.store.encoder import Card, Encoder
from mdmem.text import query as language
from mdmem.vault import keyword, searching
from mdmem.vault.index import Stores
from mdmem.vault.space import Nearness, Space

T = TypeVar("T")


class Keyword:
    """A keyword leg that asks the real one each thing once."""

    def __init__(self, leg: KeywordLeg) -> None:
        self._leg = leg
        self._known: dict[object, Any] = {}

    def _once(self, key: object, ask: Callable[[], T]) -> T:
        if key not in self._known:
            self._known[key] = ask()
        found: T = self._known[key]
        return found

    def stem(self, word: str) -> str:
        return self._once(("stem", word), lambda: self._leg.stem(word))

    def score(self, weights: dict[str, float]) -> dict[int, float]:
        units, scores = self._once(("score", *weights.items()), lambda: _columns(self._leg.score(weights)))
        return dict(zip(units.tolist(), scores.tolist(), strict=True))  # the caller changes it

    def importance(self, weights: dict[str, float]) -> dict[str, float]:
        return dict(self._once(("importance", *weights.items()), lambda: self._leg.importance(weights)))

    def rarity(self, units: int) -> float:
        return self._leg.rarity(units)

    def units(self, term: str) -> set[int]:
        return self._once(("units", term), lambda: self._leg.units(term))

    def scan(self, needle: str) -> set[int]:
        return self._once(("scan", needle), lambda: self._leg.scan(needle))

    def match(self, needle: str, pattern: re.Pattern[str]) -> set[int]:
        return self._once(("match", needle, pattern.pattern), lambda: self._leg.match(needle, pattern))

    def tagged(self, tag: str) -> set[int]:
        return self._once(("tagged", tag), lambda: self._leg.tagged(tag))

    def under(self, path: str) -> set[int]:
        return self._once(("under", path), lambda: self._leg.under(path))

    def everything(self) -> set[int]:
        return self._once("everything", self._leg.everything)

    def keys(self, units: Iterable[int]) -> dict[int, str]:
        known: dict[int, str] = self._once("keys", dict)
        wanted = list(units)
        known |= self._leg.keys([unit for unit in wanted if unit not in known])
        return {unit: known[unit] for unit in wanted if unit in known}


def _columns(scores: Mapping[int, float]) -> tuple[Any, Any]:
    """Keep numbers in a sixth of the room that a dict takes."""
    import numpy

    return numpy.fromiter(scores.keys(), dtype=numpy.int64), numpy.fromiter(scores.values(), dtype=numpy.float64)


class Semantic:
    """A semantic leg that compares every vector, and embeds each query once."""

    def __init__(self, card: Card, encoder: Callable[[], Encoder], space: Space) -> None:
        self.model = card.name
        self.scripts = card.scripts
        self._encoder = encoder
        self._space = space
        self._known: dict[str, Nearness] = {}
        self._near: Nearness | None = None

    def begin(self, text: str) -> None:
        if text not in self._known:
            self._known[text] = Nearness(self._space, self._encoder().query(text))
        self._near = self._known[text]

    def failure(self) -> str:
        return ""

    def nearest(self, k: int, allowed: set[int] | None) -> dict[int, float]:
        assert self._near
        return self._near.nearest(k, allowed)

    def cosines(self, units: set[int]) -> dict[int, float]:
        assert self._near
        return self._near.cosines(units)

    def best(self, units: set[int]) -> dict[int, bytes]:
        return {}  # what is shown of a hit does not move it


@dataclass(slots=True)
class Tape:
    """One vault with what its legs have said so far."""

    vault: Vault
    stores: Stores
    semantic: Semantic | None
    _keyword: dict[tuple[float, float], Keyword] = field(default_factory=dict)
    _dated: dict[str, dict[str, set[int]]] = field(default_factory=dict)

    def rank(self, text: str, mode: Mode, settings: Settings, *, dates: bool = True, upto: int = 10) -> list[str]:
        """Rank a query as a search under these settings would, and give the ids of the first units."""
        leg = self._leg(settings)
        asked = retrieve.Question(
            text, mode, dated=self._times(text) if dates else {}, enabled=settings.items("search.routes")
        )
        how = searching._fusion(
            replace(self.vault.place, settings=settings), self.stores, self.vault.parts.meaning.card()
        )
        ranking = retrieve.rank(asked, leg, None if mode == "keyword" else self.semantic, how=how, upto=upto)
        keys = leg.keys(hit.unit for hit in ranking.order)
        return list(dict.fromkeys(keys[hit.unit] for hit in ranking.order))

    def _leg(self, settings: Settings) -> Keyword:
        """Give the leg with these constants of BM25: other constants are other scores."""
        constants = settings.number("search.bm25_k1"), settings.number("search.bm25_b")
        if constants not in self._keyword:
            self._keyword[constants] = Keyword(keyword.KeywordLeg(self.stores, settings))
        return self._keyword[constants]

    def _times(self, text: str) -> dict[str, set[int]]:
        if text not in self._dated:
            self._dated[text] = searching._dated(self.vault.place, self.stores, language.wording(text))
        return self._dated[text]


@contextmanager
def recording(vault: Vault) -> Iterator[Tape]:
    """Open a vault whose index is up to date, with vectors. Without a model there is no semantic leg."""
    meaning = vault.parts.meaning
    card = meaning.card()
    with vault.parts.index.open() as stores:
        if card is None:
            yield Tape(vault, stores, None)
            return
        cache = meaning.cache(card)
        space = Space(meaning.passages(stores), cache)
        cache.close()
        yield Tape(vault, stores, Semantic(card, lambda: meaning.encoder(card), space))
