"""A vault begins: beside whatever is there already, at any time again, with hooks for who wants them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from vault_sandbox import again, git, ops, status, write

from mdmem import Vault
from mdmem.errors import NotFound, NoVault, StorageFailed
from mdmem.store.repo import Repo

pytestmark = pytest.mark.usefixtures("clock")

HOOKS = ("post-checkout", "post-merge", "post-rewrite", "pre-commit")


def files(folder: Path) -> dict[str, bytes]:
    """All files but git's own."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_a_new_vault(tmp_path: Path) -> None:
    vault, notices = Vault.init(tmp_path / "deep" / "vault")
    assert notices == ()
    assert set(files(vault.root)) == {"mdmem.toml", "memory/MEMORY.md", ".gitattributes"}
    attributes = (vault.root / ".gitattributes").read_text()
    assert attributes == "memory/daily/*.md merge=union\n.mdmem/*.tsv merge=union\n"
    assert ops(vault) == ["init"]
    assert status(vault) == ""
    assert git(vault, "log", "-1", "--format=%s %an") == "Begin the vault Ada Lovelace"
    assert not (vault.root / ".git/hooks").exists()
    assert vault.today() == ("memory/daily/2026-11-29.md", [])
    assert (vault.root.stat().st_mode & 0o077) == 0


def test_again_changes_nothing(vault: Vault) -> None:
    vault.add("note")
    before, head = files(vault.root), git(vault, "rev-parse", "HEAD")
    for _ in range(2):
        assert Vault.init(vault.root)[1] == ()
    assert files(vault.root) == before
    assert git(vault, "rev-parse", "HEAD") == head


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    notes = {
        "MEMORY.md": b"mine\r\n",
        "memory/2026-11-29.md": b"- 09:00 flat",
        "memory/SOUL.md": b"\xef\xbb\xbfsoul",
        ".gitattributes": b"*.png binary\r\n*.pdf binary",
        "mdmem.toml": b"# mine\ntimezone = 'UTC'\n",
    }
    for name, data in notes.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    vault, _ = Vault.init(tmp_path)
    added = b"\r\nmemory/daily/*.md merge=union\r\n.mdmem/*.tsv merge=union\r\n"
    assert files(tmp_path) == notes | {".gitattributes": notes[".gitattributes"] + added}
    Vault.init(tmp_path)
    assert files(tmp_path) == notes | {".gitattributes": notes[".gitattributes"] + added}
    assert vault.settings.text("timezone") == "UTC"
    (begun,) = vault.log()
    assert {edit.address for edit in begun.edits} >= {"/MEMORY", "2026-11-29#09:00", "SOUL", "/mdmem.toml"}
    assert status(vault) == ""
    with pytest.raises(NotFound):  # what was there before the vault is not the vault's to take back
        vault.undo()


def test_two_machines_can_append_on_the_same_day(vault: Vault, tmp_path: Path) -> None:
    vault.add("base")
    git(tmp_path, "clone", "-q", str(vault.root), "clone")
    clone = Vault.open(tmp_path / "clone")
    clone.add("there")
    vault.add("here")
    git(clone, "pull", "-q", "--no-rebase", "--no-edit")
    assert sorted(entry.text for entry in again(clone).today()[1]) == ["base", "here", "there"]
    assert not (clone.place.state / "journal").samefile(vault.place.state / "journal")


def test_inside_a_repository_with_code(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write_code = tmp_path / "app.py"
    write_code.write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Code")
    write_code.write_text("2\n")
    git(tmp_path, "add", ".")
    _, notices = Vault.init(tmp_path)
    assert any("switching branches" in notice for notice in notices)
    assert git(tmp_path, "status", "--porcelain") == "M  app.py"
    assert git(tmp_path, "show", "--format=", "--name-only", "HEAD").split("\n") == [
        ".gitattributes",
        "mdmem.toml",
        "memory/MEMORY.md",
    ]


@pytest.mark.parametrize("died", ["mdmem.toml", "memory/MEMORY.md", ".gitattributes", "commit"])
def test_an_init_that_died_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, died: str) -> None:
    from mdmem import fsio

    class Killed(BaseException):
        pass

    real = fsio.replace

    def dying(path: str, *rest: object, **options: object) -> object:
        if path == died:
            raise Killed
        return real(path, *rest, **options)  # type: ignore[arg-type]

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "replace", dying)
        if died == "commit":
            patch.setattr(Repo, "commit", killed)
        with pytest.raises(Killed):
            Vault.init(tmp_path / "vault")
    vault, notices = Vault.init(tmp_path / "vault")
    assert notices == ()
    assert ops(vault) == ["init"]
    assert status(vault) == ""


