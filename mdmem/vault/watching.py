"""The one long-lived process that a vault may have, as its lock tells.

Owns `locks/watch.lock`, which that process holds as long as it lives; its note says who it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mdmem import fsio
from mdmem.errors import Busy, MdmemError
from mdmem.store.lock import Lock
from mdmem.vault.place import Place

LOCK = "locks/watch.lock"
PATIENCE_MS = 300
"""How long a process that begins waits: whoever asks whether there is one holds the lock for a moment."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """The process: its pid and when it began, seconds since 1970. Either is 0 while it is not known."""

    pid: int
    since: int


@contextmanager
def watching(place: Place) -> Iterator[None]:
    """Be the vault's long-lived process for the block. Raises Busy when there is one, StorageFailed."""
    place.prepare()
    with ExitStack() as stack:
        try:
            stack.enter_context(Lock(place.state / LOCK, command="watch").hold(PATIENCE_MS))
        except Busy as error:
            found = watcher(place)
            who = f" (pid {found.pid})" if found and found.pid else ""
            raise Busy(f"this vault is watched already{who}", "`mdmem watch stop` ends that") from error
        yield


def watcher(place: Place) -> Watcher | None:
    """Give the process that watches a vault now; None when there is none, or that cannot be told."""
    try:
        if fsio.look(LOCK, root=place.state) is None:
            return None
        with Lock(place.state / LOCK, command="status").try_hold(shared=True) as free:
            return None if free else _noted(place.state)
    except MdmemError:
        return None


def _noted(state: Path) -> Watcher:
    with suppress(MdmemError, ValueError, KeyError, TypeError):
        snapshot = fsio.read(LOCK, root=state)
        note = json.loads(snapshot.data if snapshot else b"")
        return Watcher(int(note["pid"]), int(note["since"]))
    return Watcher(0, 0)


def ended(place: Place, seconds: float) -> bool:
    """Wait until no process watches a vault any more; tell whether that was in time."""
    until = time.monotonic() + seconds
    while watcher(place) is not None:
        if time.monotonic() >= until:
            return False
        time.sleep(0.05)
    return True
