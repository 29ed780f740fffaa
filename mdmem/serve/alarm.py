"""What wakes the main thread of the long-lived process: a signal, or another of its threads.

Owns the signals that mean the end. A lock or event would not do: a signal may reach any thread, and the main one, which
alone acts on it, would sleep on; and it may come in the middle of taking that lock.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Alarm:
    """One alarm. `signalled` tells whether a signal has come that means the end.

    Its pipe stays open as long as the process: a thread that rings late must not write into another file.
    """

    def __init__(self) -> None:
        self.signalled = False
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)

    def ring(self) -> None:
        """Wake the main thread."""
        with suppress(OSError):  # full: it is awake
            os.write(self._write, b"!")

    def wait(self, seconds: float) -> None:
        """Sleep until it rings, or for so long."""
        if select.select([self._read], [], [], seconds)[0]:
            with suppress(BlockingIOError):
                os.read(self._read, 4096)

    @contextmanager
    def by_signals(self) -> Iterator[None]:
        """Ring for signals in this block, instead of being ended or interrupted anywhere by them."""

        def note(number: int, frame: FrameType | None) -> None:
            self.signalled = True

        with ExitStack() as stack:
            stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(self._write, warn_on_full_buffer=False))
            for number in SIGNALS:
                stack.callback(signal.signal, number, signal.signal(number, note))
            yield
