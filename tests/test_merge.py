"""Patches, and taking one change back out of a text that has changed since."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import merge


@pytest.mark.parametrize(
    ("before", "after", "now", "wanted"),
    [
        ("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nb\nc\n"),
        ("a\nb\nc\n", "a\nX\nc\n", "0\na\nX\nc\nd\n", "0\na\nb\nc\nd\n"),
        ("a\nb\nc\n", "a\nX\nc\n", "A\nX\nC\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", None),
        ("a\nb\nc\n", "a\nX\nc\n", "a\nX\nX2\nc\n", "a\nb\nX2\nc\n"),
        ("a\nc\n", "a\nb1\nb2\nc\n", "a\nb1\nnew\nb2\nc\n", None),
        ("a\n", "a\nb\n", "a\nb\nc\n", "a\nc\n"),
        ("a\nb\nc\n", "a\nc\n", "a\nc\nd\n", "a\nb\nc\nd\n"),
        ("a\nb\nc\n", "a\nc\n", "A\nc\n", "A\nb\nc\n"),
        ("a\nb\nc\n", "a\nc\n", "A\nC\n", None),
        ("b\n", "", "c\n", "b\nc\n"),
        ("", "a\n", "a\nb\n", "b\n"),
        ("a\nb", "a\nb\nc", "a\nb\nc\nd", "a\nb\nd"),
        ("a\nb\na\n", "a\nb\n", "a\nb\nc\n", "a\nb\na\nc\n"),
        ("x\n", "x\nx\n", "x\nx\nx\n", "x\nx\n"),
        ("1\n2\n3\n4\n5\n", "1\nB\n3\nD\n5\n", "0\n1\nB\n3\nD\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\n"),
        ("1\n2\n3\n4\n5\n", "1\nB\n3\nD\n5\n", "1\nB\n3\nE\n5\n", None),
    ],
)
def test_revert(before: str, after: str, now: str, wanted: str | None) -> None:
    assert merge.revert(before, after, now) == wanted


LINES = st.lists(st.sampled_from("abcd"), max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))
TEXTS = st.text("ab\n", max_size=12)


@given(TEXTS, TEXTS)
def test_a_change_and_nothing_else_is_taken_back_whole(before: str, after: str) -> None:
    assert merge.revert(before, after, after) == before


@given(LINES, LINES, LINES, LINES)
def test_what_stands_before_and_behind_is_kept(before: str, after: str, above: str, below: str) -> None:
    above, below = (text.upper() for text in (above, below))
    reverted = merge.revert(before, after, above + after + below)
    if reverted is not None:
        assert [line for line in reverted.split("\n") if line.isupper()] == (above + below).split()
        assert sorted(reverted.lower().split()) == sorted((above + before + below).lower().split())


@given(TEXTS, TEXTS, TEXTS)
def test_nothing_is_invented(before: str, after: str, now: str) -> None:
    reverted = merge.revert(before, after, now)
    assert reverted is None or set(reverted.split("\n")) <= {*before.split("\n"), *now.split("\n"), ""}


@given(st.binary(max_size=30), st.binary(max_size=30), st.binary(max_size=30))
def test_a_patch_leads_both_ways(same: bytes, one: bytes, other: bytes) -> None:
    before, after = same + one + same, same + other + same
    change = merge.patch(before, after)
    assert merge.forward(before, change) == after
    assert merge.backward(after, change) == before
    assert len(change.cut) <= len(one)
    assert len(change.put) <= len(other)


def test_long_texts_take_no_time_by_the_square() -> None:
    """The bound is the runner's patience: comparing each line with each would take hours."""
    random.seed(3)
    lines = [random.choice(["", f"- line {number}"]) for number in range(200_000)]
    before = "\n".join(lines)
    after = before.replace("- line 100\n", "- changed\n")
    now = "\n".join([*after.split("\n")[:-5], "", "- new", ""])
    assert after != before
    assert merge.revert(before, after, now) == now.replace("- changed\n", "- line 100\n")
    change = merge.patch(before.encode(), after.encode())
    assert (change.cut, change.put) == (b"line 100", b"changed")


# --- two changes of one file

LOG, NOTE = "memory/daily/2026-11-29.md", "memory/archives/plan.md"
DAY = "# 2026-11-29\n\n"


