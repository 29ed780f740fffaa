"""The tracked facts that no rebuild could recover: `.mdmem/*.tsv`, one fact a line, merged by git as a union.

Owns their grammar. A line that is not understood stays as it is; a fact that stands there twice counts once.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

FOLDER = ".mdmem/"

DISTILLED = ".mdmem/distilled.tsv"
"""Entries that were distilled: a digest of day, time and text, and the day."""

REJECTED = ".mdmem/rejected.tsv"
"""Claims that a person does not want: a digest of the claim, the day it was rejected, and its text."""

REVIEW = ".mdmem/review.tsv"
"""Claims that wait for a person: a digest, when, kind, confidence, why, sources, what it replaces, and the text."""

USAGE = ".mdmem/usage.tsv"

FILES = (DISTILLED, REJECTED, REVIEW, USAGE)

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_PLAIN = {escaped: plain for plain, escaped in _ESCAPES.items()}


def rows(data: bytes | None) -> Iterator[tuple[str, ...]]:
    """Yield the fields of each fact, each fact once, in order."""
    seen = set()
    for said in _lines(data or b""):
        fields = tuple(_read(field) for field in said.split("\t"))
        if fields[0] and fields not in seen and not re.match(r"<{7}|={7}|>{7}|\|{7}", said):
            seen.add(fields)
            yield fields


def keys(data: bytes | None) -> set[str]:
    """Give the first field of each fact."""
    return {fields[0] for fields in rows(data)}


def with_rows(data: bytes | None, new: Iterable[Sequence[str]]) -> bytes | None:
    """Add facts at the end, those whose first field is not there yet; all earlier bytes stay. None for no file."""
    known = keys(data)
    added = []
    for fields in new:
        if fields[0] not in known:
            known.add(fields[0])
            added.append(line(fields) + "\n")
    if not added:
        return data
    before = data or b""
    return before + (b"\n" if before and not before.endswith(b"\n") else b"") + "".join(added).encode()


def line(fields: Iterable[str]) -> str:
    """Write a fact as its line, without a line ending."""
    return "\t".join(map(_written, fields))


def without(data: bytes | None, gone: Container[str]) -> bytes | None:
    """Take out the facts with these first fields; all other bytes stay."""
    if data is None:
        return None
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    return b"".join(line for line in lines if next(iter(_lines(line)), "").partition("\t")[0] not in gone)


def _lines(data: bytes) -> Iterator[str]:
    for line in data.decode("utf-8", "replace").split("\n"):
        if line.strip():
            yield line.removesuffix("\r")


def _written(field: str) -> str:
    return "".join(_ESCAPES.get(sign, sign) for sign in field)


def _read(field: str) -> str:
    return re.sub(r"\\[\\tnr]", lambda found: _PLAIN[found[0]], field)
