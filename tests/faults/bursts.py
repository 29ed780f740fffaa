"""Many changes at once, and no watches left, while `mdmem watch` runs: nothing may be missed."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from outcome import Outcome
from vault_sandbox import git
from watch_sandbox import Watched, found, watched

from mdmem import Vault

PATIENCE = 300.0
"""Seconds in which everything must be in history and index."""


def burst(folder: Path, files: int) -> Outcome:
    """Write as many files as fast as they can be; each is to be committed and found."""
    vault = Vault.init(folder / "vault")[0]
    with watched(vault) as running:
        for number in range(files):
            place = vault.root / f"memory/burst/{number % 97:02}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number}.md").write_text(f"# Note {number}\n\nburst{number:06} of many\n")
        failures = _settled(vault, running, files)
        failures += _missed(vault, files)
    return Outcome(files, failures, _commits(vault))


def changes(folder: Path, rounds: int) -> Outcome:
    """Move, replace, empty, fill and delete whole folders again and again; HEAD is to be what is on disk."""
    vault = Vault.init(folder / "vault")[0]
    with watched(vault) as running:
        for number in range(rounds):
            place = vault.root / f"memory/turn/{number % 7}"
            place.mkdir(parents=True, exist_ok=True)
            for name in range(40):
                (place / f"{name}.md").write_text(f"# {number} {name}\n")
            other = place.with_name(f"moved {number % 3}")
            if number % 3 == 0:
                shutil.rmtree(other, ignore_errors=True)
                place.rename(other)
            (vault.root / "memory/one.md").write_text("" if number % 2 else f"# One {number}\n")
        (vault.root / "memory/one.md").write_text("# One at last\n")
        failures = _settled(vault, running, None)
    return Outcome(rounds * 40, failures, _commits(vault))


def exhausted(folder: Path, tries: int) -> Outcome:
    """Save where the system has no watch left: the same, later, and the reason is said once."""
    vault = Vault.init(folder / "vault")[0]
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    inside += ['echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"', "sh"]
    if subprocess.run([*inside, "true"], check=False, capture_output=True).returncode:
        return Outcome(0, [], "there are no user namespaces here")
    with watched(vault, by=inside) as running:
        for number in range(tries):
            (vault.root / f"memory/{number}.md").write_text(f"# Note {number}\n\nburst{number:06} of many\n")
        failures = _settled(vault, running, tries)
        if running.log().count("no events") != 1:
            failures.append(f"the reason is not said once: {running.log()}")
    return Outcome(tries, failures, _commits(vault))


def _settled(vault: Vault, running: Watched, files: int | None) -> list[str]:
    """Wait until nothing is left to commit."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if running.process.poll() is not None:
            return [f"it ended: {running.log()}"]
        left = git(vault, "status", "--porcelain", "--untracked-files=all", "--", "memory")
        left = "\n".join(line for line in left.split("\n") if line and not line.startswith(" D"))
        listed = git(vault, "ls-files", "memory").count("\n")
        if not left and (files is None or listed >= files):
            return []
        time.sleep(0.5)
    return [f"not in history after {PATIENCE:.0f} s: {left[:2_000]}"]


def _missed(vault: Vault, files: int) -> list[str]:
    """Count all that is found, once it is indexed, and search for some of the files."""
    until = time.monotonic() + PATIENCE
    while (total := found(vault.root, "many", "-k", "1")["total"]) != files and time.monotonic() < until:
        time.sleep(1)
    shown = range(0, files, max(1, files // 20))
    missed = [number for number in shown if found(vault.root, f"burst{number:06}", "-k", "1")["total"] != 1]
    return [f"not found: {number}" for number in missed] + ([] if total == files else [f"{total} of {files} found"])


def _commits(vault: Vault) -> str:
    return f"{git(vault, 'rev-list', '--count', 'HEAD')} commits"


FULL: Mapping[str, Callable[[Path], Outcome]] = {
    "30,000 files in one burst": lambda folder: burst(folder, 30_000),
    "folders moved, replaced, deleted": lambda folder: changes(folder, 300),
    "no watches left": lambda folder: exhausted(folder, 300),
}
