"""What was measured: runs, groups of questions, and runs compared.

Owns the nouns of an evaluation and how they follow from single answers. It must never ask a vault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mdmem.evaluate.judgements import Question
from mdmem.evaluate.metrics import Interval, interval, percentile, resample
from mdmem.model import Mode

HEADLINE = "nDCG@10"
"""The metric that decides which of two runs is better."""

GROUPS = range(2, 21)
"""A key of the questions parts them into groups where it has so many values: fewer part nothing, more are data."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question: the ids found, best first, in how many milliseconds, and each metric of it."""

    question: Question
    hits: tuple[str, ...]
    took_ms: float
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Run:
    """All questions in one mode. `metrics` are means, and p50_ms and p95_ms; `resampled` the means of each resample."""

    mode: Mode
    outcomes: tuple[Outcome, ...]
    metrics: Mapping[str, float]
    resampled: Mapping[str, tuple[float, ...]]

    @property
    def intervals(self) -> dict[str, Interval]:
        """Give the 95 % confidence interval of each mean."""
        return {name: interval(means) for name, means in self.resampled.items()}


@dataclass(frozen=True, slots=True)
class Group:
    """The questions that share a value: how many, and the metrics of each mode on them."""

    queries: int
    metrics: Mapping[Mode, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of the first run less that of the second, paired by question, and who won how many questions."""

    mean: float
    interval: Interval
    wins: int
    losses: int
    ties: int

    @property
    def by_chance(self) -> bool:
        """Tell whether other questions might well have turned it around."""
        return self.interval[0] <= 0 <= self.interval[1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of the same questions, compared metric by metric."""

    first: Mode
    second: Mode
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured: `queries` are those that count, `skipped` the modes that could not run, and why."""

    queries: int
    runs: tuple[Run, ...]
    groups: Mapping[str, Mapping[str, Group]]
    comparisons: tuple[Comparison, ...]
    notices: tuple[str, ...] = ()
    skipped: Mapping[Mode, str] = field(default_factory=dict)


def compare(first: Run, second: Run) -> Comparison:
    """Compare two runs of the same questions, metric by metric."""
    assert [one.question.id for one in first.outcomes] == [one.question.id for one in second.outcomes]
    return Comparison(first.mode, second.mode, {name: _difference(first, second, name) for name in first.resampled})


def _difference(first: Run, second: Run, name: str) -> Difference:
    pairs = zip(first.outcomes, second.outcomes, strict=True)
    gaps = [one.values[name] - other.values[name] for one, other in pairs]
    means = [a - b for a, b in zip(first.resampled[name], second.resampled[name], strict=True)]
    wins, losses = (sum(sign * gap > 1e-9 for gap in gaps) for sign in (1, -1))
    low, high = interval(means)
    return Difference(sum(gaps) / len(gaps), (low, high), wins, losses, len(gaps) - wins - losses)


def against(report: Report, other: Report) -> tuple[Comparison, ...]:
    """Compare the modes of two reports on the same questions, each with itself."""
    second = {run.mode: run for run in other.runs}
    return tuple(compare(run, second[run.mode]) for run in report.runs if run.mode in second)


def runs_of(outcomes: Mapping[Mode, Sequence[Outcome]]) -> tuple[Run, ...]:
    """Make the runs; their means are resampled all together, since drawing is what takes time."""
    names = [(mode, name) for mode, found in outcomes.items() for name in found[0].values]
    means = resample([[one.values[name] for one in outcomes[mode]] for mode, name in names])
    by_name = dict(zip(names, means, strict=True))
    return tuple(
        Run(mode, tuple(found), _summary(found), {name: by_name[mode, name] for name in found[0].values})
        for mode, found in outcomes.items()
    )


def _summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Give the mean of each metric, and the time within which half and 95 % of the answers were there."""
    means = {name: sum(one.values[name] for one in outcomes) / len(outcomes) for name in outcomes[0].values}
    times = [one.took_ms for one in outcomes]
    return means | {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95)}


def groups_of(asked: Sequence[Question], outcomes: Mapping[Mode, Sequence[Outcome]]) -> dict[str, dict[str, Group]]:
    """Part the questions by each key that has a fitting number of values; one without the key is in no group."""
    groups: dict[str, dict[str, Group]] = {}
    for key in dict.fromkeys(key for question in asked for key in question.keys):
        values = dict.fromkeys(question.keys[key] for question in asked if key in question.keys)
        if len(values) in GROUPS:
            groups[key] = {value: _group(key, value, outcomes) for value in values}
    return groups


def _group(key: str, value: str, outcomes: Mapping[Mode, Sequence[Outcome]]) -> Group:
    inside = {mode: [one for one in found if one.question.keys.get(key) == value] for mode, found in outcomes.items()}
    return Group(len(next(iter(inside.values()))), {mode: _summary(found) for mode, found in inside.items()})


def comparisons_of(runs: Sequence[Run]) -> tuple[Comparison, ...]:
    """Compare hybrid with the better of its legs."""
    hybrid = [run for run in runs if run.mode == "hybrid"]
    legs = [run for run in runs if run.mode != "hybrid"]
    return (compare(hybrid[0], max(legs, key=lambda leg: leg.metrics[HEADLINE])),) if hybrid and legs else ()
