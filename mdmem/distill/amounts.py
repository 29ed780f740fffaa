"""Numbers with what they count: their sign, currency and unit, and the words beside them.

Pure, for English and Chinese. It must never take two amounts for one because their digits are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mdmem.distill.dating import MONTHS
from mdmem.distill.figures import NUMBER, NUMERAL, WORD_NUMBER, digits
from mdmem.distill.words import content, is_frame, names, pool, shown, stem, wide_pool
from mdmem.text.analyze import is_cjk, unify

_SAME: dict[str, tuple[str, ...]] = {
    "€": ("€", "euro", "eur", "欧元"),
    "$": ("$", "dollar", "usd", "buck", "美元", "美金", "刀"),
    "£": ("£", "pound", "gbp", "英镑"),
    "¥": ("¥", "￥", "yuan", "rmb", "cny", "元", "块", "人民币"),
    "yen": ("yen", "jpy", "日元", "円"),
    "%": ("%", "percent", "per cent"),
    "h": ("h", "hr", "hrs", "hour", "小时", "个小时", "钟头"),
    "min": ("min", "mins", "minute", "分钟"),
    "s": ("s", "sec", "secs", "second", "秒"),
    "kg": ("kg", "kilo", "kilogram", "公斤", "千克"),
    "g": ("g", "gram", "克"),
    "mg": ("mg", "milligram", "毫克"),
    "km": ("km", "kilometer", "kilometre", "公里", "千米"),
    "m": ("m", "meter", "metre", "米"),
    "cm": ("cm", "centimeter", "centimetre", "厘米"),
    "ml": ("ml", "毫升"),
    "day": ("day", "daily", "天", "日", "号"),
    "week": ("week", "weekly", "周", "星期", "个星期"),
    "month": ("month", "monthly", "个月"),
    "year": ("year", "年"),
    "cup": ("cup", "杯"),
    "degree": ("degree", "°", "度"),
    "am": ("am", "a.m"),
    "pm": ("pm", "p.m"),
    "people": ("people", "person", "人", "个人"),
}
_UNITS = {stem(name): unit for unit, known in _SAME.items() for name in known}
_WIDEST = max(map(len, _UNITS))
_MONTH = re.compile(
    r"(?:january|february|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber)\b|[a-z]{3}\b"
)
_AFTER = re.compile(r"(?:st|nd|rd|th)?\b[ \t-]?(?:(?:a|per|each|every) )?|[ \t]?")
_MEASURES = (
    "个只条张本台件位名次杯瓶碗盒片粒颗枚把辆间套层楼路号版章页行字篇步级折倍岁口头匹"
    "根双对组批届期集部首座栋斤米元分秒时天周月年"
)
"""Characters that may stand behind a number for what it counts."""
_WORD = re.compile(r"[a-z][a-z.]*[a-z]|[a-z]")
_SIGN = re.compile(r"(?:(?<![\w)\]])[-−–]|minus |负|零下)[ \t]?[€$£¥￥]?\Z")
_MONEY = re.compile(r"([€$£¥￥]|\b(?:eur|usd|gbp|cny|jpy))[ \t]?[-−–]?\Z")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, with `-` where it is negative, what it counts ("" for nothing), and the words up to the next ones."""

    value: str
    unit: str
    before: str
    after: str


_MARK = re.compile(r"\d+:[\d:]+|\d+(?:\.\d+){2,}(?::\d+)?")


@lru_cache(maxsize=256)
def amounts(text: str, *, marks: bool = False) -> tuple[Amount, ...]:
    """List the numbers of a text, in order. What belongs to a name (`N4`, `v1.0`) is none, nor is a date.

    Times and addresses (`10:30`, `10.0.3.12`) are `marks`, which are listed instead.
    """
    folded = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unify(text).casefold())
    spans = sorted({match.span() for kind in (NUMBER, WORD_NUMBER, NUMERAL) for match in kind.finditer(folded)})
    found, last = [], 0
    for place, (start, end) in enumerate(spans):
        following = spans[place + 1][0] if place + 1 < len(spans) else len(folded)
        if not _is_name(folded, start, end) and bool(_MARK.fullmatch(folded[start:end])) == marks:
            value = ("-" if _SIGN.search(folded[:start]) else "") + digits(folded[start:end])
            before = next(filter(content, (_sentence_end(folded[last:start]),)), folded[last:start])
            found.append(Amount(value, _unit(folded, start, end), before, _sentence_start(folded[end:following])))
        if content(folded[last:start]):
            last = end
    return tuple(found)


