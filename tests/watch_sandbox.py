"""A vault with the process that watches it, started as people start it, and what it wrote and committed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_sandbox import CODE, status, subjects

from mdmem import Vault

SOON = 40.0
"""Seconds that a test waits for what takes two on an idle machine."""


class Watched:
    """A running `mdmem watch`. `now` is what it said when it was ready."""

    def __init__(self, root: Path, *, by: Sequence[str] = (), env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*by, sys.executable, "-m", "mdmem", "--vault", str(root), "watch", "--json"],
            env={**os.environ, "PYTHONPATH": str(CODE), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.now: dict[str, Any] = json.loads(line)

    def log(self) -> str:
        """Give what its log says."""
        path = Path(self.now["log"])
        return path.read_text("utf-8") if path.exists() else ""

    def says(self, text: str) -> None:
        """Wait until the log holds a text."""
        until(lambda: text in self.log(), lambda: self.log())

    def stop(self, number: int = signal.SIGTERM) -> str:
        """End it, and give what it said on stderr; the test fails unless it ends well."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=SOON)
        assert self.process.returncode == 0, said
        return said

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def watched(vault: Vault | Path, *, by: Sequence[str] = (), env: Mapping[str, str] | None = None) -> Iterator[Watched]:
    """Watch a vault for the block; `by` is a command that runs it."""
    running = Watched(vault.root if isinstance(vault, Vault) else vault, by=by, env=env)
    try:
        yield running
        if running.process.poll() is None:
            running.stop()
    finally:
        if running.process.poll() is None:
            running.kill()


def until(happens: Callable[[], object], shown: Callable[[], object] = lambda: "", seconds: float = SOON) -> None:
    """Wait until something is so; the test fails when it is not in time."""
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, f"it did not happen: {shown()}"
        time.sleep(0.05)


def in_history(vault: Vault, path: str, text: str) -> None:
    """Wait until HEAD has a file like this."""

    def is_there() -> bool:
        asked = subprocess.run(["git", "show", f"HEAD:./{path}"], cwd=vault.root, capture_output=True, check=False)
        return asked.returncode == 0 and asked.stdout.decode() == text

    until(is_there, lambda: (subjects(vault), status(vault)))


def mdmem(root: Path, *words: str, code: int | None = 0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command on a vault; the test fails when it ends otherwise."""
    environment = {**os.environ, "PYTHONPATH": str(CODE), **options.pop("env", {})}
    command = [sys.executable, "-m", "mdmem", "--vault", str(root), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)
    assert code is None or done.returncode == code, done.stderr
    return done


def found(root: Path, *words: str, code: int | None = None) -> dict[str, Any]:
    """Search as the command does."""
    answer: dict[str, Any] = json.loads(mdmem(root, "search", "--json", *words, code=code).stdout)
    return answer
