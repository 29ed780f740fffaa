"""Closed years packed into archives, and what is packed taken out again.

Owns the order of it: an archive is written and read back before the first log goes, and a log is back before its
archive goes. It must never change a file that has become another since it was looked at.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mdmem import fsio
from mdmem.errors import NotFound, Refused, StorageFailed
from mdmem.model import Change
from mdmem.store import archive
from mdmem.store.journal import Journal, Record
from mdmem.text import packs, units
from mdmem.vault import archives, closed, messages
from mdmem.vault.closed import Left, Year
from mdmem.vault.place import Place, checked
from mdmem.vault.replacement import Step, held
from mdmem.vault.rewriting import TRIES, Rewriting

OP = "nightly"


@dataclass(frozen=True, slots=True)
class Packed:
    """What was packed: how many logs, their bytes, and the bytes by which archives grew; one commit for each year.

    `left` are the logs of closed years that stay where they are.
    """

    logs: int = 0
    size: int = 0
    packed: int = 0
    archives: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    left: tuple[Left, ...] = ()

    def __add__(self, other: Packed) -> Packed:
        return Packed(
            self.logs + other.logs,
            self.size + other.size,
            self.packed + other.packed,
            self.archives + other.archives,
            self.changes + other.changes,
            self.left + other.left,
        )


@dataclass(slots=True)
class Packing:
    """The way of closed years into archives and back."""

    place: Place
    journal: Journal
    rewriting: Rewriting

    def pack(self, *, dry_run: bool = False) -> Packed:
        """Pack what can be packed, by one commit for each year; with `dry_run` tell what that would be.

        Raises Busy, StorageFailed; what was done before that is done.
        """
        done = Packed()
        for name in closed.years(self.place):
            done += self._pack(name, dry_run=dry_run)
        return done

    def _pack(self, name: str, *, dry_run: bool) -> Packed:
        saved: set[str] = set()
        for tried in range(TRIES):
            year = closed.look(self.place, self.journal, name, saved=saved)
            if not year.logs:
                return Packed(left=year.left)
            # Before the lock is taken: a megabyte takes half a second.
            wanted = {path: archive.compress(packs.pack(held)) for path, held in year.archives.items()}
            if dry_run:
                return _told(year, wanted)
            records = self._carry_out(year, wanted)
            if records is not None:
                # Without the lock: to tell a year's changes takes a second.
                return replace(_told(year, wanted), changes=(self.rewriting.finish(records),))
            if tried:  # what was saved once is looked at again; what is saved all the time must not keep the others
                saved |= self._saved(year)
        return Packed(left=(*year.left, *(Left(path, "files of that year are being saved") for path in year.logs)))

    def _saved(self, year: Year) -> set[str]:
        """Give the logs of a year that were saved since it was looked at."""
        return {path for path in year.logs if self.place.content(path) != year.seen[path]}

    def _carry_out(self, year: Year, wanted: Mapping[str, bytes]) -> list[Record] | None:
        """Write the archives of a year and take its logs away; None, and nothing is done, if one was changed since."""
        with self.rewriting.changing():
            there = {path: self.place.read(path) for path in year.seen}
            if any(held(there[path]) != data for path, data in year.seen.items()):
                return None
            if closed.in_use(self.place, self.journal, year.seen):
                return None
            steps = [
                Step(path, there[path], wanted.get(path), proof=_proof(year.archives[path]) if path in wanted else None)
                for path in (*wanted, *(year.seen.keys() - wanted.keys()))
                if held(there[path]) != wanted.get(path)
            ]
            return self.rewriting.carry_out(steps, op=OP, message=_message(year, wanted))

    # Taking out

    def unpack(self, address: str) -> Change:
        """Take out of its archive what an address names, or all of a year or month, as files of their own.

        Raises NotFound, Refused where another version stands there and does not merge, Busy, StorageFailed.
        """
        with self.rewriting.changing():
            for _ in range(TRIES):
                homes = self._homes(address)
                steps = _united(step for home, wanted in homes.items() for step in self._taken_out(home, wanted))
                self.rewriting.commit_before([step.path for step in steps])
                said = _unpacked([step.path for step in steps if step.path not in homes], homes)
                records = self.rewriting.carry_out(steps, op="unpack", message=said)
                if records is not None:
                    return self.rewriting.finish(records)
        raise Refused(f"{steps[0].path} is being saved all the time", "nothing was changed: try again")

    def _homes(self, address: str) -> dict[str, Wanted]:
        """Find the archives that hold what is meant, and what of them that is."""
        stem = checked(address).partition("#")[0]
        stretch = _STRETCH.fullmatch(stem)
        if stretch:
            wanted = _within(stretch["name"])
            for home in archives.of_year(self.place, stretch["name"][:4]):
                self.place.legible(home)  # a part of the year is not all of it
            if found := archives.holding(self.place, wanted):
                return dict.fromkeys(found, wanted)
        for path in map(units.path_of, (stem, f"daily/{stem}")):
            if packed := archives.log(self.place, path):
                return {packed[0]: _only(path)}
            if fsio.look(path + packs.SUFFIX, root=self.place.root) is not None:
                return {path + packs.SUFFIX: _all}
            if found := archives.holding(self.place, _only(path)):  # its archive has another name now
                return {found[0]: _only(path)}
        raise NotFound(f"no archive holds {stem}", "name a year, a month, a day, or a compressed document")

    def _taken_out(self, home: str, wanted: Wanted) -> Iterator[Step]:
        """Yield what takes logs out of an archive, or makes the document again that it is."""
        base = self.place.read(home)
        if base is None:
            raise NotFound(f"{home} is gone", "try again")
        data = archives.legible(home, base.data)
        held = _held_in(home, data)
        if not held:
            plain = home.removesuffix(packs.SUFFIX)
            yield self._placed(plain, data)
            yield Step(home, base, None)
            return
        yield from (self._placed(path, log) for path, log in held.items() if wanted(path))
        rest = {path: log for path, log in held.items() if not wanted(path)}
        left = packs.pack(rest)
        yield Step(home, base, (archive.compress(left) if packs.is_archive(home) else left) if rest else None)

    def _placed(self, path: str, data: bytes) -> Step:
        """Make the step that puts a file there, brought together with what stands there. Raises Refused."""
        there = self.place.read(path)
        joined = data if there is None or there.data == data else None
        if there is not None and units.is_log(path):
            joined = closed.join(path, data, there.data)
        if joined is None:
            what = f"another version of {units.stem_of(path)} stands there, uncompressed"
            raise Refused(what, "nothing was changed: move it away, or delete it, and try again")
        return Step(path, there, joined)


Wanted = Callable[[str], bool]
"""Tells whether the log of a path is meant."""

_STRETCH = re.compile(r"(?:(?:archives/)?daily/)?(?P<name>\d{4}(?:-\d\d)?)")


def _all(path: str) -> bool:
    return True


def _only(wanted: str) -> Wanted:
    return lambda path: path == wanted


def _within(name: str) -> Wanted:
    return lambda path: posixpath.basename(path).startswith(f"{name}-")


def _held_in(home: str, data: bytes) -> dict[str, bytes]:
    """Give the logs of a pack by path. Raises Refused where it has two versions of one that do not merge."""
    held: dict[str, bytes] = {}
    for log in packs.members(data):
        joined = closed.join(log.path, held.get(log.path), log.data)
        if joined is None:
            raise Refused(f"{home} has two versions of {units.stem_of(log.path)}", "nothing was changed: see `zstd -d`")
        held[log.path] = joined
    return held


def _united(steps: Iterable[Step]) -> list[Step]:
    """Bring together what several archives hold of one log. Raises Refused where that does not merge."""
    found: dict[str, Step] = {}
    for step in steps:
        before = found.get(step.path)
        if before is not None and before.wanted is not None and step.wanted is not None:
            joined = closed.join(step.path, before.wanted, step.wanted)
            if joined is None:
                what = f"two archives hold versions of {units.stem_of(step.path)} that do not merge"
                raise Refused(what, "nothing was changed: `zstd -dc` prints each of them")
            step = replace(step, wanted=joined)
        found[step.path] = step
    return list(found.values())


def _told(year: Year, wanted: Mapping[str, bytes]) -> Packed:
    """Count what is packed of a year."""
    size = sum(len(year.seen[path] or b"") for path in year.logs)
    before = sum(len(data or b"") for path, data in year.seen.items() if path not in year.logs)
    return Packed(len(year.logs), size, sum(map(len, wanted.values())) - before, tuple(wanted), (), year.left)


def _proof(held: Mapping[str, bytes]) -> Callable[[bytes], None]:
    """Make the check that an archive, as it was read back, gives every log again."""

    def check(data: bytes) -> None:
        said = archive.expand(data)
        if {log.path: log.data for log in packs.members(said)} != held or not packs.is_whole(said):
            raise StorageFailed("the archive was not read back as it was written", "every log is where it was")

    return check


def _message(year: Year, wanted: Mapping[str, bytes]) -> str:
    told = _told(year, wanted)
    into = units.stem_of(told.archives[0]) if len(told.archives) == 1 else f"{len(told.archives)} archives"
    came = f"became {told.packed:,} of archive" if told.packed > 0 else "were in it already"
    why = f"The year is over: {told.size:,} bytes of logs {came}. `mdmem unpack {year.name}` takes all of it out again."
    return messages.message(f"Pack {closed.counted(year.logs)} into {into}", why, op=OP)


def _unpacked(paths: Sequence[str], homes: Collection[str]) -> str:
    out = closed.counted(paths)
    where = ", ".join(path.removeprefix(packs.HOME) for path in homes)
    return messages.message(f"Unpack {out}", f"It was packed in {where}.", op="unpack")
