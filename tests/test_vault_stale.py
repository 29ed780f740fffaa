"""What an editor's older copy dropped comes back; what a person took out stays out, and is kept for them."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest
from vault_sandbox import DAY, HEADING, again, body, committed, git, log, ops, status, write

from mdmem import Vault
from mdmem.errors import Busy
from mdmem.vault.delivery import CALM

pytestmark = pytest.mark.usefixtures("clock")


def settle(vault: Vault) -> list[str]:
    """Do what the next commands do, when the file has come to rest; give what they said."""
    said = []
    for _ in range(2):
        one = again(vault)
        one.commit()
        said += one.notices
        time.sleep(CALM)
    one = again(vault)
    one.status()
    assert status(vault) == ""
    return said + one.notices


@pytest.fixture
def three(vault: Vault, clock: Any) -> Vault:
    """A vault with the entries a, b and c of three minutes."""
    for name in ("Alpha stands here", "Decided on Whoosh", "Cappuccino in the morning"):
        Vault.open(vault.root).add(name)
        clock.move(minutes=1)
    return vault


A, B, C = "- 14:30 Alpha stands here\n", "- 14:31 Decided on Whoosh\n", "- 14:32 Cappuccino in the morning\n"


def save(vault: Vault, text: str, *, ago: float = 0) -> None:
    """Save the log as an editor does; `ago` in seconds cannot change its ctime."""
    path = write(vault, DAY, HEADING + text)
    if ago:
        os.utime(path, (time.time() - ago, time.time() - ago))


def kept(vault: Vault) -> list[tuple[str, str]]:
    """List what waits for a person: reason and first line."""
    return [(one.reason, one.text) for one in again(vault).held()]


def test_what_was_removed_by_a_command_is_not_missed(three: Vault) -> None:
    again(three).remove("daily/2026-11-29#14:31")
    save(three, A.replace("stands", "stood") + C)
    assert settle(three) == []
    assert body(three) == A.replace("stands", "stood") + C
    assert kept(three) == []


def test_a_corrected_entry_is_the_persons(three: Vault) -> None:
    save(three, A + B.replace("Whoosh", "Whoosh for BM25") + C)
    assert settle(three) == []
    assert body(three) == A + B.replace("Whoosh", "Whoosh for BM25") + C
    assert kept(three) == []


def test_an_entry_that_moved_to_another_file_is_not_missed(three: Vault) -> None:
    write(three, "memory/archives/search.md", "# Search\n\nDecided on  Whoosh\nfor good\n")
    save(three, A + C)
    assert settle(three) == []
    assert body(three) == A + C
    assert kept(three) == []


def test_what_was_taken_out_under_the_eyes_of_a_person_stays_out(three: Vault) -> None:
    save(three, A + C)
    settle(three)
    assert body(three) == A + C
    assert kept(three) == [("deleted", "Decided on Whoosh")]
    assert ops(three)[0] == "save"


def test_what_an_older_copy_dropped_comes_back(three: Vault) -> None:
    mine = A.replace("stands", "stood") + "- 14:33 typed by a person\n"
    save(three, mine)
    said = settle(three)
    assert body(three) == mine + B + C
    assert any("2 entries are put back in daily/2026-11-29: an editor had saved an older copy" in one for one in said)
    assert ops(three)[:2] == ["restore", "save"]
    assert kept(three) == []


def test_what_comes_next_does_not_hide_what_was_dropped(three: Vault, clock: Any) -> None:
    mine = A.replace("stands", "stood") + "- 14:33 typed by a person\n"
    save(three, mine)
    again(three).add("Delta comes next")
    settle(three)
    assert sorted(body(three).splitlines(True)) == sorted(
        [*mine.splitlines(True), B, C, "- 14:33:05 Delta comes next\n"]
    )
    assert kept(three) == []


def test_an_entry_of_which_it_is_not_clear_is_held(vault: Vault, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time_ns
    with monkeypatch.context() as patch:  # three minutes ago
        patch.setattr(time, "time_ns", lambda: real() - 180_000_000_000)
        vault.add("Alpha stands here")
        clock.move(minutes=1)
        vault.add("Decided on Whoosh")
    save(vault, A)
    said = settle(vault)
    assert body(vault) == A
    assert any("1 entry is held, not clear if meant" in one for one in said)
    assert kept(vault) == [("stale copy, not clear if meant", "Decided on Whoosh")]


def test_a_half_saved_file_heals_itself(three: Vault) -> None:
    whole = log(three)
    save(three, A)
    again(three).status()
    write(three, DAY, whole + "- 14:34 typed by a person\n")
    settle(three)
    assert log(three) == whole + "- 14:34 typed by a person\n"
    assert kept(three) == []


def test_an_editor_that_saves_the_same_older_copy_again(three: Vault) -> None:
    mine = A + "- 14:33 typed by a person\n"
    save(three, mine)
    settle(three)
    save(three, mine.replace("typed", "written"))
    settle(three)
    assert body(three) == mine.replace("typed", "written") + B + C
    assert kept(three) == []


def test_git_may_put_an_older_version_there(three: Vault) -> None:
    git(three, "reset", "-q", "--hard", "HEAD~1")
    assert settle(three) == []
    assert body(three) == A + B
    assert kept(three) == [("taken back by git", "Cappuccino in the morning")]


def test_what_is_held_can_be_put_back_or_dropped(three: Vault) -> None:
    save(three, A + C)
    settle(three)
    change = again(three).recover(again(three).held()[0].id)
    assert change is not None
    assert change.op == "restore"
    assert body(three) == A + C + B
    assert kept(three) == []
    assert status(three) == ""


def test_what_is_held_can_be_let_go(three: Vault) -> None:
    save(three, A + C)
    settle(three)
    again(three).drop(again(three).held()[0].id)
    assert kept(three) == []
    assert body(three) == A + C


def test_a_file_that_was_deleted_is_listed(vault: Vault) -> None:
    path = write(vault, "memory/archives/plan.md", "# Plan\n")
    vault.commit()
    path.unlink()
    vault.commit()
    assert kept(vault) == [("deleted", "Plan")]
    again(vault).recover(again(vault).held()[0].id)
    assert path.read_text() == "# Plan\n"
    assert kept(vault) == []


def test_what_was_deleted_long_ago_is_not_listed(three: Vault, clock: Any) -> None:
    save(three, A + C)
    settle(three)
    clock.move(days=31)
    assert kept(three) == []


def test_a_log_with_carriage_returns(vault: Vault, clock: Any) -> None:
    write(vault, DAY, (HEADING + A).replace("\n", "\r\n"))
    vault.commit()
    clock.move(minutes=1)
    again(vault).add("Decided on Whoosh")
    clock.move(minutes=1)
    again(vault).add("Cappuccino in the morning")
    mine = A.replace("stands", "stood")
    write(vault, DAY, (HEADING + mine).replace("\n", "\r\n"))
    settle(vault)
    assert body(vault).replace("\r\n", "\n").removeprefix(HEADING) == mine + B + C
    assert "\n" not in log(vault).replace("\r\n", "")


PLAN = "# Plan\n\nWe begin in May.\n\nAda leads the work.\n\nThe budget is small.\n"


def test_a_document_saved_from_an_older_copy_is_merged(vault: Vault) -> None:
    write(vault, "memory/plan.md", PLAN)
    vault.commit()
    again(vault).edit("plan", PLAN.replace("small", "large"))
    write(vault, "memory/plan.md", PLAN.replace("May", "June"))
    one = again(vault)
    one.commit()
    assert log(vault, "memory/plan.md") == PLAN.replace("small", "large").replace("May", "June")
    assert any("plan was saved from an older copy: what had changed since is merged" in said for said in one.notices)
    assert ops(vault)[:4] == ["restore", "save", "edit", "save"]
    assert status(vault) == ""


def test_a_document_that_a_person_changed_back_stays_so(vault: Vault) -> None:
    write(vault, "memory/plan.md", PLAN)
    vault.commit()
    write(vault, "memory/plan.md", PLAN.replace("small", "large"))
    vault.commit()
    mine = PLAN.replace("leads", "led")
    write(vault, "memory/plan.md", mine)
    again(vault).commit()
    assert log(vault, "memory/plan.md") == mine


def test_a_document_that_does_not_merge_keeps_both_versions(vault: Vault) -> None:
    write(vault, "memory/plan.md", PLAN)
    vault.commit()
    again(vault).edit("plan", PLAN.replace("small", "large").replace("leads", "led"))
    mine = PLAN.replace("May", "June").replace("small", "tiny")
    write(vault, "memory/plan.md", mine)
    one = again(vault)
    one.commit()
    assert log(vault, "memory/plan.md") == mine.replace("leads", "led")
    assert any("mdmem conflicts" in said for said in one.notices)
    assert status(vault) == ""


def test_what_waits_outlives_its_state(vault: Vault) -> None:
    """A work tree that is removed takes its state along; the repository keeps what no branch has."""
    write(vault, DAY, HEADING + A)
    vault.commit()
    git(vault, "switch", "-q", "--detach")
    again(vault).add("in no commit")
    again(vault).status()
    (vault.place.state / "journal").rename(vault.root.parent / "journal, gone")
    git(vault, "checkout", "-q", "HEAD", "--", "memory")
    git(vault, "switch", "-q", "main")
    assert kept(vault) == [("found in git, not in the journal", "in no commit")]
    again(vault).recover(again(vault).held()[0].id)
    assert "in no commit" in body(vault)
    assert git(vault, "for-each-ref", "refs/mdmem") == ""


def test_git_may_be_seen_in_the_middle_of_a_checkout(three: Vault) -> None:
    """git writes the files of another commit before it says that it stands there."""
    whole = log(three)
    git(three, "branch", "old", "HEAD~2")
    save(three, A.replace("stands", "stood"))
    again(three).status()  # seen while HEAD is still the newer one
    write(three, DAY, whole)
    git(three, "switch", "-q", "old")
    settle(three)
    assert body(three) == A
    git(three, "switch", "-q", "main")
    settle(three)
    assert log(three) == whole


def test_half_a_save_is_not_committed(vault: Vault) -> None:
    """An editor that writes in place empties the file first."""
    whole = "# Plan\n" + "A line of the plan.\n" * 50
    path = write(vault, "memory/plan.md", whole)
    vault.commit()
    path.write_bytes(b"")
    threading.Timer(0.3, lambda: path.write_text(whole + "One more.\n")).start()
    again(vault).commit()
    assert git(vault, "show", "HEAD:memory/plan.md") == (whole + "One more.\n").removesuffix("\n")


def test_an_editor_that_never_reads_again_loses_nothing(three: Vault) -> None:
    mine = A + "- 05:00 mine\n"
    for line in ("", "- 05:01 mine again\n", "- 05:02 and again\n"):
        mine += line
        save(three, mine)
        settle(three)
        assert body(three) == mine + B + C
    assert kept(three) == []


def test_a_log_saved_from_an_older_copy_keeps_what_was_edited(three: Vault) -> None:
    again(three).edit("daily/2026-11-29#14:31", "Decided on Tantivy")
    save(three, A.replace("stands", "stood") + B + C)
    said = settle(three)
    assert body(three) == A.replace("stands", "stood") + B.replace("Whoosh", "Tantivy") + C
    assert any("was saved from an older copy: what had changed since is merged" in one for one in said)
    assert ops(three)[:3] == ["restore", "save", "edit"]
    assert kept(three) == []


def test_a_log_saved_from_an_older_copy_does_not_bring_back_what_was_removed(three: Vault, clock: Any) -> None:
    again(three).remove("daily/2026-11-29#14:31")
    save(three, A + B + C + "- 14:33 typed by a person\n")
    again(three).add("Delta comes next")
    settle(three)
    assert body(three) == A + C + "- 14:33 typed by a person\n" + "- 14:33:05 Delta comes next\n"
    assert kept(three) == []


def test_edited_removed_and_added_since_an_older_copy_was_read(three: Vault, clock: Any) -> None:
    again(three).edit("daily/2026-11-29#14:31", "Another thing altogether")
    again(three).remove("daily/2026-11-29#14:30")
    again(three).add("Delta")
    again(three).edit("daily/2026-11-29#14:33", "Written anew")
    mine = C.replace("Cappuccino", "Espresso")
    save(three, A + B + mine)
    settle(three)
    assert body(three) == B.replace("Decided on Whoosh", "Another thing altogether") + mine + "- 14:33 Written anew\n"
    assert kept(three) == []


def test_one_entry_changed_by_both_is_a_conflict(three: Vault) -> None:
    again(three).edit("daily/2026-11-29#14:31", "Decided on Tantivy")
    mine = A.replace("stands", "stood") + B.replace("Whoosh", "Lucene") + C
    save(three, mine)
    settle(three)
    assert body(three) == mine
    assert [one.path for one in again(three).conflicts()] == [DAY]


def test_a_log_that_stands_again_as_it_was_is_left_so(three: Vault) -> None:
    again(three).remove("daily/2026-11-29#14:31")
    save(three, A + B + C)
    said = settle(three)
    assert body(three) == A + B + C
    assert any("stood before its last change; if that was not meant: `mdmem undo`" in one for one in said)
    again(three).undo()
    assert body(three) == A + C


def test_one_command_puts_back_what_it_finds_missing(three: Vault) -> None:
    mine = A.replace("stands", "stood") + "- 14:33 typed by a person\n"
    save(three, mine)
    time.sleep(CALM)
    again(three).list()
    assert body(three) == mine + B + C


def test_a_commit_puts_back_what_it_finds_missing(three: Vault) -> None:
    mine = A.replace("stands", "stood") + "- 14:33 typed by a person\n"
    save(three, mine)
    again(three).commit()
    assert body(three) == mine + B + C
    assert status(three) == ""


def test_an_address_is_not_given_twice_while_its_entry_is_on_its_way_back(vault: Vault, clock: Any) -> None:
    vault.add("Alpha")
    clock.move(minutes=1)
    beta = again(vault).add("Beta")
    save(vault, A.replace("Alpha stands here", "Alpha, corrected"))
    gamma = again(vault).add("Gamma")
    settle(vault)
    assert (beta.address, gamma.address) == ("daily/2026-11-29#14:31", "daily/2026-11-29#14:31:05")
    assert again(vault).get(beta.address).text == "Beta"
    assert again(vault).get(gamma.address).text == "Gamma"


def test_an_editor_that_never_reads_again_does_not_undo_what_was_edited(vault: Vault, clock: Any) -> None:
    names = [f"- 14:3{number} entry {number}\n" for number in range(5)]
    for number in range(5):
        again(vault).add(f"entry {number}")
        clock.move(minutes=1)
    for number in range(3):
        again(vault).edit(f"daily/2026-11-29#14:3{number}", f"agent {number}")
        again(vault).add(f"new {number}")
        clock.move(minutes=1)
        mine = "".join(names[:4]) + names[4].replace("\n", f", mine {number}\n")
        save(vault, mine)
        settle(vault)
    agents = "".join(f"- 14:3{number} agent {number}\n" for number in range(3))
    fresh = "".join(f"- 14:3{number + 5} new {number}\n" for number in range(3))
    assert body(vault) == agents + names[3] + names[4].replace("\n", ", mine 2\n") + fresh
    assert kept(vault) == []


def test_a_copy_of_a_log_that_was_not_there_yet(three: Vault) -> None:
    save(three, "- 21:00 typed by a person\n")
    settle(three)
    assert body(three) == "- 21:00 typed by a person\n" + A + B + C
    assert kept(three) == []


def test_words_behind_the_last_entry_correct_it(three: Vault, clock: Any) -> None:
    again(three).add("Delta")
    save(
        three,
        A + B + "- 14:32 Cappuccino in the morning, and quite another thing in the evening, with cake and cream\n",
    )
    settle(three)
    assert body(three).count("Cappuccino") == 1
    assert body(three).endswith("Delta\n")
    assert kept(three) == []


def test_a_document_that_was_removed_and_is_saved_again_is_told(vault: Vault) -> None:
    path = write(vault, "memory/plan.md", PLAN)
    vault.commit()
    again(vault).remove("plan")
    path.write_text(PLAN)
    one = again(vault)
    one.commit()
    assert any("plan had been removed, and is saved again" in said for said in one.notices)


@pytest.mark.parametrize("watching", [False, True])
def test_an_older_copy_that_is_renamed_before_it_is_committed_is_merged(vault: Vault, watching: bool) -> None:
    plan = PLAN + "".join(f"\nStep {number} is to be done.\n" for number in range(8))
    path = write(vault, "memory/plan.md", plan)
    vault.commit()
    again(vault).edit("plan", plan.replace("May", "June"))
    path.write_text(plan.replace("small", "large"))
    path = path.rename(path.with_name("project.md"))
    one = again(vault)
    if watching:
        one.upkeep.save({"memory/project.md": one.upkeep.scan()["memory/project.md"]})
    else:
        one.commit()
    assert path.read_text() == plan.replace("May", "June").replace("small", "large")
    assert any("project was saved from an older copy" in said for said in one.notices)
    assert again(vault).conflicts() == []


def test_what_was_edited_before_a_document_was_removed_comes_back_with_it(vault: Vault) -> None:
    path = write(vault, "memory/plan.md", PLAN)
    vault.commit()
    first, second = PLAN.rstrip("\n").rsplit("\n", 1)
    again(vault).edit("plan", f"{first}\n\nby an agent\n\n{second}\n")
    again(vault).remove("plan")
    path.write_text(f"{PLAN}\nby a person\n")
    one = again(vault)
    one.commit()
    assert any("what had changed since is merged into it" in said for said in one.notices)
    text = path.read_text()
    assert (text.count("by an agent"), text.count("by a person"), text.count(second)) == (1, 1, 1)
    assert committed(vault, "memory/plan.md") == text and ops(vault)[:2] == ["restore", "save"]
    assert again(vault).conflicts() == []


@pytest.mark.parametrize("entry", [A, B, C])
def test_an_entry_under_another_clock_is_not_missed(three: Vault, entry: str) -> None:
    mine = (A + B + C).replace(entry, entry.replace("14:3", "18:0"))
    save(three, mine)
    assert settle(three) == []
    assert body(three) == mine
    assert kept(three) == []


def test_who_takes_an_entry_out_again_may_mean_it(three: Vault) -> None:
    save(three, A + B)
    settle(three)
    assert body(three) == A + B + C
    save(three, A + B, ago=-4)  # in less time nobody notices that it is back
    settle(three)
    assert body(three) == A + B
    assert kept(three) == [("stale copy, not clear if meant", C[8:-1])]


def test_what_is_put_back_and_dropped_again_at_once_comes_back(three: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.text.absence.HASTE_NS", 3_600_000_000_000)  # at once on a slow machine, too
    for _ in range(3):
        save(three, A + B)
        settle(three)
        assert body(three) == A + B + C
    assert kept(three) == []


def test_what_an_older_copy_drops_is_not_taken_out_by_another_one(
    three: Vault, monkeypatch: pytest.MonkeyPatch, clock: Any
) -> None:
    monkeypatch.setattr("mdmem.vault.delivery.CALM", 3600)
    monkeypatch.setattr("mdmem.vault.delivery.LONG", 3600)
    save(three, A + "- 14:33 typed by one person\n")
    again(three).commit()  # what it dropped is on its way back
    clock.move(minutes=1)
    Vault.open(three.root).add("Digestives with it")
    save(three, A + B + C + "- 14:35 typed by another person\n")
    again(three).status()
    monkeypatch.setattr("mdmem.vault.delivery.CALM", CALM)
    time.sleep(CALM)
    again(three).status()  # and back, before the last save is committed, and merged
    settle(three)
    found = body(three)
    wanted = (A, B, C, "- 14:33 typed by one person\n", "- 14:34 Digestives with it\n", "14:35 typed by another")
    assert [found.count(entry) for entry in wanted] == [1] * len(wanted)
    assert kept(three) == []


@pytest.mark.parametrize("path", [DAY, "memory/plan.md"])
def test_an_older_copy_does_not_revert_what_another_person_saved(vault: Vault, path: str) -> None:
    lines = [f"- 0{number}:00 line {number} of this text\n" for number in range(1, 5)]
    write(vault, path, HEADING + "".join(lines))
    vault.commit()
    first = [line.replace("line 1", "first person 1") for line in lines]
    write(vault, path, HEADING + "".join(first))
    vault.commit()
    if path == DAY:
        again(vault).edit("daily/2026-11-29#02:00", "agent 2 of this text")
    else:
        again(vault).edit("plan", (HEADING + "".join(first)).replace("line 2", "agent 2"))
    second = [line.replace("line 3", "second person 3") for line in lines]
    write(vault, path, HEADING + "".join(second))
    settle(vault)
    for words in ("first person 1", "agent 2", "second person 3", "line 4"):
        assert log(vault, path).count(words) == 1
    assert again(vault).conflicts() == []
    assert kept(vault) == []


def test_nothing_is_committed_unseen_while_another_process_is_looking(
    three: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdmem.vault.observation.PATIENCE_MS", 50)
    mine = A + "- 14:33 typed by a person\n"
    save(three, mine)
    with again(three).parts.observation.lock.hold(50):
        with pytest.raises(Busy):
            again(three).commit()
        assert again(three).add("Digestives with it").pending
        assert body(three) == mine
    settle(three)
    assert [body(three).count(entry) for entry in (A, B, C, "typed by a person", "Digestives")] == [1] * 5
    assert kept(three) == []


# -- a merge that took one side


MEMORY = "memory/MEMORY.md"
FACTS = "# Memory\n\n## Facts\n\n- The dog is called Rex\n"


@pytest.fixture
def merged(vault: Vault) -> Vault:
    """A vault of which a person has merged another branch's MEMORY.md, as it was there, over what mdmem wrote since."""
    write(vault, MEMORY, FACTS)
    again(vault).commit()
    git(vault, "checkout", "-qb", "other")
    again(vault).edit("MEMORY", FACTS + "- Tea is green\n")
    git(vault, "checkout", "-q", "main")
    again(vault).edit("MEMORY", FACTS + "- Milk is out\n- So is bread\n")
    git(vault, "merge", "-q", "-X", "theirs", "other", "--no-commit", code=0)
    git(vault, "checkout", "-q", "other", "--", MEMORY)
    git(vault, "commit", "-qm", "merged")
    return vault


def test_a_merge_that_took_one_side_is_no_save_from_an_older_copy(merged: Vault) -> None:
    opened = again(merged)
    opened.commit()
    assert opened.notices == [] and log(merged, MEMORY) == FACTS + "- Tea is green\n"


def test_what_is_edited_after_such_a_merge_brings_nothing_of_the_other_side_back(merged: Vault) -> None:
    write(merged, MEMORY, FACTS.replace("Rex", "Max") + "- Tea is green\n")
    settle(merged)
    assert log(merged, MEMORY) == FACTS.replace("Rex", "Max") + "- Tea is green\n"
    assert status(merged) == ""
