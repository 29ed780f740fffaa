"""Commits that HEAD does not have any more, and files as they and it had them.

Owns these questions, each asked once for any number of commits. It must never write, and a commit that git has thrown
away is no error: it is not named.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from mdmem.errors import StorageFailed
from mdmem.store.repo import listing

if TYPE_CHECKING:
    from mdmem.store.repo import Repo

BRANCHES = ("--branches", "--tags", "--remotes")


def astray(repo: Repo, commits: Collection[str], *, kept: bool) -> dict[str, tuple[str, ...]]:
    """Give what leads to these commits and HEAD does not have, newest first: commit → parents.

    With `kept`, what some other branch or tag has is left out too.
    """
    names = "".join(f"{commit}\n" for commit in commits).encode()
    held = ("HEAD", *(BRANCHES if kept else ()))
    found = repo.git.run("rev-list", "--ignore-missing", "--parents", "--stdin", "--not", *held, data=names)
    if found.status:
        raise StorageFailed("git cannot compare commits", found.words)
    rows = (line.split() for line in found.out.decode().splitlines())
    return {commit: tuple(parents) for commit, *parents in rows}


def branch_of(repo: Repo, commit: str) -> str | None:
    """Name a branch or tag that has a commit."""
    homes = ("refs/heads", "refs/remotes", "refs/tags")
    listed = repo.git.run("for-each-ref", "--count=1", "--format=%(refname:short)", f"--contains={commit}", *homes)
    return os.fsdecode(listed.out).strip() or None


def versions(repo: Repo, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """Give files as commits have them, by (commit, path); what a commit does not have is left out."""
    pairs = [pair for pair in wanted if "\n" not in pair[1]]
    lines = b"".join(os.fsencode(f"{commit}:{repo.prefix}{path}\n") for commit, path in pairs)
    listed = repo.git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", data=lines)
    answers = (line.rsplit(b" ", 1) for line in listed.out.splitlines())
    blobs = {pair: name.decode() for pair, (name, kind) in zip(pairs, answers, strict=True) if kind == b"blob"}
    data = dict(repo.blobs(blobs.values()))
    return {pair: data[blob] for pair, blob in blobs.items()}


def since(repo: Repo, tips: Sequence[str], paths: Collection[str]) -> dict[str, set[str]]:
    """Give the blobs of these paths that HEAD's own commits changed, or changed them to: those that no tip has."""
    words = ("--literal-pathspecs", "log", "--format=", "-z", "--raw", "-r", "-m", "--no-abbrev", "--relative")
    plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "-O/dev/null")
    some = [listing.checked(path) for path in paths] if len(paths) <= listing.FEW else ["."]
    listed = repo.git.run(*words, *plain, "HEAD", "--not", *tips, "--", *some)
    if listed.status:
        raise StorageFailed("git cannot read the history", listed.words)
    found: dict[str, set[str]] = {path: set() for path in paths}
    pieces = os.fsdecode(listed.out).split("\0")
    for raw, path in zip(pieces[0::2], pieces[1::2], strict=False):
        if path in found:
            found[path] |= {blob for blob in raw.split(" ")[2:4] if set(blob) != {"0"}}
    return found
