"""Files that went and files that came, paired where one is the other under a new name.

Pure. It must never take a file for another that merely shares a template with it: half the text, or more where the
name is another one as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

SIMILAR, STRANGE = 0.5, 0.6
"""How much of a text is the same after a move that kept the file's name, and after one that did not."""

PAIRS = 2_500
"""Pairs of files that are compared by their lines; beyond it only those that share a name are."""

NAMESAKES = 20
"""So many of the new files that share a name are compared then; a thousand may be called `index.md`."""


@dataclass(frozen=True, slots=True)
class Sorted:
    """The files of one save by what happened to them; `moved` is old path → new path."""

    edited: tuple[str, ...]
    added: tuple[str, ...]
    deleted: tuple[str, ...]
    moved: Mapping[str, str]


def sort(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> Sorted:
    """Tell what happened to each file of `after`; None, or nothing in `before`, stands for no file."""
    gone = {path: held for path, data in after.items() if data is None and (held := before.get(path)) is not None}
    come = {path: data for path, data in after.items() if data is not None and before.get(path) is None}
    moved = find(gone, come)
    came = set(moved.values())
    return Sorted(
        tuple(path for path, data in after.items() if data is not None and before.get(path) is not None),
        tuple(path for path in come if path not in came),
        tuple(path for path, data in after.items() if data is None and path not in moved),
        moved,
    )


def find(gone: Mapping[str, bytes], come: Mapping[str, bytes]) -> dict[str, str]:
    """Pair files that went with files that came: first those of equal bytes, then the most similar ones."""
    spare = {path: data for path, data in come.items() if data.strip()}
    found: dict[str, str] = {}
    for same_name in (True, False):
        by_content: dict[tuple[bytes, str], list[str]] = {}
        for path, data in spare.items():
            by_content.setdefault((data, _name(path) if same_name else ""), []).append(path)
        for old in [path for path in gone if path not in found]:
            if same := by_content.get((gone[old], _name(old) if same_name else "")):
                found[old] = same.pop(0)
                del spare[found[old]]
    return found | _similar({path: data for path, data in gone.items() if path not in found}, spare)


def _similar(gone: Mapping[str, bytes], come: Mapping[str, bytes]) -> dict[str, str]:
    lines = cache(lambda path: _weighed((gone if path in gone else come)[path]))
    rated = []
    for old, new in _candidates(gone, come):
        share = _share(lines(old), lines(new))
        if share >= (SIMILAR if _name(old) == _name(new) else STRANGE):
            rated.append((share, old, new))
    found: dict[str, str] = {}
    taken: set[str] = set()
    for _, old, new in sorted(rated, key=lambda one: (-one[0], one[1:])):
        if old not in found and new not in taken:
            found[old] = new
            taken.add(new)
    return found


def _candidates(gone: Iterable[str], come: Collection[str]) -> Iterator[tuple[str, str]]:
    gone = list(gone)
    if len(gone) * len(come) <= PAIRS:
        yield from product(gone, come)
        return
    by_name: dict[str, list[str]] = {}
    for path in come:
        by_name.setdefault(_name(path), []).append(path)
    for old in gone:
        yield from ((old, new) for new in by_name.get(_name(old), ())[:NAMESAKES])


def is_like(data: bytes, other: bytes) -> bool:
    """Tell whether so much of two texts is the same as of a file that moved and kept its name."""
    return data == other or _share(_weighed(data), _weighed(other)) >= SIMILAR


def holds_all(data: bytes, other: bytes) -> bool:
    """Tell whether a text has every line of another, whatever it has besides."""
    return not _weighed(other) - _weighed(data)


def folders(moved: Mapping[str, str]) -> tuple[str, str] | None:
    """Give the folder that went and the one that came, where that is what all these moves are."""
    pairs = {_apart(old, new) for old, new in moved.items()}
    return pairs.pop() if len(pairs) == 1 and len(moved) > 1 else None


def _apart(old: str, new: str) -> tuple[str, str]:
    """Take off what the ends of two paths share: what is left has moved."""
    left, right = old.split("/"), new.split("/")
    while left and right and left[-1] == right[-1]:
        left.pop()
        right.pop()
    return "/".join(left), "/".join(right)


def _weighed(data: bytes) -> Counter[bytes]:
    """Count the bytes of each line, blank ones and the space around them apart."""
    found: Counter[bytes] = Counter()
    for line in filter(None, map(bytes.strip, data.split(b"\n"))):
        found[line] += len(line)
    return found


def _share(one: Counter[bytes], other: Counter[bytes]) -> float:
    most = max(one.total(), other.total())
    return (one & other).total() / most if most else 0.0


def _name(path: str) -> str:
    return path.rpartition("/")[2]
