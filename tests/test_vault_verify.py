"""`verify`: what differs between the files and each index is found, named and healed, and nothing else is touched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy
import pytest
from meaning_sandbox import KITTEN, copy, rows
from vault_sandbox import again, write

from mdmem import Vault, indexer
from mdmem.model import Verification
from mdmem.store import generations
from mdmem.store.lexical import Lexical
from mdmem.vault import comparison
from mdmem.vault.place import Place

SECOND = "daily/2026-11-02#09:00"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made, _ = Vault.init(tmp_path / "v")
    for day in (1, 2, 3):
        write(made, f"memory/daily/2026-11-0{day}.md", f"# d\n\n- 09:00 green tea {day}\n- 10:00 coffee order {day}\n")
    write(made, "memory/archives/notes.md", "# Notes\n\n咖啡 and OR 木火共生\n")
    for path in (made.root / "memory").rglob("*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    made.reindex()
    return made


@contextmanager
def behind_its_back(vault: Vault) -> Iterator[sqlite3.Connection]:
    """Change the catalog as a mistake of the program would: its sums are right afterwards."""
    generation = generations.named(vault.place.state)
    assert generation
    db = sqlite3.connect(generation.catalog)
    with db:
        yield db
    db.close()
    generations.seal(generation, vault.parts.index.identity())


def kinds(done: Verification) -> list[tuple[str, bool]]:
    return [(one.kind, one.healed) for one in done.findings]


def test_a_vault_in_order_has_no_findings(vault: Vault) -> None:
    done = vault.verify()
    assert done.findings == () and done.left == 0
    assert (done.files, done.units) == (5, 11)  # MEMORY.md, the heading of each log
    assert done.retrieved == done.asked > 5
    assert vault.verify(sample=1.0).findings == ()


def test_files_that_changed_since_are_no_fault(vault: Vault) -> None:
    write(vault, "memory/archives/new.md", "new")
    (vault.root / "memory/archives/notes.md").unlink()
    assert again(vault).verify().findings == ()


MISTAKES = {
    "missing unit": ("DELETE FROM units WHERE address = ?", "missing"),
    "changed hash": ("UPDATE units SET hash = x'00' WHERE address = ?", "changed"),
    "changed text": ("UPDATE units SET folded = 'x' WHERE address = ?", "changed"),
    "changed date": ("UPDATE units SET date = 1 WHERE address = ?", "changed"),
    "fewer passages": ("UPDATE units SET passages = 7 WHERE address = ?", "words"),
    "another unit": ("INSERT INTO units SELECT NULL, file, x'78', x'78', kind, date, hash, place, passages, length,"
                     " folded, lasting FROM units WHERE address = ?", "extra"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "kind"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_found_and_only_that_is_healed(vault: Vault, change: str, kind: str) -> None:
    before = unit_numbers(vault)
    with behind_its_back(vault) as db:
        db.execute(change, (SECOND.encode(),))
    found = again(vault).verify()
    assert kind in {one.kind for one in found.findings} and found.left > 0
    assert all(one.path.startswith(("memory/", "unit ")) for one in found.findings)
    healed = again(vault).verify(fix=True)
    assert healed.left == 0 and all(flag for _, flag in kinds(healed))
    assert again(vault).verify().findings == ()
    after = unit_numbers(vault)
    assert {address for address in before if before[address] != after.get(address)} <= {SECOND}


def unit_numbers(vault: Vault) -> dict[str, int]:
    with vault.parts.index.open() as stores:
        return {one.address: one.id for one in stores.catalog.units()}


def test_a_finding_names_the_line(vault: Vault) -> None:
    with behind_its_back(vault) as db:
        db.execute("DELETE FROM units WHERE address = ?", (b"daily/2026-11-02#10:00",))
    (one, *_) = again(vault).verify().findings
    assert (one.path, one.line) == ("memory/daily/2026-11-02.md", 4) and "--fix" in one.hint


def test_a_file_that_was_never_indexed_and_one_that_is_gone_are_named(vault: Vault) -> None:
    generation = generations.named(vault.place.state)
    assert generation
    for folder in ("memory/archives", "memory/daily"):
        os.utime(vault.root / folder, (1_700_000_000, 1_700_000_000))
    with behind_its_back(vault) as db:
        db.execute(
            "UPDATE files SET path = CAST('memory/archives/gone.md' AS BLOB) WHERE CAST(path AS TEXT) LIKE '%notes.md'"
        )
    future = 4_000_000_000
    os.utime(generation.path / "manifest.json", (future, future))
    done = again(vault).verify(fix=True)
    assert {(one.kind, one.path) for one in done.findings} == {
        ("missing", "memory/archives/notes.md"),
        ("extra", "memory/archives/gone.md"),
    }
    assert done.left == 0 and again(vault).verify().findings == ()


def test_words_that_a_unit_is_found_by_and_does_not_have_are_found(vault: Vault) -> None:
    generation = generations.named(vault.place.state)
    assert generation
    (number,) = [number for address, number in unit_numbers(vault).items() if address == SECOND]
    with vault.parts.index._writing(generation) as stores:
        path, unit, place = comparison.files(_look(vault), stores, None).known[number]
        _, bags = indexer.row(unit, place, vault.parts.index.sources())
        stores.catalog.begin()
        with stores.lexical.writing() as writer:
            writer.remove(number)
            for bag in bags:
                writer.add(number, [*bag.terms, "zebra"], bag.length)
        stores.catalog.remember("lexical", stores.lexical.version)
        stores.catalog.commit()
    (one,) = again(vault).verify().findings
    assert "1 word of it that it lacks" in one.message and one.path == path
    assert again(vault).verify(fix=True).left == 0 and again(vault).verify().findings == ()


def _look(vault: Vault) -> comparison.Look:
    index = vault.parts.index
    return comparison.Look(vault.root, index.scan(), index.sources(), 0)


def test_an_index_of_nothing_is_not_damaged(tmp_path: Path) -> None:
    empty = Vault.init(tmp_path / "empty")[0]
    shutil.rmtree(empty.root / "memory")
    assert again(empty).verify().findings == ()


def test_lost_words_are_found_by_sampling(vault: Vault) -> None:
    generation = generations.named(vault.place.state)
    assert generation
    (number,) = [number for address, number in unit_numbers(vault).items() if address == SECOND]
    with vault.parts.index._writing(generation) as stores:
        stores.catalog.begin()
        with stores.lexical.writing() as writer:
            writer.remove(number)
            writer.add(number, ["other", "words"], 2)
        stores.catalog.remember("lexical", stores.lexical.version)
        stores.catalog.commit()
    found = again(vault).verify(sample=1.0)
    assert ("changed", False) in kinds(found)
    assert again(vault).verify(sample=1.0, fix=True).left == 0
    assert again(vault).search("green tea 2", mode="keyword")[0].entry.address == SECOND


def test_hundreds_of_entries_that_say_nearly_the_same_are_all_found(vault: Vault) -> None:
    lines = (f"- {minute // 60:02}:{minute % 60:02} alive and well {'.' * minute}\n" for minute in range(400))
    write(vault, "memory/daily/2026-11-04.md", f"# d\n\n{''.join(lines)}")
    done = again(vault).verify(sample=1.0)
    assert done.findings == () and done.retrieved == done.asked > 400


def test_words_of_a_comment_of_the_program_are_not_searched_for(vault: Vault) -> None:
    rare = "zebra quagga okapi gnu kudu eland"
    write(vault, "memory/daily/2026-11-04.md", f"# d\n\n- 09:00 tea <!-- mdmem: {rare} -->\n- 10:00 {rare}\n")
    assert again(vault).verify(sample=1.0).findings == ()


def test_an_entry_that_its_words_do_not_lead_to_is_named(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    (number,) = [number for address, number in unit_numbers(vault).items() if address == SECOND]
    real = Lexical.score
    monkeypatch.setattr(Lexical, "score", lambda *about: {u: s for u, s in real(*about).items() if u != number})
    (one,) = again(vault).verify(sample=1.0).findings
    assert one.kind == "retrieval" and one.message == f"{SECOND} is not among the hits for its own words"


def test_a_damaged_index_is_named_and_built_anew_by_fix(vault: Vault) -> None:
    directory = vault.parts.index.directory
    assert directory
    (directory / "catalog.sqlite").write_bytes(b"garbage")
    found = again(vault).verify()
    assert kinds(found) == [("damaged", False)] and "catalog.sqlite" in found.findings[0].message
    assert again(vault).parts.index.directory is None  # nothing was touched
    assert kinds(again(vault).verify(fix=True)) == [("damaged", True)]
    assert again(vault).verify().findings == ()


def test_a_change_that_no_stamp_tells_is_found(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(2.1)  # until the files' stamps count
    vault.reindex()
    said = Place.said
    monkeypatch.setattr(Place, "said", lambda place, path: (said(place, path) or b"").replace(b"tea 2", b"TEA 2"))
    (one,) = vault.verify().findings
    assert (one.kind, one.path) == ("changed", "memory/daily/2026-11-02.md")


# Vectors


@pytest.fixture
def embedded(template: Path, tmp_path: Path, minilm: str) -> Vault:
    made = copy(template, tmp_path / "vault")
    made.reindex()
    return made


def turned(vault: Vault) -> None:
    """Give a text the vector of another one: of unit length, but wrong."""
    first, second = rows(vault, "SELECT hash, vector FROM vectors WHERE length(vector) > 0 LIMIT 2")
    total = zlib.crc32(second[1], zlib.crc32(first[0]))  # type: ignore[arg-type]
    rows(vault, "UPDATE vectors SET vector = ?, sum = ? WHERE hash = ?", (second[1], total, first[0]))


def stretched(vault: Vault) -> None:
    ((digest, vector),) = rows(vault, "SELECT hash, vector FROM vectors WHERE length(vector) > 0 LIMIT 1")
    longer = numpy.frombuffer(vector, "<f4") * 3  # type: ignore[call-overload]
    rows(vault, "UPDATE vectors SET vector = ? WHERE hash = ?", (longer.tobytes(), digest))


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("harm", [turned, stretched])
def test_wrong_vectors_are_found_and_embedded_again(embedded: Vault, harm: Callable[[Vault], None]) -> None:
    assert embedded.verify().findings == ()
    before = dict(rows(embedded, "SELECT hash, vector FROM vectors"))  # type: ignore[arg-type]
    harm(embedded)
    found = again(embedded).verify(sample=1.0)
    assert ("vectors", False) in kinds(found)
    healed = again(embedded).verify(sample=1.0, fix=True)
    assert healed.left == 0, healed.findings
    after = dict(rows(embedded, "SELECT hash, vector FROM vectors"))  # type: ignore[arg-type]
    assert after.keys() == before.keys()
    assert sum(after[digest] != before[digest] for digest in before) <= 1
    assert again(embedded).verify(sample=1.0).findings == ()


@pytest.mark.large
@pytest.mark.slow
def test_chroma_is_compared_with_the_cache_and_put_right(embedded: Vault) -> None:
    card = embedded.parts.meaning.card()
    assert card
    with embedded.parts.index.open() as stores:
        near = embedded.parts.meaning.neighbours(stores, card)
        assert near
        with near._lock.hold(0), near._make() as vector:
            names = sorted(vector.ids())
            vector.drop(names[:1])
            vector.put(["0" * 32, names[1]], numpy.eye(2, card.dimension, dtype="<f4"))
    messages = [one.message for one in again(embedded).verify().findings]
    assert [next(word for word in ("missing", "left over", "another") if word in one) for one in messages] == [
        "missing",
        "left over",
        "another",
    ]
    healed = again(embedded).verify(fix=True)
    assert healed.left == 0 and len(healed.findings) == 3
    assert again(embedded).verify().findings == ()
    assert again(embedded).search("a pet having a nap", k=1)[0].entry.address == KITTEN
