"""Editors that save older copies over lines that were acknowledged meanwhile: in five ways, at every pace.

A line that an editor drops comes back, or is listed by `mdmem recover`; what the editor wrote stays, what it took out
on purpose stays out, and nothing is there twice.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import acts
import tracing
from outcome import Outcome, chance, seed

from mdmem import Vault

SOON = 5.0
"""Seconds within which a dropped line is to be back."""

SHARE = 0.999
"""Of the dropped lines, how many at least come back that soon."""

PATIENCE = 60.0

# How editors save


def rename_over(path: Path, text: bytes) -> None:
    """GNOME, JetBrains, Syncthing: a new file takes the name."""
    fresh = path.with_name(f".goutputstream-{os.urandom(3).hex()}")
    fresh.write_bytes(text)
    fresh.replace(path)


def in_place(path: Path, text: bytes) -> None:
    """nano, VS Code, Obsidian: the file is emptied and written again, in pieces."""
    with path.open("r+b", buffering=0) as file:
        file.truncate(0)
        for start in range(0, len(text), 4096):
            file.write(text[start : start + 4096])


def vim(path: Path, text: bytes) -> None:
    """The old file is moved aside, then a new one is written: in between there is none."""
    backup = path.with_name(f"{path.name}~")
    path.rename(backup)
    path.write_bytes(text)
    backup.unlink()


def sed(path: Path, text: bytes) -> None:
    """`sed -i` itself: it reads, writes `sed??????` and renames; the text is what it puts in the file's place."""
    program = path.parent.parent.parent / ".git/new-text"
    program.write_bytes(text)
    # The first line is replaced by the new text, and all others are deleted.
    subprocess.run(["sed", "-i", "-e", f"1{{r {program}\n}}", "-e", "d", str(path)], check=True)


def emacs(path: Path, text: bytes) -> None:
    """A lock that is a dangling link, a backup that is a second name, a new file that takes the first."""
    lock, backup, fresh = (path.with_name(name) for name in (f".#{path.name}", f"{path.name}~", f"#{path.name}#"))
    lock.symlink_to("ada@host.4711:1796000000")
    fresh.write_bytes(text)
    with suppress(FileNotFoundError):
        backup.unlink()
    os.link(path, backup)
    fresh.replace(path)
    lock.unlink()
    backup.unlink()


STYLES: dict[str, Callable[[Path, bytes], None]] = {
    "rename over": rename_over,
    "in place": in_place,
    "vim": vim,
    "sed -i": sed,
    "Emacs": emacs,
}

# Who appends

APPENDER = """
import os, random, sys, time
from mdmem import Vault
root, writer, lines, pause, said = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
said = os.open(said, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
numbers = random.Random(writer)
for line in range(lines):
    text = f"writer {writer} line {line} end"
    Vault.open(root).add(text)
    os.write(said, (text + "\\n").encode())
    time.sleep(numbers.random() * 2 * pause)
"""


@dataclass
class Editor:
    """Somebody at an editor: reads, thinks, saves, rests for up to so many seconds.

    `typed` and `cut` are what they wrote and took out.
    """

    path: Path
    save: Callable[[Path, bytes], None]
    think: Callable[[], float]
    numbers: random.Random
    rest: float = 0.5
    typed: list[str] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)
    saves: int = 0
    errors: list[str] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        """Edit until told to stop."""
        while not stop.is_set():
            try:
                self._edit()
            except Exception as error:
                self.errors.append(repr(error))
            time.sleep(self.numbers.random() * self.rest)

    def _edit(self) -> None:
        text = self._read()
        time.sleep(self.think())
        lines = text.splitlines(keepends=True)
        cut = self._cut(lines) if self.numbers.random() < 0.25 else None
        typed = f"- 09:00 typed {self.saves} by hand\n" if self.numbers.random() < 0.5 else None
        if typed:
            lines.append(typed)
        self.save(self.path, "".join(lines).encode())
        self.saves += 1
        self.typed += [typed.strip()] if typed else []
        self.cut |= {cut} if cut else set()

    def _read(self) -> str:
        # An editor that finds the file in the middle of a write of ours shows half a line; people look again.
        while not (text := self.path.read_text()).endswith("\n"):
            time.sleep(0.005)
        return text

    def _cut(self, lines: list[str]) -> str | None:
        ours = [number for number, line in enumerate(lines) if " writer " in line]
        return text_of(lines.pop(self.numbers.choice(ours))) if len(ours) > 3 else None


