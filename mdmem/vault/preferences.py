"""Changing a setting: the vault's in mdmem.toml, or the user's own; and which vaults the user trusts.

Owns writing the files of settings and of trust; what they mean is for `config` to say.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mdmem import config, fsio
from mdmem.errors import Refused, StorageFailed
from mdmem.model import Finding

TOLD = "told"
"""The file in STATE that says which findings about settings were told already."""


def keep(path: Path, name: str, value: str, scope: config.Scope) -> None:
    """Set one setting in a file; comments and all other lines stay. Raises BadInput, Refused, StorageFailed."""
    _change(path, lambda text: config.set_value(text, name, value, scope=scope), own=scope == "user")


def trust(root: Path, seen: str | None) -> None:
    """Trust the vault at `root` for what has this digest, or no more (None). Raises Refused, StorageFailed."""
    _change(config.trust_file(), lambda text: config.trust.changed(text, str(root), seen), own=True)


def untold(settings: config.Settings, state: Path) -> tuple[Finding, ...]:
    """Give what of the settings is ignored, once: not again until that changes. Never fails."""
    said = repr(settings.findings).encode("utf-8", "surrogateescape")
    now = hashlib.sha256(said).hexdigest().encode()
    with suppress(StorageFailed):  # then it is said each time
        if not state.is_dir():
            fsio.mkdir(str(state).lstrip("/"), root=Path("/"))
        before = fsio.read(TOLD, root=state)
        if before and before.data == now:
            return ()
        fsio.put(TOLD, now, root=state, durable=False)
    return settings.findings


def _change(path: Path, change: Callable[[str], str], *, own: bool) -> None:
    """Write a file anew; `own` is one of the user's, which people keep elsewhere and link to."""
    if own:
        path = config.expand(path)
        if not path.parent.is_dir():
            fsio.mkdir(str(path.parent).lstrip("/"), root=Path("/"))
    folder = path.parent
    base = fsio.read(path.name, root=folder)
    try:
        text = base.data.decode() if base else ""
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8", "correct it in an editor first") from error
    with tempfile.TemporaryDirectory(prefix="mdmem-") as spare:
        fsio.replace(path.name, change(text).encode(), root=folder, base=base, tmp=Path(spare))
