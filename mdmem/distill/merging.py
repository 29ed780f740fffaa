"""Two versions of a text merged by a model: what it is asked, what it answers, and whether a fact of either is lost.

Owns that comparison, which errs on the side of asking a person. It must never call a merge good that lacks a word,
number or name that one side brought in, or that has one which neither side has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from mdmem.distill import danger, partners
from mdmem.distill.clauses import NEGATION, negations
from mdmem.distill.figures import numbers
from mdmem.distill.prompt import fill, shown
from mdmem.distill.reply import BadReply, decoded, unfenced
from mdmem.distill.stance import contradiction
from mdmem.distill.words import content, names, pool, runs, unknown
from mdmem.text import markdown
from mdmem.text.analyze import is_cjk

LARGEST = 4_000
"""Characters of one version that a model is asked to merge; a longer text is for a person."""

_HEAD = r"^ {0,3}(?:#{1,6}[ \t]*|\*\*)?(?:\d\.\s*)?"
_RESULT = re.compile(
    _HEAD + r"(?:(?:最终)?合并(?:后的?)?(?:结果|版本)|(?:final )?(?:merged )?(?:result|version))[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_REASON = re.compile(
    _HEAD + r"(?:(?:合并)?(?:理由|原因|说明)|reason(?:ing|s)?)[ \t]{0,9}(?:\*\*)?[ \t]{0,9}"
    r"(?:[:：][ \t]*(?:\*\*)?(?P<rest>.*)|[^\w\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_LINKS = re.compile("[但对而且并]|同时|因此|所以|不过")
"""What joins two statements, and states nothing."""

_NOTE = 500
"""Characters of a reason that are kept: it goes into the message of a commit."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A merged text and the model's reason. It may be applied where nothing is in doubt, else a person decides."""

    text: str
    reason: str
    doubts: tuple[str, ...] = ()


def fits(base: str, ours: str, theirs: str) -> bool:
    """Tell whether three versions are short enough to be merged by a model."""
    return max(map(len, (base, ours, theirs))) <= LARGEST


def prompt(template: str, base: str, ours: str, theirs: str) -> str:
    """Fill the template of a merge with the version both sides began with ("" for none), and the two."""
    return fill(template, {"base": shown(base), "ours": shown(ours), "theirs": shown(theirs)})


def propose(reply: str | bytes, base: str, ours: str, theirs: str) -> Proposal | BadReply:
    """Read the answer to a merge, and compare it with the versions."""
    if not fits(base, ours, theirs):
        return BadReply(f"the versions are longer than {LARGEST} characters")
    text = decoded(reply)
    if isinstance(text, BadReply):
        return text
    text = text if _RESULT.search(text.split("```")[0]) else unfenced(text)
    result = _RESULT.search(text)
    if not result:
        return BadReply("it has no merged result")
    reason = next((found for found in reversed(list(_REASON.finditer(text))) if found.start() >= result.end()), None)
    merged = unfenced(text[result.end() : reason.start() if reason else len(text)]).strip("\n").strip()
    if not merged:
        return BadReply("its merged result is empty")
    said = " ".join(((reason["rest"] or "") + text[reason.end() :]).split()) if reason else ""
    merged = merged + "\n" if ours.endswith("\n") else merged
    if len(merged) > len(base) + len(ours) + len(theirs) + _NOTE:
        return Proposal(merged, said[:_NOTE], ("it is longer than the versions together",))
    return Proposal(merged, said[:_NOTE], tuple(_doubts(merged, said, base, (ours, theirs))))


def _doubts(merged: str, reason: str, base: str, sides: Sequence[str]) -> Iterator[str]:
    """Yield what a person should look at."""
    if not re.search(r"\w", reason):
        yield "it gives no reason"
    lost = list(dict.fromkeys(lost_facts(merged, base, sides)))
    if lost:
        yield "it drops " + ", ".join(lost[:8])
    new = list(dict.fromkeys(invented(merged, (base, *sides))))
    if new:
        yield "it adds " + ", ".join(new[:8])
    both = "\n".join(sides)
    found = contradiction(merged, both) or _denies_more(merged, base, sides) or partners.doubt(merged, both)
    if found:
        yield found.replace("its source", "one version")
    if markdown.conflict_markers(merged):
        yield "it holds conflict markers"
    found = danger.in_source(merged)
    if found and not any(map(danger.in_source, sides)):
        yield found.removeprefix("of its source: ")


def _denies_more(merged: str, base: str, sides: Sequence[str]) -> str:
    """Say that more is denied than the versions deny together."""
    before = negations(base)
    most = before + sum(max(0, negations(side) - before) for side in sides)
    return "it denies more than the versions do" if negations(merged) > most else ""


# --- what is lost, and what is new


def lost_facts(merged: str, base: str, sides: Iterable[str]) -> Iterator[str]:
    """Yield what one side brought in, or both kept, and the merged text lacks."""
    here = pool(merged)
    texts = tuple(sides)
    known = frozenset(numbers(base))
    for side in texts:
        for run in _brought_in(base, side):
            yield from (unit for unit in _units(run) if not here.has(unit))
        yield from (number for number in numbers(side) if number not in known | here.numbers)
        if negations(side) > negations(base) and negations(merged) <= negations(base):
            yield NEGATION
    pools = [pool(side) for side in texts]
    kept = [unit for unit in content(base) if all(side.has(unit) for side in pools)]
    yield from (unit for unit in kept if not here.has(unit))
    for name in names(base):
        if all(name in side for side in texts) and name not in merged:
            yield name


def invented(merged: str, versions: Iterable[str]) -> Iterator[str]:
    """Yield what the merged text says and no version of it does."""
    here = pool("\n".join(versions))
    yield from (number for number in numbers(merged) if number not in here.numbers)
    yield from unknown(_LINKS.sub(" ", merged), here)


def _brought_in(base: str, side: str) -> Iterator[tuple[str, ...]]:
    """Yield the words, or characters of CJK, that a side has where the base has none or others, run by run."""
    old, new = _pieces(base), _pieces(side)
    for tag, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            yield tuple(new[start:end])


def _pieces(text: str) -> list[str]:
    return [piece for run in runs(text) for piece in (run if is_cjk(run[0]) else (run,))]


def _units(run: Sequence[str]) -> Iterator[str]:
    """Yield what of a run must not be lost: stems of words, pairs of characters, a character that stands alone."""
    text = "".join(piece if is_cjk(piece[0]) else f" {piece} " for piece in run)
    yield from content(text)
