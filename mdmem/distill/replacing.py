"""Whether a claim may take the place of a line of memory: it speaks of the same, and nothing true goes with the line.

Owns that comparison. It must never let a line go whose content neither stands in the claim nor was changed by what
the claim rests on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.distill.clauses import clauses
from mdmem.distill.figures import numbers
from mdmem.distill.subjects import subject
from mdmem.distill.words import content, names, pool, shown, wide_pool
from mdmem.text.claims import unboxed

_CHANGE = re.compile(
    r"(?i)n't\b|\b(?:no longer|not|never|any ?more|now|instead|rather than|mov(?:e|es|ed|ing)|changed?|changes"
    r"|switch\w*|was|were|used to|previously|formerly|cancel\w*|replac\w*|renam\w*|stopp?\w*|quit|gave up|since"
    r"|from now|new|postponed|shifted|upgraded|corrected|correction|actually|from \S+ to)\b|(?:->|→|⇒)"
    r"|不再|改|换|变|搬|挪|取消|原来|以前|现在|如今|今后|以后|从今|从.{1,12}到|推迟|提前|延|调|戒|更正|其实|已经|不"
)


def doubt(text: str, told: str, old: str) -> str:
    """Say why a claim must not take the place of a line; "" where it may."""
    box, text = unboxed(text)
    changing = "\n".join(_changing(told, f"{text}\n{old}"))
    owners = [subject(each).casefold() for each in (text, old)]
    if owners[0] != owners[1] and all(owners):
        return f"it speaks of another than the line it would take the place of: {old}"
    here, change = pool(text), pool(changing)
    units = content(old)
    if units and not any(here.has(unit) or change.has(unit) for unit in units[:2]):
        return f"it has nothing to do with the line that it would take the place of: {old}"
    rest = [unit for unit in units if unit not in content(subject(old))]
    if owners[1] and rest and not any(map(wide_pool(f"{text}\n{changing}").has, rest)):
        return f"it says something else of whom it is about than the line that it would take the place of: {old}"
    lost = [unit for unit in units if not here.has(unit)]
    lost += [number for number in numbers(old) if number not in here.numbers]
    lost += [name for name in names(old) if name.casefold() not in text.casefold()]
    apart = _lost_apart(text, changing, old)
    if apart and box != "x":
        return f"{apart} would be lost, of which its sources say nothing, with the line: {old}"
    if lost and not changing and box != "x":
        return f"{shown(lost[0], old)} would be lost, of which its sources say no change, with the line: {old}"
    return ""


def _lost_apart(text: str, changing: str, old: str) -> str:
    """Give what a line says besides, or of somebody's health, that neither a claim nor the news of a change has."""
    here = pool(f"{text}\n{changing}")
    for part in _APART.split(old):
        units = content(part)
        if units and not any(map(here.has, units)):
            return part.strip()
    grave = _GRAVE.search(old)
    return grave[0] if grave and not _GRAVE.search(f"{text}\n{changing}") else ""


_APART = re.compile(r"(?i)[;；]|\b(?:and|but)\b|但是?|而且|并且")
_GRAVE = re.compile(
    r"(?i)\b(?:allerg|intoleran|medic|insulin|asthma|diabet|epilep|pregnan)\w*|过敏|药|哮喘|糖尿|胰岛素|怀孕|癫痫"
)


_BESIDES = re.compile(r"(?i)\b(?:too|also|as well|additionally|besides)\b|(?<!再)也|还[在有要会]|另外|同时")
"""What says that something came to what was."""


def _changing(told: str, subject_matter: str) -> Iterator[str]:
    """Yield the sentences that say that something changed, of what a claim and the old line speak of."""
    units = content(subject_matter)
    for sentence in dict.fromkeys(clause.sentence for clause in clauses(told)):
        here = pool(sentence)
        if _CHANGE.search(sentence) and not _BESIDES.search(sentence) and any(map(here.has, units)):
            yield sentence
