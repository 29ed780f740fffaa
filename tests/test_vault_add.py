"""Adding: an entry goes to its log and into history, once, whatever else is in the file."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from vault_sandbox import CODE, DAY, HEADING, again, body, committed, git, log, ops, status, subjects, write

from mdmem import Vault, fsio
from mdmem.errors import BadInput, StorageFailed
from mdmem.model import NewEntry
from mdmem.store.journal import Journal
from mdmem.vault import intake
from mdmem.vault.commits import Commits
from mdmem.vault.reasons import TORN

pytestmark = pytest.mark.usefixtures("clock")

WHEN = datetime.fromisoformat("2026-11-29T14:30:00+01:00")


def test_an_entry_is_a_line_in_its_log_and_a_commit(vault: Vault) -> None:
    done = vault.add("User likes *Interstellar*.", tags=["movies"], source="checkpoint")
    assert log(vault) == HEADING + "- 14:30 User likes *Interstellar*. #movies <!-- mdmem: source=checkpoint -->\n"
    assert committed(vault) == log(vault)
    assert status(vault) == ""
    assert subjects(vault)[0] == "Add: User likes *Interstellar*. #movies"
    assert done.address == "daily/2026-11-29#14:30"
    assert (done.path, done.lines, done.pending) == (DAY, (3, 3), False)
    assert done.commit == git(vault, "rev-parse", "HEAD")
    assert again(vault).get("daily/2026-11-29#14:30").text == "User likes *Interstellar*. #movies"


def test_what_add_says_is_where_the_entry_is(vault: Vault, clock) -> None:
    said = [vault.add("first\n\nof two paragraphs"), vault.add("in the same minute"), vault.add("in the same second")]
    clock.move(minutes=1)
    said.append(vault.add("a minute later"))
    said += vault.add_batch([NewEntry("x", at=WHEN), NewEntry("y\n\nz", at=WHEN)])
    assert [one.address.partition("#")[2] for one in said if one.address] == [
        "14:30",
        "14:30:05",
        "14:30:05.2",
        "14:31",
        "14:30:00",
        "14:30:00.2",
    ]
    lines = log(vault).split("\n")
    for one in said:
        entry = again(vault).get(one.address or "")
        assert entry.lines == one.lines
        assert lines[entry.lines[0] - 1].startswith("- 14:3")


def test_the_same_text_twice_is_two_entries(vault: Vault) -> None:
    vault.add("tea")
    again(vault).add("tea")
    assert body(vault) == "- 14:30 tea\n- 14:30:05 tea\n"


def test_a_batch_is_one_sync_and_one_commit(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    real = fsio.datasync
    monkeypatch.setattr(fsio, "datasync", lambda fd: synced.append((vault.root / DAY).exists()) or real(fd))
    done = vault.add_batch(NewEntry(f"line {number}") for number in range(1000))
    assert synced.count(False) == 1  # the journal; later it is compacted
    assert ops(vault) == ["add", "init"]
    assert len({one.address for one in done}) == 1000
    assert not any(one.pending for one in done)
    assert body(vault).count("\n") == 1000
    told = git(vault, "log", "-1", "--format=%b")
    assert told.count("\n- ") == 100
    assert "- and 900 more" in told


def test_a_batch_is_kept_whole_or_not_at_all(vault: Vault) -> None:
    with pytest.raises(BadInput):
        vault.add_batch([NewEntry("good"), NewEntry("bad\0")])
    assert not (vault.root / DAY).exists()
    assert vault.add_batch([]) == []


@pytest.mark.parametrize(
    "item",
    [
        NewEntry(""),
        NewEntry(" \n\t\n"),
        NewEntry("nul\0"),
        NewEntry("half \ud800"),
        NewEntry("x", tags=("two words",)),
        NewEntry("x", tags=("",)),
    ],
)
def test_what_no_log_can_hold_is_refused_before_anything_is_kept(vault: Vault, item: NewEntry) -> None:
    with pytest.raises(BadInput):
        vault.add_batch([item])
    assert ops(vault) == ["init"]
    assert again(vault).status().pending == 0


def test_entries_go_to_the_log_of_their_own_day(vault: Vault, clock) -> None:
    vault.add_batch([NewEntry("today"), NewEntry("then", at=datetime.fromisoformat("2026-03-01T23:59:00+00:00"))])
    assert body(vault) == "- 14:30 today\n"
    assert log(vault, "memory/daily/2026-03-02.md") == "# 2026-03-02\n\n- 00:59 then\n"
    assert ops(vault) == ["add", "init"]


@pytest.mark.parametrize(
    ("zone", "moment", "day", "label"),
    [
        ("Asia/Shanghai", "2026-11-29T19:53:00+00:00", "2026-11-30", "03:53"),
        ("America/Los_Angeles", "2026-11-30T02:17:00+00:00", "2026-11-29", "18:17"),
        ("Europe/Berlin", "2026-10-25T00:30:00+00:00", "2026-10-25", "02:30"),
        ("Europe/Berlin", "2026-10-25T01:30:00+00:00", "2026-10-25", "02:30"),
        ("Europe/Berlin", "2026-03-29T01:00:00+00:00", "2026-03-29", "03:00"),
    ],
)
def test_the_day_is_the_users(vault: Vault, clock, zone: str, moment: str, day: str, label: str) -> None:
    (vault.root / "mdmem.toml").write_text(f'timezone = "{zone}"\n')
    clock.set(moment)
    done = again(vault).add("now")
    assert done.address == f"daily/{day}#{label}"
    date = again(vault).get(done.address).date
    assert date is not None
    assert f"{date:%Y-%m-%d %H:%M}" == f"{day} {label}"


def test_a_clock_put_back_still_appends(vault: Vault, clock) -> None:
    vault.add("one")
    clock.move(hours=-1)
    vault.add("two")
    clock.set("2025-11-29T14:30:05+01:00")
    vault.add("three")
    assert body(vault) == "- 14:30 one\n- 13:30 two\n"
    assert body(vault, "memory/daily/2025-11-29.md") == "- 14:30 three\n"
    assert status(vault) == ""


# -- the file as it is


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# 2026-11-29\r\n\r\n- 09:00 old\r\n", "- 14:30 new\r\n\r\n  more\r\n"),
        ("- 09:00 old", "\n- 14:30 new\n\n  more\n"),
        ("- 09:00 old\r\n- 09:01 older", "\r\n- 14:30 new\r\n\r\n  more\r\n"),
        ("- 09:00 old\n\n```sh\nopen fence\n", "- 14:30 new\n\n  more\n"),
        ("\ufeff# 2026-11-29\n\n- 09:00 old\n", "- 14:30 new\n\n  more\n"),
        ("", HEADING + "- 14:30 new\n\n  more\n"),
        ("free text\n\n\n", "- 14:30 new\n\n  more\n"),
        ("- 09:00 bytes \udcff\udc80\n", "- 14:30 new\n\n  more\n"),
        ("- 09:00 nul \0 inside\n", "- 14:30 new\n\n  more\n"),
        ("- 09:00 u2028 \u2028 and \x85 cr \r.\n", "- 14:30 new\n\n  more\n"),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_every_byte_that_was_there_stays(vault: Vault, before: str, after: str, large: bool) -> None:
    write(vault, DAY, before)
    text = "new\n\nmore" + (" and more" * 200 if large else "")
    done = vault.add(text)
    assert log(vault) == before + after.replace("more", text[5:])
    assert committed(vault) == log(vault)
    assert status(vault) == ""
    assert again(vault).get(done.address or "").text == text
    expected = ["add", "init"] if before == "" else ["add", "save", "init"]
    assert ops(vault) == expected
    if before:
        saved = subprocess.run(["git", "show", f"HEAD~1:{DAY}"], cwd=vault.root, capture_output=True, check=True)
        assert saved.stdout.decode("utf-8", "surrogateescape") in (before, before + "\n", before + "\r\n")


def test_a_file_of_zeros_after_a_power_failure_is_cut(vault: Vault) -> None:
    vault.add("whole")
    write(vault, DAY, log(vault) + "- 14:3" + "\0" * 5000)
    done = again(vault).add("next")
    assert done.address == "daily/2026-11-29#14:30:05"
    assert body(vault) == "- 14:30 whole\n- 14:30:05 next\n" or "- 14:3\n" in body(vault)
    [copy] = (vault.place.state / "torn").iterdir()
    assert copy.read_bytes() == b"- 14:3" + b"\0" * 5000
    assert any(str(copy) in notice for notice in done.notices)


def test_a_utf16_log_is_left_alone_and_the_text_waits(vault: Vault) -> None:
    data = "- 09:00 wide\n".encode("utf-16")
    write(vault, DAY, data)
    done = vault.add("narrow")
    assert done.pending
    assert (vault.root / DAY).read_bytes() == data
    assert any("UTF-16" in notice for notice in done.notices)
    write(vault, DAY, "- 09:00 wide\n")
    again(vault).status()
    assert body(vault) == "- 09:00 wide\n- 14:30 narrow\n"


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "dangling", "socket"])
def test_a_log_that_is_no_regular_file_is_refused_at_once(vault: Vault, kind: str, tmp_path: Path) -> None:
    place = vault.root / DAY
    place.parent.mkdir(parents=True, exist_ok=True)
    elsewhere = tmp_path / "elsewhere"
    if kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "socket":
        import socket

        # A socket's own path may be no longer than a hundred bytes.
        code = "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
        subprocess.run(["python3", "-c", code, place.name], cwd=place.parent, check=True)
        assert socket
    else:
        if kind == "link":
            elsewhere.write_text("theirs\n")
        place.symlink_to(elsewhere)
    with pytest.raises(StorageFailed):
        vault.add("nothing")
    assert again(vault).status().pending == 0
    if kind == "link":
        assert elsewhere.read_text() == "theirs\n"


def test_a_linked_folder_on_the_way_is_refused(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (vault.root / "memory/daily").symlink_to(tmp_path / "outside")
    with pytest.raises(StorageFailed):
        vault.add("nothing")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_log_right_under_memory_is_used_where_it_is(vault: Vault) -> None:
    write(vault, "memory/2026-11-29.md", "- 09:00 flat\n")
    done = vault.add("new")
    assert done.address == "2026-11-29#14:30"
    assert log(vault, "memory/2026-11-29.md") == "- 09:00 flat\n- 14:30 new\n"
    assert not (vault.root / DAY).exists()


def test_modes_are_private_and_kept(vault: Vault) -> None:
    vault.add("one")
    assert stat.S_IMODE((vault.root / DAY).stat().st_mode) == 0o600
    (vault.root / DAY).chmod(0o640)
    vault.add("large " * 400)
    assert stat.S_IMODE((vault.root / DAY).stat().st_mode) == 0o640
    for place in vault.place.state.rglob("[!m]*"):  # a version that was replaced keeps its own mode for 5 s
        assert stat.S_IMODE(place.stat().st_mode) == (0o700 if place.is_dir() else 0o600)


# -- hand edits met on the way


def test_hand_edits_become_the_persons_commit_first(vault: Vault) -> None:
    vault.add("ours")
    write(vault, DAY, log(vault).replace("ours", "ours, corrected") + "\nA thought of mine.\n")
    vault.add("next")
    assert ops(vault) == ["add", "save", "add", "init"]
    assert body(vault) == "- 14:30 ours, corrected\n\nA thought of mine.\n- 14:30:05 next\n"
    [last, save] = vault.log(k=2)
    assert [(edit.kind, edit.after) for edit in last.edits] == [("added", "next")]
    assert [(edit.kind, edit.after) for edit in save.edits] == [
        ("changed", "ours, corrected\n\nA thought of mine."),
    ]
    assert (last.actor, save.actor) == ("person", "person")
    assert status(vault) == ""


def test_other_files_edited_by_hand_are_not_taken_along(vault: Vault) -> None:
    write(vault, "memory/plan.md", "# Plan\n")
    vault.add("note")
    assert status(vault) == "?? memory/plan.md"


def test_a_missing_final_newline_is_nobodys_edit(vault: Vault) -> None:
    vault.add("one")
    write(vault, DAY, log(vault).removesuffix("\n"))
    git(vault, "commit", "-qam", "Strip")
    vault.add("two")
    assert body(vault) == "- 14:30 one\n- 14:30:05 two\n"
    assert ops(vault) == ["add", "", "add", "init"]


def test_a_text_that_begins_another_is_not_taken_for_it(vault: Vault) -> None:
    vault.add_batch(
        [NewEntry("a", at=WHEN), NewEntry("b", at=WHEN), NewEntry("a\n\nb", at=WHEN), NewEntry("a", at=WHEN)]
    )
    write(vault, DAY, log(vault).replace("- 14:30 a\n", "- 14:30 hand\n"))
    vault.add_batch([NewEntry("a\n\nb\n\nc", at=WHEN), NewEntry("a", at=WHEN), NewEntry("- 14:30:00 a", at=WHEN)])
    assert ops(vault) == ["add", "save", "add", "init"]
    [added, save] = vault.log(k=2)
    assert [edit.after for edit in added.edits] == ["a\n\nb\n\nc", "a", "- 14:30:00 a"]
    assert [(edit.kind, edit.after) for edit in save.edits] == [("changed", "hand")]


def test_entries_of_other_processes_are_never_taken_for_a_persons(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that comes into the log while another one is being committed is committed as what it is."""
    other, slipped = again(vault), []
    real = Commits._read

    def read_late(self: Commits, path: str) -> fsio.Snapshot | None:
        if not slipped:
            slipped.append(path)
            with other.parts.delivery.writing(500), monkeypatch.context() as patch:
                patch.setattr(other.parts.journal, "mark_all", lambda marks, durable=False: None)
                other.parts.journal.append(intake.record(other.place, NewEntry("slipped in"), "group"))
                other.parts.delivery.deliver()
        return real(self, path)

    with monkeypatch.context() as patch:
        patch.setattr(Commits, "_read", read_late)
        vault.add("first")
    again(vault).add("third")
    assert body(vault).count("\n") == 3
    assert "save" not in ops(vault)
    assert sorted(edit.after or "" for change in vault.log(k=2) for edit in change.edits) == [
        "first",
        "slipped in",
        "third",
    ]
    assert status(vault) == ""


