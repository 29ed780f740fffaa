"""Sets of judged queries: their vaults, what is asked of which, and how answers are scored.

A folder of such sets holds `build_vault.py`, `score.py` and `data/<set>/` with a corpus, `queries.jsonl` and
`qrels.tsv`; its README may have a table of reference figures. All of it is read where it is.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from mdmem import Vault, config
from mdmem.errors import MdmemError

METRICS = ("R@1", "R@5", "R@10", "nDCG@10", "MRR@10")
VECTORS = "vectors.sqlite"
WITHOUT = {"locomo-a": "adversarial"}
"""Sets that are scored a second time without a category of queries."""

EACH_SCOPE = ("memorybank-en",)
"""Sets that are asked a second time with a vault for each scope."""

SELDOM = 10
"""Seconds between two words about how far it is, where they cannot be written over each other."""

_last = [time.monotonic()]

Hits = Mapping[str, Sequence[str]]
"""The ids that were found for each query, best first."""

Rows = dict[str, dict[str, float]]
"""The metrics of each query."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it was typed, and where it belongs."""

    id: str
    text: str
    scope: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """Vaults with the queries that are put to each, and the names under which these are scored.

    `views` gives for each name the category that is left out, "" for none.
    """

    name: str
    set: str
    vaults: Mapping[Path, tuple[Query, ...]]
    views: Mapping[str, str]

    @property
    def queries(self) -> int:
        return sum(map(len, self.vaults.values()))


def say(text: str, *, end: bool = True) -> None:
    """Tell on stderr how far it is; what does not `end` is written over by the next, or told now and then in a file."""
    if sys.stderr.isatty():
        print(f"\r{text:<79}", end="\n" if end else "", file=sys.stderr, flush=True)
    elif end or time.monotonic() - _last[0] > SELDOM:
        print(text, file=sys.stderr, flush=True)
        _last[0] = time.monotonic()


@dataclass(slots=True)
class Sets:
    """A folder of sets, with the folder in which their vaults are kept."""

    folder: Path
    work: Path
    _score: ModuleType | None = None
    _judgements: dict[str, Mapping[str, Collection[str]]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "data").iterdir())

    @property
    def score(self) -> ModuleType:
        """The sets' own tool."""
        if self._score is None:
            spec = importlib.util.spec_from_file_location("score", self.folder / "score.py")
            assert spec and spec.loader
            self._score = importlib.util.module_from_spec(spec)
            writing, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder is not ours
            spec.loader.exec_module(self._score)
            sys.dont_write_bytecode = writing
        return self._score

    def queries(self, name: str) -> list[Query]:
        """Read the queries of a set that are judged."""
        raw, _ = self.score.load(self.folder / "data" / name)
        return [Query(one["id"], one["text"], one.get("scope", ""), one.get("category", "")) for one in raw]

    def judgements(self, name: str) -> Mapping[str, Collection[str]]:
        """Read the relevant ids of each query."""
        if name not in self._judgements:
            self._judgements[name] = self.score.load(self.folder / "data" / name)[1]
        return self._judgements[name]

    def tasks(self, name: str) -> Iterable[Task]:
        """Make the vaults of a set, and yield what is to be asked."""
        queries = self.queries(name)
        views = {name: ""}
        if name in WITHOUT:
            views = {f"{name}, all": "", f"{name}, without {WITHOUT[name]}": WITHOUT[name]}
        if name in EACH_SCOPE:
            views = {f"{name}, pooled": ""}
        pooled = self.vault(name)
        yield Task(name, name, {pooled: tuple(queries)}, views)
        if name in EACH_SCOPE:
            scopes = sorted({query.scope for query in queries})
            vaults = {
                self.vault(name, scope): tuple(query for query in queries if query.scope == scope) for scope in scopes
            }
            for vault in vaults:
                _take_vectors(pooled, vault)
            yield Task(f"{name}, per user", name, vaults, {f"{name}, per user": ""})

    def vault(self, name: str, scope: str = "") -> Path:
        """Make the vault of a set, or of one scope of it, unless it is there; give its folder."""
        vault = self.work / (f"{name}.{scope}" if scope else name)
        if not vault.exists():
            draft = vault.with_name(f"{vault.name}.draft")
            shutil.rmtree(draft, ignore_errors=True)
            command = [
                sys.executable,
                "-B",
                self.folder / "build_vault.py",
                self.folder / "data" / name,
                draft,
                "--git",
            ]
            command += ["--scope", scope] if scope else []
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            draft.rename(vault)
            say(f"{vault.name}: built")
        return vault

    def measure(self, task: Task, hits: Hits) -> dict[str, Rows]:
        """Give for each view the metrics of each query of it."""
        relevant = self.judgements(task.set)
        rows = {
            query.id: self.score.measure(hits.get(query.id, ()), relevant[query.id])
            for queries in task.vaults.values()
            for query in queries
        }
        categories = {query.id: query.category for queries in task.vaults.values() for query in queries}
        return {
            view: {id: row for id, row in rows.items() if not left_out or categories[id] != left_out}
            for view, left_out in task.views.items()
        }

    def reference(self) -> dict[tuple[str, str], dict[str, float]]:
        """Read the table of reference figures, by view and method; empty where there is none."""
        try:
            lines = (self.folder / "README.md").read_text(encoding="utf-8").splitlines()
        except OSError:
            return {}
        found: dict[tuple[str, str], dict[str, float]] = {}
        view = ""
        for line in lines:
            cells = [cell.strip().replace("**", "") for cell in line.strip().strip("|").split("|")]
            if line.startswith("|") and len(cells) == 2 + len(METRICS) and re.fullmatch(r"[01]\.\d+", cells[2]):
                view = re.sub(r" \([^)]*\)$", "", cells[0]) or view
                found[view, cells[1]] = dict(zip(METRICS, map(float, cells[2:]), strict=True))
        return found


