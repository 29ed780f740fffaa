"""Where a file is now of which something was kept, should a person have renamed it since.

Owns telling that from history, and from the files as they stand. It must never write, nor choose where two files may
be the one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mdmem.errors import NotFound
from mdmem.store.journal import Record
from mdmem.store.repo import CommitInfo
from mdmem.text import renames, units
from mdmem.vault.departure import Standing
from mdmem.vault.place import Place

SINCE = "since"
"""The key of a record's `extra` that has the commit at which the file had its old name."""

MOVES = 50
"""So many renames of one file are followed."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """A file under its present name, or its last one where it is gone; `maybe` are files that each may be it.

    `old` is the name that it has in history, where a rename is not there yet.
    """

    path: str
    maybe: tuple[str, ...] = ()
    old: str = ""


def of(place: Place, record: Record) -> Whereabouts:
    """Give where the file of a kept conflict is. Raises StorageFailed."""
    text = record.extra.get(str(record.extra.get("stands")))
    known = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else None
    return find(place, record.path or "", known, since=str(record.extra.get(SINCE) or ""))


def address(record: Record, where: Whereabouts) -> str:
    """Give the address that a record is about, by the present name of its file."""
    _, sign, label = str(record.extra.get("address") or "").partition("#")
    return units.stem_of(where.path) + sign + label


def stood(place: Place, path: str) -> str:
    """Give the last commit that has a file, "" for none."""
    if place.repo.tree("HEAD", path):
        return place.repo.head() or ""
    gone = (info for info in place.repo.history(paths=[path]) if _lacks(info, path) and info.parents)
    return next((info.parents[0] for info in gone), "")


def find(place: Place, path: str, known: bytes | None, *, since: str) -> Whereabouts:
    """Find a file that held `known` at a commit. It is taken to be where it was if no commit is given, or known.

    Raises StorageFailed.
    """
    now = place.content(path)
    if not since or known is None or (now is not None and renames.is_like(now, known)):
        return Whereabouts(path)
    try:
        return _followed(place, path, known, since)
    except NotFound:  # the commit is no more
        return Whereabouts(path)


def _followed(place: Place, path: str, known: bytes, since: str) -> Whereabouts:
    at = since
    for _ in range(MOVES):
        renamed = _renamed(place, path, at)
        if renamed is None:
            break
        at, found = renamed
        if len(found) > 1:
            return Whereabouts(path, found)
        path = found[0]
    if at != since and place.content(path) is not None:
        return Whereabouts(path)
    found = _unseen(place, path, known, since) or (path,)
    return Whereabouts(path, found) if len(found) > 1 else Whereabouts(found[0], old=path)


def _renamed(place: Place, path: str, since: str) -> tuple[str, tuple[str, ...]] | None:
    """Find the first commit after another that gave a file a new name: its id, and the names that may be it."""
    for info in reversed(list(place.repo.history(paths=[path], since=since))):
        if _lacks(info, path):
            whole = next(place.repo.history(rev=info.id, paths=place.own(), k=1), info)
            went = {file.path: file.old for file in whole.files if file.old and not file.new}
            came = {file.path: file.new for file in whole.files if file.new and not file.old}
            blobs = dict(place.repo.blobs([*went.values(), *came.values()]))
            gone, come = ({other: blobs[blob] for other, blob in files.items()} for files in (went, came))
            if found := _candidates(place, path, gone, come):
                return info.id, found
    return None


def _lacks(info: CommitInfo, path: str) -> bool:
    return any(file.path == path and file.new is None for file in info.files)


def _unseen(place: Place, path: str, known: bytes, since: str) -> tuple[str, ...]:
    """Find what a file became of which no commit tells that: it was renamed just now, or in two steps."""
    standing = Standing(place).paths
    tree, before = set(filter(place.is_memory, place.repo.tree())), place.repo.tree(since)
    gone = place.repo.read_many("HEAD", sorted(tree - standing))
    if path not in gone:
        last = _last(place, path)
        gone[path] = last if last is not None and (path not in standing or renames.is_like(last, known)) else known
    come = {other: place.content(other) or b"" for other in sorted(standing - before.keys())}
    return _candidates(place, path, gone, come)


def _last(place: Place, path: str) -> bytes | None:
    """Give the last committed version of a file."""
    for info in place.repo.history(paths=[path]):
        for file in info.files:
            if file.path == path and (blob := file.new or file.old):
                return dict(place.repo.blobs([blob]))[blob]
    return None


def _candidates(place: Place, path: str, gone: Mapping[str, bytes], come: Mapping[str, bytes]) -> tuple[str, ...]:
    """Give the file that one which went has become, two where both may be that, none where it was deleted."""
    moved = renames.find(gone, {other: data for other, data in come.items() if other.endswith(".md")})
    new = moved.get(path)
    if new is None:
        return ()
    rest = {other: data for other, data in come.items() if other.endswith(".md") and other not in moved.values()}
    other = renames.find({path: gone[path]}, rest).get(path)
    if other is None or come[new] == gone[path] != come[other]:
        return (new,)
    standing = tuple(one for one in (new, other) if place.content(one) is not None)
    return standing if len(standing) == 1 else (new, other)
