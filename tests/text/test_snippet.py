"""What is shown of a hit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.lexical import stem
from mdmem.text import analyze, snippet


def wanted(query: str, *needles: str) -> snippet.Wanted:
    return snippet.Wanted(analyze.weigh(query, stem), tuple(map(analyze.fold, needles)), stem)


def marked(text: str, found: snippet.Wanted) -> list[str]:
    line, spans = snippet.snippet(text, found)
    return [line[start:end] for start, end in spans]


def test_marks_stems_identifiers_and_chinese() -> None:
    assert marked("He runs node.js daily", wanted("running node.js")) == ["runs", "node.js"]
    assert marked("她周三下午会点拿铁。", wanted("拿铁")) == ["周三下午会点拿铁"[-2:]]


def test_marks_a_single_chinese_character_at_the_end() -> None:
    assert marked("Earl Grey 茶", wanted("茶")) == ["茶"]
    assert marked("xY# 茶", wanted("xy#")) == ["xY#"]


def test_marks_fold_width_accents_and_case() -> None:
    assert marked("Le ＣＡＦÉ noir", wanted("cafe")) == ["ＣＡＦÉ"]


def test_marks_substrings_where_no_term_matches() -> None:
    assert marked("on Kubernetes => ok", wanted("", "ubernet", "=>")) == ["ubernet", "=>"]


def test_a_long_text_is_cut_around_what_matters() -> None:
    text = "filler words " * 100 + "the ERR_1042 happened\nagain " + "more filler " * 100
    line, spans = snippet.snippet(text, wanted("ERR_1042"))
    assert "ERR_1042 happened again" in line and line.startswith("…") and line.endswith("…")
    assert len(line) < 160 and [line[a:b] for a, b in spans] == ["ERR_1042"]


def test_worth_counts_distinct_terms() -> None:
    found = wanted("tea cup")
    assert snippet.worth("tea tea tea", found) < snippet.worth("a cup of tea", found)


@given(st.text(max_size=400), st.text(min_size=1, max_size=8), st.integers(10, 200))
def test_a_snippet_is_text_of_the_text(text: str, query: str, width: int) -> None:
    line, spans = snippet.snippet(text, wanted(query, query), width=width)
    shown = line.removeprefix("…").removesuffix("…")
    assert shown == "" or all(c in text or c == " " for c in shown)
    assert len(line) <= width + 30
    end = 0
    for start, stop in spans:
        assert end <= start < stop <= len(line)
        end = stop
