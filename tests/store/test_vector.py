"""The vector index: what it keeps and finds, and how it fails when files, Chroma or the parent fail."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mdmem.fsio import calls
from mdmem.store.vector import Unusable, Vector

pytestmark = pytest.mark.large

SENTENCES = [f"Ada drinks her coffee number {number} without sugar." for number in range(400)]
IDS = [sha256(sentence.encode()).hexdigest()[:24] for sentence in SENTENCES]
WIDE = 384


def directions(count: int, dimension: int = 16, seed: int = 0) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def names(count: int) -> list[str]:
    return [str(number) for number in range(count)]


POINTS = directions(len(IDS))
Open = Callable[..., Vector]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed index, in a folder whose name could be taken for parts of a URL."""
    folder = tmp_path_factory.mktemp("odd ?#%41 name") / "chroma"
    with Vector(folder, model="minilm", dimension=16) as index:
        index.put(IDS, POINTS)
    return folder


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    """The same index elsewhere: other inodes and times, the same bytes."""
    return Path(shutil.copytree(filled, tmp_path / "copy"))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Indexes whose children end with the test, however it ends."""
    made: list[Vector] = []

    def make(folder: Path = tmp_path / "chroma", *, dimension: int = 16, deadline: float = 20.0) -> Vector:
        made.append(Vector(folder, model="minilm", dimension=dimension, deadline=deadline))
        return made[-1]

    yield make
    for index in made:
        index.clear()


def running(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def child(index: Vector) -> int:
    """The process id of a child that has opened its files."""
    index.ids()
    assert index.pid is not None
    return index.pid


def files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "data").rglob("*") if path.is_file())


def test_what_was_put_is_found_after_another_start(
    copy: Path, opened: Open, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Settings of chromadb's own, which would lead it to a server; it also takes them from a file where it runs.
    monkeypatch.setenv("CHROMA_API_IMPL", "chromadb.api.fastapi.FastAPI")
    monkeypatch.chdir(copy.parent)
    (copy.parent / ".env").write_text("CHROMA_API_IMPL=chromadb.api.fastapi.FastAPI\n")
    index = opened(copy)
    assert index.intact() and not index.is_open()
    assert index.ids() == set(IDS)
    assert index.is_open()
    for query in directions(5, seed=1):
        similarity = POINTS @ query
        best = np.argsort(-similarity)[:10]
        found = index.nearest(query, 10)
        assert [name for name, _ in found] == [IDS[number] for number in best]
        assert [score for _, score in found] == pytest.approx(similarity[best].tolist(), abs=1e-5)
    assert len(index.nearest(POINTS[0], 1000)) == len(IDS)
    index.close()
    assert index.intact()
    assert capfd.readouterr() == ("", "")


def test_vectors_are_replaced_and_removed(copy: Path, opened: Open) -> None:
    other = directions(1, seed=2)
    index = opened(copy)
    index.put(IDS[:1], other)
    index.drop([*IDS[1:300], "never there"])
    assert index.ids() == {IDS[0], *IDS[300:]}
    index.close()
    assert index.intact()
    again = opened(copy)
    assert again.ids() == {IDS[0], *IDS[300:]}
    (name, score), (_, second) = again.nearest(other[0], 2)
    assert name == IDS[0] and score == pytest.approx(1, abs=1e-5) and second < 0.99
    assert again.nearest(POINTS[0], 1)[0][1] < 0.99, "the replaced vector is still there"


def test_an_empty_index_has_nothing(opened: Open) -> None:
    index = opened()
    assert not index.intact()
    index.put([], directions(0))
    index.drop([])
    assert index.ids() == set()
    assert index.nearest(POINTS[0], 3) == []
    index.close()
    assert index.intact()


def test_no_text_is_in_the_files(filled: Path) -> None:
    held = b"".join(path.read_bytes() for path in files(filled))
    assert IDS[7].encode() in held
    assert not any(sentence.encode() in held for sentence in SENTENCES)
    base = sqlite3.connect(filled / "data" / "chroma.sqlite3")
    for query in ("embedding_metadata", "embedding_fulltext_search", "embeddings_queue WHERE metadata <> '{}'"):
        assert base.execute(f"SELECT count(*) FROM {query}").fetchone() == (0,)
    base.close()


def test_nobody_else_may_read_the_files(filled: Path) -> None:
    assert {path.stat().st_mode & 0o077 for path in [filled, filled / "data", *files(filled)]} == {0}


@pytest.mark.parametrize(("model", "dimension"), [("another", 16), ("minilm", 17)])
def test_another_model_is_not_served(filled: Path, model: str, dimension: int) -> None:
    index = Vector(filled, model=model, dimension=dimension)
    assert not index.intact()
    with pytest.raises(Unusable, match="another model"):
        index.ids()
    assert index.pid is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(which=st.integers(0, 5), where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_damaged_file_is_never_opened(copy: Path, which: int, where: float, bit: int) -> None:
    path = files(copy)[which]
    before = path.read_bytes()
    damaged = bytearray(before)
    if damaged:
        damaged[int(where * len(damaged))] ^= 1 << bit
    else:
        damaged.append(bit)
    path.write_bytes(damaged)
    index = Vector(copy, model="minilm", dimension=16)
    assert not index.intact()
    with pytest.raises(Unusable):
        index.start()
    assert index.pid is None
    path.write_bytes(before)
    assert index.intact()


def test_files_of_every_kind_are_watched(filled: Path) -> None:
    kinds = {path.name for path in files(filled)}
    assert kinds >= {"chroma.sqlite3", "data_level0.bin", "header.bin", "link_lists.bin", "length.bin"}
    assert len(files(filled)) == 6


@pytest.mark.parametrize("harm", ["missing", "besides", "link", "manifest", "not JSON", "no object"])
def test_a_changed_folder_is_never_opened(copy: Path, harm: str) -> None:
    path = files(copy)[0]
    match harm:
        case "missing":
            path.unlink()
        case "besides":
            (copy / "data" / "chroma.sqlite3-journal").write_bytes(b"")
        case "link":
            path.rename(copy / "moved")
            path.symlink_to(copy / "moved")
        case "manifest":
            (copy / "manifest.json").unlink()
        case "not JSON":
            (copy / "manifest.json").write_bytes(b"\xff{")
        case "no object":
            (copy / "manifest.json").write_text('{"state": "clean", "files": 3}')
    index = Vector(copy, model="minilm", dimension=16)
    assert not index.intact()
    with pytest.raises(Unusable):
        index.start()
    index.clear()
    assert not copy.exists()


def test_a_child_killed_in_the_middle_of_a_put(opened: Open) -> None:
    index = opened(dimension=WIDE)
    child(index)
    index.put(names(1000), directions(1000, WIDE))
    assert index.pid is not None
    os.kill(index.pid, signal.SIGKILL)
    with pytest.raises(Unusable, match="SIGKILL"):
        index.ids()
    index.close()
    assert not index.intact()
    with pytest.raises(Unusable):
        index.ids()
    index.clear()
    index.put(names(3), directions(3, WIDE))
    index.close()
    assert index.intact()


def test_a_child_killed_while_nothing_changes(copy: Path, opened: Open) -> None:
    index = opened(copy)
    os.kill(child(index), signal.SIGKILL)
    with pytest.raises(Unusable, match="SIGKILL"):
        index.nearest(POINTS[0], 1)
    assert index.intact()


def test_putting_does_not_wait_and_hanging_has_an_end(opened: Open) -> None:
    index = opened(dimension=WIDE, deadline=0.5)
    starter = threading.Thread(target=index.start)
    starter.start()
    starter.join()  # the child belongs to the process, not to the thread that started it
    pid = child(index)
    os.kill(pid, signal.SIGSTOP)
    index.put(names(300), directions(300, WIDE))
    os.kill(pid, signal.SIGCONT)
    assert index.ids() == set(names(300))
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Unusable, match="did not answer"):
        index.nearest(directions(1, WIDE)[0], 1)
    assert not running(pid)
    assert not index.intact()


def test_a_message_cut_off_is_not_sealed(opened: Open) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    index = opened(dimension=WIDE)
    pid = child(index)
    os.kill(pid, signal.SIGSTOP)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            index.put(names(4000), directions(4000, WIDE))  # more than the pipe holds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(Unusable, match="cut off"):
        index.close()
    assert not running(pid)
    assert not index.intact()


def test_an_error_elsewhere_keeps_what_is_in(opened: Open) -> None:
    index = opened()
    with pytest.raises(ZeroDivisionError), index:
        index.put(IDS, POINTS)
        1 / 0  # noqa: B018
    assert index.intact()


def test_what_chroma_refuses_is_told_later(opened: Open) -> None:
    index = opened()
    index.put(["nan"], np.full((1, 16), np.nan, dtype=np.float32))
    with pytest.raises(Unusable, match="NaN"):
        index.close()
    assert index.pid is None
    assert not index.intact()


def test_a_full_disk_makes_it_unusable(copy: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    index = opened(copy)
    pid = child(index)
    monkeypatch.setattr(calls, "rename", full)
    with pytest.raises(Unusable, match="disk is full"):
        index.put(["new"], POINTS[:1])
    monkeypatch.undo()
    index.drop(IDS[:1])
    monkeypatch.setattr(calls, "fdatasync", full)
    with pytest.raises(Unusable, match="No space"):
        index.close()
    assert not running(pid)
    assert not index.intact()


@pytest.mark.parametrize("shape", [(1, 16), (2, 15), (32,)])
def test_shapes_are_checked(opened: Open, shape: tuple[int, ...]) -> None:
    index = opened()
    with pytest.raises(ValueError, match="shape"):
        index.put(["a", "b"], np.ones(shape, dtype=np.float32))
    with pytest.raises(ValueError, match="shape"):
        index.nearest(np.ones(shape, dtype=np.float32), 1)
    assert index.pid is None


@pytest.mark.parametrize("stopped", [False, True])
def test_a_child_ends_with_its_parent(copy: Path, stopped: bool) -> None:
    code = (
        "import pathlib, sys, time; from mdmem.store.vector import Vector\n"
        "index = Vector(pathlib.Path(sys.argv[1]), model='minilm', dimension=16)\n"
        "index.start() if sys.argv[2] else index.ids()\n"
        "print(index.pid, flush=True); time.sleep(60)"
    )
    early = "" if stopped else "at once"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(copy), early], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        if stopped:
            os.kill(pid, signal.SIGSTOP)
        parent.kill()
        assert parent.stdout.read() == b""
    until = time.monotonic() + 20
    while running(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not running(pid)
