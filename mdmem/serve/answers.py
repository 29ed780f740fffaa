"""Searches answered in the long-lived process, one at a time, exactly as the command would.

Owns declining: whoever runs with other settings, another version, or would wait for long, searches on their own. It
must never answer by rules that are not the asker's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from mdmem import config
from mdmem.errors import MdmemError
from mdmem.model import Finding, Query
from mdmem.serve import protocol
from mdmem.serve.client import TOLD
from mdmem.serve.opening import Opened
from mdmem.serve.protocol import DECLINED, Shape
from mdmem.vault import preferences, usage
from mdmem.vault.embedding import Limits

FEW = Limits(passages=16, seconds=0.3)
IN_LINE, SIGN = 7.0, 0.5
"""Seconds that a search waits for others, and between two signs that it does."""


class Declined(MdmemError):
    """The asker is to search on their own; with `tell`, the message is for a person."""

    code = DECLINED

    def __init__(self, message: str, *, tell: bool = False) -> None:
        super().__init__(message)
        self.tell = tell


class Answers:
    """The searches of one vault."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._limit()
        self._turn = threading.Lock()
        self._code = protocol.code()
        self.served = 0

    def search(self, request: Shape, waits: Callable[[], None]) -> Shape:
        """Answer a request, and keep the numbers of its list; `waits` is called while others are in line.

        Raises Declined, ValueError, and what a search raises.
        """
        if request.get("code") != self._code:
            raise Declined("the running watch is of another version; `mdmem watch stop` ends it", tell=True)
        query = protocol.query(request.get("query"))
        self._queue(waits)
        try:
            self._require(request.get("settings"))
            return self._answer(query, request.get("terminal"))
        finally:
            self._turn.release()

    def _queue(self, waits: Callable[[], None]) -> None:
        """Wait for one's turn."""
        until = time.monotonic() + IN_LINE
        while not self._turn.acquire(timeout=SIGN):
            if time.monotonic() > until:
                raise Declined("others are searching")
            waits()

    def _limit(self) -> None:
        """Leave embedding to the thread that does nothing else, but for the few passages of an edit just made."""
        self._opened.vault.parts.meaning.limits = FEW

    def _require(self, settings: object) -> None:
        """Decline unless the asker's settings are those in force here."""
        if settings == self._opened.fingerprint:
            return
        if self._opened.renew():
            self._limit()
        if settings != self._opened.fingerprint:
            raise Declined("the asker's settings are others")

    def _answer(self, query: Query, terminal: object) -> Shape:
        vault = self._opened.vault
        vault.notices.clear()
        if vault.settings.findings:
            vault.notices += map(_said, preferences.untold(vault.settings, vault.place.state))
        try:
            answer = vault.search(query)
        except MdmemError as error:
            if isinstance(error, TOLD):
                raise
            raise Declined(error.message) from error
        finally:
            self._opened.tell_commits()
        usage.note(vault.place, [hit.entry.address for hit in answer.hits])
        if isinstance(terminal, str):
            vault.remember(terminal, [hit.entry.address for hit in answer.hits])
        self.served += 1
        return {"v": protocol.VERSION, "answer": protocol.of_answer(answer)}

    def warm_up(self) -> None:
        """Load what a search needs, so that the first one is as quick as the next."""
        with self._turn, suppress(MdmemError):
            if config.fingerprint(config.load(self._opened.vault.root)) == self._opened.fingerprint:
                self._opened.vault.search(Query("warm", k=1))
                self._opened.vault.notices.clear()
                self._opened.tell_commits()


def _said(problem: Finding) -> str:
    """Say what of the settings is ignored, in the command's words."""
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return f"{place}: {problem.message}" + (f"; {problem.hint}" if problem.hint else "")
