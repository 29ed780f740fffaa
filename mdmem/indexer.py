"""The index against the files: two sorted streams merged into what was added, changed and removed.

Reads memory files and hands their units to the stores it is given. It must never write under the vault, and a file
it cannot read is a finding, not an error. The catalog records last, so that a crash repeats work and never skips it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from time import time_ns
from typing import TYPE_CHECKING

from mdmem.model import FileRow, Finding, Reindexed, UnitRow
from mdmem.text import analyze, markdown, names, packs, units
from mdmem.text.passages import passages

if TYPE_CHECKING:
    from mdmem.store.catalog import Catalog
    from mdmem.store.lexical import Lexical, Writer

RACY_NS = 2_000_000_000
"""A file written this shortly before the scan may change again without a new stamp: it is hashed again next time."""

CALM_NS = 2_000_000_000
"""So long a file that was just written empty, or to less than half, keeps what is known of it: a save is at work."""

UNREADABLE = "cannot be read: look at its owner and mode"
DAMAGED = "is an archive that cannot be read: `mdmem doctor` says why"

SHADOWED = "is not read: the same document stands beside it, uncompressed"

KINDS = (".md", packs.ARCHIVE)
"""What the names of memory files end in."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A memory file as the scan met it; `stamp` is empty when it cannot be trusted."""

    path: str
    stamp: str
    size: int
    state: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Size, mtime and ctime in ns, inode: as it is, whether it can be trusted or not."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The memory files of a vault in byte order of their paths, and what was passed over."""

    files: tuple[Seen, ...]
    findings: tuple[Finding, ...]


def scan(root: str, folders: Iterable[str] = ()) -> Scan:
    """List the memory files under `memory/` and the adopted folders, and a MEMORY.md at the root.

    Hidden names are passed over; links and nested repositories are not followed, and named.
    """
    now = time_ns()
    seen: dict[str, Seen] = {}
    findings: list[Finding] = []
    for entry, path in _entries(root, folders, findings):
        stat = entry.stat(follow_symlinks=False)
        state = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
        seen[path] = Seen(path, _stamp(state, now), stat.st_size, state)
    return Scan(tuple(sorted(seen.values(), key=lambda file: os.fsencode(file.path))), tuple(findings))


def _entries(root: str, folders: Iterable[str], findings: list[Finding]) -> Iterator[tuple[os.DirEntry[str], str]]:
    for entry in _listed(root, "", findings):
        if entry.name == "MEMORY.md" and entry.is_file(follow_symlinks=False):
            yield entry, entry.name
    for folder in ("memory", *folders):
        link = link_on_the_way(root, folder)
        if link:
            findings.append(Finding(link, None, "is a link; links are not followed", "put the folder itself there"))
        elif os.path.isdir(os.path.join(root, folder)):
            yield from _walk(root, folder.strip("/"), findings)


def link_on_the_way(root: str, folder: str) -> str:
    """Name the first part of a folder's path that is a link; "" when none is."""
    parts = folder.split("/")
    ways = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return next((way for way in ways if os.path.islink(os.path.join(root, way))), "")


def _walk(root: str, folder: str, findings: list[Finding]) -> Iterator[tuple[os.DirEntry[str], str]]:
    inner: list[str] = []
    entries = _listed(root, folder, findings)
    if folder != "memory" and any(entry.name == ".git" for entry in entries):
        findings.append(Finding(folder, None, "is a repository of its own; its notes are not read"))
        return
    for entry in entries:
        path = f"{folder}/{entry.name}"
        if entry.name.startswith(".") or names.is_passing(entry.name):
            continue
        if entry.is_symlink():
            if entry.name.endswith(KINDS) or entry.is_dir():
                findings.append(Finding(path, None, "is a link; links are not followed", "put the file itself there"))
        elif entry.is_dir(follow_symlinks=False):
            inner.append(path)
        elif entry.name.endswith(KINDS):
            if entry.is_file(follow_symlinks=False):
                yield entry, path
            else:
                findings.append(Finding(path, None, "is not a regular file"))
    for path in inner:
        yield from _walk(root, path, findings)


