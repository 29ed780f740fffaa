"""Calls that fail, once or from then on: a full disk, a broken or a read-only one, no more descriptors; short writes.

What is said is true: done means kept, an error means that nothing was changed. Earlier bytes stay as they were, no
traceback is shown, and what was kept is delivered once the fault is gone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import acts
import sweep
import tracing
from acts import Act, Ground
from outcome import Outcome, chance, in_memory, spread

from mdmem import Vault, fsio
from mdmem.errors import MdmemError

CODES = ("ENOSPC", "EIO", "EDQUOT", "EACCES", "EMFILE", "EROFS")
PARTS = (0.0, 0.5, 1.0)
"""How much of a short write goes in, between one byte and all but one."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """The n-th call of an act fails with this error, or with a number in its place comes back short by so much."""

    act: str
    at: int
    what: str | float
    ever: bool

    def __str__(self) -> str:
        what = self.what if isinstance(self.what, str) else f"a write short by {1 - self.what:.0%}"
        return f"{self.act}, {what} at call {self.at}{' and ever after' if self.ever else ''}"


def calls(place: Ground, act: Act) -> list[str]:
    """List the names of the calls of an act, from a run without a fault."""
    names: list[str] = []
    root = place.copy(act)
    with sweep.counted(lambda number, name: names.append(name)):
        act.run(Vault.open(root))
    return names


def troubles(place: Ground, chosen: Mapping[str, Act], *, codes: int) -> list[Trouble]:
    """List all troubles of these acts: at each call `codes` errors in turn, each once and for ever."""
    found = []
    for name, act in chosen.items():
        for at, call in enumerate(calls(place, act), 1):
            if call == "git":
                continue
            which = [CODES[(at + step) % len(CODES)] for step in range(codes)]
            found += [Trouble(name, at, code, ever) for code in which for ever in (False, True)]
            if call == "write":
                found += [Trouble(name, at, part, ever) for part in PARTS for ever in (False, True)]
    return found


def _fault(trouble: Trouble) -> sweep.Fault:
    if isinstance(trouble.what, str):
        return sweep.failing(getattr(errno, trouble.what), trouble.at, ever=trouble.ever)
    return lambda number, name: None


@contextmanager
def _short(trouble: Trouble, numbers: list[int]) -> Iterator[None]:
    """Let one write come back short; with `ever`, the disk is full from then on."""
    if isinstance(trouble.what, str):
        yield
        return
    real, part, cut = fsio.calls.write, float(trouble.what), []

    def write(fd: int, data: bytes) -> int:
        if trouble.ever and cut:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if numbers[-1] + 1 == trouble.at and not cut and len(data) > 1:
            cut.append(fd)
            return real(fd, data[: 1 + int(part * (len(data) - 2))])
        return real(fd, data)

    with mock.patch.object(fsio.calls, "write", write):
        yield


def fail(place: Ground, trouble: Trouble, act: Act) -> Outcome:
    """Do an act while a call of it fails, and see what it said, what it left, and what the next command makes of it."""
    root = place.copy(act)
    error: MdmemError | None = None
    with sweep.counted(_fault(trouble)) as numbers, _short(trouble, numbers):
        try:
            act.run(Vault.open(root))
        except MdmemError as caught:
            error = caught
    found = judge(place, trouble.act, act, root, error is None, unsure=trouble.ever)
    return Outcome(1, [f"{trouble}: {one}{f' (said: {error.message})' if error else ''}" for one in found])


def judge(place: Ground, name: str, act: Act, root: Path, done: bool, *, unsure: bool) -> list[str]:
    """Tell what is not as promised; `unsure`: an error may have kept us from taking back what we had begun."""
    before, after = place.before[name], place.after[name]
    found = _earlier(acts.memory(root), before, after)
    acts.recover(root)
    if done or unsure:
        found += acts.verdict(root, before, after, acknowledged=done)
    else:
        found += acts.verdict(root, before, before, acknowledged=True)
    return found + acts.settle(root, act)


def _earlier(now: Mapping[str, bytes], before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Tell which bytes that were there changed: a file is as before, as it shall be, or longer."""
    return [
        f"earlier bytes of {path} changed at once"
        for path, data in before.items()
        if now.get(path) != after.get(path) and not now.get(path, b"").startswith(data)
    ]


def _library(folder: Path, *, codes: int) -> Outcome:
    with in_memory(folder) as fast, acts.standing_clock():
        place = acts.ground(fast, acts.ACTS)
        lots = troubles(place, acts.ACTS, codes=codes)
        return spread(lots, lambda trouble: fail(place, trouble, acts.ACTS[trouble.act]), least=640)


# By strace: also what SQLite, Whoosh and git's own processes call


