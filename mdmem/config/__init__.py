"""Where the vault is, and every setting with its type, default and source.

Owns the table of settings, the two files they are kept in (`mdmem.toml` of the vault, `config.toml` of the
user) and the environment: this is its only reader. It must never open the vault itself, contact anything, or
fail because of what a settings file holds: what cannot be used is a `Finding`, and the next source counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.config import prompts, sources, trust
from mdmem.config.sources import MARKER, allowed, named
from mdmem.config.table import BY_NAME, TABLE, Scope, Setting, Value
from mdmem.config.values import parse, show, valid, zone
from mdmem.errors import NoVault, Refused
from mdmem.model import Finding

if TYPE_CHECKING:
    from datetime import tzinfo

__all__ = ["BY_NAME", "MARKER", "TABLE", "Scope", "Setting", "Value", "named", "parse", "show", "trust", "zone"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force: `values` and `origins` of what is set, `findings` of what was ignored.

    `guarded` is what the vault's file sets that counts only if the user has `trusted` the vault for just that.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    guarded: Mapping[str, Value] = field(default_factory=dict)
    trusted: bool = False

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
    for wanted, source in ((explicit, "--vault"), (os.environ.get("MDMEM_VAULT"), "MDMEM_VAULT")):
        if wanted:
            return _named_vault(str(wanted), source)
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


def runtime_dir() -> Path:
    """Return the folder for the sockets of this user's processes: below `XDG_RUNTIME_DIR`, else below /tmp."""
    user = os.geteuid()
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    for base in (named, f"/run/user/{user}"):  # `su` passes on a folder that is another user's
        if base.startswith("/") and os.path.isdir(base) and os.stat(base).st_uid == user:
            return Path(base, "mdmem")
    return Path(f"/tmp/mdmem-{user}")


def fingerprint(settings: Settings) -> str:
    """Name all but the files that an answer depends on, so that two processes can tell whether they would agree."""
    import hashlib

    values = [f"{setting.name}={settings.value(setting.name)!r}" for setting in TABLE]
    around = [os.environ.get("TZ"), *time.tzname, state_override(), cache_dir(), settings.findings]
    return hashlib.sha256("\n".join([*values, *map(repr, around)]).encode()).hexdigest()


def secret(variable: str) -> str:
    """Return what the user keeps in a variable of this name, without blanks around it; "" when there is none."""
    return os.environ.get(variable, "").strip()


def environment() -> dict[str, str]:
    """Return a copy of the user's variables, for a program that the user wants run."""
    return dict(os.environ)


def prompt(kind: str, language: str) -> str:
    """Return the text that a language model is asked with: the user's own in `prompts/` beside their settings, or ours.

    Raises StorageFailed for one of the user's that cannot be read.
    """
    return prompts.read(f"{kind}.{language}", settings_file(None, "user").parent / "prompts")


def debugging() -> bool:
    """Tell whether the user wants to see the inside of an unexpected error (`MDMEM_DEBUG`)."""
    return os.environ.get("MDMEM_DEBUG", "") not in ("", "0")


def trust_file() -> Path:
    """Return the file that says which vaults are trusted, be it there or not."""
    return settings_file(None, "user").with_name(trust.NAME)


def trusted_vaults() -> dict[str, str]:
    """Return the vaults the user has trusted: path without links → digest of what they saw."""
    try:
        return trust.read(trust_file().read_bytes().decode())
    except (OSError, ValueError):
        return {}


def load(root: Path | None) -> Settings:
    """Return the settings in force in the vault at `root`, or outside of any. Never fails."""
    layers = {"user": sources.from_users_file(settings_file(None, "user"))}
    if root is not None:
        layers["vault"] = sources.from_vaults_file(root, trusted_vaults())
    layers["environment"] = sources.from_environment(os.environ)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for origin, found in layers.items():
        values |= found.values
        origins |= dict.fromkeys(found.values, origin)
    findings = tuple(finding for found in layers.values() for finding in found.findings)
    vaults = layers.get("vault", sources.Found())
    return Settings(values, origins, findings, vaults.guarded, vaults.trusted)


def set_value(text: str, name: str, typed: str, *, scope: Scope) -> str:
    """Return the settings file `text` with one value set; comments, order and other lines stay as they are.

    Raises BadInput for a name or value that cannot be, Refused where `text` is not TOML.
    """
    value = parse(named(name), typed)
    setting = allowed(name, scope, value)
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
