"""What stands in the notes: what cannot be read as it was meant, what is half there, and what should not be there.

It must never show a secret, only name its kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.doctor.subject import Note, Subject
from mdmem.model import Diagnosis
from mdmem.text import markdown, packs, secrets, units
from mdmem.text.units import Unit

SHOWN = 200
"""So many findings of one kind are named one by one."""


def unreadable_files(subject: Subject) -> Iterator[Diagnosis]:
    """Name files that no search can look into."""
    limit, most = subject.place.settings.whole("index.max_file_mb"), subject.place.largest
    for note in subject.notes:
        if note.reason == "too large":
            what, hint = f"is larger than {limit} MB and not indexed", "split it, or raise index.max_file_mb"
            if note.size > most * 2**20:
                what = f"is larger than {most} MB, and neither indexed nor committed"
                hint = "split it or move it away, or raise commit.max_file_mb"
            yield Diagnosis("large", note.path, None, what, hint, "warning")
        elif note.reason:
            yield Diagnosis("unreadable", note.path, None, note.reason, note.hint or "look at its owner and mode")


def broken_text(subject: Subject) -> Iterator[Diagnosis]:
    """Name what is read otherwise than it was meant: front matter that does not parse, bytes that are no UTF-8."""
    for note in subject.notes:
        for line, message in note.reading.problems:
            is_front = "front matter" in message
            hint = "correct the block in an editor; until then it is plain text"
            if not is_front:
                hint = "save it as UTF-8; the bytes are left as they are"
            kind = "front-matter" if is_front else "encoding"
            if packs.is_archive(note.path):
                hint = "`mdmem unpack` puts it back as a file, to be corrected"
            if message == units.CHANGED:
                kind, hint = "archive", "it is read as it was left, and nothing more is packed into it"
            yield Diagnosis(kind, note.path, line, message, hint, "warning")


def conflict_markers(subject: Subject) -> Iterator[Diagnosis]:
    """Name conflicts that git left in a note."""
    for note in subject.notes:
        line = markdown.conflict_markers(note.text) if "<<<<<<<" in note.text else None
        if line is not None:
            hint = "keep what should stand there, and remove the marks; `mdmem conflicts` helps"
            yield Diagnosis("conflict", note.path, line, "a merge left both versions here", hint)


def torn_ends(subject: Subject) -> Iterator[Diagnosis]:
    """Name files whose end may be missing: an unfinished last line of a log, or a run of NUL after a power cut."""
    for note in subject.notes:
        lines = note.data.count(b"\n") + 1
        if note.data.endswith(b"\0\0"):
            hint = "`mdmem log` and `mdmem diff` show what stood there; `mdmem recover` lists what is kept"
            yield Diagnosis("torn", note.path, lines, "ends in NUL bytes, as after a power cut", hint)
        elif note.data and not note.data.endswith(b"\n") and units.is_log(note.path):
            hint = "nothing to do if the line is whole: the next entry gets a line of its own"
            yield Diagnosis("torn", note.path, lines, "its last line has no end", hint, "note")


def secrets_in_notes(subject: Subject) -> Iterator[Diagnosis]:
    """Name what looks like a key or a password."""
    for note in subject.notes:
        for unit in note.reading.units:
            for kind in secrets.kinds(f"{unit.front}\n{unit.text}"):
                line = _secret_line(note, unit)
                hint = "change the secret where it is used, then remove it here; history keeps what was committed"
                yield Diagnosis("secret", note.path, line, f"holds what looks like {kind}", hint, "warning")


def _secret_line(note: Note, unit: Unit) -> int:
    """Give the first line that alone looks like a secret, else where its unit begins."""
    listed = note.text.split("\n")[unit.line - 1 : unit.last_line]
    return next((unit.line + at for at, line in enumerate(listed) if secrets.kinds(line)), unit.line)


def doubled_ids(subject: Subject) -> Iterator[Diagnosis]:
    """Name ids that more than one unit has: an address by id leads to the first of them."""
    first: dict[str, tuple[str, int]] = {}
    for note in subject.notes:
        for unit in note.reading.units:
            for name in dict.fromkeys((unit.id, unit.address)):
                if name in first and first[name] != (note.path, unit.line):
                    where = ":".join(map(str, first[name]))
                    hint = "give one of them another id"
                    what = f"has the id {name}, as {where} has"
                    yield Diagnosis("duplicate-id", note.path, unit.line, what, hint, "warning")
                first.setdefault(name, (note.path, unit.line))


CHECKS = (unreadable_files, broken_text, conflict_markers, torn_ends, secrets_in_notes, doubled_ids)