def together(path: str, base: str | None, ours: str | None, theirs: str | None) -> tuple[str | None, list[str]]:
    """Merge texts; give the merged one and where it clashes."""
    merged = merge.three_way(path, *(None if text is None else text.encode() for text in (base, ours, theirs)))
    return None if merged.data is None else merged.data.decode(), [clash.where for clash in merged.clashes]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"),
        ("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
        ("a\nb\n", "a\nX\nb\n", "a\nX\nB\n", "a\nX\nB\n"),
        ("a\n", "a\nsame\n", "a\nsame\n", "a\nsame\n"),
        ("a\nb", "a\nb\nc", "0\na\nb", "0\na\nb\nc"),
        ("a\nb", "a\nb\n", "A\nb", "A\nb\n"),
        ("a\nb\n", "a\nb", "A\nb\n", "A\nb"),
        ("a\r\nb\r\n", "a\r\nb\r\nc\r\n", "0\na\nb\n", "0\na\nb\nc\n"),
        ("a\nb\n", "a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"),
        ("a\nb\nc\n", "a\nb\r\nc\n", "a\nb\nC\n", "a\nb\r\nC\n"),
        ("\ufeffa\nb\n", "\ufeffA\nb\n", "a\nB\n", "A\nB\n"),
        ("- a\n", "- a\n- b\n- d\n", "- a\n- c\n- d\n", "- a\n- b\n- c\n- d\n"),
        ("用户\n喜欢\n", "用户\n喜欢咖啡\n", "用户甲\n喜欢\n", "用户甲\n喜欢咖啡\n"),
    ],
)
def test_changes_of_different_lines_are_both_made(base: str, ours: str, theirs: str, wanted: str) -> None:
    assert together(NOTE, base, ours, theirs) == (wanted, [])


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "where"),
    [
        ("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", "line 2"),
        ("a\n", "a\nb\n", "a\nc\n", "line 2"),
        ("a\nb\n", "a\n", "a\nB\n", "line 2"),
        ("a\nb\n", None, "a\nB\n", "the whole file"),
        ("a\nb\n", "a\nB\n", None, "the whole file"),
        (None, "a\n", "b\n", "line 1"),
        ("---\na: 1\n---\n", "---\na: 2\n---\n", "---\na: 3\n---\n", "front matter: a"),
        ("---\na: 1\n---\nb\n", "b\n", "---\na: 3\n---\nb\n", "front matter"),
        ("a\0b", "a\0c", "a\0d", "the whole file"),
    ],
)
def test_changes_of_the_same_lines_clash_and_the_text_has_ours(
    base: str | None, ours: str | None, theirs: str | None, where: str
) -> None:
    assert together(NOTE, base, ours, theirs) == (ours, [where])


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        ("- 14:30 a\n", "- 14:30 a\n- 14:32 c\n", "- 14:30 a\n- 14:31 b\n", "- 14:30 a\n- 14:31 b\n- 14:32 c\n"),
        ("- 14:30 a\n", "- 14:30 a\n- 14:31 b\n", "- 14:30 a\n- 14:31 c\n", "- 14:30 a\n- 14:31 b\n- 14:31 c\n"),
        ("", "- 14:31 b\n- 14:31 b\n", "- 14:31 b\n", "- 14:31 b\n- 14:31 b\n"),
        ("- 14:30 a\n- 14:31 b\n", "- 14:31 b\n", "- 14:30 a\n- 14:31 B\n", "- 14:31 B\n"),
        ("- 14:30 a\n- 14:31 b\n", "- 14:31 b\n- 14:30 a\n- 14:40 c\n", "- 14:30 A\n- 14:31 b", None),
        ("- 14:30 a\n", "* 14:30 a\n", "- 14:30 a\n- 14:31 b\n", "* 14:30 a\n- 14:31 b\n"),
        ("- 14:30 a\n  more\n", "- 14:30 A\n  more\n", "- 14:30 a\n  More\n", "- 14:30 A\n  More\n"),
        ("- 14:30 a\n", "- 14:30 a <!-- mdmem: id=x -->\n", "- 14:30 b\n", "- 14:30 b <!-- mdmem: id=x -->\n"),
        ("- 14:30 a\n", "- 14:35 a\n", "- 14:30 a\n- 14:31 b\n", "- 14:31 b\n- 14:35 a\n"),
        ("x\n- 14:30 a\n", "X\n- 14:30 a\n", "x\n- 14:30 a\n## Y\n", "X\n- 14:30 a\n## Y\n"),
        ("- 14:30 喜欢\n", "- 14:30 喜欢\n- 15:00 茶\n", "- 14:30 不喜欢\n", "- 14:30 不喜欢\n- 15:00 茶\n"),
    ],
)
def test_logs_merge_entry_by_entry(base: str, ours: str, theirs: str, wanted: str | None) -> None:
    merged, clashes = together(LOG, DAY + base, DAY + ours, DAY + theirs)
    assert clashes == []
    if wanted is None:
        assert merged is not None
        assert sorted(merged.split("\n")[2:]) == sorted(["- 14:31 b", "- 14:30 A", "- 14:40 c"])
    else:
        assert merged == DAY + wanted


