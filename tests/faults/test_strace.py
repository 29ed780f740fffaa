"""Faults at system calls: some of each operation in every test run, all of them by `run.py`."""

from __future__ import annotations

from pathlib import Path

import acts
import errnos
import kills
import pytest
import tracing
from outcome import in_memory, total
from vault_sandbox import CODE

pytestmark = pytest.mark.skipif(not tracing.works(), reason="strace is missing, or may not attach")

EVERY = {"add": 1, "add large": 1, "edit": 2}
"""An append and a replacement are killed at every call, or every second; the others at every 20th."""


@pytest.fixture(autouse=True)
def code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CODE))


@pytest.mark.parametrize("name", acts.ACTS)
def test_killed(tmp_path: Path, name: str) -> None:
    act = acts.ACTS[name]
    with in_memory(tmp_path) as folder, acts.standing_clock():
        place = acts.ground(folder, {name: act})
        points = acts.watched(place, act)[:: EVERY.get(name, 20)]
        done = total([kills.kill(place, name, act, point) for point in points])
    assert done.failures == []
    assert done.tries == len(points)  # or the sweep would pass without a single kill


def test_killed_and_killed_again(tmp_path: Path) -> None:
    act = acts.ACTS["add"]
    with in_memory(tmp_path) as folder, acts.standing_clock():
        place = acts.ground(folder, {"add": act})
        point = tracing.Point("write", 2)  # journalled, not yet in the log
        done = kills.again(place, "add", act, point, [0.1, 0.3, 0.5, 0.7, 0.9])
    assert done.failures == []
    assert done.tries > 3


def test_whole_commands_killed(tmp_path: Path) -> None:
    with in_memory(tmp_path) as folder:
        place = acts.ground(folder, {})
        for name in ("add", "edit"):
            points = tracing.points(kills.command(place, name, None, follow=False)[1].log)[3::20]
            done = total([kills.command(place, name, point, follow=False)[0] for point in points])
            assert done.failures == []
            assert done.tries == len(points)


def test_errors(tmp_path: Path) -> None:
    act = acts.ACTS["add"]
    with in_memory(tmp_path) as folder, acts.standing_clock():
        place = acts.ground(folder, {"add": act})
        points = acts.watched(place, act, pipes=False)
        done = total(
            [
                errnos.inject(place, "add", act, point, code=code, ever=False, follow=False)
                for point, code in zip(points, errnos.CODES * len(points), strict=False)
            ]
        )
    assert done.failures == []
    assert done.tries == len(points)
