"""Both legs together, with the real model: one order, and the rules by which it comes about."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from meaning_sandbox import (
    BACKUPS,
    COFFEE,
    DATABASE,
    DENTIST,
    INVOICE,
    KITTEN,
    MEANT,
    NOODLES,
    OPERA,
    PROJECTOR,
    RUN,
    addresses,
    copy,
    scored,
)
from vault_sandbox import again, write

from mdmem import Vault
from mdmem.model import Answer, Hit

pytestmark = [pytest.mark.large, pytest.mark.slow]

MODES = ("hybrid", "semantic", "keyword")
LIKE = "a kitten asleep on the windowsill"


@pytest.fixture(scope="module")
def still(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault that no test of this module changes."""
    return copy(template, tmp_path_factory.mktemp("still") / "vault").root


@pytest.fixture
def vault(still: Path, minilm: str, clock: Any) -> Vault:
    return Vault.open(still)


@pytest.fixture
def own(template: Path, tmp_path: Path, minilm: str, clock: Any) -> Vault:
    """A vault of the test's own."""
    return copy(template, tmp_path / "vault")


def factors(answer: Answer) -> dict[str, float]:
    """Give by what age has multiplied each hit's score."""
    found = {hit.entry.address: [line for line in hit.why if line.startswith("age")] for hit in answer}
    return {address: float(lines[0].partition("×")[2]) for address, lines in found.items() if lines}


