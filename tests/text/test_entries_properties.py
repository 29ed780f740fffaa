"""What holds for every text and every log, however it was typed."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mdmem.text import entries

# No deadline: a busy machine is no failure.
THOROUGH = settings(max_examples=200, deadline=None)

# Stretches of Markdown that could end an item, look like a head or a comment, or be eaten by a reader.
PIECES = [
    *(
        "",
        " ",
        "  ",
        "   ",
        "    ",
        "\t",
        "  \t",
        "\u00a0",
        "\f",
        "\v",
        "\u2028",
        "\u3000",
        "\x85",
        "\x1c",
        "\ufeff",
    ),
    *(
        "```",
        "```sh",
        "~~~",
        "````",
        "` `` `",
        "---",
        "- - -",
        "***",
        "===",
        "-",
        "=",
        "+",
        "*",
        "|--|",
        "a|b",
        "| a |",
    ),
    *(
        "- x",
        "* x",
        "+ x",
        "1. x",
        "1) x",
        "- [ ] x",
        "# x",
        "###### x",
        "#x",
        "> x",
        ">",
        "<div>",
        "</div>",
        "<!--",
    ),
    *(
        "-->",
        "<?",
        "<![CDATA[",
        "<script>",
        "<a",
        "<https://x.y>",
        "[a]: x",
        "[a]:",
        '"title',
        "[^1]: x",
        "[[x]]",
        "\\",
    ),
    *(
        "- 14:30",
        "- 14:30 x",
        "* 14:30 x",
        "- **14:30** x",
        "- [x] 14:30",
        "14:30 x",
        "## 14:30 x",
        "14：30",
        "14:30-15:00",
    ),
    *(
        "<!-- mdmem: -->",
        "<!-- mdmem: id=x -->",
        " <!-- mdmem: a=1 b=%41 -->  ",
        "<!-- mdmem: to do -->",
        "-- >",
        "&amp;",
    ),
    *("#movies", " #a/b", "雪", "שלום", "👩‍👩‍👧", "a\u0301", "$$", ":::", "a", "b c", "    code", "a  ", "a\\"),
]
chunks = st.one_of(
    st.sampled_from(PIECES),
    st.sampled_from(PIECES),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), max_size=6),
)
lines = st.lists(chunks, max_size=3).map("".join)
raw_texts = st.lists(lines, min_size=1, max_size=7).map("\n".join)
texts = raw_texts.filter(str.strip).map(entries.normalise)
times = st.from_regex(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?", fullmatch=True)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
metas = st.lists(st.tuples(words, st.text(st.characters(exclude_categories=["Cs"]), max_size=8)), max_size=3)
items = st.tuples(times, texts, metas.map(tuple))
endings = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\n", "\r", "\n\n"])
heads = st.sampled_from(
    [
        *("- 14:30 ", "- 14:30", "- 14:30:05 ", "* 14:30 ", "- **14:30** ", "- [ ] 14:30 ", "- 14：30-15:00 "),
        *("14:30 ", "14：30:05 ", "# 14:30 ", "## 14:30 ", "## 14:30", "### 14:30 ", "# ", "## ", "```", "~~~"),
    ]
)
typed = st.one_of(lines, st.tuples(heads, lines).map("".join), st.text(max_size=8))
sources = st.builds(
    lambda mark, body, last: mark + "".join(map("".join, body)) + last,
    st.sampled_from(["", "", "\ufeff", "---\nid: x\n---\n"]),
    st.lists(st.tuples(typed, endings), max_size=12),
    typed,
)


def said(log):
    return [(entry.time, entry.text, entry.meta) for entry in log.entries]


def write(written, start="# 2026-11-29\n\n"):
    return start + "".join(entries.render(*item) for item in written)


@given(raw_texts)
@THOROUGH
def test_normalised_text_has_no_blank_lines_around_and_all_between(raw):
    assume(raw.strip())
    text = entries.normalise(raw)
    assert entries.normalise(text) == text
    assert text in raw
    assert all(line.strip(" \t") for line in (text.split("\n")[0], text.split("\n")[-1]))
    assert not raw.replace(text, "", 1).strip(" \t\n")


@given(st.lists(items, min_size=1, max_size=5))
@THOROUGH
def test_what_is_written_is_read_back_equal(written):
    assert said(entries.parse(write(written))) == written


@given(st.lists(items, min_size=1, max_size=4))
@THOROUGH
def test_crlf_files_are_read_back_in_lf(written):
    assert said(entries.parse(write(written).replace("\n", "\r\n"))) == written


@pytest.mark.parametrize("flavour", ["commonmark", "js-default", "gfm-like"])
@given(st.lists(items, min_size=1, max_size=4))
@THOROUGH
def test_every_entry_renders_as_one_list_item(flavour, written):
    tokens = MarkdownIt(flavour, {"maxNesting": 1000, "linkify": False}).parse(write(written))
    assert sum(token.type == "list_item_open" and token.level == 1 for token in tokens) == len(written)
    assert [token.tag for token in tokens if token.level == 0 and token.nesting >= 0] == ["h1", "ul"]


@given(times, texts, metas)
@THOROUGH
def test_lines_are_indented_or_empty_and_a_plain_text_is_one_line(time, text, meta):
    first, *rest = entries.render(time, text, meta).removesuffix("\n").split("\n")
    assert first.startswith(f"- {time}")
    assert all(line == "" or line.startswith("  ") for line in rest)
    assert rest[-1:] == [] or rest[-1].strip(" \t")
    if re.fullmatch(r"\w[^\n.)]*", text):
        assert rest == []


@given(metas)
@THOROUGH
def test_metadata_is_read_back_equal(pairs):
    comment = entries.encode_meta(pairs)
    assert entries.decode_meta(comment) == tuple(pairs)
    assert comment.isprintable() or not all(map(str.isprintable, "".join(map("".join, pairs))))
    inside = comment.removeprefix("<!--").removesuffix("-->")
    assert not re.search(r"--|[<>\n\r]", inside)
    assert len(inside.split()) == 1 + len(pairs)


@given(sources)
@THOROUGH
def test_spans_are_disjoint_ordered_and_true(source):
    check_spans(source)


def check_spans(source):
    log = entries.parse(source)
    spans = sorted([*log.entries, *log.passages], key=lambda span: span.start)
    ends = [0, *(span.end for span in spans)]
    assert all(end <= span.start < span.end for end, span in zip(ends, spans, strict=False))
    assert [*log.entries] == [span for span in spans if isinstance(span, entries.LogEntry)]
    for span in spans:
        assert source[: span.start] in ("", "\ufeff") or source[span.start - 1] == "\n"
        assert span.end == len(source) or source[span.end - 1] == "\n"
        assert span.line == 1 + source.count("\n", 0, span.start)
        assert span.last_line == 1 + source.count("\n", 0, span.end - 1)
        ends_blank = source[span.start : span.end].removesuffix("\n").removesuffix("\r").split("\n")[-1]
        assert ends_blank.strip(" \t")
    for entry in log.entries:
        assert entry.closed == (source[entry.end - 1] == "\n")
        assert entries.parse(source[entry.start : entry.end]).entries[0].text == entry.text
    labels = [entry.label for entry in log.entries]
    assert len(set(labels)) == len(labels)


@given(sources)
@THOROUGH
def test_every_line_is_in_one_span_or_blank_or_a_heading(source):
    log = entries.parse(source)
    rest = list(source.removeprefix("\ufeff") if source.startswith("\ufeff") else source)
    shift = len(source) - len(rest)
    for span in (*log.entries, *log.passages):
        rest[span.start - shift : span.end - shift] = "\n" * (span.end - span.start)
    for line in "".join(rest).split("\n"):
        bare = line.removesuffix("\r")
        assert not bare.strip(" \t") or re.match(r"#{1,6}(?:[ \t]|\Z)", bare)


@given(st.text(max_size=60))
@THOROUGH
def test_any_string_is_read(source):
    log = entries.parse(source)
    assert len(log.entries) + len(log.passages) <= 1 + source.count("\n")


@given(st.text(st.sampled_from("-*#` \t\n\r1430:：~<>!mdem=%\ud800\udcff\ufeff[]x"), max_size=60))
@THOROUGH
def test_any_string_of_the_grammars_own_characters_is_read(source):
    check_spans(source)


@given(sources, items)
@THOROUGH
def test_an_added_entry_is_read_and_changes_none_before(source, item):
    before = entries.parse(source)
    log = entries.parse(source + entries.addition(source, entries.render(*item)))
    assert said(log) == [*said(before), item]
    assert [(entry.start, entry.label) for entry in before.entries] == [
        (entry.start, entry.label) for entry in log.entries[:-1]
    ]
    assert log.entries[-1].closed


@given(sources, texts, st.none() | metas.map(tuple), st.integers(0, 99))
@THOROUGH
def test_replace_changes_one_entry_and_no_other_byte(source, text, meta, which):
    log = entries.parse(source)
    assume(log.entries)
    entry = log.entries[which % len(log.entries)]
    changed = entries.replace(source, entry, text=text, meta=meta)
    assert changed.startswith(source[: entry.start]) and changed.endswith(source[entry.end :])
    place = log.entries.index(entry)
    expected = said(log)
    expected[place] = (entry.time, text, entry.meta if meta is None else meta)
    now = entries.parse(changed)
    assert said(now) == expected
    assert [changed[passage.start : passage.end] for passage in now.passages] == [
        source[passage.start : passage.end] for passage in log.passages
    ]
    assert now.entries[place].closed == entry.closed


@given(sources, metas.map(tuple), st.integers(0, 99))
@THOROUGH
def test_new_metadata_changes_the_first_line_alone(source, meta, which):
    log = entries.parse(source)
    assume(log.entries)
    entry = log.entries[which % len(log.entries)]
    changed = entries.replace(source, entry, meta=meta)
    assert said(entries.parse(changed))[log.entries.index(entry)] == (entry.time, entry.text, meta)
    bare = not re.match(r"[-*#]", source[entry.start :]) or source.startswith("**", entry.start)
    first_line = source.find("\n", entry.start, entry.end)
    if not bare and first_line >= 0:
        assert changed.endswith(source[first_line:])


@given(st.lists(items, min_size=1, max_size=5), st.integers(0, 99))
@THOROUGH
def test_remove_takes_one_entry(written, which):
    source = write(written)
    entry = entries.parse(source).entries[which % len(written)]
    left = entries.remove(source, entry)
    assert left == source[: entry.start] + source[entry.end :]
    del written[which % len(written)]
    assert said(entries.parse(left)) == written


@given(texts, st.lists(st.sampled_from(["movies", "a/b", "雪", "#x", "Movies"]), max_size=3))
@THOROUGH
def test_tags_only_add_to_a_text(text, tags):
    tagged = entries.with_tags(text, tags)
    assert entries.normalise(tagged) == tagged
    assert entries.with_tags(tagged, tags) == tagged
    size = len(tagged) - len(text)
    inserted = [tagged[at : at + size] for at in range(len(text) + 1) if tagged[:at] + tagged[at + size :] == text]
    assert any(re.fullmatch(r"\s*(?:#(?:movies|a/b|雪|x|Movies)\s*)*", words) for words in inserted)
