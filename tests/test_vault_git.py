"""The vault and the user's git beside each other: nothing of theirs is taken, blocked or run, nothing of ours lost."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from vault_sandbox import DAY, again, body, committed, git, log, ops, status, subjects, write

from mdmem import Vault
from mdmem.errors import Busy, NoVault

pytestmark = pytest.mark.usefixtures("clock")


def conflict(vault: Vault) -> None:
    """Two branches that change the same line of a file outside memory."""
    for branch, text in (("theirs", "a\n"), ("main", "b\n")):
        git(vault, "switch", "-q", *(["-c", branch] if branch == "theirs" else [branch]))
        (vault.root / "app.py").write_text(text)
        git(vault, "add", "app.py")
        git(vault, "commit", "-qm", f"Code on {branch}")


def merge(vault: Vault) -> None:
    git(vault, "merge", "-q", "theirs", code=1)


def end_merge(vault: Vault) -> None:
    (vault.root / "app.py").write_text("c\n")
    git(vault, "add", "app.py")
    git(vault, "commit", "-qm", "Merged")


def abort_merge(vault: Vault) -> None:
    git(vault, "merge", "--abort")


def rebase(vault: Vault) -> None:
    git(vault, "rebase", "-q", "theirs", code=1)


def end_rebase(vault: Vault) -> None:
    (vault.root / "app.py").write_text("c\n")
    git(vault, "add", "app.py")
    git(vault, "-c", "core.editor=true", "rebase", "--continue")


def cherry_pick(vault: Vault) -> None:
    git(vault, "cherry-pick", "theirs", code=1)


def end_cherry_pick(vault: Vault) -> None:
    git(vault, "cherry-pick", "--abort")


def revert(vault: Vault) -> None:
    git(vault, "revert", "--no-commit", "HEAD")


def end_revert(vault: Vault) -> None:
    git(vault, "-c", "core.editor=true", "revert", "--continue")


def bisect(vault: Vault) -> None:
    git(vault, "bisect", "start", "--no-checkout", "HEAD", "HEAD~1")


def end_bisect(vault: Vault) -> None:
    git(vault, "bisect", "reset")


def detach(vault: Vault) -> None:
    git(vault, "switch", "-q", "--detach")


def attach(vault: Vault) -> None:
    git(vault, "switch", "-q", "main")


def stash_conflict(vault: Vault) -> None:
    (vault.root / "app.py").write_text("x\n")
    git(vault, "stash", "-q")
    (vault.root / "app.py").write_text("y\n")
    git(vault, "commit", "-qam", "Y")
    git(vault, "stash", "pop", "-q", code=1)


def end_stash_conflict(vault: Vault) -> None:
    git(vault, "checkout", "-q", "HEAD", "--", "app.py")


BUSY = [
    (merge, end_merge, "a merge is in progress", False),
    (merge, abort_merge, "a merge is in progress", False),
    (rebase, end_rebase, "a rebase is in progress", False),
    (cherry_pick, end_cherry_pick, "a cherry-pick is in progress", False),
    (revert, end_revert, "a revert is in progress", False),
    (bisect, end_bisect, "a bisect is in progress", False),
    (detach, attach, "HEAD is detached", True),
    (stash_conflict, end_stash_conflict, "app.py is not merged yet", True),
]


@pytest.mark.parametrize(("begin", "end", "reason", "placed"), BUSY, ids=[end.__name__ for _, end, _, _ in BUSY])
def test_while_git_is_busy_an_entry_waits(vault: Vault, begin, end, reason: str, placed: bool) -> None:
    vault.add("before")
    conflict(vault)
    begin(vault)
    head = git(vault, "rev-parse", "HEAD")
    done = again(vault).add("meanwhile")
    assert done.pending
    assert done.commit is None
    assert done.address == ("daily/2026-11-29#14:30:05" if placed else None)
    assert body(vault) == "- 14:30 before\n" + ("- 14:30:05 meanwhile\n" if placed else "")
    assert len(done.notices) == 1
    assert reason in done.notices[0]
    assert git(vault, "rev-parse", "HEAD") == head
    assert again(vault).status().pending == 1
    for act in (lambda one: one.undo(), lambda one: one.edit("daily/2026-11-29#14:30", "x")):
        with pytest.raises(Busy):
            act(again(vault))
    write(vault, "memory/plan.md", "# Plan\n")
    with pytest.raises(Busy):
        again(vault).commit()
    end(vault)
    after = again(vault)
    assert after.get("daily/2026-11-29#14:30:05").text == "meanwhile"
    assert subjects(vault)[0] == "Add: meanwhile"
    assert body(vault) == "- 14:30 before\n- 14:30:05 meanwhile\n"
    assert committed(vault) == log(vault)
    assert after.status().pending == 0
    assert status(vault) == "?? memory/plan.md"
    assert body(vault).count("meanwhile") == 1


def test_an_unborn_branch_gets_a_root_commit(vault: Vault) -> None:
    git(vault, "switch", "-q", "--orphan", "fresh")
    write(vault, "mdmem.toml", "")
    done = again(vault).add("first of all")
    assert not done.pending
    assert git(vault, "rev-list", "--count", "HEAD") == "1"
    assert git(vault, "rev-parse", "--abbrev-ref", "HEAD") == "fresh"


@pytest.mark.parametrize("age", [0, 3600])
@pytest.mark.parametrize("linked", [False, True])
def test_a_lock_on_the_index(vault: Vault, age: int, linked: bool, tmp_path: Path) -> None:
    if linked:
        git(vault, "worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"))
        vault = Vault.open(tmp_path / "linked")
    lock = vault.place.repo.git_dir / "index.lock"
    lock.touch()
    os.utime(lock, (time.time() - age,) * 2)
    done = vault.add("note")
    assert lock.exists()
    assert any(str(lock) in notice for notice in done.notices)
    assert done.pending == (age == 0)
    assert (ops(vault)[0] == "add") == (age != 0)
    lock.unlink()
    again(vault).add("next")
    assert ops(vault)[0] == "add"
    assert committed(vault) == log(vault)
    assert status(vault) == ""


def test_a_lock_on_head(vault: Vault) -> None:
    lock = vault.root / ".git/HEAD.lock"
    lock.touch()
    done = vault.add("note")
    assert done.pending
    assert lock.exists()
    assert any(str(lock) in notice for notice in done.notices)
    lock.unlink()
    again(vault).status()
    assert committed(vault) == log(vault)
    assert status(vault) == ""


def test_staged_work_stays_staged(vault: Vault) -> None:
    vault.add("before")
    (vault.root / "app.py").write_text("1\n")
    git(vault, "add", "app.py")
    write(vault, "memory/plan.md", "# Plan\n")
    git(vault, "add", "-N", "memory/plan.md")
    vault.add("note")
    assert git(vault, "show", "--format=", "--name-only", "HEAD") == DAY
    assert status(vault) == "A  app.py\n A memory/plan.md"
    git(vault, "commit", "-qm", "Code")
    assert git(vault, "show", "--format=", "--name-only", "HEAD") == "app.py"
    vault.add("after")
    assert committed(vault) == log(vault)
    assert body(vault) == "- 14:30 before\n- 14:30:05 note\n- 14:30:05 after\n"


def test_a_log_the_user_has_staged_waits_and_nothing_else_does(vault: Vault) -> None:
    vault.add("before")
    staged = log(vault) + "- 15:00 by hand\n"
    write(vault, DAY, staged)
    git(vault, "add", DAY)
    write(vault, DAY, staged + "- 15:01 not staged\n")
    done = vault.add("note")
    assert done.pending
    assert any("something else is staged" in notice for notice in done.notices)
    assert git(vault, "show", f":{DAY}") + "\n" == staged
    assert git(vault, "diff", "--cached", "--name-only") == DAY
    from datetime import datetime

    other = again(vault).add("yesterday", at=datetime.fromisoformat("2026-11-28T10:00:00+01:00"))
    assert not other.pending
    with pytest.raises(Busy):
        again(vault).edit("daily/2026-11-29#14:30", "x")
    git(vault, "commit", "-qm", "Mine")
    again(vault).status()
    assert committed(vault) == log(vault) == staged + "- 15:01 not staged\n- 14:30:05 note\n"
    assert ops(vault)[:3] == ["add", "save", ""]
    assert status(vault) == ""


def test_the_users_next_commit_reverts_nothing(vault: Vault) -> None:
    for number in range(3):
        vault.add(f"note {number}")
        (vault.root / "app.py").write_text(f"{number}\n")
        git(vault, "add", "app.py")
        git(vault, "commit", "-qm", "Code")
        assert git(vault, "show", "--format=", "--name-only", "HEAD") == "app.py"
        git(vault, "commit", "-qa", "--allow-empty", "-m", "All")
    assert committed(vault) == log(vault)
    assert body(vault).count("note") == 3


def test_the_users_own_commit_of_an_entry_is_enough(vault: Vault) -> None:
    git(vault, "switch", "-q", "--detach")
    vault.add("note")
    git(vault, "add", "--all")
    git(vault, "commit", "-qm", "Mine")
    git(vault, "branch", "-f", "main", "HEAD")
    git(vault, "switch", "-q", "main")
    again(vault).status()
    assert subjects(vault)[0] == "Mine"
    assert again(vault).status().pending == 0
    assert body(vault) == "- 14:30 note\n"


def test_git_putting_its_own_version_back_holds_what_no_commit_has(vault: Vault) -> None:
    vault.add("committed")
    git(vault, "switch", "-q", "--detach")
    vault.add("waits")
    git(vault, "checkout", "-q", "HEAD", "--", "memory")
    git(vault, "switch", "-q", "main")
    after = again(vault)
    after.status()
    assert body(vault) == "- 14:30 committed\n"
    assert any("1 entry is held" in notice for notice in after.notices)
    assert [one.record.text for one in after.parts.journal.scan(settled=False)] == ["waits"]


# -- places


def test_a_vault_in_a_folder_of_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "app.py").write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Code")
    vault, notices = Vault.init(tmp_path / "deep" / "notes")
    assert any("switching branches" in notice for notice in notices)
    (tmp_path / "app.py").write_text("2\n")
    vault.add("note")
    write(vault, DAY, log(vault) + "- 15:00 hand\n")
    vault.commit()
    vault.edit("daily/2026-11-29#15:00", "typed")
    vault.undo()
    assert committed(vault) == log(vault)
    assert git(tmp_path, "status", "--porcelain") == " M app.py"
    assert git(tmp_path, "ls-files").split("\n")[1] == "deep/notes/.gitattributes"
    assert [change.op for change in vault.log()] == ["undo", "edit", "save", "add", "init"]


def test_two_vaults_in_one_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    one, two = (Vault.init(tmp_path / name)[0] for name in ("one", "two"))
    assert one.place.state != two.place.state
    one.add("for one")
    two.add("for two")
    assert (body(one), body(two)) == ("- 14:30 for one\n", "- 14:30 for two\n")
    one.undo()
    assert not (one.root / DAY).exists()
    assert body(two) == "- 14:30 for two\n"
    assert [change.op for change in two.log()] == ["add", "init"]
    assert two.undo().subject == "Undo: Add: for two"
    assert git(tmp_path, "status", "--porcelain") == ""


def test_a_linked_work_tree_has_its_own_state(vault: Vault, tmp_path: Path) -> None:
    vault.add("on main")
    git(vault, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Vault.open(tmp_path / "side")
    assert side.place.state != vault.place.state
    side.add("on the side")
    vault.add("on main again")
    assert body(side) == "- 14:30 on main\n- 14:30:05 on the side\n"
    assert body(vault) == "- 14:30 on main\n- 14:30:05 on main again\n"
    assert (status(side), status(vault)) == ("", "")
    git(vault, "merge", "-q", "--no-edit", "side")
    assert "on the side" in log(vault)
    assert "on main again" in log(vault)


@pytest.mark.parametrize(
    "name", ["with space", "new\nline", "quo\"te'", "-dash", "é", os.fsdecode(b"b\xff\xfe"), "$(x)"]
)
def test_a_vault_at_an_odd_path(tmp_path: Path, name: str) -> None:
    vault = Vault.init(tmp_path / name)[0]
    vault.add("note")
    vault.add("large " * 300)
    write(vault, f"memory/{name}.md", "# Odd\n")
    vault.commit()
    vault.undo()
    assert not (vault.root / f"memory/{name}.md").exists()
    assert committed(vault) == log(vault)
    assert status(vault) == ""


def test_a_linked_path_leads_to_the_same_vault(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(vault.root)
    other = Vault.open(tmp_path / "link")
    assert (other.root, other.place.state) == (vault.root, vault.place.state)
    other.add("through the link")
    assert committed(vault) == log(vault)


def test_a_moved_vault_goes_on(vault: Vault, tmp_path: Path) -> None:
    git(vault, "switch", "-q", "--detach")
    vault.add("waits")
    vault.root.rename(tmp_path / "moved")
    moved = Vault.open(tmp_path / "moved")
    git(moved, "switch", "-q", "main")
    moved.status()
    assert ops(moved)[0] == "add"
    assert committed(moved) == log(moved)


def test_a_copied_vault_repeats_nothing(vault: Vault, tmp_path: Path) -> None:
    vault.add("note")
    git(vault, "switch", "-q", "--detach")
    vault.add("waits")
    shutil.copytree(vault.root, tmp_path / "copy", symlinks=True)
    for one in (vault, Vault.open(tmp_path / "copy")):
        git(one, "switch", "-q", "main")
        again(one).status()
        assert body(one) == "- 14:30 note\n- 14:30:05 waits\n"
        assert committed(one) == log(one)


# -- what the repository says


def test_ignored_memory_is_kept_and_said(vault: Vault, world: Path) -> None:
    (world / "ignore").write_text("*.md\n")
    git(vault, "config", "core.excludesFile", str(world / "ignore"))
    done = vault.add("private")
    assert done.pending
    assert any("ignored by" in notice and "*.md" in notice for notice in done.notices)
    assert body(vault) == "- 14:30 private\n"
    assert [one.record.text for one in vault.parts.journal.scan(settled=False)] == ["private"]
    again(vault).edit("daily/2026-11-29#14:30", "changed")
    assert again(vault).notices == []
    assert body(vault) == "- 14:30 changed\n"
    (world / "ignore").write_text("")
    again(vault).commit()
    assert committed(vault) == log(vault)
    assert again(vault).parts.journal.scan(settled=False) == ()


def test_a_tracked_file_is_committed_though_a_rule_hides_it(vault: Vault) -> None:
    vault.add("one")
    (vault.root / ".gitignore").write_text("memory/\n")
    assert not vault.add("two").pending
    assert committed(vault) == log(vault)


def test_a_filter_keeps_a_file_out_and_never_runs(vault: Vault, tmp_path: Path) -> None:
    git(vault, "config", "filter.secret.clean", f"touch {tmp_path}/ran; cat")
    git(vault, "config", "filter.secret.smudge", f"touch {tmp_path}/ran; cat")
    (vault.root / ".gitattributes").write_text("*.md filter=secret\n")
    done = vault.add("note")
    assert done.pending
    assert any("the filter secret is set" in notice for notice in done.notices)
    again(vault).commit()
    assert not (tmp_path / "ran").exists()
    assert git(vault, "log", "--format=%H", "--", DAY) == ""


def test_attributes_change_no_byte(vault: Vault) -> None:
    (vault.root / ".gitattributes").write_text("*.md text eol=lf ident working-tree-encoding=UTF-16\n")
    git(vault, "config", "core.autocrlf", "true")
    write(vault, DAY, "# 2026-11-29\r\n\r\n- 09:00 $Id$\r\n")
    vault.add("note")
    assert committed(vault) == log(vault)
    assert log(vault).endswith("$Id$\r\n- 14:30 note\r\n")


def canaries(vault: Vault, home: Path, mark: Path) -> None:
    """Whatever git would run, planted where a repository or a user's settings can name it."""
    script = home / "canary"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n")
    script.chmod(0o755)
    hooks = vault.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"),
        *("post-checkout", "post-index-change", "pre-auto-gc", "post-rewrite", "pre-merge-commit"),
    ):
        shutil.copy(script, hooks / name)
    for key in (
        *("core.fsmonitor", "gpg.program", "core.editor", "core.pager", "diff.external", "core.sshCommand"),
        *("diff.x.textconv", "diff.x.command", "merge.union.driver", "merge.x.driver", "credential.helper"),
        *("core.alternateRefsCommand", "alias.commit", "alias.rev-parse", "core.askPass", "sequence.editor"),
        *("filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.ssh.program", "uploadpack.packObjectsHook"),
    ):
        git(vault, "config", key, str(script))
    git(vault, "config", "commit.gpgSign", "true")
    git(vault, "config", "log.showSignature", "true")
    git(vault, "config", "commit.template", "/nonexistent")
    (vault.root / ".git/info").mkdir(exist_ok=True)
    (vault.root / ".git/info/attributes").write_text("* diff=x merge=x\n")


