"""The query language: what was typed, as a tree of what it asks for.

Plain words mean OR. `"a phrase"`, `-word`, `AND`, `OR`, `NOT`, `( )`, `prefix*`, `tag:name` and `in:path` work.
Any other string is a query too: what does not parse is taken as plain words, never as an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BYTES = 8192
"""So much of a query counts; a longer one is cut, and the answer says so."""

MAX_WORDS = 512
MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Word:
    """A plain word, as typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text to be found as it stands, from word boundary to word boundary."""

    text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a word."""

    text: str


@dataclass(frozen=True, slots=True)
class Tag:
    """Only what carries this tag, or one nested under it."""

    name: str


@dataclass(frozen=True, slots=True)
class In:
    """Only what lies at or under this path."""

    path: str


@dataclass(frozen=True, slots=True)
class Not:
    """Everything but this."""

    node: Node


@dataclass(frozen=True, slots=True)
class All:
    """What satisfies every one of these."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """What satisfies one of these; more of them rank higher."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    """Words that raise the rank of what is found by the rest."""

    nodes: tuple[Node, ...]


Leaf = Word | Phrase | Prefix | Tag | In
Node = Leaf | Not | All | Any | Maybe

_ITEM = re.compile(
    r"""(?P<open>\()|(?P<close>\))
      |(?P<sign>-?)"(?P<phrase>[^"]*)"
      |(?P<key>-?(?:tag|in)):(?:"(?P<quoted>[^"]+)"|(?P<value>[^\s"()]+))
      |(?P<word>[^\s"()]+)""",
    re.VERBOSE,
)
_OPERATORS = {"AND", "OR", "NOT"}


class _NoQuery(Exception):
    """The text does not follow the language."""


def cut(text: str) -> tuple[str, bool]:
    """Cut a query to the bytes that count; the flag says whether anything fell off."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= MAX_BYTES:
        return text, False
    return data[:MAX_BYTES].decode("utf-8", "ignore"), True


def parse(text: str) -> Node | None:
    """Read a query; None when it asks for nothing in particular (empty, only blanks)."""
    if not text.strip():
        return None
    # A bracket that does not close is text; it must not turn what is excluded into what is asked for.
    for readable in (text, re.sub(r"[()]", " ", text)):
        try:
            return _Parser(readable).read()
        except _NoQuery:
            continue
    return plain(text)


def plain(text: str) -> Node | None:
    """Take a query as plain words, whatever signs it holds."""
    words = tuple(dict.fromkeys(Word(word) for word in text.replace('"', " ").split()))[:MAX_WORDS]
    return Any(words) if words else None


def loosened(node: Node) -> Node | None:
    """Ask for the words of each wanted phrase instead of the phrase; None when there is no phrase to loosen."""
    match node:
        case Phrase(text):
            return plain(text)
        case All(nodes) | Any(nodes) | Maybe(nodes):
            fresh = tuple(loosened(inner) for inner in nodes)
            if any(fresh):
                return type(node)(tuple(new or old for new, old in zip(fresh, nodes, strict=True)))
    return None


def leaves(node: Node, *, negated: bool = False) -> Iterator[Leaf]:
    """Yield the leaves that a hit may match, in order; `negated` yields those it must not."""
    match node:
        case Not(inner):
            if negated:
                yield from leaves(inner)
        case All(nodes) | Any(nodes) | Maybe(nodes):
            for inner in nodes:
                yield from leaves(inner, negated=negated)
        case _ if not negated:
            yield node


def wording(text: str) -> str:
    """Return what a query says, without its operators, exclusions and filters: what its meaning is to be taken from."""
    node = parse(text)
    if node is None:
        return ""
    if node in (plain(text), Word(text.strip())):
        return text.strip()
    return " ".join(leaf.text for leaf in leaves(node) if isinstance(leaf, Word | Phrase | Prefix))


class _Parser:
    """Recursive descent: `list` is `both` (OR? `both`)*, `both` is `one` (AND `one`)*, `one` is NOT? item."""

    def __init__(self, text: str) -> None:
        self.items = list(_ITEM.finditer(text))
        if len(self.items) > MAX_WORDS:
            raise _NoQuery
        self.place = 0

    def read(self) -> Node:
        node = self.list(0)
        if self.place < len(self.items):
            raise _NoQuery
        return node

    def list(self, depth: int) -> Node:
        """Words are alternatives; phrases, exclusions and filters bind, unless OR joins them."""
        if depth > MAX_DEPTH:
            raise _NoQuery
        free: list[Node] = []
        bound: list[Node] = []
        node, joined = self.both(depth), self.peek("OR")
        while True:
            (bound if _binds(node) and not joined else free).append(node)
            if self.at_end():
                return _join(free, bound)
            after = self.take("OR")
            node = self.both(depth)
            joined = after or self.peek("OR")

    def both(self, depth: int) -> Node:
        nodes = [self.one(depth)]
        while self.take("AND"):
            nodes.append(self.one(depth))
        return nodes[0] if len(nodes) == 1 else All(tuple(nodes))

    def one(self, depth: int) -> Node:
        if depth > MAX_DEPTH or self.at_end():
            raise _NoQuery
        if self.take("NOT"):
            return Not(self.one(depth + 1))
        item = self.items[self.place]
        self.place += 1
        if not item["open"]:
            return _leaf(item)
        node = self.list(depth + 1)
        if self.place >= len(self.items):
            raise _NoQuery
        self.place += 1
        return node

    def peek(self, word: str) -> bool:
        return self.place < len(self.items) and self.items[self.place]["word"] == word

    def take(self, word: str) -> bool:
        found = self.peek(word)
        self.place += found
        return found

    def at_end(self) -> bool:
        return self.place >= len(self.items) or bool(self.items[self.place]["close"])


def _binds(node: Node) -> bool:
    return isinstance(node, Phrase | Tag | In | Not)


def _join(free: list[Node], bound: list[Node]) -> Node:
    free, bound = list(dict.fromkeys(free)), list(dict.fromkeys(bound))
    if not bound:
        return free[0] if len(free) == 1 else Any(tuple(free))
    if not free:
        return bound[0] if len(bound) == 1 else All(tuple(bound))
    found = any(isinstance(node, Phrase) for node in bound)
    return All((*bound, Maybe(tuple(free)) if found else Any(tuple(free))))


def _leaf(item: re.Match[str]) -> Node:
    if item["phrase"] is not None:
        if not item["phrase"].strip():
            raise _NoQuery
        return _signed(item["sign"], Phrase(item["phrase"]))
    if item["key"]:
        value = item["quoted"] or item["value"]
        leaf = Tag(value.lstrip("#")) if item["key"].endswith("tag") else In(value)
        return _signed("-" if item["key"].startswith("-") else "", leaf)
    word = item["word"]
    if word in _OPERATORS:
        raise _NoQuery
    if len(word) > 1 and word[0] == "-" and word[1] != "-":
        return _signed("-", _word(word[1:]))
    return _word(word)


def _word(word: str) -> Leaf:
    if word.endswith("*") and any(c.isalnum() for c in word):
        return Prefix(word.rstrip("*"))
    return Word(word)


def _signed(sign: str, node: Node) -> Node:
    return Not(node) if sign else node
