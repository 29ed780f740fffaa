"""Compressed documents are memory like any other: found, shown, told of by history; a damaged one is named."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from vault_sandbox import again, committed, git, log, subjects, write

from mdmem import Vault, doctor, nightly
from mdmem.errors import MdmemError, NotFound, Refused, StorageFailed
from mdmem.store import archive
from mdmem.text import packs

pytestmark = pytest.mark.usefixtures("clock")

PLAN = "---\ntitle: The zebra plan\ntags: [animals]\n---\n# Zebras\n\nStripes against flies, 斑马条纹 #africa\n"
HOME = "memory/archives/plan.md.zst"
YEAR = "memory/archives/daily/2025.md.zst"
LOGS = {
    "memory/daily/2025-03-14.md": "# 2025-03-14\n\n- 14:30 Likes flat whites #coffee\n- 14:31 喜欢咖啡\n".encode(),
    "memory/daily/2025-12-31.md": b"# 2025-12-31\n\nA calm day.\n\n- 23:59 Last of the year <!-- mdmem: id=last -->\n",
}


def put(vault: Vault, path: str, data: bytes) -> Path:
    return write(vault, path, archive.compress(data))


@pytest.fixture
def packed(vault: Vault) -> Vault:
    """A vault with a year and a document that are compressed, all in history."""
    put(vault, YEAR, packs.pack(LOGS))
    put(vault, HOME, PLAN.encode())
    vault.commit()
    return again(vault)


def test_they_are_found_listed_and_counted(packed: Vault) -> None:
    assert [hit.entry.address for hit in packed.search("flat whites").hits] == ["daily/2025-03-14#14:30"]
    assert [hit.entry.address for hit in packed.search("咖啡").hits] == ["daily/2025-03-14#14:31"]
    [hit] = packed.search("flies stripes").hits
    assert (hit.entry.address, hit.entry.path, hit.entry.title) == ("archives/plan", HOME, "The zebra plan")
    assert {entry.address for entry in packed.list()} >= {"archives/plan", "daily/2025-12-31#23:59", "daily/2025-12-31"}
    assert dict(packed.tags()) == {"coffee": 1, "animals": 1, "africa": 1}
    status = packed.status()
    assert (status.entries, status.stale, status.uncommitted, status.pending) == (3, 0, 0, 0)
    assert packed.verify(sample=1.0).findings == ()
    assert packed.commit() == []


@pytest.mark.parametrize(
    ("address", "path", "lines", "begins"),
    [
        ("daily/2025-03-14#14:30", YEAR, (5, 5), "Likes flat whites"),
        ("2025-03-14#14:31", YEAR, (6, 6), "喜欢咖啡"),
        ("memory/daily/2025-03-14.md#14:30", YEAR, (5, 5), "Likes flat whites"),
        ("daily/2025-03-14", YEAR, (3, 6), "# 2025-03-14\n\n- 14:30"),
        ("last", YEAR, (13, 13), "Last of the year"),
        ("archives/daily/2025", YEAR, (1, 14), "<!-- mdmem: logs=2 "),
        ("archives/plan", HOME, (1, 7), "# Zebras"),
        ("memory/archives/plan.md.zst", HOME, (1, 7), "# Zebras"),
    ],
)
def test_they_are_shown(packed: Vault, address: str, path: str, lines: tuple[int, int], begins: str) -> None:
    entry = packed.get(address)
    assert (entry.path, entry.lines) == (path, lines)
    assert entry.text.startswith(begins)
    data = archive.expand((packed.root / path).read_bytes()).decode().split("\n")
    assert entry.text.split("\n")[0] in "\n".join(data[entry.lines[0] - 1 : entry.lines[1]])


@pytest.mark.parametrize(
    ("within", "found"),
    [
        ("daily", {"daily/2025-03-14#14:30", "daily/2025-03-14#14:31", "daily/2025-12-31#23:59", "daily/2025-12-31"}),
        ("daily/2025-03", {"daily/2025-03-14#14:30", "daily/2025-03-14#14:31"}),
        ("daily/2025-03-14", {"daily/2025-03-14#14:30", "daily/2025-03-14#14:31"}),
        ("daily/2025-12-31.md", {"daily/2025-12-31#23:59", "daily/2025-12-31"}),
        ("daily/2024", set()),
        ("archives/plan", {"archives/plan"}),
    ],
)
def test_they_are_in_the_folder_of_their_address(packed: Vault, within: str, found: set[str]) -> None:
    assert {entry.address for entry in packed.list(within=within)} == found


def test_history_tells_texts_and_no_bytes(packed: Vault) -> None:
    [saved] = packed.log(k=1)
    assert {(edit.kind, edit.address) for edit in saved.edits} == {
        ("added", "archives/plan"),
        *(("added", f"daily/2025-{rest}") for rest in ("03-14#14:30", "03-14#14:31", "12-31#23:59", "12-31")),
    }
    put(packed, HOME, PLAN.replace("flies", "bites").encode())
    [edit] = again(packed).diff()
    assert edit.kind == "changed"
    assert edit.address == "archives/plan"
    assert "bites" in (edit.after or "") and "flies" in (edit.before or "")
    again(packed).commit()
    assert [one.subject for one in again(packed).log(path="archives/plan")] == [
        "Save archives/plan.md.zst as edited by hand",
        "Save 2 files as edited by hand",
    ]
    [one] = again(packed).log(path="daily/2025-03-14#14:31")
    assert [edit.address for edit in one.edits] == ["daily/2025-03-14#14:31"]
    again(packed).undo()
    assert archive.expand((packed.root / HOME).read_bytes()) == PLAN.encode()


def test_what_a_person_compresses_is_no_loss(vault: Vault) -> None:
    write(vault, "memory/archives/plan.md", PLAN)
    vault.commit()
    (vault.root / "memory/archives/plan.md").unlink()
    put(vault, HOME, PLAN.encode())
    assert again(vault).diff() == []
    assert again(vault).held() == []
    again(vault).commit()
    assert subjects(vault)[0] == "Rename archives/plan to archives/plan.md.zst"
    assert again(vault).held() == []
    assert again(vault).get("archives/plan").path == HOME


def test_an_archive_that_a_person_deletes_is_listed_and_comes_back(packed: Vault) -> None:
    before = (packed.root / YEAR).read_bytes()
    (packed.root / YEAR).unlink()
    again(packed).commit()
    [one] = again(packed).held()
    assert (one.address, one.text.partition(":")[0]) == ("archives/daily/2025", "3 entries")
    again(packed).recover(one.id)
    assert (packed.root / YEAR).read_bytes() == before
    assert again(packed).held() == []


def test_they_are_not_changed_in_place(packed: Vault) -> None:
    for change in (
        lambda vault: vault.edit("daily/2025-03-14#14:30", "other"),
        lambda vault: vault.edit("archives/plan", "other"),
        lambda vault: vault.set_field("archives/plan", "title", "other"),
        lambda vault: vault.set_field("last", "id", "other"),
        lambda vault: vault.remove("daily/2025-03-14#14:30"),
        lambda vault: vault.remove("daily/2025-03-14"),
        lambda vault: vault.remove("archives/plan"),
    ):
        with pytest.raises(Refused, match="is in the archive") as caught:
            change(again(packed))
        assert caught.value.exit_code == 12
        assert "mdmem unpack " in caught.value.hint
    assert git(packed, "status", "--porcelain") == ""


def test_the_plain_document_wins_and_the_pair_is_named(packed: Vault) -> None:
    write(packed, "memory/archives/plan.md", "# Lions\n")
    vault = again(packed)
    assert vault.get("archives/plan").text == "# Lions\n"
    assert vault.search("zebra stripes").hits == ()
    found = [(one.path, one.message) for one in doctor.examine(vault.place) if one.kind == "passed-over"]
    assert found == [(HOME, "is not read: the same document stands beside it, uncompressed")]
    assert not [one for one in doctor.examine(vault.place) if one.kind == "duplicate-id"]
    (packed.root / "memory/archives/plan.md").unlink()
    assert [hit.entry.address for hit in again(packed).search("zebra stripes").hits] == ["archives/plan"]


def test_a_pack_that_a_person_expands_keeps_its_addresses(packed: Vault) -> None:
    write(packed, YEAR.removesuffix(".zst"), packs.pack(LOGS))
    for _ in range(2):
        vault = again(packed)
        assert vault.get("daily/2025-03-14#14:30").path == YEAR.removesuffix(".zst")
        assert [hit.entry.address for hit in vault.search("flat whites").hits] == ["daily/2025-03-14#14:30"]
        with pytest.raises(Refused, match="is in the archive"):
            vault.remove("daily/2025-03-14#14:30")
        (packed.root / YEAR).unlink(missing_ok=True)


def test_an_archive_under_another_name_keeps_its_addresses(packed: Vault) -> None:
    (packed.root / YEAR).rename(packed.root / "memory/archives/once.md.zst")
    assert again(packed).get("daily/2025-03-14#14:30").text.startswith("Likes flat whites")
    assert again(packed).diff() == []


def damage(data: bytes) -> dict[str, bytes]:
    return {
        "cut short": data[:-5],
        "is damaged": data[:40] + bytes([data[40] ^ 255]) + data[41:],
        "does not begin": b"PK" + data[2:],
        "goes on": data + b"more",
        "is empty": b"",
        "states a size": archive.MAGIC + b"\xc0\x68" + (2**40).to_bytes(8, "little") + data[8:],
    }


@pytest.mark.parametrize("said", damage(bytes(64)))
def test_a_damaged_one_is_named_and_hides_nothing_else(packed: Vault, said: str) -> None:
    whole = (packed.root / YEAR).read_bytes()
    write(packed, YEAR, damage(whole)[said])
    vault = again(packed)
    assert [hit.entry.address for hit in vault.search("zebra").hits] == ["archives/plan"]
    answer = vault.search("flat whites")
    [notice] = [one for one in answer.notices if "cannot be read" in one]
    assert answer.hits == () and notice.startswith("archives/daily/2025.md.zst cannot be read: the archive ")
    assert said in notice and notice.endswith("`mdmem doctor`")
    for fix in (False, True):
        [one] = vault.verify(fix=fix).findings
        assert (one.kind, one.path, one.healed) == ("unreadable", YEAR, False) and said in one.message
        assert f"git checkout HEAD -- {YEAR}" in one.hint
    report = nightly.run(again(packed), steps=["pack", "verify"])
    assert [one.state for one in report.outcomes] == ["failed", "failed"] and not report.is_complete
    assert all(YEAR in one.problem and said in one.problem and YEAR in one.hint for one in report.outcomes)
    assert [(one.path, "archive" in one.message) for one in vault.reindex().failures] == [(YEAR, True)]
    found = [one for one in doctor.examine(vault.place) if one.path == YEAR]
    assert any(one.kind == "unreadable" and said in one.message and one.hint for one in found)
    with pytest.raises(StorageFailed, match=rf"2025\.md\.zst: the archive .*{said}"):
        vault.get("archives/daily/2025")
    with pytest.raises(StorageFailed, match=rf"2025\.md\.zst: the archive .*{said}"):
        vault.get("daily/2025-03-14#14:30")
    with pytest.raises(NotFound):
        vault.get("daily/2024-03-14#14:30")
    assert vault.status().uncommitted == 1
    assert [edit.address for edit in vault.diff()]
    vault.add("goes on", at=datetime.fromisoformat("2025-03-14T14:30:00+01:00"))
    write(packed, "memory/archives/other.md", "# Plan\n\nEdited beside it.\n")
    vault.commit()
    assert committed(packed, "memory/archives/other.md").endswith("beside it.\n")
    assert any(f"{YEAR} is not committed: it cannot be read" in one and "git checkout" in one for one in vault.notices)
    git(packed, "checkout", "HEAD", "--", YEAR)
    assert (packed.root / YEAR).read_bytes() == whole
    assert again(packed).get("daily/2025-03-14#14:30")
    assert again(packed).verify(sample=1.0).findings == ()


def test_a_damaged_one_in_history_has_an_older_version_named(packed: Vault) -> None:
    whole = (packed.root / YEAR).read_bytes()
    write(packed, YEAR, whole[:-5])
    git(packed, "commit", "-qam", "damaged")
    [one] = again(packed).verify().findings
    command = one.hint.split("`")[1]
    assert command.startswith("git checkout ") and YEAR in command
    git(packed, *command.split()[1:])
    assert (packed.root / YEAR).read_bytes() == whole


def test_a_day_with_a_log_beside_the_archive_says_so(packed: Vault) -> None:
    vault = again(packed)
    vault.add("late", at=datetime.fromisoformat("2025-03-14T20:00:00+01:00"))
    entry = again(packed).get("daily/2025-03-14")
    assert "late" in entry.text and "flat whites" not in entry.text
    vault = again(packed)
    vault.get("2025-03-14")
    assert any(YEAR in one and "mdmem unpack daily/2025-03-14" in one for one in vault.notices)
    vault = again(packed)
    vault.get("daily/2025-03-14#20:00")
    assert not vault.notices


def test_what_holds_too_much_is_named(packed: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_INDEX_MAX_FILE_MB", "1")
    put(packed, "memory/archives/large.md.zst", b"# Large\n" + b"word " * 300_000)
    vault = again(packed)
    [failure] = vault.reindex().failures
    assert (failure.path, failure.message.startswith("holds more than 1 MB")) == ("memory/archives/large.md.zst", True)
    assert vault.search("zebra").hits
    assert [one.kind for one in vault.verify().findings] == []


def test_a_pack_that_was_changed_by_hand_is_read_and_named(packed: Vault) -> None:
    put(packed, YEAR, packs.pack(LOGS).replace(b"flat whites", b"long blacks and nothing else"))
    vault = again(packed)
    assert [hit.entry.address for hit in vault.search("long blacks").hits] == ["daily/2025-03-14#14:30"]
    assert [one.address for one in vault.diff()] == ["daily/2025-03-14#14:30"]
    assert [one.message for one in doctor.examine(vault.place) if one.kind == "archive"] == [
        "the logs in it were changed since they were packed"
    ]
    vault.commit()


def test_an_archive_is_no_note_of_an_editors(vault: Vault) -> None:
    put(vault, "memory/archives/~x.md.zst~", b"x")
    put(vault, "memory/archives/.plan.md.zst", b"x")
    assert again(vault).list(within="archives") == []


def test_an_archive_of_one_log_is_left_alone_while_it_is_watched(vault: Vault) -> None:
    """Its bytes are none of a log's, though its name is: a zero at its end is no trace of a power failure."""
    number, data = 0, b"x"
    while data[-1]:
        number += 1
        data = archive.compress(b"- 14:30 entry %d\n" % number)
    path = "memory/daily/2025-03-14.md.zst"
    write(vault, path, data)
    vault.add("one")
    watching = again(vault)
    watching.upkeep.observe(watching.upkeep.scan())
    watching.upkeep.save(watching.upkeep.scan())
    assert (vault.root / path).read_bytes() == data
    assert again(vault).get("daily/2025-03-14#14:30").text == f"entry {number}"
    again(vault).parts.packing.unpack("daily/2025-03-14")
    assert log(vault, "memory/daily/2025-03-14.md") == f"- 14:30 entry {number}\n"


