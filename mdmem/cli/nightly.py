"""The command that keeps house: nightly."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from mdmem.cli import housework, options, session, terminal, timing
from mdmem.cli.render import counted

WHAT = {"expire": "Remove", "duplicates": "Merge away"}


def nightly(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
    step: Annotated[
        list[str] | None, typer.Option("--step", metavar="NAME", help="Only this step; may be repeated.")
    ] = None,
    yes: options.Yes = False,
    if_due: timing.IfDue = False,
    quiet: timing.Quiet = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Keep house: remove what has expired, merge duplicates, pack closed years, verify the indexes, tidy up.

    The steps are expire, duplicates, fold, pack, verify, usage and git. Each is a commit of its own, which
    `mdmem undo` takes back, and changes nothing when it is run again. One that would remove more than a tenth of the
    vault asks first; where nobody can be asked, it is left out unless --yes is given. Exits with 3 when a step was left
    out or failed: the others are done all the same.

    \b
    Examples:
      mdmem nightly --dry-run
      mdmem nightly
      mdmem nightly --step expire --yes
    """
    from mdmem import nightly as nights

    with session.opened("nightly", vault, as_json, say=not quiet) as opened, terminal.progress() as progress:
        if if_due and timing.is_early(opened, "nightly", quiet=quiet, as_json=as_json):
            return 0
        told = None if as_json or quiet else housework.outcome
        agree = (lambda step, count, total: True) if yes else _asking(quiet or as_json)
        report = nights.run(
            opened, steps=step or (), dry_run=dry_run, agree=agree, told=told, progress=None if quiet else progress
        )
        if not (dry_run or step):
            timing.note_run(opened, "nightly")
        if as_json:
            terminal.value(housework.shape(report))
        elif quiet:
            housework.troubles(report)
        else:
            housework.summary(report)
    return 0 if report.is_complete else 3


def _asking(silent: bool) -> Callable[[str, int, int], bool] | None:
    """Return what asks the person at the terminal; None where there is none."""
    if silent or not (sys.stdin.isatty() and terminal.is_terminal(sys.stderr)):
        return None

    def asks(step: str, count: int, total: int) -> bool:
        what = f"{count} of {counted(total, 'memory')}, more than a tenth"
        return terminal.confirm(f"{WHAT[step]} {what}?")

    return asks
