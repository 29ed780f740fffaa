"""Keyword search on real vaults: what is found, in what order, and what is shown."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mdmem import Vault
from mdmem.errors import BadInput
from mdmem.model import Answer

LOG = """# 2026-11-02

- 09:00 Order fails with ERR_1042 on node.js v1.0.77, see src/orders/retry_count.py
- 09:05 Duplicate key E11000, then 0x80070005 from Windows
- 09:10 会员卡有效期到三月，续费打八折
- 09:15 The espresso at 65℃ is best #coffee/habits
- 09:20 Kubernetes runs off-line jobs with --dry-run, real-time only
- 09:25 Use C++ or C#, never a.b => c 🐱
- 09:30 他喜欢喝茶，手机 13812345678
- 09:35 Phone 138-1234-5678 until 2026.4.10 or 2026-11-15
- 09:40 To be or not to be
- 09:45 GPT-4o 咖啡 习惯 together
- 09:50 木火共生关系的核心机制
- 09:55 Café crème, ｆｕｌｌ ｗｉｄｔｈ
"""

DOCUMENT = """---
title: Orders runbook
tags: [work/harbor, ops]
wuxing: 土
---
# Runbook

Restart the worker.

## Duplicates

Drop the index, then rebuild it. American customers first.
"""


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made, _ = Vault.init(tmp_path / "v")
    daily = made.root / "memory" / "daily"
    daily.mkdir()
    (daily / "2026-11-02.md").write_text(LOG, encoding="utf-8")
    (made.root / "memory" / "archives").mkdir()
    (made.root / "memory" / "archives" / "orders.md").write_text(DOCUMENT, encoding="utf-8")
    return made


def addresses(answer: Answer) -> list[str]:
    return [hit.entry.address for hit in answer]


def at(minute: str) -> str:
    return f"daily/2026-11-02#09:{minute}"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("ERR_1042", "00"),
        ("err_1042", "00"),
        ("1042", "00"),
        ("ERR_104", "00"),
        ("v1.0.77", "00"),
        ("node.js", "00"),
        ("retry_count", "00"),
        ("retry", "00"),
        ("E11000", "05"),
        ("0x80070005", "05"),
        ("续费", "10"),
        ("会员卡 优惠", "10"),
        ("请问我的会员卡什么时候到期", "10"),
        ("65℃", "15"),
        ("65", "15"),
        ("tag:coffee", "15"),
        ("tag:coffee/habits", "15"),
        ("ubernet", "20"),
        ("real-time", "20"),
        ("off-line", "20"),
        ("--dry-run", "20"),
        ("C++", "25"),
        ("c#", "25"),
        ("=>", "25"),
        ("🐱", "25"),
        ("a.b", "25"),
        ("茶", "30"),
        ("13812345678", "30"),
        ("1234567", "30"),
        ("138-1234-5678", "35"),
        ("2026.4.10", "35"),
        ("2026-11-15", "35"),
        ('"to be or not"', "40"),
        ("gpt-4o 咖啡 习惯", "45"),
        ("木火共生", "50"),
        ("木火*", "50"),
        ("五行木火", "50"),
        ("cafe creme", "55"),
        ("full width", "55"),
    ],
)
def test_found_first(vault: Vault, query: str, first: str) -> None:
    assert addresses(vault.search(query))[0] == at(first)


@pytest.mark.parametrize(
    "query", ["orders", "Runbook", "harbor", "土", "wuxing", "ameri*", "archives", '"drop the index"']
)
def test_a_document_is_found_in_every_field(vault: Vault, query: str) -> None:
    assert "archives/orders" in addresses(vault.search(query))


@pytest.mark.parametrize(
    ("query", "minutes"),
    [
        ("jobs -kubernetes", set()),
        ("jobs AND kubernetes", {"20"}),
        ("(espresso OR phone) AND until", {"35"}),
        ("NOT jobs in:daily", {"00", "05", "10", "15", "25", "30", "35", "40", "45", "50", "55"}),
        ("in:daily/2026-11 espresso", {"15"}),
        ("in:archives espresso", set()),
        ('"best espresso"', {"15"}),
    ],
)
def test_operators(vault: Vault, query: str, minutes: set[str]) -> None:
    assert {a[-2:] for a in addresses(vault.search(query, k=50)) if "#" in a} == minutes


def test_a_phrase_that_is_nowhere_is_searched_by_its_words_and_said(vault: Vault) -> None:
    answer = vault.search('"best espresso"')
    assert answer.notices == ("nothing holds the phrase as it stands; its words were searched",)


@pytest.mark.parametrize(
    "query", ["C#", "a.b", "x OR", '"open', "NOT", "(", "*", "''", "\\", "[[", "%", "tag:", "in:", "-"]
)
def test_any_string_is_a_query(vault: Vault, query: str) -> None:
    assert isinstance(vault.search(query).total, int)


def test_a_huge_query_is_cut_and_said(vault: Vault) -> None:
    for query in ("espresso " * 200_000, "x" * 1_000_000, "(" * 5000):
        answer = vault.search(query)
        assert any("8192 bytes" in notice for notice in answer.notices) == (len(query) > 8192)


def test_an_empty_query_lists_everything_newest_first(vault: Vault) -> None:
    answer = vault.search("  ", k=100)
    assert addresses(answer)[0] == at("55")
    assert answer.total == len(answer) == 14  # twelve entries, the document, MEMORY.md


def test_literal_queries_find_at_least_what_grep_finds(vault: Vault) -> None:
    rng = random.Random(7)
    lines = [line[8:] for line in LOG.split("\n") if line.startswith("- ")] + DOCUMENT.split("\n")[6:]
    for _ in range(300):
        line = rng.choice([line for line in lines if line.strip()])
        start = rng.randrange(len(line))
        needle = line[start : start + rng.randrange(1, 12)].strip()
        if not needle:
            continue
        found = set(addresses(vault.search(needle, k=100)))
        for n, text in enumerate(line for line in LOG.split("\n") if line.startswith("- ")):
            if needle.lower() in text[8:].lower():
                assert at(f"{n * 5:02}") in found, needle
        if any(needle.lower() in text.lower() for text in DOCUMENT.split("\n")):
            assert "archives/orders" in found, needle


def test_exact_asks_for_the_substring_alone(vault: Vault) -> None:
    assert addresses(vault.search("ubernet", exact=True)) == [at("20")]
    assert addresses(vault.search("espresso kubernetes", exact=True)) == []


def test_substring_hits_rank_below_what_bm25_found(vault: Vault) -> None:
    vault.add("A netes word", at=None)
    answer = vault.search("netes", k=10)
    assert "#09:20" in addresses(answer)[1]
    assert answer[0].score > 0 == answer[1].score


def test_order_is_total_and_pages_do_not_overlap(vault: Vault) -> None:
    everything = addresses(vault.search("windows kubernetes best phone order together", k=100))
    assert len(everything) > 3
    for k in (1, 2, 5):
        assert addresses(vault.search("windows kubernetes best phone order together", k=k)) == everything[:k]
    pages = [
        addresses(vault.search("windows kubernetes best phone order together", k=2, page=page)) for page in range(1, 10)
    ]
    assert [address for page in pages for address in page] == everything


def test_filters(vault: Vault) -> None:
    day = vault.get(at("00")).date
    assert day is not None
    later = day.replace(hour=9, minute=30)
    assert set(addresses(vault.search("", since=later, k=50))) == {at(m) for m in ("30", "35", "40", "45", "50", "55")}
    assert at("30") not in addresses(vault.search("", until=later, k=50))
    assert addresses(vault.search("", tags=("#Coffee",))) == [at("15")]
    assert addresses(vault.search("", tags=("work",))) == ["archives/orders"]
    assert addresses(vault.search("", within="archives")) == ["archives/orders"]


def test_a_hit_shows_the_best_passage_and_its_lines(vault: Vault) -> None:
    long = "\n\n".join(f"## Part {n}\n\n" + f"Filler number {n} goes on. " * 60 for n in range(8))
    path = vault.root / "memory" / "archives" / "long.md"
    path.write_text(f"# Long\n\n{long}\n\n## Needle\n\nThe zebra is here.\nAnd a second line.\n", encoding="utf-8")
    hit = vault.search("zebra")[0]
    shown = path.read_text(encoding="utf-8").split("\n")[hit.lines[0] - 1 : hit.lines[1]]
    assert "The zebra is here." in shown and "\n".join(shown) == hit.text
    assert [hit.snippet[a:b] for a, b in hit.marks] == ["zebra"]
    assert addresses(vault.search("filler", k=50)).count("archives/long") == 1


def test_short_and_to_the_point_ranks_before_long_and_general(vault: Vault) -> None:
    essay = "General thoughts about many things in life. " * 50 + "Also tofu. "
    (vault.root / "memory" / "archives" / "essay.md").write_text(essay, encoding="utf-8")
    added = vault.add("Tofu, please")
    assert addresses(vault.search("tofu")) == [added.address, "archives/essay"]


def test_term_frequency_saturates_and_length_is_normalised(vault: Vault) -> None:
    for name, text in (
        ("ten", "zulu " * 10 + "pad " * 20),
        ("three", "zulu " * 3 + "pad " * 27),
        ("long", "zulu " * 3 + "pad " * 200),
    ):
        (vault.root / "memory" / "archives" / f"{name}.md").write_text(text, encoding="utf-8")
    scores = {hit.entry.address: hit.score for hit in vault.search("zulu")}
    assert 1 < scores["archives/ten"] / scores["archives/three"] < 2
    assert scores["archives/three"] > scores["archives/long"]


def test_a_deleted_or_changed_passage_is_never_shown(vault: Vault) -> None:
    assert vault.search("espresso").total == 1
    path = vault.root / "memory" / "daily" / "2026-11-02.md"
    path.write_text(LOG.replace("espresso", "ristretto"), encoding="utf-8")
    assert vault.search("espresso").total == 0
    assert addresses(vault.search("ristretto")) == [at("15")]
    path.unlink()
    assert vault.search("ristretto").total == 0


def test_a_removed_entry_stays_away(vault: Vault) -> None:
    vault.remove(at("15"))
    assert vault.search("espresso").total == 0
    vault.reindex(full=True)
    assert vault.search("espresso").total == 0


def test_an_empty_vault_has_no_hits(tmp_path: Path) -> None:
    vault, _ = Vault.init(tmp_path / "empty")
    assert vault.search("anything").total == 0


def test_names_are_kept_apart(vault: Vault) -> None:
    for name in ("trip_plan", "trip-plan", "trip plan", "README", "readme"):
        (vault.root / "memory" / f"{name}.md").write_text(f"zanzibar {name}", encoding="utf-8")
    assert set(addresses(vault.search("zanzibar"))) == {"trip_plan", "trip-plan", "trip plan", "README", "readme"}


@pytest.mark.parametrize(
    ("query", "minutes"),
    [
        ("E1100 in:daily", {"05"}),
        ("E1100 -zebra", {"05"}),
        ("E1100 AND duplicate", {"05"}),
        ('"zzz espresso" -best', set()),
        ('"zzz espresso" in:archives', set()),
        ("NOT espresso in:archives", set()),
        ("-espresso", {"00", "05", "10", "20", "25", "30", "35", "40", "45", "50", "55"}),
        ("espresso -best :)", set()),
    ],
)
def test_bounds_hold_whatever_else_the_query_says(vault: Vault, query: str, minutes: set[str]) -> None:
    assert {a[-2:] for a in addresses(vault.search(query, k=50)) if "#" in a} == minutes


@pytest.mark.parametrize("query", ["ai", "il", "dai"])
def test_the_folder_of_the_logs_is_not_what_they_say(vault: Vault, query: str) -> None:
    assert all(query in hit.entry.text.lower() for hit in vault.search(query, k=50))


def test_what_is_excluded_by_name_is_not_found_by_its_letters(vault: Vault) -> None:
    vault.add("I do not espresso")
    assert not any("espresso" in hit.entry.text for hit in vault.search("NOT espresso", k=50))


def test_a_line_pasted_from_a_log_finds_itself(vault: Vault) -> None:
    for line in ("Clients MUST NOT retry (see RFC)", "-5 degrees -wind", 'said "no" AND left'):
        added = vault.add(line)
        assert added.address in addresses(vault.search(line, k=50)), line


def test_headings_of_a_log_are_found(vault: Vault) -> None:
    path = vault.root / "memory" / "daily" / "2026-11-03.md"
    path.write_text("# Trip to Kyoto\n\n- 10:00 a\n\n## Sprint review\n\n- 11:00 b\n", encoding="utf-8")
    hit = vault.search("sprint review")[0]
    assert (hit.entry.address, hit.entry.kind) == ("daily/2026-11-03", "document")
    assert addresses(vault.search("kyoto trip")) == ["daily/2026-11-03"]
    assert addresses(vault.search("11:00 b", exact=True)) == ["daily/2026-11-03#11:00"]


def test_names_with_odd_blanks_and_endings_are_addresses(vault: Vault) -> None:
    for name in ("会议\u3000记录", "x@abcdef", "x.md", "👩\u200d💻 notes", "no\u00a0break"):
        (vault.root / "memory" / f"{name}.md").write_text("zanzibar", encoding="utf-8")
    found = vault.search("zanzibar", k=20)
    assert len(found) == 5
    for hit in found:
        assert vault.get(hit.entry.address).path == hit.entry.path


def test_the_budget_is_spent_around_the_match(vault: Vault) -> None:
    vault.add("filler " * 100 + "zanzibar " + "filler " * 100)
    (hit,) = vault.search("zanzibar", max_chars=60)
    assert "zanzibar" in hit.text and len(hit.text) <= 60


@pytest.mark.parametrize("options", [{"k": 0}, {"page": -1}, {"max_chars": 0}])
def test_numbers_count_from_one(vault: Vault, options: dict[str, int]) -> None:
    with pytest.raises(BadInput):
        vault.search("tea", **options)
