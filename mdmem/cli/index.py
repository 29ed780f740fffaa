"""Commands on the indexes and the state of the vault: reindex, status."""

from typing import Annotated

import typer

from mdmem.cli import options, render, session, shapes, terminal


def reindex(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Only these files or folders.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Build the indexes anew and swap them.")] = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Bring the indexes up to date. Searches do this alone; --full is for doubts.

    Exits with 3 when a file could not be read; the rest is indexed all the same.

    \b
    Examples:
      mdmem reindex
      mdmem reindex --full
    """
    with session.opened("reindex", vault, as_json) as opened:
        result = opened.reindex(paths or (), full=full)
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
            render.status(now)
            render.findings(findings)
