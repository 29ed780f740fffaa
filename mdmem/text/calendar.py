"""Days and stretches of days: what a month, a season or "the end of" one is, and the words and numbers that name them.

Everything is reckoned from a day that is handed in; there are no times and no zones here, and no grammar: `dates` knows
how people put such words together. Any of these may raise ValueError or OverflowError where there is no such day.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

Days = tuple[date, date]
"""The first day of a stretch and the day after it."""

_NUMBERS = {
    **{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8},
    **{"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "first": 1, "second": 2, "third": 3, "fourth": 4},
    **{"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9},
}
_WEEKDAYS = {
    **{"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6},
    **{"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6},
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SEASONS = ("spring", "summer", "autumn", "winter")
_SEASON_OF = {"fall": "autumn", **dict(zip("春夏秋冬", _SEASONS, strict=True))}
_THIRDS = ("beginning start early 初 上旬", "middle mid 中 中旬", "end late 底 末 下旬")
_YEARS_BACK = {"this year": 0, "last year": 1, "今年": 0, "去年": 1, "前年": 2, "大前年": 3}


# --- numbers and names


def count_of(word: str) -> int:
    """Return the number that digits, an English word up to twelve or Chinese numerals up to ninety-nine say."""
    if word.isdecimal():
        return int(word)
    if "十" in word:
        tens, ones = word.split("十")
        return 10 * _NUMBERS.get(tens, 1) + _NUMBERS.get(ones, 0)
    return 2 if "couple" in word else _NUMBERS[word]


def year_of(word: str, today: date) -> int:
    """Return the year of `2023`, `2023年`, `二〇二三年`, `last year` or `去年`."""
    if word in _YEARS_BACK:
        return today.year - _YEARS_BACK[word]
    return int("".join(digit if digit.isdecimal() else str(_NUMBERS[digit]) for digit in word.rstrip(" 年")))


def _month_number(word: str) -> int:
    return _MONTHS.index(word[:3]) + 1 if word[:3] in _MONTHS else count_of(word)


def day_of(year: str | None, month: str, day: str, today: date) -> date:
    """Return the day; without a year the last such day."""
    numbers = _month_number(month), count_of(day)
    return date(year_of(year, today), *numbers) if year else _recent(*numbers, today)


def month_of(year: str | None, month: str, today: date) -> Days:
    """Return the month; without a year the last that has begun."""
    return calendar("month", day_of(year, month, "1", today))


# --- days


def calendar(unit: str, today: date, *, back: int = 0) -> Days:
    """Return the day, week, month, quarter or year so many before the current one."""
    if unit == "day":
        return today - timedelta(back), today - timedelta(back - 1)
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(7)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = shifted(today.replace(day=1, month=today.month - (today.month - 1) % months), -back * months)
    return first, shifted(first, months)


def shifted(day: date, months: int) -> date:
    """Return the day so many months later, or the last of that month where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def before(today: date, number: int, unit: str) -> date:
    """Return the day so many days, weeks, months or years before today."""
    days, months = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "year": (0, 12)}[unit]
    return shifted(today - timedelta(number * days), -number * months)


def _recent(month: int, day: int, today: date) -> date:
    """Return the last such day up to today. 29 February may be eight years ago."""
    for year in range(today.year, today.year - 9, -1):
        if day <= monthrange(year, month)[1] and date(year, month, day) <= today:
            return date(year, month, day)
    raise ValueError(f"no day {day} in month {month}")


def weekday(word: str, day: date) -> date:
    """Return the last such weekday before a day."""
    return day - timedelta((day.weekday() - _WEEKDAYS[word[:3]] - 1) % 7 + 1)


def in_week(word: str, today: date, *, back: int) -> date:
    return calendar("week", today, back=back)[0] + timedelta(_WEEKDAYS[word[:3]])


def weekend(today: date, *, back: int) -> Days:
    return in_week("sat", today, back=back), in_week("sun", today, back=back) + timedelta(1)


def season(name: str, today: date, *, year: str | None = None, over: bool = False) -> Days:
    """Return a year's season; else the last that has begun, or that is over."""
    month = 3 * _SEASONS.index(_SEASON_OF.get(name, name)) + 3
    if year in ("this", "今年"):  # in March it is the winter that was, in November the one to come
        first = date(today.year - (month == 12 and today.month < 7), month, 1)
    else:
        first = date(year_of(year, today), month, 1) if year else _recent(month, 1, shifted(today, -3 if over else 0))
    return first, shifted(first, 3)


def quarter(year: str | None, word: str, today: date) -> Days:
    """Return a year's quarter; without a year the last that has begun."""
    month = 3 * count_of(word) - 2
    return calendar("quarter", date(year_of(year, today), month, 1) if year else _recent(month, 1, today))


def third(word: str, stretch: Days | None) -> Days:
    """Return the beginning, the middle or the end of a month or a year."""
    if stretch is None:
        raise ValueError("no such month or year")
    (first, after), index = stretch, next(n for n, words in enumerate(_THIRDS) if word in words.split())
    months, days = ((0, 3, 9), (0, 0, 0)) if (after - first).days > 31 else ((0, 0, 0), (0, 10, 20))
    starts = [shifted(first, m) + timedelta(d) for m, d in zip(months, days, strict=True)]
    return starts[index], [*starts, after][index + 1]


def begun(word: str, unit: str, today: date) -> Days:
    """Return that third of this month or year, or of the one before if it is still to come."""
    now = third(word, calendar(unit, today))
    return now if now[0] <= today else third(word, calendar(unit, today, back=1))


def week_in(word: str, stretch: Days | None) -> Days:
    """Return the first, second, third, fourth or last seven days of a month."""
    if stretch is None:
        raise ValueError("no such month")
    first = stretch[1] - timedelta(7) if word == "last" else stretch[0] + timedelta(7 * count_of(word) - 7)
    return first, first + timedelta(7)
