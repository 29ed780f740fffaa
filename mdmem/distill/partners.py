"""Whether the words of a claim belong together as they do in its sources: who did what to whom, and which goes with no.

Owns that comparison, by order and by clause. It knows no grammar, so it errs on the side of doubt. It must never pass
a claim that was put together from pieces of statements that say something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from mdmem.distill.clauses import Clause, clauses, denied, negations
from mdmem.distill.dating import DAY_OR_MONTH
from mdmem.distill.figures import numbers
from mdmem.distill.words import Pool, content, is_plain, names, pieces, pool, runs, shown, stem, unknown, wide_pool
from mdmem.text.analyze import is_cjk, unify

_JOINS = frozenset({"and", "or", "plus", "the", "a", "an", "和", "与", "跟", "及", "或", "的", "、"})
"""What stands between two things that may change places."""

_FILLERS = _JOINS | {"to", "that", "for", "of", "in", "on", "at"}
"""What stands between two things as often in one order as in the other, and says nothing of who does what."""

_MOST = 48
"""Words of a claim that are compared by their order; it has at most 300 characters."""


@lru_cache(maxsize=32)
def told_clauses(told: str) -> tuple[tuple[Clause, Pool], ...]:
    """Give the clauses of what was told, ready for comparing: many claims rest on the same entries."""
    return tuple((clause, wide_pool(clause.text)) for clause in clauses(told))


def nearest(units: Sequence[str], told: str) -> list[Clause]:
    """Give the clauses that share the most with some units, where that is at least half of them."""
    scored = [(sum(map(here.has, units)), clause) for clause, here in told_clauses(told)]
    best = max((score for score, _ in scored), default=0)
    return [clause for score, clause in scored if score == best] if best * 2 >= len(units) and best else []


def doubt(text: str, told: str) -> str:
    """Say that words of a claim changed partners or places; "" where they did not."""
    for clause in clauses(text):
        if _is_patched(clause, told):
            return "it puts together what its source says of different things"
    if past := next(_left_behind(text, told), ""):
        return f"its source says so of before: {past}"
    swapped = [shown(unit, text) for unit in next(_swapped(text, told), ())]
    return f"its source has {swapped[1]} and {swapped[0]} the other way round" if swapped else ""


# --- pieces of several statements


def _is_patched(clause: Clause, told: str) -> bool:
    """Tell whether a clause takes parts, but not all, of two clauses, or moves a word into or out of a no."""
    units = [unit for unit in content(clause.text) if not is_cjk(unit[0]) or len(unit) > 1]
    used = list(_cover(clause, units, told))
    if len(used) < 2:
        return False
    here = wide_pool(clause.text)
    partly = [
        one for one, _ in used if any(is_cjk(word[0]) or not is_plain(word, "") for word in unknown(one.text, here))
    ]
    return len(partly) > 1 or any(_turns(clause, units, one, taken) for one, taken in used)


def cover(clause: Clause, units: Sequence[str], told: str) -> list[Clause]:
    """Give the clauses that a claim's clause is put together from."""
    return [one for one, _ in _cover(clause, units, told)]


def _cover(clause: Clause, units: Sequence[str], told: str) -> Iterator[tuple[Clause, list[str]]]:
    """Yield the fewest clauses that hold the units of a clause, each with the units taken from it."""
    known, rest = told_clauses(told), list(units)
    says_no = negations(clause.text) % 2
    while rest:
        ranked = [
            (sum(map(here.has, rest)), negations(one.text) % 2 == says_no, -place)
            for place, (one, here) in enumerate(known)
        ]
        count, _, place = max(ranked, default=(0, False, 0))
        if not count:
            return
        one, here = known[-place]
        yield one, [unit for unit in rest if here.has(unit)]
        rest = [unit for unit in rest if not here.has(unit)]


def _turns(clause: Clause, units: Sequence[str], one: Clause, taken: Sequence[str]) -> bool:
    """Tell whether what is taken from a clause is denied in one of the two alone; who it is about is not."""
    if (negations(clause.text) - negations(one.text)) % 2 == 0:
        return False
    here, there = (wide_pool(denied(each.text)) for each in (clause, one))
    if negations(clause.text) + negations(one.text) == 1 and clause.text.isascii():
        return any(here.has(unit) != there.has(unit) for unit in taken)
    own = content(one.text)
    subject = {units[0]} | ({own[0]} if len(own) > 1 else set())
    return not set(taken) <= subject


# --- from one to another


