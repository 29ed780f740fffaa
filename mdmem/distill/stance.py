"""Whether a claim says yes where its source says no, or is surer than it.

Owns those comparisons, clause by clause, by the words that show them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mdmem.distill import limits, partners
from mdmem.distill.clauses import Clause, clauses, denied, negations
from mdmem.distill.partners import nearest
from mdmem.distill.words import content, stem, wide_pool


def contradiction(text: str, told: str) -> str:
    """Say that a clause of a claim says no where its source says yes, or more than its source does; else ""."""
    return next(filter(None, (_doubt(clause, told) for clause in clauses(text))), "")


def _doubt(clause: Clause, told: str) -> str:
    units = content(clause.text)
    near = nearest(units, told) or partners.cover(clause, units, told)
    if not units or not near:
        return ""
    turned = all((negations(one.text) - negations(clause.text)) % 2 for one in near)
    if turned and not _denies_rest(clause, near, told) and not _prefers(clause, near):
        return "its source says the opposite"
    if all(one.asks for one in near) and not clause.asks:
        return "its source only asks"
    said = [one.text for one in near]
    if _HAS.search(clause.text) and not _WISHES.search(clause.text) and all(map(_WISHES.search, said)):
        return "its source only wishes so"
    if not _MEANT.search(clause.sentence) and all(map(_intends(clause.text, units), said)):
        return "its source only wishes or plans so"
    if beyond := limits.beyond(clause, near):
        return beyond
    for sign, kept, reason in _HEDGES:
        if all(sign.search(one.sentence) for one in near) and not kept.search(clause.sentence):
            return reason
    return ""


def _prefers(clause: Clause, near: Sequence[Clause]) -> bool:
    """Tell whether a clause says "rather than" of what its source is said to be better than."""
    return bool(_RATHER.match(clause.text)) and all(_THAN.search(one.sentence) for one in near)


_RATHER = re.compile(r"(?i)\W*(?:instead of|rather than|not|而非|而不是)")
_THAN = re.compile(r"(?i)\b(?:over|than|instead|prefers?|rather)\b|比起|代替|取代|不")


def _intends(said: str, units: Sequence[str]) -> Callable[[str], bool]:
    """Tell whether a text only wishes, or plans, what a claim says as if it were so; "Do it" says no more either."""
    first = said.split()[0].casefold()

    def is_said(verb: str, sign: str) -> bool:
        return sign in "".join(units) if sign else stem(verb) in units and verb != first

    def intends(text: str) -> bool:
        return any(is_said((match[1] or "").casefold(), match[2] or "") for match in _TO.finditer(text))

    return intends


def _denies_rest(clause: Clause, near: Sequence[Clause], told: str) -> bool:
    """Tell whether a clause has its no from another clause of its source: `ran, but no pain` as `ran without pain`."""
    no = content(denied(clause.text)) if clause.text.isascii() and negations(clause.text) == 1 else ()
    others = (one for one in clauses(told) if one not in near)
    return bool(no) and any(all(map(wide_pool(denied(one.text)).has, no)) for one in others)


_IF = re.compile(r"(?i)\b(?:if|unless|in case|provided)\b|如果|(?<!主)要是|假如|假设|除非|万一|的话")
_WHEN = re.compile(rf"{_IF.pattern}|\b(?:when|whenever|where|once|only)\b|若|只有|时")
_BEFORE = re.compile(
    r"(?i)\b(?:used to|formerly|previously|no longer|any ?more)\b"
    r"|\bover (?:my|his|her|their)\b"
    r"|(?<![日号天点月年一二三四五六])以前|从前|曾|(?<![发寄送搬])过去|原来|原先|不再"
)
_HAS = re.compile(r"(?i)\b(?:has|have|owns?)\b|有")
_WISHES = re.compile(r"(?i)\b(?:wants?|wish(?:es)?|hopes?|needs?|(?:would|['’]d) (?:like|love))\b|想|希望|需要|打算")
UNSURE = re.compile(
    r"(?i)\b(?:maybe|perhaps|might|possibly|not sure|unsure|apparently|thinking (?:of|about)|considering"
    r"|rumou?rs?|suggest(?:s|ed)?|undecided|(?:not|n['’]t) (?:yet )?decided|on the fence|tempted|whether to"
    r"|propos(?:es?|ed)|(?:would|['’]d) (?:love|like) to (?:try|learn|visit|go|see))\b"
    r"|可能|也许|或许|大概|好像|似乎|不确定|说不定|据说|考虑|要不要|[还没]没?(?:定|想好)|犹豫|再想想|纠结|建议"
)

_TO = re.compile(
    r"(?i)\b(?:wants?|wanted|hop(?:es?|ed|ing)|wish(?:es|ed)?|(?:would|['’]d) (?:like|love)|(?:was|were) going"
    r"|intends?) to ([a-z]+)\b|(?:想|希望|打算)(?!要不要)([\u4e00-\u9fff])"
)
_MEANT = re.compile(
    r"(?i)\b(?:wants?|hop(?:es?|ing)|plans?|planning|wish(?:es)?|intends?|aims?|will|going to|would|goal"
    r"|prefers?|needs?)\b"
    r"|想|希望|打算|计划|准备|要|将|会|愿|偏好|喜欢|倾向|目标|需"
)
_ABOUT = re.compile(rf"{UNSURE.pattern}|\b(?:about|around|approximately|roughly|some)\b|约|左右|上下")
_PART = re.compile(
    r"(?i)\b(?:half (?:of )?(?:the|my|our)|(?:some|part|most|two|three|four|five) of (?:the|my|our)|sometimes"
    r"|occasionally|rarely|seldom)\b|一半|部分|多数|少数|偶尔|有时|很少"
)
_NOT_QUITE = re.compile(
    r"(?i)\b(?:fail(?:s|ed)? to|forgot(?:ten)?|almost|nearly|tr(?:y|ies|ied|ying) to|attempted|hardly"
    r"|barely|scarcely|doubts?|doubted|false|untrue|pretends?|supposed to|about to)\b|差点"
    r"|差一点|(?<!别)(?<!不)忘|怀疑|试图|没能"
)
_HEARSAY = re.compile(
    r"(?i)(?<!i )\b(?:thinks?|thought)\b|\b(?:claims?|believes?|according to|heard|dream(?:t|ed|s)?|jok(?:es?|ed|ing)"
    r"|novel|suppose|imagine|it would be|i wish)\b|梦见|做梦|听说|据说|开玩笑"
)
_ONLY = re.compile(r"(?i)\b(?:only|solely|exclusively|just|limited)\b|仅|只[有能在]|限")
_HEDGES = (
    (UNSURE, _ABOUT, "its source is less sure"),
    (_IF, _WHEN, "its source says so on a condition"),
    (_BEFORE, _BEFORE, "its source says so of what was"),
    (_NOT_QUITE, _NOT_QUITE, "its source says that it did not quite come to it"),
    (_HEARSAY, _HEARSAY, "its source only heard, thinks or dreams so"),
    (_PART, _PART, "its source says so of a part, or at times"),
    (_ONLY, _ONLY, "its source says so within limits"),
)
"""What a sentence has in front of something, what a claim must then have as well, and what it means to leave it out."""
