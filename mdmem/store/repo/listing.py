"""What git lists, and how it is asked: trees, the index, attributes, ignore rules, blobs.

Owns the command lines and the taking apart of their `-z` output, as pure functions. It must never run anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from mdmem.errors import BadInput, StorageFailed
from mdmem.store.repo.command import Call

Leaf = tuple[str, str]
"""A file in a tree or in the index: mode (`100644`, `100755`, `120000`) and blob id."""

ALGORITHMS = {"sha1": 40, "sha256": 64}
"""Names of git's object formats, and the length of their ids in hexadecimal."""

DETACHED = "HEAD is detached"
FEW = 100
"""So many paths are named one by one; for more git lists the whole vault, and no command line is too long."""


def checked(path: str) -> str:
    """Return a vault-relative path that stays in the vault. BadInput for any other."""
    if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise BadInput(f"{path!r} is not a path in the vault", "use a relative path with `/`")
    return path


def named(rev: str) -> str:
    """Return the name of a commit when it can be one and is no option. BadInput for any other."""
    if not rev or rev.startswith("-") or re.search(r"[\x00-\x1f\x7f]", rev):
        raise BadInput(f"{rev!r} does not name a commit", "`mdmem log` lists the commits.")
    return rev


def tree_call(rev: str, paths: Sequence[str]) -> Call:
    """Ask for files of a commit; without paths, or with many, for all of the vault's."""
    some = paths if len(paths) <= FEW else ()
    return Call(("--literal-pathspecs", "ls-tree", "-r", "-z", named(rev), "--", *map(checked, some)))


def leaves(listed: bytes) -> dict[str, Leaf]:
    """Take `ls-tree -z` apart; links to other repositories are no files and left out."""
    found = {}
    for line in os.fsdecode(listed).split("\0")[:-1]:
        facts, _, path = line.partition("\t")
        mode, kind, blob = facts.split(" ")
        if kind == "blob":
            found[path] = (mode, blob)
    return found


def index_call(paths: Sequence[str]) -> Call:
    """Ask for entries of the user's index; without paths, or with many, for all of the vault's."""
    some = paths if len(paths) <= FEW else ()
    return Call(("--literal-pathspecs", "ls-files", "-s", "-z", "--", *map(checked, some)))


UNMERGED_CALL = Call(("ls-files", "-u", "-z"))
POSITION_CALL = Call(("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD", "--"), accepted=None)


def staged(listed: bytes) -> dict[str, Leaf]:
    """Take `ls-files -s -z` apart. Of a path in several stages the last stands."""
    found = {}
    for line in os.fsdecode(listed).split("\0")[:-1]:
        facts, _, path = line.partition("\t")
        mode, blob, _stage = facts.split(" ")
        found[path] = (mode, blob)
    return found


def stages_call(path: str) -> Call:
    """Ask for the versions of a file that a merge left to settle."""
    return Call(("--literal-pathspecs", "ls-files", "-u", "-z", "--", checked(path)))


def stages(listed: bytes) -> dict[int, str]:
    """Take `ls-files -u -z` of one file apart: stage → blob id; 1 is the base, 2 ours, 3 theirs."""
    rows = (line.partition("\t")[0].split(" ") for line in os.fsdecode(listed).split("\0")[:-1])
    return {int(stage): blob for _, blob, stage in rows}


def filter_call(paths: Sequence[str]) -> Call:
    """Ask which filters the attributes of paths name."""
    return Call(("check-attr", "-z", "--stdin", "filter"), _lines(paths))


def filters(listed: bytes) -> dict[str, str]:
    """Take `check-attr -z` apart: path → name of the filter."""
    fields = os.fsdecode(listed).split("\0")
    pairs = zip(fields[0:-1:3], fields[2:-1:3], strict=True)
    return {path: name for path, name in pairs if name not in ("unspecified", "unset")}


def ignore_call(paths: Sequence[str]) -> Call:
    """Ask which ignore rules hide paths; exit status 1 means none."""
    # `./` keeps a leading `:` from being taken for pathspec magic.
    return Call(("check-ignore", "-z", "-v", "--stdin"), _lines([f"./{path}" for path in paths]), (0, 1))


def rules(listed: bytes) -> dict[str, str]:
    """Take `check-ignore -z -v` apart: path → rule as `file:line:pattern`."""
    fields = os.fsdecode(listed).split("\0")
    rows = zip(*(fields[column:-1:4] for column in range(4)), strict=True)
    return {
        path.removeprefix("./"): f"{source}:{line}:{rule}"
        for source, line, rule, path in rows
        if not rule.startswith("!")
    }


def blobs_call(ids: Sequence[str]) -> Call:
    """Ask for the content of blobs by their full ids."""
    if not all(re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", blob) for blob in ids):
        raise BadInput("That is not the id of a blob")
    return Call(("cat-file", "--batch"), "".join(f"{blob}\n" for blob in ids).encode())


def blobs(listed: bytes) -> Iterator[tuple[str, bytes]]:
    """Take `cat-file --batch` apart into (id, bytes). StorageFailed where an object is missing or no blob."""
    at = 0
    while at < len(listed):
        end = listed.index(b"\n", at)
        blob, *facts = listed[at:end].decode().split(" ")
        if len(facts) != 2 or facts[0] != "blob":
            raise StorageFailed(f"git has no readable content {blob}", "`git fsck` tells what is damaged.")
        start = end + 1
        at = start + int(facts[1]) + 1
        yield blob, listed[start : at - 1]


def _lines(paths: Sequence[str]) -> bytes:
    return b"".join(b"%s\0" % os.fsencode(checked(path.removeprefix("./")) and path) for path in paths)


def unmerged_reason(path: str) -> str:
    """Return why nothing is committed while this path is in conflict."""
    return f"{path} is not merged yet"
