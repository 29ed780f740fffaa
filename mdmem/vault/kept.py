"""What waits or is held, kept in the repository too: a work tree that is removed takes its state along.

Owns when that copy is made and how it comes back. It must never put a text there that git is not to have: what is
ignored, or has a filter, stays in the journal alone.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.store.journal import Journal, Mark, Record, Tracked, lines
from mdmem.vault.commits import STANDING
from mdmem.vault.place import Place
from mdmem.vault.reasons import FILE_GONE, FOUND, KEPT, MERGE

NOTE = "kept"
"""A file of STATE that says what the repository keeps, so that git is asked only when that changes."""


@dataclass(slots=True)
class Kept:
    """The copy of one vault."""

    place: Place
    journal: Journal

    def update(self) -> None:
        """Have the repository keep what is in no branch now, and nothing else. What fails is tried again later."""
        with suppress(MdmemError):
            open_ = [one for one in self.journal.scan(settled=False) if _is_kept(one)]
            said = hashlib.sha256("".join(sorted(one.record.id for one in open_)).encode()).hexdigest() if open_ else ""
            snapshot = fsio.read(NOTE, root=self.place.state)
            if said == (snapshot.data.decode("ascii", "replace") if snapshot else ""):
                return
            hidden = self.place.repo.ignored(sorted({one.record.path or "" for one in open_}))
            texts = b"".join(_written(one.record) for one in open_ if one.record.path not in hidden)
            self.place.repo.keep(self.place.state.name, texts)
            fsio.put(NOTE, said.encode(), root=self.place.state)

    def adopt(self) -> None:
        """Take into the journal what the repository keeps and the journal does not know: its state was lost.

        Raises StorageFailed, Busy.
        """
        found = [line for data in self.place.repo.kept(self.place.state.name) for line in data.splitlines()]
        known = {one.record.id for one in self.journal.scan()} | {one.id for one in self.journal.receipts()}
        fresh = [record for line in found if (record := _read(line)) and record.id not in known]
        if fresh:
            self.journal.append(*fresh)
            marks = [Mark(state="held", ids=(one.id,), reason=KEPT.get(one.op, FOUND)) for one in fresh]
            self.journal.mark_all(marks)


def _is_kept(one: Tracked) -> bool:
    lasting = (one.reason or "").startswith(STANDING)
    return one.record.op not in (FILE_GONE, MERGE) and not lasting


def _written(record: Record) -> bytes:
    return json.dumps(lines.slim(record), ensure_ascii=True).encode() + b"\n"


def _read(data: bytes) -> Record | None:
    with suppress(ValueError, TypeError):
        given = json.loads(data)
        given["meta"] = tuple((key, value) for key, value in given.get("meta", ()))
        return Record(**given)
    return None
