"""Where a sentence names a day or a stretch of days, and only where that is sure: what is found moves whole answers.

`dates` knows what can be said; the two tables here know when it was not said: "may 3" in "you may 3 times", 周一 in
周一到周五, 前天 in 当前天气. A row looks at a phrase and at a few characters on both sides of it. What recurs, what is
shorter than hours, and what is as likely a number, a version or a word stays out. Time grows with the length of the
text and no faster, and only its first 2,000 characters are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from unicodedata import normalize

from mdmem.text import dates

LONGEST = 2_000
"""How many characters of a text are looked at: a question is shorter, and what is longer is no question."""

YEARS = 10
"""Years that a day without one may lie back."""

_OF_ANY_YEAR = re.compile(
    "月|(?<![a-z])(?:jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec)|summer|winter|spring|autumn|fall|[春夏秋冬]",
    re.IGNORECASE,
)

_SHORTEST = timedelta(hours=3)
_BESIDE = 24


@dataclass(frozen=True, slots=True)
class Mention:
    """The part of a text, start ≤ i < end, that names the stretch since ≤ d < until."""

    start: int
    end: int
    since: datetime
    until: datetime


def mentions(text: str, now: datetime) -> tuple[Mention, ...]:
    """Return what surely names a part of a day or more, from left to right, the longest at each place.

    Offsets are those of `text` as it is given; `now` must be aware, and moments are in its zone. No text is an error.
    """
    text = text[:LONGEST]
    folded, found, at = "".join(map(_folded, text)), list[Mention](), 0
    if not re.search(_HINT, folded):
        return ()
    while place := dates.phrase(folded, at):
        start, ends = place
        mention = next((each for end in ends if (each := _mention(text, folded, (start, end), now))), None)
        if mention:
            found.append(mention)
        at = mention.end if mention else start + 1
    return tuple(found)


def possible(mention: Mention, words: str) -> Iterator[tuple[datetime, datetime]]:
    """Yield the stretch that is meant; of a day or month named without its year, then those of the years before."""
    yield mention.since, mention.until
    if not re.search(_OF_ANY_YEAR, words) or re.search(r"\d{4}|[今去前后]年|year", words):
        return
    for back in range(1, YEARS):
        try:
            yield (
                mention.since.replace(year=mention.since.year - back),
                mention.until.replace(year=mention.until.year - back),
            )
        except ValueError:  # 29 February
            continue


@lru_cache(4096)
def _folded(char: str) -> str:
    """Return the character as the tables of dates have it, and always one: offsets stay what they are."""
    plain = normalize("NFKC", char).casefold()
    return " " if char.isspace() else plain if len(plain) == 1 else char


def _mention(text: str, folded: str, place: tuple[int, int], now: datetime) -> Mention | None:
    start, end = place
    end -= folded[end - 1] == "."  # of "May." the sentence's own
    beside = folded[max(0, start - _BESIDE) : start], folded[end : end + _BESIDE]
    if not _sure(text[start:end], folded[start:end], *beside):
        return None
    try:
        since, until = dates.span(text[start:end], now)
    except ValueError:
        return None
    long = until.astimezone(UTC) - since.astimezone(UTC) >= _SHORTEST
    return Mention(start, end, since, until) if long and 1900 <= since.year <= now.year + 50 else None


def _sure(written: str, phrase: str, before: str, after: str) -> bool:
    unless, only = _beside(phrase, re.search("[MＭ]", written) is None)
    return not any(re.search(left, before) or re.match(right, after) for left, right in unless) and all(
        re.search(left, before) or re.match(right, after) for left, right in only
    )


@lru_cache(256)
def _beside(phrase: str, small: bool) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return what must not stand on either side of a phrase, and of what something must."""
    only = (*_ONLY, _SMALL) if small else _ONLY
    unless, only_if = (
        [(f"(?:{left})$", right) for pattern, left, right in rows if re.fullmatch(pattern, phrase)]
        for rows in (_UNLESS, only)
    )
    return unless, only_if


# --- what is sure

_HINT = (  # without one of these there is no date, and the tables need not be compiled
    r"\d|[年月日号周天期拜晚早晨夜季今昨前后近去]|yesterday|today|tonight|tomorrow|\b(?:last|past|this|ago)\b|week|month|year"
    "|jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|fall|winter"
)
_NEVER = "(?!)"
_ALWAYS = ""
_LETTER = r"[^\W\u2e80-\ud7ff\uf900-\ufaff]"  # and digits: all that makes words, but not Chinese and its neighbours
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SEASON = "(?:spring|summer|autumn|fall|winter)"
_PART = "(?: (?:in the )?(?:morning|noon|afternoon|evening|night))?"
_COUNTED = (
    r" (?:m?s|sec|min|h|hours?|days?|weeks?|months?|years?|times|steps|words|lines"
    r"|char(?:acter)?s|bytes|bits|[kmg]i?b|tokens|items|entries|rows|files"
    r"|users|people|places|pieces|pages|px|k?m|cases|dollars|euros)\b| ?[%€$°]"
)
_NUMERAL = "零〇一二两三四五六七八九十"
_DAY_ZH = "(?:周|星期|礼拜)[一二三四五六日天]"


