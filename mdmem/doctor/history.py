"""git around a vault: what it is in the middle of, what locks it, whether its objects are whole, what it leaves out."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mdmem.doctor.subject import Subject
from mdmem.errors import MdmemError
from mdmem.model import Diagnosis, Severity
from mdmem.text import packs

FRESH = 60
"""Seconds for which a lock of git's is likely to be in use."""


def unfinished_business(subject: Subject) -> Iterator[Diagnosis]:
    """Name what keeps commits waiting: a merge at work, a detached HEAD, a branch without a commit."""
    repo = subject.place.repo
    if reason := repo.unfinished():
        hint = "finish it or take it back (`git status` says how); until then nothing of memory is committed"
        yield Diagnosis("git-busy", str(repo.git_dir), None, reason, hint, "warning")
    head, branch = repo.position()
    if branch is None:
        hint = "check out a branch: `git switch NAME`; what is added waits until then"
        yield Diagnosis("git-busy", str(repo.git_dir / "HEAD"), None, "HEAD is detached", hint, "warning")
    elif head is None:
        hint = "`mdmem commit` or the next `mdmem add` makes the first one"
        yield Diagnosis("git-empty", str(repo.git_dir), None, f"{branch} has no commit yet", hint, "note")


def unmerged_paths(subject: Subject) -> Iterator[Diagnosis]:
    """Name notes that a merge left for a person."""
    for path in subject.place.repo.unmerged():
        hint = "`mdmem conflicts` shows both sides; or correct it and `git add` it"
        if packs.is_archive(path):
            hint = _both_archives(path)
        yield Diagnosis("conflict", path, None, "is not merged yet", hint)


def _both_archives(path: str) -> str:
    """Say how both versions of an archive are kept, and what they hold brought together: git cannot, nor a person."""
    beside = path.removesuffix(packs.ARCHIVE) + "-theirs" + packs.ARCHIVE
    ours, theirs = shlex.quote(path), shlex.quote(beside)
    hint = f"in the vault: `git checkout --ours -- {ours}`, `git show :3:./{ours} > {theirs}`, "
    hint += f"`git add {ours} {theirs}`, `git commit`"
    if not path.startswith(packs.FOLDER):
        return f"{hint}; then compare both by `zstd -dc`, and delete one"
    year = path.removeprefix(packs.FOLDER)[:4]
    return f"{hint}, and `mdmem unpack {year}` brings the logs of both together, for the next night to pack"


def git_locks(subject: Subject) -> Iterator[Diagnosis]:
    """Name locks of git's by their real path and age: while one stands there, git changes nothing."""
    for path in _lock_files(subject):
        try:
            age = time.time() - path.lstat().st_mtime
        except FileNotFoundError:
            continue
        fresh = age < FRESH
        hint = "wait for the program that holds it" if fresh else f"if no git runs, delete it: rm '{path}'"
        severity: Severity = "note" if fresh else "error"
        yield Diagnosis("git-lock", str(path), None, f"git is locked, for {_said(age)}", hint, severity)


def _lock_files(subject: Subject) -> Iterator[Path]:
    repo = subject.place.repo
    common = _common(repo.git_dir)
    names = ("index.lock", "HEAD.lock", "config.lock")
    yield from (repo.git_dir / name for name in names if os.path.lexists(repo.git_dir / name))
    for name in ("packed-refs.lock", "config.lock", "shallow.lock"):
        if common != repo.git_dir and os.path.lexists(common / name):
            yield common / name
    if common == repo.git_dir and os.path.lexists(common / "packed-refs.lock"):
        yield common / "packed-refs.lock"
    for folder in ("refs/heads", "refs/mdmem"):
        yield from sorted((common / folder).rglob("*.lock"))


def _common(git_dir: Path) -> Path:
    """Give the directory that linked work trees share."""
    try:
        return Path(os.path.normpath(git_dir / (git_dir / "commondir").read_text("utf-8").strip()))
    except (OSError, ValueError):
        return git_dir


def _said(seconds: float) -> str:
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {noun}{'s' * (count > 1)}"
    return f"{max(0, int(seconds))} s"


def committed_objects(subject: Subject) -> Iterator[Diagnosis]:
    """Read everything of memory that HEAD names, and compare it with its id."""
    repo = subject.place.repo
    if repo.head() is None:
        return
    leaves = {path: blob for path, (mode, blob) in repo.tree("HEAD").items() if mode != "120000" and _is_memory(path)}
    whole = _whole(subject, sorted(set(leaves.values())))
    for path, blob in leaves.items():
        if blob not in whole:
            hint = "another clone may have it: `git fetch`; the file itself is not touched"
            yield Diagnosis("git-object", path, None, f"history cannot give what was committed ({blob[:10]})", hint)


def _is_memory(path: str) -> bool:
    return path.endswith((".md", ".md.zst", ".tsv", ".toml", ".gitattributes"))


def _whole(subject: Subject, blobs: Sequence[str]) -> set[str]:
    """Give those of the blobs that can be read and are what their ids say; of a batch with a bad one, each alone."""
    repo = subject.place.repo
    try:
        return {blob for blob, data in repo.blobs(blobs) if repo.blob_id(data) == blob}
    except (MdmemError, ValueError, LookupError):
        if len(blobs) <= 1:
            return set()
        half = len(blobs) // 2
        return _whole(subject, blobs[:half]) | _whole(subject, blobs[half:])


def connected_history(subject: Subject) -> Iterator[Diagnosis]:
    """Ask git whether all that its commits name is there."""
    repo = subject.place.repo
    if repo.position()[1] is None and repo.head() is None:
        return
    asked = repo.git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    if asked.status:
        lines = (asked.words or os.fsdecode(asked.out).strip()).split("\n")
        hint = "another clone may have it: `git fetch`; `git fsck --full` tells all; notes on disk are not touched"
        yield Diagnosis("git-object", str(repo.git_dir), None, f"history is damaged: {lines[0][:200]}", hint)


def left_out(subject: Subject) -> Iterator[Diagnosis]:
    """Name notes that are not committed: hidden by an ignore rule, or under a filter."""
    repo = subject.place.repo
    paths = [file.path for file in subject.scan.files]
    for path, rule in sorted(repo.ignored(paths).items()):
        hint = f"take the rule back, or `git add -f '{path}'` once; its text is kept, not committed"
        yield Diagnosis("ignored", path, None, f"is hidden from git by {rule}", hint, "warning")
    for path, name in sorted(repo.filtered(paths).items()):
        hint = "take the attribute back, or commit it with git itself"
        yield Diagnosis("filtered", path, None, f"has the filter {name}: mdmem does not commit it", hint, "warning")


CHECKS = (unfinished_business, unmerged_paths, git_locks, committed_objects, connected_history, left_out)
