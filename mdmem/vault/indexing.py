"""`reindex`: the indexes brought up to date or built anew, by the vault's model or by another one.

Owns the order: the index of words first, then the vectors, and a new model is the vault's only when it has seen all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mdmem import config, fsio
from mdmem.errors import NotFound
from mdmem.model import Progress, Reindexed
from mdmem.text import packs
from mdmem.vault import archives
from mdmem.vault.index import within

if TYPE_CHECKING:
    from mdmem.store.encoder import Card
    from mdmem.vault.meaning import Meaning
    from mdmem.vault.parts import Parts


def reindex(
    parts: Parts, paths: Sequence[str], *, full: bool, model: str | None, progress: Progress | None
) -> Reindexed:
    """Bring the indexes up to date; with `full` anew. Raises NotFound, Busy, and Missing or Refused for a model."""
    root = parts.place.root
    for path in map(within, paths):
        names = (path, path + ".md", path + packs.ARCHIVE)
        if not any(fsio.look(name, root=root) for name in names) and not archives.log(parts.place, names[1]):
            raise NotFound(f"there is no {path} in the vault", "paths are those that `mdmem list` prints")
    parts.catch_up()
    parts.index.progress = progress or parts.index.progress
    if model is not None:
        return _with_model(parts, model, full=full)
    card = parts.meaning.prepare_if_there(parts.index.progress)
    return _embedded(parts, parts.meaning, card, full=full)


def _with_model(parts: Parts, model: str, *, full: bool) -> Reindexed:
    from mdmem.vault import models, preferences
    from mdmem.vault.meaning import Meaning

    root = parts.place.root
    models.check_choice(root, model)
    chosen = Meaning(parts.place, parts.notices, model=model)
    card = chosen.prepare(parts.index.progress)
    done = _embedded(parts, chosen, card, full=full)
    scope: config.Scope = "user" if card.kind == "folder" else "vault"
    preferences.keep(config.settings_file(root, scope), "embedding.model", card.name, scope)
    parts.place = replace(parts.place, settings=config.load(root))
    parts.meaning = chosen
    with parts.index.open() as stores:
        chosen.forget_others(stores, card)
    return done


def _embedded(parts: Parts, meaning: Meaning, card: Card | None, *, full: bool) -> Reindexed:
    done = parts.index.refresh(full=full)
    if card is None:
        return done
    started = time.monotonic()
    with parts.index.open() as stores:
        embedded = meaning.complete(stores, card, parts.index.progress, anew=full)
    return replace(
        done,
        embedded=embedded.done,
        failures=(*done.failures, *embedded.findings),
        took_ms=done.took_ms + (time.monotonic() - started) * 1000,
    )
