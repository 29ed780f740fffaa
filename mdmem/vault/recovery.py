"""What is kept for a person to decide about, or still on its way: listed, put back, or let go.

Owns the list that `recover` shows. It must never write to a memory file itself: what is put back goes the way of every
other change.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mdmem.errors import Missing, NotFound, Refused
from mdmem.model import Held
from mdmem.store.journal import Journal, Record, Tracked
from mdmem.text import changes, entries, units
from mdmem.vault import messages
from mdmem.vault.place import Place
from mdmem.vault.reasons import CONFLICT, DELETED, FILE_GONE, FOUND, RECOVERED, STALE, TORN, UNCLEAR
from mdmem.vault.replacement import Replacements, Step

KEPT_DAYS = 30
"""How long what a person deleted is listed."""

FULL = 1 << 20
"""Bytes of free space below which a disk counts as full."""


@dataclass(slots=True)
class Recovery:
    """The list, numbered from 1: what was deleted or dropped first, then what waits."""

    place: Place
    journal: Journal

    def listed(self) -> list[Held]:
        """List what is held, and why."""
        return [self._held(number, one) for number, one in enumerate(self._kept(), 1)]

    def find(self, id: str) -> Tracked:
        """Give what is listed by this id. Raises NotFound."""
        for one in self._kept():
            if one.record.id == id:
                return one
        raise NotFound(f"nothing that is held has the id {id}", "`mdmem recover` lists what there is")

    def _kept(self) -> list[Tracked]:
        scanned = self.journal.scan(settled=False)
        held = [one for one in scanned if one.state == "held" and self._is_listed(one)]
        return held + [one for one in scanned if one.state == "waiting"]

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

    def release(self, one: Tracked, replacements: Replacements) -> None:
        """Have what is held put back: an entry with the next delivery, a document at once. Under the write lock."""
        if one.reason == CONFLICT:
            raise Refused("two versions are in conflict there", "`mdmem conflicts` shows and resolves them")
        if one.record.op != FILE_GONE:
            self.journal.mark("waiting", [one.record.id], reason=RECOVERED, durable=True)
            return
        path, commit = one.record.path or "", str(one.record.extra["commit"])
        if self.place.read(path) is not None:
            raise Refused(f"{path} is there again", f"`mdmem recover N --drop` lets go of the one in {commit[:8]}")
        data = self.place.repo.read(commit, path)
        if data is None:
            raise Missing(f"{path} is no longer in {commit[:8]}", "`mdmem log` may show another version")
        said = messages.message(f"Put back {units.stem_of(path)}", "It was deleted in an editor.", op="restore")
        replacements.carry_out([Step(path, None, data)], op="restore document", message=said, group=one.record.id)
        self.journal.mark("void", [one.record.id], reason=RECOVERED)


def gone(place: Place, before: dict[str, bytes], paths: Sequence[str]) -> Iterator[Record]:
    """Make the records of documents that a person deleted; `before` holds what HEAD has of them."""
    head = place.repo.head()
    for path in paths:
        if head and path in before and path.endswith(".md") and not units.is_log(path):
            found = units.read(path, before[path]).units
            yield Record(
                op=FILE_GONE,
                path=path,
                text=changes.headline(found[0].title if found else path),
                extra={"commit": head, "noted": place.now().isoformat(timespec="seconds")},
            )
