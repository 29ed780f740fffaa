"""One entry of a daily log as a Markdown list item: its text, its tags, its `<!-- mdmem: … -->` comment.

Owns how a text is laid out so that it is read back equal and renders as one item, whatever it holds. Works on
str alone, never looks at the log around the item, and never changes a text but in `normalise` and
`with_tags`.

A line is *blank* when it holds nothing but spaces and tabs. Blank lines around a text are dropped; inside it
an empty line is written empty, a line of spaces or tabs keeps them behind the indent: both are read back
equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from unicodedata import category
from urllib.parse import unquote

Pairs = tuple[tuple[str, str], ...]

BLANKS = " \t"
INDENT = "  "
CLOCK = r"(?:[01][0-9]|2[0-3])[:：][0-5][0-9](?:[:：][0-5][0-9])?"

_TIME = re.compile(CLOCK.replace("：", ""))
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_COMMENT = re.compile(r"<!--[ \t]*mdmem:(.*?)-->[ \t]*", re.DOTALL)
_EXPIRES = re.compile(r"(?:(?<=[ \t])|\A)expires=[^\s=]+(?:[ \t]+[^\s=]+(?=[ \t]|\Z))+", re.IGNORECASE)
_UNSAFE = r"[\s%<>\x00-\x1f\x7f-\x9f\ud800-\udfff]|(?<=-)-"
_UNSAFE_VALUE, _UNSAFE_KEY = re.compile(_UNSAFE), re.compile(_UNSAFE + "|=")
_REFUSED = re.compile(r"[\x00\ud800-\udfff]")
# A first line that begins a block by itself: list item, heading, quote, fence, link reference or footnote,
# HTML, indented code. A rule, a setext heading and a table are looked for in `stands_alone`.
_BLOCK = re.compile(
    r"""[ ]{0,3}(?: [-+*](?:[ \t]|\Z) | [0-9]{1,9}[.)](?:[ \t]|\Z) | \#{1,6}(?:[ \t]|\Z) | >
      | `{3,}[^`]*\Z | ~{3} | \[[^\]]+\]: | <[!?] | </?[A-Za-z][A-Za-z0-9-]*(?:[\s/>]|\Z) | \t | [ ]{4} )""",
    re.VERBOSE,
)
_TAGGED = re.compile(r"(?:(?<=[ \t])|\A)#([^ \t]+)")
_CODE_SPAN = re.compile("`[^`]*`")


def normalise(text: str) -> str:
    """Make LF of CR LF and CR, and drop blank lines around.

    ValueError: the text holds NUL or a lone surrogate, or nothing is left.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    refused = _REFUSED.search(text)
    if refused:
        what = "a NUL character" if refused[0] == "\0" else "a lone surrogate, which no file can hold,"
        raise ValueError(f"the text holds {what} at position {refused.start() + 1}")
    if not text.strip():
        raise ValueError("the text is empty")
    return "\n".join(without_outer_blanks(text.split("\n")))


def without_outer_blanks(lines: list[str]) -> list[str]:
    """Drop blank lines at both ends."""
    filled = [place for place, line in enumerate(lines) if line.strip(BLANKS)]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def render(time: str, text: str, meta: Iterable[tuple[str, str]] = ()) -> str:
    """Write one entry as a list item with LF, one at its end.

    `time` is HH:MM or HH:MM:SS (else ValueError); `text` is normalised.
    """
    if not _TIME.fullmatch(time):
        raise ValueError(f"{time!r} is not a time of day (HH:MM or HH:MM:SS)")
    pairs = tuple(meta)
    return lay_out(f"- {time}", text, encode_meta(pairs) if pairs else "", alone=stands_alone(text))


def lay_out(head: str, text: str, comment: str, *, alone: bool, indent: str = INDENT) -> str:
    """Write a head, a comment ('' for none) and a text, which begins on the head's line unless `alone`."""
    first, *rest = text.split("\n")
    if alone:
        first, rest = "", ["", first, *rest]
    lines = [first_line(head, first, comment), *(line and indent + line for line in rest)]
    return "\n".join(lines) + "\n"


def first_line(head: str, text: str, comment: str) -> str:
    """Write the head's line; an empty comment keeps one that the text itself ends in a part of the text."""
    if not comment and split_comment(text)[1]:
        comment = encode_meta(())
    return head + (text and f" {text}") + (comment and f" {comment}")


# The comment


def encode_meta(pairs: Iterable[tuple[str, str]]) -> str:
    """Write keys and values as an mdmem comment.

    ValueError: a key is empty, or a surrogate stands for no byte.
    """
    words = ["<!-- mdmem:"]
    for key, value in pairs:
        if not key:
            raise ValueError("a key of the mdmem comment is empty")
        words.append(f"{_UNSAFE_KEY.sub(_percent, key)}={_UNSAFE_VALUE.sub(_percent, value)}")
    return " ".join([*words, "-->"])


