"""Many who write at once: every line once, whole, in its writer's order, and HEAD equal to the disk at rest."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import acts
import tracing
from outcome import Outcome, budget

from mdmem import Vault

PATIENCE = 600.0

SIZES = (1, 8, 30, 60, 120, 300)
LARGE = {50: 2_000, 1_999: 70_000, 7_919: 256 * 1024}
"""One line in so many has so many bytes; the others are short."""

WRITER = """
import sys, time
sys.path.insert(0, sys.argv[4])
import writers
from mdmem import Vault
from mdmem.model import NewEntry
root, writer, lines, until = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[5])
vault, line, turn = Vault.open(root), 0, writer
while line < lines and time.time() < until:
    count = min(writers.BATCHES[turn % len(writers.BATCHES)], lines - line)
    texts = [writers.text(writer, line + step) for step in range(count)]
    if count == 1:
        vault.add(texts[0])
    else:
        vault.add_batch(NewEntry(text) for text in texts)
    vault.notices.clear()
    line, turn = line + count, turn + 1
    print(line, flush=True)
"""

BATCHES = (1, 1, 2, 20, 1, 100)
"""How many lines a writer adds at a time, in turn."""

LINE = re.compile(r"^- \d\d:\d\d(?::\d\d)? (w(\d+)l(\d+)\.(\w*))$", re.MULTILINE)


def size(writer: int, line: int) -> int:
    """Give how many bytes a line has behind its name."""
    number = writer * 7 + line
    large = [size for every, size in LARGE.items() if number % every == every - 1]
    return max(large, default=SIZES[number % len(SIZES)])


def text(writer: int, line: int) -> str:
    """Give the line that a writer writes: its name, and letters that nobody could mend if one were missing."""
    name = f"w{writer}l{line}."
    wanted = size(writer, line)
    letters = hashlib.sha256(name.encode()).hexdigest()
    return name + (letters * (wanted // len(letters) + 1))[:wanted]


def check(root: Path, written: dict[int, int], *, patience: float = 60) -> list[str]:
    """Compare the logs with what each writer was told it had written, after the next commands."""
    failures = _deliver(root, patience)
    source = "".join(path.read_text() for path in sorted((root / "memory/daily").glob("*.md")))
    found: dict[int, list[int]] = {writer: [] for writer in written}
    torn = source.count("\n- ")
    for match in LINE.finditer(source):
        writer, line = int(match[2]), int(match[3])
        torn -= 1
        found[writer].append(line)
        if match[1] != text(writer, line):
            failures.append(f"line {line} of writer {writer} is not whole")
    if torn:
        failures.append(f"{torn} entries are torn or strange")
    for writer, lines in written.items():
        if lost := sorted(set(range(lines)) - set(found[writer])):
            failures.append(f"{len(lost)} lines of writer {writer} are lost: {lost[:10]}")
        if doubled := len(found[writer]) - len(set(found[writer])):
            failures.append(f"{doubled} lines of writer {writer} are there twice")
        if found[writer] != sorted(found[writer]):
            failures.append(f"the lines of writer {writer} are out of order")
    return failures + acts.unrest(root)


def _deliver(root: Path, patience: float) -> list[str]:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        Vault.open(root).today()
        if not Vault.open(root).parts.delivery.waiting():
            return []
    return ["something still waits after many commands"]


def library(folder: Path, writers: int, lines: int, *, seconds: float = PATIENCE) -> Outcome:
    """Let processes write by the library until all lines are written or the time is over."""
    root = Vault.init(folder / "vault")[0].root
    started = time.time()
    here = str(Path(__file__).parent)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, *map(str, (root, writer, lines, here, started + seconds))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for writer in range(writers)
    ]
    written, failures = {}, []
    for writer, child in enumerate(children):
        out, err = child.communicate()
        written[writer] = int(out.split()[-1]) if out else 0
        if err:
            failures.append(f"writer {writer} failed: {err[-500:]}")
    took = time.time() - started
    failures += check(root, written)
    count = sum(written.values())
    note = f"{count} lines by {writers} writers in {took:.0f} s, {count / took:.0f} a second"
    if count < writers * lines:
        note += f"; the time was over before all {writers * lines}"
    return Outcome(count, failures, note)


COMMANDS = """
for line in $(seq 0 $(($3 - 1))); do
    "$1" -m mdmem add "w$2l$line." || exit
done
"""


def commands(folder: Path, writers: int, lines: int) -> Outcome:
    """Let processes write by real commands, one after the other."""
    root = Vault.init(folder / "vault")[0].root
    started = time.monotonic()
    children = [
        subprocess.Popen(
            ["sh", "-c", COMMANDS, "sh", sys.executable, str(writer), str(lines)],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for writer in range(writers)
    ]
    failures = []
    for writer, child in enumerate(children):
        _, err = child.communicate()
        if child.returncode or "Traceback" in err:
            failures.append(f"writer {writer} failed with {child.returncode}: {tracing.brief(err)}")
    took = time.monotonic() - started
    failures += _check_short(root, writers, lines)
    return Outcome(writers * lines, failures, f"{writers * lines / took:.0f} commands a second")


def _check_short(root: Path, writers: int, lines: int) -> list[str]:
    failures = _deliver(root, 60)
    source = "".join(path.read_text() for path in sorted((root / "memory/daily").glob("*.md")))
    for writer in range(writers):
        found = [int(line) for line in re.findall(rf" w{writer}l(\d+)\.\n", source)]
        if found != list(range(lines)):
            failures.append(f"writer {writer} left {found}")
    return failures + acts.unrest(root)


SIXTEEN = "16 writers × 50 real commands"
ALONE = (SIXTEEN,)

FULL: dict[str, Callable[[Path], Outcome]] = {
    "64 writers × 1,000 lines, library": lambda folder: library(folder, 64, 1000, seconds=budget(500)),
    SIXTEEN: lambda folder: commands(folder, 16, 50),
}
