"""A process that leaves the terminal it was started from, and tells its parent how that went.

Owns the two forks and the pipe between. It must never leave a descriptor open, or a parent waiting.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from mdmem import errors
from mdmem.errors import MdmemError, StorageFailed

PATIENCE = 60.0
"""Seconds for the process to begin: a vault of 100,000 files is looked through first."""

Work = Callable[[Callable[[dict[str, Any]], None]], None]
"""The work of the process; it calls what it gets, once, with what its parent is to know."""


def detach(work: Work) -> dict[str, Any]:
    """Run `work` in a process of its own and return what it says when it is ready.

    Raises the error by which it ended instead.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _begin(work, writing)
    os.close(writing)
    os.waitpid(child, 0)
    try:
        return _heard(reading)
    finally:
        os.close(reading)


def _heard(reading: int) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE
    received = b""
    while not received.endswith(b"\n"):
        ready, _, _ = select.select([reading], [], [], max(0.0, until - time.monotonic()))
        chunk = os.read(reading, 65536) if ready else b""
        if not chunk:
            raise StorageFailed("the process ended, or did not begin in time", "STATE/watch.log may say why")
        received += chunk
    said: dict[str, Any] = json.loads(received)
    if "error" in said:
        kind = getattr(errors, str(said["error"]), MdmemError)
        raise kind(said["message"], said["hint"])
    return said


def _begin(work: Work, writing: int) -> NoReturn:
    """Become a process of nobody's terminal, in the second child; both end here whatever happens."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        writing = _let_go(writing)
        _run(work, writing)
    finally:
        os._exit(1)


def _let_go(writing: int) -> int:
    """Keep no descriptor but the pipe's and three of /dev/null, and no folder in use."""
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    kept = os.dup2(writing, 3, inheritable=False)
    os.closerange(4, max([4, *map(int, os.listdir("/proc/self/fd"))]) + 1 if os.path.isdir("/proc/self/fd") else 1024)
    return kept


def _run(work: Work, writing: int) -> NoReturn:
    def tell(said: dict[str, Any]) -> None:
        with suppress(OSError):
            os.write(writing, json.dumps(said).encode() + b"\n")
            os.close(writing)

    code = 0
    try:
        work(tell)
    except MdmemError as error:
        kind = next(each for each in type(error).__mro__ if hasattr(errors, each.__name__))
        tell({"error": kind.__name__, "message": error.message, "hint": error.hint})
        code = error.exit_code
    os._exit(code)
