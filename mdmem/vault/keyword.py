"""The keyword leg: what ranking asks, answered by the catalog and Whoosh.

It must never rank by itself: that is `retrieve`'s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from mdmem import config
from mdmem.store import lexical as lexicals
from mdmem.store.catalog import Filter
from mdmem.store.lexical import Stats
from mdmem.vault.index import Stores, within


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
