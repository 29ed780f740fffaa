"""The days that entries name by where they lie from their own: `tomorrow`, 下周三, "in March".

Owns which parts of dates a claim may say because its sources mean them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from functools import lru_cache

from mdmem.distill.figures import digits
from mdmem.model import Entry
from mdmem.text.analyze import unify
from mdmem.text.calendar import shifted
from mdmem.text.extract.days import absolute


def parts(number: str) -> tuple[str, ...]:
    """Take a date, or a number like one, apart: `2026-12-04` is `2026`, `12`, `4`."""
    return tuple(part.lstrip("0") or "0" for part in re.split(r"\D", number) if part)


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DATED = re.compile(
    r"(?i)(?<!\d)[12]\d{3}(?:-\d\d?){1,2}(?!\d)|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:%s)\w*(?:,? [12]\d{3})?"
    r"|\b(?:%s)\w*\.? (?:\d{1,2}(?:st|nd|rd|th)?\b(?:,? [12]\d{3})?|[12]\d{3}\b)|\d+ ?[年月日号]"
    r"|\b(?:in|since|until|by|of) [12]\d{3}\b(?![-/]\d)" % (("|".join(MONTHS),) * 2)
)
"""Numbers that are parts of a date."""

DAY_OR_MONTH = re.compile(
    r"(?i)(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber|\w+days?"
)
"""Words with a capital that name a day or a month, and nobody."""

_ISO = re.compile(r"(?<!\d)\d{4}-\d\d(?:-\d\d)?(?!\d)")
_SEARCHED = 2_000
"""Characters of an entry that are searched for days."""


@lru_cache(maxsize=256)
def days(entry: Entry) -> frozenset[str]:
    """Give the parts of the dates that an entry names by where they lie from its own, which is one of them."""
    if entry.date is None:
        return frozenset()
    today = entry.date.date()
    text = entry.text[:_SEARCHED]
    told = [today.isoformat(), *_counted(entry), *map(str, _years(text, today))]
    told += (day.isoformat() for day in _vague(text, today))
    return frozenset(part for each in told for part in parts(each))


def _years(text: str, today: date) -> Iterator[int]:
    """Yield the years that a text means without their number: those of its months, and of 明年 or "last year"."""
    yield from (today.year + step for pattern, step in _YEARS if pattern.search(text))
    for match in _MONTH.finditer(unify(text).casefold()):
        month = MONTHS.index(match[1][:3]) + 1 if match[1] else int(digits(match[2]))
        yield from (today.year + (month < today.month), today.year - (month > today.month))


def _vague(text: str, today: date) -> Iterator[date]:
    """Yield the days that may be meant: "next Friday" is the coming one or the one after, as is today's weekday."""
    for match in _NEXT_DAY.finditer(text):
        day = _WEEK.index(match[2][:3].casefold()) if match[2] else "一二三四五六日".index(match[3].replace("天", "日"))
        ahead = (day - today.weekday()) % 7
        yield today + timedelta(ahead)
        if match[1] or not ahead:
            yield today + timedelta(ahead + 7)
    for match in _NEXT_MONTH.finditer(text):
        yield shifted(today.replace(day=1), 1) + timedelta(min(int(match[1] or 1), 31) - 1)


_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NEXT_DAY = re.compile(
    r"(?i)(next |下个?)?(?:\b(mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期|礼拜)([一二三四五六日天]))"
)
_NEXT_MONTH = re.compile(r"(?i)\bnext month\b|下个?月(?:(\d{1,2})[号日])?")
_YEARS = (
    (re.compile(r"(?i)\bnext year\b|明年|来年"), 1),
    (re.compile(r"(?i)\blast year\b|去年"), -1),
    (re.compile(r"(?i)\b(?:this year|end of the year|year[- ]end)\b|今年|年底|年末"), 0),
)
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})[a-z]*\b|(1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月")


@lru_cache(maxsize=256)
def _counted(entry: Entry) -> tuple[str, ...]:
    """List the dates that an entry names by where they lie from its own, as `2026-11-29`, and those it has so."""
    if entry.date is None:
        return ()
    text = entry.text[:_SEARCHED]
    told = (absolute(text, text, entry.date, ahead=ahead) for ahead in (True, False))
    return tuple(dict.fromkeys(found for each in told for found in _ISO.findall(each)))


def named_days(sources: Sequence[Entry]) -> str:
    """Give the weekdays and months of the dates that entries name without them."""
    words: list[str] = []
    for day in (day for entry in sources for day in _meant(entry)):
        number = "一二三四五六日"[day.weekday()]
        words += [f"{day:%A %B}", f"周{number} 星期{number}"]
    return " ".join(words)


def _meant(entry: Entry) -> Iterator[date]:
    for day in _counted(entry):
        with suppress(ValueError):  # of a month without a day, or one that there is not
            yield date.fromisoformat(day)
    if entry.date is not None:
        yield from _vague(entry.text[:_SEARCHED], entry.date.date())
