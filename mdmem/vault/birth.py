"""How a vault begins: its folder, its repository, its first files, and hooks for who wants them.

Owns what `init` writes. It must never change a file that is there already, but for lines added to `.gitattributes`
and a call added to a hook.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mdmem import config, fsio
from mdmem.errors import Busy, NoVault, StorageFailed
from mdmem.store.repo import Repo
from mdmem.vault import messages
from mdmem.vault.commits import Commits
from mdmem.vault.place import Place

ATTRIBUTES = ("memory/daily/*.md merge=union", ".mdmem/*.tsv merge=union")
"""Lets two machines append on the same day; git's own driver, nothing that has to be installed."""

SETTINGS = """\
# Settings of this vault; `mdmem config list` explains them all.
"""

MEMORY = "# Memory\n"

SHELL = re.compile(rb"#!.*[/ ](sh|bash|dash|ksh|zsh)( |$)")
"""The first line of a hook that understands the line we add."""

HOOKS = ("post-merge", "post-checkout", "post-rewrite", "pre-commit")


LISTED = 50
"""Files that the first commit's message names, at most."""


def prepare(path: Path) -> Path:
    """Make the folder, and a repository if there is none around it; give the folder without links."""
    root = Path(os.path.realpath(path))
    if root.exists() and not root.is_dir():
        raise StorageFailed(f"{root} is no folder", "name a folder, new or old")
    if not root.is_dir():
        fsio.mkdir(str(root).lstrip("/"), root=Path("/"))
    try:
        Repo.discover(root)
    except NoVault:
        above = (root, *root.parents)
        if any((folder / ".git").exists() or _is_bare(folder) for folder in above):
            raise
        Repo.create(root)
    return root


def _is_bare(folder: Path) -> bool:
    """Tell whether a folder is itself a repository, without files of its own to work on."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def complete(place: Place, commits: Commits) -> list[str]:
    """Write what a vault needs and lacks, and commit it; give what the user should know. Under the write lock."""
    files = {config.MARKER: SETTINGS}
    if not (place.root / "MEMORY.md").is_file():
        files["memory/MEMORY.md"] = MEMORY
    made = [path for path, text in files.items() if _write_new(place, path, text)]
    made += _write_attributes(place)
    notices = []
    if tracked_elsewhere(place):
        notices.append("this repository holds other things too: switching branches hides or changes notes with them")
    if place.repo.head() is None:
        made = list(commits.changed())  # notes that were there before the vault are where its history begins
    if made:
        notices += _commit(place, commits, made)
    return notices


def _write_new(place: Place, path: str, text: str) -> bool:
    """Write a file that is missing; tell whether it is, as written here, still to be committed."""
    there = place.read(path) if fsio.look(path, root=place.root) is not None else None
    if there is None:
        fsio.replace(path, text.encode(), root=place.root, base=None, tmp=place.state / "tmp")
        return True
    # An earlier run may have been cut short between writing and committing.
    return there.data == text.encode() and not place.repo.tree("HEAD", path)


def _write_attributes(place: Place) -> list[str]:
    path = ".gitattributes"
    base = place.read(path)
    old = base.data if base else b""
    lines = [line.removesuffix("\r") for line in old.decode("utf-8", "surrogateescape").split("\n")]
    missing = [line for line in ATTRIBUTES if line not in lines]
    if not missing:
        ours = [*ATTRIBUTES, ""] == lines
        return [path] if ours and not place.repo.tree("HEAD", path) else []
    ending = "\r\n" if b"\r\n" in old else "\n"
    joint = ending.encode() if old and not old.endswith(b"\n") else b""
    data = old + joint + "".join(line + ending for line in missing).encode()
    fsio.replace(path, data, root=place.root, base=base, tmp=place.state / "tmp")
    return [path]


def tracked_elsewhere(place: Place) -> list[str]:
    """List tracked files of the repository that are outside of the vault's own."""
    if place.repo.prefix:
        return [place.repo.prefix]
    own = ("memory/", ".mdmem/", config.MARKER, ".git", "README", "LICENSE", "MEMORY.md")
    return [path for path in place.repo.tree("HEAD") if not path.startswith(own)]


def _commit(place: Place, commits: Commits, made: list[str]) -> list[str]:
    said = messages.message("Begin the vault", "\n".join(f"- {path}" for path in made[:LISTED]), op="init")
    try:
        with commits.lock.hold(place.settings.whole("lock.timeout_ms")):
            contents = {path: snapshot.data for path in made if (snapshot := place.read(path))}
            done = place.repo.commit(contents, said, state=place.state)
    except (Busy, StorageFailed) as error:
        return [f"the first commit is still to be made: {error.message}; `mdmem commit` makes it"]
    return [*done.notices, *(f"{path} is not committed: {reason}" for path, reason in done.left.items())]


# Hooks


def install_hooks(place: Place) -> list[str]:
    """Install the hooks beside the user's own: each is a script of its own, called by one line in git's hook."""
    source = _hooks_source()
    folder = place.repo.hooks_dir
    notices = []
    if not folder.is_relative_to(place.repo.top) and not folder.is_relative_to(place.repo.git_dir):
        notices.append(f"git takes its hooks from {folder}: they run in every repository that does")
    for name in HOOKS:
        try:
            _put(place, folder / f"mdmem-{name}", (source / name).read_bytes())
            notices += _call(place, folder, name)
        except StorageFailed as error:
            notices.append(f"the hook {name} is not installed: {error.message}")
    return notices


def _hooks_source() -> Path:
    inside = Path(__file__).parent.parent
    return next(path for path in (inside / "hooks", inside.parent / "hooks") if path.is_dir())


def _call(place: Place, folder: Path, name: str) -> list[str]:
    """Let git's hook call ours: a new hook does nothing else, an old one gets the call as its second line."""
    line = f'"$(dirname "$0")/mdmem-{name}" "$@" || exit $?\n'
    hook = folder / name
    if not hook.exists():
        _put(place, hook, f"#!/bin/sh\n{line}".encode())
        return []
    old = hook.read_bytes()
    if f"mdmem-{name}".encode() in old:
        return []
    if not os.access(hook, os.X_OK):
        return [f"{hook} is switched off, and stays so: let it run mdmem-{name} when you switch it on"]
    first, newline, rest = old.partition(b"\n")
    if not SHELL.match(first):
        return [f"{hook} is no shell script: let it run mdmem-{name} beside it"]
    _put(place, hook, first + (newline or b"\n") + line.encode() + rest)
    return []


def _put(place: Place, path: Path, data: bytes) -> None:
    """Write an executable file into git's folder of hooks."""
    folder = path.parent
    if not folder.is_dir():
        fsio.mkdir(str(folder).lstrip("/"), root=Path("/"))
    base = fsio.read(path.name, root=folder)
    if base is None or base.data != data:
        fsio.replace(path.name, data, root=folder, base=base, tmp=place.state / "tmp")
    fsio.make_executable(path.name, root=folder)
