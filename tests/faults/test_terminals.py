"""Nothing of a memory steers a terminal: some payloads in every field, by the commands that print most."""

from __future__ import annotations

from pathlib import Path

import pytest
import terminals

FEW = terminals.PAYLOADS[::4]


@pytest.mark.parametrize(
    "text", [text for text in terminals.PAYLOADS if text not in terminals.MARKING and "\t" not in text]
)
def test_the_judge_knows_each_payload(text: str) -> None:
    """What is looked for is found: or else the tests below could not fail."""
    assert terminals.forbidden(text)


@pytest.mark.parametrize("text", terminals.HARMLESS)
def test_the_judge_lets_pass_what_people_write(text: str) -> None:
    assert not terminals.forbidden(f"\x1b[1m{text}\x1b[0m\r\n")


@pytest.mark.slow
def test_printed_on_a_terminal(tmp_path: Path) -> None:
    assert len(FEW) >= 50
    assert terminals.printed(tmp_path, ("", "list", "log", "status"), payloads=FEW, shown=4).failures == []


@pytest.mark.slow
def test_said_again(tmp_path: Path) -> None:
    assert terminals.echoed(tmp_path, payloads=terminals.PAYLOADS[::80], often=3).failures == []


@pytest.mark.slow
def test_json_gives_every_text_back(tmp_path: Path) -> None:
    assert terminals.as_json(tmp_path, payloads=FEW).failures == []


@pytest.mark.slow
def test_pipes_that_nobody_reads(tmp_path: Path) -> None:
    assert terminals.pipes(tmp_path, ("list",), ways=5).failures == []
