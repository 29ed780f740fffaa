"""The clauses of a text, and which of them say no.

Pure, for English and Chinese. It knows no grammar: it goes by punctuation and by short lists of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

NEGATION = "not"
"""The unit that stands for every way of saying no."""

_NO = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|hat(?:es?|ed|ing)|dislik(?:es?|ed|ing)"
    r"|detest(?:s|ed)?|avoid(?:s|ed|ing)?|refus(?:es?|ed|ing)|reject(?:s|ed|ing)?|declin(?:es?|ed|ing)"
    r"|cancel\w*|instead of|rather than|resign(?:s|ed|ing)?|lack(?:s|ed|ing)?|missing|exclud(?:es?|ed|ing)"
    r"|stopp?(?:s|ed|ing)?|quit(?:s|ting)?|gave up|gives up"
    r"|turn(?:s|ed|ing)? (?:(?:it|them|that|him|her) )?down(?! the (?:volume|heat|music|sound|light))"
    r"|allergic|allergy|intoleran(?:t|ce)|except|[a-z]+-free|un(?:able|willing))\b"
    r"|n['’]t\b|\b(?:do|does|did|is|are|was|were|ca|wo|would|should|could|has|have|must)nt\b"
    r"|[不没無无别未勿莫]|而非|讨厌|取消|缺|反感|厌恶|拒绝|避免|戒|过敏|禁",
    re.IGNORECASE,
)
_NOT_NO = re.compile(
    r"\bnot (?:only|just|merely)\b|(?:n['’]t|\bnot) (?:mind|forget|worth)\b"
    r"|\bno (?:doubt|problem|matter|wonder|later than|more than|less than)\b|\bno\. ?\d"
    r"|(.)不\1|不[错仅但只过断久同管论变]|来不及|不过来|差不多|了不起|对不起|不好意思|不得不|要不然|没错|没问题"
    r"|特别|别[的人墅名致]|[分区级性类识个告]别|[无無]论|未来|无锡|无线",
    re.IGNORECASE,
)


def negations(text: str) -> int:
    """Count the words of a clause that say no."""
    return len(_NO.findall(_NOT_NO.sub(" ", text)))


def denied(text: str) -> str:
    """Give what stands behind the last word of a clause that says no, up to where something else begins; else ""."""
    parts = _NO.split(_NOT_NO.sub(" ", text))
    if len(parts) == 1:
        return ""
    begins = re.match(r"\W*(?:(?:in|on|at|by|for|with|from|to|of|the|an?)\W+)*", parts[-1])
    ends = _BESIDE.search(parts[-1], begins.end() if begins else 0)  # "not in the box" denies the box
    return parts[-1][: ends.start()] if ends else parts[-1]


_BESIDE = re.compile(r"[（(]|\b(?:with|in|on|at|by|for|because|since|after|before|until|from|while|if|but|so)\b")
"""What begins something that is not denied with what stands in front."""


_SENTENCE = re.compile(r"[^.!?。！？…\n]*(?:[.!?](?=\S)[^.!?。！？…\n]*)*[.!?。！？…\n]*")
_CLAUSE = re.compile(
    r"((?<!\d)[,，](?!\d)|(?<=\d), |\bbecause(?: of)?\b|\bdue to\b|因为|由于|[;；、，]|(?<!\d):(?!\d)|[：—]|\s[-–]\s"
    r"|\b(?:but|and|although|while)\b|但是?"
    r"|(?<!从)而(?!不是|非)|(?<=\w )(?=instead of\b|rather than\b|not\b)|(?=而不是|而非))"
)
_ASKS = re.compile(r"[?？]|(?i:\b(?:ask|check|see|wonder|find out)\b[^.]*\b(?:whether|if)\b)|[吗呢][。！\s]*\Z")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence, the sentence, and whether that asks."""

    text: str
    sentence: str
    asks: bool


def clauses(text: str) -> Iterator[Clause]:
    """Yield the clauses of a text, in order."""
    for sentence in _SENTENCE.findall(text):
        asks = bool(_ASKS.search(sentence.rstrip()))
        for piece in _pieces(sentence):
            if re.search(r"\w", piece):
                yield Clause(piece.strip(), sentence, asks)


_SAYS = re.compile(
    r" (?:loves?|likes?|enjoys?|prefers?|wants?|needs?|eats?|drinks?|uses?|is|are|was|has|have|can|will) "
)


def _pieces(sentence: str) -> list[str]:
    """Take a sentence apart; a word or two behind "and" go on with what stands in front, and with its no."""
    first, *rest = _CLAUSE.split(sentence)
    found = [first]
    for joint, piece in zip(rest[::2], rest[1::2], strict=True):
        if joint == "and" and len(piece.split()) <= 2 and not _SAYS.match(piece) and not negations(piece):
            found[-1] += joint + piece
        else:
            found.append(piece)
    return found
