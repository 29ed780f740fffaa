"""Which log entries were not distilled yet, whenever they are of and however they came into their log.

Owns what makes an entry the same: its day, its time and its text. It must never skip a log for its date; one that
looks as it did when all of it was distilled is not read again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from mdmem import fsio, indexer
from mdmem.errors import MdmemError
from mdmem.model import Entry
from mdmem.text import expiry, units
from mdmem.vault import facts
from mdmem.vault.place import Place

LOOKED = "distilled"
"""A file of STATE: the logs in which nothing was new, and how they looked; disposable."""

OWN = frozenset({"checkpoint", "nightly", "review", "search", "recall", "context", "mdmem"})
"""Sources of entries in which the program speaks, or somebody repeats what it said."""

ADDRESS = re.compile(r"\b(?:daily/)?\d{4}-\d\d-\d\d#\d\d:\d\d(?::\d\d)?(?:\.\d+)?")
SHARE = 0.6
"""So much of an entry's words, beside its address, makes a text that shows it again."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """The entries that were never distilled, oldest first; and how the logs looked that hold no others."""

    entries: tuple[Entry, ...]
    stamps: Mapping[str, str]


def digest(entry: Entry) -> str:
    """Give what an entry is known by: 16 hex digits of the SHA-256 of its day, time and text.

    Said again an hour later, the same words are news: what was corrected meanwhile is so once more.
    """
    clock = entry.address.partition("#")[2].partition(".")[0]
    said = f"{entry.title}\0{clock}\0{entry.text}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def find(place: Place) -> Fresh:
    """Read the logs that may hold something new. Logs of closed years, compressed, were read before they closed.

    Raises StorageFailed.
    """
    snapshot = place.read(facts.DISTILLED)  # one that cannot be read is not one that says nothing
    known_facts = snapshot.data if snapshot else None
    known, looked = facts.keys(known_facts), _looked(place, known_facts)
    found, stamps = list[Entry](), dict[str, str]()
    for file in indexer.scan(str(place.root), place.settings.items("roots")).files:
        if not units.is_log(file.path) or file.path.endswith(".zst"):
            continue
        stamps[file.path] = file.stamp
        if not file.stamp or looked.get(file.path) != file.stamp:
            found += (entry for entry in _entries(place, file.path) if digest(entry) not in known)
    unique = {digest(entry): entry for entry in reversed(found)}
    ordered = sorted(unique.values(), key=lambda one: (one.date.timestamp() if one.date else 0.0, one.address))
    return Fresh(tuple(ordered), stamps)


def remember(place: Place, fresh: Fresh, left: Iterable[Entry]) -> None:
    """Note that nothing is new in the logs that were looked at, but for those of entries that are `left`."""
    open_ = {entry.path for entry in left}
    lines = [f"{stamp}\t{path}" for path, stamp in fresh.stamps.items() if stamp and path not in open_]
    data = "\n".join([_sum(place.content(facts.DISTILLED)), *lines])
    with suppress(MdmemError):  # then they are read again
        fsio.put(LOOKED, data.encode("utf-8", "surrogateescape"), root=place.state, durable=False)


def counts(entry: Entry, texts: Mapping[str, str]) -> bool:
    """Tell whether an entry may hold what memory should keep: not what is for a while, or what memory said itself.

    `texts` are those of the entries whose addresses may stand in it.
    """
    meta = dict(entry.meta)
    is_passing = "expires" in meta or expiry.is_temporary(entry.tags)
    is_own = (meta.get("source") or "").casefold() in OWN or "<!-- mdmem: from=" in entry.text
    return not (is_passing or is_own or _is_repeated(entry, texts))


def _is_repeated(entry: Entry, texts: Mapping[str, str]) -> bool:
    """Tell whether a text shows an entry again: its address, and most of its words."""
    words = set(_words(entry.text))
    for found in set(ADDRESS.findall(entry.text)):
        address = found if found.startswith("daily/") else f"daily/{found}"
        shown = set(_words(texts.get(address, ""))) if address != entry.address else set()
        if shown and len(shown & words) >= SHARE * len(shown):
            return True
    return False


def _words(text: str) -> list[str]:
    return re.findall(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+", text.casefold())


def _entries(place: Place, path: str) -> list[Entry]:
    data = place.content(path)
    found = units.read(path, data).units if data else ()
    return [place.entry(path, unit) for unit in found if unit.kind == "entry"]


def _looked(place: Place, known: bytes | None) -> dict[str, str]:
    with suppress(MdmemError):
        snapshot = fsio.read(LOOKED, root=place.state)
        head, *lines = (snapshot.data if snapshot else b"").decode("utf-8", "surrogateescape").split("\n")
        if head == _sum(known):  # facts that were taken back make their entries new again
            return {path: stamp for stamp, _, path in (line.partition("\t") for line in lines)}
    return {}


def _sum(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()
