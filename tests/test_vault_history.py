"""History in memory's terms: who changed which entry, when and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from vault_sandbox import DAY, again, git, log, write

from mdmem import Vault
from mdmem.errors import BadInput, NotFound
from mdmem.model import NewEntry

pytestmark = pytest.mark.usefixtures("clock")

FIRST = "daily/2026-11-29#14:30"
SECOND = "daily/2026-11-29#14:30:05"


@pytest.fixture
def lived(vault: Vault) -> Vault:
    """A vault with a change of each kind."""
    vault.add("one", source="checkpoint")
    vault.add_batch([NewEntry("two"), NewEntry("three", source="cron")])
    vault.edit(FIRST, "eins")
    vault.set_field(SECOND, "persona", "yuki")
    write(vault, "memory/plan.md", "# Plan\n")
    vault.commit()
    vault.remove("plan")
    vault.undo()
    (vault.root / "memory/plan.md").write_text("# Plan B\n")
    git(vault, "commit", "-qam", "Change the plan\n\nBecause it rained.\n\nSigned-off-by: Eve <eve@example.org>")
    return again(vault)


def test_each_kind_of_change_is_told(lived: Vault) -> None:
    told = [(change.op, change.actor, change.author, change.subject) for change in lived.log()]
    assert told == [
        ("commit", "person", "Ada Lovelace", "Change the plan"),
        ("undo", "person", "Ada Lovelace", "Undo: Remove plan"),
        ("rm", "person", "Ada Lovelace", "Remove plan"),
        ("save", "person", "Ada Lovelace", "Save plan as edited by hand"),
        ("edit", "person", "Ada Lovelace", f"Edit {SECOND}: set persona"),
        ("edit", "person", "Ada Lovelace", f"Edit {FIRST}: eins"),
        ("add", "person, cron", "Ada Lovelace", "Add 2 entries"),
        ("add", "checkpoint", "Ada Lovelace", "Add: one"),
        ("init", "person", "Ada Lovelace", "Begin the vault"),
    ]
    [commit, undo, rm, save, field, edit, batch, add, init] = lived.log()
    assert commit.reason == "Because it rained."
    assert undo.reason == f"Takes back {rm.commit[:12]}."
    assert (add.source, batch.source, save.source) == ("checkpoint", "person, cron", None)
    assert [(e.kind, e.address, e.after) for e in batch.edits] == [
        ("added", SECOND, "two"),
        ("added", f"{SECOND}.2", "three"),
    ]
    assert [(e.kind, e.before, e.after) for e in edit.edits] == [("changed", "one", "eins")]
    assert [(e.kind, e.address) for e in field.edits] == [("changed", SECOND)]
    assert {e.address for e in init.edits} == {"/.gitattributes", "/mdmem.toml", "MEMORY"}
    assert all(change.date.tzinfo for change in lived.log())


def test_bodies_name_each_entry(lived: Vault) -> None:
    body = git(lived, "log", "--grep=Add 2 entries", "--format=%b")
    assert body.startswith("- daily/2026-11-29: two\n- daily/2026-11-29: three\n\nMdmem-Op: add\n")
    assert "- added plan: # Plan\n" in git(lived, "log", "--grep=^Save", "--format=%b")
    assert f"- {SECOND}: persona = yuki" in git(lived, "log", "--grep=set persona", "--format=%b")
    assert f"- {FIRST}: eins" in git(lived, "log", "--grep=^Edit.*eins", "--format=%b")


def test_the_log_of_an_entry_or_a_file(lived: Vault) -> None:
    assert [change.op for change in lived.log(path=FIRST)] == ["edit", "add"]
    assert [change.op for change in lived.log(path=SECOND)] == ["edit", "add"]
    assert [change.op for change in lived.log(path="plan")] == ["commit", "undo", "rm", "save"]
    assert [change.op for change in lived.log(path="daily/2026-11-29", k=2)] == ["edit", "edit"]
    assert lived.log(path="absent") == []
    assert len(lived.log(k=3)) == 3
    assert len(lived.log(k=None)) == 9


def test_diff(lived: Vault) -> None:
    assert lived.diff() == []
    write(lived, DAY, log(lived) + "- 15:00 by hand\n")
    (lived.root / "memory/plan.md").unlink()
    assert [(e.kind, e.address) for e in lived.diff()] == [("added", "daily/2026-11-29#15:00"), ("removed", "plan")]
    told = [(e.kind, e.address, e.before, e.after) for e in lived.diff("HEAD~1", "HEAD")]
    assert told == [("changed", "plan", "# Plan\n", "# Plan B\n")]
    assert [(e.kind, e.address) for e in lived.diff("HEAD", "HEAD~1")] == [("changed", "plan")]
    assert [(e.kind, e.address) for e in lived.diff("HEAD~5")] == [
        ("changed", SECOND),
        ("added", "daily/2026-11-29#15:00"),
    ]
    for rev in ("nothing", "-x"):
        with pytest.raises((NotFound, BadInput)):
            lived.diff(rev)


def test_a_merge_and_both_its_sides_are_history(lived: Vault) -> None:
    git(lived, "switch", "-qc", "other", "HEAD~3")
    again(lived).add("on the other side")
    git(lived, "switch", "-q", "main")
    again(lived).add("on this side")
    git(lived, "merge", "-q", "--no-edit", "other")
    ops = [change.subject for change in lived.log(k=4)]
    assert "Add: on this side" in ops
    assert "Add: on the other side" in ops
    undone = {lived.undo().subject, lived.undo().subject}
    assert undone == {"Undo: Add: on this side", "Undo: Add: on the other side"}


def test_history_of_one_vault_knows_nothing_of_the_rest(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "app.py").write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Code")
    vault = Vault.init(tmp_path / "notes")[0]
    write(vault, "script.py", "1\n")
    git(vault, "add", "script.py")
    git(vault, "commit", "-qm", "A script in the vault's folder")
    vault.add("note")
    assert [change.op for change in vault.log()] == ["add", "init"]
    assert vault.diff("HEAD~1", "HEAD")[0].kind == "added"
    with pytest.raises(NotFound, match="did not touch"):
        vault.undo("HEAD~1")


def test_history_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".git/HEAD.lock").touch()
    vault, notices = Vault.init(tmp_path)
    assert any("still to be made" in notice for notice in notices)
    assert vault.log() == []
    with pytest.raises(NotFound):
        vault.diff()
    with pytest.raises(NotFound):
        vault.undo()
    (tmp_path / ".git/HEAD.lock").unlink()
    assert Vault.init(tmp_path)[1] == ()
    assert [change.op for change in vault.log()] == ["init"]
