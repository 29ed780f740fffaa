"""The tracked facts in `.mdmem/*.tsv`: read whatever git or a person made of them, and no other byte is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.vault import facts

FIELDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=4).map(tuple)


@given(st.lists(FIELDS, unique_by=lambda fields: fields[0]))
def test_what_is_written_is_read(rows: list[tuple[str, ...]]) -> None:
    rows = [fields for fields in rows if fields[0].strip() and not fields[0].startswith(tuple("<=>|"))]
    data = facts.with_rows(None, rows)
    assert [fields for fields in facts.rows(data) if fields[0].strip()] == rows


@given(st.binary(max_size=200))
def test_any_bytes_are_facts_and_stay(data: bytes) -> None:
    assert facts.keys(data) == {fields[0] for fields in facts.rows(data)}
    more = facts.with_rows(data, [("a key that is new", "x")])
    assert more is not None and more.startswith(data) and "a key that is new" in facts.keys(more)
    assert facts.keys(facts.without(more, {"a key that is new"})) == facts.keys(data)


def test_what_is_known_is_not_added() -> None:
    data = b"a\t1\r\nb\t2"
    assert facts.with_rows(data, [("a", "9"), ("b", "9")]) is data
    assert facts.with_rows(data, [("c", "3"), ("c", "4")]) == b"a\t1\r\nb\t2\nc\t3\n"


def test_a_union_merge_leaves_each_fact_once() -> None:
    data = b"a\t1\n<<<<<<< HEAD\nb\t2\n=======\nb\t2\nc\t3\n>>>>>>> other\n\n"
    assert list(facts.rows(data)) == [("a", "1"), ("b", "2"), ("c", "3")]


def test_taking_facts_out_leaves_all_other_bytes() -> None:
    data = b"a\t1\r\n\nb\t2\n# by hand\nc\t3"
    assert facts.without(data, {"b"}) == b"a\t1\r\n\n# by hand\nc\t3"
    assert facts.without(None, {"b"}) is None


@pytest.mark.parametrize("text", ["tab\there", "line\nbreak", "back\\slash", "\\t", "\r", "中文\t空格"])
def test_a_field_may_hold_anything(text: str) -> None:
    data = facts.with_rows(None, [("key", text, "end")])
    assert data is not None and data.count(b"\n") == 1
    assert list(facts.rows(data)) == [("key", text, "end")]
