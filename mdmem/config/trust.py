"""Which vaults may set what can run or send something: those the user has trusted, with the very values they saw.

Owns the form of the file that says so, beside the user's own settings. A vault's file may change with every pull;
another value, or one more, is another thing than what was trusted, and counts for nothing until it is trusted again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from mdmem.config.table import Setting, Value
from mdmem.config.values import is_folder

NAME = "trusted.json"


def is_guarded(setting: Setting, raw: object) -> bool:
    """Tell whether a value out of a vault's file counts only where that vault is trusted: also a model's folder."""
    guarded = setting.guarded and (setting.off is None or raw != setting.off)
    return guarded or (setting.kind == "model" and isinstance(raw, str) and is_folder(raw))


def digest(values: Mapping[str, Value]) -> str:
    """Sum up what is to be trusted: names and values, whatever their order and however they are written."""
    return hashlib.sha256(json.dumps(dict(values), sort_keys=True).encode()).hexdigest()


def read(text: str) -> dict[str, str]:
    """Return the trusted vaults of the file: path without links → digest. Of a broken file nothing counts."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {root: seen for root, seen in pairs if isinstance(seen, str)}


def changed(text: str, root: str, seen: str | None) -> str:
    """Return the file with one vault trusted for this digest, or for nothing (None); the others stay."""
    trusted = {place: other for place, other in read(text).items() if place != root}
    return json.dumps(trusted | ({root: seen} if seen else {}), indent=2, sort_keys=True) + "\n"
