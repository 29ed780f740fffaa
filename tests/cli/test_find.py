"""The budget of an answer: whole hits first, the last one cut."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_render import MOVIES, hit

from mdmem.vault.searching import bounded


def texts(limit, *lengths):
    hits = [hit(MOVIES, text="x" * length, snippet="x" * min(length, 20)) for length in lengths]
    return [each.text for each in bounded(hits, limit)]


@pytest.mark.parametrize(
    ("limit", "kept"),
    [(23, [10, 5, 8]), (22, [10, 5, 7]), (15, [10, 5]), (16, [10, 5, 1]), (4, [4]), (1, [1])],
)
def test_hits_are_kept_whole_until_the_last_one(limit, kept):
    shown = texts(limit, 10, 5, 8)
    assert [len(text) for text in shown] == kept
    cut = [text for text, length in zip(shown, (10, 5, 8), strict=False) if len(text) < length]
    assert all(text.endswith("…") for text in cut)


@given(st.lists(st.integers(0, 50), max_size=6), st.integers(1, 100))
def test_the_texts_never_exceed_the_budget(lengths, limit):
    shown = texts(limit, *lengths)
    assert sum(map(len, shown)) <= limit
    assert sum(map(len, shown)) == min(limit, sum(lengths))


def test_a_cut_snippet_keeps_its_marks_inside():
    long = replace(hit(MOVIES), text="word " * 9, snippet="word " * 4, marks=((0, 4), (5, 9), (15, 19)))
    (shown,) = bounded([long], 8)
    assert (shown.text, shown.snippet, shown.marks) == ("word wo…", "word wo…", ((0, 4), (5, 7)))
