"""Commands on what is distilled: checkpoint, review."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mdmem.cli import digest, editor, options, render, session, shapes, terminal, timing
from mdmem.errors import BadInput, NotFound
from mdmem.model import Change, Pending

if TYPE_CHECKING:
    from mdmem.vault import Vault


def checkpoint(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    quiet: timing.Quiet = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Bring what matters in new log entries into MEMORY.md, by one commit.

    Each entry is distilled once: by the language model that is set, else by patterns. What is not sure waits for
    `mdmem review`. Lines that a person wrote are never changed. A dry run asks the model, too. Exits with 3 when a
    model did not answer; its entries wait for the next checkpoint.

    \b
    Examples:
      mdmem checkpoint
      mdmem checkpoint --dry-run
    """
    with session.opened("checkpoint", vault, as_json, say=not quiet) as opened:
        with session.ending_as_by_hand():
            done = opened.checkpoint(dry_run=dry_run)
        if as_json:
            terminal.value(shapes.distilled(done))
        elif dry_run:
            digest.planned(done)
        elif not quiet:
            digest.done(done)
        for failure in () if as_json else done.failures:
            terminal.note(failure)
        if done.waiting and not (as_json or quiet):
            terminal.note(f"{render.counted(done.waiting, 'entry')} left for the next checkpoint")
    return 3 if done.failures else 0


def review(
    which: Annotated[
        list[str] | None, typer.Argument(metavar="N", help="These, by number or id; without any, all are listed.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Take them into MEMORY.md.")] = False,
    edit: Annotated[bool, typer.Option("--edit", help="Change the text in $EDITOR, then take it.")] = False,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="Take it with this text.")] = None,
    reject: Annotated[bool, typer.Option("--reject", help="Never propose them again.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All that wait.")] = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """List what a checkpoint was not sure of; accept, edit or reject it.

    What is rejected is never proposed again, however it is written. Exits with 1 when nothing waits.

    \b
    Examples:
      mdmem review
      mdmem review 1 3 --accept
      mdmem review 2 --text "Prefers window seats on trains"
      mdmem review --all --reject
    """
    verbs = {"accept": accept, "edit": edit, "text": text is not None, "reject": reject}
    chosen = [name for name, given in verbs.items() if given]
    _require_sense(chosen, which, everything)
    with session.opened("review", vault, as_json) as opened:
        waiting = opened.pending()
        wanted = waiting if everything or not which else _named(waiting, which)
        if chosen and wanted:
            change = _decide(opened, wanted, chosen[0], text)
            if as_json:
                terminal.value({"change": None if change is None else shapes.change(change)})
            elif change is not None:
                render.done(change)
            return 0
        if as_json:
            terminal.value({"pending": [shapes.pending(each) for each in wanted]})
        elif wanted:
            digest.pending(wanted)
        else:
            terminal.note("nothing waits for review")
    return 0 if wanted else 1


def _require_sense(chosen: list[str], which: list[str] | None, everything: bool) -> None:
    if len(chosen) > 1:
        raise BadInput(f"--{chosen[0]} and --{chosen[1]} exclude each other", "give one of them")
    if chosen and not which and not everything:
        raise BadInput(
            "which ones are meant is not said", f"give their numbers: `mdmem review 1 --{chosen[0]}`, or --all"
        )
    if which and everything:
        raise BadInput("numbers and --all exclude each other", "give one of them")


def _named(waiting: list[Pending], which: list[str]) -> list[Pending]:
    """Find all that is named, each once. Raises NotFound, for what is done is done to all or none."""
    names = {name: each for each in waiting for name in (str(each.number), each.id)}
    unknown = [name for name in dict.fromkeys(which) if name not in names]
    if unknown:
        raise NotFound(
            f"nothing that waits has the number {' or '.join(unknown)}", "`mdmem review` lists what there is"
        )
    return list({names[name].id: names[name] for name in which}.values())


def _decide(vault: "Vault", wanted: list[Pending], verb: str, text: str | None) -> Change | None:
    ids = [each.id for each in wanted]
    if verb == "reject":
        return vault.reject(*ids)
    if verb == "edit":
        if len(wanted) > 1:
            raise BadInput("one claim is edited at a time", "name one: `mdmem review 1 --edit`")
        if not sys.stdin.isatty():
            raise BadInput("there is no terminal for an editor", "give the new text with --text")
        with editor.edited(wanted[0].claim.text + "\n") as typed:
            return vault.accept(*ids, text=typed.strip())
    return vault.accept(*ids, text=text)
