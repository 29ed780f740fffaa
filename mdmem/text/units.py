"""The units of memory a file holds: the entries of a daily log, or one document.

Owns addresses and what counts as a unit's title, tags and text. It must never lose a line: what is in no entry of a
log is a document of its own, and a file that does not parse is one plain document.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from posixpath import basename

from mdmem.text import entries, frontmatter, markdown, packs

VERSION = 2
"""Part of the index's identity: raise it whenever the same file would give other units or passages."""

HOME = "memory/"
CHANGED = "the logs in it were changed since they were packed"


@dataclass(frozen=True, slots=True)
class Unit:
    """An entry or a document, cut from its file.

    `text` begins on line `text_line` of the file; `start:end` is the span of the unit in the decoded source, which of a
    packed log is that log alone. `day` and `time` are local. `front` is the raw front matter of a document.
    """

    kind: str
    address: str
    id: str
    start: int
    end: int
    line: int
    last_line: int
    text: str
    text_line: int
    title: str
    tags: tuple[str, ...]
    day: date | None = None
    time: str | None = None
    meta: tuple[tuple[str, str], ...] = ()
    front: str = ""
    fields: dict[str, frontmatter.Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file holds, and what is wrong with it as (line, message)."""

    units: tuple[Unit, ...]
    problems: tuple[tuple[int | None, str], ...]


def stem_of(path: str) -> str:
    """Give the address of the file at a vault-relative path; outside memory/ it has a leading slash."""
    name = re.sub(r"\.md(\.zst)?$", "", path)
    return name.removeprefix(HOME) if name.startswith(HOME) else "/" + name


def path_of(address: str) -> str:
    """Give the vault-relative path an address leads to, without its `#` part."""
    stem = address.partition("#")[0]
    return (stem[1:] if stem.startswith("/") else HOME + stem) + ".md"


def is_log(path: str) -> bool:
    """Tell whether the file's name makes it a daily log."""
    return entries.log_date(basename(path)) is not None


def read(path: str, data: bytes, *, only: Collection[str] | None = None) -> Reading:
    """Read a file's units; `path` is relative to the vault. Of logs, `only` what has these addresses."""
    day = entries.log_date(basename(path))
    if day is None and packs.is_pack(data):
        return _pack(data, only)
    decoded = markdown.decode(data)
    problems = [(decoded.line, decoded.problem)] if decoded.problem else []
    if day is not None:
        return Reading(tuple(_log(path, decoded.text, day, only)), tuple(problems))
    unit, found = _document(path, decoded.text)
    return Reading((unit,), (*problems, *found))


def _pack(data: bytes, only: Collection[str] | None) -> Reading:
    """Read the logs of a pack, each by its own name; lines are those of the pack."""
    wanted = None if only is None else set(map(path_of, only))
    found: list[Unit] = []
    problems: list[tuple[int | None, str]] = []
    if wanted is None and not packs.is_whole(data):
        problems.append((1, CHANGED))
    for log in packs.members(data):
        if wanted is None or log.path in wanted:
            reading, stem = read(log.path, log.data, only=only), stem_of(log.path)
            problems += (((line or 1) + log.line - 1, f"{stem}: {message}") for line, message in reading.problems)
            found += (below(unit, log) for unit in reading.units)
    return Reading(tuple(found), tuple(problems))


def below(unit: Unit, log: packs.Member) -> Unit:
    """Give a unit of a packed log with the lines at which it stands in the pack."""
    line, last, text = (number + log.line - 1 for number in (unit.line, unit.last_line, unit.text_line))
    return replace(unit, line=line, last_line=last, text_line=text)


def _log(path: str, source: str, day: date, only: Collection[str] | None) -> Iterator[Unit]:
    """Yield the entries of a log, and what is in none of them as one document."""
    stem = stem_of(path)
    whole = only is None or stem in only
    labels = None if only is None or whole else {name.removeprefix(f"{stem}#") for name in only}
    log = entries.parse(source, only=labels)
    rest = _rest(stem, source, log, day) if whole else None
    if rest:
        yield rest
    for entry in log.entries:
        address = f"{stem}#{entry.label}"
        text = markdown.readable("\ufeff" + entry.text)  # the mark in front: one of the text's own stays
        yield Unit(
            kind="entry",
            address=address,
            id=dict(entry.meta).get("id") or address,
            start=entry.start,
            end=entry.end,
            line=entry.line,
            last_line=entry.last_line,
            text=text,
            text_line=entry.line,
            title=day.isoformat(),
            tags=markdown.tags(text),
            day=day,
            time=entry.time,
            meta=entry.meta,
        )


def _rest(stem: str, source: str, log: entries.Log, day: date) -> Unit | None:
    """Give what is in no entry, headings too, unless it is no more than the heading every log begins with."""
    pieces, at = [], 0
    for start, end in [*((entry.start, entry.end) for entry in log.entries), (len(source), len(source))]:
        pieces.append((at, source[at:start].strip()))
        at = end
    found = [(start, text) for start, text in pieces if text]
    text = markdown.readable("\n\n".join(text for _, text in found)).strip()
    if not text or re.fullmatch(r"#\s*[\d-]*", text):
        return None
    first = source.count("\n", 0, source.index(found[0][1], found[0][0])) + 1
    last = source.count("\n", 0, source.index(found[-1][1], found[-1][0]) + len(found[-1][1])) + 1
    return Unit(
        kind="document",
        address=stem,
        id=stem,
        start=0,
        end=len(source),
        line=first,
        last_line=last,
        text=text,
        text_line=first,
        title=day.isoformat(),
        tags=markdown.tags(text),
        day=day,
    )


def _document(path: str, source: str) -> tuple[Unit, list[tuple[int | None, str]]]:
    block = frontmatter.front_matter(source)
    body = source[block.body_start :]
    text = markdown.readable(body)
    address = stem_of(path)
    tags = dict.fromkeys((*frontmatter.tag_list(block.fields), *markdown.tags(text)))
    broken = bool(block.problems) and not block.body_start
    unit = Unit(
        kind="document",
        address=address,
        id=frontmatter.text_field(block.fields, "id") or address,
        start=block.body_start,
        end=len(source),
        line=1,
        last_line=max(1, source.count("\n") + (not source.endswith("\n"))),
        text=text,
        text_line=source.count("\n", 0, block.body_start) + 1,
        # A broken block reads as a heading made of its own last line.
        title=basename(address) if broken else markdown.title(body, block.fields, basename(address)),
        tags=tuple(tags),
        day=_day(block.fields),
        front=markdown.readable(source[block.start : block.end]),
        fields=block.fields,
    )
    return unit, [(problem.line, problem.message) for problem in block.problems]


LASTING = ("preference", "boundary", "promise", "偏好", "边界", "承诺", "约定")
"""Types of documents that age does not make less true."""

OVER = ("resolved", "done", "closed", "kept", "cancelled", "rejected", "deprecated", "superseded", "deleted")
"""The status of one that is no longer so."""


def lasting(unit: Unit) -> bool:
    """Tell whether a unit does not grow old: MEMORY.md, what is pinned, preferences, boundaries, open promises."""
    if unit.kind == "entry":
        return False
    kind, status, pinned = (
        (frontmatter.text_field(unit.fields, key) or "").strip().lower() for key in ("type", "status", "pinned")
    )
    named = basename(unit.address) == "MEMORY" or pinned in ("true", "yes", "1")
    return named or (kind in LASTING and status not in OVER)


def _day(fields: dict[str, frontmatter.Value]) -> date | None:
    """Date a document by its front matter: `updated`, else `created`."""
    for key in ("updated", "created"):
        found = re.match(r"\d{4}-\d\d-\d\d", frontmatter.text_field(fields, key) or "")
        if found:
            try:
                return date.fromisoformat(found[0])
            except ValueError:
                continue
    return None
