"""Edits of one text by several people: merged where that is possible, else both versions are kept and resolved."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from vault_sandbox import DAY, HEADING, again, body, committed, git, log, ops, status, subjects, write

from mdmem import Vault, fsio
from mdmem.errors import BadInput, Conflicted, NotFound, Refused
from mdmem.merge import Contest
from mdmem.model import Clash, Conflict
from mdmem.vault import authorship, conflicts, resolutions
from mdmem.vault.older import Older

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


def test_a_conflict_outlives_its_state(vault: Vault) -> None:
    found = clash(vault)
    (vault.place.state / "journal").rename(vault.root.parent / "journal, gone")
    assert again(vault).conflicts() == [found]
    again(vault).resolve(found.id, "theirs")
    assert body(vault) == "- 14:30 用户咖啡因过敏\n"
    assert git(vault, "for-each-ref", "refs/mdmem") == ""


def test_a_process_that_dies_while_it_keeps_one_loses_nothing(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("tea")
    journal = vault.parts.journal
    data = log(vault).encode()
    with monkeypatch.context() as patch:
        patch.setattr(journal, "mark", lambda *words, **options: None)
        contest = Contest.of(DAY, data, data.replace(b"tea", b"milk"), data.replace(b"tea", b"TEA"), stands="ours")
        conflicts.keep(vault.parts.resolutions, contest, why="test")
    again(vault).add("next")
    assert len(again(vault).conflicts()) == 1


# -- what merges while the rest waits

BOOK = "---\ntitle: Plan\nstatus: open\n---\n# Plan\n\none\n\ntwo\n\nthree\n"
OURS = BOOK.replace("one", "one by an agent").replace("three", "three by an agent").replace("open", "done")
SAVED = BOOK.replace("two", "two by a person").replace("three", "three by a person").replace("open", "open\nkind: a")
MERGED = BOOK.replace("one", "one by an agent").replace("two", "two by a person").replace("open", "done\nkind: a")
MINE, YOURS = (MERGED.replace("three", f"three by {who}") for who in ("an agent", "a person"))
CHOSEN = {
    "ours": MINE,
    "theirs": YOURS,
    "both": MINE + "three by a person\n",
    "typed": MERGED.replace("three", "three by both"),
}


def saved(vault: Vault, text: str = SAVED) -> Vault:
    """Have an agent change a document, and an editor save what it had read before, not yet committed."""
    write(vault, PLAN, BOOK)
    vault.commit()
    again(vault).set_field("archives/plan", "status", "done")
    again(vault).edit("archives/plan", front(OURS)[1])
    assert log(vault, PLAN) == OURS
    write(vault, PLAN, text)
    return again(vault)


def front(text: str) -> tuple[str, str]:
    """Part a document from its front matter."""
    head, _, rest = text.removeprefix("---\n").partition("---\n")
    return head, rest


def choose(vault: Vault, side: str) -> None:
    """Resolve the one conflict that there is."""
    (found,) = again(vault).conflicts()
    again(vault).resolve(found.id, CHOSEN["typed"] if side == "typed" else side, was=found.file)
    assert again(vault).conflicts() == []
    assert status(vault) == ""


def test_what_does_not_clash_is_merged_at_once(vault: Vault) -> None:
    mine = saved(vault)
    mine.commit()
    assert log(vault, PLAN) == committed(vault, PLAN) == YOURS
    assert any("merges only in part: `mdmem conflicts`" in notice for notice in mine.notices)
    (found,) = again(vault).conflicts()
    assert found.clashes == (Clash("line 12", "three\n", "three by an agent\n", "three by a person\n"),)
    assert (found.ours, found.theirs, found.file) == (MINE, YOURS, YOURS)
    assert ops(vault)[:3] == ["restore", "save", "edit"]
    assert "the other version waits: `mdmem conflicts`" in git(vault, "log", "-1", "--format=%b")


@pytest.mark.parametrize("side", CHOSEN)
def test_only_the_rest_is_left_to_choose(vault: Vault, side: str) -> None:
    saved(vault).commit()
    choose(vault, side)
    assert log(vault, PLAN) == committed(vault, PLAN) == CHOSEN[side]


@pytest.mark.parametrize("side", ["ours", "both"])
def test_what_was_changed_elsewhere_since_stays(vault: Vault, side: str) -> None:
    saved(vault).commit()
    write(vault, PLAN, log(vault, PLAN).replace("# Plan", "# Way").replace("two by", "by"))
    choose(vault, side)
    assert log(vault, PLAN) == CHOSEN[side].replace("# Plan", "# Way").replace("two by", "by")


@pytest.mark.parametrize(
    ("side", "wanted"),
    [("theirs", "three at last\n"), ("ours", None), ("both", "three by an agent\nthree at last\n")],
)
def test_what_was_changed_at_the_place_since_is_never_written_over(vault: Vault, side: str, wanted: str | None) -> None:
    saved(vault).commit()
    write(vault, PLAN, YOURS.replace("three by a person", "three at last"))
    (found,) = again(vault).conflicts()
    assert [(one.ours, one.theirs) for one in found.clashes] == [("three by an agent\n", "three at last\n")]
    if wanted is None:
        with pytest.raises(Refused, match="changed since"):
            again(vault).resolve(found.id, side)
        wanted = "three at last\n"
    else:
        choose(vault, side)
    assert log(vault, PLAN) == MERGED.replace("three\n", wanted)


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_merge_that_was_broken_off_is_made_up_for(vault: Vault, side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine stops when the conflict is kept and nothing is merged into the file yet."""
    mine = saved(vault)
    mine.commit()
    write(vault, PLAN, SAVED)
    git(vault, "commit", "-qam", "as it was before the merge")
    choose(vault, side)
    assert log(vault, PLAN) == CHOSEN[side]


