"""What is run by itself, when, and how its command line begins.

Owns the table of jobs. It must never know of cron or systemd more than the times in their two languages.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mdmem.schedule.due import Moment

By = Literal["cron", "systemd"]
State = Literal["as installed", "another version", "changed by hand", "switched off", "missing"]


@dataclass(frozen=True, slots=True)
class Job:
    """One job: the words of its command, and when it runs, as crontab(5) and systemd.time(7) have it.

    `late` is when cron looks whether a run was missed: it knows only the minute that is, and a machine that slept
    through one has missed it. systemd remembers by itself.
    """

    name: str
    words: tuple[str, ...]
    told: str
    cron: str
    calendar: str
    at: Moment | None = None
    late: str = ""


JOBS = (
    Job("checkpoint", ("checkpoint", "--quiet"), "hourly, at :20", "20 * * * *", "*-*-* *:20:00"),
    Job(
        "nightly",
        ("nightly", "--quiet", "--if-due"),
        "daily, at 03:00",
        "0 3 * * *",
        "*-*-* 03:00:00",
        Moment(3, 0),
        "35 * * * *",
    ),
    Job(
        "verify",
        ("verify", "--sample=1", "--fix", "--quiet", "--if-due"),
        "Sundays, at 04:30",
        "30 4 * * 0",
        "Sun *-*-* 04:30:00",
        Moment(4, 30, weekday=6),
        "50 * * * *",
    ),
)
"""At minutes of their own, so that one does not find the vault busy with another."""

MOMENTS = {job.name: job.at for job in JOBS if job.at}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to run for one vault: mdmem by its absolute path, in this environment."""

    vault: Path
    program: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]

    @property
    def id(self) -> str:
        return identity(self.vault)

    def words(self, job: Job) -> Sequence[str]:
        """Return the words of a job's command line; the vault's path cannot be taken for an option."""
        return (*self.program, f"--vault={self.vault}", *job.words)


@dataclass(frozen=True, slots=True)
class Slot:
    """One entry for a job, or the place where one should be: a line of the crontab, or a unit's file."""

    name: str
    job: str
    told: str
    place: str
    state: State


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was written or taken out, and what was left because a person had changed it, by place."""

    by: By
    changed: tuple[str, ...]
    left: tuple[str, ...]


def identity(vault: Path) -> str:
    """Name a vault by its path without links, so that the entries of several stay apart."""
    return hashlib.sha256(os.fsencode(os.path.realpath(vault))).hexdigest()[:12]


def digest(data: bytes) -> str:
    """Name what was written, so that it can be told whether somebody has changed it since."""
    return hashlib.sha256(data).hexdigest()[:8]
