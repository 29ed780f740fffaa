"""Somebody else's vault runs nothing, keeps others out and sends nothing: a few commands of each kind."""

from __future__ import annotations

import shutil
from pathlib import Path

import hostile
import hostile_commands as commands
import hostile_modes
import pytest

MAIN = ("search", "add", "commit")


@pytest.mark.slow
def test_the_traps_are_alive(tmp_path: Path) -> None:
    """Without care, what is planted runs: or else no test of this module could fail."""
    marks = hostile.traps_work(tmp_path)
    wanted = ("core.fsmonitor", "filter.trap.clean", "diff.trap.command", "traps/pre-commit", "nested", "PATH/vi")
    assert [name for name in (*wanted, "package mdmem", "module typing") if name not in marks] == []


@pytest.mark.slow
def test_a_forged_index_is_alive(tmp_path: Path) -> None:
    assert "pickle" in hostile.forgeries_work(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["drivers", "forged state"])
def test_no_canary_sings(tmp_path: Path, scene: str) -> None:
    done = hostile.run(tmp_path, scene, MAIN if scene == "drivers" else ("search",))
    assert done.failures == []
    assert done.tries >= 25 if scene == "drivers" else done.tries


def test_no_command_is_left_out() -> None:
    """A command that is new is tried by what it says it takes."""
    listed = commands.commands()
    assert {"", "search", "config set", "model prepare"} <= set(listed)
    assert all(commands.lines(name) for name in listed)


@pytest.mark.slow
def test_what_is_made_is_nobody_elses(tmp_path: Path) -> None:
    assert hostile_modes.kept_private(tmp_path, ("add",)).failures == []


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_nothing_is_sent(tmp_path: Path) -> None:
    assert hostile_modes.silent(tmp_path, ("search",)).failures == []
