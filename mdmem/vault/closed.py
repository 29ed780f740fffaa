"""Closed years: which of their logs may be packed, and what their archives hold then.

Owns the reasons for which a log stays where it is: somebody is at it, or history does not have it as it stands. It must
never write.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import basename, dirname

from mdmem import fsio, indexer, merge
from mdmem.errors import Busy, MdmemError, Refused
from mdmem.store import archive
from mdmem.store.journal import Journal
from mdmem.text import entries, names, packs, renames, units
from mdmem.vault import archives, expiry
from mdmem.vault.daylog import decoded
from mdmem.vault.place import Place

LARGE = 16 * 2**20
"""Bytes of logs up to which a year is one archive; beyond, each of its months is."""

Content = bytes | None


@dataclass(frozen=True, slots=True)
class Left:
    """A log that stays where it is, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Year:
    """What is to become of a year: the logs that go, and all that each of its archives then holds, by path.

    `seen` are the bytes that logs and archives have now, by path; None for no file. An archive that is seen and will
    hold nothing goes, too.
    """

    name: str
    logs: tuple[str, ...] = ()
    archives: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict, repr=False)
    seen: Mapping[str, Content] = field(default_factory=dict, repr=False)
    left: tuple[Left, ...] = ()


def years(place: Place) -> list[str]:
    """List the closed years of which there are logs, the oldest first."""
    return sorted({day[:4] for day in map(_day, _logs(place))})


def _logs(place: Place) -> list[str]:
    """List the logs of years before this one."""
    now = f"{place.now().year:04}"
    scan = indexer.scan(str(place.root))
    return [file.path for file in scan.files if packs.fits(file.path) and _day(file.path)[:4] < now]


def _day(path: str) -> str:
    return basename(path)[: len("2025-03-14")]


