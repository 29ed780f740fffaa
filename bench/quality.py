#!/usr/bin/env python3
"""Search quality of a vault against judged queries: writes a run file for each set, and scores it.

    python bench/quality.py EVAL_DIR [--sets NAME,…] [--mode MODE] [--work DIR]

EVAL_DIR holds `build_vault.py`, `score.py` and `data/<set>/` with a corpus, `queries.jsonl` and `qrels.tsv`. Each
set becomes a vault under the work folder and is searched with the text of each query alone, ten hits each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from mdmem import Vault


def build(tools: Path, name: str, work: Path) -> Path:
    """Make the set's vault once; give its folder."""
    vault = work / name
    if not vault.exists():
        subprocess.run(
            [sys.executable, tools / "build_vault.py", tools / "data" / name, vault, "--git"],
            check=True,
            stdout=sys.stderr,
        )
    return vault


def search(vault: Path, queries: Path, run: Path, mode: str) -> None:
    """Write the hits of every query, with the id of each hit and a score that keeps their order."""
    memory = Vault.open(vault)
    with queries.open(encoding="utf-8") as lines, run.open("w", encoding="utf-8") as out:
        for query in map(json.loads, lines):
            answer = memory.search(query["text"], k=10, mode=mode)
            for place, hit in enumerate(answer):
                out.write(f"{query['id']}\t{hit.entry.id}\t{100 - place}\n")


def score(tools: Path, name: str, run: Path) -> dict[str, float]:
    """Score a run file with the set's own tool."""
    command = [sys.executable, tools / "score.py", tools / "data" / name, run, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["all"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path, metavar="EVAL_DIR")
    parser.add_argument("--sets", help="names with commas; all by default")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "mdmem-quality")
    parser.add_argument("--mode", default="keyword")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    names = options.sets.split(",") if options.sets else sorted(p.name for p in (options.tools / "data").iterdir())
    print(f"{'set':<16} {'n':>5}   R@1   R@5  R@10 nDCG@10 MRR@10")
    for name in names:
        run = options.work / f"{name}.{options.mode}.tsv"
        search(
            build(options.tools, name, options.work), options.tools / "data" / name / "queries.jsonl", run, options.mode
        )
        row = score(options.tools, name, run)
        print(
            f"{name:<16} {row['queries']:>5} {row['R@1']:.3f} {row['R@5']:.3f} {row['R@10']:.3f}"
            f"   {row['nDCG@10']:.3f}  {row['MRR@10']:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