def test_an_edit_that_clashes_in_part_is_merged_in_part(vault: Vault) -> None:
    write(vault, PLAN, BOOK)
    vault.commit()
    was = again(vault).get("archives/plan").text
    write(vault, PLAN, OURS)
    with pytest.raises(Conflicted) as error:
        again(vault).edit("archives/plan", front(SAVED)[1], was=was)
    assert "what did not clash is in the file" in error.value.hint
    mine, yours = (text.replace("kind: a\n", "") for text in (MINE, YOURS))
    assert log(vault, PLAN) == committed(vault, PLAN) == mine
    assert ops(vault)[0] == "edit"
    (found,) = again(vault).conflicts()
    assert (found.ours, found.theirs) == (mine, yours)
    choose(vault, "theirs")
    assert log(vault, PLAN) == yours


def test_a_file_that_is_saved_while_it_is_merged(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = saved(vault)
    replace, late = fsio.replace, [SAVED + "four\n", SAVED + "four\nfive\n"]

    def busy(path: str, data: bytes, *, root: Path, base: fsio.Snapshot | None, tmp: Path) -> object:
        if late:
            write(vault, path, late.pop(0))
        return replace(path, data, root=root, base=base, tmp=tmp)

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "replace", busy)
        mine.commit()
    assert log(vault, PLAN) == YOURS + "four\nfive\n"
    assert len(again(vault).conflicts()) == 1
    choose(vault, "ours")
    assert log(vault, PLAN) in (MINE + "four\nfive\n", MINE)


@pytest.mark.parametrize(
    ("side", "entry"),
    [
        ("ours", "- 09:00 tuesday\n"),
        ("theirs", "- 09:00 wednesday\n"),
        ("both", "- 09:00 tuesday\n- 09:00 wednesday\n"),
    ],
)
def test_entries_of_a_log_wait_one_by_one(vault: Vault, side: str, entry: str) -> None:
    base = HEADING + "- 08:00 first\n- 09:00 monday\n- 10:00 gone\n"
    ours = HEADING + "- 08:00 FIRST\n- 09:00 tuesday\n"
    theirs = base.replace("monday", "wednesday") + "- 11:00 mine\n"
    write(vault, DAY, theirs)
    vault.commit()
    mine = again(vault)
    with mine.parts.delivery.writing(1000):
        for _ in range(2):  # once, however often it is asked
            mine.parts.commits.mend(Older(DAY, base.encode(), ours.encode()))
    mine.parts.commits.commit_placed()
    assert body(vault) == "- 08:00 FIRST\n- 09:00 wednesday\n- 11:00 mine\n"
    (found,) = again(vault).conflicts()
    assert found.clashes == (Clash("entry 09:00", "- 09:00 monday\n", "- 09:00 tuesday\n", "- 09:00 wednesday\n"),)
    again(vault).add("later", at=vault.place.now().replace(hour=12, minute=0))
    choose(vault, side)
    assert body(vault) == f"- 08:00 FIRST\n{entry}- 11:00 mine\n- 12:00 later\n"


