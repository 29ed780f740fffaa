"""Commands on the indexes and the state of the vault: reindex, status."""

from typing import Annotated

import typer

from mdmem.cli import figures, options, render, session, shapes, terminal


def reindex(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Only these files or folders.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Build the indexes anew and swap them.")] = False,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="From now on embed by this model.")] = None,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Bring the indexes up to date, and embed what has no vector yet.

    Searches do the first alone, and the second for a few new passages. --full is for doubts; nothing is embedded
    twice. With --model the old model answers until all is embedded by the new one; interrupted, it goes on from there.
    Exits with 3 when a file could not be read; the rest is indexed all the same.

    \b
    Examples:
      mdmem reindex
      mdmem reindex --full
      mdmem reindex --model multilingual-e5-small
    """
    with session.opened("reindex", vault, as_json) as opened:
        result = opened.reindex(paths or (), full=full, model=model)
        if as_json:
            terminal.value(shapes.reindexed(result))
        else:
            render.reindexed(result)
    return 3 if result.failures else 0


def status(as_json: options.Json = False, vault: options.Vault = None) -> None:
    """Show how much there is, where it is, and how fresh the indexes are.

    \b
    Example:
      mdmem status
    """
    with session.opened("status", vault, as_json) as opened:
        now = opened.status()
        findings = opened.settings.findings
        if as_json:
            terminal.value(shapes.status(now))
        else:
            figures.status(now)
            render.findings(findings)
