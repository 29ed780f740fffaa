"""Many changes at once while `mdmem watch` runs, with few tries."""

from __future__ import annotations

from pathlib import Path

import bursts
import pytest


@pytest.fixture(autouse=True)
def sockets(world: Path) -> None:
    """A private folder for sockets, as a login gives one."""
    (world / "runtime_dir").mkdir(mode=0o700)


@pytest.mark.slow
def test_no_file_of_a_burst_is_missed(tmp_path: Path) -> None:
    assert bursts.burst(tmp_path, 3_000).failures == []


def test_folders_that_come_and_go(tmp_path: Path) -> None:
    assert bursts.changes(tmp_path, 20).failures == []


def test_without_watches_nothing_is_missed(tmp_path: Path) -> None:
    assert bursts.exhausted(tmp_path, 20).failures == []
