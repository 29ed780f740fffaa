"""Terms for BM25: what a text is found by.

Owns folding (width, accents, case), words, identifiers and their parts, and CJK bigrams. Stemming is the
caller's (`stem`), so that this module stays free of libraries. It must never depend on anything but its
arguments: the same text gives the same terms everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

VERSION = 2
"""Part of the index's identity: raise it whenever the same text would give other terms."""

Stem = Callable[[str], str]

_CJK = (
    "々〆〇\u3040-\u309f\u30a0-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = rf"[^\W{_CJK}]"
# Connectors hold an identifier together only between word characters; '++', '#', '%', '°c' only at its end.
_TOKEN = re.compile(rf"[{_CJK}]+|{_WORD}+(?:[._\-/:@'&+=~]{_WORD}+)*(?:\+\+|#(?![A-Za-z0-9_])|%|°[cCfF](?![A-Za-z]))?")
_IS_CJK = re.compile(f"[{_CJK}]")
_PIECES = re.compile(r"[/:@&+=~]")
_PARTS = re.compile(rf"[{_CJK}]+|[^\W_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[a-z]*")

STOP_WORDS = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have he her his how i if in into
    is it its me my no not of on or our she so such that the their them then there these they this to us was we
    were what when where which who why will with would you your
    im ive id dont didnt doesnt isnt wasnt cant couldnt wont wouldnt havent youre whats thats
    """.split()  # noqa: SIM905 - a list literal of ninety words is no easier to read
)
"""English function words. They are not indexed: a phrase that holds one is checked against the text."""

_ASKING = re.compile("什么时候|什么|怎么样|怎么|为什么|哪里|哪儿|哪个|哪些|哪一|多少|请问|是谁|谁|吗|呢|[我你他她]们?")
"""Chinese words that ask or point and say nothing of what is asked for: left out of queries, not of the index."""

PART_WEIGHT = 0.5
"""What a part of an identifier counts in a query, beside the whole."""


_STROKES = str.maketrans("łŁøØđĐħĦ", "lLoOdDhH")
"""Letters that Unicode does not take apart."""


class _FoldTable(dict[int, str]):
    """A table for `str.translate`, filled on demand: one form of each character, no accents, case kept."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", chr(code))
        kept = "".join(c for c in plain if unicodedata.category(c) != "Mn" or c in "\u3099\u309a")
        # Strokes at last: ǿ is an ø with an accent, and ℏ is a form of ħ.
        self[code] = folded = unicodedata.normalize("NFC", kept).translate(_STROKES)
        return folded


_FOLD = _FoldTable({code: chr(code) for code in range(128)})
_FOLD.update({0x2019: "'", 0xAD: "", 0x200B: "", 0xFEFF: ""})  # an apostrophe; signs that only allow a break


def is_cjk(term: str) -> bool:
    """Tell whether a term is a part of a CJK run."""
    return bool(_IS_CJK.match(term))


def unify(text: str) -> str:
    """Unify full-width and half-width forms, ligatures and accents, character by character; case is kept."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_FOLD))


def fold(text: str) -> str:
    """Fold width, accents and case, and turn each run of blank space into one space.

    Made character by character, so that a part of a text folds to a part of the folded text.
    """
    return " ".join(unify(text).casefold().split())


@dataclass(frozen=True, slots=True)
class Token:
    """A word, identifier or CJK run at `start:end` of the unified text, with its terms.

    `whole` are the terms that stand for all of it, `parts` those that stand for a piece. A function word
    has neither.
    """

    start: int
    end: int
    whole: tuple[str, ...]
    parts: tuple[str, ...]


def tokens(unified: str, stem: Stem) -> Iterator[Token]:
    """Yield the tokens of a text that went through `unify`, in order."""
    for match in _TOKEN.finditer(unified):
        word = match[0]
        whole, parts = _cjk(word) if _IS_CJK.match(word) else _latin(word, stem)
        yield Token(match.start(), match.end(), whole, parts)


def _cjk(run: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Bigrams stand for the run, its single characters for its parts."""
    if len(run) == 1:
        return (run,), ()
    return tuple(run[i : i + 2] for i in range(len(run) - 1)), tuple(run)


