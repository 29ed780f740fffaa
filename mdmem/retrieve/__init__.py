"""Ranking: from what was typed to an order of units, and why each is there.

Takes its legs as arguments and does no I/O of its own. The order of things: `routes` says which legs to ask, `keyword`
and the semantic leg find, `fusion` makes one order of what they found. That order is total, and does not depend on how
much of it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from mdmem.model import Mode
from mdmem.retrieve import fusion, keyword
from mdmem.retrieve.fusion import Fusion, Ranked
from mdmem.retrieve.keyword import Found, KeywordLeg
from mdmem.text import query as language
from mdmem.text import routes, scripts

__all__ = ["Fusion", "KeywordLeg", "Question", "Ranked", "Ranking", "SemanticLeg", "rank"]


class SemanticLeg(Protocol):
    """What ranking asks of a model and its vectors. Units are numbers; a score is the cosine of the best passage."""

    model: str
    scripts: tuple[str, ...]

    def begin(self, text: str) -> None: ...
    def failure(self) -> str: ...
    def nearest(self, k: int, allowed: set[int] | None) -> dict[int, float]: ...
    def cosines(self, units: set[int]) -> dict[int, float]: ...
    def best(self, units: set[int]) -> dict[int, bytes]: ...


@dataclass(frozen=True, slots=True)
class Question:
    """A query as ranking takes it. `allowed` are the units that filters let through, None for all.

    `dated` are the units of each time that the text names, `enabled` the routes that count.
    """

    text: str
    mode: Mode = "hybrid"
    exact: bool = False
    allowed: set[int] | None = None
    dated: Mapping[str, set[int]] = field(default_factory=dict)
    enabled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order of units. `terms` (with their importance) and `needles` are what to mark in a text.

    `dated` are the units of the times that the query names, `sayings` the hashes of what units say that is nearest to
    it in meaning. `mode` is how it came about in the end, `reasons` why a leg was asked or not. A ranking that is not
    `whole` was cut short, or lacks a leg that failed: asked again, it may be another.
    """

    order: tuple[Ranked, ...]
    total: int
    terms: dict[str, float] = field(default_factory=dict)
    needles: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    mode: Mode = "keyword"
    reasons: tuple[str, ...] = ()
    whole: bool = True
    dated: Mapping[str, set[int]] = field(default_factory=dict)
    sayings: Mapping[int, bytes] = field(default_factory=dict)


WIDE = 200
"""Hits of a purely semantic search: everything is near to something, so there must be an end."""


def rank(
    asked: Question,
    leg: KeywordLeg,
    semantic: SemanticLeg | None = None,
    *,
    how: Fusion,
    upto: int = 10,
    late: Callable[[], bool] = lambda: False,
) -> Ranking:
    """Rank the units for a question and give the first `upto` of them, in a total and stable order.

    Without `semantic` the keyword leg answers alone. `late` tells when to stop the slow part.
    """
    text, was_cut = language.cut(asked.text)
    notices = [f"only the first {language.MAX_BYTES} bytes of the query were used"] if was_cut else []
    words = language.wording(text)
    legs, reasons = _legs(asked, words, semantic)
    if semantic and "semantic" in legs:
        semantic.begin(_timeless(words, asked.dated))
    found = _allowed(keyword.search(text, leg, exact=asked.exact, dated=asked.dated, late=late), asked.allowed)
    if semantic and legs == ALONE and not found.tiers:  # a rule spares the model only where there is an answer
        legs = BOTH
        reasons.append("the keyword leg found nothing; the semantic leg was asked as well")
        semantic.begin(_timeless(words, asked.dated))
    if semantic and asked.mode == "semantic" and not scripts.readable(words, semantic.scripts):
        notices.append(_foreign(words, semantic))
    is_late, failure = late(), semantic.failure() if semantic and "semantic" in legs else ""
    if is_late:
        notices.append("the search took too long and was cut short")
    mode: Mode = "keyword"
    if semantic and "semantic" in legs:
        mode = "keyword" if failure else "hybrid" if "keyword" in legs else "semantic"
        reasons.append(f"semantic leg skipped: {failure}" if failure else f"semantic leg: {semantic.model}")
    if mode == "hybrid":
        reasons.append(_joined(how))
    hits, total = _ordered(mode, asked, found, leg, semantic, how, upto)
    if mode == "hybrid" and hits and not found.tiers:
        notices.append("no word of the query was found; these are the nearest in meaning")
    hits = hits[:upto]
    return Ranking(
        tuple(hits),
        total,
        found.terms,
        found.needles,
        (*notices, *found.notices),
        mode,
        tuple(reasons),
        whole=not (is_late or failure),
        dated=asked.dated,
        sayings=semantic.best({hit.unit for hit in hits}) if semantic and mode != "keyword" else {},
    )


