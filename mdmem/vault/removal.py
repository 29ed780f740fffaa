"""Entries and documents that the program takes out by itself: all of one step by one commit, or none.

Owns how that is done, and what a person once wanted back. It must never touch a file that is not as it was when the
decision was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from posixpath import basename
from typing import TYPE_CHECKING

from mdmem.model import Change, Finding
from mdmem.text import units
from mdmem.vault import history
from mdmem.vault.daylog import decoded, encoded
from mdmem.vault.place import Place
from mdmem.vault.rewriting import Planned, Read

if TYPE_CHECKING:
    from mdmem.vault.parts import Parts

OP = "nightly"

KEPT = {"soul.md", "identity.md", "memory.md"}
"""Files that never go as a whole, nor lose a line here, whatever they hold."""

DEEP = 5000
"""How many commits are looked through for what a person wanted back."""


@dataclass(frozen=True, slots=True)
class Going:
    """A unit that is to go, where it stands, what it says, and why it goes."""

    path: str
    address: str
    text: str
    why: str
    kind: str = "entry"
    over: datetime | None = None
    """Since when it no longer counts, where that is known."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is known by, wherever in its file it stands."""
        return units.stem_of(self.path), self.text if self.kind == "entry" else ""


@dataclass(frozen=True, slots=True)
class Spot:
    """A stretch of a decoded file and what takes its place; None for the whole file, which goes."""

    path: str
    start: int
    end: int
    put: str | None = ""


@dataclass(frozen=True, slots=True)
class Act:
    """What goes together, and the places that change for it: all of them or none."""

    going: tuple[Going, ...]
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What is to be done, the files as they were when that was found, and what could not be decided."""

    acts: tuple[Act, ...] = ()
    versions: Mapping[str, bytes] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def going(self) -> list[Going]:
        """All units that are to go."""
        return [one for act in self.acts for one in act.going]


def carry_out(parts: Parts, found: Found, say: Callable[[Sequence[Going]], str]) -> tuple[Change | None, list[Going]]:
    """Do what was found by one commit; give it, and what is gone. Files that were changed meanwhile stay as they are.

    Raises Busy, Refused, StorageFailed; then nothing was done.
    """
    done: list[Going] = []

    def plan(read: Read) -> Planned:
        acts = [act for act in found.acts if all(read(spot.path) == found.versions[spot.path] for spot in act.spots)]
        done[:] = [one for act in acts for one in act.going]
        return Planned(_files(acts, found.versions), say(done)) if acts else Planned({})

    change = parts.rewriting.rewrite(plan, op=OP)
    return change, done if change else []


def _files(acts: Iterable[Act], versions: Mapping[str, bytes]) -> dict[str, bytes | None]:
    spots: dict[str, list[Spot]] = {}
    for act in acts:
        for spot in act.spots:
            spots.setdefault(spot.path, []).append(spot)
    return {path: _changed(versions[path], here) for path, here in spots.items()}


def _changed(data: bytes, spots: list[Spot]) -> bytes | None:
    source = decoded(data)
    for spot in sorted(spots, key=lambda one: one.start, reverse=True):
        if spot.put is None:
            return None
        source = source[: spot.start] + spot.put + source[spot.end :]
    return encoded(source)


def is_kept(path: str) -> bool:
    """Tell whether a file is one of those that stay as they are."""
    return basename(path).casefold() in KEPT


def wanted_back(place: Place) -> dict[tuple[str, str], datetime]:
    """Give what a person took back of what the program had taken out, by `Going.key`, and when they did."""
    undone: dict[str, datetime] = {}
    back: dict[tuple[str, str], datetime] = {}
    for info in place.repo.history(paths=place.own(), k=DEEP):
        target = info.trailers.get("Mdmem-Undoes")
        if target and info.id not in undone:
            undone[target] = info.date
        if info.id in undone and info.trailers.get("Mdmem-Op") == OP:
            for edit in history.change(place, info).edits:
                if edit.kind == "removed":
                    stem, sign, _ = edit.address.partition("#")
                    back.setdefault((stem, (edit.before or "") if sign else ""), undone[info.id])
    return back
