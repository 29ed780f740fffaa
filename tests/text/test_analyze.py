"""What a text is found by: words, identifiers and their parts, CJK bigrams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.lexical import stem
from mdmem.text import analyze

TERMS = [
    ("人工智能", {"人工", "工智", "智能", "人", "工", "智", "能"}),
    ("GPT-4o 咖啡", {"gpt-4o", "gpt", "4o", "咖啡", "咖", "啡"}),
    ("café CAFÉ ｃａｆｅ", {"cafe"}),
    ("ERR_1042", {"err_1042", "err", "1042"}),
    ("E11000 0x80070005", {"e11000", "0x80070005"}),
    ("v1.0.77", {"v1.0.77", "v1", "0", "77"}),
    ("2026.4.10 2026-11-29", {"2026.4.10", "2026", "4", "10", "2026-11-29", "11", "29"}),
    ("snake_case real-time", {"snake_case", "snake", "case", "real-time", "real", "time"}),
    ("node.js", {"node.js", "node", "js"}),
    ("C++ C#", {"c++", "c#", "c"}),
    ("65℃左右", {"65°c", "65", "左右", "左", "右"}),
    ("138-1234-5678", {"138-1234-5678", "138", "1234", "5678"}),
    ("src/node.js", {"src/node.js", "src", "node.js", "node", "js"}),
    ("getUserName", {"getusernam", "get", "user", "name"}),
    ("Caroline's books", {"carolin", "book"}),
    ("--dry-run", {"dry-run", "dri", "run"}),
    ("ﾊﾝｶｸ", {"ハン", "ンカ", "カク", "ハ", "ン", "カ", "ク"}),
    ("한국어", {"한국", "국어", "한", "국", "어"}),
    ("what is the plan", {"plan"}),
    ("=> 🐱 …", set()),
]


@pytest.mark.parametrize(("text", "terms"), TERMS)
def test_terms(text: str, terms: set[str]) -> None:
    assert set(analyze.bag([analyze.Field(text, 1)], stem).terms) == terms


def test_weights_count_terms_and_lengths() -> None:
    once = analyze.bag([analyze.Field("tea cup", 1)], stem)
    twice = analyze.bag([analyze.Field("tea cup", 2)], stem)
    assert (once.length, twice.length) == (2, 4)
    assert sorted(twice.terms) == sorted(once.terms * 2)


def test_parts_do_not_lengthen_and_can_be_left_out() -> None:
    assert analyze.bag([analyze.Field("ERR_1042", 1)], stem).length == 1
    assert analyze.bag([analyze.Field("2026-11-29", 1, parts=False)], stem).terms == ["2026-11-29"]


def test_an_identifier_asks_for_itself_first() -> None:
    weights = analyze.weigh("err_1042 tea", stem)
    assert weights["err_1042"] > weights["tea"] > weights["1042"] > 0


def test_a_chinese_run_asks_for_bigrams_and_one_character_for_itself() -> None:
    assert analyze.weigh("咖啡店", stem) == {"咖啡": 1.0, "啡店": 1.0}
    assert analyze.weigh("茶", stem) == {"茶": 1.0}


def test_a_mixed_word_has_no_single_whole_term() -> None:
    assert analyze.whole_terms("tea", stem) == ("tea",)
    assert analyze.whole_terms("木火共生", stem) == ()
    assert analyze.whole_terms("the", stem) == ()


@given(st.text(), st.text(), st.text())
def test_a_part_of_a_text_folds_to_a_part_of_the_folded_text(before: str, part: str, after: str) -> None:
    # A mark that combines with what stands before the part is the one exception: there the part begins mid-character.
    text = before + " " + part + " " + after
    assert analyze.fold(part) in analyze.fold(text)


@pytest.mark.parametrize("letter", "Ǿǿℏꟸ𐞕𐞢łØ")
def test_a_stroke_goes_with_its_accent(letter: str) -> None:
    assert analyze.fold(letter).isascii()


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert analyze.fold(analyze.fold(text)) == analyze.fold(text)


@given(st.text(st.characters(codec="utf-8")))
def test_tokens_are_in_order_and_within_the_text(text: str) -> None:
    unified = analyze.unify(text)
    end = 0
    for token in analyze.tokens(unified, stem):
        assert end <= token.start < token.end <= len(unified)
        assert all(token.whole) and all(token.parts)
        end = token.end


@pytest.mark.parametrize(
    ("needle", "text", "found"),
    [
        ("art", "a party", False),
        ("art", "the art of", True),
        ("木火", "说木火共生", True),
        ("c++", "use objc++", False),
        ("c++", "use c++, c", True),
    ],
)
def test_boundary(needle: str, text: str, found: bool) -> None:
    assert bool(analyze.boundary(needle).search(text)) is found


def test_a_prefix_may_go_on() -> None:
    assert analyze.boundary("ameri", open_end=True).search("in american dreams")
    assert not analyze.boundary("meri", open_end=True).search("in american dreams")


IDENTIFIERS = [
    ("ERR_1042", ["ERR_1042"]),
    ("invoice PAY-70312-QX again", ["PAY-70312-QX"]),
    ("on 2026-04-10 and 2026.4.10", ["2026-04-10", "2026.4.10"]),
    ("13812345678", ["13812345678"]),
    ("order 10115", ["10115"]),
    ("year 2026", []),
    ("v1.0.77", ["v1.0.77"]),
    ("E11000 0x80070005", ["E11000", "0x80070005"]),
    ("retry_count", ["retry_count"]),
    ("_quiet_ __init__", []),
    ("192.168.178.63", ["192.168.178.63"]),
    ("3 apples, 1,500 steps, 7:30pm, 2nd, 1990s, 5km, 65℃, 50%", []),
    ("a 25-year-old", []),
    ("off-line real-time node.js", []),
    ("C++ C# GPT", []),
    ("GPT-4o", ["GPT-4o"]),
    ("错误ERR_1042在日志里", ["ERR_1042"]),
    ("ＥＲＲ＿１０４２", ["ERR_1042"]),
    ("ERR_1042 and ERR_1042", ["ERR_1042"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "names"), IDENTIFIERS)
def test_an_identifier_names_one_thing_exactly(text: str, names: list[str]) -> None:
    assert analyze.identifiers(text) == names


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_identifiers_are_words_of_the_text_each_once(text: str) -> None:
    found = analyze.identifiers(text)
    assert len(set(found)) == len(found)
    assert all(name in analyze.unify(text) for name in found)
