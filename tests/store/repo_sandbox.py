"""A home, a user and real repositories for the tests of mdmem.store.repo."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mdmem.store.repo import Committed, Repo

LOG = "memory/daily/2026-11-29.md"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home with a git identity, and no variable of git's from outside."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".gitconfig").write_text(
        "[user]\n name = Ada Lovelace\n email = ada@example.org\n[init]\n defaultBranch = main\n"
    )
    yield home


def git(folder: Path, *arguments: str, data: bytes | None = None) -> str:
    """Run git as the user does; the test fails with git's words when it fails."""
    result = subprocess.run(["git", *arguments], cwd=folder, input=data, capture_output=True, check=False)
    assert result.returncode == 0, os.fsdecode(result.stderr)
    return os.fsdecode(result.stdout)


def make(path: Path, *options: str, files: dict[str, str] | None = None) -> Path:
    """A repository with one commit."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "--quiet", *options)
    for name, text in ({LOG: "# 2026-11-29\n"} if files is None else files).items():
        write(path, name, text)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    return path


def write(folder: Path, name: str, text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return data


def state(repo: Repo) -> Path:
    place = repo.state_parent / "here"
    place.mkdir(parents=True, exist_ok=True)
    return place


def keep(repo: Repo, *, message: str = "Add an entry", **files: str | bytes | None) -> Committed:
    """Write files as an editor would and commit them; `log` is the daily log, None removes."""
    changes: dict[str, bytes | None] = {}
    for name, text in files.items():
        path = LOG if name == "log" else name
        if text is None:
            (repo.vault / path).unlink()
        changes[path] = None if text is None else write(repo.vault, path, text)
    return repo.commit(changes, message, state=state(repo))


def short_status(folder: Path) -> list[str]:
    return [line for line in git(folder, "status", "--porcelain", "-z").split("\0") if line]
