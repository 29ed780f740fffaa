"""Which scripts a text is written in, and whether a model can read it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.text import scripts

ENGLISH = ("Latin",)

LETTERS = [
    ("coffee", {"Latin": 6}),
    ("Ｃａｆé", {"Latin": 4}),
    ("咖啡", {"Han": 2}),
    ("コーヒーとすし", {"Kana": 7}),
    ("ｺｰﾋｰ", {"Kana": 2}),
    ("커피", {"Hangul": 2}),
    ("кофе", {"Cyrillic": 4}),
    ("καφές", {"Greek": 5}),
    ("قهوة", {"Arabic": 4}),
    ("קפה", {"Hebrew": 3}),
    ("कफ", {"Devanagari": 2}),
    ("กาแฟ", {"Thai": 4}),
    ("\u1218\u1219", {"Other": 2}),
    ("喝 coffee 吗", {"Han": 2, "Latin": 6}),
    ("2026-11-29, 65 %!", {}),
    ("", {}),
    ("🐱", {}),
]


@pytest.mark.parametrize(("text", "counts"), LETTERS)
def test_letters_are_counted_by_script(text: str, counts: dict[str, int]) -> None:
    found = scripts.letters(text)
    if "ー" not in text and "ｰ" not in text:  # the sign that lengthens a vowel is a letter to some
        assert found == counts
    assert found.keys() == counts.keys()


READABLE = [
    ("what does 小满 like", ENGLISH, True),
    ("小满喜欢什么 tea", ENGLISH, False),
    ("小满喜欢什么 tea", ("Latin", "Han"), True),
    ("PAY-70312-QX 发票", ENGLISH, True),
    ("12345 ???", ENGLISH, True),
    ("", ENGLISH, True),
    ("すしを食べた", ("Han",), False),
    ("すしを食べた", ("Han", "Kana"), True),
    ("Привет, Bob", ENGLISH, False),
    ("\u1218\u1219", scripts.KNOWN, False),
]


@pytest.mark.parametrize(("text", "known", "can"), READABLE)
def test_a_model_reads_what_is_mostly_in_its_scripts(text: str, known: tuple[str, ...], can: bool) -> None:
    assert scripts.readable(text, known) is can


def test_half_a_text_is_enough() -> None:
    assert scripts.share("abcde咖啡", ENGLISH) == 0.5 == scripts.READABLE
    assert scripts.readable("abcde咖啡", ENGLISH) and not scripts.readable("abcd咖啡", ENGLISH)


@pytest.mark.parametrize(
    ("text", "known", "name"),
    [
        ("小满 and кофе", ENGLISH, "Han"),
        ("и小", ENGLISH, "Han"),
        ("Привет 小", ENGLISH, "Cyrillic"),
        ("tea", ENGLISH, ""),
        ("", ENGLISH, ""),
        ("小", ("Han",), ""),
    ],
)
def test_the_foreign_script_is_the_one_that_most_is_in(text: str, known: tuple[str, ...], name: str) -> None:
    assert scripts.foreign(text, known) == name


@given(st.text(), st.sets(st.sampled_from(scripts.KNOWN)))
def test_a_share_is_a_share_and_grows_with_what_is_known(text: str, known: set[str]) -> None:
    share = scripts.share(text, known)
    assert 0 <= share <= 1
    assert all(scripts.share(text, known | {name}) >= share - 1e-12 for name in scripts.KNOWN)
    assert (scripts.foreign(text, known) == "") is (share == 1)


@given(st.characters(categories=["Ll", "Lu", "Lo"], max_codepoint=0xFFFF))
def test_a_letter_is_in_the_script_that_unicode_names(char: str) -> None:
    names = {"LATIN": "Latin", "CJK UNIFIED": "Han", "HIRAGANA LETTER": "Kana", "KATAKANA LETTER": "Kana"}
    names |= {"HANGUL SYLLABLE": "Hangul", "CYRILLIC": "Cyrillic", "GREEK": "Greek", "HEBREW LETTER": "Hebrew"}
    name = unicodedata.name(char, "")
    for begin, script in names.items():
        if name.startswith(begin + " "):
            assert scripts.letters(char).keys() <= {script, "Other"}
