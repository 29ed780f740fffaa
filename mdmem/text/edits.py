"""One unit of a file changed: its text, one of its fields, or all of it taken out; every other byte stays.

Pure. It must never change a line that was not asked for, nor write back what could not be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher

from mdmem.errors import BadInput, Refused
from mdmem.text import entries, fields, markdown, units
from mdmem.text.units import Unit

EXACT = 2000
"""Lines up to which every one counts in a comparison; above, those that stand everywhere would cost too much time."""


def with_text(source: str, unit: Unit, text: str) -> str:
    """Give the source with another text in a unit. BadInput for a text that cannot be kept there, Refused for bytes
    that the text does not show."""
    stands = source[unit.start : unit.end]
    if markdown.readable(stands) != stands.removeprefix("\ufeff"):
        raise Refused(f"{unit.address} holds bytes that are no text", "mend them in an editor; nothing was changed")
    if unit.kind == "entry":
        with _kept():
            return entries.replace(source, _entry(source, unit), text=entries.normalise(text))
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise BadInput("this cannot be kept: the text holds a character that no file can", "nothing was changed")
    mark = "\ufeff" if stands.startswith("\ufeff") else ""
    return source[: unit.start] + mark + _as_ended(stands.removeprefix("\ufeff"), text) + source[unit.end :]


def with_field(path: str, source: str, unit: Unit, key: str, value: str | None) -> str:
    """Give the source with one key set or removed (None): of a document's front matter, of an entry's comment."""
    if unit.kind == "entry":
        pairs = [(k, v) for k, v in unit.meta if k != key] + ([(key, value)] if value is not None else [])
        with _kept():
            return entries.replace(source, _entry(source, unit), meta=pairs)
    if units.is_log(path):
        raise BadInput(f"{unit.address} is a daily log and has no fields", "name one of its entries")
    try:
        return fields.set_field(source, key, value)
    except Refused as error:
        raise Refused(f"{path}: {error.message}", error.hint) from error


def without(source: str, unit: Unit) -> str | None:
    """Give the source without an entry; None for a document, whose file goes as a whole."""
    return entries.remove(source, _entry(source, unit)) if unit.kind == "entry" else None


def _entry(source: str, unit: Unit) -> entries.LogEntry:
    return next(entry for entry in entries.parse(source).entries if entry.start == unit.start)


@contextmanager
def _kept() -> Iterator[None]:
    """Tell the user what the grammar of a log cannot take."""
    try:
        yield
    except ValueError as error:
        raise BadInput(f"this cannot be kept: {error}", "nothing was changed") from error


def _as_ended(old: str, text: str) -> str:
    """Give a text of LF alone the line endings of the old one: line by line where they are the same lines."""
    if "\r\n" in text or "\r\n" not in old:
        return text
    usual = entries.line_ending(old)
    before, after = old.split("\n"), text.split("\n")
    bare = [line.removesuffix("\r") for line in before]
    ends = [usual.removesuffix("\n")] * (len(after) - 1) + [""]
    for block in SequenceMatcher(None, bare, after, autojunk=len(after) > EXACT).get_matching_blocks():
        for k in range(min(block.size, len(after) - 1 - block.b, len(before) - 1 - block.a)):
            ends[block.b + k] = before[block.a + k][len(bare[block.a + k]) :]
    return "\n".join(line + end for line, end in zip(after, ends, strict=True))
