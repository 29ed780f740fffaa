"""The nouns of mdmem as frozen dataclasses. Derived values, no behaviour."""

from mdmem.model.conflicts import Clash, Conflict, Proposal
from mdmem.model.distilled import Claim, ClaimKind, Distilled, Pending, Resemblance
from mdmem.model.health import Diagnosis, Finding, Severity, Verification
from mdmem.model.index import FileRow, Reindexed, UnitRow
from mdmem.model.memory import (
    Added,
    Answer,
    Change,
    Edit,
    Entry,
    Held,
    Hit,
    Kind,
    Lines,
    Mode,
    NewEntry,
    Progress,
    Query,
    Readiness,
)
from mdmem.model.status import Coverage, Model, Spending, Status

__all__ = [
    "Added",
    "Answer",
    "Change",
    "Claim",
    "ClaimKind",
    "Clash",
    "Conflict",
    "Coverage",
    "Diagnosis",
    "Distilled",
    "Edit",
    "Entry",
    "FileRow",
    "Finding",
    "Held",
    "Hit",
    "Kind",
    "Lines",
    "Mode",
    "Model",
    "NewEntry",
    "Pending",
    "Progress",
    "Proposal",
    "Query",
    "Readiness",
    "Reindexed",
    "Resemblance",
    "Severity",
    "Spending",
    "Status",
    "UnitRow",
    "Verification",
]
