"""The journal: acknowledged changes that are not yet in their file or not yet in history, durable in STATE/journal.

Owns the segments `<UTC date>.log`, their lines and their compaction into receipts. A line is `<crc32> <json>` between
newlines, so a torn one never eats the next. It must never wait for another process, drop a record that is not
settled, or touch a memory file: placing and committing are the caller's, who tells the journal by marks.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from mdmem import fsio
from mdmem.errors import Busy, StorageFailed

State = Literal["waiting", "placed", "committed", "void", "held"]
_PLACED = b'{"mark":"placed"'
_SETTLED = (b'{"mark":"committed"', b'{"mark":"void"')
_SEGMENT = re.compile(r"(\d{4}-\d\d-\d\d(?:-\d{4})?)\.log")
_LIMIT = 256 * 1024
"""Bytes above which a segment of today is compacted, too."""
_KEPT_RECEIPTS = 31
"""Days with receipts that are kept, which is 30 days at least. Counted, so that no jump of the clock expires any."""
_LOG = os.O_RDWR | os.O_APPEND


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One acknowledged change. `at` is the entry's local time, ISO 8601 with offset.

    An `add` carries text and metadata, for its form depends on the file it will stand in; other operations carry the
    SHA-256 of their file before and after. Records of one batch share a `group`.
    """

    id: str = field(default_factory=lambda: os.urandom(8).hex())
    op: str
    path: str | None = None
    text: str | None = None
    meta: tuple[tuple[str, str], ...] = ()
    at: str | None = None
    source: str | None = None
    reason: str | None = None
    group: str | None = None
    before: str | None = None
    after: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What became of some records. `block` is the text exactly as it was placed at `offset` (bytes) of `path`."""

    state: State
    ids: tuple[str, ...]
    path: str | None = None
    block: str | None = None
    offset: int | None = None
    commit: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Tracked:
    """A record and what became of it: the last mark's state, the last placing, the last commit.

    `order` grows with each placing, and is 0 before the first.
    """

    record: Record
    state: State = "waiting"
    path: str | None = None
    block: str | None = None
    offset: int | None = None
    order: int = 0
    commit: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What is left of a settled record for a month: no text, but `block`, the SHA-256 of the text as placed."""

    id: str
    op: str
    state: State
    path: str | None = None
    block: str | None = None
    order: int = 0
    commit: str | None = None
    at: str | None = None
    group: str | None = None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class _Story:
    """The lines of all segments by the id of their record, unparsed: first the record, then its marks in order."""

    records: dict[bytes, bytes]
    marks: dict[bytes, list[bytes]]
    order: int
    """The last placing's."""

    def is_open(self, id: bytes) -> bool:
        return id not in self.marks or not self.marks[id][-1].startswith(_SETTLED, 9)

    def tracked(self, id: bytes) -> Tracked:
        marks = [json.loads(line[9:]) for line in self.marks.get(id, ())]
        return _tracked(json.loads(self.records[id][9:]), marks)


