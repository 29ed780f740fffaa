"""From the file to history: what was placed, and what people wrote by hand, as commits that say what and why.

Owns the commit lock and what of a file is whose. It must never commit a line as the program's that a person wrote:
hand edits met on the way become a commit of their own, first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby

from mdmem import fsio, indexer, merge
from mdmem.errors import Busy, MdmemError, Refused, StorageFailed
from mdmem.store.journal import Journal, Mark, State, Tracked
from mdmem.store.lock import Lock
from mdmem.store.repo import MOVED, Committed
from mdmem.text import units
from mdmem.vault import archives, messages, replacement
from mdmem.vault.departure import Departures
from mdmem.vault.observation import Observation, is_of_another_boot
from mdmem.vault.older import Older
from mdmem.vault.place import SETTINGS, Place
from mdmem.vault.reasons import DELETED, MERGE, POWER, STALE
from mdmem.vault.shares import Share, Shares

ROUNDS = 5
"""How often whoever commits looks for more that was placed meanwhile."""

SETTLING = 2.0
"""Seconds that an editor may take between emptying a file and writing it again."""

SAVING = "another program is saving it just now"

STANDING = ("ignored by", "the filter", "in another repository", "behind the link", "git does not take")
"""Reasons that stay until the user changes something: such a path is not tried again by every command."""

Content = bytes | None
Check = Callable[[str, fsio.Snapshot | None], bool]
"""Tells whether a version of a file is the one that is meant."""


@dataclass(slots=True)
class Commits:
    """The way of files into history."""

    place: Place
    journal: Journal
    notices: list[str]
    lock: Lock
    observation: Observation
    departures: Departures
    mend: Callable[[Older], None]
    failure: MdmemError | None = None  # what kept the last commit from being made
    is_others: bool = False  # whether another mdmem was at it, which then makes it
    made: list[tuple[str, str]] = field(default_factory=list)  # every commit so far: id and subject
    _left: dict[str, str] = field(default_factory=dict)

    def commit_placed(self, *, wait: bool = True, own: Collection[str] | None = None) -> dict[str, str]:
        """Commit all that was placed; give record id → commit. What cannot be now is said, and tried again later.

        With `own` only what became of these records is worth saying. Without `wait` a busy lock is left at once.
        """
        self.is_others = False
        if wait:
            try:
                with self.lock.hold(self.place.settings.whole("lock.timeout_ms")):
                    return self._commit_all(own)
            except MdmemError as error:
                self.is_others = isinstance(error, Busy)
                self._say(error, own)
                return {}
        with self.lock.try_hold() as held:
            return self._commit_all(own) if held else {}

    def _commit_all(self, own: Collection[str] | None = None) -> dict[str, str]:
        done: dict[str, str] = {}
        self._left, self.failure = {}, None
        try:
            for _ in range(ROUNDS):
                group = self._next_group()
                if not group:
                    break
                done |= self._commit_entries(group) if group[0].record.is_entry else self._commit_change(group)
                # What somebody else committed meanwhile is parted anew, from that.
                self._left = {path: reason for path, reason in self._left.items() if reason != MOVED}
        except MdmemError as error:
            self._say(error, own)
        with suppress(StorageFailed):  # as good later
            self.journal.compact()
        return done

    def _say(self, error: MdmemError, own: Collection[str] | None) -> None:
        self.failure = error
        # Where many wait for the lock, and give up, each must not read all that they wait with.
        if self.placed() if own is None else set(own) - self.journal.commits(own).keys():
            self.notices.append(f"kept and in its file, not yet in history: {error.message}")

    def placed(self) -> list[Tracked]:
        """List what is in its file and not yet in history, in the order in which it came there."""
        found = [one for one in self.journal.scan(settled=False) if one.state == "placed"]
        return sorted(found, key=lambda one: one.order)

    def commit_by_hand(self, paths: Sequence[str] | None = None, *, when: Check | None = None) -> None:
        """Commit what people changed, in one commit; all memory files, or these. Raises Busy when git is.

        Called under the write lock. A file that holds entries not yet in history is left: they would be taken for
        a person's. Where these could not be committed either, the reason is raised, if all files were meant. With
        `when` only versions that it accepts are committed.
        """
        with self.lock.hold(self.place.settings.whole("lock.timeout_ms")):
            self._commit_all()
            ours = {one.file for one in self.placed()}
            found = {path: now for path, now in self.found(paths).items() if path not in ours}
            found = {path: now for path, now in found.items() if when is None or when(path, now)}
            for path in fsio.being_written(found, root=self.place.root):
                self._leave({path: SAVING})
                del found[path]
            self._leave_damaged(found)
            if not found and paths is None and self.failure:
                raise self.failure
            if found:
                self._commit_by_hand(found, settled=when is not None)
            self._mend(paths)

    def _leave_damaged(self, found: dict[str, fsio.Snapshot | None]) -> None:
        """Leave out archives that were damaged, and that history has whole: that is nobody's edit."""
        for path, now in list(found.items()):
            why = archives.problem(path, now.data) if now else ""
            if not why:
                continue
            before = self.place.repo.read("HEAD", path)
            if before is None or archives.problem(path, before):
                self.notices.append(f"{path} cannot be read, and is committed as it is: {why}; `mdmem doctor`")
            else:
                self._leave({path: f"it cannot be read: {why}; {archives.remedy(self.place, path)}"})
                del found[path]

    def _commit_by_hand(self, found: Mapping[str, fsio.Snapshot | None], *, settled: bool) -> None:
        if any(path.startswith("memory/") for path in found) and not (self.place.root / "memory").is_dir():
            raise Refused("memory/ is gone", "bring it back, or commit its end with git itself")
        before = self.place.repo.read_many("HEAD", list(found))
        if not settled:
            found = {path: self._whole(path, now, before.get(path, b"")) for path, now in found.items()}
        self._commit_found(found, before)

    def _mend(self, paths: Sequence[str] | None) -> None:
        """Merge back what older copies reverted, all or of these files, once the save is in history."""
        behind = [one for one in self.journal.scan(settled=False) if one.record.op == MERGE and one.state == "waiting"]
        due = [one for one in behind if paths is None or one.file in paths]
        for one in due:
            if not self.found([one.file]):
                try:
                    self._merge(one)
                except MdmemError as error:
                    self.notices.append(f"what an older copy of {one.file} reverted is not merged yet: {error.message}")
        if due:
            self._commit_all()

    def _merge(self, one: Tracked) -> None:
        found = dict(self.place.repo.blobs(one.record.extra["versions"]))
        base, ours = (found[blob] for blob in one.record.extra["versions"])
        copy = Older(one.file, base, ours).keeping(one.record.extra.get("back", ()))
        self.mend(replace(copy, ours=merge.left(copy.path, copy.base, copy.ours)))
        self.journal.mark("void", [one.record.id], reason="merged")

    def _whole(self, path: str, now: fsio.Snapshot | None, before: bytes) -> fsio.Snapshot | None:
        """Look again at a file as long as an editor may be in the middle of saving it."""
        while now is not None and _is_cut(now, now.data, before):
            time.sleep(0.05)
            now = self._read(path)
        return now

    def _commit_found(self, found: Mapping[str, fsio.Snapshot | None], before: dict[str, bytes]) -> None:
        """Commit these versions, after what they dropped is noted; what mdmem had written there is then put back."""
        wanted = {path: now.data if now else None for path, now in found.items()}
        fresh = {path: data for path, data in wanted.items() if path not in before and data is not None}
        back = self.observation.removed(list(fresh))
        names = self.departures.old_names({path: data for path, data in fresh.items() if path not in back})
        # Any other new file has no older copy, and there may be thousands.
        known = [path for path in found if path not in fresh or path in back or path in names or units.is_log(path)]
        self.observation.look({path: now for path in known if (now := found[path]) is not None}, names)
        gone = list(self.departures.records(before, wanted))
        done = self._commit(wanted, messages.of_save(before, wanted), self._blobs(wanted, before))
        taken = wanted.keys() - done.left.keys()
        self._release(taken)
        self.departures.note(record for record in gone if record.path in taken)

    def obstacle(self, path: str) -> str | None:
        """Tell what kept a path out of the last commit and may pass, None for nothing of that kind."""
        reason = self._left.get(path, "")
        if reason and not reason.startswith(STANDING):
            return reason
        waits = any(one.file == path for one in self.placed())
        return "its last change waits" if waits else None

    def changed(self, paths: Sequence[str] | None = None) -> dict[str, Content]:
        """Give the memory files that differ from HEAD, with their bytes now (None: gone)."""
        return {path: now.data if now else None for path, now in self.found(paths).items()}

    def found(self, paths: Sequence[str] | None = None) -> dict[str, fsio.Snapshot | None]:
        """Give the memory files that differ from HEAD, all or of these, as they stand (None: gone)."""
        tree = self._tree(paths)
        found: dict[str, fsio.Snapshot | None] = {}
        for path in self._files(tree) if paths is None else paths:
            try:
                now = self._read(path)
            except MdmemError as error:
                self.notices.append(f"not committed: {error.message}; {error.hint}")
                continue
            if self._blob(tree, path) != (self.place.repo.blob_id(now.data) if now else None):
                found[path] = now
        return found

    def _tree(self, paths: Sequence[str] | None) -> dict[str, tuple[str, str]]:
        one = paths[0] if paths and len(paths) == 1 else ""
        return self.place.repo.tree("HEAD", one)

    def _blob(self, tree: Mapping[str, tuple[str, str]], path: str) -> str | None:
        leaf = tree.get(path)
        return leaf[1] if leaf else None

    def _files(self, tree: Mapping[str, object]) -> list[str]:
        seen = {file.path for file in indexer.scan(str(self.place.root), self.place.settings.items("roots")).files}
        homes = self.place.homes
        tracked = {
            path
            for path in tree
            if path == "MEMORY.md" or (path.startswith(homes) and path.endswith((".md", ".md.zst")))
        }
        present = {path for path in SETTINGS if path in tree or fsio.look(path, root=self.place.root)}
        return sorted(seen | tracked | present)

    def _read(self, path: str) -> fsio.Snapshot | None:
        return self.place.read(path)

    def _bytes(self, path: str) -> Content:
        snapshot = self._read(path)
        return snapshot.data if snapshot else None

    # What was placed

    def _next_group(self) -> list[Tracked]:
        """Give the first of what was placed: adds that follow each other together, another change on its own."""
        free = [one for one in self.placed() if one.file not in self._left]
        groups = groupby(
            free, key=lambda one: one.record.op if one.record.is_entry else one.record.group or one.record.id
        )
        return next((list(group) for _, group in groups), [])

    def _commit_change(self, group: Sequence[Tracked]) -> dict[str, str]:
        """Commit one change of whole files, after what people did to them before."""
        paths = [one.file for one in group]
        heads = self.place.repo.read_many("HEAD", paths)
        contents: dict[str, Content] = {}
        by_hand: dict[str, Content] = {}
        said = str(group[0].record.extra.get("message", group[0].record.op))
        for one, path in zip(group, paths, strict=True):
            now, head = self._bytes(path), heads.get(path)
            known = replacement.versions(one.record, now, head)
            contents[path] = known.after if known else now
            if known and known.before != head and known.after != head:
                by_hand[path] = known.before
            said = said if known else messages.with_later_edits(said)
        if by_hand:
            self._commit(by_hand, messages.of_save(heads, by_hand), self._blobs(by_hand, heads))
        base = self._blobs(contents, {**heads, **by_hand})
        return self._settle(group, self._commit(contents, said, base))

    def _blobs(self, paths: Iterable[str], versions: Mapping[str, Content]) -> dict[str, str | None]:
        """Give the blobs of versions; a path that has none stands for no file."""
        found = ((path, versions.get(path)) for path in paths)
        return {path: None if data is None else self.place.repo.blob_id(data) for path, data in found}

    def _commit_entries(self, group: Sequence[Tracked]) -> dict[str, str]:
        contents: dict[str, Content] = {}
        by_hand: dict[str, Content] = {}
        ours: list[Tracked] = []
        paths = list(dict.fromkeys(one.file for one in group))
        tree = self._tree(paths)
        for path in paths:
            here = [one for one in group if one.file == path]
            try:
                snapshot = self._read(path)
                data = snapshot.data if snapshot else None
                share = Shares(self.place, self.journal).part(path, data, here, self._blob(tree, path))
                self._require_whole(path, snapshot, share)
            except MdmemError as error:
                self._leave({path: error.message})
                continue
            ours += share.there
            if share.there:
                contents[path] = share.content
                by_hand |= {path: share.by_hand} if share.by_hand is not None else {}
            if share.lost or share.by_hand is not None:
                self._look(path, snapshot, share)
        base = {path: self._blob(tree, path) for path in paths}
        if by_hand:
            heads = self.place.repo.read_many("HEAD", list(by_hand))
            self._commit(by_hand, messages.of_save(heads, by_hand), base)
        if not contents:
            return {}
        said = messages.of_entries([one.record for one in ours])
        return self._settle(ours, self._commit(contents, said, base | self._blobs(by_hand, by_hand)))

    def _require_whole(self, path: str, snapshot: fsio.Snapshot | None, share: Share) -> None:
        """Leave a log that an editor may be in the middle of saving. Raises Busy."""
        if not snapshot or share.by_hand is None:
            return
        self.place.require_rest([path])
        if _is_cut(snapshot, share.by_hand, self.place.repo.read("HEAD", path) or b""):
            raise Busy("an editor may be saving it just now", "the next command commits it")

    def _look(self, path: str, snapshot: fsio.Snapshot | None, share: Share) -> None:
        """Decide about entries that left their log: somebody saved over them, or took the whole file away."""
        if snapshot:
            self.observation.look({path: snapshot})
        decided = {one.record.id for one in self.journal.scan() if one.state != "placed"}
        left = [one for one in share.lost if one.record.id not in decided]
        marks, noted = [], self.place.now().isoformat(timespec="milliseconds")
        for one in left:
            # What nobody can tell more about is looked for once more before it is written again.
            reason = POWER if is_of_another_boot(one) else STALE if snapshot else DELETED
            state: State = "held" if reason == DELETED else "waiting"
            marks.append(Mark(state=state, ids=(one.record.id,), reason=reason, noted=noted))
        self.journal.mark_all(marks)

    def _settle(self, group: Sequence[Tracked], done: Committed) -> dict[str, str]:
        """Tell the journal which records are in history, and which never will be unless the user changes something."""
        head = done.commit or self.place.repo.head() or ""
        settled = [one for one in group if one.file not in done.left]
        marks = [Mark(state="committed", ids=(one.record.id,), commit=head) for one in settled]
        for one in group:
            reason = done.left.get(one.file, "")
            if reason.startswith(STANDING):
                marks.append(Mark(state="held", ids=(one.record.id,), reason=reason))
        if marks:
            self.journal.mark_all(marks)
        return {one.record.id: head for one in settled}

    def _release(self, paths: set[str]) -> None:
        """Let go of what was held because its file could not be committed, now that it was."""
        for one in self.journal.scan(settled=False):
            if one.state == "held" and one.file in paths and (one.reason or "").startswith(STANDING):
                self.journal.mark("committed", [one.record.id], commit=self.place.repo.head())

    def _commit(self, contents: Mapping[str, Content], said: str, base: Mapping[str, str | None]) -> Committed:
        """Commit these versions, which were made from the blobs of HEAD in `base`, None for no file."""
        done = self.place.repo.commit(contents, said, state=self.place.state, base=base)
        self.made += [(done.commit, said.partition("\n")[0])] if done.commit else []
        self.notices += done.notices
        self._leave(done.left)
        return done

    def _leave(self, left: Mapping[str, str]) -> None:
        for path, reason in left.items():
            said = f"{path} is not committed: {reason}"
            if said not in self.notices and reason != MOVED:
                self.notices.append(said)
        self._left |= left


def _is_cut(now: fsio.Snapshot, data: bytes, before: bytes) -> bool:
    """Tell whether a version that was saved just now, `data` of it a person's, may be the beginning of another."""
    age = abs(time.time() - max(now.stat.st_mtime, now.stat.st_ctime))
    return age < SETTLING and 2 * len(data) < len(before)
