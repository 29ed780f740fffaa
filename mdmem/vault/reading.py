"""Entries, cut from the files as they are now.

Owns turning what an index found into what a person sees. It must never show a text that the index remembers: a unit
that is no longer in its file is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mdmem.errors import BadInput, MdmemError
from mdmem.model import Entry, Query
from mdmem.store.catalog import Filter, Found
from mdmem.text import analyze, markdown, packs, renames, units
from mdmem.text.units import Unit
from mdmem.vault import archives
from mdmem.vault.index import Index, Stores, within
from mdmem.vault.place import Place, checked, is_meant, nearest, pick, split_guard, whole


@dataclass(slots=True)
class Files:
    """Files read once each, for the length of one command, and the units that are wanted of them."""

    place: Place
    wanted: Iterable[Found] = ()
    _units: dict[str, tuple[Unit, ...]] = field(default_factory=dict)
    _addresses: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for found in self.wanted:
            self._addresses.setdefault(found.path, set()).add(found.address)

    def units(self, path: str) -> tuple[Unit, ...]:
        """Give the units of a file, of logs with wanted entries those alone; none when it cannot be read."""
        if path not in self._units:
            self._units[path] = self._cut(path, self._addresses.get(path))
        return self._units[path]

    def _cut(self, path: str, addresses: set[str] | None) -> tuple[Unit, ...]:
        data = self.place.said(path)
        return units.read(path, data, only=addresses).units if data is not None else ()

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
            found = _of_text(_in_files(place, name), wanted)
            if found:
                return *found, wanted

    def looked_up(stores: Stores) -> tuple[str, Unit, str | None]:
        for typed, wanted in ((address, None), (checked(plain), guard)):
            listed = stores.catalog.find(typed)
            found = _of_text(((one.path, unit) for one in listed if (unit := Files(place).unit(one))), wanted)
            if found:
                return *found, wanted
        known = list(stores.catalog.addresses())
        stores.check()
        raise nearest(checked(plain), known)

    return index.ask(looked_up)


def _of_text(found: Iterable[tuple[str, Unit]], wanted: str | None) -> tuple[str, Unit] | None:
    """Choose the unit whose text begins with a hash, if that is given; else, or if none does, the first."""
    first = None
    for one in found:
        first = first or one
        if wanted is None or is_meant(one[1], wanted):
            return one
    return first


def _in_files(place: Place, address: str) -> Iterator[tuple[str, Unit]]:
    """Find what an address names in the files that it tells of: as it is, compressed, or packed with its year."""
    label, path = address.partition("#")[2], units.path_of(address)
    for home in (path, path + packs.SUFFIX):
        try:
            data = place.legible(home)
        except BadInput:
            return
        if data is not None:
            found = whole(home, data) if not label and _has_logs(home, data) else None
            found = found or pick(units.read(home, data).units, units.stem_of(home) + f"#{label}" * bool(label))
            yield from [(home, found)] if found else []
            break
    packed = archives.log(place, path)
    if packed:
        home, log = packed
        name = f"{units.stem_of(path)}#{label}"
        found = pick(units.read(path, log.data).units, name) if label else whole(path, log.data)
        yield from [(home, units.below(found, log))] if found else []


def packed_beside(place: Place, path: str, unit: Unit) -> Iterator[str]:
    """Say that an archive has entries of a day, too, beside whose log it was shown."""
    if unit.kind == "entry" or packs.is_archive(path) or not units.is_log(path):
        return
    try:
        packed = archives.log(place, path)
    except MdmemError as error:
        yield f"there may be more of {unit.address} in an archive: {error.message}"
        return
    log = place.content(path) or b""
    if packed and packed[0] != path and not renames.holds_all(log, packed[1].data):
        stem = units.stem_of(path)
        yield f"more of {stem} is in {packed[0]}: `mdmem unpack {stem}` brings both together"


def _has_logs(path: str, data: bytes) -> bool:
    return units.is_log(path) or packs.is_pack(data)


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