# One order


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", [LIKE, "decided backups", "PAY-70312-QX", ""])
def test_pages_are_pieces_of_one_order(vault: Vault, mode: str, query: str) -> None:
    whole = vault.search(query, mode=mode, k=100)
    assert len(set(addresses(whole))) == len(whole) == whole.total
    for k in (1, 3, 5):
        assert scored(vault.search(query, mode=mode, k=k)) == scored(whole)[:k]
        pages = [vault.search(query, mode=mode, k=k, page=page) for page in range(1, whole.total // k + 3)]
        assert [one for page in pages for one in scored(page)] == scored(whole)
        assert {page.total for page in pages} == {whole.total}


def test_the_order_stands_over_a_hundred_runs(vault: Vault) -> None:
    assert len({tuple(scored(vault.search(LIKE, fresh=True))) for _ in range(100)}) == 1


def test_pages_go_on_below_the_fused_candidates(own: Vault) -> None:
    day = "".join(f"- {n // 60:02}:{n % 60:02} The kitten slept, number {n}\n" for n in range(120))
    write(own, "memory/daily/2026-11-25.md", day)
    whole = own.search("kitten", k=1000)
    assert whole.total == len(set(addresses(whole))) >= 121
    pages = [scored(own.search("kitten", k=50, page=page)) for page in (1, 2, 3)]
    assert [one for page in pages for one in page] == scored(whole)


def test_a_document_is_one_hit_however_many_of_its_passages_fit(own: Vault) -> None:
    write(own, "memory/archives/cats.md", "".join(f"## Cat {n}\n\nThe cat slept.\n\n" for n in range(30)))
    for mode in MODES:
        assert addresses(own.search("cat slept", mode=mode, k=100)).count("archives/cats") == 1


def test_edits_and_a_rebuild_give_the_same_order(own: Vault) -> None:
    rng = random.Random(7)
    texts = ("The cat slept", "Tea with milk", "约好去看戏", "Paid ERR_1042", "A walk by the river", "the")
    for _ in range(12):
        number = rng.randrange(4)
        path = own.root / f"memory/daily/2026-10-0{number + 1}.md"
        if path.exists() and rng.random() < 0.3:
            path.unlink()
        else:
            lines = [f"- 10:0{n} {rng.choice(texts)}\n" for n in range(rng.randrange(1, 7))]
            write(own, f"memory/daily/{path.name}", "# d\n\n" + "".join(lines))
        own.search("cat")
    queries = ("a pet having a nap", "tea -milk", "ERR_1042", "walking", "the", "约好 date", "tag:habit sport")
    grown = {query: scored(own.search(query, k=100)) for query in queries}
    own.reindex(full=True)
    assert {query: scored(own.search(query, k=100)) for query in queries} == grown


def test_the_best_of_both_is_first_and_hybrid_is_the_default(vault: Vault) -> None:
    answer = vault.search("a kitten having a nap")
    assert answer.mode == "hybrid" and addresses(answer)[0] == KITTEN
    assert answer[0].ranks == {"keyword": 1, "semantic": 1}
    assert scored(answer) == scored(vault.search("a kitten having a nap", mode="hybrid", k=10))
    assert any("keyword: " in line for line in answer[0].why) and any("semantic: " in line for line in answer[0].why)


def test_hybrid_finds_all_that_either_leg_finds(vault: Vault) -> None:
    for query in (*MEANT, "kitten", "decided", "spring"):
        both = set(addresses(vault.search(query, k=100)))
        assert both >= set(addresses(vault.search(query, mode="keyword", k=100)))
        assert both >= set(addresses(vault.search(query, mode="semantic", k=100)))


# Identifiers


@pytest.mark.parametrize(
    "around", ["", "a kitten asleep on the windowsill ", "what happened to the pet having a nap, "]
)
def test_an_identifier_goes_first_whatever_is_near_in_meaning(vault: Vault, around: str) -> None:
    for mode in ("hybrid", "keyword"):
        assert addresses(vault.search(around + "PAY-70312-QX", mode=mode))[0] == INVOICE
    assert vault.search(around + "PAY-70312-QX")[0].why[0].startswith("goes first")


@pytest.mark.parametrize("name", ["ERR_1042", "0x80070005", "v1.0.77", "2025.11.3", "13812345678", "retry_count"])
def test_exact_names_are_hit_first(own: Vault, name: str) -> None:
    write(own, "memory/archives/names.md", f"What we saw once: {name}, and never again.\n")
    write(own, "memory/archives/near.md", f"An error, a version, a date, a number: {name[:-1]}\n")
    for query in (name, f"the error or version {name}"):
        assert addresses(own.search(query))[0] == "archives/names"


def test_a_pasted_line_finds_itself(vault: Vault) -> None:
    assert addresses(vault.search("Noodles, far too salty"))[0] == NOODLES


# Bounds


BOUND = [
    ("a pet having a nap -kitten", lambda text, tags, path: "kitten" not in text),
    ("sports tag:habit", lambda text, tags, path: "habit" in tags),
    ("sports -tag:habit", lambda text, tags, path: "habit" not in tags),
    ("food in:archives", lambda text, tags, path: path.startswith("memory/archives")),
    ("food -in:archives", lambda text, tags, path: not path.startswith("memory/archives")),
    ("kitten AND slept", lambda text, tags, path: "kitten" in text and "slept" in text),
    ('"hot oven" loaf', lambda text, tags, path: "hot oven" in text),
    ("animals NOT (kitten OR Snails)", lambda text, tags, path: "kitten" not in text and "Snails" not in text),
]


@pytest.mark.parametrize(("query", "fits"), BOUND, ids=[query for query, _ in BOUND])
@pytest.mark.parametrize("mode", MODES)
def test_what_a_query_insists_on_binds_every_hit(vault: Vault, mode: str, query: str, fits) -> None:  # type: ignore[no-untyped-def]
    hits = vault.search(query, mode=mode, k=100)
    for hit in hits:
        assert fits(vault.get(hit.entry.address).text, hit.entry.tags, hit.entry.path), hit.entry.address
    assert len(hits) or mode == "keyword"


@pytest.mark.parametrize("mode", MODES)
def test_filters_bind_every_hit(vault: Vault, mode: str) -> None:
    def found(**bounds: object) -> set[str]:
        return set(addresses(vault.search("kitten ran decided oven", mode=mode, k=100, **bounds)))

    since = datetime.fromisoformat("2026-11-10T00:00+01:00")
    until = datetime.fromisoformat("2026-11-17T00:00+01:00")
    assert found(since=since, until=until) <= {RUN, INVOICE} and RUN in found(since=since)
    assert found(tags=("habit",)) <= {COFFEE, RUN} and RUN in found(tags=("habit",))
    assert found(within="archives") <= {"archives/bread", "archives/garden"} and "archives/bread" in found()
    assert found(within="daily/2026-11-02") <= {COFFEE, KITTEN}
    assert found(tags=("nothing",)) == set()


def test_exact_asks_no_model(vault: Vault) -> None:
    answer = vault.search("kitten slept", exact=True)
    assert (answer.mode, addresses(answer)) == ("keyword", [KITTEN])


# Dates in the question


def test_a_named_day_brings_its_memories_first(vault: Vault) -> None:
    assert set(addresses(vault.search("你还记得我们11月7日约好的事吗？", k=2))) == {OPERA, PROJECTOR}
    assert set(addresses(vault.search("what did we agree on 7 November?", k=2))) == {OPERA, PROJECTOR}
    assert addresses(vault.search("what did I decide last Tuesday?"))[0] == BACKUPS
    assert set(addresses(vault.search("上周二的事", k=2))) == {DATABASE, NOODLES}
    assert addresses(vault.search("which doctor did I hear from this week", k=1)) == [DENTIST]


def test_a_day_without_memories_moves_nothing(vault: Vault) -> None:
    assert addresses(vault.search("a pet having a nap on 3 March 2020", k=1)) == [KITTEN]


# Age


@pytest.fixture
def aged(own: Vault, clock: Any, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """A vault in which age counts, with one sentence under many dates; now is half past two."""
    monkeypatch.setenv("MDMEM_SEARCH_HALF_LIFE_DAYS", "30")
    for days in (0, 30, 60):
        day = clock.moment - timedelta(days=days)
        write(own, f"memory/daily/{day:%Y-%m-%d}.md", f"- 14:30:05 Zebra crossing, {days}\n")
    write(own, "memory/daily/2026-09-10-trip.md", "- 14:30 Zebra crossing, suffix\n")
    write(own, "memory/sub/folder/2026-09-10.md", "Zebra crossing, folder\n")
    write(own, "memory/archives/2026-02-31.md", "Zebra crossing, no such day\n")
    write(own, "memory/archives/undated.md", "Zebra crossing, undated\n")
    write(own, "memory/MEMORY.md", "---\ncreated: 2026-08-01\n---\n# Memory\n\nZebra crossing, curated\n")
    return again(own)


@pytest.mark.parametrize("mode", MODES)
def test_age_halves_a_score_in_thirty_days_and_leaves_three_tenths(aged: Vault, mode: str) -> None:
    found = factors(aged.search("zebra crossing", mode=mode, k=100))
    of = {label: found.get(address) for label, address in zebras(aged).items()}
    assert (of["0"], of["30"], of["60"]) == (1.0, 0.5, 0.3)
    assert of["suffix"] == of["folder"] == 0.3
    assert (of["undated"], of["no such day"]) == (None, None)


def test_what_is_curated_never_ages(aged: Vault) -> None:
    assert zebras(aged)["curated"] not in factors(aged.search("zebra crossing", k=100))


def zebras(vault: Vault) -> dict[str, str]:
    """Give the addresses of the sentence by what stands behind it."""
    found = {entry.text.strip().rpartition(", ")[2]: entry.address for entry in vault.list() if "Zebra" in entry.text}
    assert len(found) == 8
    return found


def test_age_multiplies_the_score_exactly(aged: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    half = {hit.entry.address: hit.score for hit in aged.search("zebra crossing", mode="keyword", k=100)}
    monkeypatch.setenv("MDMEM_SEARCH_HALF_LIFE_DAYS", "0")
    whole = again(aged).search("zebra crossing", mode="keyword", k=100)
    assert factors(whole) == {}
    address = zebras(aged)["30"]
    assert half[address] == pytest.approx(0.5 * {hit.entry.address: hit.score for hit in whole}[address], abs=2e-6)


def test_age_is_nothing_unless_it_is_set(own: Vault) -> None:
    assert factors(own.search("kitten", k=100)) == {}


# Fusion


def test_reciprocal_ranks_are_summed_as_written(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_SEARCH_FUSION", "rrf")
    answer = again(vault).search("decided where the kitten slept", k=100)
    assert any("joined by reciprocal ranks: 0.3 / (60 + rank)" in reason for reason in answer.reasons)
    for hit in answer:
        assert hit.score == pytest.approx(reciprocal(hit, 0.3, 0.7, 60), abs=1e-6)
    assert {len(hit.ranks) for hit in answer} == {1, 2}
    monkeypatch.setenv("MDMEM_SEARCH_RRF_K", "10")
    monkeypatch.setenv("MDMEM_SEARCH_WEIGHTS", "2, 1")
    for hit in again(vault).search("decided where the kitten slept", k=100):
        assert hit.score == pytest.approx(reciprocal(hit, 2, 1, 10), abs=1e-6)


def reciprocal(hit: Hit, keyword: float, semantic: float, k: float) -> float:
    weights = {"keyword": keyword, "semantic": semantic}
    return sum(weights[leg] / (k + rank) for leg, rank in hit.ranks.items())


def test_weights_lean_to_one_leg(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "a pet having a nap, decided"
    monkeypatch.setenv("MDMEM_SEARCH_WEIGHTS", "1, 0")
    words = addresses(again(vault).search(question, k=1))
    monkeypatch.setenv("MDMEM_SEARCH_WEIGHTS", "0, 1")
    meaning = addresses(again(vault).search(question, k=1))
    assert words == addresses(vault.search(question, mode="keyword", k=1)) != meaning == [KITTEN]


def test_shares_add_up_to_the_score(vault: Vault) -> None:
    answer = vault.search(LIKE, k=100)
    sums = {}
    for hit in answer:
        shares = [float(found[1]) for line in hit.why if (found := re.match(r"\w+: ([+-]\d+\.\d\d), ", line))]
        none = [line for line in hit.why if line.startswith("keyword: ") and "none of the words" in line]
        assert len(shares) == 2 or none or "no vector" in " ".join(hit.why)
        sums[hit.entry.address] = sum(shares) / 2
    lowest = min(sums.values())
    for hit in answer:
        assert hit.score == pytest.approx(sums[hit.entry.address] - lowest, abs=0.03)


# Routes


def test_no_rule_counts_unless_it_is_set(vault: Vault) -> None:
    assert vault.search("tea").mode == vault.search("what is a sourdough").mode == "hybrid"


def test_rules_send_a_query_to_one_leg_and_say_so(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_SEARCH_ROUTES", "short, definition, relation")
    routed = again(vault)
    for query, mode, name in (
        ("kitten", "keyword", "short"),
        ("what is a sourdough", "semantic", "definition"),
        ("the connection between bread and salt", "hybrid", "relation"),
    ):
        answer = routed.search(query)
        assert answer.mode == mode and answer.reasons[0].startswith(f"rule '{name}': ")
    assert routed.search("kitten", tags=("habit",)).mode == "hybrid"  # a filter is context
    assert routed.search("kitten", mode="semantic").mode == "semantic"
    assert routed.search("a pet having a nap").mode == "hybrid"
