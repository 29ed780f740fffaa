#!/usr/bin/env python3
"""What each part of ranking is worth: the same judged queries under variations of one part at a time.

    python bench/ablation.py EVAL_DIR [--sets NAME,…] [--model NAME] [--work DIR] [--only WORD,…] [--try 'KEY=VALUE …']

EVAL_DIR and the work folder are those of `quality.py`, whose vaults and vectors serve here too. What the legs say to a
query is asked once and replayed to `mdmem.retrieve`, so that a variation takes seconds. Where something has no setting,
a constant of the module is changed for the time being. The first row is hybrid search as it is, the others have their
difference to it. `--only` chooses variations by words in their names; `--try` adds one, and may be repeated.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import judged
import processes
import replay
from judged import Rows, Sets, Task, say

from mdmem.model import Mode

SHOWN = ("R@10", "nDCG@10")


@dataclass(frozen=True, slots=True)
class Variation:
    """One part of ranking as it is not: settings, constants (`module:name`), times in queries, or one leg alone."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    dates: bool = True
    mode: Mode = "hybrid"


def _settings(name: str, **values: str) -> Variation:
    return Variation(name, {f"search.{key}": value for key, value in values.items()})


def _constant(name: str, place: str, value: Any) -> Variation:
    return Variation(name, constants={f"mdmem.{place}": value})


BASE = Variation("hybrid, as it is")
VARIATIONS = (
    Variation("keyword alone", mode="keyword"),
    Variation("semantic alone", mode="semantic"),
    *(_settings(f"weights {k} : {s}", weights=f"{k},{s}") for k, s in ((0.3, 0.7), (0.4, 0.6), (0.6, 0.4), (0.7, 0.3))),
    _settings("rrf .3 : .7", fusion="rrf", weights="0.3,0.7"),
    _settings("rrf .5 : .5", fusion="rrf", weights="0.5,0.5"),
    *(_constant(f"depth {depth}", "retrieve.fusion:DEPTH", depth) for depth in (10, 25, 100, 200)),
    _constant("identifiers not first", "retrieve.keyword:COMMON", -1),
    _constant("identifiers first, however common", "retrieve.keyword:COMMON", 10**9),
    Variation("times in queries not read", dates=False),
    _constant("times never find alone", "retrieve.keyword:MANY", -1),
    _constant("no substrings", "retrieve.keyword:_Search.add_substrings", lambda self, text, node, tiers: None),
    *(_settings(f"route {name}", routes=name) for name in ("short", "definition", "relation")),
    _constant("model asked whatever the script", "text.scripts:READABLE", 0),
    *(_settings(f"half-life {days} days", half_life_days=days) for days in ("365", "2000")),
    *(_settings(f"BM25 b {b}", bm25_b=b) for b in ("0.3", "0.5", "1")),
    *(_settings(f"BM25 k1 {k1}", bm25_k1=k1) for k1 in ("0.8", "1.6", "2")),
)


@contextmanager
def changed(constants: Mapping[str, Any]) -> Iterator[None]:
    """Give constants other values for a while."""
    with ExitStack() as stack:
        for place, value in constants.items():
            module, _, path = place.partition(":")
            target: Any = importlib.import_module(module)
            *owners, name = path.split(".")
            for owner in owners:
                target = getattr(target, owner)
            stack.enter_context(mock.patch.object(target, name, value))
        yield


def ask(task: Task, model: str, variations: Sequence[Variation]) -> dict[str, dict[str, list[str]]]:
    """Rank all queries of a task under each variation: ids by variation and query."""
    found: dict[str, dict[str, list[str]]] = {variation.name: {} for variation in variations}
    for folder, queries in task.vaults.items():
        vault = judged.opened(folder, {"embedding.model": model})
        judged.indexed(vault, f"{folder.name}, {model}")
        with replay.recording(vault) as tape:
            for variation in variations:
                say(f"{folder.name}: {variation.name}", end=False)
                settings = judged.changed(vault.settings, variation.settings)
                with changed(variation.constants):
                    for query in queries:
                        found[variation.name][query.id] = tape.rank(
                            query.text, variation.mode, settings, dates=variation.dates
                        )
    say(f"{task.name}: {task.queries} queries under {len(variations)} variations")
    return found


def print_table(metric: str, found: Mapping[str, Mapping[str, Rows]], variations: Sequence[Variation]) -> None:
    """Print one metric, a row for each variation and a column for each view."""
    print(f"\n| {metric} | {' | '.join(found)} | mean |\n| --- |{' ---: |' * (len(found) + 1)}")
    for variation in variations:
        values, cells = [], []
        for rows in found.values():
            value = judged.mean(rows[variation.name])[metric]
            difference, error = judged.gap(rows[variation.name], rows[BASE.name], metric)
            values.append((value, difference))
            sure = "**" if abs(difference) > 2 * error + 1e-9 else ""
            cells.append(f"{value:.3f}" if variation is BASE else f"{value:.3f} {sure}{_signed(difference)}{sure}")
        value, difference = (sum(column) / len(column) for column in zip(*values, strict=True))
        cells.append(f"{value:.3f}" if variation is BASE else f"{value:.3f} {_signed(difference)}")
        print(f"| {variation.name} | {' | '.join(cells)} |")


def _signed(difference: float) -> str:
    return f"{difference:+.3f}" if abs(difference) >= 0.0005 else "="


def chosen(options: argparse.Namespace) -> list[Variation]:
    """Give the variations that are wished for, the base first."""
    listed = [each for each in VARIATIONS if not options.only or any(word in each.name for word in options.only)]
    return [BASE, *listed, *(Variation(text, judged.assignments(text.split())) for text in options.tried)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="EVAL_DIR")
    parser.add_argument("--sets", type=judged.words, help="names with commas; all by default")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "mdmem-quality")
    parser.add_argument("--only", type=judged.words, default=(), help="words in names of variations, with commas")
    parser.add_argument("--try", action="append", default=[], dest="tried", metavar="'KEY=VALUE …'")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sets = Sets(options.folder.resolve(), options.work.resolve())
    variations = chosen(options)
    found: dict[str, dict[str, Rows]] = {}
    for name in options.sets or sets.names:
        for task in sets.tasks(name):
            for variation, hits in ask(task, options.model, variations).items():
                for view, rows in sets.measure(task, hits).items():
                    found.setdefault(view, {})[variation] = rows
    print(f"{options.model}; bold: more than two standard errors away from hybrid as it is; {processes.machine()}")
    for metric in SHOWN:
        print_table(metric, found, variations)


if __name__ == "__main__":
    main()
