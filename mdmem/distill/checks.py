"""What becomes of each claim: memory, one more confirmation of a line, a person's decision, or nothing.

Owns the order of the checks and what they say. It must never let a claim through that no given entry supports, nor one
that would take the place of a line that a person wrote.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mdmem.distill import danger, jest, replacing, stance, subjects, support
from mdmem.distill.page import Bullet, Page
from mdmem.distill.page import read as read_page
from mdmem.distill.reply import DOUBTED
from mdmem.model import Claim, Entry
from mdmem.text import claims as lines
from mdmem.text.claims import digest, fold, guarded, unboxed
from mdmem.text.extract import closing

PREFERENCES = 3
"""New preferences that one checkpoint may keep; the rest is asked about."""

SURE = 0.7
"""The confidence from which on a claim may become memory by itself."""

OWN = frozenset({"checkpoint", "mdmem", "nightly", "recall", "search"})
"""Sources of entries that hold what was remembered already: nothing is learnt from them."""

Outcome = Literal["accept", "confirm", "review", "drop"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a claim, and why. The claim's sources are the guarded addresses that were found, if any were."""

    claim: Claim
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Case:
    """What claims are held against: entries by each of their names, memory, and what was rejected or asked."""

    entries: Mapping[str, Entry]
    page: Page
    bullets: Mapping[str, Bullet]
    ours: Container[str]
    rejected: Container[str]
    asked: frozenset[str]


def judge(
    claims: Sequence[Claim],
    entries: Sequence[Entry],
    *,
    memory: str,
    ours: Container[str],
    rejected: Container[str] = (),
    templates: Sequence[str] = (),
    preferences: int = PREFERENCES,
) -> tuple[Verdict, ...]:
    """Judge all claims of one checkpoint against the entries that they came from and MEMORY.md as it stands.

    `ours` holds the lines, without endings, that are the program's; `rejected` the digests of claims that a person
    does not want; `templates` are the prompts' texts before they were filled. `preferences` says how many new ones may
    still be accepted, where a checkpoint is judged in parts.
    """
    page = read_page(memory)
    bullets = {fold(bullet.said.text): bullet for bullet in page.bullets}
    asked = frozenset(fold(_bare(line)) for template in templates for line in template.split("\n"))
    case = _Case(_named(entries), page, bullets, ours, rejected, asked - {""})
    found = [_verdict(claim, case) for claim in _merged(claims, case)]
    return tuple(_bounded(found, preferences))


def _named(entries: Sequence[Entry]) -> dict[str, Entry]:
    """List entries by address, id, and address without its folder, where only one has that."""
    found: dict[str, Entry] = {}
    short = [entry.address.rpartition("/")[2] for entry in entries]
    for entry, name in zip(entries, short, strict=True):
        found[entry.address] = found[guarded(entry)] = entry
        found.setdefault(entry.id, entry)
        if short.count(name) == 1:
            found.setdefault(name, entry)
    return found


def _bare(line: str) -> str:
    said = lines.read(line.strip())
    return said.text if said else line


def _merged(claims: Sequence[Claim], case: _Case) -> list[Claim]:
    """Put claims together that say the same, with the sources of all, and name those that are given."""
    found: dict[str, Claim] = {}
    for claim in claims:
        box, text = unboxed(claim.text)
        key = fold(text) + box
        known = found.get(key)
        cited = dict.fromkeys(guarded(case.entries[one]) for one in claim.sources if one in case.entries)
        if known is None:
            found[key] = replace(claim, text=claim.text.strip(), sources=tuple(cited))
        else:
            sources = tuple(dict.fromkeys((*known.sources, *cited)))
            sure = max(known.confidence, claim.confidence)
            found[key] = replace(known, sources=sources, confidence=sure, replaces=known.replaces or claim.replaces)
    return list(found.values())


def _bounded(verdicts: Sequence[Verdict], most: int) -> Iterator[Verdict]:
    """Yield the verdicts, those beyond what one checkpoint may do turned into questions."""
    preferences, replaced = 0, set[str]()
    for verdict in verdicts:
        claim = verdict.claim
        if verdict.outcome == "accept" and claim.replaces:
            again = fold(claim.replaces) in replaced
            replaced.add(fold(claim.replaces))
            verdict = Verdict(claim, "review", "another claim takes the place of that line") if again else verdict
        if verdict.outcome == "accept" and claim.kind == "preference":
            preferences += 1
            if preferences > most:
                verdict = Verdict(claim, "review", f"there are more than {PREFERENCES} new preferences at once")
        yield verdict


