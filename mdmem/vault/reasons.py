"""Why a record waits once more, or is held for a person to decide about: the words the journal and `recover` use."""

from __future__ import annotations

from collections.abc import Mapping

STALE = "stale copy"
"""An editor saved an older copy, and nobody saw what it dropped."""

UNCLEAR = "stale copy, not clear if meant"
DELETED = "deleted"
"""A person took it out, as far as one can tell."""

CONFLICT = "conflict"
"""Two versions that do not merge; also the operation of the record that keeps both."""

TORN = "torn"
"""It is left of a batch: the machine stopped while that was written, before it was acknowledged."""

FOUND = "found in git, not in the journal"

TAKEN = "taken back by git"
"""A commit held it that HEAD has no more: the branch was reset, or its history written anew."""

RECOVERED = "recovered"
"""A person asked for it."""

POWER = "lost when the machine stopped"
"""It was placed, and never reached the disk."""

FILE_GONE = "gone"
"""The operation of a record that stands for a document which was deleted in an editor; its text is in a commit."""

MERGE = "merge"
"""The operation of a record that stands for a save from an older copy: what it reverted is to be merged into it."""

KEPT: Mapping[str, str] = {CONFLICT: CONFLICT, FILE_GONE: DELETED}
"""Operations of records that change nothing, and the reason for which each is held."""
