"""Answers to queries: the legs asked, their order cut into pages, each hit cut from its file as it is now.

Owns what a search takes from the settings and the clock, and saying why a hit is where it is. It must never show a
text that the index remembers.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mdmem import retrieve
from mdmem.errors import BadInput, MdmemError, Missing
from mdmem.model import Answer, Entry, Hit, Query
from mdmem.store import lexical
from mdmem.store.catalog import Filter
from mdmem.text import analyze, chunk, markdown, mentions, snippet, units
from mdmem.text import query as language
from mdmem.text.passages import passages
from mdmem.text.units import Unit
from mdmem.vault.index import Index, Stores
from mdmem.vault.keyword import KeywordLeg
from mdmem.vault.place import Place
from mdmem.vault.reading import Files, bounds

if TYPE_CHECKING:  # a search by keyword alone needs no model
    from mdmem.store.encoder import Card
    from mdmem.vault.meaning import Meaning
    from mdmem.vault.semantic import SemanticLeg

TIERS = ("holds the query's words", "holds the query as a substring", "holds a word of the query as a substring")

EVEN_WEIGHTS, FINDER_WEIGHTS, RRF_WEIGHTS = (0.5, 0.5), (0.4, 0.6), (0.3, 0.7)
"""What keyword and semantic leg count where the user does not say."""

DEADLINE = 1.5
"""Seconds after which a search stops looking further and answers with what it has."""


class Recent:
    """The last rankings of this process, each for one query over one state of the index."""

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._rankings: OrderedDict[object, retrieve.Ranking] = OrderedDict()

    def get(self, key: object) -> retrieve.Ranking | None:
        """Give a ranking that was put, and count it as the latest."""
        if key not in self._rankings:
            return None
        self._rankings.move_to_end(key)
        return self._rankings[key]

    def put(self, key: object, ranking: retrieve.Ranking) -> None:
        """Keep a ranking, in place of the one that was not asked for the longest."""
        self._rankings[key] = ranking
        if len(self._rankings) > self._size:
            self._rankings.popitem(last=False)


def search(place: Place, index: Index, meanings: Callable[[], Meaning], recent: Recent, query: Query) -> Answer:
    """Answer a query; `meanings` gives the semantic side, where the query asks for it.

    Raises Missing for a mode that was asked for by name and cannot answer.
    """
    started = time.monotonic()
    query = replace(query, text=markdown.readable(query.text), tags=tuple(query.tags))
    if min(query.k, query.page, 1 if query.max_chars is None else query.max_chars) < 1:
        raise BadInput("k, page and max_chars count from 1", "leave them out for the usual")
    (ranking, hits), unread = index.ask(
        lambda stores: (hits_of(place, stores, meanings, recent, query), stores.catalog.unread())
    )
    return Answer(
        query=query.text,
        mode=ranking.mode,
        hits=hits if query.max_chars is None else tuple(bounded(hits, query.max_chars)),
        total=ranking.total,
        took_ms=round((time.monotonic() - started) * 1000, 1),
        notices=(*ranking.notices, *_unread(place, unread)),
        reasons=ranking.reasons,
    )


def _unread(place: Place, paths: Sequence[str]) -> Iterable[str]:
    """Say in one line what was not searched, because it cannot be read."""
    for path in paths:
        try:
            place.legible(path)
        except MdmemError as error:
            more = f", nor {len(paths) - 1} more" if len(paths) > 1 else ""
            why = error.message.removeprefix(f"{path}: ")
            yield f"{path.removeprefix(units.HOME)} cannot be read{more}: {why}; `mdmem doctor`"
            return


def hits_of(
    place: Place, stores: Stores, meanings: Callable[[], Meaning], recent: Recent, query: Query
) -> tuple[retrieve.Ranking, tuple[Hit, ...]]:
    """Rank what open stores have for a query, and cut the hits of its page from their files."""
    ranking = ranked(place, stores, meanings, recent, query)
    skip = (query.page - 1) * query.k
    return ranking, tuple(_hits(place, stores, ranking.order[skip : skip + query.k], ranking))


def ranked(
    place: Place, stores: Stores, meanings: Callable[[], Meaning], recent: Recent, query: Query
) -> retrieve.Ranking:
    """Rank what open stores have for a query, to the end of its page; an empty one asks for everything."""
    limits = bounds(query)
    if not query.text.strip():
        return _everything(stores, limits, query.page * query.k)
    meaning = None if query.mode == "keyword" else meanings()
    state = meaning.state(stores) if meaning else stores.path and (stores.path, stores.lexical.version)
    key = (replace(query, fresh=False, max_chars=None), state, place.now().date())
    known = recent.get(key) if state and not query.fresh else None
    ranking = known or _asked(place, stores, meaning, query, limits)
    if state and ranking.whole:
        stores.check()
        recent.put(key, ranking)
    return ranking


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


def _asked(place: Place, stores: Stores, meaning: Meaning | None, query: Query, limits: Filter) -> retrieve.Ranking:
    """Ask both legs, or the one that the query names or that is there."""
    started = time.monotonic()
    question = retrieve.Question(
        query.text,
        query.mode,
        exact=query.exact,
        allowed=stores.catalog.select(limits) if limits else None,
        dated={} if query.exact else _dated(place, stores, language.wording(query.text)),
        enabled=place.settings.items("search.routes"),
    )
    card = meaning.card() if meaning else None
    if query.mode == "semantic" and meaning and card is None:
        raise Missing(meaning.absence() or "no model is set", "`mdmem model list` shows what there is")
    leg = _leg(meaning, stores, card) if meaning and card else None
    try:
        ranking = retrieve.rank(
            question,
            KeywordLeg(stores, place.settings),
            leg,
            how=_fusion(place, stores, card),
            upto=query.page * query.k,
            late=lambda: time.monotonic() > started + DEADLINE,
        )
    finally:
        if leg:
            leg.close()
    if query.mode == "semantic" and ranking.mode != "semantic":
        raise Missing(next(iter(ranking.reasons), "the model gave no answer"), "`mdmem search --mode keyword` works")
    absent = meaning.absence() if meaning and query.mode == "hybrid" else ""
    said = [f"semantic leg skipped: {absent}"] if absent else [r for r in ranking.reasons if "skipped" in r]
    return replace(
        ranking,
        notices=(*said, *(leg.notices if leg else ()), *ranking.notices),
        reasons=(*ranking.reasons, *_times(ranking.dated)),
    )


def _leg(meaning: Meaning, stores: Stores, card: Card) -> SemanticLeg:
    from mdmem.vault.semantic import SemanticLeg

    return SemanticLeg(meaning, stores, card)


def _fusion(place: Place, stores: Stores, card: Card | None) -> retrieve.Fusion:
    """Read from the settings how the legs are joined.

    A model with a prefix for queries was trained to find passages for questions, and counts more than one that was
    trained to tell whether two sentences are alike.
    """
    settings = place.settings
    method = settings.text("search.fusion")
    usual = RRF_WEIGHTS if method == "rrf" else FINDER_WEIGHTS if card and card.query_prefix else EVEN_WEIGHTS
    weights = settings.numbers("search.weights") or usual
    now = place.now().timestamp()

    return retrieve.Fusion(
        method,
        {"keyword": weights[0], "semantic": weights[1]},
        settings.number("search.rrf_k"),
        settings.number("search.half_life_days"),
        lambda units: stores.catalog.ages(units, now),
    )


def _dated(place: Place, stores: Stores, text: str) -> dict[str, set[int]]:
    """Give the units of each time that a text names; of a day without a year, those of the last year that has some."""
    found: dict[str, set[int]] = {}
    for mention in mentions.mentions(text, place.now()):
        words = text[mention.start : mention.end]
        stretches = mentions.possible(mention, words)
        bounds = (Filter(since=since.timestamp(), until=until.timestamp()) for since, until in stretches)
        found[words] = next(filter(None, map(stores.catalog.select, bounds)), set())
    return found


def _times(dated: Mapping[str, set[int]]) -> Iterator[str]:
    """Say how the times that a query names were understood."""
    for words, chosen in dated.items():
        found = f"{len(chosen):,} entries or documents are of that time" if chosen else "nothing is of that time"
        yield f"time: {words!r}: {found}"


def _everything(stores: Stores, limits: Filter, upto: int) -> retrieve.Ranking:
    """Rank everything, newest first: what an empty query asks for."""
    found = stores.catalog.newest(limits, limit=upto)
    total = len(stores.catalog.select(limits))
    return retrieve.Ranking(tuple(retrieve.Ranked(one.id, 0.0, 0) for one in found), total)


def _hits(place: Place, stores: Stores, shown: Sequence[retrieve.Ranked], ranking: retrieve.Ranking) -> Iterable[Hit]:
    found = stores.catalog.locate([hit.unit for hit in shown])
    files = Files(place, found.values())
    wanted = snippet.Wanted(ranking.terms, ranking.needles, lexical.stem)
    for hit in shown:
        unit = files.unit(found[hit.unit]) if hit.unit in found else None
        if unit:
            times = [words for words, units in ranking.dated.items() if hit.unit in units]
            why = partial(_why, hit=hit, wanted=wanted, times=times)
            nearest = ranking.sayings.get(hit.unit) if _is_by_meaning(hit) else None
            yield _hit(place.entry(found[hit.unit].path, unit), unit, hit, wanted, nearest, why)


def _is_by_meaning(hit: retrieve.Ranked) -> bool:
    """Tell whether a hit owes its place to the semantic leg more than to the keyword leg."""
    return (
        hit.tier is None
        or "keyword" not in hit.ranks
        or (bool(hit.shares) and hit.shares.get("semantic", 0.0) > hit.shares.get("keyword", 0.0))
    )


def _hit(
    entry: Entry,
    unit: Unit,
    hit: retrieve.Ranked,
    wanted: snippet.Wanted,
    nearest: bytes | None,
    why: Callable[[str], tuple[str, ...]],
) -> Hit:
    best, first = _passage(unit, wanted, nearest)
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
        ranks=hit.ranks,
        snippet=line,
        marks=marks,
        why=why(best),
    )


def _passage(unit: Unit, wanted: snippet.Wanted, nearest: bytes | None) -> tuple[str, int]:
    """Give the passage of a unit to show, without blank lines around, and its first line.

    It is the one that says what is `nearest`, else the one that holds most of what is wanted.
    """
    pieces = chunk.chunks(unit.text, 0, len(unit.text))
    texts = [unit.text[piece.start : piece.end] for piece in pieces] or [""]
    best = next((n for n, passage in enumerate(passages(unit)) if passage.hash == nearest), None) if nearest else None
    if best is None:
        likely = snippet.likeliest(texts, wanted)
        best = max(likely, key=lambda number: snippet.worth(texts[number], wanted))
    text = texts[best].strip("\n")
    start = (pieces[best].start if pieces else 0) + texts[best].index(text)
    return text, unit.text_line + unit.text.count("\n", 0, start)


def _why(text: str, *, hit: retrieve.Ranked, wanted: snippet.Wanted, times: Sequence[str]) -> tuple[str, ...]:
    """Say how a hit came about: what each leg found and gave, and what changed the sum."""
    lines = ["goes first: it holds what was typed as it stands"] if hit.exact else []
    if hit.tier is not None and ("keyword" in hit.ranks or hit.shares):
        lines.append(f"keyword: {_rank(hit, 'keyword')}{_found(text, hit, wanted, times)}")
    elif hit.shares:
        lines.append(f"keyword: {_rank(hit, 'keyword')}none of the words")
    if hit.cosine is not None:
        lines.append(f"semantic: {_rank(hit, 'semantic')}cosine {hit.cosine:.3f}")
    elif "keyword" in hit.shares:
        lines.append("semantic: no vector, so the keyword leg decides alone")
    lines += [f"{name}: × {factor:.2f}" for name, factor in hit.factors.items()]
    return tuple(lines)


def _rank(hit: retrieve.Ranked, leg: str) -> str:
    share = f"{hit.shares[leg]:+.{2 if abs(hit.shares[leg]) >= 0.1 else 4}f}, " if leg in hit.shares else ""
    return share + (f"rank {hit.ranks[leg]}, " if leg in hit.ranks else "")


def _found(text: str, hit: retrieve.Ranked, wanted: snippet.Wanted, times: Sequence[str]) -> str:
    """Say what the keyword leg found: terms with their importance, or the substring."""
    if hit.tier:
        return TIERS[hit.tier - 1]
    here = (analyze.terms_in(text, wanted.stem) & wanted.terms.keys()).union(times)
    found = [f"{term} {wanted.terms[term]:.1f}" for term in sorted(here, key=lambda term: (-wanted.terms[term], term))]
    return f"BM25 {hit.bm25:.2f} ({'rarity: ' + ', '.join(found) if found else 'in another passage'})"
