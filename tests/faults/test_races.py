"""Many writers at once, and editors between them: every line once, whole, in its writer's order."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import writers
from vault_sandbox import CODE, again, committed, git, log, ops, python, status

from mdmem import Vault

LINE = re.compile(r"^- \d\d:\d\d(?::\d\d)? writer (\d+) line (\d+)( x*)? end$", re.MULTILINE)


def check(vault: Vault, writers: int, lines: int) -> None:
    """At rest every line is there once, in order for each writer, and HEAD is what is on disk."""
    again(vault).status()
    again(vault).status()
    found: dict[int, list[int]] = {}
    for path in sorted((vault.root / "memory/daily").iterdir()):
        name = f"memory/daily/{path.name}"
        assert committed(vault, name) == log(vault, name)
        matches = LINE.findall(path.read_text())
        assert len(matches) == path.read_text().count("\n- ")
        for writer, line, _ in matches:
            found.setdefault(int(writer), []).append(int(line))
    assert found == {writer: list(range(lines)) for writer in range(writers)}
    assert status(vault) == ""
    assert "save" not in ops(vault)
    assert again(vault).status().pending == 0
    assert git(vault, "fsck", "--no-dangling") == ""


def commands(vault: Vault, writer: int, lines: int) -> list[str]:
    """Run real commands one after the other."""
    said = []
    for line in range(lines):
        words = [sys.executable, "-m", "mdmem", "add", f"writer {writer} line {line} end"]
        done = subprocess.run(words, cwd=vault.root, capture_output=True, text=True, env=environment(), check=False)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        said.append(done.stderr)
    return said


def environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(CODE)}


def test_real_commands(vault: Vault) -> None:
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda writer: commands(vault, writer, 2), range(16)))
    check(vault, 16, 2)


def test_many_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CODE))
    done = writers.library(tmp_path, 16, 200)
    assert done.failures == []
    assert done.tries == 16 * 200


WRITER = """
import sys
from mdmem import Vault
for line in range(int(sys.argv[3])):
    Vault.open(sys.argv[1]).add(f"writer {sys.argv[2]} line {line}" + (" " + "x" * 1500) * (line % 3 == 2) + " end")
"""


@pytest.mark.parametrize("shared", [False, True])
def test_threads(vault: Vault, shared: bool) -> None:
    def write(writer: int) -> None:
        for line in range(5):
            (vault if shared else Vault.open(vault.root)).add(f"writer {writer} line {line} end")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    check(vault, 8, 5)


def test_beside_a_user_who_commits(vault: Vault) -> None:
    """A person stages and commits code all the time: no commit is lost on either side, nothing is swept up."""
    children = [python(WRITER, vault.root, writer, 6) for writer in range(3)]
    made = 0
    while any(child.poll() is None for child in children) and made < 200:
        (vault.root / "app.py").write_text(f"{made}\n")
        added = subprocess.run(["git", "add", "app.py"], cwd=vault.root, capture_output=True, check=False)
        if added.returncode == 0:
            done = subprocess.run(["git", "commit", "-qm", "Code"], cwd=vault.root, capture_output=True, check=False)
            made += done.returncode == 0
        time.sleep(0.02)
    for child in children:
        _, err = child.communicate()
        assert child.returncode == 0, err
    check_code(vault, made)
    check(vault, 3, 6)


def check_code(vault: Vault, made: int) -> None:
    git(vault, "add", "app.py")
    git(vault, "commit", "-q", "--allow-empty", "-m", "Code")
    ours = git(vault, "log", "--format=%H", "--grep=Mdmem-Op").split("\n")
    assert git(vault, "log", "--format=%s", "--invert-grep", "--grep=Mdmem-Op").split("\n") == ["Code"] * (made + 1)
    for commit in ours:
        assert "app.py" not in git(vault, "show", "--format=", "--name-only", commit)
