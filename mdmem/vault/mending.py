"""A file that was saved from an older copy: what mdmem had changed since is merged back into it.

Owns that merge. Where both changed the same place, the file keeps what the person saved, and both versions wait as a
conflict. It must never undo a line that the person wrote, nor give up without a word: who asked for it tries again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from mdmem import fsio, merge
from mdmem.errors import Refused
from mdmem.merge import Contest
from mdmem.store.journal import Record
from mdmem.text import units
from mdmem.vault import conflicts, messages
from mdmem.vault.older import Older
from mdmem.vault.place import Place
from mdmem.vault.replacement import Replacements, Step
from mdmem.vault.resolutions import Resolutions

WHY = "It was saved from an older copy; what had changed since is merged into it."
REST = "Where both had changed the same place it stays as it was saved; the other version waits: `mdmem conflicts`."

TRIES = 5


@dataclass(slots=True)
class Mending:
    """The way back for what an older copy reverted."""

    place: Place
    notices: list[str]
    replacements: Replacements
    resolutions: Resolutions

    def mend(self, found: Older) -> None:
        """Merge what was reverted into the file, and keep both versions of what clashes. Under the write lock.

        Nothing is left to do for a file that is gone. Raises StorageFailed, or Refused for a file that never rests;
        then nothing was done, but that a conflict may be kept already.
        """
        kept: Record | None = None
        for _ in range(TRIES):
            now = self.place.read(found.path)
            if now is None:
                return
            merged = merge.three_way(found.path, found.base, found.ours, now.data, take="theirs")
            if kept is not None:  # it was about another version
                self.resolutions.close(kept, "saved again")
            contest = Contest.of(found.path, found.base, found.ours, now.data, stands="theirs")
            # First: once the merge is in the file, nothing else tells of the other version.
            kept = conflicts.keep(self.resolutions, contest, why=conflicts.OLDER_COPY) if merged.clashes else None
            try:
                self._place(Step(found.path, now, merged.data), clashes=bool(merged.clashes))
                return
            except fsio.Displaced:
                continue
        raise Refused(f"{found.path} is being saved all the time", "the next command merges it")

    def _place(self, step: Step, *, clashes: bool) -> None:
        stem = units.stem_of(step.path)
        if step.wanted != step.before:
            why = f"{WHY}\n\n{REST}" if clashes else WHY
            said = messages.message(f"Merge what an older copy dropped from {stem}", why, op="restore")
            self.replacements.carry_out([step], op="restore document", message=said, group=os.urandom(8).hex())
        if clashes:
            rest = "and does not merge" if step.wanted == step.before else "and merges only in part"
            self.notices.append(f"{stem} was saved from an older copy, {rest}: `mdmem conflicts`")
        elif step.wanted != step.before:
            self.notices.append(f"{stem} was saved from an older copy: what had changed since is merged into it")
