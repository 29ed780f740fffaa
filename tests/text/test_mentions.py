"""Which parts of a sentence surely name a time."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.text import dates
from mdmem.text.mentions import LONGEST, YEARS, Mention, mentions, possible

NOW = datetime(2026, 11, 29, 14, 42, 10, tzinfo=ZoneInfo("Europe/Berlin"))  # a Sunday

SURE = [
    ("你还记得我们11月7日约好的事吗？", ["11月7日"]),
    ("What did Caroline do on 7 May, 2023?", ["7 May, 2023"]),
    ("what did we decide last Tuesday about the index", ["last Tuesday"]),
    ("上周陈屿说了什么", ["上周"]),
    ("meeting notes from 2026-11-03", ["2026-11-03"]),
    ("in June 2023", ["June 2023"]),
    ("during the last week of April 2022", ["the last week of April 2022"]),
    ("去年夏天去了哪里", ["去年夏天"]),
    ("today's notes", ["today"]),
    ("what happened this year?", ["this year"]),
    ("三月份的会议", ["三月份"]),
    ("上个月5号的事", ["上个月5号"]),
    ("星期二开的会", ["星期二"]),
    ("我们周三说好的", ["周三"]),
    ("I met her on Tuesday.", ["Tuesday"]),
    ("Tuesday's meeting", ["Tuesday"]),
    ("last night's dream", ["last night"]),
    ("昨晚做的梦", ["昨晚"]),
    ("2026 年 11 月 7 日的记录", ["2026 年 11 月 7 日"]),
    ("what about 3 days ago?", ["3 days ago"]),
    ("三天前你说", ["三天前"]),
    ("两周前的计划", ["两周前"]),
    ("in the past week", ["the past week"]),
    ("over the last 3 days", ["the last 3 days"]),
    ("最近三天", ["最近三天"]),
    ("过去一年里", ["过去一年"]),
    ("on May 3 we met", ["May 3"]),
    ("May 3 was nice", ["May 3"]),
    ("may 3rd", ["may 3rd"]),
    ("in May we", ["May"]),
    ("since March", ["March"]),
    ("In March, I", ["March"]),
    ("in 2023 we moved", ["2023"]),
    ("since 2019", ["2019"]),
    ("2023年的事", ["2023年"]),
    ("２０２６－１１－０３ 的记录", ["２０２６－１１－０３"]),
    ("Tuesday, 7 May 2023 at 6pm", ["Tuesday, 7 May 2023"]),
    ("2026-11-29T14:30:00Z", ["2026-11-29"]),
    ("11月3日星期二", ["11月3日星期二"]),
    ("yesterday and today", ["yesterday", "today"]),
    ("前天天气如何", ["前天"]),
    ("周二天气怎么样", ["周二"]),
    ("上周日本队赢了", ["上周"]),
    ("上周三个人来了", ["上周"]),
    ("上周三的会", ["上周三"]),
    ("从11月1日到11月7日", ["11月1日", "11月7日"]),
    ("end of may", ["end of may"]),
    ("early May", ["early May"]),
    ("last May", ["last May"]),
    ("Q1 2026 goals", ["Q1 2026"]),
    ("the summer of 2022", ["the summer of 2022"]),
    ("last summer", ["last summer"]),
    ("the 2010s", ["the 2010s"]),
    ("memory/2026-11-03.md", ["2026-11-03"]),
    ("上周末", ["上周末"]),
    ("over the weekend", ["the weekend"]),
    ("周日本来要去", ["周日"]),
    ("in May.", ["May"]),
    ("Did it on 29 Feb.", ["29 Feb"]),
    ("last weekend's trip", ["last weekend"]),
    ("what did I say the day before yesterday?", ["the day before yesterday"]),
    ("不过11月7日那天", ["11月7日"]),
    ("差不多三天前", ["三天前"]),
    ("截至今天", ["今天"]),
    ("大前天", ["大前天"]),
    ("the beginning of 2024", ["the beginning of 2024"]),
    ("去年的今天", ["去年的今天"]),
    ("2023年底", ["2023年底"]),
    ("二〇二三年五月三日下午", ["二〇二三年五月三日下午"]),
    ("2021年中国的事", ["2021年"]),
    ("2023年初中毕业", ["2023年"]),
    ("2023年初的计划", ["2023年初"]),
]


@pytest.mark.parametrize(("text", "parts"), SURE)
def test_what_is_sure(text, parts):
    assert [text[each.start : each.end] for each in mentions(text, NOW)] == parts


UNSURE = [
    "2007-08年",
    "by Friday",
    "马上周五了",
    "in 2000 ms",
    "in 2048 bits",
    "you may 3 times",
    "it may fail",
    "march on",
    "the sun sat there",
    "a second time",
    "port 2023",
    "2023 users",
    "2026.4.10",
    "10.0.0.1",
    "1/2",
    "14:30",
    "now",
    "every Monday",
    "每周一",
    "on Mondays",
    "3 days",
    "for the last time",
    "five years",
    "一日三餐",
    "日本",
    "周末愉快",
    "周一到周五",
    "周一至周五",
    "当前天气",
    "目前天气",
    "以后天天",
    "晚上周围没人",
    "一周一次",
    "两周三次",
    "一月一次",
    "日本周刊",
    "每年11月7日",
    "每个月5号",
    "it will last 3 days",
    "the battery lasts two weeks",
    "last but not least",
    "the last day of school",
    "every other Tuesday",
    "on Monday nights",
    "Monday to Friday",
    "过去年轻",
    "如今天气",
    "CVE-2023-05",
    "v2026-11-03",
    "2023/05",
    "this may take",
    "i last sat with her",
    "三个月",
    "二十天",
    "几十年前",
    "两三天前",
    "2 or 3 days ago",
    "more than 3 years ago",
    "1.5年前",
    "第3天前端",
    "spring boot",
    "in the fall",
    "the winter",
    "q1",
    "第一季度",
    "刚才",
    "2 hours ago",
    "just now",
    "5月天",
    "五月天的歌",
    "2023年级",
    "100年前后",
    "2023s",
    "last monday of every month",
    "on a Monday",
    "any Tuesday",
    "annual May 3",
    "4月1",
    "May 3-5",
    "192.168.1.2026-11-03",
    "step 3 may fail",
    "who is May?",
    "April is here",
    "12 monkeys",
    "sept",
    "see Jan",
    "一本周刊",
    "每个星期二",
    "逢周三",
    "每天",
    "天天",
    "两月",
    "去年轻",
    "the last Tuesday of the month",
    "tomorrowland",
    "todayish",
    "3天前端开发",
    "2023-1",
    "-3 days ago",
    "2,000 years ago",
    "四周一片漆黑",
    "周一次",
    "半年",
    "in 300 days",
    "May Day",
    "in march-time",
    "2026-13-45",
    "2026-02-30",
]


@pytest.mark.parametrize("text", UNSURE)
def test_what_is_not(text):
    assert mentions(text, NOW) == ()
    assert mentions(f"So {text}, then", NOW) == ()


def test_a_mention_is_the_stretch_and_where_it_stands():
    day = datetime(2023, 5, 7, tzinfo=NOW.tzinfo)
    assert mentions("What did she do on 7 May, 2023?", NOW) == (Mention(19, 30, day, day + timedelta(1)),)


@pytest.mark.parametrize("before", ["ﬁ ㌔ ", "İß ", "\u200b\udcff ", "𝟙 é ", "你好，", "\n\t"])
def test_offsets_are_those_of_the_text_as_given(before):
    text = f"{before}last\nTuesday １１月７日"
    assert [text[each.start : each.end] for each in mentions(text, NOW)] == ["last\nTuesday", "１１月７日"]


def test_only_the_beginning_of_a_long_text_is_looked_at():
    assert mentions("x" * (LONGEST - 11) + " 2026-11-03", NOW)
    assert not mentions("x" * LONGEST + " 2026-11-03", NOW)


@pytest.mark.parametrize(("unit", "count"), [("1", 0), ("last ", 0), ("the past ", 0), ("上", 0), ("today ", 333)])
def test_what_repeats_is_read_once(unit, count, monkeypatch):
    looked = []
    phrase = dates.phrase
    monkeypatch.setattr(dates, "phrase", lambda text, at: looked.append(at) or phrase(text, at))
    assert len(mentions(unit * 8_000, NOW)) == count
    assert len(looked) <= LONGEST
    assert looked == sorted(set(looked))


PIECES = [text for text, _ in SURE] + UNSURE + [" ", "，", ". ", "1", "一", "May", "last", "ﬁ", "㋀", "上", "\n"]
TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
CLOCKS = st.builds(
    lambda when, zone: when.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)),
    st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)),
    st.sampled_from(["Europe/Berlin", "Asia/Shanghai", "America/Los_Angeles", "Australia/Lord_Howe"]),
)


@settings(deadline=None)
@given(TEXTS, CLOCKS)
def test_every_mention_is_a_part_of_the_text_that_is_understood_alone(text, now):
    end = 0
    for each in mentions(text, now):
        assert end <= each.start < each.end <= len(text)
        assert dates.span(text[each.start : each.end], now) == (each.since, each.until)
        assert each.since.astimezone(UTC) < each.until.astimezone(UTC)
        end = each.end


MEANT = [
    ("11月7日", [2026, 2025, 2024, 2023, 2022, 2021, 2020, 2019, 2018, 2017]),
    ("May 3", [2026, 2025, 2024, 2023, 2022, 2021, 2020, 2019, 2018, 2017]),
    ("三月份", [2026, 2025, 2024, 2023, 2022, 2021, 2020, 2019, 2018, 2017]),
    ("29 Feb", [2024, 2020, 2016]),
    ("7 May, 2023", [2023]),
    ("2023年5月3日", [2023]),
    ("去年夏天", [2025]),
    ("last week", [2026]),
    ("上周二", [2026]),
    ("yesterday", [2026]),
    ("3 days ago", [2026]),
]


@pytest.mark.parametrize(("words", "years"), MEANT)
def test_a_day_without_its_year_may_be_of_an_earlier_one(words, years):
    (mention,) = mentions(f"on {words}" if words.isascii() else words, NOW)
    found = list(possible(mention, words))
    assert found[0] == (mention.since, mention.until) and len(found) <= YEARS
    assert [since.year for since, _ in found] == years
    assert {(since.month, since.day) for since, _ in found} == {(mention.since.month, mention.since.day)}
    assert all(since < until for since, until in found)
