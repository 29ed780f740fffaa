"""What is distilled from entries, and what waits for a person's yes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Pending:
    """A claim that waits for a person's yes, numbered from 1: why, and since which day. `id` stays when others go."""

    number: int
    id: str
    claim: Claim
    reason: str
    noted: str


@dataclass(frozen=True, slots=True)
class Distilled:
    """What a checkpoint did with `entries` that were new to it; `waiting` ones are for the next, as `failures` say.

    What it did to MEMORY.md is told in lines: `added`, `confirmed` (before, after), `replaced` (before, after), and
    `moved` to the archive. `review` waits for a person; `dropped` says what was not kept, and why. `merged` are the
    subjects of commits that settled a conflict. `diff` is the change of MEMORY.md as a unified one. `model` is None
    where patterns alone were at work, `commit` where nothing changed.
    """

    entries: int = 0
    waiting: int = 0
    added: tuple[str, ...] = ()
    confirmed: tuple[tuple[str, str], ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    moved: tuple[str, ...] = ()
    review: tuple[tuple[Claim, str], ...] = ()
    dropped: tuple[tuple[Claim, str], ...] = ()
    merged: tuple[str, ...] = ()
    diff: str = ""
    model: str | None = None
    commit: str | None = None
    failures: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resemblance:
    """Two entries that say nearly the same, the earlier first: guarded addresses, texts, and the cosine of both.

    Of two lines of MEMORY.md both have its address, and 1 in place of a cosine.
    """

    addresses: tuple[str, str]
    texts: tuple[str, str]
    cosine: float