def _left_behind(text: str, told: str) -> Iterator[str]:
    """Yield what a source says to have changed to something else, of which a claim says the old alone."""
    here, own = pool(text), [set(_FROM.findall(text))]
    if any(own) or _OLD.search(text):
        return
    for match in _FROM.finditer(told):
        old, new = (things(next(filter(None, (match[at], match[at + 2])))) for at in (1, 2))
        if (
            (old - new)
            and all(stands(each, here) for each in old - new)
            and not any(stands(each, here) for each in new - old)
        ):
            yield next(filter(None, (match[1], match[3]))).strip()


def things(text: str) -> set[str]:
    """List what a text says something with: its words and numbers."""
    return {*content(text), *numbers(text)}


def stands(thing: str, here: Pool) -> bool:
    """Tell whether a text has a word or number of another."""
    return thing in here.numbers or here.has(thing)


_FROM = re.compile(
    r"\bfrom ([^.,;]{1,30}?) to ([^.,;]{1,30}?)(?=[.,;]|$| (?:at|on|in|for|because|since|as)\b)"
    r"|从([^，。；]{1,12}?)(?:改|换|搬|移|挪|推迟|提前|调|升|降|涨|加|减)?[到成为至]([^，。；]{1,12})"
)
_OLD = re.compile(
    r"(?i)\b(?:was|were|previously|formerly|until|before|used to|left|moved|no longer)\b"
    r"|原|以前|曾|之前|不再|离"
)


# --- the other way round


def _swapped(text: str, told: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a claim's words that its source has in the other order, around the same word."""
    sentences = [_tokens(one) for one in {clause.sentence: None for clause, _ in told_clauses(told)}]
    named_ones = {_key(name) for name in names(text)} & {_key(name) for name in names(told)}
    people = {_key(name) for name in names(text) if name.isalpha() and not DAY_OR_MONTH.fullmatch(name)} & named_ones
    said = _tokens(text)
    for (first, at), (second, then) in combinations(_items(text, said, told)[:_MOST], 2):
        if first == second or then < at + len(first):
            continue
        between = set(said[at + len(first) : then])
        found = [_order(first, second, sentence) for sentence in sentences]
        if any(order is not None and not order for order in found) or not any(found):
            continue
        for around in filter(None, found):
            named = {first, second} <= people and not (between <= _JOINS or around <= _JOINS)
            fillers = _JOINS if {first, second} <= named_ones or _PREFERS.search(told) else _FILLERS
            if named or (between & around) - fillers:
                yield "".join(first), "".join(second)


_PREFERS = re.compile(r"(?i)\b(?:prefers?|better|rather)\b")
"""Where the order of two things tells which is the better one."""


def _order(first: tuple[str, ...], second: tuple[str, ...], sentence: Sequence[str]) -> frozenset[str] | None:
    """Give what stands between two pieces that a sentence has in the other order, empty where it has this order.

    None where it lacks one of them, or has nothing between them.
    """
    one, two = _places(first, sentence), _places(second, sentence)
    if not one or not two:
        return None
    if one[0] < two[-1]:
        return frozenset()
    return frozenset(sentence[two[-1] + len(second) : one[0]]) or None


def _places(piece: tuple[str, ...], row: Sequence[str]) -> list[int]:
    size = len(piece)
    return [at for at in range(len(row) - size + 1) if tuple(row[at : at + size]) == piece]


def _tokens(text: str) -> list[str]:
    """List the words of a text by their stems, and CJK text by characters."""
    found: list[str] = []
    for run in runs(unify(text).casefold().replace("’", "'")):
        found += run if is_cjk(run[0]) else [stem(run.removesuffix("'s"))]
    return found


def _items(text: str, said: Sequence[str], told: str) -> list[tuple[tuple[str, ...], int]]:
    """List what of a claim stands in its sources, as tokens with their place: words that say something, stretches."""
    known, here = set(content(text)), pool(told)
    found: list[tuple[tuple[str, ...], int]] = []
    at = 0
    while at < len(said):
        if is_cjk(said[at]):
            end = next((one for one in range(at, len(said)) if not is_cjk(said[one])), len(said))
            for piece in pieces("".join(said[at:end]), here):
                found += [(tuple(piece), at)] if len(piece) > 1 else []
                at += len(piece)
            continue
        if said[at] in known or said[at].isdecimal():
            found.append(((said[at],), at))
        at += 1
    return found


def _key(name: str) -> tuple[str, ...]:
    return tuple(_tokens(name))