# -- who and why


def test_the_source_is_the_actor(vault: Vault) -> None:
    vault.add("by cron", source="cron")
    vault.add("by me")
    assert [change.actor for change in vault.log(k=2)] == ["person", "cron"]
    vault.add_batch([NewEntry("a"), NewEntry("b", source="cron"), NewEntry("c", source="x\nMdmem-Op: nightly")])
    assert vault.log(k=1)[0].actor == "person, cron, x Mdmem-Op: nightly"
    assert ops(vault)[0] == "add"


HOSTILE = [
    "Mdmem-Undoes: 1234\nMdmem-Op: nightly",
    "x\n\nMdmem-Undoes: 1234\n\nMdmem-Op: nightly\n",
    "x\r\rMdmem-Undoes: 1234",
    "\x1b]52;c;aGk=\x07 esc",
    "-m --amend",
    "long " * 100_000,
    "ü" * 500,
    "x\x85\u2028Mdmem-Op: nightly",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_forges_a_message(vault: Vault, text: str) -> None:
    vault.add(text, source=text[:100])
    raw = git(vault, "log", "-1", "--format=%B")
    first, blank, *_ = [*raw.split("\n"), ""]
    assert len(first) <= 72
    assert blank == ""
    assert not any(char < " " and char != "\n" for char in raw)
    trailers = git(vault, "interpret-trailers", "--parse", data=raw.encode()).split("\n")
    assert [line.partition(":")[0] for line in trailers] == ["Mdmem-Op", "Mdmem-Source"]
    assert trailers[0] == "Mdmem-Op: add"
    assert len(raw) < 5000


def test_an_add_starts_few_processes(vault: Vault, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    code = "import sys; from mdmem import Vault; Vault.open(sys.argv[1]).add('counted')"
    words = ["-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", str(trace)]
    environment = {**os.environ, "PYTHONPATH": str(CODE)}
    for _ in range(2):  # the second finds the log of its day there
        command = [shutil.which("strace") or "", *words, sys.executable, "-c", code, str(vault.root)]
        if not command[0] or subprocess.run(command, env=environment, check=False).returncode:
            pytest.skip("strace is missing, or may not trace")
    ran = [line for line in trace.read_text().split("\n") if "core.hooksPath" in line and line.endswith("= 0")]
    assert len(ran) <= 12


def test_what_another_process_placed_and_never_marked_is_not_placed_again(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = again(vault), again(vault)
    record = intake.record(mine.place, NewEntry("Once is enough"), "group")
    mine.parts.journal.append(record)
    with monkeypatch.context() as killed, other.parts.delivery.writing(500):
        killed.setattr(Journal, "mark_all", lambda *_, **__: None)
        other.parts.delivery.deliver()
    assert body(vault).count("Once is enough") == 1
    with mine.parts.delivery.writing(500):
        mine.parts.delivery.deliver(frozenset([record.id]))
    again(vault).commit()
    assert body(vault).count("Once is enough") == 1
    assert status(vault) == ""


def test_a_batch_that_is_just_being_kept_is_not_taken_for_a_torn_one(vault: Vault) -> None:
    items = [intake.record(vault.place, NewEntry(f"item {number}"), "group") for number in range(3)]
    records = intake.whole(items)
    vault.parts.journal.append(records[0])
    segment = next((vault.place.state / "journal").glob("*.log"))
    with segment.open("rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_SH)  # as whoever is writing the others does
        again(vault).status()
    assert [one.reason for one in again(vault).kept_texts()] != [TORN]
    vault.parts.journal.append(*records[1:])
    again(vault).status()
    assert [body(vault).count(f"item {number}") for number in range(3)] == [1, 1, 1]
