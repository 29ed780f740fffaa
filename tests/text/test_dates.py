from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.text.dates import moment, span

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 29, 14, 42, 10, tzinfo=BERLIN)  # a Sunday

SPANS = [
    ("2026-11-29", "2026-11-29T00:00", "2026-11-30T00:00"),
    ("2026/11/9", "2026-11-09T00:00", "2026-11-10T00:00"),
    ("2026-11-29 14:30", "2026-11-29T14:30", "2026-11-29T14:31"),
    ("2026-11-29 14:30:05", "2026-11-29T14:30:05", "2026-11-29T14:30:06"),
    ("2026-11-29T14:30", "2026-11-29T14:30", "2026-11-29T14:31"),
    ("2026-11-29T14:30Z", "2026-11-29T15:30", "2026-11-29T15:31"),
    ("2026-11-29T23:30:00-05:00", "2026-11-30T05:30", "2026-11-30T05:30:01"),
    ("2026-11-29T14:30+0800", "2026-11-29T07:30", "2026-11-29T07:31"),
    ("2026-12", "2026-12-01T00:00", "2027-01-01T00:00"),
    ("2026", "2026-01-01T00:00", "2027-01-01T00:00"),
    ("14:30", "2026-11-29T14:30", "2026-11-29T14:31"),
    ("6pm", "2026-11-29T18:00", "2026-11-29T19:00"),
    ("now", "2026-11-29T14:42", "2026-11-29T14:43"),
    ("today", "2026-11-29T00:00", "2026-11-30T00:00"),
    ("Yesterday", "2026-11-28T00:00", "2026-11-29T00:00"),
    ("tomorrow", "2026-11-30T00:00", "2026-12-01T00:00"),
    ("the day before yesterday", "2026-11-27T00:00", "2026-11-28T00:00"),
    ("yesterday 18:00", "2026-11-28T18:00", "2026-11-28T18:01"),
    ("yesterday at 6:15 pm", "2026-11-28T18:15", "2026-11-28T18:16"),
    ("3 days ago", "2026-11-26T00:00", "2026-11-27T00:00"),
    ("3 days ago 12:00", "2026-11-26T12:00", "2026-11-26T12:01"),
    ("2h ago", "2026-11-29T12:00", "2026-11-29T13:00"),
    ("an hour ago", "2026-11-29T13:00", "2026-11-29T14:00"),
    ("half an hour ago", "2026-11-29T14:12", "2026-11-29T14:13"),
    ("90 seconds ago", "2026-11-29T14:40", "2026-11-29T14:41"),
    ("two weeks ago", "2026-11-09T00:00", "2026-11-16T00:00"),
    ("9 months ago", "2026-02-01T00:00", "2026-03-01T00:00"),
    ("a year ago", "2025-01-01T00:00", "2026-01-01T00:00"),
    ("last Tuesday", "2026-11-24T00:00", "2026-11-25T00:00"),
    ("last sun", "2026-11-22T00:00", "2026-11-23T00:00"),
    ("last thursday 9:00", "2026-11-26T09:00", "2026-11-26T09:01"),
    ("this monday", "2026-11-23T00:00", "2026-11-24T00:00"),
    ("last week", "2026-11-16T00:00", "2026-11-23T00:00"),
    ("this week", "2026-11-23T00:00", "2026-11-30T00:00"),
    ("last month", "2026-10-01T00:00", "2026-11-01T00:00"),
    ("last year", "2025-01-01T00:00", "2026-01-01T00:00"),
    ("in May 2023", "2023-05-01T00:00", "2023-06-01T00:00"),
    ("Dec 2023", "2023-12-01T00:00", "2024-01-01T00:00"),
    ("december", "2025-12-01T00:00", "2026-01-01T00:00"),
    ("May 3", "2026-05-03T00:00", "2026-05-04T00:00"),
    ("November 30", "2025-11-30T00:00", "2025-12-01T00:00"),
    ("on May 3rd, 2023", "2023-05-03T00:00", "2023-05-04T00:00"),
    ("3 May 2023 at 14:30", "2023-05-03T14:30", "2023-05-03T14:31"),
    ("May 3 14:30", "2026-05-03T14:30", "2026-05-03T14:31"),
    ("29 February", "2024-02-29T00:00", "2024-03-01T00:00"),
    ("今天", "2026-11-29T00:00", "2026-11-30T00:00"),
    ("昨天", "2026-11-28T00:00", "2026-11-29T00:00"),
    ("前天", "2026-11-27T00:00", "2026-11-28T00:00"),
    ("大前天", "2026-11-26T00:00", "2026-11-27T00:00"),
    ("明天", "2026-11-30T00:00", "2026-12-01T00:00"),
    ("刚才", "2026-11-29T13:42:10", "2026-11-29T14:43"),
    ("3天前", "2026-11-26T00:00", "2026-11-27T00:00"),
    ("二十一天前", "2026-11-08T00:00", "2026-11-09T00:00"),
    ("两小时前", "2026-11-29T12:00", "2026-11-29T13:00"),
    ("三个月以前", "2026-08-01T00:00", "2026-09-01T00:00"),
    ("上周", "2026-11-16T00:00", "2026-11-23T00:00"),
    ("上周三", "2026-11-18T00:00", "2026-11-19T00:00"),
    ("上个星期天", "2026-11-22T00:00", "2026-11-23T00:00"),
    ("本周一", "2026-11-23T00:00", "2026-11-24T00:00"),
    ("上个月", "2026-10-01T00:00", "2026-11-01T00:00"),
    ("去年", "2025-01-01T00:00", "2026-01-01T00:00"),
    ("5月3日", "2026-05-03T00:00", "2026-05-04T00:00"),
    ("十二月二十五号", "2025-12-25T00:00", "2025-12-26T00:00"),
    ("2023年5月3日", "2023-05-03T00:00", "2023-05-04T00:00"),
    ("2026年11月", "2026-11-01T00:00", "2026-12-01T00:00"),
    ("2025年", "2025-01-01T00:00", "2026-01-01T00:00"),
    ("昨天18点", "2026-11-28T18:00", "2026-11-28T19:00"),
    ("昨天 下午3点半", "2026-11-28T15:30", "2026-11-28T15:31"),
    ("５月３日　１４：３０", "2026-05-03T14:30", "2026-05-03T14:31"),
    ("２０２６－１１－２９", "2026-11-29T00:00", "2026-11-30T00:00"),
]


