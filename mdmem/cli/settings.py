"""Commands on settings: config get, set, list, path."""

from typing import Annotated

import typer

from mdmem import config
from mdmem.cli import options, render, session, shapes, terminal

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True, pretty_exceptions_enable=False)

Name = Annotated[
    str, typer.Argument(metavar="NAME", autocompletion=lambda: list(config.BY_NAME), help="The name of a setting.")
]
User = Annotated[bool, typer.Option("--user", help="Your own settings, for all vaults.")]


@app.callback()
def settings(ctx: typer.Context) -> None:
    """Show and change settings.

    Each can also be given in the environment: search.k as MDMEM_SEARCH_K.

    \b
    Examples:
      mdmem config list
      mdmem config set search.k 5
    """
    if ctx.invoked_subcommand is None:
        list_(vault=ctx.find_root().params.get("vault"))


@app.command("get")
def get(name: Name, as_json: options.Json = False, vault: options.Vault = None) -> None:
    """Print the value of a setting.

    \b
    Example:
      mdmem config get timezone
    """
    config.named(name)
    now = config.load(session.root(vault))
    if as_json:
        terminal.value(shapes.setting(now, name))
    else:
        terminal.line(config.show(now.value(name)))


@app.command("set")
def set_(
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its new value; a list has commas.")],
    user: User = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Set a setting in mdmem.toml, or with --user in your own file.

    \b
    Examples:
      mdmem config set timezone Europe/Berlin
      mdmem config set --user vault.default ~/memory
    """
    scope: config.Scope = "user" if user else "vault"
    root = None if user else config.find_vault(explicit=vault)
    from mdmem.vault import preferences

    preferences.keep(config.settings_file(root, scope), name, value, scope)
    now = config.load(root)
    if now.origin(name) != scope:
        terminal.note(f"the {now.origin(name)} sets {name} to {config.show(now.value(name))}, which counts")
    if as_json:
        terminal.value(shapes.setting(now, name))


@app.command("list")
def list_(as_json: options.Json = False, vault: options.Vault = None) -> None:
    """List all settings: value, where it comes from, what it means.

    \b
    Example:
      mdmem config list --json
    """
    now = config.load(session.root(vault))
    if as_json:
        findings = [shapes.finding(finding) for finding in now.findings]
        terminal.value({"settings": [shapes.setting(now, name) for name in config.BY_NAME], "findings": findings})
    else:
        render.settings(now)
        render.findings(now.findings)


@app.command("path")
def path(user: User = False, as_json: options.Json = False, vault: options.Vault = None) -> None:
    """Print the path of the file with the settings.

    \b
    Example:
      mdmem config path --user
    """
    found = config.settings_file(None if user else config.find_vault(explicit=vault), "user" if user else "vault")
    if as_json:
        terminal.value({"path": str(found)})
    else:
        terminal.line(str(found))
