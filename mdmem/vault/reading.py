"""Entries, cut from the files as they are now.

Owns turning what an index found into what a person sees. It must never show a text that the index remembers: a unit
that is no longer in its file is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mdmem.errors import BadInput, MdmemError
from mdmem.model import Entry, Query
from mdmem.store.catalog import Filter, Found
from mdmem.text import analyze, markdown, units
from mdmem.text.units import Unit
from mdmem.vault.index import Index, Stores, within
from mdmem.vault.place import Place, checked, nearest, pick, split_guard, whole


@dataclass(slots=True)
class Files:
    """Files read once each, for the length of one command, and the units that are wanted of them."""

    place: Place
    wanted: Iterable[Found] = ()
    _units: dict[str, tuple[Unit, ...]] = field(default_factory=dict)
    _labels: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for found in self.wanted:
            self._labels.setdefault(found.path, set()).add(found.address.partition("#")[2])

    def units(self, path: str) -> tuple[Unit, ...]:
        """Give the units of a file, of a log with wanted entries those alone; none when it cannot be read."""
        if path not in self._units:
            self._units[path] = self._cut(path, self._labels.get(path))
        return self._units[path]

    def _cut(self, path: str, labels: set[str] | None) -> tuple[Unit, ...]:
        try:
            snapshot = self.place.read(path)
        except MdmemError:
            return ()
        return units.read(path, snapshot.data, only=labels).units if snapshot else ()

    def unit(self, found: Found) -> Unit | None:
        """Cut a unit that an index found, wherever its file has it now; the address counts before the id."""
        unit = _same(self.units(found.path), found)
        return unit or _same(self._cut(found.path, None), found)


def _same(listed: Iterable[Unit], found: Found) -> Unit | None:
    same = [unit for unit in listed if unit.id == found.key]
    return next((unit for unit in same if unit.address == found.address), same[0] if same else None)


def find(place: Place, index: Index, address: str) -> tuple[str, Unit, str | None]:
    """Find what an address or id names: (path, unit, hash that its text must have). Raises NotFound, BadInput.

    The address as it was typed counts first: a name may end like a guard, in `.md`, or in a blank.
    """
    plain, guard = split_guard(address)
    for typed, wanted in ((address, None), (plain, guard)):
        for name in dict.fromkeys((typed, checked(typed), f"daily/{checked(typed)}")):
            unit = _in_file(place, units.path_of(name), name)
            if unit:
                return units.path_of(name), unit, wanted

    def looked_up(stores: Stores) -> tuple[str, Unit, str | None]:
        for typed, wanted in ((address, None), (checked(plain), guard)):
            for found in stores.catalog.find(typed):
                unit = Files(place).unit(found)
                if unit:
                    return found.path, unit, wanted
        known = list(stores.catalog.addresses())
        stores.check()
        raise nearest(checked(plain), known)

    return index.ask(looked_up)


def _in_file(place: Place, path: str, address: str) -> Unit | None:
    try:
        snapshot = place.read(path)
    except BadInput:
        return None
    if snapshot is None:
        return None
    label = address.partition("#")[2]
    found = units.read(path, snapshot.data).units
    if not label:
        return whole(path, snapshot.data) if units.is_log(path) else found[0]
    return pick(found, f"{units.stem_of(path)}#{label}")


def bounds(query: Query) -> Filter:
    """Give the filter that a query's options ask for."""
    return Filter(
        since=query.since.timestamp() if query.since else None,
        until=query.until.timestamp() if query.until else None,
        tags=tuple(analyze.fold(markdown.readable(tag).lstrip("#")) for tag in query.tags),
        within=within(query.within) if query.within else None,
    )


def listed(place: Place, stores: Stores, wanted: Filter, *, limit: int | None, offset: int) -> list[Entry]:
    """List entries and documents, newest first."""
    found = stores.catalog.newest(wanted, limit=limit, offset=offset)
    files = Files(place, found)
    return [place.entry(one.path, unit) for one in found if (unit := files.unit(one))]
