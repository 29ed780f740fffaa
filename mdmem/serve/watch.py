"""Events of the file system: that something happened in a vault's folders, and nothing more.

Owns which folders are watched, by watchdog. Events get lost without a word, so they only say when to look. It must
never watch what is not the vault's: .git, hidden folders, repositories in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, cast

Cover = Mapping[tuple[str, bool], int]
"""Folders, each with whether all in it is meant as well, and its inode."""

MANY = 50
"""Folders with a watch of their own, which costs a thread each; above that hidden ones are watched with the rest."""
DEEP = 100


def cover(root: Path, roots: Iterable[str], last: Iterable[Path]) -> dict[tuple[str, bool], int]:
    """Give the folders to watch for a vault: itself, its memory without what is hidden in it, at last others."""
    parts: list[tuple[str, bool]] = [(str(root), False)]
    for folder in dict.fromkeys(("memory", *roots)):
        path = os.path.join(root, folder.strip("/"))
        if os.path.isdir(path) and not os.path.islink(path):
            _, below = _covered(path, 0)
            parts += below if len(below) <= MANY else [(path, True)]
    found = {}
    for path, whole in (*parts, *((str(path), False) for path in last)):
        if inode := _inode(path):
            found[path, whole] = inode
    return found


def _covered(folder: str, depth: int) -> tuple[bool, list[tuple[str, bool]]]:
    """Tell whether a folder can be watched as a whole, and give what to watch of it."""
    inner, skips = [], depth >= DEEP
    for entry in _folders(folder) if depth < DEEP else ():
        if entry.name.startswith(".") or os.path.lexists(os.path.join(entry.path, ".git")):
            skips = True
        else:
            inner.append(entry.path)
    below = [_covered(path, depth + 1) for path in sorted(inner)]
    if not skips and all(whole for whole, _ in below):
        return True, [(folder, True)]
    return False, [(folder, False), *(part for _, parts in below for part in parts)]


def _folders(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


class Events:
    """The events of some folders. `tell` is called on a thread of its own, with a path and whether it is a folder."""

    def __init__(self, folders: Cover, tell: Callable[[str, bool], None]) -> None:
        """Begin to watch. Raises OSError: ENOSPC without a free watch, EMFILE without a free instance."""
        from watchdog.observers import Observer

        self.folders = folders
        self._observer: Any = Observer()
        try:
            self._observer.start()  # before, for what is scheduled before begins in no order
            for path, whole in folders:
                self._observer.schedule(_listener(tell), path, recursive=whole, event_filter=_meant())
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Watch no longer."""
        for end in (self._observer.unschedule_all, self._observer.stop):
            with suppress(KeyError, OSError):  # what watchdog remembers may be what broke
                end()
        if self._observer.ident is not None:
            self._observer.join(2)


def is_watchdogs(thread: Thread | None) -> bool:
    """Tell whether a thread is one of those that bring events."""
    return type(thread).__module__.partition(".")[0] == "watchdog"


def _meant() -> list[Any]:
    """Give the kinds of events that tell of a change; without them each file that is read would make some."""
    from watchdog import events

    return [
        events.FileCreatedEvent,
        events.FileModifiedEvent,
        events.FileMovedEvent,
        events.FileDeletedEvent,
        events.DirCreatedEvent,
        events.DirMovedEvent,
        events.DirDeletedEvent,
    ]


def _listener(tell: Callable[[str, bool], None]) -> Any:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

    class Listener(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            for path in filter(None, (event.src_path, event.dest_path)):
                tell(os.fsdecode(cast(str | bytes, path)), event.is_directory)

    return Listener()
