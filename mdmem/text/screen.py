"""What of a text may reach a terminal, how wide it is there, and where its lines break.

Owns the one mapping of characters that could steer, hide or reorder what a person sees. It must never decide
where the text goes or what it looks like.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

Span = tuple[int, int]

# Controls (without tab and newline), bidi and other invisible format characters, line and paragraph
# separators, fillers that print as nothing, variation selectors, lone surrogates, tags, noncharacters.
# Cf characters that are visible signs of their scripts (U+0600, U+06DD, U+110BD, …) are not among them.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U0010fffe\U0010ffff]"
)
_BREAKS = re.compile("[\t\n]")
_JOINERS = "\u200c\u200d"
_CLOSING = "、。，．：；！？）］｝〕〉》」』】…ー"  # which no line begins with
_EMOJI = re.compile("[\u203c-\u3299\U0001f000-\U0001fbff\ufe0f]")


def clean(text: str, *, one_line: bool = False) -> str:
    """Return `text` with every character that is not plainly visible written as `<U+202E>`.

    Newlines and tabs pass, unless the text is to stay on one line; CR LF is a newline; joiners pass inside a word or an
    emoji.
    """
    text = text.replace("\r\n", "\n")
    text = _SUSPECT.sub(lambda found: _shown(found, "<U+{:04X}>"), text)
    return _BREAKS.sub(lambda found: f"<U+{ord(found[0]):04X}>", text) if one_line else text


def uncleaned(text: str, original: str) -> str | None:
    """Return `text`, made from `original` as `clean` shows it, with the characters that `<U+202E>` stands for there.

    A text that holds such a character itself was not cleaned. None where `original` has that writing as well, so that
    nobody can tell which of the two is meant.
    """
    there = _hidden(text)
    written = {form: char for form, char in _hidden(original).items() if form in text and form not in there}
    found = text
    for form, char in written.items():
        found = found.replace(form, char)
    is_clear = not any(form in original for form in written) and found.count("\r\n") == text.count("\r\n")
    return found if is_clear else None


def _hidden(text: str) -> dict[str, str]:
    """Give what `clean` writes for the characters of a text that it does not let through, with each of them."""
    text = text.replace("\r\n", "\n")
    found = (match for match in _SUSPECT.finditer(text) if not _harmless(text, match.start()))
    return {f"<U+{ord(match[0]):04X}>": match[0] for match in found}


def escape(text: str) -> str:
    r"""Return JSON `text` with the same characters written as `\uXXXX`; it parses to the same value."""
    return _SUSPECT.sub(_escaped, text)


def _shown(found: re.Match[str], form: str) -> str:
    return found[0] if _harmless(found.string, found.start()) else form.format(ord(found[0]))


def _escaped(found: re.Match[str]) -> str:
    if _harmless(found.string, found.start()):
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _harmless(text: str, at: int) -> bool:
    """Tell whether the suspect at `at` joins two letters or emoji, or selects the form of one character."""
    char, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if char in _JOINERS:
        return _joins(before) and _joins(after)
    if "\ufe00" <= char <= "\ufe0f":  # one selector for one visible character: a row of them can hide a text
        return before.isprintable() and not before.isspace() and not _SUSPECT.match(before) and bool(before)
    return False


def _joins(char: str) -> bool:
    return bool(char) and (unicodedata.category(char)[0] in "LM" or bool(_EMOJI.match(char)))


def clean_marked(text: str, marks: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return `text` cleaned, line breaks and tabs as spaces, and `marks`, spans of it, moved along."""
    flat = _BREAKS.sub(" ", text)
    shown, moved, done = "", [], 0
    for start, end in sorted(marks):
        start, end = max(start, done), min(max(end, done), len(flat))
        shown += clean(flat[done:start])
        marked = clean(flat[start:end])
        moved.append((len(shown), len(shown) + len(marked)))
        shown, done = shown + marked, end
    return shown + clean(flat[done:]), [span for span in moved if span[0] < span[1]]


def width(text: str) -> int:
    """Return how many columns a cleaned text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    if char in _JOINERS or unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit(text: str, columns: int) -> str:
    """Return `text` on one line of at most `columns` columns; `…` stands for what was cut."""
    if width(text) <= columns:
        return text
    end = _reach(text, 0, columns - 1)
    return text[:end].rstrip(" ") + "…" if columns > 0 else ""


def _reach(text: str, start: int, columns: int) -> int:
    """Return the end of the longest stretch from `start` that fits."""
    at = start
    while at < len(text) and (columns := columns - _columns(text[at])) >= 0:
        at += 1
    return at


def wrap(text: str, columns: int) -> list[Span]:
    """Return the spans of the lines in which one line of text is shown, each at most `columns` wide.

    Lines break at spaces, which are dropped there, and at wide characters; a longer word breaks anywhere.
    """
    if width(text) <= columns:
        return [(0, len(text))]
    lines: list[Span] = []
    start = 0
    while start < len(text):
        end = max(_reach(text, start, columns), start + 1)
        if end < len(text):
            end = _break(text, start, end)
        lines.append((start, end))
        start = end
        while lines and text[start : start + 1] == " ":
            start += 1
    return lines


def _break(text: str, start: int, end: int) -> int:
    """Return the best place at or before `end` to break the line that begins at `start`."""
    for at in range(end, start, -1):
        if " " in text[at - 1 : at + 1]:
            return at
        joined = _columns(text[at]) == 0 or text[at - 1] in _JOINERS or text[at] in _CLOSING
        if not joined and 2 in (_columns(text[at]), _columns(text[at - 1])):
            return at
    return end
