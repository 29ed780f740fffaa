"""Changing what is there: edit, fields, rm, undo, commit. Only the bytes asked for, each change a commit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from vault_sandbox import DAY, HEADING, again, body, committed, git, log, ops, status, subjects, write

from mdmem import Vault, fsio
from mdmem.errors import BadInput, Busy, NotFound, Refused, StorageFailed
from mdmem.model import NewEntry

pytestmark = pytest.mark.usefixtures("clock")

FIRST = "daily/2026-11-29#14:30"
SECOND = "daily/2026-11-29#14:30:05"


@pytest.fixture
def two(vault: Vault) -> Vault:
    """A vault with two entries."""
    vault.add_batch([NewEntry("first #tag", source="cron"), NewEntry("second\n\nwith more")])
    return again(vault)


# -- edit


def test_edit_changes_one_entry(two: Vault) -> None:
    change = two.edit(FIRST, "first, {corrected} {0.real}\n\n# not a heading", was="first #tag")
    assert body(two) == (
        "- 14:30 first, {corrected} {0.real} <!-- mdmem: source=cron -->\n\n  # not a heading\n"
        "- 14:30:05 second\n\n  with more\n"
    )
    assert (change.op, change.actor) == ("edit", "person")
    assert [(e.kind, e.address, e.before) for e in change.edits] == [("changed", FIRST, "first #tag")]
    assert change.subject.startswith("Edit daily/2026-11-29#14:30: first, {corrected} {0.real}")
    assert committed(two) == log(two)
    assert status(two) == ""
    assert ops(two) == ["edit", "add", "init"]


def test_edit_of_another_text_than_was_seen_is_refused(two: Vault) -> None:
    before = log(two)
    with pytest.raises(Refused):
        two.edit(FIRST, "new", was="something else")
    with pytest.raises(Refused):
        two.edit(f"{FIRST}@000000", "new")
    assert log(two) == before
    assert ops(two) == ["add", "init"]


@pytest.mark.parametrize("text", ["", " \n", "nul\0", "half \ud800"])
def test_edit_refuses_what_no_log_can_hold(two: Vault, text: str) -> None:
    before = log(two)
    with pytest.raises(BadInput):
        two.edit(FIRST, text)
    assert log(two) == before


def test_a_change_to_the_same_is_no_commit(two: Vault) -> None:
    with pytest.raises(BadInput, match="like that already"):
        two.edit(FIRST, "first #tag")
    with pytest.raises(BadInput, match="like that already"):
        two.set_field(FIRST, "source", "cron")
    with pytest.raises(BadInput, match="like that already"):
        two.set_field(FIRST, "absent", None)
    assert ops(two) == ["add", "init"]


DOCUMENTS = [
    "# Plan\n\nold text\n",
    "\ufeff# Plan\r\n\r\nold text\r\n",
    "---\ntitle: 'Plan'   # quoted\nid: 0012\n---\n\nold text",
    "# Plan\r\nold text\nmixed endings\r\nand\n",
    "---\nbroken: [\n---\nold text\n",
    "---\ntitle: part one: start\n---\nold text\n",
]


@pytest.mark.parametrize("before", DOCUMENTS)
@pytest.mark.parametrize("ending", ["as shown", "\n"])
def test_edit_of_a_document_keeps_every_other_byte(vault: Vault, before: str, ending: str) -> None:
    write(vault, "memory/archives/plan.md", before)
    shown = vault.get("archives/plan").text
    text = shown if ending == "as shown" else shown.replace("\r\n", "\n")
    change = vault.edit("archives/plan", text.replace("old", "new"))
    assert log(vault, "memory/archives/plan.md") == before.replace("old", "new")
    assert [(e.kind, e.address) for e in change.edits] == [("changed", "archives/plan")]
    assert ops(vault) == ["edit", "save", "init"]
    assert status(vault) == ""


@pytest.mark.parametrize("address", ["/notes/plan", "/MEMORY"])
def test_documents_outside_of_memory(vault: Vault, address: str) -> None:
    write(vault, "mdmem.toml", 'roots = ["notes"]\n')
    path = f"{address[1:]}.md"
    write(vault, path, "old\n")
    vault = again(vault)
    vault.edit(address, "new\n")
    assert log(vault, path) == "new\n"
    vault.set_field(address, "status", "done")
    assert log(vault, path) == "---\nstatus: done\n---\nnew\n"
    vault.remove(address)
    assert not (vault.root / path).exists()
    vault.undo()
    assert committed(vault, path) == log(vault, path) == "---\nstatus: done\n---\nnew\n"


@pytest.mark.parametrize("act", ["edit", "set_field", "rm"])
def test_a_utf16_document_is_not_written(vault: Vault, act: str) -> None:
    data = "# Wide\n".encode("utf-16")
    write(vault, "memory/wide.md", data)
    calls: dict[str, Callable[[], object]] = {
        "edit": lambda: vault.edit("wide", "narrow"),
        "set_field": lambda: vault.set_field("wide", "title", "x"),
        "rm": lambda: vault.edit("wide", "narrow"),
    }
    with pytest.raises(Refused, match="UTF-16"):
        calls[act]()
    assert (vault.root / "memory/wide.md").read_bytes() == data


def test_bytes_that_are_no_text_stay_where_the_edit_is_not(vault: Vault) -> None:
    write(vault, DAY, HEADING + "- 09:00 bad \udcff\udcfe\n- 09:01 good\n")
    vault.edit("daily/2026-11-29#09:01", "better")
    assert log(vault) == HEADING + "- 09:00 bad \udcff\udcfe\n- 09:01 better\n"
    with pytest.raises(Refused, match="bytes that are no text"):
        vault.edit("daily/2026-11-29#09:00", "x")


def test_crlf_and_missing_newline_stay(vault: Vault) -> None:
    write(vault, DAY, "# 2026-11-29\r\n\r\n- 09:00 one\r\n- 09:01 two")
    vault.edit("daily/2026-11-29#09:00", "eins\nzwei")
    assert log(vault) == "# 2026-11-29\r\n\r\n- 09:00 eins\r\n  zwei\r\n- 09:01 two"
    vault.edit("daily/2026-11-29#09:01", "drei")
    vault.remove("daily/2026-11-29#09:00")
    assert log(vault) == "# 2026-11-29\r\n\r\n- 09:01 drei"


def test_twins_are_told_apart(vault: Vault) -> None:
    write(vault, DAY, "- 09:00 a\n- 09:00 b\n- 09:00 a\n")
    vault.edit("daily/2026-11-29#09:00.3", "third")
    vault.remove("daily/2026-11-29#09:00.2")
    assert log(vault) == "- 09:00 a\n- 09:00 third\n"


# -- fields


def test_fields_of_an_entry(two: Vault) -> None:
    two.set_field(SECOND, "persona", "a b%>")
    two.set_field(FIRST, "source", None)
    assert body(two) == "- 14:30 first #tag\n- 14:30:05 second <!-- mdmem: persona=a%20b%25%3E -->\n\n  with more\n"
    two.set_field(SECOND, "id", "mine {x}")
    assert again(two).get("mine {x}").address == SECOND
    assert subjects(two)[0] == "Edit daily/2026-11-29#14:30:05: set id"
    with pytest.raises(BadInput):
        two.set_field(FIRST, "", "x")


def test_fields_of_a_document(vault: Vault) -> None:
    write(vault, "memory/plan.md", "---\r\n# mine\r\ntitle: 012  # keep\r\n\r\nid: x\r\n---\r\nText\r\n")
    vault.set_field("plan", "title", "part one: start\nMdmem-Op: nightly")
    first, _, rest = log(vault, "memory/plan.md").partition("title: ")
    assert first == "---\r\n# mine\r\n"
    assert rest == '"part one: start\\nMdmem-Op: nightly"  # keep\r\n\r\nid: x\r\n---\r\nText\r\n'
    assert ops(vault)[0] == "edit"


def test_a_broken_block_is_refused_by_name_and_line(vault: Vault) -> None:
    before = "---\ntitle: part one: start\n---\nText\n"
    write(vault, "memory/plan.md", before)
    with pytest.raises(Refused, match=r"memory/plan\.md: line 2"):
        vault.set_field("plan", "title", "x")
    assert log(vault, "memory/plan.md") == before


def test_a_log_has_no_fields(two: Vault) -> None:
    before = log(two)
    with pytest.raises(BadInput):
        two.set_field("daily/2026-11-29", "title", "x")
    assert log(two) == before


# -- rm


def test_rm_takes_one_entry(two: Vault) -> None:
    change = two.remove(FIRST)
    assert body(two) == "- 14:30:05 second\n\n  with more\n"
    assert [(e.kind, e.address, e.before) for e in change.edits] == [("removed", FIRST, "first #tag")]
    two.remove(SECOND)
    assert log(two) == HEADING
    assert ops(two) == ["rm", "rm", "add", "init"]
    assert two.add("again").address == FIRST
    assert status(two) == ""


def test_rm_takes_a_document_or_a_whole_log(two: Vault) -> None:
    write(two, "memory/plan.md", "# Plan\n")
    two.remove("plan")
    two.remove("daily/2026-11-29")
    assert not (two.root / DAY).exists()
    assert ops(two) == ["rm", "rm", "save", "add", "init"]
    assert status(two) == ""
    assert two.undo().edits[0].kind == "added"
    assert "first #tag" in log(two)


@pytest.mark.parametrize("address", ["daily/2026-11-29#14:31", "daily/2026-11-29#14:30.2", "daily/2026-11-28", "pln"])
@pytest.mark.parametrize("act", ["edit", "set_field", "rm"])
def test_what_does_not_exist_is_not_changed_and_neither_is_its_neighbour(two: Vault, address: str, act: str) -> None:
    write(two, "memory/plan.md", "# Plan\n")
    before = log(two)
    calls: dict[str, Callable[[], object]] = {
        "edit": lambda: two.edit(address, "x"),
        "set_field": lambda: two.set_field(address, "a", "b"),
        "rm": lambda: two.remove(address),
    }
    with pytest.raises(NotFound) as caught:
        calls[act]()
    assert "near:" in caught.value.hint
    assert log(two) == before
    assert log(two, "memory/plan.md") == "# Plan\n"
    assert ops(two) == ["add", "init"]


def test_rm_of_a_file_saved_meanwhile_keeps_the_save(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write(vault, "memory/plan.md", "# Plan\n")
    real, saves = fsio.calls.rename, iter(["# Plan, saved\n"])

    def save_first(name: str, *rest: object, **where: object) -> None:
        for text in saves if name == "plan.md" else ():
            place.write_text(text)
        real(name, *rest, **where)

    monkeypatch.setattr(fsio.calls, "rename", save_first)
    with pytest.raises(Refused):
        vault.remove("plan@" + "0" * 6)
    change = vault.remove("plan")
    assert change.edits[0].before == "# Plan, saved\n"
    assert ops(vault) == ["rm", "save", "save", "init"]


def test_a_save_in_the_middle_of_an_edit_is_the_persons(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("mine")
    real, saved = vault.parts.replacements.__class__.carry_out, []

    def save_first(self, steps, **said):
        if not saved:
            saved.append(write(vault, DAY, log(vault) + "- 15:00 theirs\n"))
        return real(self, steps, **said)

    monkeypatch.setattr(vault.parts.replacements.__class__, "carry_out", save_first)
    vault.edit(FIRST, "changed")
    assert body(vault) == "- 14:30 changed\n- 15:00 theirs\n"
    assert ops(vault) == ["edit", "save", "add", "init"]
    edit, save = vault.log(k=2)
    assert [(e.kind, e.after) for e in edit.edits] == [("changed", "changed")]
    assert [(e.kind, e.after) for e in save.edits] == [("added", "theirs")]


def test_hand_edits_in_the_same_file_are_committed_before(two: Vault) -> None:
    write(two, DAY, log(two) + "- 15:00 by hand\n")
    two.edit(FIRST, "changed")
    assert ops(two) == ["edit", "save", "add", "init"]
    assert [(e.kind, e.after) for e in two.log(k=1)[0].edits] == [("changed", "changed")]


# -- undo


def test_undo_of_each_kind(two: Vault) -> None:
    start = log(two)
    for act in (
        lambda: two.add("third"),
        lambda: two.edit(FIRST, "edited"),
        lambda: two.set_field(FIRST, "persona", "x"),
        lambda: two.remove(SECOND),
        lambda: two.add_batch([NewEntry("a"), NewEntry("b\n\nc")]),
        lambda: write(two, DAY, start.replace("first", "by hand")) and two.commit(),
    ):
        act()
        assert log(two) != start
        change = two.undo()
        assert log(two) == start
        assert committed(two) == start
        assert change.op == "undo"
        assert change.reason.startswith("Takes back ")
    assert status(two) == ""


def test_undo_goes_back_further_each_time(vault: Vault) -> None:
    for text in ("one", "two", "three"):
        vault.add(text)
    assert [vault.undo().subject for _ in range(3)] == ["Undo: Add: three", "Undo: Add: two", "Undo: Add: one"]
    assert not (vault.root / DAY).exists()
    with pytest.raises(NotFound):
        vault.undo()
    assert vault.add("four").address == FIRST


def test_undo_of_an_older_change_keeps_later_ones(vault: Vault) -> None:
    first = vault.add("one")
    second = vault.add("two")
    vault.add("three")
    vault.edit(FIRST.replace("14:30", "14:30:05.2"), "drei")
    vault.undo(second.commit)
    assert body(vault) == "- 14:30 one\n- 14:30:05 drei\n"
    vault.undo(first.commit)
    assert log(vault) == HEADING + "- 14:30:05 drei\n"
    with pytest.raises(NotFound, match="taken back already"):
        vault.undo(first.commit)
    assert ops(vault)[:2] == ["undo", "undo"]


def test_undo_of_an_undo_by_name_and_then_undo(vault: Vault) -> None:
    vault.add("one")
    undone = vault.undo()
    again(vault).undo(undone.commit)
    assert body(vault) == "- 14:30 one\n"
    assert again(vault).undo().subject == "Undo: Add: one"
    assert not (vault.root / DAY).exists()


def test_undo_of_what_was_changed_since_is_refused(vault: Vault) -> None:
    added = vault.add("one\n\ntwo")
    vault.add("beside")
    write(vault, DAY, log(vault).replace("two", "zwei"))
    before = log(vault)
    with pytest.raises(Refused, match="changed again"):
        vault.undo(added.commit)
    assert log(vault) == before
    assert vault.undo().subject == "Undo: Save daily/2026-11-29 as edited by hand"  # committed on the way
    assert "two" in log(vault)


@pytest.mark.parametrize("how", ["edited", "deleted"])
def test_undo_asks_which_is_meant_where_a_hand_edit_is_not_in_history(vault: Vault, how: str) -> None:
    write(vault, "memory/d.md", "# D\n\none\n")
    saved = vault.commit()[0]
    path = vault.root / "memory/d.md"
    path.unlink() if how == "deleted" else path.write_text("# D\n\none\nmine\n")
    count, before = len(ops(vault)), status(vault)
    with pytest.raises(Refused, match="d was edited by hand since the last change") as caught:
        again(vault).undo()
    assert caught.value.hint == (
        "nothing was changed; `mdmem commit`, then `mdmem undo`, takes that edit back; "
        f"`mdmem undo {saved.commit[:8]}` (Save d as edited by hand) keeps it"
    )
    assert (len(ops(vault)), status(vault)) == (count, before)
    again(vault).commit()
    again(vault).undo()
    assert log(vault, "memory/d.md") == "# D\n\none\n"


def test_undo_of_a_change_by_name_says_that_a_hand_edit_is_kept(vault: Vault) -> None:
    write(vault, "memory/d.md", "# D\n\none\n\ntwo\n\nthree\n")
    vault.commit()
    edited = again(vault).edit("d", "# D\n\nONE\n\ntwo\n\nthree\n")
    write(vault, "memory/d.md", log(vault, "memory/d.md").replace("three", "mine"))
    one = again(vault)
    one.undo(edited.commit)
    assert one.notices == ["d was edited by hand: that is in history now, and stays"]
    assert log(vault, "memory/d.md") == "# D\n\none\n\ntwo\n\nmine\n"
    assert ops(vault)[:3] == ["undo", "save", "edit"]


def test_undo_says_that_it_leaves_what_was_edited_elsewhere(vault: Vault) -> None:
    vault.add("one")
    (vault.root / ".gitignore").write_text("memory/private/\n")
    write(vault, "memory/private/p.md", "# Not for git\n")
    one = again(vault)
    assert (one.undo().subject, one.notices) == ("Undo: Add: one", [])
    vault.add("two")
    write(vault, "memory/d.md", "# D\n")
    one = again(vault)
    assert one.undo().subject == "Undo: Add: two"
    said = "d was edited by hand, and left so: `mdmem commit`, then `mdmem undo`, takes that back"
    assert one.notices == [said]
    assert status(vault).split("\n") == ["?? .gitignore", "?? memory/d.md"]


def test_undo_of_a_removed_document_that_is_there_again(vault: Vault) -> None:
    write(vault, "memory/plan.md", "# Plan\n\na\n")
    removed = vault.remove("plan")
    write(vault, "memory/plan.md", "# Another\n")
    with pytest.raises(Refused):
        vault.undo(removed.commit)
    assert log(vault, "memory/plan.md") == "# Another\n"


def test_undo_takes_back_all_files_or_none(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "memory/a.md", "a\n")
    write(vault, "memory/b.md", "b\n")
    vault.commit()
    write(vault, "memory/a.md", "a2\n")
    write(vault, "memory/b.md", "b2\n")
    vault.commit()
    real = fsio.replace

    def second_fails(path: str, *rest: object, **said: object) -> object:
        if path == "memory/b.md":
            raise StorageFailed("no space", "")
        return real(path, *rest, **said)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "replace", second_fails)
        with pytest.raises(StorageFailed):
            vault.undo()
    assert (log(vault, "memory/a.md"), log(vault, "memory/b.md")) == ("a2\n", "b2\n")
    again(vault).status()
    assert ops(vault) == ["save", "save", "init"]
    assert [edit.after for edit in vault.undo().edits] == ["a\n", "b\n"]


def test_undo_leaves_what_is_not_memory_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "app.py").write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Code")
    vault = Vault.init(tmp_path)[0]
    with pytest.raises(NotFound):
        vault.undo()
    vault.add("note")
    (tmp_path / "app.py").write_text("2\n")
    git(tmp_path, "commit", "-qam", "More code")
    assert [change.op for change in vault.log()] == ["add", "init"]
    assert vault.undo().subject == "Undo: Add: note"
    assert (tmp_path / "app.py").read_text() == "2\n"
    with pytest.raises(NotFound):
        vault.undo("HEAD~1")  # the code
    (tmp_path / "app.py").write_text("3\n")
    assert vault.diff("HEAD~1") == vault.diff("HEAD~1", "HEAD")
    assert {edit.address for edit in vault.diff("HEAD~3")} <= {"daily/2026-11-29", FIRST}


def test_the_beginning_cannot_be_undone(vault: Vault) -> None:
    with pytest.raises(NotFound, match="nothing to undo"):
        vault.undo()
    with pytest.raises(Refused):
        vault.undo("HEAD")
    assert (vault.root / "mdmem.toml").exists()


@pytest.mark.parametrize("rev", ["nothing", "-x", "", "HEAD~99", "0" * 40, "HEAD\n"])
def test_undo_of_no_commit(vault: Vault, rev: str) -> None:
    with pytest.raises((NotFound, BadInput)):
        vault.undo(rev or "^")
    assert ops(vault) == ["init"]


def test_a_message_cannot_pose_as_an_undo(vault: Vault) -> None:
    target = vault.add("target")
    vault.add(f"x\n\nMdmem-Undoes: {target.commit}", source=f"y\n\nMdmem-Undoes: {target.commit}")
    vault.undo()
    assert vault.undo().subject == "Undo: Add: target"


# -- commit


def test_commit_takes_hand_edits(vault: Vault) -> None:
    assert vault.commit() == []
    write(vault, 'memory/archives/été "x"\t.md', "# Summer\n")
    write(vault, DAY, "- 09:00 by hand\n")
    write(vault, "memory/.#lock", "x")
    write(vault, "memory/note.md~", "x")
    write(vault, "other.md", "not memory\n")
    [change] = vault.commit()
    assert (change.op, change.actor) == ("save", "person")
    assert {edit.address for edit in change.edits} == {'archives/été "x"\t', "daily/2026-11-29#09:00"}
    listed = git(vault, "ls-files", "-z").split("\0")
    assert 'memory/archives/été "x"\t.md' in listed
    assert "memory/.#lock" not in listed
    assert "other.md" not in listed
    (vault.root / DAY).unlink()
    [change] = vault.commit()
    assert [edit.kind for edit in change.edits] == ["removed"]
    assert vault.commit() == []


def test_commit_never_takes_the_end_of_everything(vault: Vault) -> None:
    vault.add("one")
    (vault.root / "memory").rename(vault.root / "elsewhere")
    with pytest.raises(Refused):
        again(vault).commit()
    assert ops(vault) == ["add", "init"]


def test_one_unreadable_file_does_not_keep_the_others_back(vault: Vault) -> None:
    write(vault, "memory/good.md", "# Good\n")
    (vault.root / "memory/bad.md").symlink_to("good.md")
    os.mkfifo(vault.root / "memory/fifo.md")
    write(vault, "memory/was.md", "# Was\n")
    vault.commit()
    (vault.root / "memory/was.md").unlink()
    (vault.root / "memory/was.md").mkdir()
    write(vault, "memory/good.md", "# Better\n")
    [change] = vault.commit()
    assert [edit.address for edit in change.edits] == ["good"]
    assert any("was.md" in notice for notice in vault.notices)


# -- busy


def test_changes_wait_for_nobody_and_change_nothing(two: Vault) -> None:
    before = log(two)
    (two.root / "mdmem.toml").write_text("[lock]\ntimeout_ms = 50\n")
    other = again(two)
    with two.parts.delivery.lock.hold(100):
        for act in (
            lambda: other.edit(FIRST, "x"),
            lambda: other.set_field(FIRST, "a", "b"),
            lambda: other.remove(FIRST),
            lambda: other.undo(),
            lambda: other.commit(),
        ):
            with pytest.raises(Busy, match=f"pid {os.getpid()}"):
                act()
        done = other.add("waits")
    assert (done.pending, done.address, done.commit) == (True, None, None)
    assert any(f"pid {os.getpid()}" in notice for notice in done.notices)
    assert log(two) == before
    again(two).get(FIRST)
    assert body(two).endswith("- 14:30:05.2 waits\n") or body(two).endswith("- 14:30:05 waits\n")
    assert ops(two) == ["add", "add", "init"]


def test_what_cannot_go_into_history_first_is_not_changed(two: Vault) -> None:
    git(two, "switch", "-q", "--detach")
    two.add("pending")
    before = log(two)
    for act in (lambda: two.edit(FIRST, "x"), lambda: two.remove(FIRST), lambda: two.undo()):
        with pytest.raises(Busy):
            act()
    assert log(two) == before
    git(two, "switch", "-q", "main")
    again(two).edit(FIRST, "x")
    assert ops(two) == ["edit", "add", "add", "init"]


def test_one_change_of_a_clean_file_waits_with_what_comes_after(two: Vault) -> None:
    git(two, "switch", "-q", "--detach")
    change = two.edit(FIRST, "changed while detached")
    assert change.commit == ""
    two.add("added after")
    write(two, DAY, log(two) + "- 15:00 by hand\n")
    git(two, "switch", "-q", "main")
    again(two).status()
    assert ops(two) == ["add", "save", "edit", "add", "init"]
    assert [(e.kind, e.after) for e in two.log(k=3)[2].edits] == [("changed", "changed while detached")]
    assert status(two) == ""
