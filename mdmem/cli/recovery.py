"""Commands on what is kept: recover."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mdmem.cli import options, render, session, shapes, terminal
from mdmem.errors import BadInput, NotFound
from mdmem.model import Held

if TYPE_CHECKING:
    from mdmem.vault import Vault


def recover(
    which: Annotated[
        str | None,
        typer.Argument(metavar="N", help="Put this one back, by its number or id; without it all are listed."),
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Forget it instead.")] = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """List texts that are not in their file, and put one back or forget it.

    They were dropped when an editor saved an older copy, deleted by hand in the last 30 days, or still wait to be
    written. Listing changes nothing. Exits with 1 when there are none.

    \b
    Examples:
      mdmem recover
      mdmem recover 2
      mdmem recover 1 --drop
    """
    if drop and which is None:
        raise BadInput("which one is to be forgotten is not said", "give its number: `mdmem recover N --drop`")
    with session.opened("recover", vault, as_json) as opened:
        held = opened.held()
        if which is not None:
            one = _named(held, which)
            return _drop(opened, one, yes, as_json) if drop else _put_back(opened, one, as_json)
        if as_json:
            terminal.value({"held": [shapes.held(each) for each in held]})
        elif held:
            render.held(held)
        else:
            terminal.note("nothing is held, and nothing waits")
    return 0 if held else 1


def _named(held: list[Held], which: str) -> Held:
    for each in held:
        if which in (str(each.number), each.id):
            return each
    raise NotFound(f"nothing that is held has the number {which}", "`mdmem recover` lists what there is")


def _put_back(vault: "Vault", wanted: Held, as_json: bool) -> int:
    change = vault.recover(wanted.id)
    if as_json:
        terminal.value({"change": None if change is None else shapes.change(change)})
    elif change is not None:
        render.done(change)
    return 0


def _drop(vault: "Vault", wanted: Held, yes: bool, as_json: bool) -> int:
    if not yes and not sys.stdin.isatty():
        raise BadInput("there is nobody here to ask", f"add --yes to forget {wanted.address}")
    if not yes and not terminal.confirm(f"Forget {wanted.address} ({render.headline(wanted)})?"):
        terminal.note("nothing was forgotten")
        return 1
    vault.drop(wanted.id)
    if as_json:
        terminal.value({"dropped": shapes.held(wanted)})
    else:
        terminal.note(f"forgotten: {wanted.address}")
    return 0
