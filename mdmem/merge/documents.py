"""Documents merged: the front matter by key, `tags` as a set, and what follows by line.

Owns the parts of a front matter. Comments, order, quoting and line endings of a block are a person's: a merge moves
whole keys, and is read back before it is believed. Blocks that cannot be read are merged by line like any text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from mdmem.merge.lines import Take, by_line
from mdmem.merge.parts import Name, Side, Sides, Slot, Texts, combine, decide
from mdmem.merge.tags import united
from mdmem.model import Clash
from mdmem.text.frontmatter import Pair, Problem, block_span, pairs

WHERE = "front matter"


def merge(base: str, ours: str, theirs: str, *, take: Take = "ours") -> tuple[str, tuple[Clash, ...]]:
    """Merge two versions of a document; by line as a whole where a front matter cannot be read."""
    heads = [_head(text) for text in (base, ours, theirs)]
    if any(head is None for head in heads) or not any(heads):
        return by_line(base, ours, theirs, take=take)
    was, mine, yours = (head or "" for head in heads)
    top, clashes = _merged_heads(was, mine, yours, take)
    body, torn = by_line(base[len(was) :], ours[len(mine) :], theirs[len(yours) :], take=take)
    lines = top.count("\n")
    shifted = (Clash(f"line {int(one.where[5:]) + lines}", one.base, one.ours, one.theirs) for one in torn)
    return top + body, (*clashes, *shifted)


def _head(source: str) -> str | None:
    """Give the front matter with its rules, '' where there is none, None where it cannot be read."""
    span = block_span(source)
    if span is None:
        return ""
    if isinstance(span, Problem) or isinstance(pairs(source[span[0] : span[1]]), Problem):
        return None
    return source[: span[2]] if pairs(source[span[0] : span[1]]) is not None else ""


def _merged_heads(base: str, ours: str, theirs: str, take: Take) -> tuple[str, tuple[Clash, ...]]:
    if ours == theirs or theirs == base:
        return ours, ()
    if ours == base:
        return theirs, ()
    taken = ours if take == "ours" else theirs
    if not ours or not theirs:  # taken out on one side, changed on the other
        return taken, (Clash(WHERE, base, ours, theirs),)
    blocks = [_inner(head) for head in (base, ours, theirs)]
    was, mine, yours = (Side(block, _spans(block)) for block in blocks)
    decided = decide(was, mine, yours, settle=_settle, where=lambda name: f"{WHERE}: {_key(name)}")
    span = block_span(ours)
    assert isinstance(span, tuple)
    above, below = ours[: span[0]], ours[span[1] :]

    def holds(block: str, parts: Mapping[Name, str]) -> bool:
        return _holds(block, parts) and _head(above + block + below) == above + block + below

    sides = Sides(was, mine, yours, lambda canvas: _slot(canvas, (yours, mine)), holds)
    combined = combine(sides, decided, where=f"{WHERE}: comments", take=take)
    if combined is None:
        return taken, (Clash(WHERE, *blocks),)
    return above + combined[0] + below, combined[1]


def _inner(head: str) -> str:
    span = block_span(head)
    return head[span[0] : span[1]] if isinstance(span, tuple) else ""


def _key(name: Name) -> str:
    return str(name[0]) if isinstance(name, tuple) else str(name)


# --- the keys of a block as parts


def _spans(block: str) -> dict[Name, tuple[int, int]]:
    """Tell which lines each key and its value take, by the key and the how manieth of its name it is."""
    found = pairs(block)
    seen: Counter[str] = Counter()
    spans: dict[Name, tuple[int, int]] = {}
    for pair in found if isinstance(found, tuple) else ():
        seen[pair.key] += 1
        spans[pair.key, seen[pair.key]] = _lines(block, pair)
    return spans


def key_lines(source: str) -> Iterator[tuple[int, int]]:
    """Yield which lines of a document, from 0, each key of its front matter takes with its value."""
    span = block_span(source)
    if isinstance(span, tuple):
        for start, end in _spans(source[span[0] : span[1]]).values():
            yield source.count("\n", 0, span[0] + start), source.count("\n", 0, span[0] + end)


def _lines(block: str, pair: Pair) -> tuple[int, int]:
    value = block[pair.value_start : pair.value_end].rstrip()
    last = max(pair.key_end, pair.value_start + len(value))
    stop = block.find("\n", last)
    return block.rfind("\n", 0, pair.start) + 1, stop + 1 if stop >= 0 else len(block)


def _holds(block: str, parts: Mapping[Name, str]) -> bool:
    """Read a merged block back: it has these keys, each with the very lines that were decided."""
    side = Side(block, _spans(block))
    return {name: side.part(name) for name in side.spans} == dict(parts)


def _slot(canvas: Side, others: Sequence[Side]) -> Slot:
    """Place a key behind the one that it follows in its own text, as near as there is one; else last."""
    order = list(canvas.spans)
    there = {name: place for place, name in enumerate(order)}
    slots: dict[Name, int] = {}
    for other in others:
        behind = 0 if there.keys() & other.spans.keys() else len(order)
        for name in other.spans:
            behind = there[name] + 1 if name in there else behind
            while behind < len(order) and order[behind] not in other.spans:  # what both added there: ours first
                behind += 1
            slots[name] = behind
    return lambda name: slots[name]


def _settle(name: Name, texts: Texts) -> str | None:
    """Bring two changes of one key together: the same value quoted otherwise is ours, tags are a set."""
    shapes = [_shape(text) for text in texts]
    if shapes[1] is not None and shapes[1] == shapes[2]:
        return texts[1]
    return united(*texts) if _key(name) == "tags" else None


def _shape(text: str) -> object:
    found = pairs(text)
    return found[0].shape if isinstance(found, tuple) and len(found) == 1 else None
