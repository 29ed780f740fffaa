"""Texts that no branch has yet, kept by a commit of their own in the repository: `refs/mdmem/kept/…`.

Owns these refs, which are never pushed and outlive a work tree that is removed with all that waits in it. It must
never touch a branch, the user's index or a file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mdmem.store.repo import listing
from mdmem.store.repo.command import Result, failure

if TYPE_CHECKING:
    from mdmem.store.repo import Repo

HOME = "refs/mdmem/kept"
FILE = b"waiting.jsonl"

SAID = b"Texts that wait, or are held for a person: `mdmem recover` lists them\n"


def name(repo: Repo, vault: str) -> str:
    """Name the ref of this work tree and vault."""
    tree = repo.git_dir.name if repo.git_dir.parent.name == "worktrees" else "main"
    return f"{HOME}/{tree}/{vault}"


def keep(repo: Repo, ref: str, texts: bytes) -> None:
    """Have the ref name a commit with just these texts, in one file; without any it is removed. StorageFailed."""
    if not texts:
        _checked(repo.git.run("update-ref", "-d", ref))
        return
    blob = _checked(repo.git.run("hash-object", "-w", "--stdin", "--no-filters", data=texts))
    tree = _checked(repo.git.run("mktree", "-z", data=b"100644 blob %s\t%s\0" % (blob, FILE)))
    person = repo.person
    said = (("NAME", person.name), ("EMAIL", person.email))
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in said}
    commit = _checked(repo.git.run("commit-tree", tree.decode(), data=SAID, extra=identity))
    _checked(repo.git.run("update-ref", "--create-reflog", "-m", "mdmem: keep", ref, commit.decode()))


def read(repo: Repo, vault: str) -> list[bytes]:
    """Give what is kept for this vault, by this work tree or by one that is gone: a file of texts of each."""
    found: list[bytes] = []
    listed = repo.git.run("for-each-ref", "--format=%(refname)", HOME)
    for ref in os.fsdecode(listed.out).split():
        _, tree, of = f"{ref.removeprefix(HOME)}//".split("/")[:3]
        here = ref == name(repo, vault)
        if of == vault and (here or not _is_there(repo, tree)):
            files = repo.git.run("ls-tree", "-z", "--full-tree", ref)
            leaves = listing.leaves(files.out)
            found += dict(repo.blobs([leaf[1] for leaf in leaves.values()])).values()
    return found


def _is_there(repo: Repo, tree: str) -> bool:
    common = repo.git_dir.parent.parent if repo.git_dir.parent.name == "worktrees" else repo.git_dir
    return tree == "main" or (common / "worktrees" / tree).is_dir()


def _checked(result: Result) -> bytes:
    if result.status:
        raise failure("git could not keep the texts that wait", result)
    return result.out.strip()
