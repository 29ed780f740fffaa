"""How near two texts are in meaning, by the model of semantic search, where one is ready.

Owns the vectors of these texts while they are compared; nothing is kept. It must never prepare a model, nor judge a
text in a script that the model cannot read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from mdmem.errors import MdmemError
from mdmem.text import scripts

if TYPE_CHECKING:
    from mdmem.vault.meaning import Meaning

REMEMBERED = 4096
"""Texts whose vectors are kept at a time."""


def measure(meaning: Meaning) -> Callable[[str, str], float] | None:
    """Give what measures the cosine of two texts, 0.0 where the model cannot read one; None without a model."""
    card = meaning.card()
    if card is None:
        return None
    try:
        encoder = meaning.encoder(card)
    except MdmemError as error:
        meaning.notices.append(f"meanings are not compared: {error.message}")
        return None

    @lru_cache(REMEMBERED)
    def vector(text: str) -> object:
        return next(iter(encoder.passages([text])), None) if scripts.readable(text, card.scripts) else None

    def similar(one: str, other: str) -> float:
        mine, yours = vector(one), vector(other)
        return 0.0 if mine is None or yours is None else float(mine @ yours)  # type: ignore[operator]

    return similar
