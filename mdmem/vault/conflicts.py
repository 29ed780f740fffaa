"""Two versions of a file that did not merge: kept, shown side by side, and resolved.

Owns the records of conflicts. A file never gets markers from here, and no version goes before a person has chosen:
both are in the journal until then. Markers that git left in a file are listed and cut as well; git's own merge is the
person's to finish.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mdmem import fsio, indexer, merge
from mdmem.errors import BadInput, Busy, MdmemError, NotFound, Refused
from mdmem.model import Change, Clash, Conflict
from mdmem.store.journal import Journal, Record, Tracked
from mdmem.text import markdown, units
from mdmem.vault import history, messages
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import Delivery
from mdmem.vault.place import Place
from mdmem.vault.reasons import CONFLICT
from mdmem.vault.replacement import Replacements, Step

TRIES = 5

Choice = Literal["ours", "theirs", "both"] | bytes
"""One of the versions, both, or what a person wrote instead."""

NAMES = ("ours: what the vault had", "theirs: what was typed or saved instead")
"""What the markers of an edited text say."""


def keep(
    journal: Journal,
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    *,
    why: str,
    address: str = "",
    at: datetime | None = None,
) -> Record:
    """Keep two versions of a file durably, None for no file; once, however often that is asked. Raises StorageFailed.

    `ours` is what the vault had, `theirs` what was typed or saved instead.
    """
    versions = {"base": _text(base), "ours": _text(ours), "theirs": _text(theirs)}
    for one in _kept(journal):
        if one.record.path == path and all(one.record.extra.get(name) == text for name, text in versions.items()):
            return one.record
    noted = (at or datetime.now().astimezone()).isoformat(timespec="seconds")
    said = merge.three_way(path, base, ours, theirs).clashes
    extra = {**versions, "why": why, "noted": noted, "address": address or units.stem_of(path)}
    text = said[0].theirs or said[0].ours if said else ""
    record = Record(op=CONFLICT, path=path, text=text, extra=extra)
    journal.append(record)
    journal.mark("held", [record.id], reason=CONFLICT, durable=True)
    return record


def count(journal: Journal) -> int:
    """Count what is kept, without looking for markers in files."""
    return len(_kept(journal))


def _kept(journal: Journal) -> list[Tracked]:
    if journal.is_empty():
        return []
    return [one for one in journal.scan(settled=False) if one.state == "held" and one.reason == CONFLICT]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _data(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


@dataclass(slots=True)
class Conflicts:
    """The conflicts of a vault, numbered from 1: those that are kept, oldest first, then git's by path."""

    place: Place
    journal: Journal
    delivery: Delivery
    commits: Commits
    replacements: Replacements

    def listed(self) -> list[Conflict]:
        """List all conflicts."""
        kept = [_of_record(number, one.record) for number, one in enumerate(_kept(self.journal), 1)]
        return kept + list(self._left_by_git(len(kept)))

    def _left_by_git(self, before: int) -> Iterator[Conflict]:
        number = before
        for file in indexer.scan(str(self.place.root), self.place.settings.items("roots")).files:
            try:
                snapshot = self.place.read(file.path)
            except MdmemError:  # other commands say what is wrong with it
                continue
            if snapshot and merge.blocks(_source(snapshot.data)):
                number += 1
                yield _of_markers(number, file.path, snapshot)

    # Resolving

    def resolve(self, id: str, choice: Choice, *, wait_ms: int) -> Change | None:
        """Settle a conflict by one commit; None where nothing was left to write, or the merge is git's to finish.

        A file that was changed since is merged with the choice. Raises NotFound, Refused where that clashes, Busy.
        """
        with self.delivery.writing(wait_ms):
            found = next((one for one in self.listed() if one.id == id), None)
            if found is None:
                raise NotFound("that conflict is resolved already", "`mdmem conflicts` lists what there is")
            if found.kind == "git":
                self._cut_markers(found.path, choice)
                return None
            return self._settle(found, choice)

    def _settle(self, found: Conflict, choice: Choice) -> Change | None:
        if reason := self.place.repo.unfinished():
            raise Busy(reason, "nothing was changed: try again when that is over")
        self.delivery.deliver()
        self.commits.commit_by_hand([found.path])
        records = self._carry_out(found, choice)
        how = "by hand" if isinstance(choice, bytes) else choice
        self.journal.mark("void", [found.id], reason=f"resolved: {how}", durable=True)
        done = self.commits.commit_placed()
        commit = next((done[record.id] for record in records if record.id in done), None)
        return history.change(self.place, history.named(self.place, commit)) if commit else None

    def _carry_out(self, found: Conflict, choice: Choice) -> list[Record]:
        """Write the chosen version, whatever was saved meanwhile; no record where it stands there already."""
        for _ in range(TRIES):
            now = self.place.read(found.path)
            wanted = _wanted(found, choice, now.data if now else None)
            if wanted == (now.data if now else None):
                return []
            step = Step(found.path, now, wanted)
            try:
                return self.replacements.carry_out(
                    [step], op="resolve", message=_message(found, choice), group=os.urandom(8).hex()
                )
            except fsio.Displaced:
                continue
        raise Refused(f"{found.path} is being saved all the time", "nothing was changed: try again")

    def _cut_markers(self, path: str, choice: Choice) -> None:
        for _ in range(TRIES):
            now = self.place.read(path)
            if now is None:
                raise NotFound(f"{path} is gone", "`mdmem conflicts` lists what there is")
            wanted = choice if isinstance(choice, bytes) else (_data(merge.cut(_source(now.data), choice)) or b"")
            try:
                fsio.replace(path, wanted, root=self.place.root, base=now, tmp=self.place.state / "tmp")
                return
            except fsio.Displaced:
                continue
        raise Refused(f"{path} is being saved all the time", "nothing was changed: try again")


