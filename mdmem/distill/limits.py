"""Whether a claim goes beyond what its source says of: how many, until when, for whom, in what state.

Owns those comparisons of one clause of a claim with those it rests on, by the words that show them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmem.distill.clauses import Clause
from mdmem.distill.dating import parts
from mdmem.distill.partners import stands, things
from mdmem.distill.words import wide_pool


def beyond(clause: Clause, near: Sequence[Clause]) -> str:
    """Say how a clause goes further than the clauses that it rests on; "" where it does not."""
    said = [one.text for one in near]
    if _ALL.search(clause.text) and all(map(_SOME.search, said)) and not any(map(_ALL.search, said)):
        return "its source says so of a part"
    if any(end.search(clause.text) and all(map(other.search, said)) for end, other in _BOUNDS):
        return "its source says at least, or at most, the other way round"
    if (state := _state(clause.text)) and all(_state(one) not in ("", state) for one in said):
        return f"its source does not say {state}"
    if _drops(clause, near, _LIMIT) or (_MAY.search(clause.text) and _drops(clause, near, _MAY)):
        return "its source says so within limits"
    return ""


def _state(text: str) -> str:
    """Give the state in which a clause says something to be: on, off, open or closed; else ""."""
    found = _STATE.search(text)
    return found[1].casefold().replace("shut", "closed") if found else ""


def _drops(clause: Clause, near: Sequence[Clause], limit: re.Pattern[str]) -> bool:
    """Tell whether the sources go on, behind a sign, with something of which a claim has nothing."""
    here, dates = wide_pool(clause.sentence), set(parts(clause.sentence))
    tails = [things(found[1] or "") if (found := limit.search(one.text)) else set() for one in near]
    return all(tail and not any(each in dates or stands(each, here) for each in tail) for tail in tails)


_ALL = re.compile(r"(?i)\b(?:all|every|always|everyone|everything|each)\b|都|全部|所有|总是|每次|一律|一直")
_SOME = re.compile(
    r"(?i)\b(?:only|some|sometimes|part|partly|few|several|most|occasionally|half)\b|部分|有[些的时]|偶尔|少数|一些|几个|仅|只(?!要)"
)
_LEAST = re.compile(r"(?i)\b(?:at least|minimum|no (?:less|fewer) than|or more)\b|至少|最少|不少于|起码|以上")
_MOST = re.compile(r"(?i)\b(?:at most|maximum|max|up to|no more than)\b|至多|最多|不超过|以内|以下")
_BOUNDS = ((_LEAST, _MOST), (_MOST, _LEAST))
_LIMIT = re.compile(r"(?i)\b(?:until|till|unless|except|pending|as long as|(?:over|under|above|below)(?= \d))\b(.*)")
_MAY = re.compile(
    r"(?i)\b(?:may|can|must|should|allowed|safe|okay|ok|free|take|works?|stays?)\b"
    r"(?:.*\b(?:with|on|for|before|after|when|in|at|during)\b(.*))?"
)
"""What is allowed, or advised; and what stands behind it of when, with what and for whom."""

_STATE = re.compile(
    r"(?i)\b(?:is|are|be|stays?|kept|left|turned|switched) (?:still |now |always )?(on|off|open|closed|shut)\b"
    r"(?! (?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|the|my|our|a|an)\b)"
)
