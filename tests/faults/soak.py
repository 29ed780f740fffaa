#!/usr/bin/env python3
"""Use one vault for a long time as it is meant to be used: four agents, an editor and `watch`; print each minute.

    python tests/faults/soak.py [--minutes 30] [--seed N] [--keep]

Agents add and search by real commands. Printed are the lines that were acknowledged, those of them that the log lacks
and nobody took out, what searches said, memory and descriptors of `watch`, and the size of the repository. Ends with 1
when a line is lost, or a command or `watch` failed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import editors
import run
import tracing

WORDS = ("coffee", "tea", "Tokyo", "project", "index", "garden", "violin", "Whoosh", "deadline", "Berlin", "recipe")


@dataclass
class Agent:
    """Somebody who adds and searches by commands. `said` gathers what went wrong."""

    number: int
    root: Path
    acknowledged: Path
    numbers: random.Random
    added: int = 0
    searched: int = 0
    said: list[str] = field(default_factory=list)

    def work(self, stop: threading.Event) -> None:
        """Add and search until told to stop."""
        while not stop.is_set():
            if self.numbers.random() < 0.6:
                self.add()
            else:
                self.search()
            time.sleep(self.numbers.random() * 4)

    def add(self) -> None:
        """Keep one line."""
        text = f"agent {self.number} line {self.added} {' '.join(self.numbers.sample(WORDS, 4))} end"
        if self._run("add", text).returncode == 0:
            self.added += 1
            with self.acknowledged.open("a") as file:
                file.write(f"{text}\n")

    def search(self) -> None:
        """Look for something."""
        self._run("search", self.numbers.choice(WORDS), accepted=(0, 1))
        self.searched += 1

    def _run(self, *words: str, accepted: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(tracing.python(*words), cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode not in accepted or "Traceback" in done.stderr:
            self.said.append(f"{words[0]} ended with {done.returncode}: {tracing.brief(done.stderr)}")
        return done


def resources(pid: int) -> tuple[int, int, int]:
    """Give what a process uses: memory in MiB, descriptors, children."""
    status = Path(f"/proc/{pid}/status").read_text()
    memory = next(int(line.split()[1]) for line in status.split("\n") if line.startswith("VmRSS"))
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = sum(len((task / "children").read_text().split()) for task in tasks)
    return memory >> 10, len(os.listdir(f"/proc/{pid}/fd")), children


def repository(root: Path) -> int:
    """Give the size of the repository in KiB, without what belongs to mdmem alone."""
    total = 0
    for above, folders, names in os.walk(root / ".git"):
        if "mdmem" in folders:
            folders.remove("mdmem")
        for name in names:
            total += Path(above, name).stat().st_size if Path(above, name).exists() else 0
    return total >> 10


def lost(root: Path, acknowledged: Path, cut: set[str]) -> list[str]:
    """List the acknowledged lines that no log has, no editor took out, and `recover` does not list."""
    text = Counter(
        editors.text_of(line) for path in (root / "memory/daily").glob("*.md") for line in path.read_text().split("\n")
    )
    missing = [line for line in acknowledged.read_text().split("\n") if line and not text[line] and line not in cut]
    if not missing:
        return []
    held = editors.recoverable(root)
    return [line for line in missing if line not in held]


def soak(root: Path, minutes: float, seed: int) -> int:
    """Run it, and print the table; give the exit code."""
    numbers = random.Random(seed)
    subprocess.run(tracing.python("init", str(root)), check=True, capture_output=True)
    subprocess.run(tracing.python("add", "first of all"), cwd=root, check=True, capture_output=True)
    acknowledged, said = root.with_name("acknowledged"), root.with_name("watch.log")
    acknowledged.touch()
    log = next((root / "memory/daily").iterdir())
    agents = [Agent(number, root, acknowledged, random.Random(numbers.random())) for number in range(4)]
    save = {style: editors.STYLES[style] for style in editors.STYLES}
    editor = editors.Editor(
        log, lambda path, text: numbers.choice(list(save.values()))(path, text), lambda: numbers.random() * 20, numbers
    )
    stop = threading.Event()
    threads = [threading.Thread(target=one.work, args=(stop,)) for one in agents]
    threads.append(threading.Thread(target=editor.run, args=(stop,)))
    failed = False
    with editors.watching(root, real=True, said=said) as watch:
        for thread in threads:
            thread.start()
        print("| minute | added | searched | saves | lost now | memory MiB | descriptors | children | repository KiB |")
        print(f"| ---: {'| ---: ' * 8}|", flush=True)
        for minute in range(1, int(minutes) + 1):
            time.sleep(60)
            row = (minute, sum(one.added for one in agents), sum(one.searched for one in agents), editor.saves)
            gone = len(lost(root, acknowledged, editor.cut))
            if watch.poll() is not None:
                print("`watch` ended")
                break
            print(f"| {' | '.join(map(str, (*row, gone, *resources(watch.pid), repository(root))))} |", flush=True)
        stop.set()
        for thread in threads:
            thread.join()
        time.sleep(10)
        failed = watch.poll() is not None
    subprocess.run(tracing.python(), cwd=root, check=False, capture_output=True)
    gone = lost(root, acknowledged, editor.cut)
    wrong = [line for one in agents for line in one.said] + editor.errors
    print(f"\nlost: {gone or 'nothing'}\n{len(wrong)} failures of commands: {wrong[:10]}")
    print(f"\nwatch said:\n{said.read_text(errors='replace')[-3000:]}")
    return 1 if gone or wrong or failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--seconds", type=float, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help="leave the vault where it is")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    os.environ.update(run.world(folder / "home", options))
    print(f"seed {options.seed}, vault {folder / 'vault'}\n")
    try:
        return soak(folder / "vault", options.minutes, options.seed)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
