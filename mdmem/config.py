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
from typing import TYPE_CHECKING, Any, Literal

from mdmem.errors import BadInput, NoVault, Refused
from mdmem.model import Finding

if TYPE_CHECKING:
    from datetime import tzinfo

MARKER = "mdmem.toml"
"""The tracked file that marks a vault's root."""

Value = str | int | float | tuple[str, ...]
Scope = Literal["vault", "user"]
Kind = Literal["zone", "folder", "folders", "whole", "number"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `scope` is the least trusted file that may set it; `low` and `high` bound a number."""

    name: str
    kind: Kind
    default: Value
    description: str
    scope: Scope = "vault"
    low: float = 0
    high: float = 0

    @property
    def env(self) -> str:
        return "MDMEM_" + self.name.replace(".", "_").upper()


TABLE: tuple[Setting, ...] = (
    Setting("timezone", "zone", "", "IANA time zone of dates and times; empty: the system's"),
    Setting("roots", "folders", (), "further folders of the vault whose Markdown files are memory too"),
    Setting("search.k", "whole", 10, "hits on one page", low=1, high=1000),
    Setting("search.bm25_k1", "number", 1.2, "BM25: how slowly repeated words stop counting", high=10),
    Setting("search.bm25_b", "number", 0.75, "BM25: how much long passages are held back", high=1),
    Setting("lock.timeout_ms", "whole", 500, "how long a write waits for another process", high=60_000),
    Setting("index.max_file_mb", "whole", 32, "larger files are named, not indexed", low=1, high=1024),
    Setting("vault.default", "folder", "", "the vault used where no other is found", scope="user"),
)
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in TABLE}


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

    def whole(self, name: str) -> int:
        """Return a setting that is a whole number."""
        value = self.value(name)
        assert isinstance(value, int), name
        return value

    def number(self, name: str) -> float:
        """Return a setting that is a number."""
        value = self.value(name)
        assert isinstance(value, int | float), name
        return float(value)

    def items(self, name: str) -> tuple[str, ...]:
        """Return a setting that is a list."""
        value = self.value(name)
        assert isinstance(value, tuple), name
        return value


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
            found[name] = _valid(_allowed(name, scope), raw)
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


def parse(setting: Setting, text: str) -> Value:
    """Return the value that was typed or put into the environment as `text`. Raises BadInput."""
    word = text.strip()
    raw: Any = word
    if setting.kind == "folders":
        raw = [part.strip() for part in word.split(",") if part.strip()]
    elif setting.kind in ("whole", "number") and re.fullmatch(r"[+-]?[0-9]{1,18}", word):
        raw = int(word)
    elif setting.kind == "number" and re.fullmatch(r"[+-]?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", word):
        raw = float(word)
    return _valid(setting, raw)


def show(value: Value) -> str:
    """Return a value the way `parse` takes it."""
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _valid(setting: Setting, raw: Any) -> Value:
    """Return `raw`, a value out of TOML, as a value of this setting. Raises BadInput."""
    if setting.kind in ("whole", "number"):
        value, wanted = _number(setting, raw)
    elif setting.kind == "folders":
        value, wanted = _folders(raw), "a list of folders inside the vault, none of them hidden"
    elif setting.kind == "folder":
        value, wanted = _folder(raw), "an absolute path, or one that begins with ~"
    else:
        value, wanted = _zone(raw), "the name of a time zone, such as Europe/Berlin"
    if value is not None:
        return value
    hint = f"its default is {show(setting.default) or 'empty'}"
    raise BadInput(f"{setting.name} must be {wanted}, not {_typed(raw)}", hint)


def _typed(raw: Any) -> str:
    try:
        text = repr(raw)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a huge number"
    return text if len(text) < 60 else text[:60] + "…"


def _number(setting: Setting, raw: Any) -> tuple[Value | None, str]:
    whole = setting.kind == "whole"
    wanted = f"a {'whole ' if whole else ''}number from {setting.low:g} to {setting.high:.9g}"
    fits = isinstance(raw, int if whole else int | float) and not isinstance(raw, bool)
    if not fits or not setting.low <= raw <= setting.high:  # nan compares false
        return None, wanted
    return (int(raw) if whole else float(raw)), wanted


def _zone(raw: Any) -> Value | None:
    if raw == "":
        return ""
    try:
        zone(raw)
    except (
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
    ):  # unknown, a path, no text, a folder
        return None
    return str(raw)


def _folder(raw: Any) -> Value | None:
    if not isinstance(raw, str) or not raw.isprintable():
        return None
    return raw if raw == "" or os.path.expanduser(raw).startswith("/") else None  # as in expand


def _folders(raw: Any) -> Value | None:
    """A vault's settings come with a clone: they must not reach outside of it, nor into `.git`."""
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        return None
    folders = [item.removeprefix("./").removesuffix("/") for item in raw]
    parts = [part for folder in folders for part in folder.split("/")]
    safe = all(part and not part.startswith(".") and "\\" not in part and part.isprintable() for part in parts)
    return tuple(dict.fromkeys(folders)) if safe else None


def set_value(text: str, name: str, typed: str, *, scope: Scope) -> str:
    """Return the settings file `text` with one value set; comments, order and other lines stay as they are.

    Raises BadInput for a name or value that cannot be, Refused where `text` is not TOML.
    """
    value = parse(_allowed(name, scope), typed)
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


def zone(name: str) -> tzinfo:
    """Return the time zone of this IANA name. Raises LookupError, ValueError or OSError."""
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


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
