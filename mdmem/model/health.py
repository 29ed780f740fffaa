"""What is wrong, and what was verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong in the user's files or around them, by name and line, and the fix."""

    path: str
    line: int | None
    message: str
    hint: str = ""


Severity = Literal["error", "warning", "note"]
"""`error`: something is wrong and should be mended; `warning`: look at it; `note`: good to know."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that `verify` or `doctor` found. `kind` names it for scripts, `room` says where it belongs."""

    kind: str
    path: str
    line: int | None
    message: str
    hint: str = ""
    severity: Severity = "error"
    healed: bool = False
    room: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """The indexes compared with the files: how much of each was compared, and what differs.

    `asked` units were searched for by their own words, `retrieved` of them came back. `behind`
    counts files that changed since they were indexed, which is no fault.
    """

    files: int = 0
    units: int = 0
    sampled: int = 0
    vectors: int = 0
    compared: int = 0
    neighbours: int = 0
    asked: int = 0
    retrieved: int = 0
    behind: int = 0
    findings: tuple[Diagnosis, ...] = ()
    took_ms: float = 0.0

    @property
    def left(self) -> int:
        """How many things are still wrong."""
        return sum(not each.healed and each.severity != "note" for each in self.findings)
