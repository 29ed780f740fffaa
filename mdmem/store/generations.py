"""Index generations: whole sets of index files, each in a directory of its own with a manifest of sums.

Owns `index/` in STATE: which generation serves (`current`), what it was built from (its identity), whether its files
are what was written, and that none is removed while somebody reads it. A build goes to a new directory and is swapped
in by one rename; until then the old one serves. It must never open an index file itself.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

from mdmem import fsio
from mdmem.errors import StorageFailed

FORMAT = 2
"""Part of the index's identity: raise it when the layout of a generation changes."""

HOME = "index"
MANIFEST = "manifest.json"
GUARD = "READERS.LOCK"
"""Held by readers, so that nobody removes the generation meanwhile."""

ASIDE = "broken-"
"""How the one damaged generation is named that is kept to be looked at."""

WEEK = 7 * 86_400
"""Seconds after which every file is read in full once, whatever its stamp says."""

INTERRUPTED = "the last update of the index was interrupted"

Identity = dict[str, Any]
Stamp = list[int]
"""Size, mtime in ns, ctime in ns, inode: enough to see cheaply that nothing moved."""

Sums = dict[str, list[Any]]
"""File → its stamp and its SHA-256."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A directory of index files, `index/<name>` in STATE; `seen` is how they looked when it was examined."""

    state: Path
    name: str
    seen: dict[str, Stamp] = field(default_factory=dict, compare=False)

    @property
    def path(self) -> Path:
        return self.state / HOME / self.name

    @property
    def catalog(self) -> Path:
        return self.path / "catalog.sqlite"

    @property
    def lexical(self) -> Path:
        return self.path / "whoosh"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: the generation that serves, or none and why.

    `damaged` is one whose files are not what was written. `due` tells of one that looks whole and has to be read in
    full before it counts: after a reboot, and once a week.
    """

    generation: Generation | None = None
    reason: str = ""
    damaged: Generation | None = None
    due: bool = False


def named(state: Path) -> Generation | None:
    """Give the generation that `current` names, unexamined."""
    try:
        name = (state / HOME / "current").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return _looked_at(Generation(state, name)) if name.isalnum() else None


def current(state: Path, identity: Identity) -> Found:
    """Look for the generation that serves; the stamps of its files are compared, and where they differ their bytes."""
    generation = named(state)
    if generation is None:
        return Found()
    manifest = _manifest(generation)
    if not manifest:
        return Found(reason="the index has no readable manifest", damaged=generation)
    if manifest.get("identity") != identity:
        return Found(reason="the index was built by another version, or for another place or time zone")
    if manifest.get("state") != "clean":
        return Found(reason=INTERRUPTED)
    if harm := _harm(generation, manifest.get("files")):
        return Found(reason=f"the index is damaged ({harm})", damaged=generation)
    return Found(due=True) if _is_due(manifest) else Found(generation)


def examined(state: Path, identity: Identity) -> Found:
    """Look as `current` does, and read all files where that is due. For the holder of the lock of the indexes.

    An update that was interrupted before it changed anything has done no harm.
    """
    found = current(state, identity)
    generation = named(state)
    if generation is None or not (found.due or found.reason == INTERRUPTED):
        return found
    manifest = _manifest(generation)
    harm = _harm(generation, manifest.get("files"), fully=True)
    if not harm:
        with suppress(StorageFailed):  # then it is read in full once more
            _put(generation, {**manifest, "state": "clean", **_now()})
        return Found(generation)
    if found.due:
        return Found(reason=f"the index is damaged ({harm})", damaged=generation)
    return found


def harm(generation: Generation) -> str:
    """Read all files and say what is not as it was written; "" when all is, or while it is being written."""
    manifest = _manifest(generation)
    if manifest.get("state") != "clean":
        return "" if manifest else "the manifest cannot be read"
    return _harm(_looked_at(generation), manifest.get("files"), fully=True)


def sealed_ns(state: Path) -> int:
    """Tell when the generation that serves was last in order, in ns since 1970; 0 when there is none."""
    generation = named(state)
    with suppress(OSError):
        return (generation.path / MANIFEST).stat().st_mtime_ns if generation else 0
    return 0


def is_plausible(generation: Generation) -> bool:
    """Tell whether what a live writer has not written yet is still what was written before."""
    manifest = _manifest(generation)
    files = manifest.get("files")
    if not isinstance(files, dict) or manifest.get("state") == "clean":
        return isinstance(files, dict) and not _harm(generation, files)
    kept = {name: stamp for name, stamp in generation.seen.items() if name in files and name != generation.catalog.name}
    return not _changed(generation, kept, files, fully=False)


def moved(generation: Generation) -> str:
    """Name a file that is no longer as it was when the generation was examined; "" when none is.

    A file that is gone does not count: it was open, and a writer may have merged it into another.
    """
    now = _stamps(generation)
    return next((name for name, stamp in generation.seen.items() if now.get(name, stamp) != stamp), "")


def create(state: Path) -> Generation:
    """Make an empty generation beside the others."""
    generation = Generation(state, secrets.token_hex(6))
    fsio.mkdir(f"{HOME}/{generation.name}/whoosh", root=state)
    os.close(fsio.reach(f"{HOME}/{generation.name}/{GUARD}", root=state, flags=os.O_RDWR | os.O_CREAT))
    return generation


def mark_writing(generation: Generation) -> None:
    """Note, durably, that the files are about to change: until `seal` they count as broken."""
    _put(generation, {**_manifest(generation), "state": "writing"})


def seal(generation: Generation, identity: Identity) -> None:
    """Record the sums of all files, which are nobody else's to read: from here on they may be opened."""
    for name in _strangers(generation):
        fsio.make_private(f"{HOME}/{generation.name}/{name}", root=generation.state)
    manifest = _manifest(generation)
    known = manifest.get("files") or {}
    checked: dict[str, Any] = {name: manifest[name] for name in ("boot", "checked") if name in manifest} or _now()
    _put(generation, {"state": "clean", "identity": identity, "files": _sums(generation, known), **checked})