def look(place: Place, journal: Journal, name: str, *, saved: Collection[str] = ()) -> Year:
    """Tell what is to become of a year as its files stand now; the logs in `saved` stay, for somebody is at them.

    Raises Busy while git is in the middle of something.
    """
    if reason := place.repo.obstacle():
        raise Busy(reason, "nothing was packed: try again when that is over")
    left = [Left(path, "it is being saved") for path in sorted(saved)]
    mine = [path for path in _logs(place) if _day(path).startswith(name) and path not in saved]
    logs = dict(_ready(place, journal, mine, left))
    if not logs:
        return Year(name, left=tuple(left))
    try:
        seen, held = _archived(place, name)
        _require_unused(place, journal, [_home(name), *seen])
    except MdmemError as error:
        stays = (Left(path, f"nothing can be added to its archive: {error.message}") for path in logs)
        return Year(name, left=(*left, *stays))
    joined = {path: join(path, held.get(path), data) for path, data in logs.items()}
    left += (Left(path, "the version of it in the archive does not merge with it") for path in _without(joined))
    held |= {path: data for path, data in joined.items() if data is not None}
    made = _parts(name, held, by_month=_is_large(place, held) or any(path != _home(name) for path in seen))
    if large := next((path for path, part in made.items() if sum(map(len, part.values())) > archive.LIMIT // 2), ""):
        return Year(name, left=(*left, *(Left(path, f"{large} would become too large") for path in logs)))
    going = tuple(path for path, data in joined.items() if data is not None)
    known: dict[str, Content] = {**dict.fromkeys(made), **seen, **{path: logs[path] for path in going}}
    return Year(name, going, made, known, tuple(left))


def _without(joined: Mapping[str, Content]) -> list[str]:
    return [path for path, data in joined.items() if data is None]


def join(path: str, packed: Content, log: bytes) -> Content:
    """Bring together what an archive has of a log with the log; None where they do not merge."""
    if packed is None or renames.holds_all(log, packed):
        return log
    if renames.holds_all(packed, log):
        return packed
    merged = merge.three_way(path, entries.heading(path).encode(), packed, log)
    return None if merged.clashes else merged.data


# Which logs


def _ready(place: Place, journal: Journal, logs: list[str], left: list[Left]) -> Iterator[tuple[str, bytes]]:
    """Yield the logs that may be packed; what may not goes to `left`, with the reason."""
    busy = in_use(place, journal, logs)
    heads = place.repo.tree() if logs else {}
    for path in logs:
        try:
            snapshot = place.read(path)
        except MdmemError as error:
            left.append(Left(path, error.message))
            continue
        if snapshot is None:
            continue
        why = busy.get(path) or _objection(place, snapshot, heads.get(path))
        why = why or expiry.awaited(place, path, snapshot.data)
        if why:
            left.append(Left(path, why))
        else:
            yield path, snapshot.data


def in_use(place: Place, journal: Journal, paths: Iterable[str]) -> dict[str, str]:
    """Tell which of the files somebody is at, an editor, another program, or mdmem itself, and how."""
    paths = list(paths)
    beside = {folder: _passing(place, folder) for folder in {dirname(path) for path in paths}}
    reasons = {path: "it is open in an editor" for path in paths if _is_open(basename(path), beside[dirname(path)])}
    reasons |= dict.fromkeys(fsio.being_written(paths, root=place.root), "another program is writing it")
    waiting = {one.file for one in journal.scan(settled=False)}
    return reasons | {path: "texts of it are kept or wait: `mdmem recover`" for path in paths if path in waiting}


def _passing(place: Place, folder: str) -> list[str]:
    try:
        return list(filter(names.is_passing, os.listdir(place.root / folder)))
    except OSError:
        return []


def _is_open(name: str, beside: Collection[str]) -> bool:
    """Tell whether an editor has put beside a file what it does as long as the file is open in it."""
    of_vim = rf"\.{re.escape(name)}\.sw[a-z]"
    others = (f".#{name}", f"#{name}#", f".~lock.{name}#", f".{name}.kate-swp")
    return any(one in others or re.fullmatch(of_vim, one) for one in beside)


def _objection(place: Place, snapshot: fsio.Snapshot, leaf: tuple[str, str] | None) -> str | None:
    if leaf is None or leaf[1] != place.repo.blob_id(snapshot.data):
        return "it is not in history as it stands: `mdmem commit`"
    if snapshot.stat.st_nlink > 1:
        return "it has another name, a hard link"
    if merge.blocks(decoded(snapshot.data)):
        return "a merge left both versions in it: `mdmem conflicts`"
    return None


# What archives hold


def _home(name: str) -> str:
    return f"{packs.FOLDER}{name}{packs.ARCHIVE}"


def _is_large(place: Place, held: Mapping[str, bytes]) -> bool:
    most = min(LARGE, place.settings.whole("index.max_file_mb") * 2**20)
    return len(packs.pack(held)) > most


def _parts(name: str, held: Mapping[str, bytes], *, by_month: bool) -> dict[str, dict[str, bytes]]:
    parts: dict[str, dict[str, bytes]] = {}
    for path, data in held.items():
        parts.setdefault(_home(_day(path)[:7] if by_month else name), {})[path] = data
    return parts


def _archived(place: Place, name: str) -> tuple[dict[str, Content], dict[str, bytes]]:
    """Give the bytes of the archives that a year has, and what they hold. Raises Refused where one may not change."""
    seen: dict[str, Content] = {}
    held: dict[str, bytes] = {}
    heads = place.repo.tree("HEAD", packs.FOLDER.rstrip("/"))
    for path in _known(place, name):
        data = place.content(path) or b""
        if path not in heads or heads[path][1] != place.repo.blob_id(data):
            raise Refused(f"{path} is not in history as it stands", "`mdmem commit`")
        said = archives.legible(path, data)
        found = {log.path: log.data for log in packs.members(said)}
        if not found or not packs.is_whole(said) or held.keys() & found.keys():
            raise Refused(f"{path} is not as it was packed", "`mdmem unpack` takes out of it what there is")
        seen[path] = data
        held |= found
    _require_committed(place, [_home(name), *seen])
    return seen, held


def _known(place: Place, name: str) -> list[str]:
    """List the archives of a year. Raises Refused where one stands there uncompressed."""
    found = archives.of_year(place, name)
    for path in found:
        if not packs.is_archive(path):
            raise Refused(f"{path} stands there, uncompressed", "move it away, or compress it")
    return found


def _require_unused(place: Place, journal: Journal, paths: list[str]) -> None:
    for path, why in in_use(place, journal, paths).items():
        raise Refused(f"{path}: {why}")


def _require_committed(place: Place, paths: list[str]) -> None:
    """Refuse archives that git is told to leave out, or to store as something else."""
    rules = place.repo.ignored(paths)
    for path in paths:
        if path in rules:
            raise Refused(f"{path} is hidden from git by {rules[path]}", "take the rule back")
    for path, filter_ in place.repo.filtered(paths).items():
        raise Refused(f"{path} has the filter {filter_}", "take the attribute back")


def counted(paths: Iterable[str]) -> str:
    """Name one log by its address, or say how many there are."""
    found = list(paths)
    return units.stem_of(found[0]) if len(found) == 1 else f"{len(found):,} logs"
