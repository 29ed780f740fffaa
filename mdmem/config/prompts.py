"""The texts that a language model is asked with: those of the program, or what the user has put in their place.

Owns where they are. A vault's own folder is never looked at: what a model is told is the user's to say.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from mdmem.errors import StorageFailed

LIMIT = 64 * 1024
"""Bytes that a text of the user's may have."""


def read(name: str, folder: Path) -> str:
    """Give the text of this name (`checkpoint.zh`), the user's in `folder` first. Raises StorageFailed."""
    own = folder / f"{name}.md"
    if not own.exists():
        return resources.files("mdmem.text").joinpath(f"prompts/{name}.md").read_text(encoding="utf-8")
    try:
        with own.open("rb") as file:
            data = file.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise StorageFailed(f"{own} is larger than {LIMIT // 1024} KB", "shorten it, or move it away")
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageFailed(f"{own} cannot be read: {error}", "mend it, or move it away") from error
