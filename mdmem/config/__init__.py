"""Where the vault is, and every setting with its type, default and source.

Owns the table of settings, the two files they are kept in (`mdmem.toml` of the vault, `config.toml` of the
user) and the environment: this is its only reader. It must never open the vault itself, contact anything, or
fail because of what a settings file holds: what cannot be used is a `Finding`, and the next source counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.config.table import BY_NAME, TABLE, Scope, Setting, Value
from mdmem.config.values import parse, show, valid, zone
from mdmem.errors import BadInput, NoVault, Refused
from mdmem.model import Finding

if TYPE_CHECKING:
    from datetime import tzinfo

__all__ = ["BY_NAME", "TABLE", "Scope", "Setting", "Value", "parse", "show", "zone"]

MARKER = "mdmem.toml"
"""The tracked file that marks a vault's root."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force: `values` and `origins` of what is set, `findings` of what was ignored."""

    values: Mapping[str, Value] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def value(self, name: str) -> Value:
        """Return the value of any setting. Raises KeyError for a name that is not in the table."""
        return self.values.get(name, BY_NAME[name].default)

    def origin(self, name: str) -> str:
        """Return where the value comes from: `environment`, `vault`, `user` or `default`."""
        return self.origins.get(name, "default")

    def text(self, name: str) -> str:
        """Return a setting that is text."""
        return str(self.value(name))

    def flag(self, name: str) -> bool:
        """Return a setting that is on or off."""
        return self.value(name) is True

    def whole(self, name: str) -> int:
        """Return a setting that is a whole number."""
        value = self.value(name)
        assert isinstance(value, int), name
        return int(value)

    def number(self, name: str) -> float:
        """Return a setting that is a number."""
        value = self.value(name)
        assert isinstance(value, int | float), name
        return float(value)

    def items(self, name: str) -> tuple[str, ...]:
        """Return a setting that is a list of words."""
        value = self.value(name)
        assert isinstance(value, tuple), name
        return tuple(map(str, value))

    def numbers(self, name: str) -> tuple[float, ...]:
        """Return a setting that is a list of numbers."""
        value = self.value(name)
        assert isinstance(value, tuple), name
        return tuple(map(float, value))


def find_vault(start: Path | None = None, explicit: str | Path | None = None) -> Path:
    """Return the root of the vault that is meant, an absolute path without links. Raises NoVault.

    Asked in this order: `explicit` (`--vault`), `MDMEM_VAULT`, the folders from `start` (the current one)
    upwards, the user's `vault.default`. One that is named must be a vault: there is no looking further.
    """
    for named, source in ((explicit, "--vault"), (os.environ.get("MDMEM_VAULT"), "MDMEM_VAULT")):
        if named:
            return _named_vault(str(named), source)
    found = _vault_above(start)
    if found is not None:
        return found
    default = load(None).text("vault.default")
    if default:
        return _named_vault(default, "vault.default")
    raise NoVault("there is no vault here or above", "make one with `mdmem init`, or name one with --vault DIR")


def _named_vault(text: str, source: str) -> Path:
    root = expand(text)
    if os.path.isfile(root / MARKER):  # Path.is_file raises where a folder may not be searched
        return root
    raise NoVault(f"{root}, named by {source}, is no vault", f"make it one with `mdmem init {root}`")


def _vault_above(start: Path | None) -> Path | None:
    try:
        folder = (start or Path.cwd()).resolve()
    except OSError:  # the current folder was deleted
        return None
    places = (folder, *folder.parents)
    return next((place for place in places if os.path.isfile(place / MARKER)), None)  # as above


def expand(text: str | Path) -> Path:
    """Return the absolute path, without links, that a person means by `text`; `~` is their home."""
    path = Path(os.path.expanduser(text))  # Path.expanduser raises for an unknown user
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a deleted current folder, a loop of links, a NUL
        return Path("/", path)


def settings_file(root: Path | None, scope: Scope) -> Path:
    """Return the file for settings of this scope, be it there or not. Raises NoVault without a root."""
    if scope == "vault":
        if root is None:
            raise NoVault("there is no vault to keep this setting", "add --user for your own settings")
        return root / MARKER
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if base.startswith("/") else expand("~/.config")  # the XDG standard ignores others
    return folder / "mdmem" / "config.toml"


def state_override() -> Path | None:
    """Return the folder that is to hold the state of all vaults, if the user named one."""
    text = os.environ.get("MDMEM_STATE_DIR")
    return expand(text) if text else None