class Journal:
    """The journal in `folder`, which is made with the first record; the folder above it must exist."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._root = folder.parent
        self._folder = folder
        self._clock = clock
        self._order = 0

    def append(self, *records: Record) -> None:
        """Keep records durably, in one write. StorageFailed: none was kept."""
        self._write(b"".join(_line(_slim(record)) for record in records), durable=True)

    def mark(
        self,
        state: State,
        ids: Sequence[str],
        *,
        path: str | None = None,
        block: str | None = None,
        offset: int | None = None,
        commit: str | None = None,
        reason: str | None = None,
        durable: bool = False,
    ) -> None:
        """Note what became of records; not durable by default, for a lost mark is found out again."""
        mark = Mark(state=state, ids=tuple(ids), path=path, block=block, offset=offset, commit=commit, reason=reason)
        self.mark_all([mark], durable=durable)

    def mark_all(self, marks: Sequence[Mark], *, durable: bool = False) -> None:
        """Note what became of records, in one write. Placings get their `order` here, under the caller's lock."""
        self._write(b"".join(_line(self._ordered(mark)) for mark in marks if mark.ids), durable=durable)

    def _ordered(self, mark: Mark) -> dict[str, Any]:
        payload = {"mark": mark.state, **_slim(mark)}
        del payload["state"]
        if mark.state == "placed":
            # Never below what was seen or compacted before, even when the clock was put back.
            self._order = max(self._order, time.time_ns(), self._receipts_stamp()) + 1
            payload["order"] = self._order
        return payload

    def scan(self, *, settled: bool = True) -> tuple[Tracked, ...]:
        """Give every record and what became of it, in journal order; without the settled ones this is much faster."""
        story = _fold(self._segments())
        self._order = max(self._order, story.order)
        return tuple(story.tracked(id) for id in story.records if settled or story.is_open(id))

    def is_empty(self) -> bool:
        """Tell whether there is nothing to scan, without reading."""
        return not any(self._size(stem) for stem in self._stems())

    def receipts(self) -> tuple[Receipt, ...]:
        """Give what is left of settled records, oldest first."""
        found: dict[str, Receipt] = {}
        for stem in self._stems("receipts"):
            snapshot = fsio.read(self._path(stem, "receipts"), root=self._root)
            for line in _lines(snapshot.data if snapshot else b""):
                if _is_whole(line):
                    receipt = Receipt(**_known(json.loads(line[9:]), Receipt))
                    found[receipt.id] = receipt
        return tuple(found.values())

    def compact(self) -> int:
        """Turn settled records of earlier days, and of a large segment, into receipts; return how many segments shrank.

        A segment that anybody is using is left for the next time. A kill at any point leaves every record that is
        not settled where it was.
        """
        with ExitStack() as locks:
            due = [stem for stem in self._stems() if self._is_due(stem) and self._seize(stem, locks)]
            if not due:
                return 0
            segments = self._segments(durable=True)
            story = _fold(segments)
            done = sum(self._compact(stem, segments, story) for stem in due if stem in segments)
        self._expire()
        return done

    def _compact(self, stem: str, segments: dict[str, list[bytes]], story: _Story) -> bool:
        """Shrink one segment; marks about records of other segments stay, for those may not shrink this time."""
        needed = {id for id in story.records if story.is_open(id)}
        needed.update(id for other, lines in segments.items() if other != stem for id in _ids(lines))
        kept, settled, damaged = [], [], []
        for line in segments[stem]:
            if not _is_whole(line):
                damaged.append(line)
            elif not needed.isdisjoint(_marked(line) if _is_mark(line) else [_id(line)]):
                kept.append(line)
            elif not _is_mark(line):
                settled.append(story.tracked(_id(line)))
        if not self._is_worth(stem, segments[stem], kept):
            return False
        self._set_aside(damaged)
        self._hand_out(settled)
        self._rewrite(stem, kept)
        return True

    # What follows writes.

    def _write(self, data: bytes, *, durable: bool) -> None:
        if not data:
            return
        stem = max([*self._stems(), self._day()])
        for _ in range(100):
            if self._write_to(stem, data, durable):
                return
            # Being compacted, perhaps by a process that was stopped: go on in the next segment instead of waiting.
            stem = f"{stem[:10]}-{int(stem[11:] or 0) + 1:04}"
        raise Busy("the journal is being compacted", "try again")

    def _write_to(self, stem: str, data: bytes, durable: bool) -> bool:
        path = self._path(stem)
        with fsio.opened(path, root=self._root, flags=_LOG | os.O_CREAT) as fd:
            if not (_flock(fd, fcntl.LOCK_SH) and fsio.leads_to(path, fd, root=self._root)):
                return False
            self._put(path, fd, data, durable)
        return True

    def _put(self, path: str, fd: int, data: bytes, durable: bool) -> None:
        if not os.fstat(fd).st_size:
            # Before the first byte: who finds a segment that is not empty relies on its name.
            fsio.sync_folders(path, root=self._root)
        extents: list[tuple[int, int]] = []
        try:
            for _ in range(2):
                count = fsio.write(fd, data)
                extents.append((os.lseek(fd, 0, os.SEEK_CUR) - count, count))
                if count == len(data):
                    break
            else:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if durable:
                fsio.datasync(fd)
        except OSError:
            _strike(fd, extents)
            raise

    def _set_aside(self, damaged: list[bytes]) -> None:
        """Keep lines that cannot be read: one of them may be what is left of somebody's text."""
        if damaged:
            path = f"{self._folder.name}/damaged.log"
            with fsio.opened(path, root=self._root, flags=_LOG | os.O_CREAT) as fd:
                self._put(path, fd, b"".join(b"\n" + line + b"\n" for line in damaged), True)

    def _hand_out(self, settled: list[Tracked]) -> None:
        if settled:
            path = self._path(self._day(), "receipts")
            with fsio.opened(path, root=self._root, flags=_LOG | os.O_CREAT) as fd:
                self._put(path, fd, b"".join(_line(_slim(_receipt(one))) for one in settled), True)

    def _rewrite(self, stem: str, kept: list[bytes]) -> None:
        path, fresh = self._path(stem), f"{self._folder.name}/{stem}.new"
        if not kept:
            fsio.unlink(path, root=self._root)
            return
        fsio.unlink(fresh, root=self._root)
        with fsio.opened(fresh, root=self._root, flags=_LOG | os.O_CREAT | os.O_EXCL) as fd:
            # Locked until its name is durable; a writer who finds it before goes on in the next segment.
            _flock(fd, fcntl.LOCK_EX)
            self._put(fresh, fd, b"".join(b"\n" + line + b"\n" for line in kept), True)
            fsio.move(fresh, path, root=self._root)

    def _expire(self) -> None:
        for stem in self._stems("receipts")[:-_KEPT_RECEIPTS]:
            fsio.unlink(self._path(stem, "receipts"), root=self._root)

    # What follows reads.

    def _segments(self, *, durable: bool = False) -> dict[str, list[bytes]]:
        """Read all segments as of one moment: nothing was compacted between the first opened and the last looked at."""
        for _ in range(1000):
            with ExitStack() as files:
                fds = self._open_all(files)
                if fds is not None:
                    for fd in fds.values() if durable else ():
                        fsio.datasync(fd)
                    return {stem: _lines(_content(fd)) for stem, fd in fds.items()}
        raise Busy("the journal is being compacted", "try again")

    def _open_all(self, files: ExitStack) -> dict[str, int] | None:
        fds = {}
        for stem in self._stems():
            fd = self._open(stem, files)
            if fd is None:
                return None
            fds[stem] = fd
        same = all(fsio.leads_to(self._path(stem), fd, root=self._root) for stem, fd in fds.items())
        return fds if same else None

    def _open(self, stem: str, files: ExitStack) -> int | None:
        try:
            return files.enter_context(fsio.opened(self._path(stem), root=self._root))
        except StorageFailed as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise

    def _seize(self, stem: str, locks: ExitStack) -> bool:
        with ExitStack() as lock:
            fd = self._open(stem, lock)
            if fd is None or not _flock(fd, fcntl.LOCK_EX):
                return False
            if not fsio.leads_to(self._path(stem), fd, root=self._root):
                return False
            locks.push(lock.pop_all())
        return True

    def _is_due(self, stem: str) -> bool:
        return stem[:10] != self._day() or self._size(stem) > _LIMIT

    def _is_worth(self, stem: str, lines: list[bytes], kept: list[bytes]) -> bool:
        # Of today's, only when half goes, or a large held text would have it rewritten with every commit.
        today = stem[:10] == self._day()
        return not lines or (len(kept) < len(lines) and not (today and 2 * _total(kept) > _total(lines)))

    def _stems(self, inner: str = "") -> list[str]:
        """List segments, or receipts, in order; none where the folder is missing."""
        with fsio.telling("read", self._folder.name):
            try:
                names = [entry.name for entry in (self._folder / inner).iterdir()]
            except FileNotFoundError:
                return []
        return sorted(match[1] for name in names if (match := _SEGMENT.fullmatch(name)))

    def _path(self, stem: str, inner: str = "") -> str:
        return "/".join(filter(None, (self._folder.name, inner, f"{stem}.log")))

    def _size(self, stem: str) -> int:
        stat = fsio.look(self._path(stem), root=self._root)
        return stat.st_size if stat else 0

    def _day(self) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self._clock()))

    def _receipts_stamp(self) -> int:
        stems = self._stems("receipts")
        stat = fsio.look(self._path(stems[-1], "receipts"), root=self._root) if stems else None
        return stat.st_mtime_ns if stat else 0


