"""Whatever the program makes is its user's alone, whatever the umask."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from vault_sandbox import again, write
from watch_sandbox import watched

from mdmem import Vault


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def strangers(folder: Path) -> list[str]:
    """List what others can read or write of a folder and all in it; a link has no mode of its own."""
    found = [folder, *folder.rglob("*")]
    return [str(path) for path in found if not path.is_symlink() and path.lstat().st_mode & 0o077]


def test_the_state_of_a_vault_that_was_used_is_private(vault: Vault, minilm: str) -> None:
    write(vault, "memory/a.md", "# A\n\nGreen tea.\n")
    vault.add("one")
    for _ in range(2):
        opened = again(vault)
        opened.search("tea")
        opened.add("more")
        opened.commit()
    again(vault).reindex(full=True)
    again(vault).reindex()
    again(vault).verify(fix=True)
    again(vault).remember("tty", ["a"])
    assert (vault.place.state / "vectors.sqlite").exists() and list(vault.place.state.rglob("*.toc"))
    assert strangers(vault.place.state) == []
    assert strangers(vault.root / "memory/daily") == []


def test_a_cache_that_was_open_to_others_is_closed(vault: Vault, minilm: str) -> None:
    vault.add("one")
    again(vault).search("one")
    (vault.place.state / "vectors.sqlite").chmod(0o644)
    again(vault).search("one")
    assert strangers(vault.place.state) == []


@pytest.mark.large
def test_a_prepared_model_is_private(models: Path, minilm: str) -> None:
    assert list(models.rglob("*.onnx"))
    assert strangers(models / "mdmem") == []


@pytest.mark.slow
def test_the_state_of_a_vault_that_is_watched_is_private(vault: Vault, minilm: str) -> None:
    with watched(vault):
        vault.add("one")
        again(vault).search("one")
        index = str(vault.place.state / "index")  # its files are closed to others once they are written
        open_ones = [name for name in strangers(vault.place.state) if not name.startswith(index)]
        assert open_ones == [] and vault.place.state.stat().st_mode & 0o777 == 0o700
    assert strangers(vault.place.state) == []
