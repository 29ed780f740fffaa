"""Measuring search: the metrics by hand, chance by what is known of it, and a small vault asked for real."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import Vault, evaluate
from mdmem.errors import BadInput, Missing
from mdmem.evaluate import Question
from mdmem.evaluate.report import groups_of

LOG2_3 = math.log2(3)

ids = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
grades = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), min_size=1).filter(
    lambda found: max(found.values()) > 0
)


# Metrics


@pytest.mark.parametrize(
    ("hits", "grades", "k", "recall", "ndcg", "mrr"),
    [
        ("a", {"a": 1}, 1, 1, 1, 1),
        ("ba", {"a": 1}, 10, 1, 1 / LOG2_3, 1 / 2),
        ("ba", {"a": 1}, 1, 0, 0, 0),
        ("", {"a": 1}, 10, 0, 0, 0),
        ("xaybz", {"a": 1, "b": 1, "c": 1}, 4, 2 / 3, (1 / LOG2_3 + 1 / math.log2(5)) / (1 + 1 / LOG2_3 + 0.5), 1 / 2),
        ("ab", {"a": 1, "b": 3}, 10, 1, (1 + 3 / LOG2_3) / (3 + 1 / LOG2_3), 1),
        ("ab", {"a": 1, "b": 3, "c": 2}, 1, 1 / 3, 1 / 3, 1),
        ("nab", {"n": 0, "a": -1, "b": 2}, 10, 1, 1 / 2, 1 / 3),
        ("ab", {"a": 0.5}, 10, 1, 1, 1),
    ],
)
def test_metrics(hits, grades, k, recall, ndcg, mrr):
    assert evaluate.recall(hits, grades, k) == pytest.approx(recall)
    assert evaluate.ndcg(hits, grades, k) == pytest.approx(ndcg)
    assert evaluate.mrr(hits, grades, k) == pytest.approx(mrr)


@given(ids, grades, st.integers(1, 9))
def test_metrics_are_shares_and_grow_with_depth_where_they_must(hits, grades, k):
    here, deeper = evaluate.measure(hits, grades, k), evaluate.measure(hits, grades, k + 1)
    assert all(0 <= value <= 1 + 1e-12 for value in here.values())
    assert here[f"R@{k}"] <= deeper[f"R@{k + 1}"]
    assert here[f"MRR@{k}"] <= deeper[f"MRR@{k + 1}"]
    assert here[f"R@{k}"] <= here["R@10"]


@given(grades, st.integers(1, 9), st.randoms(use_true_random=False))
def test_no_order_beats_the_order_of_the_grades(grades, k, rng):
    best = sorted(grades, key=lambda id: -grades[id])
    assert evaluate.ndcg(best, grades, k) == pytest.approx(1)
    other = rng.sample(best, len(best))
    assert evaluate.ndcg(other, grades, k) <= 1 + 1e-12


def test_names_of_metrics():
    assert list(evaluate.measure("", {"a": 1})) == ["R@1", "R@5", "R@10", "nDCG@10", "MRR@10"]
    assert set(evaluate.measure("", {"a": 1}, 20)) - set(evaluate.measure("", {"a": 1})) == {
        "R@20",
        "nDCG@20",
        "MRR@20",
    }
    for metric in (evaluate.recall, evaluate.ndcg):
        with pytest.raises(ValueError, match="nothing is relevant"):
            metric("a", {"a": 0}, 1)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([5], 0.5, 5), ([3, 1, 2], 0.5, 2), ([4, 3, 2, 1], 0.5, 2), (range(1, 101), 0.95, 95), ([1, 2], 0, 1)],
)
def test_percentiles_are_values_that_occurred(values, share, expected):
    assert evaluate.percentile(values, share) == expected


# Chance


def test_resampled_means_are_repeatable_and_paired():
    first, second = [0.0, 1.0, 0.5, 1.0], [1.0, 1.0, 0.0, 0.25]
    both = evaluate.resample([first, second])
    assert both == evaluate.resample([first, second])
    assert both[0] == evaluate.resample([first])[0]
    assert both != evaluate.resample([first, second], seed=1)
    gaps = evaluate.resample([[a - b for a, b in zip(first, second, strict=True)]])[0]
    assert [a - b for a, b in zip(*both, strict=True)] == pytest.approx(list(gaps))


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_an_interval_is_as_wide_as_theory_has_it(share):
    size = 400
    means = evaluate.resample([[1.0] * int(share * size) + [0.0] * int(size - share * size)])[0]
    low, high = evaluate.interval(means)
    error = math.sqrt(share * (1 - share) / size)
    assert low == pytest.approx(share - 1.96 * error, abs=0.25 * error)
    assert high == pytest.approx(share + 1.96 * error, abs=0.25 * error)


@pytest.mark.parametrize("row", [[0.5], [0.25] * 7])
def test_where_nothing_varies_the_interval_is_a_point(row):
    assert evaluate.interval(evaluate.resample([row])[0]) == (row[0], row[0])


# Files


def test_queries():
    text = (
        "\ufeff# mine\n"
        '{"id": "q1", "text": "which coffee?", "category": "taste", "weight": 3, "year": 2026}\r\n'
        "\n"
        '{"text": "line\u2028break", "id": 7}'
    )
    assert evaluate.parse_queries(text, "q") == (
        Question("q1", "which coffee?", {"category": "taste"}),
        Question("7", "line\u2028break"),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "q"', "this is no JSON: Expecting ',' delimiter at column 11"),
        ("[1]", "this is no JSON object"),
        ('{"text": "x"}', "it has no id"),
        ('{"id": "x"}', "it has no text"),
        ('{"id": "x", "text": " "}', "its text is not a text with something in it"),
        ('{"id": true, "text": "x"}', "its id is not a text with something in it"),
        ('{"id": "a", "text": "x"}', "the id a is there twice"),
        ("[" * 100_000, ""),
    ],
)
def test_a_broken_query_is_named_by_its_line(line, message):
    with pytest.raises(BadInput) as caught:
        evaluate.parse_queries('{"id": "a", "text": "x"}\n\n' + line, "q.jsonl")
    assert caught.value.message.startswith(f"q.jsonl:3: {message}")


def test_judgements_in_every_form():
    text = (
        "\ufeffquery-id\tcorpus-id\tscore\n"
        "# mine\n"
        "q1\tarchives/my plan\t1\r\n"
        "q1\t0\tcard\t2.5\n"
        "\n"
        "q2 0 daily/2026-11-29#14:30 -1\n"
        "q2 card 0\n"
        "q1\tcard\t2.5"
    )
    assert evaluate.parse_qrels(text, "r") == {
        "q1": {"archives/my plan": 1.0, "card": 2.5},
        "q2": {"daily/2026-11-29#14:30": -1.0, "card": 0.0},
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1\tcard", "this is no judgement"),
        ("q1\t\t1", "this is no judgement"),
        ("q1 0 my card 1", "this is no judgement"),
        ("q1\tcard\tgood", "the grade 'good' is no number"),
        ("q1\tcard\tnan", "the grade 'nan' is no number"),
        ("q1\tcard\tgrade", "the grade 'grade' is no number"),
        ("q1\tplan\t2", "q1 and plan are judged twice, differently"),
    ],
)
def test_a_broken_judgement_is_named_by_its_line(line, message):
    with pytest.raises(BadInput) as caught:
        evaluate.parse_qrels(f"q1\tplan\t1\n{line}\n", "r.tsv")
    assert caught.value.message == f"r.tsv:2: {message}"


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin").write_bytes(b'{"id": "a", "text": "x"}\n\xe9')
    for name, message in (("none", "No such file"), (".", "Is a directory"), ("a\0b", "null"), ("latin", "2: this is")):
        for read in (evaluate.read_queries, evaluate.read_qrels):
            with pytest.raises(BadInput, match=message):
                read(tmp_path / name)


# A vault, asked


DOCUMENTS = {
    "espresso": "espresso grinder espresso",
    "grinder": "grinder of my grandmother, bought in Trieste",
    "teapot": "teapot from Kyoto",
    "kettle": "kettle of copper",
}
QUESTIONS = (
    Question("first", "teapot", {"kind": "sure", "place": "Kyoto"}),
    Question("second", "espresso grinder", {"kind": "hard"}),
    Question("none", "zeppelin", {"kind": "hard", "place": "Kyoto"}),
)
JUDGED = {
    "first": {"archives/teapot": 1.0},
    "second": {"archives/grinder": 2.0, "archives/kettle": 1.0, "archives/teapot": 0.0},
    "none": {"archives/airship": 1.0},
}
SECOND = (2 / LOG2_3) / (2 + 1 / LOG2_3)


@pytest.fixture
def asked(vault: Vault) -> Vault:
    folder = vault.root / "memory" / "archives"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / f"{name}.md").write_text(text + "\n")
    return vault


def test_a_run_by_hand(asked):
    seen: list[tuple[int, int]] = []
    report = evaluate.run(asked, QUESTIONS, JUDGED, modes=["keyword"], progress=lambda *step: seen.append(step))
    (run,) = report.runs
    assert [outcome.hits for outcome in run.outcomes] == [
        ("archives/teapot",),
        ("archives/espresso", "archives/grinder"),
        (),
    ]
    times = {name: run.metrics[name] for name in ("p50_ms", "p95_ms")}
    assert 0 < times["p50_ms"] <= times["p95_ms"]
    assert run.metrics == pytest.approx(
        {"R@1": 1 / 3, "R@5": 1.5 / 3, "R@10": 1.5 / 3, "nDCG@10": (1 + SECOND) / 3, "MRR@10": 0.5, **times}
    )
    assert all(low <= run.metrics[name] <= high for name, (low, high) in run.intervals.items())
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert report.queries == 3
    assert report.notices == ("1 relevant id is not in the vault, such as archives/airship, and can only be missed",)


def test_groups_are_keys_with_several_values(asked):
    report = evaluate.run(asked, QUESTIONS, JUDGED, modes=["keyword"])
    assert list(report.groups) == ["kind"]  # `place` has one value
    sure, hard = report.groups["kind"]["sure"], report.groups["kind"]["hard"]
    assert (sure.queries, hard.queries) == (1, 2)
    assert sure.metrics["keyword"]["nDCG@10"] == 1
    assert hard.metrics["keyword"]["nDCG@10"] == pytest.approx(SECOND / 2)


@pytest.mark.parametrize(("values", "is_group"), [(1, False), (2, True), (20, True), (21, False)])
def test_what_makes_a_group(values, is_group):
    questions = [Question(f"q{n}", "teapot", {"key": f"{n % values}"}) for n in range(21)]
    outcomes = [evaluate.Outcome(question, (), 1.0, {"R@1": 0.0}) for question in questions]
    assert (list(groups_of(questions, {"keyword": outcomes})) == ["key"]) is is_group


def test_what_is_not_judged_is_left_out_and_said(asked):
    questions = [QUESTIONS[0], Question("open", "kettle"), Question("zero", "kettle")]
    judged = {"first": JUDGED["first"], "zero": {"archives/kettle": 0.0}, "other": {"a": 1.0, "b": 1.0}}
    report = evaluate.run(asked, questions, judged, modes=["keyword"])
    assert report.queries == 1
    assert report.notices == (
        "2 queries have no relevant judgement and are left out",
        "2 judgements are of queries that are not asked",
    )
    with pytest.raises(BadInput, match="no query is judged"):
        evaluate.run(asked, questions[1:], judged)


def test_a_mode_without_a_model_is_skipped_unless_it_is_named(asked, monkeypatch):
    monkeypatch.setenv("MDMEM_EMBEDDING_MODEL", "no-such-model")
    asked = Vault.open(asked.root)
    report = evaluate.run(asked, QUESTIONS, JUDGED)
    assert [run.mode for run in report.runs] == ["keyword", "hybrid"]
    assert list(report.skipped) == ["semantic"] and report.skipped["semantic"]
    assert any(text.startswith("hybrid: ") and text.endswith("(3 of 3 queries)") for text in report.notices)
    with pytest.raises(Missing):
        evaluate.run(asked, QUESTIONS, JUDGED, modes=["keyword", "semantic"])


def test_hybrid_is_compared_with_its_better_leg(asked):
    (comparison,) = evaluate.run(asked, QUESTIONS, JUDGED, modes=["hybrid", "keyword"]).comparisons
    assert (comparison.first, comparison.second) == ("hybrid", "keyword")
    gap = comparison.differences["nDCG@10"]
    assert (gap.mean, gap.interval, gap.wins, gap.losses, gap.ties) == (0, (0, 0), 0, 0, 3)
    assert gap.by_chance


def test_other_settings_are_tried_and_leave_no_trace(asked):
    log = "# 2026-11-02\n\n- 09:00 tram\n- 09:05 tram " + "stops at many corners of this old town " * 3 + "tram\n"
    (asked.root / "memory" / "daily").mkdir(exist_ok=True)
    (asked.root / "memory" / "daily" / "2026-11-02.md").write_text(log)
    files = {path: path.read_bytes() for path in asked.root.rglob("*.md")}
    other = evaluate.tuned(asked, {"search.bm25_b": "0"})
    question = [Question("tram", "tram")]
    judged = {"tram": {"daily/2026-11-02#09:00": 1.0}}
    ours, theirs = (evaluate.run(vault, question, judged, modes=["keyword"]) for vault in (asked, other))
    (comparison,) = evaluate.against(ours, theirs)
    gap = comparison.differences["MRR@10"]
    assert (gap.mean, gap.interval, gap.wins, gap.losses, gap.ties) == (0.5, (0.5, 0.5), 1, 0, 0)
    assert not gap.by_chance
    assert asked.settings.number("search.bm25_b") == 0.75
    assert files == {path: path.read_bytes() for path in asked.root.rglob("*.md")}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("search.bm25_b", "2", "from 0 to 1"),
        ("search.bm25", "1", "there is no setting"),
        ("timezone", "UTC", "the index depends on it"),
    ],
)
def test_settings_that_cannot_be_tried(vault, name, value, message):
    with pytest.raises(BadInput, match=message):
        evaluate.tuned(vault, {name: value})


def test_entries_that_share_an_id_count_once(asked: Vault, tmp_path: Path):
    text = "# 2026-11-02\n\n" + "".join(f"- 09:0{n} zither <!-- mdmem: id=z -->\n" for n in range(3))
    (asked.root / "memory" / "daily").mkdir(exist_ok=True)
    (asked.root / "memory" / "daily" / "2026-11-02.md").write_text(text)
    report = evaluate.run(asked, [Question("q", "zither")], {"q": {"z": 1.0}}, modes=["keyword"])
    (outcome,) = report.runs[0].outcomes
    assert outcome.hits.count("z") == 1
    assert outcome.values["nDCG@10"] == 1
