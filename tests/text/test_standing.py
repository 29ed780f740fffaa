"""Known entries found again in a log, whatever happened around them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.text import entries, standing

ENTRIES = ["- 14:30 a\n", "- 14:30 a\n\n  b\n", "- 14:31 a\n", "* 14:30 a\n", "## 14:30 a\n", "14:30 a\n"]
ODD = ["- **14：30** a\n", "- [ ] 14:30-15:00 a\n", "- 14:30:05 a <!-- mdmem: id=x -->\n"]
OTHER = ["prose\n", "```\n", "\n", "# heading\n", "  more\n", "14:30\n", "- 14:30\n", "- 14:30x\n", "\ufeff- 14:30 a\n"]
PIECES = st.sampled_from([*ENTRIES, *ODD, *OTHER])
LOGS = st.lists(PIECES, max_size=10).map("".join)


@given(LOGS, st.booleans())
def test_every_time_of_an_entry_is_among_the_clocks(source: str, crlf: bool) -> None:
    source = source.replace("\n", "\r\n") if crlf else source
    found = Counter(entry.time for entry in entries.parse(source).entries)
    clocks = standing.clocks(source)
    assert found <= clocks.often
    assert {clock: often for clock, often in clocks.often.items() if clock not in clocks.unsure} == {
        clock: often for clock, often in found.items() if clock not in clocks.unsure
    }


BLOCKS = st.lists(st.sampled_from(["- 14:30 a\n", "- 14:30 a\n\n  b\n", "- 14:31 a\n"]), max_size=4)


@given(LOGS, BLOCKS)
def test_what_was_put_behind_a_log_is_taken_off_again(source: str, blocks: list[str]) -> None:
    apart = standing.without(source + "".join(blocks), blocks, source)
    assert apart.stood == (True,) * len(blocks)
    assert apart.rest == source


@pytest.mark.parametrize(
    ("source", "blocks", "base", "rest", "stood"),
    [
        ("- 14:30 a\n\n  b\n", ["- 14:30 a\n"], "", "- 14:30 a\n\n  b\n", (False,)),
        ("x - 14:30 a\n", ["- 14:30 a\n"], "", "x - 14:30 a\n", (False,)),
        ("- 14:30 a\r\n\r\n  b\r\n- 15:00 c\r\n", ["- 14:30 a\n\n  b\n"], "", "- 15:00 c\r\n", (True,)),
        ("- 14:30 a\n- 14:30 a\n", ["- 14:30 a\n"], "- 14:30 a\n", "- 14:30 a\n", (True,)),
        ("- 14:30 a\n", ["- 14:30 a\n"], "- 14:30 a\n", "- 14:30 a\n", (True,)),
        ("- 14:30 a\n", ["- 14:30 a\n", "- 14:30 a\n"], "", "", (False, True)),
        ("", ["no entry"], "", "", (False,)),
    ],
)
def test_without(source: str, blocks: list[str], base: str, rest: str, stood: tuple[bool, ...]) -> None:
    assert standing.without(source, blocks, base) == standing.Apart(rest, stood)


@pytest.mark.parametrize(
    ("source", "base", "blocks", "wanted"),
    [
        ("- 14:30 Decided on Whoosh for BM25\n", "", ["- 14:30 Decided on Whoosh\n"], (True,)),
        ("- 14:30:05 Decided on Whoosh!\n", "", ["- 14:30 Decided on Whoosh\n"], (True,)),
        ("- 15:30 Decided on Whoosh!\n", "", ["- 14:30 Decided on Whoosh\n"], (False,)),
        ("- 14:30 Something else\n", "", ["- 14:30 Decided on Whoosh\n"], (False,)),
        ("- 15:00 new <!-- mdmem: id=x -->\n", "", ["- 14:30 old <!-- mdmem: id=x -->\n"], (True,)),
        ("- 14:30 line 1\n", "- 14:30 line 1\n", ["- 14:30 line 2\n"], (False,)),
        ("- 14:30 line 1\n", "", ["- 14:30 line 2\n", "- 14:30 line 3\n"], (True, False)),
    ],
)
def test_corrected(source: str, base: str, blocks: list[str], wanted: tuple[bool, ...]) -> None:
    assert standing.corrected(source, base, blocks) == wanted


@given(LOGS, st.booleans())
def test_every_entry_begins_as_some_opening(source: str, crlf: bool) -> None:
    source = source.replace("\n", "\r\n") if crlf else source
    found = standing.openings(source)
    for entry in entries.parse(source).entries:
        [said] = standing.openings(entries.render("14:30", entry.text or "x", entry.meta))
        assert "" in found or said in found or not entry.text
