"""The catalog: what is indexed, in SQLite. Files with their stamps, units with their folded text, tags.

Owns `catalog.sqlite` of one generation. Everything in it comes from the files and goes when the generation goes; it
must never be the only place of anything. Paths and ids are kept as bytes, so that no file name is too odd for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mdmem.model import FileRow, UnitRow

SCHEMA = 2
"""Part of the index's identity: raise it when the tables below change."""

BROKEN = (sqlite3.Error,)
"""The errors by which SQLite tells that its file is missing or damaged."""

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, stamp TEXT NOT NULL, hash BLOB NOT NULL,
    problems TEXT NOT NULL
);
CREATE TABLE units (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, key BLOB NOT NULL, address BLOB NOT NULL, kind TEXT NOT NULL,
    date REAL, hash BLOB NOT NULL, place INTEGER NOT NULL, passages INTEGER NOT NULL, length INTEGER NOT NULL,
    folded TEXT NOT NULL, lasting INTEGER NOT NULL
);
CREATE INDEX units_file ON units (file);
CREATE INDEX units_key ON units (key);
CREATE INDEX units_address ON units (address);
CREATE INDEX units_date ON units (date);
CREATE INDEX units_counts ON units (kind, passages, length);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, unit INTEGER NOT NULL, saying BLOB NOT NULL, key BLOB NOT NULL
);
CREATE INDEX passages_unit ON passages (unit);
CREATE TABLE tags (unit INTEGER NOT NULL, tag TEXT NOT NULL, folded TEXT NOT NULL);
CREATE INDEX tags_unit ON tags (unit);
CREATE INDEX tags_folded ON tags (folded);
"""


@dataclass(frozen=True, slots=True)
class Found:
    """Where to look for a unit: enough to cut it from its file."""

    id: int
    path: str
    key: str
    address: str
    kind: str
    date: float | None


class Passage(NamedTuple):
    """A passage: its unit, the hash of what it says, and its key (hexadecimal), which no line number goes into.

    `id` counts up and is never used again.
    """

    id: int
    unit: int
    saying: bytes
    key: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Bounds on units: since ≤ date < until, all of the folded tags or tags nested under them, and a path.

    The path is relative to the vault: a file (`.md` may be left out), a folder, or a log's name up to its year or
    month (`memory/daily/2026-11`).
    """

    since: float | None = None
    until: float | None = None
    tags: tuple[str, ...] = ()
    within: str | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None or bool(self.tags or self.within)


