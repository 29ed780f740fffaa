"""The cache of vectors: each text's vector by the text's hash and the model, in SQLite.

Owns `vectors.sqlite`, beside the index generations, which it outlives: a rebuild, a moved paragraph or a model that is
chosen again embeds nothing twice. It is disposable, but dear. It must never compare vectors of two models.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem import fsio
from mdmem.errors import StorageFailed

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Matrix = NDArray[numpy.float32]

BROKEN = (sqlite3.Error,)
"""The errors by which SQLite tells that the file is missing or damaged."""

NONE = b""
"""What is kept of a text that the model cannot read, so that nobody tries again."""

_FORMAT = 2
_TABLES = """
CREATE TABLE models (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL);
CREATE TABLE vectors (
    model INTEGER NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL, created_at REAL NOT NULL, sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX vectors_text ON vectors (model, hash);
"""


def is_damage(error: sqlite3.Error) -> bool:
    """Tell whether an error says that the file is no cache of ours, rather than busy, read-only or not to be had."""
    if isinstance(error, sqlite3.ProgrammingError):  # such as a file that another thread has closed
        return False
    name = getattr(error, "sqlite_errorname", "")
    return not name or name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR"))


def kept(path: Path, fingerprint: str, dimension: int) -> dict[bytes, int]:
    """Give how many vectors there are of each text of a model, -1 for what cannot be any, without writing anything.

    Empty where there is no cache. Reads no vector, and needs no numpy. Raises what is in `BROKEN`.
    """
    size = 4 * dimension
    query = "SELECT hash, length(vector), dimension FROM vectors JOIN models ON id = model WHERE fingerprint = ?"
    found = {digest: (length, width) for digest, length, width in _read(path, query, fingerprint)}
    return {
        digest: length // size if width == dimension and length % size == 0 else -1
        for digest, (length, width) in found.items()
    }


def counts(path: Path) -> dict[str, int]:
    """Count the texts that have a vector, by the fingerprint of the model, as in `kept`."""
    query = (
        "SELECT fingerprint, COUNT(*) FROM vectors JOIN models ON id = model WHERE length(vector) > 0 GROUP BY model"
    )
    return dict(_read(path, query))


def _read(path: Path, query: str, *values: str) -> list[tuple[Any, ...]]:
    """Ask the cache read-only, so that looking at it makes no file and no table."""
    if not path.exists():
        return []
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
    try:
        if db.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():  # there was no room for the tables
                return []
            raise sqlite3.DatabaseError("it is of another version")
        return db.execute(query, values).fetchall()
    finally:
        db.close()


class Vectors:
    """The vectors of one model: float32, little-endian, of unit length. With `path` None they live in memory.

    A text has a vector for each window of the model that it fills: most have one. `bad` gathers the texts, by hash,
    whose vectors turned out not to be what was written, `absent` those that were asked for and have no row.
    """

    def __init__(self, path: Path | None, fingerprint: str, dimension: int) -> None:
        self.dimension = dimension
        self.bad: set[bytes] = set()
        self.absent: set[bytes] = set()
        if path:
            _keep_private(path)
        self._db = sqlite3.connect(str(path or ":memory:"), isolation_level=None, timeout=5, check_same_thread=False)
        try:
            self._model = self._prepared(fingerprint)
        except BaseException:
            self._db.close()
            raise

    def _prepared(self, fingerprint: str) -> int:
        """Make the tables and the model's number where they are not there yet."""
        if self._db.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            script = f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_FORMAT}; COMMIT;"
            try:
                self._db.executescript(script)
            except sqlite3.OperationalError:  # another process was quicker, or another version wrote this
                self._roll_back()
                if self._db.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
                    raise
        find = "SELECT id FROM models WHERE fingerprint = ? AND dimension = ?"
        row = self._db.execute(find, (fingerprint, self.dimension)).fetchone()
        if not row:
            self._db.execute(
                "INSERT OR IGNORE INTO models (fingerprint, dimension) VALUES (?, ?)", (fingerprint, self.dimension)
            )
            row = self._db.execute(find, (fingerprint, self.dimension)).fetchone()
        if not row:
            raise sqlite3.DatabaseError("a model has two dimensions")
        return int(row[0])

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def leave_file(self) -> None:
        """Go on in memory with what the file holds, where it cannot be written."""
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.backup(copy)
        self._db.close()
        self._db = copy

    def count(self) -> int:
        """Count the texts that have a vector."""
        row = self._db.execute("SELECT COUNT(*) FROM vectors WHERE model = ? AND vector <> x''", (self._model,))
        return int(row.fetchone()[0])

    def tried(self) -> int:
        """Count the texts that somebody tried to embed, whether they have a vector or not; reads the index alone."""
        return int(self._db.execute("SELECT COUNT(*) FROM vectors WHERE model = ?", (self._model,)).fetchone()[0])

    def missing(self, hashes: Collection[bytes]) -> set[bytes]:
        """Give those of the hashes that nobody has tried to embed yet."""
        if not hashes:
            return set()
        size = 4 * self.dimension
        rows = self._db.execute(
            "SELECT hash FROM vectors WHERE model = ? AND length(vector) % ? = 0", (self._model, size)
        )
        return set(hashes).difference(row[0] for row in rows)

    def put(self, items: Iterable[tuple[bytes, Matrix | None]]) -> None:
        """Keep the vectors of texts by hash, (windows, dimension) each, None for a text without. All or nothing."""
        import numpy

        now = time.time()
        rows = [
            self._row(digest, NONE if vectors is None else numpy.asarray(vectors, "<f4").tobytes(), now)
            for digest, vectors in items
        ]
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Have what the block does count as a whole, or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        # A full disk ends the transaction by itself: to end it again would be an error that looks like damage.
        with suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _row(self, digest: bytes, vectors: bytes, now: float) -> tuple[int, bytes, bytes, float, int]:
        return self._model, digest, vectors, now, _sum(digest, vectors)

    def matrix(self, hashes: Sequence[bytes]) -> tuple[list[int], Matrix]:
        """Give the vectors of texts, one a row, and for each row the place of its text in `hashes`.

        Texts without a vector are left out, as those are whose vector is not what was written: these are in `bad`.
        About 6 ms for 1,000 texts.
        """
        import numpy

        wanted: dict[bytes, list[int]] = {}
        for place, digest in enumerate(hashes):
            wanted.setdefault(digest, []).append(place)
        places: list[int] = []
        data = bytearray()
        size = 4 * self.dimension
        seen = set()
        for digest, vectors, total in self._rows(wanted):
            seen.add(digest)
            if len(vectors) % size or _sum(digest, vectors) != total:
                self.bad.add(digest)
                continue
            for place in wanted[digest]:
                places += [place] * (len(vectors) // size)
                data += vectors
        self.absent |= wanted.keys() - seen
        return places, numpy.frombuffer(data, "<f4").reshape(-1, self.dimension)

    def _rows(self, wanted: Collection[bytes]) -> Iterable[tuple[bytes, bytes, int]]:
        if len(wanted) > 1000:  # then one pass over the table is quicker than looking each up
            rows = self._db.execute("SELECT hash, vector, sum FROM vectors WHERE model = ?", (self._model,))
            return (row for row in rows if row[0] in wanted)
        find = "SELECT hash, vector, sum FROM vectors WHERE model = ? AND hash = ?"
        return (row for digest in wanted for row in self._db.execute(find, (self._model, digest)))

    def damaged(self) -> list[bytes]:
        """List the texts, by hash, whose vectors cannot be what was written."""
        rows = self._db.execute("SELECT hash, vector, sum FROM vectors WHERE model = ?", (self._model,))
        return [digest for digest, vectors, total in rows if not self._is_whole(digest, vectors, total)]

    def forget(self, hashes: Iterable[bytes]) -> None:
        """Remove the vectors of these texts: they are embedded again."""
        rows = [(self._model, digest) for digest in hashes]
        if rows:
            with self._transaction():
                self._db.executemany("DELETE FROM vectors WHERE model = ? AND hash = ?", rows)

    def forget_damaged(self) -> int:
        """Remove the vectors that cannot be what was written, and count them."""
        bad = self.damaged()
        self.forget(bad)
        return len(bad)

    def _is_whole(self, digest: bytes, data: bytes, total: int) -> bool:
        import numpy

        if len(data) % (4 * self.dimension) or _sum(digest, data) != total:
            return False
        return bool(_whole(numpy.frombuffer(data, "<f4").reshape(-1, self.dimension)).all())


def _keep_private(path: Path) -> None:
    """Keep others from the file, which SQLite would make by the umask; what it makes beside it takes its mode.

    It is not opened without need: whoever closes any descriptor of it gives up the locks that this process has on it.
    """
    with suppress(StorageFailed):  # SQLite says what is wrong
        stat = fsio.look(path.name, root=path.parent)
        if stat is None:
            os.close(fsio.reach(path.name, root=path.parent, flags=os.O_RDWR | os.O_CREAT | os.O_EXCL))
        elif stat.st_mode & 0o077:
            fsio.make_private(path.name, root=path.parent)


def _sum(digest: bytes, vectors: bytes) -> int:
    """Give the sum by which a row shows that it is what was written."""
    return zlib.crc32(vectors, zlib.crc32(digest))


def _whole(vectors: Matrix) -> NDArray[numpy.bool_]:
    """Tell of each row whether it is of unit length, which NaN is not."""
    import numpy

    with numpy.errstate(all="ignore"):
        return numpy.abs(numpy.einsum("ij,ij->i", vectors, vectors) - 1.0) < 1e-3  # type: ignore[no-any-return]
