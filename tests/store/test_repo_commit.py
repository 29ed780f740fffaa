"""One commit of exactly these files, whatever else the user, git or another process is doing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from repo_sandbox import LOG, git, home, keep, make, short_status, state, write

from mdmem.errors import StorageFailed
from mdmem.store.repo import Committed, NotNow, Person, Repo
from mdmem.store.repo import commit as commits
from mdmem.store.repo.plan import LAST, NOTES, Plan, Request, View

__all__ = ["home"]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.discover(make(tmp_path / "vault", files={LOG: "# 2026-11-29\n", "src/app.py": "1\n"}))


def files_of(repo: Repo, rev: str = "HEAD") -> list[str]:
    return git(repo.top, "show", "--format=", "--name-only", "-z", rev).split("\0")[:-1]


def body_of(repo: Repo) -> str:
    return git(repo.top, "log", "-1", "--format=%B")


# What is committed


def test_one_file(repo: Repo) -> None:
    before = repo.head()
    kept = keep(repo, log="# later\n", message="Add an entry\n\nBecause.\n\nMdmem-Op: add\n")
    assert kept == Committed(repo.head(), {})
    assert git(repo.top, "rev-parse", "HEAD~").strip() == before
    assert files_of(repo) == [LOG]
    assert body_of(repo) == "Add an entry\n\nBecause.\n\nMdmem-Op: add\n\n"
    assert short_status(repo.top) == []
    assert git(repo.top, "reflog", "-1", "--format=%gs") == "mdmem: Add an entry\n"
    assert git(repo.top, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
    assert not (state(repo) / NOTES).exists()
    git(repo.top, "fsck", "--strict")


def test_in_a_folder_of_a_larger_repository(tmp_path: Path) -> None:
    top = make(tmp_path / "code", files={"src/app.py": "", f"notes/{LOG}": "", f"other/{LOG}": ""})
    repo = Repo.discover(top / "notes")
    keep(repo, log="# x\n", **{"memory/MEMORY.md": "- y\n"})
    assert files_of(repo) == ["notes/memory/MEMORY.md", f"notes/{LOG}"]
    assert short_status(top) == []


def test_nothing_new(repo: Repo) -> None:
    before = repo.head()
    assert keep(repo, log="# 2026-11-29\n") == Committed(None, {})
    assert repo.commit({}, "Nothing", state=state(repo)) == Committed(None, {})
    assert keep(repo, **{"never/there.md": ""}).commit != before
    assert repo.commit({"was/never.md": None}, "Nothing", state=state(repo)) == Committed(None, {})


def test_removals_and_moves(repo: Repo) -> None:
    keep(repo, log=None, **{"memory/archives/a.md": "x\n"})
    assert set(repo.tree()) == {"memory/archives/a.md", "src/app.py"}
    keep(repo, **{"memory/archives/a.md": None})
    (repo.vault / "memory/archives").rmdir()
    # A file in the place of a folder, and a folder in the place of a file.
    keep(repo, **{"memory/archives": "file\n"})
    (repo.vault / "memory/archives").unlink()
    changes = {"memory/archives": None, "memory/archives/b.md": write(repo.vault, "memory/archives/b.md", "x")}
    assert repo.commit(changes, "Swap", state=state(repo)).left == {}
    assert set(repo.tree()) == {"memory/archives/b.md", "src/app.py"}
    assert short_status(repo.top) == []


def test_bytes_and_modes_as_they_are(repo: Repo) -> None:
    contents = {"crlf.md": b"a\r\nb\r\n", "nul.md": b"\0\xff\n", "empty.md": b"", "end.md": b"no newline"}
    for path, data in contents.items():
        write(repo.vault, path, data)
    repo.commit(contents, "Bytes", state=state(repo), modes={"nul.md": "100755"})
    assert repo.read_many("HEAD", list(contents)) == contents
    assert repo.tree()["nul.md"][0] == "100755"
    keep(repo, **{"nul.md": "still executable"})
    assert repo.tree()["nul.md"][0] == "100755"
    repo.commit({"link": b"../outside"}, "Link", state=state(repo), modes={"link": "120000"})
    assert repo.tree()["link"] == ("120000", repo.blob_id(b"../outside"))


def test_attributes_do_not_change_what_is_stored(repo: Repo) -> None:
    attributes = "*.md text eol=crlf ident\n*.txt working-tree-encoding=UTF-16\n"
    data = b"$Id$\r\nx\r\n"
    keep(repo, **{".gitattributes": attributes, "a.md": data, "a.txt": data})
    assert repo.read_many("HEAD", ["a.md", "a.txt"]) == {"a.md": data, "a.txt": data}


def test_a_branch_without_a_commit(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    Repo.create(tmp_path / "vault")
    repo = Repo.discover(tmp_path / "vault")
    write(repo.vault, "staged.txt", "the user's")
    git(repo.top, "add", "staged.txt")
    kept = keep(repo, log="# x\n")
    assert kept.commit == repo.head()
    assert git(repo.top, "log", "--format=%P %s") == " Add an entry\n"
    assert short_status(repo.top) == ["A  staged.txt"]


# Who and what it says


def test_identity(repo: Repo, home: Path) -> None:
    def people() -> list[str]:
        return git(repo.top, "log", "-1", "--format=%an <%ae>%n%cn <%ce>").splitlines()

    keep(repo, log="1")
    assert people() == ["Ada Lovelace <ada@example.org>"] * 2
    moment = datetime(2026, 11, 29, 14, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    request = {LOG: write(repo.vault, LOG, "2")}
    author = Person("Eve <x>\n", "e@x>\0")
    repo.commit(request, "By another", state=state(repo), author=author, at=moment)
    assert people() == ["Eve x <e@x>", "Ada Lovelace <ada@example.org>"]
    assert next(repo.history()).date == moment
    for settings, name in (("", "mdmem <mdmem@localhost>"), ("[user]\nname=Öz", "Öz <mdmem@localhost>")):
        (home / ".gitconfig").write_text(f"{settings}\n[user]\nuseConfigOnly=true\n")
        kept = keep(Repo.discover(repo.vault), log=f"by {name}")
        assert kept.commit and people() == [name] * 2
    git(repo.top, "-c", "user.name=x", "-c", "user.email=x", "fsck", "--strict")


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("", "mdmem"),
        ("-rf --amend", "-rf --amend"),
        ("# not a comment", "# not a comment"),
        ("\x1b]0;x\x07Title\x9b\u202e\u2028", "]0;xTitle"),
        ("é" * 200, "é" * 71 + "…"),
        ("nul\0 and \udcff", "nul and "),
        ("a\rb", "ab"),
    ],
)
def test_subject(repo: Repo, message: str, subject: str) -> None:
    assert keep(repo, log="x", message=message).commit
    assert git(repo.top, "log", "-1", "--format=%s").rstrip("\n") == subject.strip()


def test_body(repo: Repo) -> None:
    body = "\x1b[31mred\0\n\ttab\nbell\x07\n\n" + "x" * 1_000_000
    keep(repo, log="x", message=f"Title\n\n{body}\n\nMdmem-Op: add\nMdmem-Source: person\n")
    commit = next(repo.history())
    assert commit.body.startswith("[31mred\n\ttab\nbell\n\nxxx") and len(commit.body) < 70_000
    assert commit.trailers == {"Mdmem-Op": "add", "Mdmem-Source": "person"}


def test_surroundings_that_stop_git_commit(repo: Repo, home: Path) -> None:
    git(home, "config", "--global", "commit.gpgSign", "true")
    git(home, "config", "--global", "gpg.program", "/bin/false")
    git(home, "config", "--global", "i18n.commitEncoding", "latin1")
    for hook in ("pre-commit", "commit-msg", "reference-transaction", "post-index-change"):
        place = repo.hooks_dir / hook
        place.write_text("#!/bin/sh\nexit 1\n")
        place.chmod(0o755)
    assert keep(repo, log="x", message="Schön") == Committed(repo.head(), {})
    assert next(repo.history()).subject == "Schön"


# What is the user's stays the user's


def test_staged_work_stays_staged(repo: Repo) -> None:
    write(repo.vault, "src/app.py", "2\n")
    write(repo.vault, "src/new.py", "3\n")
    git(repo.top, "add", "src")
    git(repo.top, "rm", "--quiet", "--cached", LOG)
    git(repo.top, "reset", "--quiet", LOG)
    keep(repo, log="# later\n")
    assert files_of(repo) == [LOG]
    assert short_status(repo.top) == ["M  src/app.py", "A  src/new.py"]


def test_the_users_next_commit_reverts_nothing(repo: Repo) -> None:
    write(repo.vault, "src/app.py", "2\n")
    git(repo.top, "add", "src")
    keep(repo, log="# later\n", **{"memory/new.md": "x\n"})
    git(repo.top, "commit", "--quiet", "-m", "Mine")
    assert files_of(repo) == ["src/app.py"]
    assert repo.read("HEAD", LOG) == b"# later\n"
    assert short_status(repo.top) == []


def test_a_file_the_user_staged_is_left(repo: Repo) -> None:
    write(repo.vault, LOG, "# half\n")
    git(repo.top, "add", LOG)
    kept = keep(repo, log="# whole\n", **{"memory/other.md": "x\n"})
    assert kept.left == {LOG: "something else is staged for it"}
    assert files_of(repo) == ["memory/other.md"]
    assert git(repo.top, "show", f":{LOG}") == "# half\n"
    assert keep(repo, log="# half\n").left == {}


@pytest.mark.parametrize("how", [["rm", "--cached"], ["update-index", "--chmod=+x"]])
def test_other_staged_changes_are_left(repo: Repo, how: list[str]) -> None:
    git(repo.top, *how, LOG)
    before = git(repo.top, "ls-files", "-s")
    assert keep(repo, log="# later\n").left == {LOG: "something else is staged for it"}
    assert git(repo.top, "ls-files", "-s") == before


def test_intent_to_add_is_left(repo: Repo) -> None:
    write(repo.vault, "memory/plan.md", "x\n")
    git(repo.top, "add", "--intent-to-add", "memory/plan.md")
    kept = keep(repo, **{"memory/plan.md": "x\n"})
    assert (kept.commit, set(kept.left)) == (None, {"memory/plan.md"})


def test_what_the_user_staged_already_as_it_is(repo: Repo) -> None:
    write(repo.vault, LOG, "# later\n")
    git(repo.top, "add", LOG)
    assert keep(repo, log="# later\n").left == {}
    git(repo.top, "rm", "--quiet", LOG)
    assert repo.commit({LOG: None}, "Remove", state=state(repo)).left == {}
    assert (short_status(repo.top), LOG in repo.tree()) == ([], False)


def test_filters(repo: Repo) -> None:
    attributes = b"*.age filter=age\n*.bin filter=lfs -text\n"
    kept = keep(repo, **{".gitattributes": attributes, "a.age": "secret", "b.bin": "big", "c.md": "x"})
    assert kept.left == {"a.age": "the filter age is set for it", "b.bin": "the filter lfs is set for it"}
    assert files_of(repo) == [".gitattributes", "c.md"]


def test_ignored(repo: Repo) -> None:
    keep(repo, **{".gitignore": "memory/\n"})
    kept = keep(repo, log="# tracked\n", **{"memory/new.md": "x"})
    assert kept.left == {"memory/new.md": "ignored by .gitignore:1:memory/"}
    assert files_of(repo) == [LOG]


def test_nested_repositories_and_links(tmp_path: Path, repo: Repo) -> None:
    make(repo.vault / "memory" / "inner", files={"a.md": ""})
    (repo.vault / "memory" / "away").symlink_to(tmp_path)
    kept = repo.commit(
        {"memory/inner/sub/x.md": b"", "memory/away/y.md": b"", "memory/.git/config": b"", "GIT~1/z.md": b""},
        "Strange places",
        state=state(repo),
    )
    assert kept == Committed(
        None,
        {
            "memory/inner/sub/x.md": "in another repository: memory/inner",
            "memory/away/y.md": "behind the link memory/away",
            "memory/.git/config": "git does not take such a name",
            "GIT~1/z.md": "git does not take such a name",
        },
    )


def test_a_submodule_is_not_overwritten(tmp_path: Path, repo: Repo) -> None:
    source = make(tmp_path / "source")
    git(repo.top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "memory/sub")
    git(repo.top, "commit", "--quiet", "-m", "Submodule")
    git(repo.top, "submodule", "--quiet", "deinit", "--force", "memory/sub")
    kept = keep(repo, **{"memory/sub/new.md": "x", "memory/fine.md": "x"})
    assert set(kept.left) == {"memory/sub/new.md"}
    assert git(repo.top, "ls-tree", "HEAD", "memory/sub").startswith("160000 ")


def test_conflict_markers(repo: Repo) -> None:
    marked = "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"
    assert keep(repo, log=marked).left == {LOG: "it holds conflict markers"}
    git(repo.top, "commit", "--quiet", "-am", "A text about conflicts")
    assert keep(repo, log=f"{marked}more\n").left == {}
    assert (
        keep(repo, **{"rule.md": "=======\n>>>>>>> x\n<<<<<<< y\n", "entry.md": f"- 14:30\n\n  {marked[2:]}"}).left
        == {}
    )


# Not now


def stopped(repo: Repo, reason: str, text: str = "# not now\n") -> None:
    before = repo.head(), git(repo.top, "ls-files", "-s")
    with pytest.raises(NotNow) as caught:
        keep(repo, log=text)
    assert reason in caught.value.message
    assert (repo.head(), git(repo.top, "ls-files", "-s")) == before


def test_in_the_middle_of_something(repo: Repo) -> None:
    git(repo.top, "checkout", "--quiet", "-b", "side")
    keep(repo, **{"src/app.py": "side\n"})
    git(repo.top, "checkout", "--quiet", "main")
    keep(repo, **{"src/app.py": "main\n"})
    subprocess.run(["git", "merge", "side"], cwd=repo.top, capture_output=True, check=False)
    stopped(repo, "a merge is in progress")
    git(repo.top, "merge", "--abort")
    git(repo.top, "checkout", "--quiet", "--detach")
    stopped(repo, "HEAD is detached")
    git(repo.top, "checkout", "--quiet", "main")
    assert keep(repo, log="# at last\n").commit == repo.head()
    assert short_status(repo.top) == []


def test_a_fresh_index_lock(repo: Repo) -> None:
    lock = repo.git_dir / "index.lock"
    lock.touch()
    stopped(repo, str(lock))
    assert lock.exists()
    lock.unlink()
    assert keep(repo, log="# later\n") == Committed(repo.head(), {})
    assert short_status(repo.top) == []


def test_an_old_index_lock(tmp_path: Path, repo: Repo) -> None:
    git(repo.top, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "second"))
    for each in (repo, Repo.discover(tmp_path / "second")):
        lock = each.git_dir / "index.lock"
        lock.touch()
        os.utime(lock, (time.time() - 100, time.time() - 100))
        for text in ("# one\n", "# two\n"):
            kept = keep(each, log=text)
            assert (kept.commit, kept.left) == (each.head(), {})
            assert f"{lock} is 10" in kept.notices[0]
        assert lock.exists()
        lock.unlink()
        # What the lock kept out of the index comes in later, though this commit is about another file.
        assert keep(each, **{"memory/x.md": "x"}).notices == ()
        assert short_status(each.top) == []
        assert not (state(each) / NOTES).exists()


def test_what_the_user_staged_behind_an_old_lock_stays(repo: Repo) -> None:
    lock = repo.git_dir / "index.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    keep(repo, log="# ours\n")
    lock.unlink()
    write(repo.vault, LOG, "# theirs\n")
    git(repo.top, "add", LOG)
    keep(repo, **{"memory/x.md": "x"})
    assert git(repo.top, "show", f":{LOG}") == "# theirs\n"
    assert keep(repo, log="# ours again\n").left == {LOG: "something else is staged for it"}


@pytest.mark.parametrize("name", ["HEAD.lock", "refs/heads/main.lock"])
def test_a_branch_lock(repo: Repo, name: str) -> None:
    lock = repo.git_dir / name
    lock.touch()
    before = repo.head()
    with pytest.raises(NotNow) as caught:
        keep(repo, log="# later\n")
    assert str(lock) in caught.value.message
    assert lock.exists() and repo.head() == before
    lock.unlink()
    # The index is ahead already, and known to be ours although the file went on meanwhile.
    assert keep(repo, log="# later still\n") == Committed(repo.head(), {})
    assert short_status(repo.top) == []


def test_killed_between_index_and_branch(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(commits, "_advance", die)
        with pytest.raises(KeyboardInterrupt):
            keep(repo, log="# one\n", **{"memory/new.md": "x\n"})
    assert short_status(repo.top) == [f"M  {LOG}", "A  memory/new.md"]
    # The next one is about the log only; what was staged for the other file by the dead one is taken back.
    assert keep(repo, log="# two\n") == Committed(repo.head(), {})
    assert short_status(repo.top) == ["?? memory/new.md"]
    assert keep(repo, **{"memory/new.md": "y\n"}).left == {}
    assert short_status(repo.top) == []


def test_the_user_commits_what_a_killed_one_staged(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(commits, "_advance", lambda *_: sys.exit(1))
        with pytest.raises(SystemExit):
            keep(repo, log="# one\n")
    git(repo.top, "commit", "--quiet", "-m", "Mine")
    assert repo.read("HEAD", LOG) == b"# one\n"
    assert keep(repo, log="# one\n") == Committed(None, {})


@pytest.mark.parametrize("name", [NOTES, LAST])
def test_a_torn_note_says_nothing(repo: Repo, name: str) -> None:
    lines = ['["memory/x.md", null, ["1006', json.dumps([LOG, None, None]), "7", "[7]", '["../x", null]', "{}"]
    lines += [json.dumps([LOG, *pair]) for pair in (([[], []], 7), ({"a": 1}, None), (["1"], [{}, {}]))]
    (state(repo) / name).write_text("\n".join([*lines, "[" * 100_000]))
    assert keep(repo, log="# later\n").left == {}
    assert short_status(repo.top) == []


def test_a_disk_without_room_for_notes_does_not_undo_a_commit(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StorageFailed("no room")

    with monkeypatch.context() as patch:
        patch.setattr(commits.fsio, "move", refuse)
        assert keep(repo, log="# later\n") == Committed(repo.head(), {})
    assert keep(repo, log="# later still\n") == Committed(repo.head(), {})
    assert short_status(repo.top) == []


def written_back(repo: Repo, old: bytes) -> None:
    """Do what a `git commit` does that read the index before, and found a moved branch: write the old index back."""
    lock = repo.git_dir / "index.lock"
    lock.write_bytes(old)
    lock.rename(repo.git_dir / "index")


def test_a_git_that_read_the_index_before_writes_it_back(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(repo, **{"memory/gone.md": "x\n"})
    old, advance = (repo.git_dir / "index").read_bytes(), commits._advance

    def late(*arguments: Any) -> bool:
        written_back(repo, old)
        done = advance(*arguments)
        (repo.git_dir / "index.lock").touch()  # and does so again
        threading.Timer(0.1, lambda: written_back(repo, old)).start()
        return done

    monkeypatch.setattr(commits, "_advance", late)
    assert keep(repo, log="# later\n", **{"memory/new.md": "y\n", "memory/gone.md": None}).left == {}
    assert short_status(repo.top) == []
    git(repo.top, "commit", "--quiet", "--allow-empty", "-m", "Mine")
    assert repo.read("HEAD", LOG) == b"# later\n"


def test_an_index_that_is_written_back_afterwards_keeps_nothing_out(repo: Repo) -> None:
    old = (repo.git_dir / "index").read_bytes()
    keep(repo, log="# one\n")
    written_back(repo, old)
    assert short_status(repo.top) == [f"MM {LOG}"]
    assert keep(repo, log="# two\n").left == {}
    assert short_status(repo.top) == []
    old = (repo.git_dir / "index").read_bytes()
    keep(repo, log="# three\n")
    written_back(repo, old)
    keep(repo, **{"memory/new.md": "x\n"})
    assert short_status(repo.top) == []


def test_a_commit_that_the_user_takes_back_stays_staged(repo: Repo) -> None:
    keep(repo, log="# one\n")
    git(repo.top, "reset", "--quiet", "--soft", "HEAD~1")
    keep(repo, **{"memory/new.md": "x\n"})
    assert short_status(repo.top) == [f"M  {LOG}"]


def test_what_the_user_staged_after_the_last_commit_stays(repo: Repo) -> None:
    keep(repo, log="# one\n")
    keep(repo, log="# two\n")
    write(repo.vault, LOG, "# mine\n")
    git(repo.top, "add", LOG)
    keep(repo, **{"memory/new.md": "x\n"})
    assert short_status(repo.top) == [f"M  {LOG}"]


def meddle(monkeypatch: pytest.MonkeyPatch, *actions: Callable[[], object]) -> None:
    """Let the user do something in each of the first rounds, after our objects were written."""
    store, left = commits._store, list(actions)

    def slow(repo: Repo, request: Request, view: View, plan: Plan) -> str:
        commit = store(repo, request, view, plan)
        if left:
            left.pop(0)()
        return commit

    monkeypatch.setattr(commits, "_store", slow)


def test_the_branch_moves_meanwhile(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(number: int) -> None:
        write(repo.vault, "src/app.py", f"mine {number}")
        git(repo.top, "commit", "--quiet", "-m", f"Mine {number}", "--", "src/app.py")

    meddle(monkeypatch, *(lambda number=number: mine(number) for number in range(3)))  # type: ignore[misc]
    kept = keep(repo, log="# later\n")
    subjects = git(repo.top, "log", "--format=%s").splitlines()
    assert (kept.commit, subjects) == (repo.head(), ["Add an entry", "Mine 2", "Mine 1", "Mine 0", "Begin"])
    assert files_of(repo) == [LOG]
    assert short_status(repo.top) == []


def test_the_user_commits_everything_staged_meanwhile(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    advance = commits._advance

    def late(*arguments: Any) -> bool:
        git(repo.top, "commit", "--quiet", "--allow-empty", "-m", "Mine")
        return advance(*arguments)

    monkeypatch.setattr(commits, "_advance", late)
    assert keep(repo, log="# later\n") == Committed(None, {})
    assert (repo.read("HEAD", LOG), short_status(repo.top)) == (b"# later\n", [])


def test_the_user_switches_branches_meanwhile(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repo.top, "branch", "side")
    keep(repo, **{"src/app.py": "main\n"})
    meddle(monkeypatch, lambda: git(repo.top, "checkout", "--quiet", "side"))
    main = repo.head()
    kept = keep(repo, **{"memory/new.md": "x\n"})
    assert git(repo.top, "rev-parse", "main").strip() == main
    assert git(repo.top, "rev-parse", "side").strip() == kept.commit
    assert files_of(repo) == ["memory/new.md"]


def test_a_branch_that_never_stands_still(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "TRIES", 2)
    monkeypatch.setattr(commits, "_advance", lambda *_: False)
    with pytest.raises(NotNow):
        keep(repo, log="# later\n")


def test_objects_cannot_be_written(repo: Repo) -> None:
    packs = repo.git_dir / "objects" / "pack"
    packs.rmdir()
    packs.write_text("in the way")
    before = repo.head(), git(repo.top, "ls-files", "-s")
    with pytest.raises(StorageFailed):
        keep(repo, log="# later\n")
    assert (repo.head(), git(repo.top, "ls-files", "-s")) == before
    assert not list(repo.git_dir.glob("fast_import_crash*"))
    packs.unlink()
    packs.mkdir()
    assert keep(repo, log="# later\n") == Committed(repo.head(), {})


def test_a_damaged_head_is_no_new_branch(repo: Repo) -> None:
    head = repo.head()
    assert head
    (repo.git_dir / "objects" / head[:2] / head[2:]).unlink()
    for use in (repo.head, repo.tree, repo.obstacle, repo.history, lambda: keep(repo, log="x")):
        with pytest.raises(StorageFailed):
            use()
    assert git(repo.top, "rev-parse", "HEAD").strip() == head


def test_twins_that_differ_in_case(repo: Repo) -> None:
    git(repo.top, "config", "core.ignoreCase", "true")
    keep(repo, **{"memory/README.md": "one", "memory/readme.md": "two"})
    keep(repo, **{"memory/Readme.md": "three"})
    found = repo.read_many("HEAD", ["memory/README.md", "memory/readme.md", "memory/Readme.md"])
    assert list(found.values()) == [b"one", b"two", b"three"]


@pytest.mark.parametrize("settings", [["core.splitIndex", "core.untrackedCache"], ["index.sparse"]])
def test_other_kinds_of_index(repo: Repo, settings: list[str]) -> None:
    for setting in settings:
        git(repo.top, "config", setting, "true")
    if "index.sparse" in settings:
        git(repo.top, "sparse-checkout", "set", "--cone", "memory")
    git(repo.top, "update-index", "--refresh")
    git(repo.top, "status")
    keep(repo, log="# later\n", **{"memory/new.md": "x\n"})
    assert short_status(repo.top) == []
    assert repo.read("HEAD", "src/app.py") == b"1\n"


# Several at once

WRITER = """
import sys
from pathlib import Path
from mdmem.store.repo import NotNow, Repo

