"""The keyword index: Whoosh, one document for each passage, holding terms and two numbers, never text.

Owns the files of `whoosh/` in one generation. It knows units by number only and must never read a memory file.
Whoosh's own files are pickles in part: the caller checks their sums before an instance is opened.
"""

from __future__ import annotations

import errno
import math
import pickle
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import fsio
from mdmem.errors import Damaged, StorageFailed

if TYPE_CHECKING:
    from whoosh.index import Index
    from whoosh.reading import IndexReader
    from whoosh.writing import IndexWriter

SCHEMA = 1
"""Part of the index's identity: raise it when the fields below change."""

POOL_MB = 128
"""Postings held in memory while writing, by Whoosh's own reckoning, before they go to a temporary file."""

_REFUSED = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
    *(errno.EFBIG, errno.ENOMEM),
}
"""Errors of the disk and the machine; all others come from what is in the files, or from their absence."""

ENOUGH = 50_000
"""Postings after which the remaining, more common terms only rank what rarer ones have found."""


@cache
def stem(word: str) -> str:
    """Stem an English word (Porter 2)."""
    from whoosh.lang.porter2 import stem as porter2

    return str(porter2(word))


Numbers = Sequence[int]  # of signed 32-bit integers, one for each passage of a segment
Posting = tuple[int, int, float, int]
"""Passage, unit, weighted frequency, length of the passage."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What BM25 needs to know of the whole: live passages, their average length, and the two parameters."""

    passages: int
    average: float
    k1: float
    b: float

    def idf(self, frequency: int) -> float:
        """Give the inverse document frequency in Lucene's form, which is never negative."""
        return math.log(1 + (self.passages - frequency + 0.5) / (frequency + 0.5))


def version() -> str:
    """Give Whoosh's own version, a part of the index's identity."""
    import whoosh

    return ".".join(map(str, whoosh.__version__))


@cache
def _failures() -> tuple[type[Exception], ...]:
    """Give what reading damaged files has been seen to raise, and its kin; asked only when something was raised."""
    from whoosh import fields, index, matching, reading, writing
    from whoosh.codec import base
    from whoosh.filedb import filestore, filetables

    modules = (base, fields, filestore, filetables, index, matching, reading, writing)
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    return (*(kind for kind in kinds if issubclass(kind, Exception)), *_GENERAL, *_CODECS)


_GENERAL = (ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, LookupError, MemoryError)
_CODECS = (NameError, RuntimeError, TypeError, ValueError, struct.error, zlib.error, pickle.PickleError)


