"""Patterns that are too long for a line, and tables of them.

Owns how they are written down: over several lines, whose ends and indentation do not count; in a table, one rule after
the other, each beginning with how sure it is, with words in braces that stand for others. It must know no language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mdmem.model import ClaimKind

_DEPTH = 4
"""How often words in braces may stand for words with braces."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, the kind of claim that it tells, and how sure that is, from 0 to 1."""

    kind: ClaimKind
    sure: float
    pattern: re.Pattern[str]


def joined(text: str) -> str:
    """Put a pattern together that is written over several lines."""
    return "".join(line.lstrip() for line in text.splitlines())


def words(table: str) -> dict[str, str]:
    """Read a table of words: a name in capitals, and the pattern that it stands for."""
    pairs = (row.split(maxsplit=1) for row in _rows(table, "[A-Z]+ "))
    return {name: pattern for name, pattern in pairs}  # noqa: C416 - dict() would not be typed


def rules(kind: ClaimKind, table: str, said: Mapping[str, str]) -> Iterator[Rule]:
    """Read a table of rules; lines that begin with `#` are comments."""
    for row in _rows(table, r"\d\.\d\d "):
        sure, pattern = row.split(maxsplit=1)
        yield Rule(kind, float(sure), re.compile(_filled(pattern, said), re.IGNORECASE))


def compiled(said: str, tables: Mapping[ClaimKind, str]) -> tuple[Rule, ...]:
    """Read all rules of a language: a table for each kind of claim, in the words of `said`."""
    known = words(said)
    return tuple(rule for kind, table in tables.items() for rule in rules(kind, table, known))


def best(table: Iterable[Rule], hidden: str) -> dict[ClaimKind, float]:
    """Return how sure the surest rule of each kind is that a text meets."""
    sure: dict[ClaimKind, float] = {}
    for rule in table:
        if rule.sure > sure.get(rule.kind, 0.0) and rule.pattern.search(hidden):
            sure[rule.kind] = rule.sure
    return sure


def _rows(table: str, beginning: str) -> Iterator[str]:
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    row = ""
    for line in lines:
        if row and re.match(beginning, line):
            yield row
            row = ""
        row += line.lstrip() if row else line
    if row:
        yield row


def _filled(pattern: str, said: Mapping[str, str]) -> str:
    for _ in range(_DEPTH):
        pattern = re.sub(r"\{([A-Z]+)\}", lambda found: said[found[1]], pattern)
    return pattern