def _is_name(text: str, start: int, end: int) -> bool:
    glued = start and text[start - 1] not in "-−–" and re.match(r"[a-z_.]", text[start - 1])
    return bool(glued) or bool(re.search(r"[/-]", text[start:end]))


def _sentence_end(text: str) -> str:
    return re.split(r"[.!?。！？\n]\s", text)[-1]


def _sentence_start(text: str) -> str:
    return re.split(r"[.!?。！？\n](?:\s|\Z)|[,，;；]|\band\b", text)[0]


def _unit(text: str, start: int, end: int) -> str:
    money = _MONEY.search(text[:start])
    if money:
        return _UNITS[money[1]]
    gap = _AFTER.match(text, end)
    at = gap.end() if gap else end
    if text[at : at + 1] and is_cjk(text[at]):
        known = (text[at : at + size] for size in range(min(4, _WIDEST), 0, -1))
        return next((_UNITS[name] for name in known if name in _UNITS), text[at] if text[at] in _MEASURES else "")
    if text[at : at + 1] in _UNITS and not text[at].isalnum():
        return _UNITS[text[at]]
    word = _WORD.match(text, at)
    if not word or (is_frame(word[0]) and word[0] != "am"):
        earlier = re.search(r"([a-z]+)\.? \Z", text[:start])
        return _month(earlier[1]) if earlier else ""
    return _month(word[0]) or _UNITS.get(stem(word[0]), stem(word[0]))


def _month(word: str) -> str:
    return word[:3] if word[:3] in MONTHS and _MONTH.fullmatch(word) else ""


def strange(text: str, told: str, old: str = "") -> Iterator[str]:
    """Yield of which amounts of a claim its sources count something else, or say something else.

    What its sources do not count at all may stand in the old line.
    """
    people = frozenset(unit for name in names(f"{told}\n{old}") for unit in content(name))
    for one in amounts(text):
        for known in (amounts(told), amounts(old)):
            same = [each for each in known if each.value == one.value]
            alike = [
                each
                for each in same
                if not one.unit or each.unit == one.unit or _names(one, each) or _is_implied(one, each, text)
            ]
            if alike:
                break
        if not alike:
            yield f"its sources do not say {one.value} {shown(one.unit, text)}".strip()
        elif not any(_is_beside(one, each, known, people) for each in alike):
            yield f"its sources say {one.value} of something else"
    for one in amounts(text, marks=True):
        known = (*amounts(told, marks=True), *amounts(old, marks=True))
        alike = [each for each in known if each.value == one.value]
        if alike and not any(_is_beside(one, each, known, people) for each in alike):
            yield f"its sources say {one.value} of something else"


def _names(one: Amount, other: Amount) -> bool:
    """Tell whether a claim's unit is a word that stands elsewhere beside the number: `batch size 500`."""
    return not other.unit and wide_pool(other.before).has(one.unit)


def _is_implied(one: Amount, other: Amount, text: str) -> bool:
    """Tell whether a claim says `11 years old` of who just is eleven, or 元 of what costs 4500 in Chinese."""
    if other.unit:
        return False
    return (one.unit == "year" and bool(_OLD.search(text))) or (one.unit == "¥" and any(map(is_cjk, other.before)))


_OLD = re.compile(r"years?[ -]old\b", re.IGNORECASE)


def _is_beside(one: Amount, other: Amount, known: Sequence[Amount], people: frozenset[str]) -> bool:
    """Tell whether the words in front of a number stand beside it in the source, and none beside another one alone."""
    beside = wide_pool(f"{other.before} {other.after}")
    others = [each for each in known if each is not other]

    def is_apart(said: str, places: Sequence[str]) -> bool:
        strays = [unit for unit in content(said) if not beside.has(unit) and unit not in people]
        return any(pool(place).has(unit) for unit in strays for place in places)

    before, after = ([getattr(each, name) for each in others] for name in ("before", "after"))
    return not is_apart(one.before, before) and not is_apart(one.after, after)
