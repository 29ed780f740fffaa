"""Every index damaged a few times: the answer is right, or comes from the other leg with a notice."""

from __future__ import annotations

from pathlib import Path

import indexes
import pytest
from meaning_sandbox import copy

from mdmem import Vault


@pytest.mark.parametrize("kind", ["catalog", "whoosh", "manifest"])
def test_a_damaged_keyword_index_answers_as_before(tmp_path: Path, kind: str) -> None:
    assert indexes.words(tmp_path, kind, 24).failures == []


def test_damage_in_the_middle_of_a_search_changes_no_answer(tmp_path: Path) -> None:
    assert indexes.opened(tmp_path, 24).failures == []


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "tries"), [("vectors", 24), ("chroma", 6)])
def test_damaged_vectors_are_noticed(template: Path, tmp_path: Path, minilm: str, kind: str, tries: int) -> None:
    vault = copy(template, tmp_path / "v")
    vault.reindex()
    assert indexes.vectors(vault, tmp_path, kind, tries).failures == []


def test_an_index_that_is_removed_comes_back(tmp_path: Path) -> None:
    assert indexes.removed(tmp_path, 3).failures == []


@pytest.mark.slow
def test_a_killed_rebuild_changes_nothing(tmp_path: Path) -> None:
    assert indexes.killed(tmp_path, 3).failures == []


def test_a_full_disk_in_a_rebuild_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = indexes.full_disk(tmp_path, 4)
    if not done.tries:
        pytest.skip(done.note)
    assert done.failures == []


@pytest.mark.slow
def test_readers_see_nothing_of_writers(tmp_path: Path) -> None:
    assert indexes.crowd(tmp_path, 10).failures == []


def test_a_vault_is_left_as_it_was(tmp_path: Path) -> None:
    vault: Vault = indexes.made(tmp_path / "v")
    before = {path: path.read_bytes() for path in (vault.root / "memory").rglob("*.md")}
    indexes.asked(vault)
    assert {path: path.read_bytes() for path in (vault.root / "memory").rglob("*.md")} == before
