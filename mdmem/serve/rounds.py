"""Threads of the long-lived process, each of which does one kind of work whenever it is rung, or when it asked for it.

Owns when a round begins, and what a failed one means: it is told once, and tried again. It must never do two rounds at
once, or more than half of the time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from mdmem import fsio
from mdmem.errors import Busy, MdmemError
from mdmem.serve.log import Log

NEVER = math.inf
SHORTEST = 0.05
"""Seconds of rest after a round, at least: what is rung meanwhile is done together."""

LONGEST_REST = 2.0
BUSY_RETRY, RETRY = (0.5, 5.0), (1.0, 30.0)
"""Seconds until what failed is tried again, at first and at most: it doubles."""

USUAL = 3.0
"""Seconds for which another mdmem may be at work without that being any trouble."""


class Patience:
    """One kind of work that may fail for a while: when to try it again, and that its trouble is told once."""

    def __init__(self, about: str, log: Log) -> None:
        self._about = about
        self._log = log
        self._failures = 0
        self._since = 0.0
        self._until = 0.0

    def wait(self) -> float:
        """Give the seconds until the next try; 0 for now."""
        return max(0.0, self._until - time.monotonic())

    def failed(self, error: MdmemError | OSError) -> float:
        """Tell of a failure, and give the seconds until the next try."""
        first, most = BUSY_RETRY if isinstance(error, Busy) else RETRY
        wait = min(most, first * 2.0 ** min(self._failures, 10))
        self._failures += 1
        self._until = time.monotonic() + wait
        now = time.monotonic()
        self._since = self._since or now
        if not isinstance(error, Busy) or now >= self._since + USUAL:
            self._log.trouble(self._about, fsio.why(error))
        return wait

    def well(self) -> None:
        """Tell that it went well."""
        self._failures, self._since, self._until = 0, 0.0, 0.0
        self._log.well(self._about)


class Rounds:
    """One such thread. `work` returns how many seconds later it wants to be done again, NEVER for not by itself."""

    def __init__(self, name: str, work: Callable[[], float], log: Log) -> None:
        self.name = name
        self._work = work
        self._bell = threading.Condition()
        self._rung = True
        self._stopped = False
        self._patience = Patience(name, log)
        self._thread = threading.Thread(target=self._run, name=f"mdmem {name}", daemon=True)

    def start(self) -> None:
        """Begin, with a first round at once."""
        self._thread.start()

    def ring(self) -> None:
        """Have a round done soon, after the one that may be going on."""
        with self._bell:
            self._rung = True
            self._bell.notify_all()

    def stop(self) -> None:
        """Begin no further round."""
        with self._bell:
            self._stopped = True
            self._bell.notify_all()

    def join(self, seconds: float) -> bool:
        """Wait for the round that goes on; tell whether it ended in time."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        wait = 0.0
        while self._is_due(wait):
            started = time.monotonic()
            wait = self._round()
            self._rest(min(LONGEST_REST, max(SHORTEST, time.monotonic() - started)))

    def _is_due(self, seconds: float) -> bool:
        """Wait until it is time or somebody rings; False when it is over."""
        with self._bell:
            self._bell.wait_for(lambda: self._rung or self._stopped, None if seconds == NEVER else seconds)
            self._rung = False
            return not self._stopped

    def _rest(self, seconds: float) -> None:
        with self._bell:
            self._bell.wait_for(lambda: self._stopped, seconds)

    def _round(self) -> float:
        try:
            wait = self._work()
        except (MdmemError, OSError) as error:
            return self._patience.failed(error)
        self._patience.well()
        return wait
