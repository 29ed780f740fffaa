"""The cache of vectors: kept as they were put, by text and model, and never trusted when they cannot be that."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.store import vectors
from mdmem.store.vectors import BROKEN, Vectors, is_damage

DIMENSION = 8


def unit(*seeds: int) -> numpy.ndarray:  # type: ignore[type-arg]
    """Give a unit vector for each seed."""
    rows = [numpy.random.default_rng(seed).normal(size=DIMENSION) for seed in seeds]
    found = numpy.array(rows, dtype="<f4").reshape(-1, DIMENSION)
    return found / numpy.linalg.norm(found, axis=1, keepdims=True).astype("<f4")


def name(number: int) -> bytes:
    return number.to_bytes(16, "big")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.sqlite"


def opened(path: Path | None, model: str = "one", dimension: int = DIMENSION) -> Vectors:
    return Vectors(path, model, dimension)


def raw(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    db = sqlite3.connect(path)
    try:
        with db:
            return db.execute(sql, values).fetchall()
    finally:
        db.close()


@pytest.mark.parametrize("kept", [True, False])
def test_what_is_put_is_given_back_in_the_order_that_is_asked(path: Path, kept: bool) -> None:
    cache = opened(path if kept else None)
    cache.put([(name(n), unit(n)) for n in range(5)])
    places, found = cache.matrix([name(3), name(9), name(0)])
    assert sorted(places) == [0, 2] and found.dtype == numpy.float32
    for place, vector in zip(places, found, strict=True):
        assert vector.tobytes() == unit([3, 9, 0][place]).tobytes()
    assert cache.count() == 5
    cache.close()


def test_a_text_of_several_windows_has_a_vector_for_each(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(1), unit(1)), (name(2), unit(2, 3, 4))])
    places, found = cache.matrix([name(2), name(1)])
    assert sorted(places) == [0, 0, 0, 1]
    of_two = [vector.tobytes() for place, vector in zip(places, found, strict=True) if place == 0]
    assert of_two == [vector.tobytes() for vector in unit(2, 3, 4)]
    assert cache.count() == 2
    cache.close()


def test_the_same_text_twice_is_given_twice(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(1), unit(1, 2))])
    places, found = cache.matrix([name(1), name(1)])
    assert sorted(places) == [0, 0, 1, 1] and found.shape == (4, DIMENSION)
    cache.close()


def test_nothing_has_an_empty_matrix(path: Path) -> None:
    cache = opened(path)
    for hashes in ([], [name(1)]):
        places, found = cache.matrix(hashes)
        assert places == [] and found.shape == (0, DIMENSION)
    cache.close()


def test_more_than_a_thousand_are_read_as_few_are(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(n), unit(n)) for n in range(1200)])
    places, found = cache.matrix([name(n) for n in range(1199, -1, -1)])
    assert sorted(places) == list(range(1200))
    for place, vector in list(zip(places, found, strict=True))[::97]:
        assert vector.tobytes() == unit(1199 - place).tobytes()
    cache.close()


def test_missing_is_what_nobody_has_tried(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(1), unit(1)), (name(2), None)])
    assert cache.missing({name(1), name(2), name(3)}) == {name(3)}
    assert cache.missing(()) == set()
    assert cache.count() == 1
    assert cache.matrix([name(2)])[0] == []
    cache.close()


def test_a_later_vector_replaces_the_earlier(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(1), unit(1, 2))])
    cache.put([(name(1), unit(5))])
    assert cache.matrix([name(1)])[1].tobytes() == unit(5).tobytes()
    cache.close()


def test_the_file_holds_float32_little_endian_and_the_time(path: Path) -> None:
    cache = opened(path, dimension=768)
    vector = numpy.zeros((1, 768), dtype=">f8")
    vector[0, 5] = 1.0
    cache.put([(name(1), vector)])  # type: ignore[list-item]
    cache.close()
    ((model, data, moment),) = raw(
        path, "SELECT fingerprint, vector, created_at FROM vectors JOIN models ON id = model"
    )
    assert (model, len(data)) == ("one", 3072)  # type: ignore[arg-type]
    assert numpy.frombuffer(data, "<f4")[5] == 1.0  # type: ignore[call-overload]
    assert time.time() - 60 < moment <= time.time()  # type: ignore[operator]


def test_all_or_nothing_is_kept(path: Path) -> None:
    cache = opened(path)
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON vectors WHEN length(NEW.vector) = 0"
            " BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    db.close()
    with pytest.raises(sqlite3.Error):
        cache.put([(name(1), unit(1)), (name(2), None)])
    assert cache.missing({name(1)}) == {name(1)}
    cache.put([(name(1), unit(1))])
    cache.close()
    again = opened(path)
    assert again.count() == 1
    again.close()


def test_vectors_of_two_models_never_meet(path: Path) -> None:
    one, two = opened(path), opened(path, "two", 4)
    one.put([(name(1), unit(1))])
    assert two.missing({name(1)}) == {name(1)} and two.count() == 0
    two.put([(name(1), numpy.array([[1, 0, 0, 0]], "<f4"))])
    assert one.matrix([name(1)])[1].shape == (1, DIMENSION) and two.matrix([name(1)])[1].shape == (1, 4)
    one.close()
    two.close()
    assert raw(path, "SELECT COUNT(*) FROM models") == [(2,)]


def test_a_model_has_one_dimension(path: Path) -> None:
    opened(path).close()
    with pytest.raises(BROKEN) as error:
        opened(path, "one", DIMENSION + 1)
    assert is_damage(error.value)


# Damage


def damaged(path: Path, data: bytes) -> Vectors:
    """Open a cache of three vectors of which the second was overwritten."""
    cache = opened(path)
    cache.put([(name(n), unit(n)) for n in (1, 2, 3)])
    cache.close()
    raw(path, "UPDATE vectors SET vector = ? WHERE hash = ?", data, name(2))
    return opened(path)


FLIPPED = bytearray(unit(2).tobytes())
FLIPPED[3] ^= 0x40  # the exponent of the first number


@pytest.mark.parametrize(
    "data",
    [
        unit(2).tobytes()[:-1],
        b"x",
        bytes(4 * DIMENSION),
        bytes(FLIPPED),
        numpy.full(DIMENSION, numpy.nan, "<f4").tobytes(),
    ],
    ids=["short", "one byte", "zeros", "flipped", "nan"],
)
def test_a_damaged_vector_counts_as_none_and_is_forgotten(path: Path, data: bytes) -> None:
    cache = damaged(path, data)
    places, found = cache.matrix([name(1), name(2), name(3)])
    assert sorted(places) == [0, 2] and numpy.isfinite(found).all()
    assert cache.forget_damaged() == 1
    assert cache.missing({name(1), name(2), name(3)}) == {name(2)}
    assert cache.forget_damaged() == 0
    cache.close()


def test_a_vector_of_another_length_is_missing_at_once(path: Path) -> None:
    cache = damaged(path, b"\0" * (4 * DIMENSION - 1))
    assert cache.missing({name(1), name(2)}) == {name(2)}
    cache.close()


def test_a_text_without_a_vector_is_not_damaged(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(1), None)])
    assert cache.forget_damaged() == 0 and cache.missing({name(1)}) == set()
    cache.close()


def spoil_garbage(path: Path) -> None:
    path.write_bytes(b"garbage " * 1000)


def spoil_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def spoil_other_format(path: Path) -> None:
    raw(path, "PRAGMA user_version = 99")


def spoil_other_tables(path: Path) -> None:
    path.unlink()
    raw(path, "CREATE TABLE vectors (x)")


def spoil_pages(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


SPOILS = [spoil for label, spoil in sorted(globals().items()) if label.startswith("spoil_")]


@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.__name__)
def test_a_file_that_is_no_cache_is_told_by_its_errors(path: Path, spoil) -> None:  # type: ignore[no-untyped-def]
    cache = opened(path)
    cache.put([(name(n), unit(n)) for n in range(50)])
    cache.close()
    spoil(path)
    with pytest.raises(BROKEN) as error:
        cache = opened(path)
        try:
            cache.matrix([name(n) for n in range(50)])
        finally:
            cache.close()
    assert is_damage(error.value)


def test_what_cannot_be_opened_or_is_closed_is_not_damaged(tmp_path: Path) -> None:
    with pytest.raises(BROKEN) as error:
        opened(tmp_path / "no" / "folder.sqlite")
    assert not is_damage(error.value)
    cache = opened(None)
    cache.close()
    with pytest.raises(BROKEN) as error:
        cache.count()
    assert not is_damage(error.value)


def test_a_full_disk_is_not_damage_and_what_was_kept_stays(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(1), unit(1))])
    (pages,) = cache._db.execute("PRAGMA page_count").fetchone()
    cache._db.execute(f"PRAGMA max_page_count = {pages}")
    for _ in range(2):
        with pytest.raises(BROKEN, match="full") as error:
            cache.put([(name(n), unit(n)) for n in range(2, 500)])
        assert not is_damage(error.value)
    assert cache.count() == 1
    cache._db.execute("PRAGMA max_page_count = 10000")
    cache.put([(name(2), unit(2))])
    assert cache.count() == 2
    cache.close()


def test_a_file_without_tables_for_lack_of_room_is_an_empty_cache(path: Path) -> None:
    path.touch(0o600)
    assert vectors.kept(path, "one", DIMENSION) == {} and vectors.counts(path) == {}
    cache = opened(path)
    cache.put([(name(1), unit(1))])
    cache.close()
    assert vectors.kept(path, "one", DIMENSION) == {name(1): 1}


def test_the_file_is_its_users_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        opened(path).close()
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o666)
        opened(path).close()
        assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_a_busy_file_is_not_damaged(path: Path) -> None:
    one = opened(path)
    two = opened(path)
    two._db.execute("PRAGMA busy_timeout = 1")
    one._db.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BROKEN) as error:
        two.put([(name(1), unit(1))])
    assert not is_damage(error.value)
    one.close()
    two.put([(name(1), unit(1))])
    two.close()


def test_away_from_its_file_it_knows_what_it_knew_and_writes_nothing(path: Path) -> None:
    cache = opened(path)
    cache.put([(name(1), unit(1))])
    before = path.read_bytes()
    cache.leave_file()
    cache.put([(name(2), unit(2))])
    assert cache.count() == 2 and sorted(cache.matrix([name(1), name(2)])[0]) == [0, 1]
    cache.close()
    assert path.read_bytes() == before


# Several at once

WRITER = """
import sys
from pathlib import Path
import numpy
from mdmem.store.vectors import Vectors
cache = Vectors(Path(sys.argv[1]), "one", 8)
vector = numpy.zeros((1, 8), "<f4"); vector[0, 0] = 1
for n in range(int(sys.argv[2]), int(sys.argv[2]) + 40):
    cache.put([(n.to_bytes(16, "big"), vector)])
cache.close()
"""


def test_processes_make_the_file_and_write_at_once(path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)]) for start in (0, 20, 40)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    cache = opened(path)
    assert cache.count() == 80 and cache.missing({name(n) for n in range(90)}) == {name(n) for n in range(80, 90)}
    cache.close()


@given(
    st.dictionaries(st.integers(0, 30), st.lists(st.integers(0, 99), max_size=3), max_size=12),
    st.sets(st.integers(0, 30)),
)
def test_any_vectors_are_given_back(kept: dict[int, list[int]], asked: set[int]) -> None:
    cache = opened(None)
    cache.put([(name(n), unit(*seeds) if seeds else None) for n, seeds in kept.items()])
    order = sorted(asked)
    places, found = cache.matrix([name(n) for n in order])
    for place, n in enumerate(order):
        mine = [vector.tobytes() for where, vector in zip(places, found, strict=True) if where == place]
        assert mine == [vector.tobytes() for vector in unit(*kept.get(n, []))]
    assert cache.missing({name(n) for n in order}) == {name(n) for n in asked - kept.keys()}
    cache.close()
