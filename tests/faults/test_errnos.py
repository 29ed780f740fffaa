"""Calls that fail and writes that come back short, at every point of an append and of a replacement."""

from __future__ import annotations

from pathlib import Path

import acts
import errnos
import pytest
from outcome import in_memory, total


@pytest.mark.parametrize(("name", "every"), [("add", 2), ("add large", 2), ("edit", 2), ("rm", 4), ("undo", 4)])
def test_every_call(tmp_path: Path, name: str, every: int) -> None:
    chosen = {name: acts.ACTS[name]}
    with in_memory(tmp_path) as folder, acts.standing_clock():
        place = acts.ground(folder, chosen)
        lots = errnos.troubles(place, chosen, codes=1)[::every]
        done = total([errnos.fail(place, trouble, chosen[name]) for trouble in lots])
    assert done.failures == []
    assert done.tries > 10