class Catalog:
    """An open catalog. With `path` None it lives in memory."""

    def __init__(self, path: Path | None) -> None:
        self._db = sqlite3.connect(str(path or ":memory:"), isolation_level=None, timeout=20, check_same_thread=False)
        self._db.execute("PRAGMA synchronous = OFF")  # a crash leaves the generation marked as being written
        self._db.execute("PRAGMA cache_size = -16000")
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'facts'").fetchone():
            self._db.executescript(_TABLES)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def begin(self) -> None:
        """Open a transaction; nothing below counts until `commit`."""
        self._db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make the transaction count."""
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        """Forget the transaction, if there is one."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def snapshot(self) -> None:
        """Open a read transaction: all reads until `rollback` see one state."""
        self._db.execute("BEGIN")
        self.fact("lexical")

    def fact(self, name: str) -> int:
        """Give a remembered number, 0 when there is none."""
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def remember(self, name: str, value: int) -> None:
        """Remember a number."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    # Files and their units, as the indexer keeps them.

    def files(self) -> Iterator[FileRow]:
        """Yield the files in byte order of their paths."""
        for number, path, stamp, digest, problems in self._db.execute(
            "SELECT id, path, stamp, hash, problems FROM files ORDER BY path"
        ):
            rows = tuple((line, text) for line, text in json.loads(problems)) if problems != "[]" else ()
            yield FileRow(number, os.fsdecode(path), stamp, digest, rows)

    def put_file(self, row: FileRow) -> int:
        """Keep a file's row, new (id 0) or changed; give its number."""
        values = (os.fsencode(row.path), row.stamp, row.hash, json.dumps(row.problems))
        if row.id:
            self._db.execute("UPDATE files SET path=?, stamp=?, hash=?, problems=? WHERE id=?", (*values, row.id))
            return row.id
        cursor = self._db.execute("INSERT INTO files (path, stamp, hash, problems) VALUES (?, ?, ?, ?)", values)
        return int(cursor.lastrowid or 0)

    def drop_file(self, number: int) -> list[int]:
        """Forget a file and its units; give the units' numbers."""
        units = [row[0] for row in self._db.execute("SELECT id FROM units WHERE file = ?", (number,))]
        self.drop_units(units)
        self._db.execute("DELETE FROM files WHERE id = ?", (number,))
        return units

    def units_of(self, number: int) -> dict[tuple[str, bytes], list[int]]:
        """Give the units of a file: (key, hash) → numbers."""
        rows: dict[tuple[str, bytes], list[int]] = {}
        for unit, key, digest in self._db.execute(
            "SELECT id, key, hash FROM units WHERE file = ? ORDER BY id", (number,)
        ):
            rows.setdefault((_text(key), digest), []).append(unit)
        return rows

    def put_unit(self, number: int, row: UnitRow) -> int:
        """Keep a new unit of a file; give its number."""
        cursor = self._db.execute(
            "INSERT INTO units (file, key, address, kind, date, hash, place, passages, length, folded,"
            " lasting) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                _blob(row.key),
                _blob(row.address),
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
        keys = _passage_keys(row.key, row.sayings)
        self._db.executemany(
            "INSERT INTO passages (unit, saying, key) VALUES (?, ?, ?)",
            ((unit, saying, key) for saying, key in zip(row.sayings, keys, strict=True)),
        )
        return unit

    def move_unit(self, unit: int, place: int) -> None:
        """Note a unit's new order in its file."""
        self._db.execute("UPDATE units SET place = ? WHERE id = ? AND place <> ?", (place, unit, place))

    def drop_units(self, units: Iterable[int]) -> None:
        """Forget units, their passages and their tags."""
        rows = [(unit,) for unit in units]
        self._db.executemany("DELETE FROM units WHERE id = ?", rows)
        self._db.executemany("DELETE FROM tags WHERE unit = ?", rows)
        self._db.executemany("DELETE FROM passages WHERE unit = ?", rows)

    # What searches ask.

    def recount(self) -> None:
        """Count anew what `totals` gives; for the end of a transaction, so that no search has to."""
        units, entries, passages, length = self._db.execute(
            "SELECT COUNT(*), SUM(kind = 'entry'), SUM(passages), SUM(length) FROM units"
        ).fetchone()
        for name, value in (("units", units), ("entries", entries), ("passages", passages), ("length", length)):
            self.remember(name, int(value or 0))

    def totals(self) -> dict[str, int]:
        """Give the numbers of entries, documents, passages and the passages' words."""
        units, entries = self.fact("units"), self.fact("entries")
        passages, length = self.fact("passages"), self.fact("length")
        return {"entries": entries, "documents": units - entries, "passages": passages, "length": length}

    def scan(self, needle: str) -> set[int]:
        """Find the units whose folded text holds a folded needle."""
        return {row[0] for row in self._db.execute("SELECT id FROM units WHERE instr(folded, ?)", (needle,))}

    def match(self, needle: str, pattern: re.Pattern[str]) -> set[int]:
        """Find the units whose folded text holds the needle and matches the pattern."""
        rows = self._db.execute("SELECT id, folded FROM units WHERE instr(folded, ?)", (needle,))
        return {unit for unit, folded in rows if pattern.search(folded)}

    def select(self, bounds: Filter) -> set[int]:
        """Find the units within bounds."""
        where, values = _where(bounds)
        return {row[0] for row in self._db.execute(f"SELECT id FROM units u WHERE {where}", values)}

    def newest(self, bounds: Filter, *, limit: int | None = None, offset: int = 0) -> list[Found]:
        """List units newest first; undated ones come last, by key."""
        where, values = _where(bounds)
        rows = self._db.execute(
            f"SELECT {_FOUND} FROM units u JOIN files f ON f.id = u.file WHERE {where}"
            " ORDER BY u.date IS NULL, u.date DESC, f.path DESC, u.place DESC, u.key LIMIT ? OFFSET ?",
            (*values, -1 if limit is None else limit, offset),
        )
        return [_found(row) for row in rows]

    def find(self, name: str) -> list[Found]:
        """Find the units that have this id or address."""
        rows = self._db.execute(
            f"SELECT {_FOUND} FROM units u JOIN files f ON f.id = u.file WHERE u.key = :name OR u.address = :name"
            " ORDER BY f.path, u.place",
            {"name": _blob(name)},
        )
        return [_found(row) for row in rows]

    def keys(self, units: Iterable[int]) -> dict[int, str]:
        """Give the keys of units, to order ties by."""
        found: dict[int, str] = {}
        for some in _batches(list(units), 500):
            marks = ",".join("?" * len(some))
            found.update(
                (unit, _text(key))
                for unit, key in self._db.execute(f"SELECT id, key FROM units WHERE id IN ({marks})", some)
            )
        return found

    def locate(self, units: Sequence[int]) -> dict[int, Found]:
        """Tell where units are."""
        found: dict[int, Found] = {}
        for some in _batches(list(units), 500):
            marks = ",".join("?" * len(some))
            rows = self._db.execute(
                f"SELECT {_FOUND} FROM units u JOIN files f ON f.id = u.file WHERE u.id IN ({marks})", some
            )
            found.update((row[0], _found(row)) for row in rows)
        return found

    def passages(self) -> list[Passage]:
        """List the passages that say something, in the order in which they were indexed."""
        rows = self._db.execute("SELECT id, unit, saying, hex(key) FROM passages ORDER BY id")
        return list(map(Passage._make, rows))

    def ages(self, units: Iterable[int], now: float) -> dict[int, float]:
        """Give the ages in days at a moment, seconds since 1970, of those of the units that grow old."""
        found: dict[int, float] = {}
        for some in _batches(list(units), 500):
            marks = ",".join("?" * len(some))
            rows = self._db.execute(
                f"SELECT id, date FROM units WHERE date IS NOT NULL AND NOT lasting AND id IN ({marks})", some
            )
            found.update((unit, (now - date) / 86400) for unit, date in rows)
        return found

    def tags(self) -> list[tuple[str, int]]:
        """Count the units of each tag, spellings of one tag together: by falling count, then by name."""
        rows = self._db.execute(
            "SELECT MIN(tag), COUNT(DISTINCT unit) AS n FROM tags GROUP BY folded ORDER BY n DESC, folded"
        )
        return [(str(tag), int(count)) for tag, count in rows]

    def addresses(self) -> Iterator[str]:
        """Yield every address and explicit id."""
        for address, key in self._db.execute("SELECT address, key FROM units"):
            yield _text(address)
            if key != address:
                yield _text(key)


_FOUND = "u.id, f.path, u.key, u.address, u.kind, u.date"


def _found(row: tuple[int, bytes, bytes, bytes, str, float | None]) -> Found:
    unit, path, key, address, kind, date = row
    return Found(unit, os.fsdecode(path), _text(key), _text(address), kind, date)


def _where(bounds: Filter) -> tuple[str, list[object]]:
    parts: list[str] = ["1"]
    values: list[object] = []
    for clause, bound in (("u.date >= ?", bounds.since), ("u.date < ?", bounds.until)):
        if bound is not None:
            parts.append(clause)
            values.append(bound)
    for tag in bounds.tags:
        parts.append("u.id IN (SELECT unit FROM tags WHERE folded = ? OR substr(folded, 1, ?) = ?)")
        values += [tag, len(tag) + 1, tag + "/"]
    if bounds.within is not None:
        path = os.fsencode(bounds.within)
        more = b"-" if re.search(r"(\A|/)\d{4}(-\d\d)?\Z", bounds.within) else b"/"
        parts.append("u.file IN (SELECT id FROM files WHERE path IN (?, ?) OR substr(path, 1, ?) IN (?, ?))")
        values += [path, path + b".md", len(path) + 1, path + b"/", path + more]
    return " AND ".join(parts), values


def _passage_keys(owner: str, sayings: Iterable[bytes]) -> Iterator[bytes]:
    """Name each passage by its unit's id, what it says, and how often its unit has said that before."""
    seen: dict[bytes, int] = {}
    for saying in sayings:
        seen[saying] = seen.get(saying, 0) + 1
        yield hashlib.sha256(b"%b\0%b\0%d" % (_blob(owner), saying, seen[saying])).digest()[:16]


def _batches(items: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _blob(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogateescape")
