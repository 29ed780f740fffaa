"""Power loss, modelled: what was acknowledged comes back with the next command."""

from __future__ import annotations

from pathlib import Path

import power
import pytest
from outcome import chance, in_memory

from mdmem import fsio

TRIES = 50
"""States of each scenario, which makes 300 in all."""


@pytest.mark.parametrize("name", power.SCENARIOS)
def test_crash_states(tmp_path: Path, name: str) -> None:
    with in_memory(tmp_path) as folder:
        done = power.states(power.perform(name, folder), folder, chance("power", name), tries=TRIES)
    assert done.failures == []
    assert done.tries == TRIES


def test_the_model_loses_what_is_not_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that loses nothing would let everything pass."""
    monkeypatch.setattr(fsio.calls, "fdatasync", lambda fd: None)
    monkeypatch.setitem(power.WRAP, "fdatasync", lambda tape, real: real)
    with in_memory(tmp_path) as folder:
        done = power.states(power.perform("adding", folder), folder, chance("power", "no sync"), tries=40)
    assert done.failures
