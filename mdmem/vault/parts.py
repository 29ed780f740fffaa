"""The parts of an open vault, each made when it is first needed, and how they hang together.

Owns the wiring of stores and rooms. It must never do anything itself but finish what was acknowledged.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from mdmem.errors import MdmemError, StorageFailed
from mdmem.store.journal import Journal
from mdmem.store.lock import Lock
from mdmem.text.units import Unit
from mdmem.vault import reading
from mdmem.vault.amendment import Amendments
from mdmem.vault.commits import Commits
from mdmem.vault.conflicts import Conflicts
from mdmem.vault.delivery import Delivery
from mdmem.vault.departure import Departures
from mdmem.vault.index import Index
from mdmem.vault.kept import Kept
from mdmem.vault.mending import Mending
from mdmem.vault.observation import Observation
from mdmem.vault.place import Place, check_guard
from mdmem.vault.recovery import Recovery
from mdmem.vault.replacement import Replacements
from mdmem.vault.resolutions import Resolutions
from mdmem.vault.rewound import Rewound
from mdmem.vault.rewriting import Rewriting
from mdmem.vault.undoing import Undoing
from mdmem.vault.upkeep import Upkeep

if TYPE_CHECKING:  # what only some commands need is imported where they need it: the rest would wait 30 ms for it
    from mdmem.vault.meaning import Meaning
    from mdmem.vault.packing import Packing
    from mdmem.vault.proposals import Proposals
    from mdmem.vault.review import Review
    from mdmem.vault.searching import Recent


class Parts:
    """The parts of one vault. `notices` is where they say what the user should know."""

    def __init__(self, place: Place, notices: list[str]) -> None:
        self.place = place
        self.notices = notices

    @cached_property
    def journal(self) -> Journal:
        return Journal(self.place.state / "journal")

    @cached_property
    def observation(self) -> Observation:
        lock = Lock(self.place.state / "locks" / "observation.lock", command=self.place.command)
        return Observation(self.place, self.journal, self.notices, lock)

    @cached_property
    def replacements(self) -> Replacements:
        return Replacements(self.place, self.journal, self.notices)

    @cached_property
    def delivery(self) -> Delivery:
        lock = Lock(self.place.state / "locks" / "write.lock", command=self.place.command)
        return Delivery(self.place, self.journal, self.notices, lock, self.replacements.settle, self.observation)

    @cached_property
    def commits(self) -> Commits:
        lock = Lock(self.place.state / "locks" / "commit.lock", command=self.place.command)
        mend = Mending(self.place, self.notices, self.replacements, self.resolutions).mend
        return Commits(self.place, self.journal, self.notices, lock, self.observation, self.departures, mend)

    @cached_property
    def departures(self) -> Departures:
        return Departures(self.place, self.journal)

    @cached_property
    def recovery(self) -> Recovery:
        rewound = Rewound(self.place, self.journal, self.observation, self.notices)
        return Recovery(self.place, self.journal, self.notices, self.departures, rewound)

    @cached_property
    def kept(self) -> Kept:
        return Kept(self.place, self.journal)

    @cached_property
    def upkeep(self) -> Upkeep:
        self.place.prepare()
        return Upkeep(self)

    @cached_property
    def rewriting(self) -> Rewriting:
        self.place.prepare()
        return Rewriting(self.place, self.notices, self.delivery, self.commits, self.replacements)

    @cached_property
    def amendments(self) -> Amendments:
        return Amendments(self.place, self.notices, self.rewriting, self.resolutions, self.find)

    @cached_property
    def undoing(self) -> Undoing:
        wiring = self.rewriting, self.resolutions, self.recovery
        return Undoing(self.place, self.notices, self.delivery, self.commits, *wiring)

    @cached_property
    def review(self) -> Review:
        from mdmem.vault.review import Review

        return Review(self.place, self.rewriting, self.amendments.remove)

    @cached_property
    def upkeep_lock(self) -> Lock:
        """What keeps two checkpoints, or a checkpoint and the nightly housekeeping, from running at once."""
        self.place.prepare()
        return Lock(self.place.state / "locks" / "upkeep.lock", command=self.place.command)

    @cached_property
    def packing(self) -> Packing:
        from mdmem.vault.packing import Packing

        return Packing(self.place, self.journal, self.rewriting)

    @cached_property
    def conflicts(self) -> Conflicts:
        self.place.prepare()
        return Conflicts(self.place, self.notices, self.delivery, self.commits, self.replacements, self.resolutions)

    @cached_property
    def proposals(self) -> Proposals:
        from mdmem.vault.proposals import Proposals

        return Proposals(self.place, self.conflicts, self.place.settings.whole("lock.timeout_ms"))

    @cached_property
    def resolutions(self) -> Resolutions:
        return Resolutions(self.place, self.journal)

    @cached_property
    def index(self) -> Index:
        with suppress(StorageFailed):  # then the index tells that it is made in memory
            self.place.prepare()
        return Index(self.place, self.notices)

    @cached_property
    def meaning(self) -> Meaning:
        from mdmem.vault.meaning import Meaning

        return Meaning(self.place, self.notices)

    @cached_property
    def recent(self) -> Recent:
        from mdmem.vault.searching import Recent

        return Recent()

    def catch_up(self) -> None:
        """Finish what earlier commands acknowledged, if nobody else is at it. Reads never wait for it."""
        try:
            if not self.delivery.waiting() and not self.delivery.is_foreign():
                return
            with self.delivery.writing_if_free() as held:
                if held:
                    self.delivery.deliver()
            self.commits.commit_placed(wait=False)
            self.mend()
        except MdmemError as error:
            self.notices.append(error.message)
        self.kept.update()

    def mend(self) -> None:
        """Merge back what an older copy reverted, where the last delivery found that a file has come to rest."""
        if self.delivery.behind:
            with self.delivery.writing_if_free() as held:
                if held:
                    self.commits.commit_by_hand(self.delivery.behind)

    def find(self, address: str) -> tuple[str, Unit]:
        """Find what an address or id names: its path and unit. Raises NotFound, Refused."""
        path, unit, guard = reading.find(self.place, self.index, address)
        check_guard(unit, guard)
        return path, unit
