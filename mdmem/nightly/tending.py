"""Steps that take nothing out of memory: fold MEMORY.md, pack closed years, verify indexes, note uses, pack git.

Owns how often the indexes are verified in full. It must never change what a person reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from posixpath import basename, dirname

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.model import Finding, Verification
from mdmem.nightly.report import Item, Outcome, State, Work
from mdmem.vault import archives, birth, folding, verification
from mdmem.vault import usage as uses
from mdmem.vault.closed import Left
from mdmem.vault.packing import Packed
from mdmem.vault.place import Place

SAMPLE = 0.05
"""The share that is verified in a night."""

NAMED = 3
"""So many logs that stay are named one by one."""

SUNDAY, WEEK, DAY = 6, timedelta(days=7), timedelta(hours=20)
FULL = "runs/verify"
"""A file of STATE: when the indexes were last verified in full."""


def fold(work: Work) -> Outcome:
    """Fold lines of MEMORY.md that say the same, and move out what is done; propose those that say nearly the same."""
    done = folding.fold(work.vault.parts, dry_run=work.dry_run)
    items = tuple(Item("MEMORY", text, "is done") for text in done.moved)
    items += tuple(Item("MEMORY", text, "is said twice") for text in done.merged)
    if not items:
        return Outcome("fold", "nothing", "nothing to do", similar=done.similar)
    count = f"{len(items)} line{'s' if len(items) > 1 else ''} of MEMORY.md"
    commits = (done.change.commit,) if done.change and done.change.commit else ()
    state: State = "planned" if work.dry_run else "done"
    summary = f"{count} {'would be folded' if work.dry_run else 'folded'}"
    return Outcome("fold", state, summary, items, commits, similar=done.similar)


def pack(work: Work) -> Outcome:
    """Pack the logs of closed years into archives."""
    done = work.vault.parts.packing.pack(dry_run=work.dry_run)
    findings = tuple(_stayed(done.left))
    outcome = _packed(work, done, findings)
    if harmed := next(archives.damaged(work.vault.place), None):
        path, why = harmed
        hint = archives.remedy(work.vault.place, path)
        return replace(outcome, state="failed", problem=f"{path} cannot be read: {why}", hint=hint)
    return outcome


def _stayed(left: Sequence[Left]) -> Iterator[Finding]:
    """Name the logs that stay, many of one year with one reason by their number."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in left:
        groups.setdefault((basename(one.path)[:4], one.why), []).append(one.path)
    for (year, why), paths in groups.items():
        if len(paths) > NAMED:
            yield Finding(dirname(paths[0]), None, f"{len(paths)} logs of {year} are not packed: {why}")
        else:
            yield from (Finding(path, None, f"is not packed: {why}") for path in paths)


def _packed(work: Work, done: Packed, findings: tuple[Finding, ...]) -> Outcome:
    if not done.logs:
        return Outcome("pack", "nothing", "nothing to do", findings=findings)
    verb = "would be packed" if work.dry_run else "packed"
    logs = f"{done.logs} log{'s' if done.logs > 1 else ''} of closed years"
    summary = f"{logs} {verb}: {done.size:,} bytes become {done.packed:,}"
    items = tuple(Item(path, "", "holds what was packed") for path in done.archives)
    commits = tuple(change.commit for change in done.changes if change.commit)
    return Outcome("pack", "planned" if work.dry_run else "done", summary, items, commits, findings=findings)


# Indexes


def verify(work: Work) -> Outcome:
    """Compare the indexes with the files and heal what differs, a part each night, all of it each week."""
    vault = work.vault
    full = not work.dry_run and is_full_due(vault.place)
    share, how = (1.0, "in full") if full else (SAMPLE, f"{SAMPLE:.0%}")
    if work.dry_run:
        made = verification.verify(
            vault.place, vault.parts.index, vault.parts.meaning, sample=share, progress=work.progress
        )
        return _verified(made, how, dry_run=True)
    made = vault.verify(sample=share, fix=True, progress=work.progress)
    if full:
        _note_full(vault.place)
    indexed = vault.reindex(progress=work.progress)
    outcome = _verified(made, how, dry_run=False)
    more = (
        f"; {indexed.changed} files indexed, {indexed.embedded} embedded" if indexed.changed + indexed.embedded else ""
    )
    return Outcome(
        "verify",
        outcome.state,
        outcome.summary + more,
        findings=(*outcome.findings, *indexed.failures),
        problem=outcome.problem,
        hint=outcome.hint,
    )


