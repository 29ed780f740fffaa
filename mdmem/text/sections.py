"""The sections of MEMORY.md: which kind of claim a heading is for, in English and Chinese, and how new ones are called.

Pure. It must never take a sentence for a heading.
"""

from __future__ import annotations

import re
from typing import Literal, get_args
from unicodedata import normalize

from mdmem.model import ClaimKind
from mdmem.text.scripts import letters

Language = Literal["en", "zh"]

KINDS: tuple[ClaimKind, ...] = get_args(ClaimKind)
"""In the order in which their sections stand."""

_NEW: dict[Language, tuple[str, ...]] = {
    "en": ("Preferences", "Facts", "Decisions", "To-dos and promises"),
    "zh": ("偏好", "重要事实", "决定", "待办与承诺"),
}

_SAMPLE = 4000
"""Characters by which a language is told."""

_LONGEST = 48
"""Characters of a heading that names a kind; a sentence that mentions one is longer."""

# The first that fits decides: "project decisions" are decisions, "promises about people" are promises.
_NAMES: tuple[tuple[ClaimKind, re.Pattern[str]], ...] = (
    (
        "todo",
        re.compile(
            r"\b(?:to-?\s?dos?|tasks?|promises?|commitments?|action items?|open (?:points?|items?)|reminders?"
            r"|next steps?)\b|待办|承诺|约定|任务|提醒"
        ),
    ),
    ("decision", re.compile(r"\b(?:decisions?|decided|choices)\b|决定|决策|结论")),
    (
        "preference",
        re.compile(r"\b(?:preferences?|likes(?: and dislikes)?|dislikes|tastes?|habits?)\b|偏好|喜好|爱好|习惯|口味"),
    ),
    (
        "fact",
        re.compile(
            r"\b(?:facts?|people|persons?|projects?|family|friends|contacts?|profile|about (?:me|us|the user))\b"
            r"|事实|人物|人际|项目|家人|朋友|同事|信息|资料|档案"
        ),
    ),
)
_PLAIN_FACTS = re.compile(r"\bfacts?\b|事实")
# What a heading may say besides, where nothing else shows that it is one.
_FILLING = re.compile(
    r"\b(?:new|newly|learned|learnt|user'?s?|important|key|long[- ]term|and|or|the|to|remember|about|other|open)\b"
    r"|新学到的?|新增|新的?|用户的?|需要|长期|记住的?|重要的?|主要|关键|事项|事情|其他|以及|或|与|和|及|的"
)
_NUMBERING = re.compile(r"[\s*_#>]*(?:[(（]?(?:\d{1,2}|[一二三四五六七八九十]{1,3})[.、)）:：](?!\d)\s*)?[\s*_]*")
_ASIDE = re.compile(r"[(（【\[][^()（）【】\[\]]*[)）】\]]")
_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")
_SENTENCE = re.compile(r"[.!?;。！？；，,]\s*\S|[。！？；]")


def bare(heading: str) -> str:
    """Give a heading without marks, number, bold, aside and colon, folded."""
    text = normalize("NFKC", heading)
    text = _ASIDE.sub(" ", text[_match_end(text) :])
    return text.strip(" \t\r*_#:：").casefold()


def _match_end(text: str) -> int:
    found = _NUMBERING.match(text)
    return found.end() if found else 0


def kind_of(heading: str) -> ClaimKind | None:
    """Tell which kind of claim a heading is for, given as plain text; None for any other."""
    text = bare(heading)
    if not text or len(text) > _LONGEST or _SENTENCE.search(text):
        return None
    return next((kind for kind, names in _NAMES if names.search(text)), None)


def named(line: str) -> ClaimKind | None:
    """Tell which kind a line is the heading of that nothing marks as one: it says the name of the kind and no more."""
    kind = kind_of(line)
    rest = bare(line)
    for names in (*(names for _, names in _NAMES), _FILLING):
        rest = names.sub(" ", rest)
    return None if re.search(r"\w", rest) else kind


def is_general(heading: str) -> bool:
    """Tell whether a heading takes facts of any sort, not those about people or projects alone."""
    return bool(_PLAIN_FACTS.search(bare(heading)))


def heading_of(kind: ClaimKind, language: Language) -> str:
    """Give the text of the heading that the program makes for a kind."""
    return _NEW[language][KINDS.index(kind)]


def language_of(text: str) -> Language:
    """Tell whether a text is to be answered in Chinese or in English, by its words."""
    text = text[:_SAMPLE]
    counts = letters(text)
    han, kana = counts.get("Han", 0), counts.get("Kana", 0)
    # English names and terms in a Chinese sentence are long: a word of them counts as one character.
    return "zh" if han >= len(_WORD.findall(text)) and han > kana else "en"
