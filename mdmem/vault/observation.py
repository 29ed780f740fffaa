"""A file as somebody else saved it: what it lacks that is known, and what is to become of that.

Owns the verdicts on what an editor dropped, and how they are kept: in the journal, before anything is written over the
evidence. It must never change a memory file; what is to be put back waits in the journal like any other entry.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from mdmem import fsio, indexer, merge
from mdmem.errors import MdmemError
from mdmem.store.journal import Journal, Mark, Record, State, Tracked
from mdmem.store.lock import Lock
from mdmem.text import absence, entries, markdown, units
from mdmem.text.absence import Evidence, Known, Verdict
from mdmem.vault import daylog, older, replacement
from mdmem.vault.daylog import decoded, digest, encoded
from mdmem.vault.older import Older, Past
from mdmem.vault.place import Place
from mdmem.vault.reasons import DELETED, MERGE, STALE, UNCLEAR

OBSERVED = "observed"
"""A file of STATE: the log that was looked at last, and its stamp then."""

PATIENCE_MS = 10_000
"""How long another process may be looking: whoever goes on without having looked wipes the traces away."""

REASONS: Mapping[Verdict, str] = {
    "stale": STALE,
    "unclear": UNCLEAR,
    "deleted": DELETED,
    "kept elsewhere": "corrected by hand",
}
STATES: Mapping[Verdict, State] = {
    "stale": "waiting",
    "unclear": "held",
    "deleted": "held",
    "kept elsewhere": "committed",
}

_AROUND = re.compile(r"^\s*(?:[-*+] )?(?:\[[ xX]\] )?(?:\d\d:\d\d(?::\d\d)? )?|<!--.*?-->\s*$")


@dataclass(frozen=True, slots=True)
class Left:
    """A log as mdmem left it, `before`: `head` and what is `tracked`. What is `coming` there, and how it is `now`."""

    tracked: Sequence[Tracked]
    head: bytes
    before: str
    coming: str
    now: str

    @property
    def is_foreign(self) -> bool:
        """Whether it is more than what mdmem left, with what it is writing behind that."""
        added = Counter(self.now.removeprefix(self.before).splitlines())
        return not self.now.startswith(self.before) or not added <= Counter(self.coming.splitlines())


@dataclass(slots=True)
class Observation:
    """The view of what others did to logs."""

    place: Place
    journal: Journal
    notices: list[str]
    lock: Lock
    _seen: tuple[str, str] = ("", "")
    _loaded: bool = field(default=False)

    # Whether somebody else wrote

    def is_foreign(self, path: str, stat: fsio.Stamp | None) -> bool:
        """Tell whether a log is another than mdmem left, or saw, it. Asked after a scan of the journal."""
        if stat is None:
            return False
        stamp = text_of(stat)
        return (path, stamp) not in (self.journal.last, self._observed())

    def _observed(self) -> tuple[str, str]:
        if not self._loaded:
            self._loaded = True
            with suppress(MdmemError, ValueError):
                snapshot = fsio.read(OBSERVED, root=self.place.state)
                stamp, path = (snapshot.data if snapshot else b"").decode("utf-8", "surrogateescape").split("\n", 1)
                self._seen = path, stamp
        return self._seen

    def _remember(self, path: str, snapshot: fsio.Snapshot) -> None:
        self._seen, self._loaded = (path, text_of(snapshot.stamp)), True
        with suppress(MdmemError):  # then it is looked at again
            fsio.put(OBSERVED, encoded(f"{self._seen[1]}\n{path}"), root=self.place.state)

    # What it means

    def look(self, found: Mapping[str, fsio.Snapshot], names: Mapping[str, str] | None = None) -> None:
        """Find what these versions of files lack though it was never taken out, and note in the journal what is to
        become of it: of each known entry of a log, and of changes that an older copy reverted.

        `names` has the old name of a file that was renamed. Called before mdmem writes to a file or commits it, which
        must wait, too, when another process is looking for long. Raises Busy.
        """
        files = {path: now for path, now in found.items() if path.endswith(".md") and _is_editable(now)}
        if not files or self.place.repo.is_at_work():
            return
        with self.lock.hold(PATIENCE_MS):  # two at once would each put the same back
            self._look_at(files, names or {})

    def _look_at(self, files: Mapping[str, fsio.Snapshot], names: Mapping[str, str]) -> None:
        try:
            logs = {path: self._left(path, now) for path, now in files.items() if units.is_log(path)}
            # Most often another process has added something: then history need not be asked, which takes two of git's.
            due = {names.get(path, path): path for path in files if path not in logs or logs[path].is_foreign}
            pasts = {due[name]: past for name, past in older.pasts(self.place, list(due)).items()}
            copies = {path: older.find(self.place, name, pasts[path], files[path]) for name, path in due.items()}
        except MdmemError:  # a damaged repository must not keep anything out of the log
            return
        going = {path: self._judge(path, files[path], logs.get(path), pasts[path], copies[path]) for path in copies}
        for path, left in logs.items():
            # What the merge will take out again stays held.
            self._let_go(left.tracked, left.now, but=going.get(path, ()))
            self._remember(path, files[path])

    def _judge(
        self, path: str, now: fsio.Snapshot, left: Left | None, past: Past, copy: Older | None
    ) -> Collection[absence.Folded]:
        """Note what is to become of what a version lacks; give the entries that merging will take out of it."""
        back: list[str] = []
        if left is not None:
            self._look(path, now, left, past, copy)
            back = [block for one in left.tracked if _is_coming_back(one) and (block := _block(one))]
        copy = copy.keeping(back) if copy else None
        self._note_reverted(path, now, past, copy, back)
        return _entries(copy.base) - _entries(copy.ours) if copy else ()

    def _left(self, path: str, snapshot: fsio.Snapshot) -> Left:
        # The journal is read after the file: whatever mdmem wrote into it is known then.
        tracked = [one for one in self.journal.scan() if one.file == path]
        head = self.place.repo.read("HEAD", path) or b""
        coming = "".join(form for one in tracked if _is_coming(one) for form in daylog.forms(one.record))
        return Left(tracked, head, reference(tracked, decoded(head)), coming, decoded(snapshot.data))

    def _look(self, path: str, snapshot: fsio.Snapshot, left: Left, past: Past, copy: Older | None) -> None:
        tracked, head, before, now = left.tracked, left.head, left.before, left.now
        if not absence.held(before) - absence.held(now):
            return
        known = list(self._known(path, before, tracked))
        if copy is not None:  # what became of an entry that the copy had is merged, not put back
            changed = _entries(merge.left(path, copy.base, encoded(before))) - _entries(copy.base)
            known = [one for one in known if absence.folded(one.entry) not in changed]
        # What was put back stands in a save that a person made without it: they never saw it.
        back = {kept_key(one) for one in tracked if one.record.op == "restore" and one.order}
        evidence = Evidence(
            seen=_entries(None if copy and copy.far else past.saved) - back,
            base=_entries(copy.base if copy else None),
            unseen=absence.held(before).keys() - _entries(copy.base) if copy else (),
            back={key for key in back if key},
            committed=_entries(head),
            elsewhere=self.elsewhere(path),
            saved=max(snapshot.stat.st_mtime_ns, snapshot.stat.st_ctime_ns),
            coming=left.coming,
        )
        verdicts = absence.judge(known, before, now, evidence)
        if snapshot.data == head:  # git put it there, unless an editor had just that copy
            verdicts = [(one, "unclear") for one, _ in verdicts]
        self._note(path, verdicts, tracked, Counter(absence.folded(one.entry) for one in known))

    def _note_reverted(
        self, path: str, now: fsio.Snapshot, past: Past, copy: Older | None, back: Sequence[str]
    ) -> None:
        """Note that a save reverts what was changed since its copy was read; or say that it may be meant.

        Entries on their way `back` were not taken out by what was changed.
        """
        if copy is not None and copy.is_lost:
            waiting = (one for one in self.journal.scan(settled=False) if one.record.op == MERGE)
            if not any(one.state == "waiting" and one.file == path for one in waiting):
                blobs = [self.place.repo.blob_id(data) for data in (copy.base, past.versions[0])]
                extra = {"versions": blobs, "back": list(back), **self._now()}
                self.journal.append(Record(op=MERGE, path=path, extra=extra))
        elif copy is None and older.is_back(path, past, now.data):
            what = f"{units.stem_of(path)} was saved as it stood before its last change"
            self.notices.append(f"{what}; if that was not meant: `mdmem undo`")

    def removed(self, fresh: Sequence[str]) -> Collection[str]:
        """Give, and say, which new files had been removed by mdmem: an editor may have had an older copy open."""
        if not fresh or self.journal.is_empty():
            return ()
        records = [one.record for one in self.journal.scan()]
        removed = {one.path for one in records if not one.after and _is_removal(one.op, one.path or "")}
        removed |= {
            one.path for one in self.journal.receipts() if not one.after and _is_removal(one.op, one.path or "")
        }
        back = dict.fromkeys(path for path in fresh if path in removed)
        for stem in map(units.stem_of, back):
            self.notices.append(f"{stem} had been removed, and is saved again: `mdmem rm {stem}` takes it out")
        return back

    def _now(self) -> dict[str, str | None]:
        return {"noted": self.place.now().isoformat(timespec="milliseconds"), "head": self.place.repo.head()}

    def _known(self, path: str, source: str, tracked: Sequence[Tracked]) -> Iterator[Known]:
        """List the entries of a log with the order in which they were placed."""
        orders: dict[str, list[int]] = {}
        placed = [(digest(one.block), one.order) for one in tracked if one.block is not None and one.order]
        ids = {one.record.id for one in tracked}
        handed = [one for one in self.journal.receipts() if one.block and one.path == path and one.id not in ids]
        placed += [(one.block or "", one.order) for one in handed]
        for block, order in sorted(placed, key=lambda one: one[1]):
            orders.setdefault(block, []).append(order)
        for entry in reversed(entries.parse(source).entries):
            block = source[entry.start : entry.end].replace("\r\n", "\n")
            known = orders.get(digest(block)) or orders.get(digest(block.replace("\n", "\r\n")))
            yield Known(entry, block if block.endswith("\n") else block + "\n", known.pop() if known else 0)

    def elsewhere(self, path: str) -> Callable[[str], bool]:
        """Give the search for a text, line by line, in all other memory files; they are read when first asked."""

        @cache
        def others() -> tuple[set[str], ...]:
            scan = indexer.scan(str(self.place.root), self.place.settings.items("roots"))
            return tuple(_lines(decoded(self.place.said(file.path) or b"")) for file in scan.files if file.path != path)

        def stands(text: str) -> bool:
            wanted = _lines(text)
            return bool(wanted) and any(wanted <= other for other in others())

        return stands

    # What becomes of it

    def let_go(self) -> None:
        """Let go of what is kept for logs and stands in them again."""
        held = [one for one in self.journal.scan(settled=False) if one.state == "held" and one.record.is_entry]
        for path in dict.fromkeys(one.file for one in held):
            self._let_go((one for one in held if one.file == path), decoded(self.place.content(path) or b""))

    def _let_go(self, tracked: Iterable[Tracked], now: str, but: Collection[absence.Folded] = ()) -> None:
        """Let go of what is kept for a log and stands in it again, `but` for some entries."""
        there = absence.held(now)
        back = []
        for one in tracked:
            if one.state == "held" and one.record.is_entry and (one.reason or "") in (UNCLEAR, DELETED):
                key = kept_key(one)
                if key and key not in but and there[key] >= int(one.record.extra.get("count", 1)):
                    back.append(one.record.id)
        if back:
            self.journal.mark("void", back, reason="it stands there again")

    def _note(
        self,
        path: str,
        verdicts: Sequence[tuple[Known, Verdict]],
        tracked: Sequence[Tracked],
        often: Counter[absence.Folded],
    ) -> None:
        """Keep what is missing: a record that is not in history yet by a mark, another entry by a record of its own."""
        placed = {digest(_unix(one.block or "")): one for one in tracked if one.state == "placed"}
        kept = Counter(key for one in tracked if _is_kept(one) and (key := kept_key(one)))
        marks, fresh, now = [], [], self._now()
        for known, verdict in verdicts:
            mine, key = placed.get(digest(known.block)), absence.folded(known.entry)
            if mine is not None:
                why = REASONS[verdict]
                marks.append(Mark(state=STATES[verdict], ids=(mine.record.id,), reason=why, noted=now["noted"]))
            elif verdict != "kept elsewhere" and not kept[key]:
                record = restored(path, known, often[key], now)
                fresh.append(record)
                if verdict != "stale":
                    marks.append(Mark(state="held", ids=(record.id,), reason=REASONS[verdict]))
            kept[key] -= bool(kept[key])
        if fresh:
            self.journal.append(*fresh)
        self.journal.mark_all(marks)
        self._say(sum(mark.reason == UNCLEAR for mark in marks), "not clear if meant")
        uncommitted = {one.record.id for one in placed.values()}
        gone = sum(mark.reason == DELETED and mark.ids[0] in uncommitted for mark in marks)
        self._say(gone, f"no longer in {units.stem_of(path)} and in no commit")

    def _say(self, count: int, why: str) -> None:
        if count:
            what, them = ("entry is", "it") if count == 1 else ("entries are", "them")
            self.notices.append(f"{count} {what} held, {why}: `mdmem recover` lists {them}")


def _is_removal(op: str, path: str) -> bool:
    """Tell whether a change that took a file away took it out of memory: a log was packed into an archive instead."""
    return op == "rm" or (op == "nightly" and not units.is_log(path))


def restored(path: str, known: Known, often: int, now: Mapping[str, str | None]) -> Record:
    """Make the record that puts an entry back as it stood, so that it stands there so often in all."""
    return Record(
        op="restore",
        path=path,
        text=known.entry.text,
        meta=known.entry.meta,
        source=dict(known.entry.meta).get("source"),
        extra={"block": known.block, "count": often, **now},
    )


def reference(tracked: Sequence[Tracked], head: str) -> str:
    """Give a log as mdmem left it: what history has, and what was placed since."""
    source = head
    spare = absence.held(head)  # somebody may have committed an entry before that was noted
    for one in sorted((one for one in tracked if one.state == "placed"), key=lambda one: one.order):
        if one.record.is_entry:
            key = kept_key(one)
            if key is None or spare[key]:
                spare[key or ("", "")] -= 1
                continue
            source = source + ("" if not source or source.endswith("\n") else "\n") + (one.block or "")
        else:
            known = replacement.versions(one.record, None, encoded(source))
            source = decoded(known.after or b"") if known else source
            spare = absence.held(source)
    return source


def kept_key(one: Tracked) -> absence.Folded | None:
    """Give what the entry of a record says, as logs are compared by it."""
    found = entries.parse(_block(one)).entries
    return absence.folded(found[0]) if found else None


def _block(one: Tracked) -> str:
    """Give an entry as it stood; "" for one that never did."""
    return str(one.record.extra.get("block") or one.block or "")


def is_of_another_boot(one: Tracked) -> bool:
    """Tell whether an entry was placed before the machine stopped: its bytes may not have reached the disk."""
    return one.state == "placed" and one.boot not in (None, "", fsio.boot())


def _is_coming_back(one: Tracked) -> bool:
    """Tell whether an entry that a save dropped comes back to its log, or may do so."""
    if one.record.op != "restore" and one.reason != STALE:
        return False
    return one.state in ("waiting", "placed") or (one.state == "held" and one.reason == UNCLEAR)


def _is_kept(one: Tracked) -> bool:
    """Tell whether an entry that stood in its log is on its way back, or held."""
    stood = one.record.op == "restore" or one.block is not None
    return one.record.is_entry and stood and one.state in ("waiting", "held")


def _entries(version: bytes | None) -> set[absence.Folded]:
    return set(absence.held(decoded(version or b"")))


def _is_editable(snapshot: fsio.Snapshot) -> bool:
    return markdown.decode(snapshot.data).editable


def _is_coming(one: Tracked) -> bool:
    return one.record.is_entry and one.state == "waiting"


def text_of(stamp: fsio.Stamp) -> str:
    """Write a stamp down, to be compared."""
    return f"{stamp.size}:{stamp.mtime_ns}:{stamp.ctime_ns}:{stamp.inode}"


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _lines(text: str) -> set[str]:
    """Give what the lines of a text say, without list marks, times of day and comments around it."""
    plain = (_AROUND.sub("", line) for line in text.split("\n"))
    return {" ".join(line.split()) for line in plain} - {""}
