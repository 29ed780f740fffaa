"""Claims found in entries without a model, in English and Chinese: by how people put them, and how much they say.

`claims` goes from an entry to lines worth remembering: `sentences` says what is prose, `noise` what is no claim,
`english` and `chinese` how claims are put, `salience` how sure it is, `wording` what the line is. `replaced` finds the
earlier line that a claim makes untrue, `closed` the to-dos that an entry reports as done. It
prefers missing a line to adding noise: what is missed stands in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from mdmem.model import Claim, ClaimKind, Entry
from mdmem.text.claims import fold, guarded
from mdmem.text.extract import days, noise
from mdmem.text.extract.changes import replaced
from mdmem.text.extract.closing import closed
from mdmem.text.extract.salience import marked, weighed
from mdmem.text.extract.sentences import LONGEST, Sentence, split, together
from mdmem.text.extract.wording import line, trimmed

__all__ = ["SURE", "claims", "closed", "replaced"]

SURE = 0.7
"""Confidence from which a claim may go to memory unseen; what has less is for a person to review."""

WORTH: Mapping[ClaimKind, float] = {"preference": 0.65, "fact": 0.65, "decision": 0.58, "todo": 0.58}
"""Confidence below which a claim is not even proposed: what reaches a person has to be worth the time."""

PASSING = 0.65
"""Confidence at best of a fact about the coming days: it is news, and left out where nobody marked it as one."""

SAME = 0.92
"""Cosine from which two claims of one entry are one."""

MOST = 24
"""Claims of one entry, the surest: an entry that holds more is a document, and stays one."""

_AGENTS = frozenset(
    ["agent", "assistant", "ai", "claude", "chatgpt", "gpt", "copilot", "model", "llm", "bot", "proxy", "mcp"]
)

Similar = Callable[[str, str], float]


def claims(entry: Entry, *, similar: Similar | None = None) -> list[Claim]:
    """Return the claims of an entry in its order, each with its source and confidence; those below SURE are for review.

    `similar` is the cosine of two texts by a model, where there is one: it only finds what is said twice.
    """
    if noise.refuses_entry(entry):
        return []
    agent = dict(entry.meta).get("source", "").casefold() in _AGENTS
    found: list[Claim] = []
    for sentence in _wholes(marked(split(entry.text)), entry, agent):
        judged = weighed(sentence, entry.date, agent=agent)
        if judged and judged[1] >= WORTH[judged[0]]:
            kind, sure = judged
            text = line(sentence, kind, entry.date)
            if kind == "fact" and days.is_passing(text, entry.date):
                if not sentence.label:
                    continue
                sure = min(sure, PASSING)
            found.append(Claim(kind, text, (guarded(entry),), round(sure, 2)))
    return _surest(_distinct(found, similar))


def _wholes(pieces: Iterable[Sentence], entry: Entry, agent: bool) -> Iterator[Sentence]:
    """Yield sentences, halves that a semicolon divides put together, unless each of them is a claim of its own."""
    waiting: Sentence | None = None
    for piece in map(trimmed, pieces):
        half = waiting and waiting.text.endswith((";", "；")) and len(waiting.text) + len(piece.text) < LONGEST
        if waiting and half and not _are_two(waiting, piece, entry, agent):
            waiting = together(waiting, piece)
            continue
        if waiting:
            yield waiting
        waiting = piece
    if waiting:
        yield waiting


def _are_two(first: Sentence, second: Sentence, entry: Entry, agent: bool) -> bool:
    one, other = (weighed(half, entry.date, agent=agent) for half in (first, second))
    if not one or not other or min(one[1], other[1]) < SURE:
        return False
    return one[0] != other[0] or one[0] == "todo"


def _distinct(found: list[Claim], similar: Similar | None) -> list[Claim]:
    """Leave out what was said before in the same entry."""
    kept: dict[str, Claim] = {}
    for claim in found:
        twice = similar and any(
            each.kind == claim.kind and similar(each.text, claim.text) >= SAME for each in kept.values()
        )
        if not twice:
            kept.setdefault(fold(claim.text), claim)
    return list(kept.values())


def _surest(found: list[Claim]) -> list[Claim]:
    if len(found) <= MOST:
        return found
    least = sorted((claim.confidence for claim in found), reverse=True)[MOST - 1]
    return [claim for claim in found if claim.confidence >= least][:MOST]
