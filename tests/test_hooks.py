"""The git hooks, installed by `init` and run by git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mdmem import Vault
from mdmem.store.llm.command import QUIET

ROOT = Path(__file__).parent.parent
ODD = ["it's", 'a "b" c', "new\nline", "-x", "$(touch ran)", "花生 油"]
MARKED = "one\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\ntwo\n"

REINDEX = """\
#!/bin/sh
# The real program, which waits for a file, and writes down what it was asked and what it answered.
until [ -e '{folder}/go' ]; do sleep 0.05; done
PYTHONPATH='{root}' '{python}' -m mdmem "$@" > '{folder}/answer' 2>&1
printf '%s => %s\\n' "$*" "$(cat '{folder}/answer')" >> '{folder}/ran'
"""


def git(folder: Path, *words: str, env: dict[str, str] | None = None, code: int = 0) -> str:
    """Run git and return all that it said; it must end with this code."""
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env=os.environ | (env or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


def save(folder: Path, path: str, text: str) -> None:
    """Write a file and stage it."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, newline="")
    git(folder, "add", "--", path)


def commit(folder: Path, path: str, text: str) -> None:
    """Write a file and commit it."""
    save(folder, path, text)
    git(folder, "commit", "-qm", "A change")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault with the hooks and a branch `other` that has one more note."""
    root = tmp_path / "vault"
    Vault.init(root)
    git(root, "switch", "-qc", "other")
    commit(root, "memory/archives/other.md", "Told on the other branch\n")
    git(root, "switch", "-q", "-")
    Vault.init(root, hooks=True)
    return root


class Mdmem:
    """A folder for PATH with a program `mdmem` that runs only when it may, and remembers what it did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.env = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        program = folder / "mdmem"
        program.write_text(REINDEX.format(folder=folder, root=ROOT, python=sys.executable))
        program.chmod(0o755)

    def ran(self) -> str:
        """Return a line for each run that has ended."""
        path = self.folder / "ran"
        return path.read_text() if path.exists() else ""

    def finish(self, *wanted: str) -> str:
        """Let the program go on, wait until each of these was printed, and return all that it did."""
        (self.folder / "go").touch()
        end = time.monotonic() + 60
        while not all(text in self.ran() for text in wanted) and time.monotonic() < end:
            time.sleep(0.05)
        return self.ran()


@pytest.fixture
def mdmem(tmp_path: Path) -> Mdmem:
    return Mdmem(tmp_path / "bin")


# After git has changed the files


def diverged(vault: Path) -> None:
    commit(vault, "memory/archives/mine.md", "Told here\n")


def merge(vault: Path, env: dict[str, str]) -> str:
    return git(vault, "merge", "-q", "--no-edit", "other", env=env)


def switch(vault: Path, env: dict[str, str]) -> str:
    return git(vault, "checkout", "-q", "other", env=env)


def rebase(vault: Path, env: dict[str, str]) -> str:
    return git(vault, "rebase", "-q", "other", env=env)


def amend(vault: Path, env: dict[str, str]) -> str:
    save(vault, "memory/archives/more.md", "Told later\n")
    return git(vault, "commit", "-q", "--amend", "--no-edit", env=env)


@pytest.mark.slow
@pytest.mark.parametrize("act", [merge, switch, rebase, amend])
def test_the_index_is_refreshed_behind_gits_back(act, vault: Path, mdmem: Mdmem) -> None:
    diverged(vault)
    subprocess.run(
        [sys.executable, "-m", "mdmem", "reindex"], cwd=vault, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True
    )
    before = notes(vault)
    said = act(vault, mdmem.env)  # returns, although the program still waits
    assert said == ""
    assert mdmem.ran() == ""
    (new,) = notes(vault) - before
    assert not indexed(vault, new)
    assert "--vault . reindex => " in mdmem.finish("unchanged")
    assert indexed(vault, new)


def notes(vault: Path) -> set[str]:
    return {f"memory/archives/{path.name}" for path in (vault / "memory/archives").iterdir()}


def indexed(vault: Path, path: str) -> bool:
    """Tell whether the index knows a file, without bringing it up to date."""
    catalogs = (vault / ".git/mdmem").glob("*/index/*/catalog.sqlite*")
    return any(path.encode() in catalog.read_bytes() for catalog in catalogs)


