"""Commands on settings: config get, set, list, path, trust."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mdmem import config
from mdmem.cli import options, render, session, shapes, terminal
from mdmem.errors import BadInput

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


@app.command("trust")
def trust(
    remove: Annotated[bool, typer.Option("--remove", help="Trust this vault no longer.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="List the vaults you trust.")] = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Let this vault's file set what can run or send something.

    Shows what that is, and asks. Another value in the file, after a pull for one, is to be trusted anew; until then
    it is ignored, as in a vault you never trusted. Exits with 1 when the answer was no.

    \b
    Examples:
      mdmem config trust
      mdmem config trust --list
    """
    if list_all:
        return _list_trusted(as_json)
    root = config.find_vault(explicit=vault)
    now = config.load(root)
    if remove:
        _keep_trust(root, None)
    elif now.guarded and not now.trusted and not _agreed(root, now, yes, as_json):
        terminal.note("nothing is trusted")
        return 1
    elif now.guarded:
        _keep_trust(root, config.trust.digest(now.guarded))
    if as_json:
        terminal.value(_trust(str(root)))
    else:
        terminal.note(_outcome(now, remove))
    return 0


def _agreed(root: Path, now: config.Settings, yes: bool, as_json: bool) -> bool:
    """Show what would count, and ask. Raises BadInput where nobody can answer."""
    if not as_json:
        render.guarded(str(root / config.MARKER), now.guarded)
        terminal.flush()
    if not yes and not sys.stdin.isatty():
        raise BadInput("there is nobody here to ask", "look at what would count, then add --yes")
    return yes or terminal.confirm("Let this file set that?")


def _outcome(now: config.Settings, remove: bool) -> str:
    if remove:
        return "nothing of this vault's file counts that can run or send something"
    if not now.guarded:
        return f"there is nothing to trust: {config.MARKER} sets nothing that can run or send something"
    return "it is trusted already" if now.trusted else "it counts from now on, until it changes"


def _keep_trust(root: Path, seen: str | None) -> None:
    from mdmem.vault import preferences

    if config.trusted_vaults().get(str(root)) != seen:
        preferences.trust(root, seen)


def _list_trusted(as_json: bool) -> int:
    listed = [_trust(root) for root in sorted(config.trusted_vaults())]
    if as_json:
        terminal.value({"vaults": listed})
    for each in () if as_json else listed:
        terminal.line(each["vault"], "" if each["trusted"] else "  (changed since, or gone: nothing of it counts)")
    if not listed and not as_json:
        terminal.note("you trust no vault")
    return 0


def _trust(root: str) -> shapes.Shape:
    now = config.load(Path(root))
    guarded = {name: list(value) if isinstance(value, tuple) else value for name, value in now.guarded.items()}
    return {"vault": root, "trusted": now.trusted, "settings": guarded}