@contextmanager
def _telling() -> Iterator[None]:
    """Turn whatever Whoosh raises over its files into the errors that a caller may meet."""
    try:
        yield
    except (Damaged, StorageFailed):
        raise
    except OSError as error:
        if error.errno in _REFUSED:
            cause, hint = fsio.told(str(error)) or (str(error.strerror), "look at the disk")
            raise StorageFailed(f"the index cannot be read or written: {cause}", hint) from error
        raise _damaged(error) from error
    except _failures() as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> Damaged:
    said = fsio.why(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"[:200]
    return Damaged(f"the keyword index is damaged: {said}", "`mdmem reindex --full` builds it anew")


class Writer:
    """A commit in the making; Whoosh's own writer, which costs 20 ms, is opened by the first change."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.opened: IndexWriter | None = None

    @property
    def _whoosh(self) -> IndexWriter:
        if self.opened is None:
            self.opened = self._index.writer(limitmb=POOL_MB)
        return self.opened

    @_telling()
    def remove(self, unit: int) -> None:
        """Take all passages of a unit out."""
        self._whoosh.delete_by_term("owner", str(unit))

    @_telling()
    def add(self, unit: int, terms: list[str], length: int) -> None:
        """Put a passage of a unit in: its terms, each as often as it counts, and its length."""
        self._whoosh.add_document(terms=terms, owner=str(unit), unit=unit, length=length)


class Lexical:
    """An open keyword index. With `path` None it lives in memory. Every call may raise Damaged or StorageFailed."""

    @_telling()
    def __init__(self, path: Path | None) -> None:
        from whoosh.filedb.filestore import FileStorage, RamStorage

        self._storage = RamStorage() if path is None else FileStorage(str(path), supports_mmap=False)
        exists = path and self._storage.index_exists()
        self._index: Index = self._storage.open_index() if exists else self._create()
        self._reader: IndexReader = self._index.reader()
        self._columns: dict[int, tuple[Numbers, Numbers]] = {}

    def _create(self) -> Index:
        from whoosh import columns, fields

        # Terms come ready made from text.analyze; the numbers are columns, read for scored passages alone.
        schema = fields.Schema(
            terms=fields.KEYWORD(scorable=False),
            owner=fields.ID(),
            unit=fields.COLUMN(columns.NumericColumn("i")),
            length=fields.COLUMN(columns.NumericColumn("i")),
        )
        return self._storage.create_index(schema)

    @property
    @_telling()
    def version(self) -> int:
        """The number of Whoosh's last commit; readers compare it with what the catalog recorded."""
        return int(self._index.latest_generation())

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Give a writer whose removals and additions become one commit at the end of the block, or none of them."""
        writer = Writer(self._index)
        try:
            yield writer
        except BaseException:
            if writer.opened:
                with suppress(StorageFailed), _telling():
                    writer.opened.cancel()
            raise
        if not writer.opened:
            return
        with _telling():
            writer.opened.commit()
            self._reader.close()
            self._reader = self._index.reader()
        self._columns.clear()

    def close(self) -> None:
        """Let go of the files."""
        self._reader.close()
        self._index.close()

    @_telling()
    def frequency(self, term: str) -> int:
        """Count the live passages that hold a term."""
        count = 0
        for reader, _ in self._reader.leaf_readers():
            if reader.has_deletions() and ("terms", term) in reader:
                count += sum(1 for _ in reader.postings("terms", term).all_ids())
            else:
                count += reader.doc_frequency("terms", term)
        return count

    @_telling()
    def units(self, term: str) -> set[int]:
        """Find the units that hold a term."""
        return {posting[1] for posting in self._postings(term)}

    @_telling()
    def score(self, weights: Mapping[str, float], stats: Stats) -> dict[int, float]:
        """Rank passages for weighted terms by BM25 and give each unit the score of its best passage.

        Document frequencies count live passages only, so that an edited index and a rebuilt one agree. Terms
        go from rare to common; beyond `ENOUGH` postings a term only adds to passages found before, and
        beyond four times as many the rest is left out.
        """
        from whoosh.scoring import bm25

        passages: dict[int, float] = {}
        owners: dict[int, int] = {}
        seen = 0
        for frequency, term in sorted((self.frequency(term), term) for term in weights):
            open_to_new = seen < ENOUGH
            seen += frequency
            if seen > 4 * ENOUGH and not open_to_new:
                break
            idf = weights[term] * stats.idf(frequency)
            for passage, unit, weight, length in self._postings(term):
                if open_to_new or passage in passages:
                    gain = bm25(idf, weight, length, stats.average, stats.b, stats.k1)
                    passages[passage] = passages.get(passage, 0.0) + gain
                    owners[passage] = unit
        return _best(passages, owners)

    @_telling()
    def owners(self) -> dict[int, int]:
        """Count the live passages of each unit."""
        found: dict[int, int] = {}
        for reader, base in self._reader.leaf_readers():
            units, _ = self._numbers(reader, base)
            for number in range(reader.doc_count_all()):
                if not reader.is_deleted(number):
                    found[units[number]] = found.get(units[number], 0) + 1
        return found

    @_telling()
    def totals(self) -> dict[int, int]:
        """Count how many terms each unit has in all, each as often as it counts: 3 s for 10,000 passages of 60."""
        found: dict[int, int] = {}
        for reader, base in self._reader.leaf_readers():
            units, _ = self._numbers(reader, base)
            for term in reader.lexicon("terms"):
                matcher = reader.postings("terms", term)
                while matcher.is_active():
                    unit = units[matcher.id()]
                    found[unit] = found.get(unit, 0) + round(matcher.weight())
                    matcher.next()
        return found

    @_telling()
    def postings(self, term: str) -> list[Posting]:
        """List a term's live postings."""
        return self._postings(term)

    def _postings(self, term: str) -> list[Posting]:
        """List a term's live postings as (passage, unit, weight, length)."""
        found: list[Posting] = []
        for reader, base in self._reader.leaf_readers():
            if ("terms", term) not in reader:
                continue
            units, lengths = self._numbers(reader, base)
            matcher = reader.postings("terms", term)
            while matcher.is_active():
                number = matcher.id()
                found.append((base + number, units[number], matcher.weight(), lengths[number]))
                matcher.next()
        return found

    def _numbers(self, reader: IndexReader, base: int) -> tuple[Numbers, Numbers]:
        if not reader.doc_count_all():  # the reader of an index without documents has no columns
            return (), ()
        if base not in self._columns:
            self._columns[base] = (_column(reader, "unit"), _column(reader, "length"))
        return self._columns[base]


def _column(reader: IndexReader, field: str) -> Numbers:
    """Read a whole column of a segment: 8 µs a number when asked one by one, 2 ns in one piece."""
    column = reader.column_reader(field, translate=False)
    numbers = array("i")
    if hasattr(column, "_dbfile"):
        numbers.frombytes(column._dbfile.get(column._basepos, column._count * numbers.itemsize))
    if sys.byteorder == "little":
        numbers.byteswap()
    numbers.extend([0] * (reader.doc_count_all() - len(numbers)))  # Whoosh leaves defaults at the end out
    return numbers


def _best(passages: dict[int, float], owners: dict[int, int]) -> dict[int, float]:
    best: dict[int, float] = {}
    for passage, score in passages.items():
        unit = owners[passage]
        if score > best.get(unit, 0.0):
            best[unit] = score
    return best