def text_of(line: str) -> str:
    """Give an entry's text without its time."""
    return line.rstrip("\n").split(" ", 2)[2] if line.startswith("- ") else line.rstrip("\n")


@dataclass
class Sight:
    """Looks at the log all the time, and notes how long an acknowledged line was away from it."""

    path: Path
    said: Path
    away: dict[str, float] = field(default_factory=dict)
    returned: list[tuple[str, float]] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)

    def run(self, stop: threading.Event) -> None:
        """Look until told to stop."""
        while not stop.is_set():
            self.look()
            time.sleep(0.02)

    def look(self) -> None:
        """Compare the log with what was acknowledged before."""
        acknowledged = self.acknowledged()
        try:
            text = self.path.read_bytes().decode(errors="replace")
        except FileNotFoundError:
            return  # the gap in a rename
        if not text.endswith("\n"):
            return  # in the middle of a save
        now, there = time.monotonic(), {text_of(line) for line in text.splitlines()}
        for line in acknowledged - there - self.away.keys():
            self.away[line] = now
        for line in self.away.keys() & there:
            self.returned.append((line, now - self.away.pop(line)))

    def acknowledged(self) -> set[str]:
        """Give the lines that were acknowledged so far."""
        return set(self.said.read_text().splitlines()) if self.said.exists() else set()


# Who looks after the vault meanwhile

POLLER = """
import sys, time
from mdmem import Vault
while True:
    vault = Vault.open(sys.argv[1])
    vault.status()
    if vault.notices:
        print(*vault.notices, sep="\\n", flush=True)
    time.sleep(0.1)
"""


def has_watch() -> bool:
    """Tell whether this mdmem has `watch`."""
    done = subprocess.run(tracing.python("watch", "--help"), capture_output=True, check=False)
    return done.returncode == 0


