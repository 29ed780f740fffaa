"""What mdmem does to a vault, each on its own copy of one that was lived in; and the oracle for what is left of it.

An act is one operation of the library. Its clock stands still, so what it leaves in `memory/` is known beforehand:
whatever happens on the way, after the next command the files hold what they held before, or what the act makes of
them, as a whole.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from unittest import mock

import tracing

from mdmem import Vault, config
from mdmem.errors import Refused
from mdmem.model import NewEntry

NOW = datetime.fromisoformat("2026-11-29T14:30:05+01:00")
FIRST = "daily/2026-11-29#14:30"
BYTES = b"# Notes\r\n\r\n- not ours\t\xe2\x80\x8b  \r\nno final newline"
"""A file of the user's with everything that is easily changed by accident."""

Files = Mapping[str, bytes]


def _nothing(root: Path) -> None:
    pass


def edit_by_hand(root: Path) -> None:
    """Save two files as an editor does, and one that is new."""
    for name in ("a", "b", "new"):
        (root / f"memory/{name}.md").write_text(f"{name} by hand\n")


LOGS = {
    "memory/daily/2025-03-14.md": b"# 2025-03-14\n\n- 14:30 last year\n",
    "memory/daily/2025-03-15.md": b"\xef\xbb\xbf- 09:00 odd\r\n  \xff no final newline",
    "memory/2025-07-01.md": b"- 08:00 " + b"beside the others " * 300 + b"\n",
}
"""Logs of a year that is over."""


def keep_a_year(root: Path) -> None:
    """Have logs of last year in history."""
    for path, data in LOGS.items():
        (root / path).write_bytes(data)
    with standing_clock():
        Vault.open(root).commit()


def pack_a_year(root: Path) -> None:
    """Have logs of last year in an archive."""
    keep_a_year(root)
    with standing_clock():
        Vault.open(root).parts.packing.pack()


def pack(vault: Vault) -> None:
    """Pack what is over, and what a trouble left where it was the next night."""
    if vault.parts.packing.pack().left and (left := vault.parts.packing.pack().left):
        raise Refused(f"{left[0].path} stays: {left[0].why}", "try again")


@dataclass(frozen=True, slots=True)
class Act:
    """An operation, and what somebody does before it; `saves` when only its like commits that."""

    run: Callable[[Vault], object]
    prepare: Callable[[Path], None] = _nothing
    saves: bool = False


ACTS: dict[str, Act] = {
    "add": Act(lambda vault: vault.add("new entry")),
    "add large": Act(lambda vault: vault.add("new entry " * 300)),
    "add batch": Act(lambda vault: vault.add_batch(NewEntry(f"new entry {number}") for number in range(3))),
    "add new day": Act(lambda vault: vault.add("new entry", at=NOW.replace(day=28))),
    "edit": Act(lambda vault: vault.edit(FIRST, "changed")),
    "set_field": Act(lambda vault: vault.set_field("a", "title", "x")),
    "rm": Act(lambda vault: vault.remove(FIRST)),
    "rm document": Act(lambda vault: vault.remove("a")),
    "undo": Act(lambda vault: vault.undo()),
    "commit": Act(lambda vault: vault.commit(), edit_by_hand, saves=True),
    "pack": Act(pack, keep_a_year),
    "unpack": Act(lambda vault: vault.parts.packing.unpack("2025"), pack_a_year),
}
"""What changes memory."""

INDEXING: dict[str, Act] = {
    "reindex": Act(lambda vault: vault.reindex()),
    "reindex --full": Act(lambda vault: vault.reindex(full=True)),
}
"""What changes nothing but the index."""


COMMANDS: dict[str, tuple[list[str], str]] = {
    "add": (["add", "new entry"], ""),
    "add --batch": (["add", "--batch", "lines"], "new entry\n"),
    "edit": (["edit", FIRST, "-"], "changed\n"),
    "rm": (["rm", "--yes", FIRST], ""),
    "undo": (["undo"], ""),
    "commit": (["commit"], ""),
    "reindex": (["reindex", "--full"], ""),
    "search": (["search", "one"], ""),
    "today": ([], ""),
}
"""Whole commands, and what they read."""


@contextmanager
def standing_clock(moment: datetime = NOW) -> Iterator[None]:
    """Let it be half past two on 29 November 2026."""
    with mock.patch.object(config, "now", lambda settings: config.local(settings, moment)):
        yield


