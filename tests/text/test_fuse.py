"""Joining two legs' scores: by hand, and what holds for any scores."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.text import fuse

SCORES = st.dictionaries(st.integers(0, 20), st.floats(-100, 100), max_size=12)
RANKINGS = st.lists(st.integers(0, 30), max_size=12, unique=True).map(
    lambda order: {item: rank for rank, item in enumerate(order, 1)}
)
WEIGHTS = {"keyword": 0.3, "semantic": 0.7}


def test_reciprocal_ranks_by_hand() -> None:
    ranks = {"keyword": {1: 1, 2: 2}, "semantic": {1: 2, 3: 1}}
    assert fuse.reciprocal_ranks(ranks, WEIGHTS) == pytest.approx(
        {1: 0.3 / 61 + 0.7 / 62, 2: 0.3 / 62, 3: 0.7 / 61}, rel=1e-12
    )
    assert fuse.RRF_K == 60


def test_another_constant() -> None:
    assert fuse.reciprocal_ranks({"keyword": {7: 3}}, {"keyword": 2}, k=1) == {7: 0.5}


def test_z_scores_by_hand() -> None:
    assert fuse.z_scores({1: 1.0, 2: 2.0, 3: 3.0}, [1, 2, 3]) == pytest.approx(
        {1: -1.224745, 2: 0, 3: 1.224745}, abs=1e-6
    )


def test_only_what_is_asked_for_counts() -> None:
    assert fuse.z_scores({1: 1.0, 2: 3.0, 9: 1000.0}, [1, 2]) == {1: -1, 2: 1}


def test_what_has_no_score_is_left_out() -> None:
    assert fuse.z_scores({1: 1.0, 2: 3.0}, [1, 2, 3]) == {1: -1, 2: 1}
    assert fuse.z_scores({}, [1, 2]) == {}
    assert fuse.z_scores({5: 1.0}, [1, 2]) == {}


def test_equal_scores_say_nothing() -> None:
    assert fuse.z_scores({1: 0.1 + 0.2, 2: 0.3, 3: 0.3}, [1, 2, 3]) == {1: 0, 2: 0, 3: 0}


def test_a_convex_sum_by_hand() -> None:
    legs = {"keyword": {1: 2.0, 2: -1.0}, "semantic": {1: 1.0, 3: 4.0}}
    assert fuse.convex(legs, {"keyword": 0.5, "semantic": 0.5}) == {1: 1.5, 2: -1.0, 3: 4.0}
    assert fuse.convex(legs, {"keyword": 1, "semantic": 3}) == {1: 1.25, 2: -1.0, 3: 4.0}
    assert fuse.convex(legs, {"keyword": 1, "semantic": 0}) == {1: 2.0, 2: -1.0, 3: 0.0}


@given(SCORES, SCORES, st.floats(0.01, 100), st.floats(0, 100, allow_subnormal=False))
def test_weights_count_by_their_share(
    one: dict[int, float], two: dict[int, float], first: float, second: float
) -> None:
    legs = {"keyword": one, "semantic": two}
    sums = fuse.convex(legs, {"keyword": first, "semantic": second})
    assert sums == pytest.approx(fuse.convex(legs, {"keyword": first * 8, "semantic": second * 8}))
    assert sums.keys() == one.keys() | two.keys()
    highest = max([0.0, *one.values(), *two.values()])
    assert all(score <= highest + 1e-9 for score in sums.values())


@given(SCORES, st.floats(0.1, 10), st.floats(-50, 50))
def test_z_scores_know_no_scale_and_keep_the_order(scores: dict[int, float], scale: float, shift: float) -> None:
    found = fuse.z_scores(scores, scores)
    other = fuse.z_scores({item: score * scale + shift for item, score in scores.items()}, scores)
    assert sum(found.values()) == pytest.approx(0, abs=1e-6)
    if max(scores.values(), default=0) - min(scores.values(), default=0) > 1e-3:
        assert other == pytest.approx(found, abs=1e-6)
        assert sum(score**2 for score in found.values()) == pytest.approx(len(found))
    order = sorted(scores, key=lambda item: (scores[item], item))
    assert all(found[low] <= found[high] for low, high in pairwise(order))


@given(RANKINGS, RANKINGS)
def test_reciprocal_ranks_grow_with_each_leg_and_each_rank(one: dict[int, int], two: dict[int, int]) -> None:
    both = fuse.reciprocal_ranks({"keyword": one, "semantic": two}, WEIGHTS)
    alone = fuse.reciprocal_ranks({"keyword": one}, WEIGHTS)
    assert both.keys() == one.keys() | two.keys()
    for item in both:
        assert 0 < both[item] <= 1 / 61 + 1e-12
        assert both[item] > alone.get(item, 0) if item in two else both[item] == alone[item]
    order = sorted(one, key=one.__getitem__)
    assert order == sorted(one, key=lambda item: -alone[item])
