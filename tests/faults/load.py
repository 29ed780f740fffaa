"""Saves that are committed by themselves while users work in the same repository.

At rest HEAD is what is on disk. No commit is empty, none holds half a save, and none is taken back by the user's own.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import acts
import editors
import tracing
from outcome import Outcome, chance

from mdmem import Vault

FILES = ("plan", "notes/people", "archives/search")
PIECE = 8192


def body(number: int, name: str) -> bytes:
    """Give one version of a document, which says which it is and whether it is whole."""
    line = hashlib.sha256(f"{name} {number}".encode()).hexdigest()
    inner = "".join(f"- {step} {line}\n" for step in range(20 + number % 5 * 100))
    return f"# Version {number} of {name}\n\n{inner}\nend of {number}\n".encode()


def number_of(data: bytes) -> int:
    """Tell which version this is, -1 for none."""
    head = data.partition(b"\n")[0].split()
    return int(head[2]) if len(head) > 2 and head[2].isdigit() else -1


def is_whole(data: bytes, name: str) -> bool:
    """Tell whether a version is one that was saved."""
    return number_of(data) >= 0 and data == body(number_of(data), name)


def save(root: Path, name: str, number: int, style: str) -> None:
    """Save a version as an editor does."""
    path = root / f"memory/{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(body(number, name))
    else:
        editors.STYLES[style](path, body(number, name))


SAVER = """
import sys, time
from mdmem import Vault
while True:
    try:
        vault = Vault.open(sys.argv[1])
        vault.commit()
    except Exception as error:
        if type(error).__module__ != "mdmem.errors":
            raise
    time.sleep(0.05)
"""
"""Commits by itself where there is no `watch`."""


def run(folder: Path, saves: int, *, real: bool, pause: float) -> Outcome:
    """Save documents, add entries and commit code at the same time, and look at each commit."""
    numbers = chance("load", saves)
    root = Vault.init(folder / "vault")[0].root
    stop = threading.Event()
    made, added, errors = [0], [0], []

    def commit_code() -> None:
        while not stop.is_set():
            (root / f"app{made[0] % 7}.py").write_text(f"{made[0]}\n")
            if _git(root, "add", f"app{made[0] % 7}.py") and _git(root, "commit", "-qm", "Code"):
                made[0] += 1
            time.sleep(numbers.random() * 0.1)

    def add() -> None:
        while not stop.is_set():
            try:
                Vault.open(root).add(f"entry {added[0]}")
                added[0] += 1
            except Exception as error:
                errors.append(f"an add failed: {error!r}")
            time.sleep(numbers.random() * 0.2)

    threads = [threading.Thread(target=commit_code), threading.Thread(target=add)]
    words = None if real else [sys.executable, "-c", SAVER, str(root)]
    with editors.watching(root, real=real, said=folder / "watch", words=words) as watch:
        for thread in threads:
            thread.start()
        for number in range(saves):
            with suppress(FileNotFoundError):
                save(root, numbers.choice(FILES), number, numbers.choice(("rename over", "in place", "vim")))
            time.sleep(numbers.random() * 2 * pause)
        stop.set()
        for thread in threads:
            thread.join()
        made[0] += _git(root, "commit", "-qm", "Code")  # what a busy repository had refused
        failures = errors[:3] + _settled(root)
        if watch.poll() is not None:
            failures.append(f"what commits ended: {tracing.brief((folder / 'watch').read_text())}")
    Vault.open(root).today()
    failures += acts.unrest(root) + _history(root, made[0]) + _entries(root, added[0])
    ours = acts.git(root, "rev-list", "--count", "--grep=^Mdmem-Op: save", "HEAD")
    return Outcome(saves, failures, f"{ours} commits of saves, {made[0]} of code, {added[0]} entries")


def _git(root: Path, *words: str) -> bool:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, check=False).returncode == 0


def _settled(root: Path) -> list[str]:
    """Wait until HEAD is what is on disk."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if not acts.git(root, "status", "--porcelain", "--", "memory"):
            return []
        time.sleep(0.2)
    return [f"HEAD is not what is on disk: {acts.git(root, 'status', '--porcelain', '--', 'memory')}"]


