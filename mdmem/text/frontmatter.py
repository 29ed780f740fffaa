"""Front matter: the YAML block at the top of a document, read within limits.

Every scalar is a string, as typed. A block that cannot be read is plain text with a `Problem`; nothing is ever
hidden, expanded or executed. Offsets are into the source as given, byte order mark included; lines are 1-based.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from mdmem.text.markdown import readable

if TYPE_CHECKING:
    import yaml

Value = str | list["Value"] | dict[str, "Value"]

LIMIT = 64 * 1024
"""The largest block read, in bytes of UTF-8."""
NODES = 1_000
DEPTH = 20

_Kind = Literal["scalar", "alias", "mapping", "sequence", "end"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a block, and on which line of the document."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a document's block, its span between the two rules, and where the document's text begins.

    Without a readable block all three offsets are 0. A block of nothing but comments may be Markdown between two
    rules: it has a span, so that a key can be added, but counts as text as well (`body_start` is 0).
    """

    fields: dict[str, Value]
    start: int = 0
    end: int = 0
    body_start: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Node:
    """What one event of the YAML reader says: a scalar, an alias, or a collection that opens or ends.

    `parent` numbers the collection it stands in; `plain` is a scalar without quotes, a collection without brackets.
    """

    kind: _Kind
    start: int
    end: int
    depth: int
    parent: int
    is_key: bool
    plain: bool
    value: str | None = None
    anchor: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A top-level key and where it and its value stand in the block; `shape` is everything the value says."""

    key: str
    start: int
    key_end: int
    value_start: int
    value_end: int
    shape: tuple[tuple[str | None, ...], ...]


_OPENING = re.compile("\ufeff?---[ \t]*(\r?\n)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def front_matter(source: str) -> FrontMatter:
    """Read the block at the top of `source`: its fields, or none and the reason."""
    found = block_span(source)
    if not isinstance(found, tuple):
        return FrontMatter({}, problems=(found,) if found else ())
    start, end, body_start = found
    block = readable(source[start:end])
    nodes = _survey(block)
    if isinstance(nodes, Problem):
        return FrontMatter({}, problems=(nodes,))
    if not nodes:
        return FrontMatter({}, start, end, 0 if block.strip() else body_start)
    foreign = _foreign(block, nodes)
    if foreign:
        return FrontMatter({}, problems=foreign)
    if nodes[0].kind != "mapping":
        return FrontMatter({})
    return FrontMatter(_values(block), start, end, body_start, _doubled(block, nodes))


def text_field(fields: dict[str, Value], key: str) -> str | None:
    """Return the field as trimmed text, or None where it is absent, empty or no scalar."""
    value = fields.get(key)
    return value.strip() or None if isinstance(value, str) else None


def list_field(fields: dict[str, Value], key: str) -> tuple[str, ...]:
    """Return the field's scalars, whether it is one or a list of them; empty ones are left out."""
    value = fields.get(key, "")
    items = value if isinstance(value, list) else [value]
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())


def tag_list(fields: dict[str, Value]) -> tuple[str, ...]:
    """Return the tags in the field `tags`, without `#`: items of a list, or a text parted by commas and spaces."""
    value = fields.get("tags")
    items = list_field(fields, "tags")
    if isinstance(value, str):
        items = tuple(re.split(r"[\s,，、;；]+", value.strip().strip("[]")))
    tags = (item.strip("\"'").lstrip("#").strip() for item in items)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


# --- finding and reading the block


def block_span(source: str) -> tuple[int, int, int] | Problem | None:
    """Find the block: its start and end between the rules, and the start of what follows."""
    opening = _OPENING.match(source)
    if not opening:
        return None
    closing = _CLOSING.search(source, opening.end())
    if not closing:
        return Problem(1, "front matter opens with --- but no line closes it; read as plain text")
    start, end = opening.end(), closing.start()
    if end - start > LIMIT or len(source[start:end].encode("utf-8", "surrogateescape")) > LIMIT:
        return Problem(1, f"front matter is larger than {LIMIT // 1024} KiB; read as plain text")
    return start, end, closing.end()


def _line(block: str, at: int) -> int:
    """Return the document's line at an offset of its block: YAML knows more line ends than a document has."""
    return block.count("\n", 0, at) + 2


@cache
def _loader() -> Any:
    """Return PyYAML's base loader, where every scalar is a string: the one in C if it was built."""
    import yaml

    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _survey(block: str) -> list[_Node] | Problem:
    """List the nodes of a block; nothing is expanded, and nothing is read beyond the limits."""
    import yaml

    odd = UNPRINTABLE.search(block)
    if odd:
        message = f"front matter holds the control character U+{ord(odd.group()):04X}; read as plain text"
        return Problem(_line(block, odd.start()), message)
    nodes: list[_Node] = []
    values = 0
    try:
        for node in _nodes(block):
            nodes.append(node)
            values += node.kind != "end"
            problem = _beyond(block, node, values)
            if problem:
                return problem
    except yaml.YAMLError as error:
        return _explained(block, error)
    return nodes


