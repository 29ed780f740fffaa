"""Searching by meaning, with the real model: what has a vector when, where vectors are, and what may go wrong there."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from meaning_sandbox import E5, KITTEN, MEANT, MINILM, OPERA, addresses, copy, passages, rows, scored
from vault_sandbox import CODE, again, python, write

from mdmem import Vault, config
from mdmem.errors import Missing
from mdmem.model import Answer
from mdmem.store import encoder as encoders
from mdmem.store.encoder import Card, Encoder
from mdmem.store.vector import Vector
from mdmem.text import passages as cutting
from mdmem.text import units
from mdmem.vault.embedding import Limits

pytestmark = [pytest.mark.large, pytest.mark.slow]

LEFT = "not yet searched by meaning"


@pytest.fixture
def vault(template: Path, tmp_path: Path, minilm: str) -> Vault:
    """A vault in which everything has a vector."""
    return copy(template, tmp_path / "vault")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passages that are embedded from here on."""
    texts: list[str] = []
    load = encoders.load

    def watched(card: Card, cache: Path) -> Encoder:
        made = load(card, cache)
        passages = made.passages

        def told(some: list[str]) -> Iterator[object]:
            texts.extend(some)
            return passages(some)

        monkeypatch.setattr(made, "passages", told, raising=False)
        return made

    monkeypatch.setattr(encoders, "load", watched)
    return texts


def said(answer: Answer, words: str) -> list[str]:
    return [notice for notice in answer.notices if words in notice]


def chroma(vault: Vault) -> Path:
    directory = vault.parts.index.directory
    assert directory is not None
    return directory / "chroma"


def card() -> Card:
    found = encoders.ready(MINILM, config.cache_dir())
    assert found is not None
    return found


# What is found


