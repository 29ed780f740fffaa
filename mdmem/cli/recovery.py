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
        list[str] | None,
        typer.Argument(metavar="N", help="Put this one back, or these, by number or id; without any, all are listed."),
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Forget it instead.")] = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """List texts that are not in their file, and put one back or forget it.

    They were dropped when an editor saved an older copy, deleted by hand in the last 30 days, or taken back by git as
    with `git reset`, or they still wait to be written. Listing changes nothing. Exits with 1 when there are none.

    \b
    Examples:
      mdmem recover
      mdmem recover 2
      mdmem recover 1 3 --drop
    """
    if drop and not which:
        raise BadInput("which one is to be forgotten is not said", "give its number: `mdmem recover N --drop`")
    with session.opened("recover", vault, as_json) as opened:
        held = opened.held()
        if which:
            wanted = _named(held, which, "forgotten" if drop else "put back")
            return _drop(opened, wanted, yes, as_json) if drop else _put_back(opened, wanted, as_json)
        if as_json:
            terminal.value({"held": [shapes.held(each) for each in held]})
        elif held:
            render.held(held)
        else:
            terminal.note("nothing is held, and nothing waits")
    return 0 if held else 1


def _named(held: list[Held], which: list[str], done: str) -> list[Held]:
    """Find all that is named, each once. Raises NotFound, for what is done is done to all or none."""
    names = {name: each for each in held for name in (str(each.number), each.id)}
    unknown = [name for name in dict.fromkeys(which) if name not in names]
    if unknown:
        what = f"nothing that is held has the number {' or '.join(unknown)}"
        raise NotFound(what, f"nothing was {done}; `mdmem recover` lists what there is")
    return list({names[name].id: names[name] for name in which}.values())


def _put_back(vault: "Vault", wanted: list[Held], as_json: bool) -> int:
    made = vault.recover_all([each.id for each in wanted])
    if as_json:
        told = [shapes.change(change) for change in made]
        terminal.value({"change": told[0] if told else None, "changes": told})
    for change in () if as_json else made:
        render.done(change)
    return 0


def _drop(vault: "Vault", wanted: list[Held], yes: bool, as_json: bool) -> int:
    named = ", ".join(each.address for each in wanted)
    if not yes and not sys.stdin.isatty():
        raise BadInput("there is nobody here to ask", f"add --yes to forget {named}")
    if not yes and not terminal.confirm(f"Forget {_asked(wanted)}?"):
        terminal.note("nothing was forgotten")
        return 1
    for each in wanted:
        vault.drop(each.id)
    if as_json:
        told = [shapes.held(each) for each in wanted]
        terminal.value({"dropped": told[0], "all": told})
    else:
        terminal.note(f"forgotten: {named}")
    return 0


def _asked(wanted: list[Held]) -> str:
    return ", ".join(f"{each.address} ({render.headline(each)})" for each in wanted)
