"""One question to a model: within the day's budget, within its time, and again where a failure may pass.

Owns how often is tried and how long is waited. It must never try again what would fail again or costs too much.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from math import isfinite

from mdmem.store.llm import tokens
from mdmem.store.llm.answer import Answer, Reply
from mdmem.store.llm.budget import Budget
from mdmem.store.llm.failure import Failure

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 20.0
"""Seconds between two attempts, where nobody says how long to wait: doubled each time, less up to half of it."""

Attempt = Callable[[str, float], Answer]
"""Has a prompt answered within so many seconds. Raises Failure, Missing."""


class Asking:
    """A model that is asked by `attempt`. `seconds` are for one answer with all its attempts: one, and `retries`."""

    __slots__ = ("_attempt", "_budget", "_retries", "_seconds", "name")

    def __init__(self, name: str, attempt: Attempt, budget: Budget, *, seconds: float, retries: int) -> None:
        self.name = name
        self._attempt = attempt
        self._budget = budget
        self._seconds = seconds
        self._retries = retries

    def ask(self, prompt: str) -> Reply:
        """Return the answer. ModelFailed when there is none that can be used, BudgetSpent, StorageFailed, Busy."""
        began = time.monotonic()
        prompt = prompt.encode("utf-8", "replace").decode()  # half characters can be sent to nobody
        tried = 0
        while True:
            left = began + self._seconds - time.monotonic()
            try:
                return self._once(prompt, left, began)
            except Failure as failure:
                tried += 1
                pause = _pause(tried, failure.after)
                left = began + self._seconds - time.monotonic()
                if not failure.again or tried > self._retries:
                    raise
                if pause >= left:
                    raise _late(failure, pause) from failure
                time.sleep(pause)

    def _once(self, prompt: str, seconds: float, began: float) -> Reply:
        """Count one attempt before it is made, and what it did cost after it."""
        sent = tokens.guess(prompt)
        self._budget.take(sent)
        try:
            answer = self._attempt(prompt, seconds)
        except Failure as failure:
            if failure.free:
                self._budget.settle(-sent, 0, guessed=-sent)
            raise
        counted_in, counted_out = answer.tokens_in, answer.tokens_out
        tokens_in = sent if counted_in is None else counted_in
        tokens_out = tokens.guess(answer.text) if counted_out is None else counted_out
        guessed = sent * (counted_in is None) + tokens_out * (counted_out is None)
        self._budget.settle(tokens_in - sent, tokens_out, guessed=guessed - sent)
        return Reply(answer.text, self.name, tokens_in, tokens_out, time.monotonic() - began, guessed > 0)


def _pause(tried: int, after: float | None) -> float:
    """Return how long to wait after so many attempts: not all programs that failed at once come back at once."""
    own = float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tried - 1)) * random.uniform(0.5, 1))
    return own if after is None else max(own, after)


def _late(failure: Failure, pause: float) -> Failure:
    if failure.after is None:
        return failure
    wish = f"{pause:,.0f} s" if isfinite(pause) else "for ever"
    return Failure(f"{failure.message}; it asks to wait {wish}", "the next run tries again")
