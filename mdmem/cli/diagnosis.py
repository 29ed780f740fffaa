"""What `doctor` and `verify` found, as people read it: by room, the place first, the fix below.

It must never ask the vault for anything, and it writes through `terminal` alone.
"""

from collections.abc import Iterable
from itertools import groupby

from mdmem.cli import terminal
from mdmem.cli.render import counted, wrapped
from mdmem.cli.terminal import BAD, BOLD, DIM, GOOD, MARK
from mdmem.model import Diagnosis, Verification

SIGNS = {"error": ("✗", BAD), "warning": ("!", MARK), "note": ("·", DIM)}
SHOWN = 20
"""So many findings of one kind are written in full; `--json` has all."""


def examined(found: Iterable[Diagnosis]) -> None:
    """Write the findings of the doctor, and how many of each severity there are."""
    listed = list(found)
    _rooms(listed)
    counts = {name: sum(each.severity == name for each in listed) for name in SIGNS}
    said = ", ".join(counted(count, name) for name, count in counts.items() if count)
    terminal.line((said, BOLD) if counts["error"] or counts["warning"] else (said or "nothing is wrong", GOOD))


def verified(done: Verification) -> None:
    """Write what differed, and how much was compared."""
    _rooms(done.findings)
    compared = [counted(done.files, "file"), counted(done.units, "unit") + " by hash"]
    compared += [counted(done.sampled, "passage") + " by words"] if done.sampled else []
    compared += [f"{counted(done.vectors, 'vector')}, {done.compared:,} made again"] if done.vectors else []
    compared += [f"{done.neighbours:,} in the vector index"] if done.neighbours else []
    wrapped(f"compared: {'; '.join(compared)}; {done.took_ms / 1000:.1f} s", indent="")
    if done.asked:
        wrapped(f"found by their own words: {done.retrieved} of {done.asked}", indent="")
    healed = sum(each.healed for each in done.findings)
    if done.left:
        terminal.line((f"{counted(done.left, 'difference')} left, {healed} healed", BAD))
    else:
        terminal.line((f"{counted(healed, 'difference')} healed" if healed else "nothing differs", GOOD))


def _rooms(found: Iterable[Diagnosis]) -> None:
    for room, here in groupby(found, key=lambda each: each.room):
        terminal.line((room, BOLD))
        for kind, same in groupby(here, key=lambda each: each.kind):
            listed = list(same)
            for each in listed[:SHOWN]:
                _one(each)
            if len(listed) > SHOWN:
                wrapped(f"… and {len(listed) - SHOWN} more of the kind {kind}", DIM, "  ")


def _one(each: Diagnosis) -> None:
    sign, style = ("✓", GOOD) if each.healed else SIGNS[each.severity]
    place = "" if each.path == "." else each.path if each.line is None else f"{each.path}:{each.line}"
    text = f"{place}: {each.message}" if place else each.message
    wrapped(f"{sign} {text}{' (healed)' if each.healed else ''}", style if each.severity == "error" else "", "  ")
    if each.hint and not each.healed:
        wrapped(each.hint, DIM, "    ")
