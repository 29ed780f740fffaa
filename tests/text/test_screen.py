"""What reaches the terminal: no character that steers, hides or reorders; widths; line breaks."""

import json
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.text import screen

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


VISIBLE_SIGNS = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")  # characters of format that print as something


def dangerous():
    """Yield every character of a class that must not pass as it is."""
    for char in map(chr, range(0x110000)):
        kind = unicodedata.category(char)
        signs = unicodedata.name(char, "").startswith(VISIBLE_SIGNS) and char != "\u061c"
        if (kind in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t") or (kind == "Cf" and not signs):
            yield char


@pytest.mark.parametrize("around", ["{}", "a{} b", " {}a"])
def test_no_dangerous_character_passes(around):
    passed = [hex(ord(char)) for char in dangerous() if char in screen.clean(around.format(char))]
    assert passed == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "<U+001B>]0;title<U+0007>"),
        ("a\x9b31mb", "a<U+009B>31mb"),
        ("abc\u202edef", "abc<U+202E>def"),
        ("\u2066x\u2069", "<U+2066>x<U+2069>"),
        ("a\u200bb", "a<U+200B>b"),
        ("\ufeffa", "<U+FEFF>a"),
        ("a\u2028b", "a<U+2028>b"),
        ("hi\U000e0041", "hi<U+E0041>"),
        ("name\udcff", "name<U+DCFF>"),
        ("a\r\nb\r", "a\nb<U+000D>"),
        ("a\x7fb\x00", "a<U+007F>b<U+0000>"),
        ("x\ufe0f\ufe01\ufe02", "x\ufe0f<U+FE01><U+FE02>"),
        (" \u200d ", " <U+200D> "),
    ],
)
def test_what_is_not_visible_is_named(text, shown):
    assert screen.clean(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "äöü ñ",
        "会员卡，续费",
        "👩‍👩‍👧",
        "❤️‍🔥",
        "می‌خواهم",
        "क्‍ष",
        "1️⃣",
        "tab\tnew\nline",
        "שלום",
        "e\u0301",
        "\u3000",
    ],
)
def test_what_people_write_passes(text):
    assert screen.clean(text) == text


def test_a_field_of_one_line_stays_on_one_line():
    assert screen.clean("a\nb\tc", one_line=True) == "a<U+000A>b<U+0009>c"


@given(any_text)
def test_cleaning_twice_changes_nothing_more(text):
    assert screen.clean(screen.clean(text)) == screen.clean(text)


@settings(max_examples=200)
@given(st.recursive(any_text, lambda below: st.lists(below, max_size=3) | st.dictionaries(any_text, below, max_size=3)))
def test_json_keeps_the_exact_text_and_is_as_clean(value):
    text = screen.escape(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert screen.clean(text, one_line=True) == text


def test_json_of_a_character_beyond_the_first_plane_is_a_pair():
    assert screen.escape('"\U000e0041"') == r'"\udb40\udc41"'


@given(any_text, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
def test_marks_stay_on_the_characters_they_were_on(text, marks):
    shown, moved = screen.clean_marked(text, marks)
    assert not set("\n\t") & set(shown)
    assert all(0 <= start < end <= len(shown) for start, end in moved)
    assert moved == sorted(moved)
    assert all(one[1] <= two[0] for one, two in pairwise(moved))


def test_a_mark_after_a_named_character_moves():
    assert screen.clean_marked("a\x1bword", [(2, 6)]) == ("a<U+001B>word", [(9, 13)])


HOSTILE = "one \u202e two\x1b[2J\r\nthree \r lone \udcff"


@pytest.mark.parametrize(
    ("text", "original", "meant"),
    [
        (screen.clean(HOSTILE), HOSTILE, HOSTILE.replace("\r\n", "\n")),
        (screen.clean(HOSTILE).replace("two", "2"), HOSTILE, HOSTILE.replace("\r\n", "\n").replace("two", "2")),
        ("a <U+202E> typed", "a plain text", "a <U+202E> typed"),
        ("a <U+202E> typed, and \u202e itself", "\u202e", "a <U+202E> typed, and \u202e itself"),
        ("<U+200D> typed", "ع\u200dع", "<U+200D> typed"),
        ("<U+202E> and <U+202E>", "\u202e and <U+202E>", None),
        ("no such writing is left", "\u202e and <U+202E>", "no such writing is left"),
        ("a<U+000D>\nb", "a\r\r\nb", None),
    ],
)
def test_what_is_shown_for_a_character_is_that_character_again(text, original, meant):
    assert screen.uncleaned(text, original) == meant


@given(any_text)
def test_what_is_shown_of_a_text_stands_for_it(text):
    meant = screen.uncleaned(screen.clean(text), text)
    assert meant is None or meant.replace("\r\n", "\n") == text.replace("\r\n", "\n")
    assert meant is not None or "<U+" in text or "\r" in text


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("会员", 4), ("ａ", 2), ("e\u0301", 1), ("ｱ", 1), ("", 0)])
def test_width(text, columns):
    assert screen.width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("short", 10, "short"),
        ("a long line", 7, "a long…"),
        ("会员卡有效", 7, "会员卡…"),
        ("会员卡", 6, "会员卡"),
        ("ab", 1, "…"),
        ("ab", 0, ""),
    ],
)
def test_fit(text, columns, shown):
    assert screen.fit(text, columns) == shown


def lines(text, columns):
    return [text[start:end] for start, end in screen.wrap(text, columns)]


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("", 5, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("会员卡有效期到三月", 6, ["会员卡", "有效期", "到三月"]),
        ("会员卡，续费", 6, ["会员", "卡，续", "费"]),
        ("see 会员卡", 8, ["see 会员", "卡"]),
        ("a   b", 1, ["a", "b"]),
    ],
)
def test_wrap(text, columns, shown):
    assert lines(text, columns) == shown


@given(st.text(st.sampled_from("ab 会，👩\u200d\u0301"), max_size=40), st.integers(2, 12))
def test_wrapped_lines_fit_and_lose_only_spaces(text, columns):
    shown = lines(text, columns)
    assert all(screen.width(line) <= columns for line in shown)
    assert "".join(shown).replace(" ", "") == text.replace(" ", "")
