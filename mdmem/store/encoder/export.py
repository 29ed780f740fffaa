"""The process that prepares a model: export to ONNX, quantise, compare with the original.

Owns torch and sentence-transformers, and runs only as a child of `preparation`, in a folder of its own: standard output
carries steps and findings, what libraries have to say goes to standard error. It must never use the network unless it
was asked to fetch, run a model's code, or outlive its parent.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.errors import MdmemError, Refused
from mdmem.store.encoder import onnx, runtime, samples, scripts, sources
from mdmem.store.encoder.card import Card

if TYPE_CHECKING:
    from mdmem.store.encoder.texts import Vector

MAX_WINDOW = 1024
"""Tokens. Attention needs memory by their square: 12 heads at 1,024 take 50 MB a text, at 8,192 over 3 GB."""

PREFIXES = (
    (r"\be5-(small|base|large)(-v2)?\b(?!.*instruct)", "query: ", "passage: "),
    (r"\bbge-.*-en\b", "Represent this sentence for searching relevant passages: ", ""),
    (r"\bbge-.*-zh\b", "为这个句子生成表示以用于检索相关文章：", ""),
)
"""What models want before a text though their files do not say so, by name; from their model cards."""

_DRAFT, _SMALL = "draft.onnx", "small.onnx"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a served model must keep of the original, over the samples.

    `cosine`: the worst of a text's vector to the original's. `correlation`: of the similarities of all pairs of texts;
    independent of how far apart a model puts texts, 0.99 means that the noise is a seventh of their spread.
    """

    cosine: float
    correlation: float


LIMITS = {"int8": Limits(0.95, 0.99), "fp32": Limits(0.999, 0.999)}
"""MiniLM in int8 has 0.987 and 0.997 in English, 0.971 and 0.996 with scripts it cannot read. Quantised by tensor
instead of by channel it has 0.874 and 0.980, and one text in six another nearest neighbour: that must not pass."""


def main() -> None:
    """Do what the arguments ask: `build FOLDER NAME` or `fetch NAME`; answer in JSON lines."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_follow_parent, daemon=True).start()
    warnings.simplefilter("ignore")

    def tell(said: object) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    verb, *rest = sys.argv[2:]
    if verb == "build":  # what is fetched goes into a cache that other programs have, too
        os.umask(0o077)
    try:
        tell(fetch(*rest) if verb == "fetch" else build(Path(rest[0]), rest[1], tell))
    except MdmemError as error:
        tell({"error": [type(error).__name__, error.message, error.hint]})


def _follow_parent() -> None:
    os.read(0, 1)  # comes back when the other end is closed
    os._exit(1)


def fetch(name: str) -> dict[str, str]:
    """Download what may be read of a model into the Hugging Face cache."""
    from huggingface_hub import snapshot_download

    wanted = [pattern + suffix for suffix in sources.SAFE for pattern in ("*", "*/*")]
    return {"folder": snapshot_download(name, allow_patterns=wanted, ignore_patterns=["onnx/*", "openvino/*"])}


def build(folder: Path, name: str, tell: Callable[[int], None]) -> dict[str, Any]:
    """Export a model into the current folder and give what its card must say. Raises Refused."""
    model = _load(_view(folder))
    tell(2)
    tokenizer = model.tokenizer.backend_tokenizer
    inputs = _export(model, _DRAFT)
    tell(3)
    query, passage = _prefixes(model, name, folder)
    card = Card(
        name=name,
        kind="",
        fingerprint="",
        dimension=model.get_sentence_embedding_dimension(),
        window=model.max_seq_length,
        scripts=scripts.known(tokenizer),
        precision="",
        pooling=_pooling(folder),
        query_prefix=query,
        passage_prefix=passage,
        inputs=inputs,
    )
    tokenizer.save(onnx.TOKENIZER, pretty=False)
    _quantise(_DRAFT, _SMALL)
    tell(4)
    precision, agreement, probe = _choose(model, card)
    tell(5)
    wanted = ("dimension", "window", "scripts", "pooling", "query_prefix", "passage_prefix", "inputs")
    known = {field: getattr(card, field) for field in wanted}
    return {**known, "precision": precision, "agreement": agreement, "probe": probe}


def _view(folder: Path) -> Path:
    """Show the libraries a folder with nothing in it but what may be read: no code, no pickles."""
    view = Path("source").absolute()
    for name in sources.files(folder):
        (view / name).parent.mkdir(parents=True, exist_ok=True)
        (view / name).symlink_to((folder / name).resolve())
    return view


def _load(folder: Path) -> Any:
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True
    runtime.silence()
    logging.disable(logging.WARNING)
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)  # its threads wait by spinning: on a busy machine the samples take 6 s, so 0.6
    model = SentenceTransformer(
        str(folder),
        device="cpu",
        model_kwargs={"use_safetensors": True, "attn_implementation": "eager"},
        trust_remote_code=False,
        local_files_only=True,
    )
    if not getattr(model.tokenizer, "is_fast", False):
        raise Refused(f"the tokenizer of {folder} cannot be served", "take a model with a tokenizer.json")
    model.max_seq_length = min(model.max_seq_length or 512, MAX_WINDOW)
    return model.eval().float()


def _export(model: Any, path: str) -> tuple[str, ...]:
    """Write the whole pipeline, from token numbers to a unit vector; give the names of its inputs."""
    import torch

    encoded = model.tokenizer(["green tea", "tea"], padding=True, return_tensors="pt")
    names = tuple(name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded)

    class Pipeline(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList(list(model))

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            features = dict(zip(names, tensors, strict=True))
            for part in self.parts:
                features = part(features)
            return torch.nn.functional.normalize(features["sentence_embedding"], dim=-1)

    with torch.no_grad():
        torch.onnx.export(
            Pipeline().eval(),
            tuple(encoded[name] for name in names),
            path,
            input_names=list(names),
            output_names=["vector"],
            dynamic_axes={**{name: {0: "texts", 1: "tokens"} for name in names}, "vector": {0: "texts"}},
            opset_version=17,
            dynamo=False,  # the other exporter needs a package more
        )
    return names


def _quantise(path: str, to: str) -> None:
    """Make weights int8, by channel, with 7 bits of range: processors without VNNI saturate with 8, and vectors must
    not depend on the processor."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(path, to, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


