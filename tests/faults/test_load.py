"""Saves that are committed by themselves while a user commits code and others add."""

from __future__ import annotations

from pathlib import Path

import load
import pytest
from vault_sandbox import CODE


def test_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CODE))
    done = load.run(tmp_path, 50, real=False, pause=0.1)
    assert done.failures == []


def test_growth(tmp_path: Path) -> None:
    assert load.day(tmp_path, 60, 200 << 10).failures == []
