"""What a model is asked: entries in batches of a bounded size, and a template filled with one of them.

Owns how a log is shown to a model. A text of the log must never close the section that it stands in, hide anything in
it, or be taken for a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from mdmem.model import Entry
from mdmem.text.claims import read
from mdmem.text.screen import clean
from mdmem.text.sections import Language, language_of

BATCH = 12_000
"""Characters of log that one prompt holds: what small models read with care, with their answer."""

ENTRY = 4_000
"""Characters of one entry that are shown; a longer one is a document that was pasted."""

MEMORY = 4_000
"""Characters of memory that one prompt holds."""

_MARK = re.compile(r"<(?=\s*[/|]|\s*(?:memory|log|base|ours|theirs|system|user|assistant)\b)|(?<=\|)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries that are asked about at once, and the language to ask in."""

    language: Language
    entries: tuple[Entry, ...]


def part(entries: Sequence[Entry], *, chars: int = BATCH) -> list[Batch]:
    """Part entries, in their order, into batches of so many characters; each is asked about in its own language."""
    found: list[Batch] = []
    held: list[Entry] = []
    size = 0
    for entry in entries:
        length = len(_shown(entry))
        if held and size + length > chars:
            found.append(_batch(held))
            held, size = [], 0
        held.append(entry)
        size += length + 1
    return [*found, _batch(held)] if held else found


def _batch(entries: Sequence[Entry]) -> Batch:
    return Batch(language_of("\n".join(entry.text[:ENTRY] for entry in entries)), tuple(entries))


def checkpoint(template: str, entries: Sequence[Entry], known: Sequence[str], *, today: date) -> str:
    """Fill a template with entries and with lines of MEMORY.md, which are numbered m1, m2, … in their order.

    `known` is cut where its budget ends, so the lines that matter most come first.
    """
    held = "\n".join(_within(_numbered(known), MEMORY)) or "-"
    log = "\n".join(_shown(entry) for entry in entries)
    return fill(template, {"today": today.isoformat(), "memory": held, "log": log})


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values where a template names them; those that it does not name follow at its end, each between its marks."""
    missing = [key for key in values if f"{{{key}}}" not in template and key != "today"]
    template += "".join(f"\n\n<{key}>\n{{{key}}}\n</{key}>\n" for key in missing)
    names = "|".join(map(re.escape, values))
    # One pass: what is put in is not looked at again.
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], template)


def shown(text: str) -> str:
    """Give a text for a model to read: with nothing hidden in it, and nothing that closes a section."""
    return _MARK.sub(lambda found: "‹" if found[0] == "<" else "›", clean(text))


def _shown(entry: Entry) -> str:
    """Write an entry behind its address, further lines indented."""
    text = entry.text if len(entry.text) <= ENTRY else entry.text[:ENTRY] + " …"
    return f"[{shown(entry.address)}] " + shown(text).replace("\n", "\n  ")


def _numbered(known: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(known, 1):
        said = read(line)
        box = f"[{said.box}] " if said and said.box else ""
        yield f"m{number}: {box}{shown(said.text if said else line)}".replace("\n", " ")


def _within(rows: Iterator[str], chars: int) -> Iterator[str]:
    for row in rows:
        chars -= len(row) + 1
        if chars < 0:
            return
        yield row
