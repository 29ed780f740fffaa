"""Settings as they are found: in the vault's file, in the user's, in the environment.

Owns reading the two files, within bounds, and judging each value by who may set it. It must never follow a vault's
file out of the vault, or fail because of what is in it: what cannot be used is a `Finding`.
"""

from __future__ import annotations

import errno
import os
import re
import stat as modes
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmem.config import trust
from mdmem.config.table import BY_NAME, TABLE, Scope, Setting, Value
from mdmem.config.values import parse, show, valid
from mdmem.errors import BadInput
from mdmem.model import Finding

MARKER = "mdmem.toml"
"""The tracked file that marks a vault's root."""

LIMIT = 64 * 1024
"""Bytes that a file of settings may have: all settings there are take two thousand."""

MOST = 200
"""So many values of a file are looked at; there are not a tenth as many settings."""

DOTS = 100_000
"""Of the dots in each line the square, in all: a key takes as long to read, and one of 30,000 parts takes seconds."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one source sets, and what of it was ignored. `guarded` counts only in a vault that is `trusted` for it."""

    values: dict[str, Value] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    guarded: dict[str, Value] = field(default_factory=dict)
    trusted: bool = False


def from_users_file(path: Path) -> Found:
    """Read the user's own file, which may be a link and may set everything."""
    found = Found()
    text = _text(path, str(path), found.findings, follow=True)
    for name, raw in _listed(text, str(path), found.findings):
        _take(found, name, raw, (str(path), text, "user"))
    return found


def from_vaults_file(root: Path, trusted: Mapping[str, str]) -> Found:
    """Read a vault's file; `trusted` are the vaults the user has trusted, each with the digest of what they saw."""
    found = Found()
    text = _text(root / MARKER, MARKER, found.findings, follow=False)
    for name, raw in _listed(text, MARKER, found.findings):
        _take(found, name, raw, (MARKER, text, "vault"))
    if not found.guarded:
        return found
    seen = trusted.get(os.path.realpath(root))
    if seen == trust.digest(found.guarded):
        return Found(found.values | found.guarded, found.findings, found.guarded, True)
    found.findings.extend(_untrusted(name, value, _line_of(name, text), seen) for name, value in found.guarded.items())
    return found


def from_environment(environment: Mapping[str, str]) -> Found:
    """Take what the variables of all settings say."""
    found = Found()
    for setting in TABLE:
        text = environment.get(setting.env)
        if text is None:
            continue
        try:
            found.values[setting.name] = parse(setting, text)
        except BadInput as error:
            found.findings.append(Finding(setting.env, None, f"{error.message}; it is ignored", error.hint))
    return found


def named(name: str) -> Setting:
    """Return the setting of this name. Raises BadInput with near names."""
    if name in BY_NAME:
        return BY_NAME[name]
    import difflib

    near = difflib.get_close_matches(name[:100], BY_NAME, 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`mdmem config list` shows all settings"
    raise BadInput(f"there is no setting {name if len(name) < 60 else name[:60] + '…'}", hint)


def allowed(name: str, scope: Scope, value: Any) -> Setting:
    """Return the setting if a file of this scope may give it this value. Raises BadInput."""
    setting = named(name)
    if setting.scope == "user" and scope == "vault" and (setting.off is None or value != setting.off):
        hint = f"set it with `mdmem config set --user {name} …`"
        raise BadInput(f"{name} counts only in your own settings, not in a vault's", hint)
    return setting


def _take(found: Found, name: str, raw: Any, source: tuple[str, str, Scope]) -> None:
    """Take one value in, or say why it is ignored."""
    where, text, scope = source
    try:
        if scope == "vault" and name in BY_NAME and trust.is_guarded(BY_NAME[name], raw):
            found.guarded[name] = valid(BY_NAME[name], raw)
        else:
            found.values[name] = valid(allowed(name, scope, raw), raw, scope=scope)
    except BadInput as error:
        found.findings.append(Finding(where, _line_of(name, text), f"{error.message}; it is ignored", error.hint))


def _text(path: Path, where: str, findings: list[Finding], *, follow: bool) -> str:
    """Read a file of settings that is regular and no larger than it may be; "" and a finding otherwise."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        with open(os.open(path, flags), "rb") as file:
            if not modes.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.ENXIO, "it is no regular file")
            data = file.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise OSError(errno.EFBIG, f"it has more than {LIMIT // 1024} KiB")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        pass
    except UnicodeDecodeError:
        findings.append(_unreadable(where, "not UTF-8"))
    except OSError as error:
        findings.append(_unreadable(where, "it is a link" if error.errno == errno.ELOOP else str(error.strerror)))
    return ""


def _listed(text: str, where: str, findings: list[Finding]) -> list[tuple[str, Any]]:
    """Return `section.key` and value of all that a file sets; nothing and a finding where it is no TOML."""
    if all(line.lstrip()[:1] in ("", "#") for line in text.split("\n")):
        return []  # nothing is set, as in a new vault: no need to load a parser
    if sum(line.count(".") ** 2 for line in text.split("\n")) > DOTS:
        findings.append(_unreadable(where, "its keys have too many parts"))
        return []
    import tomllib

    try:
        found = _flat(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        findings.append(_unreadable(where, str(error)))
        return []
    if len(found) > MOST:
        findings.append(Finding(where, None, f"{len(found):,} values are set, and only the first {MOST} are looked at"))
    return found[:MOST]


def _untrusted(name: str, value: Value, line: int | None, seen: str | None) -> Finding:
    reason = "it changed since you trusted this vault" if seen else "you have not trusted this vault"
    message = f"{name} = {show(value)} can run or send something, and {reason}; it is ignored"
    return Finding(MARKER, line, message, "`mdmem config trust` shows what would count, and asks")


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
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        key, equals, _ = line.partition("=")
        if line.startswith("["):
            section = line.partition("]")[0].lstrip("[").strip() + "."
        elif equals and name in (section + key.rstrip(), section[:-1]):
            return number
    return None
