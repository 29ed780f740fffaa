"""The daily log's grammar, case by case."""

from datetime import date

import pytest

from mdmem.text import entries


def read(source):
    """Give (label, text) of each entry."""
    return [(entry.label, entry.text) for entry in entries.parse(source).entries]


def passages(source):
    return [source[passage.start : passage.end] for passage in entries.parse(source).passages]


EXAMPLE = """# 2026-11-29

- 14:30 User likes science fiction, above all *Interstellar*. #movies
- 14:42 Decided on Whoosh for BM25. <!-- mdmem: source=checkpoint persona=yuki -->

  Because it is pure Python.

  ```sh
  mdmem reindex
  ```
- 15:05 [[project-planning]] moved to Thursday
"""


def test_log_reads_times_texts_metadata_and_places():
    log = entries.parse(EXAMPLE)
    first, second, third = log.entries
    assert first.text == "User likes science fiction, above all *Interstellar*. #movies"
    assert second.text == ("Decided on Whoosh for BM25.\n\nBecause it is pure Python.\n\n```sh\nmdmem reindex\n```")
    assert second.meta == (("source", "checkpoint"), ("persona", "yuki"))
    assert (second.line, second.last_line) == (4, 10)
    assert EXAMPLE[third.start : third.end] == "- 15:05 [[project-planning]] moved to Thursday\n"
    assert log.passages == ()


def test_written_example_is_the_same_bytes():
    written = "# 2026-11-29\n\n" + "".join(
        entries.render(entry.time, entry.text, entry.meta) for entry in entries.parse(EXAMPLE).entries
    )
    assert written == EXAMPLE


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-11-29.md", date(2026, 11, 29)),
        ("2026-11-29-1430-slug.md", date(2026, 11, 29)),
        ("2026-11-29.md.zst", date(2026, 11, 29)),
        ("2026-11-29-a.b.md.zst", date(2026, 11, 29)),
        ("2024-02-29.md", date(2024, 2, 29)),
        ("2026-02-31.md", None),
        ("0000-01-01.md", None),
        ("2026-11-29", None),
        ("2026-11-29.txt", None),
        ("2026-11-29-.md", None),
        ("2026-11-291.md", None),
        ("x2026-11-29.md", None),
        ("2026-11-29.md.bak", None),
        ("２０２６-11-29.md", None),
        ("2026-11.md", None),
    ],
)
def test_date_of_a_file_name(name, day):
    assert entries.log_date(name) == day


@pytest.mark.parametrize(
    ("line", "label", "text"),
    [
        ("- 14:30 text", "14:30", "text"),
        ("- 14:30", "14:30", ""),
        ("- 14:30:05 text", "14:30:05", "text"),
        ("- 00:00 text", "00:00", "text"),
        ("- 23:59:59 text", "23:59:59", "text"),
        ("- 14:30  two blanks", "14:30", " two blanks"),
        ("* 14:30 text", "14:30", "text"),
        ("- **14:30** text", "14:30", "text"),
        ("* **14:30:05** text", "14:30:05", "text"),
        ("- [ ] 14:30 text", "14:30", "text"),
        ("- [x] 14:30 text", "14:30", "text"),
        ("- [X] **14:30** text", "14:30", "text"),
        ("- 14:30-15:00 text", "14:30", "text"),
        ("- 14:30–15:00 text", "14:30", "text"),
        ("- 14:30~15:00 text", "14:30", "text"),
        ("- 14：30～15：00 text", "14:30", "text"),
        ("- **14:30-15:00** text", "14:30", "text"),
        ("- 14：30 text", "14:30", "text"),
        ("- 14：30：05 text", "14:30:05", "text"),
        ("14:30 text", "14:30", "text"),
        ("14:30:05-15:00 text", "14:30:05", "text"),
        ("14：30 text", "14:30", "text"),
        ("**14:30** text", "14:30", "text"),
        ("## 14:30 text", "14:30", "text"),
        ("## 14:30", "14:30", ""),
        ("###### 14：30：05–15:00 text", "14:30:05", "text"),
        ("# **14:30** text", "14:30", "text"),
        ("- 14:30 - 15:00 text", "14:30", "- 15:00 text"),
    ],
)
def test_heads(line, label, text):
    assert read(line + "\n") == [(label, text)]
    assert read("\ufeff" + line) == [(label, text)]
    assert read("above\n\n" + line + "\r\n") == [(label, text)]


