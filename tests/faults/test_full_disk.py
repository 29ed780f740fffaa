"""A disk without room: commands say so, and neither that all is done nor that something is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from vault_sandbox import again, fill_up, git, small_disk, status

from mdmem import Vault
from mdmem.cli.app import main
from mdmem.errors import StorageFailed

ENTRY, TODAY = "daily/2026-11-29#14:30", "memory/daily/2026-11-29.md"


@pytest.fixture
def full(tmp_path: Path, clock: object) -> Iterator[Vault]:
    """A vault with one entry and a hand edit, on a disk of its own that has no byte left but for `free`."""
    place = tmp_path / "small"
    place.mkdir()
    with small_disk(place, 2) as mounted:
        if not mounted:
            pytest.skip("nothing can be mounted here")
        made = Vault.init(place / "vault")[0]
        made.add("one")
        with (made.root / TODAY).open("a") as log:
            log.write("- 15:00 by hand\n")
        fill_up(place)
        yield made


def free(vault: Vault) -> None:
    (vault.root.parent / "ballast").unlink()


def memory(vault: Vault) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted((vault.root / "memory").rglob("*.md"))}


@pytest.mark.parametrize("waiting", [False, True], ids=["", "after an entry that waits"])
def test_a_commit_that_has_no_room_fails_and_says_why(
    full: Vault, capsys: pytest.CaptureFixture[str], waiting: bool
) -> None:
    if waiting:
        made = again(full)
        assert made.add("two").commit is None
        assert made.notices == ["kept and in its file, not yet in history: git could not write the commit: " + FULL]
    before = memory(full)
    for words in ("commit",), ("commit", "--json"):
        assert main(["--vault", str(full.root), *words]) == StorageFailed.exit_code
        out, err = capsys.readouterr()
        said = out + err
        assert "git could not write the commit: the disk is full" in said and "nothing was lost" in said
        assert "nothing to commit" not in said and "free some space" in said
    assert memory(full) == before
    free(full)
    again(full).commit()
    assert status(full) == "" and git(full, "log", "-1", "--format=%s") != "Add: one"


FULL = "the disk is full"
CHANGES: dict[str, Callable[[Vault], object]] = {
    "edit": lambda vault: vault.edit(ENTRY, "another text"),
    "remove": lambda vault: vault.remove(ENTRY),
    "set": lambda vault: vault.set_field(ENTRY, "a", "b"),
    "undo": lambda vault: vault.undo("HEAD"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("waiting", [False, True], ids=["", "after an entry that waits"])
def test_a_change_that_has_no_room_fails_and_changes_nothing(
    full: Vault, change: Callable[[Vault], object], waiting: bool
) -> None:
    if waiting:
        again(full).add("two")
    before = memory(full)
    with pytest.raises(StorageFailed, match=r"not yet in history: .*the disk is full") as caught:
        change(again(full))
    assert caught.value.hint.startswith("nothing was changed: free some space")
    assert memory(full) == before


def test_nobody_says_that_nothing_is_there_who_could_not_look(full: Vault, capfd: pytest.CaptureFixture[str]) -> None:
    free(full)
    (full.root / "memory/plan.md").write_text("# Plan\n")
    again(full).commit()
    (full.root / "memory/plan.md").unlink()
    (full.root / "memory/more.md").write_text("# More\n")
    for segment in (full.place.state / "journal").glob("*.log"):
        segment.unlink()  # the next line needs a block of its own
    fill_up(full.root.parent)
    for words in ("recover",), ("recover", "--json"), ("recover", "1"), ("verify",), ("verify", "--json"):
        assert main(["--vault", str(full.root), *words]) == StorageFailed.exit_code, words
        out, err = capfd.readouterr()
        assert out == "" and FULL in err and "nothing" not in err, words
    free(full)
    assert main(["--vault", str(full.root), "recover"]) == 0
    assert "Plan" in capfd.readouterr().out


def test_what_is_listed_may_not_be_all(full: Vault) -> None:
    free(full)
    for name in "abc":
        (full.root / f"memory/{name}.md").write_text(f"# {name}\n{name * 3000}\n")
    again(full).commit()
    (full.root / "memory/a.md").unlink()
    assert [one.text for one in again(full).held()] == ["a"]
    (full.root / "memory/b.md").unlink()
    fill_up(full.root.parent)
    journal = next((full.place.state / "journal").glob("*.log"))
    with journal.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\n")  # what is left of its last block
    opened = again(full)
    assert [one.text for one in opened.held()] == ["a"]
    assert any(said.startswith("there may be more than is listed: ") and FULL in said for said in opened.notices)


def test_nothing_is_called_damaged_or_of_another_version(full: Vault, minilm: str) -> None:
    for ask in (lambda vault: vault.search("one"), lambda vault: vault.status(), lambda vault: vault.list()):
        opened = again(full)
        answer = ask(opened)
        said = "\n".join([*opened.notices, *getattr(answer, "notices", ())])
        assert FULL in said
        assert not any(word in said for word in ("damaged", "anew", "version")), said
    free(full)
    opened = again(full)
    assert opened.search("one")[0].entry.address == ENTRY
    assert opened.notices == []
