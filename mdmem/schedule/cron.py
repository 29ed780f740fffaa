"""The crontab as text: the lines that are ours, and how a command is written in one.

Pure, over bytes: a crontab is whatever a person saved. It must never change a byte of a line that is not ours. Each
of ours ends with a comment that the shell ignores: the job, the vault's id, and a sum of all before it, which tells
whether somebody has changed the line since.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mdmem.errors import Refused
from mdmem.schedule.jobs import JOBS, Plan, Slot, State, digest

ENV = "/usr/bin/env"
"""Sets the environment whatever shell a crontab names: the one of csh cannot before a command."""

SAFE = re.compile(r"[A-Za-z0-9_@+=:,./-]+")
MARK = re.compile(
    rb"(?P<line>.*) # mdmem (?P<name>[a-z-]+) (?P<id>[0-9a-f]{12}) (?P<sum>[0-9a-f]{8})(?P<joined> \+)?[ \t\r]*"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One of a vault's lines: its number from 0, its name, and whether it is as it was written.

    `joined`: the newline before it is ours, for the text that a person had saved ended without one.
    """

    number: int
    name: str
    command: bytes
    whole: bool
    joined: bool


def lines(plan: Plan) -> dict[str, bytes]:
    """Return the lines of a vault by name, without marks and newlines. Raises Refused for what no line can hold."""
    found: dict[str, bytes] = {}
    for job in JOBS:
        command = " ".join(map(quote, (*_setting(plan), *plan.words(job))))
        found[job.name] = os.fsencode(f"{job.cron} {command}")
        if job.late:
            found[f"{job.name}-late"] = os.fsencode(f"{job.late} {command}")
    return found


def _setting(plan: Plan) -> list[str]:
    """Return the words before the program that give it its environment, and nothing else of the crontab's."""
    values = [f"{name}={value}" for name, value in plan.environment]
    return values if "=" in plan.program[0] else [ENV, *values]  # it would take the program for one more value


def marked(line: bytes, name: str, id: str, *, joined: bool = False) -> bytes:
    """Return a line of ours as it stands in the crontab."""
    return line + f" # mdmem {name} {id} {digest(line)}{' +' * joined}\n".encode()


def quote(word: str) -> str:
    r"""Return a word as the shell takes it out of a crontab. Raises Refused where a line cannot hold it.

    There `%` ends the command unless a backslash stands before it, and some crons make two backslashes one: so no two
    ever stand side by side, nor one of the word's before a `%`.
    """
    if "\n" in word or "\0" in word:
        hint = "use --systemd, or give the folder another name"
        raise Refused(f"a line of a crontab cannot hold a newline, and there is one in {word!r}", hint)
    if SAFE.fullmatch(word):
        return word
    inside = word.replace("'", "\0").replace("\\", "\\''").replace("\0", "'\\''").replace("%", "\\%")
    return f"'{inside}'"


def found(text: bytes, id: str) -> Iterator[Line]:
    """Yield the lines of one vault."""
    for number, line in enumerate(text.split(b"\n")):
        mark = MARK.fullmatch(line)
        if mark and mark["id"].decode() == id:
            whole = mark["sum"].decode() == digest(mark["line"])
            yield Line(number, mark["name"].decode(), mark["line"], whole, bool(mark["joined"]))


def states(text: bytes, plan: Plan) -> list[Slot]:
    """Compare what a crontab has for a vault with what it should have; nothing when it has nothing."""
    here = list(found(text, plan.id))
    if not here:
        return []
    wanted = lines(plan)
    missing = [name for name in wanted if name not in {line.name for line in here}]
    slots = [_slot(each.name, f"crontab:{each.number + 1}", _state(each, wanted)) for each in here]
    return slots + [_slot(name, "crontab", "missing") for name in missing]


def _slot(name: str, place: str, state: State) -> Slot:
    job = next((job for job in JOBS if name in (job.name, f"{job.name}-late")), None)
    if job is None:
        return Slot(name, name, "", place, state)  # of a version that had more
    told = job.told if job.name == name else f"hourly, at :{job.late.partition(' ')[0]}, if one was missed"
    return Slot(name, job.name, told, place, state)


def _state(line: Line, wanted: dict[str, bytes]) -> State:
    if not line.whole:
        return "changed by hand"
    return "as installed" if wanted.get(line.name) == line.command else "another version"


def installed(text: bytes, plan: Plan, *, force: bool = False) -> bytes:
    """Return a crontab with the lines of a vault: old ones in their place, new ones at the end.

    A line that a person has changed stays and counts as it is, unless `force`.
    """
    wanted = lines(plan)
    kept: dict[int, bytes] = {}
    for line in found(text, plan.id):
        ours = wanted.pop(line.name, None)
        if ours and (line.whole or force):
            if not line.whole or ours != line.command:
                kept[line.number] = marked(ours, line.name, plan.id, joined=line.joined).removesuffix(b"\n")
        elif line.whole or (force and ours is None):
            kept[line.number] = b""  # a second one of the same name, or a job there is no more
    text = _edited(text, kept)
    joined = bool(wanted and text) and not text.endswith(b"\n")
    text += b"\n" * joined
    for number, (name, line_) in enumerate(wanted.items()):
        text += marked(line_, name, plan.id, joined=joined and not number)
    return text


def removed(text: bytes, id: str, *, force: bool = False) -> bytes:
    """Return a crontab without the lines of a vault but those that a person has changed, unless `force`."""
    ours = [line for line in found(text, id) if line.whole or force]
    numbers = {line.number for line in ours}
    left = _edited(text, dict.fromkeys(numbers, b""))
    first = next((line.number for line in ours if line.joined), None)
    is_last = first is not None and numbers >= set(range(first, text.count(b"\n")))
    return left.removesuffix(b"\n") if is_last and text.endswith(b"\n") else left


def _edited(text: bytes, changes: dict[int, bytes]) -> bytes:
    """Return the text with other lines by number; an empty one goes, and its newline with it."""
    out = bytearray()
    *whole, rest = text.split(b"\n")
    parts: Sequence[bytes] = [line + b"\n" for line in whole] + [rest]
    for number, part in enumerate(parts):
        new = changes.get(number)
        out += part if new is None else new + b"\n" * bool(new)
    return bytes(out)
