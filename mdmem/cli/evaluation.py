"""The command that measures: eval."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from mdmem import fsio
from mdmem.cli import options, session, terminal
from mdmem.errors import BadInput
from mdmem.model import Mode

if TYPE_CHECKING:
    from mdmem.evaluate import Question, Report, Run
    from mdmem.vault import Vault


def eval_(
    queries: Annotated[
        str, typer.Option("--queries", metavar="FILE", help="JSON Lines with id and text; - reads stdin.")
    ],
    qrels: Annotated[str, typer.Option("--qrels", metavar="FILE", help="Lines of query-id TAB id TAB grade.")],
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="MODES", help="Only these of keyword,semantic,hybrid.")
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="Measure at this depth too.")] = 10,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Try another setting of search; may be repeated."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option("--against", metavar="KEY=VALUE", help="Compare with such settings; may be repeated."),
    ] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="FILE", help="Write the hits there.")] = None,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Measure search on your own questions: recall, nDCG, MRR and time of each mode.

    Other texts of a question, such as its category, make groups. A hit counts by its id, and a judgement with a grade
    above 0 by its grade. --run writes query-id TAB id TAB score, of several modes each to a file of its own, where
    the score counts down; nothing else is written. --set and --against change nothing but this one measurement.

    \b
    Examples:
      mdmem eval --queries queries.jsonl --qrels qrels.tsv
      mdmem eval --queries q.jsonl --qrels r.tsv --mode keyword --against search.bm25_b=0.4
    """
    modes, wanted, other = _modes(mode), _settings(changes, "--set"), _settings(against, "--against")
    session.positive(k, "-k")
    targets = _targets(run, modes) if run else {}
    with session.opened("eval", vault, say=False) as opened:
        from mdmem import evaluate

        base = evaluate.tuned(opened, wanted)
        rival = evaluate.tuned(base, other) if other else None
        _check(targets.values(), (queries, qrels), opened)
        questions, judgements = _questions(queries), evaluate.read_qrels(qrels)
        report = _measured(base, questions, judgements, modes=modes, k=k)
        ran = [each.mode for each in report.runs]
        second = _measured(rival, questions, judgements, modes=ran, k=k) if rival else None
        _show(report, second, wanted=wanted, other=other, as_json=as_json)
        for each in report.runs if run else ():
            _write(targets[each.mode], each)


def _measured(
    vault: Vault,
    questions: Sequence[Question],
    judgements: Mapping[str, Mapping[str, float]],
    *,
    modes: Sequence[Mode] | None,
    k: int,
) -> Report:
    from mdmem import evaluate

    with terminal.progress() as progress:
        vault.show_progress(progress)
        step = partial(progress, "asking") if progress else None
        return evaluate.run(vault, questions, judgements, modes=modes, k=k, progress=step)


def _questions(name: str) -> tuple[Question, ...]:
    from mdmem import evaluate

    if name == "-":
        return evaluate.parse_queries(session.readable(terminal.read()), "stdin")
    return evaluate.read_queries(name)


def _show(
    report: Report, second: Report | None, *, wanted: dict[str, str], other: dict[str, str], as_json: bool
) -> None:
    from mdmem.cli import scorecard  # what it needs of the vault would slow every command's help down

    notices = [*report.notices, *(second.notices if second else ())]
    if as_json:
        terminal.value(scorecard.shape(report, second, wanted=wanted, other=other))
        return
    session.tell([*(f"{mode} was skipped: {reason}" for mode, reason in report.skipped.items()), *notices])
    scorecard.show(report, second, other=other)


def _modes(typed: str | None) -> tuple[Mode, ...] | None:
    """Return the modes that are named, None for all. Raises BadInput."""
    if typed is None:
        return None
    words = [word.strip() for word in typed.split(",") if word.strip()]
    known: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}
    strange = [word for word in words if word not in known]
    if strange or not words:
        what = f"there is no mode {strange[0]}" if strange else "--mode names no mode"
        raise BadInput(what, f"the modes are {', '.join(known)}, with commas between")
    return tuple(known[word] for word in words)


def _settings(typed: Iterable[str] | None, option: str) -> dict[str, str]:
    """Return value by name of what was typed as KEY=VALUE. Raises BadInput."""
    pairs = [each.partition("=") for each in typed or ()]
    for name, sign, _ in pairs:
        if not sign or not name.strip():
            raise BadInput(f"{option} {name} names no value", f"write {option} search.bm25_b=0.4")
    return {name.strip(): value for name, _, value in pairs}


def _targets(run: str, modes: Sequence[Mode] | None) -> dict[Mode, Path]:
    """Return the file for the hits of each mode: where one is named, that of --run, else with the mode in its name."""
    path = Path(run).resolve()
    asked = modes or get_args(Mode)
    return {mode: path.with_name(f"{path.stem}.{mode}{path.suffix}") if len(asked) > 1 else path for mode in asked}


def _check(targets: Iterable[Path], inputs: Sequence[str], vault: Vault) -> None:
    """Refuse what must not be written over or cannot be, before many questions are asked in vain."""
    taken = [Path(each).resolve() for each in inputs]
    for path in targets:
        inside = path.is_relative_to(vault.root)
        if path in taken or (inside and (path.suffix == ".md" or path.is_relative_to(vault.root / "memory"))):
            raise BadInput(f"--run would write over {path}", "name another file, outside of memory")
        if not path.parent.is_dir() or (path.exists() and not path.is_file()):
            raise BadInput(f"--run cannot write {path}", "name a file in a folder that is there")


def _write(path: Path, run: Run) -> None:
    """Write the hits of one mode, in their order, with scores that count down."""
    lines = [
        f"{outcome.question.id}\t{id}\t{len(outcome.hits) - place}\n"
        for outcome in run.outcomes
        for place, id in enumerate(outcome.hits)
    ]
    data = "".join(lines).encode("utf-8", "replace")
    with tempfile.TemporaryDirectory(prefix="mdmem-") as spare:
        base = fsio.read(path.name, root=path.parent)
        fsio.replace(path.name, data, root=path.parent, base=base, tmp=Path(spare))
