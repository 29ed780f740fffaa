"""Versions that did not merge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Clash:
    """One place that two sides changed otherwise: where, for people to read, and the three texts there."""

    where: str
    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a language model said of a conflict: the whole `text` of the file, why, and the `doubts` about it.

    Without a text it had no answer that can be used, as `doubts` say.
    """

    text: str
    reason: str
    doubts: tuple[str, ...]
    model: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two versions of a file that did not merge: what the vault had (ours), and what was typed or saved (theirs).

    `kind` is `kept` for one that waits in the journal, `save` for a save from an older copy that is not yet in history,
    `git` for markers that git left in the file. `file` is what stands there, `ours` and `theirs` the same with the one
    version or the other where they clash, `base` what both began with, which git tells only until `git add`; all are
    whole files, None for none. `noted` is aware. `meanwhile` says what became of the file, or of the place, since then.
    `proposal` is what a language model would make of it.
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
    proposal: Proposal | None = None