def test_links_into_a_pack_lead_somewhere(packed: Vault) -> None:
    write(
        packed, "memory/links.md", "[[daily/2025-03-14]] [[2025-12-31]] [[daily/2025-03-14#14:30]] [[archives/plan]]\n"
    )
    assert not [one for one in doctor.examine(again(packed).place) if one.kind == "dangling-link"]


@pytest.mark.large
@pytest.mark.slow
def test_the_meaning_of_an_archived_entry_is_found(packed: Vault, minilm: str) -> None:
    vault = again(packed)
    vault.reindex()
    hits = vault.search("espresso with milk", mode="semantic", k=1).hits
    assert [hit.entry.address for hit in hits] == ["daily/2025-03-14#14:30"]


def test_a_crafted_pack_leads_nowhere_outside(vault: Vault) -> None:
    head = b"<!-- mdmem: logs=1 sha256=%s -->\n" % (b"0" * 64)
    put(vault, "memory/archives/evil.md.zst", head + b"<!-- mdmem: file=../../../tmp/2025-01-01.md bytes=1 -->\nx\n")
    assert [entry.address for entry in again(vault).list(within="archives")] == ["archives/evil"]
    with pytest.raises(MdmemError):
        again(vault).parts.packing.unpack("2025")
    assert again(vault).parts.packing.unpack("archives/evil").subject == "Unpack archives/evil"
    assert log(vault, "memory/archives/evil.md").startswith("<!-- mdmem: logs=1")
