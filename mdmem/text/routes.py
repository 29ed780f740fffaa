"""Rules by which a query goes to one leg alone: what it looks like, by tables of words in English and Chinese.

Pure. A rule fires by its name; which rules count is for the settings to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

SHORT = 10
"""Characters below which a query is short."""


@dataclass(frozen=True, slots=True)
class Route:
    """A rule that fired: the legs it asks (`keyword`, `semantic`), and why, in words."""

    name: str
    legs: tuple[str, ...]
    why: str


_DEFINITION = re.compile(
    r"\b(?:what(?:'s| is| are)(?: an?| the)? (?:meaning|definition|concept)|what does .+ mean|what(?:'s| is) an? "
    r"|define\b|definition of|meaning of|concept of)|什么是|是什么|什么叫|概念|定义",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"\b(?:relat(?:ed|es|ionship|ion)s?\b|connect(?:ed|s|ion)\b|between .+ and |linked? (?:to|with))"
    r"|关系|联系|关联|之间|有关",
    re.IGNORECASE,
)


_RULES: tuple[tuple[str, Callable[[str], bool], tuple[str, ...], str], ...] = (
    ("short", lambda text: len(text) < SHORT, ("keyword",), f"the query has fewer than {SHORT} characters"),
    ("definition", lambda text: bool(_DEFINITION.search(text)), ("semantic",), "the query asks what something is"),
    ("relation", lambda text: bool(_RELATION.search(text)), ("keyword", "semantic"), "the query asks for a relation"),
)


def route(text: str, enabled: Collection[str], *, context: bool = False) -> Route | None:
    """Return the first enabled rule that a query fits; with `context` (filters) no query is too short to be meant."""
    plain = " ".join(text.split())
    for name, fits, legs, why in _RULES:
        if name in enabled and not (context and name == "short") and fits(plain):
            return Route(name, legs, why)
    return None