def _listed(root: str, folder: str, findings: list[Finding]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            return list(entries)
    except OSError as error:
        findings.append(Finding(folder or ".", None, f"cannot be listed: {error.strerror}"))
        return []


def _stamp(state: tuple[int, int, int, int], now: int) -> str:
    return "" if max(state[1:3]) > now - RACY_NS else ":".join(map(str, state))


def stale(found: Scan, catalog: Catalog, *, surely: bool = False) -> list[str]:
    """Name the files that the index may be behind; `surely` leaves out those that were only just written."""
    return [
        file.path if file else row.path if row else ""
        for file, row in _merged(found.files, catalog.files())
        if not file or not row or (file.stamp != row.stamp if file.stamp and row.stamp else not surely)
    ]


def without_shadowed(found: Scan) -> Scan:
    """Leave out archives beside which the same document stands as it is: that one is read; name them."""
    there = {file.path for file in found.files}
    shadowed = [path for path in there if packs.is_archive(path) and path.removesuffix(packs.SUFFIX) in there]
    if not shadowed:
        return found
    said = (Finding(path, None, SHADOWED, "compare them, and delete one of them") for path in sorted(shadowed))
    return Scan(tuple(file for file in found.files if file.path not in shadowed), (*found.findings, *said))


def _merged(files: Iterable[Seen], rows: Iterable[FileRow]) -> Iterator[tuple[Seen | None, FileRow | None]]:
    """Merge the two sorted streams by path."""
    left, right = iter(files), iter(rows)
    file, row = next(left, None), next(right, None)
    while file or row:
        a = os.fsencode(file.path) if file else None
        b = os.fsencode(row.path) if row else None
        if b is None or (a is not None and a < b):
            yield file, None
            file = next(left, None)
        elif a is None or b < a:
            yield None, row
            row = next(right, None)
        else:
            yield file, row
            file, row = next(left, None), next(right, None)


@dataclass(frozen=True, slots=True)
class Sources:
    """What the indexer needs besides the stores: how to read, to date and to stem, and what is too large.

    A `patient` one lets files that shrank by half settle before it looks at them; who asks now wants to see them now.
    """

    read: Callable[[str], bytes | None]
    moment: Callable[[date, str | None], datetime]
    stem: Callable[[str], str]
    max_bytes: int
    patient: bool = False


def update(
    found: Scan,
    catalog: Catalog,
    lexical: Lexical,
    sources: Sources,
    progress: Callable[[int, int], None] | None = None,
) -> Reindexed:
    """Bring both stores up to a scan, in one commit of each; interrupted, neither has changed.

    `progress` is called with the steps done and the steps in all: the files, and at last the commit.
    """
    pairs = list(_merged(found.files, catalog.files()))
    catalog.begin()
    try:
        with lexical.writing() as writer:
            work = _Update(catalog, writer, sources, failures=list(found.findings))
            for done, (file, row) in enumerate(pairs, 1):
                work.file(file, row)
                if progress:
                    progress(done, len(pairs) + 1)
        catalog.recount()
        catalog.remember("lexical", lexical.version)
        catalog.commit()
        if progress:
            progress(len(pairs) + 1, len(pairs) + 1)
    except BaseException:
        catalog.rollback()
        raise
    return Reindexed(**work.counts, chunks=catalog.totals()["passages"], failures=tuple(work.failures))


@dataclass(slots=True)
class _Update:
    """One pass over the files, at work."""

    catalog: Catalog
    writer: Writer
    sources: Sources
    failures: list[Finding]
    counts: dict[str, int] = field(default_factory=lambda: {"added": 0, "modified": 0, "removed": 0, "unchanged": 0})

    def file(self, file: Seen | None, row: FileRow | None) -> None:
        """Take one file in, out, or leave it."""
        large = file is not None and file.size > self.sources.max_bytes
        if file and large:
            limit = self.sources.max_bytes // 2**20
            self._fail(file.path, None, f"is larger than {limit} MB and not indexed", "see index.max_file_mb")
        if row and (not file or large):
            self._remove(self.catalog.drop_file(row.id))
            self.counts["removed"] += 1
        elif row and file and file.stamp and file.stamp == row.stamp:
            self._keep(row)
        elif file and not large:
            self._look(file, row)

    def _fail(self, path: str, line: int | None, message: str, hint: str = "") -> None:
        self.failures.append(Finding(path, line, message, hint))

    def _remove(self, units: Iterable[int]) -> None:
        for unit in units:
            self.writer.remove(unit)

    def _keep(self, row: FileRow) -> None:
        self.counts["unchanged"] += 1
        for line, message in row.problems:
            self._fail(row.path, line, message)

    def _look(self, file: Seen, row: FileRow | None) -> None:
        """Read a file that is new or may have changed; the hash of its bytes decides."""
        data = self.sources.read(file.path)
        if data is None or len(data) > self.sources.max_bytes:
            self._unreadable(file, row, self._reason(file, data))
            return
        found = hashlib.sha256(data).digest()
        if row and row.hash == found:
            self.catalog.put_file(replace(row, stamp=file.stamp))
            self._keep(row)
            return
        if row and _is_being_saved(file) and (not data if not self.sources.patient else 2 * len(data) < row.size):
            self.catalog.put_file(replace(row, stamp=""))
            self._keep(row)
            return
        reading = units.read(file.path, data)
        self.counts["modified" if row else "added"] += 1
        for line, message in reading.problems:
            self._fail(file.path, line, message)
        fresh = FileRow(row.id if row else 0, file.path, file.stamp, found, reading.problems, len(data))
        number = self.catalog.put_file(fresh)
        self._units(number, reading.units)

    def _reason(self, file: Seen, data: bytes | None) -> str:
        """Say why nothing is taken from a file that is small enough as it lies there."""
        if data is not None:
            return f"holds more than {self.sources.max_bytes // 2**20} MB and is not indexed: see index.max_file_mb"
        return DAMAGED if packs.is_archive(file.path) else UNREADABLE

    def _unreadable(self, file: Seen, row: FileRow | None, why: str) -> None:
        """Keep a file's place, but nothing of what it held: a hit that cannot be shown is none."""
        self._fail(file.path, None, why)
        problems = ((None, why),)
        number = self.catalog.put_file(FileRow(row.id if row else 0, file.path, file.stamp, b"", problems))
        self.counts["modified" if row else "added"] += 1
        self._units(number, ())

    def _units(self, number: int, found: Iterable[units.Unit]) -> None:
        """Merge a file's units with the catalog's: what is the same keeps its number and its place in the index."""
        known = self.catalog.units_of(number)
        for place, unit in enumerate(found):
            made, bags = row(unit, place, self.sources)
            same = known.get((made.key, made.hash))
            if same:
                self.catalog.move_unit(same.pop(0), place)
                continue
            fresh = self.catalog.put_unit(number, made)
            for bag in bags:
                self.writer.add(fresh, bag.terms, bag.length)
        left = [unit for same in known.values() for unit in same]
        self.catalog.drop_units(left)
        self._remove(left)


def digest(unit: units.Unit, moment: datetime | None) -> bytes:
    """Give the hash of all that the index takes from a unit: the same hash, the same row."""
    raw = "\0".join((unit.kind, unit.address, str(moment), unit.title, *unit.tags, unit.front, unit.text))
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).digest()


