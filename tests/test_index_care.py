"""What keeps an index from doing harm: readers and sweepers, full looks, counted failures, half-saved files."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from vault_sandbox import again, write

from mdmem import Vault
from mdmem.errors import Damaged
from mdmem.model import Finding
from mdmem.store import generations
from mdmem.store.encoder import Card
from mdmem.store.generations import Generation
from mdmem.store.lock import Lock
from mdmem.store.vector import Unusable
from mdmem.vault.index import Stores
from mdmem.vault.neighbours import Neighbours


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made, _ = Vault.init(tmp_path / "v")
    write(made, "memory/daily/2026-11-01.md", "# d\n\n- 09:00 green tea\n- 10:00 coffee\n")
    made.reindex()
    return made


def served(vault: Vault) -> Generation:
    found = generations.named(vault.place.state)
    assert found
    return found


def generation_names(vault: Vault) -> set[str]:
    return {path.name for path in (vault.place.state / "index").iterdir() if path.is_dir()}


def test_what_is_read_is_not_removed_until_its_reader_is_done(vault: Vault) -> None:
    old = served(vault).name
    with vault.parts.index.open():
        again(vault).reindex(full=True)
        assert {old, served(vault).name} == generation_names(vault)
    again(vault).reindex(full=True)
    assert generation_names(vault) == {served(vault).name}


@pytest.mark.parametrize("key", ["boot", "checked"])
def test_all_is_read_after_a_reboot_and_once_a_week(vault: Vault, key: str) -> None:
    path = served(vault).path / "manifest.json"
    manifest = json.loads(path.read_bytes())
    other = "another" if key == "boot" else int(time.time()) - generations.WEEK - 1
    path.write_text(json.dumps({**manifest, key: other}))
    assert generations.current(vault.place.state, vault.parts.index.identity()).due
    before = served(vault).name
    assert again(vault).search("tea").total == 1
    assert served(vault).name == before
    assert json.loads(path.read_bytes())[key] != other


def test_bad_sectors_are_met_by_the_full_look(vault: Vault) -> None:
    path = served(vault).path / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["files"]["catalog.sqlite"][4] = "0" * 64  # as if the bytes had changed under an equal stamp
    path.write_text(json.dumps(manifest))
    assert again(vault).verify().left == 1
    path.write_text(json.dumps({**manifest, "checked": 0}))
    answer = again(vault).search("tea")
    assert answer.total == 1 and any("catalog.sqlite is not what was written" in one for one in answer.notices)


def test_an_interrupted_update_that_changed_nothing_costs_nothing(vault: Vault) -> None:
    before = served(vault)
    generations.mark_writing(before)
    assert again(vault).search("tea").notices == ()
    assert served(vault) == before


def test_one_damaged_index_is_kept_until_a_full_rebuild(vault: Vault) -> None:
    for _ in range(2):
        (served(vault).catalog).write_bytes(b"garbage")
        assert again(vault).search("tea").total == 1
    broken = {name for name in generation_names(vault) if name.startswith("broken-")}
    assert len(broken) == 1
    again(vault).reindex(full=True)
    assert generation_names(vault) == {served(vault).name}


def test_a_question_that_always_fails_ends_with_its_error(vault: Vault) -> None:
    def fails(stores: Stores) -> int:
        raise Damaged("a mistake of ours")

    with pytest.raises(Damaged):
        vault.parts.index.ask(fails)
    assert again(vault).search("tea").total == 1


def test_a_whole_index_outlives_an_error_that_passes(vault: Vault) -> None:
    before = served(vault)
    tries = []

    def fails_once(stores: Stores) -> int:
        tries.append(1)
        if len(tries) == 1:
            raise Damaged("a file was merged away")
        return 7

    assert vault.parts.index.ask(fails_once) == 7
    assert served(vault) == before and vault.notices == []


# Files that are being saved


def test_a_file_seen_empty_keeps_what_is_known_of_it_for_a_moment(vault: Vault) -> None:
    path = write(vault, "memory/daily/2026-11-01.md", "")
    assert again(vault).reindex().modified == 0
    with vault.parts.index.open() as stores:
        assert [row.stamp for row in stores.catalog.files() if row.path.endswith("11-01.md")] == [""]
    assert vault.search("tea").total in (0, 1) and not list(vault.search("tea"))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert again(vault).reindex().modified == 1
    assert again(vault).search("tea").total == 0


def test_who_is_patient_lets_a_shortened_file_settle(vault: Vault) -> None:
    write(vault, "memory/daily/2026-11-01.md", "# d\n\n- 09:0")
    patient = again(vault)
    patient.parts.index.patient = True
    assert patient.upkeep.refresh().modified == 0
    assert again(vault).reindex().modified == 1


def test_a_file_that_was_renamed_into_place_is_whole(vault: Vault) -> None:
    fresh = write(vault, "fresh", "# d\n\n- 09:00 tea\n")
    os.utime(fresh)
    time.sleep(0.02)
    os.replace(fresh, vault.root / "memory/daily/2026-11-01.md")
    patient = again(vault)
    patient.parts.index.patient = True
    assert patient.upkeep.refresh().modified == 1


# Chroma


def test_the_third_failure_in_an_hour_is_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    near = neighbours(tmp_path)
    for _ in range(3):
        assert not near.is_given_up()
        with pytest.raises(Unusable, match="broken"), near._counting():
            raise Unusable("broken")
    assert near.is_given_up()
    with pytest.raises(Unusable, match="three times"), near._counting():
        raise AssertionError("it was tried again")


def test_failures_far_apart_are_forgiven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    near = neighbours(tmp_path)
    for hour in range(5):
        monkeypatch.setattr("mdmem.vault.neighbours.time.time", lambda hour=hour: hour * 3_000.0)
        with pytest.raises(Unusable, match="broken"), near._counting():
            raise Unusable("broken")
    assert not near.is_given_up()


def neighbours(folder: Path) -> Neighbours:
    (folder / "generation" / "chroma").mkdir(parents=True)
    card = Card.__new__(Card)
    for name, value in {"fingerprint": "f" * 64, "dimension": 4}.items():
        object.__setattr__(card, name, value)
    return Neighbours(folder / "generation", card, Lock(folder / "locks" / "chroma.lock", command="test"))


def test_findings_of_a_scan_stay_as_they_were(vault: Vault) -> None:
    (vault.root / "memory/l.md").symlink_to("MEMORY.md")
    (one,) = vault.reindex().failures
    assert one == Finding("memory/l.md", None, "is a link; links are not followed", "put the file itself there")