def test_what_both_made_of_one_entry_is_kept_twice() -> None:
    base, ours, theirs = ("- 14:30 用户喜欢喝咖啡\n", "- 14:30 用户喜欢喝美式咖啡\n", "- 14:30 用户咖啡因过敏\n")
    merged = merge.three_way(LOG, *((DAY + text).encode() for text in (base, ours, theirs)))
    assert merged.data == (DAY + ours).encode()
    assert merged.clashes == (merge.Clash("entry 14:30", base, ours, theirs),)


@pytest.mark.parametrize(("ours", "theirs"), [("", "- 14:30 b\n"), ("- 14:30 b\n", "")])
def test_an_entry_taken_out_here_and_corrected_there_clashes(ours: str, theirs: str) -> None:
    assert together(LOG, f"{DAY}- 14:30 a\n", DAY + ours, DAY + theirs) == (DAY + ours, ["entry 14:30"])


FRONT = "---\n# who wrote it\ntitle: Plan # for now\ntags: [a, b]\n\nstatus: open\n---\n# Plan\n\ntext\nmore\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ((("Plan #", "Way #"),), (("open", "done"), ("more", "less"))),
        ((("open", "done"),), (("\n---\n#", "\npinned: yes\n---\n#"),)),
        ((("# who wrote it", "# by me"),), (("open", "done"),)),
        ((("# who wrote it", "# by me"),), (("# for now", "# for ever"),)),
        ((("status: open\n", ""),), (("Plan #", "Way #"),)),
    ],
)
def test_front_matter_merges_by_key(ours: tuple[tuple[str, str], ...], theirs: tuple[tuple[str, str], ...]) -> None:
    """Also with CR LF; each byte that nobody changed stays."""
    texts = []
    for changes in (ours, theirs, (*ours, *theirs)):
        text = FRONT
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        texts.append(text)
    assert together(NOTE, FRONT, texts[0], texts[1]) == (texts[2], [])
    assert together(NOTE, FRONT, texts[1], texts[0]) == (texts[2], [])
    wide = [text.replace("\n", "\r\n") for text in (FRONT, *texts)]
    assert together(NOTE, wide[0], wide[1], wide[2]) == (wide[3], [])


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        ("[a, b]", "[a, b, c]", "[b, d]", "[b, c, d]"),
        ("a, b", "a, b, c", "a, b, d", "a, b, c, d"),
        ("[a]", "[a, 茶]", '[a, "two words"]', '[a, 茶, "two words"]'),
        ("\n  - a # first\n  - b", "\n  - a # first\n  - b\n  - c", "\n  - a # first", "\n  - a # first\n  - c"),
    ],
)
def test_tags_are_a_set(base: str, ours: str, theirs: str, wanted: str) -> None:
    texts = [f"---\ntags: {value}\n---\ntext\n".replace(": \n", ":\n") for value in (base, ours, theirs, wanted)]
    assert together(NOTE, *texts[:3]) == (texts[3], [])


WORDS = st.sampled_from("abcdefgh")
LONG = st.lists(WORDS, max_size=12).map(lambda lines: "".join(f"{line}\n" for line in lines))
ENTRIES = st.lists(st.tuples(st.sampled_from(["14:30", "14:31", "15:00"]), WORDS), max_size=6).map(
    lambda found: DAY + "".join(f"- {clock} {word}\n" for clock, word in sorted(found))
)
VERSIONS = st.one_of(*(st.tuples(st.just(path), *[texts] * 3) for path, texts in ((NOTE, LONG), (LOG, ENTRIES))))


