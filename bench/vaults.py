"""Vaults to measure with, made on the spot. None of their texts means anything, but for the sample vault's."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path

SAMPLE = Path(__file__).parent.parent / "sample_vault"
ENTRIES_A_DAY = 300
SYLLABLES = ["ba", "co", "di", "fer", "gon", "hal", "im", "ket", "lo", "min", "nor", "pel", "qua", "ris", "sto", "win"]
CHINESE = 0.3
"""The share of entries in Chinese."""


def commit(vault: Path) -> None:
    """Put all that is there under git."""
    identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *words], cwd=vault, check=True, stdout=subprocess.DEVNULL)


def samples(vault: Path, copies: int) -> None:
    """Copy the sample vault so many times, each time with other dates and folders."""
    shutil.copytree(SAMPLE, vault)
    for copy in range(1, copies):
        for path in (SAMPLE / "memory").rglob("*.md"):
            name = path.relative_to(SAMPLE / "memory")
            if name.parts[0] == "daily":
                day = date.fromisoformat(path.stem) - timedelta(days=30 * copy)
                text = path.read_text(encoding="utf-8").replace(path.stem, f"{day}")
                _write(vault / f"memory/daily/{day}.md", text)
            else:
                _write(vault / f"memory/archives/copy-{copy:03}" / name, path.read_text(encoding="utf-8"))
    commit(vault)


def small_files(vault: Path, count: int) -> None:
    """Write so many documents of a few lines."""
    words = Words(1)
    for number in range(count):
        folder = vault / f"memory/archives/{number // 500:03}"
        _write(folder / f"note-{number:06}.md", f"# Note {number}\n\n{words.text()}\n")
    _write(vault / "mdmem.toml", "")
    commit(vault)


def logs(vault: Path, entries: int, queries: int = 200) -> list[str]:
    """Write so many entries in daily logs, and return queries of two to four words, each out of one entry."""
    words = Words(2)
    asked = []
    for first in range(0, entries, ENTRIES_A_DAY):
        day = date(2026, 1, 1) - timedelta(days=first // ENTRIES_A_DAY)
        lines = [f"# {day}", ""]
        for number in range(min(ENTRIES_A_DAY, entries - first)):
            text = words.text()
            minute = number * 1440 // ENTRIES_A_DAY
            lines.append(f"- {minute // 60:02}:{minute % 60:02} {text}")
            if (first + number) % max(entries // queries, 1) == 0 and len(asked) < queries:
                asked.append(words.query(text))
        _write(vault / f"memory/daily/{day}.md", "\n".join(lines) + "\n")
    _write(vault / "mdmem.toml", "")
    commit(vault)
    return asked


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Words:
    """Words of two languages by Zipf's law, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.english = list(dict.fromkeys(self._english() for _ in range(30_000)))
        self.chinese = list(dict.fromkeys(self._chinese() for _ in range(20_000)))
        self.weights = {id(words): _zipf(len(words)) for words in (self.english, self.chinese)}

    def _english(self) -> str:
        syllables = self.random.choices(SYLLABLES, k=4)
        return "".join(syllables[: self.random.choice((1, 2, 2, 3, 3, 4))])

    def _chinese(self) -> str:
        return "".join(chr(self.random.randint(0x4E00, 0x56FF)) for _ in range(self.random.choice((1, 2, 2, 2, 3))))

    def _some(self, words: list[str], count: int) -> list[str]:
        return self.random.choices(words, cum_weights=self.weights[id(words)], k=count)

    def text(self) -> str:
        """Return 8 to 60 words, now and then with an identifier among them."""
        count = self.random.randint(8, 60)
        if self.random.random() < CHINESE:
            return "，".join(_groups("".join(self._some(self.chinese, count)))) + "。"
        words = self._some(self.english, count)
        if self.random.random() < 0.2:
            words.insert(count // 2, f"ERR_{self.random.randint(1000, 9999)}")
        return " ".join(words).capitalize() + "."

    def query(self, text: str) -> str:
        """Return what somebody may type who looks for this text."""
        words = re.findall(r"\w+", text)
        if words[0].isascii():
            return " ".join(self.random.sample(words, min(len(words), self.random.randint(2, 4))))
        run = max(words, key=len)
        start = self.random.randrange(max(len(run) - 4, 1))
        return run[start : start + 4]


def _groups(text: str) -> Iterator[str]:
    for start in range(0, len(text), 12):
        yield text[start : start + 12]


def _zipf(count: int) -> list[float]:
    return list(accumulate(1 / (rank + 2.7) for rank in range(count)))
