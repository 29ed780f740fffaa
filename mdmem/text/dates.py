"""Dates and times as people write them, in English and Chinese, against a clock that is handed in.

Four tables at the end say what is understood: times of day, days, stretches, and instants counted from now; a day may
be followed by a time. All of it is wall time in the zone of `now`, which should be a `ZoneInfo`: a fixed offset does
not know when the clocks change. This module never reads a clock and never guesses what it does not know.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import TypeVar
from unicodedata import normalize

EXAMPLES = "2026-11-29, 2026-11-29 14:30, 14:30, yesterday 18:00, 3 days ago, last Tuesday, May 2023, 昨天, 上周三"


def moment(text: str, now: datetime) -> datetime:
    """Return the moment meant: a day's or stretch's beginning; with `3 days ago` the same time three days ago.

    `now` must be aware; the result is in its zone. Raises ValueError, with examples, for anything not understood.
    """
    return _read(text, now).at


def span(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the stretch meant, since ≤ d < until: the second, minute, hour, day, week, month or year named.

    `now` must be aware; the result is in its zone. Raises ValueError, with examples, for anything not understood.
    """
    when = _read(text, now)
    return when.since, when.until


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


_T = TypeVar("_T")
_Match = re.Match[str]


def _read(text: str, now: datetime) -> _When:
    if now.tzinfo is None:
        raise TypeError("the clock must have a zone")
    plain = " ".join(normalize("NFKC", text[:100]).casefold().split()) if len(text) <= 64 else ""
    try:
        when = _instant(plain, now) or _stretch(plain, now) or _day_and_time(plain, now)
    except (ValueError, OverflowError):  # 31 February, 25:00, the year 0
        when = None
    if when is None:
        raise ValueError(f"{text[:64]!r} is no date or time that is understood; examples: {EXAMPLES}")
    return when


def _instant(text: str, now: datetime) -> _When | None:
    for pattern, instant in _INSTANTS:
        if found := pattern.fullmatch(text):
            return instant(found, now)
    return None


def _stretch(text: str, now: datetime) -> _When | None:
    for pattern, stretch in _STRETCHES:
        if found := pattern.fullmatch(text):
            return _whole(*stretch(found, now.date()), now)
    return None


def _day_and_time(text: str, now: datetime) -> _When | None:
    if clock := _time(text):
        return _at(now.date(), clock, now)
    for pattern, read in _DAYS:
        if not (found := pattern.match(text)):
            continue
        day, rest = read(found, now.date()), text[found.end() :]
        if not rest:
            return _whole(day, day + timedelta(1), now)
        if clock := _time(re.sub("^(?:t| at |, ?| )", "", rest)):
            return _at(day, clock, now)
    return None


def _time(text: str) -> _Clock | None:
    for pattern, clock in _TIMES:
        if found := pattern.fullmatch(text):
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


def _around(at: datetime, unit: str, now: datetime) -> _When:
    """Return the minute, hour, day, week, month or year around a moment."""
    if unit in ("minute", "hour"):
        since = at.replace(minute=0 if unit == "hour" else at.minute, second=0, microsecond=0)
        return _When(since, _later(since, timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)), at)
    first, after = _calendar(unit, at.date())
    return _When(_local(first, time(), now), _local(after, time(), now), at)


# --- the calendar


def _calendar(unit: str, today: date, *, back: int = 0) -> tuple[date, date]:
    """Return the first day of the day, week, month or year so many before the current one, and the day after it."""
    if unit == "day":
        return today - timedelta(back), today - timedelta(back - 1)
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(7)
    months = 12 if unit == "year" else 1
    first = _shifted(today.replace(day=1, month=1 if unit == "year" else today.month), -back * months)
    return first, _shifted(first, months)


