"""Steps that take something out: what has expired, and what was kept twice.

Owns when a person is asked before. It must never take out more than was agreed to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mdmem.errors import MdmemError, Refused
from mdmem.nightly.report import Item, Outcome, Work
from mdmem.vault import curated, messages, removal, similar
from mdmem.vault import duplicates as twice
from mdmem.vault import expiry as expiries
from mdmem.vault.removal import Found, Going

FEW, SHARE = 3, 10
"""So many units may go without a word, and one in so many of all."""


def expire(work: Work) -> Outcome:
    """Take out entries and documents whose time is over."""
    place = work.vault.place
    if reason := expiries.doubt(place):
        raise Refused(reason, "nothing was taken out: set the clock right, or wait until it is past that commit")
    outcome = _take_out(work, "expire", expiries.find(place, place.now()), "expired")
    if outcome.commits:
        gone = [item.address for item in outcome.items]
        outcome = replace(outcome, notices=tuple(curated.left_of(place, gone)))
    return outcome


def duplicates(work: Work) -> Outcome:
    """Merge entries that were kept twice; name documents that are copies, and pairs that say the same, or nearly."""
    made = twice.find(work.vault.place)
    outcome = _take_out(work, "duplicates", made.found, "merged into what says the same")
    if outcome.commits:  # a merge gives what stays other tags, and what stood below it another label
        made = twice.find(work.vault.place)
    pairs, failure = made.pairs, None
    try:
        pairs += tuple(similar.find(work.vault.parts))
    except MdmemError as error:
        failure = error
    try:
        if not work.dry_run:
            similar.keep(work.vault.place, pairs)
    except MdmemError as error:
        failure = failure or error
    if failure:
        return replace(outcome, state="failed", similar=pairs, problem=failure.message, hint=failure.hint)
    return replace(outcome, similar=pairs)


def _take_out(work: Work, step: str, found: Found, what: str) -> Outcome:
    going = found.going
    items = tuple(Item(one.address, one.text, one.why) for one in going)
    outcome = Outcome(step, "nothing", "nothing to do", items, findings=found.findings)
    if not going:
        return outcome
    counted = _counted(going)
    refusal = _refusal(work, step, going)
    if work.dry_run:
        return replace(outcome, state="planned", summary=f"{counted} would be {what}", problem=refusal)
    if refusal:
        hint = f"`mdmem nightly --dry-run --step {step}` shows them, `mdmem nightly --step {step} --yes` takes them out"
        return replace(outcome, state="refused", summary=f"{counted} not {what}", problem=refusal, hint=hint)
    change, gone = removal.carry_out(work.vault.parts, found, lambda gone: _message(step, gone))
    left = () if len(gone) == len(going) else ("some files were changed meanwhile: the next night looks at them again",)
    if not gone:
        return replace(outcome, items=(), notices=left)
    items = tuple(Item(one.address, one.text, one.why) for one in gone)
    commits = (change.commit,) if change and change.commit else ()
    return Outcome(step, "done", f"{_counted(gone)} {what}", items, commits, findings=found.findings, notices=left)


def _refusal(work: Work, step: str, going: Sequence[Going]) -> str:
    """Say why so much may not go, unless somebody agrees; "" where it may."""
    if len(going) <= FEW:
        return ""
    totals = work.vault.parts.index.ask(lambda stores: stores.catalog.totals())
    total = totals["entries"] + totals["documents"]
    if len(going) * SHARE <= total:
        return ""
    if not work.dry_run and work.agree and work.agree(step, len(going), total):
        return ""
    return f"that is {len(going)} of {total} entries and documents, more than a tenth"


def _counted(going: Sequence[Going]) -> str:
    """Count entries and documents in words."""
    parts = []
    for one, many, count in (
        ("entry", "entries", sum(each.kind == "entry" for each in going)),
        ("document", "documents", sum(each.kind != "entry" for each in going)),
    ):
        parts += [f"{count} {one if count == 1 else many}"] if count else []
    return " and ".join(parts)


def _message(step: str, gone: Sequence[Going]) -> str:
    """Write the message of the commit."""
    if step == "expire":
        subject, why = f"Expire {_counted(gone)}", "Their time was over, by what they say themselves."
    else:
        subject, why = f"Merge {_counted(gone)} kept twice", "An earlier entry says the same; it has the tags of both."
    return messages.of_upkeep(subject, why, [(one.address, one.text, one.why) for one in gone])
