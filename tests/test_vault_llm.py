"""What `status` says of the language model: which one, what it cost, and why it cannot be asked."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from vault_sandbox import again, status

from mdmem import Vault
from mdmem.cli import figures, shapes, terminal
from mdmem.errors import BudgetSpent
from mdmem.model import Spending
from mdmem.store import llm
from mdmem.store.llm import budget
from mdmem.store.lock import Lock


@pytest.fixture
def answering(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """Give a vault with a command for a model."""
    program = tmp_path / "answerer"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.stdin.read().upper())\n")
    program.chmod(0o755)
    monkeypatch.setenv("MDMEM_LLM_PROVIDER", "command")
    monkeypatch.setenv("MDMEM_LLM_COMMAND", f"{program} --secret words")
    monkeypatch.setenv("MDMEM_LLM_CALLS_PER_DAY", "2")
    return again(vault)


def model(vault: Vault) -> Any:
    place = vault.place
    lock = Lock(place.state / "locks" / "llm.lock", command="test")
    return llm.open(place.settings, state=place.state, root=place.root, lock=lock, now=place.now)


def lines(vault: Vault, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    figures.status(vault.status())
    terminal.flush()
    return {line[:23].rstrip(): line[23:] for line in capsys.readouterr().out.split("\n") if line}


def test_without_one_nothing_is_said_but_that(vault: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    now = vault.status()
    assert now.llm == Spending(calls_limit=200, tokens_limit=1_000_000)
    shown = lines(vault, capsys)
    assert shown["language model"] == "none" and "asked today" not in shown and "asked in all" not in shown
    assert vault.notices == []


def test_what_it_was_asked_and_what_it_cost(
    answering: Vault, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = model(answering)
    assert asked.ask("用户喜欢热美式咖啡").text == "用户喜欢热美式咖啡\n"
    assert lines(answering, capsys) == lines(answering, capsys) | {
        "language model": "command, answerer",
        "asked today": "1 of 2 calls, 19 of 1,000,000 tokens",
        "asked in all": "1 call, 19 tokens, in part guessed",
    }
    asked.ask("one more")
    with pytest.raises(BudgetSpent, match="2 of 2 calls"):
        asked.ask("too many")
    shape = shapes.status(answering.status())["llm"]
    assert json.loads(json.dumps(shape)) == {
        "provider": "command",
        "model": "answerer",
        "calls": 2,
        "calls_limit": 2,
        "tokens": 24,
        "tokens_limit": 1_000_000,
        "calls_in_all": 2,
        "tokens_in_all": 24,
        "guessed": True,
    }
    assert answering.notices == [] and status(answering) == ""  # nothing of it is in the vault
    monkeypatch.setenv("MDMEM_LLM_PROVIDER", "none")
    shown = lines(again(answering), capsys)
    assert shown["language model"] == "none" and shown["asked in all"].startswith("2 calls")


def test_why_it_cannot_be_asked(answering: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_LLM_COMMAND", "no-such-program --secret words")
    vault = again(answering)
    vault.status()
    assert [notice.partition(";")[0] for notice in vault.notices] == [
        "the language model cannot be asked: the program no-such-program was not found"
    ]


def test_a_count_that_cannot_be_read_hides_nothing_else(answering: Vault) -> None:
    model(answering).ask("once")
    place = answering.place.state / budget.NAME
    place.unlink()
    place.mkdir()
    now = again(answering)
    assert now.status().llm is None and shapes.status(now.status())["llm"] is None
    assert any(budget.NAME in notice for notice in now.notices)


def test_the_count_is_the_users_alone(answering: Vault) -> None:
    before = os.umask(0)
    try:
        model(answering).ask("once")
    finally:
        os.umask(before)
    assert (answering.place.state / budget.NAME).stat().st_mode & 0o777 == 0o600
