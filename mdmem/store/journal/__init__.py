"""The journal: acknowledged changes that are not yet in their file or not yet in history, durable in STATE/journal.

Owns the segments `<UTC date>.log` and their compaction into receipts; beneath this, `lines` owns what stands in them
and `story` what that says of each record.
A line is `<crc32> <json>` between newlines, so a torn one never eats the next. It must never wait for another process,
drop a record that is not settled, or touch a memory file: placing and committing are the caller's, who tells the
journal by marks.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from mdmem import fsio
from mdmem.errors import Busy, StorageFailed
from mdmem.store.journal import lines
from mdmem.store.journal.lines import Mark, Receipt, Record, State, Tracked
from mdmem.store.journal.story import Story

__all__ = ["Journal", "Mark", "Receipt", "Record", "State", "Tracked"]

_SEGMENT = re.compile(r"(\d{4}-\d\d-\d\d(?:-\d{4})?)\.log")
_LIMIT = 64 * 1024
"""Bytes above which a segment of today is compacted, too. Every add reads it all some times, under a lock: with four
times as much, 16 writers get a third of their adds done."""
_KEPT_RECEIPTS = 31
"""Days with receipts that are kept, which is 30 days at least. Counted, so that no jump of the clock expires any."""
_LOG = os.O_RDWR | os.O_APPEND


class Journal:
    """The journal in `folder`, which is made with the first record; the folder above it must exist."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._root = folder.parent
        self._folder = folder
        self._clock = clock
        self._order = 0
        self._story, self._reading = Story(), threading.Lock()
        self.last: tuple[str, str] = ("", "")
        """The file of the last placing and how it looked right after, as of the last scan or mark."""

    def append(self, *records: Record) -> None:
        """Keep records durably, in one write. StorageFailed: none was kept."""
        self._write(b"".join(lines.compose(lines.slim(record)) for record in records), durable=True)

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
        self._write(b"".join(lines.compose(self._ordered(mark)) for mark in marks if mark.ids), durable=durable)

    def _ordered(self, mark: Mark) -> dict[str, Any]:
        payload = {"mark": mark.state, **lines.slim(mark)}
        del payload["state"]
        if mark.state == "placed":
            # Never below what was seen or compacted before, even when the clock was put back.
            self._order = max(self._order, time.time_ns(), self._receipts_stamp()) + 1
            payload["order"] = self._order
            payload["boot"] = fsio.boot()
            self.last = mark.path or "", mark.stamp or ""
        return payload

    def scan(self, *, settled: bool = True) -> tuple[Tracked, ...]:
        """Give every record and what became of it, in journal order; without the settled ones this is much faster."""
        with self._told() as story:
            self._order = max(self._order, story.order)
            self.last = story.last
            return tuple(map(story.tracked, story.ids(settled=settled)))

    def is_at_rest(self) -> bool:
        """Tell whether nobody is just writing to it: what was seen of a batch before may be its beginning."""
        with ExitStack() as locks:
            return all(self._seize(stem, locks) for stem in self._stems())

    def is_empty(self) -> bool:
        """Tell whether there is nothing to scan, without reading."""
        return not any(self._size(stem) for stem in self._stems())

    def commits(self, ids: Collection[str]) -> dict[str, str]:
        """Give the commit of each of these records that is in history; nothing else is parsed."""
        wanted = {id.encode() for id in ids}
        with self._told() as story:
            found = {id.decode(): commit for id in wanted if (commit := story.commit(id))}
        if len(found) < len(wanted):  # only after the segments: what leaves them is in the receipts before
            found |= {one.id: one.commit for one in self.receipts(wanted) if one.commit}
        return found

    def receipts(self, among: Collection[bytes] | None = None) -> tuple[Receipt, ...]:
        """Give what is left of settled records, all or of these ids, oldest first."""
        found: dict[str, Receipt] = {}
        for stem in self._stems("receipts"):
            snapshot = fsio.read(self._path(stem, "receipts"), root=self._root)
            for line in lines.split(snapshot.data if snapshot else b""):
                # Sums last: of many lines few are asked for.
                if (among is None or lines.record_id(line) in among) and lines.is_whole(line):
                    receipt = lines.parse_receipt(line)
                    found[receipt.id] = receipt
        return tuple(found.values())

    def damaged(self) -> dict[str, int]:
        """Count the lines that cannot be read, by their file in the state: live ones, and those set aside."""
        places = [self._path(stem) for stem in self._stems()]
        places += [self._path(stem, "receipts") for stem in self._stems("receipts")]
        found: dict[str, int] = {}
        for path in places:
            snapshot = fsio.read(path, root=self._root)
            found[path] = sum(not lines.is_whole(line) for line in lines.split(snapshot.data if snapshot else b""))
        aside = fsio.read(self._aside, root=self._root)
        found[self._aside] = len(lines.split(aside.data)) if aside else 0
        return {path: count for path, count in found.items() if count}

    def compact(self) -> int:
        """Turn settled records of earlier days, and of a large segment, into receipts; return how many segments shrank.

        A segment that anybody is using is left for the next time. A kill at any point leaves every record that is
        not settled where it was.
        """
        with ExitStack() as locks:
            due = [stem for stem in self._stems() if self._is_due(stem) and self._seize(stem, locks)]
            if not due:
                return 0
            contents = self._segments(durable=True)
            story = Story().read(contents)
            segments = {stem: lines.split(data) for stem, data in contents.items()}
            done = sum(self._compact(stem, segments, story) for stem in due if stem in segments)
        self._expire()
        return done

    def _compact(self, stem: str, segments: dict[str, list[bytes]], story: Story) -> bool:
        """Shrink one segment; marks about records of other segments stay, for those may not shrink this time."""
        needed = set(story.ids(settled=False))
        needed.update(id for other, rows in segments.items() if other != stem for id in lines.record_ids(rows))
        kept, settled, damaged = [], [], []
        for line in segments[stem]:
            if not lines.is_whole(line):
                damaged.append(line)
            elif not needed.isdisjoint(lines.marked(line) if lines.is_mark(line) else [lines.record_id(line)]):
                kept.append(line)
            elif not lines.is_mark(line):
                settled.append(story.tracked(lines.record_id(line)))
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
            with fsio.opened(self._aside, root=self._root, flags=_LOG | os.O_CREAT) as fd:
                self._put(self._aside, fd, b"".join(b"\n" + line + b"\n" for line in damaged), True)

    def _hand_out(self, settled: list[Tracked]) -> None:
        if settled:
            path = self._path(self._day(), "receipts")
            with fsio.opened(path, root=self._root, flags=_LOG | os.O_CREAT) as fd:
                self._put(path, fd, b"".join(lines.compose(lines.slim(lines.reduce(one))) for one in settled), True)

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

    @contextmanager
    def _told(self) -> Iterator[Story]:
        """Give what all segments say now; only what came since the last time is read closely."""
        with self._reading:
            self._story = self._story.read(self._segments())
            yield self._story

    def _segments(self, *, durable: bool = False) -> dict[str, bytes]:
        """Read all segments as of one moment: nothing was compacted between the first opened and the last looked at."""
        for _ in range(1000):
            with ExitStack() as files:
                fds = self._open_all(files)
                if fds is not None:
                    for fd in fds.values() if durable else ():
                        fsio.datasync(fd)
                    return {stem: _content(fd) for stem, fd in fds.items()}
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
        if stem[:10] != self._day():
            return True
        size = self._size(stem)
        if size <= _LIMIT:
            return False
        with self._told() as story:  # a backlog, or a large held text, would be read closely for nothing
            return 2 * story.size(stem) <= size

    def _is_worth(self, stem: str, rows: list[bytes], kept: list[bytes]) -> bool:
        # Of today's, only when half goes, or a large held text would have it rewritten with every commit.
        today = stem[:10] == self._day()
        return not rows or (len(kept) < len(rows) and not (today and 2 * _total(kept) > _total(rows)))

    def _stems(self, inner: str = "") -> list[str]:
        """List segments, or receipts, in order; none where the folder is missing."""
        with fsio.telling("read", self._folder.name):
            try:
                names = [entry.name for entry in (self._folder / inner).iterdir()]
            except FileNotFoundError:
                return []
        return sorted(match[1] for name in names if (match := _SEGMENT.fullmatch(name)))

    @property
    def _aside(self) -> str:
        return f"{self._folder.name}/damaged.log"

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


def _total(rows: list[bytes]) -> int:
    return sum(map(len, rows))


def _content(fd: int) -> bytes:
    with io.FileIO(fd, closefd=False) as file:
        return file.readall()


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
