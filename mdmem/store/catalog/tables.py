"""What is in a catalog: its tables, what its rows mean to callers, and filters as conditions of SQL.

Pure: it must never touch a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, stamp TEXT NOT NULL, hash BLOB NOT NULL,
    problems TEXT NOT NULL, size INTEGER NOT NULL
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


class Indexed(NamedTuple):
    """A unit as the catalog has it: its number and its file's, what names it, and the hash of what was indexed."""

    id: int
    file: int
    key: str
    address: str
    hash: bytes
    passages: int


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
    month (`memory/daily/2026-11`). A log that was packed with others counts as standing where it stood.
    """

    since: float | None = None
    until: float | None = None
    tags: tuple[str, ...] = ()
    within: str | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None or bool(self.tags or self.within)


FOUND = "u.id, f.path, u.key, u.address, u.kind, u.date"


def found(row: tuple[int, bytes, bytes, bytes, str, float | None]) -> Found:
    unit, path, key, address, kind, date = row
    return Found(unit, os.fsdecode(path), text(key), text(address), kind, date)


def problems(kept: str) -> tuple[tuple[int | None, str], ...]:
    return tuple((line, text) for line, text in json.loads(kept)) if kept != "[]" else ()


def where(bounds: Filter) -> tuple[str, list[object]]:
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
        lies = "u.file IN (SELECT id FROM files WHERE path IN (?, ?, ?) OR substr(path, 1, ?) IN (?, ?))"
        values += [path, path + b".md", path + b".md.zst", len(path) + 1, path + b"/", path + more]
        stem = path.removeprefix(b"memory/").removesuffix(b".md")
        named = "(u.address = ? OR substr(u.address, 1, ?) IN (?, ?, ?))"
        values += [b".md.zst", stem, len(stem) + 1, stem + b"/", stem + b"#", stem + more]
        parts.append(f"({lies} OR u.file IN (SELECT id FROM files WHERE substr(path, -7) = ?) AND {named})")
    return " AND ".join(parts), values


def passage_keys(owner: str, sayings: Iterable[bytes]) -> Iterator[bytes]:
    """Name each passage by its unit's id, what it says, and how often its unit has said that before."""
    seen: dict[bytes, int] = {}
    for saying in sayings:
        seen[saying] = seen.get(saying, 0) + 1
        yield hashlib.sha256(b"%b\0%b\0%d" % (blob(owner), saying, seen[saying])).digest()[:16]


def batches(items: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def blob(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogateescape")
