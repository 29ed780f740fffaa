"""What `recover` knows: files that people deleted or moved, and entries that git took back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from vault_sandbox import DAY, HEADING, again, body, git, log, ops, status, subjects, write

from mdmem import Vault
from mdmem.errors import NotFound, Refused
from mdmem.vault.recovery import KEPT_DAYS

pytestmark = pytest.mark.usefixtures("clock")

PLAN = "# Plan\n\nWe begin in May.\n\nAda leads the work.\n"
NOTE = "memory/plan.md"


def listed(vault: Vault) -> list[tuple[str, str]]:
    """List reason and text of what the next command would."""
    return [(one.reason or "", one.text) for one in again(vault).held()]


def recover(vault: Vault, *numbers: int) -> list[str]:
    """Put back what has these numbers; give the subjects of the commits that did."""
    one = again(vault)
    held = one.held()
    return [change.subject for change in one.recover_all([held[number - 1].id for number in numbers])]


@pytest.fixture
def plan(vault: Vault) -> Vault:
    """A vault with a document."""
    write(vault, NOTE, PLAN)
    vault.commit()
    return again(vault)


@pytest.fixture
def three(vault: Vault, clock: Any) -> Vault:
    """A vault with entries of three minutes, each in a commit of its own."""
    for text in ("Alpha", "Beta", "Gamma"):
        again(vault).add(text)
        clock.move(minutes=1)
    return again(vault)


# -- deleted files


@pytest.mark.parametrize("committed", [True, False])
def test_a_deleted_document_comes_back_by_a_commit_of_its_own(plan: Vault, committed: bool) -> None:
    (plan.root / NOTE).unlink()
    if committed:
        again(plan).commit()
    assert listed(plan) == listed(plan) == [("deleted", "Plan")]
    assert recover(plan, 1) == ["Put back plan"]
    assert subjects(plan)[:2] == ["Put back plan", "Delete plan"]
    assert log(plan, NOTE) == PLAN
    assert listed(plan) == []
    assert status(plan) == ""


@pytest.mark.parametrize("committed", [True, False])
def test_a_deleted_log_comes_back(three: Vault, committed: bool) -> None:
    whole = log(three)
    (three.root / DAY).unlink()
    if committed:
        again(three).commit()
    assert listed(three) == [("deleted", "3 entries: Alpha · Beta · Gamma")]
    assert recover(three, 1) == ["Put back daily/2026-11-29"]
    assert log(three) == whole
    assert ops(three)[:2] == ["restore", "save"]


def test_a_deleted_log_that_was_begun_anew_gets_its_entries_back(three: Vault) -> None:
    (three.root / DAY).unlink()
    again(three).commit()
    again(three).add("Delta")
    assert recover(three, 1) == ["Put back 3 entries"]
    assert body(three) == "- 14:33 Delta\n- 14:30 Alpha\n- 14:31 Beta\n- 14:32 Gamma\n"
    assert listed(three) == []


def test_an_entry_comes_back_whose_log_was_deleted_since(three: Vault) -> None:
    write(three, DAY, HEADING + "- 14:30 Alpha\n- 14:32 Gamma\n")
    again(three).commit()
    (three.root / DAY).unlink()
    assert listed(three) == [("deleted", "Beta"), ("deleted", "2 entries: Alpha · Gamma")]
    assert recover(three, 1) == ["Put back: Beta"]
    assert body(three) == "- 14:31 Beta\n"
    assert status(three) == ""


def test_an_entry_and_a_document_come_back_together(plan: Vault, clock: Any) -> None:
    for text in ("Alpha", "Beta"):
        again(plan).add(text)
        clock.move(minutes=1)
    write(plan, DAY, HEADING + "- 14:31 Beta\n")
    (plan.root / NOTE).unlink()
    assert listed(plan) == [("deleted", "Alpha"), ("deleted", "Plan")]
    assert sorted(recover(plan, 1, 2)) == ["Put back plan", "Put back: Alpha"]
    assert (body(plan), log(plan, NOTE)) == ("- 14:31 Beta\n- 14:30 Alpha\n", PLAN)


def test_nothing_comes_back_when_one_of_them_is_not_listed(plan: Vault) -> None:
    (plan.root / NOTE).unlink()
    one = again(plan)
    [held] = one.held()
    with pytest.raises(NotFound):
        one.recover_all([held.id, "0" * 16])
    assert not (plan.root / NOTE).exists()


@pytest.mark.parametrize("how", ["checkout", "editor", "editor, with more", "elsewhere"])
def test_a_document_that_stands_again_is_let_go(plan: Vault, how: str) -> None:
    (plan.root / NOTE).unlink()
    again(plan).commit()
    assert listed(plan) == [("deleted", "Plan")]
    if how == "checkout":
        git(plan, "checkout", "-q", "HEAD~1", "--", NOTE)
    else:
        path = "memory/archives/other.md" if how == "elsewhere" else NOTE
        write(plan, path, PLAN + "\nMore.\n" * (how == "editor, with more"))
    assert listed(plan) == []


def test_a_document_of_the_same_name_is_not_written_over(plan: Vault) -> None:
    (plan.root / NOTE).unlink()
    again(plan).commit()
    write(plan, NOTE, "# Another\n")
    [held] = again(plan).held()
    with pytest.raises(Refused, match="there again, with another text"):
        again(plan).recover(held.id)
    assert log(plan, NOTE) == "# Another\n"
    again(plan).drop(held.id)
    assert listed(plan) == []


def test_what_a_command_removed_is_not_listed(plan: Vault) -> None:
    again(plan).remove("plan")
    assert listed(plan) == []


def test_a_deletion_is_listed_for_a_month(plan: Vault, clock: Any) -> None:
    (plan.root / NOTE).unlink()
    again(plan).commit()
    clock.move(days=KEPT_DAYS - 1)
    assert listed(plan) == [("deleted", "Plan")]
    clock.move(days=2)
    assert listed(plan) == []


def test_nothing_comes_back_when_one_of_them_cannot(plan: Vault, three: Vault) -> None:
    write(plan, DAY, HEADING + "- 14:31 Beta\n- 14:32 Gamma\n")
    (plan.root / NOTE).unlink()
    again(plan).commit()
    write(plan, NOTE, "# Another\n")
    assert listed(plan) == [("deleted", "Alpha"), ("deleted", "Plan")]
    with pytest.raises(Refused, match="there again") as caught:
        recover(plan, 1, 2)
    assert caught.value.hint.startswith("nothing was put back")
    again(plan).commit()
    assert body(plan) == "- 14:31 Beta\n- 14:32 Gamma\n"
    assert listed(plan) == [("deleted", "Alpha"), ("deleted", "Plan")]


# -- putting back, undone


def sources(vault: Vault) -> list[str]:
    """List where the texts are that the next command would list."""
    return [one.source for one in again(vault).held()]


def undo(vault: Vault) -> str:
    """Take back the last commit, even if it is an undoing; give the new one's short id."""
    again(vault).undo("HEAD")
    return git(vault, "rev-parse", "HEAD")[:8]


