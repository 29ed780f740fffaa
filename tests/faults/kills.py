"""SIGKILL at every system call that may change the disk: of each operation, of what comes after it, of whole commands.

Acknowledged is kept, everything else is whole or absent, and the next command leaves all in order without anybody's
help. Killed is the process, or whichever of it and git's comes to the call: then a lock of git's may stay, which is
git's to remove, so it is named, and everything is delivered once it is gone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import acts
import tracing
from acts import Act, Ground
from outcome import Outcome, chance, in_memory, spread
from tracing import Point

from mdmem import Vault

NEEDED = "strace is missing, or may not attach: nothing was tried"


def kill(place: Ground, name: str, act: Act, point: Point, *, follow: bool = False) -> Outcome:
    """Kill an act at one call, and see what the next command makes of it."""
    root = place.copy(act)
    ended = tracing.run(lambda: act.run(Vault.open(root)), tracing.fault(tracing.KILL, point), follow=follow)
    if not ended.faults:
        return Outcome(0, note="some runs were over before their fault")
    label = f"{name} killed at {point.call} {point.number}{' or its git' if follow else ''}"
    return Outcome(1, [f"{label}: {one}" for one in _look(place, name, act, root, ended)])


def _look(place: Ground, name: str, act: Act, root: Path, ended: tracing.Ended) -> list[str]:
    if "Traceback" in ended.said:
        return [tracing.brief(ended.said)]
    acts.recover(root)
    found = acts.verdict(root, place.before[name], place.after[name], acknowledged=ended.status == 0)
    acts.unlock(root)
    return found + acts.settle(root, act)


def again(place: Ground, name: str, act: Act, point: Point, numbers: Sequence[float]) -> Outcome:
    """Kill an act at one call, then the next command at each of its own, or at as many as numbers were given."""
    killed = place.copy(act)
    tracing.run(lambda: act.run(Vault.open(killed)), tracing.fault(tracing.KILL, point))
    template = acts.copy(killed, place.scratch / f"killed-{os.getpid()}")
    ended = tracing.run(lambda: Vault.open(killed).today(), tracing.WATCH)
    later = tracing.points(ended.log)
    chosen = later if len(later) <= len(numbers) else [later[int(number * len(later))] for number in numbers]
    done = Outcome(0)
    for second in dict.fromkeys(chosen):
        root = acts.copy(template, killed)
        ended = tracing.run(lambda: Vault.open(root).today(), tracing.fault(tracing.KILL, second))  # noqa: B023
        if ended.faults:
            label = f"{name} killed at {point.call} {point.number}, the next at {second.call} {second.number}"
            unsure = tracing.Ended(True, -9, "", "")
            done += Outcome(1, [f"{label}: {one}" for one in _look(place, name, act, root, unsure)])
    return done


def _kill_one(place: Ground, chosen: dict[str, Act], lot: tuple[str, Point], *, follow: bool) -> Outcome:
    return kill(place, lot[0], chosen[lot[0]], lot[1], follow=follow)


def _sweep(folder: Path, chosen: dict[str, Act], *, follow: bool, seconds: float) -> Outcome:
    if not tracing.works():
        return Outcome(0, [NEEDED])
    with in_memory(folder) as fast, acts.standing_clock():
        place = acts.ground(fast, chosen)
        lots = [(name, point) for name, act in chosen.items() for point in acts.watched(place, act, follow=follow)]
        attempt = partial(_kill_one, place, chosen, follow=follow)
        return spread(lots, attempt, seconds=seconds)


def _library(folder: Path) -> Outcome:
    return _sweep(folder, acts.ACTS | acts.INDEXING, follow=False, seconds=300)  # every call, whatever the machine


def _library_and_git(folder: Path) -> Outcome:
    return _sweep(folder, acts.ACTS, follow=True, seconds=50)


def _recovery(folder: Path) -> Outcome:
    if not tracing.works():
        return Outcome(0, [NEEDED])
    with in_memory(folder) as fast, acts.standing_clock():
        place = acts.ground(fast, acts.ACTS)
        lots = [(name, point) for name, act in acts.ACTS.items() for point in acts.watched(place, act)]
        chance("recovery").shuffle(lots)

        def attempt(lot: tuple[str, Point]) -> Outcome:
            numbers = chance("recovery", *lot)
            return again(place, lot[0], acts.ACTS[lot[0]], lot[1], [numbers.random() for _ in range(12)])

        return spread(lots, attempt, seconds=50)


# Making a vault


def init(folder: Path, point: Point) -> Outcome:
    """Kill `init` at one call; done again, it makes the whole vault."""
    root = folder / f"made-{os.getpid()}"
    shutil.rmtree(root, ignore_errors=True)
    ended = tracing.run(lambda: Vault.init(root), tracing.fault(tracing.KILL, point))
    if not ended.faults:
        return Outcome(0, note="some runs were over before their fault")
    vault, _ = Vault.init(root)
    vault.add("one")
    found = acts.unrest(root)
    if acts.git(root, "log", "--format=%s").split("\n")[-1] != "Begin the vault":
        found.append(acts.git(root, "log"))
    return Outcome(1, [f"init killed at {point.call} {point.number}: {one}" for one in found])


def _init(folder: Path) -> Outcome:
    if not tracing.works():
        return Outcome(0, [NEEDED])
    with in_memory(folder) as fast, acts.standing_clock():
        ended = tracing.run(lambda: Vault.init(fast / "first"), tracing.WATCH)
        return spread(tracing.points(ended.log), lambda point: init(fast, point))


# Whole commands


def _prepared(name: str, root: Path) -> None:
    if name == "commit":
        acts.edit_by_hand(root)


def command(place: Ground, name: str, point: Point | None, *, follow: bool) -> tuple[Outcome, tracing.Ended]:
    """Kill a whole command at one call; the next command makes good what it began."""
    root = place.copy()
    _prepared(name, root)
    before = acts.memory(root)
    words, data = acts.COMMANDS[name]
    faults = tracing.WATCH if point is None else tracing.fault(tracing.KILL, point)
    ended = tracing.command(tracing.python(*words), root, faults, data=data, follow=follow)
    if point is None or not ended.faults:
        return Outcome(0), ended
    label = f"mdmem {name} killed at {point.call} {point.number}{' or its git' if follow else ''}"
    return Outcome(1, [f"{label}: {one}" for one in _after(name, root, before, ended)]), ended


def _after(name: str, root: Path, before: dict[str, bytes], ended: tracing.Ended) -> list[str]:
    found = [tracing.brief(ended.said)] if "Traceback" in ended.said else []
    acts.recover(root)
    now = acts.memory(root)
    changed = [path for path in before if now.get(path) != before[path]]
    if name in ("reindex", "search", "commit", "today") and now != before:
        found.append(f"changed: {changed}")
    if name.startswith("add"):
        text = b"".join(data for path, data in now.items() if path.startswith("memory/daily/"))
        often = text.count(b"new entry\n")
        if often > 1 or (ended.status == 0 and often == 0):
            found.append(f"the entry is there {often} times")
        if any(not now.get(path, b"").startswith(data) for path, data in before.items()):
            found.append(f"earlier bytes changed: {changed}")
    acts.unlock(root)
    if name == "commit":
        Vault.open(root).commit()
    for _ in range(2):
        Vault.open(root).today()
    return found + acts.unrest(root)


def _commands(folder: Path, *, follow: bool) -> Outcome:
    if not tracing.works():
        return Outcome(0, [NEEDED])
    with in_memory(folder) as fast:
        place = acts.ground(fast, {})
        lots = []
        for name in acts.COMMANDS:
            ended = command(place, name, None, follow=follow)[1]
            assert ended.status == 0, ended.said
            seen = tracing.points(ended.log)
            lots += [(name, point) for point in seen[chance("commands", name).randrange(10) :: 10]]
        return spread(lots, lambda lot: command(place, lot[0], lot[1], follow=follow)[0])


FULL: dict[str, Callable[[Path], Outcome]] = {
    "SIGKILL, library, every call": _library,
    "SIGKILL, library or its git, every call": _library_and_git,
    "SIGKILL, and again in the next command": _recovery,
    "SIGKILL, init, every call": _init,
    "SIGKILL, whole commands, every tenth call": lambda folder: _commands(folder, follow=False),
    "SIGKILL, whole commands or their git, every tenth call": lambda folder: _commands(folder, follow=True),
}

ALONE = tuple(FULL)
