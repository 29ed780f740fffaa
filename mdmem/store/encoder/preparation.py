"""Making a model ready, once: found, exported in a process of its own, and put into the cache as a whole.

Owns `models/` in the cache. Whatever interrupts a preparation, what counts there is whole: a folder gets its name when
all that is in it is on the disk. It must never load torch into this process, which may live for weeks.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from mdmem import errors, fsio
from mdmem.errors import Busy, Missing, Refused, StorageFailed
from mdmem.store.encoder import card as cards
from mdmem.store.encoder import onnx, sources
from mdmem.store.encoder.card import Card
from mdmem.store.encoder.sources import Source

Progress = Callable[[int, int], None]
STEPS = 6
"""Found, loaded, exported, quantised, checked, kept."""

PATIENCE = 300.0
"""Seconds to wait for another process that prepares a model; it takes about 15, and minutes for a large one."""

_WORK = ".work-"
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from mdmem.store.encoder import export; export.main()"
)


def prepare(name: str, cache: Path, progress: Progress, *, download: bool) -> Card:
    """Make a model of sentence-transformers ready. Errors as `mdmem.store.encoder.prepare`."""
    source = sources.find(name)
    if source is None and not download:
        raise sources.missing(name)
    fsio.mkdir(str(cache / cards.HOME).lstrip("/"), root=Path("/"))
    with _alone(cache), _work(cache) as work:
        if source is None:
            source = _download(sources.canonical(name), work, progress)
        sources.check(source)
        with fsio.telling("read", str(source.folder)):
            seen = cards.seen(source.folder, sources.files(source.folder))
            base = _base(source)
        progress(1, STEPS)
        card = _prepared(source, base, seen, cache) or _build(source, base, work, progress)
        card = replace(card, name=source.name, kind=source.kind, source=str(source.folder), seen=seen)
        _keep(card, work, cache)
    progress(STEPS, STEPS)
    return card


def _base(source: Source) -> str:
    """Sum up what a model is read from."""
    sums = {name: cards.digest(source.folder / name) for name in sources.files(source.folder)}
    return hashlib.sha256(json.dumps([cards.FORMAT, sums]).encode()).hexdigest()


def _fingerprint(base: str, precision: str) -> str:
    return hashlib.sha256(f"{base} {precision}".encode()).hexdigest()[:32]


def _prepared(source: Source, base: str, seen: dict[str, list[int]], cache: Path) -> Card | None:
    """Find the model prepared before, if it still serves: then only its source was moved or touched."""
    for precision in ("int8", "fp32"):
        card = cards.read(cards.folder(cache, _fingerprint(base, precision)) / cards.NAME)
        if card:
            try:
                onnx.load(card, cache)
            except StorageFailed:
                continue
            return card
    return None


def _build(source: Source, base: str, work: Path, progress: Progress) -> Card:
    found = _run(["build", str(source.folder), source.name], work, source.name, progress)
    files = {}
    for name in (onnx.MODEL, onnx.TOKENIZER):
        fsio.make_private(name, root=work)
        with fsio.opened(name, root=work, flags=os.O_RDWR) as fd:
            fsio.datasync(fd)
        files[name] = cards.record(work / name)
    _tidy(work, files)
    for name in ("scripts", "inputs", "probe"):
        found[name] = tuple(found[name])
    return Card(
        name=source.name, kind=source.kind, fingerprint=_fingerprint(base, found["precision"]), files=files, **found
    )


def _tidy(work: Path, files: Collection[str]) -> None:
    """Remove what the steps left beside the files that serve: drafts five times their size, and links to the source."""
    for path in work.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name not in files:
            path.unlink()


def _keep(card: Card, work: Path, cache: Path) -> None:
    """Give the work its name, or an earlier one a new card; then clear what is out of date."""
    place = cards.folder(cache, card.fingerprint)
    if (work / onnx.MODEL).exists():
        path = f"{cards.HOME}/{work.name}/{cards.NAME}"
        fsio.put(path, cards.dump(card), root=cache)
        shutil.rmtree(place, ignore_errors=True)
        fsio.move(f"{cards.HOME}/{work.name}", card.fingerprint, root=cache)
    else:
        fsio.put(f"{cards.HOME}/{card.fingerprint}/{cards.NAME}", cards.dump(card), root=cache)
    for other in cards.cards(cache):
        if other.name == card.name and other.fingerprint != card.fingerprint:
            shutil.rmtree(cards.folder(cache, other.fingerprint), ignore_errors=True)


def _download(name: str, work: Path, progress: Progress) -> Source:
    found = _run(["fetch", sources.repository(name)], work, name, progress)
    return Source(name, "hub", Path(str(found["folder"])))


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Hold the lock that one preparation at a time has, whatever its model: each needs a gigabyte. Raises Busy."""
    with fsio.opened(f"{cards.HOME}/.lock", root=cache, flags=os.O_RDWR | os.O_CREAT) as fd:
        until = time.monotonic() + PATIENCE
        while not _locked(fd):
            if time.monotonic() > until:
                raise Busy("another mdmem is preparing a model", "wait for it, then try again")
            time.sleep(0.1)
        yield


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _work(cache: Path) -> Iterator[Path]:
    """Lend an empty folder; what interrupted preparations left goes first, which under the lock is nobody's."""
    for left in (cache / cards.HOME).glob(f"{_WORK}*"):
        shutil.rmtree(left, ignore_errors=True)
    name = _WORK + secrets.token_hex(6)
    fsio.mkdir(f"{cards.HOME}/{name}", root=cache)
    work = cache / cards.HOME / name
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(order: list[str], work: Path, name: str, progress: Progress) -> dict[str, Any]:
    """Run a step in a process of its own and give its findings. What libraries say there is read only if it fails."""
    command = [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path), *order]
    with os.fdopen(fsio.reach("stderr", root=work, flags=os.O_RDWR | os.O_CREAT), "w+b") as talk:
        child = subprocess.Popen(command, cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=talk)
        try:
            found = _listen(child.stdout, progress) if child.stdout else None
            code = child.wait()
        finally:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe:
                    pipe.close()
        if found is None or code:
            talk.seek(0)
            raise _failure(order[0], name, code, talk.read().decode("utf-8", "replace"))
    if "error" in found:
        kind, message, hint = found["error"]
        raise getattr(errors, kind)(message, hint)
    return found


def _listen(pipe: IO[bytes], progress: Progress) -> dict[str, Any] | None:
    """Follow the process: a number is a step that is done, an object what it found. None when it ends before that."""
    for line in pipe:
        if not line.endswith(b"\n"):
            break
        said = json.loads(line)
        if isinstance(said, dict):
            return said
        progress(said, STEPS)
    return None


def _failure(verb: str, name: str, code: int, talk: str) -> errors.MdmemError:
    """Say why the process ended early, as its last words or the system tell."""
    last = next((line.strip() for line in reversed(talk.splitlines()) if line.strip()), "it said nothing")
    if code < 0:
        return Refused(f"preparing {name} was ended by signal {-code}", "there may be too little memory for this model")
    if "No space left" in talk or "os error 28" in talk:
        return StorageFailed(
            f"preparing {name} failed: the disk is full", "free some space, then run the command again"
        )
    if verb == "fetch":
        return Missing(f"the model {name} could not be downloaded: {last[:300]}", "look at the name and the connection")
    return Refused(f"the model {name} cannot be prepared: {last[:300]}", "take another model")
