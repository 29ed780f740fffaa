import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.text.chunk import Chunk, chunks
from mdmem.text.lines import lines


def cut(source, limit=1600):
    return [source[c.start : c.end] for c in chunks(source, 0, len(source), limit=limit)]


def words(count, seed=0):
    return " ".join(f"w{(i * 37 + seed * 101) % 997}" for i in range(count)) + "."


def test_a_short_note_is_one_chunk():
    source = "# Coffee\n\n## Habits\n\nAmericano\n\n## Places\n\nCorner\n"
    assert chunks(source, 0, len(source)) == (Chunk(0, len(source), 1, 9, ("Coffee", "Habits")),)


def test_nothing_has_no_chunks():
    assert chunks("abc", 3, 3) == ()


def test_blank_text_is_a_chunk_on_its_first_line():
    assert chunks("\n\n", 0, 2) == (Chunk(0, 2, 1, 1, ()),)


def test_chunks_start_where_told_and_count_lines_from_the_top():
    source = "---\na: b\n---\n\n# One\n\ntext\n\n"
    start = source.index("\n\n#") + 1
    assert chunks(source, start, len(source)) == (Chunk(start, len(source), 5, 7, ("One",)),)


def test_sections_keep_their_headings():
    source = (
        f"# A\n\n{words(60)}\n\n## B\n\n{words(300)}\n\n## C\n\n{words(300)}\n\n### D\n\n{words(300)}\n\n# E\n\nend\n"
    )
    found = chunks(source, 0, len(source))
    assert {c.headings for c in found} == {("A",), ("A", "B"), ("A", "C"), ("A", "C", "D"), ("E",)}
    for chunk in found[1:]:
        text = source[chunk.start : chunk.end]
        assert not text.startswith("#") or chunk.headings[-1] in text.split("\n")[0]


def test_small_neighbours_share_a_chunk_but_not_with_another_parent():
    source = "# A\n\n" + "".join(f"## A{i}\n\n{words(40, i)}\n\n" for i in range(20))
    source += "# B\n\n" + "".join(f"## B{i}\n\n{words(40, i)}\n\n" for i in range(20))
    found = chunks(source, 0, len(source))
    assert len(found) < 20
    assert all("# B\n" not in source[c.start + 1 : c.end] for c in found)
    assert all(source[c.start] == "#" for c in found)
    assert all(800 <= c.end - c.start <= 1600 for c in found[:-1] if "# B" not in source[c.end : c.end + 5])


def test_a_heading_goes_with_what_it_introduces():
    source = f"# A\n\n## B\n\n{words(400)}\n"
    first = chunks(source, 0, len(source))[0]
    assert first.start == 0
    assert first.headings == ("A", "B")
    assert "w37" in source[first.start : first.end]


def test_paragraphs_stay_whole():
    source = "\n\n".join(words(60, i) for i in range(40))
    assert all(text.rstrip("\n").endswith(".") for text in cut(source))
    assert all(text.endswith("\n\n") for text in cut(source)[:-1])


def test_lists_are_cut_between_items():
    source = "".join(f"- {words(20, i)}\n  {words(20, i)}\n" for i in range(40))
    assert all(text.startswith("- ") for text in cut(source))


def test_lines_then_sentences_then_words_then_characters():
    assert all(text.endswith("\n") for text in cut("".join(words(20, i) + "\n" for i in range(60))))
    assert all(text.rstrip().endswith(".") for text in cut(" ".join(words(20, i) for i in range(60))))
    assert all(text.endswith("。") for text in cut("我喜欢喝热的美式咖啡。" * 500))
    assert all(text.endswith(" ") for text in cut("word " * 1000))
    assert max(map(len, cut("x" * 1_000_000))) == 1600


def test_code_that_fits_is_never_cut():
    fence = "```sh\n# not a heading\n\n" + "echo one two three\n" * 60 + "```\n"
    inside = fence.replace("\n", "\n  ")
    source = f"# A\n\n{words(200)}\n\n{fence}\n\n{words(200)}\n- item\n- {inside}\n"
    assert sum(fence.strip() in text or inside.strip() in text for text in cut(source)) == 2