def swap(generation: Generation) -> None:
    """Let this generation serve, and remove the others."""
    fsio.put(f"{HOME}/current", generation.name.encode(), root=generation.state)
    sweep(generation.state, generation)


def sweep(state: Path, keep: Generation | None, *, aside: bool = False) -> None:
    """Remove what earlier or interrupted builds left, but nothing that is read; with `aside` the damaged one too."""
    for path in (state / HOME).iterdir():
        is_kept = (keep and path.name == keep.name) or (path.name.startswith(ASIDE) and not aside)
        if path.is_dir() and not is_kept:
            discard(Generation(state, path.name))


def discard(generation: Generation) -> None:
    """Remove a generation, unless somebody reads it: then a later sweep does."""
    with _alone(generation) as free:
        if free:
            shutil.rmtree(generation.path, ignore_errors=True)


def set_aside(generation: Generation) -> None:
    """Take a damaged generation out of service, and remove the one that was set aside before.

    Readers that have it open keep what they have. Raises StorageFailed.
    """
    for path in (generation.state / HOME).glob(f"{ASIDE}*"):
        shutil.rmtree(path, ignore_errors=True)
    if generation.path.is_dir():
        fsio.move(f"{HOME}/{generation.name}", f"{ASIDE}{generation.name}", root=generation.state)
    latest = named(generation.state)
    if latest and latest.name == generation.name:
        fsio.unlink(f"{HOME}/current", root=generation.state)


def enter(generation: Generation) -> int | None:
    """Keep a generation from being removed until `leave`; None when it is gone or going."""
    try:
        fd = fsio.reach(f"{HOME}/{generation.name}/{GUARD}", root=generation.state)
    except StorageFailed:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        if isinstance(error, BlockingIOError):
            return None
        raise StorageFailed(f"{generation.path} cannot be locked: {error.strerror}") from error
    return fd


def leave(fd: int) -> None:
    """Let others remove the generation again."""
    os.close(fd)


