"""When what has changed is due: to be indexed, to be looked through for what an older copy dropped, to be committed.

Owns the times, and nothing else: it is told what the files look like and what time it is, and says what to do. A state
counts as long as it stands still, so that half a save is never taken for a whole one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

State = tuple[int, int, int, int]
"""Size, mtime_ns, ctime_ns and inode of a file."""

Seen = Mapping[str, State | None]
"""Paths and how they stand; None for one that is gone."""

QUIET = 0.3
"""Seconds for which a file stands still before it is indexed, or compared with what it should hold."""
OVERDUE = 2.0
"""Seconds after which one that never stands still for so long is indexed and compared all the same."""
STANDS = 0.05
CALM, LONGEST = 2.0, 30.0
"""Seconds of calm in all the vault before a commit, and how long that may be waited for."""
SHRUNK = 2.0
"""Further seconds for a file that lost more than half: an editor may be about to write the rest."""
ABSENT = 60.0
"""Seconds after which a file that is gone counts as deleted."""


@dataclass(slots=True)
class Open:
    """A file that is not as it was last committed: its state, since when it is in it, and since when it is open."""

    state: State | None
    since: float
    first: float
    unseen: float | None
    unindexed: float | None
    shrunk: bool = False
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done now, and in how many seconds more may be."""

    index: bool
    observe: dict[str, State | None]
    save: dict[str, State | None]
    wait: float


@dataclass(slots=True)
class Pace:
    """What is known of the files of a vault."""

    _known: dict[str, State | None] = field(default_factory=dict)
    _settled: dict[str, State | None] = field(default_factory=dict)
    _open: dict[str, Open] = field(default_factory=dict)

    def begin(self, seen: Seen, differing: Iterable[str], now: float) -> None:
        """Take what stands there as the beginning; the files that differ from history are open."""
        self._known = dict(seen)
        self._settled = {path: state for path, state in seen.items() if path not in self._open}
        self.reopen(differing, now)

    def reopen(self, differing: Iterable[str], now: float) -> None:
        """Open files that differ from history, though nothing was seen to change them."""
        for path in differing:
            if path not in self._open:
                self._change(path, self._known.get(path), now)

    def see(self, seen: Seen, now: float) -> bool:
        """Take in how the files stand now; tell whether any changed."""
        if seen == self._known:
            return False
        changed = {path for path, _ in seen.items() ^ self._known.items()}
        appeared = {_identity(seen.get(path)) for path in changed if not self._known.get(path)}
        for path in changed:
            state, before = seen.get(path), self._known.get(path)
            if state != before:
                self._change(path, state, now)
                if state is None:
                    self._open[path].moved = _identity(before) in appeared
        self._known = {path: state for path, state in seen.items() if state is not None}
        return True

    def _change(self, path: str, state: State | None, now: float) -> None:
        was = self._open.get(path)
        settled = self._settled.get(path)
        self._open[path] = Open(
            state=state,
            since=now,
            first=was.first if was else now,
            unseen=None if state is None else now if was is None or was.unseen is None else was.unseen,
            unindexed=now if was is None or was.unindexed is None else was.unindexed,
            shrunk=state is not None and (not state[0] or (settled is not None and state[0] * 2 < settled[0])),
        )

    def due(self, now: float, *, deletions: bool = True) -> Due:
        """Say what is to be done now. Without `deletions` no file that is gone counts as deleted."""
        wait = _Wait(now)
        index = self._is_index_due(wait)
        observe = {
            path: one.state
            for path, one in self._open.items()
            if one.unseen is not None and wait.over(_steady(one, one.unseen))
        }
        return Due(index, observe, self._to_save(wait, deletions), wait.seconds)

    def _is_index_due(self, wait: _Wait) -> bool:
        fresh = [one for one in self._open.values() if one.unindexed is not None]
        if not fresh:
            return False
        quiet = max(one.since for one in fresh) + QUIET
        overdue = min(one.unindexed for one in fresh if one.unindexed is not None) + OVERDUE
        return wait.over(min(quiet, overdue))

    def _to_save(self, wait: _Wait, deletions: bool) -> dict[str, State | None]:
        """Give what one commit may hold now: everything once all is calm, else what has waited for long."""
        live = {path: one for path, one in self._open.items() if one.state is not None or one.moved}
        settling = [one for one in live.values() if not one.shrunk]
        due: dict[str, State | None] = {}
        if settling:
            calm = max(one.since for one in settling) + CALM
            longest = min(one.first for one in settling) + LONGEST
            if wait.over(min(calm, longest)):
                due = {path: one.state for path, one in live.items() if not one.shrunk and wait.over(one.since + QUIET)}
        due |= {path: one.state for path, one in live.items() if one.shrunk and wait.over(one.since + CALM + SHRUNK)}
        if deletions:
            gone = {path: one for path, one in self._open.items() if one.state is None and not one.moved}
            due |= {path: None for path, one in gone.items() if wait.over(one.since + ABSENT)}
        return due

    def at_rest(self, now: float) -> dict[str, State | None]:
        """Give what may be committed before the end: it stands still, and is not cut short."""
        return {
            path: one.state
            for path, one in self._open.items()
            if one.state is not None and not one.shrunk and now >= one.since + QUIET
        }

    def indexed(self) -> None:
        """Note that the index is being brought up to date."""
        for one in self._open.values():
            one.unindexed = None

    def observed(self, seen: Seen) -> None:
        """Note that these were compared with what they should hold."""
        for path, state in seen.items():
            if path in self._open and self._open[path].state == state:
                self._open[path].unseen = None

    def saved(self, seen: Seen) -> None:
        """Note that these are in history, or not for it."""
        for path, state in seen.items():
            if path in self._open and self._open[path].state == state:
                del self._open[path]
            if state is None:
                self._settled.pop(path, None)
            else:
                self._settled[path] = state

    @property
    def waiting(self) -> int:
        """How many files are not as they were last committed."""
        return len(self._open)

    def is_empty(self) -> bool:
        """Tell whether no memory file is left, where there were some."""
        return not any(map(_is_memory, self._known)) and any(map(_is_memory, self._settled))


def _identity(state: State | None) -> tuple[int, int, int] | None:
    """Take from a state what a file keeps when it gets another name."""
    return None if state is None else (state[0], state[1], state[3])


def _is_memory(path: str) -> bool:
    return path.endswith((".md", ".md.zst"))


def _steady(one: Open, first: float) -> float:
    """Give the moment from which a state counts as standing still, or has to do."""
    return min(one.since + QUIET, max(first + OVERDUE, one.since + STANDS))


@dataclass(slots=True)
class _Wait:
    """The next moment at which something is due."""

    now: float
    seconds: float = math.inf

    def over(self, moment: float) -> bool:
        """Tell whether a moment has come; else remember it."""
        if self.now >= moment:
            return True
        self.seconds = min(self.seconds, moment - self.now)
        return False