@pytest.mark.parametrize(
    "line",
    [
        "- 24:00 text",
        "- 9:99 text",
        "- 14:60 text",
        "- 9:05 text",
        "- 14:30:60 text",
        "- 14:30:5 text",
        "- 14:30text",
        "- 14:30, text",
        "- 14:30\ttext",
        "-  14:30 text",
        " - 14:30 text",
        "+ 14:30 text",
        "-14:30 text",
        "- **14:30 text",
        "- 14:30** text",
        "- 14:30-25:00 text",
        "- [y] 14:30 text",
        "> 14:30 text",
        "14:30",
        "14:30 ",
        "##14:30 text",
        "####### 14:30 text",
        "1４:30 text",
    ],
)
def test_no_heads(line):
    assert read(line + "\n") == []


def test_twins_are_counted_in_file_order_whoever_wrote_them():
    source = "- 14:30 a\n* 14:30 b\n- 14:30:00 c\n## 14：30 d\n"
    assert read(source) == [("14:30", "a"), ("14:30.2", "b"), ("14:30:00", "c"), ("14:30.3", "d")]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("a\n  b\n", "a\nb"),
        ("a\nb\n", "a\nb"),
        ("a\n b\n", "a\nb"),
        ("a\n    b\n", "a\n  b"),
        ("a\n\tb\n", "a\nb"),
        ("a\n\t\tb\n", "a\n\tb"),
        ("a\n  \tb\n", "a\n\tb"),
        ("a\n\n\n  b\n\n \n\t\n", "a\n\n\nb"),
        ("a\n  \n     \n  b\n", "a\n\n   \nb"),
        ("a\r\n\r\n  b\r\n", "a\n\nb"),
        ("\n\n  ```\n  b\n", "```\nb"),
        ("  \n  b\n", "b"),
        ("a\n- b\n  - c\n", "a\n- b\n- c"),
        ("a\n  - 15:00 b\n", "a\n- 15:00 b"),
        ("a\n  # b\n", "a\n# b"),
        ("a\n#b\n", "a\n#b"),
        ("a", "a"),
        ("a\f\u2028\u0085\x1c b\n", "a\f\u2028\u0085\x1c b"),
    ],
)
def test_lines_of_an_entry(lines, text):
    assert read("- 14:30 " + lines) == [("14:30", text)]


def test_trailing_blank_lines_belong_to_nobody():
    source = "- 14:30 a\n\n \n- 14:31 b\n\n"
    first, second = entries.parse(source).entries
    assert (source[first.start : first.end], source[second.start : second.end]) == ("- 14:30 a\n", "- 14:31 b\n")
    assert (first.last_line, second.last_line) == (1, 4)


@pytest.mark.parametrize(("source", "closed"), [("- 14:30 a\n", True), ("- 14:30 a", False), ("- 14:30 a\n\n", True)])
def test_closed(source, closed):
    assert entries.parse(source).entries[0].closed is closed


def test_a_heading_of_any_level_ends_an_item():
    source = "- 14:30 a\n### Evening\nb\n\n# Night\n"
    assert read(source) == [("14:30", "a")]
    assert passages(source) == ["b\n"]


def test_a_heading_head_holds_deeper_headings_only():
    source = "## 14:30 a\n### Deeper\nb\n## Level\nc\n### 15:00 d\n# Above\ne\n"
    assert read(source) == [("14:30", "a\n### Deeper\nb"), ("15:00", "d")]
    assert passages(source) == ["c\n", "e\n"]


def test_a_heading_head_ends_at_a_head_of_any_style():
    assert read("## 14:30 a\n\nb\n### 14:31 c\n- 14:32 d\n14:33 e\n") == [
        ("14:30", "a\n\nb"),
        ("14:31", "c"),
        ("14:32", "d"),
        ("14:33", "e"),
    ]


def test_a_section_keeps_its_nested_lists_unless_all_of_it_is_indented():
    assert read("## 14:30\n- a\n  - b\n") == [("14:30", "- a\n  - b")]
    assert read("14:30 a\n  - b\n\n    - c\n") == [("14:30", "a\n- b\n\n  - c")]


def test_passages_are_what_no_entry_holds():
    source = "\ufeffabove\n\nstill\n\n# Title\n\n## Empty\n\n- 14:30 a\n# Next\n\n  below\n\n"
    log = entries.parse(source)
    assert passages(source) == ["above\n\nstill\n", "  below\n"]
    assert [(passage.line, passage.last_line) for passage in log.passages] == [(1, 3), (12, 12)]


FENCED = "```\n14:31 b\n# c\n## 14:32 d\n```\n14:33 e\n"


