"""One field of a document's front matter changed, every other byte kept.

Comments, order, quoting, line endings and the byte order mark of a block are a person's: an edit replaces the text
of one top-level value, and is read back before it is believed. This module never dumps YAML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmem.errors import Refused
from mdmem.text.frontmatter import LIMIT, UNPRINTABLE, Pair, Problem, block_span, pairs


def set_field(source: str, key: str, value: str | None) -> str:
    """Return `source` with one top-level key changed, added or (None) removed; every other byte stays.

    A source without a block gets one. Raises Refused when the block is broken or written in braces, when an anchor
    would be lost, or when the change could not be read back.
    """
    _refuse_undecodable(key, value)
    span = block_span(source)
    if isinstance(span, Problem):
        raise _broken(span)
    found = pairs(source[span[0] : span[1]]) if span else None
    if isinstance(found, Problem):
        raise _broken(found)
    if span is None or found is None:  # no block, or a text between two rules
        return source if value is None else _with_new_block(source, key, value)
    start, end, _ = span
    edited = _edited(source[start:end], found, key, value, _newline(source))
    _refuse_other_changes(found, edited, key, value)
    return source[:start] + edited + source[end:]


def _newline(source: str) -> str:
    """Return the line ending of the first line."""
    at = source.find("\n")
    return "\r\n" if at > 0 and source[at - 1] == "\r" else "\n"


def _refuse_undecodable(key: str, value: str | None) -> None:
    for text in (key, value or ""):
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise Refused("a front matter field cannot hold bytes that are no text", "write it in UTF-8")


def _broken(problem: Problem) -> Refused:
    message = problem.message.removesuffix("; read as plain text")
    return Refused(f"line {problem.line}: {message}", f"correct line {problem.line} by hand; nothing was changed")


def _edited(block: str, found: Sequence[Pair], key: str, value: str | None, newline: str) -> str:
    """Return the block with the key set; of a key that occurs twice the last counts, and all are removed."""
    own = [pair for pair in found if pair.key == key]
    for pair in own if value is None else own[-1:]:
        _refuse_anchored(pair)
    if value is None:
        for pair in reversed(own):
            block = _without(block, pair)
        return block
    if own:
        return _replaced(block, own[-1], value)
    indent = " " * (found[0].start - _line_start(block, found[0].start)) if found else ""
    return f"{block}{indent}{_written(key, key=True)}: {_written(value)}{newline}"


def _refuse_anchored(pair: Pair) -> None:
    for kind, _, anchor, _ in pair.shape:
        if anchor and kind != "alias":
            raise Refused(f"{pair.key!r} carries the anchor &{anchor}, on which other keys may hang", "edit it by hand")


def _line_start(block: str, at: int) -> int:
    return block.rfind("\n", 0, at) + 1


def _line_end(block: str, at: int) -> int:
    """Return the offset of the line's end, before its newline."""
    end = block.find("\n", at)
    end = len(block) if end < 0 else end
    return end - 1 if end > at and block[end - 1] == "\r" else end


def _without(block: str, pair: Pair) -> str:
    """Remove the lines of a key and its value."""
    stop = block.find("\n", _value_end(block, pair))
    return block[: _line_start(block, pair.start)] + (block[stop + 1 :] if stop >= 0 else "")


def _value_end(block: str, pair: Pair) -> int:
    """Return the end of a value without the blank lines after it, which a block scalar claims."""
    return max(pair.key_end, pair.value_start + len(block[pair.value_start : pair.value_end].rstrip()))


def _replaced(block: str, pair: Pair, value: str) -> str:
    """Put a new value behind a key; comments on its line stay."""
    colon = re.compile("[ \t]*:").match(block, pair.key_end)
    if not colon:
        raise Refused(f"{pair.key!r} is written with a question mark", "edit it by hand")
    end, line_end = _value_end(block, pair), _line_end(block, colon.end())
    if pair.value_start > line_end:  # the value is a list, or a text, on the lines below
        rest = block[colon.end() : line_end] + block[_line_end(block, end) :]
        return f"{block[: colon.end()]} {_written(value)}{rest}"
    gap = block[colon.end() : pair.value_start] or " "
    return f"{block[: colon.end()]}{gap}{_written(value)}{block[max(end, pair.value_start) :]}"


_NEEDS_QUOTES = re.compile("""^[\\s,\\[\\]{}#&*!|>'"%@`]|^[-?:](?:\\s|$)|:\\s|:$|\\s#|\\s$|[\t\n\r\x85\u2028\u2029]""")
_PLAIN_KEY = re.compile(r"\w[\w.-]*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(rf"{UNPRINTABLE.pattern}|[\\\"\n\r\t\x85\u2028\u2029]")


def _written(text: str, *, key: bool = False) -> str:
    """Write a text as YAML on one line, in quotes only where it would not be read back without."""
    plain = _PLAIN_KEY.fullmatch(text) if key else text and not _NEEDS_QUOTES.search(text)
    if plain and not UNPRINTABLE.search(text):
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(char: re.Match[str]) -> str:
    code = ord(char.group())
    return _ESCAPES.get(char.group()) or (f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}")


def _with_new_block(source: str, key: str, value: str) -> str:
    mark = "\ufeff" if source.startswith("\ufeff") else ""
    newline = _newline(source)
    block = _edited("", (), key, value, newline)
    _refuse_other_changes((), block, key, value)
    return f"{mark}---{newline}{block}---{newline}{source[len(mark) :]}"


def _refuse_other_changes(before: Sequence[Pair], edited: str, key: str, value: str | None) -> None:
    """Read the edited block and compare: whatever the edit may have missed, it never goes unnoticed."""
    after = pairs(edited)
    fits = len(edited.encode("utf-8", "surrogateescape")) <= LIMIT
    if fits and isinstance(after, tuple) and _others(before, key) == _others(after, key):
        own = [pair.shape for pair in after if pair.key == key]
        scalar = own[-1][0][1] if own and len(own[-1]) == 1 else None
        if scalar == value:
            return
    raise Refused(f"the front matter could not be read back with {key!r} changed", "edit it by hand")


def _others(found: Sequence[Pair], key: str) -> list[tuple[object, ...]]:
    return [(pair.key, pair.shape) for pair in found if pair.key != key]
