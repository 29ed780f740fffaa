"""From what the legs found to one order.

Takes scores and no index. Three classes go one after the other: what holds an identifier of the query, or the whole
query, as it stands; the candidates of both legs by their fused scores; what else the keyword leg found, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mdmem.retrieve.keyword import Found
from mdmem.text import fuse

DEPTH = 100
"""Candidates of each leg that are fused. It does not depend on how many hits are shown."""

FLOOR = 0.3
"""What age leaves of a score, at least."""

Keys = Callable[[Iterable[int]], Mapping[int, str]]
"""Gives the ids of units: ties are ordered by them."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the legs are joined: `zscore` or `rrf`, the legs' weights, the constant of rrf, and how age counts.

    `ages` gives the age in days of those units that grow old; a score halves in `half_life` days, 0 for never.
    """

    method: str = "zscore"
    weights: Mapping[str, float] = field(default_factory=lambda: {"keyword": 0.5, "semantic": 0.5})
    rrf_k: float = fuse.RRF_K
    half_life: float = 0
    ages: Callable[[Iterable[int]], Mapping[int, float]] = lambda units: {}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit in the order, and what led there.

    `tier` is the keyword leg's, None where only the other leg found it; `ranks` count from 1. `bm25` and `cosine` are
    the legs' own scores, `shares` what each leg's score came to in the sum, `factors` what the sum was multiplied by.
    """

    unit: int
    score: float
    tier: int | None = 0
    ranks: Mapping[str, int] = field(default_factory=dict)
    bm25: float = 0.0
    cosine: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)
    exact: bool = False


_Place = tuple[int, float, int]
"""Tier, falling score and unit: what a leg's hits are sorted by, the ids of equal ones aside."""


def by_keyword(found: Found, keys: Keys, how: Fusion, *, upto: int) -> list[Ranked]:
    """Order what the keyword leg found by tier, score and id, and give the first `upto`."""
    factors = _factors(found.tiers, how)
    places = [
        (tier, -round(found.scores.get(unit, 0.0) * factors.get(unit, 1.0), 6), unit)
        for unit, tier in found.tiers.items()
    ]
    return _numbered("keyword", _first(places, upto, keys), found, {}, factors)


def by_meaning(cosines: Mapping[int, float], found: Found, keys: Keys, how: Fusion) -> list[Ranked]:
    """Order what the semantic leg found by cosine and id."""
    factors = _factors(cosines, how)
    places = [(0, -round(cosine * factors.get(unit, 1.0), 6), unit) for unit, cosine in cosines.items()]
    return _numbered("semantic", _first(places, len(places), keys), found, cosines, factors)


def _numbered(
    leg: str, places: Iterable[_Place], found: Found, cosines: Mapping[int, float], factors: Mapping[int, float]
) -> list[Ranked]:
    """Give a leg's hits, in order, their ranks and what is known of them."""
    return [
        Ranked(
            unit,
            -score,
            found.tiers.get(unit),
            {leg: rank},
            bm25=found.scores.get(unit, 0.0),
            cosine=cosines.get(unit),
            factors=_named(factors, unit),
        )
        for rank, (_, score, unit) in enumerate(places, 1)
    ]


def _first(places: list[_Place], upto: int, keys: Keys) -> list[_Place]:
    """Sort and cut, asking for the ids only of those that they can matter for."""
    places.sort(key=lambda place: place[:2])
    if len(places) > upto:
        last = places[upto - 1][:2]
        places = [place for place in places if place[:2] <= last]
    names = keys(unit for _, _, unit in places)
    return sorted(places, key=lambda place: (place[:2], names.get(place[2], ""), place[2]))[:upto]


def _factors(units: Iterable[int], how: Fusion) -> dict[int, float]:
    """Give 0.5 ^ (age / half-life), but no less than `FLOOR`, for those of the units that grow old."""
    if not how.half_life:
        return {}
    return {unit: max(FLOOR, 0.5 ** (max(0.0, age) / how.half_life)) for unit, age in how.ages(units).items()}


def _named(factors: Mapping[int, float], unit: int) -> dict[str, float]:
    return {"age": factors[unit]} if unit in factors else {}


def fused(
    keyword: Sequence[Ranked],
    semantic: Sequence[Ranked],
    found: Found,
    cosines: Mapping[int, float],
    keys: Keys,
    how: Fusion,
) -> list[Ranked]:
    """Join the candidates of both legs in one order; `cosines` are those of all candidates that have a vector."""
    ranks: dict[int, dict[str, int]] = {}
    for hit in (*keyword, *semantic):
        ranks.setdefault(hit.unit, {}).update(hit.ranks)
    sums, shares = _sums(ranks, found, cosines, how)
    factors = _factors(ranks, how)
    by_words = 0 in found.tiers.values()
    hits = [
        Ranked(
            unit,
            round(sums.get(unit, 0.0) * factors.get(unit, 1.0), 6),
            found.tiers.get(unit),
            mine,
            bm25=found.scores.get(unit, 0.0),
            cosine=cosines.get(unit),
            shares={name: given[unit] for name, given in shares.items() if unit in given},
            factors=_named(factors, unit),
            exact=unit in found.exact or (not by_words and found.tiers.get(unit) in (1, 2)),
        )
        for unit, mine in ranks.items()
    ]
    top = max((hit.score for hit in hits if not hit.exact), default=0.0)
    # scores fall with the order
    hits = [replace(hit, score=hit.score + top) if hit.exact else hit for hit in hits]
    names = keys(ranks)
    return sorted(hits, key=lambda hit: (not hit.exact, -hit.score, names.get(hit.unit, ""), hit.unit))


def _sums(
    ranks: Mapping[int, Mapping[str, int]], found: Found, cosines: Mapping[int, float], how: Fusion
) -> tuple[dict[int, float], dict[str, dict[int, float]]]:
    """Give the fused score of each candidate, and what each leg puts into it before it is weighted."""
    if how.method == "rrf":
        by_leg = {leg: {unit: mine[leg] for unit, mine in ranks.items() if leg in mine} for leg in how.weights}
        shares = {
            leg: {unit: how.weights[leg] / (how.rrf_k + rank) for unit, rank in mine.items()}
            for leg, mine in by_leg.items()
        }
        return fuse.reciprocal_ranks(by_leg, how.weights, k=how.rrf_k), shares
    bm25 = {unit: found.scores.get(unit, 0.0) for unit in ranks}
    shares = {"keyword": fuse.z_scores(bm25, ranks), "semantic": fuse.z_scores(cosines, ranks)}
    sums = fuse.convex(shares, how.weights)
    lowest = min(sums.values(), default=0.0)  # z-scores lie around 0: what is shown and aged begins there
    return {unit: score - lowest for unit, score in sums.items()}, shares
