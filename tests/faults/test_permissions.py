"""Files and folders that may not be read or written, as an ordinary user meets them."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from vault_sandbox import CODE

NOW = datetime.fromisoformat("2026-11-29T14:30:05+01:00").isoformat()
LOG = "memory/daily/2026-11-29.md"
ACT = f"""
import sys
from datetime import datetime
from mdmem import Vault, config
from mdmem.errors import MdmemError
config.now = lambda settings: config.local(settings, datetime.fromisoformat({NOW!r}))
try:
    vault = Vault.open(sys.argv[1])
    done = getattr(vault, sys.argv[2])(*sys.argv[3:])
    print(type(done).__name__, getattr(done, "pending", None))
    print(*vault.notices, sep=chr(10))
except MdmemError as error:
    print(type(error).__name__, error.message)
"""


@dataclass
class Nobody:
    """Another user, and a vault of theirs with one entry."""

    home: Path
    root: Path

    def run(self, code: str, *words: object) -> subprocess.CompletedProcess[str]:
        user = pwd.getpwnam("nobody")
        command = [sys.executable, "-c", code, *map(str, words)]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *command]
        environment = {**os.environ, "PYTHONPATH": str(CODE), "HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    def act(self, *words: str) -> str:
        done = self.run(ACT, self.root, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def nobody(world: Path) -> Iterator[Nobody]:
    home = Path(tempfile.mkdtemp(prefix="mdmem-nobody-", dir="/tmp"))  # pytest's own folders are closed to others
    try:
        home.chmod(0o777)
        shutil.copy(world / ".gitconfig", home)
        (home / ".gitconfig").chmod(0o644)
        made = Nobody(home, home / "vault")
        done = made.run("import sys; from mdmem import Vault; Vault.init(sys.argv[1])", made.root)
        if done.returncode:
            pytest.skip(f"there is no other user to be: {done.stderr[-200:]}")
        assert made.act("add", "one") == "Added False\n\n"
        yield made
    finally:
        shutil.rmtree(home)


def test_a_log_nobody_may_read(nobody: Nobody) -> None:
    log = nobody.root / LOG
    before = log.read_bytes()
    log.chmod(0)
    said = nobody.act("add", "two")
    assert said.startswith("Added True")
    assert f"kept, not yet in the log: cannot read {LOG}: permission denied" in said
    for act in (("remove",), ("edit", "x"), ("set_field", "a", "b")):
        word, *rest = act
        said = nobody.act(word, "daily/2026-11-29#14:30", *rest)
        assert said.startswith(f"StorageFailed cannot read {LOG}: permission denied")
    assert nobody.act("commit").split()[0] == "list"
    assert log.stat().st_mode & 0o777 == 0
    log.chmod(0o600)
    assert log.read_bytes() == before
    nobody.act("status")
    assert log.read_bytes() == before + b"- 14:30:05 two\n"


def test_a_log_nobody_may_write(nobody: Nobody) -> None:
    log = nobody.root / LOG
    before = log.read_bytes()
    log.chmod(0o400)
    assert nobody.act("add", "two").startswith("Added True")
    assert log.read_bytes() == before
    log.chmod(0o600)
    nobody.act("status")
    assert log.read_bytes() == before + b"- 14:30:05 two\n"


def test_a_folder_nobody_may_write(nobody: Nobody) -> None:
    folder = (nobody.root / LOG).parent
    log = nobody.root / LOG
    before = log.read_bytes()
    folder.chmod(0o500)
    try:
        assert nobody.act("add", "in place").startswith("Added False")
        said = nobody.act("edit", "daily/2026-11-29#14:30", "x")
        assert said.startswith("StorageFailed")
        said = nobody.act("remove", "daily/2026-11-29")
        assert said.startswith("StorageFailed")
        assert log.read_bytes() == before + b"- 14:30:05 in place\n"
        assert nobody.act("add", "large " * 500).startswith("Added True")
    finally:
        folder.chmod(0o700)
    nobody.act("status")
    assert b"large large" in log.read_bytes()
    assert nobody.act("undo").startswith("Change")


def test_a_state_nobody_may_write(nobody: Nobody) -> None:
    [state] = (nobody.root / ".git/mdmem").iterdir()
    before = (nobody.root / LOG).read_bytes()
    folders = [state, *(path for path in state.rglob("*") if path.is_dir())]
    files = [path for path in state.rglob("*") if path.is_file()]
    for path in [*files, *reversed(folders)]:
        path.chmod(0o400 if path in files else 0o500)
    try:
        for word in (("add", "two"), ("edit", "daily/2026-11-29#14:30", "x"), ("undo",), ("commit",)):
            assert nobody.act(*word).startswith("StorageFailed"), word
        assert nobody.act("get", "daily/2026-11-29#14:30").startswith("Entry")
        assert nobody.act("search", "one").startswith("Answer")
    finally:
        for path in folders:
            path.chmod(0o700)
    assert (nobody.root / LOG).read_bytes() == before


def test_objects_that_git_may_not_write(nobody: Nobody) -> None:
    log = nobody.root / LOG
    with log.open("a") as file:
        file.write("- 15:00 by hand\n")
    folders = [nobody.root / ".git/objects", *(nobody.root / ".git/objects").iterdir()]
    for folder in folders:
        folder.chmod(0o500)
    reason = "git could not write the commit: permission denied"
    try:
        assert nobody.act("commit").startswith(f"StorageFailed {reason}")
        assert nobody.act("undo", "HEAD").startswith(f"StorageFailed what {LOG} holds is not yet in history: {reason}")
        assert f"kept and in its file, not yet in history: {reason}" in nobody.act("add", "two")
        assert nobody.act("commit").startswith(f"StorageFailed {reason}")
        assert nobody.act("undo").startswith(f"StorageFailed the last change is not yet in history: {reason}")
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert nobody.act("commit").startswith("list")
    assert subprocess.run(
        ["git", "-c", f"safe.directory={nobody.root}", "status", "--porcelain"],
        cwd=nobody.root, capture_output=True, check=True,
    ).stdout == b""  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_repository_of_another_owner_is_refused_with_gits_own_hint(nobody: Nobody) -> None:
    subprocess.run(["chown", "-R", "root", nobody.root], check=True)
    subprocess.run(["chmod", "-R", "a+rX", nobody.root], check=True)
    assert nobody.act("get", "daily/2026-11-29#14:30").startswith("NoVault git does not accept the repository")
