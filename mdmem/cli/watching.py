"""Commands on the long-lived process: watch, watch status, watch stop."""

from typing import Annotated, Any

import typer

from mdmem import config
from mdmem.cli import options, terminal

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True, pretty_exceptions_enable=False)


@app.callback()
def watch(
    ctx: typer.Context,
    detach: Annotated[bool, typer.Option("--detach", help="Go on in the background.")] = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Keep a vault's history and indexes in step with its files, and answer searches quickly.

    What is saved in any editor is committed after two quiet seconds; a deletion after a minute. Everything works
    without this too, only later. Ends by Ctrl-C, or by `mdmem watch stop`; exits with 11 when the vault is watched
    already.

    \b
    Examples:
      mdmem watch --detach
      mdmem watch status
    """
    if ctx.invoked_subcommand is not None:
        return
    from mdmem.serve import daemon, detachment

    root = config.find_vault(explicit=vault)
    if not detach:
        with terminal.diverted():
            daemon.run(root, ready=lambda now: _began(now, as_json), also=terminal.log)
        return
    now = detachment.detach(lambda tell: daemon.run(root, ready=tell))
    if as_json:
        terminal.value(now)
    else:
        terminal.line(f"watching {root} (pid {now['pid']})")


def _began(now: dict[str, Any], as_json: bool) -> None:
    if as_json:
        terminal.value(now)
        terminal.flush()


def _meant(ctx: typer.Context, vault: str | None) -> Any:
    """Find the vault, be it named before or after the last word."""
    from mdmem.vault.place import Place

    before = ctx.parent.params.get("vault") if ctx.parent else None
    return Place.find(config.find_vault(explicit=vault or before), command="watch")


def _as_json(ctx: typer.Context, wished: bool) -> bool:
    return wished or bool(ctx.parent and ctx.parent.params.get("as_json"))


@app.command("status")
def status(ctx: typer.Context, as_json: options.Json = False, vault: options.Vault = None) -> int:
    """Say whether the vault is watched, and how that goes. Exits with 1 when it is not.

    \b
    Example:
      mdmem watch status --json
    """
    from mdmem.serve import control

    now = control.status(_meant(ctx, vault))
    if _as_json(ctx, as_json):
        terminal.value(now)
    elif not now["running"]:
        terminal.note("this vault is not watched")
    else:
        for name, value in _rows(now):
            terminal.line(f"{name:<12}", value)
        if not now["answers"]:
            terminal.note("it gives no answer; searches are done without it")
    return 0 if now["running"] else 1


def _rows(now: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [("watched by", f"pid {now['pid'] or 'not known'}"), ("since", now["since"] or "not known")]
    if now["answers"]:
        index = now["index"]
        left = f", {index['unembedded']} to embed" if index["unembedded"] else ""
        rows += [
            ("changes", "by looking every 2 seconds" if now["polling"] else "by events"),
            ("waiting", f"{now['waiting']} files to commit"),
            ("index", "not yet known" if index["passages"] is None else f"{index['passages']} passages{left}"),
            ("searches", f"{now['served']} answered"),
        ]
    return [*rows, ("log", now["log"])]


@app.command("stop")
def stop(ctx: typer.Context, as_json: options.Json = False, vault: options.Vault = None) -> int:
    """End the process that watches the vault, once what it is writing is written. Exits with 1 when there is none.

    \b
    Example:
      mdmem watch stop
    """
    from mdmem.serve import control

    ended = control.stop(_meant(ctx, vault))
    if _as_json(ctx, as_json):
        terminal.value({"stopped": ended is not None, "pid": ended.pid if ended else None})
    else:
        terminal.note(f"pid {ended.pid} has ended" if ended else "this vault is not watched")
    return 0 if ended else 1
