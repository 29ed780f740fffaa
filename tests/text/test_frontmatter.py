import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.errors import Refused
from mdmem.text.fields import set_field
from mdmem.text.frontmatter import Problem, front_matter, list_field, tag_list, text_field

BOMB = (
    "---\n"
    + 'a: &a ["lol"]\n'
    + "".join(f"{y}: &{y} [*{x},*{x},*{x}]\n" for x, y in zip("abcdefgh", "bcdefghi", strict=True))
    + "---\n"
)


def test_every_scalar_is_as_typed():
    source = (
        "---\nid: 0012\nv: 1.10\nn: no\nt: 12:30:45\nd: 2025-03-01\nu: 1_000\nempty:\n~: x\nnull: y\n"
        "content: a\nhandler: b\nmetadata: c\nlist: [1, yes]\nmap:\n  x: 012\ntext: |\n  two\n  lines\n---\nbody"
    )
    found = front_matter(source)
    assert found.fields == {
        **{"id": "0012", "v": "1.10", "n": "no", "t": "12:30:45", "d": "2025-03-01", "u": "1_000"},
        **{"empty": "", "~": "x", "null": "y", "content": "a", "handler": "b", "metadata": "c"},
        **{"list": ["1", "yes"], "map": {"x": "012"}, "text": "two\nlines\n"},
    }
    assert found.problems == ()
    assert source[found.body_start :] == "body"
    assert source[found.start : found.end] == source[4 : -len("---\nbody")]


@pytest.mark.parametrize("closing", ["---", "...", "--- \t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_spans(closing, newline, mark):
    source = f"{mark}---{newline}title: x{newline}{closing}{newline}body"
    found = front_matter(source)
    assert found.fields == {"title": "x"}
    assert source[found.start : found.end] == f"title: x{newline}"
    assert source[found.body_start :] == "body"


def test_a_block_may_end_with_the_file():
    assert front_matter("---\na: b\n---").fields == {"a": "b"}
    assert front_matter("---\r\na: b\r\n---\r").body_start == len("---\r\na: b\r\n---\r")


NONE = [
    "",
    "# only text\n",
    "text\n---\na: b\n---\n",
    " ---\na: b\n---\n",
    "----\na: b\n----\n",
    "---\njust a paragraph\n---\n",
    "---\n- a list\n---\n",
    "---\n# only a heading\n---\n",
]


@pytest.mark.parametrize("source", NONE)
def test_no_front_matter_loses_nothing(source):
    found = front_matter(source)
    assert (found.fields, found.body_start, found.problems) == ({}, 0, ())


PLAIN = [
    ("---\n\n# a rule, never closed\n", 1, "no line closes it"),
    ("---\ntitle: part one: start\n---\n", 2, "mapping values are not allowed"),
    ('---\nok: 1\nbad: "\\q"\n---\n', 3, "unknown escape"),
    ("---\ntitle: *starred words\n---\n", 2, ""),
    ("---\na: 1\n\tb: 2\n---\n", 3, ""),
    ("---\na: [1, 2\nb: 3\n---\n", 2, "expected ',' or ']'"),
    ('---\na: 1\nb: "open\nc: 2\n---\n', 3, "end of stream"),
    ("---\na: &x 1\nb: 2\n---\n", 2, "anchor &x"),
    ("---\na: 1\nb: *x\n---\n", 3, "alias *x"),
    ("---\na: 1\nb: !!python/name:os.system x\n---\n", 3, "tag"),
    ("---\na: 1\n<<: {b: 2}\n---\n", 3, "merge key"),
    ("---\n? [a]\n: 1\n---\n", 2, "as a key"),
    ("---\na: 1\n--- b\n---\n", 3, "second YAML document"),
    ("---\na: 1\nb: \x07\n---\n", 3, "U+0007"),
    ("---\na: b\u2028\nb: [\n---\n", 4, ""),
    ("---\na: 𝒳\nb: 𝒳: c\n---\n", 3, ""),
    ("---\na: " + "[" * 30 + "]" * 30 + "\n---\n", 2, "more than 20 deep"),
    ("---\na: " + "[" * 30_000 + "\n---\n", 2, ""),
    ("---\na: [" + "x, " * 1100 + "]\n---\n", 2, "more than 1000 values"),
    ("---\n" + "".join(f"k{i}: v\n" for i in range(200_000)) + "---\n", 1, "larger than 64 KiB"),
    (BOMB, 2, "anchor &a"),
]


@pytest.mark.parametrize(("source", "line", "message"), PLAIN)
def test_what_cannot_be_read_is_plain_text_with_a_problem(source, line, message):
    found = front_matter(source)
    assert (found.fields, found.body_start) == ({}, 0)
    assert [problem.line for problem in found.problems] == [line]
    assert message in found.problems[0].message


def test_the_last_of_two_equal_keys_counts():
    found = front_matter("---\na: 1\nb: {c: 1, c: 2}\na: 3\n---\n")
    assert found.fields == {"a": "3", "b": {"c": "2"}}
    assert [problem.line for problem in found.problems] == [3, 4]
    assert found.problems[1] == Problem(4, "front matter has the key 'a' twice; the last one counts")


def test_undecodable_bytes_in_a_field():
    assert front_matter("---\ntitle: caf\udce9\n---\n").fields == {"title": "caf\ufffd"}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=": -#&*!|>'\"[]{},\n\tab~?%@`<\\\r\ufeff\u2028\x85\0\udcff", max_size=60))
