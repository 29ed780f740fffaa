"""Files that are too large to be taken in: named, and nothing else is kept from anything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from vault_sandbox import DAY, again, body, git, subjects, write

from mdmem import Vault, doctor
from mdmem.errors import StorageFailed

HUGE = 10**11
"""Bytes, none of them on the disk; whoever reads them fails for lack of memory, or never ends."""


def huge(vault: Vault, path: str = "memory/huge.md") -> None:
    write(vault, path, "")
    with (vault.root / path).open("r+b") as file:
        file.truncate(HUGE)


def test_a_commit_leaves_it_out_and_takes_the_rest(vault: Vault) -> None:
    huge(vault)
    write(vault, "memory/small.md", "# Small\n")
    made = again(vault)
    (change,) = made.commit()
    assert [edit.address for edit in change.edits] == ["small"]
    (notice,) = made.notices
    assert notice.startswith("not committed: memory/huge.md is too large: 95,367 MB, and at most 32 MB are read; split")
    assert "commit.max_file_mb" in notice
    assert git(vault, "ls-files", "memory/huge.md") == ""


def test_what_watches_leaves_it_out_too(vault: Vault) -> None:
    huge(vault)
    write(vault, "memory/small.md", "# Small\n")
    upkeep = again(vault).upkeep
    assert set(upkeep.uncommitted()) == {"memory/small.md"}
    upkeep.save(upkeep.scan())
    assert subjects(vault)[0] == "Save small as edited by hand"
    assert git(vault, "ls-files", "memory/huge.md") == ""


def test_one_that_grew_after_it_was_committed_is_no_deletion(vault: Vault) -> None:
    write(vault, "memory/huge.md", "# Small yet\n")
    again(vault).commit()
    huge(vault)
    assert again(vault).commit() == [] and again(vault).diff() == []
    assert git(vault, "show", "HEAD:memory/huge.md") == "# Small yet"


ACTS: dict[str, Callable[[Vault], object]] = {
    "show": lambda vault: vault.get("huge"),
    "edit": lambda vault: vault.edit("huge", "x"),
    "remove": lambda vault: vault.remove("huge"),
    "set": lambda vault: vault.set_field("huge", "title", "x"),
    "undo": lambda vault: vault.undo(),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_what_needs_it_says_that_it_is_too_large(vault: Vault, act: Callable[[Vault], object]) -> None:
    write(vault, "memory/huge.md", "# Small yet\n")
    again(vault).commit()
    huge(vault)
    with pytest.raises(StorageFailed, match=r"memory/huge\.md is too large") as caught:
        act(again(vault))
    assert "split it" in caught.value.hint
    assert (vault.root / "memory/huge.md").stat().st_size == HUGE


def test_all_that_looks_at_everything_goes_on_without_it(vault: Vault) -> None:
    huge(vault)
    vault.add("one")
    opened = again(vault)
    assert opened.search("one", mode="keyword")[0].text == "one"
    assert opened.status().uncommitted == 0 and opened.verify().findings == ()
    assert [entry.text for entry in opened.list() if entry.kind == "entry"] == ["one"]
    opened.attention(), opened.held(), opened.conflicts(), opened.log(), opened.tags()
    (found,) = [one for one in doctor.examine(opened.place) if one.kind == "large"]
    assert (found.path, found.severity) == ("memory/huge.md", "warning")
    assert "neither indexed nor committed" in found.message and "commit.max_file_mb" in found.hint


def test_an_entry_for_a_huge_log_waits_until_it_is_smaller(vault: Vault, clock: object) -> None:
    vault.add("one")
    before = (vault.root / DAY).read_bytes()
    huge(vault, DAY)
    opened = again(vault)
    assert opened.add("two").pending
    assert any(f"kept, not yet in the log: {DAY} is too large" in notice for notice in opened.notices)
    with pytest.raises(StorageFailed, match="too large"):
        again(vault).today()
    (vault.root / DAY).write_bytes(before)
    again(vault).status()
    assert body(vault) == "- 14:30 one\n- 14:30:05 two\n"


def test_the_limit_is_a_setting(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "memory/a.md", "# A\n" + f"{'word ' * 2_000}\n" * 150)
    monkeypatch.setenv("MDMEM_INDEX_MAX_FILE_MB", "1")
    monkeypatch.setenv("MDMEM_COMMIT_MAX_FILE_MB", "1")
    assert again(vault).commit() == []
    monkeypatch.setenv("MDMEM_COMMIT_MAX_FILE_MB", "2")
    assert len(again(vault).commit()) == 1
    assert subjects(vault)[0] == "Save a as edited by hand"
