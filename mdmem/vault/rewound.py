"""Entries that history held and that git took back: the branch was reset, or written anew without them.

Owns how they are found: the journal's receipts name commits, and HEAD has them no more. It must never list what
stands in a memory file, what was taken out by a commit, or what another branch still has; nor write anything.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from mdmem.store.journal import Journal, State, Tracked
from mdmem.store.repo import lineage
from mdmem.text import absence, entries, standing, units
from mdmem.text.entries import LogEntry
from mdmem.vault.daylog import decoded
from mdmem.vault.observation import Observation, kept_key, restored
from mdmem.vault.place import Place
from mdmem.vault.reasons import TAKEN

TIPS = 100
"""So many ends of lost history are looked at, the newest ones."""


@dataclass(frozen=True, slots=True)
class Story:
    """What the journal knows: commits of logs, by path, and what became of each record."""

    commits: Mapping[str, frozenset[str]]
    states: Mapping[str, State]
    held: Collection[tuple[str, absence.Folded]]


@dataclass(frozen=True, slots=True)
class Lost:
    """An entry as a commit had it that git took back: the `often`-th such entry of its log."""

    commit: str
    entry: LogEntry
    block: str
    often: int


@dataclass(slots=True)
class Rewound:
    """What git took back. `notices` gets where entries are that only another branch has."""

    place: Place
    journal: Journal
    observation: Observation
    notices: list[str]

    def listed(self) -> list[Tracked]:
        """List the entries, as if each were held; none of them is in the journal."""
        if not self.place.repo.head():
            return []
        story = self._story()
        known = frozenset().union(*story.commits.values())
        lost = lineage.astray(self.place.repo, known, kept=False) if known else {}
        if not known & lost.keys():
            return []
        gone = lineage.astray(self.place.repo, known & lost.keys(), kept=True)
        if gone:
            return list(self._entries(story, gone))
        self._tell_branch(next(commit for commit in lost if commit in known), list(self._entries(story, lost)))
        return []

    def _story(self) -> Story:
        tracked, receipts = self.journal.scan(), self.journal.receipts()
        commits: dict[str, set[str]] = {}
        for path, commit in [(one.file, one.commit) for one in tracked] + [(one.path, one.commit) for one in receipts]:
            if path and commit:
                commits.setdefault(path, set()).add(commit)
        states: dict[str, State] = {one.id: one.state for one in receipts}
        held = {
            (one.file, key)
            for one in tracked
            if one.state in ("waiting", "held") and one.record.is_entry and (key := kept_key(one))
        }
        logs = {path: frozenset(found) for path, found in commits.items() if units.is_log(path)}
        return Story(logs, states | {one.record.id: one.state for one in tracked}, held)

    def _tell_branch(self, commit: str, found: Sequence[Tracked]) -> None:
        branch = lineage.branch_of(self.place.repo, commit) if found else None
        if branch:
            what = "1 entry is" if len(found) == 1 else f"{len(found)} entries are"
            self.notices.append(f"{what} on {branch} alone: `git merge {branch}` brings them here")

    def _entries(self, story: Story, gone: Mapping[str, tuple[str, ...]]) -> Iterator[Tracked]:
        parents = {parent for each in gone.values() for parent in each}
        tips = [commit for commit in gone if commit not in parents][:TIPS]
        paths = sorted(path for path, commits in story.commits.items() if commits & gone.keys())
        then = lineage.versions(self.place.repo, [(commit, path) for path in paths for commit in [*tips, "HEAD"]])
        since = lineage.since(self.place.repo, tips, paths)
        blobs = dict(self.place.repo.blobs({blob for found in since.values() for blob in found}))
        for path in paths:
            ours = [decoded(blobs[blob]) for blob in since[path]]
            ours += [decoded(then[pair])] if (pair := ("HEAD", path)) in then else []
            theirs = {commit: decoded(then[commit, path]) for commit in tips if (commit, path) in then}
            yield from self._of_log(path, theirs, ours, story)

    def _of_log(self, path: str, theirs: Mapping[str, str], ours: Sequence[str], story: Story) -> Iterator[Tracked]:
        """Yield what versions of a log that git took back had, and neither the file nor a version of HEAD's has."""
        snapshot = self.place.read(path)
        now = decoded(snapshot.data) if snapshot else ""
        lacking = list(_lacking(now, theirs, ours))
        corrected = _corrected(now, "".join(theirs.values()), lacking)
        stands = self.observation.elsewhere(path)
        for one in lacking:
            key = absence.folded(one.entry)
            if (path, key) in story.held or one.block in corrected or stands(one.entry.text):
                continue
            if id := _id(path, key, one.often, story.states):
                known = absence.Known(one.entry, one.block, 0)
                record = restored(path, known, one.often, {"commit": one.commit})
                yield Tracked(replace(record, id=id), "held", path, reason=TAKEN)


def _lacking(now: str, theirs: Mapping[str, str], ours: Sequence[str]) -> Iterator[Lost]:
    """Yield the entries of lost versions that a log lacks; one that a version of HEAD's had went by a commit there."""
    had = [f"\n{_unix(source).rstrip()}\n" for source in ours]
    seen = absence.held(now)
    for commit, source in theirs.items():
        often: Counter[absence.Folded] = Counter()
        for entry in entries.parse(source).entries:
            key = absence.folded(entry)
            often[key] += 1
            block = f"{_unix(source[entry.start : entry.end]).rstrip()}\n"
            if often[key] > seen[key] and not any(f"\n{block}" in one for one in had):
                seen[key] = often[key]
                yield Lost(commit, entry, block, often[key])


def _corrected(now: str, base: str, lacking: Sequence[Lost]) -> set[str]:
    """Give the entries that stand there otherwise now. Only those of the same minute, or with an id, are compared."""
    fresh = standing.count(now) - standing.count(base)
    minutes = {key[0][:5] for key in fresh}
    blocks = [one.block for one in lacking if one.entry.time[:5] in minutes or (fresh and "id" in dict(one.entry.meta))]
    return {block for block, is_ in zip(blocks, standing.corrected(now, base, blocks), strict=True) if is_}


def _id(path: str, key: absence.Folded, often: int, states: Mapping[str, State]) -> str | None:
    """Name an entry that is in no journal, the same each time; None for one that a person let go of, or that comes."""
    for turn in count():
        said = "\0".join((path, *key, str(often), str(turn))).encode("utf-8", "surrogateescape")
        id = hashlib.sha256(said).hexdigest()[:16]
        if id not in states:
            return id
        if states[id] != "committed":  # once put back and committed, it may be taken back again
            return None
    return None


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")
