"""Closed years go into archives and come back, byte for byte; a log that somebody is at stays where it is."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from vault_sandbox import DAY, again, git, log, ops, status, subjects, write

from mdmem import Vault, doctor, fsio, nightly
from mdmem.errors import Busy, MdmemError, NotFound, Refused
from mdmem.store import archive
from mdmem.text import packs
from mdmem.vault import closed
from mdmem.vault.packing import Packed

if TYPE_CHECKING:
    from conftest import Clock

pytestmark = pytest.mark.usefixtures("clock")

YEAR = "memory/archives/daily/2025.md.zst"
FIRST, ODD = "memory/daily/2025-03-14.md", "memory/daily/2025-03-15-1430-odd one.md"
LOGS = {
    FIRST: b"# 2025-03-14\n\n- 14:30 Likes flat whites\n- 14:31 \xe5\x92\x96\xe5\x95\xa1\n",
    ODD: b"\xef\xbb\xbf---\r\ntitle: odd\r\n---\r\n- 09:00 one\r\n\r\n  \xff\xfe no newline at the end",
    "memory/2025-07-01.md": b"- 08:00 flat\n<!-- mdmem: file=daily/2025-03-14.md bytes=3 -->\nabc\n\n\n",
    "memory/daily/2025-12-30.md": b"",
    "memory/daily/2025-12-31.md": b"\n\n<!-- mdmem: logs=1 sha256=" + b"0" * 64 + b" -->\n",
}


@pytest.fixture
def kept(vault: Vault) -> Vault:
    """A vault with a year that is over, in history, and a log of this year."""
    for path, data in LOGS.items():
        write(vault, path, data)
    vault.commit()
    again(vault).add("of today")
    return again(vault)


def pack(vault: Vault, *, dry_run: bool = False) -> Packed:
    return again(vault).parts.packing.pack(dry_run=dry_run)


def held(vault: Vault, path: str = YEAR) -> dict[str, bytes]:
    return {one.path: one.data for one in packs.members(archive.expand((vault.root / path).read_bytes()))}


def standing(vault: Vault) -> dict[str, bytes]:
    """Give the logs that stand as files of their own."""
    return {path: (vault.root / path).read_bytes() for path in LOGS if (vault.root / path).exists()}


def left(done: Packed) -> dict[str, str]:
    return {one.path: one.why for one in done.left}


def test_there_and_back(kept: Vault) -> None:
    addresses = {entry.address: entry.text for entry in kept.list()}
    told = pack(kept, dry_run=True)
    assert (told.logs, told.size, told.changes) == (5, sum(map(len, LOGS.values())), ())
    assert standing(kept) == LOGS
    assert not (kept.root / YEAR).exists()

    done = pack(kept)
    assert (done.logs, done.size, done.packed, done.archives, done.left) == (5, told.size, told.packed, (YEAR,), ())
    assert [(one.actor, one.op, one.subject, one.edits) for one in done.changes] == [
        ("nightly", "nightly", "Pack 5 logs into archives/daily/2025", ())
    ]
    assert (standing(kept), held(kept)) == ({}, LOGS)
    assert (kept.root / DAY).exists()
    assert {entry.address: entry.text for entry in again(kept).list()} == addresses
    assert (ops(kept)[0], status(kept)) == ("nightly", "")
    assert again(kept).verify(sample=1.0).findings == ()
    assert pack(kept) == Packed()

    change = again(kept).parts.packing.unpack("2025")
    assert (change.actor, change.subject, change.edits) == ("person", "Unpack 5 logs", ())
    assert standing(kept) == LOGS
    assert not (kept.root / YEAR).exists()
    assert {entry.address: entry.text for entry in again(kept).list()} == addresses
    assert status(kept) == ""


def test_zstd_itself_gives_readable_markdown(kept: Vault) -> None:
    pack(kept)
    if not shutil.which("zstd"):
        pytest.skip("zstd is not installed")
    said = subprocess.run(["zstd", "-dc", str(kept.root / YEAR)], capture_output=True, check=True).stdout
    assert all(data in said for data in LOGS.values())
    assert b"\n<!-- mdmem: file=daily/2025-03-15-1430-odd%20one.md bytes=" in said


def test_undo_brings_the_logs_back(kept: Vault) -> None:
    pack(kept)
    again(kept).undo()
    assert standing(kept) == LOGS
    assert not (kept.root / YEAR).exists()
    pack(kept)
    again(kept).parts.packing.unpack("daily/2025-03-14")
    again(kept).undo()
    assert (standing(kept), held(kept)) == ({}, LOGS)


def test_an_earlier_change_of_a_packed_log_is_not_taken_back(kept: Vault) -> None:
    changed = kept.edit("daily/2025-03-14#14:30", "Likes long blacks")
    pack(kept)
    with pytest.raises(Refused, match="packed into an archive") as caught:
        again(kept).undo(changed.commit)
    assert "`mdmem unpack daily/2025-03-14`" in caught.value.hint
    again(kept).parts.packing.unpack("2025-03-14")
    again(kept).undo(changed.commit)
    assert (kept.root / FIRST).read_bytes() == LOGS[FIRST]
    pack(kept)
    assert [one.subject for one in again(kept).log(path="daily/2025-03-14#14:30")] == [
        "Undo: Edit daily/2025-03-14#14:30: Likes long blacks",
        "Edit daily/2025-03-14#14:30: Likes long blacks",
        "Save 5 files as edited by hand",
    ]


def test_a_day_taken_out_is_changed_and_packed_again(kept: Vault) -> None:
    pack(kept)
    again(kept).parts.packing.unpack("daily/2025-03-14#14:30")
    assert standing(kept) == {FIRST: LOGS[FIRST]}
    assert FIRST not in held(kept)
    again(kept).edit("daily/2025-03-14#14:30", "Likes long blacks")
    pack(kept)
    assert held(kept) == LOGS | {FIRST: LOGS[FIRST].replace(b"flat whites", b"long blacks")}
    assert again(kept).get("daily/2025-03-14#14:30").text == "Likes long blacks"


def test_a_late_entry_has_an_address_of_its_own(kept: Vault) -> None:
    pack(kept)
    late = again(kept).add("Remembered later", at=datetime.fromisoformat("2025-03-14T14:30:20+01:00"))
    assert late.address == "daily/2025-03-14#14:30:20"
    assert (kept.root / FIRST).read_bytes() == b"# 2025-03-14\n\n- 14:30:20 Remembered later\n"
    for packed in (False, True):
        vault = again(kept)
        assert vault.get("daily/2025-03-14#14:30").text == "Likes flat whites"
        assert vault.get("daily/2025-03-14#14:30:20").text == "Remembered later"
        assert [hit.entry.address for hit in vault.search("remembered").hits] == [late.address]
        assert [hit.entry.address for hit in vault.search("whites").hits] == ["daily/2025-03-14#14:30"]
        if not packed:
            [change] = pack(kept).changes
            assert (change.subject, change.edits) == ("Pack daily/2025-03-14 into archives/daily/2025", ())
    assert not (kept.root / FIRST).exists()
    assert len(held(kept)) == 5
    assert held(kept)[FIRST].count(b"- 14:3") == 3


def test_of_twins_the_plain_one_wins_and_a_hash_tells_them_apart(kept: Vault) -> None:
    pack(kept)
    packed = again(kept).get("daily/2025-03-14#14:30")
    write(kept, FIRST, "- 14:30 By hand\n- 16:00 More\n")
    vault = again(kept)
    assert vault.get("daily/2025-03-14#14:30").text == "By hand"
    pinned = f"daily/2025-03-14#14:30@{hashlib.sha256(packed.text.encode()).hexdigest()[:6]}"
    assert vault.get(pinned).text == "Likes flat whites"
    assert vault.get("daily/2025-03-14#14:31").path == YEAR
    assert len(vault.search("whites").hits) == 1
    vault.commit()
    pack(kept)
    texts = {address: again(kept).get(f"daily/2025-03-14#{address}").text for address in ("14:30", "14:30.2", "16:00")}
    assert sorted(texts.values()) == ["By hand", "Likes flat whites", "More"]


def test_a_copy_that_an_editor_saves_again_goes_back_into_the_archive(kept: Vault) -> None:
    pack(kept)
    before = (kept.root / YEAR).read_bytes()
    write(kept, FIRST, LOGS[FIRST])
    assert len(again(kept).search("whites").hits) in (1, 2)
    again(kept).commit()
    pack(kept)
    assert ((kept.root / YEAR).read_bytes(), standing(kept)) == (before, {})
    write(kept, FIRST, LOGS[FIRST] + b"- 15:00 and more\n")
    again(kept).commit()
    pack(kept)
    assert held(kept)[FIRST] == LOGS[FIRST] + b"- 15:00 and more\n"


def _edited(vault: Vault) -> None:
    write(vault, FIRST, LOGS[FIRST] + b"- 20:00 by hand\n")


def _open_in_vim(vault: Vault) -> None:
    write(vault, "memory/daily/.2025-03-14.md.swp", b"b0VIM")


def _open_in_emacs(vault: Vault) -> None:
    (vault.root / "memory/daily/.#2025-03-14.md").symlink_to("ada@host.1:1")


def _untracked(vault: Vault) -> None:
    git(vault, "rm", "-q", "--cached", FIRST)
    git(vault, "commit", "-qm", "Untracked")


def _linked(vault: Vault) -> None:
    os.link(vault.root / FIRST, vault.root / "elsewhere.md")


def _with_markers(vault: Vault) -> None:
    write(vault, FIRST, b"- 14:30 a\n<<<<<<< HEAD\n- 14:31 b\n=======\n- 14:31 c\n>>>>>>> other\n")
    git(vault, "commit", "-qam", "A merge gone wrong")


@pytest.mark.parametrize(
    ("at_it", "why"),
    [
        (_edited, "not in history"),
        (_untracked, "not in history"),
        (_open_in_vim, "open in an editor"),
        (_open_in_emacs, "open in an editor"),
        (_linked, "hard link"),
        (_with_markers, "both versions"),
    ],
)
def test_a_log_that_somebody_is_at_stays(kept: Vault, at_it: object, why: str) -> None:
    at_it(kept)  # type: ignore[operator]
    now = (kept.root / FIRST).read_bytes()
    done = pack(kept)
    assert why in left(done)[FIRST]
    assert (list(left(done)), done.logs) == ([FIRST], 4)
    assert standing(kept) == {FIRST: now}
    assert held(kept) == {path: data for path, data in LOGS.items() if path != FIRST}


def test_a_log_of_which_a_text_is_held_stays(kept: Vault) -> None:
    kept.remove("daily/2025-03-14#14:31")
    again(kept).undo()
    write(kept, FIRST, LOGS[FIRST].replace(b"- 14:30 Likes flat whites\n", b""))
    again(kept).commit()
    assert again(kept).held()
    done = pack(kept)
    assert "mdmem recover" in left(done)[FIRST]
    again(kept).recover_all([one.id for one in again(kept).held()])
    assert pack(kept).logs == 1


def test_one_that_another_program_writes_stays(kept: Vault) -> None:
    words = [sys.executable, "-c", "import sys; file = open(sys.argv[1], 'r+b'); print('at it', flush=True); input()"]
    with subprocess.Popen([*words, kept.root / FIRST], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline()
        os.utime(kept.root / FIRST)
        assert "another program" in left(pack(kept))[FIRST]
        other.communicate(b"\n")
    assert pack(kept).logs == 1


def test_one_that_is_edited_meanwhile_stays(kept: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    real = archive.compress
    saved = LOGS[FIRST] + b"- 20:00 saved while the others were being packed\n"

    def compress(data: bytes) -> bytes:
        (kept.root / FIRST).write_bytes(saved)
        return real(data)

    monkeypatch.setattr(archive, "compress", compress)
    done = pack(kept)
    assert done.logs == 4
    assert "not in history" in left(done)[FIRST]
    assert standing(kept) == {FIRST: saved}
    assert FIRST not in held(kept)


def test_one_that_is_saved_all_the_time_keeps_no_other_from_going(kept: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    real, count = archive.compress, iter(range(100))

    def compress(data: bytes) -> bytes:
        if (kept.root / FIRST).exists():
            write(kept, FIRST, LOGS[FIRST] + f"- 20:00 saved for the {next(count)}. time\n".encode())
            git(kept, "commit", "-qam", "by another program")
        return real(data)

    monkeypatch.setattr(archive, "compress", compress)
    done = pack(kept)
    assert (done.logs, left(done)) == (4, {FIRST: "it is being saved"}) and list(standing(kept)) == [FIRST]


def test_many_that_stay_are_told_in_one_line(kept: Vault) -> None:
    for number in range(10, 30):
        write(kept, f"memory/daily/2025-05-{number}.md", b"- 10:00 Not in history\n")
    [outcome] = nightly.run(again(kept), steps=["pack"], dry_run=True).outcomes
    [one] = outcome.findings
    assert one.message.startswith("20 logs of 2025 are not packed: it is not in history")


def test_what_replacements_left_is_cleared_by_the_next_night(kept: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(kept)
    tmp = kept.place.state / "tmp"
    assert len(list(tmp.glob("*.swap"))) == 5
    monkeypatch.setattr(fsio.leftovers, "LATE_WRITERS", 0.0)
    nightly.run(again(kept), steps=["pack"])
    assert not list(tmp.glob("*.swap"))


@pytest.mark.parametrize("address", ["2025", "2025-03-14", "daily/2025-03-14", "2025-03"])
def test_what_an_archive_under_another_name_holds_is_taken_out(kept: Vault, address: str) -> None:
    pack(kept)
    (kept.root / YEAR).rename(kept.root / "memory/archives/once.md.zst")
    again(kept).commit()
    again(kept).parts.packing.unpack(address)
    assert (kept.root / FIRST).read_bytes() == LOGS[FIRST]


def test_two_clones_that_packed_a_year_come_together_by_what_the_doctor_says(kept: Vault, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(kept.root), "clone")
    clone = Vault.open(tmp_path / "clone")
    for number, vault in enumerate((kept, clone)):
        write(vault, FIRST, LOGS[FIRST] + f"- 2{number}:00 Late in clone {number}\n".encode())
        write(vault, f"memory/daily/2025-04-0{number + 1}.md", f"- 10:00 Only in clone {number}\n".encode())
        again(vault).commit()
        assert pack(vault).logs == 6
    pulled = ["git", "-C", str(kept.root), "pull", "-q", "--no-edit", "--no-rebase", str(clone.root), "main"]
    assert subprocess.run(pulled, capture_output=True, check=False).returncode
    [found] = [one for one in doctor.examine(again(kept).place) if one.kind == "conflict"]
    *commands, last = found.hint.split("`")[1::2]
    assert last == "mdmem unpack 2025"
    for command in commands:
        said = command.replace("git commit", "git commit -q --no-edit")
        subprocess.run(said, shell=True, cwd=kept.root, check=True)
    again(kept).parts.packing.unpack("2025")
    first = (kept.root / FIRST).read_text()
    assert "Late in clone 0" in first and "Late in clone 1" in first
    assert {"daily/2025-04-01#10:00", "daily/2025-04-02#10:00"} <= {entry.address for entry in again(kept).list()}
    assert not list((kept.root / "memory/archives/daily").iterdir()) and status(kept) == ""
    assert pack(kept).logs == 7


def test_one_that_is_edited_at_the_last_moment_keeps_all_in_place(kept: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fsio.remove
    saved = LOGS[FIRST] + b"- 20:00 saved just before it went\n"

    def remove(path: str, **options: object) -> None:
        if path == FIRST:
            (kept.root / FIRST).write_bytes(saved)
        real(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(fsio, "remove", remove)
    done = pack(kept)
    assert done.logs == 4
    assert standing(kept) == {FIRST: saved}
    assert FIRST not in held(kept)
    monkeypatch.undo()
    again(kept).commit()
    assert held(kept).keys() | standing(kept).keys() == LOGS.keys()


def test_what_is_not_read_back_as_it_was_written_moves_nothing(kept: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "compress", lambda data: _compressed(data.replace(b"flat", b"FLAT")))
    with pytest.raises(MdmemError, match="read back"):
        pack(kept)
    monkeypatch.undo()
    assert standing(kept) == LOGS
    again(kept).status()
    assert not (kept.root / YEAR).exists()
    assert status(kept) == ""
    assert pack(kept).logs == 5


_compressed = archive.compress


def test_an_archive_that_cannot_be_added_to_keeps_its_logs_beside_it(kept: Vault) -> None:
    pack(kept)
    whole = (kept.root / YEAR).read_bytes()
    again(kept).add("late", at=datetime.fromisoformat("2025-06-01T12:00:00+02:00"))
    changed = archive.compress(packs.pack(LOGS).replace(b"flat", b"FLAT"))
    for data, why in ((whole[:-3], "not in history"), (changed, "not as it was packed"), (whole[:-3], "cut short")):
        write(kept, YEAR, data)
        if why != "not in history":
            git(kept, "commit", "-qam", "x")
        assert why in left(pack(kept))["memory/daily/2025-06-01.md"]
        assert (kept.root / YEAR).read_bytes() == data
    write(kept, YEAR, whole)
    git(kept, "commit", "-qam", "x")
    write(kept, ".gitignore", "*.zst\n")
    git(kept, "rm", "-q", "--cached", YEAR)
    git(kept, "commit", "-qam", "x")
    assert pack(kept).logs == 0
    write(kept, ".gitignore", "")
    git(kept, "add", "-f", YEAR)
    git(kept, "commit", "-qm", "x")
    assert pack(kept).logs == 1
    assert len(held(kept)) == 6


def test_nothing_is_packed_while_git_is_at_work(kept: Vault) -> None:
    git(kept, "checkout", "-q", "--detach")
    with pytest.raises(Busy):
        pack(kept)
    git(kept, "checkout", "-q", "main")
    (kept.root / ".git/MERGE_HEAD").write_text(git(kept, "rev-parse", "HEAD"))
    with pytest.raises(Busy):
        pack(kept)
    assert standing(kept) == LOGS


def test_a_large_year_is_packed_by_months(kept: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(kept)
    monkeypatch.setattr(closed, "LARGE", 1000)
    write(kept, "memory/daily/2025-06-01.md", b"- 09:00 " + os.urandom(600).hex().encode() + b"\n")
    again(kept).commit()
    [change] = pack(kept).changes
    assert change.subject == "Pack daily/2025-06-01 into 4 archives"
    months = sorted(path.name for path in (kept.root / "memory/archives/daily").iterdir())
    assert months == [f"2025-{month}.md.zst" for month in ("03", "06", "07", "12")]
    assert again(kept).get("daily/2025-03-14#14:30").text == "Likes flat whites"
    assert again(kept).get("daily/2025-06-01#09:00")
    monkeypatch.undo()
    late = again(kept).add("late", at=datetime.fromisoformat("2025-06-02T12:00:00+02:00"))
    assert pack(kept).archives == tuple(f"memory/archives/daily/{name}" for name in months)
    assert again(kept).get(late.address or "").text == "late"
    again(kept).parts.packing.unpack("2025-06")
    assert sorted(path.name for path in (kept.root / "memory/daily").glob("2025-*")) == [
        "2025-06-01.md",
        "2025-06-02.md",
    ]
    again(kept).parts.packing.unpack("2025")
    assert standing(kept) == LOGS


def test_years_are_closed_by_the_clock_of_the_user(kept: Vault, clock: Clock) -> None:
    clock.set("2025-12-31T23:59:59+01:00")
    assert pack(kept) == Packed()
    clock.set("2026-01-01T00:00:01+01:00")
    assert pack(kept).logs == 5
    clock.set("2027-01-01T03:00:00+01:00")
    [change] = pack(kept).changes
    assert change.subject == "Pack daily/2026-11-29 into archives/daily/2026"
    assert again(kept).get("daily/2026-11-29#14:30").text == "of today"


def test_other_files_are_not_packed(vault: Vault) -> None:
    for name in ("archives/2025-03-14", "trips/2025-03-14", "daily/notes", "2025"):
        write(vault, f"memory/{name}.md", "- 14:30 x\n")
    vault.commit()
    assert pack(vault) == Packed()


def test_the_same_logs_give_the_same_archive(kept: Vault, tmp_path: Path) -> None:
    """Two clones that pack a year each have nothing to merge."""
    other = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(kept.root), str(other))
    pack(kept)
    pack(Vault.open(other))
    assert (kept.root / YEAR).read_bytes() == (other / YEAR).read_bytes()


# Taking out


def test_a_compressed_document_is_taken_out(vault: Vault) -> None:
    write(vault, "memory/archives/plan.md.zst", archive.compress(b"# Plan\r\n"))
    vault.commit()
    assert again(vault).parts.packing.unpack("archives/plan").subject == "Unpack archives/plan"
    assert log(vault, "memory/archives/plan.md") == "# Plan\r\n"
    assert not (vault.root / "memory/archives/plan.md.zst").exists()
    again(vault).edit("archives/plan", "# Other")


def test_what_stands_there_is_not_written_over(kept: Vault) -> None:
    pack(kept)
    write(kept, FIRST, "Not an entry.\n\n- 14:30 By hand\n")
    again(kept).parts.packing.unpack("daily/2025-03-14")
    both = log(kept, FIRST)
    assert all(text in both for text in ("Not an entry.", "- 14:30 By hand", "- 14:30 Likes flat whites", "咖啡"))
    write(kept, "memory/archives/plan.md.zst", archive.compress(b"# Plan\n"))
    write(kept, "memory/archives/plan.md", "# Another plan\n")
    with pytest.raises(Refused, match="another version"):
        again(kept).parts.packing.unpack("archives/plan")
    assert log(kept, "memory/archives/plan.md") == "# Another plan\n"


@pytest.mark.parametrize("address", ["2024", "daily/2025-03-16", "archives/plan", "MEMORY", "2025-13"])
def test_what_no_archive_holds_is_not_found(kept: Vault, address: str) -> None:
    pack(kept)
    with pytest.raises(NotFound, match="no archive holds"):
        again(kept).parts.packing.unpack(address)


def test_a_pack_that_was_changed_by_hand_gives_what_there_is(kept: Vault) -> None:
    pack(kept)
    write(kept, YEAR, archive.compress(packs.pack(LOGS).replace(b"flat whites", b"long blacks, by hand")))
    again(kept).parts.packing.unpack("2025")
    assert standing(kept) == LOGS | {FIRST: LOGS[FIRST].replace(b"flat whites", b"long blacks, by hand")}
    assert subjects(kept)[:2] == ["Unpack 5 logs", "Save archives/daily/2025.md.zst as edited by hand"]
