"""What commits say: a subject that names the change, one line per entry, and the trailers history is read by.

Owns the form of messages. No text of a user's may reach the trailers, or begin a line of its own in a body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdmem.model import Distilled
from mdmem.store.journal import Record
from mdmem.text import changes, claims, packs, renames, units
from mdmem.text.renames import Sorted
from mdmem.vault import archives

LISTED = 100
"""Entries that a message names one by one."""

NAMED = 5
"""Sources that a trailer names."""


DROPPED = "They stood in their log before it was saved without them."


def message(subject: str, body: str, *, op: str, source: str = "", undoes: str = "", conflict: str = "") -> str:
    """Write a message: what, details and reason, and the trailers."""
    trailers = [f"Mdmem-Op: {op}"]
    if source:
        trailers.append(f"Mdmem-Source: {changes.headline(source, 200)}")
    if undoes:
        trailers.append(f"Mdmem-Undoes: {undoes}")
    if conflict:
        trailers.append(f"Mdmem-Conflict: {conflict}")
    return (
        "\n\n".join(part for part in (changes.headline(subject, 200), body.strip(), "\n".join(trailers)) if part) + "\n"
    )


def of_entries(records: Sequence[Record]) -> str:
    """Say which entries were added, and from where; or put back, and why."""
    sources = list(dict.fromkeys(record.source or "person" for record in records))
    more = f" and {len(sources) - NAMED} more" if len(sources) > NAMED else ""
    source = ", ".join(changes.headline(one) for one in sources[:NAMED]) + more if sources != ["person"] else ""
    lines = [
        f"- {changes.headline(units.stem_of(one.path or ''))}: {changes.headline(one.text or '')}" for one in records
    ]
    first = changes.headline(records[0].text or "")
    verb = "Put back" if records[0].op == "restore" else "Add"
    subject = f"{verb}: {first}" if len(records) == 1 else f"{verb} {len(records)} entries"
    why = f"{DROPPED}\n\n" if records[0].op == "restore" else ""
    return message(subject, why + _bounded(lines), op=records[0].op, source=source)


def of_save(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> str:
    """Say what a person changed, deleted and renamed by hand; None, or nothing in `before`, stands for no file."""
    before, after = ({path: archives.shown(path, data) for path, data in each.items()} for each in (before, after))
    found = renames.sort(before, after)
    came = set(found.moved.values())
    pairs = [(path, before.get(path), after[path]) for path in after if path not in found.moved and path not in came]
    pairs += [(new, before[old], after[new]) for old, new in found.moved.items()]
    edits = changes.gathered(edit for path, old, new in pairs for edit in changes.compare(path, old, new))
    texts = [edit.before or "" if edit.after is None else edit.after for edit in edits]
    lines = [f"- renamed {_named(old)} to {_named(new)}" for old, new in found.moved.items()]
    lines += [_line(f"{edit.kind} {edit.address}", text) for edit, text in zip(edits, texts, strict=True)]
    return message(_subject(found), _bounded(lines), op="save")


def _subject(found: Sorted) -> str:
    saved, gone, moved = [*found.edited, *found.added], found.deleted, found.moved
    if not gone and not moved:
        return f"Save {_counted(saved)} as edited by hand"
    if not saved and not moved:
        return f"Delete {_counted(gone)}"
    if not saved and not gone:
        return _moving(moved)
    counts = {"edited": found.edited, "added": found.added, "deleted": gone, "renamed": moved}
    told = ", ".join(f"{len(files)} {what}" for what, files in counts.items() if files)
    count = len(saved) + len(gone) + len(moved)
    return f"Save {count} files as edited by hand: {told}" if saved else f"Change {count} files by hand: {told}"


def _moving(moved: Mapping[str, str]) -> str:
    folders = renames.folders(moved)
    if folders and not {"", "memory"} & set(folders):
        return f"Rename {_named(folders[0])} to {_named(folders[1])}: {len(moved)} files"
    if len(moved) > 1:
        return f"Rename {len(moved)} files"
    [(old, new)] = moved.items()
    return f"Rename {_named(old)} to {_named(new)}"


def _counted(paths: Sequence[str]) -> str:
    return _named(paths[0]) if len(paths) == 1 else f"{len(paths)} files"


def counted_with_verb(paths: Sequence[str]) -> str:
    """Name one file, or say how many there are, each with its verb; "" for none."""
    return f"{_counted(paths)} {'was' if len(paths) == 1 else 'were'}" if paths else ""


def _named(path: str) -> str:
    return changes.headline(path.removeprefix(units.HOME) if packs.is_archive(path) else units.stem_of(path))


def of_change(op: str, subject: str, address: str, text: str) -> str:
    """Say what was done to one entry or document, whose text was or is this."""
    return message(subject, _line(address, text), op=op)


def of_checkpoint(done: Distilled) -> str:
    """Say what was distilled, by what, and what came of it."""
    told = [f"{len(lines)} {what}" for lines, what in _outcomes(done) if lines]
    subject = f"Checkpoint: {', '.join(told) or 'nothing to remember'} from {counted(done.entries, 'new entry')}"
    lines = [f"- new: {_bullet(line)}" for line in done.added]
    lines += [f"- again: {_bullet(new)}" for _, new in done.confirmed]
    lines += [f"- instead of {_bullet(old)}: {_bullet(new)}" for old, new in done.replaced]
    lines += [f"- to the archive: {_bullet(line)}" for line in done.moved]
    lines += [f"- to review: {changes.headline(claim.text)} ({why})" for claim, why in done.review]
    by = changes.headline(done.model, 200) if done.model else "patterns, without a model"
    return message(subject, f"Distilled by {by}.\n\n{_bounded(lines)}", op="checkpoint", source=done.model or "")


def _outcomes(done: Distilled) -> tuple[tuple[Sequence[object], str], ...]:
    return (
        *((done.added, "new"), (done.replaced, "changed"), (done.confirmed, "seen again")),
        *((done.moved, "archived"), (done.review, "to review")),
    )


def _bullet(line: str) -> str:
    return changes.headline(claims.told(line))


def counted(number: int, noun: str) -> str:
    """Give a number with its noun, `1 entry`, `2 entries`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def of_upkeep(subject: str, why: str, lines: Sequence[tuple[str, str, str]]) -> str:
    """Say what keeping house did and why, and to which entries: address, text and reason of each."""
    told = [f"{_line(address, text)} ({changes.headline(reason, 200)})" for address, text, reason in lines]
    return message(subject, f"{why}\n\n{_bounded(told)}", op="nightly")


def of_undo(subject: str, commit: str, conflict: str) -> str:
    """Say which change is taken back, and what that did to a conflict."""
    return message(f"Undo: {subject}", f"Takes back {commit[:12]}.", op="undo", undoes=commit, conflict=conflict)


def with_later_edits(said: str) -> str:
    """Add to a message that its commit holds what a person changed in the same file since."""
    subject, _, rest = said.partition("\n\n")
    return f"{subject}\n\nWith what was edited by hand in the same file since.\n\n{rest}"


def _line(address: str, text: str) -> str:
    return f"- {changes.headline(address, 200)}: {changes.headline(text)}"


def _bounded(lines: Sequence[str]) -> str:
    more = [f"- and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
    return "\n".join([*lines[:LISTED], *more])