@pytest.mark.parametrize("above", ["", "- 14:30 a\n", "## 14:30 a\n", "14:30 a\n"])
def test_bare_lines_and_headings_in_a_fence_are_content(above):
    assert read(above + FENCED)[-1] == ("14:33", "e")
    assert len(read(above + FENCED)) == 1 + bool(above)


@pytest.mark.parametrize("head", ["- 14:31 b", "* 14:31 b", "- **14:31** b", "- [ ] 14:31 b"])
def test_a_listed_head_ends_an_open_fence(head):
    assert read(f"- 14:30 a\n```\nx\n{head}\n# c\n14:32 d\n") == [
        ("14:30", "a\n```\nx"),
        ("14:31", "b"),
        ("14:32", "d"),
    ]


@pytest.mark.parametrize("mark", ["```", "````", "~~~", "``` sh"])
def test_a_fence_inside_an_item_ends_with_the_item(mark):
    assert read(f"- 14:30\n\n  {mark}\n  x\n14:31 b\n") == [("14:30", f"{mark}\nx"), ("14:31", "b")]


@pytest.mark.parametrize(
    ("fence", "closed"),
    [
        ("```\n```", True),
        ("```\n   `````  ", True),
        ("````\n```", False),
        ("```\n~~~", False),
        ("```\n``` sh", False),
        ("```\n    ```", False),
        ("``` a`b", True),
        ("~~~ a`b", False),
        ("    ```", True),
    ],
)
def test_what_closes_a_fence(fence, closed):
    assert read(f"{fence}\n14:30 a\n") == ([("14:30", "a")] if closed else [])


# The comment


@pytest.mark.parametrize(
    ("comment", "pairs"),
    [
        ("<!-- mdmem: -->", ()),
        ("<!-- mdmem:-->", ()),
        ("<!-- mdmem: id=conv-26%3AD1 -->", (("id", "conv-26:D1"),)),
        ("<!-- mdmem: id=conv-26:D1:1 -->", (("id", "conv-26:D1:1"),)),
        (
            "<!-- mdmem: from=daily/2026-11-28#14:30@3fa9c1 -->",
            (("from", "daily/2026-11-28#14:30@3fa9c1"),),
        ),
        ("<!--mdmem:  b=1\ta=2 b=3  -->  ", (("b", "1"), ("a", "2"), ("b", "3"))),
        ("<!-- mdmem: share=100% x=%zz y=a=b z= -->", (("share", "100%"), ("x", "%zz"), ("y", "a=b"), ("z", ""))),
        ("<!-- mdmem: ort=M%C3%BCnchen b=%FF -->", (("ort", "München"), ("b", "\udcff"))),
        ("<!-- mdmem: id=a\u3000b -->", (("id", "a\u3000b"),)),
        ("<!-- mdmem: to do -->", None),
        ("<!-- mdmem: =x -->", None),
        ("<!-- mdmem: a=1 --> b -->", None),
        ("<!-- mdmem: a=1", None),
        ("<!-- other: a=1 -->", None),
        ("mdmem: a=1", None),
    ],
)
def test_decode(comment, pairs):
    assert entries.decode_meta(comment) == pairs


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain:D1/x#y@z=w", "plain:D1/x#y@z=w"),
        ("a b", "a%20b"),
        ("100%", "100%25"),
        ("<b>", "%3Cb%3E"),
        ("a\nb\t\r\x00\x7f", "a%0Ab%09%0D%00%7F"),
        ("--> ---", "-%2D%3E%20-%2D%2D"),
        ("\u2028\u00a0\u0085", "%E2%80%A8%C2%A0%C2%85"),
        ("雪 ü", "雪%20ü"),
        ("\udcff", "%FF"),
        ("", ""),
    ],
)
def test_encode(value, written):
    assert entries.encode_meta([("k", value)]) == f"<!-- mdmem: k={written} -->"
    assert entries.decode_meta(f"<!-- mdmem: k={written} -->") == (("k", value),)


def test_encode_refuses_what_it_could_not_read_back():
    with pytest.raises(ValueError, match="key"):
        entries.encode_meta([("", "x")])
    with pytest.raises(ValueError, match="surrogate"):
        entries.encode_meta([("k", "\ud800")])


