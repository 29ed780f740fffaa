"""How often each address was shown on this machine, month by month, in SQLite.

Owns `usage.sqlite` in STATE. Counts only ever grow, and the copy of a vault counts anew under a name of its own: that
lets them be written down as often as one likes. It must never hold what was asked for, nor make anybody wait.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mdmem import fsio
from mdmem.errors import StorageFailed

NAME = "usage.sqlite"

_FORMAT = 1
_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counts (address BLOB, month TEXT, count INTEGER NOT NULL, PRIMARY KEY (address, month)) WITHOUT ROWID;
"""

PATIENCE = 0.05
"""Seconds that a count waits for another one: it may well be lost."""

Counts = Mapping[tuple[str, str], int]
"""How often an address was shown in a month (`2026-11`)."""


@contextmanager
def _open(state: Path, origin: str, seconds: float) -> Iterator[sqlite3.Connection]:
    """Open the file, made where there is none; what another vault's copy counted is forgotten."""
    if fsio.look(NAME, root=state) is None:
        os.close(fsio.reach(NAME, root=state, flags=os.O_RDWR | os.O_CREAT))  # by SQLite alone others could read it
    db = sqlite3.connect(str(state / NAME), isolation_level=None, timeout=seconds)
    try:
        db.execute("PRAGMA synchronous = OFF")
        if db.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_FORMAT}; COMMIT;")
        if _fact(db, "origin") != origin:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM counts")
            names = {"origin": origin, "replica": os.urandom(4).hex()}
            db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", names.items())
            db.execute("COMMIT")
        yield db
    finally:
        db.close()


def _fact(db: sqlite3.Connection, name: str) -> str:
    row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def add(state: Path, origin: str, addresses: Iterable[str], month: str) -> bool:
    """Count each address once more; False where that cannot be done now. `origin` names this very vault."""
    rows = [(_blob(address), month) for address in addresses]
    if not rows:
        return True
    try:
        with _open(state, origin, PATIENCE) as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(
                "INSERT INTO counts VALUES (?, ?, 1) ON CONFLICT (address, month) DO UPDATE SET count = count + 1", rows
            )
            db.execute("COMMIT")
    except (sqlite3.Error, StorageFailed, OSError):
        return False
    return True


def read(state: Path, origin: str) -> tuple[str, Counts]:
    """Give the name under which this vault counts, and its counts; "" and none where there are none.

    A damaged file is thrown away, and counting begins anew.
    """
    try:
        if fsio.look(NAME, root=state) is None:
            return "", {}
        with _open(state, origin, 1.0) as db:
            rows = db.execute("SELECT address, month, count FROM counts").fetchall()
            return _fact(db, "replica"), {(_text(address), month): count for address, month, count in rows}
    except (StorageFailed, OSError):
        return "", {}
    except (sqlite3.Error, ValueError, AttributeError) as error:
        if getattr(error, "sqlite_errorname", "SQLITE_CORRUPT").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            fsio.unlink(NAME, root=state)
        return "", {}


def forget(state: Path, origin: str, *, before: str) -> None:
    """Forget the counts of months before this one, once they are written down."""
    try:
        with _open(state, origin, 1.0) as db:
            db.execute("DELETE FROM counts WHERE month < ?", (before,))
    except (sqlite3.Error, StorageFailed, OSError):
        return


def _blob(address: str) -> bytes:
    return address.encode("utf-8", "surrogateescape")


def _text(address: bytes) -> str:
    return address.decode("utf-8", "surrogateescape")
