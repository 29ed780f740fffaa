import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mdmem.text import markdown
from mdmem.text.lines import lines

# --- bytes and text


def test_decode_keeps_every_byte():
    data = b"\xef\xbb\xbfone\r\ntwo \xe9\xff\r\nthree\xe2\x80\xa8\rfour\0"
    decoded = markdown.decode(data)
    assert decoded.text.encode("utf-8", "surrogateescape") == data
    assert decoded.editable
    assert decoded.line == 2
    assert decoded.problem == "byte 0xE9 on line 2 is not UTF-8"


@settings(deadline=None)
@given(st.binary(max_size=200).filter(lambda data: data[:2] not in (b"\xff\xfe", b"\xfe\xff")))
def test_decode_is_lossless(data):
    decoded = markdown.decode(data)
    assert decoded.editable == (not data.startswith(b"\0\0\xfe\xff"))
    assert not decoded.editable or decoded.text.encode("utf-8", "surrogateescape") == data


@pytest.mark.parametrize("codec", ["utf-16", "utf-32"])
def test_decode_reads_wide_encodings_but_never_lets_them_be_written(codec):
    decoded = markdown.decode("# Größe\nzwei".encode(codec))
    assert decoded.text == "# Größe\nzwei"
    assert not decoded.editable
    assert codec.upper() in decoded.problem


def test_decode_names_nul():
    decoded = markdown.decode(b"one\ntwo\0\n")
    assert decoded == markdown.Decoded("one\ntwo\0\n", "there is a NUL byte on line 2", True, 2)


def test_decode_finds_nothing_wrong():
    assert markdown.decode("\ufeffé 😀\u2028".encode()) == markdown.Decoded("\ufeffé 😀\u2028")


def test_readable_holds_offsets():
    assert markdown.readable("\ufeffa\0b\udcffc") == "a b\ufffdc"
    assert markdown.readable("a\ufeffb") == "a\ufeffb"


# --- headings

HEADINGS = [
    ("# One\ntext\n## Two ##\n", [(1, "One", 1), (2, "Two", 3)]),
    ("\ufeff# One\r\n\r\nTwo\r\n---\r\n", [(1, "One", 1), (2, "Two", 3)]),
    ("#no\n#1\n####### seven\n#\n# \n", [(1, "", 4), (1, "", 5)]),
    ("# C# and C ##\n## x#\n", [(1, "C# and C", 1), (2, "x#", 2)]),
    ("two\nlines\n===\n", [(1, "two lines", 1)]),
    ("text\n\n---\n\nmore\n", []),
    ("```sh\n# not\n```\n# yes\n", [(1, "yes", 4)]),
    ("~~~\n```\n# not\n~~~~\n# yes\n", [(1, "yes", 5)]),
    ("````\n```\n# not\n````\n# yes\n", [(1, "yes", 5)]),
    ("```\n# open to the end\n", []),
    ("text\n\n    # not\n\n\t# not\n   # yes\n", [(1, "yes", 6)]),
    ("<!--\n# not\n-->\n# yes\n", [(1, "yes", 4)]),
    ("<!-- never closed\n# yes\n", [(1, "yes", 2)]),
    ("- item\n\n  ```\n  # not\n  ```\n- ```\n  # not\n  ```\n# yes\n", [(1, "yes", 9)]),
    ("- # not\n- a\n\n  # not\n# yes\n", [(1, "yes", 5)]),
    ("> # not\n> ```\n> # not\n# yes\n", [(1, "yes", 4)]),
    ("- item\n---\n", []),
    ("# Title <!-- mdmem: id=x -->\n", [(1, "Title", 1)]),
    ("## 咖啡习惯\n", [(2, "咖啡习惯", 1)]),
]


@pytest.mark.parametrize(("source", "expected"), HEADINGS)
def test_headings(source, expected):
    assert [(found.level, found.text, found.line) for found in markdown.headings(source)] == expected


def test_headings_begin_where_told_and_span_their_lines():
    source = "---\n# comment\n---\nfirst\n# One\nTwo\nlines\n===\n"
    one, two = markdown.headings(source, source.index("first"))
    assert (one.line, source[one.start : one.end]) == (5, "# One\n")
    assert (two.line, source[two.start : two.end]) == (6, "Two\nlines\n===\n")


BLOCKS = [
    *("# h", "## h2 ##", "text", "", "  text", "    code", "\tcode", "- item", "* a", "1. one", "14. x", "-"),
    *("  - nested", "    deep", "```", "~~~", "````", "  ```", "   # h", "---", "===", "***", "> q", "> # q"),
    *("> ```", "<!-- c -->", "- ```", "      x", "  more", "#tag", "- # x", "<!--\n-->", "<!-- a\n# h\nb -->"),
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(BLOCKS), max_size=10).map("\n".join))
def test_headings_are_those_of_commonmark(source):
    tokens = MarkdownIt("commonmark").parse(source)
    expected = [(int(t.tag[1]), t.map[0] + 1) for t in tokens if t.type == "heading_open" and not t.level]
    assert [(found.level, found.line) for found in markdown.headings(source)] == expected


@settings(deadline=None)
@given(st.text(alphabet="#-=`~ \t\n>*1.<!ax\r\ufeff\0", max_size=80), st.integers(0, 10))
def test_lines_join_up(source, start):
    start = min(start, len(source))
    found = lines(source, start)
    assert "".join(source[line.start : line.end] for line in found) == source[start:]
    assert all(source.find("\n", line.start, line.end) in (-1, line.end - 1) for line in found)


