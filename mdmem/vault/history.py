"""History in memory's terms: what each commit did to which entry, by whom and why, and how to take it back.

Owns reading commits as changes. It must never write; taking back is computed here and done by the vault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mdmem import merge
from mdmem.errors import NotFound, Refused
from mdmem.model import Change, Edit
from mdmem.store.repo.history import CommitInfo, FileChange
from mdmem.text import changes, markdown
from mdmem.vault.place import Place

BY_PERSON = {"", "add", "edit", "rm", "undo", "save", "init"}
"""Operations that a person does or asks for; any other name is the program's own doing, such as `nightly`."""

DEEP = 500
"""How many commits `undo` looks back for one that was not undone."""


def log(place: Place, *, paths: Sequence[str] = (), k: int | None = None) -> list[Change]:
    """Read the changes of the vault, or of these paths, newest first."""
    return [change(place, info) for info in place.repo.history(paths=paths, k=k)]


def change(place: Place, info: CommitInfo) -> Change:
    """Read one commit as a change."""
    blobs = _blobs(place, info.files)
    edits = [
        edit
        for file in info.files
        for edit in changes.compare(file.path, blobs.get(file.old or ""), blobs.get(file.new or ""))
    ]
    op, source = info.trailers.get("Mdmem-Op", ""), info.trailers.get("Mdmem-Source")
    return Change(
        commit=info.id,
        date=info.date,
        actor=source or "person" if op in BY_PERSON else op,
        author=info.author_name,
        op=op or "commit",
        source=source,
        subject=info.subject,
        reason="\n".join(line for line in info.body.split("\n") if not line.startswith("- ")).strip(),
        edits=tuple(edits),
    )


def _blobs(place: Place, files: Sequence[FileChange]) -> dict[str, bytes]:
    wanted = {blob for file in files for blob in (file.old, file.new) if blob}
    return dict(place.repo.blobs(sorted(wanted)))


def diff(place: Place, old: str, new: str | None, now: dict[str, bytes | None]) -> list[Edit]:
    """Compare two commits, or a commit with the files as they are; `now` are the files that differ from HEAD."""
    before = place.repo.tree(old)
    if new is not None:
        after = place.repo.tree(new)
        paths = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
        newer = place.repo.read_many(new, [path for path in paths if path in after])
    else:
        head = place.repo.tree("HEAD")
        moved = {path for path in before.keys() | head.keys() if before.get(path) != head.get(path)}
        paths = sorted(moved | now.keys())
        newer = {path: data for path, data in now.items() if data is not None}
        newer |= place.repo.read_many("HEAD", [path for path in paths if path in head and path not in now])
    older = place.repo.read_many(old, [path for path in paths if path in before])
    return [edit for path in paths for edit in changes.compare(path, older.get(path), newer.get(path))]


def last(place: Place) -> CommitInfo:
    """Find the newest change that was neither undone nor is itself an undoing. Raises NotFound."""
    undone: set[str] = set()
    for info in place.repo.history(k=DEEP):
        target = info.trailers.get("Mdmem-Undoes")
        if target:
            undone.add(target)
        if info.id in undone or target or len(info.parents) > 1 or info.trailers.get("Mdmem-Op") == "init":
            continue
        return info
    raise NotFound("there is nothing to undo", "`mdmem log` shows what happened")


def named(place: Place, rev: str) -> CommitInfo:
    """Find the change that a revision names. Raises NotFound, BadInput."""
    commit = place.repo.resolve(rev)
    info = next(place.repo.history(rev=commit, k=1), None)
    if info is None or info.id != commit:
        raise NotFound(f"{rev} did not touch this vault", "`mdmem log` shows what did")
    if len(info.parents) > 1:
        raise Refused(f"{rev} is a merge", "name one of the changes that it merged")
    return info


def taken_back(place: Place, info: CommitInfo) -> Iterator[tuple[str, bytes | None, bytes | None]]:
    """Yield (path, bytes now, bytes without the change) for each file of a change. Raises Refused."""
    blobs = _blobs(place, info.files)
    for file in info.files:
        snapshot = place.read(file.path)
        now = snapshot.data if snapshot else None
        old, new = blobs.get(file.old or ""), blobs.get(file.new or "")
        wanted = _without(file.path, old, new, now)
        if wanted != now:
            yield file.path, now, wanted


def _without(path: str, old: bytes | None, new: bytes | None, now: bytes | None) -> bytes | None:
    if now == new:
        return old
    if now == old:
        return now
    if now is None:
        raise Refused(f"{path} is gone since that change", "nothing was changed; `mdmem log` shows when it went")
    texts = [markdown.decode(data or b"").text for data in (old, new, now)]
    merged = merge.revert(*texts)
    if merged is None:
        raise Refused(f"{path} was changed again since, at the same place", "nothing was changed; edit it by hand")
    return merged.encode("utf-8", "surrogateescape") if merged or old is not None else None
