"""The long-lived process from outside: whether there is one, how it goes, and its end.

Owns telling the process that holds the vault's lock from one that merely has its number.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from datetime import datetime
from typing import Any

from mdmem import config
from mdmem.errors import Busy, StorageFailed
from mdmem.serve import client, endpoint
from mdmem.serve.log import NAME
from mdmem.vault import watching
from mdmem.vault.place import Place
from mdmem.vault.watching import Watcher

PATIENCE = 10.0
"""Seconds for the process to end."""


def status(place: Place) -> dict[str, Any]:
    """Say whether a vault is watched, by whom, and what that process says of itself."""
    found = watching.watcher(place)
    since = datetime.fromtimestamp(found.since).astimezone() if found and found.since else None
    shape: dict[str, Any] = {
        "running": found is not None,
        "pid": found.pid or None if found else None,
        "since": config.local(place.settings, since).isoformat(timespec="seconds") if since else None,
        "socket": str(endpoint.path(place.root)),
        "log": str(place.state / NAME),
        "polling": None,
        "waiting": None,
        "index": None,
        "served": None,
        "answers": False,
    }
    if found:
        with suppress(TimeoutError, ValueError):
            said = (client.ask(place.root, "status") or {}).get("status")
            if isinstance(said, dict):
                shape |= {key: value for key, value in said.items() if key in shape} | {"answers": True}
    return shape


def stop(place: Place) -> Watcher | None:
    """End the process that watches a vault, and wait until it is gone; None when there was none.

    Raises Busy when it does not end, StorageFailed when it cannot be told to.
    """
    found = watching.watcher(place)
    if found is None:
        return None
    if not found.pid:
        raise StorageFailed("the process that watches this vault is not known", "look for it with `ps`, and end it")
    try:
        _signal(found, place)
    except ProcessLookupError:
        pass
    except OSError as error:
        raise StorageFailed(f"pid {found.pid} cannot be ended: {error.strerror}", "is it another user's?") from error
    if not watching.ended(place, PATIENCE):
        raise Busy(f"pid {found.pid} has not ended after {PATIENCE:.0f} seconds", "`kill -9` loses nothing")
    return found


def _signal(found: Watcher, place: Place) -> None:
    """Send the signal to the very process that holds the lock: numbers are used again."""
    if not hasattr(os, "pidfd_open"):
        os.kill(found.pid, signal.SIGTERM)
        return
    process = os.pidfd_open(found.pid)
    try:
        if watching.watcher(place) == found:
            signal.pidfd_send_signal(process, signal.SIGTERM)
    finally:
        os.close(process)