def _latin(word: str, stem: Stem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lower = word.lower().replace("'", "")
    if lower in STOP_WORDS:
        return (), ()
    if lower.isalpha() and (word.islower() or word.istitle() or word.isupper()):
        return (_word(lower, stem),), ()
    return _identifier(word, stem)


@cache
def _identifier(word: str, stem: Stem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`src/node.js` is found by itself, `src`, `node.js`, `node` and `js`."""
    word = re.sub(r"'[sS]$", "", word)
    whole = _word(word.casefold(), stem)
    pieces = [piece for piece in _PIECES.split(re.sub(r"°.$", "", word)) if piece]
    small = [part for piece in pieces for found in _PARTS.findall(piece) for part in (found, *_camel(found))]
    parts = dict.fromkeys(_word(part.casefold(), stem) for part in (*pieces, *small))
    return (whole,), tuple(part for part in parts if part != whole and part not in STOP_WORDS)


def _camel(part: str) -> list[str]:
    if part.islower() or part.isupper() or not part.isalpha():
        return []
    humps = _CAMEL.findall(part)
    return humps if len(humps) > 1 else []


def _word(word: str, stem: Stem) -> str:
    """Stem plain English words; anything with a digit or a sign is an identifier and stays."""
    word = word.replace("'", "")
    return stem(word) if len(word) > 2 and word.isascii() and word.isalpha() else word


@dataclass(frozen=True, slots=True)
class Field:
    """A text that counts `weight` times; without `parts`, identifiers in it are found as a whole only."""

    text: str
    weight: int
    parts: bool = True


@dataclass(frozen=True, slots=True)
class Bag:
    """The terms of one passage, each as often as it counts, and the passage's length in words."""

    terms: list[str]
    length: int


def bag(fields: Iterable[Field], stem: Stem) -> Bag:
    """Count the terms of several fields (BM25F: frequencies and lengths are weighted sums).

    Parts and single characters do not add to the length.
    """
    terms: list[str] = []
    length = 0
    for field in fields:
        for token in tokens(unify(field.text), stem):
            length += field.weight * len(token.whole)
            terms.extend((*token.whole, *(token.parts if field.parts else ())) * field.weight)
    return Bag(terms, length)


def terms_in(text: str, stem: Stem) -> set[str]:
    """Give the distinct terms of a text, whole ones and parts."""
    return {term for token in tokens(unify(text), stem) for term in (*token.whole, *token.parts)}


def weigh(text: str, stem: Stem) -> dict[str, float]:
    """Give the terms a query text asks for, with what each counts.

    A CJK run asks for its bigrams (a single character for itself), a word for its stem, an identifier for
    itself above all and for its parts. Function words ask for nothing.
    """
    weights: dict[str, float] = {}
    for token in tokens(_ASKING.sub(" ", unify(text)), stem):
        identifier = bool(token.parts) and not _IS_CJK.match(token.whole[0])
        for term in token.whole:
            weights[term] = max(weights.get(term, 0), 2.0 if identifier else 1.0)
        for part in token.parts if identifier else ():
            weights.setdefault(part, PART_WEIGHT)
    return weights


def whole_terms(text: str, stem: Stem) -> tuple[str, ...]:
    """Give the terms that all stand for a word as typed; none where only the text itself can decide."""
    found = list(tokens(unify(text), stem))
    if any(not token.whole or len(token.whole) > 1 for token in found):
        return ()
    return tuple(token.whole[0] for token in found)


_COUNT = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+|\d{1,4})(?:[.:/]\d+)?(?:st|nd|rd|th|s|°?[a-z]{1,3}|%)?|\d+(?:-[a-z]+)+|[a-z]-?\d"
)
"""Counts, times, ordinals and measures: `3`, `1,500`, `7:30pm`, `2nd`, `1990s`, `5km`, `25-year-old`."""


def identifiers(text: str) -> list[str]:
    """List the words of a text that name one thing exactly: `ERR_1042`, `PAY-70312-QX`, `2026-04-10`, `13812345678`.

    A word is one when it has digits beside letters or signs, an underscore, or five digits and more; not when it
    only counts something.
    """
    words = (token.group() for token in _TOKEN.finditer(unify(text)) if not _IS_CJK.match(token.group()))
    return list(dict.fromkeys(word for word in words if _is_identifier(word.lower())))


def _is_identifier(word: str) -> bool:
    digits = sum(char.isdigit() for char in word)
    if not digits or _COUNT.fullmatch(word):
        return "_" in word.strip("_") or (digits == len(word) >= 5)
    return True


def boundary(needle: str, *, open_end: bool = False) -> re.Pattern[str]:
    """Compile a pattern that finds a folded needle from word boundary to word boundary.

    CJK has no boundaries. With `open_end` the needle may go on: it is the beginning of a word.
    """
    before = rf"(?<!{_WORD})" if re.match(_WORD, needle) else ""
    after = rf"(?!{_WORD})" if not open_end and re.search(rf"{_WORD}\Z", needle) else ""
    return re.compile(before + re.escape(needle) + after)
