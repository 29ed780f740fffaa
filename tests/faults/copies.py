"""An older copy of a log, edited and saved over what an agent added, edited and took out meanwhile.

Whatever one side did to an entry is done, nothing stands there twice, and where both sides changed one entry the
person's version stands there and the other is kept. The person leaves the last entry of the copy alone, for who took
that out, too, cannot be told from who never saw it.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import editors
from outcome import Outcome, chance, in_memory, spread

from mdmem import Vault
from mdmem.text import entries

MORNING = datetime(2026, 11, 29, 8)
LOG = "daily/2026-11-29"
REST = 0.35
AGENT = [range(100 * turn + 100, 100 * turn + 150) for turn in range(3)]
PERSON = [range(100 * turn + 150, 100 * turn + 199) for turn in range(3)]
"""Minutes after the morning of what each adds, in each turn."""

ROUNDS = 40

Log = dict[str, str]
"""Clock → text; every entry has a minute of its own."""


@dataclass(slots=True)
class Sides:
    """A log as an editor has it, and what each side makes of it."""

    base: Log
    agent: Log
    person: Log


def text(numbers: random.Random) -> str:
    """Make a text that no other is like."""
    return " ".join("".join(numbers.choices("bcdfghklmnprstvwz", k=6)) for _ in range(numbers.randint(4, 9)))


def change(log: Log, numbers: random.Random, spared: set[str], minutes: range) -> tuple[str, str | None]:
    """Do one thing to a log: its clock, and the text from now on."""
    free = sorted(log.keys() - spared)
    what = numbers.choice(("add", "edit", "edit", "remove")) if free else "add"
    if what == "add":
        clock = f"{(MORNING + timedelta(minutes=numbers.choice(minutes))):%H:%M}"
        if clock in log or clock in spared:
            return change(log, numbers, spared, minutes)
        log[clock] = text(numbers)
        return clock, log[clock]
    clock = numbers.choice(free)
    if what == "remove":
        del log[clock]
        return clock, None
    words = log[clock].split()
    words[numbers.randrange(len(words))] = text(numbers).split()[0]
    log[clock] = " ".join(words)
    return clock, log[clock]


def do(vault: Vault, before: Log, clock: str, said: str | None) -> None:
    """Have mdmem do what an agent did to its log."""
    if clock not in before and said is not None:
        vault.add(said, at=vault.place.moment(MORNING.date(), clock))
    elif said is None:
        vault.remove(f"{LOG}#{clock}")
    else:
        vault.edit(f"{LOG}#{clock}", said)


def attempt(folder: Path, number: int, *, apart: bool, save: Callable[[Path, bytes], None]) -> Outcome:
    """Have an agent and a person, who never reads again, change one log by turns, and look what becomes of it."""
    numbers = chance("copies", number, apart)
    root = Vault.init(folder / f"vault{number}")[0].root
    base = {f"{(MORNING + timedelta(minutes=place)):%H:%M}": text(numbers) for place in range(numbers.randint(2, 6))}
    for clock, said in base.items():
        do(Vault.open(root), {}, clock, said)
    path = root / f"memory/{LOG}.md"
    copy = path.read_text()
    theirs, spared = {max(base)}, {max(base)}  # of the agent, and of the person
    person, failures = dict(base), list[str]()
    for turn in range(numbers.randint(1, 3)):
        sides = Sides(dict(person), standing(path), person)
        for _ in range(numbers.randint(0 if turn else 1, 4)):
            before = dict(sides.agent)
            clock, said = change(
                sides.agent, numbers, theirs | {clock for clock in before if clock > "18"}, AGENT[turn]
            )
            do(Vault.open(root), before, clock, said)
            spared |= {clock} if apart else set()
        for _ in range(numbers.randint(1, 3)):
            before = dict(person)
            clock, said = change(person, numbers, spared, PERSON[turn])
            copy = retyped(copy, before, clock, said)
            spared.add(clock)  # changed twice, it may be like none
            theirs |= {clock} if apart else set()
        # Else it may be just an older version, which may well be meant.
        person[f"2{turn}:00"] = text(numbers)
        spared.add(f"2{turn}:00")  # from now on the last of the copy
        copy = retyped(copy, sides.base, f"2{turn}:00", person[f"2{turn}:00"])
        save(path, copy.encode())
        settle(root)
        failures += judged(root, sides, apart=apart)
    return Outcome(1, [f"try {number}: {one}" for one in failures])


def standing(path: Path) -> Log:
    """Give what stands in a log, the last of each minute."""
    return {entry.time[:5]: entry.text for entry in entries.parse(path.read_text()).entries}


def retyped(copy: str, before: Log, clock: str, said: str | None) -> str:
    """Do to a text what a person did to their copy of the log."""
    line = f"- {clock} {before.get(clock)}\n"
    return (
        copy.replace(line, f"- {clock} {said}\n" if said else "") if clock in before else copy + f"- {clock} {said}\n"
    )


def settle(root: Path) -> None:
    """Do what the next commands do, until all is at rest."""
    for _ in range(ROUNDS):
        time.sleep(REST)
        vault = Vault.open(root)
        vault.commit()
        if vault.commit() or vault.parts.delivery.waiting() or vault.parts.commits.found():
            continue
        if all(one.reason.startswith(("deleted", "conflict")) for one in vault.held()):
            break
    Vault.open(root).commit()


def judged(root: Path, sides: Sides, *, apart: bool) -> list[str]:
    """Say what is not as it should be; where both changed the same, what the agent did may also be held."""
    source = (root / f"memory/{LOG}.md").read_text()
    found = Counter((entry.time[:5], entry.text) for entry in entries.parse(source).entries)
    vault = Vault.open(root)
    kept = " ".join(text for one in vault.conflicts() for clash in one.clashes for text in (clash.ours, clash.theirs))
    kept += " ".join(one.text for one in vault.held())
    wrong = [f"{key} stands there {often} times" for key, often in found.items() if often > 1]
    for clock in sides.base.keys() | sides.agent.keys() | sides.person.keys():
        was, mine, yours = (side.get(clock) for side in (sides.base, sides.agent, sides.person))
        if was in (mine, yours) or mine == yours:
            want = mine if yours == was else yours
            there = [said for (at, said), _ in found.items() if at == clock]
            if there != ([want] if want else []) and not (want == mine and not there and not apart and mine in kept):
                wrong.append(f"{clock}: {there} instead of {want!r}; base {was!r}, agent {mine!r}, person {yours!r}")
        elif yours and (clock, yours) not in found:
            wrong.append(f"{clock}: the person's {yours!r} is gone; agent {mine!r}")
        elif mine and (clock, mine) not in found and mine not in kept:
            wrong.append(f"{clock}: the agent's {mine!r} is not kept; person {yours!r}")
    return wrong + ([source] if wrong else [])


def run(folder: Path, tries: int, *, apart: bool) -> Outcome:
    """Try it so many times, with saves in different ways."""
    styles = list(editors.STYLES.values())[:2]
    with in_memory(folder) as place:
        return spread(range(tries), lambda n: attempt(place, n, apart=apart, save=styles[n % 2]), seconds=25)


FULL: Mapping[str, Callable[[Path], Outcome]] = {
    "older copy of a log, agent and person apart": lambda folder: run(folder, 75, apart=True),
    "older copy of a log, both change one entry": lambda folder: run(folder, 75, apart=False),
}