def test_nothing_raises(block):
    source = f"---\n{block}\n---\nbody"
    found = front_matter(source)
    assert all(1 <= problem.line <= source.count("\n") + 1 for problem in found.problems)
    assert source[found.body_start :].endswith("body")


TAGS = [
    ("tags: movies", ("movies",)),
    ("tags: a, b,c", ("a", "b", "c")),
    ("tags: '#a #b a'", ("a", "b")),
    ("tags: [a, '#b', science fiction, '']", ("a", "b", "science fiction")),
    ("tags:\n- a\n- 电影", ("a", "电影")),
    ("tags: 咖啡，茶、水", ("咖啡", "茶", "水")),
    ("tags: '[a, \"b\"]'", ("a", "b")),
    ("tags:", ()),
    ("tags: {a: b}", ()),
    ("other: a", ()),
]


@pytest.mark.parametrize(("block", "expected"), TAGS)
def test_tag_list(block, expected):
    assert tag_list(front_matter(f"---\n{block}\n---\n").fields) == expected


def test_fields_as_text_and_as_list():
    fields = front_matter("---\ntitle: ' x '\nempty:\nlist: [a, ' ', b, [c]]\n---\n").fields
    assert (text_field(fields, "title"), text_field(fields, "empty"), text_field(fields, "list")) == ("x", None, None)
    assert list_field(fields, "title") == ("x",)
    assert list_field(fields, "list") == ("a", "b")
    assert list_field(fields, "absent") == ()


# --- one key changed