def _nodes(block: str) -> Iterator[_Node]:
    import yaml

    within: list[_Frame] = []
    opened = 0
    for event in yaml.parse(block, Loader=_loader()):
        if isinstance(event, yaml.CollectionEndEvent):
            frame = within.pop()
            yield _node(event, within, "end", plain=frame.plain)
            continue
        if isinstance(event, yaml.ScalarEvent):
            yield _node(event, within, "scalar", plain=event.style not in ("'", '"'))
        elif isinstance(event, yaml.AliasEvent):
            yield _node(event, within, "alias", plain=True)
        elif isinstance(event, yaml.CollectionStartEvent):
            opened += 1
            mapping = isinstance(event, yaml.MappingStartEvent)
            node = _node(event, within, "mapping" if mapping else "sequence", plain=not event.flow_style)
            within.append(_Frame(opened, mapping, node.plain))
            yield node


@dataclass(slots=True)
class _Frame:
    """A collection that is open: its number, and its nodes so far; in a mapping every other one is a key."""

    number: int
    mapping: bool
    plain: bool
    count: int = 0


def _node(event: Any, within: list[_Frame], kind: _Kind, *, plain: bool) -> _Node:
    """Place an event among the open collections."""
    frame = within[-1] if within else _Frame(0, False, True)
    is_key = kind != "end" and frame.mapping and frame.count % 2 == 0
    frame.count += kind != "end"
    said = (getattr(event, name, None) for name in ("value", "anchor", "tag"))
    start, end = event.start_mark.index, event.end_mark.index
    return _Node(kind, start, end, len(within), frame.number, is_key, plain, *said)


def _beyond(block: str, node: _Node, count: int) -> Problem | None:
    """Say why a block cannot be read past this node, if so."""
    if node.depth == 0 and count > 1 and node.kind != "end":
        what = "holds a second YAML document"
    elif count > NODES:
        what = f"has more than {NODES} values"
    elif node.depth > DEPTH:
        what = f"is nested more than {DEPTH} deep"
    elif node.is_key and node.kind in ("mapping", "sequence"):
        what = "has a list or mapping as a key"
    else:
        return None
    return Problem(_line(block, node.start), f"front matter {what}; read as plain text")


def _explained(block: str, error: yaml.YAMLError) -> Problem:
    """Turn an error of the YAML reader into the line to look at and what is wrong there."""
    problem = str(getattr(error, "problem", None) or error)
    mark, opened = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    # What is opened and never closed is noticed only further down; the opening is what needs the fix.
    if opened and ("end of stream" in problem or "expected ',' or" in problem):
        mark = opened
    line = _line(block, mark.index) if mark else 1
    return Problem(line, f"front matter is not valid YAML ({problem}); read as plain text")


def _foreign(block: str, nodes: list[_Node]) -> tuple[Problem, ...]:
    """Name the first use of YAML that turns one text into another: an anchor, alias, tag or merge key."""
    for node in nodes:
        if node.kind == "alias":
            what = f"the alias *{node.anchor}"
        elif node.anchor:
            what = f"the anchor &{node.anchor}"
        elif node.tag:
            what = f"the tag {node.tag}"
        elif node.is_key and node.value == "<<" and node.plain:
            what = "the merge key <<"
        else:
            continue
        return (Problem(_line(block, node.start), f"front matter uses {what}; read as plain text"),)
    return ()


def _doubled(block: str, nodes: list[_Node]) -> tuple[Problem, ...]:
    """Name the keys that occur twice in one mapping."""
    seen: set[tuple[int, str | None]] = set()
    problems = []
    for node in nodes:
        if not node.is_key:
            continue
        if (node.parent, node.value) in seen:
            message = f"front matter has the key {node.value!r} twice; the last one counts"
            problems.append(Problem(_line(block, node.start), message))
        seen.add((node.parent, node.value))
    return tuple(problems)


def _values(block: str) -> dict[str, Value]:
    """Load a block that was surveyed and found to be a mapping of plain YAML."""
    from frontmatter.default_handlers import YAMLHandler

    values: dict[str, Value] = YAMLHandler().load(block, Loader=_loader())
    return values


# --- where the keys stand


def pairs(block: str) -> tuple[Pair, ...] | Problem | None:
    """List the top-level keys of a block, anchors or not; None where it is no mapping but text between rules."""
    nodes = _survey(readable(block))
    if isinstance(nodes, Problem):
        return nodes
    if not nodes:
        return ()
    if nodes[0].kind != "mapping":
        return None
    if not nodes[0].plain:
        return Problem(_line(block, nodes[0].start), "front matter is written in braces")
    keys = [place for place, node in enumerate(nodes) if node.is_key and node.depth == 1]
    cuts = zip(keys, [*keys[1:], len(nodes) - 1], strict=True)
    return tuple(_pair(nodes[place], nodes[place + 1 : stop]) for place, stop in cuts)


def _pair(key: _Node, value: list[_Node]) -> Pair:
    # The end of a block collection is noticed only after the comments that follow it, so it does not count.
    ends = [node.end for node in value if node.kind in ("scalar", "alias") or (node.kind == "end" and not node.plain)]
    start = value[0].start
    shape = tuple((node.kind, node.value, node.anchor, node.tag) for node in value)
    return Pair(key.value or "", key.start, key.end, start, max([start, *ends]), shape)
