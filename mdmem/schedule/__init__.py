"""Jobs that run by themselves: cron entries or systemd user timers of a vault, installed, compared and removed.

    jobs.py       what runs, when, and for which vault
    due.py        whether a job's time has passed since it last ran
    cron.py       a crontab as text; crontab.py reads and writes the user's
    units.py      units as text; timers.py writes the user's and asks systemd
    programs.py   starts the programs of the system

It must never touch an entry of anything else, or one that a person has changed and does not say to replace.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime

from mdmem.errors import Missing, Refused
from mdmem.schedule import cron, crontab, due, programs, timers, units
from mdmem.schedule.jobs import JOBS, MOMENTS, By, Outcome, Plan, Slot
from mdmem.vault.place import Place

__all__ = [
    "JOBS",
    "By",
    "Outcome",
    "Plan",
    "Slot",
    "choose",
    "install",
    "is_due",
    "last_run",
    "note_run",
    "printed",
    "remove",
    "slots",
]


def slots(plan: Plan, by: By) -> list[Slot]:
    """List a vault's entries of one kind, with those missing; empty when it has none. Raises Refused."""
    if by == "systemd":
        return timers.slots(plan)
    return crontab.slots(plan) if crontab.is_there() else []


def choose(plan: Plan) -> By:
    """Say what runs jobs here: what does so for this vault already, else systemd, else cron. Raises Missing."""
    why = timers.trouble()
    if why and not crontab.is_there():
        hint = (
            "install cron, or log in where `systemctl --user` works; `--print --cron` shows the lines for any other way"
        )
        raise Missing(f"nothing here runs jobs for you: there is no crontab, and systemd says: {why}", hint)
    if why:
        return "cron"
    with suppress(Refused):  # a crontab that cannot be read, where it is not needed
        if slots(plan, "cron") and not slots(plan, "systemd"):
            return "cron"
    return "systemd"


def printed(plan: Plan, by: By) -> bytes:
    """Return just what would be installed. Raises Refused."""
    if by == "cron":
        return b"".join(cron.marked(line, name, plan.id) for name, line in cron.lines(plan).items())
    where = timers.folder()
    return b"\n".join(os.fsencode(f"# {where / name}\n") + data for name, data in units.files(plan).items())


def install(place: Place, plan: Plan, by: By, *, force: bool = False) -> Outcome:
    """Install a vault's jobs, and count their times from now on. Raises Refused, Missing, Busy, StorageFailed."""
    printed(plan, by)  # what cannot be written is refused before anything is tried
    programs.try_out(plan)
    done = timers.install(plan, force=force) if by == "systemd" else crontab.install(plan, force=force)
    for name in MOMENTS:
        due.begin(place, name)
    return done


def remove(id: str, by: By, *, force: bool = False) -> Outcome:
    """Remove a vault's jobs. Raises Refused, Missing, Busy, StorageFailed."""
    return timers.remove(id, force=force) if by == "systemd" else crontab.remove(id, force=force)


def is_due(place: Place, job: str) -> bool:
    """Tell whether the time of a job, `nightly` or `verify`, has passed since it last ran in a vault."""
    return due.is_due(place, job, MOMENTS[job])


def last_run(place: Place, job: str) -> datetime | None:
    """Return when a job last ran in a vault; None when it never did, or that is not known."""
    return due.last_run(place, job)


def note_run(place: Place, job: str) -> None:
    """Note that a job ran in a vault, just now and to its end."""
    due.note_run(place, job)
