"""The repository made smaller: loose objects into packs, many packs into one.

Owns when that is due and that it is safe. It must never drop an object, not even one that nothing names any more: what
git took back, or a branch no longer has, is found among those. So neither `gc` nor `prune` is ever run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.store.repo.command import failure

if TYPE_CHECKING:
    from mdmem.store.repo import Repo

LOOSE, PACKS = 1_000, 12
"""So many loose objects, a week of hourly commits, are packed; so many packs become one."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How a repository lies on disk: loose objects, packs, and the bytes of both."""

    loose: int
    packs: int
    size: int

    @property
    def is_due(self) -> bool:
        """Whether packing is worth its while."""
        return self.loose >= LOOSE or self.packs >= PACKS


def sizes(repo: Repo) -> Sizes:
    """Count. Raises StorageFailed."""
    asked = repo.git.run("count-objects", "-v")
    if asked.status:
        raise failure("git cannot count its objects", asked)
    said = dict(line.split(": ", 1) for line in os.fsdecode(asked.out).splitlines() if ": " in line)
    number = {name: int(value) for name, value in said.items() if value.isdecimal()}
    kilobytes = number.get("size", 0) + number.get("size-pack", 0)
    return Sizes(number.get("count", 0), number.get("packs", 0), kilobytes * 1024)


def at_work(repo: Repo) -> str:
    """Say what git is doing in the repository, by its own marks; "" where it is idle."""
    if reason := repo.unfinished():
        return reason
    lock = next(_locks(repo), None)
    return f"git is at work: there is {lock.relative_to(repo.git_dir.parent)}" if lock else ""


def _locks(repo: Repo) -> Iterator[Path]:
    common = repo.git_dir / os.fsdecode(repo.git.run("rev-parse", "--git-common-dir").out.removesuffix(b"\n"))
    for folder in dict.fromkeys((repo.git_dir, common if common.is_dir() else repo.git_dir)):
        yield from (path for path in folder.glob("*.lock"))
        yield from (path for path in (folder / "gc.pid", folder / "objects" / "maintenance.lock") if path.exists())
        yield from (folder / "refs").rglob("*.lock")


def pack(repo: Repo, now: Sizes) -> Sizes:
    """Pack what is loose, or everything where there are many packs; give how it lies then. Raises StorageFailed.

    Reachable by a name, a reflog or an index or not: every object stays. A minute at most.
    """
    words = ("-a", "-k") if now.packs + (now.loose >= LOOSE) >= PACKS else ()
    done = repo.git.run("repack", "-d", "-l", "-q", *words)
    if done.status:
        raise failure("git cannot pack its objects", done)
    return sizes(repo)
