"""Reading commits: everything that was written comes back, whatever it looks like."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repo_sandbox import LOG, git, home, keep, make, state, write

from mdmem.errors import NotFound, StorageFailed
from mdmem.store.repo import FileChange, Repo

__all__ = ["home"]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.discover(make(tmp_path / "vault"))


def commit_with(repo: Repo, message: bytes, *, name: bytes = b"A", stamp: str = "1700000000 +0000") -> str:
    """A first commit of exactly these words, with HEAD's files."""
    tree = git(repo.top, "rev-parse", "HEAD^{tree}").strip().encode()
    who = b"%s <a@b> %s" % (name, stamp.encode())
    text = b"tree %s\nauthor %s\ncommitter %s\n\n%s" % (tree, who, who, message)
    return git(repo.top, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", data=text).strip()


def test_everything_about_a_commit(repo: Repo) -> None:
    first = repo.head()
    old = repo.blob_id(b"# 2026-11-29\n")
    body = "One paragraph\nof two lines.\n\nAnother: not alone\nhere."
    message = f"Edit an entry\n\n{body}\n\nMdmem-Op: edit\nMdmem-Source: vim\n"
    kept = keep(repo, log="# x\n", message=message, **{"memory/new.md": "n"})
    commit = next(repo.history())
    assert (commit.id, commit.parents) == (kept.commit, (first,))
    assert (commit.author_name, commit.author_email) == ("Ada Lovelace", "ada@example.org")
    assert abs(commit.date - datetime.now(UTC)) < timedelta(minutes=5)
    assert commit.date.utcoffset() == datetime.now().astimezone().utcoffset()
    assert commit.subject == "Edit an entry"
    assert commit.body == body
    assert commit.trailers == {"Mdmem-Op": "edit", "Mdmem-Source": "vim"}
    assert commit.files == (
        FileChange("M", LOG, old, repo.blob_id(b"# x\n")),
        FileChange("A", "memory/new.md", None, repo.blob_id(b"n")),
    )
    keep(repo, **{"memory/new.md": None})
    assert next(repo.history()).files == (FileChange("D", "memory/new.md", repo.blob_id(b"n"), None),)


def test_order_number_and_paths(repo: Repo) -> None:
    for turn in range(6):
        keep(repo, message=f"Turn {turn}", **{f"memory/{turn % 2}.md": f"{turn}", "memory/a/b.md": f"{turn // 3}"})
    assert [c.subject for c in repo.history()] == [*(f"Turn {turn}" for turn in (5, 4, 3, 2, 1, 0)), "Begin"]
    assert [c.subject for c in repo.history(k=2)] == ["Turn 5", "Turn 4"]
    assert list(repo.history(k=0)) == []
    ones = list(repo.history(paths=["memory/1.md"]))
    assert [(c.subject, [f.path for f in c.files]) for c in ones] == [
        (f"Turn {turn}", ["memory/1.md"]) for turn in (5, 3, 1)
    ]
    assert [c.subject for c in repo.history(paths=["memory/a", "memory/1.md"], k=3)] == ["Turn 5", "Turn 3", "Turn 1"]
    assert [c.subject for c in repo.history(rev="HEAD~5")] == ["Turn 0", "Begin"]
    assert list(repo.history(paths=["memory/none.md"])) == []
    with pytest.raises(NotFound):
        list(repo.history(rev="none"))


def test_what_came_after_a_commit(repo: Repo) -> None:
    commits = [keep(repo, message=str(number), **{"memory/a.md": f"{number}\n"}).commit for number in range(3)]
    assert [info.id for info in repo.history(since=commits[0] or "")] == [commits[2], commits[1]]
    assert list(repo.history(since="HEAD", paths=["memory/a.md"])) == []
    with pytest.raises(NotFound):
        repo.history(since="0" * 40)


def test_only_commits_that_touched_the_vault(tmp_path: Path) -> None:
    top = make(tmp_path / "code", files={"src/app.py": "", f"notes/{LOG}": ""})
    repo = Repo.discover(top / "notes")
    write(top, "src/app.py", "2")
    git(top, "commit", "--quiet", "-am", "Code")
    git(top, "commit", "--quiet", "--allow-empty", "-m", "Empty")
    write(top, "src/app.py", "3")
    write(top, f"notes/{LOG}", "both")
    git(top, "commit", "--quiet", "-am", "Both")
    assert [(c.subject, [f.path for f in c.files]) for c in repo.history()] == [("Both", [LOG]), ("Begin", [LOG])]


def test_both_sides_of_a_merge_and_what_it_settled(repo: Repo) -> None:
    git(repo.top, "checkout", "--quiet", "-b", "side")
    keep(repo, log="side\n", message="Side")
    git(repo.top, "checkout", "--quiet", "main")
    keep(repo, log="main\n", message="Main")
    git(repo.top, "merge", "--quiet", "--strategy=ours", "--no-commit", "side")
    write(repo.vault, LOG, "both\n")
    git(repo.top, "commit", "--quiet", "-am", "Settled")
    git(repo.top, "checkout", "--quiet", "-b", "other", "HEAD~")
    keep(repo, **{"memory/x.md": "x"}, message="Other")
    git(repo.top, "checkout", "--quiet", "main")
    git(repo.top, "merge", "--quiet", "--no-edit", "other")
    found = {c.subject: c for c in repo.history()}
    assert set(found) == {"Settled", "Side", "Main", "Other", "Begin"}
    merge = found["Settled"]
    assert len(merge.parents) == 2
    assert merge.files == (FileChange("M", LOG, repo.blob_id(b"main\n"), repo.blob_id(b"both\n")),)


def test_a_side_that_was_taken_back_is_history_too(repo: Repo) -> None:
    git(repo.top, "checkout", "--quiet", "-b", "side")
    keep(repo, log="wrong\n", message="Wrong")
    keep(repo, log="# 2026-11-29\n", message="Right again")
    git(repo.top, "checkout", "--quiet", "main")
    keep(repo, **{"memory/x.md": "x"}, message="Main")
    git(repo.top, "merge", "--quiet", "--no-edit", "side")
    assert {c.subject for c in repo.history(paths=[LOG])} == {"Wrong", "Right again", "Begin"}


@pytest.mark.parametrize(
    ("stamp", "date"),
    [
        ("1700000000 +0530", "2023-11-15T03:43:20+05:30"),
        ("1700000000 -0930", "2023-11-14T12:43:20-09:30"),
        ("1700000000 +9999", "2023-11-14T22:13:20+00:00"),
        ("99999999999999999 +0100", "1970-01-01T00:00:00+00:00"),
        ("nonsense", "1970-01-01T00:00:00+00:00"),
    ],
)
def test_dates(repo: Repo, stamp: str, date: str) -> None:
    (commit,) = repo.history(rev=commit_with(repo, b"Dated", stamp=stamp))
    assert commit.date.isoformat() == date


LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0:"), max_size=20)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(subject=LINES, body=st.lists(LINES, max_size=5), name=LINES)
def test_no_content_is_mistaken_for_structure(repo: Repo, subject: str, body: list[str], name: str) -> None:
    name = "".join(char for char in name if char not in "<>\n")
    message = "\n".join([subject, *body])
    (commit,) = repo.history(rev=commit_with(repo, message.encode(), name=name.encode()))
    assert commit.author_email == "a@b"
    assert [change.path for change in commit.files] == [LOG]
    assert not commit.trailers
    assert f"{commit.subject}\n{commit.body}".split() == message.split()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\n\n",
        b":100644 000000",
        b"\n:100644 100644 a b M",
        b"\xff\xfe",
        b"x\r\ny",
        b"commit x\n\n\n\n",
        b"x" * 200_000,
    ],
)
def test_strange_messages(repo: Repo, message: bytes) -> None:
    (commit,) = repo.history(rev=commit_with(repo, message))
    text = message.decode("utf-8", "surrogateescape").strip("\n")
    assert commit.subject == text.split("\n")[0]
    assert [change.path for change in commit.files] == [LOG]


