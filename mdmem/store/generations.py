"""Index generations: whole sets of index files, each in a directory of its own with a manifest of sums.

Owns `index/` in STATE: which generation serves (`current`), what it was built from (its identity), and whether its
files are what was written. A build goes to a new directory and is swapped in by one rename; until then the old one
serves. It must never open an index file itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmem import fsio

HOME = "index"
MANIFEST = "manifest.json"
Identity = dict[str, Any]
Sums = dict[str, list[Any]]
"""File → [size, mtime in ns, ctime in ns, inode, SHA-256], the first four to see cheaply that nothing moved."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A directory of index files, `index/<name>` in STATE."""

    state: Path
    name: str

    @property
    def path(self) -> Path:
        return self.state / HOME / self.name

    @property
    def catalog(self) -> Path:
        return self.path / "catalog.sqlite"

    @property
    def lexical(self) -> Path:
        return self.path / "whoosh"


def named(state: Path) -> Generation | None:
    """Give the generation that `current` names, unexamined."""
    try:
        name = (state / HOME / "current").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return Generation(state, name) if name.isalnum() else None


def current(state: Path, identity: Identity) -> tuple[Generation | None, str]:
    """Give the generation that serves, or None and the reason why it cannot be used ("" when there is none)."""
    generation = named(state)
    if generation is None:
        return None, ""
    manifest = _manifest(generation)
    if not manifest:
        return None, "the index has no readable manifest"
    if manifest.get("state") != "clean":
        return None, "the last update of the index was interrupted"
    if manifest.get("identity") != identity:
        return None, "the index was built by another version, or for another place or time zone"
    if not _unharmed(generation, manifest.get("files")):
        return None, "the index is damaged"
    return generation, ""


def create(state: Path) -> Generation:
    """Make an empty generation beside the others."""
    generation = Generation(state, secrets.token_hex(6))
    fsio.mkdir(f"{HOME}/{generation.name}/whoosh", root=state)
    return generation


def mark_writing(generation: Generation) -> None:
    """Note, durably, that the files are about to change: until `seal` they count as broken."""
    _put(generation, {**_manifest(generation), "state": "writing"})


def seal(generation: Generation, identity: Identity) -> None:
    """Record the sums of all files: from here on they may be opened."""
    known = _manifest(generation).get("files") or {}
    _put(generation, {"state": "clean", "identity": identity, "files": _sums(generation, known)})


def swap(generation: Generation) -> None:
    """Let this generation serve, and remove the others."""
    fsio.put(f"{HOME}/current", generation.name.encode(), root=generation.state)
    sweep(generation.state, generation.name)


def sweep(state: Path, keep: str) -> None:
    """Remove what earlier or interrupted builds left. Readers of an old generation have its files open."""
    for path in (state / HOME).iterdir():
        if path.is_dir() and path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def _put(generation: Generation, manifest: dict[str, Any]) -> None:
    fsio.put(f"{HOME}/{generation.name}/{MANIFEST}", json.dumps(manifest).encode(), root=generation.state)


def _manifest(generation: Generation) -> dict[str, Any]:
    try:
        manifest = json.loads((generation.path / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _files(generation: Generation) -> Iterator[tuple[str, os.stat_result]]:
    for folder in (generation.path, generation.lexical):
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False) and entry.name != MANIFEST and not _is_lock(entry.name):
                yield os.path.relpath(entry.path, generation.path), entry.stat(follow_symlinks=False)


def _is_lock(name: str) -> bool:
    return name.endswith(("LOCK", "-journal", "-wal", "-shm"))


def _sums(generation: Generation, known: Sums) -> Sums:
    sums: Sums = {}
    for name, stat in _files(generation):
        stamp = _stamp(stat)
        old = known.get(name)
        sums[name] = old if old and old[:4] == stamp else [*stamp, _digest(generation.path / name)]
    return sums


def _unharmed(generation: Generation, files: object) -> bool:
    """Compare the files with the manifest: all there, none besides, each with its bytes.

    A file whose stamp is as recorded was not written since (ctime cannot be set back); any other is read in full,
    and those that hold pickles always, since opening them runs what they say.
    """
    if not isinstance(files, dict):
        return False
    try:
        found = dict(_files(generation))
        if found.keys() != files.keys() or any(stat.st_uid != os.geteuid() for stat in found.values()):
            return False
        return all(
            (_stamp(stat) == files[name][:4] and not name.endswith(".toc"))
            or (stat.st_size == files[name][0] and _digest(generation.path / name) == files[name][4])
            for name, stat in found.items()
        )
    except (OSError, IndexError, TypeError):
        return False


def _stamp(stat: os.stat_result) -> list[int]:
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
