"""History in memory's terms: what each commit did to which entry, by whom and why, and how to take it back.

Owns reading commits as changes. It must never write; taking back is computed here and done by the vault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from mdmem import config, merge
from mdmem.errors import NotFound, Refused
from mdmem.model import Change, Edit
from mdmem.store.repo.history import CommitInfo, FileChange
from mdmem.text import changes, entries, markdown, packs, units
from mdmem.vault import archives, facts
from mdmem.vault.place import Place, checked
from mdmem.vault.replacement import Step

BY_PERSON = {"", "add", "edit", "rm", "undo", "save", "init", "resolve", "unpack"}
"""Operations that a person does or asks for; any other name is the program's own doing, such as `nightly`."""

BACK = ("restore", "undo")
"""Operations that put back what had gone: once they are taken back themselves, `recover` lists it again."""

DEEP = 500
"""How many commits `undo` looks back for one that was not undone."""


def log(place: Place, *, paths: Sequence[str] = (), k: int | None = None) -> list[Change]:
    """Read the changes of the vault, or of these paths, newest first."""
    found = (info for info in place.repo.history(paths=paths or place.own()) if not _is_bookkeeping(info))
    return [change(place, info) for info in islice(found, k)]


def _is_bookkeeping(info: CommitInfo) -> bool:
    """Tell whether a commit says of no memory anything but that it was read: nobody looks for that, or undoes it."""
    told = {file.path for file in info.files} <= {facts.DISTILLED, facts.USAGE}
    return told and bool(info.files) and info.trailers.get("Mdmem-Op", "") not in BY_PERSON


def log_of(place: Place, address: str, *, k: int | None = None) -> list[Change]:
    """Read the changes of one file, or of one entry, newest first, also those to it in an archive."""
    stem, sign, _ = address.partition("#")
    path = units.path_of(checked(stem))
    stem = units.stem_of(path)
    kept = [path + packs.SUFFIX, *packs.homes(path)]
    kept = [one for one in kept if place.repo.tree("HEAD", one)] if place.repo.head() else []
    found = []
    for info in place.repo.history(paths=[path, *kept], k=None if sign or kept else k):
        one = change(place, info)
        edits = tuple(edit for edit in one.edits if _is_of(edit.address, address if sign else stem, whole=not sign))
        if edits or (not sign and any(file.path == path for file in info.files)):
            found.append(replace(one, edits=edits))
        if len(found) == k:
            break
    return found


def _is_of(address: str, name: str, *, whole: bool) -> bool:
    return address == name or (whole and address.startswith(f"{name}#"))


def change(place: Place, info: CommitInfo) -> Change:
    """Read one commit as a change."""
    blobs = _blobs(place, info.files)
    edits = [
        edit
        for file in info.files
        if not file.path.startswith(facts.FOLDER)  # what the program notes for itself says nothing to people
        for edit in _compared(file.path, blobs.get(file.old or ""), blobs.get(file.new or ""))
    ]
    op, source = info.trailers.get("Mdmem-Op", ""), info.trailers.get("Mdmem-Source")
    return Change(
        commit=info.id,
        date=config.local(place.settings, info.date),
        actor=(source or "person") if op in BY_PERSON else op,
        author=info.author_name,
        op=op or "commit",
        source=source,
        subject=info.subject,
        reason="\n".join(line for line in info.body.split("\n") if not line.startswith("- ")).strip(),
        edits=changes.gathered(edits),
    )


def _compared(path: str, before: bytes | None, after: bytes | None) -> tuple[Edit, ...]:
    return changes.compare(path, archives.shown(path, before), archives.shown(path, after))


def changes_of(place: Place, commits: Sequence[str]) -> list[Change]:
    """Read these commits as changes, in the order given."""
    return [change(place, named(place, commit)) for commit in commits]


def _blobs(place: Place, files: Sequence[FileChange]) -> dict[str, bytes]:
    wanted = {blob for file in files for blob in (file.old, file.new) if blob}
    return dict(place.repo.blobs(sorted(wanted)))


def diff(place: Place, old: str, new: str | None, now: dict[str, bytes | None]) -> list[Edit]:
    """Compare two commits, or a commit with the files as they are; `now` are the files that differ from HEAD."""
    before = _memory(place, old)
    after = _memory(place, new or "HEAD")
    moved = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    paths = sorted(moved | now.keys())
    newer = {path: data for path, data in now.items() if data is not None}
    newer |= place.repo.read_many(new or "HEAD", [path for path in paths if path in after and path not in now])
    older = place.repo.read_many(old, [path for path in paths if path in before])
    edits = (edit for path in paths for edit in _compared(path, older.get(path), newer.get(path)))
    return list(changes.gathered(edits))