# -- a file that is another, or gone, by then

WAY = "memory/projects/way.md"
MORE = "Much more of it.\n" * 40
THREE = {
    "ours": "three by an agent\n",
    "theirs": "three by a person\n",
    "both": "three by an agent\nthree by a person\n",
    "typed": "three by both\n",
}


def rename(vault: Vault, path: str = PLAN, to: str = WAY) -> None:
    """Give a file another name, as people do it."""
    (vault.root / to).parent.mkdir(parents=True, exist_ok=True)
    (vault.root / path).rename(vault.root / to)


def day(vault: Vault) -> Conflict:
    """Have one entry of a log wait, which was saved from an older copy; an agent took another one out since."""
    base = HEADING + "- 01:00 one\n- 02:00 two\n- 03:00 three\n- 04:00 four\n"
    write(vault, DAY, base)
    vault.commit()
    again(vault).edit("daily/2026-11-29#01:00", "one by an agent")
    again(vault).edit("daily/2026-11-29#03:00", "three by an agent")
    write(vault, DAY, base.replace("three", "three by a person"))
    again(vault).commit()
    again(vault).remove("daily/2026-11-29#02:00")
    assert body(vault) == "- 01:00 one by an agent\n- 03:00 three by a person\n- 04:00 four\n"
    (found,) = again(vault).conflicts()
    return found


@pytest.mark.parametrize("committed_by", ["mdmem", "git", None])
@pytest.mark.parametrize("side", CHOSEN)
def test_a_file_that_was_renamed_is_followed(vault: Vault, side: str, committed_by: str | None) -> None:
    saved(vault).commit()
    rename(vault)
    if committed_by == "git":
        git(vault, "add", "-A", "memory")
        git(vault, "commit", "-qm", "another name")
    elif committed_by:
        again(vault).commit()
    (found,) = again(vault).conflicts()
    assert (found.path, found.address, found.meanwhile) == (WAY, "projects/way", "renamed from archives/plan")
    assert [one.address for one in again(vault).held()] == ["projects/way"]
    choose(vault, side)
    assert log(vault, WAY) == committed(vault, WAY) == CHOSEN[side]
    assert not (vault.root / PLAN).exists()
    assert (side == "theirs") is not subjects(vault)[0].startswith("Resolve projects/way: ")
    assert ("Rename archives/plan to projects/way" in subjects(vault)) is (committed_by != "git")


def test_renames_are_followed_however_often_and_whatever_was_changed_since(vault: Vault) -> None:
    saved(vault).commit()
    rename(vault, to="memory/archives/first.md")
    again(vault).commit()
    write(vault, "memory/archives/first.md", YOURS.replace("# Plan", "# Way\n\n" + MORE))
    again(vault).commit()
    rename(vault, "memory/archives/first.md")
    again(vault).commit()
    write(vault, PLAN, "# Another plan\n\nfour\n")
    again(vault).commit()
    choose(vault, "ours")
    assert log(vault, WAY) == MINE.replace("# Plan", "# Way\n\n" + MORE)
    assert log(vault, PLAN) == "# Another plan\n\nfour\n"
    again(vault).undo()
    (found,) = again(vault).conflicts()
    assert (found.path, [one.theirs for one in found.clashes]) == (WAY, ["three by a person\n"])
    rename(vault, WAY, "memory/archives/last.md")
    choose(vault, "both")
    assert "three by an agent\nthree by a person\n" in log(vault, "memory/archives/last.md")
    assert not (vault.root / WAY).exists()


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_rename_in_two_steps_is_told_too(vault: Vault, is_committed: bool) -> None:
    """As whoever commits each file as it comes to rest does."""
    saved(vault).commit()
    write(vault, PLAN, MORE + YOURS)
    again(vault).commit()
    write(vault, WAY, MORE + YOURS.replace("one by", "1 by"))
    again(vault).commit()
    (vault.root / PLAN).unlink()
    if is_committed:
        again(vault).commit()
    for side in ("ours", "both"):
        choose(vault, side)
        assert log(vault, WAY) == MORE + CHOSEN[side].replace("one by", "1 by")
        assert not (vault.root / PLAN).exists()
        again(vault).undo()