def _source(data: bytes) -> str:
    decoded = markdown.decode(data)
    return decoded.text if decoded.editable else ""


def _of_record(number: int, record: Record) -> Conflict:
    extra, path = record.extra, record.path or ""
    base, ours, theirs = (extra.get(name) for name in ("base", "ours", "theirs"))
    return Conflict(
        number=number,
        id=record.id,
        kind="kept",
        path=path,
        address=str(extra.get("address") or units.stem_of(path)),
        why=str(extra.get("why", "")),
        noted=datetime.fromisoformat(extra["noted"]) if extra.get("noted") else None,
        clashes=merge.three_way(path, _data(base), _data(ours), _data(theirs)).clashes,
        base=base,
        ours=ours,
        theirs=theirs,
    )


def _of_markers(number: int, path: str, snapshot: fsio.Snapshot) -> Conflict:
    source = _source(snapshot.data)
    return Conflict(
        number=number,
        id=path,
        kind="git",
        path=path,
        address=units.stem_of(path),
        why="git left conflict markers",
        noted=None,
        clashes=tuple(Clash(f"line {one.line}", one.base, one.ours, one.theirs) for one in merge.blocks(source)),
        base=None,
        ours=merge.cut(source, "ours"),
        theirs=merge.cut(source, "theirs"),
    )


def draft(found: Conflict) -> str:
    """Give a text with both versions, parted by markers, for a person to edit. Raises Refused where one is no text."""
    ours, theirs = (_data(found.ours), _data(found.theirs)) if found.kind == "git" else _sides(found)
    if ours is None or theirs is None or b"\0" in ours + theirs:
        raise Refused(f"{found.path}: one version is no text", "choose with --ours or --theirs")
    return merge.marked(ours, theirs, names=NAMES).decode("utf-8", "surrogateescape")


def meant(typed: str) -> Choice:
    """Tell what a word means: one of the versions, or both; anything else is a text that was written instead.

    Raises BadInput for a text in which a place is still undecided.
    """
    if typed in ("ours", "theirs", "both"):
        return typed  # type: ignore[return-value]
    left = merge.blocks(typed)
    if left:
        raise BadInput(f"line {left[0].line} still has both versions", "keep what is right and delete the markers")
    return _data(typed) or b""


def _sides(found: Conflict) -> tuple[bytes | None, bytes | None]:
    return merge.sides(found.path, _data(found.base), _data(found.ours), _data(found.theirs))


def _chosen(found: Conflict, choice: Choice) -> bytes | None:
    if isinstance(choice, bytes):
        return choice
    ours, theirs = _sides(found)
    if choice != "both":
        return ours if choice == "ours" else theirs
    if ours is None or theirs is None:
        return theirs if ours is None else ours
    if b"\0" in ours + theirs:
        raise Refused(f"{found.path} is no text: two versions cannot be put together", "choose --ours or --theirs")
    return merge.both(found.path, ours, theirs)


def _wanted(found: Conflict, choice: Choice, now: bytes | None) -> bytes | None:
    """Give what the file shall hold: the choice, with what was done to the file since."""
    chosen = _chosen(found, choice)
    sides = _sides(found)
    known = [_data(found.ours), _data(found.theirs), *sides]
    if now in (chosen, *known):
        return chosen
    texts = [data for data in known if data is not None]
    if now is None or chosen is None or not texts:
        raise Refused(f"{found.path} is no longer one of the two versions", _BY_HAND)
    merged = merge.three_way(found.path, texts[merge.nearest(texts, now)], now, chosen)
    if merged.clashes:
        raise Refused(f"{found.path} was changed since, at the same place", _BY_HAND)
    return merged.data


_BY_HAND = "edit the file by hand, then let go of the conflict with `mdmem conflicts N --ours`"


def _message(found: Conflict, choice: Choice) -> str:
    how = {"ours": "what the vault had", "theirs": "what was typed or saved instead", "both": "both versions"}
    subject = f"Resolve {found.address}: {'as edited' if isinstance(choice, bytes) else how[choice]}"
    body = f"Two versions did not merge: {found.why}." if found.why else "Two versions did not merge."
    return messages.message(subject, body, op="resolve")
