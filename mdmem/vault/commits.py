"""From the file to history: what was placed, and what people wrote by hand, as commits that say what and why.

Owns the commit lock, the messages and what of a file is whose. It must never commit a line as the program's that a
person wrote: hand edits met on the way become a commit of their own, first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from mdmem import config, fsio, indexer
from mdmem.errors import Busy, MdmemError, StorageFailed
from mdmem.model import Edit
from mdmem.store.journal import Journal, Mark, Tracked
from mdmem.store.lock import Lock
from mdmem.store.repo.commit import Committed
from mdmem.text import changes, entries, units
from mdmem.vault.place import Place

ROUNDS = 50
"""How often whoever commits looks for more that was placed meanwhile."""

STANDING = ("ignored by", "the filter", "in another repository", "behind the link", "git does not take")
"""Reasons that stay until the user changes something: such a path is not tried again by every command."""

SETTINGS = (config.MARKER, ".gitattributes", ".mdmem/distilled.tsv", ".mdmem/rejected.tsv", ".mdmem/usage.tsv")
"""Files of the vault besides memory that are committed with it."""


@dataclass(slots=True)
class Commits:
    """The way of files into history."""

    place: Place
    journal: Journal
    notices: list[str]
    lock: Lock

    def commit_placed(self) -> dict[str, str]:
        """Commit all that was placed; give record id → commit. What cannot be now is said, and tried again later."""
        done: dict[str, str] = {}
        try:
            with self.lock.hold(self.place.settings.whole("lock.timeout_ms")):
                for _ in range(ROUNDS):
                    placed = [one for one in self.journal.scan(settled=False) if one.state == "placed"]
                    fresh = self._commit_group(placed) if placed else {}
                    if not fresh:
                        break
                    done.update(fresh)
                self.journal.compact()
        except (Busy, StorageFailed) as error:
            self.notices.append(f"kept and in its file, not yet in history: {error.message}")
        return done

    def commit_by_hand(self, paths: Sequence[str] | None = None) -> list[str]:
        """Commit what people changed, in one commit; all memory files, or these. Raises Busy when git is."""
        with self.lock.hold(self.place.settings.whole("lock.timeout_ms")):
            wanted = self.changed(paths)
            if not wanted:
                return []
            before = self.place.repo.read_many("HEAD", list(wanted)) if self.place.repo.head() else {}
            done = self._commit(wanted, _save_message(before, wanted))
        return [done.commit] if done.commit else []

    def changed(self, paths: Sequence[str] | None = None) -> dict[str, bytes | None]:
        """Give the memory files that differ from HEAD, with their bytes now (None: gone)."""
        tree = self.place.repo.tree("HEAD")
        found: dict[str, bytes | None] = {}
        for path in self._files(tree) if paths is None else paths:
            snapshot = self._read(path)
            data = snapshot.data if snapshot else None
            leaf = tree.get(path)
            if (leaf[1] if leaf else None) != (self.place.repo.blob_id(data) if data is not None else None):
                found[path] = data
        return found

    def _files(self, tree: Mapping[str, object]) -> list[str]:
        roots = self.place.settings.items("roots")
        seen = {file.path for file in indexer.scan(str(self.place.root), roots).files}
        homes = tuple(f"{folder.strip('/')}/" for folder in ("memory", *roots))
        tracked = {
            path
            for path in tree
            if path == "MEMORY.md" or (path.startswith(homes) and path.endswith((".md", ".md.zst")))
        }
        present = {path for path in SETTINGS if path in tree or fsio.look(path, root=self.place.root)}
        return sorted(seen | tracked | present)

    def _read(self, path: str) -> fsio.Snapshot | None:
        try:
            return self.place.read(path)
        except MdmemError as error:
            self.notices.append(f"not committed: {error.message}")
            raise

    # What was placed

    def _commit_group(self, placed: list[Tracked]) -> dict[str, str]:
        """Commit the first of what was placed: adds that follow each other together, another change on its own."""
        placed.sort(key=lambda one: one.order)
        key, group = next(groupby(placed, key=lambda one: (one.record.op, one.record.op != "add" and one.record.group)))
        return self._commit_adds(list(group)) if key[0] == "add" else self._commit_change(list(group))

    def _commit_change(self, group: list[Tracked]) -> dict[str, str]:
        contents = {}
        for one in group:
            snapshot = self.place.read(one.record.path or "")
            contents[one.record.path or ""] = snapshot.data if snapshot else None
        done = self._commit(contents, str(group[0].record.extra.get("message", group[0].record.op)))
        return self._settle(group, done)

    def _commit_adds(self, group: list[Tracked]) -> dict[str, str]:
        paths = list(dict.fromkeys(one.path or "" for one in group))
        heads = self.place.repo.read_many("HEAD", paths) if self.place.repo.head() else {}
        contents: dict[str, bytes | None] = {}
        by_hand: dict[str, bytes | None] = {}
        ours: list[Tracked] = []
        for path in paths:
            snapshot = self.place.read(path)
            here = [one for one in group if one.path == path]
            if snapshot is None:
                self._hold(here, "its log was removed")
                continue
            there, rest = _told_apart(here, snapshot.data, heads.get(path, b""))
            self._hold([one for one in here if one not in there], "it is no longer in its log")
            if rest != heads.get(path, b"") and not _is_heading(path, rest):
                by_hand[path] = rest
            contents[path] = snapshot.data
            ours += there
        if by_hand:
            self._commit(by_hand, _save_message(heads, by_hand))
        done = self._commit(contents, _add_message(ours)) if contents else Committed(None, {})
        return self._settle(ours, done)

    def _hold(self, lost: list[Tracked], reason: str) -> None:
        """Keep the text of what left its file before it was committed: somebody else saved over it."""
        if lost:
            self.journal.mark_all([Mark(state="held", ids=(one.record.id,), reason=reason) for one in lost])
            self.notices.append(f"{len(lost)} uncommitted entries are held, not in the log: {reason}")

    def _settle(self, group: list[Tracked], done: Committed) -> dict[str, str]:
        head = done.commit or self.place.repo.head() or ""
        marks, commits = [], {}
        for one in group:
            reason = done.left.get(one.path or one.record.path or "")
            if reason is None:
                marks.append(Mark(state="committed", ids=(one.record.id,), commit=head))
                commits[one.record.id] = head
            elif reason.startswith(STANDING):
                marks.append(Mark(state="held", ids=(one.record.id,), reason=reason))
        if marks:
            self.journal.mark_all(marks)
        return commits

    def _commit(self, contents: Mapping[str, bytes | None], message: str) -> Committed:
        done = self.place.repo.commit(contents, message, state=self.place.state)
        self.notices += done.notices
        for path, reason in done.left.items():
            self.notices.append(f"{path} is not committed: {reason}")
        return done


def _told_apart(group: list[Tracked], data: bytes, head: bytes) -> tuple[list[Tracked], bytes]:
    """Part a log into the placed records that still stand in it, and the bytes without those not yet in HEAD."""
    there: list[Tracked] = []
    spent: dict[bytes, int] = {}
    rest = data
    for one in reversed(group):
        block = (one.block or "").encode("utf-8", "surrogateescape")
        if data.count(block) <= spent.get(block, 0):
            continue
        there.append(one)
        spent[block] = spent.get(block, 0) + 1
        if data.count(block) - spent[block] >= head.count(block):
            at = rest.rfind(block)
            rest = rest[:at] + rest[at + len(block) :]
    return there[::-1], rest


def _is_heading(path: str, rest: bytes) -> bool:
    """Tell whether all that is left of a new log is what the program writes above its first entry."""
    day = entries.log_date(path.rpartition("/")[2])
    return rest.strip() == f"# {day}".encode()


# Messages


def message(subject: str, body: str, *, op: str, source: str | None = None) -> str:
    """Write a commit message: what, details and reason, and the trailers that history is read by."""
    trailers = f"Mdmem-Op: {op}\n" + (f"Mdmem-Source: {' '.join(source.split())}\n" if source else "")
    return "\n\n".join(part for part in (subject, body.strip(), trailers) if part)


def _add_message(group: list[Tracked]) -> str:
    sources = list(dict.fromkeys(one.record.source for one in group if one.record.source))
    lines = [f"- {units.stem_of(one.path or '')}: {changes.headline(one.record.text or '')}" for one in group]
    first = changes.headline(group[0].record.text or "") if group else ""
    subject = f"Add: {first}" if len(group) == 1 else f"Add {len(group)} entries"
    return message(subject, "\n".join(lines), op="add", source=", ".join(sources))


def _save_message(before: Mapping[str, bytes], after: Mapping[str, bytes | None]) -> str:
    edits = [edit for path, data in after.items() for edit in changes.compare(path, before.get(path), data)]
    names = list(after)
    what = units.stem_of(names[0]) if len(names) == 1 else f"{len(names)} files"
    return message(f"Save {what} as edited by hand", "\n".join(map(_told, edits[:50])), op="save")


def _told(edit: Edit) -> str:
    text = edit.after if edit.after is not None else edit.before or ""
    return f"- {edit.kind} {edit.address}: {changes.headline(text)}"


def digest(data: bytes | None) -> str | None:
    """Give the SHA-256 of a file's bytes, None for no file."""
    return hashlib.sha256(data).hexdigest() if data is not None else None
