"""The keyword leg: what BM25 and the text itself find for a query.

Takes its index as an argument and does no I/O of its own. The substring pass must only ever add, below BM25.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
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
class Found:
    """What the leg found: the BM25 score of units, and the tier of each.

    Tier 0 is BM25's; 1 holds the whole query as words, 2 as a substring, 3 a word of it as a substring. `terms` (with
    their importance) and `needles` are what to mark in a text. `exact` units hold an identifier of the query as it
    stands; `bound` are the units that satisfy what the query insists on, None where it insists on nothing.
    """

    scores: dict[int, float]
    tiers: dict[int, int]
    terms: dict[str, float] = field(default_factory=dict)
    needles: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    exact: frozenset[int] = frozenset()
    bound: frozenset[int] | None = None


COMMON = 50
"""Units that may hold an identifier for it to go before everything else."""

TIME_WEIGHT = 3.0
"""What a named time counts, beside a word as rare: it means these units and no others."""

MANY = 200
"""Units of a time that a query names, up to which the time alone makes each of them a hit."""


def search(
    text: str,
    leg: KeywordLeg,
    *,
    exact: bool = False,
    dated: Mapping[str, set[int]] | None = None,
    late: Callable[[], bool] = lambda: False,
) -> Found:
    """Find the units for a query. `exact` asks for the text as a substring and nothing else.

    `dated` are the units of each time that the query names: they hold a word that is not in their text. `late` tells
    when to stop the slow part.
    """
    node = None if exact else language.parse(text)
    work = _Search(leg, late)
    scores = work.find(node) if node else {}
    notices = []
    looser = language.loosened(node) if node and not scores else None
    if looser:
        scores = work.find(looser)
        if scores:
            notices.append("nothing holds the phrase as it stands; its words were searched")
            node = looser
    bound = work.insisted(node) if node else None
    for words, units in (dated or {}).items():
        work.add_time(words, units if bound is None else units & bound, scores)
    tiers = dict.fromkeys(scores, 0)
    work.add_substrings(text, node, tiers)
    return Found(
        scores,
        tiers,
        work.terms,
        tuple(work.needles),
        tuple(notices),
        frozenset(work.exact(node)) if node else frozenset(),
        None if bound is None else frozenset(bound),
    )


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

    def insisted(self, node: Node) -> set[int] | None:
        """Find what satisfies all that the query insists on; None when it only wishes for words.

        Plain words are wishes. Phrases, exclusions, tags, places and words joined by AND are not.
        """
        match node:
            case Word(_) | Maybe(_):
                return None
            case Any(nodes):
                sets = [self.insisted(inner) for inner in nodes]
                return None if any(found is None for found in sets) else set().union(*filter(None, sets))
            case All(nodes):
                sets = [self.satisfying(n) if isinstance(n, Word) else self.insisted(n) for n in nodes]
                wanted = [found for found in sets if found is not None]
                return set.intersection(*wanted) if wanted else None
        return self.satisfying(node)

    def exact(self, node: Node) -> set[int]:
        """Find the units that hold an identifier of the query as it stands; one that many hold decides nothing."""
        found: set[int] = set()
        for leaf in language.leaves(node):
            for name in analyze.identifiers(leaf.text) if isinstance(leaf, Word) else ():
                needle = analyze.fold(name)
                units = self.leg.match(needle, analyze.boundary(needle))
                found |= units if len(units) <= COMMON else set()
        return found

    def add_time(self, words: str, units: set[int], scores: dict[int, float]) -> None:
        """Count a named time as one more word, as rare as its units are."""
        if not units:
            return
        worth = TIME_WEIGHT * self.leg.rarity(len(units))
        self.terms[words] = worth
        for unit in units if len(units) <= MANY else units & scores.keys():
            scores[unit] = scores.get(unit, 0.0) + worth

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
