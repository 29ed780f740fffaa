"""The numbers under which a terminal has shown addresses, kept in STATE for the next command on it.

A convenience: what is lost here shows when a number is asked for, and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from mdmem import fsio
from mdmem.errors import NotFound, StorageFailed


def put(state: Path, terminal: str, addresses: Sequence[str]) -> None:
    """Keep the addresses of a terminal's last list. Raises StorageFailed."""
    fsio.put(_path(terminal), json.dumps(list(addresses)).encode(), root=state, durable=False)


def get(state: Path, terminal: str, number: int) -> str:
    """Give the address that has this number, from 1, on a terminal. Raises NotFound."""
    try:
        snapshot = fsio.read(_path(terminal), root=state)
        return str(json.loads(snapshot.data if snapshot else b"[]")[number - 1 if number > 0 else sys.maxsize])
    except (StorageFailed, ValueError, IndexError):
        raise NotFound(f"there is no number {number} here", "search or list first") from None


def _path(terminal: str) -> str:
    return f"terminals/{hashlib.sha256(terminal.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.json"
