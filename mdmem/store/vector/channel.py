"""Chroma's process as its parent sees it: two pipes, messages on them, and a deadline for each.

Owns the child's life. It must never wait without an end, let the child inherit or write to what is the parent's,
or leave it behind: the kernel kills it when the parent's end of a third pipe is closed, in whatever state it is.

A message is two sizes, a header in JSON and a body of bytes.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

BOOT = (
    "import sys; sys.path[:] = sys.argv[2:]; from mdmem.store.vector import child; child.main(alive=int(sys.argv[1]))"
)
SIZES = struct.Struct("<II")
CAPACITY = 1 << 20
"""Bytes a pipe holds: as much as Linux lets anyone have. While Chroma works, the child reads nothing."""


class Unusable(Exception):
    """The index cannot be used: clear it and fill it again, or do without. `reason` is for a person."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Make a message."""
    head = json.dumps(header).encode()
    return SIZES.pack(len(head), len(body)) + head + body


def unpack(take: Callable[[int], bytes]) -> tuple[dict[str, Any], bytes]:
    """Read a message; `take` gives exactly as many bytes as it is asked for."""
    head, body = SIZES.unpack(take(SIZES.size))
    header = json.loads(take(head))
    if not isinstance(header, dict):
        raise ValueError("a header is an object")
    return header, take(body)


class Channel:
    """A running child. Once a message was cut off, by an interrupt for one, nothing more can be said to it."""

    def __init__(self, folder: Path) -> None:
        alive, self._held = os.pipe()
        paths = [os.path.abspath(path) for path in sys.path]
        try:
            # In the index's own folder, where no `.env` can lie, and without an environment: chromadb takes settings
            # from both, and could be led to a server by them. In a session of its own, no Ctrl-C reaches it.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", BOOT, str(alive), *paths],
                cwd=folder,
                env={"HOME": os.devnull},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                pass_fds=(alive,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._held)
            raise Unusable(f"Chroma's process could not be started: {error}") from error
        finally:
            os.close(alive)
        assert self._process.stdin and self._process.stdout
        self._to, self._from = self._process.stdin, self._process.stdout
        os.set_blocking(self._to.fileno(), False)
        os.set_blocking(self._from.fileno(), False)
        with suppress(OSError):
            fcntl.fcntl(self._to, fcntl.F_SETPIPE_SZ, CAPACITY)
        self._whole = True

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_answer(self) -> bool:
        """Tell whether a message, or the end, has arrived."""
        return _wait(self._from.fileno(), select.POLLIN, time.monotonic())

    def send(self, header: dict[str, Any], body: bytes, *, seconds: float) -> None:
        """Hand a message over, waiting at most so long for the child to take it."""
        self._begin()
        rest = memoryview(pack(header, body))
        until = time.monotonic() + seconds
        while rest:
            if not _wait(self._to.fileno(), select.POLLOUT, until):
                raise Unusable(f"Chroma did not take a message within {seconds:.0f} s")
            try:
                rest = rest[os.write(self._to.fileno(), rest) :]
            except BrokenPipeError:
                raise Unusable(self._ending()) from None
        self._whole = True

    def receive(self, seconds: float) -> dict[str, Any]:
        """Wait at most so long for a message and give its header."""
        self._begin()
        until = time.monotonic() + seconds

        def take(size: int) -> bytes:
            taken = bytearray()
            while len(taken) < size:
                if not _wait(self._from.fileno(), select.POLLIN, until):
                    raise Unusable(f"Chroma did not answer within {seconds:.0f} s")
                part = os.read(self._from.fileno(), size - len(taken))
                if not part:
                    raise Unusable(self._ending())
                taken += part
            return bytes(taken)

        try:
            header, _ = unpack(take)
        except ValueError as error:
            raise Unusable("Chroma's process answered nonsense") from error
        self._whole = True
        return header

    def finish(self, seconds: float) -> None:
        """Let the child end by itself. Unusable if it does not, or not in order."""
        self._to.close()
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Unusable(f"Chroma's process did not end within {seconds:.0f} s") from None
        if status:
            raise Unusable(self._ending())

    def kill(self) -> None:
        """End the child if it still runs, and let go of the pipes."""
        self._process.kill()
        self._process.wait()
        self._to.close()
        self._from.close()
        with suppress(OSError):
            os.close(self._held)

    def _begin(self) -> None:
        if not self._whole:
            raise Unusable("a message to Chroma's process was cut off")
        self._whole = False

    def _ending(self) -> str:
        try:
            status = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "Chroma's process closed its pipes"
        if status < 0:
            return f"Chroma's process was ended by {signal.Signals(-status).name}"
        return f"Chroma's process ended with status {status}"


def _wait(fd: int, event: int, until: float) -> bool:
    poll = select.poll()
    poll.register(fd, event)
    return bool(poll.poll(max(0.0, until - time.monotonic()) * 1000))
