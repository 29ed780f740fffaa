"""A list of bullets merged three ways: what a bullet says is told from the comment that the program keeps behind it.

Owns when two bullets are one, and what becomes of their comments. A bullet that one side left as it was, but for its
comment, is what the other side made of it. It must never take out what either side wrote anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mdmem.merge.choice import Block, blocks, cut, filled
from mdmem.merge.lines import blocks as shared
from mdmem.merge.lines import cut_lines
from mdmem.text import claims
from mdmem.text.claims import Said
from mdmem.text.items import BLANKS, split_comment

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Item:
    """A bullet with what is indented beneath it, or a line of something else; `gap` are the blank lines above."""

    key: Key
    gap: str
    text: str

    @property
    def is_bullet(self) -> bool:
        return bool(self.key) and claims.read(self.key[0]) is not None


def bases(text: str, base: str) -> list[str]:
    """Give what the base had in the place of each conflict that git's markers enclose."""
    found: list[list[int]] = []
    for side in ("ours", "theirs"):
        for place, span in enumerate(_spans(text, side, base)):
            if len(found) <= place:
                found.append(list(span))
            found[place] = [min(found[place][0], span[0]), max(found[place][1], span[1])]
    lines = cut_lines(base)
    return [lines.text((start, max(start, end))) for start, end in found]


def _spans(text: str, side: str, base: str) -> list[tuple[int, int]]:
    """Tell between which lines of the base one side of each conflict stands."""
    here, there = _said(cut(text, side)), _said(base)
    known = [(i + at, j + at) for i, j, size in shared(here, there) for at in range(size)]
    spans, at, line = [], 0, 0
    for block in blocks(text):
        kept = block.ours if side == "ours" else block.theirs
        start = line + text.count("\n", at, block.start)
        at, line = block.end, start + kept.count("\n")
        before = max((j + 1 for i, j in known if i < start), default=0)
        spans.append((before, min((j for i, j in known if i >= line), default=len(there))))
    return spans


def _said(text: str) -> list[str]:
    return [_bare(line) for line in cut_lines(text).lines]


def _bare(line: str) -> str:
    """Give a bullet without its comment; of another line the line itself."""
    return split_comment(line)[0].rstrip(BLANKS) if claims.read(line) else line


def settled(text: str, base: str | None) -> str:
    """Give a text with both sides of each conflict that git's markers enclose, merged by bullets.

    Without a base what either side has stays, once.
    """
    was = bases(text, base) if base is not None else [one.base for one in blocks(text)]
    return filled(text, [_block(one, known) for one, known in zip(blocks(text), was, strict=True)])


def _block(block: Block, base: str) -> str:
    return merged(base, block.ours, block.theirs)


def merged(base: str, ours: str, theirs: str) -> str:
    """Merge three stretches of a list: what either side took out is gone, what it wrote is there once."""
    was, mine, yours = (_items(text) for text in (base, ours, theirs))
    before, left, right = (_known(items) for items in (was, mine, yours))
    out = [_joined(one, before.get(one.key), right.get(one.key)) for one in mine if _stays(one, before, right)]
    place = 0
    for one in yours:
        keys = [each.key for each in out]
        if one.key in keys:
            place = keys.index(one.key) + 1
        elif one.key not in left and one.key not in before:
            while place < len(out) and out[place].is_bullet and not {keys[place]} & (before.keys() | right.keys()):
                place += 1  # what ours has new in the same section comes first
            out.insert(place, one)
            place += 1
    return _laid(out)


def _stays(one: _Item, before: Mapping[Key, _Item], right: Mapping[Key, _Item]) -> bool:
    return one.key not in before or one.key in right


def _laid(items: Sequence[_Item]) -> str:
    text = ""
    for one in items:
        ending = "\r\n" if "\r\n" in one.text + text else "\n"
        text += ending if text and not text.endswith("\n") else ""
        text += one.gap + one.text
    return text


def _known(items: Sequence[_Item]) -> dict[Key, _Item]:
    return {one.key: one for one in reversed(items)}


def _items(text: str) -> list[_Item]:
    """Cut a text into bullets and other lines."""
    found: list[_Item] = []
    gap = ""
    lines = cut_lines(text)
    for line, end in zip(lines.lines, lines.ends, strict=True):
        if not line.strip():
            gap += line + end
        elif found and not gap and line[:1] in (" ", "\t"):
            last = found[-1]
            found[-1] = replace(last, key=(*last.key, line.rstrip()), text=last.text + line + end)
        else:
            found.append(_Item((_bare(line),), gap, line + end))
            gap = ""
    return [*found, _Item((), gap, "")] if gap else found


def _joined(mine: _Item, base: _Item | None, yours: _Item | None) -> _Item:
    """Give a bullet that both sides have, with one comment for both."""
    if yours is None or yours.text == mine.text:
        return mine
    lines = [one.text.split("\n", 1)[0].removesuffix("\r") if one else "" for one in (mine, yours, base)]
    ours, theirs, was = (claims.read(line) if line else None for line in lines)
    if ours is None or theirs is None or lines[0] == lines[1]:
        return mine
    comments = [split_comment(line)[1] for line in lines]
    if base is not None and comments[0] == comments[2]:
        wanted = lines[1]
    elif base is not None and comments[1] == comments[2]:
        wanted = lines[0]
    elif base is not None and not all(comments[:2]):  # somebody made the line their own
        wanted = next(line for line, comment in zip(lines, comments, strict=False) if not comment)
    else:
        wanted = claims.write(_both(was or Said(""), ours, theirs))
        if _bare(wanted) != _bare(lines[0]):
            wanted = lines[0]
    return replace(mine, text=wanted + mine.text[len(lines[0]) :])


def _both(base: Said, ours: Said, theirs: Said) -> Said:
    """Put two comments together: all sources, each new one counted once, and what else either of them says."""
    fresh = [source for source in theirs.sources if source not in base.sources]
    made = claims.confirmed(ours, fresh)
    said = dict(base.meta)
    changed = {key: value for key, value in theirs.meta if said.get(key) != value}
    kept = [(key, changed.pop(key, value) if said.get(key) == value else value) for key, value in ours.meta]
    known = {key for key, _ in kept}
    kept += [(key, value) for key, value in changed.items() if key not in known and key not in said]
    return replace(made, confirmations=max(made.confirmations, theirs.confirmations), meta=tuple(kept))
