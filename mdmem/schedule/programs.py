"""The programs of the system that run jobs for a user, and mdmem itself as they start it.

Owns starting them and hearing them out. It must never wait for one without end, nor take a program for missing that
only refused.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mdmem import config
from mdmem.errors import Missing, StorageFailed
from mdmem.schedule.jobs import Plan

TIMEOUT = 60.0
WORDS_OF_C = {"LC_ALL": "C", "LANGUAGE": "C"}


@dataclass(frozen=True, slots=True)
class Result:
    """How a program ended: its exit status, what it wrote, and what it said in one line."""

    status: int
    out: bytes
    said: str


def run(*words: str, data: bytes = b"") -> Result:
    """Run a program that PATH finds. Raises Missing, StorageFailed where it does not end."""
    return _run(words, data, config.environment() | WORDS_OF_C)


def try_out(plan: Plan) -> None:
    """Start mdmem once as a job is started, with next to no environment. Raises Missing when that fails."""
    home = os.path.expanduser("~")
    words = (*plan.program, f"--vault={plan.vault}", "watch", "status", "--json")
    done = _run(words, b"", {"HOME": home, **dict(plan.environment)}, folder=home)
    if not done.out.startswith(b"{"):  # of a traceback the exit status, 1, says no more than that nobody watches
        hint = "nothing was installed; where mdmem runs from a folder of its source, install it first (pip, pipx)"
        raise Missing(f"mdmem does not start without the environment of this shell: {done.said}", hint)


def _run(words: tuple[str, ...], data: bytes, environment: dict[str, str], folder: str | None = None) -> Result:
    where = folder if folder and Path(folder).is_dir() else "/"
    try:
        done = subprocess.run(
            words, input=data, capture_output=True, timeout=TIMEOUT, env=environment, cwd=where, check=False
        )
    except (FileNotFoundError, PermissionError) as error:
        raise Missing(f"there is no program {words[0]} here", "install it, or choose the other way") from error
    except subprocess.TimeoutExpired as error:
        raise StorageFailed(f"{words[0]} gave no answer in {TIMEOUT:.0f} s", "try again") from error
    said = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace")
    return Result(done.returncode, done.stdout, " ".join(said.split()) or f"exit status {done.returncode}")
