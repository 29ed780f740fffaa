"""What an endpoint answers: the text of a chat completion, and what it cost.

Pure. It must never take for an answer what is cut short, empty, or something else than a text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mdmem.store.llm.failure import Failure

LIMIT = 256 * 1024
"""Bytes of an answer; a hundred pages, where one is expected."""

MOST_TOKENS = 10_000_000
"""What is counted as more than that was made up."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its text as it came, the model's name as it is set, what it cost, and how long it took.

    `guessed` means that the tokens, or some of them, were not counted by who answered.
    """

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of one attempt, and the tokens that were counted, None where they were not."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None


def read(body: bytes, who: str) -> Answer:
    """Return the answer in the body of a chat completion. Failure, which names `who`, where there is none."""
    found = _parsed(body, who)
    choices = _at(found, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    text = _at(_at(first, "message"), "content")
    ended = _at(first, "finish_reason")
    if ended in ("length", "content_filter", "tool_calls", "function_call"):
        raise Failure(f"{who} did not answer to the end ({ended})", "ask for less at once, or take another model")
    if not isinstance(text, str):
        raise Failure(f"{who} gave an answer without a text", "look whether the model is one for chat")
    usage = _at(found, "usage")
    return Answer(checked(text, who), _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def checked(text: str, who: str) -> str:
    """Return the text. Failure for one that is empty, or holds what no text can."""
    if not text.strip():
        raise Failure(f"{who} gave an empty answer", "try again, or take another model")
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half a character, as JSON may escape it
        raise Failure(f"{who} answered with what is no text") from error
    return text


def complaint(body: bytes) -> str:
    """Return what an endpoint says went wrong, a text in JSON at one of the usual places, "" otherwise."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = _at(found, "error")
    said = [_at(error, "message"), error, _at(found, "message"), _at(found, "detail")]
    return next((text for text in said if isinstance(text, str)), "")


def _parsed(body: bytes, who: str) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Failure(f"{who} answered with what is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        hint = "look whether llm.base_url is right: it mostly ends in /v1"
        raise Failure(f"{who} answered with what is no JSON", hint) from error


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _count(usage: Any, key: str) -> int | None:
    value = _at(usage, key)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS
    return value if fits else None
