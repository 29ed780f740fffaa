"""Whether a claim says yes where its source says no, is surer than it, or makes all of some and now of then.

Owns those comparisons, clause by clause, by the words that show them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmem.distill import partners
from mdmem.distill.clauses import Clause, clauses, denied, negations
from mdmem.distill.partners import nearest
from mdmem.distill.words import content, wide_pool


def contradiction(text: str, told: str) -> str:
    """Say that a clause of a claim says no where its source says yes, or more than its source does; else ""."""
    return next(filter(None, (_doubt(clause, told) for clause in clauses(text))), "")


def _doubt(clause: Clause, told: str) -> str:
    units = content(clause.text)
    near = nearest(units, told) or partners.cover(clause, units, told)
    if not units or not near:
        return ""
    turned = all((negations(one.text) - negations(clause.text)) % 2 for one in near)
    if turned and not _denies_rest(clause, near, told):
        return "its source says the opposite"
    if all(one.asks for one in near) and not clause.asks:
        return "its source only asks"
    said = [one.text for one in near]
    if _HAS.search(clause.text) and not _WISHES.search(clause.text) and all(map(_WISHES.search, said)):
        return "its source only wishes so"
    if _ALL.search(clause.text) and all(map(_SOME.search, said)) and not any(map(_ALL.search, said)):
        return "its source says so of a part"
    for sign, kept, reason in _HEDGES:
        if all(sign.search(one.sentence) for one in near) and not kept.search(clause.sentence):
            return reason
    return ""


def _denies_rest(clause: Clause, near: Sequence[Clause], told: str) -> bool:
    """Tell whether a clause has its no from another clause of its source: `ran, but no pain` as `ran without pain`."""
    no = content(denied(clause.text)) if clause.text.isascii() and negations(clause.text) == 1 else ()
    others = (one for one in clauses(told) if one not in near)
    return bool(no) and any(all(map(wide_pool(denied(one.text)).has, no)) for one in others)


_IF = re.compile(r"(?i)\b(?:if|unless|in case|provided)\b|如果|(?<!主)要是|假如|假设|除非|万一|的话")
_WHEN = re.compile(rf"{_IF.pattern}|\b(?:when|whenever|where|once|only)\b|若|只有|时")
_BEFORE = re.compile(
    r"(?i)\b(?:used to|formerly|previously|no longer|any ?more)\b"
    r"|(?<![日号天点月年一二三四五六])以前|从前|曾|(?<![发寄送搬])过去|原来|原先|不再"
)
_ALL = re.compile(r"(?i)\b(?:all|every|always|everyone|everything|each)\b|都|全部|所有|总是|每次|一律|一直")
_SOME = re.compile(
    r"(?i)\b(?:only|some|sometimes|part|partly|few|several|most|occasionally|half)\b|部分|有[些的时]|偶尔|少数|一些|几个|仅|只(?!要)"
)
_HAS = re.compile(r"(?i)\b(?:has|have|owns?)\b|有")
_WISHES = re.compile(r"(?i)\b(?:wants?|wish(?:es)?|hopes?|needs?|(?:would|['’]d) (?:like|love))\b|想|希望|需要|打算")
UNSURE = re.compile(
    r"(?i)\b(?:maybe|perhaps|might|possibly|not sure|unsure|apparently|thinking (?:of|about)|considering"
    r"|rumou?rs?|suggest(?:s|ed)?|undecided|(?:not|n['’]t) (?:yet )?decided|on the fence|tempted|whether to"
    r"|propos(?:es?|ed)|(?:would|['’]d) (?:love|like) to (?:try|learn|visit|go|see))\b"
    r"|可能|也许|或许|大概|好像|似乎|不确定|说不定|据说|考虑|要不要|[还没]没?(?:定|想好)|犹豫|再想想|纠结|建议"
)

_HEDGES = (
    (UNSURE, UNSURE, "its source is less sure"),
    (_IF, _WHEN, "its source says so on a condition"),
    (_BEFORE, _BEFORE, "its source says so of what was"),
)
"""What a sentence has in front of something, what a claim must then have as well, and what it means to leave it out."""
