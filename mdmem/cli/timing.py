"""What commands share that run by themselves: not before their time, and silent when all is well.

cron mails every byte that a command writes. With `--quiet` nothing is written but what a person should look at; that
another mdmem is busy is no such thing, and `app` ends such a run with 11 and no words.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from mdmem.cli import terminal

if TYPE_CHECKING:
    from mdmem.vault import Vault

Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing unless something is wrong.")]
IfDue = Annotated[bool, typer.Option("--if-due", help="Only when its time has passed since the last run.")]


def is_early(vault: "Vault", job: str, *, quiet: bool, as_json: bool) -> bool:
    """Tell whether a job that is to run only when due is not, and say so."""
    from mdmem import schedule

    if schedule.is_due(vault.place, job):
        return False
    last = schedule.last_run(vault.place, job)
    moment = last.isoformat() if last else None
    if as_json:
        terminal.value({"due": False, "last": moment})
    elif not quiet:
        terminal.note(f"{job} is not due yet" + (f": it last ran {moment}" if moment else ""))
    return True


def note_run(vault: "Vault", job: str) -> None:
    """Note that a job ran to its end, just now."""
    from mdmem import schedule

    schedule.note_run(vault.place, job)