@given(st.sampled_from([LOG, NOTE, "x.bin"]), st.binary(max_size=40), st.binary(max_size=40))
def test_a_change_of_one_side_is_taken_whole(path: str, base: bytes, other: bytes) -> None:
    for ours, theirs in ((base, other), (other, base), (other, other)):
        assert merge.three_way(path, base, ours, theirs) == merge.Merged(other, ())
    assert merge.three_way(path, base, None, base) == merge.Merged(None, ())


@given(VERSIONS)
def test_no_line_is_lost_and_none_invented(case: tuple[str, str, str, str]) -> None:
    path, base, ours, theirs = case
    merged = merge.three_way(path, *(text.encode() for text in case[1:]))
    assert merged.data is not None
    said = set(merged.data.decode().splitlines())
    held = {line for clash in merged.clashes for line in clash.theirs.splitlines()}
    assert set(ours.splitlines()) - set(base.splitlines()) <= said
    assert set(theirs.splitlines()) - set(base.splitlines()) <= said | held
    assert said <= {*ours.splitlines(), *theirs.splitlines()}
    if not merged.clashes:
        gone = set(base.splitlines()) - set(ours.splitlines())
        assert said.isdisjoint(gone - (set(theirs.splitlines()) - set(base.splitlines())) - set(theirs.splitlines()))


@given(VERSIONS)
def test_what_does_not_clash_is_the_same_from_both_sides(case: tuple[str, str, str, str]) -> None:
    path, base, ours, theirs = case
    one, clashes = together(path, base, ours, theirs)
    other, swapped = together(path, base, theirs, ours)
    assert bool(clashes) == bool(swapped)
    if not clashes:
        assert one is not None
        assert other is not None
        assert sorted(one.splitlines()) == sorted(other.splitlines())


HEADS = st.lists(st.tuples(st.sampled_from("wxyz"), WORDS), max_size=4).map(
    lambda found: "".join(["---\n", *(f"{key}: {value}\n" for key, value in dict(found).items()), "---\n"])
)
PAGES = st.tuples(HEADS, LONG).map("".join)
CONTESTS = st.one_of(VERSIONS, st.tuples(st.just(NOTE), PAGES, PAGES, PAGES))


def lines(*texts: bytes | str | None) -> set[str]:
    """Give the lines of texts; what `both` made a comment counts as what it was."""
    found = (text.decode() if isinstance(text, bytes) else text or "" for text in texts)
    return {line.removeprefix("# ") for text in found for line in text.splitlines()}


@given(CONTESTS, st.sampled_from(["ours", "theirs"]))
def test_what_does_not_clash_is_there_whatever_is_chosen(case: tuple[str, str, str, str], stands: merge.Take) -> None:
    path, base, ours, theirs = case
    clashes = merge.three_way(path, *(text.encode() for text in case[1:])).clashes
    contest = merge.Contest.of(path, *(text.encode() for text in case[1:]), stands=stands)
    mine, yours = contest.whole
    first, second = lines(ours) - lines(base), lines(theirs) - lines(base)
    assert second <= lines(yours)
    assert (first if clashes else set()) <= lines(mine)
    assert first - lines(*(one.ours for one in clashes)) <= lines(yours)
    for now in (mine, yours):
        assert (contest.choose("ours", now).data, contest.choose("theirs", now).data) == (mine, yours)
        assert first | second <= lines(contest.both(now))
    if clashes:
        assert second - lines(*(one.theirs for one in clashes)) <= lines(mine)
        assert mine != yours


FATES = st.lists(st.tuples(*[st.sampled_from(["kept", "changed", "gone"])] * 2), min_size=1, max_size=8)


