"""After a crash: what was acknowledged is there once, what was begun is finished or undone, nothing else changed."""

from __future__ import annotations

import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vault_sandbox import DAY, HEADING, again, body, committed, git, log, ops, python, status, write

from mdmem import Vault, fsio
from mdmem.errors import StorageFailed
from mdmem.model import NewEntry
from mdmem.store.journal import Journal
from mdmem.text import entries
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import CALM
from mdmem.vault.rewriting import Rewriting

pytestmark = pytest.mark.usefixtures("clock")

FIRST = "daily/2026-11-29#14:30"
WHEN = datetime.fromisoformat("2026-11-29T14:30:00+01:00")


class Killed(BaseException):
    """Stands for a process that died."""


def dying(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, act: Callable[[], object], *, after: int = 0
) -> None:
    """Run an action whose process dies at a call of this function, after it went through that often."""
    real, calls = getattr(owner, name), []

    def die(*args: object, **options: object) -> object:
        calls.append(name)
        if len(calls) > after:
            raise Killed
        return real(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        with pytest.raises(Killed):
            act()


def journal_of(vault: Vault) -> Path:
    [segment] = (vault.place.state / "journal").glob("*.log")
    return segment


# -- adding


@pytest.mark.parametrize("point", ["append", "mark_all", "sync", "commit"])
@pytest.mark.parametrize("text", ["short", "long " * 400 + ".", "two\n\nparagraphs"])
def test_an_add_that_dies_is_finished_by_the_next_command(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, point: str, text: str
) -> None:
    vault.add("before")
    owner, name = {
        "append": (fsio, "append" if len(text) < 1000 else "replace"),
        "mark_all": (Journal, "mark_all"),
        "sync": (fsio.calls, "fdatasync" if len(text) < 1000 else "fsync"),
        "commit": (Commits, "commit_placed"),
    }[point]
    dying(monkeypatch, owner, name, lambda: vault.add(text), after=1 if name == "fdatasync" else 0)
    found = again(vault)
    found.status()
    assert [entry.text for entry in found.today()[1]] == ["before", text]
    assert committed(vault) == log(vault)
    assert status(vault) == ""
    assert "save" not in ops(vault)


def test_equal_texts_on_two_days_are_told_apart(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("standup", at=WHEN - timedelta(days=1))
    dying(monkeypatch, Journal, "mark_all", lambda: vault.add("standup", at=WHEN))
    again(vault).status()
    assert body(vault) == "- 14:30 standup\n"
    assert body(vault, "memory/daily/2026-11-28.md") == "- 14:30 standup\n"


def test_equal_texts_of_one_second_are_counted(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add_batch(NewEntry("tea") for _ in range(3))
    assert body(vault) == "- 14:30 tea\n- 14:30:05 tea\n- 14:30:05 tea\n"
    dying(monkeypatch, Journal, "mark_all", lambda: vault.add("tea"))
    again(vault).status()
    assert body(vault).count("tea") == 4
    dying(monkeypatch, fsio, "append", lambda: again(vault).add("tea"))
    again(vault).status()
    assert body(vault).count("tea") == 5


def test_a_text_added_again_after_it_was_removed(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("tea")
    vault.remove(FIRST)
    dying(monkeypatch, Journal, "mark_all", lambda: vault.add("tea"))
    again(vault).status()
    assert body(vault) == "- 14:30 tea\n"


def test_a_text_that_begins_like_another_is_not_lost(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """A waiting entry is not taken for there because another one begins with it, nor sewn onto another one."""
    vault.add("a\n\nb")
    dying(monkeypatch, fsio, "append", lambda: vault.add("a"))
    again(vault).status()
    assert body(vault) == "- 14:30 a\n\n  b\n- 14:30:05 a\n"
    vault.remove("daily/2026-11-29#14:30:05")
    vault.remove(FIRST)
    vault.add("a")
    dying(monkeypatch, fsio, "append", lambda: vault.add("a\n\nb"))
    again(vault).status()
    assert body(vault) == "- 14:30 a\n- 14:30:05 a\n\n  b\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("cut", range(1, 32))
def test_a_torn_end_is_completed(vault: Vault, monkeypatch: pytest.MonkeyPatch, cut: int, ending: str) -> None:
    text = "torn\n\nin some place"
    write(vault, DAY, f"# 2026-11-29{ending}{ending}- 09:00 whole{ending}")
    vault.commit()
    before = log(vault)
    dying(monkeypatch, Journal, "mark_all", lambda: vault.add(text))
    whole = log(vault)
    write(vault, DAY, whole[: len(before) + min(cut, len(whole) - len(before) - 1)])
    again(vault).status()
    if cut >= len("- 1"):
        assert log(vault) == whole
    else:  # nobody can tell that this was the beginning of it
        assert log(vault).endswith(ending + whole[len(before) :])
    assert committed(vault) == log(vault)


def test_a_line_that_was_there_is_not_taken_for_a_torn_one(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("tea")
    write(vault, DAY, log(vault).removesuffix("\n"))
    git(vault, "commit", "-qam", "An editor took the newline")
    dying(monkeypatch, fsio, "append", lambda: vault.add("tea with milk", at=WHEN))
    again(vault).status()
    assert body(vault) == "- 14:30 tea\n- 14:30:00 tea with milk\n"


def test_a_torn_line_of_nobodys_gets_its_newline(vault: Vault) -> None:
    write(vault, DAY, "- 09:00 whole\n- 09:0")
    vault.add("next")
    assert log(vault) == "- 09:00 whole\n- 09:0\n- 14:30 next\n"


def test_marks_that_cannot_be_written_are_found_out(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise StorageFailed("the disk is full", "")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "mark_all", full)
        done = vault.add("note")
        assert done.address == FIRST
        assert done.pending
        assert any(notice.startswith("in the log, not yet in history") for notice in done.notices)
        vault = again(vault)
    change = vault.edit(FIRST, "edited")
    assert change.commit
    assert ops(vault) == ["edit", "add", "init"]
    assert body(vault) == "- 14:30 edited\n"


TEXTS = st.sampled_from(["a", "a\n\nb", "b", "a #x", "- 14:30 a", "```\nopen", "a <!-- mdmem: x=1 -->"])
ADDS = st.lists(st.tuples(TEXTS, st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(adds=ADDS, data=st.data())
def test_whatever_marks_are_lost_each_entry_is_there_once(
    adds: list[tuple[str, int, int]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    vault = Vault.init(tmp_path_factory.mktemp("lost") / "vault")[0]
    size = data.draw(st.integers(1, len(adds)))
    detached = data.draw(st.booleans())
    if detached:
        git(vault, "switch", "-q", "--detach")
    items = [NewEntry(text, at=WHEN + timedelta(days=day, minutes=minute)) for text, day, minute in adds]
    for start in range(0, len(items), size):
        again(vault).add_batch(items[start : start + size])
    _lose_marks(journal_of(vault), data)
    if detached:
        git(vault, "switch", "-q", "main")
    for _ in range(2):
        again(vault).status()
    found = Counter(
        (path.stem, entry.time[:5], entry.text)
        for path in (vault.root / "memory/daily").iterdir()
        for entry in entries.parse(path.read_text()).entries
    )
    assert found == Counter((f"{item.at:%Y-%m-%d}", f"{item.at:%H:%M}", item.text) for item in items)
    assert status(vault) == ""
    assert again(vault).status().pending == 0
    assert "save" not in ops(vault)


def _lose_marks(segment: Path, data: st.DataObject) -> None:
    """Lose what was never made durable: any marks behind the last record, and the end of the file."""
    lines = re.findall(rb"\n[^\n]+\n", segment.read_bytes())
    last = max(place for place, line in enumerate(lines) if b'{"mark"' not in line)
    kept = [line for line in lines[last + 1 :] if data.draw(st.booleans())]
    tail = b"".join(kept)
    tail = tail[: data.draw(st.integers(0, len(tail)))]
    segment.write_bytes(b"".join(lines[: last + 1]) + tail)


# -- changing


POINTS = ["before", "after", "marked"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("act", ["edit", "remove entry", "remove document", "undo"])
def test_a_change_that_dies_has_happened_or_not(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, act: str, point: str
) -> None:
    vault.add("one")
    write(vault, "memory/plan.md", "# Plan\n")
    vault.commit()
    calls: dict[str, Callable[[], object]] = {
        "edit": lambda: vault.edit(FIRST, "changed"),
        "remove entry": lambda: vault.remove(FIRST),
        "remove document": lambda: vault.remove("plan"),
        "undo": lambda: vault.undo(),
    }
    before = (log(vault), log(vault, "memory/plan.md"), len(ops(vault)))
    removing = act in ("remove document", "undo")
    if point == "before":
        dying(monkeypatch, fsio, "remove" if removing else "replace", calls[act])
    elif point == "after":
        dying(monkeypatch, Journal, "mark", calls[act])
    else:
        dying(monkeypatch, Rewriting, "finish", calls[act])
    again(vault).status()
    if point == "before":
        assert (log(vault), log(vault, "memory/plan.md"), len(ops(vault))) == before
    elif act in ("edit", "remove entry"):
        assert body(vault) == ("- 14:30 changed\n" if act == "edit" else "")
    else:
        assert not (vault.root / "memory/plan.md").exists()
    if point != "before":
        assert ops(vault)[0] == act.split()[0].replace("remove", "rm")
        assert len(ops(vault)) == before[2] + 1
    assert status(vault) == ""
    assert again(vault).status().pending == 0


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_change_of_two_files_that_dies_is_done_in_both_or_neither(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    for text in ("1\n", "2\n"):
        write(vault, "memory/a.md", f"a{text}")
        write(vault, "memory/b.md", f"b{text}")
        vault.commit()
    dying(monkeypatch, fsio, "replace", lambda: vault.undo(), after=done) if done < 2 else dying(
        monkeypatch, Journal, "mark", lambda: vault.undo()
    )
    again(vault).status()
    wanted = ("a2\n", "b2\n") if done == 0 else ("a1\n", "b1\n")
    assert (log(vault, "memory/a.md"), log(vault, "memory/b.md")) == wanted
    assert ops(vault)[0] == ("save" if done == 0 else "undo")
    assert status(vault) == ""


@pytest.mark.parametrize("act", ["edit", "remove", "field"])
def test_a_change_that_died_under_a_later_save_is_a_commit_of_its_own(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    vault.add("one")
    vault.add("two")
    change = {
        "edit": lambda: vault.edit(FIRST, "changed"),
        "remove": lambda: vault.remove(FIRST),
        "field": lambda: vault.set_field(FIRST, "persona", "yuki"),
    }[act]
    dying(monkeypatch, Journal, "mark", change)
    write(vault, DAY, log(vault) + "- 15:00 by hand\n")
    again(vault).add("next")
    time.sleep(CALM * 2)  # what an older copy dropped would be put back by now
    again(vault).status()
    assert ops(vault) == ["add", "save", "rm" if act == "remove" else "edit", "add", "add", "init"]
    first = {"edit": "- 14:30 changed\n", "remove": "", "field": "- 14:30 one <!-- mdmem: persona=yuki -->\n"}[act]
    expected = f"{HEADING}{first}- 14:30:05 two\n- 15:00 by hand\n- 14:30:05 next\n"
    assert committed(vault) == log(vault) == expected
    assert not again(vault).held()


def test_a_change_that_died_before_a_save_that_lacks_it_is_not_made(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.add("one")
    dying(monkeypatch, fsio, "replace", lambda: vault.edit(FIRST, "changed"))
    write(vault, DAY, log(vault) + "- 15:00 by hand\n")
    again(vault).add("next")
    assert ops(vault) == ["add", "save", "add", "init"]
    assert committed(vault) == log(vault) == HEADING + "- 14:30 one\n- 15:00 by hand\n- 14:30:05 next\n"


# -- what is left behind


def test_nothing_is_left_in_tmp(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add("one")
    vault.edit(FIRST, "two")
    write(vault, "memory/plan.md", "# Plan\n")
    vault.remove("plan")
    tmp = vault.place.state / "tmp"
    dying(monkeypatch, fsio.calls, "fsync", lambda: vault.edit(FIRST, "three"))
    (tmp / "mdmem-0123456789abcdef.part").write_text("torn")
    again(vault).add("a fresh one")
    assert all(path.name.endswith(".swap") for path in tmp.iterdir())
    monkeypatch.setattr(fsio.leftovers, "LATE_WRITERS", 0.0)
    again(vault).add("later")
    assert list(tmp.iterdir()) == []


def test_a_version_of_somebody_else_is_kept_and_named(vault: Vault) -> None:
    vault.add("one")
    stray = vault.place.state / "tmp" / f"mdmem-0123456789abcdef-{'0' * 64}-{'1' * 64}.swap"
    stray.parent.mkdir(exist_ok=True)
    stray.write_text("a save that nobody has seen\n")
    done = again(vault).add("two")
    assert stray.read_text() == "a save that nobody has seen\n"
    assert any(str(stray) in notice for notice in done.notices)


# -- an editor that saved an older copy


def test_a_stale_save_over_uncommitted_entries_is_mended(vault: Vault) -> None:
    vault.add("committed")
    older = log(vault)
    git(vault, "switch", "-q", "--detach")
    vault.add("waits")
    vault.add("waits too")
    write(vault, DAY, older.replace("committed", "committed, corrected"))
    git(vault, "switch", "-q", "main")
    again(vault).status()
    time.sleep(CALM)
    found = again(vault)
    found.status()
    assert any("2 entries are put back" in notice for notice in found.notices)
    assert body(vault) == "- 14:30 committed, corrected\n- 14:30:05 waits\n- 14:30:05 waits too\n"
    assert status(vault) == ""
    assert ops(vault)[:2] == ["add", "save"]


def test_an_uncommitted_entry_that_was_corrected_is_the_persons(vault: Vault) -> None:
    git(vault, "switch", "-q", "--detach")
    vault.add("Decided on Whoosh")
    vault.add("another")
    write(vault, DAY, log(vault).replace("Decided on Whoosh", "Decided on Whoosh for BM25"))
    git(vault, "switch", "-q", "main")
    found = again(vault)
    found.status()
    assert found.notices == []
    assert body(vault) == "- 14:30 Decided on Whoosh for BM25\n- 14:30:05 another\n"
    assert ops(vault) == ["add", "save", "init"]


def test_an_uncommitted_entry_that_was_taken_out_stays_out_and_is_held(vault: Vault) -> None:
    git(vault, "switch", "-q", "--detach")
    vault.add("first")
    vault.add("second, removed")
    vault.add("third")
    write(vault, DAY, log(vault).replace("- 14:30:05 second, removed\n", ""))
    git(vault, "switch", "-q", "main")
    found = again(vault)
    found.status()
    assert any("1 entry is held" in notice for notice in found.notices)
    assert body(vault) == "- 14:30 first\n- 14:30:05 third\n"
    assert [one.record.text for one in found.parts.journal.scan(settled=False)] == ["second, removed"]
    assert status(vault) == ""


HOLDER = """
import sys
from mdmem import Vault
with Vault.open(sys.argv[1]).parts.commits.lock.hold(5000):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_what_waits_is_kept_in_the_repository_also_after_another_was_at_it(vault: Vault) -> None:
    holder = python(HOLDER, vault.root, stdin=subprocess.PIPE)
    assert holder.stdout and holder.stdout.readline() == "held\n"
    assert vault.add("one").pending
    assert git(vault, "for-each-ref", "refs/mdmem/kept") == ""
    holder.communicate()
    (vault.root / ".git/MERGE_HEAD").write_text(git(vault, "rev-parse", "HEAD") + "\n")
    assert vault.add("two").pending
    assert git(vault, "for-each-ref", "refs/mdmem/kept") != ""