# Lines


def _line(payload: dict[str, Any]) -> bytes:
    # ASCII throughout, so lone surrogates and bytes that are no UTF-8 come back as they were.
    text = json.dumps(payload, separators=(",", ":")).encode()
    return b"\n%08x %s\n" % (zlib.crc32(text), text)


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip(b"\0")]


def _is_whole(line: bytes) -> bool:
    return line[:9] == b"%08x " % zlib.crc32(line[9:])


def _is_mark(line: bytes) -> bool:
    return line.startswith(b'{"mark"', 9)


def _marked(line: bytes) -> list[bytes]:
    """Give the ids of a mark, which come second, without parsing what follows: it may hold a long text."""
    return line[9 : line.index(b"]")].split(b'"')[7::2]


def _id(line: bytes) -> bytes:
    """Give the id of a record, which comes first."""
    return line[16 : line.index(b'"', 16)]


def _ids(lines: list[bytes]) -> Iterator[bytes]:
    return (_id(line) for line in lines if _is_whole(line) and not _is_mark(line))


def _fold(segments: dict[str, list[bytes]]) -> _Story:
    records: dict[bytes, bytes] = {}
    marks: dict[bytes, list[bytes]] = {}
    placed = b""
    for line in (line for lines in segments.values() for line in lines if _is_whole(line)):
        if not _is_mark(line):
            records.setdefault(_id(line), line)
            continue
        placed = line if line.startswith(_PLACED, 9) else placed
        for id in _marked(line):
            marks.setdefault(id, []).append(line)
    return _Story(records, marks, json.loads(placed[9:])["order"] if placed else 0)


