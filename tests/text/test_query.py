"""The query language: what is typed, and that anything is a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.text import query
from mdmem.text.query import All, Any, In, Maybe, Not, Phrase, Prefix, Tag, Word

TREES = [
    ("tea", Word("tea")),
    ("a b", Any((Word("a"), Word("b")))),
    ("a OR b", Any((Word("a"), Word("b")))),
    ("a AND b", All((Word("a"), Word("b")))),
    ("a AND b OR c", Any((All((Word("a"), Word("b"))), Word("c")))),
    ("(a OR b) AND c", All((Any((Word("a"), Word("b"))), Word("c")))),
    ("NOT a", Not(Word("a"))),
    ("a AND NOT b", All((Word("a"), Not(Word("b"))))),
    ("a -b", All((Not(Word("b")), Any((Word("a"),))))),
    ('"a b"', Phrase("a b")),
    ('"a b" c', All((Phrase("a b"), Maybe((Word("c"),))))),
    ('"a b" OR c', Any((Phrase("a b"), Word("c")))),
    ('a -"b c"', All((Not(Phrase("b c")), Any((Word("a"),))))),
    ("ameri* 木火*", Any((Prefix("ameri"), Prefix("木火")))),
    ("tag:work x", All((Tag("work"), Any((Word("x"),))))),
    ("tag:#work", Tag("work")),
    ("-tag:work", Not(Tag("work"))),
    ('in:daily tag:"a b"', All((In("daily"), Tag("a b")))),
    ("f(x)", Any((Word("f"), Word("x")))),
    ("-tea", Not(Word("tea"))),
    ("-tea -coffee", All((Not(Word("tea")), Not(Word("coffee"))))),
    ("milk -tea :)", All((Not(Word("tea")), Any((Word("milk"), Word(":")))))),
]

PLAIN = ["--dry-run", "x OR", "OR x", '"open', "NOT", "AND OR", "(", ")", "((", "*", "a AND", "-"]


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_trees(text: str, tree: query.Node) -> None:
    assert query.parse(text) == tree


@pytest.mark.parametrize("text", PLAIN)
def test_what_does_not_parse_is_plain_words(text: str) -> None:
    words = [Word(word) for word in text.replace('"', " ").split()]
    assert query.parse(text) in (Any(tuple(dict.fromkeys(words))), words[0])


@pytest.mark.parametrize("text", ["", "  ", "\n\t", '""', '" "'])
def test_what_asks_for_nothing(text: str) -> None:
    assert query.parse(text) is None


@given(st.text(alphabet="ab\"()-*: \nORANDT木'#\\", max_size=60))
def test_anything_is_a_query(text: str) -> None:
    node = query.parse(text)
    if node is not None:
        assert list(query.leaves(node)) or list(query.leaves(node, negated=True))


def test_depth_and_length_are_bounded() -> None:
    assert query.parse("(" * 5000 + "a" + ")" * 5000) == Word("a")
    assert isinstance(query.parse("NOT " * 5000 + "a"), Any)
    many = query.parse(" ".join(f"w{n}" for n in range(5000)))
    assert isinstance(many, Any) and len(many.nodes) <= query.MAX_WORDS


def test_a_long_query_is_cut_between_characters() -> None:
    text, was_cut = query.cut("茶" * 5000)
    assert was_cut and text == "茶" * (query.MAX_BYTES // 3)
    assert query.cut("tea") == ("tea", False)


def test_leaves_tell_wanted_from_unwanted() -> None:
    node = query.parse('tea -coffee "a b" NOT milk')
    assert node is not None
    assert {leaf.text for leaf in query.leaves(node) if isinstance(leaf, Word | Phrase)} == {"tea", "a b"}
    assert {leaf.text for leaf in query.leaves(node, negated=True) if isinstance(leaf, Word)} == {"coffee", "milk"}


def test_loosening_asks_for_the_words_and_keeps_the_bounds() -> None:
    node = query.parse('"green tea" -milk in:daily')
    assert node is not None
    assert query.loosened(node) == All((Any((Word("green"), Word("tea"))), Not(Word("milk")), In("daily")))
    assert query.loosened(Word("tea")) is None


WORDINGS = [
    ("a pet having a nap", "a pet having a nap"),
    ("  half sugar? ", "half sugar?"),
    ("什么是木火共生", "什么是木火共生"),
    ("tea -coffee", "tea"),
    ("milk NOT (tea OR coffee)", "milk"),
    ("tea AND milk OR sugar", "tea milk sugar"),
    ('"green tea" please', "green tea please"),
    ("ameri* dreams", "ameri dreams"),
    ("tag:work what to do", "what to do"),
    ("in:daily -tag:x sports", "sports"),
    ("(open question", "open question"),
    ('"open', "open"),
    ("NOT", "NOT"),
    ("what is f(x)", "what is f x"),
    ("tag:work", ""),
    ("-tea", ""),
    ("in:daily -coffee", ""),
    ("", ""),
    ("   ", ""),
]


@pytest.mark.parametrize(("text", "words"), WORDINGS)
def test_the_wording_is_what_a_query_says_without_its_operators(text: str, words: str) -> None:
    assert query.wording(text) == words


@given(st.text(alphabet="ab()* \n木'#\\", max_size=40))
def test_what_is_excluded_is_no_part_of_the_wording(text: str) -> None:
    assert "unwanted" not in query.wording(f"{text} -unwanted -tag:unwanted")
