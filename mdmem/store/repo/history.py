"""Commits as they are read: who, when, why, and which files of the vault.

Owns reading history, through GitPython, in one stream. It must never write, and never let git run a filter, a text
converter, a signature check or a pager.
"""

from __future__ import annotations

import os
import re
import select
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from mdmem.errors import StorageFailed
from mdmem.store.repo import command

if TYPE_CHECKING:
    from mdmem.store.repo import Repo

FIELDS = ("%H", "%P", "%ad", "%an", "%ae", "%B")
LOG = (
    "--literal-pathspecs",
    "log",
    "-z",
    "--date=raw",
    "--encoding=UTF-8",
    f"--format=%x00{'%x00'.join(FIELDS)}%x00",
    # Both sides of a merge are history, and the merge itself shows what differs from every side.
    *("--full-history", "-c", "--root", "--no-follow"),
    *("--raw", "-r", "--relative", "--no-abbrev", "--no-renames", "-O/dev/null"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--no-mailmap", "--no-show-signature"),
)
TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*):[ \t]*(.*)")
CHUNK = 65536


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a commit did to a file: `A`dded, `M`odified, `D`eleted or `T`ype changed; blob ids, None for no file."""

    status: str
    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """One commit. `date` is the author's, aware; `body` is the message without subject and trailers.

    `files` are the vault's; of a merge, those that differ from every parent, `old` being the first parent's.
    """

    id: str
    parents: tuple[str, ...]
    date: datetime
    author_name: str
    author_email: str
    subject: str
    body: str
    trailers: dict[str, str]
    files: tuple[FileChange, ...]


def read(
    repo: Repo, start: str, *, paths: Sequence[str] = (), k: int | None = None, since: str = ""
) -> Iterator[CommitInfo]:
    """Yield commits reachable from one, and not from `since`, newest first, that touched the vault or these paths."""
    with closing(_stream(repo, [start, *([f"^{since}"] if since else ())], paths)) as pieces:
        yield from islice(_commits(pieces), k)


def _stream(repo: Repo, revs: Sequence[str], paths: Sequence[str]) -> Generator[bytes]:
    """Yield the pieces between the zeros of git's output; closing the generator ends git."""
    process = _open(repo, [*revs, "--", *(paths or ["."])])
    try:
        yield from _pieces(process.stdout)
        _require_success(process)
    finally:
        _end(process)


def _open(repo: Repo, arguments: Sequence[str]) -> Any:
    with repo.git.surroundings() as environment:
        import git

        words = [repo.git.program, "-C", str(repo.vault), *command.OPTIONS, *LOG, *arguments]
        return git.Git(repo.vault).execute(words, as_process=True, env=environment)


def _pieces(out: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while data := _chunk(out):
        *whole, rest = (rest + data).split(b"\0")
        yield from whole


def _chunk(out: IO[bytes]) -> bytes:
    if not select.select([out], [], [], command.TIMEOUT)[0]:
        raise StorageFailed(f"git did not answer within {command.TIMEOUT:.0f} s")
    return os.read(out.fileno(), CHUNK)


def _require_success(process: Any) -> None:
    words = process.stderr.read().decode("utf-8", "replace").strip()
    if process.proc.wait():
        raise StorageFailed("git cannot read the history", words)


def _end(process: Any) -> None:
    if process.proc.poll() is None:
        process.proc.kill()
        process.proc.wait()
    process.stdout.close()
    process.stderr.close()


def _commits(pieces: Iterator[bytes]) -> Iterator[CommitInfo]:
    """Put fields and file changes together. A field's place tells what it is, so no content can be mistaken."""
    fields: list[bytes] = []
    files: list[FileChange] = []
    for piece in pieces:
        if piece.lstrip(b"\n").startswith(b":"):
            files.append(_file(piece, next(pieces)))
        elif piece.strip(b"\n"):
            if files:
                yield _commit(fields, files)
            fields, files = [piece, *(next(pieces) for _ in FIELDS[1:])], []
    if files:
        yield _commit(fields, files)


def _file(raw: bytes, path: bytes) -> FileChange:
    facts = raw.decode().lstrip("\n:").split(" ")
    blobs = facts[len(facts) // 2 : -1]
    old, new = (None if set(blob) == {"0"} else blob for blob in (blobs[0], blobs[-1]))
    return FileChange(facts[-1][0], os.fsdecode(path), old, new)


def _commit(fields: Sequence[bytes], files: Sequence[FileChange]) -> CommitInfo:
    commit, parents, date, name, email, message = (field.decode("utf-8", "surrogateescape") for field in fields)
    subject, _, rest = message.strip("\n").partition("\n")
    body, trailers = _trailers(rest.strip("\n"))
    return CommitInfo(
        id=commit,
        parents=tuple(parents.split()),
        date=_date(date),
        author_name=name,
        author_email=email,
        subject=subject,
        body=body,
        trailers=trailers,
        files=tuple(files),
    )


def _trailers(body: str) -> tuple[str, dict[str, str]]:
    """Part the last paragraph from the body when each line of it is `Key: value`."""
    before, _, last = body.rpartition("\n\n")
    found = [TRAILER.fullmatch(line) for line in last.split("\n")]
    if not last or not all(found):
        return body, {}
    return before.strip("\n"), {match[1]: match[2].strip() for match in found if match}


def _date(raw: str) -> datetime:
    """Read `seconds ±hhmm`; what no clock can show becomes the epoch, or UTC."""
    try:
        seconds, offset = raw.split(" ")
        minutes = int(offset[:-2]) * 60 + int(f"{offset[0]}{offset[-2:]}")
        zone = timezone(timedelta(minutes=minutes))
    except (ValueError, IndexError):
        seconds, zone = raw.partition(" ")[0], UTC
    try:
        return datetime.fromtimestamp(int(seconds), zone)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
