"""Lines of MEMORY.md that the program writes, the normal form of a claim, and the sections by kind."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.model import Claim, Entry
from mdmem.text.claims import SOURCES, Said, confirmed, digest, fold, guarded, line_of, read, write
from mdmem.text.sections import KINDS, heading_of, is_general, kind_of, language_of, named

LINES = [
    "- Prefers hot americano. <!-- mdmem: from=daily/2026-11-28#14:30@3fa9c1 -->",
    "- Prefers hot americano. <!-- mdmem: from=daily/2026-11-28#14:30@3fa9c1 confirmations=3 -->",
    "- 电影偏好：科幻>悬疑>喜剧"
    " <!-- mdmem: from=daily/2026-11-03#14:30:40@1f805f,daily/2026-11-04#09:00.2@aaaaaa confirmations=2 -->",
    "- [ ] 周五前把脚本发给陈屿 <!-- mdmem: from=daily/2026-11-03#10:45@123abc -->",
    "- [x] Sent the parcel <!-- mdmem: from=daily/2026-11-03#10:45@123abc kept=yes -->",
    "- Plain, of a person",
    "- [ ] 11 月 20 日前寄出",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_written_as_it_was_read(line):
    assert write(read(line)) == line


def test_what_a_line_says():
    said = read(LINES[2])
    assert said.text == "电影偏好：科幻>悬疑>喜剧"
    assert said.sources == ("daily/2026-11-03#14:30:40@1f805f", "daily/2026-11-04#09:00.2@aaaaaa")
    assert (said.confirmations, said.box, said.meta) == (2, "", ())
    assert read(LINES[4]) == Said("Sent the parcel", "x", ("daily/2026-11-03#10:45@123abc",), 1, (("kept", "yes"),))


@pytest.mark.parametrize(
    "line", ["", "text", "# heading", "-no space", "  - nested", "- ", "---", "> - quoted", "14:30 x"]
)
def test_what_is_no_bullet(line):
    assert read(line) is None


@pytest.mark.parametrize("line", ["* star", "+ plus", "1. one", "12) two", "- [X] ticked"])
def test_bullets_of_people(line):
    assert read(line).text in ("star", "plus", "one", "two", "ticked")


@pytest.mark.parametrize("count", ["0", "-1", "x", "9" * 40, "1.5", "³", ""])
def test_a_senseless_count_is_one(count):
    assert read(f"- a <!-- mdmem: from=b confirmations={count} -->").confirmations == 1


def test_a_new_claim_as_a_line():
    assert line_of(Claim("fact", "Noor moved.", ("daily/2026-11-28#14:30@3fa9c1",))) == (
        "- Noor moved. <!-- mdmem: from=daily/2026-11-28#14:30@3fa9c1 -->"
    )
    assert line_of(Claim("todo", "Call Noor", ("a", "b"))) == "- [ ] Call Noor <!-- mdmem: from=a,b confirmations=2 -->"
    assert line_of(Claim("todo", "[x] Call Noor", ("a",))) == "- [x] Call Noor <!-- mdmem: from=a -->"


@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(
        lambda text: text == text.strip()
    ),
    st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), unique=True, max_size=4),
    st.integers(1, 99),
)
def test_any_line_reads_back_equal(text, sources, count):
    said = Said(text, " ", tuple(sources), count, (("other", "a b"),))
    assert read(write(said)) == said
    assert "\n" not in write(said)


def test_each_new_source_is_a_confirmation():
    said = confirmed(read(LINES[0]), ["x", "x", "daily/2026-11-28#14:30@3fa9c1"])
    assert (said.sources, said.confirmations) == (("daily/2026-11-28#14:30@3fa9c1", "x"), 2)
    assert confirmed(said, ["x"]) is said
    many = confirmed(said, [f"s{number}" for number in range(30)])
    assert (len(many.sources), many.sources[0], many.sources[-1], many.confirmations) == (
        SOURCES,
        said.sources[0],
        "s29",
        32,
    )


def test_a_guarded_address():
    entry = Entry("entry", "daily/2026-11-28#14:30", "x", "p", (1, 1), None, "", (), "text")
    assert guarded(entry) == "daily/2026-11-28#14:30@982d9e"


SAME = [
    ("用户喜欢喝咖啡。", "用户 喜欢 喝咖啡"),
    ("用户喜欢喝咖啡", "用户喜欢喝咖啡！！"),
    ("Likes  Coffee!", "likes coffee #food #drinks/hot"),
    ("ＵＳＥＲ likes ＡＢＣ１", "user likes abc1"),
    ("用Python写脚本", "用 Python 写脚本。"),
    ("doesn’t like tea", "doesn't like tea"),
    ("rent up to 1,200 €", "Rent up to 1200€."),
    ("科幻 > 悬疑 > 喜剧", "科幻＞悬疑＞喜剧"),
    ("**Bold** and `code`", "bold and code"),
    ("5 % off", "5% off"),
    ("下午3：30开会", "下午3:30 开会"),
    ("[ ] call Noor", "[x] Call Noor"),
    ("off-line", "Off line"),
    ("10–12 people", "10-12 people"),
    ("喜欢\u200b猫", "喜欢猫"),
    ("「诺兰」是最爱", "诺兰是最爱"),
    ("Straße", "STRASSE"),
    ("a\tb\u3000c", "a b c"),
]
OTHER = [
    ("likes tea", "dislikes tea"),
    ("喜欢", "不喜欢"),
    ("C#", "C"),
    ("C#", "C++"),
    ("-5 degrees", "5 degrees"),
    ("1.5 km", "15 km"),
    ("10:30", "1030"),
    ("科幻>悬疑", "悬疑>科幻"),
    ("snake_case", "snakecase"),
    ("5 %", "5"),
    ("$5", "5"),
    ("issue #5", "issue"),
    ("résumé", "resume"),
    ("!", "?"),
    ("v1.0.77", "v1.0.7"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_claim_written_otherwise(one, other):
    assert fold(one) == fold(other)
    assert digest(one) == digest(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_claims(one, other):
    assert digest(one) != digest(other)


@given(st.text())
def test_the_normal_form_is_stable(text):
    assert fold(fold(text)) == fold(text)
    assert re.fullmatch("[0-9a-f]{16}", digest(text))


@given(st.text(st.sampled_from("ab 猫，。,.#-1[]x'"), max_size=20))
def test_the_normal_form_is_stable_near_its_rules(text):
    assert fold(fold(text)) == fold(text)


HEADINGS = [
    ("Preferences", "preference"),
    ("**Preferences**:", "preference"),
    ("1. 新学到的用户偏好（3条以内）", "preference"),
    ("一、喜好", "preference"),
    ("Likes and dislikes", "preference"),
    ("People", "fact"),
    ("Projects", "fact"),
    ("2. 需要长期记住的重要事实", "fact"),
    ("人物", "fact"),
    ("项目", "fact"),
    ("Key decisions", "decision"),
    ("Project decisions", "decision"),
    ("决策", "decision"),
    ("Promises", "todo"),
    ("TODO", "todo"),
    ("To-dos and promises", "todo"),
    ("3. 待办事项或承诺", "todo"),
    ("📌 待办", "todo"),
    ("Core ideas", None),
    ("Memory of 林月 Lin Yue", None),
    ("", None),
    ("Likes facts, people and long decisions. Really.", None),
]


@pytest.mark.parametrize(("heading", "kind"), HEADINGS)
def test_headings_by_kind(heading, kind):
    assert kind_of(heading) == kind


def test_a_line_without_marks_is_a_heading_only_if_it_says_no_more():
    assert named("1. 新学到的用户偏好（3条以内）") == "preference"
    assert named("Important long-term facts:") == "fact"
    assert named("1. 用户有早起的习惯") is None
    assert named("Facts about Noor") is None
    assert named("她是我的同事") is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_new_headings_are_known(language):
    assert [kind_of(heading_of(kind, language)) for kind in KINDS] == list(KINDS)
    assert is_general(heading_of("fact", language))
    assert not is_general("People")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("喜欢咖啡", "zh"),
        ("用 PostgreSQL 17 做迁移", "zh"),
        ("Likes coffee", "en"),
        ("Noor says 你好 to everybody here", "en"),
        ("", "en"),
        ("12:30", "en"),
        ("コーヒーが好きです", "en"),
    ],
)
def test_the_language_of_a_text(text, language):
    assert language_of(text) == language