def lose(vault: Vault, what: str) -> None:
    """Lose an entry or a file as people do."""
    if what == "entry":
        write(vault, DAY, HEADING + "- 14:31 Beta\n- 14:32 Gamma\n")
    elif what == "entry, by git":
        git(vault, "reset", "-q", "--hard", "HEAD~1")
    else:
        (vault.root / (DAY if what == "log" else NOTE)).unlink()
    again(vault).commit()


LOST = {"entry": "Alpha", "entry, by git": "Gamma", "log": "3 entries: Alpha · Beta · Gamma", "document": "Plan"}


@pytest.mark.parametrize(("what", "text"), LOST.items(), ids=LOST)
def test_what_was_put_back_is_listed_again_once_that_is_undone(plan: Vault, three: Vault, what: str, text: str) -> None:
    lose(plan, what)
    before = git(plan, "rev-parse", "HEAD:./memory")
    recover(plan, 1)
    stood = git(plan, "rev-parse", "HEAD")
    assert listed(plan) == []
    for _ in range(2):  # there and back again
        undo(plan)
        assert git(plan, "rev-parse", "HEAD:./memory") == before
        assert listed(plan) == listed(plan) == [("deleted", text)]
        assert sources(plan) == [f"commit {stood[:8]}"]
        stood = undo(plan)
        assert listed(plan) == []
    undo(plan)
    recover(plan, 1)
    assert git(plan, "diff", "--stat", stood, "HEAD", "--", "memory") == ""
    assert listed(plan) == []


def test_several_that_were_put_back_at_once_are_listed_again(three: Vault, plan: Vault) -> None:
    write(three, DAY, HEADING + "- 14:32 Gamma\n")
    again(three).commit()
    recover(three, 1, 2)
    undo(three)
    assert listed(three) == [("deleted", "Alpha"), ("deleted", "Beta")]
    assert recover(three, 2) == ["Put back: Beta"]
    assert listed(three) == [("deleted", "Alpha")]


