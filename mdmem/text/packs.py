"""Packs: the logs of a closed year in one text, each behind a line that tells its name and its length.

Owns that grammar, and where the pack of a log lies. Any bytes may stand in a log, such a line too: where one ends is
counted, and looked for only where a person has changed a pack by hand. One sum at the beginning tells whether anybody
has; one for each log would make an archive of short logs larger by a third. It must never lose a byte.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename
from urllib.parse import quote_from_bytes, unquote_to_bytes

from mdmem.text import entries

HOME = "memory/"
FOLDER = "memory/archives/daily/"
SUFFIX = ".zst"
ARCHIVE = f".md{SUFFIX}"
"""What the name of a compressed document ends in."""

_HEAD = re.compile(rb"<!-- mdmem: logs=\d{1,9} sha256=(?P<sum>[0-9a-f]{64}) -->\r?\n")
_LINE = re.compile(rb"<!-- mdmem: file=(?P<file>\S+) bytes=(?P<size>\d{1,12}) -->\r?\n")
_FILE = re.compile(r"(?:daily/)?[^/\0-\x1f\x7f]+\.md")
_SAFE = "/!$&'()*+,;=@[]^`{|}:~"
"""What stands in a name as it is, besides letters and digits; all that is not ASCII does, too."""


@dataclass(frozen=True, slots=True)
class Member:
    """A log in a pack: its path in the vault, its bytes, and the line of the pack at which it begins."""

    path: str
    data: bytes
    line: int


def is_archive(path: str) -> bool:
    """Tell whether a path is that of a compressed document."""
    return path.endswith(ARCHIVE)


def is_pack(data: bytes) -> bool:
    """Tell whether a text is a pack of logs."""
    return _first(data) is not None


def is_whole(data: bytes) -> bool:
    """Tell whether a pack holds the very bytes that were packed."""
    head = _HEAD.match(data)
    return head is not None and hashlib.sha256(data[head.end() :]).hexdigest().encode() == head["sum"]


def members(data: bytes) -> Iterator[Member]:
    """Yield the logs of a pack, in its order; nothing for another text."""
    found, line, end = _first(data), 1, 0
    while found is not None:
        start = found.end()
        line += data.count(b"\n", end, start)
        end, following = _end(data, start, int(found["size"]))
        yield Member(_path(found["file"]), data[start:end], line)
        line += data.count(b"\n", start, end)
        found = following


def _first(data: bytes) -> re.Match[bytes] | None:
    head = _HEAD.match(data)
    return _at(data, head.end()) if head else None


def _end(data: bytes, start: int, size: int) -> tuple[int, re.Match[bytes] | None]:
    """Give where a log ends that begins there, and the line of the next one: by its length, or, if that is wrong, by
    the next such line."""
    end = start + size
    if data[end : end + 1] == b"\n":
        following = _at(data, end + 1)
        if following is not None or end + 1 == len(data):
            return end, following
    for found in _LINE.finditer(data, start):
        if data[found.start() - 1 : found.start()] == b"\n" and _path(found["file"]):
            # One newline belongs to the pack; where it is the log's own, none was left for it.
            return max(start, found.start() - 1), found
    return max(start, len(data) - data.endswith(b"\n")), None


def _at(data: bytes, start: int) -> re.Match[bytes] | None:
    found = _LINE.match(data, start)
    return found if found and _path(found["file"]) else None


@lru_cache(4096)
def _path(name: bytes) -> str:
    """Give the path of a log by its name in a pack, "" for a name that none can have."""
    path = HOME + unquote_to_bytes(name).decode("utf-8", "surrogateescape")
    return path if fits(path) else ""


def fits(path: str) -> bool:
    """Tell whether a path is that of a log that may be packed: right under `memory/`, or under `memory/daily/`."""
    file = path.removeprefix(HOME)
    return path.startswith(HOME) and _FILE.fullmatch(file) is not None and entries.log_date(basename(file)) is not None


def pack(logs: Mapping[str, bytes]) -> bytes:
    """Put logs, by their paths, into one text, in the order of their days."""
    parts = []
    for path in sorted(logs, key=lambda path: (basename(path)[: len("2025-03-14")], path)):
        name = "".join(map(_quoted, path.removeprefix(HOME)))
        parts.append(f"<!-- mdmem: file={name} bytes={len(logs[path])} -->\n".encode() + logs[path] + b"\n")
    said = b"".join(parts)
    return f"<!-- mdmem: logs={len(logs)} sha256={hashlib.sha256(said).hexdigest()} -->\n".encode() + said


def _quoted(char: str) -> str:
    """Write a character of a name so that it is no blank, ends no comment, and can be told from bytes that are none."""
    if char.isalnum() or (char.isprintable() and not char.isspace() and not char.isascii()):
        return char
    return quote_from_bytes(char.encode("utf-8", "surrogateescape"), safe=_SAFE)


def homes(path: str) -> tuple[str, ...]:
    """Give the archives that may hold the log of a path: that of its year, and that of its month."""
    day = entries.log_date(basename(path)) if fits(path) else None
    if day is None:
        return ()
    return f"{FOLDER}{day.isoformat()[:4]}{ARCHIVE}", f"{FOLDER}{day.isoformat()[:7]}{ARCHIVE}"
