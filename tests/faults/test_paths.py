"""No path leads out of the vault: some of each kind, traced."""

from __future__ import annotations

import shutil
from pathlib import Path

import paths
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed"),
]


def test_typed_and_written_paths(tmp_path: Path) -> None:
    """Every third of the plain payloads and some of the made ones, by two ways each."""
    home = paths.settle(tmp_path)
    found = paths.payloads(tmp_path)
    wanted = [*found[:90:3], *found[90::80]]
    orders = [
        {"words": way(path)}
        for number, path in enumerate(wanted)
        for way in (paths.TYPED[number % 4], paths.TYPED[number % len(paths.TYPED)])
        if "\0" not in path
    ]
    assert len(wanted) >= 100
    assert paths.judged(home, orders[:80], tries=len(wanted)).failures == []


def test_a_trace_sees_what_is_opened_outside(tmp_path: Path) -> None:
    """An order that opens a file outside is noticed: or else nothing here could fail."""
    home = paths.settle(tmp_path)
    (tmp_path / "outside" / "q.jsonl").write_text('{"id": "1", "text": "x"}\n')
    words = ["eval", "--queries", "../outside/q.jsonl", "--qrels", "../qrels.tsv", "--mode", "keyword"]
    (failure,) = paths.judged(home, [{"words": words}], tries=1).failures
    assert "outside/q.jsonl" in failure


def test_links_pipes_and_devices_on_the_disk(tmp_path: Path) -> None:
    assert paths.on_disk(tmp_path, ("list", "search", "commit", "add", "doctor", "checkpoint")).failures == []


def test_a_folder_of_memory_that_is_a_link(tmp_path: Path) -> None:
    assert paths.linked(tmp_path, ("list", "add", "doctor", "checkpoint"), ("memory", "memory/daily")).failures == []


def test_links_swapped_while_in_use(tmp_path: Path) -> None:
    done = paths.swaps(tmp_path, times=1000)
    assert done.failures == []
