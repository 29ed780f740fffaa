"""What a process does for a vault that it watches over: look, put back, commit what has come to rest, embed.

Owns what may be done to a file that somebody may be writing at this moment: nothing, unless it still looks as it did
when it had come to rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mdmem import fsio, indexer
from mdmem.model import Reindexed
from mdmem.text import packs, units
from mdmem.vault.place import SETTINGS

if TYPE_CHECKING:
    from mdmem.vault.parts import Parts

State = tuple[int, int, int, int]
"""How a file looks without being read: size, times of change of its content and its inode in ns, inode."""

Seen = Mapping[str, State | None]
"""Files as they looked, by path; None for one that was not there."""


class Upkeep:
    """The care for one vault."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._place = parts.place
        self._wait = parts.place.settings.whole("lock.timeout_ms")

    def scan(self) -> dict[str, State | None]:
        """Look at every memory file, and the vault's settings, without reading them."""
        found = indexer.scan(str(self._place.root), self._place.settings.items("roots"))
        seen: dict[str, State | None] = {file.path: file.state for file in found.files}
        for path in SETTINGS:
            stat = fsio.look(path, root=self._place.root)
            if stat is not None:
                seen[path] = state_of(stat)
        return seen

    def uncommitted(self) -> dict[str, State | None]:
        """Look at every file that differs from HEAD; reads them all."""
        return {path: state_of(now.stat) if now else None for path, now in self._parts.commits.found().items()}

    def catch_up(self) -> int:
        """Finish what was acknowledged, as far as that is possible now; give how many changes still wait."""
        self._parts.catch_up()
        return len(self._parts.delivery.waiting())

    def at_rest(self, seen: Seen) -> dict[str, State | None]:
        """Give those of the files that no other program is in the middle of writing."""
        written = fsio.being_written([path for path, state in seen.items() if state], root=self._place.root)
        return {path: state for path, state in seen.items() if path not in written}

    def observe(self, seen: Seen) -> int:
        """See whether an editor saved an older copy of these logs, and put back what it dropped: so many entries.

        Raises Busy when another mdmem is writing.
        """
        delivery = self._parts.delivery
        before = delivery.put_back
        with delivery.writing(self._wait):
            delivery.observe([path for path, state in seen.items() if state and self._looks_like(path, state)])
            delivery.deliver()
        self._parts.commits.commit_placed()
        self._parts.mend()
        return delivery.put_back - before

    def save(self, seen: Seen, *, wait_ms: int | None = None) -> None:
        """Commit what people changed in these files, those that still look like this. Raises Busy, StorageFailed.

        A file that is gone because it is one of these now goes along: a rename is one commit.
        """
        with self._parts.delivery.writing(self._wait if wait_ms is None else wait_ms):
            self._parts.delivery.deliver()
            came = [path for path, state in seen.items() if state]
            wanted = {**dict.fromkeys(self._parts.departures.origins(came)), **seen}
            self._parts.commits.commit_by_hand(list(wanted), when=lambda path, now: _same(wanted[path], now))
        self._parts.kept.update()

    def made(self) -> list[tuple[str, str]]:
        """Give the id and subject of each commit that was made since this was asked last, oldest first."""
        made = self._parts.commits.made
        found, made[:] = list(made), []
        return found

    def refresh(self) -> Reindexed:
        """Bring the index of words up to date. Raises Busy, StorageFailed."""
        self._parts.index.patient = True  # what is half saved is looked at again before long
        return self._parts.index.refresh()

    def embed(self) -> int:
        """Embed new passages, for some seconds at most, and keep the model loaded; give how many are left."""
        card = self._parts.meaning.card()
        if card is None:
            return 0
        with self._parts.index.open() as stores:
            return self._parts.meaning.advance(stores, card)

    def _looks_like(self, path: str, state: State) -> bool:
        """Tell whether a path is that of a log that still looks like this; a compressed one is nobody's to add to."""
        if not units.is_log(path) or packs.is_archive(path):
            return False
        stat = fsio.look(path, root=self._place.root)
        return stat is not None and state_of(stat) == state


def state_of(stat: os.stat_result) -> State:
    """Take from a stat what tells two looks at a file apart."""
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _same(state: State | None, now: fsio.Snapshot | None) -> bool:
    return state == (state_of(now.stat) if now else None)
