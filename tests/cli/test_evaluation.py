"""`mdmem eval`: what it prints where, in words and as JSON, and how it ends."""

import json
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.cli import scorecard, terminal
from mdmem.evaluate import Difference
from mdmem.text import screen

QUERIES = (
    '{"id": "q1", "text": "teapot", "category": "china"}\n'
    '{"id": "q2", "text": "espresso grinder", "category": "coffee"}\n'
)
QRELS = "q1\tarchives/teapot\t1\nq2\tarchives/grinder\t1\n"


@pytest.fixture
def measured(run, vault):
    """A vault with documents, and beside it the files of questions."""
    folder = vault / "memory" / "archives"
    folder.mkdir()
    texts = {"espresso": "espresso grinder espresso", "grinder": "a grinder from Trieste", "teapot": "a teapot"}
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text + "\n")
    (vault.parent / "q.jsonl").write_text(QUERIES)
    (vault.parent / "r.tsv").write_text(QRELS)

    def call(*words, queries="../q.jsonl", qrels="../r.tsv", **options):
        return run("eval", "--queries", queries, "--qrels", qrels, *words, **options)

    return call


def test_json_has_every_mode_and_all_that_was_said(measured, vault):
    before = sorted(path for path in vault.rglob("*") if ".git" not in path.parts)
    done = measured("--json", env={"MDMEM_EMBEDDING_MODEL": "no-such-model"})
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    metrics = {"R@1": 0.5, "R@5": 1, "R@10": 1, "nDCG@10": 0.815465, "MRR@10": 0.75}
    assert found["queries"] == 2
    assert list(found["modes"]) == ["keyword", "hybrid"] and list(found["skipped"]) == ["semantic"]
    for mode in found["modes"]:
        assert list(found["modes"][mode]) == [*metrics, "p50_ms", "p95_ms"]
        assert found["modes"][mode].items() >= metrics.items()
        assert found["intervals"][mode]["R@1"] == [0, 1]
    assert found["groups"]["category"]["china"]["queries"] == 1
    assert found["groups"]["category"]["coffee"]["keyword"]["MRR@10"] == 0.5
    (comparison,) = found["comparisons"]
    assert comparison["first"] == {"mode": "hybrid", "settings": {}}
    assert comparison["metrics"]["R@1"] == {"difference": 0, "interval": [0, 0], "wins": 0, "losses": 0, "ties": 2}
    assert "against" not in found and found["notices"]
    assert before == sorted(path for path in vault.rglob("*") if ".git" not in path.parts)


def test_people_get_a_table_and_a_verdict(measured):
    done = measured("--mode", "keyword", "--against", "search.bm25_b=0.5", env={"COLUMNS": "80"})
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.split("\n")
    assert lines[:3] == [
        "2 queries, means with 95 % confidence intervals",
        "         keyword",
        "R@1      0.500 [0.000, 1.000]",
    ]
    assert "with search.bm25_b=0.5" in lines
    assert "nDCG@10 by category" in lines
    assert "coffee  1        0.631" in lines
    assert "keyword and keyword with search.bm25_b=0.5 are equally good on every query" in lines


def test_settings_for_one_measurement(measured, run):
    done = measured("--mode", "keyword", "--set", "search.bm25_b=0.25", "--against", "search.bm25_k1=2", "--json")
    found = json.loads(done.stdout)
    assert found["settings"] == {"search.bm25_b": "0.25"}
    assert found["against"]["settings"] == {"search.bm25_k1": "2"}
    assert found["against"]["modes"]["keyword"]["R@10"] == 1
    (comparison,) = found["comparisons"]
    assert comparison["second"] == {
        "mode": "keyword",
        "settings": {"search.bm25_b": "0.25", "search.bm25_k1": "2"},
    }
    assert run("config", "get", "search.bm25_b").stdout == "0.75\n"


