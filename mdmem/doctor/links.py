"""`[[links]]` between notes: those that lead nowhere.

A target may be an address, an id, a title, an alias, or a file's name, as Obsidian takes it: with or without its
folders and `.md`, whatever its case, with a heading or block behind `#`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath

from mdmem.doctor.subject import Note, Subject
from mdmem.model import Diagnosis
from mdmem.text import frontmatter, markdown, packs, units

CLOCK = re.compile(r"\d\d:\d\d(:\d\d)?(\.\d+)?\Z")


def dangling_links(subject: Subject) -> Iterator[Diagnosis]:
    """Name links that lead nowhere, by file and line."""
    known = _targets(subject)
    files: set[str] | None = None
    for note in subject.notes:
        if "[[" not in note.text:
            continue
        for target in markdown.links(markdown.readable(note.text)):
            if _is_known(target, note, known):
                continue
            files = _files(subject) if files is None else files
            if _folded(target) in files or _folded(basename(target)) in files:
                continue
            hint = _near(target, known)
            message = f"[[{target}]] leads nowhere"
            yield Diagnosis("dangling-link", note.path, _line(note, target), message, hint, "warning")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()


def _targets(subject: Subject) -> set[str]:
    """Gather, folded, all that a link may name."""
    known: set[str] = set()
    for note in subject.notes:
        stem = units.stem_of(note.path)
        parts = stem.lstrip("/").split("/")
        known.update(_folded("/".join(parts[at:])) for at in range(len(parts)))
        known.update(map(_folded, (stem, note.path, note.path.removesuffix(".md"))))
        for log in packs.members(note.data):
            known.update(map(_folded, (units.stem_of(log.path), basename(units.stem_of(log.path)))))
        for unit in note.reading.units:
            names = (unit.address, unit.id, unit.title, basename(unit.address))
            known.update(_folded(name) for name in (*names, *frontmatter.list_field(unit.fields, "aliases")))
    return known


def _is_known(target: str, note: Note, known: set[str]) -> bool:
    stem, sign, label = target.partition("#")
    if _folded(target) in known:
        return True
    if not stem:  # a heading of the note itself
        return True
    if sign and CLOCK.match(label.strip()):  # an entry, which must be there
        return any(_folded(f"{each}#{label}") in known for each in (stem, f"daily/{stem}"))
    stem = re.sub(r"\.md\Z", "", stem.strip(), flags=re.IGNORECASE)
    here = dirname(units.stem_of(note.path))
    return any(_folded(each) in known for each in (stem, stem.lstrip("/"), normpath(join(here, stem))))


def _files(subject: Subject) -> set[str]:
    """Gather, folded, the names of whatever else lies beside the notes, such as pictures."""
    found: set[str] = set()
    homes = ("memory", *subject.place.settings.items("roots"))
    for here, _, names in subject.folders:
        inner = next(os.path.relpath(here, home) for home in homes if f"{here}/".startswith(f"{home.strip('/')}/"))
        found.update(_folded(name) for name in names if not name.endswith(".md"))
        found.update(_folded(normpath(join(inner, name))) for name in names if not name.endswith(".md"))
    return found


def _line(note: Note, target: str) -> int | None:
    found = re.search(r"\[\[\s*" + re.escape(target), note.text)
    return note.text.count("\n", 0, found.start()) + 1 if found else None


def _near(target: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(_folded(target), known, 1, 0.75) if len(known) < 20_000 else []
    return f"did you mean [[{near[0]}]]?" if near else "write the note, or take the brackets away"


CHECKS = (dangling_links,)
