"""What one commit may hold: the repository at one look, and which of the wanted files go in now.

Owns the rules by which a path is committed or left out. It must never write anything.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import fsio
from mdmem.errors import BadInput, Busy, StorageFailed
from mdmem.store.repo import listing
from mdmem.store.repo.listing import Leaf

if TYPE_CHECKING:
    from mdmem.store.repo import Repo

REGULAR = ("100644", "100755")
NOTES = "pending-refresh"
"""A file of STATE, one JSON line for each entry that was about to change in the user's index: path, before, after."""

LAST = "last-refresh"
"""The same of the last commit that came to its end. A git that had read the index before may write it back even now."""

FORBIDDEN_NAME = re.compile(r"(?:\.git|git~\d+)[. ]*", re.IGNORECASE)
MARKERS = tuple(re.compile(mark, re.MULTILINE) for mark in (rb"^<<<<<<< ", rb"^=======\r?$", rb"^>>>>>>> "))


MOVED = "it was committed otherwise just now"


class NotNow(Busy):
    """git is in the middle of something, or locked: nothing was committed, and it may be tried again later."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who a commit is by."""

    name: str
    email: str

    def stamp(self, moment: datetime) -> bytes:
        """Return name, address and time as git's objects have them; what would break their form is left out."""
        name, email = (re.sub(r"[\x00-\x1f\x7f<>]", "", part).strip(" .,:;\"'") for part in (self.name, self.email))
        line = f"{name or 'mdmem'} <{email}> {int(moment.timestamp())} {f'{moment:%z}'[:5]}"
        return line.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be committed: vault-relative path → bytes, or None for removed. `modes` are git's (`100755`).

    `base` tells for paths which blob of HEAD, None for no file, the bytes were made from: where HEAD has another by
    now, committing them would take that back.
    """

    changes: Mapping[str, bytes | None]
    message: str
    state: Path
    author: Person | None = None
    at: datetime | None = None
    modes: Mapping[str, str] = field(default_factory=dict)
    base: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """The repository at one look: HEAD, its files, the user's index, and what stands in the way of paths."""

    head: str | None
    committed: Mapping[str, Leaf]
    staged: Mapping[str, Leaf]
    filters: Mapping[str, str]
    hidden: Mapping[str, str]
    ours: Mapping[str, set[Leaf | None]]
    """Entries of the index that are known to be mdmem's own doing, not the user's."""


@dataclass(slots=True)
class Plan:
    """What one attempt does: files the commit changes, entries the index gets, paths left out and why."""

    moves: dict[str, Leaf | None] = field(default_factory=dict)
    entries: dict[str, Leaf | None] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)


# Looking


def look(repo: Repo, changes: Mapping[str, bytes | None], state: Path) -> View:
    """Look at everything a commit of these changes depends on. NotNow when nothing may be committed on HEAD."""
    written = [path for path, data in changes.items() if data is not None]
    pending, last = _noted(state, NOTES), _noted(state, LAST)
    paths = list(dict.fromkeys([*changes, *(path for path, _, _ in (*pending, *last))]))
    attributes, position, index, unmerged = repo.git.ask_all(
        listing.filter_call(written), listing.POSITION_CALL, listing.index_call(paths), listing.UNMERGED_CALL
    )
    head, branch = repo.position(position)
    _require_rest(repo, branch, listing.staged(unmerged.out))
    # After it is known which commit HEAD names: read side by side, the files may be those of the one before.
    committed, staged = _committed(repo, head, paths), listing.staged(index.out)
    fresh = [path for path in written if path not in committed and path not in staged]
    hidden = _hidden(repo, fresh)
    ours: dict[str, set[Leaf | None]] = {}
    for path, before, after in pending:
        ours.setdefault(path, set()).update((before, after))
    for path, before, after in last:
        if committed.get(path) == after:
            ours.setdefault(path, set()).add(before)
    return View(head, committed, staged, listing.filters(attributes.out), hidden, ours)


def _committed(repo: Repo, head: str | None, paths: Sequence[str]) -> dict[str, Leaf]:
    if head is None:
        return {}
    [tree] = repo.git.ask_all(replace(listing.tree_call(head, paths), accepted=None))
    if tree.status:
        raise StorageFailed("git cannot read the files of HEAD", tree.words)
    return listing.leaves(tree.out)


