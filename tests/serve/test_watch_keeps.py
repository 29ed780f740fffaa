"""A running `mdmem watch`, and people who edit meanwhile: what becomes a commit, and what never does."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from vault_sandbox import DAY, committed, git, log, status, subjects, write
from watch_sandbox import CODE, found, in_history, mdmem, until, watched

from mdmem import Vault

pytestmark = pytest.mark.slow
NOTE = "memory/plan.md"


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_renaming(path: Path, text: str) -> None:
    draft = path.with_name(".goutputstream-8Q3XK1")
    draft.write_text(text)
    os.replace(draft, path)


def in_pieces(path: Path, text: str) -> None:
    with open(path, "w") as file:
        for start in range(0, len(text), 5):
            file.write(text[start : start + 5])
            file.flush()
            time.sleep(0.15)


def by_sed(path: Path, text: str) -> None:
    subprocess.run(["sed", "-i", f"$ s/.*/{text.strip().splitlines()[-1]}/", path], check=True)


def by_vim(path: Path, text: str) -> None:
    last = text.strip().splitlines()[-1]
    subprocess.run(["vim", "-es", "-u", "NONE", "-c", f"$ s/.*/{last}/", "-c", "wq", path], check=True)


SAVES = {"in place": in_place, "by renaming": by_renaming, "in pieces": in_pieces, "sed": by_sed, "vim": by_vim}


def test_saves_of_every_kind_are_committed_and_found(vault: Vault) -> None:
    names = {kind: f"memory/{kind.replace(' ', '-')}.md" for kind in SAVES}
    for path in names.values():
        write(vault, path, "# A plan\n\nnothing yet\n")
    vault.commit()
    with watched(vault):
        for kind, save in SAVES.items():
            if shutil.which(kind) or kind not in ("sed", "vim"):
                save(vault.root / names[kind], f"# A plan\n\nbuy beans {kind.replace(' ', '')}\n")
        for kind, path in names.items():
            if shutil.which(kind) or kind not in ("sed", "vim"):
                in_history(vault, path, f"# A plan\n\nbuy beans {kind.replace(' ', '')}\n")
        assert found(vault.root, "beans")["served_by"] == "watch"
        assert found(vault.root, "beans")["total"] == len(SAVES)
    for commit in git(vault, "log", "--format=%h").split():
        for path in set(git(vault, "ls-tree", "-r", "--name-only", commit).split()) & set(names.values()):
            text = git(vault, "show", f"{commit}:./{path}")
            assert text.startswith("# A plan\n\n") and len(text) > 15, f"half a save in {commit}: {text!r}"
    assert status(vault) == ""


def test_saves_of_one_moment_are_one_commit(vault: Vault) -> None:
    with watched(vault):
        before = len(subjects(vault))
        for number in range(30):
            write(vault, f"memory/notes/{number:02}.md", f"# Note {number}\n")
        until(lambda: git(vault, "ls-files", "memory/notes").count("\n") == 29, lambda: subjects(vault))
    assert len(subjects(vault)) == before + 1


def test_what_an_older_copy_dropped_is_put_back(vault: Vault) -> None:
    mdmem(vault.root, "add", "Decided on Whoosh", "--at", "2026-11-29 14:30")
    with watched(vault) as running:
        old = log(vault)
        for text, at in (("two", "14:31"), ("three", "14:32")):
            mdmem(vault.root, "add", text, "--at", f"2026-11-29 {at}")
        until(lambda: status(vault) == "")
        by_renaming(vault.root / DAY, old.replace("Whoosh", "Whoosh3") + "\nA line below.\n")
        until(lambda: "two" in log(vault) and "three" in log(vault), lambda: (log(vault), running.log()))
        until(lambda: status(vault) == "" and committed(vault) == log(vault), lambda: (log(vault), running.log()))
        assert [log(vault).count(word) for word in ("Decided", "two", "three", "A line below.")] == [1, 1, 1, 1]
        running.says("put back")


def test_an_editor_s_own_files_are_nobody_s_memory(vault: Vault) -> None:
    write(vault, NOTE, "# Plan\n")
    vault.commit()
    with watched(vault):
        for name in ("#plan.md#", "plan.md~", ".plan.md.swp", "4913", ".~lock.plan.md#", "sedAbC12x", "plan.md.tmp"):
            write(vault, f"memory/{name}", "passing")
        for name in ("~syncthing~plan.md.tmp", ".syncthing.plan.md.tmp", "plan.md___jb_tmp___", "plan.md.crswap"):
            write(vault, f"memory/{name}", "passing")
        (vault.root / "memory/.#plan.md").symlink_to("ada@laptop.1234:1700000000")
        write(vault, "memory/real.md", "# Real\n")
        in_history(vault, "memory/real.md", "# Real\n")
        assert found(vault.root, "passing")["hits"] == []
    assert git(vault, "ls-files", "memory").split("\n") == ["memory/MEMORY.md", NOTE, "memory/real.md"]


def test_a_file_that_is_gone_leaves_the_index_and_stays_in_history_for_now(vault: Vault) -> None:
    write(vault, NOTE, "# Plan\n\nbuy beans\n")
    vault.commit()
    with watched(vault) as running:
        (vault.root / NOTE).unlink()
        write(vault, "memory/other.md", "# Other\n")
        in_history(vault, "memory/other.md", "# Other\n")
        assert found(vault.root, "beans")["hits"] == []
        assert committed(vault, NOTE) == "# Plan\n\nbuy beans\n"
        assert mdmem(vault.root, "watch", "status").stdout.count("1 files to commit") == 1, running.log()


def test_a_file_under_another_name_is_committed_under_both(vault: Vault) -> None:
    write(vault, NOTE, "# Plan\n\nbuy beans\n")
    vault.commit()
    with watched(vault):
        (vault.root / NOTE).rename(vault.root / "memory/beans.md")
        in_history(vault, "memory/beans.md", "# Plan\n\nbuy beans\n")
        assert NOTE not in git(vault, "ls-files")


def test_what_was_edited_before_it_began_is_committed(vault: Vault) -> None:
    write(vault, NOTE, "# Plan\n")
    with watched(vault):
        in_history(vault, NOTE, "# Plan\n")


def test_at_the_end_what_is_calm_is_committed(vault: Vault) -> None:
    with watched(vault) as running:
        write(vault, NOTE, "# Plan\n")
        time.sleep(0.6)  # it counts as calm once it has stood for a moment
        running.stop(signal.SIGINT)
    assert committed(vault, NOTE) == "# Plan\n"
    assert not Path(running.now["socket"]).exists()
    assert running.log().splitlines()[-1].endswith("stopped")


def test_while_git_rebases_nothing_is_committed_and_afterwards_all(vault: Vault) -> None:
    write(vault, NOTE, "# Plan\n\none\n")
    vault.commit()
    git(vault, "checkout", "-q", "-b", "side")
    write(vault, NOTE, "# Plan\n\ntwo\n")
    git(vault, "commit", "-qam", "Two")
    git(vault, "checkout", "-q", "main")
    write(vault, NOTE, "# Plan\n\nthree\n")
    git(vault, "commit", "-qam", "Three")
    git(vault, "checkout", "-q", "side")
    with watched(vault) as running:
        git(vault, "rebase", "-q", "main", code=1)
        write(vault, "memory/other.md", "# Other\n")
        running.says("rebase is in progress")
        assert git(vault, "log", "--format=%s", "main", "side").count("Other") == 0
        write(vault, NOTE, "# Plan\n\nthree and two\n")
        git(vault, "add", NOTE)
        git(vault, "-c", "core.editor=true", "rebase", "--continue")
        in_history(vault, "memory/other.md", "# Other\n")
        in_history(vault, NOTE, "# Plan\n\nthree and two\n")
    assert subjects(vault)[1:4] == ["Two", "Three", "Save plan as edited by hand"]


def test_an_add_that_had_to_wait_is_delivered(vault: Vault) -> None:
    git(vault, "checkout", "-q", "--detach")
    with watched(vault):
        mdmem(vault.root, "add", "User likes tea")
        git(vault, "checkout", "-q", "main")
        until(lambda: any("tea" in subject for subject in subjects(vault)), lambda: subjects(vault))


@pytest.mark.parametrize("how", ["moved", "removed", "unmarked"])
def test_a_vault_that_is_gone_ends_it(vault: Vault, how: str) -> None:
    before = git(vault, "rev-parse", "HEAD")
    with watched(vault) as running:
        if how == "moved":
            vault.root.rename(vault.root.with_name("elsewhere"))
        elif how == "removed":
            _remove(vault.root)
        else:
            (vault.root / "mdmem.toml").unlink()
        _, said = running.process.communicate(timeout=60)
        assert running.process.returncode == 10, said
    if how == "moved":
        assert git(vault.root.with_name("elsewhere"), "rev-parse", "HEAD") == before
    if how != "removed":
        root = vault.root if vault.root.exists() else vault.root.with_name("elsewhere")
        said = next((root / ".git/mdmem").glob("*/watch.log")).read_text()
        assert "is not there" in said and "[Errno" not in said


def _remove(folder: Path) -> None:
    """Remove a folder as a person does: once more, if something was written into it meanwhile."""

    def gone() -> bool:
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()

    until(gone, lambda: list(folder.rglob("*")))


def test_memory_that_is_gone_altogether_is_not_committed(vault: Vault) -> None:
    write(vault, NOTE, "# Plan\n")
    vault.commit()
    with watched(vault) as running:
        (vault.root / "memory").rename(vault.root / "aside")
        running.says("memory/ is gone")
        (vault.root / "aside").rename(vault.root / "memory")
        running.says("deletions: works again")
        write(vault, NOTE, "# Plan\n\nback\n")
        in_history(vault, NOTE, "# Plan\n\nback\n")


def test_new_folders_are_watched_and_hidden_ones_are_not_memory(vault: Vault) -> None:
    with watched(vault):
        write(vault, "memory/archives/deep/down/a.md", "# A\n")
        in_history(vault, "memory/archives/deep/down/a.md", "# A\n")
        write(vault, "memory/.trash/b.md", "# B\n")
        git(vault.root, "init", "-q", "memory/nested")
        write(vault, "memory/nested/c.md", "# C\n")
        write(vault, "memory/archives/deep/down/d.md", "# D\n")
        in_history(vault, "memory/archives/deep/down/d.md", "# D\n")
    assert "b.md" not in git(vault, "ls-files") and "c.md" not in git(vault, "ls-files")


def test_after_a_kill_the_next_one_takes_over(vault: Vault) -> None:
    with watched(vault) as running:
        write(vault, NOTE, "# Plan\n")
        running.kill()
    assert Path(running.now["socket"]).exists()
    assert found(vault.root, "plan")["served_by"] == "cli"
    with watched(vault):
        in_history(vault, NOTE, "# Plan\n")
        assert found(vault.root, "plan")["served_by"] == "watch"


def test_settings_that_change_are_taken_up(vault: Vault) -> None:
    write(vault, "notes/a.md", "# Adopted\n")
    with watched(vault) as running:
        mdmem(vault.root, "config", "set", "roots", "notes")
        running.says("settings were changed")
        in_history(vault, "notes/a.md", "# Adopted\n")
        assert found(vault.root, "adopted")["served_by"] == "watch"


@pytest.mark.parametrize(("kind", "limit"), [("instances", 0), ("watches", 0), ("watches", 6)])
def test_without_watches_the_files_are_looked_at_and_that_is_said_once(vault: Vault, kind: str, limit: int) -> None:
    # A user namespace has limits of its own; those of the machine stay as they are.
    setting = f"/proc/sys/user/max_inotify_{kind}"
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c", f'echo {limit} > {setting} && exec "$@"', "sh"]
    if subprocess.run([*inside, "true"], check=False, capture_output=True).returncode:
        pytest.skip("there are no user namespaces here")
    for number in range(10):  # watchdog says nothing when a folder in a watched one gets no watch
        write(vault, f"memory/many/{number}/a.md", "# A\n")
    vault.commit()
    with watched(vault, by=inside) as running:
        running.says("no events: ")
        write(vault, "memory/many/9/a.md", "# A\n\nbuy beans\n")
        in_history(vault, "memory/many/9/a.md", "# A\n\nbuy beans\n")
        assert mdmem(vault.root, "watch", "status").stdout.count("by looking every 2 seconds") == 1
        assert running.log().count(f"raise fs.inotify.max_user_{kind}") == running.log().count("no events") == 1


BREAKING = """
import threading
from watchdog.observers.inotify import InotifyWatchGroup
left, real = [{times}], InotifyWatchGroup.on_watch_deleted
def forgets(self, wd):
    if left[0] and threading.current_thread() is not threading.main_thread() and self.is_active:
        left[0] -= 1
        raise KeyError(self.path)
    real(self, wd)
