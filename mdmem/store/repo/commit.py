"""One commit of exactly the given files on top of HEAD, by plumbing, beside whatever the user is doing.

Owns the order: look, write objects, refresh the user's index, move the branch. It must never take along what the
user staged, build a commit in the user's index, move a branch that moved meanwhile, or remove a lock of git's.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.store.repo import listing
from mdmem.store.repo import plan as plans
from mdmem.store.repo.command import Result, failure
from mdmem.store.repo.listing import Leaf
from mdmem.store.repo.plan import LAST, NOTES, NotNow, Plan, Request, View

if TYPE_CHECKING:
    from mdmem.store.repo import Repo

TRIES = 20
LOCK_WAIT = 0.5
"""Seconds a lock of git's is waited for."""
TURN_WAIT = 2.0
"""Seconds another commit of the same vault is waited for; the caller's own lock makes it rare."""
ROUNDS = 3
"""How often entries that were written back are given to the index again."""
LOCK_STALE = 60.0
"""Seconds after which `index.lock` is taken for left behind: the branch moves without the index."""
SUBJECT = 72
BODY = 65536
SCRATCH_REF = b"refs/mdmem/scratch"
LATER = "it is tried again later"


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of a request: `commit` is None when nothing was to be committed.

    `left` tells for each path that could not be committed now why; `notices` what the user should know.
    """

    commit: str | None
    left: dict[str, str]
    notices: tuple[str, ...] = ()


def write(repo: Repo, request: Request) -> Committed:
    """Commit the requested files. NotNow when git is busy or locked; StorageFailed when it cannot write.

    A path is left out when it has a filter, is ignored and untracked, lies in another repository, holds conflict
    markers, when the user has staged something else for it, or when HEAD has other bytes than its base.
    """
    with _alone(request.state):
        for attempt in range(TRIES):
            view = plans.look(repo, request.changes, request.state)
            plan = plans.decide(repo, request, view)
            commit = _store(repo, request, view, plan) if plan.moves else None
            notice = _stage(repo, request.state, view, plan) if plan.entries else None
            if _is_last(repo, view, plan) if commit is None else _advance(repo, commit, view.head, request.message):
                with suppress(MdmemError):  # it is committed, and the next one sees to what is left
                    if notice is None:
                        _close(repo, request.state, view, plan)
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


# Writing


def _store(repo: Repo, request: Request, view: View, plan: Plan) -> str:
    """Write blobs, trees and the commit; no branch knows them yet."""
    stream = b"".join(_stream(repo, request, view, plan))
    # Where names fold case, twins that differ in case alone would replace each other.
    result = repo.git.run("-c", "core.ignoreCase=false", "fast-import", "--quiet", "--done", data=stream)
    if result.status:
        fsio.unlink(f"fast_import_crash_{result.pid}", root=repo.git_dir)
        raise failure("git could not write the commit", result)
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


def _is_last(repo: Repo, view: View, plan: Plan) -> bool:
    """Tell whether HEAD is still what the index was given entries of: the user's next commit would take others back."""
    return not plan.entries or repo.head() == view.head


def _stage(repo: Repo, state: Path, view: View, plan: Plan) -> str | None:
    """Give the user's index the new entries; returns a notice when an old lock keeps them out.

    Before the branch moves: after a crash in between the user's next commit carries the change, in the other order
    it would revert it.
    """
    _note(state, view, plan)
    lock = repo.git_dir / "index.lock"
    if (age := _age(lock) or 0.0) >= LOCK_STALE:
        return f"Committed beside git's index: {lock} is {age:.0f} s old. Remove it when no git is running."
    result = _enter(repo, plan.entries)
    if result.status:
        locked = _age(lock) is not None
        raise _refused(f"git's index is locked by {lock}" if locked else "git cannot write its index", result)
    return None


def _enter(repo: Repo, entries: Mapping[str, Leaf | None]) -> Result:
    null = "0" * listing.ALGORITHMS[repo.algorithm]
    lines = [
        b"%s %s\t%s\0" % (mode.encode(), blob.encode(), os.fsencode(repo.prefix + path))
        for path, (mode, blob) in ((path, leaf or ("0", null)) for path, leaf in _removals_first(entries))
    ]
    return _while_locked(lambda: repo.git.run("update-index", "-z", "--index-info", data=b"".join(lines)))


def _close(repo: Repo, state: Path, view: View, plan: Plan) -> None:
    """See to it that the index keeps its new entries, once the branch has moved, and note that it has them.

    `git commit` reads the index before it locks it: one of the user's that began earlier writes the old entries back,
    and is then refused, for the branch has moved; their next commit would take ours back. What is written back later
    still is known by the notes, and put right with the next commit.
    """
    if not plan.entries:
        if view.ours:
            fsio.unlink(NOTES, root=state)
        return
    fsio.move(NOTES, LAST, root=state)
    for _ in range(ROUNDS):
        if not _is_free(repo.git_dir / "index.lock"):
            return
        [listed] = repo.git.ask_all(replace(listing.index_call([*plan.entries]), accepted=None))
        staged = listing.staged(listed.out)
        old = {path: leaf for path, leaf in plan.entries.items() if staged.get(path) == view.staged.get(path) != leaf}
        if listed.status or not old or _enter(repo, old).status:
            return


def _is_free(lock: Path) -> bool:
    """Wait for a lock of git's to be gone; False when it is not."""
    deadline = time.monotonic() + LOCK_WAIT
    while (age := _age(lock)) is not None:
        if age >= LOCK_STALE or time.monotonic() > deadline:
            return False
        time.sleep(random.uniform(0.001, 0.01))
    return True


def _removals_first(entries: Mapping[str, Leaf | None]) -> list[tuple[str, Leaf | None]]:
    return sorted(entries.items(), key=lambda entry: entry[1] is not None)


def _note(state: Path, view: View, plan: Plan) -> None:
    """Write down, before the index changes, which of its entries are ours if this goes no further."""
    lines = [json.dumps([path, view.staged.get(path), target]) for path, target in plan.entries.items()]
    fsio.sync(fsio.append(NOTES, "".join(f"{line}\n" for line in lines).encode(), root=state))


def _advance(repo: Repo, commit: str, old: str | None, message: str) -> bool:
    """Move the branch HEAD stands on from `old` to the commit; False when it is no longer there."""
    if reason := repo.unfinished():
        raise NotNow(reason, "it is committed when that is over")
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
        raise _refused(_ref_lock(repo), result)
    return not moved


def _refused(what: str, result: Result) -> MdmemError:
    """Make the error of what git may do another time, or for which the disk has no room."""
    return failure(what, result) if fsio.told(result.words) else NotNow(what, result.words)


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
