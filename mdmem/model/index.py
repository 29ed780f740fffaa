"""Files and units as they were indexed, and what a refresh did."""

from __future__ import annotations

from dataclasses import dataclass

from mdmem.model.health import Finding


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as it was indexed: its stat stamp, the hash and number of its bytes, and what was wrong with it."""

    id: int
    path: str
    stamp: str
    hash: bytes
    problems: tuple[tuple[int | None, str], ...]
    size: int = 0


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit as it was indexed. `key` is its id as users know it, `date` seconds since 1970, `place` its order.

    `sayings` are the hashes of what its passages say, those that say something; a `lasting` one does not grow old.
    """

    key: str
    address: str
    kind: str
    date: float | None
    hash: bytes
    place: int
    passages: int
    length: int
    folded: str
    sayings: tuple[bytes, ...]
    lasting: bool
    tags: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a refresh did, in files; `chunks` is the number of passages in the index afterwards."""

    added: int = 0
    modified: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    took_ms: float = 0.0
    failures: tuple[Finding, ...] = ()

    @property
    def changed(self) -> int:
        return self.added + self.modified + self.removed
