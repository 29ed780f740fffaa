"""The files of a vault kept in step with its history: looked at, and what is due done.

Owns the order of a look: what waits is delivered, what an older copy dropped is put back, what stands still is
committed. It works from what it sees, never from events. It must never commit half a save, or that everything is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.serve.log import Log
from mdmem.serve.opening import Opened
from mdmem.serve.pacing import Pace, Seen
from mdmem.serve.presence import Presence
from mdmem.serve.rounds import NEVER, Patience
from mdmem.serve.sight import Sight

FULL = 3600.0
"""Seconds between two looks at every byte."""

AGAIN = 60.0
"""Seconds until the first such look for files that a commit left out; then twice as long each time."""

GRACE = 1.0
"""Seconds in which whoever journalled something may finish it."""

WRITTEN = 0.5
"""Seconds until a file is looked at again that a program has open to write."""

LATER = 2.0
"""Seconds until what could not be delivered is tried again."""

SELDOM, WITHOUT_EVENTS = 30.0, 5.0
"""Seconds until it is looked whether anything waits, though nothing told of it."""

LONG = 10.0
"""Seconds that something may wait without a word about it."""

LOCK_MS = 5_000
"""How long a commit waits for another mdmem; nobody waits for this thread."""


@dataclass(slots=True)
class Due:
    """Moments, by the monotonic clock, at which something is to be done besides looking."""

    full: float = 0.0
    deliver: float = 0.0


class Keeping:
    """One vault, kept. `ring` has it looked at soon, `changed` is called when the index is behind."""

    def __init__(self, opened: Opened, log: Log, *, ring: Callable[[], None], changed: Callable[[], None]) -> None:
        place = opened.vault.place
        self.pace = Pace()
        self._opened = opened
        self._log = log
        self._ring = ring
        self._changed = changed
        self._due = Due()
        self._waiting_since = NEVER
        self._again = AGAIN
        self._presence = Presence.of(place.root, place.repo.git_dir, place.state)
        self.sight = Sight(place.root, place.state, log, changed=ring, waiting=self._expect)
        self._saving, self._observing = Patience("commit", log), Patience("put back", log)

    def look(self) -> float:
        """Look at the files and do what is due; give the seconds until the next look. Raises Gone."""
        self._presence.check()
        if self._opened.renew():
            self._log.say("the settings were changed, and are in force")
            self._changed()
        waits = [self.sight.tend(self._opened.vault.settings.items("roots"))]
        seen = self._opened.vault.upkeep.scan()
        waits.append(self._look_through(seen))
        self.pace.see(seen, time.monotonic())
        waits.append(self._deliver())
        due = self.pace.due(time.monotonic(), deletions=self._is_whole())
        if due.index:
            self.pace.indexed()
            self._changed()
        rested = self._opened.vault.upkeep.at_rest({**due.observe, **due.save})
        if not rested.keys() >= due.observe.keys() | due.save.keys():
            waits.append(WRITTEN)
        waits += [due.wait, self._observe(_among(due.observe, rested)), self._save(_among(due.save, rested))]
        return min(waits)

    def _look_through(self, seen: Seen) -> float:
        """Once an hour, and at the beginning, compare every byte with history."""
        now = time.monotonic()
        if now >= self._due.full:
            differing = self._opened.vault.upkeep.uncommitted()
            self._opened.tell()
            if self._due.full:
                self.pace.reopen(differing, now)
            else:
                self.pace.begin(seen, differing, now)
                self._changed()
            self._due.full = now + FULL
        return self._due.full - now

    def _is_whole(self) -> bool:
        """Tell whether a file that is gone may have been deleted: not where all are gone, or memory/ is."""
        about = "deletions"
        if not self._presence.has_memory():
            self._log.trouble(about, "memory/ is gone: no deletion is committed until it is back")
        elif self.pace.is_empty():
            self._log.trouble(about, "every file is gone: not committed; `mdmem commit` does it, if it was meant")
        else:
            self._log.well(about)
            return True
        return False

    def _expect(self) -> None:
        """Deliver in a moment, for something was journalled."""
        self._due.deliver = min(self._due.deliver, time.monotonic() + GRACE)
        self._ring()

    def _deliver(self) -> float:
        now = time.monotonic()
        if now >= self._due.deliver:
            # Before, for the next record may come any moment, and without events nobody tells of it.
            self._due.deliver = now + (WITHOUT_EVENTS if self.sight.polling else SELDOM)
            left = self._opened.vault.upkeep.catch_up()
            self._opened.tell()
            self._tell_waiting(left, now)
            if left:
                self._due.deliver = min(self._due.deliver, now + LATER)
        return self._due.deliver - now

    def _tell_waiting(self, left: int, now: float) -> None:
        """Say that something waits, once it has for a while."""
        if not left:
            self._waiting_since = NEVER
            self._log.well("delivery")
            return
        self._waiting_since = min(self._waiting_since, now)
        if now >= self._waiting_since + LONG:
            self._log.trouble("delivery", "acknowledged changes wait; they are kept, and tried again")

    def _observe(self, seen: Seen) -> float:
        if not seen:
            return NEVER
        if wait := self._observing.wait():
            return wait
        try:
            put_back = self._opened.vault.upkeep.observe(seen)
        except (MdmemError, OSError) as error:
            self._opened.tell()
            return self._observing.failed(error)
        self._observing.well()
        self.pace.observed(seen)
        if not self._opened.tell() and put_back:
            self._log.say(f"{put_back} entries put back")
        return 0.0 if put_back else NEVER

    def _save(self, seen: Seen) -> float:
        if not seen:
            return NEVER
        if wait := self._saving.wait():
            return wait
        try:
            self._opened.vault.upkeep.save(seen, wait_ms=LOCK_MS)
        except (MdmemError, OSError) as error:
            self._opened.tell()
            return self._saving.failed(error)
        self._saving.well()
        self.pace.saved(seen)
        self._look_again(left=self._opened.tell())
        return NEVER

    def _look_again(self, *, left: bool) -> None:
        """Where something was said of a commit, a file may have been left out for now, such as one that is staged."""
        if left:
            self._due.full = min(self._due.full, time.monotonic() + self._again)
        self._again = min(FULL, self._again * 2) if left else AGAIN

    def finish(self) -> None:
        """Commit what stands still, before the end."""
        self.sight.stop()
        try:
            self._presence.check()
            self.pace.see(self._opened.vault.upkeep.scan(), time.monotonic())
            seen = self.pace.at_rest(time.monotonic())
            if seen:
                self._opened.vault.upkeep.save(seen, wait_ms=LOCK_MS)
        except (MdmemError, OSError) as error:
            self._log.say(f"not committed before the end: {fsio.why(error)}")
        self._opened.tell()


def _among(due: Seen, rested: Seen) -> Seen:
    return {path: state for path, state in due.items() if path in rested}
