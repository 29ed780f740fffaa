"""One change of a text: as the smallest patch of its bytes, and taken back out of a text that has changed since.

Pure. It must never guess: a change whose own lines were changed again is not taken back, and None says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from mdmem.merge.lines import blocks, differences


@dataclass(frozen=True, slots=True)
class Patch:
    """One change of a file's bytes: at `start`, `cut` was replaced by `put`."""

    start: int
    cut: bytes
    put: bytes


def patch(before: bytes, after: bytes) -> Patch:
    """Give the change from one version to another as its smallest single replacement."""
    start = shared(before, after)
    tail = shared(before[start:][::-1], after[start:][::-1])
    return Patch(start, before[start : len(before) - tail], after[start : len(after) - tail])


def shared(one: bytes, other: bytes) -> int:
    """Count the bytes that two versions have in common at their beginning, by comparing ever smaller pieces."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def forward(before: bytes, change: Patch) -> bytes:
    """Give what the change made of a version."""
    return before[: change.start] + change.put + before[change.start + len(change.cut) :]


def backward(after: bytes, change: Patch) -> bytes:
    """Give the version that the change began with."""
    return after[: change.start] + change.cut + after[change.start + len(change.put) :]


def revert(before: str, after: str, now: str) -> str | None:
    """Take the change that led from `before` to `after` back out of `now`, line by line.

    None when lines that the change wrote are no longer as it wrote them, or when the place of lines that it took
    out cannot be found.
    """
    if now == after:
        return before
    old, new, present = (text.split("\n") for text in (before, after, now))
    place = _places(new, present)
    pieces: list[tuple[int, int, list[str]]] = []
    for i1, i2, j1, j2 in differences(new, old):
        spot = _span(place, i1, i2, len(new), len(present))
        if spot is None:
            return None
        pieces.append((*spot, old[j1:j2]))
    for start, end, lines in reversed(pieces):
        present[start:end] = lines
    return "\n".join(present)


def _places(new: list[str], present: list[str]) -> dict[int, int]:
    """Tell where each line of `new` stands in `present`, for those that stand there still."""
    return {i + k: j + k for i, j, size in blocks(new, present) for k in range(size)}


def _span(place: dict[int, int], start: int, end: int, length: int, now: int) -> tuple[int, int] | None:
    """Find the lines `start:end` in one piece; an empty span lies behind the line before it, or before the next."""
    if start < end:
        spots = [place.get(line) for line in range(start, end)]
        first = spots[0]
        if first is None or spots != list(range(first, first + len(spots))):
            return None
        return first, first + len(spots)
    if start == 0:
        return 0, 0
    if start - 1 in place:
        return place[start - 1] + 1, place[start - 1] + 1
    if start in place:
        return place[start], place[start]
    return (now, now) if start == length else None
