"""Locks between processes: `flock` on files in STATE/locks that stay for ever.

Owns taking, counting and giving back a lock, and the note that tells others who holds it. It must never delete a
lock file, nor steal a lock: the note is for messages only, the kernel alone knows who holds what.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mdmem import fsio
from mdmem.errors import Busy, MdmemError

_NOTE_SIZE = 512


class Lock:
    """One lock file. Holding is counted per object: a nested `with` of the same thread holds on, another waits.

    The file's folder is made when missing; the folder above it must exist. Threads that read at the same time take
    an object each, for one object never serves two threads at once.
    """

    def __init__(self, path: Path, *, command: str) -> None:
        self._root = path.parent.parent
        self._path = f"{path.parent.name}/{path.name}"
        self._command = command
        self._mutex = threading.RLock()
        self._waits: dict[int, _Wait] = {}
        self._depth = 0
        self._shared = False
        self._fd = -1

    @contextmanager
    def hold(self, timeout_ms: int, *, shared: bool = False) -> Iterator[None]:
        """Hold the lock for the block, waiting for it at most so many milliseconds; then Busy names the holder."""
        if not self._take(timeout_ms / 1000, shared):
            raise Busy(self.holder(), "nothing was changed: try again")
        try:
            yield
        finally:
            self._drop()

    @contextmanager
    def try_hold(self, *, shared: bool = False) -> Iterator[bool]:
        """Hold the lock for the block if it is free at once; the block gets whether it is held."""
        held = self._take(0, shared)
        try:
            yield held
        finally:
            if held:
                self._drop()

    def holder(self) -> str:
        """Say who is writing, as far as the note of the holder tells."""
        note = self._noted()
        who = f" (pid {note['pid']}, {note['command']})" if {"pid", "command"} <= note.keys() else ""
        return f"another mdmem{who} is writing"

    def command(self) -> str:
        """Name the command of the holder, as far as its note tells; "" otherwise."""
        return str(self._noted().get("command", ""))

    def _noted(self) -> dict[str, object]:
        with suppress(MdmemError, ValueError):
            snapshot = fsio.read(self._path, root=self._root)
            note = json.loads(snapshot.data if snapshot else b"")
            return note if isinstance(note, dict) else {}
        return {}

    def _take(self, seconds: float, shared: bool) -> bool:
        until = time.monotonic() + seconds
        if not self._mutex.acquire(timeout=seconds):
            return False
        with ExitStack() as undo:
            undo.callback(self._mutex.release)
            if self._depth and self._shared and not shared:
                raise RuntimeError("a shared lock cannot become an exclusive one")
            if not self._depth:
                fd = self._obtain(fcntl.LOCK_SH if shared else fcntl.LOCK_EX, until)
                if fd is None:
                    return False
                self._fd, self._shared = fd, shared
                self._note({"pid": os.getpid(), "since": int(time.time()), "command": self._command[:40]})
            self._depth += 1
            undo.pop_all()
        return True

    def _drop(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._note({})
            _give_back(self._fd)
        self._mutex.release()

    def _note(self, note: dict[str, object]) -> None:
        # A full disk must not keep anybody from locking.
        if not self._shared:
            with suppress(OSError):
                fsio.overwrite(self._fd, json.dumps(note).encode().ljust(_NOTE_SIZE - 1) + b"\n", 0)

    def _obtain(self, mode: int, until: float) -> int | None:
        """Take the lock on the file that has the name now, for it may have been deleted while we waited."""
        while (fd := self._wait(mode, until)) is not None:
            with ExitStack() as undo:
                undo.callback(_give_back, fd)
                if fsio.leads_to(self._path, fd, root=self._root):
                    undo.pop_all()
                    return fd
        return None

    def _wait(self, mode: int, until: float) -> int | None:
        """Take the lock and return its descriptor; None when it does not come in time."""
        with fsio.telling("lock", self._path):
            wait = self._wait_by_alarm if _is_alarm_free() else self._wait_by_thread
            return wait(mode, until)

    def _wait_by_alarm(self, mode: int, until: float) -> int | None:
        fd = self._open()
        with ExitStack() as undo:
            undo.callback(_give_back, fd)
            if _at_once(fd, mode) or _before_alarm(fd, mode, until - time.monotonic()):
                undo.pop_all()
                return fd
        return None

    def _wait_by_thread(self, mode: int, until: float) -> int | None:
        while True:
            fd = self._open()
            with ExitStack() as undo:
                undo.callback(os.close, fd)
                if _at_once(fd, mode):
                    undo.pop_all()
                    return fd
                seconds = until - time.monotonic()
                if seconds <= 0:
                    return None
                wait = self._waits.pop(mode, None)
                if wait is None:
                    wait = _Wait(fd, mode)
                    undo.pop_all()
            if wait.claim(seconds):
                return wait.fd
            if not wait.done:
                self._waits[mode] = wait

    def _open(self) -> int:
        return fsio.reach(self._path, root=self._root, flags=os.O_RDWR | os.O_CREAT)


class _Late(Exception):
    """The alarm rang."""


def _is_alarm_free() -> bool:
    """Tell whether this thread may set the alarm, and would take it from nobody."""
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and not any(signal.getitimer(signal.ITIMER_REAL))
    )


def _before_alarm(fd: int, mode: int, seconds: float) -> bool:
    """Wait for a lock in the kernel until an alarm ends the wait. 64 writers: a third of the wait of a thread's."""
    if seconds <= 0:
        return False
    rung = won = False

    def ring(*_: object) -> None:
        # Raises once: whatever it interrupts, the clearing up below is not interrupted twice.
        nonlocal rung
        if not rung:
            rung = True
            raise _Late

    try:
        signal.signal(signal.SIGALRM, ring)
        try:
            # Again and again, for it may ring for the first time just before the kernel begins to wait.
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.01)
            fcntl.flock(fd, mode)
            won = True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _Late:
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return won


class _Wait:
    """One `flock` that a thread of its own waits for, where the caller may not set the alarm. Nobody polls.

    A lock that comes while nobody claims it is given back at once. A wait that was given up can be claimed again,
    so that a holder who never lets go costs one thread and one descriptor, however often somebody asks.
    """

    def __init__(self, fd: int, mode: int) -> None:
        self.fd = fd
        self.done = False
        self._wanted = True
        self._error: OSError | None = None
        self._guard = threading.Condition()
        try:
            threading.Thread(target=self._run, args=(mode,), name="mdmem-lock", daemon=True).start()
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, "no thread can be started") from error

    def claim(self, seconds: float) -> bool:
        """Wait for the lock; True hands over the descriptor with it. False and `done`: it came and went before."""
        with self._guard:
            if self.done and not self._wanted:
                return False
            self._wanted = True
            claimed = False
            try:
                claimed = self._guard.wait_for(lambda: self.done, seconds)
            finally:
                self._wanted = claimed
                if self.done and (self._error or not claimed):
                    _give_back(self.fd)
            if self._error:
                raise self._error
            return claimed

    def _run(self, mode: int) -> None:
        try:
            fcntl.flock(self.fd, mode)
        except OSError as error:
            self._error = error
        with self._guard:
            self.done = True
            if not self._wanted:
                _give_back(self.fd)
            self._guard.notify()


def _at_once(fd: int, mode: int) -> bool:
    try:
        fcntl.flock(fd, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _give_back(fd: int) -> None:
    # Unlocked by name first: a child that was just forked may still hold a copy of the descriptor.
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)
