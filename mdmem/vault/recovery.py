"""What is kept for a person to decide about, or still on its way: listed, put back, or let go.

Owns the list that `recover` shows. It must never write to a memory file itself: what is put back goes the way of every
other change.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from mdmem.errors import MdmemError, Missing, NotFound, Refused
from mdmem.model import Change, Held
from mdmem.store.journal import Journal, Record, Tracked
from mdmem.text import absence, entries, units
from mdmem.vault import history, messages
from mdmem.vault.daylog import decoded
from mdmem.vault.departure import Departures
from mdmem.vault.observation import restored
from mdmem.vault.place import Place
from mdmem.vault.reasons import CONFLICT, DELETED, FILE_GONE, FOUND, MERGE, RECOVERED, STALE, TAKEN, TORN, UNCLEAR
from mdmem.vault.replacement import Replacements, Step
from mdmem.vault.rewound import Rewound

if TYPE_CHECKING:
    from mdmem.vault.parts import Parts

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
            noted = one.record.extra.get("noted")
            return not noted or self.place.now() - datetime.fromisoformat(noted) < timedelta(days=KEPT_DAYS)
        return one.reason in (UNCLEAR, CONFLICT, FOUND, TORN)

    def _held(self, number: int, one: Tracked) -> Held:
        record = one.record
        noted = record.extra.get("noted")
        commit = record.extra.get("commit")
        return Held(
            number=number,
            id=record.id,
            address=self._address(record),
            text=record.text or "",
            reason=one.reason if one.state == "held" else self._why_waiting(one),
            noted=datetime.fromisoformat(noted) if noted else None,
            source=f"commit {commit[:8]}" if commit else "journal",
        )

    def _address(self, record: Record) -> str:
        stem = units.stem_of(record.path or "")
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

    def release(self, one: Tracked, replacements: Replacements) -> list[str]:
        """Have what is held put back: an entry with the next delivery, a document at once. Under the write lock.

        Gives the ids of the records that put it back. Raises Refused where that is not clear, Missing.
        """
        if one.reason == CONFLICT:
            raise Refused("two versions are in conflict there", "`mdmem conflicts` shows and resolves them")
        if one.record.op == FILE_GONE:
            return self._release_file(one.record, replacements)
        if one.reason == TAKEN:
            noted = self.place.now().isoformat(timespec="seconds")
            self.journal.append(replace(one.record, extra={**one.record.extra, "noted": noted}))
        self.journal.mark("waiting", [one.record.id], reason=RECOVERED, durable=True)
        return [one.record.id]

    def _release_file(self, record: Record, replacements: Replacements) -> list[str]:
        path, commit = record.path or "", str(record.extra["commit"])
        data = self.place.repo.read(commit, path)
        if data is None:
            raise Missing(f"{path} is no longer in {commit[:8]}", "`mdmem log` may show another version")
        now = self.place.read(path)
        if now is None:
            if (other := self.departures.successor(path, data, commit)) is not None:
                self.notices.append(
                    f"{units.stem_of(other)} has much of what {units.stem_of(path)} had: both stand now"
                )
            said = messages.message(f"Put back {units.stem_of(path)}", "It was deleted in an editor.", op="restore")
            step = Step(path, None, data)
            records = replacements.carry_out([step], op="restore document", message=said, group=record.id)
        elif units.is_log(path):
            records = list(self._entries(path, decoded(data), decoded(now.data)))
            self.journal.append(*records)
            self.journal.mark("waiting", [one.id for one in records], reason=RECOVERED, durable=True)
        else:
            hint = f"`git show {commit[:8]}:./{path}` prints what was deleted; `mdmem recover N --drop` lets go of it"
            raise Refused(f"{path} is there again, with another text", hint)
        self.journal.mark("void", [record.id], reason=RECOVERED)
        return [one.id for one in records]

    def _entries(self, path: str, source: str, now: str) -> Iterator[Record]:
        """Yield what puts back those entries of a deleted log that the new one lacks."""
        there, often = absence.held(now), Counter[absence.Folded]()
        noted = {"noted": self.place.now().isoformat(timespec="seconds")}
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


def put_back(parts: Parts, ids: Sequence[str], *, wait_ms: int) -> list[Change]:
    """Put back what is listed by these ids; give the commits that did, none where that waits.

    What people did to the files meanwhile becomes a commit of its own, before. Raises NotFound, Refused, Missing.
    """
    with parts.delivery.writing(wait_ms):
        parts.delivery.deliver()
        wanted = parts.recovery.find(*ids)
        with suppress(MdmemError):  # then it is committed along, or waits, as notices say
            parts.commits.commit_by_hand(sorted({one.file for one in wanted}))
        records = [id for one in wanted for id in parts.recovery.release(one, parts.replacements)]
        parts.delivery.deliver()
        done = parts.commits.commit_placed()
    parts.kept.update()
    made = history.changes_of(parts.place, list(dict.fromkeys(done[id] for id in records if id in done)))
    return [change for change in made if change.op != "save"]
