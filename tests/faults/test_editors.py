"""An editor that saves older copies while others append."""

from __future__ import annotations

from pathlib import Path

import copies
import editors
import pytest
from vault_sandbox import CODE


def test_an_editor_that_renames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CODE))
    done = editors.run(tmp_path, editors.Race("rename over", pause=0.005))
    assert done.failures == []
    assert done.tries == 400


@pytest.mark.parametrize("apart", [True, False])
def test_an_older_copy_over_what_an_agent_changed(tmp_path: Path, *, apart: bool) -> None:
    assert copies.run(tmp_path, 6, apart=apart).failures == []
