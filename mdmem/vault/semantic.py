"""The semantic leg that ranking asks: how near the units of the index are to what a query means.

Owns asking the model on a thread of its own, beside the keyword leg, and for how long. It must never make a search
fail: whatever goes wrong is a reason why this leg has no answer.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong

from mdmem.errors import MdmemError
from mdmem.store import vectors as caches
from mdmem.store.encoder import Card
from mdmem.vault.index import Stores
from mdmem.vault.meaning import PATIENCE, Answering, Meaning

DEADLINE = 10.0
"""Seconds after which a model counts as hanging: loading takes a quarter of one, from a cold disk a few."""


class SemanticLeg:
    """One query at the model. `notices` gathers what the user should know."""

    def __init__(self, meaning: Meaning, stores: Stores, card: Card) -> None:
        self.model = card.name
        self.scripts = card.scripts
        self.notices: list[str] = []
        self._meaning = meaning
        self._stores = stores
        self._card = card
        self._future: Future[Answering] = Future()

    def begin(self, text: str) -> None:
        """Start to think about a text; `failure` waits for the end."""
        listed = self._meaning.passages(self._stores)  # on this thread: the catalog is in use here

        def think() -> None:
            try:
                answering = self._meaning.answering(text, listed, self._stores, self._card)
            except BaseException as error:  # to be raised where it is waited for
                self._future.set_exception(error)
            else:
                self._future.set_result(answering)

        threading.Thread(target=think, name="semantic leg", daemon=True).start()

    def failure(self) -> str:
        """Wait for the model, and say why it has no answer; "" when it has one."""
        try:
            answering = self._future.result(DEADLINE + PATIENCE)
        except TookTooLong:
            return f"{self.model} did not answer within {DEADLINE + PATIENCE:.0f} seconds"
        except MdmemError as error:
            return error.message
        except (ImportError, OSError, ValueError, RuntimeError, MemoryError, *caches.BROKEN) as error:
            return f"{self.model} failed: {error}"
        self.notices += answering.notices
        return ""

    def close(self) -> None:
        """Let go of what the answer came from, if there was one in time."""
        if self._future.done() and not self._future.exception():
            self._future.result().cache.close()

    def nearest(self, k: int, allowed: set[int] | None) -> dict[int, float]:
        """Give the k units nearest to the query, of the allowed ones, with the cosine of each one's best passage."""
        return self._future.result().nearness.nearest(k, allowed)

    def cosines(self, units: set[int]) -> dict[int, float]:
        """Give the cosines of those of the units that have a vector."""
        return self._future.result().nearness.cosines(units)

    def best(self, units: set[int]) -> dict[int, bytes]:
        """Give the hash of what each unit says that is nearest to the query."""
        return self._future.result().nearness.best(units)
