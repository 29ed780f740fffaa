"""What the files of a vault are called, and what they are: names that meet, links, copies, foreign repositories."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator

from mdmem.doctor.subject import Subject
from mdmem.model import Diagnosis
from mdmem.text import names, units
from mdmem.vault.place import SETTINGS

RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?\Z", re.DOTALL)
"""Names that Windows keeps for devices, whatever follows the first dot."""

FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]\Z')
"""What Windows takes in no name."""


def passed_over(subject: Subject) -> Iterator[Diagnosis]:
    """Name what a scan does not follow or cannot list: links, nested repositories, odd files."""
    for one in subject.scan.findings:
        hint = one.hint or ("look at its owner and mode" if "cannot" in one.message else "")
        hint = hint or ("move the notes out of it if they are memory" if "repository" in one.message else "")
        hint = hint or ("move it away, or give it another name" if "regular" in one.message else "")
        yield Diagnosis("passed-over", one.path, one.line, one.message, hint, "warning")


def unlike_kinds(subject: Subject) -> Iterator[Diagnosis]:
    """Name what stands where a note or a folder of notes belongs, and is something else."""
    root = subject.place.root
    for path in ("memory", "memory/daily"):
        if os.path.lexists(root / path) and not (root / path).is_dir():
            hint = f"move it away and make the folder: mkdir '{path}'"
            yield Diagnosis("no-folder", path, None, "is no folder: nothing can be kept in it", hint)
    if not os.path.lexists(root / "memory") and subject.place.repo.tree("HEAD", "memory"):
        hint = "`git checkout HEAD -- memory` brings back what was committed"
        yield Diagnosis("no-folder", "memory", None, "is gone, and with it every log", hint)
    for here, folders, _ in subject.folders:
        yield from (_folder(f"{here}/{name}") for name in folders if _is_note(name))
    for path in ("MEMORY.md", *SETTINGS):
        if os.path.lexists(root / path) and (os.path.islink(root / path) or not (root / path).is_file()):
            yield Diagnosis("no-file", path, None, "is not a regular file: it is not read", "put the file itself there")


def _is_note(name: str) -> bool:
    return name.endswith(".md")


def _folder(path: str) -> Diagnosis:
    known = units.is_log(path) or path.endswith("/MEMORY.md")
    what = "is a folder with the name of a note" + (": nothing can be kept there" if known else "")
    return Diagnosis("no-file", path, None, what, "give it another name", "error" if known else "note")


def twins(subject: Subject) -> Iterator[Diagnosis]:
    """Name files whose names are one name elsewhere: by Unicode form, or by case."""
    known: dict[str, str] = {}
    for note in subject.scan.files:
        name = unicodedata.normalize("NFC", note.path).casefold()
        if name in known:
            other = known[name]
            form = unicodedata.normalize("NFC", other) == unicodedata.normalize("NFC", note.path)
            what = "Unicode form" if form else "case"
            message = f"differs from {other} in {what} alone: on macOS or Windows one hides the other"
            yield Diagnosis("twin", note.path, None, message, "rename one of them", "warning")
        known.setdefault(name, note.path)


def unfit_names(subject: Subject) -> Iterator[Diagnosis]:
    """Name files that other systems cannot take."""
    for path in (file.path for file in subject.scan.files):
        parts = path.split("/")
        if any("\udc80" <= char <= "\udcff" for char in path):
            yield Diagnosis("name", path, None, "its name is not UTF-8", "rename it", "warning")
        elif any(RESERVED.match(part) for part in parts):
            yield Diagnosis("name", path, None, "Windows keeps this name for a device", "rename it to share it", "note")
        elif any(FORBIDDEN.search(part) for part in parts):
            what = "has a character in its name that Windows does not take"
            yield Diagnosis("name", path, None, what, "rename it to share it", "note")
        elif any(len(os.fsencode(part)) > 240 for part in parts):
            yield Diagnosis("name", path, None, "its name is nearly too long for a file system", "shorten it", "note")


def copies(subject: Subject) -> Iterator[Diagnosis]:
    """Name second versions that a synchroniser or a merge left."""
    for here, _, files in subject.folders:
        for name in filter(names.is_copy, files):
            hint = "compare it with the note beside it, take over what is missing there, delete it"
            what = "is a second version that a program put beside a note"
            yield Diagnosis("copy", f"{here}/{name}", None, what, hint, "warning")


def hard_links(subject: Subject) -> Iterator[Diagnosis]:
    """Name files with a second name: a change gives the first a file of its own, and the second stays as it was."""
    for file in subject.scan.files:
        stat = os.lstat(subject.place.root / file.path)
        if stat.st_nlink > 1:
            what = f"has {stat.st_nlink} names (hard links): a change by mdmem reaches this one alone"
            yield Diagnosis("hard-link", file.path, None, what, "keep one name", "warning")


CHECKS = (passed_over, unlike_kinds, twins, unfit_names, copies, hard_links)
