"""Damage to every index, and whether the next search gives the right answer all the same.

Bytes are flipped, pages zeroed, files cut, removed, swapped, or changed while they are open; rebuilds are killed or
run out of disk; many read while others write.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from meaning_sandbox import MINILM, fill
from outcome import Outcome, chance
from vault_sandbox import again, python, small_disk, write

from mdmem import Vault, config
from mdmem.model import Answer, Query
from mdmem.store import encoder
from mdmem.vault import meaning as meanings
from mdmem.vault import space as spaces
from mdmem.vault.index import Stores
from mdmem.vault.searching import Recent, hits_of

WORDS = ("tea", "coffee order", "咖啡", "err_1042", '"green tea"', "tea -coffee", "gre*", "")
MEANT = ("a pet having a nap", "teeth appointment", "Decided on backups")
Hits = list[tuple[str, float]]
Damage = Callable[[Path, random.Random], None]


def made(root: Path) -> Vault:
    """Make a small vault whose index has a few segments."""
    vault, _ = Vault.init(root)
    for day in range(1, 8):
        text = f"# d\n\n- 09:00 green tea {day}\n- 10:00 coffee order {day} ERR_1042\n"
        write(vault, f"memory/daily/2026-11-0{day}.md", text)
    write(vault, "memory/archives/notes.md", "# Notes\n\n咖啡 and 木火共生\n")
    vault.reindex()
    write(vault, "memory/archives/later.md", "# Later\n\nmore green tea and an order of coffee\n")
    time.sleep(2.1)  # until the files' stamps can be trusted, so that a search finds nothing to do
    vault.reindex()
    return vault


def hits(answer: Answer) -> Hits:
    return [(hit.entry.address, round(hit.score, 6)) for hit in answer]


def asked(vault: Vault) -> list[Hits]:
    return [hits(vault.search(text, k=100, mode="keyword")) for text in WORDS]


# Damage


def flip(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def zero(path: Path, rng: random.Random) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(rng.randrange(max(1, size // 4096)) * 4096)
        file.write(bytes(min(4096, size)))


def cut(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def remove(path: Path, rng: random.Random) -> None:
    path.unlink()


def swap(path: Path, rng: random.Random) -> None:
    others = [other for other in path.parent.iterdir() if other.is_file() and other != path]
    path.write_bytes(rng.choice(others).read_bytes() if others else b"another file")


def quietly(path: Path, rng: random.Random) -> None:
    """Flip bytes and put the times back, as far as a program can."""
    before = path.stat()
    flip(path, rng)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


DAMAGES: tuple[Damage, ...] = (flip, zero, cut, remove, swap, quietly)


@dataclass(frozen=True, slots=True)
class Ground:
    """A vault, a copy of its STATE from when it was whole, and the answers that are right."""

    vault: Vault
    whole: Path
    right: list[Hits]

    def restore(self) -> None:
        shutil.rmtree(self.vault.place.state)
        shutil.copytree(self.whole, self.vault.place.state)


def ground(folder: Path) -> Ground:
    vault = made(folder / "v")
    right = asked(vault)
    shutil.copytree(vault.place.state, folder / "whole")
    return Ground(vault, folder / "whole", right)


def targets(state: Path, kind: str) -> list[Path]:
    """List the files of one kind of index."""
    index = state / "index"
    (generation,) = (path for path in index.iterdir() if path.is_dir())
    found = {
        "catalog": [generation / "catalog.sqlite"],
        "whoosh": sorted(path for path in (generation / "whoosh").iterdir() if not path.name.endswith("LOCK")),
        "manifest": [generation / "manifest.json", index / "current"],
        "vectors": [state / "vectors.sqlite"],
        "chroma": sorted(path for path in generation.glob("chroma/**/*") if path.is_file()),
    }
    return [path for path in found[kind] if path.stat().st_size]


def words(folder: Path, kind: str, tries: int) -> Outcome:
    """Damage files of the keyword index, and search in the next breath."""
    place = ground(folder)
    failures = []
    for number in range(tries):
        place.restore()
        rng = chance(kind, number)
        damage, path = rng.choice(DAMAGES), rng.choice(targets(place.vault.place.state, kind))
        damage(path, rng)
        failures += told(f"{damage.__name__} {path.name} ({number})", lambda: asked(again(place.vault)), place.right)
    return Outcome(tries, failures)


def told(name: str, ask: Callable[[], object], right: object) -> list[str]:
    """Ask, and say what was wrong with the answer."""
    try:
        given = ask()
    except Exception as error:
        return [f"{name}: {type(error).__name__}: {error}"]
    return [] if given == right else [f"{name}: another answer"]


def opened(folder: Path, tries: int) -> Outcome:
    """Damage files that are open already, in the middle of a search."""
    place = ground(folder)
    failures = []
    for number in range(tries):
        place.restore()
        rng = chance("opened", number)
        kind = rng.choice(("catalog", "whoosh"))
        damage, path = rng.choice(DAMAGES), rng.choice(targets(place.vault.place.state, kind))
        vault = again(place.vault)
        text = rng.choice(WORDS)

        def interrupted(
            stores: Stores,
            vault: Vault = vault,
            text: str = text,
            damage: Damage = damage,
            path: Path = path,
            rng: random.Random = rng,
        ) -> Hits:
            if path.exists() and vault.notices == []:
                vault.notices.append("damaged")
                damage(path, rng)
            found = hits_of(
                vault.place, stores, lambda: vault.parts.meaning, Recent(), Query(text, k=100, mode="keyword")
            )
            return [(hit.entry.address, round(hit.score, 6)) for hit in found[1]]

        right = place.right[WORDS.index(text)]
        name = f"{damage.__name__} {path.name} while open ({number})"
        failures += told(name, lambda v=vault, q=interrupted: v.parts.index.ask(q), right)  # type: ignore[misc]
        failures += told(name + ", then", lambda: asked(again(place.vault)), place.right)
    return Outcome(2 * tries, failures)


# Vectors and Chroma


@contextmanager
def by_chroma() -> Iterator[None]:
    """Have Chroma asked however few passages there are."""
    before = meanings.EXACT, spaces.EXACT
    meanings.EXACT = spaces.EXACT = 0
    try:
        yield
    finally:
        meanings.EXACT, spaces.EXACT = before


def with_model(folder: Path) -> Vault:
    """Make a vault in which everything has a vector; the model is prepared for this process first."""
    os.environ["MDMEM_EMBEDDING_MODEL"] = MINILM
    encoder.prepare(MINILM, config.cache_dir())
    vault, _ = Vault.init(folder / "v")
    fill(vault)
    vault.reindex()
    return vault


def vectors(vault: Vault, folder: Path, kind: str, tries: int) -> Outcome:
    """Damage the vectors or Chroma's files, and search by both legs."""
    failures = []
    state = vault.place.state
    with by_chroma() if kind == "chroma" else nullcontext():
        again(vault).search("warm")
        right = [hits(again(vault).search(text, k=10)) for text in MEANT]
        shutil.copytree(state, folder / "whole")
        for number in range(tries):
            shutil.rmtree(state)
            shutil.copytree(folder / "whole", state)
            rng = chance(kind, number)
            damage, path = rng.choice(DAMAGES), rng.choice(targets(state, kind))
            damage(path, rng)
            at = number % len(MEANT)
            failures += _meant(vault, f"{damage.__name__} {path.name} ({number})", MEANT[at], right[at])
    return Outcome(tries, failures)


