"""What a login gives: a private folder for sockets, and one time zone for this process and those it starts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def sockets(world: Path) -> Path:
    """The folder that `XDG_RUNTIME_DIR` names."""
    folder = world / "runtime_dir"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def zone(world: Path) -> Iterator[None]:
    """The zone that `TZ` names, for the C library too, which reads it once."""
    time.tzset()
    yield
    os.environ.pop("TZ", None)
    time.tzset()