def test_a_comment_counts_at_the_end_of_the_first_line_only():
    source = "- 14:30 a <!-- mdmem: a=1 --> b\n  c <!-- mdmem: a=2 -->\n- 14:31 d<!-- mdmem: a=3 -->  \n"
    first, second = entries.parse(source).entries
    assert (first.text, first.meta) == ("a <!-- mdmem: a=1 --> b\nc <!-- mdmem: a=2 -->", ())
    assert (second.text, second.meta) == ("d", (("a", "3"),))


def test_a_text_that_ends_in_a_comment_stays_text():
    text = "see <!-- mdmem: id=x -->\nmore"
    assert entries.render("14:30", text) == "- 14:30 see <!-- mdmem: id=x --> <!-- mdmem: -->\n  more\n"
    assert entries.parse(entries.render("14:30", text)).entries[0].text == text
    assert entries.render("14:30", text, [("id", "y")]).startswith(
        "- 14:30 see <!-- mdmem: id=x --> <!-- mdmem: id=y -->\n"
    )


# Writing


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\r\nb\rc\n", "a\nb\nc"),
        ("\n \n\t\n  a  \n\n b \n \n", "  a  \n\n b "),
        ("\fa\n\u2028", "\fa\n\u2028"),
        ("a\n   \nb", "a\n   \nb"),
    ],
)
def test_normalise(given, kept):
    assert entries.normalise(given) == kept


@pytest.mark.parametrize(
    ("given", "why"),
    [("a\0b", "NUL character at position 2"), ("\ud800", "surrogate"), ("", "empty"), (" \n\t\r\n\u3000", "empty")],
)
def test_normalise_refuses(given, why):
    with pytest.raises(ValueError, match=why):
        entries.normalise(given)


@pytest.mark.parametrize("time", ["24:00", "9:05", "14：30", "14:30 ", "14:30\n", "", "14:30-15:00"])
def test_render_refuses_what_is_no_time(time):
    with pytest.raises(ValueError, match="not a time"):
        entries.render(time, "a")


BLOCKS = [
    "```sh\na\n```",
    "~~~\na",
    "   ```\na",
    "# a",
    "#",
    "> a",
    ">a",
    "- a",
    "* a",
    "+ a",
    "-",
    "1. a",
    "123456789) a",
    "| a | b |\n|--|--|",
    "a | b\n:-: | -",
    "---",
    "***",
    "_ _ _",
    "    a",
    "\ta",
    "  \ta",
    "a\n===",
    "a\n-",
    "a\nb\n  ---  ",
    "<div>\na",
    "<!-- a",
    "<?php",
    "<b>\na",
    "[a]: https://example.org",
    "[^1]: a",
]
INLINE = [
    "a",
    " a",
    "   a",
    "#tag a",
    "**a** b",
    "*a* b",
    "-a",
    "1.5 a",
    "1234567890. a",
    "```a``` b",
    "``a``",
    "<https://example.org> a",
    "<3 a",
    "[a](b) c",
    "[[a]] b",
    "[ ] a",
    "| a",
    "a | b\nc | d",
    "--",
    "**",
    "a\n\n---",
    "a\n    ---",
    "a\n- b",
    "a\n```\nb",
    "a--",
    "\fa",
]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_block_stands_below_its_head(text):
    written = entries.render("14:30", text, [("id", "x")])
    assert written.startswith("- 14:30 <!-- mdmem: id=x -->\n\n  " + text[0])
    assert read(written) == [("14:30", text)]


@pytest.mark.parametrize("text", INLINE)
def test_other_texts_begin_beside_their_head(text):
    written = entries.render("14:30", text)
    assert written.startswith("- 14:30 " + text[0])
    assert read(written) == [("14:30", text)]


@pytest.mark.parametrize(
    ("source", "added"),
    [
        ("", "- 14:30 a\n  b\n"),
        ("x\n", "- 14:30 a\n  b\n"),
        ("x", "\n- 14:30 a\n  b\n"),
        ("x\r\ny", "\r\n- 14:30 a\r\n  b\r\n"),
        ("x\r\ny\r", "\n- 14:30 a\r\n  b\r\n"),
        ("x\r\ny\n", "- 14:30 a\n  b\n"),
    ],
)
def test_addition(source, added):
    assert entries.addition(source, entries.render("14:30", "a\nb")) == added


