"""Faults at system calls, by strace: the process is killed before one, or one fails; git's processes too if asked.

A warm fork waits until strace holds it, so a try costs no start of Python, and only the action's own calls count. Where
strace is missing or may not attach, `works` says no, and the sweeps are left out.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mdmem.errors import MdmemError

CALLS = (
    *("write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "rename", "renameat", "renameat2"),
    *("unlink", "unlinkat", "mkdir", "mkdirat", "link", "linkat", "openat"),
)
"""What may change a disk; of `openat`, what makes or empties a file."""

KILL = "signal=SIGKILL"
SUBREAPER, PTRACER = 36, 0x59616D61
PATIENCE = 120.0
"""Seconds after which a run is called hung."""

LINE = re.compile(r"^(?:(\d+) +)?(\w+)\((.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """The n-th call of this name. strace counts each name on its own, in each process anew: so must a sweep."""

    call: str
    number: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: killed by the fault or not, its exit status, what it said, and strace's log."""

    killed: bool
    status: int
    said: str
    log: str

    @property
    def faults(self) -> int:
        """How often the fault came."""
        return self.log.count("(INJECTED)") + self.log.count("killed by SIGKILL")

    @property
    def hit_pipe(self) -> bool:
        """Tell whether what failed was between two processes, where no disk is."""
        hit = ("(INJECTED)", "<unfinished")
        return any("<pipe:" in line and any(word in line for word in hit) for line in self.log.split("\n"))


def fault(what: str, point: Point, *, ever: bool = False) -> list[str]:
    """Give strace's words for a fault at this call, or at it and all that follow of its name."""
    return [
        *("-y", "-e", f"trace={point.call}"),
        *("-e", f"inject={point.call}:{what}:when={point.number}{'+' if ever else ''}"),
    ]


def ever(what: str, call: str = ",".join(CALLS[:-1])) -> list[str]:
    """Give strace's words for a fault at each call from the first on."""
    return ["-e", f"trace={call}", "-e", f"inject={call}:{what}:when=1+"]


WATCH = ["-y", "-e", f"trace={','.join(CALLS)}"]


def brief(text: str) -> str:
    """Give the end of what was said, where a traceback names its error."""
    return text if len(text) < 400 else f"…{text[-400:]}"


def points(log: str, *, pipes: bool = True) -> list[Point]:
    """List the calls of a log that may change a disk: those of the process that has most of each name.

    Without `pipes` only files count: no disk is between two processes.
    """
    found: dict[str, None] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for pid, call, words in LINE.findall(log):
        counts[pid, call] += 1
        if not pipes and "<pipe:" in words.partition(",")[0]:
            continue
        if call in CALLS and (call != "openat" or "O_CREAT" in words or "O_TRUNC" in words):
            found[Point(call, counts[pid, call])] = None
    return list(found)


@cache
def works() -> bool:
    """Tell whether strace is here and may attach."""
    if not shutil.which("strace"):
        return False
    return run(lambda: os.write(os.open(os.devnull, os.O_WRONLY), b"x"), fault(KILL, Point("write", 1))).killed


def run(action: Callable[[], object], words: Sequence[str], *, follow: bool = False) -> Ended:
    """Do the action in a fork under strace. Its status: 0 done, an error's exit code, 70 for any other exception."""
    _adopt()
    go, gone = os.pipe()
    with tempfile.TemporaryDirectory() as scratch:
        said = Path(scratch, "said")
        child = os.fork()
        if not child:
            os.close(gone)
            _begin(action, go, said)
        os.close(go)
        with _attached(child, words, follow, Path(scratch, "log")) as tracer:
            os.close(gone)
            status = _await(child)
            _reap(child)
            tracer.wait(PATIENCE)
        log = Path(scratch, "log").read_text(errors="replace")
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        text = said.read_text(errors="replace") if said.exists() else ""
        return Ended(killed, os.waitstatus_to_exitcode(status), text, log)


def command(words: Sequence[str], cwd: Path, faults: Sequence[str], *, data: str, follow: bool = False) -> Ended:
    """Run a whole program under strace from its first call on; it reads `data`."""
    _adopt()
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "log")
        line = ["strace", "-qq", *(["-f"] if follow else []), "-o", str(log), *faults, *words]
        process = subprocess.Popen(
            line,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        out, _ = process.communicate(data.encode(), timeout=PATIENCE)
        _reap(process.pid)
        # strace ends as its program did.
        killed = process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
        return Ended(killed, process.returncode, os.fsdecode(out), log.read_text(errors="replace"))


def _begin(action: Callable[[], object], go: int, said: Path) -> None:
    status = 70
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(PTRACER, ctypes.c_ulong(-1 & (2**64 - 1)), 0, 0, 0)
        os.read(go, 1)
        os.close(go)
        action()
        status = 0
    except MdmemError as error:
        status = error.exit_code
        _say(said, error.message)
    except BaseException:
        _say(said, traceback.format_exc())
    finally:
        os._exit(status)


def _say(said: Path, text: str) -> None:
    with suppress(OSError):
        said.write_text(text)


class _attached:
    """A strace that holds a process, until the block is over."""

    def __init__(self, pid: int, words: Sequence[str], follow: bool, log: Path) -> None:
        self._line = ["strace", *(["-f"] if follow else []), "-o", str(log), *words, "-p", str(pid)]

    def __enter__(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(self._line, stderr=subprocess.PIPE)
        assert self._process.stderr
        said = self._process.stderr.readline()
        if b"attached" not in said:
            raise RuntimeError(f"strace could not attach: {said!r}")
        return self._process

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


def _adopt() -> None:
    # What a killed process started comes to us, so that we know when it has ended.
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def _await(child: int) -> int:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError("the action hung")


def _reap(group: int) -> None:
    """Wait for all that the process started: git's children end by themselves when it is gone."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-group, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        time.sleep(0.001)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    raise TimeoutError("what the action started hung")


def python(*words: str) -> list[str]:
    """Give the command line of mdmem."""
    return [sys.executable, "-m", "mdmem", *words]