InotifyWatchGroup.on_watch_deleted = forgets
"""
"""Has watchdog fail as it does by itself where folders are moved and deleted fast enough."""


@pytest.mark.parametrize("times", [1, 3])
def test_events_that_fail_are_begun_anew(vault: Vault, tmp_path: Path, times: int) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(BREAKING.format(times=times))
    path = os.pathsep.join((str(tmp_path / "site"), str(CODE)))
    with watched(vault, env={"PYTHONPATH": path}) as running:
        for number in range(times):
            write(vault, f"memory/gone/{number}/a.md", "# A\n")
            in_history(vault, f"memory/gone/{number}/a.md", "# A\n")
            shutil.rmtree(vault.root / f"memory/gone/{number}")
            until(lambda said=number + 1: running.log().count("KeyError") >= said, running.log)
            write(vault, "memory/archives/b.md", f"# B {number}\n")
            in_history(vault, "memory/archives/b.md", f"# B {number}\n")
        assert running.process.poll() is None and "watchdog failed (KeyError" in running.log()


def told(text: str) -> list[str]:
    """List the ids of commits that a log names, in order."""
    return re.findall(r" committed ([0-9a-f]{8}): ", text)


def test_every_commit_is_said_once(vault: Vault) -> None:
    mdmem(vault.root, "add", "Decided on Whoosh", "--at", "2026-11-29 14:30")
    old = log(vault)
    with watched(vault) as running:
        first = git(vault, "rev-parse", "HEAD")
        mdmem(vault.root, "add", "two", "--at", "2026-11-29 14:31")
        by = git(vault, "rev-parse", "HEAD")
        by_renaming(vault.root / DAY, old + "- 14:32 typed by a person\n")
        until(lambda: "two" in log(vault) and status(vault) == "", lambda: (log(vault), running.log()))
        git_dir = vault.root / ".git"
        (git_dir / "MERGE_HEAD").write_text(first + "\n")
        mdmem(vault.root, "add", "waits", "--at", "2026-11-29 14:33")
        (git_dir / "MERGE_HEAD").unlink()
        until(lambda: "waits" in committed(vault), lambda: (log(vault), running.log()))
        write(vault, NOTE, "# Plan\n")
        in_history(vault, NOTE, "# Plan\n")
        running.stop()
        made = git(vault, "rev-list", "--reverse", "--abbrev-commit", "--abbrev=8", f"{by}..HEAD").split()
        assert told(running.log()) == made
        assert len(made) >= 3


def test_a_renamed_document_is_one_commit_and_not_missed(vault: Vault) -> None:
    write(vault, NOTE, "# Plan\n\nbuy beans\n")
    vault.commit()
    with watched(vault) as running:
        (vault.root / "memory/archives").mkdir()
        (vault.root / NOTE).rename(vault.root / "memory/archives/beans.md")
        until(lambda: status(vault) == "", lambda: (subjects(vault), running.log()))
        assert subjects(vault)[0] == "Rename plan to archives/beans"
        running.says("Rename plan to archives/beans")
    assert Vault.open(vault.root).held() == []
