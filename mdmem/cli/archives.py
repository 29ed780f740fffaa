"""The command on archives of closed years: unpack."""

from typing import Annotated

import typer

from mdmem.cli import options, render, session, shapes, terminal


def unpack(
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            autocompletion=options.complete_addresses,
            help="A day, a month, a year, or a compressed document.",
        ),
    ],
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Take a log or document out of its archive, as a file that can be changed again.

    `nightly` packs the logs of closed years: they are found and shown as before, but not changed. A log that was taken
    out is packed again the next night.

    \b
    Examples:
      mdmem unpack daily/2025-03-14
      mdmem unpack 2025
    """
    with session.opened("unpack", vault, as_json) as opened:
        change = opened.parts.packing.unpack(address)
        if as_json:
            terminal.value({"change": shapes.change(change)})
        else:
            render.done(change)
