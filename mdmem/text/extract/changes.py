"""Which earlier line a new claim makes untrue: a value that moved, a habit that ended, a word taken back.

Owns how a change is put ("now", "was", "any more", 改成, 不再) and what has to be the same for it to be one: who it is
about, and what. It must never guess: another person, another subject or a mere addition is no change, and where two
lines could be meant it names none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mdmem.model import Claim
from mdmem.text.claims import fold
from mdmem.text.extract.parts import CLAUSE, ENDED, WAS, Line, numbers_of, overlap, read, words_of
from mdmem.text.extract.phrases import joined

Similar = Callable[[str, str], float]

NEAR = 0.5
"""Share of the words of the shorter line, values apart, that both have where one of them tells of a change."""

ALIKE = 0.8
"""The same where neither tells of one, and only a value differs that a thing has one of."""

CLOSE = 0.8
"""Cosine that makes up for words, where there is a model."""

SHARED = 2
"""Words that both lines have, where a number alone tells that they are about the same."""

APART = 0.05
"""How much surer the surest line is than the next, so that it is the one that is meant."""

_CHANGED = re.compile(
    joined(
        r"""
        \b(?:now|no longer|any ?more|instead|previously|formerly|changed?|moves? to|moved (?:from|to)|switch(?:ed|es)?
        |rescheduled|postponed|brought forward|raised|lowered|increased|reduced|renamed|replaced|took over|takes over
        |upgraded|(?:'s|my|our) new|as of|from (?:now|today|next)|after all)\b
        |改|换|不再|现在|目前|原来|之前是|以前是|搬|调到|调成|升级|推迟|提前|延期|接手|接管|转到|迁到|从今天起
        |从现在起|以后|今后|新的?(?:电话|地址|邮箱|号码|导师|老板)
        """
    ),
    re.IGNORECASE,
)
_OVER = re.compile(
    joined(
        r"""
        \b(?:no longer|any ?more|stopped|quit|gave up|given up|never again|no more|after all)\b|不.{1,12}了|戒
        |不再|再也不
        """
    ),
    re.IGNORECASE,
)
_SINGLE = ("number", "weekday", "time", "phone", "role")
"""Values that a thing has one of, so that another one needs no word for it."""

_OF_THINGS = frozenset(
    ["port", "version", "limit", "timeout", "batch", "quota", "端口", "版本", "上限", "超时", "批量"]
)
"""What has a number and is no person's."""

_NOW_ZH = re.compile(
    joined(
        r"""
        (?P<subject>[^，,。]{2,14}?)(?:现在|已经|也)?(?:换成|改成|改为|改叫|改由|变成
        |改名)了?叫?(?P<value>[^，,。]+)
        """
    )
)
_IS_ZH = re.compile("(?P<subject>[^，,。]{2,14}?)(?:现在|目前)?(?:是|为|叫做?|：|:)(?P<value>[^，,。]+)")
_NOW = re.compile(
    joined(
        r"""
        (?P<subject>.{3,60}?) (?:is|are) now (?P<how>called|named|the|on|at|in|set to|capped at|limited to
        |pinned to|hosted on)\b
        """
    )
)
_IS = re.compile(
    joined(
        r"""
        (?P<subject>.{3,60}?) (?:is|are) (?P<how>called|named|the|on|at|in|set to|capped at|limited to|pinned to
        |hosted on)\b
        """
    )
)
_TAKEN_UP = re.compile(r"(?:改|换成?)(?P<verb>[吃喝用骑坐穿看听])(?P<what>[\u3400-\u9fffA-Za-z ]{1,8})")


def replaced(claim: Claim, known: Sequence[str], *, similar: Similar | None = None) -> str:
    """Return the one of the `known` texts of memory that a claim makes untrue; "" when none surely is.

    `similar` is the cosine of two texts by a model, where there is one.
    """
    new, same = read(claim.text), fold(claim.text)
    others = [text for text in dict.fromkeys(known) if fold(text) != same]
    scored = sorted(((_conflict(new, read(text), similar), text) for text in others), reverse=True)
    if not scored or not scored[0][0] or (len(scored) > 1 and scored[0][0] - scored[1][0] < APART):
        return ""
    return scored[0][1]


def _conflict(new: Line, old: Line, similar: Similar | None) -> float:
    """Return how sure it is that the new line makes the old one untrue, 0 for not at all."""
    near = overlap(new.topic, old.topic)
    if new.kin != old.kin or new.spoken != old.spoken:
        return 0.0
    if new.who != old.who:  # "PgBouncer is …, port 6432 instead of 5433": the name of a thing looks like a person's
        return _number_before(new, old)
    if similar and 0.2 <= near < NEAR and similar(new.text, old.text) >= CLOSE:
        near = NEAR
    return max(
        _named_before(new, old, near),
        _moved(new, old, near),
        _ended(new, old),
        _taken_up(new, old),
        _turned(new, old),
        _renamed(new, old),
    )


def _named_before(new: Line, old: Line, near: float) -> float:
    """The new line says what was so before, and the old one says that."""
    for found in WAS.finditer(new.text):
        before = next(group for group in found.groups() if group)
        words = words_of(before)
        near = max(near, _heads(new, old) if found["d"] else 0.0)
        if found["c"] and not words & old.given:  # "- it was powerful" is no value that another took the place of
            continue
        if words and words <= old.words | old.given and (near >= 0.3 or numbers_of(before) & old.given):
            shared = new.topic & old.topic
            if shared - words:
                return 2.0 + near
    return 0.0


def _heads(new: Line, old: Line) -> float:
    """Return how much the first clauses of both are about the same; what follows is mostly the reason."""
    one, other = (words_of(CLAUSE.split(line.text)[0]) - line.given for line in (new, old))
    return overlap(one, other)


def _number_before(new: Line, old: Line) -> float:
    """The new line says which number was so before, and the old one has it, of the same thing."""
    for found in WAS.finditer(new.text):
        before = numbers_of(next(group for group in found.groups() if group))
        shared = new.topic & old.topic
        if before and before & old.given and len(shared) >= SHARED and shared & _OF_THINGS:
            return 1.8
    return 0.0


def _moved(new: Line, old: Line, near: float) -> float:
    """The same thing has another value of the same sort."""
    sorts = [sort for sort in new.values if sort in old.values and not new.values[sort] & old.values[sort]]
    only = [sort for sort in sorts if sort in ("place", "work")]
    changed = bool(_CHANGED.search(new.text))
    if ("place" in only or (only and changed)) and new.times == old.times:
        return 1.5 + near
    need = NEAR if changed else ALIKE
    if not sorts or near < need or new.negative != old.negative:
        return 0.0
    if not changed and not (len(sorts) == 1 and sorts[0] in _SINGLE and len(new.topic) >= 2):
        return 0.0
    return 1.0 + near


def _ended(new: Line, old: Line) -> float:
    """A clause says that something is no longer done, and the old line says that it is."""
    if old.negative:
        return 0.0
    for clause in CLAUSE.split(new.text):
        if _OVER.search(clause) or (ENDED.search(clause) and _CHANGED.search(new.text)):
            words = words_of(clause)
            held = [word for word in words if word in old.words or (len(word) == 1 and word in old.text)]
            if words and len(held) >= max(min(2, len(words)), 0.75 * len(words)):
                return 1.2 + len(held) / len(words)
    return 0.0


def _taken_up(new: Line, old: Line) -> float:
    """Chinese: 改喝咖啡 ends what was drunk at that time of the day."""
    for found in _TAKEN_UP.finditer(new.text):
        habit = re.search(found["verb"] + r"(?P<what>[\u3400-\u9fffA-Za-z ]{1,8})", old.text)
        parts = new.times == old.times or (not old.times and not new.times)
        told = not ENDED.search(CLAUSE.split(old.text)[0])
        if habit and parts and told and not words_of(found["what"]) & words_of(habit["what"]):
            return 1.1
    return 0.0


def _renamed(new: Line, old: Line) -> float:
    """The same thing is now called, or is, something else: X is now …, X 换成了 …"""
    for now, was in ((_NOW_ZH, _IS_ZH), (_NOW, _IS)):
        one, other = now.match(new.text), was.match(old.text)
        if not one or not other or (now is _NOW and one["how"] != other["how"]):
            continue
        if words_of(one["subject"]) == words_of(other["subject"]) != frozenset():
            return 1.6
    return 0.0


def _turned(new: Line, old: Line) -> float:
    """Both say the same, one of them with a "not"."""
    near = overlap(new.words, old.words, wide=True)
    return 1.0 + near if new.negative != old.negative and near >= ALIKE and len(new.words & old.words) >= 2 else 0.0
