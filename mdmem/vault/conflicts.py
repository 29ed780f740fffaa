"""Two versions of a file that did not merge: kept, shown side by side, and resolved.

Owns the records of conflicts. A file never gets markers from here: what does not clash is in it, and at the places
that clash one of the versions, until a person has chosen. Both are in the journal until then. A file that was renamed
meanwhile is followed; of one that is gone only what clashes comes back. Markers that git left in a file are listed and
cut as well; git's own merge is the person's to finish.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from mdmem import fsio, indexer, merge
from mdmem.errors import BadInput, Busy, MdmemError, NotFound, Refused
from mdmem.merge import Contest
from mdmem.model import Change, Clash, Conflict
from mdmem.store.journal import Record
from mdmem.text import markdown, units
from mdmem.vault import history, messages, older, whereabouts
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import Delivery
from mdmem.vault.place import Place
from mdmem.vault.reasons import CONFLICT
from mdmem.vault.replacement import Replacements, Step
from mdmem.vault.resolutions import Resolutions, key_of, trailer
from mdmem.vault.whereabouts import SINCE, Whereabouts

TRIES = 5

OLDER_COPY = "an older copy was saved"
"""Why the versions of a file clash that somebody saved without having seen what mdmem had done to it."""

SAVE = "save:"
"""What the id of a save that waits begins with; its path follows."""

Choice = Literal["ours", "theirs", "both"] | bytes
"""One of the versions, both, or what a person wrote instead."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a text instead of a person, and why it is like that; both go into the commit."""

    name: str
    reason: str


NAMES = ("ours: what the vault had", "theirs: what was typed or saved instead")
"""What the markers of an edited text say."""