def _meant(vault: Vault, name: str, text: str, right: Hits) -> list[str]:
    """Search by both legs: as before, or by words alone with a notice; after that as before."""
    try:
        answer = again(vault).search(text, k=10)
    except Exception as error:
        return [f"{name}: {type(error).__name__}: {error}"]
    if [one for one, _ in hits(answer)] == [one for one, _ in right]:
        return []
    return [] if answer.notices and answer.mode == "keyword" else [f"{name}: another answer: {hits(answer)[:3]}"]


def prepared(folder: Path, kind: str, tries: int) -> Outcome:
    return vectors(with_model(folder), folder, kind, tries)


# Rebuilds


def removed(folder: Path, tries: int) -> Outcome:
    """Remove the index of vaults of random content: the same answers."""
    failures = []
    for number in range(tries):
        rng = chance("removed", number)
        vault, _ = Vault.init(folder / f"r{number}")
        for day in range(1, rng.randrange(2, 9)):
            lines = [f"- {hour:02}:00 {' '.join(rng.choices(WORDS[:5], k=4))}\n" for hour in range(rng.randrange(1, 9))]
            write(vault, f"memory/daily/2026-10-0{day}.md", "# d\n\n" + "".join(lines))
            vault.search("tea")
        before = asked(vault)
        shutil.rmtree(vault.place.state / "index")
        failures += told(f"vault {number}", lambda v=vault: asked(again(v)), before)  # type: ignore[misc]
    return Outcome(tries, failures)


REBUILD = "import sys; from mdmem import Vault; Vault.open(sys.argv[1]).reindex(full=True)"


def killed(folder: Path, tries: int) -> Outcome:
    """Kill rebuilds at random moments: the old index answers, and the next rebuild clears up."""
    place = ground(folder)
    failures = []
    for number in range(tries):
        child = python(REBUILD, place.vault.root)
        with suppress(subprocess.TimeoutExpired):
            child.wait(chance("killed", number).uniform(0.15, 1.2))
        child.kill()
        child.communicate()
        failures += told(f"killed rebuild {number}", lambda: asked(again(place.vault)), place.right)
    again(place.vault).reindex(full=True)
    left = [path.name for path in (place.vault.place.state / "index").iterdir() if path.is_dir()]
    return Outcome(tries, failures + ([f"left behind: {left}"] if len(left) != 1 else []))