def fated(path: str, fates: list[tuple[str, str]], made: Callable[[str, str, str], str]) -> str:
    """Write a file of items, each of which one side, the other, or both changed or took out."""
    text = DAY if path == LOG else "---\ntitle: a\n---\n"
    for number, fate in enumerate(fates):
        base = f"- 08:{number:02} item\n" if path == LOG else f"item {number}\n"
        forms = [
            {"kept": base, "changed": base.replace("item", f"{side} item"), "gone": ""} for side in ("our", "their")
        ]
        text += made(base, *(form[what] for form, what in zip(forms, fate, strict=True)))
        text += "" if path == LOG else f"\nbetween {number}\n\n"
    return text


@given(FATES, st.sampled_from([LOG, NOTE]))
def test_each_choice_is_made_where_both_changed_something_and_nowhere_else(
    fates: list[tuple[str, str]], path: str
) -> None:
    def settled(clash: Callable[[str, str], str]) -> str:
        return fated(
            path, fates, lambda base, one, two: two if one == base else one if two in (base, one) else clash(one, two)
        )

    versions = [fated(path, fates, made) for made in (lambda *of: of[0], lambda *of: of[1], lambda *of: of[2])]
    contest = merge.Contest.of(path, *(text.encode() for text in versions), stands="theirs")
    ours, theirs, both = (
        settled(made).encode() for made in (lambda *of: of[0], lambda *of: of[1], lambda *of: "".join(of))
    )
    if ours == theirs:
        assert contest.whole[1] == ours
        return
    assert contest.whole == (ours, theirs)
    later = b"- 23:59 later\n"
    for version in (ours, theirs):
        now = version + later
        assert contest.both(now) == both + later
        assert (contest.choose("ours", now).data, contest.choose("theirs", now).data) == (ours + later, theirs + later)


def parts(data: bytes | str | None) -> list[str]:
    """Give the lines of a text that say something, but for a heading and the rules of a front matter."""
    text = data.decode() if isinstance(data, bytes) else data or ""
    return [line for line in text.splitlines() if line.strip() and line not in ("# 2026-11-29", "---")]


@given(FATES, st.sampled_from([LOG, NOTE]), st.sampled_from(["ours", "theirs"]), st.integers(0), st.booleans())
def test_of_what_is_gone_only_the_chosen_version_comes_back(
    fates: list[tuple[str, str]], path: str, stands: merge.Take, chance: int, whole: bool
) -> None:
    versions = [fated(path, fates, made) for made in (lambda *of: of[0], lambda *of: of[1], lambda *of: of[2])]
    contest = merge.Contest.of(path, *(text.encode() for text in versions), stands=stands)
    mine, yours = (data or b"" for data in contest.whole)
    if mine == yours:
        return
    stood = mine if stands == "ours" else yours
    spared = random.Random(chance)
    pieces = re.split(r"(?<=\n)(?=- )" if path == LOG else r"(?<=\n\n)(?=\S)", stood.decode())
    now = None if whole else "".join(piece for piece in pieces if spared.random() < 0.5).encode()
    for take, wanted in (("ours", mine), ("theirs", yours)):
        made = contest.choose(take, now)  # type: ignore[arg-type]
        both = {*parts(mine)}.intersection(parts(yours))
        expected = [line for line in parts(wanted) if line in parts(now) or line not in both]
        assert (parts(made.data), made.clashes) == (expected, ())


HEAD = "---\ntitle: a\nstatus: {0}\ntags:\n  - x\n---\n"
PAGE = "# A\n\none\n\n## B\n\ntwo{0}\n\nthree\n"
LISTED = "---\na: 1\nlist:\n  - x\n  - {0}\n---\nA\n"