def test_a_log_that_was_renamed_is_followed(vault: Vault) -> None:
    day(vault)
    rename(vault, DAY, "memory/daily/2026-11-29-talks.md")
    choose(vault, "ours")
    wanted = "- 01:00 one by an agent\n- 03:00 three by an agent\n- 04:00 four\n"
    assert log(vault, "memory/daily/2026-11-29-talks.md") == HEADING + wanted
    assert not (vault.root / DAY).exists()


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_rename_that_is_not_clear_is_for_a_person(vault: Vault, is_committed: bool) -> None:
    saved(vault).commit()
    rename(vault)
    write(vault, "memory/archives/copy.md", YOURS)
    if is_committed:
        again(vault).commit()
    (found,) = again(vault).conflicts()
    assert found.path == PLAN
    assert found.meanwhile.startswith("archives/plan is gone, and may be ")
    for side in ("ours", "theirs", "both", THREE["typed"]):
        with pytest.raises(Refused, match=r"may be (archives/copy|projects/way) or "):
            again(vault).resolve(found.id, side, was=None)
    assert [one.id for one in again(vault).conflicts()] == [found.id]
    (vault.root / "memory/archives/copy.md").unlink()
    again(vault).commit()
    choose(vault, "ours")
    assert log(vault, WAY) == MINE


def test_what_was_typed_for_a_renamed_document_waits_there(plan: Vault) -> None:
    was = plan.get("archives/plan").text
    rename(plan)
    write(plan, WAY, TEXT.replace("two", "zwei"))
    with pytest.raises(Conflicted):
        again(plan).edit("archives/plan", was.replace("three", "drei"), was=was)
    (found,) = again(plan).conflicts()
    assert (found.path, [one.theirs for one in found.clashes]) == (WAY, ["drei\n"])
    again(plan).resolve(found.id, "theirs")
    assert log(plan, WAY) == TEXT.replace("two", "zwei").replace("three", "drei")
    assert not (plan.root / PLAN).exists()


def test_a_conflict_of_which_the_commit_is_gone_stays_where_it_was(vault: Vault) -> None:
    saved(vault).commit()
    git(vault, "checkout", "-q", "--orphan", "other")
    git(vault, "commit", "-qm", "all anew")
    git(vault, "branch", "-qD", "main")
    git(vault, "reflog", "expire", "--expire=all", "--all")
    git(vault, "gc", "-q", "--prune=now")
    rename(vault)
    (found,) = again(vault).conflicts()
    assert (found.path, found.meanwhile) == (PLAN, "gone since: a choice brings it back")


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("side", THREE)
def test_of_a_document_that_is_gone_the_chosen_lines_come_back(vault: Vault, side: str, is_committed: bool) -> None:
    saved(vault).commit()
    (vault.root / PLAN).unlink()
    if is_committed:
        again(vault).commit()
    (found,) = again(vault).conflicts()
    assert (found.file, found.meanwhile) == (None, "gone since: a choice brings it back")
    again(vault).resolve(found.id, THREE["typed"] if side == "typed" else side, was=None)
    assert log(vault, PLAN) == committed(vault, PLAN) == THREE[side]
    assert [one.reason for one in again(vault).held()] == ["deleted"]
    again(vault).undo()
    assert not (vault.root / PLAN).exists()
    (back,) = again(vault).conflicts()
    assert (back.clashes, back.file) == (found.clashes, None)


