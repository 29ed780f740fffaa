"""The files compared with the keyword index: which units are missing, left over or different, and what can be found.

Owns telling what differs and which numbers name it, so that it can be mended. It must never change anything.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from mdmem import indexer
from mdmem.model import Diagnosis, FileRow, UnitRow
from mdmem.store import lexical as lexicals
from mdmem.store.catalog import Indexed
from mdmem.text import analyze, markdown, units
from mdmem.text.units import Unit
from mdmem.vault.index import Stores

Step = Callable[[int, int], None]

AFRESH = "`mdmem verify --fix` indexes it again"
FEW = 3_000
"""Passages up to which all postings are read by every comparison, in a second."""

PHRASE = 6
"""Of so many of its rarest words a unit's own phrase is made."""


@dataclass(slots=True)
class Differences:
    """What was compared and what differs; `units` and `paths` name what has to be indexed again."""

    found: list[Diagnosis] = field(default_factory=list)
    units: set[int] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    behind: int = 0
    files: int = 0
    known: dict[int, tuple[str, Unit, int]] = field(default_factory=dict)
    """Number of a unit that is as it should be → its file, itself, its place in the file."""

    def tell(self, kind: str, path: str, line: int | None, message: str) -> None:
        self.paths.add(path)
        self.found.append(Diagnosis(kind, path, line, message, AFRESH, room="index"))


@dataclass(frozen=True, slots=True)
class Look:
    """What the files are, how to read them, and when the index was last in order, in ns."""

    root: Path
    scan: indexer.Scan
    sources: indexer.Sources
    sealed_ns: int


def presence(look: Look, stores: Stores) -> Differences:
    """Compare which files there are with which were indexed; what changed since the index was in order is no fault."""
    made = Differences()
    rows = {row.path: row for row in stores.catalog.files()}
    for file in look.scan.files:
        row = rows.pop(file.path, None)
        if row is None and file.size <= look.sources.max_bytes and max(file.state[1:3]) < look.sealed_ns - _RACY:
            made.tell("missing", file.path, None, "was not in the index")
        else:
            made.behind += row is None or bool(row.stamp and file.stamp != row.stamp)
    for path in rows:
        if _was_gone(look, path):
            made.tell("extra", path, None, "was in the index, but there is no such file")
        else:
            made.behind += 1
    return made


def files(look: Look, stores: Stores, progress: Step | None) -> Differences:
    """Compare every file with the catalog by the hashes of files and of units, and the catalog with Whoosh by number.

    A file that was changed since it was indexed is left out.
    """
    made = Differences()
    rows = {row.path: row for row in stores.catalog.files()}
    kept: dict[int, list[Indexed]] = {}
    for one in stores.catalog.units():
        kept.setdefault(one.file, []).append(one)
    for done, file in enumerate(look.scan.files, 1):
        row = rows.get(file.path)
        if row and row.stamp in ("", file.stamp):
            _compare_file(made, look.sources, row, kept.get(row.id, []))
        if progress:
            progress(done, len(look.scan.files))
    _compare_numbers(made, stores, kept, {row.id: path for path, row in rows.items()})
    return made


_RACY = indexer.RACY_NS


def _was_gone(look: Look, path: str) -> bool:
    """Tell whether a file was gone already when the index was last in order: its folder has not changed since."""
    try:
        return (look.root / path).parent.stat().st_mtime_ns < look.sealed_ns - _RACY
    except OSError:
        return False


def _compare_file(made: Differences, sources: indexer.Sources, row: FileRow, kept: Sequence[Indexed]) -> None:
    data = sources.read(row.path)
    if data is None:
        made.unread.append(row.path)
    if data is None or not row.hash:
        return
    is_same = hashlib.sha256(data).digest() == row.hash
    if not is_same and not row.stamp:  # only just written: the next search looks at it
        return
    made.files += 1
    if not is_same:
        made.tell("changed", row.path, None, "holds something else than what was indexed")
        return
    _compare_units(made, row.path, units.read(row.path, data).units, kept, sources)


def _compare_units(
    made: Differences, path: str, found: Sequence[Unit], kept: Sequence[Indexed], sources: indexer.Sources
) -> None:
    left: dict[tuple[str, bytes], list[Indexed]] = {}
    for one in kept:
        left.setdefault((one.key, one.hash), []).append(one)
    lost: list[Unit] = []
    for place, unit in enumerate(found):
        moment = sources.moment(unit.day, unit.time) if unit.day else None
        same = left.get((unit.id, indexer.digest(unit, moment)))
        if same:
            made.known[same.pop(0).id] = (path, unit, place)
        else:
            lost.append(unit)
    extra = [one for same in left.values() for one in same]
    made.units.update(one.id for one in extra)
    keys = {one.key for one in extra}
    for unit in lost:
        is_other = unit.id in keys
        keys.discard(unit.id)
        what = "was indexed with another content" if is_other else "is not in the index"
        made.tell("changed" if is_other else "missing", path, unit.line, f"{unit.address} {what}")
    for one in extra:
        if one.key in keys:
            made.tell("extra", path, None, f"{one.address} is in the index, but not in its file")