@pytest.mark.parametrize(("text", "since", "until"), SPANS)
def test_span(text, since, until):
    found = span(text, NOW)
    assert [when.replace(tzinfo=None) for when in found] == [datetime.fromisoformat(x) for x in (since, until)]
    assert all(when.tzinfo is BERLIN for when in found)


MOMENTS = [
    ("now", "2026-11-29T14:42:10"),
    ("yesterday", "2026-11-28T00:00"),
    ("yesterday 18:00", "2026-11-28T18:00"),
    ("3 days ago", "2026-11-26T14:42:10"),
    ("2h ago", "2026-11-29T12:42:10"),
    ("a month ago", "2026-10-29T14:42:10"),
    ("9 months ago", "2026-02-28T14:42:10"),
    ("2026-11", "2026-11-01T00:00"),
    ("刚刚", "2026-11-29T14:42:10"),
]


@pytest.mark.parametrize(("text", "expected"), MOMENTS)
def test_moment(text, expected):
    assert moment(text, NOW).replace(tzinfo=None) == datetime.fromisoformat(expected)


UNKNOWN = [
    *("", " ", "soon", "2026-02-31", "2026-13", "25:00", "14:60", "13pm", "0000", "31 June", "February 30", "3", "ago"),
    *(
        "m ago",
        "9999 years ago",
        "9999",
        "2026-11-29 24:00",
        "2026-11-29T",
        "2026-1129",
        "yesterday soon",
        "2026年2月30日",
    ),
    *(
        "一二天前",
        "十十天前",
        "a月",
        "in",
        "last",
        "2026-11-29 14:30+99:00",
        "x" * 1_000_000,
        "\0",
        "\udcff",
        "5/6/2023",
    ),
]


