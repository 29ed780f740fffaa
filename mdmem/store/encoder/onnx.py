"""A prepared model at work: ONNX Runtime and tokenizers, without torch.

Owns the session's options and how a text becomes a vector. It must never load anything that its card does not vouch
for, nor encode two texts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.errors import Missing, StorageFailed
from mdmem.store.encoder import card as cards
from mdmem.store.encoder import runtime, samples, texts
from mdmem.store.encoder.card import Card

if TYPE_CHECKING:
    from mdmem.store.encoder.texts import Vector

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
PROBE = samples.TEXTS["Latin"][1]
ALIKE = 0.99
"""Cosine of the probe's vector to what it was on preparation; another processor may round otherwise, no more."""


class Onnx:
    """An encoder. Its methods may be called from several threads."""

    def __init__(self, card: Card, folder: Path) -> None:
        self.card = card
        self._run = _session(folder / MODEL)
        self._tokenizer = _tokenizer(folder / TOKENIZER, card.window)

    def query(self, text: str) -> Vector:
        """Encode a query: (dimension,), unit length. Raises Missing when the model gives nothing usable."""
        vector = self._encode(self.card.query_prefix + text)
        if vector is None:
            raise Missing(f"the model {self.card.name} gave no vector for the query", "ask in other words")
        return vector

    def passages(self, passages: Sequence[str]) -> Iterator[Vector | None]:
        """Yield a unit vector a text, in order; None for a text of which the model made nothing usable."""
        prefix = self.card.passage_prefix
        return texts.in_order(passages, lambda text: self._encode(prefix + text), texts.workers())

    def windows(self, text: str) -> list[str]:
        """Split a passage so that each piece fits the window; together the pieces are the text."""
        return texts.split(text, self._count, window=self.card.window)

    def _count(self, text: str) -> int:
        encoding = self._tokenizer.encode(texts.clean(self.card.passage_prefix + text))
        return sum(len(part.ids) for part in (encoding, *encoding.overflowing))

    def _encode(self, text: str) -> Vector | None:
        import numpy as np

        encoding = self._tokenizer.encode(texts.clean(text))
        ids = np.array([encoding.ids], dtype=np.int64)
        known = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([encoding.type_ids], dtype=np.int64),
        }
        found = self._run({name: known[name] for name in self.card.inputs})
        return None if found is None else texts.unit(found)


def load(card: Card, cache: Path) -> Onnx:
    """Open a prepared model. Raises StorageFailed when a file is damaged, or the vectors are not what they were."""
    folder = cards.folder(cache, card.fingerprint)
    again = f"prepare it again with `mdmem model prepare {card.name}`"
    if bad := cards.damaged(folder, card.files):
        raise StorageFailed(f"the model {card.name} is damaged: {bad} is not what was written", again)
    encoder = Onnx(card, folder)
    vector = next(encoder.passages([PROBE]))
    if vector is None or float(vector @ _as_vector(card.probe)) < ALIKE:
        raise StorageFailed(f"the model {card.name} gives other vectors here than when it was prepared", again)
    return encoder


def _as_vector(numbers: tuple[float, ...]) -> Vector:
    import numpy as np

    return np.array(numbers, dtype=np.float32)


def _session(path: Path) -> Callable[[dict[str, Any]], Vector | None]:
    """Open a model as a function of its inputs; it gives None where the model fails. Raises StorageFailed."""
    ort = runtime.load()
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    failures = (state.Fail, state.RuntimeException, state.InvalidArgument, state.EPFail)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # whole texts run side by side instead
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # done when it was prepared
    options.enable_cpu_mem_arena = False  # an arena would keep the memory of the longest text for good
    options.log_severity_level = 4
    broken = (*failures, state.InvalidProtobuf, state.InvalidGraph, state.NotImplemented, state.NoSuchFile)
    try:
        session: Any = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except broken as error:
        raise StorageFailed(f"{path} cannot be opened: {error}", "prepare the model again") from error

    def run(inputs: dict[str, Any]) -> Vector | None:
        try:
            found: Vector = session.run(None, inputs)[0][0]
        except failures:
            return None
        return found

    return run


def _tokenizer(path: Path, window: int) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_str(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StorageFailed(f"{path} cannot be read: {error}", "prepare the model again") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(window)
    return tokenizer
