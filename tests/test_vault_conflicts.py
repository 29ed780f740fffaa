"""Edits of one text by several people: merged where that is possible, else both versions are kept and resolved."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from vault_sandbox import DAY, HEADING, again, body, committed, git, log, ops, status, subjects, write

from mdmem import Vault, fsio
from mdmem.errors import BadInput, Conflicted, NotFound, Refused
from mdmem.model import Clash, Conflict
from mdmem.vault import conflicts

pytestmark = pytest.mark.usefixtures("clock")

ENTRY = "daily/2026-11-29#14:30"
PLAN = "memory/archives/plan.md"
TEXT = "---\n# mine\ntitle: Plan\n---\n# Plan\n\none\ntwo\nthree\n"


@pytest.fixture
def plan(vault: Vault) -> Vault:
    """A vault with one document in history."""
    write(vault, PLAN, TEXT)
    vault.commit()
    return again(vault)


def clash(
    vault: Vault, *, was: str = "用户喜欢喝咖啡", now: str = "用户喜欢喝美式咖啡", typed: str = "用户咖啡因过敏"
) -> Conflict:
    """Have two people make different things of one entry."""
    vault.add(was)
    again(vault).edit(ENTRY, now)
    with pytest.raises(Conflicted):
        again(vault).edit(ENTRY, typed, was=was)
    (found,) = again(vault).conflicts()
    return found


# -- what merges


def test_changes_of_two_people_in_different_lines_are_merged(plan: Vault) -> None:
    was = plan.get("archives/plan").text
    again(plan).edit("archives/plan", was.replace("one", "ONE"), was=was)
    mine = again(plan)
    change = mine.edit("archives/plan", was.replace("three", "THREE"), was=was)
    assert log(plan, PLAN) == TEXT.replace("one", "ONE").replace("three", "THREE")
    assert committed(plan, PLAN) == log(plan, PLAN)
    assert "Merged with what another had changed" in change.reason
    assert any("both changes are merged" in notice for notice in mine.notices)
    assert ops(plan)[:2] == ["edit", "edit"]
    assert again(plan).conflicts() == []


def test_an_editor_that_saves_meanwhile_is_merged_too(plan: Vault) -> None:
    was = plan.get("archives/plan").text
    write(plan, PLAN, TEXT.replace("title: Plan", "title: Way").replace("one", "ONE").replace("\n", "\r\n"))
    again(plan).edit("archives/plan", was.replace("three", "THREE"), was=was)
    wanted = TEXT.replace("title: Plan", "title: Way").replace("one", "ONE").replace("three", "THREE")
    assert log(plan, PLAN) == wanted.replace("\n", "\r\n")
    assert ops(plan)[:2] == ["edit", "save"]


def test_one_entry_of_several_lines(vault: Vault) -> None:
    was = "first\n\nsecond\nthird"
    vault.add(was)
    again(vault).edit(ENTRY, "FIRST\n\nsecond\nthird", was=was)
    again(vault).edit(ENTRY, "first\n\nsecond\nTHIRD", was=was)
    assert body(vault) == "- 14:30 FIRST\n\n  second\n  THIRD\n"


def test_the_same_change_twice_is_no_conflict(vault: Vault) -> None:
    vault.add("tea")
    again(vault).edit(ENTRY, "green tea", was="tea")
    with pytest.raises(BadInput, match="like that already"):
        again(vault).edit(ENTRY, "green tea", was="tea")
    assert again(vault).conflicts() == []


def test_an_entry_that_got_another_address_is_found_again(vault: Vault) -> None:
    write(vault, DAY, HEADING + "- 14:30 first\n- 14:30 second\n")
    vault.commit()
    again(vault).remove(ENTRY)
    again(vault).edit(ENTRY, "SECOND", was="second")
    assert body(vault) == "- 14:30 SECOND\n"
    write(vault, DAY, HEADING + "- 14:30 zeroth\n- 14:30 SECOND\n")
    again(vault).edit(ENTRY, "last", was="SECOND")
    assert body(vault) == "- 14:30 zeroth\n- 14:30 last\n"


# -- what does not merge


def test_both_versions_are_kept_and_the_file_stays(vault: Vault) -> None:
    found = clash(vault)
    assert body(vault) == "- 14:30 用户喜欢喝美式咖啡\n"
    assert (found.number, found.kind, found.address, found.path) == (1, "kept", ENTRY, DAY)
    assert found.clashes == (
        Clash("entry 14:30", "- 14:30 用户喜欢喝咖啡\n", "- 14:30 用户喜欢喝美式咖啡\n", "- 14:30 用户咖啡因过敏\n"),
    )
    assert status(vault) == ""


@pytest.mark.parametrize(
    ("side", "wanted"),
    [
        ("ours", "- 14:30 用户喜欢喝美式咖啡\n"),
        ("theirs", "- 14:30 用户咖啡因过敏\n"),
        ("both", "- 14:30 用户喜欢喝美式咖啡\n- 14:30 用户咖啡因过敏\n"),
        (f"{HEADING}- 14:30 用户喜欢咖啡，但过敏\n", "- 14:30 用户喜欢咖啡，但过敏\n"),
    ],
)
@pytest.mark.parametrize("later", ["", "- 15:00 later\n"])
def test_a_conflict_is_resolved_by_one_commit(vault: Vault, side: str, wanted: str, later: str) -> None:
    found = clash(vault)
    if later:
        again(vault).add("later", at=vault.place.now().replace(hour=15, minute=0))
    change = again(vault).resolve(found.id, side)
    assert body(vault) == wanted + later
    assert again(vault).conflicts() == []
    if side == "ours":
        assert change is None
    else:
        assert change is not None
        assert change.op == ops(vault)[0] == "resolve"
        assert committed(vault) == log(vault)
        assert subjects(vault)[0].startswith(f"Resolve {ENTRY}: ")
    with pytest.raises(NotFound):
        again(vault).resolve(found.id, "ours")
    assert status(vault) == ""


def test_a_document_with_front_matter_and_crlf(vault: Vault) -> None:
    text = TEXT.replace("\n", "\r\n")
    write(vault, PLAN, text)
    vault.commit()
    was = vault.get("archives/plan").text
    write(vault, PLAN, text.replace("two", "zwei").replace("Plan\r\n---", "Way # now\r\n---"))
    with pytest.raises(Conflicted):
        again(vault).edit("archives/plan", was.replace("two", "deux").replace("# Plan", "# Projet"), was=was)
    (found,) = again(vault).conflicts()
    assert [(one.where, one.ours, one.theirs) for one in found.clashes] == [("line 8", "zwei\r\n", "deux\r\n")]
    again(vault).resolve(found.id, "both")
    front = "---\n# mine\ntitle: Way # now\n---\n# Projet\n\none\n"
    assert log(vault, PLAN) == (front + "zwei\ndeux\nthree\n").replace("\n", "\r\n")


def test_an_entry_that_is_gone_is_kept_as_it_was_typed(vault: Vault) -> None:
    vault.add("tea")
    again(vault).remove(ENTRY)
    with pytest.raises(Conflicted):
        again(vault).edit(ENTRY, "green tea", was="tea")
    (found,) = again(vault).conflicts()
    assert (found.clashes[0].ours, found.clashes[0].theirs) == ("", "- 14:30 green tea\n")
    again(vault).resolve(found.id, "theirs")
    assert body(vault) == "- 14:30 green tea\n"


def test_a_document_that_is_gone_is_kept_as_it_was_typed(plan: Vault) -> None:
    was = plan.get("archives/plan").text
    again(plan).remove("archives/plan")
    with pytest.raises(Conflicted):
        again(plan).edit("archives/plan", was.replace("one", "uno"), was=was)
    (found,) = again(plan).conflicts()
    assert found.clashes[0].where == "the whole file"
    again(plan).resolve(found.id, "theirs")
    assert log(plan, PLAN) == TEXT.replace("one", "uno")


def test_a_file_that_never_rests_is_a_conflict(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("tea")
    replace = fsio.replace

    def late(path: str, data: bytes, *, root: Path, base: fsio.Snapshot | None, tmp: Path) -> object:
        write(vault, path, log(vault, path) + "\n- 23:59 restless\n")
        return replace(path, data, root=root, base=base, tmp=tmp)

    mine = again(vault)
    with monkeypatch.context() as patch:
        patch.setattr(fsio, "replace", late)
        with pytest.raises(Conflicted):
            mine.edit(ENTRY, "green tea", was="tea")
    (found,) = again(vault).conflicts()
    again(vault).resolve(found.id, "theirs")
    assert "- 14:30 green tea\n" in log(vault)
    assert log(vault).count("restless") == 5


def test_a_change_at_the_same_place_since_refuses(vault: Vault) -> None:
    found = clash(vault)
    again(vault).edit(ENTRY, "only water")
    with pytest.raises(Refused, match="changed since"):
        again(vault).resolve(found.id, "theirs")
    assert body(vault) == "- 14:30 only water\n"
    again(vault).resolve(found.id, "ours")
    assert body(vault) == "- 14:30 only water\n"
    assert again(vault).conflicts() == []


def test_a_conflict_survives_compaction_and_is_kept_once(vault: Vault) -> None:
    found = clash(vault)
    with pytest.raises(Conflicted):
        again(vault).edit(ENTRY, "用户咖啡因过敏", was="用户喜欢喝咖啡")
    mine = again(vault)
    for number in range(8):
        mine.add(f"{number} " + "x" * 50_000)
    assert [one.id for one in again(vault).conflicts()] == [found.id]


def test_a_process_that_dies_while_it_keeps_one_loses_nothing(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("tea")
    journal = vault.parts.journal
    data = log(vault).encode()
    with monkeypatch.context() as patch:
        patch.setattr(journal, "mark", lambda *words, **options: None)
        conflicts.keep(journal, DAY, data, data + b"- 15:00 a\n", data.replace(b"tea", b"TEA"), why="test")
    again(vault).add("next")
    assert len(again(vault).conflicts()) == 1


# -- an edited text


def test_a_draft_parts_both_versions_and_is_refused_while_it_does(vault: Vault) -> None:
    found = clash(vault)
    draft = again(vault).draft(found)
    assert draft == (
        f"{HEADING}<<<<<<< ours: what the vault had\n- 14:30 用户喜欢喝美式咖啡\n=======\n"
        "- 14:30 用户咖啡因过敏\n>>>>>>> theirs: what was typed or saved instead\n"
    )
    with pytest.raises(BadInput, match="line 3"):
        again(vault).resolve(found.id, draft)
    assert len(again(vault).conflicts()) == 1


# -- what git left


def diverge(vault: Vault) -> None:
    """Have two branches change one line, and merge them."""
    git(vault, "checkout", "-qb", "other")
    write(vault, PLAN, TEXT.replace("two", "deux"))
    git(vault, "commit", "-qam", "other")
    git(vault, "checkout", "-q", "main")
    write(vault, PLAN, TEXT.replace("two", "zwei"))
    git(vault, "commit", "-qam", "main")
    git(vault, "merge", "-q", "other", code=1)


@pytest.mark.parametrize(("side", "wanted"), [("ours", "zwei"), ("theirs", "deux"), ("both", "zwei\ndeux")])
def test_markers_of_git_are_listed_and_cut(plan: Vault, side: str, wanted: str) -> None:
    diverge(plan)
    (found,) = again(plan).conflicts()
    assert (found.kind, found.address) == ("git", "archives/plan")
    assert [(one.ours, one.theirs) for one in found.clashes] == [("zwei\n", "deux\n")]
    assert again(plan).resolve(found.id, side) is None
    assert log(plan, PLAN) == TEXT.replace("two", wanted)
    git(plan, "add", "-A")
    git(plan, "commit", "-qm", "merged")
    assert again(plan).conflicts() == []
    assert status(plan) == ""


def test_an_example_of_markers_in_code_is_none(vault: Vault) -> None:
    block = "<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n"
    write(vault, PLAN, f"# How it looks\n\n```\n{block}```\n")
    assert again(vault).conflicts() == []
    write(vault, PLAN, f"```\n{block}```\n{block}".replace("\n", "\r\n"))
    (found,) = again(vault).conflicts()
    assert [one.where for one in found.clashes] == ["line 8"]


# -- many at once


def _edit(root: Path, number: int, barrier: object) -> None:
    vault = Vault.open(root)
    was = vault.get("archives/many").text
    barrier.wait()  # type: ignore[attr-defined]
    lines = was.split("\n")
    lines[number] = f"line {number} by {number}"
    vault.edit("archives/many", "\n".join(lines), was=was)


def test_processes_that_edit_different_lines_at_once_lose_nothing(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_LOCK_TIMEOUT_MS", "60000")
    path = "memory/archives/many.md"
    write(vault, path, "".join(f"line {number}\n" for number in range(6)))
    vault.commit()
    fork = multiprocessing.get_context("spawn")
    barrier = fork.Barrier(6)
    crowd = [fork.Process(target=_edit, args=(vault.root, number, barrier)) for number in range(6)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join(60)
    assert [each.exitcode for each in crowd] == [0] * 6
    assert log(vault, path) == "".join(f"line {number} by {number}\n" for number in range(6))
    assert committed(vault, path) == log(vault, path)