def _shifted(day: date, months: int) -> date:
    """Return the day so many months later, or the last of that month where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _recent(month: int, day: int, today: date) -> date:
    """Return the last such day up to today: memory is about what was. 29 February may be eight years ago."""
    for year in range(today.year, today.year - 9, -1):
        if day <= monthrange(year, month)[1] and date(year, month, day) <= today:
            return date(year, month, day)
    raise ValueError(f"no day {day} in month {month}")


def _last(word: str, today: date) -> date:
    """Return the last such weekday before today."""
    return today - timedelta((today.weekday() - _WEEKDAYS[word[:3]] - 1) % 7 + 1)


def _in_week(word: str, today: date, *, back: int) -> date:
    return _calendar("week", today, back=back)[0] + timedelta(_WEEKDAYS[word[:3]])


# --- words

_NUMBERS = {
    **{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8},
    **{"nine": 9, "ten": 10, "eleven": 11, "twelve": 12},
    **{"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9},
}
_WEEKDAYS = {
    **{"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6},
    **{"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6},
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
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

_N = r"(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_N_ZH = r"(\d{1,4}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_NTH = r"(\d{1,2})(?![\d:])(?:st|nd|rd|th)?"
_UNIT = "(" + "|".join(sorted(_UNIT_OF, key=len, reverse=True)) + ")"
_WEEK_ZH = "(?:周|星期|礼拜)"
_WEEKDAY = "(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_MONTH = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)


def _number(word: str) -> int:
    """Return the number that digits, an English word up to twelve or Chinese numerals up to ninety-nine say."""
    if word.isdecimal():
        return int(word)
    if "十" in word:
        tens, ones = word.split("十")
        return 10 * _NUMBERS.get(tens, 1) + _NUMBERS.get(ones, 0)
    return _NUMBERS[word]


def _month_number(word: str) -> int:
    return _MONTHS.index(word[:3]) + 1 if word[:3] in _MONTHS else _number(word)


def _date(year: str | None, month: str, day: str, today: date) -> date:
    """Return the day; without a year the last such day."""
    numbers = _month_number(month), _number(day)
    return date(int(year), *numbers) if year else _recent(*numbers, today)


def _month(year: str | None, month: str, today: date) -> tuple[date, date]:
    """Return the month; without a year the last that has begun."""
    return _calendar("month", _date(year, month, "1", today))


def _ago(found: _Match, now: datetime) -> _When:
    """Count elapsed time in hours and below, and wall time in days and above."""
    number, unit = _number(found[1]), _UNIT_OF[found[2]]
    elapsed = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
    if unit in elapsed:
        return _around(_later(now, -number * elapsed[unit]), "hour" if unit == "hour" else "minute", now)
    days, months = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "year": (0, 12)}[unit]
    day = _shifted(now.date() - timedelta(number * days), -number * months)
    return _around(_local(day, now.time(), now), unit, now)


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
    hours = _number(hour) + (12 if part in ("下午", "傍晚", "晚上") and _number(hour) < 12 else 0)
    clock = time(hours, _number(minute) if minute else 30 if half else 0)
    return _Clock(clock, timedelta(minutes=1) if minute or half else timedelta(hours=1))


# --- what is understood


def _table(*rows: tuple[str, _T]) -> tuple[tuple[re.Pattern[str], _T], ...]:
    return tuple((re.compile(pattern), read) for pattern, read in rows)


_TIMES: tuple[tuple[re.Pattern[str], Callable[[_Match], _Clock]], ...] = _table(
    (r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?: ?(z|[+-]\d\d:?\d\d))?", _clock_24),
    (r"(\d{1,2})(?::(\d\d))? ?([ap])\.?m\.?", _clock_12),
    (f"(凌晨|早上|上午|中午|下午|傍晚|晚上)? ?{_N_ZH}[点时](?:{_N_ZH}分?|(半)|整)?", _clock_zh),
)

_DAYS: tuple[tuple[re.Pattern[str], Callable[[_Match, date], date]], ...] = _table(
    (r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)", lambda m, today: _date(m[1], m[3], m[4], today)),
    (f"(?:(\\d{{4}})年)?{_N_ZH}月{_N_ZH}[日号]", lambda m, today: _date(m[1], m[2], m[3], today)),
    (rf"(?:on )?{_MONTH} {_NTH}(?:,? (\d{{4}})(?!:))?", lambda m, today: _date(m[3], m[1], m[2], today)),
    (rf"(?:on )?{_NTH} (?:of )?{_MONTH}(?:,? (\d{{4}})(?!:))?", lambda m, today: _date(m[3], m[2], m[1], today)),
    ("大前天", lambda m, today: today - timedelta(3)),
    ("(?:the )?day before yesterday|前天", lambda m, today: today - timedelta(2)),
    ("yesterday|昨天|昨日", lambda m, today: today - timedelta(1)),
    ("today|今天|今日", lambda m, today: today),
    ("tomorrow|明天|明日", lambda m, today: today + timedelta(1)),
    ("(?:the )?day after tomorrow|后天", lambda m, today: today + timedelta(2)),
    (f"{_N} ?(?:days?|d) ago", lambda m, today: today - timedelta(_number(m[1]))),
    (f"{_N_ZH} ?[天日][以之]?前", lambda m, today: today - timedelta(_number(m[1]))),
    (f"last {_WEEKDAY}", lambda m, today: _last(m[1], today)),
    (f"this {_WEEKDAY}", lambda m, today: _in_week(m[1], today, back=0)),
    (f"[这本]个?{_WEEK_ZH}([一二三四五六日天])", lambda m, today: _in_week(m[1], today, back=0)),
    (f"上个?{_WEEK_ZH}([一二三四五六日天])", lambda m, today: _in_week(m[1], today, back=1)),
)

_STRETCHES: tuple[tuple[re.Pattern[str], Callable[[_Match, date], tuple[date, date]]], ...] = _table(
    (r"(?:in )?(\d{4})年?", lambda m, today: _calendar("year", date(int(m[1]), 1, 1))),
    (r"(?:in )?(\d{4})[-/](\d{1,2})", lambda m, today: _month(m[1], m[2], today)),
    (f"(?:(\\d{{4}})年)?{_N_ZH}月", lambda m, today: _month(m[1], m[2], today)),
    (rf"(?:in )?{_MONTH}(?: (?:of )?(\d{{4}}))?", lambda m, today: _month(m[2], m[1], today)),
    ("this (week|month|year)", lambda m, today: _calendar(m[1], today)),
    ("last (week|month|year)", lambda m, today: _calendar(m[1], today, back=1)),
    (f"[这本]个?{_WEEK_ZH}", lambda m, today: _calendar("week", today)),
    (f"上个?{_WEEK_ZH}", lambda m, today: _calendar("week", today, back=1)),
    ("[这本]个?月", lambda m, today: _calendar("month", today)),
    ("上个?月", lambda m, today: _calendar("month", today, back=1)),
    ("今年", lambda m, today: _calendar("year", today)),
    ("去年", lambda m, today: _calendar("year", today, back=1)),
    ("前年", lambda m, today: _calendar("year", today, back=2)),
)

_INSTANTS: tuple[tuple[re.Pattern[str], Callable[[_Match, datetime], _When]], ...] = _table(
    ("now|现在", lambda m, now: _around(now, "minute", now)),
    ("just now|刚才|刚刚", _just_now),
    (
        "half an hour ago|半个?(?:小时|钟头)[以之]?前",
        lambda m, now: _around(_later(now, timedelta(minutes=-30)), "minute", now),
    ),
    (f"{_N} ?{_UNIT} ago", _ago),
    (f"{_N_ZH} ?{_UNIT}[以之]?前", _ago),
)