def _optimise(path: str, to: str) -> None:
    """Do once what a session would do each time it is opened, without what depends on the processor."""
    ort = runtime.load()
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = to
    ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _choose(model: Any, card: Card) -> tuple[str, dict[str, float], list[float]]:
    """Keep int8 if it agrees with the original, else fp32: its precision, agreement and probe. Raises Refused."""
    texts = samples.texts(card.scripts, card.window)
    original = _original(model, [card.passage_prefix + text for text in texts])
    found: dict[str, float] = {}
    for precision, draft in (("int8", _SMALL), ("fp32", _DRAFT)):
        _optimise(draft, onnx.MODEL)
        served = list(onnx.Onnx(card, Path.cwd()).passages(texts))
        found = measure(original, served)
        if accept(precision, found):
            probe = served[texts.index(onnx.PROBE)]
            assert probe is not None, "an accepted model has no gaps"
            return precision, found, [round(float(number), 5) for number in probe]
    numbers = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
    raise Refused(f"the model {card.name} gives other vectors when exported ({numbers})", "take another model")


def _original(model: Any, texts: list[str]) -> Vector:
    found: Vector = model.encode(texts, prompt="", batch_size=1, normalize_embeddings=True, show_progress_bar=False)
    return found


def measure(original: Vector, served: Sequence[Vector | None]) -> dict[str, float]:
    """Compare served vectors with the original ones, in the terms of `Limits`; all is 0 where one is no vector."""
    import numpy as np

    usable = [vector for vector in served if vector is not None and vector.shape == original[0].shape]
    if len(usable) < len(original):
        return {"cosine": 0.0, "correlation": 0.0, "neighbours": 0.0}
    ours = np.stack(usable)
    pairs = np.triu_indices(len(ours), 1)
    before, after = original @ original.T, ours @ ours.T
    spread = min(before[pairs].std(), after[pairs].std())
    correlation = float(np.corrcoef(before[pairs], after[pairs])[0, 1]) if spread > 1e-4 else 0.0
    for table in (before, after):
        np.fill_diagonal(table, -2)
    return {
        "cosine": float((original * ours).sum(axis=1).min()),
        "correlation": correlation,
        "neighbours": float((before.argmax(axis=1) == after.argmax(axis=1)).mean()),
    }


def accept(precision: str, found: dict[str, float]) -> bool:
    """Tell whether what was measured is within the limits of this precision."""
    limits = LIMITS[precision]
    return found["cosine"] >= limits.cosine and found["correlation"] >= limits.correlation


def _prefixes(model: Any, name: str, folder: Path) -> tuple[str, str]:
    """Give what the model wants before a query and before a passage."""
    prompts = {key: text for key, text in (model.prompts or {}).items() if text}
    usual = prompts.get(model.default_prompt_name or "", "")
    if prompts:
        return prompts.get("query", usual), prompts.get("passage", prompts.get("document", usual))
    for pattern, query, passage in PREFIXES:
        if re.search(pattern, f"{name} {folder.name}"):
            return query, passage
    return "", ""


def _pooling(folder: Path) -> str:
    """Name the way tokens become one vector, as the model's files say it."""
    for path in sorted(folder.glob("*Pooling/config.json")):
        known = json.loads(path.read_text("utf-8"))
        if mode := known.get("pooling_mode"):
            return str(mode)
        modes = [key.removeprefix("pooling_mode_") for key, value in known.items() if value is True]
        return "+".join(
            mode.removesuffix("_tokens").removesuffix("_token") for mode in modes if mode != "include_prompt"
        )
    return ""
