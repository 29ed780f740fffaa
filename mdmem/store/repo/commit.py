"""One commit of exactly the given files on top of HEAD, by plumbing, beside whatever the user is doing.

Owns the order: look, write objects, refresh the user's index, move the branch. It must never take along what the
user staged, build a commit in the user's index, move a branch that moved meanwhile, or remove a lock of git's.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import fsio
from mdmem.errors import Busy, StorageFailed
from mdmem.store.repo import listing
from mdmem.store.repo.command import Result
from mdmem.store.repo.listing import Leaf

if TYPE_CHECKING:
    from mdmem.store.repo import Repo

TRIES = 20
LOCK_WAIT = 0.5
"""Seconds a lock of git's is waited for."""
TURN_WAIT = 2.0
"""Seconds another commit of the same vault is waited for; the caller's own lock makes it rare."""
LOCK_STALE = 60.0
"""Seconds after which `index.lock` is taken for left behind: the branch moves without the index."""
SUBJECT = 72
BODY = 65536
REGULAR = ("100644", "100755")
NOTES = "pending-refresh"
FORBIDDEN_NAME = re.compile(r"(?:\.git|git~\d+)[. ]*", re.IGNORECASE)
MARKERS = tuple(re.compile(mark, re.MULTILINE) for mark in (rb"^<<<<<<< ", rb"^=======\r?$", rb"^>>>>>>> "))
SCRATCH_REF = b"refs/mdmem/scratch"
LATER = "It is tried again later."


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
        line = f"{name or 'mdmem'} <{email}> {int(moment.timestamp())} {moment:%z}"
        return line.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of a request: `commit` is None when nothing was to be committed.

    `left` tells for each path that could not be committed now why; `notices` what the user should know.
    """

    commit: str | None
    left: dict[str, str]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be committed: vault-relative path → bytes, or None for removed. `modes` are git's (`100755`)."""

    changes: Mapping[str, bytes | None]
    message: str
    state: Path
    author: Person | None = None
    at: datetime | None = None
    modes: Mapping[str, str] = field(default_factory=dict)


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


def write(repo: Repo, request: Request) -> Committed:
    """Commit the requested files. NotNow when git is busy or locked; StorageFailed when it cannot write.

    A path is left out when it has a filter, is ignored and untracked, lies in another repository, holds conflict
    markers, or when the user has staged something else for it.
    """
    with _alone(request.state):
        for attempt in range(TRIES):
            view = _look(repo, request)
            plan = _plan(repo, request, view)
            commit = _store(repo, request, view, plan) if plan.moves else None
            notice = _stage(repo, request.state, view, plan) if plan.entries else None
            if commit is None or _advance(repo, commit, view.head, request.message):
                if notice is None and (view.ours or plan.entries):
                    fsio.unlink(NOTES, root=request.state)
                return Committed(commit, plan.left, (notice,) if notice else ())
            time.sleep(random.uniform(0, 0.005 * (attempt + 1)))
    raise NotNow("the branch kept moving while a commit was made", LATER)


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Keep other commits of this vault out: they would take entries this one just staged for leftovers."""
    with fsio.telling("open", str(state)):
        folder = os.open(state, os.O_RDONLY | os.O_DIRECTORY)
    try:
        deadline = time.monotonic() + TURN_WAIT
        while not _locked(folder):
            if time.monotonic() > deadline:
                raise NotNow("another mdmem is committing", LATER)
            time.sleep(random.uniform(0.002, 0.02))
        yield
    finally:
        os.close(folder)


def _locked(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Looking


def _look(repo: Repo, request: Request) -> View:
    written = [path for path, data in request.changes.items() if data is not None]
    ours = _noted(request.state)
    paths = [*request.changes, *(ours.keys() - request.changes.keys())]
    attributes, position, tree, index, unmerged = repo.git.ask_all(
        listing.filter_call(written),
        listing.POSITION_CALL,
        replace(listing.tree_call("HEAD", paths), accepted=None),
        listing.index_call(paths),
        listing.UNMERGED_CALL,
    )
    head, branch = repo.position(position)
    _require_rest(repo, branch, listing.staged(unmerged.out))
    if head is not None and tree.status:
        raise StorageFailed("git cannot read the files of HEAD", tree.words)
    committed, staged = listing.leaves(tree.out), listing.staged(index.out)
    fresh = [path for path in written if path not in committed and path not in staged]
    hidden = _hidden(repo, fresh)
    return View(head, committed, staged, listing.filters(attributes.out), hidden, ours)


def _require_rest(repo: Repo, branch: str | None, unmerged: Iterable[str]) -> None:
    reason = repo.unfinished() or (listing.DETACHED if branch is None else None)
    for path in unmerged:
        reason = reason or listing.unmerged_reason(path)
    if reason:
        raise NotNow(reason, "It is committed when that is over.")


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


def _noted(state: Path) -> dict[str, set[Leaf | None]]:
    """Return which entries of the index are mdmem's own, from commits that did not come to their end."""
    snapshot = fsio.read(NOTES, root=state)
    noted: dict[str, set[Leaf | None]] = {}
    for line in snapshot.data.split(b"\n") if snapshot else ():
        with suppress(ValueError, TypeError):  # a line that was cut short says nothing
            path, *known = json.loads(line)
            noted.setdefault(path, set()).update(leaf and (leaf[0], leaf[1]) for leaf in known)
    return noted


