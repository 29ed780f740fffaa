"""A text of named parts, and what two sides made of it: entries of a log, keys of a front matter.

Owns which version of each part the merge has and how the parts are laid out. What stands between the parts is left as
the side has it whose layout is kept. It must never change a byte outside of the parts that it was given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Set
from dataclasses import dataclass

from mdmem.merge.lines import Take, by_line, pick
from mdmem.model import Clash

Name = Hashable
Texts = tuple[str, str, str]
"""The base, our version, their version."""

Settle = Callable[[Name, Texts], str | None]
"""Tries to bring three versions of one part together; None where that is for a person."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the three texts: where each of its parts stands, in the order of the text, apart from each other."""

    source: str
    spans: Mapping[Name, tuple[int, int]]

    def part(self, name: Name) -> str | None:
        """Give the text of a part, always ended by a newline; None where there is none."""
        span = self.spans.get(name)
        if span is None:
            return None
        text = self.source[span[0] : span[1]]
        return text if text.endswith("\n") else text + ending(self.source)

    @property
    def rest(self) -> tuple[str, ...]:
        """Give what stands between the parts, line by line."""
        pieces, at = [], 0
        for start, end in self.spans.values():
            pieces.append(self.source[at:start])
            at = end
        return tuple("".join([*pieces, self.source[at:]]).splitlines())


def ending(source: str) -> str:
    """Give the line ending of the first line."""
    at = source.find("\n")
    return "\r\n" if at > 0 and source[at - 1] == "\r" else "\n"


@dataclass(frozen=True, slots=True)
class Decided:
    """The parts of the merge: with ours, and with theirs, of those on which the sides do not agree."""

    ours: dict[Name, str]
    theirs: dict[Name, str]
    clashes: tuple[Clash, ...]


def decide(base: Side, ours: Side, theirs: Side, *, settle: Settle, where: Callable[[Name], str]) -> Decided:
    """Choose the version of each part: of the side that changed it, or what `settle` makes of two changes.

    Where that is nothing, they clash.
    """
    chosen: tuple[dict[Name, str], dict[Name, str]] = ({}, {})
    clashes = []
    for name in dict.fromkeys((*base.spans, *ours.spans, *theirs.spans)):
        was, mine, yours = base.part(name), ours.part(name), theirs.part(name)
        made = pick(was, mine, yours), pick(was, mine, yours)
        if mine not in (was, yours) and yours != was:
            joined = settle(name, (was or "", mine, yours)) if mine is not None and yours is not None else None
            made = (mine, yours) if joined is None else (joined, joined)
            if joined is None:
                clashes.append(Clash(where(name), was or "", mine or "", yours or ""))
        for parts, text in zip(chosen, made, strict=True):
            if text is not None:
                parts[name] = text
    return Decided(*chosen, tuple(clashes))


Slot = Callable[[Name], int]
"""Tells behind how many of the parts of a text another one belongs."""


def lay_out(canvas: Side, parts: Mapping[Name, str], slot: Slot) -> str:
    """Write the parts into one side's text: where they stand there, or behind the parts that they belong to."""
    guests: dict[int, list[str]] = {}
    for name, text in parts.items():
        if name not in canvas.spans:
            guests.setdefault(slot(name), []).append(text)
    out: list[str] = []
    at = 0
    for place, (name, (start, end)) in enumerate(canvas.spans.items()):
        out += [canvas.source[at:start], *(guests.get(0, ()) if not place else ()), parts.get(name, "")]
        out += guests.get(place + 1, ())
        at = end
    rest = canvas.source[at:]
    if canvas.spans or not guests:
        return "".join([*out, rest])
    gap = "" if not rest or rest.endswith("\n") else ending(rest)
    return rest + gap + "".join(guests[0])


@dataclass(frozen=True, slots=True)
class Sides:
    """The three texts by their parts. `slots` places parts in one of them, `check` reads a merge back."""

    base: Side
    ours: Side
    theirs: Side
    slots: Callable[[Side], Slot]
    check: Callable[[str, Mapping[Name, str]], bool]


def combine(sides: Sides, decided: Decided, *, where: str, take: Take) -> tuple[str, tuple[Clash, ...]] | None:
    """Write the merge, its parts as decided and what is between them of the side that changed that.

    None where the result, with the one side or with the other where they clash, could not be read back as it was
    meant: whoever takes one side must be able to take the other.
    """
    canvas, clashes = _canvas(sides, decided, where, "ours")
    clashes = (*decided.clashes, *clashes)
    written = {"ours": _written(sides, canvas, decided.ours)}
    if clashes:
        written["theirs"] = _written(sides, _canvas(sides, decided, where, "theirs")[0], decided.theirs)
    if all(sides.check(text, decided.ours if side == "ours" else decided.theirs) for side, text in written.items()):
        return written.get(take, written["ours"]), clashes
    return None


def _written(sides: Sides, canvas: Side, parts: Mapping[Name, str]) -> str:
    text = lay_out(canvas, parts, sides.slots(canvas))
    if not pick(*(side.source.endswith("\n") or not side.source for side in (sides.base, sides.ours, sides.theirs))):
        text = text.removesuffix("\n").removesuffix("\r")
    return text


def _canvas(sides: Sides, decided: Decided, where: str, take: Take) -> tuple[Side, tuple[Clash, ...]]:
    """Choose the text that the parts are laid out in: that of the side which changed what is between them."""
    was, mine, yours = (text.rest for text in (sides.base, sides.ours, sides.theirs))
    said = [[line for line in rest if line.strip()] for rest in (was, mine, yours)]
    if yours in (was, mine) or said[2] in (said[0], said[1]):
        only_theirs = was == mine and yours != was
        return (sides.theirs if only_theirs else sides.ours), ()
    if said[0] == said[1]:
        return sides.theirs, ()
    woven = _woven(sides, decided.ours.keys() & decided.theirs.keys())
    if woven is not None:
        return woven, ()
    clash = Clash(where, *("".join(f"{line}\n" for line in lines) for lines in said))
    return (sides.ours if take == "ours" else sides.theirs), (clash,)


_MARK = re.compile(r"^\0(\d+)\n", re.MULTILINE)


def _woven(sides: Sides, parts: Set[Name]) -> Side | None:
    """Merge by line what is between the parts, with those in it that all three texts have; None where that clashes."""
    texts = sides.base, sides.ours, sides.theirs
    shared = sides.base.spans.keys() & sides.theirs.spans.keys()
    common = [name for name in sides.ours.spans if name in shared and name in parts]
    marks = {name: f"\0{number}\n" for number, name in enumerate(common)}
    merged, clashes = by_line(*(_replaced(text, marks) for text in texts))
    found = list(_MARK.finditer(merged))
    if clashes or sorted(int(mark[1]) for mark in found) != list(range(len(common))):
        return None
    return Side(merged, {common[int(mark[1])]: mark.span() for mark in found})


def _replaced(side: Side, marks: Mapping[Name, str]) -> str:
    out, at = [], 0
    for name, (start, end) in side.spans.items():
        out += [side.source[at:start], marks.get(name, "")]
        at = end
    return "".join([*out, side.source[at:]])
