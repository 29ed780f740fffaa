"""How git is run here: one program, one folder, a clean environment, a time limit.

Owns the child processes of git. It must never let a repository choose what runs (hooks, monitors, transports),
trust a `GIT_*` variable, or read git's words to decide anything: the exit status decides, words are for people.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mdmem import fsio
from mdmem.errors import Missing, NoVault, StorageFailed

TIMEOUT = 60.0
"""Seconds one call may take before it is killed; a FIFO among the files git reads would hang it for ever."""

GRACE = 1.0
HOOKS_OFF = ("-c", "core.hooksPath=/dev/null")
OPTIONS = (
    *HOOKS_OFF,
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.fsync=all"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "safe.bareRepository=explicit"),
    # One pack file for every commit would slow the whole repository down.
    *("-c", "fastimport.unpackLimit=100"),
)
SETTINGS = {
    "LC_ALL": "C",
    "LANGUAGE": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # Before git 2.44 a missing object of a partial clone is fetched, by a command the repository names.
    "GIT_ALLOW_PROTOCOL": "none",
}
_swapping = threading.Lock()


@dataclass(frozen=True, slots=True)
class Result:
    """How one call ended: exit status, both outputs as bytes, and the id the process had."""

    status: int
    out: bytes
    err: bytes
    pid: int

    @property
    def words(self) -> str:
        """What git said, for a person to read."""
        return self.err.decode("utf-8", "replace").strip().removeprefix("fatal: ").removeprefix("error: ")


@dataclass(frozen=True, slots=True)
class Call:
    """One command line after `git`, what it reads on its standard input, and how it may end."""

    arguments: tuple[str, ...]
    data: bytes = b""
    accepted: tuple[int, ...] | None = (0,)


class Git:
    """git in one folder. `environment` is the caller's; what could steer git is taken out of it."""

    __slots__ = ("environment", "folder", "program")

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.environment = _clean(os.environ if environment is None else environment)
        self.program = _find(self.environment.get("PATH", os.defpath))

    def run(
        self,
        *arguments: str,
        data: bytes = b"",
        options: tuple[str, ...] = OPTIONS,
        extra: Mapping[str, str] | None = None,
    ) -> Result:
        """Run one command and wait for it, however it ends."""
        process = self._start(arguments, options=options, extra=extra or {})
        return _finish(process, data)

    def ask_all(self, *calls: Call) -> list[Result]:
        """Run several commands side by side. StorageFailed when one ends in another way than accepted."""
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for call in calls:
                processes.append(self._start(call.arguments))
            results = [_finish(process, call.data) for process, call in zip(processes, calls, strict=True)]
        finally:
            for process in processes:
                _end(process)
        for call, result in zip(calls, results, strict=True):
            if call.accepted is not None and result.status not in call.accepted:
                raise failure(f"git {call.arguments[0]} failed in {self.folder}", result)
        return results

    def _start(
        self,
        arguments: tuple[str, ...],
        *,
        options: tuple[str, ...] = OPTIONS,
        extra: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [self.program, *options, *arguments],
                cwd=self.folder,
                env={**self.environment, **(extra or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoVault(f"there is no folder {self.folder}", "look whether it was moved or unmounted") from error
        except OSError as error:
            raise StorageFailed(f"git could not be started in {self.folder}", str(error)) from error

    @contextmanager
    def surroundings(self) -> Iterator[dict[str, str]]:
        """Hide the process's own `GIT_*` variables, for a library that starts git with what it inherits.

        Yields the variables to be set for the child. Other threads see the change: hold it for one start only.
        """
        with _swapping:
            hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GIT_")}
            os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = self.program
            try:
                yield self.environment
            finally:
                del os.environ["GIT_PYTHON_GIT_EXECUTABLE"]
                os.environ.update(hidden)


def failure(what: str, result: Result) -> StorageFailed:
    """Make the error of a command that ended badly: with the system's reason, where git names one."""
    known = fsio.told(result.words)
    if known is None:
        return StorageFailed(what, result.words.replace("\n", "; "))
    cause, hint = known
    return StorageFailed(f"{what}: {cause}", f"{hint} (git: {result.words.partition(chr(10))[0][:200]})")


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return kept | SETTINGS


def _find(path: str) -> str:
    # A relative part of PATH would be looked up in the vault: a `git` lying there must not run.
    for folder in path.split(os.pathsep):
        program = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    raise Missing("git was not found", "install git, or add its folder to PATH")


def _finish(process: subprocess.Popen[bytes], data: bytes) -> Result:
    try:
        out, err = process.communicate(data, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise StorageFailed(f"git did not answer within {TIMEOUT:.0f} s", f"asked: {process.args!r}") from error
    finally:
        _end(process)
    return Result(process.returncode, out, err, process.pid)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        # Asked to go, git takes its locks with it; killed, it leaves them.
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
