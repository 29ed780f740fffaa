"""Entries and documents that the program takes out by itself: all of one step by one commit, or none.

Owns how that is done, and what a person once wanted back. It must never touch a file that is not as it was when the
decision was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import basename
from typing import TYPE_CHECKING

from mdmem.model import Change, Finding
from mdmem.store.repo import CommitInfo
from mdmem.text import units
from mdmem.text.units import Unit
from mdmem.vault import archives, history
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
    until: str = ""
    """What its `expires` says, "" for none."""

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """What it is known by: where it stands, whatever it says by now, and what it says, wherever in its file."""
        text = self.text if self.kind == "entry" else ""
        return (self.address, ""), (units.stem_of(self.path), text)


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


Wanted = Mapping[tuple[str, str], set[str]]
"""What a person wanted back, by `Going.keys`: what its `expires` said when it was taken out."""


def wanted_back(place: Place) -> Wanted:
    """Give what a person took back of what the program had taken out."""
    undone: set[str] = set()
    back: dict[tuple[str, str], set[str]] = {}
    for info in place.repo.history(paths=place.own(), k=DEEP):
        if target := info.trailers.get("Mdmem-Undoes"):
            undone.add(target)
        if info.id in undone and info.trailers.get("Mdmem-Op") == OP:
            gone = {edit.address for edit in history.change(place, info).edits if edit.kind == "removed"}
            for path, unit in _before(place, info, gone) if gone else ():
                going = Going(path, unit.address, unit.text, "", unit.kind)
                for key in going.keys:
                    back.setdefault(key, set()).add(_until(unit))
    return back


def _before(place: Place, info: CommitInfo, addresses: set[str]) -> Iterator[tuple[str, Unit]]:
    """Yield the units of these addresses as they were before a commit."""
    blobs = dict(place.repo.blobs([file.old for file in info.files if file.old]))
    for file in info.files:
        data = archives.shown(file.path, blobs.get(file.old or ""))
        found = units.read(file.path, data).units if data is not None else ()
        yield from ((file.path, unit) for unit in found if unit.address in addresses)


def _until(unit: Unit) -> str:
    with suppress(ValueError):
        return (written(unit) or "").strip()
    return ""


def written(unit: Unit) -> str | None:
    """Give what is written for `expires` of a unit, None for nothing. ValueError where that is no text, or are two."""
    pairs = unit.meta if unit.kind == "entry" else unit.fields.items()
    said = [value for key, value in pairs if key.casefold() == "expires" and value not in (None, "")]
    if not said:
        return None
    if not isinstance(said[0], str):
        raise ValueError("it is a list or a table")
    if any(value != said[0] for value in said):
        raise ValueError(f"it stands there more than once, as {said[0]!r} and otherwise")
    return said[0]
