"""The doctor: looks at everything around a vault's memory that can go wrong, and names the place and the fix.

    subject.py   what is looked at, read once
    notes.py     what stands in the files: encoding, front matter, conflicts, secrets, ids
    names.py     what the files are called, and what they are
    links.py     `[[links]]` that lead nowhere
    history.py   git: its state, its locks, its objects, and what it does not take
    state.py     mdmem's own files on this machine: permissions, what waits, what was set aside
    machine.py   disks, file systems, versions, the model, settings, what may leave the machine

It must never change anything, neither in the vault nor in STATE, and what one check cannot do keeps no other from
being done. Comparing the indexes with the files is `verify`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mdmem import fsio
from mdmem.doctor import history, links, machine, names, notes, state
from mdmem.doctor.subject import Subject
from mdmem.errors import MdmemError
from mdmem.model import Diagnosis, Held, Progress
from mdmem.vault.place import Place

Check = Callable[[Subject], Iterable[Diagnosis]]

ROOMS: Mapping[str, Sequence[Check]] = {
    "files": (*notes.CHECKS, *names.CHECKS),
    "links": links.CHECKS,
    "history": history.CHECKS,
    "state": state.CHECKS,
    "machine": machine.CHECKS,
}
"""The checks, by the room that their findings are shown under."""

FAILURES = (MdmemError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError)
"""What a check may meet in a vault that is badly broken; each is a finding of its own."""

ORDER = ("error", "warning", "note")


def examine(place: Place, *, held: Sequence[Held] = (), progress: Progress | None = None) -> tuple[Diagnosis, ...]:
    """Look at everything and give what was found, by room, the worst first. `held` are texts that wait for a person."""
    subject = Subject(place, tuple(held))
    found: list[Diagnosis] = []
    count = sum(map(len, ROOMS.values()))
    done = 0
    for room, checks in ROOMS.items():
        here: list[Diagnosis] = []
        for check in checks:
            here += (replace(one, room=room) for one in _done(check, subject))
            done += 1
            if progress:
                progress("looking", done, count)
        found += sorted(here, key=lambda one: (ORDER.index(one.severity), one.kind, one.path, one.line or 0))
    return tuple(found)


def _done(check: Check, subject: Subject) -> Iterator[Diagnosis]:
    try:
        yield from check(subject)
    except FAILURES as error:
        hint = error.hint if isinstance(error, MdmemError) else "MDMEM_DEBUG=1 tells more"
        what = check.__name__.replace("_", " ")
        yield Diagnosis("check", ".", None, f"{what} could not be looked at: {fsio.why(error)}", hint, "warning")
