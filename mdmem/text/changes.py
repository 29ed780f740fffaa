"""Two versions of a file compared in memory's terms: entries and documents added, changed, removed.

Pure. It must never report a line number or a hunk: a change is told by what it did to which unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mdmem.model import Edit
from mdmem.text import markdown, packs, units


def compare(path: str, before: bytes | None, after: bytes | None) -> tuple[Edit, ...]:
    """Tell what happened to the units of a file; None stands for no file. Of an archive, what is packed in it."""
    if not path.endswith((".md", packs.ARCHIVE)):
        return _whole("/" + path, before, after)
    if any(data is not None and packs.is_pack(data) for data in (before, after)):
        return _pack(path, before, after)
    old, new = (units.read(path, data).units if data is not None else () for data in (before, after))
    if all(unit.kind == "document" and not unit.time for unit in (*old, *new)) and not _is_log(old, new):
        return _whole(units.stem_of(path), before, after)
    return _entries(old, new)


def _pack(path: str, before: bytes | None, after: bytes | None) -> tuple[Edit, ...]:
    """Compare packs log by log; one that became no pack any more, or was none, as a text with all that is in it."""
    logs = [{log.path: log.data for log in packs.members(data or b"")} for data in (before, after)]
    edits = [edit for name in sorted(logs[0] | logs[1]) for edit in compare(name, *(each.get(name) for each in logs))]
    for data, found in zip((before, after), logs, strict=True):
        if data is not None and not found:
            edits += _whole(units.stem_of(path), *((data, None) if data is before else (None, data)))
    return tuple(edits)


def gathered(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Tell of what went from one file and came to another by the same address what became of it: nothing, mostly."""
    edits = list(edits)
    went: dict[str, list[Edit]] = {}
    for edit in edits:
        if edit.kind == "removed":
            went.setdefault(edit.address, []).append(edit)
    kept, paired = [], set()
    for edit in edits:
        if edit.kind != "added" or not went.get(edit.address):
            kept.append(edit)
            continue
        was = went[edit.address].pop(0)
        paired.add(id(was))
        if was.before != edit.after:
            kept.append(Edit("changed", edit.address, was.before, edit.after))
    return tuple(edit for edit in kept if id(edit) not in paired)


def _is_log(old: tuple[units.Unit, ...], new: tuple[units.Unit, ...]) -> bool:
    return any(unit.kind == "entry" for unit in (*old, *new))


def _whole(address: str, before: bytes | None, after: bytes | None) -> tuple[Edit, ...]:
    old, new = (None if data is None else markdown.readable(markdown.decode(data).text) for data in (before, after))
    if before == after:
        return ()
    kind = "added" if old is None else "removed" if new is None else "changed"
    return (Edit(kind, address, old, new),)  # type: ignore[arg-type]


def _entries(old: tuple[units.Unit, ...], new: tuple[units.Unit, ...]) -> tuple[Edit, ...]:
    """Pair what is equal, then what has the same address; the rest came or went. In the order of the file."""
    kept = Counter(map(_said, old)) & Counter(map(_said, new))
    gone, come = _without(old, kept.copy()), _without(new, kept)
    before = {unit.address: unit for unit in gone}
    edits = []
    for unit in come:
        was = before.pop(unit.address, None)
        edits.append(Edit("changed" if was else "added", unit.address, was.text if was else None, unit.text))
    edits += [Edit("removed", unit.address, unit.text, None) for unit in gone if unit.address in before]
    return tuple(edits)


def _said(unit: units.Unit) -> tuple[str | None, str, tuple[tuple[str, str], ...]]:
    return unit.time, unit.text, unit.meta


def _without(
    found: tuple[units.Unit, ...], kept: Counter[tuple[str | None, str, tuple[tuple[str, str], ...]]]
) -> list[units.Unit]:
    rest = []
    for unit in found:
        if kept[_said(unit)] > 0:
            kept[_said(unit)] -= 1
        else:
            rest.append(unit)
    return rest


def headline(text: str, width: int = 60) -> str:
    """Give the first words of a text on one line, for a commit's subject."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"
