"""A private folder for sockets, as a login gives one."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def sockets(world: Path) -> Path:
    """The folder that `XDG_RUNTIME_DIR` names."""
    folder = world / "runtime_dir"
    folder.mkdir(mode=0o700)
    return folder
