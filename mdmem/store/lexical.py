"""The keyword index: Whoosh, one document for each passage, holding terms and two numbers, never text.

Owns the files of `whoosh/` in one generation. It knows units by number only and must never read a memory file.
Whoosh's own files are pickles in part: the caller checks their sums before an instance is opened.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whoosh.index import Index
    from whoosh.reading import IndexReader
    from whoosh.writing import IndexWriter

SCHEMA = 1
"""Part of the index's identity: raise it when the fields below change."""

POOL_MB = 128
"""Postings held in memory while writing, by Whoosh's own reckoning, before they go to a temporary file."""

BROKEN = (OSError, ValueError, KeyError, EOFError, LookupError)
"""The errors by which Whoosh tells that files are missing or changing under a reader."""

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

    def remove(self, unit: int) -> None:
        """Take all passages of a unit out."""
        self._whoosh.delete_by_term("owner", str(unit))

    def add(self, unit: int, terms: list[str], length: int) -> None:
        """Put a passage of a unit in: its terms, each as often as it counts, and its length."""
        self._whoosh.add_document(terms=terms, owner=str(unit), unit=unit, length=length)


class Lexical:
    """An open keyword index. With `path` None it lives in memory."""

    def __init__(self, path: Path | None) -> None:
        from whoosh.filedb.filestore import FileStorage, RamStorage

        self._storage = RamStorage() if path is None else FileStorage(str(path), supports_mmap=False)
        self._index: Index = self._found() if path and self._storage.index_exists() else self._create()
        self._reader: IndexReader = self._index.reader()
        self._columns: dict[int, tuple[Numbers, Numbers]] = {}

    def _found(self) -> Index:
        from whoosh.index import IndexError as IndexProblem

        try:
            return self._storage.open_index()
        except IndexProblem as error:
            raise LookupError(str(error)) from error

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
                writer.opened.cancel()
            raise
        if not writer.opened:
            return
        writer.opened.commit()
        self._reader.close()
        self._reader = self._index.reader()
        self._columns.clear()

    def close(self) -> None:
        """Let go of the files."""
        self._reader.close()
        self._index.close()

    def frequency(self, term: str) -> int:
        """Count the live passages that hold a term."""
        count = 0
        for reader, _ in self._reader.leaf_readers():
            if reader.has_deletions() and ("terms", term) in reader:
                count += sum(1 for _ in reader.postings("terms", term).all_ids())
            else:
                count += reader.doc_frequency("terms", term)
        return count

    def units(self, term: str) -> set[int]:
        """Find the units that hold a term."""
        return {posting[1] for posting in self._postings(term)}

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
