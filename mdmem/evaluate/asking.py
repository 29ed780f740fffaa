"""Asking the questions: which of them count, in which modes, and how long the answers take.

Owns the order of it. It must never write to the vault, and never be kind: what is judged and not there is a miss.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from mdmem import config
from mdmem.errors import BadInput, Missing
from mdmem.evaluate.judgements import Question
from mdmem.evaluate.metrics import DEPTH, Grades, measure
from mdmem.evaluate.report import Outcome, Report, comparisons_of, groups_of, runs_of
from mdmem.model import Mode
from mdmem.vault import Vault

MODES: tuple[Mode, ...] = ("keyword", "semantic", "hybrid")

Progress = Callable[[int, int], None]


def tuned(vault: Vault, changes: Mapping[str, str]) -> Vault:
    """Give the vault under other settings of search, `{"search.bm25_b": "0.5"}`, which nobody else sees.

    Raises BadInput for another kind of setting: the index would have to be built anew for it.
    """
    values: dict[str, config.Value] = {}
    for name, typed in changes.items():
        setting = config.named(name)
        if not name.startswith("search."):
            raise BadInput(f"{name} is not tried out here, since the index depends on it", "try settings of search.*")
        values[name] = config.parse(setting, typed)
    if not changes:
        return vault
    settings = replace(vault.settings, values={**vault.settings.values, **values})
    return Vault(replace(vault.place, settings=settings))


def run(
    vault: Vault,
    questions: Sequence[Question],
    judgements: Mapping[str, Grades],
    *,
    modes: Sequence[Mode] | None = None,
    k: int = DEPTH,
    progress: Progress | None = None,
) -> Report:
    """Ask every judged question in every mode, and measure the answers down to k, or 10 where k is less.

    A mode that cannot run is skipped where `modes` names none, which means all. Raises Missing where it is named,
    BadInput where no question is judged.
    """
    if k < 1:
        raise BadInput("k counts from 1", "leave it out for 10")
    asked, notices = _judged(questions, judgements)
    ready, skipped = _ready(vault, asked[0], modes, k)
    outcomes: dict[Mode, list[Outcome]] = {}
    for done, mode in enumerate(ready):
        step = _step(progress, done * len(asked), len(ready) * len(asked))
        outcomes[mode], said = _ask(vault, asked, judgements, mode=mode, k=k, step=step)
        notices += said
    runs = runs_of(outcomes)
    notices += [*_unknown(vault, asked, judgements, outcomes), *dict.fromkeys(vault.notices)]
    return Report(len(asked), runs, groups_of(asked, outcomes), comparisons_of(runs), tuple(notices), skipped)


def _judged(questions: Sequence[Question], judgements: Mapping[str, Grades]) -> tuple[list[Question], list[str]]:
    """Give the questions with something relevant, and what to say of the rest."""
    asked = [one for one in questions if any(grade > 0 for grade in judgements.get(one.id, {}).values())]
    if not asked:
        raise BadInput("no query is judged: nothing can be measured", "ids of queries and judgements must be the same")
    known = {one.id for one in questions}
    strange = sum(len(grades) for query, grades in judgements.items() if query not in known)
    left = len(questions) - len(asked)
    said = (
        (left, f"{_counted(left, 'query has', 'queries have')} no relevant judgement and {_is(left)} left out"),
        (strange, f"{_counted(strange, 'judgement is', 'judgements are')} of queries that are not asked"),
    )
    return asked, [text for count, text in said if count]


def _counted(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _ready(
    vault: Vault, question: Question, modes: Sequence[Mode] | None, k: int
) -> tuple[list[Mode], dict[Mode, str]]:
    """Ask once in each mode, which refreshes the index and loads the model: no answer is to be timed with that."""
    ready: list[Mode] = []
    skipped: dict[Mode, str] = {}
    for mode in dict.fromkeys(modes or MODES):
        try:
            vault.search(question.text, k=max(k, DEPTH), mode=mode)
            ready.append(mode)
        except Missing as error:
            if modes:
                raise
            skipped[mode] = error.message
    return ready, skipped


def _step(progress: Progress | None, done: int, total: int) -> Callable[[int], None]:
    return lambda number: progress(done + number, total) if progress else None


def _ask(
    vault: Vault,
    asked: Sequence[Question],
    judgements: Mapping[str, Grades],
    *,
    mode: Mode,
    k: int,
    step: Callable[[int], None],
) -> tuple[list[Outcome], list[str]]:
    """Ask the questions in one mode; give what came of each, and what search had to say, with counts."""
    outcomes: list[Outcome] = []
    said: Counter[str] = Counter()
    for number, question in enumerate(asked, 1):
        started = time.perf_counter()
        answer = vault.search(question.text, k=max(k, DEPTH), mode=mode)
        took = (time.perf_counter() - started) * 1000
        hits = tuple(dict.fromkeys(hit.entry.id for hit in answer))  # an id that two entries have counts once
        outcomes.append(Outcome(question, hits, took, measure(hits, judgements[question.id], k)))
        said.update(set(answer.notices).difference(vault.notices))
        step(number)
    return outcomes, [f"{mode}: {text} ({count} of {len(asked)} queries)" for text, count in said.items()]


def _unknown(
    vault: Vault,
    asked: Sequence[Question],
    judgements: Mapping[str, Grades],
    outcomes: Mapping[Mode, Sequence[Outcome]],
) -> list[str]:
    """Say how many relevant ids are nowhere in the vault. Listing it is dear: what was found is there."""
    wanted = {id for question in asked for id, grade in judgements[question.id].items() if grade > 0}
    wanted -= {id for found in outcomes.values() for one in found for id in one.hits}
    if wanted:
        wanted -= {entry.id for entry in vault.list()}
    count = len(wanted)
    counted = _counted(count, "relevant id is", "relevant ids are")
    return [f"{counted} not in the vault, such as {min(wanted)}, and can only be missed"] if wanted else []
