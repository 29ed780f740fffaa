"""What an author calls a sentence: a label before it, a heading or a tag that says of which kind it is.

Owns the words for that. What a person marks by hand counts for more than how it is put; whether there is a claim in it
at all is for `noise` and `salience`.
"""

from __future__ import annotations

import re

from mdmem.model import ClaimKind

_LABELS: tuple[tuple[ClaimKind, str], ...] = (
    (
        "todo",
        r"to-?dos?|to do|action items?|actions?|next steps?|next up|next(?=[:：])|tasks?|open tasks|promises?"
        r"|待办(?:事项)?|行动项|承诺|任务",
    ),
    ("decision", r"(?:final )?decisions?|decided|agreed|resolved|(?:最终)?决定|决议|结论|定了"),
    ("preference", r"preferences?|likes|dislikes|boundar(?:y|ies)|偏好|喜好|习惯|边界"),
    ("fact", r"facts?|事实"),
)
_LABEL = re.compile(
    r"\s*[*_]{0,2}(?:"
    + "|".join(f"(?P<{kind}>{words})" for kind, words in _LABELS)
    + r")[*_]{0,2}\s{0,3}(?:[:：][*_]{0,2}\s*|(?P<alone>\Z))",
    re.IGNORECASE,
)
_BY_TAG: tuple[tuple[ClaimKind, str], ...] = (
    ("todo", r"to-?do|promise|待办|承诺"),
    ("decision", r"decision|决定|决策"),
    ("preference", r"pref|preference|boundary|偏好|喜好|边界"),
    ("fact", r"fact|事实"),
)
_TAG = re.compile(
    r"(?<![\w#/])#(?:" + "|".join(f"(?P<{kind}>(?:{words})s?)" for kind, words in _BY_TAG) + r")(?![\w/-])",
    re.IGNORECASE,
)
_NOTED = re.compile(
    r"\s*(?:please )?(?:remember(?:\s?[:：]| that\b)|(?:请|要)?(?:记住|记一下|记下来)\s?(?:[:：，,]|(?=我|用户)))"
    r"|[，,] ?(?:要|请)?(?:记住|记一下)[。！!]?\Z|[,;] (?:please )?remember (?:that|this)[.!]?\Z",
    re.IGNORECASE,
)
_REASON = re.compile(r"\W*(?:(?:reasons?|because|cause|why|background|context)\b|理由|原因|因为|背景)", re.IGNORECASE)


def label_of(text: str) -> tuple[ClaimKind | None, int, bool]:
    """Return the kind that a text's label names, where the label ends, and whether it stands alone."""
    found = _LABEL.match(text)
    if not found:
        return None, 0, False
    kind = next(kind for kind, _ in _LABELS if found[kind])
    return kind, found.end(), found["alone"] is not None or found.end() == len(text)


def tag_of(text: str) -> ClaimKind | None:
    """Return the kind that the tags of a text name: none where they name more than one."""
    kinds = {kind for found in _TAG.finditer(text) for kind, _ in _BY_TAG if found[kind]}
    return kinds.pop() if len(kinds) == 1 else None


def is_noted(text: str) -> bool:
    """Tell whether a sentence asks to be remembered: 记住：…, "Remember that …"; what for, it does not say."""
    return bool(_NOTED.search(text))


def is_reason(text: str) -> bool:
    """Tell whether a sentence only gives the reason for the one before it."""
    return bool(_REASON.match(text))
