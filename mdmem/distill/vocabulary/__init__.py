"""Words that say the same, and words that say little: how an honest claim may differ from its source.

Owns the lists beside it, in English and Chinese. A word that could make a claim untrue (a thing, a direction, more or
less, yes or no, who it was) is never plain; it may only stand for the words of its own group.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


def _lines(name: str) -> list[list[str]]:
    text = (files("mdmem.distill.vocabulary") / name).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


@cache
def groups() -> list[list[str]]:
    """List the English words that say the same, in groups."""
    return _lines("same.en.txt")


@cache
def plain() -> frozenset[str]:
    """Give the English words that say little."""
    return frozenset(word for line in _lines("plain.en.txt") for word in line)


@cache
def plain_han() -> re.Pattern[str]:
    """Match a stretch of Chinese words that say little."""
    return re.compile(f"(?:{_any([word for line in _lines('plain.zh.txt') for word in line])})+")


@cache
def _han() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(_any(row)), "\n".join(row)) for row in _lines("same.zh.txt")]


def _any(words: list[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def synonyms(han: str) -> str:
    """Give the Chinese words that say the same as some that stand in a text, a line each."""
    return "\n".join(words for pattern, words in _han() if pattern.search(han))
