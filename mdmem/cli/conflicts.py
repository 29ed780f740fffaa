"""The command on versions that did not merge: list them, show them side by side, choose."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mdmem.cli import editor, options, render, session, shapes, sides, terminal
from mdmem.errors import BadInput, NotFound
from mdmem.model import Conflict

if TYPE_CHECKING:
    from mdmem.vault import Vault

Side = Literal["ours", "theirs", "both", "edit", "proposed"]


def conflicts(
    number: Annotated[int | None, typer.Argument(metavar="N", help="Which one; without it they are listed.")] = None,
    ours: Annotated[bool, typer.Option("--ours", help="Keep what the vault had.")] = False,
    theirs: Annotated[bool, typer.Option("--theirs", help="Take what was typed or saved instead.")] = False,
    both: Annotated[bool, typer.Option("--both", help="Keep both, one below the other.")] = False,
    edit: Annotated[bool, typer.Option("--edit", help="Put them together in $EDITOR.")] = False,
    proposed: Annotated[bool, typer.Option("--proposed", help="Take what the language model proposes.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print them side by side as a page of HTML.")] = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Show versions of a text that did not merge, and resolve them.

    Where a language model is set, `mdmem checkpoint` has it propose a merge: one that keeps every fact is taken, any
    other is shown here. Exits with 1 when there are none.

    \b
    Examples:
      mdmem conflicts
      mdmem conflicts 1
      mdmem conflicts 1 --both
      mdmem conflicts --html > conflicts.html
    """
    side = _side({"ours": ours, "theirs": theirs, "both": both, "edit": edit, "proposed": proposed})
    if side and (number is None or html):
        raise BadInput(f"--{side} resolves one conflict", f"name it: mdmem conflicts 1 --{side}")
    with session.opened("conflicts", vault, as_json) as opened:
        found = opened.conflicts()
        wanted = found if number is None else [_numbered(found, number)]
        if side:
            _resolve(opened, wanted[0], side, as_json)
        else:
            _show(wanted, one=number is not None, html=html, as_json=as_json)
    return 0 if wanted else 1


def _side(given: dict[Side, bool]) -> Side | None:
    chosen = [name for name, wished in given.items() if wished]
    if len(chosen) > 1:
        raise BadInput(f"--{chosen[0]} and --{chosen[1]} exclude each other", "give one of them")
    return chosen[0] if chosen else None


def _numbered(found: list[Conflict], number: int) -> Conflict:
    if not 1 <= number <= len(found):
        raise NotFound(f"no conflict has the number {number}", "`mdmem conflicts` lists what there is")
    return found[number - 1]


def _show(found: list[Conflict], *, one: bool, html: bool, as_json: bool) -> None:
    if as_json:
        terminal.value({"conflicts": [shapes.conflict(each) for each in found]})
    elif html:
        for line in sides.page(found).split("\n"):
            terminal.line(line)
    elif one:
        sides.shown(found[0])
        terminal.note(f"mdmem conflicts {found[0].number} --ours, --theirs, --both or --edit resolves it")
    elif found:
        sides.listed(found)
    else:
        terminal.note("there are no conflicts")


def _resolve(vault: "Vault", found: Conflict, side: Side, as_json: bool) -> None:
    if side == "edit":
        if not sys.stdin.isatty():
            raise BadInput("there is no terminal for an editor", "choose with --ours, --theirs or --both")
        with editor.edited(vault.draft(found)) as typed:
            change = vault.resolve(found.id, typed, was=found.file)
    elif side == "proposed":
        if found.proposal is None or not found.proposal.text:
            raise NotFound(
                f"nothing is proposed for conflict {found.number}", "choose --ours, --theirs, --both or --edit"
            )
        change = vault.resolve(found.id, found.proposal.text, was=found.file)
    else:
        change = vault.resolve(found.id, side)
    if as_json:
        terminal.value({"change": None if change is None else shapes.change(change)})
    elif change is not None:
        render.done(change)
    elif found.file is None:
        terminal.note("resolved: the file is gone, and stays so")
    elif found.kind != "git":  # the vault says how to go on
        terminal.note("resolved: the file holds that already")
