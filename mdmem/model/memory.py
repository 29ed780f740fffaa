"""What memory is made of and asked for: entries, queries and hits, changes, texts that are held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["entry", "document"]
Mode = Literal["hybrid", "keyword", "semantic"]
Readiness = Literal["ready", "not prepared", "not installed", "damaged"]
Lines = tuple[int, int]
"""First and last line, 1-based and inclusive."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, the steps done and the steps in all."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One unit of memory as it stands in its file: an item of a daily log, or a document.

    `path` is relative to the vault, with `/`. `address` is what people type (`daily/2026-11-29#14:30`,
    `archives/plan`); `id` is the explicit one, else the address. `text` is the text as it was given to `add`
    (a document: everything after the front matter). `date` is aware, or None where nothing tells it.
    """

    kind: Kind
    address: str
    id: str
    path: str
    lines: Lines
    date: datetime | None
    title: str
    tags: tuple[str, ...]
    text: str
    meta: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NewEntry:
    """What `add` is asked to keep. `at` is an aware moment, None for now; `meta` goes into the entry's comment."""

    text: str
    tags: tuple[str, ...] = ()
    at: datetime | None = None
    source: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """Where an added entry went. While `pending`, address, lines and commit may be None: the text is in the journal."""

    address: str | None
    id: str | None
    path: str | None
    lines: Lines | None
    commit: str | None
    pending: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What was typed, apart from what it means. `since` and `until` bound the date: since ≤ date < until.

    `fresh` asks for a ranking of its own, even where the same was asked before.
    """

    text: str
    k: int = 10
    mode: Mode = "hybrid"
    since: datetime | None = None
    until: datetime | None = None
    tags: tuple[str, ...] = ()
    within: str | None = None
    page: int = 1
    max_chars: int | None = None
    exact: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: the entry, its best passage and why it is here.

    `lines` and `text` are those of the whole entry, or of the best passage of a document. `marks` are spans of
    `snippet` to highlight. `score` compares within one answer only.
    """

    entry: Entry
    lines: Lines
    text: str
    score: float
    ranks: Mapping[str, int]
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one page in order, out of `total`, and what the user should know about how they came about.

    `mode` is what answered in the end; `reasons` say why each leg was asked, or was not.
    """

    query: str
    mode: Mode
    hits: tuple[Hit, ...]
    total: int
    took_ms: float
    notices: tuple[str, ...] = ()
    served_by: str = "cli"
    reasons: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]


@dataclass(frozen=True, slots=True)
class Edit:
    """What one change did to one entry, document or stretch of plain text: `before` and `after` are texts, or None."""

    kind: Literal["added", "changed", "removed"]
    address: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One commit in memory's terms. `actor` is `person` or the operation's author (`mdmem`, `checkpoint`, …)."""

    commit: str
    date: datetime
    actor: str
    author: str
    op: str
    source: str | None
    subject: str
    reason: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A text that is kept outside of its file, or on its way into it: why, since when, and where it is."""

    number: int
    id: str
    address: str
    text: str
    reason: str | None
    noted: datetime | None
    source: str
