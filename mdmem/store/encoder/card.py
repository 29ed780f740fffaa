"""What is known of a model that is ready to serve, kept as `card.json` beside its files in the cache.

Owns the card's form, which files of a model it vouches for, and whether they still are what was written. It must never
load a model, and reading a card imports nothing but json and hashlib.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME = "models"
NAME = "card.json"
FORMAT = 1
"""Raised when another way of exporting or serving gives other vectors: it is part of every fingerprint."""


@dataclass(frozen=True, slots=True)
class Card:
    """A model that is ready to serve. Vectors of two fingerprints must never be compared.

    `window` counts tokens, specials and prefix included. `scripts` are those the model can read. `files` maps what
    serving opens to [size, mtime in ns, inode, SHA-256]; `seen` maps the files of the source to [size, mtime in ns].
    `agreement` is what was measured against the original, `probe` the vector of `PROBE` as it was then.
    """

    name: str
    kind: str
    fingerprint: str
    dimension: int
    window: int
    scripts: tuple[str, ...]
    precision: str
    pooling: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""
    inputs: tuple[str, ...] = ()
    source: str = ""
    seen: dict[str, list[int]] = field(default_factory=dict)
    files: dict[str, list[Any]] = field(default_factory=dict)
    agreement: dict[str, float] = field(default_factory=dict)
    probe: tuple[float, ...] = ()


def folder(cache: Path, fingerprint: str) -> Path:
    """Give the place of a prepared model's files."""
    return cache / HOME / fingerprint


def dump(card: Card) -> bytes:
    """Write a card as JSON."""
    return json.dumps(asdict(card), ensure_ascii=False).encode()


def read(path: Path) -> Card | None:
    """Read a card; None when there is none, or none of this version."""
    try:
        found = json.loads(path.read_bytes())
        known = {one.name: found[one.name] for one in fields(Card)}
        for name in ("scripts", "inputs", "probe"):
            known[name] = tuple(known[name])
        card = Card(**known)
        if not all(isinstance(size, int) and size > 0 for size in (card.dimension, card.window)):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return card if path.parent.name == card.fingerprint else None


def cards(cache: Path) -> Iterator[Card]:
    """Yield the cards of all prepared models, by fingerprint; what was left half-made has none."""
    try:
        names = sorted(entry.name for entry in os.scandir(cache / HOME) if not entry.name.startswith("."))
    except OSError:
        return
    for name in names:
        if card := read(cache / HOME / name / NAME):
            yield card


def is_current(card: Card) -> bool:
    """Tell whether the source is as it was seen, or gone: what was prepared needs it no more."""
    if not os.path.isdir(card.source):
        return True
    try:
        return all(look(Path(card.source, name))[:2] == seen for name, seen in card.seen.items())
    except OSError:
        return False


def seen(source: Path, names: Iterator[str]) -> dict[str, list[int]]:
    """Note the look of a source's files, to see cheaply whether one was changed. Raises OSError."""
    return {name: look(source / name)[:2] for name in names}


def record(path: Path) -> list[Any]:
    """Note the look and the sum of a file. Raises OSError."""
    return [*look(path), digest(path)]


def damaged(where: Path, files: Mapping[str, list[Any]]) -> str | None:
    """Name the first file that is not what was written; one whose look is as recorded is not read again."""
    for name, (*noted, wanted) in files.items():
        try:
            here = look(where / name)
            if here != noted and (here[0] != noted[0] or digest(where / name) != wanted):
                return name
        except OSError:
            return name
    return None


def digest(path: Path) -> str:
    """Give the SHA-256 of a file, in hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def look(path: Path) -> list[int]:
    """Give size, mtime in ns and inode of a file. Raises OSError."""
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns, stat.st_ino]
