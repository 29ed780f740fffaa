"""How often something is, or per what it is counted: daily, every second week, a month, 每天, 隔周.

Pure, for English and Chinese. It must never take every second day for every day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.text.analyze import unify

_PERIODS = {
    **{"hour": "hour", "hr": "hour", "day": "day", "night": "day", "morning": "day", "evening": "day"},
    **{"week": "week", "month": "month", "year": "year", "时": "hour", "天": "day", "日": "day", "晚": "day"},
    **{"早": "day", "周": "week", "星期": "week", "月": "month", "年": "year"},
}
_WORDS = {
    **{"hourly": "hour", "daily": "day", "nightly": "day", "weekly": "week", "monthly": "month", "yearly": "year"},
    **{"annual": "year", "annually": "year", "fortnightly": "2 week", "biweekly": "2 week"},
    **{"天天": "day", "月薪": "month", "月租": "month", "年薪": "year", "时薪": "hour"},
}
_RATE = re.compile(
    r"\b(?:a|an|per|each|every)(?P<other> (?:other|second|2nd|two))? (?P<period>hour|hr|day|night|morning|evening|week"
    r"|month|year)s?\b"
    r"|\b(?P<word>hourly|daily|nightly|weekly|monthly|yearly|annual(?:ly)?|fortnightly|biweekly)\b"
    r"|(?P<every>[每隔])(?P<two>[两二])?(?:一|个|小)*(?P<han>[时天日晚早月年]|(?:周|星期)(?![一二三四五六日末]))"
    r"|\b(?P<often>once|twice|thrice) (?=an?\b|per\b|each\b|every\b|daily|weekly|monthly)"
    r"|(?P<second>\b(?:every|each) (?:other|second) (?=(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|[每隔](?:一|两)周(?=周[一二三四五六日末])|隔周(?=周[一二三四五六日末]))"
    r"|(?P<joined>天天|月薪|月租|年薪|时薪)"
)


def rates(text: str) -> frozenset[str]:
    """List the rates of a text: `day`, `2 week`."""
    return frozenset(map(_rate, _RATE.finditer(unify(text).casefold())))


def _rate(found: re.Match[str]) -> str:
    if word := found["word"] or found["joined"]:
        return _WORDS[word]
    if found["often"] or found["second"]:
        return found["often"] or "2 week"
    twice = found["other"] or found["two"] or found["every"] == "隔"
    return ("2 " if twice else "") + _PERIODS[found["period"] or found["han"]]


def strange(text: str, told: str) -> Iterator[str]:
    """Yield the rates of a claim that its sources do not say."""
    known, said = rates(told), rates(text)
    for rate in sorted(said - known):
        if rate not in _TIMES or known & _TIMES:
            yield f"its sources do not say that it is so {rate if rate in _TIMES else f'each {rate}'}"
    if "2 week" in known - said:
        yield "its source says so of every second week"


_TIMES = frozenset({"once", "twice", "thrice"})
