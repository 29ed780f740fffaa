"""A line of MEMORY.md: how the program writes a claim, how it reads one, and when two of them say the same.

Owns the grammar of the bullet, `- text <!-- mdmem: from=ADDRESS,ADDRESS confirmations=3 -->`, and the normal form of a
claim. It must never change what a person wrote: reading a line and writing it again is for lines of the program alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from unicodedata import category, normalize

from mdmem.model import Claim, Entry
from mdmem.text.analyze import is_cjk
from mdmem.text.items import BLANKS, Pairs, decode_meta, encode_meta, split_comment

SOURCES = 8
"""Sources that a line names: the first and the last ones. `confirmations` goes on counting."""

_BULLET = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[(?P<box>[ xX])\][ \t]+)?")
_BOX = re.compile(r"\s*\[([ xX])\]\s+")
_TAGS = re.compile(r"(?:\s+#(?=[\w/-]*[^\W\d_])[\w/-]+)+\s*\Z")


@dataclass(frozen=True, slots=True)
class Said:
    """A bullet read: its text without marker, box and comment.

    `box` is "" for none, " " for an open one, "x" for one that is ticked. `meta` is what else the comment holds.
    """

    text: str
    box: str = ""
    sources: tuple[str, ...] = ()
    confirmations: int = 1
    meta: Pairs = ()


# --- the line


def read(line: str) -> Said | None:
    """Read a bullet at column 0, given without its line ending; a person's too, or a numbered one. None for others."""
    found = _BULLET.match(line)
    text, comment = split_comment(line[found.end() :] if found else "")
    if not found or not (text.strip() or comment):
        return None
    pairs = decode_meta(comment) or ()
    held = dict(pairs)
    return Said(
        text=text.strip(BLANKS),
        box=(found["box"] or "").lower(),
        sources=_split(held.get("from", "")),
        confirmations=_count(held.get("confirmations", "")),
        meta=tuple(pair for pair in pairs if pair[0] not in ("from", "confirmations")),
    )


def told(line: str) -> str:
    """Give what a bullet says, without marker, box and comment; of another line the line itself."""
    said = read(line)
    return said.text if said else line


def write(said: Said) -> str:
    """Write a bullet, without a line ending. Its text is one line."""
    pairs = [("from", ",".join(map(_kept, said.sources)))] if said.sources else []
    if said.confirmations > 1:
        pairs.append(("confirmations", str(said.confirmations)))
    pairs += said.meta
    # A text that itself ends in such a comment is followed by an empty one, so that it stays text.
    comment = encode_meta(pairs) if pairs or split_comment(said.text)[1] else ""
    return f"- {said.box and f'[{said.box}] '}{said.text}{comment and f' {comment}'}"


def line_of(claim: Claim) -> str:
    """Write a new claim as a bullet. A to-do has a box; where its text begins with `[x] `, a ticked one."""
    box, text = unboxed(claim.text)
    if claim.kind == "todo":
        box = box or " "
    said = Said(text, box, _fewer(claim.sources), max(1, len(set(claim.sources))))
    return write(said)


def confirmed(said: Said, sources: Iterable[str]) -> Said:
    """Give a bullet with the sources that it does not name yet, each of them one more confirmation."""
    new = [source for source in dict.fromkeys(sources) if source not in said.sources]
    if not new:
        return said
    return replace(said, sources=_fewer((*said.sources, *new)), confirmations=said.confirmations + len(new))


def unboxed(text: str) -> tuple[str, str]:
    """Split the box off the text of a to-do: "" for none, " " or "x", and the rest."""
    found = _BOX.match(text)
    return (found[1].lower(), text[found.end() :]) if found else ("", text)


def guarded(entry: Entry) -> str:
    """Give the address of an entry with the first six hex digits of what it says now."""
    return f"{entry.address}@{sha256(entry.text.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def _fewer(sources: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(sources))
    return found if len(found) <= SOURCES else (found[0], *found[1 - SOURCES :])


def _split(value: str) -> tuple[str, ...]:
    return tuple(word.replace("%2C", ",").replace("%25", "%") for word in value.split(",") if word)


def _kept(source: str) -> str:
    return source.replace("%", "%25").replace(",", "%2C")


def _count(word: str) -> int:
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= 6 and int(word) else 1


# --- the normal form

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-"))
_QUIET = "|~^`´¨"  # symbols by their category, punctuation by their use
_INSIDE = ".:,/-"  # what a number, a time or a date is made of


def fold(text: str) -> str:
    """Give the normal form of a claim: two that differ in case, width, spacing, punctuation or tags at the end are one.

    What tells claims apart stays: numbers and their signs, `%`, `+`, `>`, the `#` of C#.
    """
    text = _TAGS.sub("", unboxed(text)[1])
    plain = normalize("NFKC", normalize("NFKC", text).casefold()).translate(_DASHES)
    plain = _THOUSANDS.sub("", "".join(char for char in plain if not _invisible(char)))
    kept = "".join(_part(plain, at) for at in range(len(plain)))
    return _joined(kept.split()) or " ".join(plain.split())


def digest(text: str) -> str:
    """Give 16 hex digits that stand for a claim, however it is written."""
    return sha256(fold(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@lru_cache(maxsize=4096)
def _invisible(char: str) -> bool:
    return category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f"


@lru_cache(maxsize=4096)
def _sign(char: str) -> bool:
    return category(char)[0] == "S" and char not in _QUIET


def _part(text: str, at: int) -> str:
    """Give what is left of one character: itself, a space, or nothing."""
    char = text[at]
    if char.isalnum() or char == "%" or _sign(char) or category(char)[0] in "LNM":
        return char
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char in "'’ʼ" and before.isalpha() and after.isalpha():
        return ""
    in_number = char in _INSIDE and before.isdigit() and after.isdigit()
    negative = char == "-" and after.isdigit() and not (before.isalnum() and not is_cjk(before))
    in_name = char == "_" and before.isalnum() and after.isalnum()
    of_language = char == "#" and before.isascii() and before.isalnum()
    return char if in_number or negative or in_name or of_language else " "


def _joined(words: list[str]) -> str:
    """Put words together; beside a CJK character or a sign a space says nothing."""
    text = ""
    for word in words:
        apart = text and not (_close(text[-1]) or _close(word[0]))
        text += f" {word}" if apart else word
    return text


def _close(char: str) -> bool:
    return is_cjk(char) or _sign(char) or char == "%"
