"""Changing a setting: the vault's in mdmem.toml, or the user's own.

Owns writing the two files of settings; what they mean is for `config` to say.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from mdmem import config, fsio
from mdmem.errors import Refused


def keep(path: Path, name: str, value: str, scope: config.Scope) -> None:
    """Set one setting in a file; comments and all other lines stay. Raises BadInput, Refused, StorageFailed."""
    folder = path.parent
    if scope == "user":
        path = config.expand(path)  # people keep such files elsewhere and link to them
        folder = path.parent
        folder.mkdir(parents=True, exist_ok=True)
    base = fsio.read(path.name, root=folder)
    try:
        text = base.data.decode() if base else ""
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8", "correct it in an editor first") from error
    changed = config.set_value(text, name, value, scope=scope)
    with tempfile.TemporaryDirectory(prefix="mdmem-") as spare:
        fsio.replace(path.name, changed.encode(), root=folder, base=base, tmp=Path(spare))
