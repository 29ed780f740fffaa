"""SIGKILL before calls that change something, strace or not: kept if acknowledged, else whole or absent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import acts
import pytest
import sweep
from vault_sandbox import DAY, again, committed, git, log, status, write

from mdmem import Vault
from mdmem.model import NewEntry
from mdmem.store import archive
from mdmem.text import packs

pytestmark = pytest.mark.usefixtures("clock")

FIRST = "daily/2026-11-29#14:30"
Act = Callable[[Vault], object]


@pytest.fixture
def lived(vault: Vault) -> Vault:
    """A vault with a log, and two documents that were saved twice."""
    vault.add("one")
    for text in ("1\n", "2\n"):
        for name in "ab":
            write(vault, f"memory/{name}.md", f"{name}{text}")
        vault.commit()
    return vault


def settle(vault: Vault) -> Vault:
    """Do what the next commands do, and see that everything is in order."""
    for _ in range(2):
        again(vault).status()
    assert status(vault) == ""
    assert again(vault).status().pending == 0
    assert not [path for path in (vault.place.state / "tmp").glob("*") if not path.name.endswith(".swap")]
    assert not list((vault.root / ".git").glob("*.lock"))
    for path in git(vault, "ls-files", "memory").split("\n"):
        assert committed(vault, path) == log(vault, path)
    return again(vault)


ADDS: dict[str, tuple[Act, int]] = {
    "short": (lambda vault: vault.add("new entry"), 1),
    "batch": (lambda vault: vault.add_batch(NewEntry(f"new entry {number}") for number in range(3)), 3),
    "new day": (lambda vault: vault.add("new entry", at=again(vault).place.now().replace(day=28)), 1),
}


@pytest.mark.parametrize("name", ADDS)
def test_adding(lived: Vault, tmp_path: Path, name: str) -> None:
    act, often = ADDS[name]
    step = max(1, sweep.EVERY // 4) if name == "short" else sweep.EVERY
    points, at, ended = 0, min(step, 3), None
    while ended is None:
        vault = Vault.open(sweep.copy(lived, tmp_path / f"copy {at}"))
        ended = sweep.killed(lambda: act(Vault.open(vault.root)), at)  # noqa: B023 - runs at once
        settle(vault)
        text = "".join(path.read_text() for path in sorted((vault.root / "memory/daily").iterdir()))
        assert text.count("new entry") in ((often,) if ended else (0, often)), f"killed at call {at}"
        assert text.count("- 14:30 one\n") == 1
        history = git(vault, "log", "--format=%(trailers:key=Mdmem-Op,valueonly,separator=)").split("\n")
        assert history.count("save") == 2
        points, at = points + 1, at + step
    assert ended
    assert points > 2


def test_undoing_what_was_put_back(lived: Vault, tmp_path: Path) -> None:
    """An entry and a document each stand in their file, or are listed, but not both."""
    again(lived).add("two")
    write(lived, DAY, log(lived).replace("- 14:30 one\n", ""))
    (lived.root / "memory/a.md").unlink()
    again(lived).recover_all([one.id for one in again(lived).held()])
    assert again(lived).held() == []
    acts = git(lived, "log", "-2", "--format=%H").split("\n")
    points, at, ended = 0, 3, None
    while ended is None:
        vault = Vault.open(sweep.copy(lived, tmp_path / f"copy {at}"))
        ended = sweep.killed(lambda: [Vault.open(vault.root).undo(one) for one in acts], at)  # noqa: B023
        settle(vault)
        listed = [one.text for one in again(vault).held()]
        stands = {"one": "- 14:30 one\n" in log(vault), "a": (vault.root / "memory/a.md").exists()}
        assert sorted(listed) == sorted(text for text, there in stands.items() if not there), f"killed at call {at}"
        assert not (ended and any(stands.values()))
        points, at = points + 1, at + 2 * sweep.EVERY
    assert points > 2


CHANGES: dict[str, tuple[Act, str, str | None]] = {
    "edit": (lambda vault: vault.edit(FIRST, "changed"), DAY, "- 14:30 changed"),
    "rm": (lambda vault: vault.remove(FIRST), DAY, ""),
    "undo": (lambda vault: vault.undo(), "memory/b.md", "b1"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changing(lived: Vault, tmp_path: Path, name: str) -> None:
    act, path, wanted = CHANGES[name]
    before = log(lived, path)
    after = None if wanted is None else ("# 2026-11-29\n\n" if path == DAY else "") + wanted + ("\n" if wanted else "")
    points, at, ended = 0, min(sweep.EVERY, 5), None
    while ended is None:
        vault = Vault.open(sweep.copy(lived, tmp_path / f"copy {at}"))
        ended = sweep.killed(lambda: act(Vault.open(vault.root)), at)  # noqa: B023 - runs at once
        settle(vault)
        now = log(vault, path) if (vault.root / path).exists() else None
        assert now in ((after,) if ended else (before, after)), f"killed at call {at}"
        if name == "undo":
            assert log(vault, "memory/a.md")[1] == log(vault, "memory/b.md")[1]
        changed = git(vault, "log", "-1", "--format=%(trailers:key=Mdmem-Op,valueonly,separator=)")
        assert (changed == "save") == (now == before)
        points, at = points + 1, at + sweep.EVERY
    assert ended
    assert points > 2


def _unharmed(vault: Vault, logs: Mapping[str, bytes]) -> bool:
    """Tell whether each log stands as a file, or whole in an archive, as the disk is now."""
    home, held = vault.root / "memory/archives/daily/2025.md.zst", {}
    if home.exists():
        said = archive.expand(home.read_bytes())
        held = {one.path: one.data for one in packs.members(said)} if packs.is_whole(said) else {}
    there = {path: (vault.root / path).read_bytes() for path in logs if (vault.root / path).exists()}
    return all(data in (there.get(path), held.get(path)) for path, data in logs.items())


@pytest.mark.parametrize("name", ["pack", "unpack"])
def test_packing(lived: Vault, tmp_path: Path, name: str) -> None:
    """At any moment each log is there whole, and after the next command all of them are packed or none is."""
    prepare = acts.keep_a_year if name == "pack" else acts.pack_a_year
    prepare(lived.root)
    points, at, ended = 0, min(sweep.EVERY, 5), None
    while ended is None:
        vault = Vault.open(sweep.copy(lived, tmp_path / f"copy {at}"))
        ended = sweep.killed(lambda: acts.ACTS[name].run(Vault.open(vault.root)), at)  # noqa: B023 - runs at once
        assert _unharmed(vault, acts.LOGS), f"killed at call {at}"
        settle(vault)
        assert _unharmed(vault, acts.LOGS), f"killed at call {at}"
        there = {path for path in acts.LOGS if (vault.root / path).exists()}
        assert there in (set(), acts.LOGS.keys()), f"killed at call {at}"
        assert bool(there) != (vault.root / "memory/archives/daily/2025.md.zst").exists()
        assert not (ended and bool(there) == (name == "pack"))
        points, at = points + 1, at + sweep.EVERY
    assert ended
    assert points > 2


def test_init(tmp_path: Path) -> None:
    at, ended = 1, None
    while ended is None:
        root = tmp_path / f"vault {at}"
        ended = sweep.killed(lambda: Vault.init(root), at)  # noqa: B023 - runs at once
        vault, notices = Vault.init(root)
        assert notices == ()
        vault.add("one")
        assert status(vault) == ""
        assert git(vault, "log", "--format=%s").split("\n")[-1] == "Begin the vault"
        at += sweep.EVERY
    assert ended