# Deciding


def _plan(repo: Repo, request: Request, view: View) -> Plan:
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


# Writing


def _store(repo: Repo, request: Request, view: View, plan: Plan) -> str:
    """Write blobs, trees and the commit; no branch knows them yet."""
    stream = b"".join(_stream(repo, request, view, plan))
    # Where names fold case, twins that differ in case alone would replace each other.
    result = repo.git.run("-c", "core.ignoreCase=false", "fast-import", "--quiet", "--done", data=stream)
    if result.status:
        crash = repo.git_dir / f"fast_import_crash_{result.pid}"
        crash.unlink(missing_ok=True)
        raise StorageFailed("git could not write the commit", result.words)
    return result.out.decode().strip()


def _stream(repo: Repo, request: Request, view: View, plan: Plan) -> Iterator[bytes]:
    moment = request.at or datetime.now().astimezone()
    yield b"commit %s\nmark :1\n" % SCRATCH_REF
    yield b"author %s\n" % (request.author or repo.person).stamp(moment)
    yield b"committer %s\n" % repo.person.stamp(moment)
    yield _data(_message(request.message))
    if view.head:
        yield b"from %s\n" % view.head.encode()
    # Removals first: a folder may take the place of a file.
    for path in (path for path, target in plan.moves.items() if target is None):
        yield b"D %s\n" % _quoted(repo.prefix + path)
    for path, target in plan.moves.items():
        data = request.changes[path]
        if target is not None and data is not None:
            yield b"M %s inline %s\n" % (target[0].encode(), _quoted(repo.prefix + path))
            yield _data(data)
    # Without a starting point the reset forgets the scratch branch, so no reference is ever written.
    yield b"get-mark :1\nreset %s\n\ndone\n" % SCRATCH_REF


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    raw = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"%s"' % raw


def _subject(message: str) -> str:
    line = "".join(char for char in message.partition("\n")[0] if char.isprintable()).strip()
    return (line if len(line) <= SUBJECT else f"{line[: SUBJECT - 1]}…") or "mdmem"


def _message(message: str) -> bytes:
    rest = "".join(char for char in message.partition("\n")[2] if char in "\n\t" or not _is_control(char))
    body = rest.strip("\n")
    if len(body) > BODY:
        trailers = body.rpartition("\n\n")[2]
        body = f"{body[:BODY]}…\n\n{trailers[:BODY]}"
    text = f"{_subject(message)}\n" + (f"\n{body}\n" if body else "")
    return text.encode("utf-8", "replace")


