"""The metrics of one answer, and the chance in their means, as pure functions.

Owns the definitions. It must never see a vault: an answer is a list of ids, best first and none twice.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

CUTS = (1, 5, 10)
DEPTH = 10

RESAMPLES, SEED = 1000, 20021015
SURE = 0.95

Grades = Mapping[str, float]
"""The judgements of one question: grade by id. Above 0 is relevant."""

Interval = tuple[float, float]


def recall(hits: Sequence[str], grades: Grades, k: int) -> float:
    """Give the share of all relevant ids that is among the first k: 0 to 1, more is better.

    Where more than k are relevant it cannot reach 1. As in Manning, Raghavan and Schütze, Introduction to Information
    Retrieval (2008), 8.4. Raises ValueError where nothing is relevant.
    """
    relevant = {id for id, grade in grades.items() if grade > 0}
    if not relevant:
        raise ValueError("nothing is relevant")
    return len(relevant.intersection(hits[:k])) / len(relevant)


def ndcg(hits: Sequence[str], grades: Grades, k: int) -> float:
    """Give the normalized discounted cumulated gain of the first k: 0 to 1, more is better.

    The grade is the gain (below 0 it is 0), log2(rank + 1) the discount, and what the best order of all judged ids
    would have is 1: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002,
    with the discount from the first rank on, as trec_eval has it. Raises ValueError where nothing is relevant.
    """
    best = _gain(sorted(grades.values(), reverse=True)[:k])
    if not best:
        raise ValueError("nothing is relevant")
    return _gain([grades.get(id, 0) for id in hits[:k]]) / best


def _gain(grades: Iterable[float]) -> float:
    return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def mrr(hits: Sequence[str], grades: Grades, k: int) -> float:
    """Give 1 / rank of the first relevant id among the first k, 0 where there is none: 0 to 1, more is better.

    Its mean over the questions is the mean reciprocal rank: Voorhees, The TREC-8 question answering track report, 1999.
    """
    return next((1 / rank for rank, id in enumerate(hits[:k], 1) if grades.get(id, 0) > 0), 0.0)


def measure(hits: Sequence[str], grades: Grades, k: int = DEPTH) -> dict[str, float]:
    """Give every metric of one answer by its name: recall at 1, 5 and 10, nDCG and MRR at 10, and all three at k."""
    depths = dict.fromkeys((DEPTH, k))
    values = {f"R@{cut}": recall(hits, grades, cut) for cut in dict.fromkeys((*CUTS, k))}
    values |= {f"nDCG@{cut}": ndcg(hits, grades, cut) for cut in depths}
    return values | {f"MRR@{cut}": mrr(hits, grades, cut) for cut in depths}


# Chance


def percentile(values: Iterable[float], share: float) -> float:
    """Give the least of the values that is not below `share` of them (nearest rank). Raises ValueError for none."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("there are no values")
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def interval(means: Sequence[float]) -> Interval:
    """Give what lies 95 % of resampled means between: the percentile bootstrap of Efron and Tibshirani (1993), 13."""
    return percentile(means, (1 - SURE) / 2), percentile(means, (1 + SURE) / 2)


def resample(rows: Sequence[Sequence[float]], *, times: int = RESAMPLES, seed: int = SEED) -> list[tuple[float, ...]]:
    """Give for each row the means of `times` resamples of it, drawn with replacement.

    All rows are of one length, and a draw is the same for all of them and in every call with the same seed: so the
    difference of two rows' means is the resampled mean of their differences.
    """
    size = len(rows[0]) if rows else 0
    if size < 2:  # nothing to draw, and itemgetter would give no tuple
        return [tuple(row) * times for row in rows]
    draw = random.Random(seed)
    means: list[tuple[float, ...]] = []
    for _ in range(times):
        drawn = itemgetter(*draw.choices(range(size), k=size))
        means.append(tuple(sum(drawn(row)) / size for row in rows))
    return list(zip(*means, strict=True))
