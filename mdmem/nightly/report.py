"""What keeping house did, step by step, as a program or a person wants to know it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mdmem.model import Finding, Progress, Resemblance

if TYPE_CHECKING:
    from mdmem.vault import Vault

State = Literal["done", "nothing", "planned", "refused", "failed"]
"""`planned` is what a dry run would do; a step that is `refused` waits for a person's yes, or for the clock."""

Agree = Callable[[str, int, int], bool]
"""Asks whether a step may take out so many units of so many."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that a step did, or would do: to what, what it says, and why."""

    address: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One step: what came of it in a sentence, its commits, and what a person should know besides.

    `problem` and `hint` say why it was refused or failed; what `items` name is then still there, unless `commits` say
    otherwise.
    """

    step: str
    state: State
    summary: str
    items: tuple[Item, ...] = ()
    commits: tuple[str, ...] = ()
    similar: tuple[Resemblance, ...] = ()
    findings: tuple[Finding, ...] = ()
    notices: tuple[str, ...] = ()
    problem: str = ""
    hint: str = ""
    took_ms: float = 0.0

    @property
    def is_well(self) -> bool:
        """Whether nothing of it is left undone."""
        return self.state not in ("refused", "failed")


@dataclass(frozen=True, slots=True)
class Report:
    """All steps in their order."""

    outcomes: tuple[Outcome, ...]
    dry_run: bool
    took_ms: float

    @property
    def is_complete(self) -> bool:
        """Whether every step came to its end."""
        return all(outcome.is_well for outcome in self.outcomes)

    @property
    def similar(self) -> tuple[Resemblance, ...]:
        """Pairs of entries for a person to decide about."""
        return tuple(pair for outcome in self.outcomes for pair in outcome.similar)


@dataclass(frozen=True, slots=True)
class Work:
    """What the steps of one run share. Without `agree` nobody can be asked."""

    vault: Vault
    dry_run: bool = False
    agree: Agree | None = None
    progress: Progress | None = None