def test_the_default_model_is_minilm(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MDMEM_EMBEDDING_MODEL")
    assert again(vault).settings.text("embedding.model") == MINILM
    assert again(vault).search("a pet having a nap").mode == "hybrid"


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_what_is_meant_is_found_without_its_words(vault: Vault, mode: str) -> None:
    found = {text: addresses(vault.search(text, mode=mode, k=3)) for text in MEANT}
    assert {text: hits[0] for text, hits in found.items()} == MEANT
    words = {text: addresses(vault.search(text, mode="keyword", k=3))[:1] for text in MEANT}
    assert sum(words[text] == [MEANT[text]] for text in MEANT) <= 1


def test_the_nearest_are_those_of_the_largest_cosine(vault: Vault) -> None:
    encoder = encoders.load(card(), config.cache_dir())
    query = encoder.query("a pet having a nap")
    near: dict[str, float] = {}
    for path in sorted((vault.root / "memory").rglob("*.md")):
        for unit in units.read(str(path.relative_to(vault.root)), path.read_bytes()).units:
            texts = [one.saying for one in cutting.passages(unit) if unit.address != OPERA and one.saying]
            if texts:
                near[unit.address] = max(float(vector @ query) for vector in encoder.passages(texts))  # type: ignore
    hits = vault.search("a pet having a nap", mode="semantic", k=100)
    assert addresses(hits) == sorted(near, key=lambda address: -near[address])
    assert {hit.entry.address: hit.score for hit in hits} == pytest.approx(near, abs=2e-6)


def test_a_hit_by_meaning_is_cut_from_its_file_and_says_why(vault: Vault) -> None:
    (hit,) = vault.search("slugs destroying vegetables", mode="semantic", k=1)
    assert hit.ranks == {"semantic": 1} and hit.why[-1].startswith("semantic: rank 1, cosine 0.")
    assert hit.text in (vault.root / "memory/archives/garden.md").read_text()


def test_an_added_text_has_its_vector_by_the_next_search(vault: Vault) -> None:
    address = vault.add("My sister gave birth to twins").address
    assert addresses(vault.search("new babies in the family", k=1)) == [address]


def test_adding_waits_for_no_model(vault: Vault) -> None:
    code = """
import sys
from mdmem import Vault
Vault.open(sys.argv[1]).add("quick")
print(*sorted({"numpy", "onnxruntime", "tokenizers", "chromadb", "torch"} & sys.modules.keys()))
"""
    child = python(code, vault.root)
    assert child.communicate() == ("\n", "") and child.returncode == 0


def test_what_is_deleted_or_changed_is_not_found_by_what_it_was(vault: Vault) -> None:
    vault.remove(KITTEN)
    write(vault, "memory/archives/garden.md", "# Garden\n\nNothing grows here.\n")
    for one in (vault, again(vault)):
        answer = one.search("a kitten asleep, snails", mode="semantic", k=100)
        assert KITTEN not in addresses(answer)
        assert not any("Snails" in hit.text for hit in answer)
    vault.reindex(full=True)
    assert KITTEN not in addresses(vault.search("a kitten asleep", mode="semantic", k=100))


def test_an_empty_vault_has_nothing_near(tmp_path: Path, minilm: str) -> None:
    empty = Vault.init(tmp_path / "empty")[0]
    (empty.root / "memory" / "MEMORY.md").unlink(missing_ok=True)
    for mode in ("hybrid", "semantic"):
        assert empty.search("a pet having a nap", mode=mode).total == 0
    assert empty.reindex().embedded == 0
    assert empty.search("a pet having a nap").total == 0


@pytest.mark.parametrize("query", ["???", "🐱", ":", "-tea", "tag:habit", "in:daily"])
def test_signs_and_operators_alone_are_answered(vault: Vault, query: str) -> None:
    write(vault, "memory/archives/signs.md", "What ??? and 🐱 : here\n")
    answer = vault.search(query)
    if query in ("???", "🐱", ":"):
        assert addresses(answer)[0] == "archives/signs"
    else:
        assert answer.mode == "keyword" and any("no words" in reason for reason in answer.reasons)


def test_of_a_long_query_the_first_8_kb_are_asked(vault: Vault) -> None:
    answer = vault.search("a pet having a nap " * 3000)
    assert said(answer, "only the first 8192 bytes") and answer.mode == "hybrid"
    assert addresses(answer)[0] == KITTEN


# How much is embedded, and when


def test_a_search_embeds_256_passages_and_says_what_is_left(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.vault import meaning

    assert meaning.FOREGROUND.passages == 256
    monkeypatch.setattr(meaning, "FOREGROUND", Limits(passages=256))  # however slow the machine is today
    day = "".join(f"- {n // 60:02}:{n % 60:02} Parcel number {n} came\n" for n in range(300))
    write(vault, "memory/daily/2026-11-25.md", "# 2026-11-25\n\n" + day)
    assert said(vault.search("delivery"), LEFT) == [f"44 passages are {LEFT}; `mdmem reindex` embeds the rest"]
    assert not said(vault.search("delivery"), LEFT)
    assert vault.reindex().embedded == 0


def test_a_search_stops_embedding_when_it_took_long_enough(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.vault.meaning.FOREGROUND", Limits(seconds=-1))
    address = vault.add("My sister gave birth to twins").address
    answer = vault.search("new babies in the family", k=100)
    assert said(answer, LEFT) == [f"1 passage is {LEFT}; `mdmem reindex` embeds the rest"]
    assert address not in addresses(answer)
    assert vault.reindex().embedded == 1
    assert addresses(vault.search("new babies in the family", k=1)) == [address]


def test_a_moved_paragraph_or_a_line_more_embeds_one_passage(vault: Vault, encoded: list[str]) -> None:
    garden = vault.root / "memory/archives/garden.md"
    head, pests = garden.read_text().split("## Pests")
    write(vault, "memory/archives/garden.md", f"{head}New and first.\n\n## Pests{pests}")
    assert vault.reindex().embedded == 1 and "New and first." in encoded[0]
    before = {one.key for one in passages(vault)}
    write(vault, "memory/archives/garden.md", f"# Garden\n\n## Pests{pests}\n{head.removeprefix('# Garden')}")
    vault.reindex()
    assert {one.key for one in passages(vault)} & before and len(encoded) <= 2
    (vault.root / "memory/archives/bread.md").rename(vault.root / "memory/archives/loaf.md")
    assert vault.reindex().embedded == 0
    (vault.root / "memory/daily/2026-11-02.md").rename(vault.root / "memory/daily/2026-11-03.md")
    assert vault.reindex().embedded == 0


def test_a_line_at_the_top_of_a_log_changes_no_other_key(vault: Vault, encoded: list[str]) -> None:
    before = {one.key for one in passages(vault)}
    log = vault.root / "memory/daily/2026-11-02.md"
    write(vault, "memory/daily/2026-11-02.md", log.read_text().replace("- 09:10", "- 08:00 Rain\n- 09:10", 1))
    vault.search("weather")
    assert encoded == ["Rain"]
    assert len({one.key for one in passages(vault)} - before) == 1 and before < {one.key for one in passages(vault)}


def test_a_rebuild_embeds_nothing(vault: Vault, encoded: list[str]) -> None:
    kept = rows(vault, "SELECT hash, vector, created_at FROM vectors ORDER BY hash")
    before = {one.key for one in passages(vault)}
    assert vault.reindex(full=True).embedded == 0
    shutil.rmtree(vault.place.state / "index")
    again(vault).search("a pet having a nap")
    assert rows(vault, "SELECT hash, vector, created_at FROM vectors ORDER BY hash") == kept
    assert {one.key for one in passages(again(vault))} == before and encoded == []


def test_vectors_are_float32_and_know_their_model_and_time(vault: Vault) -> None:
    ((fingerprint, dimension),) = rows(vault, "SELECT fingerprint, dimension FROM models")
    assert (fingerprint, dimension) == (card().fingerprint, 384)
    found = rows(vault, "SELECT vector, created_at FROM vectors WHERE length(vector) > 0")
    assert {len(vector) for vector, _ in found} == {4 * 384}  # type: ignore[arg-type]
    lengths = [float(numpy.linalg.norm(numpy.frombuffer(vector, "<f4"))) for vector, _ in found]  # type: ignore[call-overload]
    assert lengths == pytest.approx([1.0] * len(found), abs=1e-5)
    assert all(time.time() - 3600 < moment <= time.time() for _, moment in found)  # type: ignore[operator]


# Chroma


def test_chroma_has_the_catalogs_keys_and_no_text(vault: Vault) -> None:
    vault.reindex()
    listed = {one.key for one in passages(vault)}
    silent = {one.key for one in passages(vault) if one.unit in numbers(vault, OPERA)}
    one = card()
    folder = chroma(vault) / one.fingerprint[:16]
    with Vector(folder, model=one.fingerprint, dimension=384) as vector:
        assert vector.ids() == listed - silent
    raw = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"kitten" not in raw and b"windowsill" not in raw


def numbers(vault: Vault, address: str) -> set[int]:
    with vault.parts.index.open() as stores:
        return {found.id for found in stores.catalog.find(address)}


@pytest.fixture
def far(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """The vault, with so many passages that Chroma is asked."""
    vault.reindex()
    monkeypatch.setattr("mdmem.vault.meaning.EXACT", 0)
    monkeypatch.setattr("mdmem.vault.space.EXACT", 0)
    return vault


def test_chroma_gives_the_same_answers_as_comparing_every_vector(
    vault: Vault, far: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    nearest = Vector.nearest

    def watched(self: Vector, query: object, k: int) -> list[tuple[str, float]]:
        asked.append(k)
        return nearest(self, query, k)  # type: ignore[arg-type]

    monkeypatch.setattr(Vector, "nearest", watched)
    fresh = far.add("A cat dozes in the sun").address  # which Chroma does not know yet
    some = list(MEANT)[:3]
    by_chroma = {text: scored(far.search(text)) for text in some}
    assert len(asked) == 3
    assert fresh in [address for address, _ in by_chroma["a pet having a nap"]]
    monkeypatch.setattr("mdmem.vault.meaning.EXACT", 50_000)
    assert {text: scored(vault.search(text)) for text in some} == by_chroma
    assert len(asked) == 3


def harm_gone(folder: Path) -> None:
    shutil.rmtree(folder)


def harm_flip(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_size:
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 255
            path.write_bytes(data)


def harm_cut(folder: Path) -> None:
    for path in folder.rglob("*.sqlite3"):
        path.write_bytes(path.read_bytes()[:1000])


@pytest.mark.parametrize("harm", [harm_gone, harm_flip, harm_cut], ids=lambda harm: harm.__name__)
def test_without_chroma_or_with_a_damaged_one_the_answers_are_the_same(far: Vault, harm) -> None:  # type: ignore[no-untyped-def]
    before = scored(far.search("a pet having a nap"))
    harm(chroma(far))
    assert scored(again(far).search("a pet having a nap")) == before
    again(far).reindex()
    answer = again(far).search("a pet having a nap")
    assert scored(answer) == before and not said(answer, "vector index")


def test_a_chroma_that_another_process_has_is_not_waited_for(far: Vault) -> None:
    before = scored(far.search("a pet having a nap"))
    with again(far).parts.meaning._chroma.hold(0):
        answer = far.search("a pet having a nap", fresh=True)
    assert scored(answer) == before and said(answer, "another process is at it")


# Models


def test_without_its_model_the_vault_answers_by_keyword_and_says_so(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(vault.root.parent / "no-cache"))
    answer = again(vault).search("kitten")
    assert (answer.mode, addresses(answer)) == ("keyword", [KITTEN])
    assert said(answer, "semantic leg skipped") == [
        f"semantic leg skipped: the model {MINILM} is not prepared yet; `mdmem reindex` does it"
    ]
    with pytest.raises(Missing, match="not prepared"):
        again(vault).search("kitten", mode="semantic")
    monkeypatch.setenv("MDMEM_EMBEDDING_MODEL", "no-such-model")
    assert said(again(vault).search("kitten"), "no-such-model is not installed")
    done = again(vault)
    assert done.reindex().failures == () and any("keyword search only" in notice for notice in done.notices)


def test_without_the_libraries_the_vault_answers_by_keyword_and_says_so(vault: Vault) -> None:
    code = """
import sys
for name in ("sentence_transformers", "torch", "chromadb", "onnxruntime", "numpy"):
    sys.modules[name] = None
from mdmem import Vault
answer = Vault.open(sys.argv[1]).search("kitten")
print(answer.mode, answer[0].entry.address, *answer.notices)
"""
    told, failed = python(code, vault.root).communicate()
    assert told.startswith(f"keyword {KITTEN} semantic leg skipped: ") and failed == ""


def test_who_wants_no_model_hears_nothing_of_it(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_EMBEDDING_MODEL", "")
    answer = again(vault).search("kitten")
    assert (answer.mode, answer.notices, addresses(answer)) == ("keyword", (), [KITTEN])
    assert again(vault).reindex().embedded == 0
    with pytest.raises(Missing):
        again(vault).search("kitten", mode="semantic")


def test_an_english_model_is_not_asked_about_chinese(vault: Vault) -> None:
    hits = vault.search("和小雨约好看京剧")
    assert hits.mode == "keyword" and addresses(hits)[0] == OPERA
    assert any("most of the query is Han" in reason for reason in hits.reasons)
    assert OPERA not in addresses(vault.search("going to the opera with a friend", mode="semantic", k=100))


def test_a_mixed_question_to_an_english_model_still_finds_the_chinese_text(vault: Vault) -> None:
    answer = vault.search("when do I go to the opera with 小雨, is it 京剧")
    assert answer.mode == "hybrid" and addresses(answer)[0] == OPERA
    assert any("no vector" in why for why in answer[0].why)


def test_the_multilingual_model_reads_chinese_and_the_vectors_of_two_models_never_meet(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test for all that takes this model, which is slow."""
    known = rows(vault, "SELECT COUNT(*) FROM vectors")
    assert vault.reindex(model=E5).embedded == len(passages(vault))
    monkeypatch.delenv("MDMEM_EMBEDDING_MODEL")
    changed = again(vault)
    assert changed.settings.text("embedding.model") == E5
    answer = changed.search("和朋友一起去听戏", mode="semantic", k=1)
    assert addresses(answer) == [OPERA] and answer.notices == ()
    assert addresses(changed.search("going to the opera with a friend", k=1)) == [OPERA]
    ((number,),) = rows(vault, "SELECT COUNT(*) FROM models")
    assert number == 2 and rows(vault, "SELECT COUNT(*) FROM vectors") > known
    assert again(vault).reindex(model=MINILM).embedded == 0  # its vectors are still there
    assert addresses(again(vault).search("a pet having a nap", k=1)) == [KITTEN]


KILLED = """
import os, signal, sys
from mdmem import Vault
from mdmem.store.vectors import Vectors
put = Vectors.put
def once(self, items):
    put(self, items)
    os.kill(os.getpid(), signal.SIGKILL)
Vectors.put = once
Vault.open(sys.argv[1]).reindex(model=sys.argv[2])
"""


def test_a_killed_change_of_model_leaves_the_old_one_and_goes_on_where_it_was(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MDMEM_EMBEDDING_MODEL")
    write(vault, "mdmem.toml", '[embedding]\nmodel = ""\n')
    names = {"XDG_CACHE_HOME": str(config.cache_dir().parent)}
    forget(vault)
    write(vault, "memory/daily/2026-11-25.md", "".join(f"- 10:{n:02} Parcel {n} came\n" for n in range(60)))
    write(vault, "memory/daily/2026-11-26.md", "".join(f"- 10:{n:02} Letter {n} came\n" for n in range(60)))
    child = python(KILLED, vault.root, MINILM, env=names)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert again(vault).settings.text("embedding.model") == "" and again(vault).search("kitten").mode == "keyword"
    ((done,),) = rows(vault, "SELECT COUNT(*) FROM vectors")
    wanted = len({one.saying for one in passages(vault)})
    assert 0 < done < wanted  # type: ignore[operator]
    assert again(vault).reindex(model=MINILM).embedded == wanted - done  # type: ignore[operator]
    assert addresses(again(vault).search("a pet having a nap", k=1)) == [KITTEN]


def forget(vault: Vault) -> None:
    (vault.place.state / "vectors.sqlite").unlink()


# What may go wrong


class Broken:
    """An encoder of which one part is replaced."""

    def __init__(self, encoder: Encoder, **parts: object) -> None:
        self._encoder, self._parts = encoder, parts

    def __getattr__(self, name: str) -> object:
        return self._parts.get(name) or getattr(self._encoder, name)


def with_encoder(monkeypatch: pytest.MonkeyPatch, **parts: object) -> None:
    load = encoders.load
    monkeypatch.setattr(encoders, "load", lambda card, cache: Broken(load(card, cache), **parts))


def test_a_hanging_encoder_is_not_waited_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()

    def hang(text: str) -> None:
        let_go.wait(60)

    with_encoder(monkeypatch, query=hang)
    monkeypatch.setattr("mdmem.vault.semantic.DEADLINE", 0.2)
    monkeypatch.setattr("mdmem.vault.semantic.PATIENCE", 0)
    try:
        answer = vault.search("kitten")
        assert (answer.mode, addresses(answer)) == ("keyword", [KITTEN])
        assert len(answer.notices) == 1 and said(answer, "did not answer within")
        with pytest.raises(Missing, match="did not answer"):
            vault.search("kitten", mode="semantic")
    finally:
        let_go.set()


def test_others_add_and_search_while_much_is_embedded(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a reindex another process takes a new entry in, and finds it."""
    encoder = encoders.load(card(), config.cache_dir())
    met: list[list[str]] = []

    def slow(texts: list[str]) -> Iterator[object]:
        if not met:
            other = python("from mdmem import Vault; import sys; v = Vault.open(sys.argv[1]); v.add('zebra');"
                           " print(*(hit.entry.text for hit in v.search('zebra', k=1)))", vault.root,
                           env={"MDMEM_EMBEDDING_MODEL": ""})  # fmt: skip
            met.append(other.communicate(timeout=60)[0].split())
        yield from encoder.passages(texts)

    write(vault, "mdmem.toml", 'timezone = "Europe/Berlin"\n')  # as the other process has it, or it builds anew
    vault = again(vault)
    forget(vault)
    with_encoder(monkeypatch, passages=slow)
    assert vault.reindex().embedded > 0
    assert met == [["zebra"]]
    assert vault.notices == []


def test_what_waits_for_its_vector_is_not_behind_for_it(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.search("zebra")
    monkeypatch.setattr("mdmem.vault.meaning.FOREGROUND", Limits(passages=0))
    write(vault, "memory/daily/2026-11-25.md", "- 10:00 zebra\n")
    write(vault, "memory/daily/2026-11-27.md", "- 10:00 zebra stripes\n")
    answer = vault.search("zebra stripes", k=1)
    assert addresses(answer) == ["daily/2026-11-27#10:00"] and said(answer, LEFT)


def test_a_model_that_is_asked_by_name_about_what_it_cannot_read_says_so(vault: Vault) -> None:
    answer = vault.search("京剧", mode="semantic")
    assert said(answer, "most of the query is Han, which all-MiniLM-L6-v2 cannot read")


@pytest.mark.parametrize("error", [OSError("gone"), RuntimeError("bad"), MemoryError(), ImportError("no onnxruntime")])
def test_a_failing_encoder_fails_no_search(vault: Vault, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(text: str) -> None:
        raise error

    with_encoder(monkeypatch, query=fail)
    answer = vault.search("kitten")
    assert (answer.mode, addresses(answer)) == ("keyword", [KITTEN])
    assert said(answer, "semantic leg skipped") == [f"semantic leg skipped: {MINILM} failed: {error}"]


def test_a_passage_that_cannot_be_embedded_is_named_and_the_rest_is_found(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = encoders.load(card(), config.cache_dir())

    def some(texts: list[str]) -> Iterator[object]:
        for text, vector in zip(texts, encoder.passages(texts), strict=True):
            yield None if "cursed" in text else vector

    with_encoder(monkeypatch, passages=some)
    write(vault, "memory/archives/cursed.md", "A cursed lullaby\n")
    write(vault, "memory/archives/sister.md", "My sister gave birth to twins\n")
    done = vault.reindex()
    assert [(one.path, one.message) for one in done.failures] == [
        ("archives/cursed", f"{MINILM} cannot embed a passage of it")
    ]
    assert addresses(vault.search("new babies in the family", k=1)) == ["archives/sister"]
    assert addresses(vault.search("lullaby", k=1)) == ["archives/cursed"]
    assert vault.reindex().failures == () and not said(vault.search("lullaby"), LEFT)


def test_the_legs_work_side_by_side(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.vault.keyword import KeywordLeg

    at_work = threading.Event()
    encoder = encoders.load(card(), config.cache_dir())
    score = KeywordLeg.score

    def waits(text: str) -> object:
        assert at_work.wait(30), "the keyword leg waited for the model"
        return encoder.query(text)

    def tells(self: KeywordLeg, weights: dict[str, float]) -> dict[int, float]:
        at_work.set()
        return score(self, weights)

    with_encoder(monkeypatch, query=waits)
    monkeypatch.setattr(KeywordLeg, "score", tells)
    assert vault.search("a pet having a nap").mode == "hybrid"


def harm_no_file(path: Path) -> None:
    path.unlink()


def harm_no_database(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def harm_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def harm_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xff" * 64
    path.write_bytes(data)


def harm_other_tables(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE vectors (x)")
        db.execute("PRAGMA user_version = 7")


def harm_vectors(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vectors SET vector = substr(vector, 2) WHERE rowid % 3 = 0 AND length(vector) > 0")
        db.execute("UPDATE vectors SET vector = zeroblob(1536) WHERE rowid % 3 = 1")


@pytest.mark.parametrize(
    "harm",
    [harm_no_file, harm_no_database, harm_short, harm_middle, harm_other_tables, harm_vectors],
    ids=lambda harm: harm.__name__,
)
def test_damaged_vectors_are_made_again(vault: Vault, harm) -> None:  # type: ignore[no-untyped-def]
    before = {text: scored(vault.search(text)) for text in MEANT}
    harm(vault.place.state / "vectors.sqlite")
    again(vault).search("kitten")
    again(vault).reindex(full=True)
    mended = again(vault)
    assert {text: scored(mended.search(text)) for text in MEANT} == before
    assert mended.notices == []


def test_where_state_cannot_be_written_meaning_lives_in_memory(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {text: scored(vault.search(text)) for text in list(MEANT)[:2]}
    state = vault.root.parent / "file-in-the-way"
    state.write_text("no folder")
    monkeypatch.setenv("MDMEM_STATE_DIR", str(state))
    answers = {text: again(vault).search(text) for text in before}
    assert {text: scored(answer) for text, answer in answers.items()} == before
    assert {answer.mode for answer in answers.values()} == {"hybrid"}


def test_a_search_does_not_wait_for_another_that_embeds(vault: Vault) -> None:
    address = vault.add("My sister gave birth to twins").address
    with again(vault).parts.meaning._embedding.hold(0):
        answer = vault.search("new babies in the family", k=100)
        assert said(answer, LEFT) and address not in addresses(answer)
    assert addresses(vault.search("new babies in the family", k=1, fresh=True)) == [address]


def test_two_searches_at_once_embed_each_text_once(vault: Vault) -> None:
    write(vault, "memory/daily/2026-11-25.md", "".join(f"- 10:{n:02} Parcel {n} came\n" for n in range(60)))
    code = """
import sys
from mdmem import Vault
print(Vault.open(sys.argv[1]).search("a pet having a nap")[0].entry.address)
"""
    children = [python(code, vault.root) for _ in range(3)]
    said = [child.communicate() for child in children]
    assert said == [(f"{KITTEN}\n", "")] * 3
    assert not said_left(again(vault))
    ((count,), (different,)) = rows(
        vault, "SELECT COUNT(*) FROM vectors UNION ALL SELECT COUNT(DISTINCT hash) FROM vectors"
    )
    assert count == different


def said_left(vault: Vault) -> list[str]:
    return said(vault.search("delivery"), LEFT)


SEARCH = """
import sys
from mdmem import Vault
answer = Vault.open(sys.argv[1]).search(sys.argv[2])
print(answer.mode, answer[0].entry.address, *answer.notices, sep="\\n")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_in_a_vault_that_may_only_be_read_meaning_is_searched_all_the_same(template: Path, models: Path) -> None:
    home = Path(tempfile.mkdtemp(prefix="mdmem-nobody-", dir="/tmp"))  # pytest's own folders are closed to others
    try:
        home.chmod(0o755)
        (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
        shutil.copytree(models, home / "cache")
        names = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "MDMEM_EMBEDDING_MODEL": MINILM}
        vault = copy(template, home / "vault")
        child = python("import sys; from mdmem import Vault; Vault.open(sys.argv[1]).reindex()", vault.root, env=names)
        assert child.communicate() == ("", "")
        subprocess.run(["chmod", "-R", "a+rX", home], check=True)
        kept = (vault.place.state / "vectors.sqlite").read_bytes()

        def search(text: str) -> list[str]:
            user = pwd.getpwnam("nobody")
            words = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", sys.executable]
            environment = {**os.environ, **names, "PYTHONPATH": str(CODE), "PYTHONDONTWRITEBYTECODE": "1"}
            command = [*words, "-c", SEARCH, str(vault.root), text]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout.splitlines()

        assert search("a pet having a nap")[:2] == ["hybrid", KITTEN]
        write(vault, "memory/archives/sister.md", "My sister gave birth to twins\n").chmod(0o644)
        mode, address, *notices = search("new babies in the family")
        assert (mode, address) == ("hybrid", "archives/sister")
        assert any("the index cannot be kept" in notice for notice in notices)
        assert not any("skipped" in notice or LEFT in notice for notice in notices)
        assert (vault.place.state / "vectors.sqlite").read_bytes() == kept
    finally:
        shutil.rmtree(home)
