"""What trying a fault many times came to, and what all kinds of faults share: seed, time, workers, a fast place.

Each kind of fault is a module here whose `FULL` maps the name of a row to a function that takes an empty folder and
returns an `Outcome`. `run.py` runs them; the tests run the functions beneath them with few tries.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")

MEMORY = Path("/dev/shm")
"""Where files never meet a disk; for what only asks in which order things happen."""

ROOM = 2 << 30
"""Bytes that must be free there."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often a fault was tried, a text for each time that something was not as promised, and what else to know."""

    tries: int
    failures: list[str] = field(default_factory=list)
    note: str = ""

    def __add__(self, other: Outcome) -> Outcome:
        notes = dict.fromkeys(filter(None, (self.note, other.note)))
        return Outcome(self.tries + other.tries, self.failures + other.failures, "; ".join(notes))


def seed() -> int:
    """Give the seed of this run: `FAULTS_SEED`, else always the same."""
    return int(os.environ.get("FAULTS_SEED", "20261129"))


def chance(*words: object) -> random.Random:
    """Give random numbers that depend on the seed and on what they are for."""
    return random.Random(":".join(map(str, (seed(), *words))))


def budget(default: float) -> float:
    """Give the seconds a row may take: `FAULTS_SECONDS`, else its own default."""
    return float(os.environ.get("FAULTS_SECONDS", default))


def workers() -> int:
    """Give how many tries may run at once."""
    return int(os.environ.get("FAULTS_WORKERS", min(4, os.cpu_count() or 1)))


@contextmanager
def in_memory(folder: Path) -> Iterator[Path]:
    """Lend an empty folder that needs no disk, or one in `folder` where no such place has room and runs programs."""
    fits = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM
    if not fits or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        yield Path(tempfile.mkdtemp(dir=folder))
        return
    made = Path(tempfile.mkdtemp(prefix="mdmem-faults-", dir=MEMORY))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def total(outcomes: Sequence[Outcome]) -> Outcome:
    """Add outcomes up."""
    return sum(outcomes, Outcome(0))


def spread(
    items: Sequence[Item], attempt: Callable[[Item], Outcome], *, seconds: float = 45, least: int = 0
) -> Outcome:
    """Try each item in one of a few processes, until the time is over; what was left out is said in the note.

    They are taken in an order that depends on the seed, so that other runs leave out others; `least` are tried however
    long it takes. Each process begins as a copy of this one, so that what was patched stays patched.
    """
    until = time.monotonic() + budget(seconds)
    items = list(items)
    chance("spread").shuffle(items)
    lots = [(items[number :: workers()], until, least // workers()) for number in range(workers())]
    if len(lots) == 1:
        return _try_all(lots[0], attempt)
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(len(lots), context) as pool:
        _attempts[id(attempt)] = attempt
        return total(list(pool.map(_try_named, [(lot, id(attempt)) for lot in lots])))


_attempts: dict[int, Callable[..., Outcome]] = {}
"""What processes begin with: a function that was made in another cannot be sent to one."""


def _try_named(work: tuple[tuple[Sequence[Item], float, int], int]) -> Outcome:
    return _try_all(work[0], _attempts[work[1]])


def _try_all(lot: tuple[Sequence[Item], float, int], attempt: Callable[[Item], Outcome]) -> Outcome:
    items, until, least = lot
    done = Outcome(0)
    for number, item in enumerate(items):
        if number >= least and time.monotonic() > until:
            return done + Outcome(0, note=f"time was over: {len(items) - number} of {len(items)} not tried")
        try:
            done += attempt(item)
        except Exception:
            done += Outcome(1, [f"{item!r}\n{traceback.format_exc()}"])
    return done