@pytest.mark.slow
def test_every_vault_of_the_work_tree_is_refreshed(tmp_path: Path, mdmem: Mdmem) -> None:
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    for name in ODD:
        Vault.init(top / name)
    Vault.init(top, hooks=True)
    git(top, "checkout", "-q", "-b", "next", env=mdmem.env)
    wanted = [f"--vault {name if name == '.' else './' + name} reindex => +" for name in [*ODD, "."]]
    answers = mdmem.finish(*wanted)
    assert [text for text in wanted if text not in answers] == []
    assert not (top / "ran").exists()


@pytest.mark.slow
def test_a_new_work_tree_is_refreshed_where_it_is(vault: Path, mdmem: Mdmem, tmp_path: Path) -> None:
    git(vault, "worktree", "add", "-q", str(tmp_path / "tree"), "other", env=mdmem.env)
    wanted = "--vault . reindex => +2 "  # MEMORY and the note: a state of its own
    assert wanted in mdmem.finish(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("act", [merge, switch, rebase, amend])
def test_in_a_model_that_mdmem_asked_nothing_runs(act, vault: Path, mdmem: Mdmem) -> None:
    diverged(vault)
    (mdmem.folder / "go").touch()
    before = notes(vault)
    act(vault, mdmem.env | {QUIET: "off"})
    assert notes(vault) != before
    checkout_to_the_end(vault, "quiet", mdmem.env | {QUIET: "off"})
    checkout_to_the_end(vault, "loud", mdmem.env)
    assert mdmem.ran().count("--vault . reindex") == 1


@pytest.mark.slow
def test_where_no_vault_is_tracked_nothing_runs(tmp_path: Path, mdmem: Mdmem) -> None:
    root = tmp_path / "v"
    Vault.init(root)
    git(root, "rm", "-q", "--cached", "mdmem.toml")
    Vault.init(root, hooks=True)
    checkout_to_the_end(root, "one", mdmem.env)
    git(root, "add", "mdmem.toml")
    (mdmem.folder / "go").touch()
    checkout_to_the_end(root, "two", mdmem.env)
    assert mdmem.ran().count("--vault . reindex") == 1


def checkout_to_the_end(folder: Path, branch: str, env: dict[str, str]) -> None:
    """Switch to a new branch, and wait until nothing that git started holds the pipe that it was given."""
    read, write = os.pipe()
    with open(read, "rb") as ended:
        command = ["git", "checkout", "-q", "-b", branch]
        subprocess.run(command, cwd=folder, env=os.environ | env, pass_fds=[write], check=True)
        os.close(write)
        ended.read()


@pytest.mark.parametrize("act", [merge, switch, rebase, amend])
@pytest.mark.parametrize("program", [None, "#!/bin/sh\necho broken >&2\nexit 1\n", "no program at all"])
def test_git_never_fails_because_of_them(act, program: str | None, vault: Path, tmp_path: Path) -> None:
    diverged(vault)
    tools = without_mdmem(tmp_path)
    if program is not None:
        (tools / "mdmem").write_text(program)
        (tools / "mdmem").chmod(0o755)
    assert act(vault, {"PATH": str(tools)}) == ""


def without_mdmem(tmp_path: Path) -> Path:
    """Make a folder that serves as PATH and holds what git and the hooks need, but no mdmem."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh", "dirname", "xargs", "cat"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    return tools


# Before a commit


@pytest.mark.parametrize(
    "path",
    ["memory/MEMORY.md", "memory/daily/2026-11-23.md", *(f"memory/archives/{name}.md" for name in ODD)]
    + [f"notes {name}/memory/a.md" for name in ODD],
)
def test_markers_are_refused(vault: Path, path: str) -> None:
    save(vault, "memory/archives/fine.md", "fine\n")
    save(vault, path, MARKED)
    before = git(vault, "rev-parse", "HEAD")
    said = git(vault, "commit", "-qm", "With markers", code=1)
    assert said.startswith("mdmem: conflict markers are still in\n")
    assert path.split("\n")[0].replace('"', '\\"') in said
    assert "fine.md" not in said
    assert git(vault, "rev-parse", "HEAD") == before
    assert not (vault / "ran").exists()


@pytest.mark.parametrize(
    "text", [MARKED.replace("\n", "\r\n"), MARKED.replace("=======", "||||||| base\nold\n======="), "\0" + MARKED]
)
def test_markers_are_refused_in_any_form(vault: Path, text: str) -> None:
    save(vault, "memory/a.md", text)
    git(vault, "commit", "-qm", "With markers", code=1)


def test_a_real_conflict_is_refused_until_it_is_settled(vault: Path) -> None:
    commit(vault, "memory/archives/other.md", "Told here as well\n")
    git(vault, "merge", "-q", "other", code=1)
    git(vault, "commit", "-qam", "Forgot to look", code=1)
    save(vault, "memory/archives/other.md", "Told twice\n")
    git(vault, "commit", "-qm", "Settled")


def test_what_is_renamed_is_looked_at(vault: Path) -> None:
    commit(vault, "memory/a.md", MARKED.replace(">>>>>>> other\n", ""))
    git(vault, "mv", "memory/a.md", "memory/b.md")
    save(vault, "memory/b.md", MARKED)
    git(vault, "commit", "-qm", "With markers", code=1)


def test_the_first_commit_is_looked_at(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "v")
    folder = tmp_path / "v/.git/hooks"
    (folder / "pre-commit").write_bytes((ROOT / "hooks/pre-commit").read_bytes())
    (folder / "pre-commit").chmod(0o755)
    save(tmp_path / "v", "memory/a.md", MARKED)
    git(tmp_path / "v", "commit", "-qm", "With markers", code=1)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("code/a.md", MARKED),
        ("memory/a.txt", MARKED),
        ("memory/a.md", MARKED.replace("<<<<<<< HEAD\n", "")),
        ("memory/a.md", MARKED.replace(">>>>>>> other", ">>>>>>>other")),
        ("memory/a.md", MARKED.replace("\n", "\n  ")),
        ("memory/a.md", "A heading\n=======\n"),
        ("memory/a.md", ""),
    ],
)
def test_what_only_looks_alike_passes(vault: Path, path: str, text: str) -> None:
    commit(vault, path, text)


def test_only_what_is_staged_counts(vault: Path) -> None:
    save(vault, "memory/a.md", MARKED)
    git(vault, "commit", "-qm", "As it is, all the same", "--no-verify")
    (vault / "memory/b.md").write_text(MARKED)
    commit(vault, "memory/c.md", "Something else\n")
    git(vault, "rm", "-q", "memory/a.md")
    git(vault, "commit", "-qm", "Away with it")


def test_the_programs_own_commits_run_no_hook(vault: Path) -> None:
    hook = vault / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    assert Vault.open(vault).add("Kept all the same").commit


# Beside the user's own


def test_the_users_own_hooks_go_on_working(tmp_path: Path) -> None:
    root = tmp_path / "v"
    Vault.init(root)
    hook = root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho mine; test ! -e stop\n")
    hook.chmod(0o755)
    Vault.init(root, hooks=True)
    installed = hook.read_text()
    Vault.init(root, hooks=True)
    assert hook.read_text() == installed
    save(root, "memory/a.md", "fine\n")
    assert git(root, "commit", "-qm", "fine") == "mine\n"
    save(root, "memory/a.md", MARKED)
    git(root, "commit", "-qm", "With markers", code=1)
    save(root, "memory/a.md", "fine again\n")
    (root / "stop").touch()
    assert git(root, "commit", "-qm", "The user's hook says no", code=1) == "mine\n"


def test_a_hook_that_reads_what_git_tells_it_still_can(vault: Path, tmp_path: Path) -> None:
    hook = vault / ".git/hooks/post-rewrite"
    hook.write_text(hook.read_text() + "cat > told\n")
    amend(vault, {"PATH": str(without_mdmem(tmp_path))})
    assert len((vault / "told").read_text().split()) == 2


@pytest.mark.parametrize("first", ["#!/usr/bin/env python3", "#!/bin/csh", "#!/usr/bin/fish"])
def test_a_hook_in_another_language_is_left_alone(tmp_path: Path, first: str) -> None:
    root = tmp_path / "v"
    Vault.init(root)
    hook = root / ".git/hooks/post-merge"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"{first}\nprint('mine')\n")
    hook.chmod(0o755)
    _, notices = Vault.init(root, hooks=True)
    assert hook.read_text() == f"{first}\nprint('mine')\n"
    assert any("post-merge" in notice for notice in notices)