@pytest.mark.parametrize(
    ("text", "forms", "now", "wanted"),
    [
        (HEAD + "A\n", "abc", "A\n", "---\nstatus: c\n---\nA\n"),
        (HEAD, "abc", None, "---\nstatus: c\n---\n"),
        (HEAD + "A{0}\n", "abc", "---\ntags:\n  - x\n---\n", "---\nstatus: c\ntags:\n  - x\n---\nAc\n"),
        (LISTED, "yzw", "A\n", "---\nlist:\n  - x\n  - w\n---\nA\n"),
        (PAGE, ("", "a", "b"), "# A\n\none\n", "# A\n\none\n\ntwob\n"),
        (PAGE, ("", "a", "b"), "# A\n\none", "# A\n\none\n\ntwob\n"),
        (PAGE, ("", "a", "b"), "three\n", "twob\n\nthree\n"),
        (PAGE, ("", "\n\nnew", "\n\nolder"), "# A\n", "# A\n\nolder\n"),
        (PAGE.replace("\n", "\r\n"), ("", "a", "b"), "one\r\n", "one\r\n\r\ntwob\r\n"),
        ("a{0}\n\nb\n\nc{0}\n", "123", None, "a3\n\nc3\n"),
    ],
)
@pytest.mark.parametrize("stands", ["ours", "theirs"])
def test_a_document_gets_back_whole_keys_and_lines(
    text: str, forms: Sequence[str], now: str | None, wanted: str, stands: merge.Take
) -> None:
    base, ours, theirs = (text.format(form).encode() for form in forms)
    contest = merge.Contest.of(NOTE, base, ours, theirs, stands=stands)
    there = now.encode() if now is not None else None
    made = contest.choose("theirs", there)
    assert ((made.data or b"").decode(), made.clashes) == (wanted, ())


def test_what_was_put_in_the_place_since_is_not_gone() -> None:
    texts = [PAGE.format(end).encode() for end in ("", "a", "b")]
    contest = merge.Contest.of(NOTE, texts[0], texts[1], texts[2], stands="theirs")
    now = b"# A\n\none\n\nfour\n"
    assert not contest.is_gone(now)
    assert contest.choose("theirs", now).data == now
    assert contest.choose("ours", now).clashes


@given(CONTESTS, st.sampled_from(["ours", "theirs"]))
def test_a_choice_keeps_what_was_done_since(case: tuple[str, str, str, str], stands: merge.Take) -> None:
    contest = merge.Contest.of(case[0], *(text.encode() for text in case[1:]), stands=stands)
    for version in contest.whole:
        assert version is not None
        later = b"- 23:59 later\n" if case[0] == LOG else b"later\n"
        now = version + later
        for take in ("ours", "theirs"):
            made = contest.choose(take, now)  # type: ignore[arg-type]
            assert made.clashes or b"later" in (made.data or b"")
        assert b"later" in (contest.both(now) or b"")


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_texts_can_be_merged(base: str, ours: str, theirs: str) -> None:
    for path in (LOG, NOTE):
        front = [f"---\n{text}\n---\n{text}" for text in (base, ours, theirs)]
        for texts in ((base, ours, theirs), front):
            merged = merge.three_way(path, *(text.encode("utf-8", "surrogatepass") for text in texts))
            assert merged.data is not None


def test_large_files_merge_in_no_time_by_the_square() -> None:
    """The bound is the runner's patience."""
    rows = [f"- {number // 60 % 24:02}:{number % 60:02} entry {number}" for number in range(20_000)]
    blank = [random.Random(5).choice(["", "- x", row]) for row in rows]
    for path, lines in ((LOG, sorted(rows)), (NOTE, rows), (NOTE, blank), (NOTE, [""] * 50_000)):
        base = "\n".join([*lines, ""])
        ours = "\n".join(["# ours", *lines[:9], "", *lines[10:], ""])
        theirs = "\n".join([*lines[:-9], "- 23:59 theirs", *lines[-8:], ""])
        merged, _ = together(path, base, ours, theirs)
        assert merged is not None
        assert "# ours" in merged
        assert "- 23:59 theirs" in merged


def test_old_words_tell_more_of_the_version_than_an_entry_that_both_took_out() -> None:
    oldest = "- 08:00 taken out by both\n- 08:01 one two three four five six\n"
    edited = oldest.replace("three", "agent")
    newest = edited.partition("\n")[2]
    now = "- 08:01 one two three person five six\n- 09:00 added\n"
    versions = [version.encode() for version in (newest, edited, oldest)]
    assert merge.nearest("memory/daily/2026-11-29.md", versions, now.encode()) == 2


def test_the_nearest_version_is_the_one_that_a_save_was_made_from() -> None:
    versions = [f"{'x' * 9}\n".encode() + b"".join(b"- %d\n" % number for number in range(top)) for top in (9, 7, 7, 3)]
    assert merge.nearest("memory/plan.md", versions, versions[0] + b"- more\n") == 0
    assert merge.nearest("memory/plan.md", versions, versions[1].replace(b"- 2\n", b"- two\n")) == 2
    assert merge.nearest("memory/plan.md", versions, b"- 0\n- 1\n") == 3
    with pytest.raises(ValueError, match="empty"):
        merge.nearest("memory/plan.md", [], b"")