def row(unit: units.Unit, place: int, sources: Sources) -> tuple[UnitRow, list[analyze.Bag]]:
    """Give what the catalog keeps of a unit, and the words of its passages."""
    parts = list(passages(unit))
    bags = [analyze.bag(part.fields, sources.stem) for part in parts]
    moment = sources.moment(unit.day, unit.time) if unit.day else None
    return UnitRow(
        key=unit.id,
        address=unit.address,
        kind=unit.kind,
        date=moment.timestamp() if moment else None,
        hash=digest(unit, moment),
        place=place,
        passages=len(bags),
        length=sum(bag.length for bag in bags),
        folded=folded(unit),
        lasting=units.lasting(unit),
        sayings=tuple(part.hash for part in parts if part.saying),
        tags=tuple((tag, analyze.fold(tag)) for tag in unit.tags),
    ), bags


def _is_being_saved(file: Seen) -> bool:
    """Tell whether a file was written just now, and so may be in the middle of being saved in place.

    A file that was renamed into its place is whole: that changes ctime alone.
    """
    _, written, changed, _ = file.state
    return changed == written and 0 <= time_ns() - written < CALM_NS


def folded(unit: units.Unit) -> str:
    """Fold all of a unit's fields into one text for substring searches, with a sign between them.

    Of an address not the folder that it shares with most others: "ai" is not to be found in "daily".
    """
    text = markdown.strip_comments(unit.text)
    address = unit.address.removeprefix("daily/").removeprefix("archives/")
    fields = [text, address, unit.title, " ".join(unit.tags), unit.front]
    if unit.time:  # as it stands in the log: `14:30 text`
        fields = [f"{unit.day} {address.partition('#')[2]} {text}", " ".join(unit.tags)]
    return "\x01".join(analyze.fold(markdown.readable(each)) for each in fields)