def _verified(made: Verification, how: str, *, dry_run: bool) -> Outcome:
    findings = tuple(
        Finding(one.path, one.line, one.message + (" (healed)" if one.healed else ""), one.hint)
        for one in made.findings
        if one.severity != "note"
    )
    healed = sum(one.healed for one in made.findings)
    compared = f"{made.files} files compared, {how}"
    if unread := [one for one in made.findings if one.kind == verification.UNREADABLE]:
        more = f", nor {len(unread) - 1} more" if len(unread) > 1 else ""
        problem = f"{unread[0].path}{more} {unread[0].message}"
        return Outcome("verify", "failed", compared, findings=findings, problem=problem, hint=unread[0].hint)
    if made.left and not dry_run:
        hint = "`mdmem reindex --full` builds the indexes anew"
        problem = f"{made.left} differences could not be healed"
        return Outcome("verify", "failed", compared, findings=findings, problem=problem, hint=hint)
    if made.left:
        return Outcome("verify", "planned", f"{compared}: {made.left} would be healed", findings=findings)
    said = f"{healed} healed" if healed else "nothing differs"
    return Outcome("verify", "done" if healed else "nothing", f"{compared}: {said}", findings=findings)


def is_full_due(place: Place) -> bool:
    """Tell whether the indexes are to be verified in full: on Sundays, and when that was a week ago, or never."""
    last, now = _last_full(place), place.now()
    if last is None:
        return True
    ago = timedelta(seconds=now.timestamp() - last.timestamp())
    return ago >= WEEK or ago < -DAY or (now.weekday() == SUNDAY and ago >= DAY)


def _last_full(place: Place) -> datetime | None:
    with suppress(MdmemError, ValueError):
        snapshot = fsio.read(FULL, root=place.state, limit=1000)
        noted = datetime.fromisoformat(snapshot.data.decode().strip()) if snapshot else None
        return noted if noted and noted.tzinfo else None
    return None


def _note_full(place: Place) -> None:
    with suppress(MdmemError):  # then it is done again, which does no harm
        fsio.put(FULL, f"{place.now().isoformat(timespec='seconds')}\n".encode(), root=place.state)


# Uses


def usage(work: Work) -> Outcome:
    """Write down how much each memory was used."""
    if work.dry_run:
        count = uses.waiting(work.vault.place)
        return Outcome("usage", "planned" if count else "nothing", _noted(count, "would be noted"))
    change, count = uses.fold(work.vault.parts)
    commits = (change.commit,) if change and change.commit else ()
    return Outcome("usage", "done" if count else "nothing", _noted(count, "noted"), commits=commits)


def _noted(count: int, verb: str) -> str:
    return f"the use of {count} {'memories' if count > 1 else 'memory'} {verb}" if count else "nothing to do"


# Git


def git(work: Work) -> Outcome:
    """Pack the repository where it lies in many files, nobody is at it, and it is the vault's own."""
    place = work.vault.place
    wished = place.settings.text("nightly.git")
    if wished == "never":
        return Outcome("git", "nothing", "left alone: nightly.git is never")
    if wished == "auto" and birth.tracked_elsewhere(place):
        return Outcome("git", "nothing", "left alone: the repository holds other things too (nightly.git)")
    before = place.repo.sizes()
    now = f"{before.loose:,} loose objects, {before.packs} packs, {before.size:,} bytes"
    if not before.is_due:
        return Outcome("git", "nothing", f"nothing to do: {now}")
    if reason := place.repo.at_work():
        return Outcome("git", "nothing", f"left alone: {reason}")
    if work.dry_run:
        return Outcome("git", "planned", f"would be packed: {now}")
    after = place.repo.pack(before)
    return Outcome("git", "done", f"packed: {now}; now {after.packs} packs, {after.size:,} bytes")
