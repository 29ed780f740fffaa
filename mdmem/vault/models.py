"""The models of this machine: which are at hand, which are ready, and making one so.

Works in a vault and outside of any. It must never load a model to look at it, and imports no library for that.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mdmem import config
from mdmem.errors import Missing, Refused
from mdmem.model import Model, Progress, Readiness
from mdmem.store import encoder as encoders
from mdmem.store import vectors as caches
from mdmem.store.encoder import Card
from mdmem.vault.meaning import CACHE
from mdmem.vault.place import Place


def listed(root: Path | None) -> list[Model]:
    """List the models at hand, and the one that is set, in the vault at `root` or outside of any."""
    cache = config.cache_dir()
    chosen = encoders.canonical(config.load(root).text("embedding.model"))
    counts = _counts(root)
    found = {each.name: each for each in encoders.names(cache)}
    if chosen and chosen not in found:
        found[chosen] = encoders.Model(chosen, "", "", encoders.ready(chosen, cache))
    return [_model(found[name], chosen, counts, cache) for name in sorted(found)]


def prepare(name: str | None, root: Path | None, progress: Progress | None = None) -> Model:
    """Make a model ready, the one that is set when none is named, and try it. Errors as `Meaning.prepare`."""
    settings = config.load(root)
    step = partial(progress, "preparing the model") if progress else None
    cache = config.cache_dir()
    card = encoders.prepare(_named(name, settings), cache, progress=step, download=settings.flag("embedding.download"))
    encoders.load(card, cache)
    return _described(card, cache)


def check_choice(root: Path, name: str) -> None:
    """Refuse a folder as the model of a vault whose own settings name another, for these would go on to count."""
    settings = config.load(root)
    known = settings.text("embedding.model")
    is_folder = encoders.canonical(name).startswith("/")
    if is_folder and settings.origin("embedding.model") == "vault" and known != encoders.canonical(name):
        raise Refused(
            f"{config.MARKER} names the model {known}, and a folder can only be set in your own settings",
            f"take embedding.model out of {config.MARKER} first",
        )


def ready(name: str | None, root: Path | None) -> Model:
    """Describe a model that is ready, the one that is set when none is named. Raises Missing."""
    cache = config.cache_dir()
    wanted = _named(name, config.load(root))
    card = encoders.ready(wanted, cache)
    if card:
        return _described(card, cache)
    if encoders.at_hand(wanted, cache):
        raise Missing(f"the model {wanted} is not prepared yet", fix(wanted, "not prepared"))
    raise Missing(f"there is no model {wanted} on this machine", fix(wanted, "not installed"))


def state(name: str, card: Card | None, cache: Path) -> Readiness:
    """Tell how ready a model is, without loading it."""
    if card:
        return "damaged" if encoders.damage(card, cache) else "ready"
    return "not prepared" if encoders.at_hand(name, cache) else "not installed"


def fix(name: str, state: Readiness) -> str:
    """Say what makes a model ready that is not."""
    return {
        "ready": "",
        "not prepared": f"`mdmem model prepare {name}` makes it ready",
        "damaged": f"prepare it again with `mdmem model prepare {name}`",
        "not installed": encoders.advice(name),
    }[state]


def _named(name: str | None, settings: config.Settings) -> str:
    wanted = settings.text("embedding.model") if name is None else name
    if not wanted.strip():
        raise Missing("no model is set", "name one: `mdmem model list` shows those at hand")
    return encoders.canonical(wanted)


def _counts(root: Path | None) -> dict[str, int] | None:
    """Count the vectors of a vault by the model's fingerprint; none of a cache that cannot be read."""
    if root is None:
        return None
    try:
        return caches.counts(Place.find(root, command="model").state / CACHE)
    except caches.BROKEN:
        return {}


def _model(found: encoders.Model, chosen: str, counts: dict[str, int] | None, cache: Path) -> Model:
    card, is_chosen = found.card, found.name == chosen
    if card is None:
        standing = "not prepared" if found.source else state(found.name, None, cache)
        return Model(found.name, standing, is_chosen, found.kind, found.source, vectors=None if counts is None else 0)
    vectors = None if counts is None else counts.get(card.fingerprint, 0)
    return _described(card, cache, chosen=is_chosen, vectors=vectors)


def _described(card: Card, cache: Path, *, chosen: bool = False, vectors: int | None = None) -> Model:
    return Model(
        name=card.name,
        state=state(card.name, card, cache),
        chosen=chosen,
        kind=card.kind,
        source=card.source,
        folder=str(encoders.folder(card, cache)),
        precision=card.precision,
        dimension=card.dimension,
        window=card.window,
        scripts=card.scripts,
        agreement=card.agreement,
        vectors=vectors,
    )
