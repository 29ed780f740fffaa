"""Commands on models of meaning: model list, prepare, path."""

import time
from typing import Annotated

import typer

from mdmem.cli import options, render, session, shapes, terminal

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True, pretty_exceptions_enable=False)


def complete_models(incomplete: str) -> list[str]:
    """Return the models at hand that begin like this."""
    from mdmem.vault import models

    return [model.name for model in models.listed(None) if model.name.startswith(incomplete)]


Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", autocompletion=complete_models, help="A model's name or folder; left out, the one that is set."
    ),
]


@app.callback()
def model(ctx: typer.Context) -> None:
    """Show the models that search by meaning can use, and make one ready.

    Which one a vault uses is for `mdmem reindex --model NAME` to change.

    \b
    Examples:
      mdmem model list
      mdmem model prepare multilingual-e5-small
    """
    if ctx.invoked_subcommand is None:
        root = ctx.find_root().params
        list_(as_json=bool(root.get("as_json")), vault=root.get("vault"))


@app.command("list")
def list_(as_json: options.Json = False, vault: options.Vault = None) -> None:
    """List the models on this machine, and which of them are ready.

    The one that is set is marked; one that is not ready makes searches go by words alone.

    \b
    Example:
      mdmem model list --json
    """
    from mdmem.vault import models

    with terminal.diverted():
        found = models.listed(session.root(vault))
    if as_json:
        terminal.value({"models": [shapes.model(each) for each in found]})
        return
    render.models(found)
    for each in found:
        if each.chosen and each.state != "ready":
            terminal.note(f"{each.name} is {each.state}; {models.fix(each.name, each.state)}")
    if not found:
        terminal.note(f"no model is at hand; {models.fix('', 'not installed')}")


@app.command("prepare")
def prepare(name: Name = None, as_json: options.Json = False, vault: options.Vault = None) -> None:
    """Make a model ready to serve, and say what was measured.

    It is exported once, made smaller where that keeps the meaning, and compared with the original on sample texts.
    `mdmem reindex` does this by itself for the vault's model. Interrupted, it leaves nothing half-made. Exits with 13
    when there is no such model.

    \b
    Examples:
      mdmem model prepare
      mdmem model prepare ~/models/bge-small-en-v1.5
    """
    from mdmem.vault import models

    root = session.root(vault)
    started = time.monotonic()
    with terminal.diverted(), terminal.progress() as progress:
        made = models.prepare(name, root, progress)
    seconds = time.monotonic() - started
    if as_json:
        terminal.value(shapes.model(made) | {"took_ms": round(seconds * 1000, 1)})
    else:
        render.prepared(made, seconds)


@app.command("path")
def path(name: Name = None, as_json: options.Json = False, vault: options.Vault = None) -> None:
    """Print the folder of a model that is ready.

    \b
    Example:
      du -sh "$(mdmem model path)"
    """
    from mdmem.vault import models

    found = models.ready(name, session.root(vault))
    if as_json:
        terminal.value({"name": found.name, "path": found.folder})
    else:
        terminal.line(found.folder)