@pytest.mark.parametrize(
    ("text", "tags", "tagged"),
    [
        ("a", ["movies"], "a #movies"),
        ("a\n\nb", ["x", "#y/z", "x", "X"], "a #x #y/z\n\nb"),
        ("a  \nb", ["x"], "a #x  \nb"),
        ("a #Movies, b", ["movies"], "a #Movies, b"),
        ("a #movies/scifi", ["movies"], "a #movies/scifi #movies"),
        ("a #movies2", ["movies"], "a #movies2 #movies"),
        ("a\n#x", ["x"], "a\n#x"),
        ("a#x `#y `", ["x", "y"], "a#x `#y ` #x #y"),
        ("a\n```\n#x\n```", ["x"], "a #x\n```\n#x\n```"),
        ("- a\n- b", ["x", "y"], "- a\n- b\n\n#x #y"),
        ("```\na\n```", ["x"], "```\na\n```\n\n#x"),
        ("```\na", ["x"], "#x\n\n```\na"),
        ("a", ["हिन्दी", "日本"], "a #हिन्दी #日本"),
        ("a", [], "a"),
    ],
)
def test_with_tags(text, tags, tagged):
    assert entries.with_tags(text, tags) == tagged


@pytest.mark.parametrize("tag", ["", "#", "a b", "2026", "a//b", "/a", "a#b", "a,b", "a\n"])
def test_with_tags_refuses_what_is_no_tag(tag):
    with pytest.raises(ValueError, match="cannot be a tag"):
        entries.with_tags("a", [tag])


# Changing


def change(source, which=0, **new):
    return entries.replace(source, entries.parse(source).entries[which], **new)


@pytest.mark.parametrize(
    ("source", "text", "changed"),
    [
        ("- 14:30 a\n", "b", "- 14:30 b\n"),
        ("- 14:30 a", "b", "- 14:30 b"),
        ("- 14:30 a\n\n\n- 14:31 c\n", "b\n\nd", "- 14:30 b\n\n  d\n\n\n- 14:31 c\n"),
        ("- 14:30 a\n", "# b", "- 14:30\n\n  # b\n"),
        ("* 14:30 a\n", "b\nc", "* 14:30 b\n  c\n"),
        ("- **14:30** a\n", "b", "- **14:30** b\n"),
        ("- [x] 14：30-15:00 a\n\tc\n", "b\nd", "- [x] 14：30-15:00 b\n  d\n"),
        ("14:30 a\n", "b\nc", "14:30 b\nc\n"),
        ("14:30 a\n", "b\n15:00 c", "14:30 b\n  15:00 c\n"),
        ("14:30 a\n", "- b", "- 14:30\n\n  - b\n"),
        ("## 14:30 a\n\nc\n", "b\n- d\n  - e", "## 14:30 b\n- d\n  - e\n"),
        ("## 14:30\n\nc\n", "b", "## 14:30\n\nb\n"),
        ("## 14:30 a\n", "b\n## c", "## 14:30 b\n  ## c\n"),
        ("## 14:30 a\n", "- b\n  - c", "## 14:30\n\n- b\n  - c\n"),
        ("## 14:30 a\n# c\n", "b\n```", "- 14:30 b\n  ```\n# c\n"),
        ("- 14:30 a <!-- mdmem: id=x:1 z=%41 -->\n", "b", "- 14:30 b <!-- mdmem: id=x:1 z=%41 -->\n"),
        ("- 14:30 <!-- mdmem: id=x -->\n\n  # a\n", "b", "- 14:30 b <!-- mdmem: id=x -->\n"),
        ("- 14:30 a\r\n  c\r\n- 14:31 d\r\n", "b\ne", "- 14:30 b\r\n  e\r\n- 14:31 d\r\n"),
        ("- 14:30 a\r\n  c", "b\ne", "- 14:30 b\r\n  e"),
    ],
)
def test_replace_text(source, text, changed):
    assert change(source, text=text) == changed


@pytest.mark.parametrize(
    ("source", "meta", "changed"),
    [
        ("- 14:30 a\nb\n", [("id", "x y")], "- 14:30 a <!-- mdmem: id=x%20y -->\nb\n"),
        ("- 14:30\n\n  # a\n", [("id", "x")], "- 14:30 <!-- mdmem: id=x -->\n\n  # a\n"),
        ("- 14:30 a <!-- mdmem: id=x -->\r\n\tb", [("id", "y")], "- 14:30 a <!-- mdmem: id=y -->\r\n\tb"),
        ("- 14:30 a <!-- mdmem: id=x -->\n", [], "- 14:30 a\n"),
        ("- 14:30 <!-- mdmem: id=x -->\n  a\n", [], "- 14:30\n  a\n"),
        (
            "- 14:30 a <!-- mdmem: a=b --> <!-- mdmem: id=x -->\n",
            [],
            "- 14:30 a <!-- mdmem: a=b --> <!-- mdmem: -->\n",
        ),
        ("## 14:30 a\n\n  b\nc\n", [("id", "x")], "## 14:30 a <!-- mdmem: id=x -->\n\n  b\nc\n"),
        ("14:30 <!-- mdmem: id=x -->\na\n", [], "- 14:30 a\n"),
    ],
)
def test_replace_metadata(source, meta, changed):
    assert change(source, meta=meta) == changed