def _require_rest(repo: Repo, branch: str | None, unmerged: Iterable[str]) -> None:
    reason = repo.unfinished() or (listing.DETACHED if branch is None else None)
    for path in unmerged:
        reason = reason or listing.unmerged_reason(path)
    if reason:
        raise NotNow(reason, "it is committed when that is over")


def _hidden(repo: Repo, paths: Sequence[str]) -> dict[str, str]:
    """Return the new paths git would not take, with the reason."""
    foreign = {path: reason for path in paths if (reason := _foreign(repo.vault, path))}
    asked = [path for path in paths if path not in foreign]
    return foreign | {path: f"ignored by {rule}" for path, rule in repo.ignored(asked).items()}


def _foreign(vault: Path, path: str) -> str | None:
    parts = path.split("/")
    if any(FORBIDDEN_NAME.fullmatch(part) for part in parts):
        return "git does not take such a name"
    for depth in range(1, len(parts)):
        folder = "/".join(parts[:depth])
        if os.path.islink(f"{vault}/{folder}"):
            return f"behind the link {folder}"
        if os.path.lexists(f"{vault}/{folder}/.git"):
            return f"in another repository: {folder}"
    return None


def _noted(state: Path, name: str) -> list[tuple[str, Leaf | None, Leaf | None]]:
    """Read which entries of the index mdmem was about to change: path, before, after."""
    snapshot = fsio.read(name, root=state)
    noted = []
    for line in snapshot.data.split(b"\n") if snapshot else ():
        with suppress(
            ValueError, TypeError, LookupError, RecursionError, BadInput
        ):  # a line that was cut short says nothing
            path, before, after = json.loads(line)
            noted.append((listing.checked(path), _leaf(before), _leaf(after)))
    return noted


def _leaf(known: Sequence[str] | None) -> Leaf | None:
    return (str(known[0]), str(known[1])) if known else None


# Deciding


def decide(repo: Repo, request: Request, view: View) -> Plan:
    """Choose what goes into the commit and into the user's index; what HEAD has already needs neither."""
    plan = Plan()
    for path, data in request.changes.items():
        committed, staged = view.committed.get(path), view.staged.get(path)
        target = None if data is None else (_mode(request, path, committed), repo.blob_id(data))
        if committed == target == staged:
            continue
        if reason := _reason(repo, view, path, data, target):
            if committed != target:
                plan.left[path] = reason
            continue
        if committed != target and path in request.base and (committed and committed[1]) != request.base[path]:
            plan.left[path] = MOVED
            continue
        if committed != target:
            plan.moves[path] = target
        if staged != target:
            plan.entries[path] = target
    for path in view.ours.keys() - request.changes.keys():
        committed, staged = view.committed.get(path), view.staged.get(path)
        if staged != committed and staged in view.ours[path]:
            plan.entries[path] = committed
    return plan


def _mode(request: Request, path: str, committed: Leaf | None) -> str:
    kept = committed[0] if committed and committed[0] in REGULAR else REGULAR[0]
    return request.modes.get(path, kept)


def _reason(repo: Repo, view: View, path: str, data: bytes | None, target: Leaf | None) -> str | None:
    """Return why a path cannot be committed now."""
    staged = view.staged.get(path)
    if staged not in (view.committed.get(path), target) and staged not in view.ours.get(path, ()):
        return "something else is staged for it"
    if data is None:
        return None
    if path in view.filters:
        return f"the filter {view.filters[path]} is set for it"
    if path in view.hidden:
        return view.hidden[path]
    return "it holds conflict markers" if _conflicted(repo, data, view.committed.get(path)) else None


def _conflicted(repo: Repo, data: bytes, committed: Leaf | None) -> bool:
    if not _marked(data):
        return False
    # A text about conflicts was committed with its markers before: they are no conflict of now.
    return committed is None or not any(_marked(before) for _, before in repo.blobs([committed[1]]))


def _marked(data: bytes) -> bool:
    at = 0
    for marker in MARKERS:
        found = marker.search(data, at)
        if found is None:
            return False
        at = found.end()
    return True
