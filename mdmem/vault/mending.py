"""A document that was saved from an older copy: what mdmem had changed since is merged back into it.

Owns that merge, and keeps both versions where it fails. It must never undo a line that the person wrote.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from mdmem import merge
from mdmem.errors import MdmemError
from mdmem.store.journal import Journal
from mdmem.text import units
from mdmem.vault import conflicts, messages
from mdmem.vault.older import Older
from mdmem.vault.place import Place
from mdmem.vault.replacement import Replacements, Step

WHY = "It was saved from an older copy; what had changed since is merged into it."


@dataclass(slots=True)
class Mending:
    """The way back for what an older copy dropped from a document."""

    place: Place
    journal: Journal
    notices: list[str]
    replacements: Replacements

    def mend(self, found: Older) -> None:
        """Merge what was dropped into the file, or keep both versions. Under the write lock."""
        with suppress(MdmemError):  # both versions are in history
            now = self.place.read(found.path)
            if now is None:
                return
            merged = merge.three_way(found.path, found.base, found.ours, now.data)
            stem = units.stem_of(found.path)
            if merged.clashes:
                why = "an older copy was saved"
                conflicts.keep(self.journal, found.path, found.base, found.ours, now.data, why=why)
                self.notices.append(f"{stem} was saved from an older copy, and does not merge: `mdmem conflicts`")
            elif merged.data is not None and merged.data != now.data:
                said = messages.message(f"Merge what an older copy dropped from {stem}", WHY, op="restore")
                step, group = Step(found.path, now, merged.data), os.urandom(8).hex()
                self.replacements.carry_out([step], op="restore document", message=said, group=group)
                self.notices.append(f"{stem} was saved from an older copy: what had changed since is merged into it")
