"""Entries and hits, cut from the files as they are now.

Owns turning what an index found into what a person sees. It must never show a text that the index remembers: a unit
that is no longer in its file is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mdmem import retrieve
from mdmem.errors import BadInput, MdmemError, Missing
from mdmem.model import Answer, Entry, Hit, Query
from mdmem.store import lexical
from mdmem.store.catalog import Filter, Found
from mdmem.text import analyze, chunk, markdown, snippet, units
from mdmem.text.units import Unit
from mdmem.vault.index import Index, KeywordLeg, Stores, within
from mdmem.vault.place import Place, checked, nearest, pick, split_guard, whole

TIERS = ("holds the query's words", "holds the query as a substring", "holds a word of the query as a substring")

DEADLINE = 1.5
"""Seconds after which a search stops looking further and answers with what it has."""


@dataclass(slots=True)
class Files:
    """Files read once each, for the length of one command, and the units that are wanted of them."""

    place: Place
    wanted: Iterable[Found] = ()
    _units: dict[str, tuple[Unit, ...]] = field(default_factory=dict)
    _labels: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for found in self.wanted:
            self._labels.setdefault(found.path, set()).add(found.address.partition("#")[2])

    def units(self, path: str) -> tuple[Unit, ...]:
        """Give the units of a file, of a log with wanted entries those alone; none when it cannot be read."""
        if path not in self._units:
            self._units[path] = self._cut(path, self._labels.get(path))
        return self._units[path]

    def _cut(self, path: str, labels: set[str] | None) -> tuple[Unit, ...]:
        try:
            snapshot = self.place.read(path)
        except MdmemError:
            return ()
        return units.read(path, snapshot.data, only=labels).units if snapshot else ()

    def unit(self, found: Found) -> Unit | None:
        """Cut a unit that an index found, wherever its file has it now; the address counts before the id."""
        unit = _same(self.units(found.path), found)
        return unit or _same(self._cut(found.path, None), found)


def _same(listed: Iterable[Unit], found: Found) -> Unit | None:
    same = [unit for unit in listed if unit.id == found.key]
    return next((unit for unit in same if unit.address == found.address), same[0] if same else None)


def find(place: Place, index: Index, address: str) -> tuple[str, Unit, str | None]:
    """Find what an address or id names: (path, unit, hash that its text must have). Raises NotFound, BadInput.

    The address as it was typed counts first: a name may end like a guard, in `.md`, or in a blank.
    """
    plain, guard = split_guard(address)
    for typed, wanted in ((address, None), (plain, guard)):
        for name in dict.fromkeys((typed, checked(typed), f"daily/{checked(typed)}")):
            unit = _in_file(place, units.path_of(name), name)
            if unit:
                return units.path_of(name), unit, wanted
    with index.open() as stores:
        for typed, wanted in ((address, None), (checked(plain), guard)):
            for found in stores.catalog.find(typed):
                unit = Files(place).unit(found)
                if unit:
                    return found.path, unit, wanted
        raise nearest(checked(plain), stores.catalog.addresses())


def _in_file(place: Place, path: str, address: str) -> Unit | None:
    try:
        snapshot = place.read(path)
    except BadInput:
        return None
    if snapshot is None:
        return None
    label = address.partition("#")[2]
    found = units.read(path, snapshot.data).units
    if not label:
        return whole(path, snapshot.data) if units.is_log(path) else found[0]
    return pick(found, f"{units.stem_of(path)}#{label}")


def bounds(query: Query) -> Filter:
    """Give the filter that a query's options ask for."""
    return Filter(
        since=query.since.timestamp() if query.since else None,
        until=query.until.timestamp() if query.until else None,
        tags=tuple(analyze.fold(markdown.readable(tag).lstrip("#")) for tag in query.tags),
        within=within(query.within) if query.within else None,
    )


def listed(place: Place, stores: Stores, wanted: Filter, *, limit: int | None, offset: int) -> list[Entry]:
    """List entries and documents, newest first."""
    found = stores.catalog.newest(wanted, limit=limit, offset=offset)
    files = Files(place, found)
    return [place.entry(one.path, unit) for one in found if (unit := files.unit(one))]


