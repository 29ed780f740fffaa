"""Patches, and taking one change back out of a text that has changed since."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import merge


@pytest.mark.parametrize(
    ("before", "after", "now", "wanted"),
    [
        ("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nb\nc\n"),
        ("a\nb\nc\n", "a\nX\nc\n", "0\na\nX\nc\nd\n", "0\na\nb\nc\nd\n"),
        ("a\nb\nc\n", "a\nX\nc\n", "A\nX\nC\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", None),
        ("a\nb\nc\n", "a\nX\nc\n", "a\nX\nX2\nc\n", "a\nb\nX2\nc\n"),
        ("a\nc\n", "a\nb1\nb2\nc\n", "a\nb1\nnew\nb2\nc\n", None),
        ("a\n", "a\nb\n", "a\nb\nc\n", "a\nc\n"),
        ("a\nb\nc\n", "a\nc\n", "a\nc\nd\n", "a\nb\nc\nd\n"),
        ("a\nb\nc\n", "a\nc\n", "A\nc\n", "A\nb\nc\n"),
        ("a\nb\nc\n", "a\nc\n", "A\nC\n", None),
        ("b\n", "", "c\n", "b\nc\n"),
        ("", "a\n", "a\nb\n", "b\n"),
        ("a\nb", "a\nb\nc", "a\nb\nc\nd", "a\nb\nd"),
        ("a\nb\na\n", "a\nb\n", "a\nb\nc\n", "a\nb\na\nc\n"),
        ("x\n", "x\nx\n", "x\nx\nx\n", "x\nx\n"),
        ("1\n2\n3\n4\n5\n", "1\nB\n3\nD\n5\n", "0\n1\nB\n3\nD\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\n"),
        ("1\n2\n3\n4\n5\n", "1\nB\n3\nD\n5\n", "1\nB\n3\nE\n5\n", None),
    ],
)
def test_revert(before: str, after: str, now: str, wanted: str | None) -> None:
    assert merge.revert(before, after, now) == wanted


LINES = st.lists(st.sampled_from("abcd"), max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))
TEXTS = st.text("ab\n", max_size=12)


@given(TEXTS, TEXTS)
def test_a_change_and_nothing_else_is_taken_back_whole(before: str, after: str) -> None:
    assert merge.revert(before, after, after) == before


@given(LINES, LINES, LINES, LINES)
def test_what_stands_before_and_behind_is_kept(before: str, after: str, above: str, below: str) -> None:
    above, below = (text.upper() for text in (above, below))
    reverted = merge.revert(before, after, above + after + below)
    if reverted is not None:
        assert [line for line in reverted.split("\n") if line.isupper()] == (above + below).split()
        assert sorted(reverted.lower().split()) == sorted((above + before + below).lower().split())


@given(TEXTS, TEXTS, TEXTS)
def test_nothing_is_invented(before: str, after: str, now: str) -> None:
    reverted = merge.revert(before, after, now)
    assert reverted is None or set(reverted.split("\n")) <= {*before.split("\n"), *now.split("\n"), ""}


@given(st.binary(max_size=30), st.binary(max_size=30), st.binary(max_size=30))
def test_a_patch_leads_both_ways(same: bytes, one: bytes, other: bytes) -> None:
    before, after = same + one + same, same + other + same
    change = merge.patch(before, after)
    assert merge.forward(before, change) == after
    assert merge.backward(after, change) == before
    assert len(change.cut) <= len(one)
    assert len(change.put) <= len(other)


def test_long_texts_take_no_time_by_the_square() -> None:
    """The bound is the runner's patience: comparing each line with each would take hours."""
    random.seed(3)
    lines = [random.choice(["", f"- line {number}"]) for number in range(200_000)]
    before = "\n".join(lines)
    after = before.replace("- line 100\n", "- changed\n")
    now = "\n".join([*after.split("\n")[:-5], "", "- new", ""])
    assert after != before
    assert merge.revert(before, after, now) == now.replace("- changed\n", "- line 100\n")
    change = merge.patch(before.encode(), after.encode())
    assert (change.cut, change.put) == (b"line 100", b"changed")