def test_where_no_vault_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageFailed):
        Vault.init(tmp_path / "file")
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises((NoVault, StorageFailed)):
        Vault.init(tmp_path / "bare.git")
    assert not (tmp_path / "bare.git/mdmem.toml").exists()
    with pytest.raises(NoVault):
        Vault.open(tmp_path)
    assert not (tmp_path / "mdmem.toml").exists()


def test_the_template_of_the_user_is_not_used(tmp_path: Path, world: Path) -> None:
    template = world / "template"
    (template / "hooks").mkdir(parents=True)
    (template / "hooks/pre-commit").write_text("#!/bin/sh\nexit 1\n")
    with (world / ".gitconfig").open("a") as settings:
        settings.write(f"[init]\n\ttemplateDir = {template}\n\tdefaultBranch = trunk\n")
    vault, _ = Vault.init(tmp_path / "vault")
    assert not (vault.root / ".git/hooks/pre-commit").exists()
    assert git(vault, "symbolic-ref", "HEAD") == "refs/heads/trunk"


# -- hooks


def test_hooks_are_installed_once(vault: Vault) -> None:
    for _ in range(2):
        assert Vault.init(vault.root, hooks=True)[1] == ()
    folder = vault.root / ".git/hooks"
    assert sorted(path.name for path in folder.iterdir()) == sorted([*HOOKS, *(f"mdmem-{name}" for name in HOOKS)])
    for name in HOOKS:
        text = (folder / name).read_text()
        assert text == f'#!/bin/sh\n"$(dirname "$0")/mdmem-{name}" "$@" || exit $?\n'
        assert os.access(folder / name, os.X_OK)
        assert os.access(folder / f"mdmem-{name}", os.X_OK)
    write(vault, "memory/plan.md", "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n")
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "x", code=1)


def test_the_users_hook_runs_after_ours(vault: Vault, tmp_path: Path) -> None:
    hook = vault.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/bash\n# theirs\ntouch '{tmp_path}/ran'\nexit 0\n")
    hook.chmod(0o755)
    assert Vault.init(vault.root, hooks=True)[1] == ()
    lines = hook.read_text().split("\n")
    assert lines[0] == "#!/bin/bash"
    assert "mdmem-pre-commit" in lines[1]
    assert lines[2] == "# theirs"
    write(vault, "x.txt", "x")
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "x")
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "mode"),
    [("#!/usr/bin/env python3\nprint('theirs')\n", 0o755), ("#!/bin/sh\nexit 1\n", 0o644), ("theirs\n", 0o755)],
)
def test_a_hook_that_cannot_take_the_call_is_left_and_named(vault: Vault, text: str, mode: int) -> None:
    hook = vault.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(text)
    hook.chmod(mode)
    [notice] = Vault.init(vault.root, hooks=True)[1]
    assert str(hook) in notice
    assert hook.read_text() == text
    assert hook.stat().st_mode & 0o777 == mode


def test_a_hook_that_is_a_link_is_left_and_named(vault: Vault, tmp_path: Path) -> None:
    theirs = tmp_path / "shared-hook"
    theirs.write_text("#!/bin/sh\nexit 0\n")
    theirs.chmod(0o755)
    hook = vault.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(theirs)
    notices = Vault.init(vault.root, hooks=True)[1]
    assert any("pre-commit" in notice for notice in notices)
    assert theirs.read_text() == "#!/bin/sh\nexit 0\n"
    assert hook.is_symlink()


def test_a_commit_of_ours_runs_no_hook_of_ours(vault: Vault) -> None:
    Vault.init(vault.root, hooks=True)
    (vault.root / ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 1\n")
    again(vault).add("note")
    assert ops(vault)[0] == "add"


def test_the_shell_accepts_the_hooks(vault: Vault) -> None:
    Vault.init(vault.root, hooks=True)
    for path in (vault.root / ".git/hooks").iterdir():
        subprocess.run(["sh", "-n", str(path)], check=True)
