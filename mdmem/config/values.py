"""What a setting may be: words that were typed, and values out of TOML, checked by the setting's kind.

Pure but for the time zones of the system. What cannot be is a `BadInput` that says what can.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from typing import TYPE_CHECKING, Any

from mdmem.config.table import Scope, Setting, Value
from mdmem.errors import BadInput

if TYPE_CHECKING:
    from datetime import tzinfo

LISTS = ("folders", "words", "weights")
SECRETIVE = ("url", "variable")
"""Where people put a password or a key by mistake: what does not fit is not repeated."""

MODEL = re.compile(r"([A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*", re.ASCII)
"""A model's name, perhaps after its organisation's; no blank and no second slash that could hide a path."""

URL = re.compile(r"https?://[^\s/?#@\\]+(/[^\s?#@\\]*)?")
"""No name and password in it, which every message would repeat, and no question."""


def parse(setting: Setting, text: str) -> Value:
    """Return the value that was typed or put into the environment as `text`. Raises BadInput."""
    word = text.strip()
    if setting.kind in LISTS:
        parts = [part.strip() for part in word.split(",") if part.strip()]
        return valid(setting, [_number(part) for part in parts] if setting.kind == "weights" else parts)
    if setting.kind in ("whole", "number"):
        return valid(setting, _number(word))
    if setting.kind == "flag":
        return valid(setting, {"true": True, "yes": True, "false": False, "no": False}.get(word.lower(), word))
    return valid(setting, word)


def _number(word: str) -> Any:
    if re.fullmatch(r"[+-]?[0-9]{1,18}", word):
        return int(word)
    return float(word) if re.fullmatch(r"[+-]?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", word) else word


def show(value: Value) -> str:
    """Return a value the way `parse` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def valid(setting: Setting, raw: Any, *, scope: Scope = "user") -> Value:
    """Return `raw`, a value out of TOML, as a value of this setting. Raises BadInput.

    A file of the `vault` scope comes with a clone: what it says must not reach outside of the vault.
    """
    value, wanted = _read(setting, raw, scope)
    if value is not None:
        return value
    hint = f"its default is {show(setting.default) or 'empty'}"
    given = "" if setting.kind in SECRETIVE else f", not {_typed(raw)}"
    raise BadInput(f"{setting.name} must be {wanted}{given}", hint)


def _read(setting: Setting, raw: Any, scope: Scope) -> tuple[Value | None, str]:
    """Return the value, None if there is none in `raw`, and what there may be."""
    match setting.kind:
        case "whole" | "number":
            return _bounded(setting, raw)
        case "flag":
            return (raw if isinstance(raw, bool) else None), "true or false"
        case "word":
            return (raw if raw in setting.choices else None), " or ".join(setting.choices)
        case "words":
            fits = isinstance(raw, list) and all(item in setting.choices for item in raw)
            return (tuple(dict.fromkeys(raw)) if fits else None), f"any of {', '.join(setting.choices)}"
        case "weights":
            return _weights(setting, raw), "two numbers, not both 0"
        case "folders":
            return _folders(raw), "a list of folders inside the vault, none of them hidden"
        case "folder":
            return _folder(raw), "an absolute path, or one that begins with ~"
        case "model":
            return _model(raw, scope)
        case "url":
            return _url(raw), "an address such as https://host/v1, without a password in it"
        case "label":
            return _label(raw), "a name of at most 200 characters, none of them hidden"
        case "variable":
            return _variable(raw), "the name of a variable in capitals, not what it holds"
        case "command":
            return _command(raw), "a command whose program is found by PATH or named by an absolute path"
    return _zone(raw), "the name of a time zone, such as Europe/Berlin"


def _url(raw: Any) -> Value | None:
    from urllib.parse import urlsplit

    try:
        fits = isinstance(raw, str) and raw.isprintable() and URL.fullmatch(raw) and urlsplit(raw).port != 0
    except ValueError:  # a port above 65,535, a broken IPv6 address
        return None
    return raw.rstrip("/") if fits else None


def _label(raw: Any) -> Value | None:
    return raw.strip() if isinstance(raw, str) and raw.isprintable() and len(raw) <= 200 else None


def _variable(raw: Any) -> Value | None:
    """Capitals, as variables have them: a key that somebody put there would be shown as a name for ever."""
    return raw if isinstance(raw, str) and re.fullmatch(r"([A-Z_][A-Z0-9_]{0,99})?", raw) else None


def _command(raw: Any) -> Value | None:
    """One line as a shell reads it, or its words: a relative path would lead into whatever folder one is in."""
    try:
        words = shlex.split(raw) if isinstance(raw, str) else raw
    except ValueError:  # a quote that does not end
        return None
    if words == []:
        return ""
    fits = isinstance(words, list) and all(isinstance(word, str) and word.isprintable() for word in words)
    if not fits or not words[0] or ("/" in words[0] and not os.path.expanduser(words[0]).startswith("/")):
        return None
    return raw.strip() if isinstance(raw, str) else shlex.join(words)


def _typed(raw: Any) -> str:
    try:
        text = repr(raw)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a huge number"
    except RecursionError:
        return "tables within tables"
    return text if len(text) < 60 else text[:60] + "…"


def _bounded(setting: Setting, raw: Any) -> tuple[Value | None, str]:
    whole = setting.kind == "whole"
    wanted = f"a {'whole ' if whole else ''}number from {setting.low:g} to {setting.high:.9g}"
    fits = isinstance(raw, int if whole else int | float) and not isinstance(raw, bool)
    if not fits or not setting.low <= raw <= setting.high:  # nan compares false
        return None, wanted
    return (int(raw) if whole else float(raw)), wanted


def _weights(setting: Setting, raw: Any) -> Value | None:
    if raw == []:
        return ()
    fits = isinstance(raw, list) and len(raw) == 2 and all(_is_weight(item, setting.high) for item in raw)
    return tuple(map(float, raw)) if fits and math.fsum(raw) > 0 else None


def _is_weight(raw: Any, high: float) -> bool:
    return isinstance(raw, int | float) and not isinstance(raw, bool) and 0 <= raw <= high


def is_folder(name: str) -> bool:
    """Tell whether what names a model means a folder."""
    return name.startswith((".", "/", "~"))


def _model(raw: Any, scope: Scope) -> tuple[Value | None, str]:
    """A name, or a folder, which a vault's settings may name only where that vault is trusted."""
    if not isinstance(raw, str) or not raw.isprintable():
        return None, "the name of a model"
    if not is_folder(raw):
        fits = raw == "" or (MODEL.fullmatch(raw) and ".." not in raw)
        return (raw if fits else None), "the name of a model, or an absolute path"
    if scope == "vault":
        return None, "the name of a model (a folder counts only in your own settings)"
    return (raw if os.path.expanduser(raw).startswith("/") else None), "the name of a model, or an absolute path"


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
    return raw if raw == "" or os.path.expanduser(raw).startswith("/") else None  # Path.expanduser may raise


def _folders(raw: Any) -> Value | None:
    """A vault's settings come with a clone: they must not reach outside of it, nor into `.git`."""
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        return None
    folders = [item.removeprefix("./").removesuffix("/") for item in raw]
    parts = [part for folder in folders for part in folder.split("/")]
    safe = all(part and not part.startswith(".") and "\\" not in part and part.isprintable() for part in parts)
    return tuple(dict.fromkeys(folders)) if safe else None


def zone(name: str) -> tzinfo:
    """Return the time zone of this IANA name. Raises LookupError, ValueError or OSError."""
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