@pytest.mark.parametrize(
    ("side", "wanted"),
    [
        ("ours", "- 03:00 three by an agent\n"),
        ("theirs", "- 03:00 three by a person\n"),
        ("both", "- 03:00 three by an agent\n- 03:00 three by a person\n"),
    ],
)
@pytest.mark.parametrize("later", ["", "- 05:00 five\n"])
def test_of_a_log_that_is_gone_the_chosen_entry_comes_back(vault: Vault, side: str, wanted: str, later: str) -> None:
    found = day(vault)
    (vault.root / DAY).unlink()
    again(vault).commit()
    if later:
        again(vault).add("five", at=vault.place.now().replace(hour=5, minute=0))
    again(vault).resolve(found.id, side)
    assert body(vault) == wanted + later
    (held,) = (one for one in again(vault).held() if one.reason == "deleted")
    again(vault).undo()
    assert (body(vault) if later else later) == later
    assert [one.clashes for one in again(vault).conflicts()] == [found.clashes]
    again(vault).resolve(again(vault).conflicts()[0].id, side)
    again(vault).recover(held.id)
    assert "- 01:00 one by an agent\n" in body(vault)
    assert "two" not in body(vault)


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_an_entry_that_was_taken_out_comes_back_alone(vault: Vault, side: str) -> None:
    found = day(vault)
    again(vault).remove("daily/2026-11-29#03:00")
    write(vault, DAY, log(vault).replace("- 04:00 four\n", ""))
    again(vault).commit()
    assert body(vault) == "- 01:00 one by an agent\n"
    (gone,) = again(vault).conflicts()
    assert (gone.clashes, gone.meanwhile) == (found.clashes, "gone since: a choice brings it back")
    again(vault).resolve(found.id, side)
    who = {"ours": "an agent", "theirs": "a person"}[side]
    assert body(vault) == f"- 01:00 one by an agent\n- 03:00 three by {who}\n"
    again(vault).undo()
    assert body(vault) == "- 01:00 one by an agent\n"
    assert [one.meanwhile for one in again(vault).conflicts()] == [gone.meanwhile]


@pytest.mark.parametrize("side", ["ours", "theirs", "both"])
def test_a_section_that_was_taken_out_comes_back_as_the_lines_that_clash(vault: Vault, side: str) -> None:
    saved(vault).commit()
    write(vault, PLAN, YOURS.partition("\ntwo by a person")[0])
    choose(vault, side)
    assert log(vault, PLAN) == f"{YOURS.partition('two by a person')[0]}{THREE[side]}"


def test_a_version_that_took_the_place_out_leaves_it_out(vault: Vault) -> None:
    base = HEADING + "- 08:00 first\n- 09:00 monday\n"
    write(vault, DAY, HEADING + "- 08:00 first\n")
    vault.commit()
    mine = again(vault)
    with mine.parts.delivery.writing(1000):
        mine.parts.commits.mend(Older(DAY, base.encode(), base.replace("monday", "tuesday").encode()))
    (vault.root / DAY).unlink()
    (found,) = again(vault).conflicts()
    assert again(vault).resolve(found.id, "theirs") is None
    assert not (vault.root / DAY).exists()
    again(vault).undo()
    again(vault).resolve(again(vault).conflicts()[0].id, "ours")
    assert body(vault) == "- 09:00 tuesday\n"


def test_a_file_that_an_editor_is_renaming_into_place_is_not_gone(vault: Vault) -> None:
    saved(vault).commit()
    (found,) = again(vault).conflicts()
    (vault.root / PLAN).rename(vault.root / "plan~")
    listed = Vault.open(vault.root).parts.conflicts
    back = threading.Timer(0.03, lambda: (vault.root / "plan~").rename(vault.root / PLAN))
    back.start()
    listed.resolve(found.id, "ours", wait_ms=1000)
    back.join()
    assert log(vault, PLAN) == MINE
    assert ops(vault)[:2] == ["resolve", "restore"]


# -- a save that waits


def test_a_save_from_an_older_copy_is_told_before_it_is_committed(vault: Vault) -> None:
    mine = saved(vault)
    (found,) = mine.parts.conflicts.listed()
    assert (found.kind, found.number, found.file) == ("save", 1, SAVED)
    assert [one.where for one in found.clashes] == ["line 12"]
    assert any("1 conflict to be settled" in line for line in again(vault).attention())
    assert log(vault, PLAN) == SAVED
    assert status(vault) != ""


