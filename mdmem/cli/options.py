"""Options and arguments that several commands share, and what their words mean."""

from typing import Annotated, Any

import typer


def _inherited(ctx: typer.Context, value: str | None) -> str | None:
    """Take the --vault that stood before the command's name, where none stands after it."""
    return value if value is not None else ctx.find_root().params.get("vault")


def _wished(ctx: typer.Context, value: bool) -> bool:
    """Take the --json that stood before the command's name as well."""
    return value or bool(ctx.find_root().params.get("as_json"))


def complete_addresses(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the newest addresses that begin like this."""
    return [entry.address for entry in _asked(ctx, "list") if entry.address.startswith(incomplete)]


def complete_tags(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the tags that begin like this."""
    return [tag for tag, _ in _asked(ctx, "tags") if tag.startswith(incomplete)]


def _asked(ctx: typer.Context, what: str) -> list[Any]:
    """Ask the vault in the middle of somebody's typing: whatever goes wrong, there is just nothing to offer."""
    from mdmem.cli import session
    from mdmem.errors import MdmemError

    try:
        with session.opened("complete", ctx.find_root().params.get("vault"), say=False) as vault:
            return vault.tags() if what == "tags" else vault.list(k=200)
    except (MdmemError, OSError):
        return []


Vault = Annotated[
    str | None,
    typer.Option("--vault", metavar="DIR", callback=_inherited, help="The vault, instead of the one around here."),
]
Json = Annotated[bool, typer.Option("--json", callback=_wished, help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Address = Annotated[
    str | None,
    typer.Argument(
        metavar="ADDRESS",
        autocompletion=complete_addresses,
        help="An address, an id, or a number of the last list.",
    ),
]
Last = Annotated[bool, typer.Option("--last", help="The newest entry.")]
Count = Annotated[int | None, typer.Option("-k", metavar="N", help="How many at most.")]
Page = Annotated[int, typer.Option("--page", metavar="N", help="Which page of them.")]
Since = Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Not older than this.")]
Until = Annotated[str | None, typer.Option("--until", metavar="WHEN", help="Not newer than this.")]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", autocompletion=complete_tags, help="With this tag; may be repeated."),
]
Within = Annotated[str | None, typer.Option("--in", metavar="PATH", help="In this file or folder.")]