_UNLESS = (  # no mention if this stands before it, or that after it
    (r"[0-9a-z].*", rf"{_LETTER}|[-+#$€£@=]|\d[./:,]|\d[./:,-]\d", _NEVER),
    (r".*[0-9a-z]", _NEVER, rf"(?!t\d\d:){_LETTER}|[-/.:]\d|[%°€$]"),
    (r".*", r"\b(?:every|each|any|most|some|all|per|other|annual|usual)(?: single| other| second)? ", _NEVER),
    (r".*", "[每逢](?:个|隔)?(?:年|月|周|星期|礼拜|天)?的?", _NEVER),
    (r".*", _NEVER, r" (?:morning|afternoon|evening|night)s\b"),
    (r"\d{4}", _NEVER, _COUNTED),
    (_MONTH, _NEVER, "-"),
    (r"\d{4}-\d\d", _NEVER, "年"),
    (r"(?:the |these |this |last |past ).*", _NEVER, r" of\b"),
    (r"(?:last|past) .*", r"\b(?:the|my|his|her|their|our|your|its|a|will|would|could|can|not|to) ", _NEVER),
    (r".* ago", r"\b(?:more than|less than|over|under|at least|up to|or|to) ", _NEVER),
    # forms that are as likely something else
    (r"\d{4}\.\d+\.\d+|\d{4}/\d+|\d{4}-\d|\d{4}s|now", _ALWAYS, _ALWAYS),
    (rf"(?:the )?(?:{_SEASON}|(?:first|second|third|fourth) quarter)|q\d|the last day", _ALWAYS, _ALWAYS),
    (rf"(?:last |this |past )?(?:mon|tues?|wed|thur?s?|fri|sat|sun){_PART}", _ALWAYS, _ALWAYS),
    (r"this (?:may|march|mar)|past .*day", _ALWAYS, _ALWAYS),
    (r"周末|[春夏秋冬][天季]|[月年][初中底末]|第?[1-4一二三四]季度|两 ?月份?", _ALWAYS, _ALWAYS),
    (r"\d+ ?日[以之]?前|\d{4} ?年[以之]?前|[^年]+ ?月[以之]?前", _ALWAYS, _ALWAYS),
    # weekdays: a day named twice, and from Monday to Friday
    (rf"{_WEEKDAY}{_PART}", r"\d,? \(?", rf",? \(?(?:the )?(?:\d(?!\d?:)|{_MONTH}\b)"),
    (rf".*{_WEEKDAY}", _NEVER, r" (?:to|through|thru|till|until) |[-–—/]"),
    (f".*{_DAY_ZH}", "[到至~]", r"[到至~—–-]"),
    (f".*{_DAY_ZH}", _NEVER, "[次个件位名条篇只遍趟轮种台张]|天(?!气)|本(?!来|人|该|月|周)"),
    (".*[周期拜]日", _NEVER, "本(?!来)|[常程记语志历]|报(?!名|到)"),
    (_DAY_ZH, rf"[{_NUMERAL}几\d每逢隔整半满上]个?|[日号] ?[(,]?", r"[ ,(]{0,2}\d{1,2}月"),
    # Chinese has no spaces: these characters belong to other words
    (rf"[{_NUMERAL}\d].*", rf"[{_NUMERAL}\d百千万几数第每隔点]", _NEVER),
    (r".*前", "[到至或约过于]", "[端后台往进线提途方面]"),
    (r"(?:[前后]天|前晚|前年).*", "[以之然当目先从生提今午雨饭往随此战年月日周期面眼跟最]", "[气空然才]"),
    (r"今.*", "(?<![例比譬])如", "头条"),
    (r"[今去前]年|\d{4} ?年", "[过失逝如]", "[轻代龄级]"),
    (r"上.*", "[晚早马路街身海网线以桌船天地世史车班手墙会]", "[围边岁遭]"),
    (r"上个?月", _NEVER, "[亮球光饼色]"),
    (r"本.*", rf"[日书样基根课剧{_NUMERAL}几]", _NEVER),
    (r"[这本]个?周", _NEVER, "[围边刊]"),
    (rf"[\d{_NUMERAL}]+ ?月", "[第逐隔几近]", rf"[\d天河雪瓜]|[{_NUMERAL}几]+[次回趟]"),
    (r".*号", _NEVER, "[线楼院店]"),
    (".*中", _ALWAYS, _ALWAYS),  # 2021年中国: the year alone is named as well
    (".*初", _NEVER, "[中级次]"),
)

_ONLY = (  # a mention only if this stands before it, or that after it
    (r"\d{4}", r"\b(?:in|since|during) ", _NEVER),
    (_MONTH, r"\b(?:in|since|during|until|till) ", _NEVER),
    (rf"{_WEEKDAY}{_PART}", r"\b(?:on|since|from) ", r"'s\b|’s\b"),
    (r"(?:(?:the |this )?past |the )?weekend", r"\b(?:over|during|since) ", _NEVER),
    (
        r"(?:last|past) (?:\d|(?:a )?couple|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) ).*"
        r"|past (?:hour|day|week|month|year)",
        r"\b(?:in|over|during|for|within|since|of) ",
        _NEVER,
    ),
)
_SMALL = (  # and this only in small letters: "may" and "march" are words as well
    r"(?:(?:early|mid|late|last)[ -])?(?:may|mar|march)(?: \d{1,2})?|\d{1,2} (?:may|mar|march)",
    r"\b(?:on|in|since|during|until|by|from)(?: the)? ",
    _NEVER,
)
