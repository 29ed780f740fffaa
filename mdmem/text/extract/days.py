"""Days as a sentence names them from where it was said, made absolute: "by Friday (2026-03-13)", 明天（2026-03-12）.

Owns what is still to come; what was is found by `mentions`. It adds a date behind the words and takes none away, and it
leaves alone what it is not sure of: what recurs, the weekday that is today, a day in a year that is named.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import cache

from mdmem.text.calendar import Days, calendar, count_of, shifted
from mdmem.text.extract.phrases import joined
from mdmem.text.mentions import mentions

_Match = re.Match[str]
_Found = tuple[int, int, str]
"""Where a phrase begins and ends, and what is said behind it."""

_WEEKDAYS = {name: place for place, name in enumerate(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])}
_HAN_DAYS = {**{name: place for place, name in enumerate("一二三四五六日")}, "天": 6, "末": 5}
_MONTHS = {
    name: place
    for place, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}

_WEEKDAY = "(mon|tues?|wednes|wed|thurs?|thu|fri|satur|sat|sun)(?:day)?"
_WHOLE_WEEKDAY = _WEEKDAY.removesuffix("?")
_MONTH = joined(
    r"""
    (jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?
    |nov(?:ember)?|dec(?:ember)?)
    """
)
_NUMBER = r"(\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_HAN_NUMBER = r"(\d{1,2}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_HAN_WEEK = "(?:周|星期|礼拜)"
_PART = "(?: (?:morning|noon|afternoon|evening|night))?"


def absolute(text: str, hidden: str, said: datetime | None, *, ahead: bool) -> str:
    """Return the text with the day behind each phrase that names one; `hidden` is the same without quotations.

    `ahead`: a day that may be past or to come is to come, as in a to-do. Without `said` nothing is known.
    """
    if said is None:
        return text
    for _, end, note in sorted(_apart([*_coming(hidden, said.date(), ahead), *_gone(hidden, said)]), reverse=True):
        form = f"（{note}）" if not text[max(0, end - 2) : end].isascii() else f" ({note})"
        text = text[:end] + form + text[end:]
    return text


SOON = 14
"""Days within which a date makes a fact news of the week."""

_LASTS = re.compile(r"\b(?:as of|since|starting)\b|[从自][^，。]{1,30}(?:起|开始)", re.IGNORECASE)
_ADDED = re.compile(r"[(（](?:said )?(\d{4}-\d\d-\d\d)(?: – (\d{4}-\d\d-\d\d))?[)）]")


def is_passing(text: str, said: datetime | None) -> bool:
    """Tell whether a line is about the days to come, by the dates that `absolute` put behind words; today counts."""
    ends = [found[2] or found[1] for found in _ADDED.finditer(text)]
    if said is None or not ends or _LASTS.search(text):
        return False
    return all(0 <= (date.fromisoformat(end) - said.date()).days <= SOON for end in ends)


def is_dated(hidden: str) -> bool:
    """Tell whether a sentence names a day, a weekday or a month."""
    return bool(_dated().search(hidden))


def is_ahead(hidden: str, said: datetime | None) -> bool:
    """Tell whether a sentence names a day that is to come, or how long something has time."""
    if said and any(True for _ in _coming(hidden, said.date(), True)):
        return True
    return bool(_DUE.search(hidden))


def _apart(found: list[_Found]) -> list[_Found]:
    """Keep the longest of phrases that overlap."""
    kept: list[_Found] = []
    for one in sorted(found, key=lambda each: each[0] - each[1]):
        if all(one[1] <= other[0] or one[0] >= other[1] for other in kept):
            kept.append(one)
    return kept


def _coming(hidden: str, today: date, ahead: bool) -> Iterator[_Found]:
    for pattern, days, either in _rows():
        if either and not ahead:
            continue
        for found in pattern.finditer(hidden):
            if _RECURS.search(hidden[max(0, found.start() - 8) : found.start()]) or _YEAR.match(hidden, found.end()):
                continue
            try:
                when = days(found, today)
            except (ValueError, OverflowError, KeyError):  # 31 June
                continue
            if when:
                yield found.start(), found.end(), when if isinstance(when, str) else _named(*when)


def _gone(hidden: str, said: datetime) -> Iterator[_Found]:
    for mention in mentions(hidden, said):
        phrase = hidden[mention.start : mention.end]
        if _RELATIVE.search(phrase) and not re.search(r"\d{4}|[:：]", phrase):
            first, after = mention.since.date(), mention.until.date()
            yield mention.start, mention.end, _named(first, max(after, first + timedelta(1)))


def _named(first: date, after: date) -> str:
    if (after - first).days <= 1:
        return first.isoformat()
    if first.day == after.day == 1:
        if first.month == after.month == 1 and after.year - first.year == 1:
            return f"{first:%Y}"
        if shifted(first, 1) == after:
            return f"{first:%Y-%m}"
    return f"{first.isoformat()} – {(after - timedelta(1)).isoformat()}"


_RECURS = re.compile(r"(?:every|each|most|any|per|last|past) $|[每逢上](?:个|隔)?$|\d[.:/]$", re.IGNORECASE)
_YEAR = re.compile(r",? ?(?:of )?\d{4}(?![:\d])|s\b|[-/]\d| ?[(（]\d{4}|[到至~–—][周星礼]")
_RELATIVE = re.compile("yesterday|last|ago|this|today|tonight|past|昨|前|上|去|今|这|本", re.IGNORECASE)
_DUE = re.compile(
    joined(
        r"""
        \b(?:asap|as soon as possible|by (?:noon|the end|eod|then)|before (?!breakfast|lunch|dinner|bed|work|school)\w+
        |until|deadline|due|no later than|next (?:week|month|weekend|time|year)|tonight|tomorrow|soon
        |this (?:week|weekend|afternoon|evening|month))\b
        |之前|以前|前[把要给交，,]|截止|尽快|赶紧|马上要|月底|年底|年前|节前|下班前|睡前|到时候|下次
        """
    )
)


# --- what is to come: a pattern, what it means, and whether it may as well be past


def _on(offset: int) -> Callable[[_Match, date], Days]:
    return lambda found, today: (today + timedelta(offset), today + timedelta(offset + 1))


def _day(day: date) -> Days:
    return day, day + timedelta(1)


def _next_weekday(found: _Match, today: date) -> Days | None:
    """Return the coming one; on the same weekday it may be today or in a week."""
    ahead = (_WEEKDAYS[found[1][:3].casefold()] - today.weekday()) % 7
    return _day(today + timedelta(ahead)) if ahead else None


def _after_next(found: _Match, today: date) -> Days | str:
    """Return what "next Friday" means where it means one thing: the coming one, when this week has no such day left."""
    wanted = _WEEKDAYS[found[1][:3].casefold()]
    if wanted > today.weekday():
        return f"said {today.isoformat()}"
    return _day(today + timedelta(7 - today.weekday() + wanted))


def _han_weekday(found: _Match, today: date) -> Days | None:
    ahead = (_HAN_DAYS[found[1]] - today.weekday()) % 7
    return _day(today + timedelta(ahead)) if ahead and found[1] != "末" else _weekend(found, today)


def _weekend(found: _Match, today: date) -> Days | None:
    if today.weekday() >= 5 or found[0][-1] in "一二三四五六日天":
        return None
    return today + timedelta(5 - today.weekday()), today + timedelta(7 - today.weekday())


def _han_in_week(found: _Match, today: date) -> Days:
    weeks = found[1].count("下")
    monday = today - timedelta(today.weekday()) + timedelta(7 * weeks)
    day = monday + timedelta(_HAN_DAYS[found[2]])
    return (day, day + timedelta(2)) if found[2] == "末" else _day(day)


def _in_month(number: int, today: date) -> Days:
    """Return the next day of that number."""
    first = today.replace(day=1) if number >= today.day else shifted(today.replace(day=1), 1)
    return _day(first.replace(day=number))


def _of_year(month: int, number: int, today: date) -> Days:
    """Return the next day of that name."""
    year = today.year if (month, number) >= (today.month, today.day) else today.year + 1
    return _day(date(year, month, number))


def _later(found: _Match, today: date, unit: str) -> Days:
    number = count_of(found[1].casefold())
    if unit == "month":
        return _day(shifted(today, number))
    return _day(today + timedelta(number * (7 if unit == "week" else 1)))


def _period(unit: str, ahead: int) -> Callable[[_Match, date], Days]:
    return lambda found, today: calendar(unit, today, back=-ahead)


def _month_end(found: _Match, today: date) -> Days:
    return _day(today.replace(day=monthrange(today.year, today.month)[1]))


def _month(name: str) -> int:
    return _MONTHS[name[:3].casefold()]


def _ending(found: _Match, today: date) -> Days:
    month = _month(found[1])
    year = today.year if month >= today.month else today.year + 1
    return _day(date(year, month, monthrange(year, month)[1]))


@cache
def _dated() -> re.Pattern[str]:
    words = r"""
        \bWHOLEs?\b|\bMONTH\b \d|\d (?:of )?MONTH\b|\b(?:in|since|until|from|last|next) MONTH\b|\b\d{4}-\d\d-\d\d
        |\b(?:19|20)\d\d\b|\btomorrow|\byesterday|\b(?:last|next|this) (?:week|month|year|weekend|spring|summer|autumn
        |fall|winter)|\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\b(?:at|by) (?:noon|midnight)|\bago\b
        |\b(?:until|till) (?:the |further|next|spring|summer|autumn|winter|fall|MONTH|WHOLE)
        |HAN ?[月号日]|(?:周|星期|礼拜)[一二三四五六日天末]|[明后昨前]天|[今明去前]年|[上下]个?(?:周|月|星期)|月底|年底
        |\d ?点|[一二两三四五六七八九十]点
        """
    for name, pattern in (("WHOLE", _WHOLE_WEEKDAY), ("MONTH", _MONTH), ("HAN", _HAN_NUMBER)):
        words = words.replace(name, pattern)
    return re.compile(joined(words), re.IGNORECASE)


@cache
def _rows() -> list[tuple[re.Pattern[str], Callable[[_Match, date], Days | str | None], bool]]:
    return [(re.compile(pattern, re.IGNORECASE), days, either) for pattern, days, either in _ROWS]


_ROWS: tuple[tuple[str, Callable[[_Match, date], Days | str | None], bool], ...] = (
    (r"\bthe day after tomorrow\b", _on(2), False),
    (rf"\btomorrow\b{_PART}", _on(1), False),
    (r"\btonight\b", _on(0), False),
    (rf"\bthis {_WEEKDAY}\b", _next_weekday, True),
    (rf"\bnext {_WEEKDAY}\b", _after_next, False),
    (rf"(?<!next )(?<!this )\b{_WHOLE_WEEKDAY}\b{_PART}", _next_weekday, True),
    (rf"\bin {_NUMBER} days?\b", lambda m, today: _later(m, today, "day"), False),
    (rf"\bin {_NUMBER} weeks?\b", lambda m, today: _later(m, today, "week"), False),
    (rf"\bin {_NUMBER} months?\b", lambda m, today: _later(m, today, "month"), False),
    (r"\bnext week\b", _period("week", 1), False),
    (r"\bnext month\b", _period("month", 1), False),
    (r"\bnext year\b", _period("year", 1), False),
    (r"\b(?:this|at the|on the|over the) weekend\b", _weekend, True),
    (r"\b(?:the )?end of (?:the|this) month\b", _month_end, False),
    (rf"\b(?:the )?end of {_MONTH}\b", _ending, True),
    (rf"\b{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b", lambda m, today: _of_year(_month(m[1]), int(m[2]), today), True),
    (rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}\b", lambda m, t: _of_year(_month(m[2]), int(m[1]), t), True),
    (r"\b(?:by|before|until|on) the (\d{1,2})(?:st|nd|rd|th)\b", lambda m, today: _in_month(int(m[1]), today), True),
    ("大后天", _on(3), False),
    ("(?<!大)后天", _on(2), False),
    ("明[天日早晚]|明天[早晚]上", _on(1), False),
    ("今[晚夜](?:上)?", _on(0), False),
    (f"(?<![上下这本每]){_HAN_WEEK}([一二三四五六日天末])(?!会|[到至])", _han_weekday, True),
    (f"([下]{{1,2}})个?{_HAN_WEEK}([一二三四五六日天末])", _han_in_week, False),
    (f"([这本])个?{_HAN_WEEK}([一二三四五六日天末])", _han_in_week, False),
    (f"下个?{_HAN_WEEK}(?![一二三四五六日天末])", _period("week", 1), False),
    ("下个?月(?![底初中])(?!\\d)", _period("month", 1), False),
    ("明年(?![底初])", _period("year", 1), False),
    ("(?:这个|本)?月底", _month_end, True),
    (
        rf"(?<![月\d]){_HAN_NUMBER} ?[号日](?=之?前|以前|要|交|去|得)",
        lambda m, today: _in_month(count_of(m[1]), today),
        True,
    ),
    (
        rf"(?<!年)(?<!年 )(?<![农历]){_HAN_NUMBER} ?月 ?{_HAN_NUMBER} ?[号日]",
        lambda m, today: _of_year(count_of(m[1]), count_of(m[2]), today),
        True,
    ),
    (rf"{_HAN_NUMBER} ?天[之以]?后", lambda m, today: _later(m, today, "day"), False),
)
