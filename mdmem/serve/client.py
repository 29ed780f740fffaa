"""Asking the long-lived process of a vault, if there is one.

Loads nothing but the standard library, the errors, the nouns and the settings, for a search waits for it. It must never
fail or hang a command: whatever is unexpected means that the command does it itself.
"""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.errors import BadInput, MdmemError, Missing, NotFound
from mdmem.model import Answer, Query

CONNECT, PATIENCE, LONGEST = 0.2, 2.5, 10.0
"""Seconds for reaching the process, without a word from it, and for its whole answer.

While others are in line it sends blanks: to wait is quicker than to do what they all wait for as well.
"""

TOLD = (BadInput, Missing, NotFound)
"""Errors that the command would meet as well; of any other it makes its own picture."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: an answer, or none and, where a person should know, why."""

    answer: Answer | None = None
    notice: str = ""


def search(root: Path, settings: config.Settings, query: Query, *, terminal: str | None) -> Reply:
    """Ask the process of the vault at `root`; it also keeps the numbers that this terminal shows.

    Raises what the search itself raises: Missing, BadInput.
    """
    if not os.path.isdir(config.runtime_dir()):
        return Reply()
    from mdmem.serve import protocol

    request = {"query": protocol.of_query(query), "settings": config.fingerprint(settings), "terminal": terminal}
    try:
        found = ask(root, "search", request)
        if found is None:
            return Reply()
        if "error" in found:
            return Reply(notice=_declined(found["error"]))
        return Reply(protocol.answer(found.get("answer")))
    except TimeoutError:
        return Reply(notice="the running watch did not answer in time; the search was done without it")
    except ValueError:
        return Reply(notice="the running watch gave no sensible answer; the search was done without it")


def _declined(error: Any) -> str:
    """Say why the process did not answer, if a person should know. Raises an error that is the query's own."""
    if not isinstance(error, dict):
        raise ValueError("no error")
    code, message, hint = (str(error.get(key, "")) for key in ("code", "message", "hint"))
    for kind in TOLD:
        if code == kind.code:
            raise kind(message, hint)
    return message if error.get("tell") is True else ""


def ask(root: Path, what: str, more: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Ask the process of a vault something; None where there is none, or none of ours.

    Raises TimeoutError when it does not answer in time, ValueError for what is no answer.
    """
    import socket

    from mdmem.serve import endpoint, protocol

    request = protocol.line({"v": protocol.VERSION, "code": protocol.code(), "do": what, **(more or {})})
    if len(request) > protocol.REQUEST_LIMIT:
        return None
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
        connection.settimeout(CONNECT)
        try:
            with endpoint.reached(root) as path:
                connection.connect(path)
            if not endpoint.is_same_user(connection):
                return None
        except (OSError, MdmemError):  # nobody there, or not ours
            return None
        try:
            return protocol.shape(_exchange(connection, request, protocol.ANSWER_LIMIT))
        except TimeoutError:
            raise
        except OSError:  # it ended meanwhile
            return None


def _exchange(connection: Any, request: bytes, limit: int) -> bytes:
    """Send a line and read one. Raises OSError, of which TimeoutError, and ValueError for too long an answer."""
    until = time.monotonic() + LONGEST
    connection.settimeout(PATIENCE)
    connection.sendall(request)
    received = bytearray()
    while not received.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(min(left, PATIENCE))
        chunk = connection.recv(2**16)
        if not chunk:
            raise ConnectionResetError
        received += chunk
        if len(received) > limit:
            raise ValueError("too much for an answer")
    return bytes(received)
