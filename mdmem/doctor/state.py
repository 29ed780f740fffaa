"""mdmem's own files on this machine: who may read them, what waits in them, what was set aside."""

from __future__ import annotations

import os
import stat as modes
import time
from collections.abc import Iterator
from pathlib import Path

from mdmem.doctor.subject import Subject
from mdmem.errors import MdmemError
from mdmem.model import Diagnosis
from mdmem.vault import inventory
from mdmem.vault.watching import watcher

OLD = 3_600
"""Seconds after which a temporary file is nobody's any more."""

TROUBLE = ("error", "failed", "cannot", "Traceback")


def state_permissions(subject: Subject) -> Iterator[Diagnosis]:
    """Name files of mdmem's that others can read or change, or that are not the user's."""
    state = subject.place.state
    for path in (state, *sorted(state.rglob("*"))) if state.is_dir() else ():
        try:
            stat = path.lstat()
        except FileNotFoundError:
            continue
        if stat.st_uid != os.geteuid():
            yield Diagnosis("owner", str(path), None, "belongs to another user", "give it back: chown", "error")
        elif path == state and modes.S_IMODE(stat.st_mode) & 0o077:  # what lies in a closed folder is closed
            mode = f"{modes.S_IMODE(stat.st_mode):o}"
            hint = f"chmod 700 '{path}'"
            yield Diagnosis("permissions", str(path), None, f"others can look into it (mode {mode})", hint, "warning")


def vault_permissions(subject: Subject) -> Iterator[Diagnosis]:
    """Name folders and notes that cannot be written: nothing can be added or changed there."""
    root = subject.place.root
    for path in (root, root / "memory", root / "memory" / "daily", subject.place.state, subject.place.repo.git_dir):
        if path.is_dir() and not os.access(path, os.W_OK | os.X_OK):
            hint = "look at its owner and mode, and whether the disk is mounted read-only"
            yield Diagnosis("read-only", str(path), None, "cannot be written", hint)
    for file in subject.scan.files:
        if not os.access(root / file.path, os.W_OK):
            yield Diagnosis("read-only", file.path, None, "cannot be written", "look at its owner and mode", "warning")


def held_texts(subject: Subject) -> Iterator[Diagnosis]:
    """Name texts that are kept outside of their file, and how old the oldest is."""
    by_reason: dict[str, list[str]] = {}
    for one in subject.held:
        by_reason.setdefault(one.reason or "on its way", []).append(f"{one.noted:%Y-%m-%d %H:%M}" if one.noted else "")
    for reason, noted in by_reason.items():
        known = sorted(filter(None, noted))
        since = f", the oldest of {known[0]}" if known else ""
        count = f"{len(noted)} text{'s are' if len(noted) > 1 else ' is'}"
        hint = "`mdmem recover` lists them"
        yield Diagnosis("held", "journal", None, f"{count} held: {reason}{since}", hint, "warning")


def damaged_records(subject: Subject) -> Iterator[Diagnosis]:
    """Name lines of the journal that cannot be read: one of them may be what is left of a text."""
    for name, count in inventory.damaged_lines(subject.place).items():
        what = f"{count} line{'s' if count > 1 else ''} of the journal cannot be read"
        then = "in time it is kept in damaged.log beside this file"
        if name.endswith("/damaged.log"):
            what, then = f"{what}, and kept here", "then delete the file"
        hint = f"look whether a text is in it that is missing (`mdmem recover` lists what else is kept); {then}"
        yield Diagnosis("journal", str(subject.place.state / name), None, what, hint)


def leftovers(subject: Subject) -> Iterator[Diagnosis]:
    """Name what crashes left: temporary files, an index that was set aside, entries of git's index to be refreshed."""
    state = subject.place.state
    for path in sorted((state / "tmp").glob("*")) if (state / "tmp").is_dir() else ():
        if time.time() - path.lstat().st_mtime > OLD:
            hint = "the next command that writes removes it, or says whose version it is"
            yield Diagnosis("leftover", str(path), None, "is left from an interrupted change", hint, "note")
    for path in sorted((state / "index").glob("broken-*")):
        hint = "`mdmem reindex --full` removes it; memory is not touched by it"
        what = "an index was damaged and set aside; another was built"
        yield Diagnosis("set-aside", str(path), None, what, hint, "note")
    if (state / "pending-refresh").exists():
        hint = "the next commit does it"
        what = "git's index is behind a commit of mdmem's"
        yield Diagnosis("leftover", str(state / "pending-refresh"), None, what, hint, "note")


def lock_holders(subject: Subject) -> Iterator[Diagnosis]:
    """Name running programs that hold locks of mdmem's."""
    held = _held_inodes()
    for path in sorted((subject.place.state / "locks").glob("*.lock")):
        pid = held.get(path.stat().st_ino)
        if pid and path.name != "watch.lock" and pid != os.getpid():
            hint = "it gives it back when it ends"
            yield Diagnosis("lock", str(path), None, f"is held by process {pid}", hint, "note")


def _held_inodes() -> dict[int, int]:
    """Give the process of each lock of this machine, by the inode of the file; asking the kernel disturbs nobody."""
    found = {}
    try:
        listed = Path("/proc/locks").read_text("ascii").split("\n")
    except (OSError, ValueError):
        return {}
    for line in listed:
        words = line.split()
        if len(words) >= 6 and words[1] == "FLOCK" and words[3] == "WRITE":
            found[int(words[5].rpartition(":")[2])] = int(words[4])
    return found


def watch_process(subject: Subject) -> Iterator[Diagnosis]:
    """Tell whether `watch` runs, and the last trouble in its log."""
    state = subject.place.state
    try:
        running = watcher(subject.place)
    except MdmemError:
        running = None
    if running is None:
        hint = "`mdmem watch --detach` commits edits and keeps searches quick; or `mdmem commit` by hand"
        yield Diagnosis("watch", ".", None, "nobody watches this vault", hint, "note")
    log = state / "watch.log"
    if log.exists():
        lines = log.read_bytes()[-20_000:].decode("utf-8", "replace").split("\n")
        last = next((line for line in reversed(lines) if any(word in line for word in TROUBLE)), "")
        if last:
            yield Diagnosis("watch", str(log), None, f"last trouble: {last[:200]}", "see the log", "note")


CHECKS = (
    *(state_permissions, vault_permissions, held_texts, damaged_records, leftovers),
    *(lock_holders, watch_process),
)
