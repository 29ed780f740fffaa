"""Pairs that the real model finds alike: which of them a person is asked about, and which never."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from vault_sandbox import again, write

from mdmem import Vault, nightly
from mdmem.model import Resemblance

if TYPE_CHECKING:
    from conftest import Clock


pytestmark = [pytest.mark.slow, pytest.mark.large]

ALIKE = [
    ("User likes science fiction movies.", "The user likes science fiction movies"),
    ("Mara works as a nurse and lives in Bremen", "Mara lives in Bremen and works as a nurse"),
    ("The backup job runs every night on the old laptop", "Every night the backup job runs on the old laptop"),
    ("My sister plays the cello in an orchestra", "My sister is playing cello in an orchestra"),
    ("The project planning meeting takes place on Thursday", "Project planning meeting is on Thursday"),
    ("He does not eat meat", "He doesn't eat meat"),
    ("The kitten sleeps on the windowsill", "The kitten is sleeping on the windowsill"),
]

OTHERWISE = [
    ("User dislikes coffee in the morning", "User likes coffee in the morning"),
    ("Likes to swim in the cold lake", "Does not like to swim in the cold lake"),
    ("Turn the heating on at night", "Turn the heating off at night"),
    ("Notifications are enabled for the team chat", "Notifications are disabled for the team chat"),
    ("The price will increase next month", "The price will decrease next month"),
    ("The deployment succeeded on staging", "The deployment failed on staging"),
    ("Meeting with Tom on Monday", "Meeting with Tom on Tuesday"),
    ("Dentist appointment at 14:30", "Dentist appointment at 15:30"),
    ("Dentist appointment on 3 May", "Dentist appointment on 5 May"),
    ("The cello lesson is in the spring", "The cello lesson is in the autumn"),
    ("Weight this week was 71.2 kg", "Weight this week was 72.1 kg"),
    ("The dose of the medicine is 5 mg", "The dose of the medicine is 5 g"),
    ("Python 3.11 is required for the build", "Python 3.12 is required for the build"),
    ("Release v2 of the parser is out", "Release v3 of the parser is out"),
    ("Anna likes green tea", "Ben likes green tea"),
    ("Lunch with Anna in the old town", "Lunch with Maria in the old town"),
    ("Prefers tea over coffee", "Prefers coffee over tea"),
    ("Anna lent Ben her bicycle", "Ben lent Anna his bicycle"),
    ("The user has two cats", "The user has three cats"),
    ("My brother moved to the coast", "My sister moved to the coast"),
    ("Take the pills before dinner", "Take the pills after dinner"),
    ("He always locks the door", "He never locks the door"),
    ("Smoking is allowed on the balcony", "Smoking is forbidden on the balcony"),
    ("The window faces north", "The window faces south"),
    ("Rent is 900 euros a month", "Rent is 900 dollars a month"),
    ("Bought the house on the hill", "Sold the house on the hill"),
    ("Coffee with milk", "Coffee without milk"),
    ("Reports are due weekly", "Reports are due monthly"),
    ("He is no longer vegetarian", "He is vegetarian"),
    ("Does she like the new office?", "She likes the new office"),
    ("Upload the photos to the server", "Download the photos from the server"),
    ("The door code is `4711`", "The door code is `4712`"),
    ("She wants to stop smoking", "She wants to start smoking"),
    ("The old laptop runs the backups", "The new laptop runs the backups"),
    ("The flight takes three hours", "The flight takes three minutes"),
    ("Max can swim", "Max cannot swim"),
    ("Meet at the station at noon", "Meet at the station at midnight"),
    ("The left knee hurts when running", "The right knee hurts when running"),
]

CHINESE = [
    ("用户喜欢喝咖啡", "用户不喜欢喝咖啡"),
    ("用户喜欢喝热茶", "用户讨厌喝热茶"),
    ("小雨喜欢京剧", "小明喜欢京剧"),
    ("每天喝两杯咖啡", "每天喝三杯咖啡"),
    ("周一上午开会", "周二上午开会"),
    ("晚上记得关灯", "晚上记得开灯"),
    ("开启群聊通知", "关闭群聊通知"),
    ("房租价格上涨了", "房租价格下跌了"),
    ("他会游泳", "他不会游泳"),
    ("饭前吃药", "饭后吃药"),
    ("妈妈住在杭州", "爸爸住在杭州"),
    ("喜欢茶胜过咖啡", "喜欢咖啡胜过茶"),
    ("我喜欢 Visual Studio Code", "我讨厌 Visual Studio Code"),
    ("红色的文件夹里有合同", "蓝色的文件夹里有合同"),
    ("猫在窗台上睡觉", "猫正在窗台上睡觉"),
    ("用户喜欢科幻电影", "用户喜欢科幻片"),
]
"""Whether they say the same or not: a model that cannot read them has no say."""


@pytest.fixture
def proposed(vault: Vault, clock: Clock, minilm: str) -> list[Resemblance]:
    """What is proposed of a log with all these, and pairs of two personas besides."""
    said = [text for pair in (*ALIKE, *OTHERWISE, *CHINESE) for text in pair]
    said += [f"I keep the garden in order <!-- mdmem: persona={name} -->" for name in ("yuki", "rin")]
    said += [
        "I keep the garden tidy <!-- mdmem: persona=yuki -->",
        "I keep the garden tidy. <!-- mdmem: persona=rin -->",
    ]
    lines = [f"- {10 + number // 60}:{number % 60:02} {text}\n" for number, text in enumerate(said)]
    write(vault, "memory/daily/2026-11-10.md", "# 2026-11-10\n\n" + "".join(lines))
    vault.commit()
    again(vault).reindex()
    [outcome] = nightly.run(again(vault), steps=["duplicates"]).outcomes
    assert outcome.is_well and not outcome.items
    return list(outcome.similar)


def test_what_says_the_same_is_proposed_and_nothing_else(vault: Vault, proposed: list[Resemblance]) -> None:
    found = {frozenset(pair.texts) for pair in proposed}
    assert {frozenset(pair) for pair in ALIKE} <= found
    assert not found & {frozenset(pair) for pair in OTHERWISE}
    assert not [text for pair in proposed for text in pair.texts if not text.isascii()]
    assert len(found) <= len(ALIKE) + 3, found
    assert all(pair.cosine >= 0.92 for pair in proposed)
    personas = {vault.get(address).meta for pair in proposed for address in pair.addresses}
    assert {"persona"} not in [set(dict(meta)) for meta in personas]
