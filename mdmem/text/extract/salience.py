"""How sure it is that a sentence is a claim, and of which kind.

Owns the weighing: what the rules of a language found, raised by what is specific and lowered by what passes or points
elsewhere. It must never read more than the sentence and the day it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby

from mdmem.model import ClaimKind
from mdmem.text import screen
from mdmem.text.extract import chinese, english, noise
from mdmem.text.extract.days import is_ahead, is_dated
from mdmem.text.extract.phrases import joined
from mdmem.text.extract.sentences import Sentence

_ORDER: tuple[ClaimKind, ...] = ("todo", "decision", "preference", "fact")
"""Which kind goes first where two are as sure."""

LABELLED = 0.8
"""What a label, a heading or a box is worth."""

SPECIFIC = 0.1
"""What a number, a name or a day adds to a fact."""

_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_VALUE = re.compile(r"\d|`|\ue000|(?<=[a-z,’'] )[A-Z][\w-]+|[a-z]\.[a-z]|_")
_VALUE_ZH = re.compile(
    joined(
        r"""
        \d|[A-Za-z]{2,}|\ue000|[一二三四五六七八九两][百千万十]|[一二两三四五六七八九十百千]{1,3}(?:点|号|天|周|个
        |条|次|岁|分|元|块|楼|层|台|年)|《
        """
    )
)
_ELSEWHERE = re.compile(
    joined(
        r"""
        ^(?:he|she|they|it(?!'s (?:decided|settled|official))|this|that|these|those|his|her|their|its|here|one
        |which|who|both|same|such|the (?:other|same|latter|former|(?:\w+ )?one))\b|^(?:他|她|它|他们|她们|这(?!周
        |个?月|个(?:项目|仓库|版本|季度|学期)|学期|几天|两天|家|种|类)|那|此|其(?!实|中)|该|两者|后者
        |前者)(?!里的)
        """
    ),
    re.IGNORECASE,
)
_POINTS = re.compile(
    joined(
        r"""
        ^(?:[\w'’]+ ){0,6}(?:them|it|this|that|those|these|him|her)[.!]*$|^.{0,8}(?:它们?|这个|那个|这样
        |那样)[。！]*$
        """
    ),
    re.IGNORECASE,
)
_PASSING = re.compile(
    joined(
        r"""
        (?<!from )(?<!starting )(?<!as of )\b(?:today|tonight|this (?:morning|afternoon|evening|week)|right now
        |at the moment|just now|an? (?:hour|minute)s? ago|last night|yesterday)\b|(?<!从)今[天早晚]|刚刚?(?!好|需
        |性)|此刻|昨[天晚]|正在(?!学|备|准|写)|这会儿
        """
    ),
    re.IGNORECASE,
)
_NOW = re.compile(
    joined(
        r"""
        ^today\b|\b(?:tonight|this (?:morning|afternoon|evening)|right now|at the moment|just now|here)\b|此刻
        |这会儿|刚刚?(?!好|需|性)
        """
    ),
    re.IGNORECASE,
)
_EATEN = re.compile(
    r"\b(?:tonight|for (?:dinner|lunch|breakfast)|this evening)\b|今晚(?:吃|去|看)|晚饭|午饭", re.IGNORECASE
)
_PAST = re.compile("^(?!.*(?:答应|承诺|欠|保证)).*[^为除到忘]了(?!解|断)")
_NEWS = re.compile(
    joined(
        r"""
        居然|竟然|没想到|果然|味道|^(?:上|这|本)?(?:周|星期)[一二三四五六日天末](?:早上|下午
        |晚上)?的[^，。]{1,16}(?:了|没)
        |(?:until|till|(?<![从改调挪迟前延换移放定])到) ?(?:周|星期|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)
        |\bon site\b
        |\bfor (?:this|the) (?:week|day)\b|\bonce more\b|\bagain[.!]*$|\b(?:on|off) again\b|\bin the (?:envelope|mail
        |post)\b
        """
    ),
    re.IGNORECASE,
)
"""A day's news, or what somebody made of it."""

_OF_IT = re.compile(r"^\w+ (?:it|them|this|that|him|her|one)\b|^把(?:它|他|她|这)", re.IGNORECASE)
_ON_IT = re.compile(r"\w+ (?:against|for|on|with|to) (?:it|this|that|them|so)\b", re.IGNORECASE)
_LETS = re.compile(r"let'?s\b", re.IGNORECASE)
_BEFORE = re.compile(
    joined(
        r"""
        \b(?:this|these|those) (?!(?:week|month|year|weekend|morning|afternoon|evening|spring|summer|autumn|fall
        |winter|term|semester|season|repo\w*|project|vault|machine|account|house|country|city|time|days)\b)
        |\b(?<!after )(?<!before )(?<!like )(?:this|these|those|that)[.!]|(?:to|in|of|with|from|at) that \w+[.!]
        |(?:against|for|with|do|on) (?:it|this|that|them)\b[,.]|^(?:[\w'’]+ ){0,3}(?:I|we|I've|I'm
        |we've)(?: [\w']+){1,2} (?:it|them|him|her)\b(?! when)
        """
    ),
    re.IGNORECASE,
)
_DONE = re.compile(
    joined(
        r"""
        \b(?:already|done|finished|completed|✅|☑|✔)\b|[✅☑✔✓]|^(?:sent|paid|called|booked|bought|ordered)\b
        |已经?(?:发|交|寄|买|订|还|给|送|做|办|付|完成|搞定|打|换|修|提交|回复)|(?:发|交|寄|买|订|还|送|做|办|付
        |完成|搞定|打|换|修|提交)(?:好|完|过)?了(?:[，,。！!]|$)|(?:发|交|寄|还|送|借|打)(?:给|过去|到
        |出去).{0,12}了(?:[，,。！!]|$)|承诺(?:完成|兑现)
        """
    ),
    re.IGNORECASE,
)
_STILL = re.compile(
    joined(
        r"""
        \b(?:still (?:need|have)|need to|have to|must|don't forget)\b|要(?!求)|得把|必须|记得|别忘|之前
        """
    ),
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:I|I'm|I've|I'll|I'd|my|we|our)\b|(?:^|[，,；])(?:我|咱)")


def weighed(sentence: Sentence, said: datetime | None, *, agent: bool = False) -> tuple[ClaimKind, float] | None:
    """Return the kind of claim and the confidence, from 0 to 1; None for a sentence that is none.

    `agent`: a program wrote the entry, so that "I" is no person.
    """
    if noise.refuses(sentence) or screen.clean(sentence.text, one_line=True) != sentence.text:
        return None
    kinds = _found(sentence)
    for kind in kinds:
        kinds[kind] += 0.12 * (kind == "todo" and is_ahead(sentence.masked, said)) - _less(sentence, kind, said)
    if not kinds:
        return None
    kind = max(kinds, key=lambda each: (kinds[each], -_ORDER.index(each)))
    less = noise.doubt(sentence) + (0.4 if agent and _FIRST.search(sentence.masked) else 0.0)
    return kind, max(0.0, min(0.95, kinds[kind] + _specific(sentence, kind) - less))


def marked(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences, the tag of a paragraph made the label of those that it is about.

    A liking or fact may take all of them. A to-do or decision is what is put as one, or else a sentence that stands
    alone; what is done is none of it.
    """
    for _, group in groupby(sentences, key=lambda each: each.paragraph):
        paragraph = list(group)
        chosen = _tagged(paragraph)
        for sentence in paragraph:
            yield replace(sentence, label=sentence.tag) if sentence in chosen and not sentence.label else sentence


def _tagged(paragraph: list[Sentence]) -> list[Sentence]:
    some = [each for each in paragraph if each.tag]
    if not some or (some[0].tag == "todo" and any(is_done(each.masked) for each in paragraph)):
        return []
    if some[0].tag in ("preference", "fact"):
        return some
    telling = [each for each in some if each.tag in _found(each)]
    return telling or (some if len(some) == 1 else [])


def is_done(hidden: str) -> bool:
    """Tell whether a sentence says that something is done, and nothing that is still to do."""
    return bool(_DONE.search(hidden)) and not _STILL.search(hidden)


def _found(sentence: Sentence) -> dict[ClaimKind, float]:
    """Return what the rules of the languages that a sentence is written in say of it."""
    hidden, kinds = sentence.masked, dict[ClaimKind, float]()
    han, latin = len(_HAN.findall(hidden)), len(_LATIN.findall(hidden))
    if han >= 2:
        kinds = chinese.found(hidden)
    if latin >= 2 and han < 3 * latin:
        for kind, sure in english.found(hidden).items():
            kinds[kind] = max(sure, kinds.get(kind, 0.0))
    if sentence.label:
        return {sentence.label: max(LABELLED, kinds.get(sentence.label, 0.0))}
    if sentence.noted and not sentence.speaker:
        kind = max(kinds, key=lambda each: (kinds[each], -_ORDER.index(each)), default="fact")
        return {kind: max(LABELLED, kinds.get(kind, 0.0))}
    return kinds


def _specific(sentence: Sentence, kind: ClaimKind) -> float:
    """Return what a value adds: without one, "our meeting is on" says little."""
    hidden = sentence.masked
    value = (_VALUE_ZH if _HAN.search(hidden) else _VALUE).search(hidden, 1) is not None
    return SPECIFIC * (kind == "fact" and (value or is_dated(hidden)))


def _less(sentence: Sentence, kind: ClaimKind, said: datetime | None) -> float:
    hidden, off = sentence.masked, 0.0
    if _ELSEWHERE.search(hidden):
        off += 0.3
    if kind == "todo" and is_done(hidden):
        off += 0.6
    if _POINTS.search(hidden):
        off += 0.25
    if sentence.speaker and kind != "fact" and not _FIRST.search(hidden):
        off += 0.3  # in a conversation an order is for the other one, and praise is of something there
    if kind == "todo" and _PAST.search(hidden) and not _STILL.search(hidden):
        off += 0.4
    if sentence.speaker and kind == "todo" and not is_ahead(hidden, said):
        off += 0.1
    if kind != "todo" and _BEFORE.search(hidden):
        off += 0.15
    if kind != "decision" and _LETS.match(hidden):
        off += 0.3
    if kind == "todo" and _OF_IT.search(hidden):
        off += 0.2
    if kind == "decision" and _EATEN.search(hidden):
        off += 0.2
    passing = _NOW if sentence.speaker else _PASSING
    if kind in ("preference", "fact") and passing.search(hidden):
        off += 0.2
    if kind == "fact" and not sentence.label and _NEWS.search(hidden):
        off += 0.3
    if kind == "decision" and _ON_IT.match(hidden):
        off += 0.2
    if kind == "fact" and len(hidden) > 220:
        off += 0.1
    return off
