"""The timers of the user's own systemd: their files, and what `systemctl --user` is asked to do with them.

Owns the units of a vault below `systemd/user` in the folder of the user's settings. It must never change a file that a
person has changed, or one that is a link, unless it was asked to.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mdmem import config, fsio
from mdmem.errors import Missing, StorageFailed
from mdmem.schedule import programs, units
from mdmem.schedule.jobs import JOBS, Outcome, Plan, Slot, State


def folder() -> Path:
    """Return where the units of the user are, be it there or not."""
    return config.expand(config.settings_file(None, "user").parent.parent / "systemd" / "user")


def trouble() -> str:
    """Say why the user's systemd cannot be reached; "" when it can."""
    try:
        done = programs.run("systemctl", "--user", "show", "--property=Version")
    except Missing as error:
        return error.message
    return done.said if done.status else ""


def slots(plan: Plan) -> list[Slot]:
    """Compare a vault's units with what they should be; nothing when there are none of it."""
    where = folder()
    jobs = {units.name(job.name, plan.id, kind): job for job in JOBS for kind in ("timer", "service")}
    if not any(os.path.lexists(where / name) for name in jobs):
        return []
    off = [] if trouble() else _switched_off(plan.id)
    found: list[Slot] = []
    for name, wanted in units.files(plan).items():
        state = _state(where, name, wanted)
        shown = "switched off" if name in off and state == "as installed" else state
        found.append(Slot(name, jobs[name].name, jobs[name].told, str(where / name), shown))
    return found


def install(plan: Plan, *, force: bool = False) -> Outcome:
    """Write a vault's units and start its timers. Raises Refused, Missing, StorageFailed."""
    wanted = units.files(plan)
    _require()
    where = folder()
    if not where.is_dir():
        fsio.mkdir(str(where).lstrip("/"), root=Path("/"))
    states = {name: _state(where, name, data) for name, data in wanted.items()}
    left = tuple(name for name, state in states.items() if state == "changed by hand" and not force)
    made = tuple(name for name, state in states.items() if state != "as installed" and name not in left)
    for name in made:
        _put(where, name, wanted[name])
    if made:
        _ask("daemon-reload")
    if made or _switched_off(plan.id):
        _ask("enable", "--now", *units.timers(plan.id))
    return Outcome("systemd", made, left)


def remove(id: str, *, force: bool = False) -> Outcome:
    """Stop a vault's timers and take its units away. Raises Missing, StorageFailed."""
    where = folder()
    gone: list[str] = []
    left: list[str] = []
    for job in JOBS:
        pair = [units.name(job.name, id, kind) for kind in ("timer", "service")]
        found = {name: _state(where, name, b"") for name in pair if os.path.lexists(where / name)}
        changed = [name for name, state in found.items() if state == "changed by hand" and not force]
        left += changed
        gone += [] if changed else found  # a timer without its service would only fail
        left += [f"{name}.d" for name in pair if (where / f"{name}.d").is_dir()]  # of `systemctl edit`
    if gone:
        _require()
        timers = [name for name in gone if name.endswith(".timer")]
        if timers:
            _ask("disable", "--now", *timers)
        for name in gone:
            fsio.unlink(name, root=where)
        _ask("daemon-reload")
    return Outcome("systemd", tuple(gone), tuple(left))


def _state(where: Path, name: str, wanted: bytes) -> State:
    if (where / name).is_symlink():  # as `systemctl mask` leaves it
        return "changed by hand"
    snapshot = fsio.read(name, root=where) if where.is_dir() else None
    return units.state(snapshot.data if snapshot else None, wanted)


def _put(where: Path, name: str, data: bytes) -> None:
    if (where / name).is_symlink():
        fsio.unlink(name, root=where)
    with tempfile.TemporaryDirectory(prefix="mdmem-") as spare:
        fsio.replace(name, data, root=where, base=fsio.read(name, root=where), tmp=Path(spare))


def _require() -> None:
    why = trouble()
    if why:
        hint = "log in as yourself rather than by su or sudo, or use --cron"
        raise Missing(f"your own systemd cannot be reached: {why}", hint)


def _switched_off(id: str) -> list[str]:
    """List the timers that systemd does not start. Raises Missing."""
    asked = ("systemctl", "--user", "is-enabled", "--quiet")
    return [name for name in units.timers(id) if programs.run(*asked, name).status == 1]


def _ask(*words: str) -> None:
    done = programs.run("systemctl", "--user", *words)
    if done.status:
        hint = "`mdmem schedule show` tells what is there"
        raise StorageFailed(f"systemctl --user {words[0]} failed: {done.said}", hint)