def search(place: Place, index: Index, query: Query) -> Answer:
    """Answer a query from the keyword index. Raises Missing for a mode that is not there."""
    started = time.monotonic()
    query = replace(query, text=markdown.readable(query.text))
    if min(query.k, query.page, 1 if query.max_chars is None else query.max_chars) < 1:
        raise BadInput("k, page and max_chars count from 1", "leave them out for the usual")
    if query.mode == "semantic":
        raise Missing("semantic search needs a model, and none is prepared", "use --mode keyword")
    with index.open() as stores:
        leg = KeywordLeg(stores, place.settings)
        limits = bounds(query)
        skip = (query.page - 1) * query.k
        ranking = (
            _ranked(query, leg, stores, limits, started)
            if query.text.strip()
            else _everything(stores, limits, skip + query.k)
        )
        shown = ranking.order[skip : skip + query.k]
        hits = tuple(_hits(place, stores, shown, ranking, skip + 1))
    skipped = () if query.mode == "keyword" else ("semantic leg skipped: no model is prepared",)
    return Answer(
        query=query.text,
        mode="keyword",
        hits=hits if query.max_chars is None else tuple(bounded(hits, query.max_chars)),
        total=ranking.total,
        took_ms=round((time.monotonic() - started) * 1000, 1),
        notices=(*skipped, *ranking.notices),
    )


def bounded(hits: Iterable[Hit], limit: int) -> Iterable[Hit]:
    """Yield as many hits as have texts of `limit` characters together; the last text may be cut."""
    for hit in hits:
        if limit <= 0:
            return
        yield hit if len(hit.text) <= limit else _cut(hit, limit)
        limit -= len(hit.text)


def _cut(hit: Hit, limit: int) -> Hit:
    """Cut a hit's texts to `limit` characters, around the first place that matched."""
    match = hit.snippet[slice(*hit.marks[0])] if hit.marks else ""
    at = hit.text.find(match)
    text = hit.text[max(0, min(at - limit // 3, len(hit.text) - limit)) :] if at > limit // 2 else hit.text
    marks = tuple((start, min(end, limit - 1)) for start, end in hit.marks if start < limit - 1)
    return replace(hit, text=_shortened(text, limit), snippet=_shortened(hit.snippet, limit), marks=marks)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _ranked(query: Query, leg: KeywordLeg, stores: Stores, limits: Filter, started: float) -> retrieve.Ranking:
    return retrieve.rank(
        query.text,
        leg,
        allowed=stores.catalog.select(limits) if limits else None,
        exact=query.exact,
        upto=query.page * query.k,
        late=lambda: time.monotonic() > started + DEADLINE,
    )


def _everything(stores: Stores, limits: Filter, upto: int) -> retrieve.Ranking:
    """Rank everything, newest first: what an empty query asks for."""
    found = stores.catalog.newest(limits, limit=upto)
    total = len(stores.catalog.select(limits))
    return retrieve.Ranking(tuple(retrieve.Ranked(one.id, 0.0, 0) for one in found), total)


def _hits(
    place: Place, stores: Stores, shown: Sequence[retrieve.Ranked], ranking: retrieve.Ranking, first: int
) -> Iterable[Hit]:
    found = stores.catalog.locate([hit.unit for hit in shown])
    files = Files(place, found.values())
    wanted = snippet.Wanted(ranking.terms, ranking.needles, lexical.stem)
    for number, hit in enumerate(shown, first):
        unit = files.unit(found[hit.unit]) if hit.unit in found else None
        if unit:
            yield _hit(place.entry(found[hit.unit].path, unit), unit, hit, wanted, number)


def _hit(entry: Entry, unit: Unit, hit: retrieve.Ranked, wanted: snippet.Wanted, rank: int) -> Hit:
    best, first = _passage(unit, wanted)
    text, lines = unit.text, entry.lines
    if unit.kind == "document":
        text, lines = best, (first, first + best.count("\n"))
    best = markdown.strip_comments(best)
    line, marks = snippet.snippet(best, wanted)
    return Hit(
        entry=entry,
        lines=lines,
        text=markdown.strip_comments(text),
        score=hit.score,
        ranks={"keyword": rank},
        snippet=line,
        marks=marks,
        why=_why(best, hit, wanted),
    )


def _passage(unit: Unit, wanted: snippet.Wanted) -> tuple[str, int]:
    """Give the passage of a unit that holds most of what is wanted, without blank lines around, and its first line."""
    pieces = chunk.chunks(unit.text, 0, len(unit.text))
    texts = [unit.text[piece.start : piece.end] for piece in pieces] or [""]
    likely = snippet.likeliest(texts, wanted)
    best = max(likely, key=lambda number: snippet.worth(texts[number], wanted))
    text = texts[best].strip("\n")
    start = (pieces[best].start if pieces else 0) + texts[best].index(text)
    return text, unit.text_line + unit.text.count("\n", 0, start)


def _why(text: str, hit: retrieve.Ranked, wanted: snippet.Wanted) -> tuple[str, ...]:
    """Say how a hit came about: its terms with their importance, or the substring."""
    if hit.tier:
        return (TIERS[hit.tier - 1],)
    here = analyze.terms_in(text, wanted.stem) & wanted.terms.keys()
    found = sorted(here, key=lambda term: (-wanted.terms[term], term))
    return (f"BM25 {hit.score:.3f}", *(f"{term} ×{wanted.terms[term]:.2f}" for term in found))