def _take_vectors(source: Path, target: Path) -> None:
    """Copy the cache of vectors from one vault to another that has none."""
    kept, wanted = (Vault.open(vault).place.state / VECTORS for vault in (source, target))
    if kept.exists() and not wanted.exists():
        wanted.parent.mkdir(parents=True, exist_ok=True)
        draft = wanted.with_suffix(".draft")
        with closing(sqlite3.connect(kept)) as old, closing(sqlite3.connect(draft)) as new:
            old.backup(new)
        draft.rename(wanted)


def mean(rows: Rows) -> dict[str, float]:
    """Average the metrics over all queries."""
    return {metric: statistics.fmean(row[metric] for row in rows.values()) for metric in METRICS}


def gap(rows: Rows, others: Rows, metric: str) -> tuple[float, float]:
    """Give the mean difference of two answers to the same queries, and its standard error."""
    gaps = [rows[id][metric] - others[id][metric] for id in rows]
    error = statistics.stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else 0.0
    return statistics.fmean(gaps), error


def opened(folder: Path, settings: Mapping[str, str]) -> Vault:
    """Open a vault under other settings, which are written nowhere. Raises BadInput."""
    vault = Vault.open(folder, command="bench")
    return Vault(replace(vault.place, settings=changed(vault.settings, settings)))


def changed(settings: config.Settings, typed: Mapping[str, str]) -> config.Settings:
    """Give the settings with other values. Raises BadInput."""
    values = {name: config.parse(config.named(name), text) for name, text in typed.items()}
    return replace(settings, values={**settings.values, **values})


def indexed(vault: Vault, title: str) -> None:
    """Bring the index of a vault up to date, with vectors of its model."""

    def progress(step: str, done: int, total: int) -> None:
        say(f"{title}: {step}, {done} of {total}", end=False)

    done = vault.reindex(progress=progress)
    if done.embedded or done.failures:
        say(f"{title}: {done.embedded} passages embedded in {done.took_ms / 1000:.0f} s, {len(done.failures)} failures")
    vault.show_progress(None)


def words(text: str) -> tuple[str, ...]:
    """Read words with commas between them."""
    return tuple(filter(None, text.split(",")))


def assignments(pairs: Iterable[str]) -> dict[str, str]:
    """Read settings, KEY=VALUE each. Raises SystemExit for one that cannot be."""
    found = {}
    for pair in pairs:
        name, sign, typed = pair.partition("=")
        try:
            config.parse(config.named(name), typed)
        except MdmemError as error:
            raise SystemExit(f"{pair}: {error.message}; {error.hint}") from error
        found[name] = typed
        if not sign:
            raise SystemExit(f"{pair} is not KEY=VALUE")
    return found


def tell_counts(title: str, counts: Counter[str], total: int) -> None:
    """Tell on stderr what searches had to say, and how often."""
    for text, count in counts.most_common():
        say(f"{title}: {text} ({count} of {total})")
