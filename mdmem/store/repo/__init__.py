"""The git repository around a vault: finding it, its state, and reading what it holds.

Owns everything that is asked of git; paths are the vault's own (relative to it, `/`), never the work tree's. It
must never run a program the repository names, change a file of the user's, or remove a lock of git's. Beside
this: `command` runs git, `listing` takes its answers apart, `plan` decides what a commit may hold, `commit` writes
it, `history` reads commits, `kept` keeps what no branch has, `lineage` finds what none has any more,
`repacking` packs its objects.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from mdmem.errors import NotFound, NoVault, StorageFailed
from mdmem.store.repo import commit as commits
from mdmem.store.repo import history as histories
from mdmem.store.repo import kept, listing, repacking
from mdmem.store.repo.command import HOOKS_OFF, OPTIONS, Git, Result, failure
from mdmem.store.repo.commit import Committed
from mdmem.store.repo.history import CommitInfo, FileChange
from mdmem.store.repo.listing import ALGORITHMS, Leaf
from mdmem.store.repo.plan import MOVED, NotNow, Person, Request
from mdmem.store.repo.repacking import Sizes

__all__ = ["MOVED", "CommitInfo", "Committed", "FileChange", "Leaf", "NotNow", "Person", "Repo", "Sizes"]

UNFINISHED = {
    "MERGE_HEAD": "a merge is in progress",
    "rebase-merge": "a rebase is in progress",
    "rebase-apply": "a rebase is in progress",
    "CHERRY_PICK_HEAD": "a cherry-pick is in progress",
    "REVERT_HEAD": "a revert is in progress",
    "sequencer": "a cherry-pick or revert is in progress",
    "BISECT_LOG": "a bisect is in progress",
}
FINISHED_BY = {
    "rebase-merge": ("rebase", "git rebase --continue"),
    "rebase-apply/applying": ("git am", "git am --continue"),
    "rebase-apply": ("rebase", "git rebase --continue"),
    "CHERRY_PICK_HEAD": ("cherry-pick", "git cherry-pick --continue"),
    "REVERT_HEAD": ("revert", "git revert --continue"),
}
"""What a person goes on with once nothing is in conflict; in a rebase there are marks of a cherry-pick as well."""
AT_ONCE = 1000
"""So many blobs are read by one command; their content is in memory together."""


class Repo:
    """The repository of one vault. `vault` is its folder, `top` the work tree's, both without links.

    `prefix` leads from top to vault, `''` or with a `/` at its end; `state_parent` is where git says a folder
    `mdmem` of this work tree belongs.
    """

    def __init__(self, git: Git, vault: Path, *, up: str, state_parent: Path, algorithm: str) -> None:
        self.git = git
        self.vault = vault
        self.top = Path(os.path.normpath(vault / up))
        self.prefix = "" if vault == self.top else f"{vault.relative_to(self.top).as_posix()}/"
        self.state_parent = state_parent
        self.git_dir = state_parent.parent
        self.algorithm = algorithm

    @classmethod
    def discover(cls, vault: Path, *, environment: Mapping[str, str] | None = None) -> Repo:
        """Find the repository of a vault's folder as git itself does. NoVault when git finds or accepts none."""
        real = Path(os.path.realpath(vault))
        git = Git(real, environment)
        # The one answer that may hold a newline comes last.
        asked = ("--is-inside-work-tree", "--show-object-format", "--show-cdup", "--git-path", "mdmem")
        found = git.run("rev-parse", *asked)
        inside, algorithm, up, place = (*os.fsdecode(found.out).removesuffix("\n").split("\n", 3), "", "", "")[:4]
        if found.status or inside != "true" or not place:
            raise _refused(real, found.words)
        if algorithm not in ALGORITHMS:  # git before 2.25 repeats the option
            algorithm = "sha1"
        return cls(git, real, up=up, state_parent=Path(os.path.normpath(real / place)), algorithm=algorithm)

    @staticmethod
    def create(path: Path, *, environment: Mapping[str, str] | None = None) -> None:
        """Make an empty repository in an existing folder; the first branch is the user's, no template is used."""
        made = Git(path, environment).run("init", "--quiet", "--template=")
        if made.status:
            raise failure(f"git could not make a repository in {path}", made)

    @cached_property
    def hooks_dir(self) -> Path:
        """The folder git takes hooks from, by the user's settings."""
        options = OPTIONS[len(HOOKS_OFF) :]
        found = self.git.run("-C", str(self.top), "rev-parse", "--git-path", "hooks", options=options)
        if found.status:
            raise StorageFailed("git does not say where its hooks are", found.words)
        return self.top / os.fsdecode(found.out.removesuffix(b"\n"))

    @cached_property
    def person(self) -> Person:
        """Who the user says they are in git's settings; `mdmem` for what is not said."""
        listed = self.git.run("config", "-z", "--get-regexp", r"^(user|committer)\.(name|email)$")
        said = {}
        for item in os.fsdecode(listed.out).split("\0"):
            key, _, value = item.partition("\n")
            said[key] = value
        name = said.get("committer.name") or said.get("user.name") or "mdmem"
        return Person(name, said.get("committer.email") or said.get("user.email") or "mdmem@localhost")

    # State

    def head(self) -> str | None:
        """Return the full id of the commit HEAD names, None on a branch without one. StorageFailed when damaged."""
        found = self.git.run("rev-parse", "-q", "--verify", "HEAD^{commit}")
        return found.out.decode().strip() if found.status == 0 else self.position()[0]

    def position(self, asked: Result | None = None) -> tuple[str | None, str | None]:
        """Return the commit HEAD names and the full name of its branch; None for what there is not."""
        both = asked or self.git.ask_all(listing.POSITION_CALL)[0]
        if both.status == 0:
            head, branch = os.fsdecode(both.out).split("\n")[:2]
            return head, None if branch == "HEAD" else branch
        symbolic = self.git.run("symbolic-ref", "-q", "HEAD")
        if symbolic.status:
            return None, None
        branch = os.fsdecode(symbolic.out).strip()
        if self.git.run("rev-parse", "-q", "--verify", branch).status == 0:
            raise StorageFailed(f"git cannot read the commit that {branch} names", "`git fsck` tells what is damaged.")
        return None, branch

    def unfinished(self) -> str | None:
        """Return what git is in the middle of, by its own marks; None when it is at rest."""
        return next((what for mark, what in UNFINISHED.items() if os.path.lexists(self.git_dir / mark)), None)

    def unfinished_with(self) -> tuple[str, str]:
        """Name what brings in other versions, and the command that goes on with it after `git add`."""
        found = (said for mark, said in FINISHED_BY.items() if os.path.lexists(self.git_dir / mark))
        return next(found, ("merge", "git commit"))

    def is_at_work(self) -> bool:
        """Tell whether git is putting other versions into the work tree, as far as its marks say."""
        return self.unfinished() is not None or os.path.lexists(self.git_dir / "index.lock")

    def grew_from(self, commit: str) -> bool:
        """Tell whether HEAD holds all that a commit held, and is on no other branch now."""
        return self.git.run("merge-base", "--is-ancestor", commit, "HEAD").status == 0

    def obstacle(self) -> str | None:
        """Return why nothing may be committed on HEAD now, None when nothing is in the way."""
        if reason := self.unfinished():
            return reason
        if self.position()[1] is None:
            return listing.DETACHED
        unmerged = next(iter(self.unmerged()), None)
        return listing.unmerged_reason(unmerged) if unmerged is not None else None

    def unmerged(self) -> tuple[str, ...]:
        """Return the vault's paths that a merge left for a person to settle."""
        return tuple(listing.staged(self.git.ask_all(listing.UNMERGED_CALL)[0].out))

    def base_of(self, path: str) -> bytes | None:
        """Return what both sides of a file began with that a merge left to settle; None for a file that has been."""
        listed = listing.stages(self.git.ask_all(listing.stages_call(path))[0].out)
        if not listed:
            return None
        return dict(self.blobs([listed[1]]))[listed[1]] if 1 in listed else b""

    # Reading

    def blob_id(self, data: bytes) -> str:
        """Return the id git gives to a blob of these bytes."""
        return hashlib.new(self.algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    def resolve(self, rev: str) -> str:
        """Return the full id of the commit a person means. BadInput for what is no name, NotFound for none."""
        found = self.git.run("rev-parse", "-q", "--verify", f"{listing.named(rev)}^{{commit}}")
        if found.status or found.out.startswith(b"^"):
            raise NotFound(f"there is no commit {rev!r}", "`mdmem log` lists the commits")
        return found.out.decode().strip()

    def tree(self, rev: str = "HEAD", under: str = "") -> dict[str, Leaf]:
        """Return every file of the vault (or of one folder, or one file) in a commit; {} before the first one."""
        return self._tree(rev, [under] if under else [])

    def _tree(self, rev: str, paths: Sequence[str]) -> dict[str, Leaf]:
        listed = self.git.run(*listing.tree_call(rev, paths).arguments)
        if listed.status == 0:
            return listing.leaves(listed.out)
        if rev == "HEAD" and self.head() is None:
            return {}
        self.resolve(rev)
        raise StorageFailed(f"git cannot read the files of {rev}", listed.words)

    def read(self, rev: str, path: str) -> bytes | None:
        """Return the bytes of a file in a commit, None when it is not there. StorageFailed for a damaged object."""
        return self.read_many(rev, [path]).get(path)

    def read_many(self, rev: str, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the bytes of those of the files that are in a commit."""
        there = self._tree(rev, paths) if paths else {}
        wanted = {path: there[path][1] for path in paths if path in there}
        blobs = dict(self.blobs(wanted.values()))
        return {path: blobs[blob] for path, blob in wanted.items()}

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (id, bytes) of blobs, each id once. StorageFailed for one that is missing or damaged."""
        distinct = list(dict.fromkeys(ids))
        for start in range(0, len(distinct), AT_ONCE):
            answer = self.git.ask_all(listing.blobs_call(distinct[start : start + AT_ONCE]))[0]
            yield from listing.blobs(answer.out)

    def ignored(self, paths: Sequence[str]) -> dict[str, str]:
        """Return those of the paths that an ignore rule hides, with the rule as `file:line:pattern`.

        Files git tracks are not ignored. A path git does not look at (behind a link, in a submodule) is returned
        too, with git's words.
        """
        if not paths:
            return {}
        call = listing.ignore_call(paths)
        asked = self.git.run(*call.arguments, data=call.data)
        if asked.status in (0, 1):
            return listing.rules(asked.out)
        if len(paths) == 1:
            return {paths[0]: asked.words}
        return {path: rule for one in paths for path, rule in self.ignored([one]).items()}

    def filtered(self, paths: Sequence[str]) -> dict[str, str]:
        """Return those of the paths whose attributes name a filter, with its name."""
        return listing.filters(self.git.ask_all(listing.filter_call(paths))[0].out) if paths else {}

    # Writing and history

    def commit(
        self,
        changes: Mapping[str, bytes | None],
        message: str,
        *,
        state: Path,
        author: Person | None = None,
        at: datetime | None = None,
        modes: Mapping[str, str] | None = None,
        base: Mapping[str, str | None] | None = None,
    ) -> Committed:
        """Make one commit of exactly these files (None: removed) on top of HEAD. See `commit.write`."""
        request = Request(changes, message, state=state, author=author, at=at, modes=modes or {}, base=base or {})
        return commits.write(self, request)

    def keep(self, vault: str, texts: bytes) -> None:
        """Keep texts in a commit beside all branches; without any, none is. Raises StorageFailed."""
        kept.keep(self, kept.name(self, vault), texts)

    def kept(self, vault: str) -> list[bytes]:
        """Give what `keep` kept for this vault, here or in a work tree that is gone."""
        return kept.read(self, vault)

    def sizes(self) -> Sizes:
        """Count loose objects, packs and bytes. Raises StorageFailed."""
        return repacking.sizes(self)

    def at_work(self) -> str:
        """Say what git is doing here, by its marks and locks; "" where it is idle."""
        return repacking.at_work(self)

    def pack(self, now: Sizes) -> Sizes:
        """Pack its objects, and drop none; give how they lie then. Raises StorageFailed."""
        return repacking.pack(self, now)

    def history(
        self, *, paths: Sequence[str] = (), k: int | None = None, rev: str = "HEAD", since: str = ""
    ) -> Iterator[CommitInfo]:
        """Yield the commits that touched the vault, or these paths of it, newest first, at most `k`.

        With `since` only what came after that commit. Raises NotFound for a commit that is none, BadInput.
        """
        start = self.head() if rev == "HEAD" else self.resolve(rev)
        wanted = [listing.checked(path) for path in paths]
        known = self.resolve(since) if since else ""
        return histories.read(self, start, paths=wanted, k=k, since=known) if start else iter(())


def _refused(vault: Path, words: str) -> NoVault:
    if any((folder / ".git").exists() for folder in (vault, *vault.parents)):
        return NoVault(f"git does not accept the repository around {vault}", words or "it has no work tree")
    return NoVault(f"there is no git repository around {vault}", f"`mdmem init {vault}` makes one")