def test_code_that_does_not_fit_is_cut_between_lines():
    source = "```\n" + "echo one two three\n" * 200 + "```\n"
    assert all(text.endswith("\n") for text in cut(source))
    assert len(cut(source)) > 2


@pytest.mark.parametrize("piece", ["e\u0301", "👍🏽", "👨\u200d👩\u200d👧", "🇩🇪", "\udcff\udcfe", "नि"])
def test_what_is_one_character_to_a_reader_stays_one(piece):
    source = "x" + piece * 3000
    allowed = {piece, "x" + piece}
    if piece == "\udcff\udcfe":  # a stretch of undecodable bytes has no boundary at all
        assert max(map(len, cut(source))) <= 1600
        return
    for text in cut(source):
        assert text.endswith(piece)
        assert text[: len(piece)] == piece or text[: len(piece) + 1] in allowed


SHAPES = {
    "paragraphs": "\n\n".join(words(15 + i * 7 % 60, i) for i in range(200)),
    "sections": "# T\n\n" + "".join(f"## S{i}\n\n{words(15 + i * 7 % 60, i)}\n\n" for i in range(200)),
    "list": "".join(f"- {words(5 + i * 7 % 60, i)}\n" for i in range(200)),
    "one line": " ".join(words(5 + i * 7 % 60, i) for i in range(200)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("inserted", ["One line more.\n\n", "# Another title\n\n", "\n"])
def test_a_line_at_the_top_changes_next_to_nothing(shape, inserted):
    before, after = cut(SHAPES[shape]), cut(inserted + SHAPES[shape])
    assert len(before) > 20
    assert len(set(after) - set(before)) <= 2


def test_an_edit_in_the_middle_changes_next_to_nothing():
    source = SHAPES["paragraphs"]
    middle = source.index("\n\n", len(source) // 2)
    before, after = cut(source), cut(f"{source[:middle]}\n\nOne paragraph more.{source[middle:]}")
    assert len(set(after) - set(before)) <= 2


PIECES = st.sampled_from(
    [
        *("# h\n", "## h\n", "### h\n", "\n", "text\n", "two words. And more。\n", "- item\n", "  - sub\n", "\t"),
        *("```\n", "    code\n", "x" * 50, "e\u0301" * 5, "> q\n", "h\n===\n", "\r\n", "\udcff", "<!--\n", "-->\n"),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join), st.integers(20, 120), st.integers(0, 5))
def test_chunks_join_up_to_the_text(source, limit, start):
    start = min(start, len(source))
    found = chunks(source, start, len(source), limit=limit)
    assert "".join(source[c.start : c.end] for c in found) == source[start:]
    assert all(0 < c.end - c.start <= limit for c in found)
    assert found == chunks(source, start, len(source), limit=limit)
    for chunk in found:
        first = source.count("\n", 0, chunk.start) + 1
        assert first <= chunk.line <= chunk.last_line <= source.count("\n", 0, chunk.end - 1) + 1
        assert unicodedata.category(source[chunk.start])[0] != "M" or chunk.start == start


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join), st.integers(40, 120))
def test_no_fence_that_fits_is_cut(source, limit):
    starts = {c.start for c in chunks(source, 0, len(source), limit=limit)}
    layout = lines(source)
    for place, line in enumerate(layout):
        if line.kind != "fence":
            continue
        stop = place + 1
        while stop < len(layout) and layout[stop].kind == "code":
            stop += 1
        end = layout[stop - 1].end
        if end - line.start <= limit:
            assert not starts & set(range(line.start + 1, end))


HOSTILE = [
    "[[",
    "#",
    "`",
    "- - - ",
    "# a\n",
    "```\n",
    "\n",
    "a\n",
    "- x\n",
    "a. ",
    "你",
    "e\u0301",
    "\u0301",
    "🇩",
    "# h\n\np\n\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_anything_is_cut(piece):
    source = piece * ((200_000 if "\n" in piece else 1_000_000) // len(piece))
    found = cut(source)
    assert "".join(found) == source
    assert max(map(len, found)) <= 1600
    assert len(found) < 1500
