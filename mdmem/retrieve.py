"""Ranking: from what was typed to an order of units, and why each is there.

Takes its legs as arguments and does no I/O of its own. The substring pass must only ever add, below what BM25 ranked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from mdmem.text import analyze
from mdmem.text import query as language
from mdmem.text.query import All, Any, In, Maybe, Node, Not, Phrase, Prefix, Tag, Word

FRAGMENTS = 8
"""Words without a hit that are looked for inside other words, at most."""


class KeywordLeg(Protocol):
    """What ranking asks of the keyword index. Units are numbers; texts are folded."""

    def stem(self, word: str) -> str: ...
    def score(self, weights: dict[str, float]) -> dict[int, float]: ...
    def importance(self, weights: dict[str, float]) -> dict[str, float]: ...
    def rarity(self, units: int) -> float: ...
    def units(self, term: str) -> set[int]: ...
    def scan(self, needle: str) -> set[int]: ...
    def match(self, needle: str, pattern: re.Pattern[str]) -> set[int]: ...
    def tagged(self, tag: str) -> set[int]: ...
    def under(self, path: str) -> set[int]: ...
    def everything(self) -> set[int]: ...
    def keys(self, units: Iterable[int]) -> dict[int, str]: ...


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit in the order.

    `tier` 0 is BM25's; 1 holds the whole query as words, 2 as a substring, 3 a word of it as a substring.
    """

    unit: int
    score: float
    tier: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order of units. `terms` (with their importance) and `needles` are what to mark in a text."""

    order: tuple[Ranked, ...]
    total: int
    terms: dict[str, float] = field(default_factory=dict)
    needles: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def rank(
    text: str,
    leg: KeywordLeg,
    *,
    allowed: set[int] | None = None,
    exact: bool = False,
    upto: int = 10,
    late: Callable[[], bool] = lambda: False,
) -> Ranking:
    """Rank the units for a query and give the first `upto` of them, in a total and stable order.

    `allowed` are the units that filters let through, None for all. `exact` asks for the text as a substring and
    nothing else. `late` tells when to stop the slow part.
    """
    text, was_cut = language.cut(text)
    notices = [f"only the first {language.MAX_BYTES} bytes of the query were used"] if was_cut else []
    node = None if exact else language.parse(text)
    search = _Search(leg, late)
    scores = search.find(node) if node else {}
    looser = language.loosened(node) if node and not scores else None
    if looser:
        scores = search.find(looser)
        if scores:
            notices.append("nothing holds the phrase as it stands; its words were searched")
    tiers = dict.fromkeys(scores, 0)
    search.add_substrings(text, node, tiers)
    if allowed is not None:
        tiers = {unit: tier for unit, tier in tiers.items() if unit in allowed}
    if late():
        notices.append("the search took too long and was cut short")
    found = [Ranked(unit, round(scores.get(unit, 0.0), 6), tier) for unit, tier in tiers.items()]
    return Ranking(tuple(_first(found, upto, leg)), len(found), search.terms, tuple(search.needles), tuple(notices))


def _first(found: list[Ranked], upto: int, leg: KeywordLeg) -> list[Ranked]:
    """Sort by tier, score and id, asking for the ids only where they can matter."""
    found.sort(key=lambda hit: (hit.tier, -hit.score))
    if len(found) > upto:
        last = found[upto - 1]
        found = [hit for hit in found if (hit.tier, -hit.score) <= (last.tier, -last.score)]
    keys = leg.keys(hit.unit for hit in found)
    found.sort(key=lambda hit: (hit.tier, -hit.score, keys.get(hit.unit, ""), hit.unit))
    return found[:upto]


class _Search:
    """One query at work: collects the terms and needles it used, for marking."""

    def __init__(self, leg: KeywordLeg, late: Callable[[], bool]) -> None:
        self.leg = leg
        self.late = late
        self.terms: dict[str, float] = {}
        self.needles: list[str] = []

    def find(self, node: Node) -> dict[int, float]:
        """Score what satisfies the tree. Function words and signs are left to the substring pass."""
        weights: dict[str, float] = {}
        texts: dict[int, float] = {}
        for leaf in language.leaves(node):
            if isinstance(leaf, Word | Phrase):
                for term, weight in analyze.weigh(leaf.text, self.leg.stem).items():
                    weights[term] = max(weight, weights.get(term, 0.0))
            if isinstance(leaf, Phrase | Prefix):
                units = self.units(leaf)
                for unit in units:
                    texts[unit] = texts.get(unit, 0.0) + self.leg.rarity(len(units))
                self.needles.append(analyze.fold(leaf.text))
        scores = self.leg.score(weights)
        self.terms = self.leg.importance(weights)
        for unit, score in texts.items():
            scores[unit] = scores.get(unit, 0.0) + score
        if _is_plain(node):
            return scores
        return {unit: scores.get(unit, 0.0) for unit in self.satisfying(node)}

    def satisfying(self, node: Node) -> set[int]:
        """Find the units that satisfy a tree, whatever their scores."""
        match node:
            case All(nodes):
                wanted = [self.satisfying(inner) for inner in nodes if not isinstance(inner, Not | Maybe)]
                found = set.intersection(*wanted) if wanted else self.leg.everything()
                return found.difference(*(self.satisfying(n.node) for n in nodes if isinstance(n, Not)))
            case Any(nodes):
                return self.one_of(nodes)
            case Not(inner):
                return self.leg.everything() - self.satisfying(inner)
            case Maybe(_):
                return self.leg.everything()
        return self.units(node)

    def one_of(self, nodes: Iterable[Node]) -> set[int]:
        """Find the units that satisfy an alternative; of a word a part is enough, and a sign counts only alone."""
        found: set[int] = set()
        silent: list[Word] = []
        for node in nodes:
            terms = analyze.weigh(node.text, self.leg.stem) if isinstance(node, Word) else {}
            if isinstance(node, Word) and not terms:
                silent.append(node)
                continue
            found |= set().union(*(self.leg.units(term) for term in terms)) or self.satisfying(node)
        return found or set().union(*(self.units(word) for word in silent))

    def units(self, leaf: Word | Phrase | Prefix | Tag | In) -> set[int]:
        """Find the units that match a leaf."""
        if self.late():
            return set()
        match leaf:
            case Tag(name):
                return self.leg.tagged(analyze.fold(name))
            case In(path):
                return self.leg.under(path)
            case Phrase(text) | Prefix(text):
                needle = analyze.fold(text)
                pattern = analyze.boundary(needle, open_end=isinstance(leaf, Prefix))
                return self.leg.match(needle, pattern) if needle else set()
        needle = analyze.fold(leaf.text)
        whole = analyze.whole_terms(leaf.text, self.leg.stem)
        if whole:
            found = set.intersection(*(self.leg.units(term) for term in whole))
        else:  # a function word or a sign, or Chinese of some length: the text itself decides
            found = self.leg.match(needle, analyze.boundary(needle)) if needle else set()
        return found or (self.leg.scan(needle) if needle else set())

    def add_substrings(self, text: str, node: Node | None, tiers: dict[int, int]) -> None:
        """Add what holds the whole query as a substring, then what holds a word that found nothing."""
        literal = analyze.fold(text)
        if not literal or (len(words := text.split()) == 2 and words[0] == "NOT"):
            return  # `NOT coffee` is no text to look for; a longer query may be a line of somebody's log
        self.needles.append(literal)
        if not tiers:
            tiers.update(dict.fromkeys(self.leg.match(literal, analyze.boundary(literal)), 1))
        for unit in self.leg.scan(literal):
            tiers.setdefault(unit, 2)
        if node is None:
            return
        for needle in self._fragments(node):
            if not self.late():
                self.needles.append(needle)
                for unit in self.leg.scan(needle):
                    tiers.setdefault(unit, 3)

    def _fragments(self, node: Node) -> list[str]:
        """Name the words that no term stands for in the index; function words only where nothing else is asked."""
        if not _is_plain(node):
            return []
        words = {
            leaf.text: analyze.weigh(leaf.text, self.leg.stem)
            for leaf in language.leaves(node)
            if isinstance(leaf, Word)
        }
        only = not any(words.values())
        missing = [
            analyze.fold(word)
            for word, terms in words.items()
            if (terms and not any(term in self.terms for term in terms))
            or (not terms and (only or not any(c.isalnum() for c in word)))
        ]
        return [needle for needle in missing if needle][:FRAGMENTS]


def _is_plain(node: Node) -> bool:
    """Tell whether every scored unit satisfies the tree: words and prefixes side by side."""
    nodes = node.nodes if isinstance(node, Any) else (node,)
    return all(isinstance(inner, Word | Prefix) for inner in nodes)
