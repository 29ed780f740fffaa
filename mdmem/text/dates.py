"""Dates and times as people write them, in English and Chinese, against a clock that is handed in.

The tables at the end say what is understood: times of day and parts of it, days, stretches, and what is counted from
now; a day may be followed by a time or a part. All of it is wall time in the zone of `now`, which should be a
`ZoneInfo`: a fixed offset does not know when the clocks change. Memory is about what was: what has no year, or no more
than a weekday's name, is the last of its kind that has begun. Weeks begin on Monday; seasons are three whole months,
spring from March, so December belongs to the winter that it begins: the winter of 2022 ends with February 2023. Months
have a beginning, a middle and an end of ten days each, years one of three, six and three months. This module never
reads a clock and never guesses what it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from typing import TypeVar
from unicodedata import normalize

from mdmem.text.calendar import (
    Days,
    before,
    begun,
    calendar,
    count_of,
    day_of,
    in_week,
    month_of,
    quarter,
    season,
    shifted,
    third,
    week_in,
    weekday,
    weekend,
    year_of,
)

EXAMPLES = "2026-11-29, 2026-11-29 14:30, 14:30, yesterday 18:00, 3 days ago, last Tuesday, May 2023, 昨天, 上周三"


def moment(text: str, now: datetime) -> datetime:
    """Return the moment meant: a day's or stretch's beginning; with `3 days ago` the same time three days ago.

    `now` must be aware; the result is in its zone. Raises ValueError, with examples, for anything not understood.
    """
    return _read(text, now).at


def span(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the stretch meant, since ≤ d < until: the second, minute, hour, day, week, month, season or year named.

    The last three days begin with the midnight three days ago and end with this minute. `now` must be aware; the result
    is in its zone. Raises ValueError, with examples, for anything not understood.
    """
    when = _read(text, now)
    return when.since, when.until


def phrase(folded: str, start: int) -> tuple[int, list[int]] | None:
    """Return where the next thing that a table describes begins, from `start` on, and where it may end, longest first.

    `folded` is a text in lower case with single spaces; nothing begins within a word or a number. What is found may
    still be no date: that only `span` can tell.
    """
    found = _anywhere().search(folded, start)
    return (found.start(), sorted(_ends(folded, found.start()), reverse=True)) if found else None


def _ends(folded: str, start: int) -> set[int]:
    *rows, part = _each()
    ends = {found.end() for row in rows if (found := row.match(folded, start))}
    return ends | {found.end() for end in ends if (found := part.match(folded, end))}


@cache
def _each() -> list[re.Pattern[str]]:
    return [re.compile(pattern) for pattern in (*_PATTERNS, _THEN_A_PART)]


@cache
def _anywhere() -> re.Pattern[str]:
    either = "|".join(f"(?:{pattern})" for pattern in _PATTERNS)
    return re.compile(f"(?:(?<![0-9a-z])|(?![0-9a-z]))(?:{either})")


@dataclass(frozen=True, slots=True)
class _When:
    """A stretch, and the moment in it that was meant."""

    since: datetime
    until: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class _Clock:
    """A time of day, how long a stretch it names, and its zone if it has one of its own."""

    time: time
    width: timedelta
    zone: tzinfo | None = None


_Match = re.Match[str]
_T = TypeVar("_T")
_Table = tuple[tuple[str, _T], ...]


def _read(text: str, now: datetime) -> _When:
    if now.tzinfo is None:
        raise TypeError("the clock must have a zone")
    plain = " ".join(normalize("NFKC", text[:100]).casefold().split()) if len(text) <= 64 else ""
    plain = re.sub("^(?:in|on|at|during|over|within) ", "", plain)
    try:
        when = _instant(plain, now) or _stretch(plain, now) or _day_and_time(plain, now)
    except (ValueError, OverflowError):  # 31 February, 25:00, the year 0
        when = None
    if when is None:
        raise ValueError(f"{text[:64]!r} is no date or time that is understood; examples: {EXAMPLES}")
    return when


def _instant(text: str, now: datetime) -> _When | None:
    for pattern, instant in _INSTANTS:
        if found := re.fullmatch(pattern, text):
            return instant(found, now)
    return None


