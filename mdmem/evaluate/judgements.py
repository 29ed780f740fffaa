"""Questions and judgements, as files hold them.

Owns both formats, and the line that an error names. It must never guess what a broken line meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mdmem.errors import BadInput


@dataclass(frozen=True, slots=True)
class Question:
    """A query as it is asked; `keys` are the other texts of its line, such as its category."""

    id: str
    text: str
    keys: Mapping[str, str] = field(default_factory=dict)


def read_queries(path: str | Path) -> tuple[Question, ...]:
    """Read questions from a file, as in `parse_queries`. Raises BadInput."""
    return parse_queries(_text(path), str(path))


def parse_queries(text: str, name: str) -> tuple[Question, ...]:
    """Read questions, one JSON object a line with `id` and `text`. Empty lines and those with # count for nothing.

    Raises BadInput with `name` and the line for one that cannot be meant.
    """
    found: dict[str, Question] = {}
    for number, line in _lines(text):
        try:
            question = _question(line)
        except (ValueError, RecursionError) as error:
            hint = 'write one question a line: {"id": "q1", "text": "which coffee?"}'
            raise BadInput(f"{name}:{number}: {error}", hint) from error
        if question.id in found:
            raise BadInput(f"{name}:{number}: the id {question.id} is there twice", "give every question its own")
        found[question.id] = question
    return tuple(found.values())


def _question(line: str) -> Question:
    """Read one line. Raises ValueError."""
    try:
        raw = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is no JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(raw, dict):
        raise ValueError("this is no JSON object")
    id = raw.get("id")
    id = str(id) if isinstance(id, int) and not isinstance(id, bool) else id
    for key, value in (("id", id), ("text", raw.get("text"))):
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"it has no {key}" if key not in raw else f"its {key} is not a text with something in it")
    keys = {key: value for key, value in raw.items() if isinstance(value, str) and key not in ("id", "text")}
    return Question(str(id), raw["text"], keys)


def read_qrels(path: str | Path) -> dict[str, dict[str, float]]:
    """Read judgements from a file, as in `parse_qrels`. Raises BadInput."""
    return parse_qrels(_text(path), str(path))


def parse_qrels(text: str, name: str) -> dict[str, dict[str, float]]:
    """Read judgements, one `query-id TAB id TAB grade` a line; {query id: {id: grade}}.

    The four columns of TREC, with one between query and id, will do, and so will blanks where no id has any. Grades
    are numbers; above 0 is relevant. A first line that names the columns, empty lines and those with # count for
    nothing. Raises BadInput with `name` and the line.
    """
    found: dict[str, dict[str, float]] = {}
    for place, (number, line) in enumerate(_lines(text)):
        query, id, typed = _columns(line, f"{name}:{number}")
        if place == 0 and typed.lower() in ("grade", "score", "relevance"):
            continue
        grade = _grade(typed, f"{name}:{number}")
        if found.setdefault(query, {}).setdefault(id, grade) != grade:
            raise BadInput(f"{name}:{number}: {query} and {id} are judged twice, differently", "keep one of the two")
    return found


def _columns(line: str, place: str) -> tuple[str, str, str]:
    columns = [column.strip() for column in line.split("\t")] if "\t" in line else line.split()
    if len(columns) not in (3, 4) or not all((columns[0], *columns[-2:])):
        raise BadInput(f"{place}: this is no judgement", "write query-id TAB id TAB grade")
    return columns[0], columns[-2], columns[-1]


def _grade(typed: str, place: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]{1,9}(\.[0-9]*)?|\.[0-9]+)", typed):
        raise BadInput(f"{place}: the grade {typed!r} is no number", "write 1 for relevant, more for better, 0 for not")
    return float(typed)


def _text(path: str | Path) -> str:
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise BadInput(f"{path} cannot be read: {reason}", "name a file that is there") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}:{line}: this is not UTF-8", "save the file as UTF-8") from error


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that says something."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.rstrip("\r")