def test_nothing_the_repository_names_is_run(vault: Vault, world: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    canaries(vault, world, mark)
    vault = again(vault)
    vault.add("note", tags=["x"])
    vault.edit("daily/2026-11-29#14:30", "edited")
    write(vault, "memory/plan.md", "# Plan\n")
    vault.commit()
    vault.set_field("plan", "title", "x")
    vault.log()
    vault.diff("HEAD~1")
    vault.search("edited")
    vault.status()
    vault.attention()
    vault.remove("plan")
    vault.undo()
    Vault.init(vault.root)
    assert not mark.exists()
    assert ops(vault) == ["undo", "rm", "edit", "save", "edit", "add", "init"]


@pytest.mark.parametrize(
    ("settings", "variables"),
    [
        ("[commit]\n\tgpgSign = true\n[user]\n\tsigningKey = none\n", {}),
        ("", {}),
        ("[user]\n\tuseConfigOnly = true\n", {}),
        ("", {"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/", "GIT_INDEX_FILE": "/nonexistent/index"}),
        ("", {"GIT_AUTHOR_DATE": "nonsense", "GIT_COMMITTER_DATE": "nonsense", "GIT_OBJECT_DIRECTORY": "/nonexistent"}),
        ("", {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true"}),
        ("", {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "GIT_TRACE": "1"}),
        ("[core]\n\tpager = false\n[i18n]\n\tcommitEncoding = ISO-8859-1\n[commit]\n\ttemplate = /nonexistent\n", {}),
        ("[core]\n\tquotePath = false\n\tautocrlf = true\n\tsafecrlf = true\n[status]\n\tshort = true\n", {}),
    ],
)
def test_the_users_settings_and_surroundings(
    vault: Vault, world: Path, monkeypatch: pytest.MonkeyPatch, settings: str, variables: dict[str, str]
) -> None:
    (world / ".gitconfig").write_text(settings)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = again(vault).add("grüße 花")
    for name in variables:
        monkeypatch.delenv(name)
    assert not done.pending
    assert subjects(vault)[0] == "Add: grüße 花"
    assert committed(vault) == log(vault)
    assert status(vault) == ""


def test_without_a_home(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    assert not again(vault).add("homeless").pending


def test_notes_in_a_repository_inside_are_named_and_left(vault: Vault) -> None:
    inner = vault.root / "memory/inner"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    (inner / "note.md").write_text("# Theirs\n")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "Theirs")
    assert vault.commit() == []
    vault.add("ours")
    assert git(vault, "ls-files", "memory/inner") == ""


def test_conflict_markers_are_not_committed(vault: Vault) -> None:
    vault.add("one")
    write(vault, DAY, log(vault) + "<<<<<<< ours\n- 15:00 a\n=======\n- 15:00 b\n>>>>>>> theirs\n")
    done = vault.add("two")
    assert done.pending
    assert any("conflict markers" in notice for notice in done.notices)
    write(vault, DAY, "".join(line for line in log(vault).splitlines(True) if line[0] not in "<=>"))
    again(vault).status()
    assert committed(vault) == log(vault)


def test_a_vault_without_a_repository(tmp_path: Path) -> None:
    vault = Vault.init(tmp_path / "vault")[0]
    shutil.rmtree(vault.root / ".git")
    with pytest.raises(NoVault):
        again(vault)
    assert not (vault.root / ".git").exists()


def test_a_damaged_repository_still_takes_entries(vault: Vault) -> None:
    vault.add("one")
    blob = git(vault, "rev-parse", f"HEAD:{DAY}")
    (vault.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    write(vault, DAY, log(vault) + "- 15:00 hand\n")
    done = again(vault).add("two")
    assert body(vault).endswith("- 15:00 hand\n- 14:30:05 two\n")
    assert done.address == "daily/2026-11-29#14:30:05"
