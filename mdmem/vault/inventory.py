"""What there is in a vault: counts, places, how fresh the index is, and how much of it a model has seen.

Owns telling what is wrong with the models and the vectors. It must never change or load any of them, and stays quick.
"""

from __future__ import annotations

from mdmem import config
from mdmem.errors import StorageFailed
from mdmem.model import Coverage, Spending, Status
from mdmem.store import llm
from mdmem.store import vectors as caches
from mdmem.store.encoder import Card
from mdmem.store.journal import Journal
from mdmem.vault import models, watching
from mdmem.vault.index import Index, Stores
from mdmem.vault.meaning import CACHE, Meaning
from mdmem.vault.place import Place


def status(place: Place, index: Index, meaning: Meaning, stores: Stores, *, pending: int, uncommitted: int) -> Status:
    """Count what there is, and say where it is and how fresh the index is."""
    totals = stores.catalog.totals()
    directory = index.directory
    card = meaning.card()
    watcher = watching.watcher(place)
    return Status(
        vault=str(place.root),
        state_dir=str(place.state),
        index_dir=str(directory) if directory else None,
        entries=totals["entries"],
        documents=totals["documents"],
        chunks=totals["passages"],
        stale=index.stale(stores),
        head=place.repo.head(),
        pending=pending,
        uncommitted=uncommitted,
        layers=_layers(index),
        watch={"running": watcher is not None, "pid": watcher.pid or None if watcher else None},
        model=meaning.model or None,
        model_state=models.state(meaning.model, card, config.cache_dir()) if meaning.model else None,
        vectors=_coverage(place, meaning, stores, card) if card else None,
        llm=_spending(place, meaning.notices),
    )


def complaints(place: Place, now: Status) -> list[str]:
    """Say what keeps the models of a vault from answering, and the fix."""
    said = llm.missing(place.settings, root=place.root)
    found = [f"the language model cannot be asked: {said}"] if said else []
    if now.model is None or now.model_state is None or now.model_state == "ready":
        return found
    state = now.model_state
    return [f"keyword search only: the model {now.model} is {state}; {models.fix(now.model, state)}", *found]


def damaged_lines(place: Place) -> dict[str, int]:
    """Count the lines of the journal that cannot be read, by the path of their file in the state."""
    return Journal(place.state / "journal").damaged()


def _spending(place: Place, notices: list[str]) -> Spending | None:
    """Tell what the language model was asked; None where that cannot be read, which is noticed."""
    try:
        return llm.spending(place.settings, state=place.state, now=place.now)
    except StorageFailed as error:
        notices.append(error.message)
        return None


def _coverage(place: Place, meaning: Meaning, stores: Stores, card: Card) -> Coverage | None:
    """Count the passages that have vectors; None where the cache of them cannot be read, which is noticed."""
    try:
        kept = caches.kept(place.state / CACHE, card.fingerprint, card.dimension)
    except caches.BROKEN as error:
        fix = "the next search throws it away and embeds anew" if caches.is_damage(error) else "try again"
        meaning.notices.append(f"the cache of vectors cannot be read: {error}; {fix}")
        return None
    listed = meaning.passages(stores)
    counts = [kept.get(passage.saying) for passage in listed]
    bad = counts.count(-1)
    if bad:
        what = f"{bad:,} passage{'s have vectors' if bad > 1 else ' has a vector'} that {card.name} cannot have given"
        meaning.notices.append(f"{what}; `mdmem reindex --full` embeds anew")
    unreadable, missing = counts.count(0), counts.count(None) + bad
    upto = meaning.filled_upto(stores, card)
    behind = sum(passage.id > upto for passage, count in zip(listed, counts, strict=True) if count != 0)
    return Coverage(len(listed) - unreadable - missing, missing, unreadable, behind if upto else None)


def _layers(index: Index) -> tuple[tuple[str, int, int], ...]:
    """Count files and bytes of the five layers of memory."""
    layers = {
        name: [0, 0] for name in ("L0 live context", "L1 sessions", "L2 logs and documents", "L3 curated", "L4 soul")
    }
    for path, size in index.sizes():
        name = path.rpartition("/")[2]
        layer = "L4 soul" if name in ("SOUL.md", "IDENTITY.md") else "L2 logs and documents"
        layer = "L3 curated" if path in ("memory/MEMORY.md", "MEMORY.md") else layer
        layers[layer][0] += 1
        layers[layer][1] += size
    return tuple((name, files, size) for name, (files, size) in layers.items())