@contextmanager
def _alone(generation: Generation) -> Iterator[bool]:
    """Keep readers out for the block, if there are none; without a guard nobody can be reading."""
    try:
        fd = os.open(generation.path / GUARD, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        yield True
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        free = False
    else:
        free = True
    try:
        yield free
    finally:
        os.close(fd)


# Manifests and sums


def _put(generation: Generation, manifest: dict[str, Any]) -> None:
    # A folder that is gone was taken away, perhaps with the vault: it must not begin to come back.
    path = f"{HOME}/{generation.name}/{MANIFEST}"
    fsio.put(path, json.dumps(manifest).encode(), root=generation.state, create=False)


def _manifest(generation: Generation) -> dict[str, Any]:
    try:
        manifest = json.loads((generation.path / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _now() -> dict[str, Any]:
    return {"boot": _boot(), "checked": int(time.time())}


@cache
def _boot() -> str:
    """Name this run of the machine; "" where the system does not."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def _is_due(manifest: dict[str, Any]) -> bool:
    checked = manifest.get("checked")
    recent = isinstance(checked, int) and 0 <= time.time() - checked < WEEK
    return not recent or manifest.get("boot") != _boot()


def _looked_at(generation: Generation) -> Generation:
    try:
        return Generation(generation.state, generation.name, _stamps(generation))
    except OSError:
        return generation


def _stamps(generation: Generation) -> dict[str, Stamp]:
    return {name: _stamp(stat) for name, stat in _files(generation)}


def _files(generation: Generation) -> Iterator[tuple[str, os.stat_result]]:
    for folder, prefix in ((generation.path, ""), (generation.lexical, "whoosh/")):
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == MANIFEST or entry.name.endswith("LOCK") or entry.is_dir(follow_symlinks=False):
                    continue
                with suppress(FileNotFoundError):
                    yield prefix + entry.name, entry.stat(follow_symlinks=False)


def _strangers(generation: Generation) -> list[str]:
    """List the files that Whoosh and SQLite made for everyone to read, their locks too."""
    folders = ((generation.path, ""), (generation.lexical, "whoosh/"))
    entries = [(entry, prefix) for folder, prefix in folders for entry in os.scandir(folder)]
    files = [(entry, prefix) for entry, prefix in entries if entry.is_file(follow_symlinks=False)]
    return [prefix + entry.name for entry, prefix in files if entry.stat(follow_symlinks=False).st_mode & 0o077]


def _sums(generation: Generation, known: Sums) -> Sums:
    sums: Sums = {}
    for name, stamp in _stamps(generation).items():
        old = known.get(name)
        sums[name] = old if old and old[:4] == stamp else [*stamp, _digest(generation.path / name)]
    return sums


def _harm(generation: Generation, files: object, *, fully: bool = False) -> str:
    """Compare the files with the manifest: all there, none besides, each ours and with its bytes.

    A file whose stamp is as recorded was not written since (ctime cannot be set back); any other is read in full,
    those that hold pickles always, since opening them runs what they say, and with `fully` all.
    """
    if not isinstance(files, dict):
        return "the manifest names no files"
    seen = generation.seen
    for name in sorted(seen.keys() ^ files.keys()):
        return f"{name} is {'not one of its files' if name in seen else 'missing'}"
    return _changed(generation, seen, files, fully=fully)


def _changed(generation: Generation, names: Iterable[str], files: Sums, *, fully: bool) -> str:
    for name in names:
        try:
            if not _is_same(generation, name, files[name], fully):
                return f"{name} is not what was written"
        except (OSError, LookupError, TypeError) as error:
            return f"{name} cannot be checked: {error}"
    return ""


def _is_same(generation: Generation, name: str, sums: list[Any], fully: bool) -> bool:
    stat = os.lstat(generation.path / name)
    if not S_ISREG(stat.st_mode) or stat.st_uid != os.geteuid() or stat.st_size != sums[0]:
        return False
    if not fully and _stamp(stat) == sums[:4] and not name.endswith(".toc"):
        return True
    return bool(_digest(generation.path / name) == sums[4])


def _stamp(stat: os.stat_result) -> Stamp:
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
