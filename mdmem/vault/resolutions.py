"""Conflicts that were resolved, kept as long as that may be taken back: one file for each in STATE/resolved.

Owns which conflict a change of history resolved, and that it waits again once that change is undone. They are no part
of the journal: every command reads that, and three versions of a file are long. It must never touch a memory file.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.store.journal import Journal, Record, Tracked, lines
from mdmem.vault.place import Place
from mdmem.vault.reasons import CONFLICT

FOLDER = "resolved"

KEPT_SECONDS = 30 * 86_400
"""How long a resolved conflict is kept, as long as what a person deleted."""

RESOLVED, REOPENED = "resolved", "reopened"

_NAME = re.compile(r"[0-9a-f]{16}\.json")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A conflict that was resolved; `after` is the last change of history then, where the file was right already."""

    record: Record
    after: str = ""


@dataclass(frozen=True, slots=True)
class Resolutions:
    """The resolved conflicts of one vault."""

    place: Place
    journal: Journal

    def open(self, key: str | None = None) -> list[Tracked]:
        """List the conflicts that wait, oldest first, or those with this key."""
        if self.journal.is_empty():
            return []
        found = [one for one in self.journal.scan(settled=False) if one.state == "held" and one.reason == CONFLICT]
        return [one for one in found if key is None or key_of(one.record) == key]

    def keep(self, record: Record, *, after: str = "") -> None:
        """Keep a conflict that is about to be resolved, durably; let go of what is old. Raises StorageFailed."""
        for name, age in self._files():
            if age > KEPT_SECONDS:
                with suppress(MdmemError):
                    fsio.unlink(f"{FOLDER}/{name}", root=self.place.state)
        said = json.dumps({"record": lines.slim(record), "after": after})
        fsio.put(self._path(key_of(record)), said.encode(), root=self.place.state)

    def close(self, record: Record, how: str) -> None:
        """Note that a conflict is resolved. Raises StorageFailed."""
        self.journal.mark("void", [record.id], reason=f"resolved: {how}", durable=True)

    def close_again(self, key: str) -> None:
        """Note that a conflict is resolved because its reopening was taken back. Raises StorageFailed."""
        for one in self.open(key):
            self.keep(one.record)
            self.close(one.record, "once more")

    def reopen(self, key: str) -> bool:
        """Have a resolved conflict wait again, once; False where it is no longer kept. Raises StorageFailed."""
        if self.open(key):
            return True
        found = self._read(f"{key}.json")
        if found is None:
            return False
        # Another id: what a settled record left behind in the journal says that this one is settled.
        extra = {**found.record.extra, "key": key}
        record = replace(found.record, id=os.urandom(8).hex(), extra=extra)
        self.journal.append(record)
        self.journal.mark("held", [record.id], reason=CONFLICT, durable=True)
        with suppress(MdmemError):  # it is found open first
            fsio.unlink(self._path(key), root=self.place.state)
        return True

    def unwritten(self, after: str) -> Record | None:
        """Give the last conflict that was resolved since this change of history without one of its own."""
        for name, _ in sorted(self._files(), key=lambda file: file[1]) if after else ():
            found = self._read(name)
            if found and found.after == after and not self.open(key_of(found.record)):
                return found.record
        return None

    def _path(self, key: str) -> str:
        return f"{FOLDER}/{key}.json"

    def _files(self) -> Iterator[tuple[str, float]]:
        """Yield the names of what is kept, and the age of each in seconds."""
        with suppress(FileNotFoundError), os.scandir(self.place.state / FOLDER) as found:
            for file in found:
                if _NAME.fullmatch(file.name):
                    yield file.name, time.time() - file.stat().st_mtime

    def _read(self, name: str) -> Resolved | None:
        with suppress(MdmemError, ValueError, TypeError, KeyError):
            snapshot = fsio.read(f"{FOLDER}/{name}", root=self.place.state) if _NAME.fullmatch(name) else None
            given: dict[str, Any] = json.loads(snapshot.data) if snapshot else {}
            return Resolved(Record(**given["record"]), str(given["after"]))
        return None


def key_of(record: Record) -> str:
    """Give what a conflict is known by however often it was reopened."""
    return str(record.extra.get("key") or record.id)


def trailer(key: str, *, reopened: bool = False) -> str:
    """Write down in a commit what it did to a conflict."""
    return f"{REOPENED if reopened else RESOLVED} {key}"
