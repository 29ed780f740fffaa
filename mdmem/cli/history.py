"""Commands on the history of memory: undo, commit, log, diff."""

from typing import Annotated

import typer

from mdmem.cli import options, render, session, shapes, terminal


def undo(
    rev: Annotated[str | None, typer.Argument(metavar="COMMIT", help="Which change; the last one if left out.")] = None,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Take back the last change, or the one named, by a new commit.

    That is the last one in history. An edit by hand that is not in history yet is never taken back: in another file it
    is left as it is; in the same file nothing is changed unless a COMMIT is named, and then the edit is committed first
    and kept. What `recover` had put back, it lists again once that is undone.

    \b
    Examples:
      mdmem undo
      mdmem undo 3fa9c1b
    """
    with session.opened("undo", vault, as_json) as opened:
        change = opened.undo(rev)
        if as_json:
            terminal.value({"change": shapes.change(change)})
        else:
            render.done(change)


def commit(as_json: options.Json = False, vault: options.Vault = None) -> None:
    """Commit what was edited by hand.

    \b
    Example:
      mdmem commit
    """
    with session.opened("commit", vault, as_json) as opened:
        changes = opened.commit()
        if as_json:
            terminal.value({"changes": [shapes.change(change) for change in changes]})
        elif changes:
            render.changes(changes)
        else:
            terminal.note("nothing was committed" if opened.notices else "there is nothing to commit")


def log(
    address: Annotated[
        str | None,
        typer.Argument(metavar="ADDRESS", autocompletion=options.complete_addresses, help="An address or a file."),
    ] = None,
    k: options.Count = 20,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Show what changed in memory, newest first: when, by whom, and why.

    \b
    Examples:
      mdmem log -k 5
      mdmem log daily/2026-11-29#14:30
    """
    with session.opened("log", vault, as_json) as opened:
        changes = opened.log(k=session.positive(k, "-k") or 20, path=address)
        if as_json:
            terminal.value({"changes": [shapes.change(change) for change in changes]})
        elif changes:
            render.changes(changes)
        else:
            terminal.note("nothing has changed yet" if address is None else f"no change of {address} is known")
    return 0 if changes or address is None else 1


def diff(
    old: Annotated[str | None, typer.Argument(metavar="FROM", help="A commit; the last one if left out.")] = None,
    new: Annotated[
        str | None, typer.Argument(metavar="TO", help="A commit; the files as they are if left out.")
    ] = None,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Show which entries differ between two commits, or from the files as they are.

    \b
    Examples:
      mdmem diff
      mdmem diff HEAD~5
    """
    with session.opened("diff", vault, as_json) as opened:
        edits = opened.diff(old, new)
        if as_json:
            terminal.value({"edits": [shapes.edit(edit) for edit in edits]})
        elif edits:
            render.edits(edits)
        else:
            terminal.note("nothing differs")
