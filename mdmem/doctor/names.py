"""What the files of a vault are called, and what they are: names that meet, links, copies, foreign repositories."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator

from mdmem.doctor.subject import Subject
from mdmem.model import Diagnosis
from mdmem.text import names

RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?\Z", re.DOTALL)
"""Names that Windows keeps for devices, whatever follows the first dot."""

FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]\Z')
"""What Windows takes in no name."""


def passed_over(subject: Subject) -> Iterator[Diagnosis]:
    """Name what a scan does not follow or cannot list: links, nested repositories, odd files."""
    for one in subject.scan.findings:
        hint = one.hint or ("look at its owner and mode" if "cannot" in one.message else "")
        hint = hint or ("move the notes out of it if they are memory" if "repository" in one.message else "")
        yield Diagnosis("passed-over", one.path, one.line, one.message, hint, "warning")


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
    for folder in ("memory", *subject.place.settings.items("roots")):
        for here, folders, files in os.walk(subject.place.root / folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(filter(names.is_copy, files)):
                path = os.path.relpath(os.path.join(here, name), subject.place.root)
                hint = "compare it with the note beside it, take over what is missing there, delete it"
                yield Diagnosis(
                    "copy", path, None, "is a second version that a program put beside a note", hint, "warning"
                )


def hard_links(subject: Subject) -> Iterator[Diagnosis]:
    """Name files with a second name: a change gives the first a file of its own, and the second stays as it was."""
    for file in subject.scan.files:
        stat = os.lstat(subject.place.root / file.path)
        if stat.st_nlink > 1:
            what = f"has {stat.st_nlink} names (hard links): a change by mdmem reaches this one alone"
            yield Diagnosis("hard-link", file.path, None, what, "keep one name", "warning")


CHECKS = (passed_over, twins, unfit_names, copies, hard_links)
