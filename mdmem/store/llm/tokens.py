"""How many tokens a text has, roughly, where nobody counts them."""

from __future__ import annotations

import math

EAST = "\u2e80"
"""From here on a character is mostly a word or a syllable, which takes a token; before it, about half of one."""


def guess(text: str) -> int:
    """Guess the tokens of a text: four ASCII characters make one, a Chinese sign is one. At least 1."""
    plain = len(text.encode("ascii", "ignore"))
    eastern = sum(char >= EAST for char in text) if plain < len(text) else 0
    return max(1, math.ceil(plain / 4 + eastern + (len(text) - plain - eastern) / 2))