@pytest.mark.parametrize("side", ["ours", "typed"])
def test_a_save_that_waits_is_resolved_at_once(vault: Vault, side: str) -> None:
    mine = saved(vault)
    (found,) = mine.parts.conflicts.listed()
    again(vault).resolve(found.id, CHOSEN["typed"] if side == "typed" else side, was=found.file)
    assert log(vault, PLAN) == committed(vault, PLAN) == CHOSEN[side]
    assert again(vault).conflicts() == []


def test_a_save_that_is_committed_before_it_is_resolved(vault: Vault) -> None:
    mine = saved(vault)
    (found,) = mine.parts.conflicts.listed()
    again(vault).commit()
    again(vault).resolve(found.id, "ours")
    assert log(vault, PLAN) == MINE


def test_status_tells_of_a_save_that_does_not_merge(vault: Vault) -> None:
    mine = saved(vault)
    mine.status()
    assert any(said.startswith("archives/plan was saved from an older copy, and ") for said in mine.notices)


def test_a_save_that_will_merge_is_told_too(vault: Vault) -> None:
    mine = saved(vault, BOOK.replace("two", "zwei"))
    assert mine.parts.conflicts.listed() == []
    assert mine.notices == [
        "archives/plan was saved from an older copy: `mdmem commit` merges what had changed since into it"
    ]


# -- taken back


@pytest.mark.parametrize("side", CHOSEN)
def test_a_conflict_whose_resolution_is_taken_back_waits_again(vault: Vault, side: str) -> None:
    saved(vault).commit()
    before = again(vault).conflicts()
    choose(vault, side)
    change = again(vault).undo()
    assert change.subject.startswith("Undo: Resolve archives/plan")
    assert log(vault, PLAN) == committed(vault, PLAN) == YOURS
    (found,) = again(vault).conflicts()
    assert (found.clashes, found.why, found.noted) == (before[0].clashes, before[0].why, before[0].noted)
    assert [one.reason for one in again(vault).held()] == ["conflict"]
    choose(vault, "ours")
    assert log(vault, PLAN) == MINE


def test_a_resolution_is_done_again_by_taking_back_that_it_was_taken_back(vault: Vault) -> None:
    saved(vault).commit()
    choose(vault, "ours")
    for wanted, count in ((YOURS, 1), (MINE, 0), (YOURS, 1), (MINE, 0)):
        again(vault).undo(git(vault, "rev-parse", "HEAD"))
        assert log(vault, PLAN) == wanted
        assert len(again(vault).conflicts()) == count


def test_undo_goes_on_to_what_was_before(vault: Vault) -> None:
    saved(vault).commit()
    choose(vault, "ours")
    for wanted in (YOURS, SAVED, OURS):
        again(vault).undo()
        assert log(vault, PLAN) == wanted
        assert len(again(vault).conflicts()) == 1
    choose(vault, "theirs")
    assert log(vault, PLAN) == YOURS


def test_an_older_resolution_is_taken_back_by_its_commit(vault: Vault) -> None:
    saved(vault).commit()
    choose(vault, "ours")
    commit = git(vault, "rev-parse", "HEAD")
    again(vault).add("later")
    write(vault, PLAN, log(vault, PLAN).replace("# Plan", "# Way"))
    again(vault).undo(commit)
    assert log(vault, PLAN) == YOURS.replace("# Plan", "# Way")
    (found,) = again(vault).conflicts()
    assert [one.ours for one in found.clashes] == ["three by an agent\n"]
    with pytest.raises(NotFound):
        again(vault).undo(commit)
    choose(vault, "both")
    assert log(vault, PLAN) == CHOSEN["both"].replace("# Plan", "# Way")


def test_a_choice_for_what_stands_there_is_taken_back_in_its_turn(vault: Vault) -> None:
    saved(vault).commit()
    choose(vault, "theirs")
    again(vault).add("later")
    assert "later" in again(vault).undo().subject
    assert again(vault).conflicts() == []
    again(vault).undo()
    assert len(again(vault).conflicts()) == 1
    assert log(vault, PLAN) == YOURS


def test_a_resolution_that_cannot_be_taken_back_stays(vault: Vault) -> None:
    saved(vault).commit()
    choose(vault, "ours")
    commit = git(vault, "rev-parse", "HEAD")
    again(vault).edit("archives/plan", MINE.replace("three by an agent", "another"))
    with pytest.raises(Refused):
        again(vault).undo(commit)
    assert again(vault).conflicts() == []


