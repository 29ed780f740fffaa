"""One run of a program: fed and heard at the same time, within bounds, and ended with all that it started.

Owns the child process. It must never wait for what a grandchild keeps open, hold more of its words than asked for, or
leave anything of its process group running.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO

from mdmem.store.llm.answer import LIMIT

PIECE = 64 * 1024
KEPT = 4096
"""Bytes of what it says on stderr that are kept, the last ones."""

LOOK = 0.05
"""Seconds between two looks whether it has ended; what it says is heard at once."""

GRACE = 0.5
"""Seconds in which it may end when it is asked to, and in which what it left behind may still say something."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a program said and how it ended: its exit status, or less the signal that killed it.

    `unread` tells that it did not take all that it was to read, `is_late` that it was ended for being late.
    """

    out: bytes
    err: bytes
    status: int
    unread: bool
    is_late: bool


def run(words: Sequence[str], data: bytes, *, folder: str, environment: Mapping[str, str], seconds: float) -> Heard:
    """Run a program in a folder, in a session of its own, and give what it said. OSError when it cannot be started."""
    until = time.monotonic() + seconds
    with ExitStack() as undo:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        undo.callback(_close, process)
        undo.callback(_end, process)
        talk = _Talk(process, data)
        is_late = not talk.hold(until)
        _end(process)
        return Heard(bytes(talk.out), bytes(talk.err), process.returncode, bool(talk.left), is_late)


class _Talk:
    """What is still to be said to a program, and what it said so far."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.out = bytearray()
        self.err = bytearray()
        self.left = memoryview(data)
        self._process = process
        self._selector = selectors.DefaultSelector()
        for pipe, event in (
            (process.stdin, selectors.EVENT_WRITE),
            (process.stdout, selectors.EVENT_READ),
            (process.stderr, selectors.EVENT_READ),
        ):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, event)

    def hold(self, until: float) -> bool:
        """Talk until it has ended or said too much; False when it has not by then."""
        with self._selector:
            ended = None
            while len(self.out) <= LIMIT:
                now = time.monotonic()
                if ended is None and _has_ended(self._process):
                    ended = now
                if ended is not None and (self._is_silent() or now > ended + GRACE):
                    return True
                if now >= until:
                    return False
                self._turn(min(LOOK, until - now))
        return True

    def _is_silent(self) -> bool:
        """Tell whether nobody is left who could say something: none but stdin may still be open."""
        open_still = [key.fileobj for key in self._selector.get_map().values()]
        return all(pipe is self._process.stdin for pipe in open_still)

    def _turn(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._process.stdin:
                self._say(self._process.stdin)
            elif key.fileobj is self._process.stdout:
                self._hear(self._process.stdout, self.out)
            elif key.fileobj is self._process.stderr:
                self._hear(self._process.stderr, self.err)
        if not self._selector.get_map():
            time.sleep(seconds)

    def _say(self, pipe: IO[bytes]) -> None:
        try:
            self.left = self.left[os.write(pipe.fileno(), self.left[:PIECE]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._stop(pipe)
            return
        if not self.left:
            self._stop(pipe)

    def _hear(self, pipe: IO[bytes], said: bytearray) -> None:
        piece = os.read(pipe.fileno(), PIECE)
        if not piece:
            self._stop(pipe)
        said += piece
        if said is self.err:
            del said[:-KEPT]

    def _stop(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        pipe.close()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether it has ended, and leave its number taken: nobody else's group may get it before ours is ended."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End all of its group: asked to, while it runs itself, else at once."""
    if process.returncode is not None:
        return
    until = time.monotonic() + GRACE
    with suppress(ProcessLookupError):
        if not _has_ended(process):
            os.killpg(process.pid, signal.SIGTERM)
        while not _has_ended(process) and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
