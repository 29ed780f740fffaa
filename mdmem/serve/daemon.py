"""The long-lived process of one vault, from its lock to its last commit.

Owns its threads and their end: by a signal, or because the vault is gone. It must never leave a write half done, or
stay behind without a thread that it needs.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from mdmem import config, fsio
from mdmem.errors import MdmemError
from mdmem.serve.alarm import Alarm
from mdmem.serve.answers import Answers, Declined
from mdmem.serve.indexing import Embedding, Indexing
from mdmem.serve.keeping import Keeping
from mdmem.serve.log import Log, Say
from mdmem.serve.opening import Opened
from mdmem.serve.presence import Gone
from mdmem.serve.protocol import VERSION, Shape
from mdmem.serve.rounds import NEVER, Rounds
from mdmem.serve.server import Server
from mdmem.serve.watch import is_watchdogs
from mdmem.vault import watching
from mdmem.vault.place import Place

LAST_ROUND = 8.0
"""Seconds for the round that goes on when the process is to end; `watch stop` waits for 10."""
FIRST_LOOK = 30.0
"""Seconds after which it counts as ready though it is still comparing the files with history."""
GLANCE = 30.0
"""Seconds between two looks at whether the socket is still there."""

Ready = Callable[[Shape], None]


def run(root: Path, *, ready: Ready, also: Say | None = None) -> None:
    """Watch the vault at `root` until a signal comes; `ready` gets what `status` tells, once it answers.

    Raises Busy when it is watched already, Gone when it goes away, NoVault, StorageFailed.
    """
    place = Place.find(root, command="watch")
    with watching.watching(place):
        log = Log(place.state, clock=lambda: config.now(place.settings), also=also)
        Process(place, log).run(ready)


class Process:
    """The parts of the process at work."""

    def __init__(self, place: Place, log: Log) -> None:
        self._place = place
        self._log = log
        self._alarm = Alarm()
        self._looked = False
        self._gone: Gone | None = None
        self._broken = ""
        self._since = config.now(place.settings)
        opened = [Opened(place.root, log) for _ in range(4)]
        self._keeping = Keeping(opened[0], log, ring=self._ring, changed=self._changed)
        self._indexing = Indexing(opened[1], done=lambda: self._embedder.ring())
        self._embedding = Embedding(opened[2])
        self._answers = Answers(opened[3])
        self._server = Server(place.root, self._respond, log)
        self._keeper = Rounds("files", self._look, log)
        self._indexer = Rounds("index", self._indexing.refresh, log)
        self._embedder = Rounds("meaning", self._embedding.embed, log)
        self._warmer = Rounds("warm", self._warm, log)

    def run(self, ready: Ready) -> None:
        """Begin, wait for the end, and end."""
        before = threading.excepthook
        threading.excepthook = self._fall
        with self._alarm.by_signals():
            try:
                self._server.open()
                self._log.say(f"watching {self._place.root} (pid {os.getpid()})")
                for rounds in self._rounds():
                    rounds.start()
                self._live(ready)
            finally:
                self._stop()
                threading.excepthook = before
        if self._gone:
            raise self._gone
        if self._broken:
            raise RuntimeError(self._broken)

    def _live(self, ready: Ready) -> None:
        """Sleep until the end, but for what is to be seen to now and then."""
        told, started = False, time.monotonic()
        while not self._ending:
            if not told and (self._looked or time.monotonic() > started + FIRST_LOOK):
                told = True
                ready(self.status())
            self._glance()
            self._alarm.wait(GLANCE)

    @property
    def _ending(self) -> bool:
        return self._alarm.signalled or self._gone is not None or bool(self._broken)

    def _rounds(self) -> tuple[Rounds, ...]:
        return self._keeper, self._indexer, self._embedder, self._warmer

    def _ring(self) -> None:
        self._keeper.ring()

    def _changed(self) -> None:
        self._indexer.ring()

    def _look(self) -> float:
        try:
            return self._keeping.look()
        except Gone as error:
            self._gone = error
            self._alarm.ring()
            return NEVER
        finally:
            if not self._looked:
                self._looked = True
                self._alarm.ring()

    def _warm(self) -> float:
        self._answers.warm_up()
        return NEVER

    def _glance(self) -> None:
        """Take the socket's address again if something cleared it away."""
        if not self._server.is_reachable():
            try:
                self._server.open()
                self._log.say("the socket was gone, and is there again")
            except (MdmemError, OSError) as error:
                self._log.trouble("socket", fsio.why(error))

    def _fall(self, failed: threading.ExceptHookArgs) -> None:
        """End when a thread dies of what nobody expected: another process begins afresh. Events may fail alone."""
        import traceback

        lines = traceback.format_exception(failed.exc_type, failed.exc_value, failed.exc_traceback)
        what = f"{failed.thread.name if failed.thread else 'a thread'} failed: {lines[-1].strip()}"
        self._log.say(f"{what} | {' | '.join(line.strip() for line in lines)}")
        if is_watchdogs(failed.thread):
            self._keeping.sight.fail(f"watchdog failed ({lines[-1].strip()})")
        else:
            self._broken = what
            self._alarm.ring()

    def _stop(self) -> None:
        """Let go on what goes on, commit what is calm, and give the socket back."""
        for rounds in self._rounds():
            rounds.stop()
        self._server.close()
        if self._gone:
            self._keeping.sight.stop()
            self._log.say(f"stopped: {self._gone.message}")
            return
        if self._keeper.join(LAST_ROUND):
            self._keeping.finish()
        self._server.drain(1.0)
        self._indexer.join(1.0)
        self._embedder.join(1.0)
        self._log.say("stopped")

    # What others ask

    def _respond(self, request: Shape, waits: Callable[[], None]) -> Shape:
        if request.get("do") == "search":
            if self._ending:
                raise Declined("it is ending")
            return self._answers.search(request, waits)
        if request.get("do") == "status":
            return {"v": VERSION, "status": self.status()}
        raise ValueError("nothing that is answered here")

    def status(self) -> Shape:
        """Say how it goes."""
        return {
            "running": True,
            "pid": os.getpid(),
            "since": self._since.isoformat(timespec="seconds"),
            "socket": str(self._server.path),
            "log": str(self._log.path),
            "polling": self._keeping.sight.polling,
            "waiting": self._keeping.pace.waiting,
            "index": {"passages": self._indexing.passages, "unembedded": self._embedding.left},
            "served": self._answers.served,
        }
