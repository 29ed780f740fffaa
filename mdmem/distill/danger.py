"""What never goes into memory unasked, whoever said it: orders to a model, hidden text, code to run, secrets, markup.

Owns those signs, for a claim and for an entry that one rests on. Memory is read by models, so a line of it is an
order in the making. It must never repeat what it found: its answers are shown to people and to models alike.
"""

from __future__ import annotations

import re
from base64 import b64decode
from functools import lru_cache

from mdmem.distill.orders import is_imperative, order_in
from mdmem.model import ClaimKind
from mdmem.text import secrets
from mdmem.text.claims import unboxed
from mdmem.text.items import stands_alone
from mdmem.text.screen import clean

LONGEST = 300
"""Characters of a claim; what is longer is a text, and belongs into a document."""

_BLOCKS = re.compile(r"\s*(?:-{3}|\+{3}|={3})")
_HTML = re.compile(r"<!--|-->|</?[A-Za-z][^<>]*>|<![A-Za-z\[]|<\?|&(?:#\w+|lt|gt|amp|quot);")
_BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/=_-])")
_HEX = re.compile(r"(?i)(?<![0-9a-z])(?:(?:\\x|%|0x)?[0-9a-f]{2}[ ,]?){12,}(?![0-9a-z])")
_OTHER = "А-Яа-яЁёІіЇїЄєѕјԁѡα-λν-ορ-ψΑ-ΡΣ-Ψ"  # μ, π and Ω are units and signs, and stand beside Latin letters
_MIXED = re.compile(f"[A-Za-z][{_OTHER}]|[{_OTHER}][A-Za-z]")
_PASSWORD = re.compile(
    r"(?i)\b(?:passwords?|passphrase|passcode|safe ?word|login|(?:secret|access|api) key)\b.{0,12}\b(?:is|are|was)\b"
    r"|(?:密码|口令|密钥)(?:是|为)"
)
_MANY = 48
"""Characters from which on a word of small and capital letters and digits is no name any more."""


def in_claim(text: str, kind: ClaimKind) -> str:
    """Say why a claim must not become memory as it stands; "" where nothing is in the way."""
    if "\n" in text or "\r" in text:
        return "it has several lines"
    if len(text) > LONGEST:
        return f"it has more than {LONGEST} characters"
    found = secrets.kinds(text)
    if found or _PASSWORD.search(text):
        return f"it seems to hold {found[0] if found else 'a password'}"
    if unfit := is_line(text):
        return unfit
    if kind != "todo" and is_imperative(text):
        return "it reads like an order"
    return _hidden(text, one_line=True) or ("it holds HTML" if _HTML.search(text) else "") or _order(text)


_OPENS = re.compile(r"\s*(?:[-*+>]|\d{1,9}[.)]|\[[ xX]?\]|#{1,6})(?=\s|\Z)")


def is_line(text: str) -> str:
    """Say why a text can not be a line of MEMORY.md, whoever wrote it; "" where it can."""
    bare = unboxed(text.strip())[1].strip()
    if not text.strip() or not re.search(r"[^\W_]", bare):
        return "it says nothing: there is not one word in it"
    if len(text.strip().splitlines()) > 1:
        return "it has several lines"
    if clean(text.strip(), one_line=True) != text.strip():
        return "it holds hidden characters"
    if _BLOCKS.match(bare) or stands_alone(bare) or _OPENS.match(bare):
        return "it would open a heading, a list, a table or another block"
    return "it holds a comment or a block of HTML" if re.search(r"<!--|-->|\A\s*<[A-Za-z/!?]", bare) else ""


@lru_cache(maxsize=256)
def in_source(text: str) -> str:
    """Say why nothing that rests on an entry may become memory unasked; "" where nothing shows it."""
    found = _hidden(text, one_line=False) or _order(text, of_source=True)
    return found and f"of its source: {found}"


def _order(text: str, *, of_source: bool = False) -> str:
    found = order_in(text, of_source=of_source)
    return found and f"it reads like {found}"


def _hidden(text: str, *, one_line: bool) -> str:
    """Say that a text holds what a reader does not see as what it is."""
    if clean(text, one_line=one_line) != text.replace("\r\n", "\n"):
        return "it holds hidden characters"
    if _MIXED.search(text):
        return "it mixes letters of two alphabets in a word"
    return "it holds a coded text" if any(map(_is_coded, _BLOB.findall(text))) or _is_hex(text) else ""


def _is_coded(word: str) -> bool:
    """Tell whether a long word says something in base64, or is too long and too mixed for a name."""
    mixed = all(re.search(kind, word) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    if mixed and len(word) >= _MANY and word.count("/") < 3:
        return True
    try:
        bare = word.rstrip("=").replace("-", "+").replace("_", "/")
        return _is_prose(b64decode(bare + "=" * (-len(bare) % 4)))
    except ValueError:
        return False


def _is_hex(text: str) -> bool:
    for found in _HEX.finditer(text):
        digits = re.sub(r"\\x|%|0x|[ ,]", "", found[0])
        if len(digits) % 2 == 0 and _is_prose(bytes.fromhex(digits)):
            return True
    return False


def _is_prose(data: bytes) -> bool:
    """Tell whether bytes read as words: letters and spaces for the most part."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    letters = sum(char.isalpha() or char == " " for char in text)
    return len(text) >= 4 and text.isprintable() and letters > 0.85 * len(text)