def full_disk(folder: Path, tries: int) -> Outcome:
    """Rebuild where the disk has hardly any room: the old index stays, and nothing of the new one."""
    small = Path(tempfile.mkdtemp(dir=folder))
    with small_disk(small, 1) as mounted:
        if not mounted:
            return Outcome(0, note="needs the right to mount")
        os.environ["MDMEM_STATE_DIR"] = str(small)
        try:
            return _full_disk(made(folder / "v"), small, tries)
        finally:
            del os.environ["MDMEM_STATE_DIR"]


def _full_disk(vault: Vault, small: Path, tries: int) -> Outcome:
    right, failures = asked(vault), []
    for number in range(tries):
        filler = small / "filler"
        room = os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
        filler.write_bytes(bytes(max(0, room - 4096 * chance("full", number).randrange(0, 24))))
        before = {path.name for path in (vault.place.state / "index").iterdir()}
        try:
            again(vault).reindex(full=True)
        except Exception as error:
            if type(error).__name__ != "StorageFailed":
                failures.append(f"{number}: {type(error).__name__}: {error}")
            elif {path.name for path in (vault.place.state / "index").iterdir()} != before:
                failures.append(f"{number}: something is left of the rebuild")
        failures += told(f"full disk {number}", lambda: asked(again(vault)), right)
        filler.unlink()
    return Outcome(tries, failures)


# Readers and writers


def _read(root: str, until: float, said: multiprocessing.Queue[str]) -> None:
    vault = Vault.open(root)
    while time.time() < until:
        try:
            found = vault.search("green tea", mode="keyword", k=50)
            if sum("green tea" in hit.text for hit in found) < 7:
                said.put(f"only {len(found)} hits")
            wrong = [notice for notice in found.notices if "damaged" in notice or "cannot be" in notice]
            for notice in wrong:
                said.put(notice)
        except Exception as error:
            said.put(f"reader: {type(error).__name__}: {error}")
        vault.notices.clear()


def _write(root: str, until: float, number: int, said: multiprocessing.Queue[str]) -> None:
    vault = Vault.open(root)
    count = 0
    while time.time() < until:
        count += 1
        try:
            write(
                vault, f"memory/archives/w{number}-{count % 5}.md", f"# {count}\n\nwritten {count}\n" * (count % 7 + 1)
            )
            vault.search(f"written {count}", mode="keyword")
            if count % 10 == 0:
                vault.reindex(full=True)
        except Exception as error:
            if type(error).__name__ != "Busy":
                said.put(f"writer: {type(error).__name__}: {error}")
        vault.notices.clear()


def crowd(folder: Path, seconds: float, *, readers: int = 8, writers: int = 2) -> Outcome:
    """Let many search while others change files and rebuild: nobody sees an error, or too few hits."""
    vault = made(folder / "v")
    context = multiprocessing.get_context("fork")
    said: multiprocessing.Queue[str] = context.Queue()
    until = time.time() + seconds
    root = str(vault.root)
    jobs = [context.Process(target=_read, args=(root, until, said)) for _ in range(readers)]
    jobs += [context.Process(target=_write, args=(root, until, number, said)) for number in range(writers)]
    for job in jobs:
        job.start()
    failures = []
    while any(job.is_alive() for job in jobs):
        with suppress(Exception):
            failures.append(said.get(timeout=0.2))
        if time.time() > until + 60:
            failures.append("somebody hangs")
            for job in jobs:
                job.kill()
    while not said.empty():
        failures.append(said.get())
    for job in jobs:
        job.join()
        if job.exitcode == -signal.SIGSEGV:
            failures.append("a process crashed")
    return Outcome(readers + writers, failures, f"{seconds:.0f} s")


FULL: dict[str, Callable[[Path], Outcome]] = {
    "index damage: catalog": lambda folder: words(folder, "catalog", 400),
    "index damage: Whoosh": lambda folder: words(folder, "whoosh", 400),
    "index damage: manifest": lambda folder: words(folder, "manifest", 400),
    "index damage while open": lambda folder: opened(folder, 200),
    "index damage: vectors": lambda folder: prepared(folder, "vectors", 400),
    "index damage: Chroma": lambda folder: prepared(folder, "chroma", 400),
    "index removed": lambda folder: removed(folder, 20),
    "index: rebuild killed": lambda folder: killed(folder, 60),
    "index: disk full in a rebuild": lambda folder: full_disk(folder, 60),
    "index: 8 readers, 2 writers": lambda folder: crowd(folder, 30),
}