def test_the_hits_can_be_kept(measured, vault):
    hits = "q1\tarchives/teapot\t1\nq2\tarchives/espresso\t2\nq2\tarchives/grinder\t1\n"
    assert measured("--mode", "keyword", "--run", "../run.tsv").returncode == 0
    assert (vault.parent / "run.tsv").read_text() == hits
    assert measured("--run", "../run.tsv").returncode == 0
    assert sorted(path.name for path in vault.parent.glob("run*")) == [
        "run.hybrid.tsv",
        "run.keyword.tsv",
        "run.tsv",
    ]


def test_questions_from_a_pipe(measured):
    done = measured("--mode", "keyword", "--json", queries="-", input=QUERIES)
    assert json.loads(done.stdout)["queries"] == 2
    done = measured(queries="-", input="oops\n")
    assert (done.returncode, done.stderr.split("\n")[0]) == (
        2,
        "error: stdin:1: this is no JSON: Expecting value at column 1",
    )


def test_numbers_of_the_last_list_stay(measured, on_terminal):
    script = (
        "python -m mdmem search teapot >/dev/null && python -m mdmem eval --queries ../q.jsonl --qrels ../r.tsv"
        " --mode keyword >/dev/null && python -m mdmem show 1"
    ).replace("python", sys.executable)
    code, seen = on_terminal("sh", "-c", script)
    assert code == 0
    assert "a teapot" in seen


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--mode", "semantic"], 13, "error: "),
        (["--mode", "keyword,fuzzy"], 2, "error: there is no mode fuzzy"),
        (["--mode", ","], 2, "error: --mode names no mode"),
        (["-k", "0"], 2, "error: -k must be 1 or more, not 0"),
        (["--set", "search.bm25_b"], 2, "error: --set search.bm25_b names no value"),
        (["--against", "search.k1=3"], 2, "error: there is no setting search.k1"),
        (["--run", "../q.jsonl", "--mode", "keyword"], 2, "error: --run would write over "),
        (["--run", "memory/run.tsv"], 2, "error: --run would write over "),
        (["--run", "../none/run.tsv"], 2, "error: --run cannot write "),
    ],
)
def test_what_cannot_be_meant(measured, vault, words, code, message):
    done = measured(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(message)
    assert (vault.parent / "q.jsonl").read_text() == QUERIES


def test_a_missing_file(measured):
    done = measured(queries="none.jsonl")
    assert (done.returncode, done.stderr.split("\n")[0]) == (
        2,
        "error: none.jsonl cannot be read: No such file or directory",
    )


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (Difference(0.02, (0.01, 0.04), 9, 1, 9), "a is better than b, by more than chance: nDCG@10 +0.020 [+0.010, +"),
        (Difference(-0.02, (-0.04, -0.01), 1, 9, 9), "a is worse than b, by more than chance: nDCG@10 -0.020"),
        (Difference(0.02, (-0.01, 0.04), 9, 4, 9), "a and b differ by no more than chance: nDCG@10 +0.020"),
        (Difference(0.2, (0.1, 0.4), 3, 0, 2), "a and b differ on too few queries to tell: nDCG@10 +0.200"),
        (Difference(0, (0, 0), 0, 0, 15), "a and b are equally good on every query"),
    ],
)
def test_the_verdict(difference, words):
    assert scorecard.verdict(difference, "a", "b").startswith(words)


@given(
    st.integers(20, 100),
    st.lists(st.lists(st.text("0.1 咖", min_size=1, max_size=9), min_size=2, max_size=2), min_size=1, max_size=4),
)
def test_tables_part_where_the_terminal_ends(wide, cells):
    written = []
    fake = SimpleNamespace(write=written.append, isatty=lambda: False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "_data", fake)
        patch.setenv("COLUMNS", str(wide))
        scorecard._table(["R@1", "会员" * 20], [(f"column{n}", column) for n, column in enumerate(cells)])
    lines = "".join(written).split("\n")
    assert max(map(screen.width, lines)) <= max(wide, wide // 2 + 2 + 18)
    for n, column in enumerate(cells):
        assert sum(f"column{n}" in line for line in lines) == 1
        assert all(any(cell.rstrip() in line for line in lines) for cell in column)
