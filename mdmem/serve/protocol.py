"""What a command and the long-lived process of its vault say to each other: one JSON object on one line each way.

Owns the shapes and their limits. A line is ASCII, so that any text passes as it is, be it no valid Unicode. It must
never trust what it reads: what is no request or no answer is a ValueError.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import Any, get_args

import mdmem
from mdmem.model import Answer, Entry, Hit, Mode, Query

VERSION = 1
REQUEST_LIMIT, ANSWER_LIMIT = 64 * 1024, 16 * 2**20
"""Bytes of a line, at most."""

DECLINED = "declined"
"""The error code by which the process leaves a request to the command that asks."""

Shape = dict[str, Any]


def code() -> str:
    """Name the installed code: an upgrade gives it another name, for it replaces the file."""
    stat = os.stat(mdmem.__file__)
    return f"{VERSION}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}"


def line(shape: Shape) -> bytes:
    """Write an object as a line."""
    return json.dumps(shape, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def shape(data: bytes) -> Shape:
    """Read a line. Raises ValueError for what is no object, nested too deep, or not JSON."""
    try:
        found = json.loads(data, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number")


def error(code: str, message: str, hint: str = "") -> Shape:
    """Shape an error."""
    return {"v": VERSION, "error": {"code": code, "message": message, "hint": hint}}


# Queries


def of_query(query: Query) -> Shape:
    """Shape a query."""
    return {name: _plain(getattr(query, name)) for name in Query.__dataclass_fields__}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def query(shape: object) -> Query:
    """Read a query. Raises ValueError."""
    of = _checked(shape)
    mode = _text(of, "mode")
    if mode not in get_args(Mode):
        raise ValueError(f"there is no mode {mode!r}")
    return Query(
        text=_text(of, "text"),
        k=_count(of, "k"),
        mode=mode,  # type: ignore[arg-type]
        since=_moment(of, "since"),
        until=_moment(of, "until"),
        tags=_texts(of, "tags"),
        within=None if of.get("within") is None else _text(of, "within"),
        page=_count(of, "page"),
        max_chars=None if of.get("max_chars") is None else _count(of, "max_chars"),
        exact=of.get("exact") is True,
        fresh=of.get("fresh") is True,
    )


# Answers


def of_answer(answer: Answer) -> Shape:
    """Shape an answer."""
    return {
        "query": answer.query,
        "mode": answer.mode,
        "hits": [_of_hit(hit) for hit in answer.hits],
        "total": answer.total,
        "took_ms": answer.took_ms,
        "notices": list(answer.notices),
        "reasons": list(answer.reasons),
    }


def _of_hit(hit: Hit) -> Shape:
    of = hit.entry
    return {
        "entry": {name: _plain(getattr(of, name)) for name in Entry.__dataclass_fields__},
        "lines": list(hit.lines),
        "text": hit.text,
        "score": hit.score,
        "ranks": dict(hit.ranks),
        "snippet": hit.snippet,
        "marks": [list(mark) for mark in hit.marks],
        "why": list(hit.why),
    }


def answer(shape: object) -> Answer:
    """Read an answer of a running process. Raises ValueError."""
    of = _checked(shape)
    hits = of.get("hits")
    if not isinstance(hits, list):
        raise ValueError("no hits")
    return Answer(
        query=_text(of, "query"),
        mode=_text(of, "mode"),  # type: ignore[arg-type]
        hits=tuple(_hit(_checked(hit)) for hit in hits),
        total=_count(of, "total", least=0),
        took_ms=_number(of, "took_ms"),
        notices=_texts(of, "notices"),
        served_by="watch",
        reasons=_texts(of, "reasons"),
    )


def _hit(of: Shape) -> Hit:
    ranks, marks = _checked(of.get("ranks")), of.get("marks")
    if not isinstance(marks, list):
        raise ValueError("no marks")
    return Hit(
        entry=_entry(_checked(of.get("entry"))),
        lines=_pair(of.get("lines")),
        text=_text(of, "text"),
        score=_number(of, "score"),
        ranks={leg: _count(ranks, leg) for leg in ranks},
        snippet=_text(of, "snippet"),
        marks=tuple(map(_pair, marks)),
        why=_texts(of, "why"),
    )


def _entry(of: Shape) -> Entry:
    kind = _text(of, "kind")
    meta = of.get("meta")
    if not isinstance(meta, list):
        raise ValueError("no meta")
    pairs = [_texts({"pair": pair}, "pair") for pair in meta]
    return Entry(
        kind="entry" if kind == "entry" else "document",
        address=_text(of, "address"),
        id=_text(of, "id"),
        path=_text(of, "path"),
        lines=_pair(of.get("lines")),
        date=_moment(of, "date"),
        title=_text(of, "title"),
        tags=_texts(of, "tags"),
        text=_text(of, "text"),
        meta=tuple((key, value) for key, value in pairs),
    )


# Values


def _checked(value: object) -> Shape:
    if not isinstance(value, dict):
        raise ValueError("an object is missing")
    return value


def _text(of: Shape, name: str) -> str:
    value = of.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def _texts(of: Shape, name: str) -> tuple[str, ...]:
    value = of.get(name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{name} is no list of texts")
    return tuple(value)


def _count(of: Shape, name: str, *, least: int = 1) -> int:
    value = of.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 1_000_000_000:
        raise ValueError(f"{name} is no count")
    return value


def _number(of: Shape, name: str) -> float:
    value = of.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{name} is no number")
    return float(value)


def _moment(of: Shape, name: str) -> datetime | None:
    if of.get(name) is None:
        return None
    found = datetime.fromisoformat(_text(of, name))
    if found.tzinfo is None:
        raise ValueError(f"{name} has no zone")
    return found


def _pair(value: object) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(each) is int for each in value):
        raise ValueError("no pair of numbers")
    return value[0], value[1]