def inject(place: Ground, name: str, act: Act, point: tracing.Point, *, code: str, ever: bool, follow: bool) -> Outcome:
    """Let one system call of an act fail, or all of its name from then on; of git's processes, too, if asked."""
    root = place.copy(act)
    words = tracing.fault(f"error={code}", point, ever=ever)
    ended = tracing.run(lambda: act.run(Vault.open(root)), words, follow=follow)
    if not ended.faults or ended.hit_pipe:
        return Outcome(0, note="some runs were over before their fault")
    found = ["a traceback"] if "Traceback" in ended.said else []
    if follow:
        acts.unlock(root)  # a git that may not delete its lock leaves it
    found += judge(place, name, act, root, ended.status == 0, unsure=ever or follow)
    label = f"{name}, {code} at {point.call} {point.number}{' and ever after' if ever else ''}"
    return Outcome(
        1, [f"{label}{' or in its git' if follow else ''}: {one} (said: {tracing.brief(ended.said)})" for one in found]
    )


def _traced(folder: Path, *, follow: bool) -> Outcome:
    if not tracing.works():
        return Outcome(0, note="strace is missing, or may not attach: nothing was tried")
    chosen = acts.ACTS | ({} if follow else acts.INDEXING)
    with in_memory(folder) as fast, acts.standing_clock():
        place = acts.ground(fast, chosen)
        lots = []
        for name, act in chosen.items():
            seen = acts.watched(place, act, follow=follow, pipes=False)
            lots += [(name, point, number) for number, point in enumerate(seen)]
        chance("errno", follow).shuffle(lots)

        def attempt(lot: tuple[str, tracing.Point, int]) -> Outcome:
            name, point, number = lot
            code, ever = CODES[number % len(CODES)], number // len(CODES) % 2 == 1
            return inject(place, name, chosen[name], point, code=code, ever=ever, follow=follow)

        return spread(lots, attempt, seconds=30)


# Whole commands

EXITS = (0, 3, 11, 12, 13, 14)
"""How a command may end that could not do all it was to do."""


def command(place: Ground, name: str, point: tracing.Point | None, *, code: str, ever: bool) -> tuple[Outcome, str]:
    """Let a system call of a whole command fail; gives what came of it, and strace's log."""
    root = place.copy()
    if name == "commit":
        acts.edit_by_hand(root)
    before = acts.memory(root)
    faults = tracing.fault(f"error={code}", point, ever=ever) if point else tracing.WATCH
    ended = tracing.command(tracing.python(*acts.COMMANDS[name][0]), root, faults, data=acts.COMMANDS[name][1])
    if not point or not ended.faults or ended.hit_pipe:
        return Outcome(0), ended.log
    found = list(_untrue(name, root, before, ended, ever))
    label = f"mdmem {name}, {code} at {point.call} {point.number}{' and ever after' if ever else ''}"
    return Outcome(
        1, [f"{label}: {one} (exit {ended.status}, said: {tracing.brief(ended.said)})" for one in found]
    ), ended.log


def _untrue(name: str, root: Path, before: Mapping[str, bytes], ended: tracing.Ended, ever: bool) -> Iterator[str]:
    spoken = all(point not in ended.log for point in ("write(1,", "write(2,"))
    if ended.status not in EXITS and spoken:
        yield f"exit {ended.status}"
    if "Traceback" in ended.said:
        yield "a traceback"
    acts.recover(root)
    now = acts.memory(root)
    if ended.status and spoken and now != before and not ever and name in ("add", "add --batch", "edit", "rm"):
        yield "it failed, and changed something all the same"
    if name.startswith("add") and ended.status == 0:
        often = sum(data.count(b"new entry\n") for data in now.values())
        if often != 1:
            yield f"done, and the entry is there {often} times"
    if name in ("edit", "rm") and ended.status == 0 and now == before:
        yield "done, and nothing changed"
    if name == "commit":
        left = Vault.open(root).commit()
        if left and spoken and ended.status == 0 and "not committed" not in ended.said:
            yield "done, and the hand edit was not in history"
    for _ in range(2):
        Vault.open(root).today()
    yield from acts.unrest(root)


def _commands(folder: Path) -> Outcome:
    if not tracing.works():
        return Outcome(0, note="strace is missing, or may not attach: nothing was tried")
    with in_memory(folder) as fast:
        place = acts.ground(fast, {})
        lots = []
        for name in acts.COMMANDS:
            seen = tracing.points(command(place, name, None, code="", ever=False)[1], pipes=False)
            seen = seen[chance("errno", name).randrange(10) :: 10]
            lots += [(name, point, number) for number, point in enumerate(seen)]

        def attempt(lot: tuple[str, tracing.Point, int]) -> Outcome:
            name, point, number = lot
            both = [
                command(place, name, point, code=CODES[number % len(CODES)], ever=ever)[0] for ever in (False, True)
            ]
            return both[0] + both[1]

        return spread(lots, attempt, seconds=30)


FULL: dict[str, Callable[[Path], Outcome]] = {
    "errno and short writes, library, every call, once and ever": lambda folder: _library(folder, codes=3),
    "errno, library by strace": lambda folder: _traced(folder, follow=False),
    "errno, library or its git by strace": lambda folder: _traced(folder, follow=True),
    "errno, whole commands, every tenth call": _commands,
}

ALONE = tuple(FULL)
