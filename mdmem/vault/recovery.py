"""What is kept for a person to decide about, or still on its way: listed, put back, or let go.

Owns the list that `recover` shows. It must never write to a memory file itself: what is put back goes the way of every
other change.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from mdmem.errors import MdmemError, Missing, NotFound, Refused
from mdmem.model import Change, Conflict, Held
from mdmem.store.journal import Journal, Record, Tracked
from mdmem.text import absence, entries, standing, units
from mdmem.vault import history, messages, whereabouts
from mdmem.vault.daylog import decoded
from mdmem.vault.departure import Departures
from mdmem.vault.observation import kept_key, restored
from mdmem.vault.place import Place
from mdmem.vault.reasons import CONFLICT, DELETED, FILE_GONE, FOUND, MERGE, RECOVERED, STALE, TAKEN, TORN, UNCLEAR
from mdmem.vault.replacement import Replacements, Step
from mdmem.vault.rewound import Rewound

if TYPE_CHECKING:
    from mdmem.vault.parts import Parts

T = TypeVar("T", Held, Conflict)

KEPT_DAYS = 30
"""How long what a person deleted is listed."""

FULL = 1 << 20
"""Bytes of free space below which a disk counts as full."""


@dataclass(slots=True)
class Recovery:
    """The list, numbered from 1: what was deleted or dropped first, then what waits, then what git took back."""

    place: Place
    journal: Journal
    notices: list[str]
    departures: Departures
    rewound: Rewound

    def listed(self) -> list[Held]:
        """List what the journal holds, and why."""
        return self._numbered(self._kept())

    def all(self) -> list[Held]:
        """List what `listed` does, and then what git took back, which takes a look at history."""
        return self._numbered([*self._kept(), *self.rewound.listed()])

    def find(self, *ids: str) -> list[Tracked]:
        """Give what is listed by these ids. Raises NotFound."""
        found = {one.record.id: one for one in self._kept()}
        if not found.keys() >= set(ids):
            found |= {one.record.id: one for one in self.rewound.listed()}
        for id in ids:
            if id not in found:
                raise NotFound(f"nothing that is held has the id {id}", "`mdmem recover` lists what there is")
        return [found[id] for id in dict.fromkeys(ids)]

    def _numbered(self, found: Sequence[Tracked]) -> list[Held]:
        return [self._held(number, one) for number, one in enumerate(found, 1)]

    def _kept(self) -> list[Tracked]:
        scanned = self.journal.scan(settled=False)
        held = [one for one in scanned if one.state == "held" and self._is_listed(one)]
        return held + [one for one in scanned if one.state == "waiting" and one.record.op != MERGE]

    def _is_listed(self, one: Tracked) -> bool:
        if one.reason == DELETED:
            return not one.noted or self.place.now() - datetime.fromisoformat(one.noted) < timedelta(days=KEPT_DAYS)
        return one.reason in (UNCLEAR, CONFLICT, FOUND, TORN)

    def _held(self, number: int, one: Tracked) -> Held:
        record = one.record
        commit = record.extra.get("commit")
        return Held(
            number=number,
            id=record.id,
            address=self._address(record),
            text=record.text or "",
            reason=one.reason if one.state == "held" else self._why_waiting(one),
            noted=datetime.fromisoformat(one.noted) if one.noted else None,
            source=f"commit {commit[:8]}" if commit else "journal",
        )

    def _address(self, record: Record) -> str:
        stem = units.stem_of(record.path or "")
        if record.op == CONFLICT:
            with suppress(MdmemError):  # then by the name that it had
                return units.stem_of(whereabouts.of(self.place, record).path)
        block = record.extra.get("block")
        found = entries.parse(block).entries if block else ()
        if found:
            return f"{stem}#{found[0].time}"
        return f"{stem}#{record.at[11:16]}" if record.op == "add" and record.at else stem

    def _why_waiting(self, one: Tracked) -> str:
        if one.reason == STALE or (one.record.op == "restore" and not one.reason):
            return "stale copy, put back in a moment"
        if reason := self.place.repo.unfinished():
            return f"git busy: {reason}"
        return "no space" if shutil.disk_usage(self.place.root).free < FULL else "waiting for the lock"

    def expire(self) -> None:
        """Let go of what was deleted long ago."""
        old = [
            one.record.id
            for one in self.journal.scan(settled=False)
            if one.state == "held" and one.reason == DELETED and not self._is_listed(one)
        ]
        if old:
            self.journal.mark("void", old, reason="deleted long ago")

    def hold(self, steps: Sequence[Step]) -> None:
        """Keep what a change is about to take out of files again, though it had been put back there.

        Before it goes: should that be broken off, it still stands there, and is let go again. Under the write lock.
        """
        noted = {"noted": self.place.now().isoformat(timespec="seconds"), "commit": self.place.repo.head()}
        held = {(one.file, kept_key(one)) for one in self._kept() if one.record.is_entry}
        fresh = []
        for step in steps:
            before, after = decoded(step.before or b""), decoded(step.wanted or b"")
            if units.is_log(step.path) and step.wanted is not None:
                found = list(self._entries(step.path, before, after, noted))
                is_there = standing.corrected(after, before, [one.extra["block"] for one in found])
                fresh += [one for one, there in zip(found, is_there, strict=True) if not there]
        fresh = [one for one in fresh if (one.path, kept_key(Tracked(one))) not in held]
        if fresh:  # the mark first: a record without it would be taken for one that waits
            self.journal.mark("held", [one.id for one in fresh], reason=DELETED, durable=True)
            self.journal.append(*fresh)
        gone = {step.path: step.before for step in steps if step.wanted is None and step.before is not None}
        self.departures.note(self.departures.records(gone, {step.path: step.wanted for step in steps}))

    def require(self, one: Tracked) -> None:
        """Refuse what cannot be put back. Raises Refused, Missing."""
        record, path = one.record, one.file
        if one.reason == CONFLICT:
            hint = "nothing was put back; `mdmem conflicts` shows and resolves them"
            raise Refused(f"two versions of {units.stem_of(path)} are in conflict", hint)
        if record.op != FILE_GONE:
            return
        commit = str(record.extra["commit"])[:8]
        if self._deleted(record) is None:
            hint = "nothing was put back; `mdmem log` may show another version"
            raise Missing(f"{path} is no longer in {commit}", hint)
        if not units.is_log(path) and self.place.read(path) is not None:
            hint = f"`git show {commit}:./{path}` prints what was deleted; `mdmem recover N --drop` lets go of it"
            raise Refused(f"{path} is there again, with another text", f"nothing was put back; {hint}")

    def _deleted(self, record: Record) -> bytes | None:
        return self.place.repo.read(str(record.extra["commit"]), record.path or "")

    def release(self, one: Tracked, replacements: Replacements) -> list[str]:
        """Have what is held put back: an entry with the next delivery, a document at once. Under the write lock.

        Gives the ids of the records that put it back. Raises Refused where that is not clear, Missing.
        """
        self.require(one)
        if one.record.op == FILE_GONE:
            return self._release_file(one.record, replacements)
        if one.reason == TAKEN:
            noted = self.place.now().isoformat(timespec="seconds")
            self.journal.append(replace(one.record, extra={**one.record.extra, "noted": noted}))
        self.journal.mark("waiting", [one.record.id], reason=RECOVERED, durable=True)
        return [one.record.id]

    def _release_file(self, record: Record, replacements: Replacements) -> list[str]:
        path, data = record.path or "", self._deleted(record) or b""
        now = self.place.read(path)
        if now is None:
            if (other := self.departures.successor(path, data, str(record.extra["commit"]))) is not None:
                self.notices.append(
                    f"{units.stem_of(other)} has much of what {units.stem_of(path)} had: both stand now"
                )
            said = messages.message(f"Put back {units.stem_of(path)}", "It was deleted in an editor.", op="restore")
            step = Step(path, None, data)
            records = replacements.carry_out([step], op="restore document", message=said, group=record.id)
        else:
            noted = {"noted": self.place.now().isoformat(timespec="seconds")}
            records = list(self._entries(path, decoded(data), decoded(now.data), noted))
            self.journal.append(*records)
            self.journal.mark("waiting", [one.id for one in records], reason=RECOVERED, durable=True)
        self.journal.mark("void", [record.id], reason=RECOVERED)
        return [one.id for one in records]

    def _entries(self, path: str, source: str, now: str, noted: Mapping[str, str | None]) -> Iterator[Record]:
        """Yield what puts back those entries of a version of a log that another lacks."""
        there, often = absence.held(now), Counter[absence.Folded]()
        for entry in entries.parse(source).entries:
            key = absence.folded(entry)
            often[key] += 1
            if often[key] > there[key]:
                block = f"{source[entry.start : entry.end].rstrip()}\n".replace("\r\n", "\n")
                yield restored(path, absence.Known(entry, block, 0), often[key], noted)

    def forget(self, one: Tracked) -> None:
        """Let go of what is listed, for good."""
        self.journal.mark("void", [one.record.id], reason="dropped by hand", durable=True)
        if one.reason == TAKEN:  # last: a record without its mark would be taken for one that waits
            self.journal.append(one.record)


def listed(parts: Parts) -> list[Held]:
    """List all, after looking for what went unseen, and letting go of what stands again. See `looked`."""

    def listing() -> list[Held]:
        with suppress(MdmemError):  # then something is listed that need not be
            parts.departures.let_go()
            parts.observation.let_go()
            parts.recovery.expire()
        return parts.recovery.all()

    return looked(parts, [parts.kept.adopt, parts.departures.find], listing)


def looked(parts: Parts, find: Sequence[Callable[[], None]], listing: Callable[[], list[T]]) -> list[T]:
    """List something after looking for more of it. Where that fails it is said; raised, where nothing is listed."""
    failed: MdmemError | None = None
    for look in find:
        try:
            look()
        except MdmemError as error:
            failed = failed or error
    found = listing()
    if failed and not found:
        failed.message = f"whether there is anything cannot be told: {failed.message}"
        raise failed
    if failed:
        parts.notices.append(f"there may be more than is listed: {failed.message}")
    return found


def put_back(parts: Parts, ids: Sequence[str], *, wait_ms: int) -> list[Change]:
    """Put back what is listed by these ids; give the commits that did, none where that waits.

    What people did to the files meanwhile becomes a commit of its own, before. Raises NotFound, Refused, Missing.
    """
    with parts.delivery.writing(wait_ms):
        parts.delivery.deliver()
        wanted = parts.recovery.find(*ids)
        for one in wanted:  # all of them or none
            parts.recovery.require(one)
        with suppress(MdmemError):  # then it is committed along, or waits, as notices say
            parts.commits.commit_by_hand(sorted({one.file for one in wanted}))
        records = [id for one in wanted for id in parts.recovery.release(one, parts.replacements)]
        parts.delivery.deliver()
        done = parts.commits.commit_placed()
    parts.kept.update()
    made = history.changes_of(parts.place, list(dict.fromkeys(done[id] for id in records if id in done)))
    return [change for change in made if change.op != "save"]
