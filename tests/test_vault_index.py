"""The index: disposable, incremental, equal to a rebuild, and never in the way."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdmem import Vault
from mdmem.model import Reindexed
from mdmem.store import generations
from mdmem.store.catalog import Catalog

QUERIES = ("tea", "coffee order", "咖啡", "err_1042", "the", '"green tea"', "tea -coffee", "gre*", "", "rk", "木火 tea")
WORDS = """tea coffee green order 咖啡 木火共生 ERR_1042 milk the of rock work#x #tag cafe""".split()  # noqa: SIM905


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made, _ = Vault.init(tmp_path / "v")
    (made.root / "memory" / "daily").mkdir()
    for day in range(1, 6):
        write(
            made, f"daily/2026-11-0{day}.md", f"# d\n\n- 09:00 green tea {day}\n- 10:00 coffee order {day} ERR_1042\n"
        )
    write(made, "archives/notes.md", "# Notes\n\n咖啡 and 木火共生\n")
    return made


def write(vault: Vault, name: str, text: str) -> None:
    path = vault.root / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def answers(vault: Vault) -> list[list[tuple[str, float]]]:
    return [[(hit.entry.address, hit.score) for hit in vault.search(query, k=100)] for query in QUERIES]


def counts(done: Reindexed) -> tuple[int, int, int, int]:
    return done.added, done.modified, done.removed, done.unchanged


def test_reindex_is_a_merge(vault: Vault) -> None:
    assert counts(vault.reindex()) == (7, 0, 0, 0)
    assert counts(vault.reindex()) == (0, 0, 0, 7)
    write(vault, "daily/2026-11-01.md", "# d\n\n- 09:00 matcha\n")
    write(vault, "archives/new.md", "new")
    (vault.root / "memory" / "archives" / "notes.md").unlink()
    assert counts(vault.reindex()) == (1, 1, 1, 5)
    assert counts(vault.reindex(full=True)) == (7, 0, 0, 0)


def test_a_touched_file_is_unchanged(vault: Vault) -> None:
    vault.reindex()
    os.utime(vault.root / "memory" / "archives" / "notes.md", (1, 1))
    assert counts(vault.reindex()) == (0, 0, 0, 7)


