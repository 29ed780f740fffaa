"""What was spent on a model, today and in all, in a small file of STATE that several processes share.

Owns that file and the limits of a day. A file that cannot be read as what it should be is begun anew. It must never let
a clock that goes back pay for a second day.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from mdmem import fsio
from mdmem.errors import BudgetSpent

NAME = "llm/spent.json"
SPENT = "the language model's budget for today is spent"
LARGEST = 4096
WAIT_MS = 5000
"""How long another process may count; it takes some milliseconds."""


class Holding(Protocol):
    """A lock between processes."""

    def hold(self, timeout_ms: int) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What one day may cost."""

    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Tally:
    """Calls, tokens both ways, and how many of these were guessed."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    guessed: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def plus(self, more: Tally) -> Tally:
        """Add up, or take off; nothing falls below zero."""
        return Tally(*(max(0, getattr(self, each.name) + getattr(more, each.name)) for each in fields(Tally)))


@dataclass(frozen=True, slots=True)
class Book:
    """What was spent on `day` and ever."""

    day: date
    today: Tally = Tally()
    total: Tally = Tally()


class Budget:
    """What may still be spent. `now` gives the user's time; a day is the user's."""

    __slots__ = ("_limits", "_lock", "_now", "_state")

    def __init__(self, state: Path, lock: Holding, now: Callable[[], datetime], limits: Limits) -> None:
        self._state = state
        self._lock = lock
        self._now = now
        self._limits = limits

    def take(self, tokens: int) -> None:
        """Count a call that is about to send so many tokens. BudgetSpent, and it is not counted, above a limit."""

        def checked(book: Book) -> Tally:
            self._check(book, tokens)
            return Tally(1, tokens, 0, tokens)

        self._count(checked)

    def settle(self, tokens_in: int, tokens_out: int, *, guessed: int) -> None:
        """Correct what was counted ahead, once it is known."""
        self._count(lambda book: Tally(0, tokens_in, tokens_out, guessed))

    def _check(self, book: Book, tokens: int) -> None:
        limits, today = self._limits, book.today
        over = book.day + timedelta(days=1)
        if today.calls >= limits.calls:
            said = f"{today.calls:,} of {limits.calls:,} calls"
            raise BudgetSpent(f"{SPENT}: {said}", _until(over, "llm.calls_per_day"))
        if today.tokens + tokens > limits.tokens:
            said = f"{today.tokens:,} of {limits.tokens:,} tokens, and this would take {tokens:,} and more"
            raise BudgetSpent(f"{SPENT}: {said}", _until(over, "llm.tokens_per_day"))

    def _count(self, more: Callable[[Book], Tally]) -> None:
        with self._lock.hold(WAIT_MS):
            book = read(self._state, self._now().date())
            added = more(book)
            book = replace(book, today=book.today.plus(added), total=book.total.plus(added))
            shape = {"day": book.day.isoformat(), "today": asdict(book.today), "total": asdict(book.total)}
            fsio.put(NAME, json.dumps(shape).encode(), root=self._state)


def read(state: Path, today: date) -> Book:
    """Return what was spent on the day that counts. StorageFailed where the file cannot be read at all.

    Where the clock was put back by a day, or two programs live in different time zones, the later day goes on; where it
    was wrong by more, what was spent then counts today.
    """
    try:
        snapshot = fsio.read(NAME, root=state, limit=LARGEST)
        book = _book(json.loads(snapshot.data)) if snapshot else Book(today)
    except (fsio.TooLarge, ValueError, TypeError, KeyError, RecursionError):
        return Book(today)
    if today > book.day:
        return Book(today, total=book.total)
    return book if book.day - today <= timedelta(days=1) else replace(book, day=today)


def _book(found: Any) -> Book:
    return Book(date.fromisoformat(found["day"]), _tally(found["today"]), _tally(found["total"]))


def _tally(found: Any) -> Tally:
    numbers = [found[each.name] for each in fields(Tally)]
    if not all(type(number) is int and 0 <= number < 2**53 for number in numbers):
        raise ValueError(numbers)
    return Tally(*numbers)


def _until(day: date, setting: str) -> str:
    return f"it begins anew on {day}; `mdmem config set --user {setting} …` raises it"
