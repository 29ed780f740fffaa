"""How changes of the files are noticed: by events while these prove to come, else by looking every 2 seconds.

Owns the heartbeat, a file of its own whose change must come back as an event. It must never rely on events for more
than haste.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.serve.log import Log
from mdmem.serve.watch import Events, cover

BEAT, LATE = 30.0, 5.0
"""Seconds between two heartbeats, and until one counts as lost."""
POLL = 2.0
UNSURE = 5.0
"""Seconds after a folder came or went in which events of its files may be missing."""
EVENTS_AGAIN = 3600.0
"""Seconds after which events are tried again."""

JOURNAL, PULSE = "journal", "pulse"
SHORT_OF = {errno.ENOSPC: "max_user_watches", errno.EMFILE: "max_user_instances"}
FILES = (".md", ".md.zst", "mdmem.toml", ".gitattributes", ".tsv")


class Sight:
    """The events of one vault. `changed` is called when memory may have, `waiting` when something was journalled."""

    def __init__(
        self, root: Path, state: Path, log: Log, *, changed: Callable[[], None], waiting: Callable[[], None]
    ) -> None:
        self._root = root
        self._state = state
        self._log = log
        self._changed = changed
        self._waiting = waiting
        self._events: Events | None = None
        self._folders_changed = True
        self._unsure_until = 0.0
        self._beat_at = 0.0
        self._sent = 0.0
        self._back = True
        self._restarted = False
        self._failure = ""
        self._polling_since = 0.0

    @property
    def polling(self) -> bool:
        """Whether there are no events."""
        return self._polling_since > 0

    def tend(self, roots: Iterable[str]) -> float:
        """See to it that events come; give the seconds until it is time to look, even if none does."""
        now = time.monotonic()
        if self.polling and now < self._polling_since + EVENTS_AGAIN:
            return POLL
        if failure := self._failure:
            self._failure = ""
            self._lose(now, failure)
        if self._folders_changed:
            self._unsure_until = now + UNSURE
        if self._events is None or self._folders_changed or now >= self._beat_at + BEAT:
            self._begin(roots, now)
        if not self.polling:
            self._listen(now)
        if self.polling or now < self._unsure_until:
            return POLL
        return BEAT if self._back else LATE

    def fail(self, why: str) -> None:
        """Take, on any thread, that what brings events is broken."""
        self._failure = why
        self._changed()

    def stop(self) -> None:
        """Watch no longer."""
        if self._events:
            self._events.stop()
            self._events = None

    def _begin(self, roots: Iterable[str], now: float) -> None:
        """Watch the folders that there are.

        The heartbeat's is the last: watchdog says nothing where a folder below another gets no watch, but then that
        one gets none either.
        """
        self._folders_changed = False
        try:
            for name in (JOURNAL, PULSE):
                fsio.mkdir(name, root=self._state)
            folders = cover(self._root, roots, [self._state / JOURNAL, self._state / PULSE])
            if self._events and self._events.folders == folders:
                return
            self.stop()
            self._events = Events(folders, self._tell)
        except (OSError, MdmemError) as error:
            self._poll(now, _reason(error))
            return
        if self.polling:
            self._log.say("events come again")
        self._polling_since, self._beat_at = 0.0, 0.0
        self._folders_changed = True  # so that one made meanwhile is found
        self._changed()  # what happened meanwhile made no event

    def _listen(self, now: float) -> None:
        """Send a heartbeat when it is time, and see whether the last one came back."""
        if not self._back and now >= self._sent + LATE:
            self._lose(now, "no events came back")
        elif self._back and now >= self._beat_at + BEAT:
            self._beat_at = now
            self._beat(now)

    def _lose(self, now: float, why: str) -> None:
        """Begin to watch anew, or look at the files instead where no event came since that was last done."""
        self.stop()
        if self._restarted:
            self._poll(now, f"{why}, though watching was begun anew")
            return
        self._log.say(f"{why}: watching is begun anew")
        self._restarted, self._folders_changed, self._back = True, True, True
        self._changed()

    def _beat(self, now: float) -> None:
        self._sent, self._back = now, False
        try:
            fsio.put(f"{PULSE}/beat", b"", root=self._state, durable=False)
        except (OSError, MdmemError):  # a full disk says nothing about events
            self._back = True

    def _poll(self, now: float, reason: str) -> None:
        self.stop()
        if not self.polling:
            self._log.say(f"no events: {reason}; the files are looked at every {POLL:.0f} seconds instead")
        self._polling_since = now
        self._restarted, self._back = False, True

    def _tell(self, path: str, is_folder: bool) -> None:
        """Take an event, on watchdog's thread."""
        with suppress(ValueError):
            parts = Path(path).relative_to(self._state).parts
            if parts[:1] == (PULSE,):
                self._back, self._restarted = True, False
            elif parts[:1] == (JOURNAL,):
                self._waiting()
            return
        if is_folder:
            self._folders_changed = True
        if is_folder or path.endswith(FILES):
            self._changed()


def _reason(error: OSError | MdmemError) -> str:
    cause = error if isinstance(error, OSError) else error.__cause__
    code = cause.errno if isinstance(cause, OSError) else None
    if code in SHORT_OF:
        return f"the system is out of watches; raise fs.inotify.{SHORT_OF[code]} with sysctl"
    return fsio.why(error)
