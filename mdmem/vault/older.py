"""Whether a document was saved from an older copy, as far as history tells.

A person's own saves are what they are: only what mdmem did after the copy was read can have been dropped unseen. It
must never write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mdmem import fsio, merge
from mdmem.text import markdown, units
from mdmem.vault.place import Place

VERSIONS = 20
"""How many versions a copy may be behind."""


@dataclass(frozen=True, slots=True)
class Older:
    """A save made from an older version `base` of a document, over `ours`, which stood there."""

    path: str
    base: bytes
    ours: bytes


def find(place: Place, path: str, now: fsio.Snapshot) -> Older | None:
    """Find out whether a document was saved from an older copy; called before the save is committed."""
    if not path.endswith(".md") or units.is_log(path) or not markdown.decode(now.data).editable:
        return None
    versions = list(_versions(place, path))
    if len(versions) < 2:
        return None
    found = merge.nearest(versions, now.data)
    if not found or versions[found] == now.data:  # just the older version: put there on purpose, as far as one can tell
        return None
    return Older(path, versions[found], versions[0])


def _versions(place: Place, path: str) -> Iterator[bytes]:
    """Yield the committed versions, newest first, down to the last that a person saved."""
    for info in place.repo.history(paths=[path], k=VERSIONS):
        blob = next((file.new for file in info.files if file.path == path), None)
        if blob is None:
            return
        yield dict(place.repo.blobs([blob]))[blob]
        if info.trailers.get("Mdmem-Op", "save") in ("save", "init"):
            return
