"""Finding the repository of a vault, its state, and reading what it holds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from repo_sandbox import LOG, git, home, keep, make, short_status, write

from mdmem.errors import BadInput, Missing, NotFound, NoVault, StorageFailed
from mdmem.store.repo import Repo

__all__ = ["home"]


# Discovery


def test_vault_at_the_top(tmp_path: Path) -> None:
    top = make(tmp_path / "vault")
    repo = Repo.discover(top)
    assert (repo.top, repo.prefix, repo.state_parent) == (top, "", top / ".git" / "mdmem")
    assert repo.hooks_dir == top / ".git" / "hooks"


def test_vault_inside_a_larger_repository(tmp_path: Path) -> None:
    top = make(tmp_path / "code", files={"src/app.py": "", f"notes/my vault/{LOG}": "# x\n"})
    repo = Repo.discover(top / "notes" / "my vault")
    assert (repo.top, repo.prefix, repo.state_parent) == (top, "notes/my vault/", top / ".git" / "mdmem")
    assert list(repo.tree()) == [LOG]


@pytest.mark.parametrize("name", ["line\nbreak", "quo\"te'", "-dash", "tab\t", ":(glob)*", "ünï", os.fsdecode(b"\xff")])
def test_odd_names_of_the_vault_and_what_is_above(tmp_path: Path, name: str) -> None:
    top = make(tmp_path / name, files={f"{name}/{LOG}": "# x\n"})
    repo = Repo.discover(top / name)
    assert (repo.top, repo.prefix, repo.state_parent) == (top, f"{name}/", top / ".git" / "mdmem")
    assert keep(repo, log="# y\n").left == {}
    assert repo.read("HEAD", LOG) == b"# y\n"


def test_a_linked_vault_is_found_where_it_is(tmp_path: Path) -> None:
    top = make(tmp_path / "vault")
    (tmp_path / "link").symlink_to(top)
    assert Repo.discover(tmp_path / "link").top == top


def test_linked_work_tree_has_a_state_of_its_own(tmp_path: Path) -> None:
    top = make(tmp_path / "vault")
    git(top, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "second"))
    repo = Repo.discover(tmp_path / "second")
    assert repo.state_parent == top / ".git" / "worktrees" / "second" / "mdmem"
    assert repo.hooks_dir == top / ".git" / "hooks"
    assert keep(repo, log="# other\n").commit == repo.head()
    assert Repo.discover(top).read("HEAD", LOG) == b"# 2026-11-29\n"


def test_submodule(tmp_path: Path) -> None:
    source, outer = make(tmp_path / "notes"), make(tmp_path / "code", files={"app.py": ""})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "notes")
    repo = Repo.discover(outer / "notes")
    assert (repo.top, repo.state_parent) == (outer / "notes", outer / ".git" / "modules" / "notes" / "mdmem")
    assert keep(repo, log="# x\n").commit == repo.head()


def test_sha256(tmp_path: Path) -> None:
    repo = Repo.discover(make(tmp_path / "vault", "--object-format=sha256"))
    assert repo.algorithm == "sha256"
    kept = keep(repo, log="# x\n")
    assert kept.commit is not None and len(kept.commit) == 64
    assert repo.tree()[LOG] == ("100644", repo.blob_id(b"# x\n"))
    assert [commit.id for commit in repo.history()] == [kept.commit, *git(repo.top, "rev-parse", "HEAD~").split()]


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NoVault) as caught:
        Repo.discover(tmp_path)
    assert "mdmem init" in caught.value.hint


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(NoVault):
        Repo.discover(tmp_path / "gone")


def test_bare_repositories_are_no_vaults(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare")
    with pytest.raises(NoVault):
        Repo.discover(tmp_path / "bare")
    # One that came along inside a work tree must not be taken for the vault's.
    inner = make(tmp_path / "vault") / "memory" / "trap"
    git(tmp_path, "init", "--quiet", "--bare", str(inner))
    with pytest.raises(NoVault):
        Repo.discover(inner)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder away")
def test_another_owner_is_refused_with_gits_words(tmp_path: Path) -> None:
    top = make(tmp_path / "vault")
    for folder in (top, top / ".git"):
        os.chown(folder, 12345, 12345)
    with pytest.raises(NoVault) as caught:
        Repo.discover(top)
    assert "safe.directory" in caught.value.hint


def test_variables_of_git_point_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, other = make(tmp_path / "vault"), make(tmp_path / "other", files={"other.md": ""})
    before = git(other, "status", "--porcelain") + git(other, "rev-parse", "HEAD")
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git" / "objects"),
        "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        "GIT_CONFIG_COUNT": "broken",
        "GIT_AUTHOR_NAME": "Somebody Else",
        "LC_ALL": "xx_XX.nonsense",
    }.items():
        monkeypatch.setenv(name, value)
    repo = Repo.discover(top)
    kept = keep(repo, log="# x\n")
    assert (repo.top, kept.left) == (top, {})
    assert [commit.author_name for commit in repo.history()] == ["Ada Lovelace", "Ada Lovelace"]
    assert os.environ["GIT_DIR"] == str(other / ".git")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    assert git(other, "status", "--porcelain") + git(other, "rev-parse", "HEAD") == before
    assert short_status(top) == []


def test_git_is_missing(tmp_path: Path) -> None:
    make(tmp_path / "vault")
    with pytest.raises(Missing) as caught:
        Repo.discover(tmp_path / "vault", environment={"PATH": str(tmp_path)})
    assert caught.value.exit_code == 13


def test_a_git_lying_in_the_vault_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make(tmp_path / "vault")
    program = top / "git"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/fired\n")
    program.chmod(0o755)
    monkeypatch.chdir(top)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    assert Repo.discover(Path(".")).head()
    assert not (tmp_path / "fired").exists()


def test_create(tmp_path: Path, home: Path) -> None:
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    (template / "post-commit").write_text("#!/bin/sh\n")
    git(home, "config", "--global", "init.templateDir", str(template.parent))
    (tmp_path / "vault").mkdir()
    Repo.create(tmp_path / "vault")
    repo = Repo.discover(tmp_path / "vault")
    assert repo.position() == (None, "refs/heads/main")
    assert not list(repo.hooks_dir.glob("*"))


def test_hooks_are_where_the_user_keeps_them(tmp_path: Path, home: Path) -> None:
    git(home, "config", "--global", "core.hooksPath", str(tmp_path / "my hooks"))
    assert Repo.discover(make(tmp_path / "vault")).hooks_dir == tmp_path / "my hooks"


# State


def test_head_of_a_new_branch(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    Repo.create(tmp_path / "vault")
    repo = Repo.discover(tmp_path / "vault")
    assert (repo.head(), repo.obstacle(), repo.tree(), list(repo.history())) == (None, None, {}, [])


def test_obstacles(tmp_path: Path) -> None:
    top = make(tmp_path / "vault")
    repo = Repo.discover(top)
    git(top, "checkout", "--quiet", "-b", "side")
    keep(repo, log="# side\n")
    git(top, "checkout", "--quiet", "main")
    keep(repo, log="# main\n")
    assert repo.obstacle() is None

    def fails(*arguments: str) -> None:
        assert subprocess.run(["git", *arguments], cwd=top, capture_output=True, check=False).returncode == 1

    fails("merge", "side")
    assert repo.obstacle() == "a merge is in progress"
    git(top, "merge", "--abort")
    fails("cherry-pick", "side")
    assert repo.obstacle() == "a cherry-pick is in progress"
    git(top, "cherry-pick", "--abort")
    keep(repo, log="# again\n")
    fails("revert", "HEAD~")
    assert repo.obstacle() == "a revert is in progress"
    git(top, "revert", "--abort")
    fails("rebase", "side")
    assert repo.obstacle() == "a rebase is in progress"
    git(top, "rebase", "--abort")
    git(top, "bisect", "start")
    assert repo.obstacle() == "a bisect is in progress"
    git(top, "bisect", "reset")
    git(top, "checkout", "--quiet", "--detach")
    assert repo.obstacle() == "HEAD is detached"
    git(top, "checkout", "--quiet", "main")
    assert repo.obstacle() is None


def test_unmerged_without_a_merge(tmp_path: Path) -> None:
    top = make(tmp_path / "vault")
    repo = Repo.discover(top)
    write(top, LOG, "# stashed\n")
    git(top, "stash", "--quiet")
    keep(repo, log="# committed\n")
    assert subprocess.run(["git", "stash", "pop"], cwd=top, capture_output=True, check=False).returncode == 1
    assert repo.obstacle() == f"{LOG} is not merged yet"


# Reading


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_blob_id_agrees_with_git(tmp_path: Path, algorithm: str) -> None:
    repo = Repo.discover(make(tmp_path / "vault", f"--object-format={algorithm}"))
    for data in (b"", b"a\r\nb", bytes(range(256)) * 50):
        assert repo.blob_id(data) == git(repo.top, "hash-object", "--no-filters", "--stdin", data=data).strip()


ODD = ["é", 'quo"te\t', "-rf", "new\nline", ":(top)x", "back\\slash", "*", os.fsdecode(b"\xff\xfe"), "a b", "HEAD"]


def test_odd_names(tmp_path: Path) -> None:
    repo = Repo.discover(make(tmp_path / "vault", files={}))
    files = {f"memory/{name}.md": name for name in ODD} | {f"{name}/x": "" for name in ODD} | {":x.md": ""}
    changes = {path: write(repo.vault, path, os.fsencode(text)) for path, text in files.items()}
    kept = repo.commit(changes, "Names", state=tmp_path)
    assert kept.left == {}
    assert repo.tree() == {path: ("100644", repo.blob_id(data)) for path, data in changes.items()}
    assert repo.read_many("HEAD", list(files)) == changes
    assert {change.path for change in next(repo.history()).files} == set(files)
    for name in ODD:
        assert set(repo.tree(under=name)) == {f"{name}/x"}
        assert [commit.id for commit in repo.history(paths=[f"{name}/x"])] == [kept.commit]
    assert short_status(repo.top) == []


def test_many_files_at_once(tmp_path: Path) -> None:
    repo = Repo.discover(make(tmp_path / "vault"))
    changes = {f"memory/{n}.md": write(repo.vault, f"memory/{n}.md", f"{n}\n") for n in range(1500)}
    repo.commit(changes, "Import", state=tmp_path)
    assert repo.read_many("HEAD", list(changes)) == changes
    assert short_status(repo.top) == []


def test_read(tmp_path: Path) -> None:
    repo = Repo.discover(make(tmp_path / "vault"))
    first = repo.head()
    assert first
    keep(repo, log="# later\n")
    assert repo.read("HEAD", LOG) == b"# later\n"
    assert repo.read(first, LOG) == b"# 2026-11-29\n"
    assert repo.read("HEAD", "memory/none.md") is None
    assert repo.read("HEAD", "memory") is None
    assert repo.tree(first, under="memory/daily") == {LOG: ("100644", repo.blob_id(b"# 2026-11-29\n"))}
    assert repo.tree(under="none") == {}


def test_a_vault_that_has_no_files_yet(tmp_path: Path) -> None:
    top = make(tmp_path / "code", files={"app.py": ""})
    (top / "notes").mkdir()
    repo = Repo.discover(top / "notes")
    assert (repo.tree(), list(repo.history())) == ({}, [])


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "nul\0"])
def test_paths_that_lead_outside(tmp_path: Path, path: str) -> None:
    repo = Repo.discover(make(tmp_path / "vault"))
    with pytest.raises(BadInput):
        repo.read("HEAD", path)
    with pytest.raises(BadInput):
        repo.commit({path: b""}, "x", state=tmp_path)


def test_resolve(tmp_path: Path) -> None:
    repo = Repo.discover(make(tmp_path / "vault"))
    head = repo.head()
    assert head is not None
    assert [repo.resolve(name) for name in ("HEAD", "main", head, head[:8], "@")] == [head] * 5
    for name in ("nonsense", "HEAD~7", "HEAD:memory", "0" * 40, "^HEAD", "HEAD..HEAD", repo.blob_id(b"# 2026-11-29\n")):
        with pytest.raises(NotFound):
            repo.resolve(name)
    for name in ("", "-h", "--all", "--output=x", "HEAD\n", "nul\0"):
        for use in (repo.resolve, repo.tree, lambda rev: repo.read(rev, LOG), lambda rev: list(repo.history(rev=rev))):
            with pytest.raises(BadInput):
                use(name)


def test_a_damaged_object_is_an_error_not_an_absence(tmp_path: Path) -> None:
    repo = Repo.discover(make(tmp_path / "vault"))
    blob = repo.tree()[LOG][1]
    place = repo.git_dir / "objects" / blob[:2] / blob[2:]
    place.chmod(0o600)
    place.write_bytes(b"damaged")
    with pytest.raises(StorageFailed):
        repo.read("HEAD", LOG)
    assert keep(repo, log="# still works\n").left == {}
    place.unlink()
    with pytest.raises(StorageFailed):
        repo.read("HEAD~", LOG)


def test_ignored(tmp_path: Path, home: Path) -> None:
    (home / "ignore").write_text("*.bak\n")
    git(home, "config", "--global", "core.excludesFile", str(home / "ignore"))
    repo = Repo.discover(make(tmp_path / "vault", files={".gitignore": "# mine\n*.md\n!good.md\n", "other": ""}))
    git(repo.top, "add", "--force", write_md(repo.top))
    found = repo.ignored(["new.md", "good.md", "tracked.md", ":x.md", "a b.bak", "plain"])
    assert found == {
        "new.md": ".gitignore:2:*.md",
        ":x.md": ".gitignore:2:*.md",
        "a b.bak": f"{home}/ignore:1:*.bak",
    }


def write_md(top: Path) -> str:
    write(top, "tracked.md", "")
    return "tracked.md"


def test_filtered(tmp_path: Path) -> None:
    attributes = "*.age filter=age\n*.txt text eol=crlf\nb.age -filter\n"
    repo = Repo.discover(make(tmp_path / "vault", files={".gitattributes": attributes}))
    assert repo.filtered(["a.age", "b.age", "c.txt", "d.md"]) == {"a.age": "age"}
    assert repo.filtered([]) == {}
