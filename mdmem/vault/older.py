"""Whether a file was saved from an older copy, as far as history tells.

A person's own saves are what they are: only what mdmem did after the copy was read can have been dropped unseen. It
must never write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mdmem import fsio, merge
from mdmem.store.repo import CommitInfo, FileChange
from mdmem.text import entries, markdown, standing, units
from mdmem.vault.daylog import decoded, encoded
from mdmem.vault.place import Place

VERSIONS, BYTES = 200, 1 << 25
"""How many versions of a file a copy may be behind, and how much all of them may be to be compared with."""

CALM = 15.0
"""Seconds in which a person hardly reads what was changed, and changes it again."""

COMMITS = 5000
"""How many commits are looked through for them."""

SAVES = 10
"""How many saves of people an older copy may be behind, once it is clear that it is one."""

NAMED = 100
"""Up to so many files are looked for by name; of more, all history is read."""


@dataclass(frozen=True, slots=True)
class Older:
    """A save made from an older version `base` of a file, over `ours`, which stood there."""

    path: str
    base: bytes
    ours: bytes
    far: bool = False
    """Whether it is older than the last save of a person, who then was another."""

    @property
    def is_lost(self) -> bool:
        """Whether the save lacks more than entries that came later, which are put back one by one."""
        return merge.left(self.path, self.base, self.ours) != self.base

    def keeping(self, back: Sequence[str]) -> Older:
        """Have `ours` keep these entries of the copy's, which it lacks though nobody took them out: they come back."""
        if not back:
            return self
        less = encoded(standing.without(decoded(self.base), back).rest)
        return replace(self, ours=merge.three_way(self.path, less, self.ours, self.base, take="theirs").data or b"")


@dataclass(frozen=True, slots=True)
class Past:
    """The committed versions of a file, newest first, down to the last that a person saved: `saved`, if there is.

    Of a document that mdmem removed, those before that.
    `since` is when the newest was made, in seconds since the epoch.
    """

    versions: tuple[bytes, ...] = ()
    saved: bytes | None = None
    since: float = 0.0


@dataclass(slots=True)
class _Trail:
    """The blobs of a file's versions as far as they are known, down to so many saves of people."""

    saves: int
    blobs: list[str] = field(default_factory=list)
    since: float = 0.0
    saved: bool = False
    begun: bool = False  # by mdmem: a copy may be of a time when there was no file
    over: bool = False

    def follow(self, info: CommitInfo, file: FileChange) -> None:
        blob = file.new
        removed = info.trailers.get("Mdmem-Op") in ("rm", "nightly") and not units.is_log(file.path)
        if blob is None and not self.blobs and removed:
            self.since = info.date.timestamp()  # whoever saves it again may have read any version before
            return
        self.since = self.since or info.date.timestamp()
        self.saved = blob is not None and _is_save(info)
        self.begun = blob is not None and file.old is None and not self.saved
        self.saves -= self.saved
        self.over = blob is None or not self.saves or len(self.blobs) + 1 >= VERSIONS
        self.blobs += [blob] if blob else []


def pasts(place: Place, paths: Collection[str], *, saves: int = 1) -> dict[str, Past]:
    """Give the versions of these files that a copy may have been read from; one look at history for all."""
    trails = {path: _Trail(saves) for path in paths}
    open_ = set(trails)
    if not open_ or not place.repo.head():
        return dict.fromkeys(paths, Past())
    for info in place.repo.history(paths=sorted(open_) if len(open_) <= NAMED else (), k=COMMITS):
        for file in info.files:
            if file.path in open_:
                trails[file.path].follow(info, file)
        open_ -= {path for path in open_ if trails[path].over}
        if not open_:
            break
    tree = place.repo.tree("HEAD", next(iter(trails)) if len(trails) == 1 else "")
    for path, trail in trails.items():
        head = tree.get(path)
        if head and trail.blobs and trail.blobs[0] != head[1]:  # a merge that took one side is in no list of changes
            trail.blobs.insert(0, head[1])
    return {path: _read(place, path, trail) for path, trail in trails.items()}


def find(place: Place, path: str, known: Past, now: fsio.Snapshot) -> Older | None:
    """Find out whether this version of a file was made from an older one; asked before it is committed.

    What a person saved last they had before them, as far as one can tell; but who lacks what mdmem did before that,
    too, may lack another person's save.
    """
    copy = _near(path, known, now)
    if copy is None:
        return None
    versions = pasts(place, [path], saves=SAVES)[path].versions[len(known.versions) :]
    found = merge.nearest(path, [copy.base, *versions], now.data)
    return replace(copy, base=versions[found - 1], far=True) if found else copy


def _near(path: str, known: Past, now: fsio.Snapshot) -> Older | None:
    if len(known.versions) < 2 or not path.endswith(".md") or not markdown.decode(now.data).editable:
        return None
    # Where it may be either, nobody has read and changed in no time what was changed just before.
    soon = 0 <= now.stat.st_mtime - known.since < CALM
    found = merge.nearest(path, known.versions, now.data, older=soon)
    base, ours = known.versions[found], known.versions[0]
    if not found or base == now.data:  # just the older version: put there on purpose, as far as one can tell
        return None
    return Older(path, base, ours)


def is_back(path: str, known: Past, now: bytes) -> bool:
    """Tell whether a file stands again as it did before mdmem, or an agent, changed what it held."""
    if now not in known.versions[1:]:
        return False
    return merge.left(path, now, known.versions[0]) != now


def _is_save(info: CommitInfo) -> bool:
    return info.trailers.get("Mdmem-Op", "save") in ("save", "init") and len(info.parents) < 2


def _read(place: Place, path: str, trail: _Trail) -> Past:
    if len(trail.blobs) < 2 and not (trail.saved or trail.begun):
        return Past()
    wanted = list(dict.fromkeys(trail.blobs))
    found: dict[str, bytes] = {}
    size = 0
    for blob, data in place.repo.blobs(wanted):
        found[blob] = data
        size += len(data)
        if size > BYTES:
            break
    versions = tuple(found[blob] for blob in trail.blobs if blob in found)
    if trail.begun and units.is_log(path):
        versions += (entries.heading(path).encode(),)
    return Past(versions, found.get(trail.blobs[-1]) if trail.saved else None, trail.since)


def behind(place: Place, found: Mapping[str, fsio.Snapshot]) -> Iterator[Older]:
    """Yield those of the files, as they stand, that were saved from an older copy."""
    known = pasts(place, list(found))
    for path, now in found.items():
        one = find(place, path, known[path], now)
        if one is not None and one.is_lost:
            yield one
