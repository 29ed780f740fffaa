"""The catalog: what is indexed, in SQLite. Files with their stamps, units with their folded text, tags.

Owns `catalog.sqlite` of one generation. Everything in it comes from the files and goes when the generation goes; it
must never be the only place of anything. Paths and ids are kept as bytes, so that no file name is too odd for it.
Beneath this, `tables` says what stands in it.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mdmem import fsio
from mdmem.errors import Busy, Damaged, StorageFailed
from mdmem.model import FileRow, UnitRow
from mdmem.store.catalog import tables
from mdmem.store.catalog.tables import Filter, Found, Indexed, Passage

__all__ = ["SCHEMA", "Catalog", "Filter", "Found", "Indexed", "Passage"]

SCHEMA = 3
"""Part of the index's identity: raise it when the tables below change."""

_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_REFUSED = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
_DISK, _ANEW = "look at the disk: is it full?", "`mdmem reindex --full` builds it anew"


@contextmanager
def _telling() -> Iterator[None]:
    """Turn what SQLite raises, and what comes of rows that make no sense, into the errors that a caller may meet."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a mistake of ours, not of the file
        raise
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(_BUSY):
            raise Busy("another mdmem is writing the index", "try again") from error
        if name.startswith(_REFUSED):
            cause, hint = fsio.told(str(error)) or (str(error), _DISK)
            raise StorageFailed(f"the index cannot be read or written: {cause}", hint) from error
        raise Damaged(f"the catalog is damaged: {error}", _ANEW) from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Damaged(f"the catalog is damaged: {error}", _ANEW) from error


class Catalog:
    """An open catalog. With `path` None it lives in memory. Every call may raise Damaged, StorageFailed or Busy."""

    @_telling()
    def __init__(self, path: Path | None) -> None:
        self._db = sqlite3.connect(str(path or ":memory:"), isolation_level=None, timeout=20, check_same_thread=False)
        try:
            self._db.execute("PRAGMA synchronous = OFF")  # a crash leaves the generation marked as being written
            self._db.execute("PRAGMA cache_size = -16000")
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'facts'").fetchone():
                self._db.executescript(tables.TABLES)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    @_telling()
    def begin(self) -> None:
        """Open a transaction; nothing below counts until `commit`."""
        self._db.execute("BEGIN IMMEDIATE")

    @_telling()
    def commit(self) -> None:
        """Make the transaction count."""
        self._db.execute("COMMIT")

    @_telling()
    def rollback(self) -> None:
        """Forget the transaction, if there is one."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    @_telling()
    def snapshot(self) -> None:
        """Open a read transaction: all reads until `rollback` see one state."""
        self._db.execute("BEGIN")
        self.fact("lexical")

    @_telling()
    def fact(self, name: str) -> int:
        """Give a remembered number, 0 when there is none."""
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    @_telling()
    def remember(self, name: str, value: int) -> None:
        """Remember a number."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    # Files and their units, as the indexer keeps them.

    def files(self) -> Iterator[FileRow]:
        """Yield the files in byte order of their paths."""
        yield from self._files()

    @_telling()
    def _files(self) -> list[FileRow]:
        query = "SELECT id, path, stamp, hash, problems, size FROM files ORDER BY path"
        return [
            FileRow(number, os.fsdecode(path), stamp, digest, tables.problems(problems), size)
            for number, path, stamp, digest, problems, size in self._db.execute(query)
        ]

    @_telling()
    def unread(self) -> list[str]:
        """List the paths of the files that could not be read when they were indexed."""
        query = "SELECT path FROM files WHERE length(hash) = 0 ORDER BY path"
        return [os.fsdecode(path) for (path,) in self._db.execute(query)]

    @_telling()
    def put_file(self, row: FileRow) -> int:
        """Keep a file's row, new (id 0) or changed; give its number."""
        values = (os.fsencode(row.path), row.stamp, row.hash, json.dumps(row.problems), row.size)
        if row.id:
            change = "UPDATE files SET path=?, stamp=?, hash=?, problems=?, size=? WHERE id=?"
            self._db.execute(change, (*values, row.id))
            return row.id
        columns = "(path, stamp, hash, problems, size)"
        cursor = self._db.execute(f"INSERT INTO files {columns} VALUES (?, ?, ?, ?, ?)", values)
        return int(cursor.lastrowid or 0)

    @_telling()
    def drop_file(self, number: int) -> list[int]:
        """Forget a file and its units; give the units' numbers."""
        units = [row[0] for row in self._db.execute("SELECT id FROM units WHERE file = ?", (number,))]
        self.drop_units(units)
        self._db.execute("DELETE FROM files WHERE id = ?", (number,))
        return units

    @_telling()
    def units_of(self, number: int) -> dict[tuple[str, bytes], list[int]]:
        """Give the units of a file: (key, hash) → numbers."""
        rows: dict[tuple[str, bytes], list[int]] = {}
        for unit, key, digest in self._db.execute(
            "SELECT id, key, hash FROM units WHERE file = ? ORDER BY id", (number,)
        ):
            rows.setdefault((tables.text(key), digest), []).append(unit)
        return rows

    @_telling()
    def put_unit(self, number: int, row: UnitRow) -> int:
        """Keep a new unit of a file; give its number."""
        cursor = self._db.execute(
            "INSERT INTO units (file, key, address, kind, date, hash, place, passages, length, folded,"
            " lasting) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                tables.blob(row.key),
                tables.blob(row.address),
                row.kind,
                row.date,
                row.hash,
                row.place,
                row.passages,
                row.length,
                row.folded,
                row.lasting,
            ),
        )
        unit = int(cursor.lastrowid or 0)
        self._db.executemany("INSERT INTO tags VALUES (?, ?, ?)", ((unit, *tag) for tag in row.tags))
        keys = tables.passage_keys(row.key, row.sayings)
        self._db.executemany(
            "INSERT INTO passages (unit, saying, key) VALUES (?, ?, ?)",
            ((unit, saying, key) for saying, key in zip(row.sayings, keys, strict=True)),
        )
        return unit

    @_telling()
    def move_unit(self, unit: int, place: int) -> None:
        """Note a unit's new order in its file."""
        self._db.execute("UPDATE units SET place = ? WHERE id = ? AND place <> ?", (place, unit, place))

    @_telling()
    def drop_units(self, units: Iterable[int]) -> None:
        """Forget units, their passages and their tags."""
        rows = [(unit,) for unit in units]
        self._db.executemany("DELETE FROM units WHERE id = ?", rows)
        self._db.executemany("DELETE FROM tags WHERE unit = ?", rows)
        self._db.executemany("DELETE FROM passages WHERE unit = ?", rows)

    # What is asked to verify it.

    @_telling()
    def units(self) -> list[Indexed]:
        """List all units with the numbers of their files."""
        rows = self._db.execute("SELECT id, file, key, address, hash, passages FROM units ORDER BY id")
        return [
            Indexed(unit, file, tables.text(key), tables.text(address), digest, count)
            for unit, file, key, address, digest, count in rows
        ]

    @_telling()
    def unit_row(self, unit: int) -> UnitRow | None:
        """Give all that is kept of a unit."""
        columns = "key, address, kind, date, hash, place, passages, length, folded, lasting"
        kept = self._db.execute(f"SELECT {columns} FROM units WHERE id = ?", (unit,)).fetchone()
        if kept is None:
            return None
        sayings = self._db.execute("SELECT saying FROM passages WHERE unit = ? ORDER BY id", (unit,))
        tags = self._db.execute("SELECT tag, folded FROM tags WHERE unit = ? ORDER BY rowid", (unit,))
        key, address, kind, date, digest, place, passages, length, folded, lasting = kept
        return UnitRow(
            key=tables.text(key),
            address=tables.text(address),
            kind=kind,
            date=date,
            hash=digest,
            place=place,
            passages=passages,
            length=length,
            folded=folded,
            lasting=bool(lasting),
            sayings=tuple(row[0] for row in sayings),
            tags=tuple((tag, plain) for tag, plain in tags),
        )

    # What searches ask.

    @_telling()
    def recount(self) -> None:
        """Count anew what `totals` gives; for the end of a transaction, so that no search has to."""
        units, entries, passages, length = self._db.execute(
            "SELECT COUNT(*), SUM(kind = 'entry'), SUM(passages), SUM(length) FROM units"
        ).fetchone()
        for name, value in (("units", units), ("entries", entries), ("passages", passages), ("length", length)):
            self.remember(name, int(value or 0))

    @_telling()
    def totals(self) -> dict[str, int]:
        """Give the numbers of entries, documents, passages and the passages' words."""
        units, entries = self.fact("units"), self.fact("entries")
        passages, length = self.fact("passages"), self.fact("length")
        return {"entries": entries, "documents": units - entries, "passages": passages, "length": length}

    @_telling()
    def scan(self, needle: str) -> set[int]:
        """Find the units whose folded text holds a folded needle."""
        return {row[0] for row in self._db.execute("SELECT id FROM units WHERE instr(folded, ?)", (needle,))}

    @_telling()
    def match(self, needle: str, pattern: re.Pattern[str]) -> set[int]:
        """Find the units whose folded text holds the needle and matches the pattern."""
        rows = self._db.execute("SELECT id, folded FROM units WHERE instr(folded, ?)", (needle,))
        return {unit for unit, folded in rows if pattern.search(folded)}

    @_telling()
    def select(self, bounds: Filter) -> set[int]:
        """Find the units within bounds."""
        where, values = tables.where(bounds)
        return {row[0] for row in self._db.execute(f"SELECT id FROM units u WHERE {where}", values)}

    @_telling()
    def newest(self, bounds: Filter, *, limit: int | None = None, offset: int = 0) -> list[Found]:
        """List units newest first; undated ones come last, by key."""
        where, values = tables.where(bounds)
        rows = self._db.execute(
            f"SELECT {tables.FOUND} FROM units u JOIN files f ON f.id = u.file WHERE {where}"
            " ORDER BY u.date IS NULL, u.date DESC, f.path DESC, u.place DESC, u.key LIMIT ? OFFSET ?",
            (*values, -1 if limit is None else limit, offset),
        )
        return [tables.found(row) for row in rows]

    @_telling()
    def find(self, name: str) -> list[Found]:
        """Find the units that have this id or address."""
        rows = self._db.execute(
            f"SELECT {tables.FOUND} FROM units u JOIN files f ON f.id = u.file WHERE u.key = :name OR u.address = :name"
            " ORDER BY f.path, u.place",
            {"name": tables.blob(name)},
        )
        return [tables.found(row) for row in rows]

    @_telling()
    def keys(self, units: Iterable[int]) -> dict[int, str]:
        """Give the keys of units, to order ties by."""
        found: dict[int, str] = {}
        for some in tables.batches(list(units), 500):
            marks = ",".join("?" * len(some))
            found.update(
                (unit, tables.text(key))
                for unit, key in self._db.execute(f"SELECT id, key FROM units WHERE id IN ({marks})", some)
            )
        return found

    @_telling()
    def locate(self, units: Sequence[int]) -> dict[int, Found]:
        """Tell where units are."""
        found: dict[int, Found] = {}
        for some in tables.batches(list(units), 500):
            marks = ",".join("?" * len(some))
            rows = self._db.execute(
                f"SELECT {tables.FOUND} FROM units u JOIN files f ON f.id = u.file WHERE u.id IN ({marks})", some
            )
            found.update((row[0], tables.found(row)) for row in rows)
        return found

    @_telling()
    def passages(self) -> list[Passage]:
        """List the passages that say something, in the order in which they were indexed."""
        rows = self._db.execute("SELECT id, unit, saying, hex(key) FROM passages ORDER BY id")
        return list(map(Passage._make, rows))

    @_telling()
    def ages(self, units: Iterable[int], now: float) -> dict[int, float]:
        """Give the ages in days at a moment, seconds since 1970, of those of the units that grow old."""
        found: dict[int, float] = {}
        for some in tables.batches(list(units), 500):
            marks = ",".join("?" * len(some))
            rows = self._db.execute(
                f"SELECT id, date FROM units WHERE date IS NOT NULL AND NOT lasting AND id IN ({marks})", some
            )
            found.update((unit, (now - date) / 86400) for unit, date in rows)
        return found

    @_telling()
    def tags(self) -> list[tuple[str, int]]:
        """Count the units of each tag, spellings of one tag together: by falling count, then by name."""
        rows = self._db.execute(
            "SELECT MIN(tag), COUNT(DISTINCT unit) AS n FROM tags GROUP BY folded ORDER BY n DESC, folded"
        )
        return [(str(tag), int(count)) for tag, count in rows]

    def addresses(self) -> Iterator[str]:
        """Yield every address and explicit id."""
        for address, key in self._addresses():
            yield address
            if key != address:
                yield key

    @_telling()
    def _addresses(self) -> list[tuple[str, str]]:
        return [
            (tables.text(address), tables.text(key))
            for address, key in self._db.execute("SELECT address, key FROM units")
        ]