ALONE, BOTH, ONLY_WORDS = ("keyword",), ("keyword", "semantic"), ("keyword", "")
"""The legs that may be asked: the keyword leg unless it finds nothing, both, or it and no other."""


def _legs(asked: Question, words: str, semantic: SemanticLeg | None) -> tuple[tuple[str, ...], list[str]]:
    """Decide which legs to ask, and say why."""
    if semantic is None or asked.mode == "keyword":
        return ONLY_WORDS, []
    if asked.mode == "semantic":
        return ("semantic",), []
    if asked.exact:
        return ONLY_WORDS, ["semantic leg not asked: the text is wanted as it stands"]
    if not any(char.isalnum() for char in words):
        return ONLY_WORDS, ["semantic leg not asked: the query has no words to take a meaning from"]
    if not scripts.readable(words, semantic.scripts):
        return ONLY_WORDS, [f"semantic leg not asked: {_foreign(words, semantic)}"]
    rule = routes.route(words, asked.enabled, context=asked.allowed is not None)
    if rule:
        return rule.legs, [f"rule {rule.name!r}: {rule.why}; asked: {' and '.join(rule.legs)}"]
    return BOTH, []


def _foreign(words: str, semantic: SemanticLeg) -> str:
    return f"most of the query is {scripts.foreign(words, semantic.scripts)}, which {semantic.model} cannot read"


def _timeless(words: str, dated: Mapping[str, set[int]]) -> str:
    """Take the times out that were understood: an entry does not say when it was, and a model only guesses at dates."""
    left = words
    for time, units in dated.items():
        left = left.replace(time, " ") if units else left
    return " ".join(left.split()) if any(char.isalpha() for char in left) else words


def _allowed(found: Found, allowed: set[int] | None) -> Found:
    """Leave out what filters do not let through."""
    if allowed is None:
        return found
    return replace(found, tiers={unit: tier for unit, tier in found.tiers.items() if unit in allowed})


def _joined(how: Fusion) -> str:
    keyword, semantic = how.weights["keyword"], how.weights["semantic"]
    if how.method == "rrf":
        k = f"({how.rrf_k:g} + rank)"
        return f"joined by reciprocal ranks: {keyword:g} / {k} for keyword, {semantic:g} / {k} for semantic"
    return (
        f"joined {keyword:g} : {semantic:g}, by how many standard deviations each leg puts a hit above the average"
        " candidate; the lowest candidate scores 0"
    )


def _ordered(
    mode: Mode,
    asked: Question,
    found: Found,
    leg: KeywordLeg,
    semantic: SemanticLeg | None,
    how: Fusion,
    upto: int,
) -> tuple[list[Ranked], int]:
    """Put what was found into one order, and count it."""
    if mode == "keyword" or semantic is None:
        return fusion.by_keyword(found, leg.keys, how, upto=upto), len(found.tiers)
    allowed = asked.allowed
    if found.bound is not None:
        allowed = set(found.bound) if allowed is None else allowed & found.bound
    depth = fusion.DEPTH if mode == "hybrid" else WIDE
    near = fusion.by_meaning(semantic.nearest(depth, allowed), found, leg.keys, how)
    if mode == "semantic":
        return near, len(near)
    wanted = len(found.tiers) if found.exact else max(upto, depth) + depth
    words = fusion.by_keyword(found, leg.keys, how, upto=wanted)
    first = [hit for rank, hit in enumerate(words) if rank < depth or hit.unit in found.exact]
    units = {hit.unit for hit in (*first, *near)}
    joined = fusion.fused(first, near, found, semantic.cosines(units), leg.keys, how)
    rest = [replace(hit, score=0.0) for hit in words if hit.unit not in units]  # none is higher than what goes before
    return joined + rest, len(units | found.tiers.keys())
