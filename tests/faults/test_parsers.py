"""No text breaks a parser: hostile pieces, much of one thing, YAML that grows; and reading changes no byte."""

from __future__ import annotations

from pathlib import Path

import parsers
import pytest


@pytest.mark.parametrize("name", parsers.PARSERS)
def test_hostile_pieces(name: str) -> None:
    done = parsers.fuzzed(name, examples=60)
    assert done.failures == [] and done.tries >= 60


def test_yaml_that_would_grow() -> None:
    assert parsers.bombs().failures == []


@pytest.mark.slow
def test_much_of_one_thing() -> None:
    """All parsers, with little memory, on as much as is quick: what is not linear shows at 128 kB already."""
    assert parsers.repeated(list(parsers.PARSERS), ["[[", "((", "- - - "], size=1 << 17).failures == []


@pytest.mark.slow
def test_reading_and_committing_change_no_byte(tmp_path: Path) -> None:
    assert parsers.untouched(tmp_path, files=200).failures == []