@contextmanager
def watching(
    root: Path, *, real: bool, said: Path, words: list[str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Have `mdmem watch` look after the vault, or else these words: a loop of one command after the other."""
    words = tracing.python("watch") if real else words or [sys.executable, "-c", POLLER, str(root)]
    with said.open("wb") as output:
        process = subprocess.Popen(words, cwd=root, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE)


# The race


@dataclass(frozen=True, slots=True)
class Race:
    """How an editor and writers meet; with `timed` what comes back late is a failure, too. Times are in seconds."""

    style: str
    appenders: int = 8
    lines: int = 50
    pause: float = 0.02
    slowest: float = 0.1
    rest: float = 0.5
    real: bool = False
    timed: bool = False


def run(folder: Path, race: Race) -> Outcome:
    """Let them race, and compare what is left with what was acknowledged."""
    numbers = chance("editors", race.style, race.lines)
    root = folder / race.style.replace(" ", "-")
    vault = Vault.init(root)[0]
    vault.add("first of all")
    path = root / vault.today()[0]
    editor = Editor(path, STYLES[race.style], lambda: numbers.random() ** 3 * race.slowest, numbers, race.rest)
    sight = Sight(path, root.with_name(f"{root.name}.said"))
    stop, blind = threading.Event(), threading.Event()
    threads = [threading.Thread(target=editor.run, args=(stop,)), threading.Thread(target=sight.run, args=(blind,))]
    with watching(root, real=race.real, said=root.with_name(f"{root.name}.watch")) as watch:
        for thread in threads:
            thread.start()
        try:
            failures = _append(race, root, sight.said)
        finally:
            stop.set()
            threads[0].join()
        _calm(sight, editor)
        alive = watch.poll() is None
        blind.set()
        threads[1].join()
    if not alive:
        failures.append(f"what looked after the vault ended: {root.with_name(f'{root.name}.watch').read_text()[-500:]}")
    return _judge(root, race, editor, sight, failures)


def _append(race: Race, root: Path, said: Path) -> list[str]:
    words = [str(race.lines), str(race.pause), str(said)]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", APPENDER, str(root), str(writer), *words], stderr=subprocess.PIPE, text=True
        )
        for writer in range(race.appenders)
    ]
    errors = [child.communicate()[1] for child in children]
    return [f"an appender failed: {error[-500:]}" for error in errors if error]


def _calm(sight: Sight, editor: Editor) -> None:
    """Wait until what was dropped is back, or for as long as nobody would wait."""
    deadline = time.monotonic() + 2 * SOON
    while time.monotonic() < deadline and sight.away.keys() - editor.cut:
        time.sleep(0.1)


def _judge(root: Path, race: Race, editor: Editor, sight: Sight, failures: list[str]) -> Outcome:
    late = {line for line, seconds in sight.returned if seconds > SOON} | (sight.away.keys() - editor.cut)
    Vault.open(root).today()
    time.sleep(0.5)
    Vault.open(root).today()
    logs = [path.read_text() for path in (root / "memory/daily").glob("*.md")]
    counts = Counter(text_of(line) for text in logs for line in text.splitlines())
    acknowledged = sight.acknowledged()
    missing = {line for line in acknowledged if not counts[line]} - editor.cut
    held = missing & recoverable(root).keys()
    label = f"{race.style}, seed {seed()}"
    failures += [f"{label}: {len(missing - held)} lines unrecoverable: {sorted(missing - held)[:5]}"] * bool(
        missing - held
    )
    if lost := [line for line in editor.typed if not counts[text_of(line)]]:
        failures.append(f"{label}: {len(lost)} of the editor's own lines are lost: {lost[:5]}")
    if doubled := [line for line in counts if counts[line] > 1 and (line in acknowledged or "typed" in line)]:
        failures.append(f"{label}: {len(doubled)} lines are there twice: {doubled[:5]}")
    if torn := [line for line in counts if "writer" in line and line not in acknowledged]:
        failures.append(f"{label}: torn lines: {torn[:5]}")
    dropped = len(sight.returned) + len(sight.away.keys() - editor.cut)
    slow = len(late - held)
    if race.timed and slow > (1 - SHARE) * max(dropped, 1):
        failures.append(f"{label}: {slow} of {dropped} dropped lines were not back within {SOON:.0f} s")
    failures += [f"{label}: the editor met {error}" for error in editor.errors[:3]]
    Vault.open(root).commit()
    failures += [f"{label}: {one}" for one in acts.unrest(root)]
    slowest = max((seconds for _, seconds in sight.returned), default=0.0)
    returned = len([line for line in editor.cut if counts[line]])
    reasons = Counter(reason for line, reason in recoverable(root).items() if line in held)
    note = f"{editor.saves} saves, {dropped} dropped, {slow} later than {SOON:.0f} s, slowest {slowest:.1f} s"
    note += f", held {dict(reasons)}, {returned} of {len(editor.cut)} deletions came back"
    return Outcome(len(acknowledged), failures, note)


def recoverable(root: Path) -> dict[str, str]:
    """Give what `mdmem recover` can put back: text → why it is held."""
    done = subprocess.run(tracing.python("recover", "--json"), cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return {row["text"]: row["reason"] for row in json.loads(done.stdout or '{"held": []}')["held"]}


def _full(style: str) -> Callable[[Path], Outcome]:
    return lambda folder: run(folder, Race(style, lines=60, slowest=2.0, rest=2.0, real=has_watch(), timed=True))


FULL: dict[str, Callable[[Path], Outcome]] = {f"editor, {style}, 8 writers × 60": _full(style) for style in STYLES}

ALONE = tuple(FULL)
