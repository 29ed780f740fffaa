"""Language models: none, an OpenAI-compatible endpoint, or a command; what a day may cost, and what it did cost.

Owns every question put to one. A model is not believed: what it answers is a text and nothing more, and whoever asked
decides what becomes of it. It must never follow a vault's wish that the user has not agreed to, keep a prompt or a key,
or tell either in an error.

    asking.py     one question: budget, attempts, pauses between them
    endpoint.py   an attempt over HTTP, by the openai client; answer.py reads what comes back
    command.py    an attempt by a program; talk.py feeds it and hears it
    budget.py     what was spent, today and in all; tokens.py guesses where nobody counts
    failure.py    why an attempt failed; discretion.py what of a stranger's words may be repeated
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mdmem.config import Settings
from mdmem.errors import MdmemError, Missing
from mdmem.model import Spending
from mdmem.store.llm import budget
from mdmem.store.llm.answer import Reply
from mdmem.store.llm.asking import Asking
from mdmem.store.llm.budget import Budget, Holding, Limits

if TYPE_CHECKING:  # what most commands never need takes 50 ms
    from mdmem.store.llm.command import Command
    from mdmem.store.llm.endpoint import Endpoint

__all__ = ["Model", "Reply", "missing", "open", "spending"]


class Model(Protocol):
    """Somebody who answers. `name` may be told and kept: it never holds a key or the words of a command."""

    @property
    def name(self) -> str: ...

    def ask(self, prompt: str) -> Reply:
        """Return the answer. ModelFailed when there is none that can be used, BudgetSpent, StorageFailed, Busy."""


def open(settings: Settings, *, state: Path, root: Path, lock: Holding, now: Callable[[], datetime]) -> Model | None:
    """Open the model that the settings name; None for none. Nothing is contacted or run.

    `state` is the folder, made already, in which is counted what was spent, under `lock`; `now` gives the user's time,
    aware. A program inside of `root` is run only where the user trusts that vault. Raises Missing for what is named
    and is not there, Refused.
    """
    source = _source(settings, root)
    if source is None:
        return None
    limits = Limits(settings.whole("llm.calls_per_day"), settings.whole("llm.tokens_per_day"))
    retries = settings.whole("llm.retries") if settings.text("llm.provider") == "openai" else 0
    kept = Budget(state, lock, now, limits)
    return Asking(source.name, source.attempt, kept, seconds=settings.number("llm.timeout_s"), retries=retries)


def missing(settings: Settings, *, root: Path) -> str:
    """Say why the model that is set could not be opened; "" where it could, or none is set."""
    try:
        _source(settings, root)
    except MdmemError as error:
        return f"{error.message}; {error.hint}"
    return ""


def _source(settings: Settings, root: Path) -> Endpoint | Command | None:
    provider = settings.text("llm.provider")
    if provider == "none":
        return None
    if provider == "command":
        from mdmem.store.llm.command import Command

        return Command(settings, fence=None if settings.trusted else root)
    if not settings.text("llm.model"):
        raise Missing("no model is named to ask the endpoint for", "`mdmem config set --user llm.model NAME`")
    from mdmem.store.llm.endpoint import Endpoint

    return Endpoint(settings.text("llm.base_url"), settings.text("llm.model"), settings.text("llm.key_env"))


def spending(settings: Settings, *, state: Path, now: Callable[[], datetime]) -> Spending:
    """Tell which model is set, and what was spent on it, here and so far."""
    book = budget.read(state, now().date())
    provider = settings.text("llm.provider")
    return Spending(
        provider=provider,
        model=_name(settings, provider),
        calls=book.today.calls,
        tokens=book.today.tokens,
        calls_limit=settings.whole("llm.calls_per_day"),
        tokens_limit=settings.whole("llm.tokens_per_day"),
        calls_in_all=book.total.calls,
        tokens_in_all=book.total.tokens,
        guessed=book.total.guessed > 0,
    )


def _name(settings: Settings, provider: str) -> str | None:
    if provider == "command":
        from mdmem.store.llm.command import called

        return called(settings) or None
    return (settings.text("llm.model") or None) if provider == "openai" else None