RICH = """---
# about this note
title:   "Old: title"   # mine

tags: # many
  - a
  # between
  - b # last
created: 2025-03-01
base: &base {x: 1}
other: *base
text: |
  two

  lines

# the end
---
# Body
"""
RICH_EDITS = [
    ("title", "New", '   "Old: title"', "   New"),
    ("created", "no", " 2025-03-01", " no"),
    ("created", None, "created: 2025-03-01\n", ""),
    ("tags", "x, y", " # many\n  - a\n  # between\n  - b # last", " x, y # many"),
    ("tags", None, "tags: # many\n  - a\n  # between\n  - b # last\n", ""),
    ("other", "1", "*base", "1"),
    ("text", "one", "|\n  two\n\n  lines", "one"),
    ("text", None, "text: |\n  two\n\n  lines\n", ""),
    ("status", "a: b", "# the end\n", '# the end\nstatus: "a: b"\n'),
    ("absent", None, "", ""),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(("key", "value", "before", "after"), RICH_EDITS)
def test_only_the_key_changes(key, value, before, after, mark, newline):
    source = mark + RICH.replace("\n", newline)
    expected = mark + RICH.replace(before, after, 1).replace("\n", newline)
    assert set_field(source, key, value) == expected


EDITS = [
    ("", "title", "x", "---\ntitle: x\n---\n"),
    ("body", "title", "x", "---\ntitle: x\n---\nbody"),
    ("\ufeffbody\r\n", "title", "x", "\ufeff---\r\ntitle: x\r\n---\r\nbody\r\n"),
    ("body", "title", None, "body"),
    ("---\n---\n", "a", "", '---\na: ""\n---\n'),
    ("---\n# note\n---\n", "a", "b", "---\n# note\na: b\n---\n"),
    ("---\nprose\n---\n", "a", "b", "---\na: b\n---\n---\nprose\n---\n"),
    ("---\nprose\n---\n", "a", None, "---\nprose\n---\n"),
    ("---\na:\nb: c\n---", "a", "x", "---\na: x\nb: c\n---"),
    ("---\na:  # why\n---", "a", "x", "---\na: x  # why\n---"),
    ("---\na: 1\nb: 2\na: 3\n---\n", "a", "x", "---\na: 1\nb: 2\na: x\n---\n"),
    ("---\na: 1\nb: 2\na: 3\n---\n", "a", None, "---\nb: 2\n---\n"),
    ("---\n  a: 1\n---\n", "b", "2", "---\n  a: 1\n  b: 2\n---\n"),
    ("---\na: 1\n---\n", "two words", "2", '---\na: 1\n"two words": 2\n---\n'),
    ("---\n'a b' : 1\n---\n", "a b", "2", "---\n'a b' : 2\n---\n"),
    ("---\na:\n- 1\n- 2\nb: 3\n---\n", "a", "x", "---\na: x\nb: 3\n---\n"),
    ("---\na: x\n  y # z\nb: 3\n---\n", "a", "v", "---\na: v # z\nb: 3\n---\n"),
    ("---\na: caf\udce9\nb: 1\n---\n\udcff", "b", "2", "---\na: caf\udce9\nb: 2\n---\n\udcff"),
]


@pytest.mark.parametrize(("source", "key", "value", "expected"), EDITS)
def test_set_field(source, key, value, expected):
    assert set_field(source, key, value) == expected


QUOTED = [
    ("plain", "plain"),
    ("no", "no"),
    ("0012", "0012"),
    ("12:30", "12:30"),
    ("-5", "-5"),
    ("C#", "C#"),
    ("a 'b' \"c\" \\d", "a 'b' \"c\" \\d"),
    ("咖啡：热", "咖啡：热"),
    ("", '""'),
    ("a: b", '"a: b"'),
    ("a #b", '"a #b"'),
    ("#b", '"#b"'),
    ("[a]", '"[a]"'),
    ("- a", '"- a"'),
    ('"a', '"\\"a"'),
    (" a", '" a"'),
    ("a\nb", '"a\\nb"'),
    ("a\u2028b", '"a\\u2028b"'),
    ("\0", '"\\x00"'),
]


@pytest.mark.parametrize(("value", "written"), QUOTED)
def test_quotes_only_when_needed(value, written):
    assert set_field("---\na: 1\n---\n", "a", value) == f"---\na: {written}\n---\n"


REFUSED = [
    "---\ntitle: part one: start\n---\n",
    "---\na: 1\n\nnever closed\n",
    "---\n{a: 1, b: 2}\n---\n",
    "---\na: &x 1\nb: *x\n---\n",
    "---\n? a\n: 1\n---\n",
    "---\n[a]: 1\n---\n",
]


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_broken_is_not_touched(source):
    with pytest.raises(Refused):
        set_field(source, "a", "x")


def test_a_refusal_names_the_line():
    with pytest.raises(Refused) as refusal:
        set_field("---\na: 1\ntitle: part one: start\n---\n", "a", "2")
    assert "line 3" in refusal.value.message
    assert "line 3" in refusal.value.hint


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(Refused):
        set_field("", "a", "caf\udce9")


def test_a_block_never_outgrows_what_can_be_read():
    with pytest.raises(Refused):
        set_field("---\na: 1\n---\n", "b", "x" * 70_000)


VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    alphabet=": -#&*!|>'\"[]{},\n\t\\ab?%@`\x85\u2028\ufeff\r", max_size=12
)
LINES = st.sampled_from(
    [
        *("a: 1", "b: 'x'  # c", "# comment", "", "tags: [p, q]", "list:\n  - x\n  - y # z", "t: |\n  m\n\n  n"),
        *("d:", "e: two\n  lines", 'f: "q: r"', "m:\n  k: v", "i:\n- j", "k: >-\n  folded", "'w x': 1"),
    ]
)
KEYS = st.sampled_from(["a", "b", "tags", "list", "t", "d", "e", "f", "m", "i", "k", "w x", "new"])


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES, unique=True, max_size=6), KEYS, VALUES | st.none(), st.sampled_from(["\n", "\r\n"]))
def test_an_edit_reads_back_and_touches_nothing_else(block, key, value, newline):
    source = newline.join(["---", *block, "---", "body"]).replace("\n", newline).replace("\r\r", "\r")
    before = front_matter(source)
    edited = set_field(source, key, value)
    after = front_matter(edited)
    assert after.fields.get(key) == value
    assert {k: v for k, v in after.fields.items() if k != key} == {k: v for k, v in before.fields.items() if k != key}
    assert set_field(edited, key, value) == edited
    others = [line for line in source.split("\n") if line.startswith("#") or line.endswith("# c")]
    assert all(line in edited.split("\n") for line in others if key != "b")
    assert edited.endswith("body")
