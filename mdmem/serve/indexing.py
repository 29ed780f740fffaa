"""The indexes kept fresh: by words at once, then by meaning, each on a thread of its own.

Owns when they are brought up to date. Nothing waits for it: a search that comes first does the same.
"""

from __future__ import annotations

from collections.abc import Callable

from mdmem.serve.opening import Opened
from mdmem.serve.rounds import NEVER

STEP = 0.1
"""Seconds between two stretches of embedding, for a search to come in between."""
BUSY = 3.0
"""Seconds until the next try where another process embeds."""


class Indexing:
    """The word index of one vault. `done` is called when it is up to date."""

    def __init__(self, opened: Opened, *, done: Callable[[], None]) -> None:
        self._opened = opened
        self._done = done
        self.passages: int | None = None

    def refresh(self) -> float:
        """Bring it up to date."""
        self._opened.renew()
        found = self._opened.vault.upkeep.refresh()
        self._opened.tell()
        self.passages = found.chunks
        self._done()
        return NEVER


class Embedding:
    """The vectors of one vault, and the model, which stays loaded."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self.left: int | None = None

    def embed(self) -> float:
        """Embed for some seconds; again soon while something is left."""
        self._opened.renew()
        before, self.left = self.left, self._opened.vault.upkeep.embed()
        self._opened.tell()
        return NEVER if not self.left else STEP if self.left != before else BUSY
