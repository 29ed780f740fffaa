"""What a unit is found by: the text of each passage as a model gets it, and its words as BM25 counts them."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.text import units
from mdmem.text.passages import Passage, passages

DOCUMENT = """---
title: Bread
secret: hush
tags: [baking]
---
Flour, water, salt. <!-- mdmem: id=never-shown -->

## Baking

Forty minutes. %%no comment%%

### Steam

```sh
# not a heading <!-- but code -->
oven --steam
```
"""
LOG = """# 2026-11-29

- 14:30 Bought rye #food
  and caraway

  <!-- mdmem: id=rye-1 source=shop -->
- 15:00
"""


def cut(path: str, text: str) -> list[list[Passage]]:
    return [list(passages(unit)) for unit in units.read(path, text.encode()).units]


def long(sections: int) -> str:
    """Give a document of sections, each as long as a passage may be."""
    words = " ".join(f"word{n}" for n in range(170))
    return "# Top\n\n" + "".join(f"## Part {n}\n\n{words} {n}.\n\n" for n in range(sections))


def test_a_document_says_its_title_its_headings_and_its_text() -> None:
    ((passage,),) = cut("memory/bread.md", DOCUMENT)
    assert passage.saying == (
        "Bread\nFlour, water, salt.\n\n## Baking\n\nForty minutes. %%no comment%%\n\n### Steam\n\n"
        "```sh\n# not a heading <!-- but code -->\noven --steam\n```"
    )


def test_comments_and_front_matter_are_in_no_text() -> None:
    for path, text in (("memory/bread.md", DOCUMENT), ("memory/daily/2026-11-29.md", LOG)):
        for unit in cut(path, text):
            for passage in unit:
                everything = "\n".join([passage.saying, *(field.text for field in passage.fields)])
                assert not any(word in everything for word in ("never-shown", "hush", "rye-1", "source", "secret"))


def test_the_words_are_counted_by_field_and_the_title_twice() -> None:
    ((passage,),) = cut("memory/bread.md", DOCUMENT)
    *fields, text = [(field.text, field.weight, field.parts) for field in passage.fields]
    assert fields[:3] == [("Bread", 2, True), ("bread", 1, True), ("baking", 1, True)]
    assert text[0].startswith("Flour, water, salt.\n") and text[1:] == (1, True)


def test_a_dated_document_is_found_by_its_title_and_tags_too() -> None:
    ((dated,),) = cut("memory/bread.md", DOCUMENT.replace("secret: hush", "created: 2026-11-03"))
    ((plain,),) = cut("memory/bread.md", DOCUMENT)
    assert dated == plain


def test_an_entry_says_its_text_and_is_found_by_its_whole_day() -> None:
    entry, empty = cut("memory/daily/2026-11-29.md", LOG)
    assert [passage.saying for passage in entry] == ["Bought rye #food\nand caraway"]
    assert next((field.text, field.parts) for field in entry[0].fields) == ("2026-11-29 14:30", False)
    assert [passage.saying for passage in empty] in ([], [""])
    assert all(passage.hash == b"" for passage in empty)


def test_each_passage_stands_under_the_headings_above_it() -> None:
    ((*found,),) = cut("memory/parts.md", long(3))
    assert len(found) == 3
    for number, passage in enumerate(found):
        lines = passage.saying.split("\n")
        assert ("# Top" in lines[:2] or lines[0] == "Top") and f"## Part {number}" in passage.saying
        assert passage.saying.endswith(f" {number}.")
        assert passage.saying.count("Part ") == 1


def test_a_heading_that_the_text_holds_is_not_said_twice() -> None:
    ((passage,),) = cut("memory/note.md", "# Sourdough\n\nFlour\n")
    assert passage.saying == "# Sourdough\n\nFlour"


def test_a_title_that_the_text_does_not_hold_stands_before_it() -> None:
    ((passage,),) = cut("memory/garden-plan.md", "Tomatoes want sun\n")
    assert passage.saying == "garden-plan\nTomatoes want sun"


@pytest.mark.parametrize("text", ["", "\n\n", "<!-- mdmem: id=x -->\n", "---\ntitle: x\n---\n"])
def test_what_says_nothing_has_no_hash(text: str) -> None:
    for unit in cut("memory/empty.md", text):
        assert [(passage.saying, passage.hash) for passage in unit] in ([], [("", b"")])


def test_the_hash_is_that_of_the_saying_and_nothing_else() -> None:
    ((one,),) = cut("memory/daily/2026-11-29.md", "- 14:30 Same words\n")
    ((two,),) = cut("memory/daily/2025-01-02.md", "# 2025-01-02\n\n- 09:00 Same words\n")
    assert one.hash == two.hash == hashlib.sha256(b"Same words").digest()[:16]
    ((three,),) = cut("memory/daily/2026-11-29.md", "- 14:30 Same word\n")
    assert three.hash != one.hash


def test_a_broken_character_does_not_keep_a_text_from_having_a_hash() -> None:
    assert len(Passage((), "a\udce9b").hash) == 16


def test_a_line_at_the_top_changes_one_passage() -> None:
    ((*before,),) = cut("memory/parts.md", long(5))
    ((*after,),) = cut("memory/parts.md", long(5).replace("## Part 0\n\n", "## Part 0\n\nA new line.\n\n"))
    assert {each.hash for each in after[-4:]} == {each.hash for each in before[-4:]}


WORDS = st.lists(
    st.sampled_from(["tea", "茶", "ERR_1042", "#tag", "## Part", "\n\n", "\n", "<!-- mdmem: id=gone -->\n"]),
    max_size=30,
)


@given(WORDS)
def test_nothing_of_a_document_is_lost_or_made_up(pieces: list[str]) -> None:
    text = " ".join(pieces)
    ((*found,),) = cut("memory/note.md", text) or ([],)
    said = "\n".join(passage.saying for passage in found).split()
    plain = text.replace("<!-- mdmem: id=gone -->", "").split()
    assert set(said) <= {*plain, "note"} | {word.strip("# ") for word in plain} | set(" ".join(plain).split())
    if said:  # a heading alone says nothing
        assert {"tea", "茶", "ERR_1042"} & set(plain) == {"tea", "茶", "ERR_1042"} & set(said)


@pytest.mark.parametrize("text", ["# Memory\n", "# Memory\n\n## People\n\n### Names\n", "<!-- nothing yet -->\n", "\n"])
def test_headings_and_comments_alone_say_nothing(text: str) -> None:
    ((passage,),) = cut("memory/MEMORY.md", text) if text.strip() else (cut("memory/MEMORY.md", text)[0] or [None],)
    assert passage is None or (passage.saying, passage.hash) == ("", b"")


def test_a_tag_is_no_heading() -> None:
    ((passage,),) = cut("memory/tags.md", "#bread #rye\n")
    assert passage.saying.endswith("#bread #rye")


@pytest.mark.parametrize("top", ["# {}", "{}\n===", "---\ntitle: {}\n---\n", "---\ntags: [{}]\n---\n"])
def test_a_huge_heading_is_not_read_again_with_every_passage(top: str) -> None:
    huge = " ".join(f"huge{number}" for number in range(5000))
    ((first, *rest),) = cut("memory/plan.md", top.replace("{}", huge) + "\n\n" + long(40))
    assert len(rest) > 20
    assert all(sum(len(field.text) for field in passage.fields) < 20_000 for passage in (first, *rest))
    assert sum(len(passage.saying) for passage in rest) < 40 * 10_000
