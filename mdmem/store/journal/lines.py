"""The lines of the journal: how its nouns are written and read.

Owns the grammar `<crc32> <json>`. It must never touch a file, or parse a line before it has to: kind
and ids of each are at places that are known, and what follows may be long.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Literal

State = Literal["waiting", "placed", "committed", "void", "held"]
ENTRIES = ("add", "restore")
"""Operations that put an entry into a log: a new one, or one that was dropped from it."""
_PLACED = b'{"mark":"placed"'
_COMMITTED = b'{"mark":"committed"'
_SETTLED = (_COMMITTED, b'{"mark":"void"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One acknowledged change. `at` is the entry's local time, ISO 8601 with offset.

    An `add` carries text and metadata, for its form depends on the file it will stand in; a `restore` the entry as it
    stood, in `extra`; other operations the SHA-256 of their file before and after. A batch's records share a `group`.
    """

    id: str = field(default_factory=lambda: os.urandom(8).hex())
    op: str
    path: str | None = None
    text: str | None = None
    meta: tuple[tuple[str, str], ...] = ()
    at: str | None = None
    source: str | None = None
    reason: str | None = None
    group: str | None = None
    before: str | None = None
    after: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_entry(self) -> bool:
        """Tell whether this puts an entry into a log."""
        return self.op in ENTRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What became of some records. `block` is the text exactly as it was placed at `offset` (bytes) of `path`.

    `stamp` is how the file looked right after, `boot` tells since when the machine runs, `noted` when it was seen.
    """

    state: State
    ids: tuple[str, ...]
    path: str | None = None
    block: str | None = None
    offset: int | None = None
    commit: str | None = None
    reason: str | None = None
    stamp: str | None = None
    boot: str | None = None
    noted: str | None = None


@dataclass(frozen=True, slots=True)
class Tracked:
    """A record and what became of it: the last mark's state, the last placing, the last commit.

    `order` grows with each placing, and is 0 before the first.
    """

    record: Record
    state: State = "waiting"
    path: str | None = None
    block: str | None = None
    offset: int | None = None
    order: int = 0
    commit: str | None = None
    reason: str | None = None
    boot: str | None = None
    seen: str | None = None

    @property
    def noted(self) -> str | None:
        """When what it says was seen, in ISO 8601: that its text was gone, for one."""
        return self.seen or self.record.extra.get("noted")

    @property
    def file(self) -> str:
        """The file it stands in, or is meant for; "" for none."""
        return self.path or self.record.path or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What is left of a settled record for a month: no text, but `block`, the SHA-256 of the text as placed."""

    id: str
    op: str
    state: State
    path: str | None = None
    block: str | None = None
    order: int = 0
    commit: str | None = None
    at: str | None = None
    group: str | None = None
    before: str | None = None
    after: str | None = None


def compose(payload: dict[str, Any]) -> bytes:
    """Give the line that says this, between newlines."""
    # ASCII throughout, so lone surrogates and bytes that are no UTF-8 come back as they were.
    text = json.dumps(payload, separators=(",", ":")).encode()
    return b"\n%08x %s\n" % (zlib.crc32(text), text)


def split(data: bytes) -> list[bytes]:
    """Split bytes of a segment into lines; empty ones, and zeros a crash left, are none."""
    return [line for line in data.split(b"\n") if line.strip(b"\0")]


def is_whole(line: bytes) -> bool:
    """Tell whether a line is as it was written, by its sum."""
    return line[:9] == b"%08x " % zlib.crc32(line[9:])


def is_mark(line: bytes) -> bool:
    """Tell whether a line is a mark, not a record."""
    return line.startswith(b'{"mark"', 9)


def marked(line: bytes) -> list[bytes]:
    """Give the ids of a mark, which come second, without parsing what follows: it may hold a long text."""
    return line[9 : line.index(b"]")].split(b'"')[7::2]


def record_id(line: bytes) -> bytes:
    """Give the id of a record, which comes first; of a damaged line, any bytes."""
    return line[16 : line.find(b'"', 16)]


def is_settled(line: bytes) -> bool:
    """Tell whether this mark, as the last of a record, is the end of it."""
    return line.startswith(_SETTLED, 9)


def commit_of(line: bytes) -> str | None:
    """Give the commit that a mark tells of."""
    commit = json.loads(line[9:]).get("commit") if line.startswith(_COMMITTED, 9) else None
    return str(commit) if commit else None


def is_placing(line: bytes) -> bool:
    """Tell whether this mark says where a record was placed."""
    return line.startswith(_PLACED, 9)


def record_ids(lines: list[bytes]) -> Iterator[bytes]:
    """Yield the ids of the records among lines."""
    return (record_id(line) for line in lines if is_whole(line) and not is_mark(line))


def slim(value: Record | Mark | Receipt) -> dict[str, Any]:
    """Give the fields that say something, in their order."""
    pairs = ((one.name, getattr(value, one.name)) for one in fields(value))
    return {name: item for name, item in pairs if item is not None and item != () and item != {}}


def _known(payload: dict[str, Any], kind: type[Record | Receipt]) -> dict[str, Any]:
    """Leave out what a later version may have added."""
    names = {one.name for one in fields(kind)}
    return {name: item for name, item in payload.items() if name in names}


def tracked(record: bytes, marked: Sequence[bytes]) -> Tracked:
    """Parse what the lines of one record say: its own, and its marks in order."""
    payload, marks = json.loads(record[9:]), [json.loads(line[9:]) for line in marked]
    given = _known(payload, Record)
    given["meta"] = tuple((key, value) for key, value in payload.get("meta", ()))
    placed: dict[str, Any] = {}
    commit = None
    for mark in marks:
        placed = mark if mark["mark"] == "placed" else placed
        commit = mark.get("commit", commit)
    return Tracked(
        Record(**given),
        marks[-1]["mark"] if marks else "waiting",
        placed.get("path"),
        placed.get("block"),
        placed.get("offset"),
        placed.get("order", 0),
        commit,
        marks[-1].get("reason") if marks else None,
        placed.get("boot"),
        marks[-1].get("noted") if marks else None,
    )


def reduce(one: Tracked) -> Receipt:
    """Make the receipt of a settled record."""
    record = one.record
    block = one.block.encode("utf-8", "surrogateescape") if one.block is not None else None
    return Receipt(
        id=record.id,
        op=record.op,
        state=one.state,
        path=one.path or record.path,
        block=sha256(block).hexdigest() if block is not None else None,
        order=one.order,
        commit=one.commit,
        at=record.at,
        group=record.group,
        before=record.before,
        after=record.after,
    )


def parse_receipt(line: bytes) -> Receipt:
    """Read the line of a receipt."""
    return Receipt(**_known(json.loads(line[9:]), Receipt))