@pytest.mark.parametrize(
    ("message", "trailers"),
    [
        ("S\n\nA: b\nC-d: e:f", {"A": "b", "C-d": "e:f"}),
        ("S\n\nA: b\nno trailer", {}),
        ("A: subject", {}),
        ("S\nA: no blank line", {"A": "no blank line"}),
        ("S\n\nBody\n\n\nA: b\n\n", {"A": "b"}),
        ("S\n\nBody", {}),
    ],
)
def test_trailers(repo: Repo, message: str, trailers: Mapping[str, str]) -> None:
    assert next(repo.history(rev=commit_with(repo, message.encode()))).trailers == trailers


def test_a_reader_may_stop_early(repo: Repo) -> None:
    for turn in range(3):
        keep(repo, log=f"{turn}")
    reader = repo.history()
    assert next(reader).files
    reader.close()  # type: ignore[attr-defined]
    assert [c.subject for c in repo.history(k=1)] == ["Add an entry"]


def test_settings_of_the_user_change_nothing(repo: Repo, home: Path) -> None:
    keep(repo, log="x", **{"memory/new.md": "# 2026-11-29\n"})
    (repo.vault / LOG).unlink()
    moved = {LOG: None, "memory/moved.md": write(repo.vault, "memory/moved.md", "x")}
    repo.commit(moved, "Move", state=state(repo))
    plain = list(repo.history())
    for key, value in {
        "log.showRoot": "false",
        "log.follow": "true",
        "log.date": "relative",
        "log.diffMerges": "separate",
        "log.decorate": "full",
        "log.mailmap": "true",
        "diff.renames": "copies",
        "diff.noprefix": "true",
        "diff.relative": "false",
        "diff.orderFile": str(home / "none"),
        "diff.external": "false",
        "color.ui": "always",
        "core.abbrev": "4",
        "core.quotePath": "true",
        "format.pretty": "oneline",
        "i18n.logOutputEncoding": "UTF-16",
        "pager.log": "false",
    }.items():
        git(home, "config", "--global", key, value)
    write(repo.vault, ".mailmap", "Other <other@x> <ada@example.org>\n")
    assert list(repo.history()) == plain
    assert [c.files for c in repo.history(paths=["memory/moved.md"])] == [(plain[0].files[1],)]


def test_damaged_history(repo: Repo) -> None:
    first = repo.head()
    assert first
    keep(repo, log="x")
    (repo.git_dir / "objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(StorageFailed):
        list(repo.history())


def test_a_name_that_is_not_utf8(repo: Repo) -> None:
    path = os.fsdecode(b"memory/\xff.md")
    keep(repo, **{path: "x"}, message=f"Add {path}")
    assert next(repo.history()).files[0].path == path
