"""Merging texts: taking one change back out of a text that has changed since.

Pure. It must never guess: a change whose own lines were changed again is not taken back, and None says so.
"""

from __future__ import annotations

from difflib import SequenceMatcher

Opcode = tuple[str, int, int, int, int]


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
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, new, old, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        spot = _span(place, i1, i2, len(new), len(present))
        if spot is None:
            return None
        pieces.append((*spot, old[j1:j2]))
    for start, end, lines in reversed(pieces):
        present[start:end] = lines
    return "\n".join(present)


def _places(new: list[str], present: list[str]) -> dict[int, int]:
    """Tell where each line of `new` stands in `present`, for those that stand there still."""
    blocks = SequenceMatcher(None, new, present, autojunk=False).get_matching_blocks()
    return {block.a + k: block.b + k for block in blocks for k in range(block.size)}


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