def _total(lines: list[bytes]) -> int:
    return sum(map(len, lines))


def _content(fd: int) -> bytes:
    with io.FileIO(fd, closefd=False) as file:
        return file.readall()


def _slim(value: Record | Mark | Receipt) -> dict[str, Any]:
    """Give the fields that say something, in their order."""
    pairs = ((one.name, getattr(value, one.name)) for one in fields(value))
    return {name: item for name, item in pairs if item is not None and item != () and item != {}}


def _known(payload: dict[str, Any], kind: type[Record | Receipt]) -> dict[str, Any]:
    """Leave out what a later version may have added."""
    names = {one.name for one in fields(kind)}
    return {name: item for name, item in payload.items() if name in names}


def _tracked(payload: dict[str, Any], marks: list[dict[str, Any]]) -> Tracked:
    given = _known(payload, Record)
    given["meta"] = tuple((key, value) for key, value in payload.get("meta", ()))
    placed: dict[str, Any] = {}
    commit = None
    for mark in marks:
        placed = mark if mark["mark"] == "placed" else placed
        commit = mark.get("commit", commit)
    return Tracked(
        Record(**given),
        marks[-1]["mark"] if marks else "waiting",
        placed.get("path"),
        placed.get("block"),
        placed.get("offset"),
        placed.get("order", 0),
        commit,
        marks[-1].get("reason") if marks else None,
    )


def _receipt(one: Tracked) -> Receipt:
    record = one.record
    block = one.block.encode("utf-8", "surrogateescape") if one.block is not None else None
    return Receipt(
        id=record.id,
        op=record.op,
        state=one.state,
        path=one.path or record.path,
        block=sha256(block).hexdigest() if block is not None else None,
        order=one.order,
        commit=one.commit,
        at=record.at,
        group=record.group,
        before=record.before,
        after=record.after,
    )


# Descriptors


def _flock(fd: int, mode: int) -> bool:
    """Take a lock if it is free; a crash gives it back, and nobody ever waits for it."""
    try:
        fcntl.flock(fd, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _strike(fd: int, extents: list[tuple[int, int]]) -> None:
    """Blank what a failed append wrote, for it must not count later.

    Not by truncating: others may have appended since, and theirs is acknowledged. Not by a void mark: a full disk has
    no room for one.
    """
    with suppress(OSError):
        fcntl.fcntl(fd, fcntl.F_SETFL, 0)
        for offset, count in extents:
            fsio.overwrite(fd, b"\n" * count, offset)