# -- lists of bullets


def said(text: str, count: int = 1, *sources: str) -> str:
    names = f" from={','.join(sources)}" if sources else ""
    return f"- {text} <!-- mdmem:{names}{f' confirmations={count}' if count > 1 else ''} -->\n"


MAY = "The lease ends in May"
LEASE, DOG, TEA = said(MAY, 1, "a"), said("The dog is Rex", 1, "b"), "- Tea, not coffee\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        # Left as it was but for its comment, and deleted or edited on the other side.
        (LEASE + DOG, DOG, said(MAY, 2, "a", "c") + DOG, DOG),
        (LEASE + DOG, said(MAY, 2, "a", "c") + DOG, DOG, DOG),
        (LEASE, said("It ends in June", 1, "a"), said(MAY, 2, "a", "c"), said("It ends in June", 1, "a")),
        (LEASE + DOG, said(MAY, 2, "a", "c") + DOG, "- [x] Done\n" + DOG, "- [x] Done\n" + DOG),
        # The same line on both sides stays once, with what both comments say.
        (LEASE, said(MAY, 2, "a", "c"), said(MAY, 2, "a", "d"), said(MAY, 3, "a", "c", "d")),
        (LEASE, said(MAY, 2, "a", "c"), said(MAY, 3, "a", "c", "d"), said(MAY, 3, "a", "c", "d")),
        (LEASE, LEASE, said(MAY, 2, "a", "c"), said(MAY, 2, "a", "c")),
        (LEASE, "- The lease ends in May\n", said(MAY, 2, "a", "c"), "- The lease ends in May\n"),
        ("", said("Rex barks", 1, "x"), said("Rex barks", 1, "y"), said("Rex barks", 2, "x", "y")),
        # What is new on both sides is there once each, ours first; both new wordings of a line, too.
        (DOG, DOG + TEA + LEASE, DOG + "- No milk\n" + LEASE, DOG + TEA + "- No milk\n" + LEASE),
        (DOG, DOG + TEA, DOG + "- No milk\n" + TEA, DOG + "- No milk\n" + TEA),
        (DOG, DOG + TEA, DOG + "- No milk\n", DOG + TEA + "- No milk\n"),
        (DOG, DOG + "\n## More\n\n" + TEA, "- The dog is Max\n", "- The dog is Max\n\n## More\n\n" + TEA),
        (LEASE, "- It ends in June\n", "- It ends in July\n", "- It ends in June\n- It ends in July\n"),
        ("- a\n  b\n", "- a\n  b\n  c\n", "", "- a\n  b\n  c\n"),
        ("- a\n", "- a\n", "- a\n\n## More\n\n- b\n", "- a\n\n## More\n\n- b\n"),
        ("- a\r\n", "- a\r\n- b\r\n", "- a\n- c\n", "- a\r\n- b\r\n- c\n"),
    ],
)  # fmt: skip
def test_a_list_is_merged_by_what_its_bullets_say(base: str, ours: str, theirs: str, wanted: str) -> None:
    around = "# Memory\n\n- first\n{}- last\n"
    marked = f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"
    assert merge.settled(around.format(marked), around.format(base)) == around.format(wanted)
    assert merge.bases(around.format(marked), around.format(base)) == [base]


def test_without_a_base_a_list_keeps_what_either_side_has_once() -> None:
    marked = f"<<<<<<< HEAD\n{LEASE}{DOG}=======\n{DOG}{TEA}>>>>>>> other\n"
    assert merge.settled(marked, None) == LEASE + DOG + TEA


def test_the_base_of_each_conflict_is_found_though_the_file_was_changed_around_it() -> None:
    one = f"<<<<<<< HEAD\n{LEASE}=======\n>>>>>>> other\n"
    two = "<<<<<<< HEAD\n=======\n- Rex is gone\n>>>>>>> other\n"
    text = f"# Mine\n\n- new\n- a\n{one}- b\n- c\n{two}- d\n"
    assert merge.bases(text, f"# Memory\n\n- a\n{LEASE}- b\n- c\n{DOG}- d\n- e\n") == [LEASE, DOG]
