"""Fusing two legs' scores into one.

Pure. A leg's score of an item is what it really gives it, not only where the item is among the leg's first: with all
scores at hand, how far an item stands out counts, and a leg with nothing to say cannot drown the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import sqrt

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


def z_scores(scores: Mapping[int, float], over: Collection[int]) -> dict[int, float]:
    """Standardise the scores of the items `over`: how many standard deviations each is above their mean.

    An item that the leg could not score is left out.
    """
    known = [scores[item] for item in over if item in scores]
    if not known:
        return {}
    mean = sum(known) / len(known)
    deviation = sqrt(sum((score - mean) ** 2 for score in known) / len(known))
    if deviation < 1e-9:
        return {item: 0.0 for item in over if item in scores}
    return {item: (scores[item] - mean) / deviation for item in over if item in scores}


def convex(legs: Mapping[str, Mapping[int, float]], weights: Mapping[str, float]) -> dict[int, float]:
    """Average the scores of each item by the legs' weights.

    Where a leg has no score, those that have one decide: what has not been embedded yet is not worse for it.
    """
    sums: dict[int, float] = {}
    for item in set[int]().union(*legs.values()):
        given = {name: weights[name] for name in legs if item in legs[name]}
        total = sum(given.values())
        sums[item] = sum(weight * legs[name][item] for name, weight in given.items()) / total if total else 0.0
    return sums


def reciprocal_ranks(
    ranks: Mapping[str, Mapping[int, int]], weights: Mapping[str, float], *, k: float = RRF_K
) -> dict[int, float]:
    """Sum weight / (k + rank) over the legs that rank an item; ranks count from 1."""
    items = set[int]().union(*ranks.values())
    return {
        item: sum(weights[name] / (k + ranks[name][item]) for name in ranks if item in ranks[name]) for item in items
    }
