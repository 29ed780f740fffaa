"""What replacements, and writers that died, have left in a tmp/: cleared, or given back when it is somebody's text.

Owns which files there are ours, by their names. It must never delete one that holds neither side of its change.
"""

from __future__ import annotations

import fcntl
import io
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mdmem.fsio import paths
from mdmem.fsio.snapshot import peek
from mdmem.fsio.trouble import telling

LATE_WRITERS = 5.0
"""Seconds for which an editor may still write into a file that was taken out of its place."""

_LEFT = re.compile(
    r"(?:\..*\.)?mdmem-[0-9a-f]{16}(?:-(?P<was>[0-9a-f]{64})-(?P<new>[0-9a-f]{64}))?\.(?P<kind>part|put|swap)"
)


@dataclass(frozen=True, slots=True)
class Stray:
    """A file in tmp/ with content of somebody else: `before` and `after` are the SHA-256 of the change it met."""

    path: Path
    before: str
    after: str


def sweep(tmp: Path) -> tuple[Stray, ...]:
    """Clear what replacements left in `tmp`, under the lock they run under; give back what is not ours to delete.

    A version taken out less than 5 s ago stays, for an editor may still write into it.
    """
    with telling("clear", str(tmp)):
        try:
            with paths.descend(tmp, []) as folder:
                found = [_clear(folder, name, tmp) for name in sorted(entry.name for entry in tmp.iterdir())]
        except FileNotFoundError:
            return ()
    return tuple(stray for stray in found if stray is not None)


def _clear(folder: int, name: str, tmp: Path) -> Stray | None:
    left = _LEFT.fullmatch(name)
    if not left:
        return None
    if left["kind"] == "swap":
        snapshot = peek(folder, name)
        digest = snapshot and sha256(snapshot.data).hexdigest()
        if digest not in (left["was"], left["new"]):
            return Stray(tmp / name, left["was"], left["new"])
        done = digest == left["new"] or _age(folder, name) > LATE_WRITERS
    else:
        done = left["kind"] == "part" or _is_abandoned(folder, name)
    if done:
        paths.discard(folder, name)
    return None


def _age(folder: int, name: str) -> float:
    """Seconds since the file got its name; never negative, for a clock that was put back must not keep it for ever."""
    return abs(time.time() - os.stat(name, dir_fd=folder, follow_symlinks=False).st_ctime)


def _is_abandoned(folder: int, name: str) -> bool:
    """Tell whether the writer of a draft is gone: `put` needs no lock but that on its own draft."""
    with (
        suppress(BlockingIOError, FileNotFoundError),
        io.FileIO(paths.open_regular(folder, name, os.O_RDONLY), "r") as file,
    ):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