def _stretch(text: str, now: datetime) -> _When | None:
    return _whole(*named, now) if (named := _named(text, now.date())) else None


def _named(text: str, today: date) -> Days | None:
    for pattern, stretch in _STRETCHES:
        if found := re.fullmatch(pattern, text):
            return stretch(found, today)
    return None


def _day_and_time(text: str, now: datetime) -> _When | None:
    if clock := _time(text):
        return _at(now.date(), clock, now)
    for pattern, read in _DAYS:
        if not (found := re.match(pattern, text)):
            continue
        day, rest = read(found, now.date()), text[found.end() :]
        if not rest:
            return _whole(day, day + timedelta(1), now)
        rest = re.sub(f"^{_AFTER_DAY}", "", rest)
        if clock := _time(rest):
            return _at(day, clock, now)
        for part, hours in _PARTS:
            if re.fullmatch(part, rest):
                return _part_of_day(day, hours, now)
    return None


def _time(text: str) -> _Clock | None:
    for pattern, clock in _TIMES:
        if found := re.fullmatch(pattern, text):
            return clock(found)
    return None


# --- wall time to moments


def _local(day: date, clock: time, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Return a wall time as a moment; one that the change of clocks skips is moved past the gap."""
    return datetime.combine(day, clock, zone or now.tzinfo).astimezone(UTC).astimezone(now.tzinfo)


def _later(start: datetime, width: timedelta) -> datetime:
    """Add elapsed time: adding to a local time would add wall time."""
    return (start.astimezone(UTC) + width).astimezone(start.tzinfo)


def _whole(first: date, after: date, now: datetime) -> _When:
    since = _local(first, time(), now)
    return _When(since, _local(after, time(), now), since)


def _at(day: date, clock: _Clock, now: datetime) -> _When:
    at = _local(day, clock.time, now, clock.zone)
    return _When(at, _later(at, clock.width), at)


def _part_of_day(day: date, hours: tuple[int, int], now: datetime) -> _When:
    """Return the stretch between two hours by the clock on the wall; those above 24 are in the next day."""
    since, until = (_local(day + timedelta(hour // 24), time(hour % 24), now) for hour in hours)
    return _When(since, until, since)


def _around(at: datetime, unit: str, now: datetime) -> _When:
    """Return the minute, hour, day, week, month or year around a moment."""
    if unit in ("minute", "hour"):
        since = at.replace(minute=0 if unit == "hour" else at.minute, second=0, microsecond=0)
        return _When(since, _later(since, timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)), at)
    first, after = calendar(unit, at.date())
    return _When(_local(first, time(), now), _local(after, time(), now), at)


# --- words

_UNITS = {
    "second": "s sec secs second seconds 秒 秒钟",
    "minute": "m min mins minute minutes 分钟",
    "hour": "h hr hrs hour hours 小时 个小时 钟头 个钟头",
    "day": "d day days 天 日",
    "week": "w week weeks 周 星期 个星期 礼拜 个礼拜",
    "month": "mo month months 月 个月",
    "year": "y yr yrs year years 年",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_ELAPSED = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}

_COUNT = r"\d{1,4}|(?:a )?couple(?: of)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_N = f"({_COUNT}|an?)"
_N_ZH = r"(\d{1,4}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_NTH = r"(\d{1,2})(?![\d:])(?:st|nd|rd|th)?"
_UNIT = "(" + "|".join(sorted(_UNIT_OF, key=len, reverse=True)) + ")"
_WEEK_ZH = "(?:周|星期|礼拜)"
_WEEKDAY_ZH = f"{_WEEK_ZH}([一二三四五六日天])"
_WEEKDAY = "(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_ITS_WEEKDAY = f"(?:{_WEEKDAY.replace('(', '(?:', 1)},? (?:the )?)?"
_MONTH = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_OF_YEAR = r"(?:,? (?:of )?(\d{4}|last year|this year)(?!:))"
_YEAR_ZH = r"(\d{4} ?年|[〇零一二三四五六七八九]{4}年|今年|去年|大?前年)"
_OF_YEAR_ZH = f"(?:{_YEAR_ZH}的? ?)"
_THIS_ZH = "([这本]|上{1,3})"
_SEASON = "(spring|summer|autumn|fall|winter)"


def _inner(pattern: str) -> str:
    """Return a pattern without groups of its own, to stand within a group."""
    return re.sub(r"\((?!\?)", "(?:", pattern)


_PERIOD = f"({_inner(_MONTH)}{_inner(_OF_YEAR)}?|\\d{{4}}|(?:this|last) (?:month|year))"
_PERIOD_ZH = f"({_inner(_OF_YEAR_ZH)}?{_inner(_N_ZH)} ?月|{_inner(_YEAR_ZH)}|{_inner(_THIS_ZH)}个?月)"


def _ago(number: int, unit: str, now: datetime) -> _When:
    """Count elapsed time in hours and below, and wall time in days and above."""
    if unit in _ELAPSED:
        return _around(_later(now, -number * _ELAPSED[unit]), "hour" if unit == "hour" else "minute", now)
    return _around(_local(before(now.date(), number, unit), now.time(), now), unit, now)


def _past(number: int, unit: str, now: datetime) -> _When:
    """Return the stretch up to this minute; in days and above it begins with a midnight."""
    hours = unit in _ELAPSED
    since = _later(now, -number * _ELAPSED[unit]) if hours else _local(before(now.date(), number, unit), time(), now)
    return _When(since, _around(now, "minute", now).until, since)


def _just_now(found: _Match, now: datetime) -> _When:
    return _When(_later(now, timedelta(hours=-1)), _around(now, "minute", now).until, now)


# --- times of day


def _clock_24(found: _Match) -> _Clock:
    hour, minute, second, zone = found.groups()
    width = timedelta(seconds=1) if second else timedelta(minutes=1)
    return _Clock(time(int(hour), int(minute), int(second or 0)), width, _zone(zone) if zone else None)


def _zone(text: str) -> timezone:
    if text == "z":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _clock_12(found: _Match) -> _Clock:
    hour, minute, half = found.groups()
    if not 1 <= int(hour) <= 12:
        raise ValueError(f"no hour {hour} {half}m")
    clock = time(int(hour) % 12 + (12 if half == "p" else 0), int(minute or 0))
    return _Clock(clock, timedelta(minutes=1) if minute else timedelta(hours=1))


def _clock_zh(found: _Match) -> _Clock:
    part, hour, minute, half = found.groups()
    hours = count_of(hour) + (12 if part in ("下午", "傍晚", "晚上") and count_of(hour) < 12 else 0)
    clock = time(hours, count_of(minute) if minute else 30 if half else 0)
    return _Clock(clock, timedelta(minutes=1) if minute or half else timedelta(hours=1))


# --- what is understood: patterns, which `re` compiles when one is first needed, as it takes 20 ms for all of them


_TIMES: _Table[Callable[[_Match], _Clock]] = (
    (r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?: ?(z|[+-]\d\d:?\d\d))?", _clock_24),
    (r"(\d{1,2})(?::(\d\d))? ?([ap])\.?m\.?", _clock_12),
    (f"(凌晨|早上|上午|中午|下午|傍晚|晚上)? ?{_N_ZH}[点时](?:{_N_ZH}分?|(半)|整)?", _clock_zh),
)

_PARTS: _Table[tuple[int, int]] = (
    ("morning|早上|早晨|清晨|上午|早|晨", (5, 12)),
    ("noon|中午", (11, 14)),
    ("afternoon|下午|午后", (12, 18)),
    ("evening|傍晚", (17, 24)),
    ("night|晚上|夜里|夜晚|晚|夜", (18, 30)),
    ("凌晨", (0, 6)),
)
_AFTER_DAY = "(?:t| at | in the |, ?|的| )"
_THEN_A_PART = f"{_AFTER_DAY}?(?:{'|'.join(part for part, _ in _PARTS)})"

_DAYS: _Table[Callable[[_Match, date], date]] = (
    (r"(\d{4})(?P<dash>[-/.])(\d{1,2})(?P=dash)(\d{1,2})(?!\d)", lambda m, today: day_of(m[1], m[3], m[4], today)),
    (
        f"{_OF_YEAR_ZH}?{_N_ZH} ?月 ?{_N_ZH} ?[日号](?:[ ,(]?{_inner(_WEEKDAY_ZH)}\\)?)?",
        lambda m, today: day_of(m[1], m[2], m[3], today),
    ),
    (f"{_ITS_WEEKDAY}{_MONTH} {_NTH}{_OF_YEAR}?", lambda m, today: day_of(m[3], m[1], m[2], today)),
    (f"{_ITS_WEEKDAY}{_NTH} (?:of )?{_MONTH}{_OF_YEAR}?", lambda m, today: day_of(m[3], m[2], m[1], today)),
    ("大前天", lambda m, today: today - timedelta(3)),
    ("(?:the )?day before yesterday|前天|前(?=晚)", lambda m, today: today - timedelta(2)),
    ("yesterday|last(?= night)|昨天|昨日|昨(?=[早晨晚夜])", lambda m, today: today - timedelta(1)),
    ("today|今天|今日|今(?=[早晨晚夜])", lambda m, today: today),
    ("this(?= (?:morning|afternoon|evening))|to(?=night)", lambda m, today: today),
    ("tomorrow|明天|明日", lambda m, today: today + timedelta(1)),
    ("(?:the )?day after tomorrow|后天", lambda m, today: today + timedelta(2)),
    ("(?:this day|today) last year", lambda m, today: shifted(today, -12)),
    ("(去年|大?前年)的?今天", lambda m, today: shifted(today, 12 * (year_of(m[1], today) - today.year))),
    ("上个?月的?今天", lambda m, today: shifted(today, -1)),
    (f"{_N} (week|month|year)s? ago today", lambda m, today: before(today, count_of(m[1]), m[2])),
    (f"{_N} ?(?:days?|d) ago", lambda m, today: today - timedelta(count_of(m[1]))),
    (f"{_N_ZH} ?[天日][以之]?前", lambda m, today: today - timedelta(count_of(m[1]))),
    (_WEEKDAY, lambda m, today: weekday(m[1], today + timedelta(1))),
    (f"(?:last|(?:the |this )?past) {_WEEKDAY}", lambda m, today: weekday(m[1], today)),
    (f"this {_WEEKDAY}", lambda m, today: in_week(m[1], today, back=0)),
    (f"{_WEEKDAY}(?: of)? (this|last) week", lambda m, today: in_week(m[1], today, back=int(m[2] == "last"))),
    (_WEEKDAY_ZH, lambda m, today: weekday(m[1], today + timedelta(1))),
    (f"{_THIS_ZH}个?{_WEEKDAY_ZH}", lambda m, today: in_week(m[2], today, back=m[1].count("上"))),
    (
        f"{_THIS_ZH}个?月的?{_N_ZH}[日号]",
        lambda m, today: calendar("month", today, back=m[1].count("上"))[0].replace(day=count_of(m[2])),
    ),
)

_STRETCHES: _Table[Callable[[_Match, date], Days]] = (
    (r"\d{4}", lambda m, today: calendar("year", date(int(m[0]), 1, 1))),
    (_YEAR_ZH, lambda m, today: calendar("year", date(year_of(m[1], today), 1, 1))),
    (r"(?:the )?(\d{3}0)(?:s|年代)", lambda m, today: (date(int(m[1]), 1, 1), date(int(m[1]) + 10, 1, 1))),
    (r"(\d{4})[-/](\d{1,2})", lambda m, today: month_of(m[1], m[2], today)),
    (f"{_OF_YEAR_ZH}?{_N_ZH} ?月份?", lambda m, today: month_of(m[1], m[2], today)),
    (f"{_MONTH}{_OF_YEAR}?", lambda m, today: month_of(m[2], m[1], today)),
    (f"last {_MONTH}", lambda m, today: month_of(None, m[1], calendar("month", today)[0] - timedelta(1))),
    (f"this {_MONTH}", lambda m, today: month_of("this year", m[1], today)),
    ("(this|last) (week|month|quarter|year)", lambda m, today: calendar(m[2], today, back=int(m[1] == "last"))),
    ("(?:the )?(week|month|year) before last", lambda m, today: calendar(m[1], today, back=2)),
    (f"{_THIS_ZH}个?{_WEEK_ZH}", lambda m, today: calendar("week", today, back=m[1].count("上"))),
    (f"{_THIS_ZH}个?月", lambda m, today: calendar("month", today, back=m[1].count("上"))),
    (f"{_THIS_ZH}个?季度", lambda m, today: calendar("quarter", today, back=m[1].count("上"))),
    ("(this|last) weekend", lambda m, today: weekend(today, back=int(m[1] == "last"))),
    ("(?:(?:the |this )?past |the )?weekend|周末", lambda m, today: weekend(today, back=int(today.weekday() < 5))),
    (f"{_THIS_ZH}个?周末", lambda m, today: weekend(today, back=m[1].count("上"))),
    (f"(?:the )?{_SEASON}", lambda m, today: season(m[1], today)),
    (f"(?:the )?{_SEASON}{_OF_YEAR}", lambda m, today: season(m[1], today, year=m[2])),
    (f"this {_SEASON}", lambda m, today: season(m[1], today, year="this")),
    (f"(?:last|(?:the |this )?past) {_SEASON}", lambda m, today: season(m[1], today, over=True)),
    (f"{_OF_YEAR_ZH}?([春夏秋冬])[天季]", lambda m, today: season(m[2], today, year=m[1])),
    (f"q([1-4]){_OF_YEAR}?", lambda m, today: quarter(m[2], m[1], today)),
    (r"(\d{4})[ -]?q([1-4])", lambda m, today: quarter(m[1], m[2], today)),
    (f"(?:the )?(first|second|third|fourth) quarter{_OF_YEAR}?", lambda m, today: quarter(m[2], m[1], today)),
    (f"{_OF_YEAR_ZH}?第?([1-4一二三四])季度", lambda m, today: quarter(m[1], m[2], today)),
    (f"(?:the )?(early|mid|late)[ -]{_PERIOD}", lambda m, today: third(m[1], _named(m[2], today))),
    (f"(?:the )?(beginning|start|middle|end) of {_PERIOD}", lambda m, today: third(m[1], _named(m[2], today))),
    (f"{_PERIOD_ZH}[年月]?([初中底末]|[上中下]旬)", lambda m, today: third(m[2], _named(m[1], today))),
    ("月([初中底末])", lambda m, today: begun(m[1], "month", today)),
    ("年([初中底末])", lambda m, today: begun(m[1], "year", today)),
    (f"(?:the )?(first|second|third|fourth|last) week of {_PERIOD}", lambda m, t: week_in(m[1], _named(m[2], t))),
)

_INSTANTS: _Table[Callable[[_Match, datetime], _When]] = (
    ("now|现在", lambda m, now: _around(now, "minute", now)),
    ("just now|刚才|刚刚", _just_now),
    ("half an hour ago|半个?(?:小时|钟头)[以之]?前", lambda m, now: _ago(30, "minute", now)),
    ("half a year ago|半年[以之]?前", lambda m, now: _ago(6, "month", now)),
    (f"{_N} ?{_UNIT} ago", lambda m, now: _ago(count_of(m[1]), _UNIT_OF[m[2]], now)),
    (f"{_N_ZH} ?{_UNIT}[以之]?前", lambda m, now: _ago(count_of(m[1]), _UNIT_OF[m[2]], now)),
    (f"(?:(?:the|these) )?(?:past|last) ({_COUNT}) {_UNIT}", lambda m, now: _past(count_of(m[1]), _UNIT_OF[m[2]], now)),
    ("(?:the )?past (hour|day|week|month|year)", lambda m, now: _past(1, m[1], now)),
    ("the last (hour|week|month|year)|last (hour)", lambda m, now: _past(1, m[1] or m[2], now)),
    (f"(?:最近|过去)的?这?{_N_ZH} ?{_UNIT}", lambda m, now: _past(count_of(m[1]), _UNIT_OF[m[2]], now)),
    ("(?:最近|过去)这?半年", lambda m, now: _past(6, "month", now)),
)

_PATTERNS = [pattern for table in (_INSTANTS, _STRETCHES, _DAYS) for pattern, _ in table]