def test_replace_both():
    assert change("* 14:30 a\n", text="b\nc", meta=[("k", "v")]) == "* 14:30 b <!-- mdmem: k=v -->\n  c\n"


def test_replace_by_the_same_keeps_every_byte():
    source = "- 14:30   a <!--mdmem:  id=x:y-->  \nlazy\n\ttab"
    entry = entries.parse(source).entries[0]
    assert entries.replace(source, entry, text=entry.text, meta=entry.meta) == source


def test_replace_leaves_other_entries_and_passages():
    source = "\ufeffabove\n\n- 14:29 a\n\n* 14:30 b\n\n## c\n\nbelow\n- 14:31 d"
    changed = change(source, 1, text="e")
    assert changed == source.replace("* 14:30 b", "* 14:30 e")


def test_replace_refuses_an_entry_of_another_text():
    entry = entries.parse("above\n- 14:30 a\n").entries[0]
    with pytest.raises(ValueError, match="14:30"):
        entries.replace("- 14:30 a\n", entry, text="b")


@pytest.mark.parametrize(
    ("which", "left"),
    [
        (0, "# t\n\n\n* 14:31 b\n\n14:32 c"),
        (1, "# t\n\n- 14:30 a\n\n\n14:32 c"),
        (2, "# t\n\n- 14:30 a\n\n* 14:31 b\n\n"),
    ],
)
def test_remove(which, left):
    source = "# t\n\n- 14:30 a\n\n* 14:31 b\n\n14:32 c"
    assert entries.remove(source, entries.parse(source).entries[which]) == left


@pytest.mark.parametrize(
    ("source", "ending"),
    [("", "\n"), ("a", "\n"), ("a\nb\r\n", "\n"), ("a\r\nb\nc\r\n", "\r\n"), ("a\r\nb", "\r\n"), ("a\rb\r", "\n")],
)
def test_line_ending(source, ending):
    assert entries.line_ending(source) == ending


# Long enough that anything slower than linear would not come back.
LONG = 300_000
HOSTILE = [
    "- " * (LONG // 2),
    "- 14:30 " * (LONG // 8),
    "- 14:30 " + "`" * LONG,
    "- 14:30 a\n" + "`" * LONG,
    "- 14:30 a\n" + "```\n~~~\n" * (LONG // 8),
    "- 14:30 a\n" + "```x\n" * (LONG // 5),
    "- 14:30 " + "<!-- mdmem: " * (LONG // 12),
    "- 14:30 <!-- mdmem: " + "a=1 " * (LONG // 4) + "-->",
    "- 14:30 <!-- mdmem: " + "--> " * (LONG // 4) + "x",
    "- 14:30 <!-- mdmem: a=" + "%" * LONG + " -->",
    "- 14:30 a" + " " * LONG + "b",
    "- 14:30 a\n" + " \n" * (LONG // 2),
    "- 14:30 a\n" + " \n\t\n" * (LONG // 4) + "b",
    "- 14:30\n" * (LONG // 8),
    "#" * LONG,
    "# \n" * (LONG // 3),
    "**" * (LONG // 2),
    "\r" * LONG + "a",
    "- 14:30 [" + "[" * LONG,
    "- 14:30 <a " + " " * LONG,
    "- 14:30 " + "-" * LONG,
    "- 14:30 a\n  " + "|-" * (LONG // 2) + "x",
]


@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_input_is_read_and_written_back(source):
    text = entries.normalise(source)
    assert [entry.text for entry in entries.parse(entries.render("14:30", text)).entries] == [text]
    assert entries.with_tags(text, ["x"]).replace("#x", "").split() == text.split()
    for entry in entries.parse(source).entries[:1]:
        assert entries.parse(entries.replace(source, entry, text="new")).entries[0].text == "new"


def test_a_line_of_a_megabyte():
    text = "a\n" + "雪 " * 1_000_000 + "b"
    assert read(entries.render("14:30", text)) == [("14:30", text)]


def test_a_hundred_thousand_entries():
    source = "- 14:30 a\n" * 100_000
    assert entries.parse(source).entries[-1].label == "14:30.100000"