def keep(
    resolutions: Resolutions, contest: Contest, *, why: str, address: str = "", at: datetime | None = None
) -> Record:
    """Keep two versions of a file durably, None for no file; once, however often that is asked. Raises StorageFailed.

    `ours` is what the vault had, `theirs` what was typed or saved instead.
    """
    for one in resolutions.open():
        # Asked again after a crash, one of them may have got what does not clash already.
        known = _contest(one.record) if one.record.path == contest.path else None
        if known and (known.whole, known.stands) == (contest.whole, contest.stands):
            return one.record
    versions = {"base": _text(contest.base), "ours": _text(contest.ours), "theirs": _text(contest.theirs)}
    noted = (at or resolutions.place.now()).isoformat(timespec="seconds")
    named = address or units.stem_of(contest.path)
    since = {SINCE: resolutions.place.repo.head() or ""}
    extra = {**versions, "stands": contest.stands, "why": why, "noted": noted, "address": named, **since}
    said = contest.clashes(contest.whole[contest.stands == "theirs"])[:1]
    # What the file lacks, if that is a text at all.
    texts = [one.theirs or one.ours if contest.stands == "ours" else one.ours or one.theirs for one in said]
    record = Record(op=CONFLICT, path=contest.path, text="".join(texts), extra=extra)
    resolutions.journal.append(record)
    resolutions.journal.mark("held", [record.id], reason=CONFLICT, durable=True)
    return record


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _data(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


@dataclass(slots=True)
class Conflicts:
    """The conflicts of a vault, numbered from 1: those that are kept, oldest first, saves that wait, then git's."""

    place: Place
    notices: list[str]
    delivery: Delivery
    commits: Commits
    replacements: Replacements
    resolutions: Resolutions

    def listed(self, found: Mapping[str, fsio.Snapshot | None] | None = None) -> list[Conflict]:
        """List all conflicts; say which saves from an older copy wait that will merge.

        `found` are the files that differ from HEAD, where these are known already.
        """
        found = self.commits.found() if found is None else found
        kept = [self._of_record(number, one.record) for number, one in enumerate(self.resolutions.open(), 1)]
        kept += (_of_save(number, contest) for number, contest in enumerate(self.saves(found), len(kept) + 1))
        return kept + list(self._left_by_git(len(kept)))

    def saves(self, found: Mapping[str, fsio.Snapshot | None]) -> list[Contest]:
        """Give those of the saves, not yet in history, that an older copy made and that do not merge; say which do."""
        if self.place.repo.unfinished() or self.place.repo.is_at_work():
            return []
        there = {path: now for path, now in found.items() if now is not None}
        clashing = []
        for one in older.behind(self.place, there):
            now = there[one.path].data
            if merge.three_way(one.path, one.base, one.ours, now).clashes:
                clashing.append(Contest.of(one.path, one.base, one.ours, now, stands="theirs"))
            else:
                said = "was saved from an older copy: `mdmem commit` merges what had changed since into it"
                self.notices.append(f"{units.stem_of(one.path)} {said}")
        return clashing

    def _of_record(self, number: int, record: Record) -> Conflict:
        where = Whereabouts(record.path or "")
        with suppress(MdmemError):  # it is listed under the name that is known
            where = whereabouts.of(self.place, record)
        contest, now = _contest(record, where.path), self.place.content(where.path)
        ours, theirs = contest.sides(now)
        extra = record.extra
        return Conflict(
            number=number,
            id=record.id,
            kind="kept",
            path=contest.path,
            address=whereabouts.address(record, where),
            why=str(extra.get("why", "")),
            noted=datetime.fromisoformat(extra["noted"]) if extra.get("noted") else None,
            clashes=contest.clashes(now),
            base=extra.get("base"),
            ours=_text(ours),
            theirs=_text(theirs),
            file=_text(now),
            meanwhile=_meanwhile(record, where, gone=contest.is_gone(now)),
        )

    def _left_by_git(self, before: int) -> Iterator[Conflict]:
        number = before
        for file in indexer.scan(str(self.place.root), self.place.settings.items("roots")).files:
            data = self.place.content(file.path)
            if data and merge.blocks(_source(data)):
                number += 1
                yield _of_markers(number, file.path, data, self._base(file.path))

    def _base(self, path: str) -> bytes | None:
        """Give what git knows as the base of a file in which it left markers, None where it knows none."""
        with suppress(MdmemError):  # without it both versions are shown all the same
            base = self.place.repo.base_of(path)
            return base if base is None or merge.is_text(path, base) else None
        return None

    # Resolving

    def resolve(
        self, id: str, choice: Choice, *, was: str | None = None, wait_ms: int, by: Author | None = None
    ) -> Change | None:
        """Settle a conflict by one commit; None where nothing was left to write, or the merge is git's to finish.

        `was` is the file that a written text began with. What was done to the file since is merged with the choice.
        A text that nobody typed is `by` somebody, and only taken where the file is still what it `was`.
        Raises NotFound, Refused where that clashes, Busy.
        """
        with self.delivery.writing(wait_ms):
            found = self._find(id)
            if found.file is None and self._comes_back(found.path):
                found = self._find(id)
            if found.kind == "git":
                self._cut_markers(found.path, choice, _data(was))
                return None
            if by and found.file != was:
                raise Refused(f"{found.path} was changed meanwhile", "nothing was changed")
            return self._settle(found, choice, _data(was), by)

    def _find(self, id: str) -> Conflict:
        listed = self.listed()
        # A save that waited may have been committed since.
        kept = [one for one in reversed(listed) if id == f"{SAVE}{one.path}" and one.why == OLDER_COPY]
        found = next((one for one in [*listed, *kept] if one.id == id or one in kept), None)
        if found is None:
            raise NotFound("that conflict is resolved already", "`mdmem conflicts` lists what there is")
        return found

    def _comes_back(self, path: str) -> bool:
        with suppress(MdmemError):  # other commands say what is wrong with it
            return self.place.awaited(path) is not None
        return False

    def _settle(self, found: Conflict, choice: Choice, was: bytes | None, by: Author | None) -> Change | None:
        if reason := self.place.repo.unfinished():
            raise Busy(reason, "nothing was changed: try again when that is over")
        self.delivery.deliver()
        before = {one.record.id: one.record for one in self.resolutions.open()}
        known = before.get(found.id)
        where = self._where(known) if known else Whereabouts(found.path)
        # A rename is one commit.
        self.commits.commit_by_hand(list(dict.fromkeys([where.old or where.path, where.path])))
        record = self._moved(self._record(found, before.keys()), where)
        self.resolutions.keep(record)
        records = self._carry_out(record, choice, was, by)
        if not records:
            self.resolutions.keep(record, after=history.latest(self.place))
        self.resolutions.close(record, "by hand" if isinstance(choice, bytes) else choice)
        done = self.commits.commit_placed()
        commit = next((done[record.id] for record in records if record.id in done), None)
        return history.change(self.place, history.named(self.place, commit)) if commit else None

    def _where(self, record: Record) -> Whereabouts:
        """Find the file that a conflict is about. Raises Refused where it may be either of two."""
        where = whereabouts.of(self.place, record)
        if where.maybe:
            hint = f"nothing was changed: call the right one {where.path} again, or edit it by hand"
            said = f"{hint}; `mdmem conflicts N` shows both versions, `mdmem recover N --drop` lets go of them"
            raise Refused(_meanwhile(record, where, gone=True), said)
        return where

    def _moved(self, record: Record, where: Whereabouts) -> Record:
        """Have a record tell of its file by the present name: what is told once is told for good."""
        if where.path == record.path:
            return record
        extra = {"address": whereabouts.address(record, where), SINCE: self.place.repo.head() or ""}
        return replace(record, path=where.path, extra={**record.extra, **extra})

    def _record(self, found: Conflict, before: Collection[str]) -> Record:
        """Find the record of a conflict; of a save that waited, the one that its commit has left."""
        for one in self.resolutions.open():
            is_fresh = one.record.id not in before and one.record.path == found.path
            if one.record.id == found.id or (found.kind == "save" and is_fresh):
                return one.record
        raise NotFound("that conflict is no more", "`mdmem conflicts` lists what there is")

    def _carry_out(self, record: Record, choice: Choice, was: bytes | None, by: Author | None) -> list[Record]:
        """Write the chosen version, whatever was saved meanwhile; no record where it stands there already."""
        contest = _contest(record)
        for _ in range(TRIES):
            now = self.place.read(contest.path)
            wanted = _wanted(contest, choice, was, now.data if now else None)
            if wanted == (now.data if now else None):
                return []
            step = Step(contest.path, now, wanted)
            try:
                return self.replacements.carry_out(
                    [step], op="resolve", message=_message(record, choice, by), group=os.urandom(8).hex()
                )
            except fsio.Displaced:
                continue
        raise Refused(f"{contest.path} is being saved all the time", "nothing was changed: try again")

    def _cut_markers(self, path: str, choice: Choice, was: bytes | None) -> None:
        from mdmem.vault import curated

        for _ in range(TRIES):
            now = self.place.read(path)
            if now is None:
                raise NotFound(f"{path} is gone", "`mdmem conflicts` lists what there is")
            if isinstance(choice, bytes):
                wanted = _typed(path, choice, was if was is not None else now.data, now.data)
            elif choice == "both" and curated.holds_lines(self.place, path):
                wanted = _data(merge.settled(_source(now.data), _text(self._base(path))))
            else:
                wanted = _data(merge.cut(_source(now.data), choice))
            try:
                fsio.replace(path, wanted or b"", root=self.place.root, base=now, tmp=self.place.state / "tmp")
            except fsio.Displaced:
                continue
            what, how = self.place.repo.unfinished_with()
            self.notices.append(f"the markers in {path} are gone: finish the {what} with git add and {how}")
            return
        raise Refused(f"{path} is being saved all the time", "nothing was changed: try again")


def _source(data: bytes) -> str:
    decoded = markdown.decode(data)
    return decoded.text if decoded.editable else ""


def _contest(record: Record, path: str = "") -> Contest:
    base, ours, theirs = (_data(record.extra.get(name)) for name in ("base", "ours", "theirs"))
    stands: merge.Take = "theirs" if record.extra.get("stands") == "theirs" else "ours"
    return Contest.of(path or record.path or "", base, ours, theirs, stands=stands)


def _meanwhile(record: Record, where: Whereabouts, *, gone: bool) -> str:
    """Say what happened to a file, or to the place that clashes, since its conflict is kept; "" for nothing."""
    stem, said = units.stem_of(record.path or ""), []
    if where.maybe:
        return f"{stem} is gone, and may be {' or '.join(map(units.stem_of, where.maybe))} by now"
    if where.path != record.path:
        said.append(f"renamed from {stem}")
    return ", ".join([*said, "gone since: a choice brings it back"] if gone else said)


def _of_save(number: int, contest: Contest) -> Conflict:
    ours, theirs = contest.whole
    return Conflict(
        number=number,
        id=f"{SAVE}{contest.path}",
        kind="save",
        path=contest.path,
        address=units.stem_of(contest.path),
        why=f"{OLDER_COPY}, not yet in history",
        noted=None,
        clashes=contest.clashes(contest.theirs),
        base=_text(contest.base),
        ours=_text(ours),
        theirs=_text(theirs),
        file=_text(contest.theirs),
    )


def _of_markers(number: int, path: str, data: bytes, base: bytes | None) -> Conflict:
    source, found = _source(data), merge.blocks(_source(data))
    known = [one.base for one in found] if base is None else merge.bases(source, _text(base) or "")
    return Conflict(
        number=number,
        id=path,
        kind="git",
        path=path,
        address=units.stem_of(path),
        why="git left conflict markers",
        noted=None,
        clashes=tuple(
            Clash(f"line {one.line}", was, one.ours, one.theirs) for one, was in zip(found, known, strict=True)
        ),
        base=_text(base),
        ours=merge.cut(source, "ours"),
        theirs=merge.cut(source, "theirs"),
        file=_text(data),
    )


def draft(found: Conflict) -> str:
    """Give a text with both versions, parted by markers, for a person to edit. Raises Refused where one is no text."""
    ours, theirs = _data(found.ours), _data(found.theirs)
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


def _wanted(contest: Contest, choice: Choice, was: bytes | None, now: bytes | None) -> bytes | None:
    """Give what the file shall hold: the choice, with what was done to the file since. Raises Refused."""
    if isinstance(choice, bytes):
        return _typed(contest.path, choice, contest.nearest(now) if was is None else was, now)
    if choice == "both":
        if any(one is not None and b"\0" in one for one in contest.whole):
            hint = "choose --ours or --theirs"
            raise Refused(f"{contest.path} is no text: two versions cannot be put together", hint)
        return contest.both(now)
    made = contest.choose(choice, now)
    if made.clashes:
        hint = f"--{contest.stands} leaves it as it is, --both and --edit show what there is"
        raise Refused(f"{contest.path} was changed since, at the same place", hint)
    return made.data


def _typed(path: str, text: bytes, was: bytes | None, now: bytes | None) -> bytes | None:
    """Give a text that was written instead of a file, with what was done to that since."""
    if now in (was, text):
        return text
    made = merge.three_way(path, was, now, text)
    if made.clashes:
        raise Refused(f"{path} was changed meanwhile, at the same place", "nothing was changed: try again")
    return made.data


def _message(record: Record, choice: Choice, by: Author | None) -> str:
    how = {"ours": "what the vault had", "theirs": "what was typed or saved instead", "both": "both versions"}
    address, why = record.extra.get("address") or units.stem_of(record.path or ""), record.extra.get("why")
    written = f"as {by.name} proposes" if by else "as edited"
    subject = f"Resolve {address}: {written if isinstance(choice, bytes) else how[choice]}"
    body = f"Two versions did not merge: {why}." if why else "Two versions did not merge."
    if by:
        body += f"\n\n{by.reason}"
    return messages.message(subject, body, op="resolve", source=by.name if by else "", conflict=trailer(key_of(record)))
