"""What people edited by hand, committed because they ask for it.

Owns that these edits are in history before anything is put back that they had dropped.
"""

from __future__ import annotations

import time

from mdmem.errors import StorageFailed
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import CALM, Delivery
from mdmem.vault.reasons import STALE


def save(delivery: Delivery, commits: Commits, *, wait_ms: int) -> None:
    """Commit what was edited by hand. Raises Busy when git is in the middle of something, StorageFailed."""
    with delivery.writing(wait_ms):
        delivery.deliver()
        try:
            commits.commit_by_hand()
            _put_back(delivery, commits)
        except StorageFailed as error:
            hint = f"nothing was lost, every file is as it was: {error.hint}"
            raise StorageFailed(error.message, hint) from error


def _put_back(delivery: Delivery, commits: Commits) -> None:
    """Put back, and commit, what the versions that were committed just now had dropped."""
    if not any(one.reason in (None, STALE) and one.record.op == "restore" for one in delivery.waiting()):
        return
    time.sleep(CALM)
    delivery.deliver()
    commits.commit_placed()