def test_a_deletion_that_is_undone_is_let_go_and_listed_again_with_it(three: Vault) -> None:
    lose(three, "entry")
    undo(three)
    assert listed(three) == []
    undo(three)
    assert listed(three) == [("deleted", "Alpha")]
    assert body(three) == "- 14:31 Beta\n- 14:32 Gamma\n"


def test_what_mdmem_put_back_by_itself_is_listed_once_that_is_undone(three: Vault) -> None:
    older = log(three)
    again(three).add("Delta")
    write(three, DAY, older + "- 15:00 typed\n")
    again(three).commit()
    assert "Delta" in log(three) and subjects(three)[0] == "Put back: Delta"
    again(three).undo()
    assert "Delta" not in log(three)
    assert listed(three) == [("deleted", "Delta")]


def test_what_was_corrected_when_it_was_put_back_is_not_missed(three: Vault) -> None:
    older = log(three)
    again(three).edit("daily/2026-11-29#14:30", "Alpha, as the agent has it")
    write(three, DAY, older + "- 15:00 typed\n")
    again(three).commit()
    assert "as the agent has it" in log(three)
    again(three).undo()
    assert "- 14:30 Alpha\n" in log(three)
    assert listed(three) == []


def test_an_undo_that_is_refused_leaves_nothing_listed(three: Vault) -> None:
    lose(three, "entry")
    recover(three, 1)
    back = git(three, "rev-parse", "HEAD")
    again(three).edit("daily/2026-11-29#14:30", "Alpha, changed since")
    with pytest.raises(Refused):
        again(three).undo(back)
    assert listed(three) == []


# -- renamed files


@pytest.mark.parametrize("edited", [False, True])
def test_a_renamed_document_is_not_missed(plan: Vault, edited: bool) -> None:
    (plan.root / NOTE).unlink()
    write(plan, "memory/archives/may.md", PLAN + "More.\n" * edited)
    assert listed(plan) == []
    again(plan).commit()
    assert subjects(plan)[0] == "Rename plan to archives/may"
    assert listed(plan) == []


def test_a_moved_folder_is_not_missed(vault: Vault) -> None:
    for number in range(3):
        write(vault, f"memory/trips/{number}.md", f"# Trip {number}\n\nto place {number}\n")
    vault.commit()
    (vault.root / "memory/trips").rename(vault.root / "memory/travels")
    again(vault).commit()
    assert subjects(vault)[0] == "Rename trips to travels: 3 files"
    assert listed(vault) == []
    again(vault).undo()
    assert log(vault, "memory/trips/2.md") == "# Trip 2\n\nto place 2\n"


def test_a_document_that_was_committed_under_its_new_name_before_is_not_missed(plan: Vault) -> None:
    write(plan, "memory/archives/may.md", PLAN)
    again(plan).commit()
    (plan.root / NOTE).unlink()
    again(plan).commit()
    assert subjects(plan)[0] == "Delete plan"
    assert listed(plan) == []


def test_putting_back_what_stands_elsewhere_changed_says_so(plan: Vault) -> None:
    (plan.root / NOTE).unlink()
    again(plan).commit()
    write(plan, "memory/archives/may.md", PLAN + "More.\n")
    one = again(plan)
    one.recover(one.held()[0].id)
    assert "archives/may has much of what plan had: both stand now" in one.notices
    assert log(plan, NOTE) == PLAN


def test_a_save_of_everything_at_once_says_what_it_was(plan: Vault) -> None:
    for name, text in (("edited", "one\n"), ("gone", "two is here\n")):
        write(plan, f"memory/{name}.md", text)
    again(plan).commit()
    write(plan, "memory/edited.md", "three\n")
    write(plan, "memory/fresh.md", "four\n")
    (plan.root / "memory/gone.md").unlink()
    (plan.root / NOTE).rename(plan.root / "memory/may.md")
    again(plan).commit()
    said = git(plan, "log", "-1", "--format=%B")
    assert said.startswith("Save 4 files as edited by hand: 1 edited, 1 added, 1 deleted, 1 renamed\n")
    assert "- renamed plan to may\n" in said and "- removed gone: two is here\n" in said