def test_a_resolution_is_taken_back_where_its_conflict_is_not_known(vault: Vault, tmp_path: Path) -> None:
    saved(vault).commit()
    choose(vault, "ours")
    git(vault, "clone", "-q", ".", str(tmp_path / "clone"))
    other = Vault.open(tmp_path / "clone")
    other.undo()
    assert log(other, PLAN) == YOURS
    assert any("no longer kept" in notice for notice in other.notices)
    assert again(other).conflicts() == []


def test_an_edit_that_clashed_waits_again_too(vault: Vault) -> None:
    found = clash(vault)
    for side in ("both", "theirs", "ours"):
        again(vault).resolve(found.id, side)
        again(vault).undo()
        (found,) = again(vault).conflicts()
        assert found.address == ENTRY
        assert body(vault) == "- 14:30 用户喜欢喝美式咖啡\n"


def test_what_was_resolved_long_ago_is_let_go(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(vault).commit()
    choose(vault, "ours")
    again(vault).undo()
    monkeypatch.setattr(resolutions, "KEPT_SECONDS", -1)
    choose(vault, "both")
    again(vault).add("next")
    clash(vault, was="next", now="a", typed="b")
    choose(vault, "theirs")
    assert len(list((vault.place.state / resolutions.FOLDER).iterdir())) == 1


# -- an edited text


def test_what_is_done_while_a_text_is_edited_is_not_lost(vault: Vault) -> None:
    saved(vault).commit()
    (found,) = again(vault).conflicts()
    write(vault, PLAN, log(vault, PLAN).replace("# Plan", "# Way"))
    again(vault).resolve(found.id, CHOSEN["typed"], was=found.file)
    assert log(vault, PLAN) == CHOSEN["typed"].replace("# Plan", "# Way")


def test_what_is_done_at_the_same_place_while_a_text_is_edited_refuses(vault: Vault) -> None:
    saved(vault).commit()
    (found,) = again(vault).conflicts()
    write(vault, PLAN, log(vault, PLAN).replace("three by", "drei by"))
    with pytest.raises(Refused, match="changed meanwhile"):
        again(vault).resolve(found.id, CHOSEN["typed"], was=found.file)
    assert len(again(vault).conflicts()) == 1
    assert "drei by" in log(vault, PLAN)


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


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["merge", "-q", "other"], "merge with git add and git commit"),
        (["rebase", "-q", "other"], "rebase with git add and git rebase --continue"),
        (["rebase", "-q", "--apply", "other"], "rebase with git add and git rebase --continue"),
        (["cherry-pick", "other"], "cherry-pick with git add and git cherry-pick --continue"),
        (["revert", "--no-edit", "HEAD~1"], "revert with git add and git revert --continue"),
    ],
)
def test_it_is_said_how_git_goes_on_once_the_markers_are_gone(plan: Vault, words: list[str], what: str) -> None:
    diverge(plan)
    git(plan, "merge", "--abort")
    if words[0] == "revert":
        write(plan, PLAN, TEXT.replace("two", "drei"))
        git(plan, "commit", "-qam", "later")
    git(plan, *words, code=1)
    (found,) = again(plan).conflicts()
    opened = again(plan)
    opened.resolve(found.id, "theirs")
    assert opened.notices == [f"the markers in {PLAN} are gone: finish the {what}"]
    git(plan, "add", "-A")
    git(
        plan,
        "-c",
        "core.editor=true",
        *what.split("git add and git ")[1].split(),
        *["-qm", "x"] * (words[0] == "merge"),
    )
    assert again(plan).parts.place.repo.unfinished() is None


MEMORY = "memory/MEMORY.md"
LEASE, DOG = "- The lease ends in May <!-- mdmem: from=a -->\n", "- The dog is called Rex <!-- mdmem: from=b -->\n"