def test_an_edit_of_the_same_size_and_second_is_seen(vault: Vault) -> None:
    assert vault.search("matcha").total == 0
    path = vault.root / "memory" / "daily" / "2026-11-01.md"
    before = path.stat()
    path.write_text(path.read_text("utf-8").replace("green tea", "matcha ok"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert vault.search("matcha").total == 1


edits = st.lists(st.tuples(st.integers(0, 5), st.lists(st.sampled_from(WORDS), max_size=6)), min_size=1, max_size=8)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(edits)
def test_edits_and_a_rebuild_give_the_same_answers(tmp_path_factory: pytest.TempPathFactory, steps: list) -> None:
    vault, _ = Vault.init(tmp_path_factory.mktemp("same") / "v")
    for number, words in steps:
        name = f"daily/2026-10-0{number + 1}.md" if number < 3 else f"archives/doc-{number}.md"
        path = vault.root / "memory" / name
        if not words and path.exists():
            path.unlink()
        elif number < 3:
            write(vault, name, "# d\n\n" + "".join(f"- 10:0{n} {w} {' '.join(words)}\n" for n, w in enumerate(words)))
        else:
            write(vault, name, f"# Doc\n\n{' '.join(words)}\n\n## Part\n\n{' '.join(words[::-1])}\n")
        vault.search("tea")
    incremental = answers(vault)
    vault.reindex(full=True)
    assert answers(vault) == incremental


def test_without_its_index_the_next_search_answers_as_before(vault: Vault) -> None:
    before = answers(vault)
    shutil.rmtree(vault.place.state / "index")
    assert answers(vault) == before


def harm_nothing_left(folder: Path) -> None:
    shutil.rmtree(folder / "whoosh")


def harm_flip(folder: Path) -> None:
    for path in (folder / "whoosh").glob("*.seg"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
        path.write_bytes(data)


def harm_toc(folder: Path) -> None:
    for path in (folder / "whoosh").glob("*.toc"):
        path.write_bytes(b"cos\nsystem\n(S'touch /tmp/mdmem-canary'\ntR.")


def harm_truncate(folder: Path) -> None:
    os.truncate(folder / "catalog.sqlite", 5000)


def harm_catalog(folder: Path) -> None:
    (folder / "catalog.sqlite").write_bytes(b"garbage" * 1000)


def harm_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("[1, 2")


def harm_manifest_gone(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def harm_extra(folder: Path) -> None:
    (folder / "whoosh" / "_MAIN_9.toc").write_bytes(b"x")


def harm_writing(folder: Path) -> None:
    generations.mark_writing(generations.Generation(folder.parent.parent, folder.name))
    with (folder / "catalog.sqlite").open("ab") as file:
        file.write(b"half")


HARMS = [f for name, f in sorted(globals().items()) if name.startswith("harm_")]


@pytest.mark.parametrize("harm", HARMS, ids=lambda f: f.__name__)
def test_a_damaged_index_is_rebuilt_and_said(vault: Vault, harm) -> None:  # type: ignore[no-untyped-def]
    before = answers(vault)
    directory = vault.parts.index.directory
    assert directory is not None
    harm(directory)
    again = Vault.open(vault.root)
    answer = again.search("tea")
    assert any("built anew" in notice for notice in answer.notices)
    assert not Path("/tmp/mdmem-canary").exists()
    assert answers(Vault.open(vault.root)) == before
    assert not directory.exists()


def test_another_identity_builds_anew(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers(vault)
    old = vault.parts.index.directory
    monkeypatch.setattr("mdmem.text.analyze.VERSION", 99)
    assert answers(Vault.open(vault.root)) == before
    assert Vault.open(vault.root).parts.index.directory != old


def test_where_state_cannot_be_written_the_files_are_read(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers(vault)
    state = vault.root.parent / "file-in-the-way"
    state.write_text("no folder")
    monkeypatch.setenv("MDMEM_STATE_DIR", str(state))
    blocked = Vault.open(vault.root)
    assert answers(blocked) == before
    assert any("the files were read instead" in notice for notice in blocked.search("tea").notices)


def test_a_busy_index_still_answers(vault: Vault) -> None:
    before = answers(vault)
    holder = Vault.open(vault.root)
    with holder.parts.index._lock.hold(0):
        write(vault, "archives/late.md", "late tea")
        other = Vault.open(vault.root)
        other.parts.index._wait = 50
        answer = other.search("tea", k=100)
        assert [hit.entry.address for hit in answer] == [address for address, _ in before[0]]
        assert any("newest changes may be missing" in notice for notice in answer.notices)
    assert vault.search("late").total == 1


def test_a_killed_rebuild_leaves_the_old_index(vault: Vault) -> None:
    before = answers(vault)
    for n in range(400):
        write(vault, f"archives/many/{n}.md", f"number {n} " * 50)
    child = subprocess.Popen(
        [sys.executable, "-c", f"from mdmem import Vault; Vault.open({str(vault.root)!r}).reindex(full=True)"]
    )
    try:
        child.wait(timeout=0.6)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    shutil.rmtree(vault.root / "memory" / "archives" / "many")
    assert answers(Vault.open(vault.root)) == before
    Vault.open(vault.root).reindex(full=True)
    assert sum(path.is_dir() for path in (vault.place.state / "index").iterdir()) == 1


def test_an_interrupted_update_leaves_the_index_as_it_was(vault: Vault) -> None:
    before = answers(vault)
    write(vault, "archives/late.md", "late tea")

    def interrupt(doing: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vault.reindex(progress=interrupt)
    (vault.root / "memory" / "archives" / "late.md").unlink()
    assert answers(Vault.open(vault.root)) == before


def test_an_interruption_between_the_two_commits_doubles_nothing(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.search("tea")
    write(vault, "archives/late.md", "late tea")

    def interrupt(catalog: Catalog) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Catalog, "recount", interrupt)
        vault.reindex()
    incremental = answers(Vault.open(vault.root))
    vault.reindex(full=True)
    assert answers(vault) == incremental


def test_progress_counts_the_files_and_the_commit(vault: Vault) -> None:
    seen: list[tuple[str, int, int]] = []
    vault.reindex(full=True, progress=lambda *step: seen.append(step))
    assert seen == [("indexing", n, 8) for n in range(1, 9)]


def test_files_that_cannot_be_read_as_notes_are_named_and_the_rest_works(vault: Vault) -> None:
    memory = vault.root / "memory"
    write(vault, "broken.md", "---\ntitle: part one: start\n---\nstill found zebra\n")
    (memory / "wide.md").write_bytes("wide zebra".encode("utf-16"))
    (memory / "nul.md").write_bytes(b"nul\0 zebra")
    (memory / "latin.md").write_bytes(b"caf\xe9 zebra")
    (memory / "link.md").symlink_to(memory / "broken.md")
    (memory / "nested").mkdir()
    (memory / "nested" / ".git").write_text("gitdir: elsewhere")
    (memory / "nested" / "zebra.md").write_text("zebra")
    (memory / ".hidden.md").write_text("zebra")
    done = vault.reindex()
    named = {finding.path.removeprefix("memory/"): finding for finding in done.failures}
    assert named.keys() == {"broken.md", "wide.md", "nul.md", "latin.md", "link.md", "nested"}
    assert named["broken.md"].line == 2 and named["latin.md"].line == 1
    found = {hit.entry.address for hit in vault.search("zebra", k=50)}
    assert found == {"broken", "wide", "nul", "latin"}
    assert {finding.path for finding in vault.reindex().failures} == {finding.path for finding in done.failures}


def test_odd_names_are_indexed(vault: Vault) -> None:
    memory = os.fsencode(vault.root / "memory")
    for name in (b"line\nbreak.md", b"-dash.md", b"quo\"te'.md", b"latin\xe9.md", "é.md".encode(), b"tab\there.md"):
        with open(os.path.join(memory, name), "w") as file:
            file.write("okapi")
    assert vault.search("okapi", k=50).total == 6
    assert len(vault.search("okapi", k=50)) == 6
    assert len(vault.list(within="")) >= 6


def test_a_large_file_is_named_not_indexed(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_INDEX_MAX_FILE_MB", "1")
    write(vault, "large.md", "giant " * 200_000)
    again = Vault.open(vault.root)
    assert [f.message for f in again.reindex().failures] == ["is larger than 1 MB and not indexed"]
    assert again.search("giant").total == 0


def test_reading_changes_nothing_under_the_vault(vault: Vault) -> None:
    def look() -> dict[str, bytes]:
        files = (p for p in vault.root.rglob("*") if p.is_file() and ".git" not in p.parts)
        return {str(path): path.read_bytes() for path in files}

    before = look()
    answers(vault)
    vault.list()
    vault.tags()
    vault.status()
    assert look() == before


def test_core_commands_work_without_the_heavy_libraries(vault: Vault) -> None:
    code = f"""
import sys
for name in ("sentence_transformers", "torch", "chromadb", "onnxruntime", "numpy"):
    sys.modules[name] = None
from mdmem import Vault
v = Vault.open({str(vault.root)!r})
a = v.add("hidden libraries")
assert v.get(a.address).text == "hidden libraries"
assert v.search("hidden")[0].entry.address == a.address
assert v.list(k=1)[0].address == a.address
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_random_slices_of_a_vault_are_found(vault: Vault) -> None:
    rng = random.Random(3)
    texts = {entry.address: entry.text for entry in vault.list()}
    for _ in range(200):
        address = rng.choice(sorted(texts))
        text = texts[address]
        start = rng.randrange(max(1, len(text) - 1))
        needle = text[start : start + rng.randrange(1, 9)]
        if needle.strip():
            found = {hit.entry.address for hit in vault.search(needle, k=100)}
            assert found >= {a for a, t in texts.items() if needle.lower() in t.lower()}, needle