# --- one claim


def _verdict(claim: Claim, case: _Case) -> Verdict:
    box, text = unboxed(claim.text)
    if digest(text) in case.rejected:
        return Verdict(claim, "drop", "it was rejected before")
    sources = [case.entries[one] for one in claim.sources]
    told = [entry for entry in sources if dict(entry.meta).get("source", "").casefold() not in OWN]
    if sources and not told:
        return Verdict(claim, "drop", "it comes from what was remembered already")
    target, claim, why = _target(claim, case)
    doubt = _copied(text, case) or why or _doubt(claim, text, told, target)
    if _stands(text, case) and not claim.replaces:
        return _known(claim, text, doubt, case)
    if doubt:
        return Verdict(claim, "review", doubt)
    if box == "x" and not target:
        return Verdict(claim, "drop", "it is done already")
    return Verdict(claim, "accept")


def _stands(text: str, case: _Case) -> bool:
    return fold(text) in case.page.known or fold(text) in case.bullets


def _known(claim: Claim, text: str, doubt: str, case: _Case) -> Verdict:
    """Judge a claim that stands in memory: the program's line is confirmed by a source that bears it out."""
    bullet = case.bullets.get(fold(text))
    if bullet is None or not is_ours(bullet, case.ours):
        return Verdict(claim, "drop", "a person has written it down already")
    if doubt:
        return Verdict(claim, "drop", f"it is in memory already; as a confirmation it does not count: {doubt}")
    return Verdict(claim, "confirm", "it is in memory already")


def is_ours(bullet: Bullet, ours: Container[str]) -> bool:
    """Tell whether a bullet is the program's: as its commit wrote it, with a source, and nothing written beneath."""
    return bullet.line in ours and bool(bullet.said.sources) and bullet.alone


def _copied(text: str, case: _Case) -> str:
    return "it is copied from the prompt" if fold(text) in case.asked else ""


def _target(claim: Claim, case: _Case) -> tuple[Bullet | None, Claim, str]:
    """Find the line that a claim takes the place of, the claim with that line's text, and what speaks against it."""
    if not claim.replaces:
        return None, claim, ""
    bullet = case.bullets.get(fold(_bare(claim.replaces)))
    if bullet is None:
        return None, claim, "it takes the place of a line that is not there"
    claim = replace(claim, replaces=bullet.said.text)
    if not is_ours(bullet, case.ours):
        return bullet, claim, "it would take the place of a line that a person wrote"
    return bullet, claim, ""


def _doubt(claim: Claim, text: str, sources: Sequence[Entry], target: Bullet | None) -> str:
    """Say what a person should look at before a claim becomes memory; "" for nothing."""
    found = danger.in_claim(text, claim.kind)
    if found:
        return found
    if not sources:
        return "none of the entries given is named as its source"
    found = next(filter(None, (danger.in_source(entry.text) for entry in sources)), "")
    found = found or jest.doubt(claim, sources) or _done(claim, text, sources, target)
    found = found or support.doubt(text, sources, target.said.text if target else "")
    if found:
        return found
    if target and (found := replacing.doubt(claim.text, support.told(sources), target.said.text)):
        return found
    return "" if claim.confidence >= SURE else _unsure(claim, sources)


def _done(claim: Claim, text: str, sources: Sequence[Entry], target: Bullet | None) -> str:
    """Say what speaks against a to-do: it is done, or is not, or is for somebody else to do."""
    ticked = claim.text.startswith("[x]")
    if claim.kind != "todo" and not ticked:
        return ""
    todos = [text, *([target.said.text] if target else [])]
    done = any(closing.closed(entry, [todo]) for entry in sources for todo in todos)
    if ticked:
        reported = done or (closing.is_report(text) and not support.doubt(text, sources))
        return "" if reported else "its source does not say that it is done"
    if done:
        return "its source says that it is done"
    other = subjects.owed_by_others(text, support.told(sources))
    return f"its source says that {other} is to do so" if other else ""


def _unsure(claim: Claim, sources: Sequence[Entry]) -> str:
    if claim.confidence <= DOUBTED:
        return "not sure: the model itself marks it so"
    hedged = any(stance.UNSURE.search(entry.text) for entry in sources)
    return "not sure: its source is not sure either" if hedged else "not sure"


def is_foreign(claims: Sequence[Claim], entries: Sequence[Entry]) -> bool:
    """Tell whether an answer with claims names none of the entries: it is stale, or an answer to something else."""
    known = _named(entries)
    return bool(claims) and not any(source in known for claim in claims for source in claim.sources)
