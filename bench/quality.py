#!/usr/bin/env python3
"""Search quality on judged queries: every set, in every mode, with every model, beside reference figures.

    python bench/quality.py EVAL_DIR [--sets NAME,…] [--modes MODE,…] [--models NAME,…] [--work DIR] [--set KEY=VALUE …]

EVAL_DIR holds `build_vault.py`, `score.py` and `data/<set>/` with a corpus, `queries.jsonl` and `qrels.tsv`. Each
set becomes a vault in the work folder; vaults and vectors stay there, so that an interrupted run goes on where it was.
The text of each query alone is searched, ten hits each. The settings are tried out and written nowhere.

"ref." are the figures of EVAL_DIR's own table, where it has some of such a method: BM25 for keyword, MiniLM for
semantic, the sum of z-scores for hybrid. The second table is hybrid less the better of its legs, with the standard
error of the difference per query; one that is worse by more than 0.005 is marked.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import judged
import processes
from judged import METRICS, Rows, Sets, Task, say

from mdmem.errors import MdmemError, Missing
from mdmem.model import Mode

MODES: tuple[Mode, ...] = ("keyword", "semantic", "hybrid")
MODELS = ("all-MiniLM-L6-v2", "multilingual-e5-small")
METHODS = {"keyword": "BM25", "semantic": "MiniLM", "hybrid": "z-score .5"}
"""The reference that is like each mode; that of the two with a model was made with the first model."""

WORSE = -0.005
"""A difference below which hybrid counts as worse than a leg."""

Results = dict[tuple[str, str, str], Rows]
"""The metrics of each query, by view, model and mode. The model of keyword is none."""


def answers(task: Task, model: str, mode: Mode, settings: Mapping[str, str]) -> dict[str, list[str]]:
    """Search every query of a task. Raises MdmemError for a model that cannot serve."""
    hits: dict[str, list[str]] = {}
    said: Counter[str] = Counter()
    title = f"{task.name}, {model or 'no model'}, {mode}"
    for folder, queries in task.vaults.items():
        vault = judged.opened(folder, {**settings, "embedding.model": model})
        judged.indexed(vault, f"{folder.name}, {model or 'no model'}")
        if mode != "keyword" and (absent := vault.parts.meaning.absence()):
            raise Missing(absent, "install it")  # hybrid would do without
        vault.notices.clear()
        for query in queries:
            answer = vault.search(query.text, k=10, mode=mode)
            hits[query.id] = list(dict.fromkeys(hit.entry.id for hit in answer))
            said.update(answer.notices)
            if len(hits) % 50 == 0:
                say(f"{title}: {len(hits)} of {task.queries}", end=False)
    say(f"{title}: {len(hits)} queries")
    judged.tell_counts(title, said, task.queries)
    return hits


def write_run(path: Path, hits: Mapping[str, Sequence[str]]) -> None:
    """Write a run file: query, id, and a score that keeps the order."""
    lines = (f"{query}\t{id}\t{100 - place}\n" for query, ids in hits.items() for place, id in enumerate(ids))
    path.write_text("".join(lines), encoding="utf-8")


def measured(sets: Sets, options: argparse.Namespace) -> Results:
    """Ask and score everything."""
    found: Results = {}
    for name in options.sets or sets.names:
        for task in sets.tasks(name):
            for model, mode in _runs(options):
                try:
                    hits = answers(task, model, mode, options.settings)
                except MdmemError as error:
                    say(f"{task.name}, {model}, {mode}: left out: {error.message}")
                    continue
                for view, rows in sets.measure(task, hits).items():
                    found[view, model, mode] = rows
                file = ".".join(filter(None, (task.name.replace(", per ", "-"), model.replace("/", "-"), mode)))
                write_run(sets.work / f"{file}.tsv", hits)
    return found


def _runs(options: argparse.Namespace) -> Iterator[tuple[str, Mode]]:
    """Yield the models with their modes; the keyword leg needs none."""
    if "keyword" in options.modes:
        yield "", "keyword"
    for model in options.models:
        yield from ((model, mode) for mode in options.modes if mode != "keyword")


def print_quality(found: Results, reference: Mapping[tuple[str, str], Mapping[str, float]]) -> None:
    """Print one row for each view, model and mode."""
    then = [f"ref. {metric}" for metric in METRICS]
    print(f"| set | queries | model | mode | {' | '.join((*METRICS, *then))} |")
    print(f"| --- | ---: | --- | --- |{' ---: |' * 2 * len(METRICS)}")
    for (view, model, mode), rows in found.items():
        old = reference.get((view, METHODS[mode]), {}) if model in ("", MODELS[0]) else {}
        numbers = [f"{value:.3f}" for value in judged.mean(rows).values()]
        numbers += [f"{old[metric]:.3f}" if metric in old else "–" for metric in METRICS]
        print(f"| {view} | {len(rows)} | {model or '–'} | {mode} | {' | '.join(numbers)} |")


def print_gaps(found: Results) -> None:
    """Print what hybrid gains over the better of its legs."""
    print("\n| set | model | hybrid − better leg, R@10 | nDCG@10 | |\n| --- | --- | ---: | ---: | --- |")
    for view, model in dict.fromkeys((view, model) for view, model, mode in found if mode == "hybrid"):
        legs = [found.get((view, "", "keyword")), found.get((view, model, "semantic"))]
        cells, bad = [], []
        for metric in ("R@10", "nDCG@10"):
            better = max(filter(None, legs), key=lambda rows: judged.mean(rows)[metric], default=None)
            if better is None:
                continue
            difference, error = judged.gap(found[view, model, "hybrid"], better, metric)
            cells.append(f"{difference:+.3f} ± {error:.3f}")
            bad += [metric] if difference < WORSE else []
        if cells:
            print(f"| {view} | {model} | {' | '.join(cells)} | {'**worse: ' + ', '.join(bad) + '**' if bad else ''} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="EVAL_DIR")
    parser.add_argument("--sets", type=judged.words, help="names with commas; all by default")
    parser.add_argument("--modes", type=judged.words, default=MODES, help="with commas; all three by default")
    parser.add_argument("--models", type=judged.words, default=MODELS, help="with commas")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "mdmem-quality")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="pairs", help="try a setting")
    options = parser.parse_args()
    options.settings = judged.assignments(options.pairs)
    options.work.mkdir(parents=True, exist_ok=True)
    sets = Sets(options.folder.resolve(), options.work.resolve())
    found = measured(sets, options)
    tried = "".join(f", {pair}" for pair in options.pairs)
    print(f"{processes.machine()}{tried}\n")
    print_quality(found, sets.reference())
    if any(mode == "hybrid" for _, _, mode in found):
        print_gaps(found)


if __name__ == "__main__":
    main()