def _memory(place: Place, rev: str) -> dict[str, tuple[str, str]]:
    """List the files of a commit that are the vault's own."""
    own = place.own()
    homes = tuple(f"{name}/" for name in own)
    return {path: leaf for path, leaf in place.repo.tree(rev).items() if path in own or path.startswith(homes)}


def last(place: Place) -> CommitInfo:
    """Find the newest change that was neither undone nor is itself an undoing. Raises NotFound."""
    for info, undone in _recent(place):
        skipped = undone or "Mdmem-Undoes" in info.trailers or len(info.parents) > 1 or _is_bookkeeping(info)
        if not skipped and info.trailers.get("Mdmem-Op") != "init":
            return info
    raise NotFound("there is nothing to undo", "`mdmem log` shows what happened")


def latest(place: Place) -> str:
    """Give the id of the change that `last` finds, "" where there is none."""
    try:
        return last(place).id
    except NotFound:
        return ""


def _recent(place: Place) -> Iterator[tuple[CommitInfo, bool]]:
    """Yield changes newest first, and whether each was undone; an undoing that was itself undone does not count."""
    undone: set[str] = set()
    for info in place.repo.history(paths=place.own(), k=DEEP):
        target = info.trailers.get("Mdmem-Undoes")
        if target and info.id not in undone:
            undone.add(target)
        yield info, info.id in undone


def named(place: Place, rev: str) -> CommitInfo:
    """Find the change that a revision names. Raises NotFound, BadInput."""
    commit = place.repo.resolve(rev)
    info = next(place.repo.history(rev=commit, paths=place.own(), k=1), None)
    if info is None or info.id != commit:
        raise NotFound(f"{rev} did not touch this vault", "`mdmem log` shows what did")
    return info


def undoable(place: Place, rev: str) -> CommitInfo:
    """Find the change that a revision names, to take it back. Raises NotFound, BadInput, Refused."""
    info = named(place, rev)
    if len(info.parents) > 1:
        raise Refused(f"{rev} is a merge", "name one of the changes that it merged")
    if info.trailers.get("Mdmem-Op") == "init":
        raise Refused(f"{rev} is the beginning of the vault", "nothing was changed")
    if any(undone for other, undone in _recent(place) if other.id == info.id):
        raise NotFound(f"{info.id[:8]} is taken back already", "`mdmem log` shows what happened")
    return info


def unclear(info: CommitInfo, why: str) -> Refused:
    """Make the error for an undo without a name, where another change than the last of history may be meant."""
    other = f"`mdmem undo {info.id[:8]}` ({changes.headline(info.subject)}) keeps it"
    return Refused(why, f"nothing was changed; `mdmem commit`, then `mdmem undo`, takes that edit back; {other}")


def taken_back(place: Place, info: CommitInfo) -> Iterator[Step]:
    """Yield what takes a change back, for each file where something is left of it. Raises Refused."""
    blobs = _blobs(place, info.files)
    for file in info.files:
        base = place.read(file.path)
        now = base.data if base else None
        old, new = blobs.get(file.old or ""), blobs.get(file.new or "")
        if now is None and old is not None and new is not None:
            _require_unpacked(place, file.path)
        wanted = _without(file.path, old, new, now)
        if wanted != now:
            yield Step(file.path, base, wanted)


def _require_unpacked(place: Place, path: str) -> None:
    if archives.log(place, path):
        stem = units.stem_of(path)
        hint = f"nothing was changed; `mdmem unpack {stem}` puts it back, then undo this"
        raise Refused(f"{stem} was packed into an archive since that change", hint)


def _without(path: str, old: bytes | None, new: bytes | None, now: bytes | None) -> bytes | None:
    if now in (new, old):
        return old
    if now is None:
        raise Refused(f"{path} is gone since that change", "nothing was changed; `mdmem log` shows when it went")
    if packs.is_archive(path):
        hint = "nothing was changed; `mdmem unpack` takes out of it what you name"
        raise Refused(f"the archive {path} was changed again since", hint)
    if new is None:
        raise Refused(f"{path} is there again since that change", "nothing was changed; `mdmem log` shows what it is")
    if old is None:
        old = _begun(path)
    texts = [markdown.decode(data or b"") for data in (old, new, now)]
    merged = merge.revert(*(text.text for text in texts)) if _is_plain(path, texts) else None
    if merged is None:
        raise Refused(f"{path} was changed again since, at the same place", "nothing was changed; edit it by hand")
    return merged.encode("utf-8", "surrogateescape")


def _begun(path: str) -> bytes:
    """Give what a new log begins with; it stays when the first entry goes and later ones do not."""
    day = entries.log_date(path.rpartition("/")[2])
    return f"# {day}\n\n".encode() if day else b""


def _is_plain(path: str, texts: Sequence[markdown.Decoded]) -> bool:
    return path.endswith((".md", ".tsv", ".toml", ".gitattributes")) and all(text.editable for text in texts)
