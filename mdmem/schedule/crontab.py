"""The user's crontab, read and written by `crontab`.

Owns the way from one whole text to the next, under a lock that all vaults of a user share. It must never write one
when it could not read what is there.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mdmem import config, fsio
from mdmem.errors import Busy, MdmemError, Refused, StorageFailed
from mdmem.schedule import cron, programs
from mdmem.schedule.jobs import Outcome, Plan, Slot

NONE = re.compile(r"no f?crontab for |can't open '[^/']+': No such file or directory")
"""How crons say that there is no crontab yet; the last is BusyBox's. Whatever else they say is a failure."""

LOCK, PATIENCE = "crontab.lock", 10.0


def is_there() -> bool:
    """Tell whether this machine has a crontab at all."""
    return shutil.which("crontab") is not None


def slots(plan: Plan) -> list[Slot]:
    """Compare a vault's lines with what they should be; nothing when it has none. Raises Refused, Missing."""
    return cron.states(_read(), plan)


def install(plan: Plan, *, force: bool = False) -> Outcome:
    """Put a vault's lines into the crontab. Raises Refused, Missing, Busy, StorageFailed."""
    cron.lines(plan)  # before anything is asked of anybody
    before = _changed(lambda text: cron.installed(text, plan, force=force))
    was = {line.name: line for line in cron.found(before, plan.id)}
    after = cron.lines(plan)
    kept = tuple(name for name, line in was.items() if not line.whole and not force)
    made = tuple(name for name in after if name not in kept and (name not in was or not _same(was[name], after[name])))
    return Outcome("cron", made, kept)


def _same(line: cron.Line, wanted: bytes) -> bool:
    return line.whole and line.command == wanted


def remove(id: str, *, force: bool = False) -> Outcome:
    """Take a vault's lines out of the crontab. Raises Refused, Missing, Busy, StorageFailed."""
    lines = list(cron.found(_changed(lambda text: cron.removed(text, id, force=force)), id))
    gone = tuple(line.name for line in lines if line.whole or force)
    return Outcome("cron", gone, tuple(line.name for line in lines if not line.whole and not force))


def _changed(change: Callable[[bytes], bytes]) -> bytes:
    """Write the crontab anew where that makes a difference, and return what it was."""
    with _alone():
        old = _read()
        new = change(old)
        if new != old:
            _write(new)
    return old


def _read() -> bytes:
    done = programs.run("crontab", "-l")
    if done.status == 0:
        return done.out
    if not done.out and NONE.search(done.said):
        return b""
    hint = "nothing was changed: see to it that `crontab -l` works, or use --systemd"
    raise Refused(f"the crontab cannot be read: {done.said}", hint)


def _write(text: bytes) -> None:
    done = programs.run("crontab", "-", data=text)
    if done.status and text and not text.endswith(b"\n"):  # many crons want one at the end
        text += b"\n"
        done = programs.run("crontab", "-", data=text)
    if done.status:
        raise StorageFailed(f"crontab does not take the new lines: {done.said}", "nothing was changed")
    if _read() != text:
        raise StorageFailed("the crontab holds something else than was written", "look at it with `crontab -l`")


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other vaults of the user from changing the crontab between reading and writing it. Raises Busy."""
    folder, until = config.cache_dir(), time.monotonic() + PATIENCE
    with suppress(MdmemError):
        fsio.mkdir(str(folder.resolve()).lstrip("/"), root=Path("/"))
    try:
        fd = fsio.reach(LOCK, root=folder.resolve(), flags=os.O_RDWR | os.O_CREAT)
    except MdmemError:  # a cache that cannot be written must not keep anybody from a crontab
        yield
        return
    try:
        while not _taken(fd):
            if time.monotonic() > until:
                raise Busy("another mdmem is changing the crontab", "nothing was changed: try again")
            time.sleep(0.05)
        yield
    finally:
        os.close(fd)


def _taken(fd: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