vault, name = Path(sys.argv[1]), sys.argv[2]
repo = Repo.discover(vault)
for turn in range(int(sys.argv[3])):
    path = f"memory/{name}-{turn}.md"
    data = f"{name} {turn}".encode()
    (vault / path).write_bytes(data)
    while True:
        try:
            kept = repo.commit({path: data}, f"Add {name} {turn}", state=repo.state_parent / "here")
            break
        except NotNow:
            pass
    assert kept.commit and not kept.left, kept
"""


def test_many_processes_and_the_user(repo: Repo) -> None:
    state(repo)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITER, str(repo.vault)]
    writers = [subprocess.Popen([*command, f"w{n}", "10"], env=environment) for n in range(8)]
    mine = 0
    while any(writer.poll() is None for writer in writers):
        write(repo.vault, "src/app.py", f"{mine}\n")
        call = ["git", "commit", "--quiet", "-m", f"Mine {mine}", "--", "src/app.py"]
        mine += subprocess.run(call, cwd=repo.top, capture_output=True, check=False).returncode == 0
        time.sleep(0.05)
    assert [writer.returncode for writer in writers] == [0] * 8
    subjects = git(repo.top, "log", "--format=%s").splitlines()
    wanted = [f"Add w{n} {turn}" for n in range(8) for turn in range(10)] + [f"Mine {n}" for n in range(mine)]
    assert sorted(subjects) == sorted([*wanted, "Begin"])
    assert len(repo.tree()) == 82
    git(repo.top, "fsck", "--strict")
    repo.commit({}, "Settle", state=state(repo))
    assert [line for line in short_status(repo.top) if "src/app.py" not in line] == []


# -- a HEAD that moves while it is looked at

SLOW_GIT = """#!/bin/sh
case " $* " in
*" --symbolic-full-name "*) if [ -e {gate}.armed ]; then while [ ! -e {gate} ]; do sleep 0.02; done; fi ;;
*" ls-tree "*) "{git}" "$@"; code=$?; touch {gate}.read; exit $code ;;
esac
exec "{git}" "$@"
"""


def test_files_and_commit_of_head_are_read_as_of_one_moment(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user commits what is staged between two looks: nothing is left to be committed, or taken back."""
    real, gate = shutil.which("git"), tmp_path / "gate"
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "git"
    program.write_text(SLOW_GIT.format(gate=gate, git=real))
    program.chmod(0o755)
    vault = make(tmp_path / "vault")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    repo = Repo.discover(vault)
    data = write(vault, LOG, "# 2026-11-29\n\n- 14:30 one\n")
    git(vault, "add", LOG)
    Path(f"{gate}.armed").touch()
    done: list[Committed] = []
    worker = threading.Thread(target=lambda: done.append(repo.commit({LOG: data}, "Add", state=state(repo))))
    worker.start()
    deadline = time.monotonic() + 1  # where the files are asked for afterwards, they are not read before
    while not Path(f"{gate}.read").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    subprocess.run([real or "git", "commit", "-qm", "Code"], cwd=vault, check=True)
    gate.touch()
    worker.join()
    assert git(vault, "log", "--format=%s").split() == ["Code", "Begin"]
    assert done == [Committed(None, {})] and short_status(vault) == []


def test_a_version_made_from_another_head_is_left(tmp_path: Path) -> None:
    vault = make(tmp_path / "vault")
    repo = Repo.discover(vault)
    before = repo.blob_id(b"# 2026-11-29\n")
    newer = write(vault, LOG, "# 2026-11-29\n\n- 14:30 one\n- 14:31 two\n")
    git(vault, "commit", "-qam", "All of it")
    older = newer.removesuffix(b"- 14:31 two\n")
    done = repo.commit({LOG: older}, "Add", state=state(repo), base={LOG: before})
    assert done.commit is None and list(done.left) == [LOG]
    assert git(vault, "show", f"HEAD:{LOG}") == newer.decode()
    assert repo.commit({LOG: older}, "Add", state=state(repo), base={LOG: repo.blob_id(newer)}).commit
