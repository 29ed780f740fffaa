"""Programs run to the end, with the time they took and the memory they needed."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MDMEM = [sys.executable, "-m", "mdmem"]
FOUND = (0, 1)
"""The exit codes of a search: 1 is for nothing found."""

NO_OP = """\
import typer

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def main() -> None:
    pass


app()
"""


READY = """\
import sys

from mdmem import config
from mdmem.errors import MdmemError
from mdmem.store import encoder

try:
    card = encoder.prepare(sys.argv[1], config.cache_dir())
except MdmemError as error:
    raise SystemExit(f"{error.message}; {error.hint}") from error
print(f"{card.name} ({card.precision})")
"""


@dataclass(slots=True)
class Runs:
    """What the runs of one program took: seconds each, and the most memory of its largest process in bytes."""

    seconds: list[float] = field(default_factory=list)
    memory: int = 0

    def add(self, command: Sequence[str | Path], folder: Path, *, fine: Collection[int] = (0,)) -> None:
        """Run it once more. Raises CalledProcessError for another exit code than the `fine` ones."""
        started = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert child.stderr
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        self.seconds.append(time.perf_counter() - started)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
        if child.returncode not in fine:
            raise subprocess.CalledProcessError(child.returncode, command, stderr=said)
        self.memory = max(self.memory, usage.ru_maxrss * 1024)

    @property
    def median(self) -> float:
        """Return the median in milliseconds."""
        return statistics.median(self.seconds) * 1000


def no_op(folder: Path) -> list[str]:
    """Write a typer program that does nothing, and return the command that runs it."""
    path = folder / "no_op.py"
    path.write_text(NO_OP)
    return [sys.executable, str(path)]


def choose_model(name: str) -> str:
    """Let everything from here on search by this model, "" for keywords alone; give the words for that.

    A model is made ready now, so that nobody measures it, and in another process: a child starts with the memory of
    its parent on its account.
    """
    os.environ["MDMEM_EMBEDDING_MODEL"] = name
    if not name:
        return "keyword alone, no vectors"
    done = subprocess.run([sys.executable, "-c", READY, name], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.returncode)
    return f"hybrid, vectors of {done.stdout.strip()}"


def machine() -> str:
    """Return what one should know about the machine on which the figures were made."""
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, load {load:.1f}, Python {sys.version.split()[0]}, files in {tempfile.gettempdir()}"
