"""What the index's files were when they were last in order: a manifest beside them, with their sums.

Owns `manifest.json` and the names in the folder. It must never open one of Chroma's files but to hash or sync it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat as modes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.store.vector.channel import Unusable

DATA = "data"
MANIFEST = "manifest.json"
Sums = dict[str, list[Any]]
"""File → [size, mtime in ns, ctime in ns, inode, SHA-256], the first four to see cheaply that nothing moved."""


def anything(folder: Path) -> bool:
    """Tell whether there is anything in the folder."""
    return folder.exists() and any(folder.iterdir())


def hold(folder: Path, identity: dict[str, Any]) -> bool:
    """Tell whether the files are as they were sealed for this identity: all there, none besides, each with its bytes.

    A file whose stamp is as recorded was not written since (ctime cannot be set back); any other is read in full.
    """
    try:
        manifest = _manifest(folder)
        if manifest.get("state") != "clean" or manifest.get("identity") != identity:
            return False
        files: Sums = manifest["files"]
        found = _files(folder)
        return found.keys() == files.keys() and all(
            _is_ours(stat)
            and stat.st_size == files[name][0]
            and (_stamp(stat) == files[name][:4] or _digest(folder / DATA / name) == files[name][4])
            for name, stat in found.items()
        )
    except (OSError, AttributeError, LookupError, TypeError):
        return False


def begin(folder: Path) -> None:
    """Make the folder, and note in it that its files are about to be made. Unusable if it cannot be."""
    with _telling():
        fsio.mkdir(f"{folder.name}/{DATA}", root=folder.parent)
    mark_writing(folder)


def mark_writing(folder: Path) -> None:
    """Note, durably, that the files are about to change: until they are sealed they count as broken."""
    with _telling():
        _put(folder, {**_manifest(folder), "state": "writing"})


def seal(folder: Path, identity: dict[str, Any]) -> None:
    """Make the files durable and record what they are."""
    known: Sums = _manifest(folder).get("files") or {}
    files: Sums = {}
    with _telling():
        for name, stat in _files(folder).items():
            stamp, old = _stamp(stat), known.get(name)
            files[name] = old if old and old[:4] == stamp else [*stamp, _digest(folder / DATA / name, sync=True)]
        _put(folder, {"state": "clean", "identity": identity, "files": files})


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except (OSError, MdmemError) as error:  # the index can be done without: no reason to end a command
        raise Unusable(f"its files cannot be kept: {error}") from error


def _manifest(folder: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return manifest if isinstance(manifest, dict) else {}
    return {}


def _put(folder: Path, manifest: dict[str, Any]) -> None:
    fsio.put(MANIFEST, json.dumps(manifest).encode(), root=folder)


def _files(folder: Path) -> dict[str, os.stat_result]:
    found: dict[str, os.stat_result] = {}
    stack = [folder / DATA]
    while stack:
        with os.scandir(stack.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    stack.append(Path(entry.path))
                else:
                    found[os.path.relpath(entry.path, folder / DATA)] = entry.stat(follow_symlinks=False)
    return found


def _is_ours(stat: os.stat_result) -> bool:
    return modes.S_ISREG(stat.st_mode) and stat.st_uid == os.geteuid()


def _stamp(stat: os.stat_result) -> list[int]:
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _digest(path: Path, *, sync: bool = False) -> str:
    with path.open("rb") as file:
        if sync:
            fsio.datasync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()