def lived(folder: Path) -> Path:
    """Make a vault with a log, documents that were saved twice, a file of the user's, and an index."""
    with standing_clock():
        vault = Vault.init(folder)[0]
        (vault.root / "memory/theirs.md").write_bytes(BYTES)
        vault.add("one")
        for text in ("1\n", "2\n"):
            for name in "ab":
                (vault.root / f"memory/{name}.md").write_text(f"{name}{text}")
            vault.commit()
        Vault.open(folder).search("one")
    return folder


def copy(root: Path, to: Path) -> Path:
    """Copy a vault with its repository and state."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(root, to, symlinks=True)
    return to


def memory(root: Path) -> dict[str, bytes]:
    """Read all that is the user's or memory: every file of the work tree."""
    found = {}
    for above, folders, names in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in names:
            path = Path(above, name)
            found[str(path.relative_to(root))] = path.read_bytes()
    return found


@dataclass(frozen=True, slots=True)
class Ground:
    """A vault that was lived in; what it holds before each act, and after it."""

    template: Path
    before: dict[str, dict[str, bytes]]
    after: dict[str, dict[str, bytes]]
    scratch: Path

    def copy(self, act: Act | None = None) -> Path:
        """Make a vault to do an act in, one for each process."""
        root = copy(self.template, self.scratch / f"copy-{os.getpid()}")
        if act:
            act.prepare(root)
        return root


def ground(folder: Path, chosen: Mapping[str, Act]) -> Ground:
    """Make the vault, and do each act once without any fault."""
    made = Ground(lived(folder / "lived"), {}, {}, folder)
    for name, act in chosen.items():
        root = made.copy(act)
        made.before[name] = memory(root)
        with standing_clock():
            act.run(Vault.open(root))
        made.after[name] = memory(root)
    return made


def watched(place: Ground, act: Act, *, follow: bool = False, pipes: bool = True) -> list[tracing.Point]:
    """List the points of an act, from a run without a fault."""
    root = place.copy(act)
    done = tracing.run(lambda: act.run(Vault.open(root)), tracing.WATCH, follow=follow)
    assert done.status == 0, done.said
    return tracing.points(done.log, pipes=pipes)


def git(root: Path, *words: str) -> str:
    """Run git as the user does; what it says, be it good or bad."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, check=False)
    return os.fsdecode(done.stdout + (done.stderr if done.returncode else b"")).removesuffix("\n")


def locks(root: Path) -> list[Path]:
    """List git's locks that are there."""
    return sorted(path for path in (root / ".git").rglob("*.lock") if "mdmem" not in path.parts)


def unlock(root: Path) -> None:
    """Take away the locks that a killed git left, as their owner does."""
    for lock in locks(root):
        lock.unlink()


def unrest(root: Path, *, by_hand: bool = False) -> list[str]:
    """Tell what is not as it must be once all commands are over; empty when all is well.

    `by_hand`: files may differ from HEAD, for somebody edited them.
    """
    vault = Vault.open(root)
    found = [f"git's lock is left: {path}" for path in locks(root)]
    if waiting := vault.parts.delivery.waiting():
        found.append(f"{len(waiting)} changes still wait: {[(one.record.op, one.state) for one in waiting]}")
    with vault.parts.delivery.writing_if_free():
        pass  # as the next command that writes begins
    left = [path.name for path in vault.place.state.glob("tmp/*") if not path.name.endswith(".swap")]
    if left:
        found.append(f"tmp/ holds {left}")
    if stray := [name for name in memory(root) if "mdmem-" in name]:
        found.append(f"left in the vault: {stray}")
    if not by_hand and (said := git(root, "status", "--porcelain")):
        found.append(f"git status says {said!r}")
    if said := git(root, "fsck", "--no-dangling"):
        found.append(f"git fsck says {said!r}")
    return found


def recover(root: Path) -> None:
    """Do what the next command does before anything else."""
    with standing_clock():
        Vault.open(root).today()


def settle(root: Path, act: Act) -> list[str]:
    """Do what the next commands do, and tell what is not in order then."""
    with standing_clock():
        if act.saves:
            Vault.open(root).commit()
        for _ in range(2):
            Vault.open(root).today()
    return unrest(root)


def verdict(root: Path, before: Files, after: Files, *, acknowledged: bool) -> list[str]:
    """Compare what a vault holds with what it may hold: what was before, or what the act makes of it, as a whole."""
    now = memory(root)
    if now == after:
        return []
    if not acknowledged and now == before:
        return []
    names = sorted(name for name in now.keys() | after.keys() if now.get(name) != after.get(name))
    what = "lost or changed after it was acknowledged" if acknowledged else "neither as before nor as wanted"
    return [f"{what}: {[(name, (now.get(name) or b'')[-200:]) for name in names]}"]