def test_files_deleted_at_once_are_counted(plan: Vault) -> None:
    write(plan, "memory/other.md", "# Other\n")
    again(plan).commit()
    for path in (NOTE, "memory/other.md"):
        (plan.root / path).unlink()
    again(plan).commit()
    assert subjects(plan)[0] == "Delete 2 files"


# -- what git took back

TAKEN = "taken back by git"


def test_what_a_reset_took_back_is_listed_and_comes_back(three: Vault) -> None:
    git(three, "reset", "-q", "--hard", "HEAD~2")
    assert listed(three) == [(TAKEN, "Beta"), (TAKEN, "Gamma")]
    assert recover(three, 1, 2) == ["Put back 2 entries"]
    assert body(three) == "- 14:30 Alpha\n- 14:31 Beta\n- 14:32 Gamma\n"
    assert listed(three) == []
    git(three, "reset", "-q", "--hard", "HEAD~1")
    assert listed(three) == [(TAKEN, "Beta"), (TAKEN, "Gamma")]


def test_it_is_known_after_the_journal_was_compacted(three: Vault) -> None:
    texts = "x" * 70_000
    again(three).add(texts)
    again(three).remove(again(three).last().address)
    assert not any(one.record.text == "Beta" for one in three.parts.journal.scan())
    git(three, "reset", "-q", "--hard", "HEAD~4")
    assert listed(three) == [(TAKEN, "Beta"), (TAKEN, "Gamma")]


def test_what_git_took_back_can_be_forgotten(three: Vault) -> None:
    git(three, "reset", "-q", "--hard", "HEAD~2")
    again(three).drop(again(three).held()[0].id)
    assert listed(three) == listed(three) == [(TAKEN, "Gamma")]


def test_a_log_that_a_reset_removed_comes_back(three: Vault) -> None:
    git(three, "reset", "-q", "--hard", "HEAD~3")
    assert not (three.root / DAY).exists()
    assert recover(three, 1, 2, 3) == ["Put back 3 entries"]
    assert body(three) == "- 14:30 Alpha\n- 14:31 Beta\n- 14:32 Gamma\n"


def test_what_a_command_edited_or_removed_before_is_as_it_was_left(three: Vault) -> None:
    again(three).edit("daily/2026-11-29#14:31", "Beta, corrected")
    again(three).remove("daily/2026-11-29#14:32")
    git(three, "reset", "-q", "--hard", "HEAD~4")
    assert listed(three) == [(TAKEN, "Beta, corrected")]


def rewritten(vault: Vault) -> None:
    """Write the last commits anew, with other messages."""
    git(vault, "commit", "-q", "--amend", "-m", "Gamma in other words")


def test_what_was_rebased_stands_where_it_stood(three: Vault) -> None:
    rewritten(three)
    assert listed(three) == []


def test_what_was_removed_after_a_rebase_is_not_listed(three: Vault) -> None:
    rewritten(three)
    again(three).remove("daily/2026-11-29#14:32")
    assert listed(three) == []


@pytest.mark.parametrize("then", ["corrected", "moved"])
def test_what_a_person_brought_back_otherwise_is_not_listed(three: Vault, then: str) -> None:
    git(three, "reset", "-q", "--hard", "HEAD~1")
    if then == "moved":
        write(three, "memory/archives/g.md", "# Greek\n\nGamma\n")
    else:
        write(three, DAY, log(three) + "- 14:32 Gamma!\n")
    assert listed(three) == []


def test_what_another_branch_has_is_named_and_not_listed(three: Vault) -> None:
    git(three, "switch", "-q", "-c", "side", "HEAD~2")
    one = again(three)
    assert one.held() == []
    assert one.notices == ["2 entries are on main alone: `git merge main` brings them here"]
    git(three, "branch", "-q", "-D", "main")
    assert listed(three) == [(TAKEN, "Beta"), (TAKEN, "Gamma")]


def test_a_branch_that_only_has_other_commits_of_the_same_entries_is_not_named(three: Vault) -> None:
    git(three, "branch", "before")
    rewritten(three)
    one = again(three)
    assert (one.held(), one.notices) == ([], [])


def test_what_git_has_thrown_away_is_no_error(three: Vault) -> None:
    git(three, "reset", "-q", "--hard", "HEAD~2")
    git(three, "reflog", "expire", "--expire=now", "--all")
    git(three, "gc", "-q", "--prune=now")
    assert listed(three) == []


@pytest.fixture(autouse=True)
def tidy(vault: Vault) -> Iterator[None]:
    """After each test git is content."""
    yield
    git(vault, "fsck", "--strict")
