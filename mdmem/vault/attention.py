"""What waits for a person, each kind in one line.

Owns that list. It must never change anything, and never say a thing that a command it names does not show.
"""

from __future__ import annotations

from mdmem.errors import MdmemError
from mdmem.vault.parts import Parts
from mdmem.vault.reasons import FOUND, TORN, UNCLEAR


def lines(parts: Parts) -> list[str]:
    """Say what waits: hand edits not committed, texts held, conflicts, claims to review, files that do not parse."""
    waiting = parts.delivery.waiting()
    found = parts.commits.found()
    edited = found.keys() - {one.path for one in waiting}
    broken = parts.index.ask(lambda stores: [file.path for file in stores.catalog.files() if file.problems])
    held = [one for one in parts.recovery.listed() if one.reason in (UNCLEAR, TORN, FOUND)]
    said = (
        (len(waiting), "change", "waiting to be delivered: the next command tries again"),
        (len(held), "text", "held, not clear if it was meant to go: `mdmem recover`"),
        (len(parts.conflicts.listed(found)), "conflict", "to be settled: `mdmem conflicts`"),
        (_to_review(parts), "claim", "to review: `mdmem review`"),
        (len(edited), "file", "edited by hand: `mdmem commit` takes it into history"),
        (len(broken), "file", "read as plain text: `mdmem reindex` says why"),
    )
    told = [f"{count} {noun}{'s' * (count > 1)} {what}" for count, noun, what in said if count]
    return told + [f"{finding.path}: {finding.message}" for finding in parts.place.settings.findings]


def _to_review(parts: Parts) -> int:
    try:
        return len(parts.review.listed())
    except MdmemError:  # `mdmem review` says what is wrong
        return 0
