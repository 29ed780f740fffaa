"""Who has a file open: whether another program is in the middle of writing it.

Owns the reading of the system's table of open files. It must never open the file itself, or wait for anything.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mdmem.fsio.snapshot import look

RECENT = 5.0
"""Seconds since the last write after which a file that is still open counts as written."""

_PROCESSES = Path("/proc")


def being_written(found: Iterable[str], *, root: Path) -> set[str]:
    """Give those of the files that changed within `RECENT` and that another program has open to write in its place.

    One who only appends is no danger to anybody. Asks for the processes of this user on this machine; gives nothing
    where the system does not tell.
    """
    fresh = {os.path.realpath(root / path): path for path in found if _is_fresh(path, root)}
    return {fresh[name] for name in _open_to_write(fresh.keys())} if fresh else set()


def _is_fresh(path: str, root: Path) -> bool:
    stat = look(path, root=root)
    return stat is not None and abs(time.time() - max(stat.st_mtime, stat.st_ctime)) < RECENT


def _open_to_write(names: Iterable[str]) -> Iterator[str]:
    wanted = set(names)
    for process in _listed(_PROCESSES):
        if process.isdigit() and int(process) != os.getpid():
            folder = _PROCESSES / process
            for number in _listed(folder / "fd"):
                # A process may end, or close a file, at any moment.
                with suppress(OSError, ValueError):
                    name = os.readlink(folder / "fd" / number)
                    if name in wanted and _writes(folder / "fdinfo" / number):
                        yield name


def _listed(folder: Path) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []


def _writes(about: Path) -> bool:
    flags = next(line for line in about.read_text("ascii").splitlines() if line.startswith("flags:"))
    mode = int(flags.partition(":")[2], 8)
    return mode & os.O_ACCMODE != os.O_RDONLY and not mode & os.O_APPEND
