"""What a language model proposes for versions that did not merge: a real server on loopback answers."""

from __future__ import annotations

import pytest
from llm_server import serving, status
from vault_sandbox import DAY, HEADING, again, git, log, subjects

from mdmem import Vault
from mdmem.errors import Conflicted
from mdmem.model import Conflict

pytestmark = pytest.mark.usefixtures("clock")

FIRST = "daily/2026-11-29#14:30"
BASE, OURS, THEIRS = "用户喜欢喝咖啡", "用户喜欢喝美式咖啡", "用户咖啡因过敏"
GOOD = "## 合并结果\n\n用户喜欢喝美式咖啡，但用户咖啡因过敏\n\n## 理由\n\n两个事实都要保留。\n"
LOSSY = "## 合并结果\n\n用户喜欢喝美式咖啡\n\n## 理由\n\n版本A更具体。\n"


@pytest.fixture
def clashing(vault: Vault) -> Vault:
    """A vault in which one entry was changed by two people in two ways."""
    vault.add(BASE)
    vault.edit(FIRST, OURS)
    with pytest.raises(Conflicted):
        again(vault).edit(FIRST, THEIRS, was=BASE)
    return vault


def asked(vault: Vault, reply: object, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[Conflict]]:
    """Run a checkpoint with a model that gives one reply; give how often it was asked to merge, and what is left."""
    with serving(lambda prompt: reply if "<base>" in prompt else "## Facts\n\n-\n") as server:  # type: ignore[arg-type,return-value]
        for name, value in {"PROVIDER": "openai", "BASE_URL": server.url, "MODEL": "served", "RETRIES": "0"}.items():
            monkeypatch.setenv(f"MDMEM_LLM_{name}", value)
        monkeypatch.setenv("MDMEM_LLM_KEY_ENV", "")
        again(vault).checkpoint()
        return sum("<base>" in prompt for prompt in server.prompts), again(vault).conflicts()


def test_a_merge_that_keeps_every_fact_is_taken(clashing: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(clashing, GOOD, monkeypatch) == (1, [])
    assert log(clashing) == HEADING + "- 14:30 用户喜欢喝美式咖啡，但用户咖啡因过敏\n"
    said = git(clashing, "log", "-1", "--format=%B", "--", DAY)
    assert said.startswith(f"Resolve {FIRST}: as served proposes\n") and "两个事实都要保留。" in said
    change = again(clashing).undo(git(clashing, "log", "-1", "--format=%H", "--", DAY))
    assert log(clashing) == HEADING + f"- 14:30 {OURS}\n" and change.op == "undo"
    assert len(again(clashing).conflicts()) == 1


def test_a_merge_that_drops_a_fact_waits_for_a_person(clashing: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, left = asked(clashing, LOSSY, monkeypatch)
    assert calls == 1 and log(clashing) == HEADING + f"- 14:30 {OURS}\n"
    [conflict] = left
    assert conflict.proposal is not None and conflict.proposal.model == "served"
    assert any("过敏" in doubt for doubt in conflict.proposal.doubts)
    assert asked(clashing, LOSSY, monkeypatch)[0] == 0  # it is not asked the same again
    again(clashing).resolve(conflict.id, "theirs")
    assert log(clashing) == HEADING + f"- 14:30 {THEIRS}\n"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        "## 合并结果\n\n## 理由\n\n没有",
        "## 合并结果\n\n用户喜欢喝美式咖啡，但用户咖啡因过敏\n",  # no reason
        "## 合并结果\n\n用户喜欢喝美式咖啡，但用户咖啡因过敏，住在柏林\n\n## 理由\n\n更完整。",
        "## 合并结果\n\n第一行\n- 15:00 用户喜欢喝美式咖啡，咖啡因过敏\n\n## 理由\n\n两行。",
        status(500),
        status(429),
    ],
)
def test_any_other_answer_changes_nothing(clashing: Vault, monkeypatch: pytest.MonkeyPatch, reply: object) -> None:
    before, head = log(clashing), subjects(clashing)[0]
    _, left = asked(clashing, reply, monkeypatch)
    assert len(left) == 1 and log(clashing) == before
    assert head == next(one for one in subjects(clashing) if not one.startswith("Checkpoint"))


def test_a_file_that_was_changed_while_the_model_thought_is_left(
    clashing: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(prompt: str) -> str:
        if "<base>" in prompt:
            again(clashing).add("meanwhile")
            return GOOD
        return "## Facts\n\n-\n"

    with serving(reply) as server:
        for name, value in {"PROVIDER": "openai", "BASE_URL": server.url, "MODEL": "served", "KEY_ENV": ""}.items():
            monkeypatch.setenv(f"MDMEM_LLM_{name}", value)
        done = again(clashing).checkpoint()
    assert done.failures and not done.merged
    assert log(clashing) == HEADING + f"- 14:30 {OURS}\n- 14:30:05 meanwhile\n"
    assert len(again(clashing).conflicts()) == 1
