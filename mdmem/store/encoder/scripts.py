"""Which scripts a model can read, told from its vocabulary.

Owns the thresholds. It must never be guessed from a model's name: a search in a script that the model cannot read gives
noise that looks like scores.

A vocabulary made for English holds the letters of most scripts one by one, so that nothing is wholly unknown, but no
words of them. Two things must hold, therefore. The vocabulary has many pieces of the script: 200 of two letters or
more, or in Han, where one sign is a word, 1,500 of any length (bert-base-uncased: 26,587 for Latin, at most 8 for every
other alphabet, 488 Han signs; vocabularies that were made for a script have thousands). And a sentence in it is cut
into pieces, not into letters or bytes: at least 1.6 letters a piece, 0.7 for Han and Hangul, with no more than a tenth
of the pieces unknown. That also holds for byte-level vocabularies, which know no unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from unicodedata import name, normalize

from mdmem.store.encoder import samples

SCRIPTS = tuple(samples.TEXTS)
_PREFIXES = {
    "LATIN": "Latin",
    "CJK": "Han",
    "HIRAGANA": "Kana",
    "KATAKANA": "Kana",
    "HANGUL": "Hangul",
    "CYRILLIC": "Cyrillic",
    "GREEK": "Greek",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "THAI": "Thai",
}


@dataclass(frozen=True, slots=True)
class Need:
    """What a script asks of a vocabulary."""

    pieces: int = 200
    letters: int = 2
    per_piece: float = 1.6


NEEDS = {"Han": Need(1500, 1, 0.7), "Hangul": Need(500, 2, 0.7), "Kana": Need(200, 2, 1.2)}
UNKNOWN = 0.1


def known(tokenizer: Any) -> tuple[str, ...]:
    """Name the scripts that a `tokenizers.Tokenizer` has words of."""
    counts = _count(tokenizer.decode_batch([[number] for number in range(tokenizer.get_vocab_size())]))
    return tuple(script for script in SCRIPTS if _enough(script, counts) and _copes(script, tokenizer))


def _count(pieces: Iterable[str]) -> Counter[tuple[str, int]]:
    """Count the pieces of one script by script and letters, one or two and more."""
    counts: Counter[tuple[str, int]] = Counter()
    for piece in pieces:
        # Decomposed, since many vocabularies are: an accent is no letter then, and a Hangul syllable is two or three.
        letters = [char for char in normalize("NFD", piece) if char.isalpha()]
        found = {_script(char) for char in letters}
        if len(found) == 1:
            counts[found.pop(), min(2, len(letters))] += 1
    return counts


def _enough(script: str, counts: Counter[tuple[str, int]]) -> bool:
    need = NEEDS.get(script, Need())
    return sum(counts[script, letters] for letters in range(need.letters, 3)) >= need.pieces


def _copes(script: str, tokenizer: Any) -> bool:
    """Cut the longest sample of the script and look at the pieces."""
    text = max(samples.TEXTS[script], key=len)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    letters = sum(char.isalpha() for char in text)
    unknown = sum(token in ("[UNK]", "<unk>") for token in encoding.tokens)
    return letters >= NEEDS.get(script, Need()).per_piece * len(encoding.ids) and unknown <= UNKNOWN * len(encoding.ids)


@lru_cache(4096)
def _script(char: str) -> str:
    return _PREFIXES.get(name(char, "").split(" ")[0].split("-")[0], "")