@pytest.mark.parametrize("text", UNKNOWN)
def test_anything_else_is_refused_with_examples(text):
    with pytest.raises(ValueError, match=r"examples: 2026-11-29, .*last Tuesday.*上周三"):
        span(text, NOW)
    with pytest.raises(ValueError, match="examples"):
        moment(text, NOW)


def test_a_clock_without_a_zone_is_a_mistake_of_the_program():
    with pytest.raises(TypeError):
        moment("today", datetime(2026, 11, 29))


def elapsed(found):
    since, until = (when.astimezone(UTC) for when in found)
    return until - since


def test_days_are_as_long_as_they_are():
    assert elapsed(span("2026-03-29", NOW)) == timedelta(hours=23)
    assert elapsed(span("2026-10-25", NOW)) == timedelta(hours=25)
    assert elapsed(span("2026-10", NOW)) == timedelta(days=31, hours=1)


def test_hours_ago_are_elapsed_time_and_days_ago_are_wall_time():
    now = datetime(2026, 10, 25, 3, 30, tzinfo=BERLIN)  # an hour and a half after 2:00 came a second time
    assert moment("2h ago", now).astimezone(UTC) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert moment("1 day ago", now) == datetime(2026, 10, 24, 3, 30, tzinfo=BERLIN)


def test_a_time_that_the_clocks_skip_is_moved_past_the_gap():
    assert moment("2026-03-29 02:30", NOW).isoformat() == "2026-03-29T03:30:00+02:00"
    assert span("2026-03-29 02:30", NOW)[1].isoformat() == "2026-03-29T03:31:00+02:00"


def test_a_day_whose_midnight_is_skipped_begins_when_it_begins():
    now = datetime(2018, 11, 10, 12, tzinfo=ZoneInfo("America/Sao_Paulo"))
    assert span("2018-11-04", now)[0].isoformat() == "2018-11-04T01:00:00-02:00"
    assert elapsed(span("2018-11-04", now)) == timedelta(hours=23)


@pytest.mark.parametrize(
    ("now", "today"),
    [
        (datetime(2026, 11, 28, 19, 53, tzinfo=UTC).astimezone(ZoneInfo("Asia/Shanghai")), "2026-11-29"),
        (datetime(2026, 11, 30, 2, 17, tzinfo=UTC).astimezone(ZoneInfo("America/Los_Angeles")), "2026-11-29"),
        (datetime(2026, 11, 29, 3, tzinfo=timezone(timedelta(hours=5, minutes=45))), "2026-11-29"),
    ],
)
def test_today_is_the_day_where_the_clock_hangs(now, today):
    assert span("今天", now)[0].isoformat() == moment(today, now).isoformat()
    assert moment("today", now).date().isoformat() == today


ZONES = st.sampled_from(["Europe/Berlin", "Asia/Shanghai", "America/Los_Angeles", "Australia/Lord_Howe"]).map(ZoneInfo)
CLOCKS = st.builds(
    lambda when, zone: when.replace(tzinfo=UTC).astimezone(zone),
    st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)),
    ZONES,
)


@settings(deadline=None)
@given(st.sampled_from([text for text, _, _ in SPANS]), CLOCKS)
def test_every_stretch_holds_its_moment_on_any_clock(text, now):
    since, until = (when.astimezone(UTC) for when in span(text, now))
    assert since <= moment(text, now).astimezone(UTC) < until


@settings(deadline=None)
@given(CLOCKS, st.integers(1, 400))
def test_iso_forms_mean_what_they_say(now, days):
    day = now.date() - timedelta(days)
    assert span(f"{days} days ago", now) == span(day.isoformat(), now)
    assert moment(now.isoformat(timespec="seconds"), now).astimezone(UTC) == now.astimezone(UTC).replace(microsecond=0)


@settings(deadline=None)
@given(st.text(alphabet="0123456789-:/. 年月日号天前周三一十上午点半agolstmdyhp", max_size=14))
def test_nothing_else_is_raised(text):
    try:
        since, until = span(text, NOW)
    except ValueError:
        return
    assert since.astimezone(UTC) < until.astimezone(UTC)
