"""Keeping house: each night the vault gets lighter and truer, in steps of which each may fail alone.

Owns the order of the steps, that only one process keeps house at a time, and what becomes of a step that fails. Each
step is one commit of its own, changes nothing when it is run again, and stops before it takes out more than a tenth of
the vault. It must never leave a step half done: what was finished stays, whatever ends the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mdmem.errors import BadInput, Busy, MdmemError, Refused
from mdmem.model import Progress
from mdmem.nightly import removing, tending
from mdmem.nightly.report import Agree, Item, Outcome, Report, Work

if TYPE_CHECKING:
    from mdmem.vault import Vault

__all__ = ["STEPS", "Agree", "Item", "Outcome", "Report", "run"]

STEPS: Mapping[str, Callable[[Work], Outcome]] = {
    "expire": removing.expire,
    "duplicates": removing.duplicates,
    "fold": tending.fold,
    "pack": tending.pack,
    "verify": tending.verify,
    "usage": tending.usage,
    "git": tending.git,
}
"""All steps, in their order."""

PATIENCE_MS = 600_000
"""How long a checkpoint may take that is at work: it waits for a model. Another nightly is not waited for."""


def run(
    vault: Vault,
    *,
    steps: Sequence[str] = (),
    dry_run: bool = False,
    agree: Agree | None = None,
    told: Callable[[Outcome], None] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Keep house: all steps, or the named ones, in their order; a dry run tells what they would do and changes nothing.

    `agree` is asked before more than a tenth of the vault goes; without it that step is refused. `told` gets each
    outcome when its step is over. Raises BadInput for a step that is none, Busy when another keeps house.
    """
    unknown = [name for name in steps if name not in STEPS]
    if unknown:
        raise BadInput(f"there is no step {unknown[0]}", f"the steps are {', '.join(STEPS)}")
    started = time.monotonic()
    work = Work(vault, dry_run, agree, progress)
    outcomes = []
    with _alone(vault, dry_run):
        for name in STEPS if not steps else [name for name in STEPS if name in steps]:
            outcome = _done(name, work)
            outcomes.append(outcome)
            if told:
                told(outcome)
    return Report(tuple(outcomes), dry_run, _since(started))


@contextmanager
def _alone(vault: Vault, dry_run: bool) -> Iterator[None]:
    """Be the only one that keeps house, with all that was acknowledged in its place. A dry run disturbs nobody."""
    with ExitStack() as stack:
        if not dry_run:
            lock = vault.parts.upkeep_lock
            try:
                stack.enter_context(lock.hold(0 if lock.command() == "nightly" else PATIENCE_MS))
            except Busy as error:
                raise Busy(error.message.replace("is writing", "keeps house"), "nothing to do: it goes on") from error
            with suppress(MdmemError), vault.parts.delivery.writing_if_free():
                pass  # what replacements have left in STATE is cleared with the lock, which other steps may not need
            vault.parts.catch_up()
        yield


def _done(name: str, work: Work) -> Outcome:
    """Do one step, and turn what goes wrong into its outcome: the others go on."""
    started = time.monotonic()
    before = len(work.vault.notices)
    try:
        outcome = STEPS[name](work)
    except Refused as error:
        outcome = Outcome(name, "refused", "refused", problem=error.message, hint=error.hint)
    except MdmemError as error:
        outcome = Outcome(name, "failed", "failed", problem=error.message, hint=error.hint)
    except Exception as error:
        what = f"this should not have happened: {type(error).__name__}: {error}"
        outcome = Outcome(name, "failed", "failed", problem=what, hint="please report it")
    notices = tuple(dict.fromkeys((*outcome.notices, *work.vault.notices[before:])))
    del work.vault.notices[before:]
    return replace(outcome, notices=notices, took_ms=_since(started))


def _since(started: float) -> float:
    return (time.monotonic() - started) * 1000
