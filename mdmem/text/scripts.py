"""Which scripts a text is written in, to tell whether a model can have learnt to read it.

Pure. Scripts are named as in Unicode, kana as one; what belongs to none of the table is "Other".
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

_RANGES = {
    "Latin": "A-Za-zªºÀ-ÖØ-öø-ʸḀ-ỿⅠ-ↈꜢ-ꟿＡ-Ｚａ-ｚ",
    "Han": "々〇〡-〩\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
    "Kana": "ぁ-ゖゝ-ゟァ-ヺー-ヿㇰ-ㇿｦ-ﾝ",
    "Hangul": "ᄀ-ᇿㄱ-ㆎ가-힣",
    "Cyrillic": "Ѐ-ԯᲀ-ᲈⷠ-ⷿꙀ-ꚟ",
    "Greek": "Ͱ-Ͽἀ-῿",
    "Arabic": "ؠ-ۿݐ-ݿࢠ-ࣿﭐ-﷽ﹰ-ﻼ",
    "Hebrew": "א-ת",
    "Devanagari": "ऄ-ॿ",
    "Thai": "ก-๛",
}
KNOWN = tuple(_RANGES)
"""The scripts that are told apart."""

_LETTER = re.compile(r"[^\W\d_]")

_WORTH = {"Han": 2.5, "Kana": 1.5, "Hangul": 2.5}
"""Letters of an alphabet that a character stands for: 咖啡 and "coffee" say as much."""

READABLE = 0.5
"""The share of a text that a model must be able to read for its vector to mean anything."""

_SAMPLE = 4000
"""Characters that are looked at; a passage has fewer."""


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Compile the class of a script when it is asked for: all take 5 ms, and most commands need none."""
    return re.compile(f"[{_RANGES[name]}]")


def letters(text: str) -> dict[str, int]:
    """Count the letters of each script; scripts without any are left out."""
    text = text[:_SAMPLE]
    if text.isascii():
        counts = {"Latin": len(_pattern("Latin").findall(text))}
    else:
        counts = {name: len(_pattern(name).findall(text)) for name in _RANGES}
        counts["Other"] = max(0, len(_LETTER.findall(text)) - sum(counts.values()))
    return {name: count for name, count in counts.items() if count}


def share(text: str, known: Collection[str]) -> float:
    """Return the part of a text, from 0 to 1, that is written in the known scripts; 1 where there are no letters."""
    counts = {name: count * _WORTH.get(name, 1.0) for name, count in letters(text).items()}
    total = sum(counts.values())
    return sum(count for name, count in counts.items() if name in known) / total if total else 1.0


def readable(text: str, known: Collection[str]) -> bool:
    """Tell whether a model that knows these scripts can make something of a text."""
    return share(text, known) >= READABLE


def foreign(text: str, known: Collection[str]) -> str:
    """Name the script, of those not known, that most of a text is written in; "" if there is none."""
    counts = {name: count for name, count in letters(text).items() if name not in known}
    return max(counts, key=lambda name: (counts[name] * _WORTH.get(name, 1.0), name), default="")
