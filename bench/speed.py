#!/usr/bin/env python3
"""How long commands take from a cold start, beside a typer program that does nothing, in one run on one machine.

    python bench/speed.py [VAULT] [--copies N | --files N] [--runs N] [--model NAME]

VAULT is copied, not changed. Without it, a vault is built: the sample vault so many times, or so many small files.
The commands take turns, so that what else the machine does hits all of them alike. Times are medians; memory is
the most that the largest process of a command had. Without a model only the keyword side is measured; with one the
index has vectors, and searches of all modes take part.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import processes
import vaults
from processes import MDMEM, Runs


def build(folder: Path, options: argparse.Namespace) -> Path:
    """Make the vault to measure with, its index up to date."""
    vault = folder / "vault"
    if options.vault:
        shutil.copytree(options.vault, vault, symlinks=True)
    elif options.files:
        vaults.small_files(vault, options.files)
    else:
        vaults.samples(vault, options.copies)
    for words in (["init"], ["reindex"]):
        subprocess.run([*MDMEM, *words], cwd=vault, check=True, stdout=subprocess.DEVNULL)
    return vault


def measure(vault: Path, folder: Path, options: argparse.Namespace) -> dict[str, Runs]:
    """Run all commands in turns."""
    newest = subprocess.run([*MDMEM, "list", "-k", "1"], cwd=vault, check=True, capture_output=True, text=True)
    modes = ("keyword", "semantic", "hybrid") if options.model else ("keyword",)
    commands = {
        "typer, no-op": processes.no_op(folder),
        **{f"search, {mode}": [*MDMEM, "search", "--mode", mode, *options.query.split()] for mode in modes},
        "show": [*MDMEM, "show", newest.stdout.split()[1]],
        "list -k 10": [*MDMEM, "list", "-k", "10"],
        "add, with its commit": [*MDMEM, "add", "Prefers hot americano, half sugar"],
        "reindex after an add": [*MDMEM, "reindex"],
        "reindex, nothing to do": [*MDMEM, "reindex"],
    }
    runs = {name: Runs() for name in commands}
    for number in range(options.runs + 1):
        for name, command in commands.items():
            runs[name].add(command, vault)
        if number == 0:  # the first round only warms the caches
            runs = {name: Runs() for name in commands}
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", nargs="?", type=Path, metavar="VAULT")
    parser.add_argument("--copies", type=int, default=1, help="of the sample vault")
    parser.add_argument("--files", type=int, help="small files instead")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--query", default="half sugar")
    parser.add_argument("--model", default="", help="search by this one too")
    options = parser.parse_args()
    searched = processes.choose_model(options.model)
    with tempfile.TemporaryDirectory() as name:
        vault = build(Path(name), options)
        files = sum(1 for _ in (vault / "memory").rglob("*.md"))
        runs = measure(vault, Path(name), options)
    print(f"{files} files, medians of {options.runs} runs; {searched}; {processes.machine()}\n")
    print("| command | ms | over no-op | peak MB |\n| --- | ---: | ---: | ---: |")
    base = runs["typer, no-op"].median
    for name, each in runs.items():
        print(f"| {name} | {each.median:.0f} | {each.median - base:+.0f} | {each.memory / 1e6:.0f} |")


if __name__ == "__main__":
    main()
