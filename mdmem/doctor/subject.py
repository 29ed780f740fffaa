"""What the doctor looks at: the files of a vault, read once, and what was found on the way to them.

It must never hold what a file says longer than one examination, nor open anything but regular files of the vault.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from mdmem import indexer
from mdmem.errors import MdmemError
from mdmem.model import Held
from mdmem.text import markdown, packs, units
from mdmem.vault import archives
from mdmem.vault.place import Place

NOTHING = units.Reading((), ())


@dataclass(frozen=True, slots=True)
class Note:
    """A memory file: what it says as bytes and as text, and its units; of an archive, what is packed in it.

    A file that cannot be read has none of them, but a reason, and what to do about it.
    """

    path: str
    size: int
    data: bytes = b""
    text: str = ""
    reading: units.Reading = NOTHING
    reason: str = ""
    hint: str = ""


@dataclass
class Subject:
    """A vault under examination."""

    place: Place
    held: tuple[Held, ...] = ()

    @cached_property
    def scan(self) -> indexer.Scan:
        """The memory files, and what was passed over."""
        return indexer.without_shadowed(indexer.scan(str(self.place.root), self.place.settings.items("roots")))

    @cached_property
    def folders(self) -> tuple[tuple[str, list[str], list[str]], ...]:
        """The folders that notes are in, each with the names of its folders and files; none behind a link."""
        root, found = str(self.place.root), []
        for home in ("memory", *self.place.settings.items("roots")):
            if not indexer.link_on_the_way(root, home):
                for here, folders, files in os.walk(os.path.join(root, home)):
                    folders[:] = sorted(name for name in folders if not name.startswith("."))
                    found.append((os.path.relpath(here, root), list(folders), sorted(files)))
        return tuple(found)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The memory files with what they hold."""
        return tuple(self._note(file.path, file.size) for file in self.scan.files)

    def _note(self, path: str, size: int) -> Note:
        if size > self.place.settings.whole("index.max_file_mb") * 2**20:
            return Note(path, size, reason="too large")
        try:
            data = self.place.legible(path)
        except MdmemError as error:
            hint = archives.remedy(self.place, path) if packs.is_archive(path) else ""
            return Note(path, size, reason=error.message.removeprefix(f"{path}: "), hint=hint)
        if data is None:
            return Note(path, size, reason="it is gone")
        return Note(path, size, data, markdown.decode(data).text, units.read(path, data))