TITLES = [
    ("## a\n# b\n", {}, "b"),
    ("## a\n## b\n", {}, "a"),
    ("#\n## b\n", {}, "b"),
    ("no heading", {}, "file"),
    ("# b", {"title": " 2025-03-01 "}, "2025-03-01"),
    ("# b", {"title": ""}, "b"),
    ("# b", {"title": ["x"]}, "b"),
    ("# b \udcff", {}, "b \ufffd"),
]


@pytest.mark.parametrize(("source", "fields", "expected"), TITLES)
def test_title(source, fields, expected):
    assert markdown.title(source, fields, "file") == expected


# --- tags and links

TAGS = [
    ("I like it. #movies", ["movies"]),
    ("#a\n- #b\n> #c\n  #d #a", ["a", "b", "c", "d"]),
    ("#movies/sci-fi, #2024-plan. #snake_case!", ["movies/sci-fi", "2024-plan", "snake_case"]),
    ("#电影，#not #日本語 #हिन्दी #cafe\u0301 #Ελλάδα", ["电影", "日本語", "हिन्दी", "cafe\u0301", "Ελλάδα"]),
    ("#123 #1/2 #_ #- # x ## y a#b (#c) \\#d", []),
    ("# Heading #tag\n\nUnder #one\n===\n", ["tag", "one"]),
    ("`#a` ``x ` #b`` `c\n#d` ` #open", ["open"]),
    ("`a\n\n#b`", ["b"]),
    ("\\`#x #a\\`", ["a"]),
    ("```\n#a\n```\n\n    #b\n\n- ```\n  #c\n  ```\n\n#d", ["d"]),
    ("https://x.org/ #a https://x.org/#b [t](#c) [[note #d]] [[#e|f #g]]", ["a"]),
    ("<!-- #a --> #b <!--\n#c --> #d", ["b", "d"]),
    ("#a/ #b-", ["a", "b"]),
    ("\u3000#全角\xa0#x", ["全角", "x"]),
]


@pytest.mark.parametrize(("text", "expected"), TAGS)
def test_tags(text, expected):
    assert list(markdown.tags(text)) == expected


LINKS = [
    ("[[a]] and [[b|text]] and [[a]]", ["a", "b"]),
    ("[[daily/2026-11-29#14:30]] ![[pic.png]]", ["daily/2026-11-29#14:30", "pic.png"]),
    ("`[[a]]` [[ b ]] [[]] [[ ]] [[c\nd]] [[[[e]]", ["b", "e"]),
    ("| [[a\\|text]] |", ["a"]),
    ("```\n[[a]]\n```\n", []),
]


@pytest.mark.parametrize(("text", "expected"), LINKS)
def test_links(text, expected):
    assert list(markdown.links(text)) == expected


# --- comments and conflicts

COMMENTS = [
    ("- likes it <!-- mdmem: from=x -->\nb", "- likes it\nb"),
    ("a  <!-- mdmem: -->\r\nb <!-- mdmem: x -->", "a\r\nb"),
    ("a <!-- mdmem: x --> b", "a <!-- mdmem: x --> b"),
    ("a <!-- other -->", "a <!-- other -->"),
    ("a <!-- mdmem: x --> <!-- mdmem: y -->", "a <!-- mdmem: x -->"),
    ("a <!-- mdmem: open", "a <!-- mdmem: open"),
    ("```\na <!-- mdmem: x -->\n```", "```\na <!-- mdmem: x -->\n```"),
]


@pytest.mark.parametrize(("text", "expected"), COMMENTS)
def test_strip_comments(text, expected):
    assert markdown.strip_comments(text) == expected


CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"
CONFLICTS = [
    ("a\nb\n" + CONFLICT, 3),
    ("<<<<<<< HEAD\r\n||||||| base\r\n=======\r\n>>>>>>> x\r\n", 1),
    ("```\n" + CONFLICT + "```\n", None),
    ("<<<<<<< HEAD\n```\n=======\nx\n>>>>>>> y\n```\n", 1),
    ("```\n" + CONFLICT + "```\n" + CONFLICT, 8),
    ("Title\n=======\n\n>>>>>>> quoted\n", None),
    ("<<<<<<< HEAD\nonly the start\n", None),
    ("- 14:30 text\n\n  <<<<<<< x\n  =======\n  >>>>>>> y\n", None),
    ("<<<<<<<< eight\n=======\n>>>>>>> y\n", None),
]


@pytest.mark.parametrize(("source", "expected"), CONFLICTS)
def test_conflict_markers(source, expected):
    assert markdown.conflict_markers(source) == expected


# --- whatever comes

HOSTILE = ["[[", "((", "#", "`", "- - - ", "#a ", "`` ` ", "<!--", "> ", "~~~\n", "\\`", "<!-- mdmem:", "=\n", "- \n"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_anything_is_read(piece):
    """Were any of these quadratic, the suite would hang here: so many steps squared are hours."""
    source = piece * ((200_000 if "\n" in piece else 1_000_000) // len(piece))
    assert sum(len(source[line.start : line.end]) for line in lines(source)) == len(source)
    assert all(heading.text in source for heading in markdown.headings(source)[:3])
    assert len(markdown.tags(source)) <= 1
    assert markdown.links(source) == ()
    assert markdown.strip_comments(source) == source
    assert markdown.conflict_markers(source) is None


@settings(deadline=None)
@given(st.text(alphabet="#[]|`<!->ab \n\\\u0301é中/:=", max_size=120))
def test_nothing_raises(text):
    for tag in markdown.tags(text):
        assert f"#{tag}" in text
        assert any(char.isalpha() for char in tag)
    for link in markdown.links(text):
        assert f"{link}" in text
    assert len(markdown.strip_comments(text)) <= len(text)
