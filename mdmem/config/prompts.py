"""The texts that a language model is asked with: those of the program, or what the user has put in their place.

Owns where they are. A vault's own folder is never looked at: what a model is told is the user's to say.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from mdmem.errors import StorageFailed

NEEDED = {"checkpoint": ("{memory}", "{log}"), "merge": ("{base}", "{ours}", "{theirs}")}
"""What each text must have a place for."""

LEAST = 40
"""Characters that must be left of a text without these places: less tells a model nothing."""

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
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageFailed(f"{own} cannot be read: {error}", "mend it, or move it away") from error
    return _checked(text, own, NEEDED[name.partition(".")[0]])


def _checked(text: str, own: Path, places: tuple[str, ...]) -> str:
    for place in places:
        if place not in text:
            raise StorageFailed(f"{own} has no {place} in it", "put it where that belongs, or move the file away")
    rest = text
    for place in places:
        rest = rest.replace(place, "")
    if len(rest.strip()) < LEAST:
        raise StorageFailed(f"{own} says hardly anything", "write what a model is to do, or move the file away")
    return text