def _history(root: Path, made: int) -> list[str]:
    """Look at every commit: not empty, each version whole, and none takes an earlier one back."""
    failures = []
    subjects = acts.git(root, "log", "--format=%s").split("\n")
    if subjects.count("Code") != made:
        failures.append(f"{made} commits of the user's were made, and {subjects.count('Code')} are there")
    now: dict[str, bytes] = {}
    for commit in acts.git(root, "rev-list", "--reverse", "--first-parent", "HEAD").split():
        names = acts.git(root, "show", "--format=", "--name-only", commit).split()
        said = f"{commit[:8]} ({acts.git(root, 'show', '-s', '--format=%s', commit)})"
        failures += [f"{said} is empty"] if not names else []
        for name in (name for name in names if name.startswith("memory/")):
            # Memory may go along in a commit of the user's, made just before ours; taken back it may not be.
            data = _blob(root, commit, name) or b""
            failures += [f"{said}, {name}: {one}" for one in _wrong(name, now.get(name, b""), data)]
            now[name] = data
    return failures


def _wrong(name: str, before: bytes, data: bytes) -> Iterator[str]:
    stem = name.removeprefix("memory/").removesuffix(".md")
    if "/daily/" in name and not data.startswith(before):
        yield "entries were taken back"
    if stem in FILES and not is_whole(data, stem):
        yield f"half a save: {data[:40]!r} … {data[-40:]!r}"
    if stem in FILES and before and number_of(data) < number_of(before):
        yield f"version {number_of(before)} was taken back to {number_of(data)}"


def _blob(root: Path, commit: str, name: str) -> bytes | None:
    done = subprocess.run(["git", "show", f"{commit}:{name}"], cwd=root, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def _entries(root: Path, added: int) -> list[str]:
    text = "".join(path.read_text() for path in (root / "memory/daily").glob("*.md"))
    wrong = [number for number in range(added) if text.count(f" entry {number}\n") != 1]
    return [f"entries lost or doubled: {wrong[:10]}"] if wrong else []


# Growth


def day(folder: Path, minutes: int, size: int) -> Outcome:
    """Let a log grow to `size` bytes in so many commits, pack it, and compare with what was written."""
    root = Vault.init(folder / "vault")[0].root
    vault = Vault.open(root)
    numbers = chance("growth")
    words = [f"{numbers.randrange(36**6):x}" for _ in range(5000)]
    for _ in range(minutes):
        text, wanted = "", size // minutes
        while len(text) < wanted:
            text += f"{' '.join(numbers.choices(words, k=12))}.\n"
        vault.add(text[:wanted])
        vault.notices.clear()
    loose = _size(root)
    acts.git(root, "gc", "-q")
    packed, payload = _size(root), sum(path.stat().st_size for path in (root / "memory/daily").glob("*.md"))
    note = f"{payload >> 10} KiB written in {minutes} commits: {packed >> 10} KiB packed, {loose >> 10} before"
    failures = [f"history is {packed / payload:.1f} times what was written"] if packed > 2 * payload else []
    return Outcome(minutes, failures + acts.unrest(root), note)


def _size(root: Path) -> int:
    return sum(
        os.stat(Path(above, name)).st_size for above, _, names in os.walk(root / ".git/objects") for name in names
    )


SAVES = "500 saves committed under load"

FULL: dict[str, Callable[[Path], Outcome]] = {
    SAVES: lambda folder: run(folder, 500, real=editors.has_watch(), pause=0.15),
    "growth: 5 MB in 40 commits": lambda folder: day(folder, 40, 5 << 20),
}

ALONE = (SAVES,)
