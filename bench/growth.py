#!/usr/bin/env python3
"""How time and size grow with the number of entries.

    python bench/growth.py [VAULT…] [--entries N,…] [--model NAME]

Builds a vault of each size (English and Chinese, words by Zipf's law), or takes copies of the vaults that are named,
with the queries, a line each, of `queries.txt` in them. Every vault is measured by a process of its own. "warm" is a
search through the library with the index open; "cold" is `mdmem search`, from the start of Python to its end. Without
a model only the keyword side is measured; with one the index has vectors and a search is hybrid.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import processes
import vaults
from processes import FOUND, MDMEM, Runs

ROWS = {
    "entries": "entries",
    "full_s": "full reindex, s",
    "noop_ms": "reindex, nothing to do, ms",
    "entry_ms": "reindex after one entry, ms",
    "warm_p50_ms": "search warm, p50 ms",
    "warm_p95_ms": "search warm, p95 ms",
    "cold_p50_ms": "search cold, p50 ms",
    "cold_p95_ms": "search cold, p95 ms",
    "no_op_ms": "typer, no-op, ms",
    "text_mb": "Markdown, MB",
    "index_mb": "index, MB",
    "vectors_mb": "vectors, MB",
    "reindex_rss_mb": "full reindex, peak MB",
    "search_rss_mb": "search cold, peak MB",
}


def timed(act: Callable[[], object]) -> float:
    """Return the seconds that it takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def size(folder: Path) -> int:
    """Return the bytes of all files below."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def in_library(folder: Path, queries: list[str]) -> dict[str, float]:
    """Measure what the library does with this vault; the numbers of a process of its own."""
    from mdmem import Query, Vault

    vault, _ = Vault.init(folder)
    found: dict[str, float] = {"full_s": timed(lambda: vault.reindex(full=True))}
    found["reindex_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    found["entries"] = vault.status().entries
    found["noop_ms"] = statistics.median(timed(vault.reindex) for _ in range(5)) * 1000
    newest = max((folder / "memory" / "daily").glob("*.md"), default=None)
    found["entry_ms"] = statistics.median(_one_more(vault, newest) for _ in range(5)) * 1000 if newest else 0
    asked = [Query(query, fresh=True) for query in queries]  # an answer that is kept costs nothing
    for query in asked[:3]:
        vault.search(query)
    times = sorted(timed(lambda q=query: vault.search(q)) for query in asked)  # type: ignore[misc]
    found["warm_p50_ms"], found["warm_p95_ms"] = _percentiles(times)
    status = vault.status()
    found["index_mb"] = size(Path(status.index_dir or "")) / 1e6
    vectors = Path(status.state_dir) / "vectors.sqlite"
    found["vectors_mb"] = vectors.stat().st_size / 1e6 if vectors.exists() else 0
    found["text_mb"] = size(folder / "memory") / 1e6
    return found


def _one_more(vault, newest: Path) -> float:
    with newest.open("a", encoding="utf-8") as log:
        log.write("- 23:59 One more entry, typed by hand\n")
    return timed(vault.reindex)


def _percentiles(times: list[float]) -> tuple[float, float]:
    return times[len(times) // 2] * 1000, times[len(times) * 95 // 100] * 1000


def in_terminal(folder: Path, queries: list[str], spare: Path) -> dict[str, float]:
    """Measure cold searches, in turns with a program that does nothing."""
    search, nothing = Runs(), Runs()
    command = processes.no_op(spare)
    for query in queries[:: max(len(queries) // 20, 1)]:
        nothing.add(command, folder)
        search.add([*MDMEM, "search", "--", query], folder, fine=FOUND)
    p50, p95 = _percentiles(sorted(search.seconds))
    memory = search.memory / 1e6
    return {"cold_p50_ms": p50, "cold_p95_ms": p95, "no_op_ms": nothing.median, "search_rss_mb": memory}


def measured(folder: Path, queries: list[str], spare: Path) -> dict[str, float]:
    """Measure one vault."""
    asked = spare / "asked.json"
    asked.write_text(json.dumps(queries))
    command = [sys.executable, __file__, "--inside", str(folder), str(asked)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout) | in_terminal(folder, queries, spare)


def main() -> None:
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(in_library(Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text()))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vaults", nargs="*", type=Path, metavar="VAULT")
    parser.add_argument("--entries", default="1000,10000,100000", help="sizes with commas, where no vault is named")
    parser.add_argument("--model", default="", help="search by this one too")
    options = parser.parse_args()
    searched = processes.choose_model(options.model)
    found = []
    sources = options.vaults or [int(count) for count in options.entries.split(",")]
    for source in sources:
        with tempfile.TemporaryDirectory() as name:
            vault, spare = Path(name) / "vault", Path(name)
            if isinstance(source, int):
                queries = vaults.logs(vault, source)
            else:
                shutil.copytree(source, vault)
                queries = (vault / "queries.txt").read_text(encoding="utf-8").split("\n")[:-1]
            found.append(measured(vault, queries, spare))
            print(f"{source}: done", file=sys.stderr)
    names = [source.name if isinstance(source, Path) else "built" for source in sources]
    print(f"{searched}; {processes.machine()}\n\n| | {' | '.join(names)} |\n| --- |{' ---: |' * len(found)}")
    for key, title in ROWS.items():
        if not any(each[key] for each in found):
            continue
        numbers = [
            f"{each[key]:,.0f}" if each[key] >= 100 or key == "entries" else f"{each[key]:.1f}" for each in found
        ]
        print(f"| {title} | {' | '.join(numbers)} |")


if __name__ == "__main__":
    main()