def cache_dir() -> Path:
    """Return the folder for what all vaults of the user share and can be made again: `XDG_CACHE_HOME/mdmem`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else expand("~/.cache")) / "mdmem"


def debugging() -> bool:
    """Tell whether the user wants to see the inside of an unexpected error (`MDMEM_DEBUG`)."""
    return os.environ.get("MDMEM_DEBUG", "") not in ("", "0")


def load(root: Path | None) -> Settings:
    """Return the settings in force in the vault at `root`, or outside of any. Never fails."""
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    findings: list[Finding] = []
    layers = {"user": _from_file(settings_file(None, "user"), "user", findings)}
    if root is not None:
        layers["vault"] = _from_file(root / MARKER, "vault", findings)
    layers["environment"] = _from_environment(findings)
    for origin, found in layers.items():
        values |= found
        origins |= dict.fromkeys(found, origin)
    return Settings(values, origins, tuple(findings))


def _from_file(path: Path, scope: Scope, findings: list[Finding]) -> dict[str, Value]:
    where = MARKER if scope == "vault" else str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        findings.append(_unreadable(where, str(error.strerror) if isinstance(error, OSError) else "not UTF-8"))
        return {}
    if all(line.lstrip()[:1] in ("", "#") for line in text.split("\n")):
        return {}  # nothing is set, as in a new vault: no need to load a parser
    import tomllib

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        findings.append(_unreadable(where, str(error)))
        return {}
    found: dict[str, Value] = {}
    for name, raw in _flat(table):
        try:
            found[name] = valid(_allowed(name, scope), raw, scope=scope)
        except BadInput as error:
            findings.append(Finding(where, _line_of(name, text), f"{error.message}; it is ignored", error.hint))
    return found


def _unreadable(where: str, reason: str) -> Finding:
    found = re.search(r" \(at line (\d+), column \d+\)$", reason)
    line = int(found[1]) if found else None
    message = f"the settings cannot be read: {reason[: found.start()] if found else reason}"
    return Finding(where, line, message, "correct it; until then none of them counts")


def _flat(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return `section.key` and value of all that is set."""
    tables = {name: raw for name, raw in table.items() if isinstance(raw, dict)}
    below = [(f"{name}.{key}", raw) for name, keys in tables.items() for key, raw in keys.items()]
    return [(name, raw) for name, raw in table.items() if name not in tables] + below


def _line_of(name: str, text: str) -> int | None:
    """Return the line that sets `name`, which tomllib does not tell; None for an unusual spelling."""
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
            section = header[1] + "."
        elif (key := re.match(r"\s*([^=#]+?)\s*=", line)) and name in (section + key[1], section[:-1]):
            return number
    return None


def _from_environment(findings: list[Finding]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for setting in TABLE:
        text = os.environ.get(setting.env)
        if text is None:
            continue
        try:
            found[setting.name] = parse(setting, text)
        except BadInput as error:
            findings.append(Finding(setting.env, None, f"{error.message}; it is ignored", error.hint))
    return found


def named(name: str) -> Setting:
    """Return the setting of this name. Raises BadInput with near names."""
    if name in BY_NAME:
        return BY_NAME[name]
    import difflib

    near = difflib.get_close_matches(name, BY_NAME, 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`mdmem config list` shows all settings"
    raise BadInput(f"there is no setting {name}", hint)


def _allowed(name: str, scope: Scope) -> Setting:
    """Return the setting if a file of this scope may set it. Raises BadInput."""
    setting = named(name)
    if setting.scope == "user" and scope == "vault":
        hint = f"set it with `mdmem config set --user {name} …`"
        raise BadInput(f"{name} counts only in your own settings, not in a vault's", hint)
    return setting


def set_value(text: str, name: str, typed: str, *, scope: Scope) -> str:
    """Return the settings file `text` with one value set; comments, order and other lines stay as they are.

    Raises BadInput for a name or value that cannot be, Refused where `text` is not TOML.
    """
    setting = _allowed(name, scope)
    value = parse(setting, typed)
    valid(setting, list(value) if isinstance(value, tuple) else value, scope=scope)
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    section, _, key = name.rpartition(".")
    try:
        document = tomlkit.parse(text)
        table: Any = document.setdefault(section, tomlkit.table()) if section else document
        table[key] = list(value) if isinstance(value, tuple) else value
    except (TOMLKitError, TypeError, ValueError, RecursionError) as error:
        raise Refused(f"the settings file cannot be changed: {error}", "correct it in an editor first") from error
    return tomlkit.dumps(document)


def now(settings: Settings) -> datetime:
    """Return the present moment on the user's clock, in a zone that knows of summer and winter where one is known."""
    rules = _rules(settings)
    return datetime.now(rules) if rules else datetime.now().astimezone()


def local(settings: Settings, moment: datetime) -> datetime:
    """Return the moment, aware, on the user's clock; a naive one is what that clock showed."""
    rules = _rules(settings)
    if rules is None:
        return moment.astimezone()
    return moment.replace(tzinfo=rules) if moment.tzinfo is None else moment.astimezone(rules)


def _rules(settings: Settings) -> tzinfo | None:
    """Return the user's time zone: the one that is set, else the system's, None if that has no name or file."""
    name = settings.text("timezone") or os.environ.get("TZ", "").removeprefix(":")
    try:
        if name:
            return zone(name)
        from zoneinfo import ZoneInfo

        with open("/etc/localtime", "rb") as file:
            return ZoneInfo.from_file(file)
    except (LookupError, ValueError, OSError):  # such as TZ="CET-1CEST,M3.5.0,M10.5.0"
        return None