def _compare_numbers(
    made: Differences, stores: Stores, kept: Mapping[int, Sequence[Indexed]], paths: Mapping[int, str]
) -> None:
    """Compare which units Whoosh holds, with how many passages, with what the catalog says."""
    owners = stores.lexical.owners()
    for file, listed in kept.items():
        for one in listed:
            count = owners.pop(one.id, 0)
            path, unit, _ = made.known.get(one.id, (paths.get(file, ""), None, 0))
            if file not in paths:
                made.tell("extra", one.address, None, "belongs to no file of the index")
                made.units.add(one.id)
            elif count != one.passages:
                what = f"{one.address} has {count} of {one.passages} passages in the keyword index"
                made.tell("words", path, unit.line if unit else None, what)
                made.units.add(one.id)
    for number in owners:
        made.tell("extra", f"unit {number}", None, "is in the keyword index, but not in the catalog")
        made.units.add(number)


def rows(
    made: Differences, stores: Stores, sources: indexer.Sources, chosen: Iterable[int], *, fully: bool = False
) -> int:
    """Compare all that both stores keep of some units with what their texts give now; count their passages.

    That a unit is found by words that it does not have shows in a small index, or `fully`: all postings are read.
    """
    count = 0
    totals = stores.lexical.totals() if fully or stores.catalog.totals()["passages"] <= FEW else None
    postings: dict[str, dict[int, float]] = {}
    for number in chosen:
        path, unit, place = made.known[number]
        row, bags = indexer.row(unit, place, sources)
        count += len(bags)
        kept = stores.catalog.unit_row(number)
        problem = _row_problem(row, kept) or _words_problem(stores, postings, number, bags)
        if totals is not None and not problem:
            more = totals.get(number, 0) - sum(len(bag.terms) for bag in bags)
            problem = f"the keyword index has {more} word{'s' * (more > 1)} of it that it lacks" if more else ""
        if problem:
            made.tell("changed", path, unit.line, f"{unit.address}: {problem}")
            made.units.add(number)
    return count


def _row_problem(row: UnitRow, kept: UnitRow | None) -> str:
    if kept is None:
        return "it is no longer in the catalog"
    names = [each.name for each in fields(UnitRow) if getattr(row, each.name) != getattr(kept, each.name)]
    return f"the catalog has another {' and '.join(names)} of it" if names else ""


def _words_problem(
    stores: Stores, postings: dict[str, dict[int, float]], number: int, bags: Sequence[analyze.Bag]
) -> str:
    wanted = Counter(term for bag in bags for term in bag.terms)
    wrong = 0
    for term, count in wanted.items():
        if term not in postings:
            postings[term] = _weights(stores, term)
        wrong += round(postings[term].get(number, 0.0)) != count
    return f"{wrong} of {len(wanted)} words are not in the keyword index as often as in it" if wrong else ""


def _weights(stores: Stores, term: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for _, unit, weight, _ in stores.lexical.postings(term):
        found[unit] = found.get(unit, 0.0) + weight
    return found


def phrase(unit: Unit, rarity: Callable[[str], int]) -> str:
    """Give the rarest words of a unit, in the order of its text; "" when it has none that can be searched for."""
    text = markdown.strip_comments(unit.text)
    words = list(dict.fromkeys(word.lower()[:40] for word in re.findall(r"[^\W_]{2,}", text)))[:2_000]
    known = {word: rarity(word) for word in words}
    rarest = sorted((word for word in words if known[word]), key=lambda word: (known[word], words.index(word)))
    chosen = set(rarest[:PHRASE])
    return " ".join(word for word in words if word in chosen)


def rarity(stores: Stores) -> Callable[[str], int]:
    """Give a function that counts the passages with a word, 0 for one that is none or is in none."""
    counted: dict[str, int] = {}

    def count(word: str) -> int:
        terms = analyze.terms_in(word, lexicals.stem)
        for term in terms - counted.keys():
            counted[term] = stores.lexical.frequency(term)
        return max((counted[term] for term in terms), default=0)

    return count


def lost(path: str, unit: Unit) -> Diagnosis:
    """Make the finding for a unit that its own words do not lead to."""
    message = f"{unit.address} is not among the hits for its own words"
    hint = "`mdmem reindex --full` builds the index anew"
    return Diagnosis("retrieval", path, unit.line, message, hint, "warning", room="index")


def sample(numbers: Sequence[int], share: float | None, *, usual: int, seed: int) -> list[int]:
    """Choose some of the numbers: a share of them, or as many as is usual. Other days choose others."""
    count = min(len(numbers), usual) if share is None else round(len(numbers) * share)
    if share:
        count = max(1, count) if numbers else 0
    return sorted(random.Random(seed).sample(list(numbers), min(count, len(numbers))))
