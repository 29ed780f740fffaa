"""Two versions of a file compared in memory's terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.text import changes

LOG = "memory/daily/2026-11-29.md"
HEADING = "# 2026-11-29\n\n"


Told = list[tuple[str, str, str | None, str | None]]


def told(path: str, before: str | bytes | None, after: str | bytes | None) -> Told:
    texts = [text.encode() if isinstance(text, str) else text for text in (before, after)]
    return [(edit.kind, edit.address, edit.before, edit.after) for edit in changes.compare(path, *texts)]


A, B = "daily/2026-11-29#14:30", "daily/2026-11-29#14:31"


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (None, HEADING + "- 14:30 a\n", [("added", A, None, "a")]),
        (HEADING + "- 14:30 a\n", None, [("removed", A, "a", None)]),
        ("- 14:30 a\n", "- 14:30 b\n", [("changed", A, "a", "b")]),
        ("- 14:30 a\n- 14:31 b\n", "- 14:31 b\n", [("removed", A, "a", None)]),
        ("- 14:31 b\n", "- 14:30 a\n- 14:31 b\n", [("added", A, None, "a")]),
        ("- 14:30 a\n- 14:31 b\n", "- 14:31 b\n- 14:30 a\n", []),
        ("- 14:30 a\n", "* 14:30 a\r\n\r\n", []),
        ("- 14:30 a\n", "- 14:30 a <!-- mdmem: id=x -->\n", [("changed", A, "a", "a")]),
        ("- 14:30 x\n- 14:30 y\n", "- 14:30 y\n", [("removed", A, "x", None)]),
        ("- 14:30 x\n- 14:30 x\n", "- 14:30 x\n", [("removed", f"{A}.2", "x", None)]),
        ("- 14:30 x\n", "- 14:31 x\n", [("added", B, None, "x"), ("removed", A, "x", None)]),
        (HEADING + "- 14:30 a\n", HEADING, [("removed", A, "a", None)]),
        ("- 14:30 a\n", "prose\n\n- 14:30 a\n", [("added", "daily/2026-11-29", None, "prose")]),
        (HEADING, HEADING, []),
    ],
)
def test_logs(before: str | None, after: str | None, wanted: Told) -> None:
    assert told(LOG, before, after) == wanted


@pytest.mark.parametrize(
    ("path", "before", "after", "wanted"),
    [
        ("memory/plan.md", None, "# P\n", [("added", "plan", None, "# P\n")]),
        ("memory/plan.md", "a\n", "b\n", [("changed", "plan", "a\n", "b\n")]),
        ("memory/plan.md", "a\n", None, [("removed", "plan", "a\n", None)]),
        (
            "memory/plan.md",
            "---\na: 1\n---\nx",
            "---\na: 2\n---\nx",
            [("changed", "plan", "---\na: 1\n---\nx", "---\na: 2\n---\nx")],
        ),
        ("memory/plan.md", "", None, [("removed", "plan", "", None)]),
        ("notes/plan.md", None, "x", [("added", "/notes/plan", None, "x")]),
        ("mdmem.toml", "a", "b", [("changed", "/mdmem.toml", "a", "b")]),
        ("memory/x.md", b"\xff\xfea\0", b"\xff\xfeb\0", [("changed", "x", "a", "b")]),
        ("memory/x.md", b"bad \xff", b"bad \xfe", [("changed", "x", "bad \ufffd", "bad \ufffd")]),
    ],
)
def test_documents(path: str, before: str | bytes | None, after: str | bytes | None, wanted: Told) -> None:
    assert told(path, before, after) == wanted


ENTRIES = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c d"])), max_size=6)


@given(ENTRIES, ENTRIES)
def test_added_less_removed_is_the_difference(before: list[tuple[int, str]], after: list[tuple[int, str]]) -> None:
    old, new = ("".join(f"- 14:3{minute} {text}\n" for minute, text in one) for one in (before, after))
    edits = told(LOG, old, new)
    grown = sum((kind == "added") - (kind == "removed") for kind, *_ in edits)
    assert grown == len(after) - len(before)
    assert bool(edits) == (sorted(before) != sorted(after))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("one", "one"),
        (" two\n\nwords\t", "two words"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("y " * 100, ("y " * 29 + "y") + "…"),
        ("a\u2028b\x85c", "a b c"),
    ],
)
def test_a_headline_is_one_short_line(text: str, wanted: str) -> None:
    assert changes.headline(text) == wanted
