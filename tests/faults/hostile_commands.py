"""Every command there is, each with words that make sense, and a home in which they are run as a person runs them.

The list is taken from the program itself: a command that nobody wrote down here is tried with what its own
description says it takes, so that no new one is left out.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mdmem
from mdmem.cli import app

CODE = Path(mdmem.__file__).parent.parent
ENTRY = "daily/2026-11-29#14:30"
DOCUMENT = "archives/plan"

KNOWN: Mapping[str, tuple[str, ...]] = {
    "init": ("init", "init --hooks", "init ../other"),
    "add": ("add A new entry --tag new", "add --batch lines", "add -"),
    "search": ("search whoosh", "search whoosh --json --explain", "search tag:keep in:archives --mode keyword"),
    "show": (f"show {ENTRY}", f"show {DOCUMENT} --json"),
    "list": ("list", "list --json --in archives"),
    "edit": (f"edit {ENTRY} -", f"edit {DOCUMENT} --set status=done", f"edit {ENTRY}"),
    "rm": (f"rm {DOCUMENT} --yes", "rm --last --yes"),
    "undo": ("undo", "undo HEAD"),
    "log": ("log", f"log {ENTRY} --json"),
    "diff": ("diff", "diff HEAD~1 HEAD"),
    "blame": (f"blame {ENTRY}", f"blame {DOCUMENT}"),
    "why": (f"why {ENTRY}",),
    "reindex": ("reindex", "reindex --full", "reindex --model planted"),
    "eval": ("eval --queries ../queries.jsonl --qrels ../qrels.tsv --mode keyword",),
    "config get": ("config get embedding.model",),
    "config set": ("config set search.k 5",),
    "config trust": ("config trust", "config trust --list"),
    "model prepare": ("model prepare", "model prepare planted", "model prepare all-MiniLM-L6-v2"),
    "recover": ("recover", "recover --json", "recover 1", "recover --drop 1"),
    "conflicts": ("conflicts", "conflicts --json", "conflicts 1"),
    "watch status": ("watch status",),
    "watch stop": ("watch stop",),
}
"""Words of commands that need some; those left out are run as they are, and with `--json`."""

UNSET = "\0"
"""Stands for a variable that is not to be there."""

LASTING = ("watch", "serve", "mcp", "proxy")
"""Commands that only end when they are told to."""


def lasts(words: Sequence[str]) -> bool:
    """Tell whether a command goes on until it is told to end."""
    return bool(words) and words[0] in LASTING and all(word == "--json" for word in words[1:])


ORDER = ("", "status", "search", "show", "list", "tags", "log", "diff", "add", "edit", "commit", "undo")
"""What is run first, while the vault is as it came."""


def commands() -> list[str]:
    """List every command, those of a group after it, as it is typed; "" is the program without one."""
    found = [name for name, _ in _walk(app._built(app.COMMANDS), ())]
    return sorted(found, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def lines(name: str) -> list[list[str]]:
    """Give the words of one command in all ways in which it is tried."""
    if name in KNOWN:
        return [text.split() for text in KNOWN[name]]
    return [_filled(name), [*_filled(name), "--json"]] if name else [[], ["--json"]]


def _filled(name: str) -> list[str]:
    """Give a command that nobody described what it asks for by itself."""
    command = dict(_walk(app._built(app.COMMANDS), ()))[name]
    words = name.split()
    for param in command.params:
        if "--yes" in param.opts:
            words.append("--yes")
        elif not param.opts[0].startswith("-") and (param.required or "address" in (param.name or "")):
            words.append(ENTRY)
        elif param.required:
            words += [param.opts[0], "1"]
    return words


def _walk(command: Any, before: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield " ".join(before), command
    for name, below in getattr(command, "commands", {}).items():
        yield from _walk(below, (*before, name))


@dataclass(frozen=True, slots=True)
class Home:
    """A folder with a home, programs, a place for marks, and the vault that a person opens."""

    base: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def vault(self) -> Path:
        return self.base / "vault"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def script(self) -> Path:
        return self.base / "bin" / "mdmem"

    def environment(self) -> dict[str, str]:
        """Give an environment with nothing of the developer's in it."""
        plain = {
            "HOME": str(self.home),
            "PATH": f"{self.base / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(CODE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "MDMEM_EMBEDDING_MODEL": "",
            "XDG_RUNTIME_DIR": str(self.base / "run"),
            "EDITOR": "true",
            "LANG": "C.UTF-8",
            "TZ": "Europe/Berlin",
            "TERM": "xterm",
        }
        found = plain | dict(self.extra)
        return {name: value for name, value in found.items() if value != UNSET}

    def run(self, *words: str, seconds: float = 60, lasting: float = 3) -> subprocess.CompletedProcess[bytes]:
        """Run the program in the vault as its script is run; one that only ends when told is told after a while."""
        child = subprocess.Popen(
            [str(self.script), *words],
            cwd=self.vault,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        ends = not lasts(words)
        try:
            out, err = child.communicate(b"typed\n", timeout=seconds if ends else lasting)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGTERM)
            try:
                out, err = child.communicate(timeout=20)
            finally:
                child.kill()
            if ends:
                raise
        return subprocess.CompletedProcess(child.args, child.returncode, out, err)


def settle(base: Path, **extra: str) -> Home:
    """Make a home in an empty folder: a git identity, and the program as an installer puts it there."""
    home = Home(base, extra)
    for folder in (home.home, home.script.parent, home.base / "run"):
        folder.mkdir(parents=True, mode=0o700)
    (home.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    home.script.write_text(f"#!{sys.executable}\nimport sys\nfrom mdmem.__main__ import main\nsys.exit(main())\n")
    home.script.chmod(0o755)
    (base / "queries.jsonl").write_text('{"id": "1", "text": "whoosh"}\n')
    (base / "qrels.tsv").write_text(f"1\t{ENTRY}\t1\n")
    return home


def furnish(home: Home) -> None:
    """Make a vault with a log, a document and some history, as somebody may have made it who means no harm."""
    home.vault.mkdir()
    done = home.run("init")
    assert done.returncode == 0, done.stderr
    for path, text in {
        "memory/daily/2026-11-29.md": "# 2026-11-29\n\n- 14:30 Decided on Whoosh. #keep\n- 14:42 Another one\n",
        "memory/archives/plan.md": "---\ntitle: Plan\ntags: [keep]\n---\n# Plan\n\nWhoosh, then the rest.\n",
        "memory/archives/old.md": "# Old\n",
    }.items():
        place = home.vault / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for words in (["commit"], ["add", "First of its day"], ["rm", "archives/old", "--yes"]):
        done = home.run(*words)
        assert done.returncode == 0, done.stderr
