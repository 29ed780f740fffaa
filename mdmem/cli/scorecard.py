"""An evaluation as people read it and as JSON: tables that part where the terminal ends, and a verdict in words.

It must never measure anything, and it writes through `terminal` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mdmem import evaluate
from mdmem.cli import render, terminal
from mdmem.cli.terminal import BOLD, DIM
from mdmem.evaluate import HEADLINE, Comparison, Difference, Group, Report, Run
from mdmem.text import screen

LABEL = 24
"""Columns that the name of a group may take."""

Column = tuple[str, Sequence[str]]
"""The head of a column and its cells."""


def show(report: Report, second: Report | None, *, other: Mapping[str, str]) -> None:
    """Write the metrics of each mode, those of each group, and which run is better; all again for the second report."""
    _paragraph(f"{render.counted(report.queries, 'query')}, means with 95 % confidence intervals", DIM)
    _metrics(report.runs)
    if second:
        terminal.line()
        _paragraph(f"with {_named(other)}", DIM)
        _metrics(second.runs)
    _groups(report)
    for comparison in report.comparisons:
        _compared(comparison, comparison.first, comparison.second)
    for comparison in _against(report, second):
        _compared(comparison, comparison.first, f"{comparison.second} with {_named(other)}")


def _against(report: Report, second: Report | None) -> Sequence[Comparison]:
    return evaluate.against(report, second) if second else ()


def _named(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _metrics(runs: Sequence[Run]) -> None:
    labels = [name.replace("_", " ") for name in runs[0].metrics]
    _table(labels, [(run.mode, list(_cells(run))) for run in runs])


def _cells(run: Run) -> Iterator[str]:
    intervals = run.intervals
    for name, value in run.metrics.items():
        if name in intervals:
            low, high = intervals[name]
            yield f"{value:.3f} [{low:.3f}, {high:.3f}]"
        else:
            yield f"{value:.1f}"


def _groups(report: Report) -> None:
    for key, groups in report.groups.items():
        terminal.line()
        _paragraph(f"{HEADLINE} by {key}", DIM)
        modes = [run.mode for run in report.runs]
        columns = [(mode, [f"{group.metrics[mode][HEADLINE]:.3f}" for group in groups.values()]) for mode in modes]
        _table(list(groups), [("queries", [str(group.queries) for group in groups.values()]), *columns])


def _compared(comparison: Comparison, first: str, second: str) -> None:
    terminal.line()
    _paragraph(verdict(comparison.differences[HEADLINE], first, second), BOLD)
    rows = comparison.differences
    if not any(each.wins + each.losses for each in rows.values()):
        return
    changed = [_gap(each) for each in rows.values()]
    counts = [f"{each.wins}/{each.losses}/{each.ties}" for each in rows.values()]
    _table(list(rows), [("difference", changed), ("won/lost/tied", counts)])


def _gap(difference: Difference) -> str:
    low, high = difference.interval
    return f"{difference.mean:+.3f} [{low:+.3f}, {high:+.3f}]"


FEW = 8
"""Queries with another result below which nothing is said: with seven wins and one loss a coin does it in 1 of 14."""


def verdict(difference: Difference, first: str, second: str) -> str:
    """Say which of two is better, and whether that is more than chance."""
    if not difference.wins + difference.losses:
        return f"{first} and {second} are equally good on every query"
    if difference.wins + difference.losses < FEW:
        return f"{first} and {second} differ on too few queries to tell: {HEADLINE} {_gap(difference)}"
    if difference.by_chance:
        return f"{first} and {second} differ by no more than chance: {HEADLINE} {_gap(difference)}"
    word = "better" if difference.mean > 0 else "worse"
    return f"{first} is {word} than {second}, by more than chance: {HEADLINE} {_gap(difference)}"


def _table(labels: Sequence[str], columns: Sequence[Column]) -> None:
    """Write rows under heads; columns for which there is no room follow below, under labels of their own."""
    labels = [screen.fit(render.one_line(label), min(LABEL, terminal.columns() // 2)) for label in labels]
    lead = max(map(screen.width, labels)) + 2
    for number, band in enumerate(_bands(columns, terminal.columns() - lead)):
        if number:
            terminal.line()
        terminal.line(" " * lead, *((_padded(cell, wide), BOLD) for (cell, _), wide in band))
        for row, label in enumerate(labels):
            cells = (_padded(cells[row], wide) for (_, cells), wide in band)
            terminal.line((_padded(label, lead), DIM), *cells)


def _bands(columns: Sequence[Column], room: int) -> Iterator[list[tuple[Column, int]]]:
    """Yield as many columns at a time as fit side by side, each with its width."""
    band: list[tuple[Column, int]] = []
    for column in columns:
        wide = max(map(screen.width, (column[0], *column[1]))) + 2
        if band and sum(each for _, each in band) + wide - 2 > room:
            yield band
            band = []
        band.append((column, wide))
    yield band


def _padded(text: str, wide: int) -> str:
    return text + " " * (wide - screen.width(text))


def _paragraph(text: str, style: str) -> None:
    text = render.one_line(text)
    for start, end in screen.wrap(text, terminal.columns()):
        terminal.line((text[start:end], style))


# JSON


def shape(
    report: Report, second: Report | None, *, wanted: Mapping[str, str], other: Mapping[str, str]
) -> dict[str, Any]:
    """Return the shape of an evaluation; `wanted` and `other` are the settings tried, of each report."""
    within = [_comparison(each, wanted, wanted) for each in report.comparisons]
    across = [_comparison(each, wanted, {**wanted, **other}) for each in _against(report, second)]
    notices = [*report.notices, *(second.notices if second else ())]
    whole: dict[str, Any] = {
        "queries": report.queries,
        "modes": _modes(report),
        "intervals": _intervals(report),
        "groups": {key: _groups_shape(groups) for key, groups in report.groups.items()},
        "comparisons": within + across,
        "notices": list(dict.fromkeys(notices)),
        "skipped": dict(report.skipped),
        "settings": dict(wanted),
    }
    if second:
        whole["against"] = {"settings": dict(other), "modes": _modes(second), "intervals": _intervals(second)}
    return whole


def _modes(report: Report) -> dict[str, Any]:
    return {run.mode: _rounded(run.metrics) for run in report.runs}


def _intervals(report: Report) -> dict[str, Any]:
    return {run.mode: {name: _pair(each) for name, each in run.intervals.items()} for run in report.runs}


def _groups_shape(groups: Mapping[str, Group]) -> dict[str, Any]:
    return {
        value: {"queries": group.queries, **{mode: _rounded(metrics) for mode, metrics in group.metrics.items()}}
        for value, group in groups.items()
    }


def _comparison(comparison: Comparison, first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, Any]:
    return {
        "first": {"mode": comparison.first, "settings": dict(first)},
        "second": {"mode": comparison.second, "settings": dict(second)},
        "metrics": {
            name: {
                "difference": round(each.mean, 6),
                "interval": _pair(each.interval),
                "wins": each.wins,
                "losses": each.losses,
                "ties": each.ties,
            }
            for name, each in comparison.differences.items()
        },
    }


def _rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3 if name.endswith("_ms") else 6) for name, value in metrics.items()}


def _pair(interval: tuple[float, float]) -> list[float]:
    return [round(bound, 6) for bound in interval]
