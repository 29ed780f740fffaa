#!/usr/bin/env python3
"""What searching by meaning costs, each figure beside what it is to be compared with, in one run on one machine.

    python bench/meaning.py [VAULT] [--model NAME] [--entries N] [--runs N] [--rounds N] [--queries N]

VAULT is copied, not changed; without it a vault of so many entries is built, of words without meaning. The model is
prepared first, which is not measured. Then, each in processes of its own:

- a full index with vectors of a fresh clone, beside the encoder alone: load it, and embed the same texts, nothing else;
- commands from a cold start, in turns with a typer program that does nothing;
- searches in a process with the index open, in each mode;
- what Chroma finds of the ten nearest passages, beside comparing every vector.

Queries are the lines of `queries.txt` in VAULT, or words out of its entries. Memory is the most that the largest
process of a command had; Chroma's own is one of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes
import vaults
from processes import FOUND, MDMEM, Runs

STATE = "mdmem"
"""The folder in .git that a clone does not have."""

MODES = ("keyword", "semantic", "hybrid")


def timed(act: Callable[[], object]) -> float:
    """Return the seconds that it takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


# In processes of their own: each prints one JSON object


def texts(folder: Path, count: int) -> dict[str, Any]:
    """Give what a full index has to embed, each text once, and queries."""
    from mdmem import Vault
    from mdmem.text import scripts, units
    from mdmem.text.passages import passages

    vault = Vault.open(folder)
    card = vault.parts.meaning.card()
    assert card
    encoder = vault.parts.meaning.encoder(card)
    says: dict[str, None] = {}
    for path in sorted((folder / "memory").rglob("*.md")):
        for unit in units.read(str(path.relative_to(folder)), path.read_bytes()).units:
            says |= dict.fromkeys(passage.saying for passage in passages(unit))
    whole = [text for text in says if text and scripts.readable(text, card.scripts)]
    entries = vault.list()
    typed = folder / "queries.txt"
    if typed.is_file():
        queries = typed.read_text(encoding="utf-8").splitlines()
    else:
        words = [entry.text.split() for entry in entries]
        queries = [" ".join(some[len(some) // 2 :][:4]) for some in words if len(some) > 3]
    step = max(1, len(queries) // count)
    return {
        "texts": [window for text in whole for window in encoder.windows(text)],
        "entries": len(entries),
        "queries": queries[::step][:count],
    }


def bare(model: str, asked: Path) -> dict[str, Any]:
    """Load the encoder and embed texts, nothing else."""
    from mdmem import config
    from mdmem.store import encoder as encoders

    texts = json.loads(asked.read_text())["texts"]
    card = encoders.ready(model, config.cache_dir())
    assert card
    return {"vectors": sum(1 for _ in encoders.load(card, config.cache_dir()).passages(texts))}


def warm(folder: Path, asked: Path) -> dict[str, Any]:
    """Search every query in every mode with the index open; milliseconds, sorted."""
    from mdmem import Query, Vault

    vault = Vault.open(folder)
    queries = json.loads(asked.read_text())["queries"]
    found: dict[str, Any] = {}
    for mode in MODES:
        asked_for = [Query(query, mode=mode, fresh=True) for query in queries]  # an answer that is kept costs nothing
        for query in asked_for[:3]:
            vault.search(query)
        found[mode] = sorted(timed(lambda q=query: vault.search(q)) * 1000 for query in asked_for)
    return found


def neighbours(folder: Path, asked: Path) -> dict[str, Any]:
    """Compare Chroma's ten nearest passages with those of all vectors; the times of both, without the encoder's."""
    import numpy

    from mdmem import Vault
    from mdmem.vault import neighbours as chroma

    vault = Vault.open(folder)
    meaning = vault.parts.meaning
    card = meaning.card()
    assert card
    with vault.parts.index.open() as stores:
        listed = meaning.passages(stores)
        near = meaning._neighbours(stores, card)
        upto = meaning.filled_upto(stores, card)
    cache = meaning.cache(card)
    places, matrix = cache.matrix([passage.saying for passage in listed])
    cache.close()
    if near is None or not upto:
        return {"vectors": len(places)}
    rows = {name: row for row, name in enumerate(chroma._numbered(listed[place].key for place in places))}
    vectors = [meaning.encoder(card).query(query) for query in json.loads(asked.read_text())["queries"]]
    recalls, times, scans = [], [], []
    with near._make() as index:
        opening = timed(lambda: index.nearest(vectors[0], 10))
        for vector in vectors:
            started = time.perf_counter()
            found = [rows[name] for name, _ in index.nearest(vector, 10)]
            asked_at = time.perf_counter()
            cosines = matrix @ vector
            tenth = numpy.partition(cosines, -10)[-10] if len(cosines) > 10 else -1.0
            scans.append(time.perf_counter() - asked_at)
            times.append(asked_at - started)
            recalls.append(float(numpy.mean(cosines[found] >= tenth - 1e-5)))  # texts that say the same are equal
    return {
        "vectors": len(places),
        "recall": sum(recalls) / len(recalls),
        "worst": min(recalls),
        "opening_ms": opening * 1000,
        "ask_ms": sorted(times)[len(times) // 2] * 1000,
        "scan_ms": sorted(scans)[len(scans) // 2] * 1000,
    }


INSIDE: dict[str, Callable[..., dict[str, Any]]] = {
    "texts": lambda folder, count: texts(Path(folder), int(count)),
    "bare": lambda model, asked: bare(model, Path(asked)),
    "warm": lambda folder, asked: warm(Path(folder), Path(asked)),
    "neighbours": lambda folder, asked: neighbours(Path(folder), Path(asked)),
}


def inside(*words: str | Path) -> list[str]:
    """Give the command that runs one of these."""
    return [sys.executable, __file__, "--inside", *map(str, words)]


def told(*words: str | Path) -> dict[str, Any]:
    """Run one of these and read what it prints."""
    print(f"{words[0]} …", file=sys.stderr, flush=True)
    done: dict[str, Any] = json.loads(subprocess.run(inside(*words), check=True, stdout=subprocess.PIPE).stdout)
    return done


# Measuring


def clone(source: Path, target: Path) -> None:
    """Copy a vault as a clone would be: without an index."""
    gits = {str(source / ".git")}
    shutil.copytree(
        source, target, symlinks=True, ignore=lambda folder, names: [STATE] if folder in gits and STATE in names else []
    )


def whole_index(source: Path, asked: Path, spare: Path, options: argparse.Namespace) -> tuple[Runs, Runs]:
    """Index fresh clones with vectors, in turns with the encoder alone. The last clone stays, as `vault`."""
    full, alone = Runs(), Runs()
    vault = spare / "vault"
    for number in range(options.rounds):
        print(f"full index and bare encoder, {number + 1} of {options.rounds} …", file=sys.stderr, flush=True)
        shutil.rmtree(vault, ignore_errors=True)
        clone(source, vault)
        alone.add(inside("bare", options.model, asked), spare)
        full.add([*MDMEM, "reindex"], vault)
    return full, alone


def commands(vault: Path, spare: Path, queries: list[str], runs: int) -> dict[str, Runs]:
    """Run commands from a cold start, in turns; the first round only warms the caches."""
    found: dict[str, Runs] = {}
    nothing = processes.no_op(spare)
    for number in range(runs + 1):
        if number == 1:
            found = {}
        query = queries[number % len(queries)]
        each: dict[str, list[str]] = {"typer, no-op": nothing}
        each |= {f"search, {mode}": [*MDMEM, "search", "--mode", mode, "--", query] for mode in MODES}
        each["add, with its commit"] = [*MDMEM, "add", f"Prefers hot americano, half sugar {number}"]
        each["search, hybrid, after an add"] = [*MDMEM, "search", "--", query]
        each["add, another"] = [*MDMEM, "add", f"Wants the window seat, row {number}"]
        each["reindex after that"] = [*MDMEM, "reindex"]
        each["reindex, nothing to do"] = [*MDMEM, "reindex"]
        for name, command in each.items():
            found.setdefault(name, Runs()).add(command, vault, fine=FOUND if "search" in command else (0,))
        print(f"commands, {number} of {runs} …", file=sys.stderr, flush=True)
    return found


def print_index(searched: str, found: dict[str, Any], full: Runs, alone: Runs) -> None:
    """Print how long a full index takes, beside the encoder."""
    entries, count = found["entries"], len(found["texts"])
    print(f"{entries:,} entries and documents, {count:,} texts to embed; {searched}; {processes.machine()}\n")
    print("| | s | entries/s | texts/s | peak MB |\n| --- | ---: | ---: | ---: | ---: |")
    for name, runs in (("full index with vectors", full), ("the encoder alone, loaded", alone)):
        s = runs.median / 1000
        print(f"| {name} | {s:.1f} | {entries / s:.0f} | {count / s:.0f} | {runs.memory / 1e6:.0f} |")
    print(f"| full index / encoder | {full.median / alone.median:.2f} | | | |")


def print_commands(runs: dict[str, Runs]) -> None:
    """Print commands from a cold start."""
    base = runs["typer, no-op"].median
    print("\n| from a cold start | ms | × no-op | peak MB |\n| --- | ---: | ---: | ---: |")
    for name, each in runs.items():
        print(f"| {name} | {each.median:.0f} | {each.median / base:.1f} | {each.memory / 1e6:.0f} |")


def print_warm(times: dict[str, list[float]]) -> None:
    """Print searches with the index open."""
    print("\n| index open | p50 ms | p95 ms |\n| --- | ---: | ---: |")
    for mode, each in times.items():
        p50, p95 = each[len(each) // 2], each[len(each) * 95 // 100]
        print(f"| search, {mode} | {p50:.1f} | {p95:.1f} |")


def print_neighbours(found: dict[str, Any]) -> None:
    """Print how good Chroma is."""
    if "recall" not in found:
        print(f"\nChroma was not filled; there are {found['vectors']:,} vectors")
        return
    print(
        f"\nChroma on {found['vectors']:,} vectors: recall@10 {found['recall']:.4f} (worst query {found['worst']:.1f});"
        f" to open and ask {found['opening_ms']:.0f} ms, to ask {found['ask_ms']:.1f} ms; every vector compared"
        f" {found['scan_ms']:.1f} ms"
    )


def main() -> None:
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(INSIDE[sys.argv[2]](*sys.argv[3:])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", nargs="?", type=Path, metavar="VAULT")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--entries", type=int, default=1000, help="of the vault that is built")
    parser.add_argument("--runs", type=int, default=9, help="of each command")
    parser.add_argument("--rounds", type=int, default=1, help="of the full index")
    parser.add_argument("--queries", type=int, default=200, help="at most")
    options = parser.parse_args()
    searched = processes.choose_model(options.model)
    with tempfile.TemporaryDirectory() as name:
        spare = Path(name)
        source = spare / "source"
        if options.vault:
            clone(options.vault.resolve(), source)
        else:
            queries = vaults.logs(source, options.entries)
            (source / "queries.txt").write_text("\n".join(queries), encoding="utf-8")
        found = told("texts", source, options.queries)
        asked = spare / "asked.json"
        asked.write_text(json.dumps(found))
        full, alone = whole_index(source, asked, spare, options)
        vault = spare / "vault"
        near = told("neighbours", vault, asked)
        times = told("warm", vault, asked)
        runs = commands(vault, spare, found["queries"], options.runs)
    print_index(searched, found, full, alone)
    print_commands(runs)
    print_warm(times)
    print_neighbours(near)


if __name__ == "__main__":
    main()