def decode_meta(comment: str) -> Pairs | None:
    """Read an mdmem comment to keys and values, in order; None where it is none or holds a word without `=`.

    A stray `%` stands for itself; bytes that are no UTF-8 become surrogate escapes, and are written back
    equal. People write `expires=2026-12-31 18:00`: words without `=` right behind that key belong to it.
    """
    found = _COMMENT.fullmatch(comment)
    if not found or "-->" in found[1]:
        return None
    said = _EXPIRES.sub(lambda match: re.sub("[ \t]+", "%20", match[0]), found[1].strip(BLANKS))
    words = [word.partition("=") for word in re.split("[ \t]+", said) if word]
    if not all(key and equals for key, equals, _ in words):
        return None
    return tuple((_unquote(key), _unquote(value)) for key, _, value in words)


def split_comment(line: str) -> tuple[str, str]:
    """Split a first line into its text and the mdmem comment at its end ('' for none)."""
    place = line.rfind("<!--")
    if place < 0 or decode_meta(line[place:]) is None:
        return line, ""
    return line[:place].removesuffix(" "), line[place:]


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape"))


def _unquote(word: str) -> str:
    return unquote(word, errors="surrogateescape")


# Blocks


def stands_alone(text: str) -> bool:
    """Tell whether the text begins with a block that a time in front of it would break."""
    first, second, *_ = [*text.split("\n", 2), ""]
    return bool(_BLOCK.match(first)) or _is_rule(first) or _is_delimiter_row(second) or _is_setext(text)


def _is_rule(line: str) -> bool:
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) >= 3 and marks[0] in "-*_" and marks == marks[0] * len(marks)


def _is_delimiter_row(line: str) -> bool:
    return "-" in line and ("|" in line or ":" in line) and not line.strip("|:- \t")


def _is_setext(text: str) -> bool:
    """Tell whether the first paragraph is underlined with `=` or `-`, which makes it a heading."""
    for line in text.split("\n")[1:]:
        mark = line.strip(BLANKS)
        if not mark:
            return False
        if mark[0] in "=-" and mark == mark[0] * len(mark) and not line.startswith(("    ", "\t")):
            return True
    return False


def fence_after(line: str, fence: str, *, widest: int = 3) -> str:
    """Tell which fence is open after this line ('' for none), given the one open before it.

    `widest` is the largest indent, in columns, of a line that opens one.
    """
    if fence:
        mark = line.strip(BLANKS)
        closes = len(mark) >= len(fence) and mark == fence[0] * len(mark)
        return "" if closes and not line.startswith(("    ", "\t")) else fence
    found = _FENCE.match(line)
    return found[1] if found and found.start(1) <= widest else ""


# Tags


def with_tags(text: str, tags: Iterable[str]) -> str:
    """Put ` #tag` for each new tag at the end of the first line; where that is a block, a last paragraph.

    A leading `#` of a tag is optional; ValueError for one that is no word. Tags that the text has, in any
    case, are not repeated. Where an unclosed fence would make code of a last paragraph, it becomes the first
    one.
    """
    known, words = {tag.casefold() for tag in _tags(text)}, ""
    for tag in map(_tag, tags):
        words += "" if tag.casefold() in known else f" #{tag}"
        known.add(tag.casefold())
    if not words:
        return text
    if stands_alone(text):
        return f"{words[1:]}\n\n{text}" if _ends_fenced(text) else f"{text}\n\n{words[1:]}"
    first, newline, rest = text.partition("\n")
    said = first.rstrip(BLANKS)  # two spaces at the end are a hard line break, and stay there
    return f"{said}{words}{first[len(said) :]}{newline}{rest}"


def _tag(word: str) -> str:
    tag = word.removeprefix("#")
    if not all(part and all(map(_in_word, part)) for part in tag.split("/")) or not any(map(str.isalpha, tag)):
        raise ValueError(f"{word!r} cannot be a tag: letters, digits, - and _, at least one letter, nested with /")
    return tag


def _tags(text: str) -> Iterator[str]:
    """Yield the words behind a `#` at a line's start or after a blank, outside fences and code spans."""
    fence = ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(line, fence)
        if not before and not fence:
            for word in _TAGGED.findall(_CODE_SPAN.sub("`", line)):
                stop = next((at for at, char in enumerate(word) if char != "/" and not _in_word(char)), None)
                yield word[:stop].rstrip("/")


def _in_word(char: str) -> bool:
    # Marks are parts of letters: without them hardly a word of Hindi or Thai would be one.
    return char in "-_" or category(char)[0] in "LMN"


def _ends_fenced(text: str) -> bool:
    fence = ""
    for line in text.split("\n"):
        fence = fence_after(line, fence)
    return bool(fence)