def _is_control(char: str) -> bool:
    return char < " " or "\x7f" <= char < "\xa0"


# The user's index, then the branch


def _stage(repo: Repo, state: Path, view: View, plan: Plan) -> str | None:
    """Give the user's index the new entries; returns a notice when an old lock keeps them out.

    Before the branch moves: after a crash in between the user's next commit carries the change, in the other order
    it would revert it.
    """
    _note(state, view, plan)
    null = "0" * listing.ALGORITHMS[repo.algorithm]
    lines = [
        b"%s %s\t%s\0" % (mode.encode(), blob.encode(), os.fsencode(repo.prefix + path))
        for path, (mode, blob) in ((path, leaf or ("0", null)) for path, leaf in _removals_first(plan.entries))
    ]
    lock = repo.git_dir / "index.lock"
    if (age := _age(lock) or 0.0) >= LOCK_STALE:
        return f"Committed beside git's index: {lock} is {age:.0f} s old. Remove it when no git is running."
    result = _while_locked(lambda: repo.git.run("update-index", "-z", "--index-info", data=b"".join(lines)))
    if result.status:
        locked = _age(lock) is not None
        raise NotNow(f"git's index is locked by {lock}" if locked else "git cannot write its index", result.words)
    return None


def _removals_first(entries: Mapping[str, Leaf | None]) -> list[tuple[str, Leaf | None]]:
    return sorted(entries.items(), key=lambda entry: entry[1] is not None)


def _note(state: Path, view: View, plan: Plan) -> None:
    """Write down, before the index changes, which of its entries are ours if this goes no further."""
    lines = [json.dumps([path, view.staged.get(path), target]) for path, target in plan.entries.items()]
    fsio.sync(fsio.append(NOTES, "".join(f"{line}\n" for line in lines).encode(), root=state))


def _advance(repo: Repo, commit: str, old: str | None, message: str) -> bool:
    """Move the branch HEAD stands on from `old` to the commit; False when it is no longer there."""
    if reason := repo.unfinished():
        raise NotNow(reason, "It is committed when that is over.")
    moved = False

    def move() -> Result:
        nonlocal moved
        person = repo.person
        committer = {"GIT_COMMITTER_NAME": person.name, "GIT_COMMITTER_EMAIL": person.email}
        call = ("update-ref", "--create-reflog", "-m", f"mdmem: {_subject(message)}", "HEAD", commit, old or "")
        result = repo.git.run(*call, extra=committer)
        moved = result.status != 0 and repo.head() != old
        return replace(result, status=0) if moved else result

    result = _while_locked(move)
    if result.status:
        raise NotNow(_ref_lock(repo), result.words)
    return not moved


def _ref_lock(repo: Repo) -> str:
    branch = repo.position()[1] or "HEAD"
    names = [b"HEAD.lock", os.fsencode(f"{branch}.lock"), b"packed-refs.lock"]
    for name in names:
        place = repo.git.run("rev-parse", "--git-path", os.fsdecode(name)).out.removesuffix(b"\n")
        lock = repo.vault / os.fsdecode(place)
        if (age := _age(lock)) is not None:
            return f"git's branch is locked by {lock}, for {age:.0f} s"
    return "git cannot move its branch"


def _while_locked(attempt: Callable[[], Result]) -> Result:
    """Repeat a command that a lock of git's may keep from working, for as long as a lock is waited for."""
    deadline = time.monotonic() + LOCK_WAIT
    while (result := attempt()).status and time.monotonic() < deadline:
        time.sleep(random.uniform(0.005, 0.03))
    return result


def _age(lock: Path) -> float | None:
    try:
        return max(0.0, time.time() - lock.lstat().st_mtime)
    except FileNotFoundError:
        return None