def test_both_of_memory_is_what_each_made_of_what_git_knows_as_the_base(plan: Vault) -> None:
    text = f"# Memory\n\n## Facts\n\n{LEASE}{DOG}"
    write(plan, MEMORY, text)
    again(plan).commit()
    git(plan, "checkout", "-qb", "other")
    write(plan, MEMORY, text.replace(" -->", ",daily/2026-11-29#14:30 confirmations=2 -->") + "- Tea is green\n")
    git(plan, "commit", "-qam", "other")
    git(plan, "checkout", "-q", "main")
    write(plan, MEMORY, text.replace(LEASE, "").replace("Rex", "Max") + "- Milk is out\n")
    git(plan, "commit", "-qam", "main")
    git(plan, "merge", "-q", "other", code=1)
    (found,) = again(plan).conflicts()
    assert [one.base for one in found.clashes] == [LEASE + DOG] and found.base == text
    assert again(plan).resolve(found.id, "both") is None
    assert log(plan, MEMORY) == f"# Memory\n\n## Facts\n\n{DOG.replace('Rex', 'Max')}- Milk is out\n- Tea is green\n"


def test_a_line_of_which_two_comments_became_one_stays_the_programs_and_one_taken_out_stays_unwanted(
    vault: Vault,
) -> None:
    def save(text: str, *, program: bool, minute: int) -> None:
        write(vault, MEMORY, text)
        git(vault, "add", "-A")
        said = ["-m", "Checkpoint", *(["-m", "Mdmem-Op: checkpoint"] if program else [])]
        git(vault, "commit", "-q", *said, "--date", f"2026-11-29T14:{minute}:00")

    def confirmed(source: str) -> str:
        return f" <!-- mdmem: from=b,{source} confirmations=2 -->\n"

    save(f"# Memory\n\n{LEASE}{DOG}", program=True, minute=31)
    git(vault, "checkout", "-qb", "other")
    save(f"# Memory\n\n{LEASE}{DOG}".replace(" -->", ",d confirmations=2 -->"), program=True, minute=35)
    git(vault, "checkout", "-q", "main")
    rex = "- The dog is called Rex"
    save(f"# Memory\n\n{DOG}", program=False, minute=32)
    save(f"# Memory\n\n{rex}{confirmed('c')}", program=True, minute=33)
    git(vault, "merge", "-q", "other", code=1)
    again(vault).resolve(MEMORY, "both")
    line = f"{rex} <!-- mdmem: from=b,c,d confirmations=3 -->"
    assert log(vault, MEMORY) == f"# Memory\n\n{line}\n"
    git(vault, "commit", "-qam", "merged")
    whose = authorship.of(vault.place, MEMORY)
    assert line in whose.ours and line in whose.since
    assert list(whose.taken_out.values()) == ["The lease ends in May"]
    write(vault, MEMORY, f"# Memory\n\n{rex}\n")  # a person who takes the comment off makes the line theirs
    assert not {line, rex} & authorship.of(vault.place, MEMORY).ours


def test_what_another_branch_only_says_again_stays_unwanted_where_a_person_took_it_out() -> None:
    whose, now = authorship.Authorship(), datetime.now(UTC)
    before, said_again = authorship.lines(LEASE.encode()), authorship.lines(LEASE.replace("=a", "=a,b").encode())
    whose.wrote(Counter(), before, now)
    whose.edited(before, Counter())
    whose.wrote(before, said_again, now)
    assert list(whose.taken_out.values()) == ["The lease ends in May"]
    whose.wrote(Counter(), said_again, now)  # asked for anew
    assert not whose.taken_out


def test_what_git_left_has_no_base_once_it_was_added(plan: Vault) -> None:
    diverge(plan)
    (found,) = again(plan).conflicts()
    assert (found.base, [one.base for one in found.clashes]) == (TEXT, ["two\n"])
    git(plan, "add", "-A")
    (found,) = again(plan).conflicts()
    assert (found.base, [one.base for one in found.clashes]) == (None, [""])


def test_what_is_done_while_markers_are_edited_away_is_not_lost(plan: Vault) -> None:
    diverge(plan)
    (found,) = again(plan).conflicts()
    write(plan, PLAN, log(plan, PLAN).replace("# Plan", "# Way"))
    again(plan).resolve(found.id, TEXT.replace("two", "two of them"), was=found.file)
    assert log(plan, PLAN) == TEXT.replace("two", "two of them").replace("# Plan", "# Way")


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
