#!/usr/bin/env python3
"""How long a durable `add` takes, for one writer and for many, beside the bare system calls it cannot do without.

    python bench/append.py [--adds N] [--writers N,…]

"bare" takes a lock with flock, appends a line to one file and calls fdatasync: what any durable shared log must do.
"journal" is `Journal.append`: from there on a text is safe, and `add` can no longer fail.
"add" is `Vault.add` in the library, with its journal, its log and its commit. Each writer is a process; "pending"
counts the entries whose commit was left to a later command because somebody else was writing. An add touches no index,
of words or of vectors: the next search does.
"""

from __future__ import annotations

import argparse
import fcntl
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import processes

Write = Callable[[int], bool]
"""Writes a line with this number, and tells whether something was left to be done later."""


def bare(folder: str) -> Write:
    """Return what appends a line by system calls alone."""
    lock = os.open(Path(folder) / "lock", os.O_CREAT | os.O_RDWR)
    log = os.open(Path(folder) / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def write(number: int) -> bool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(log, b"- 14:30 Prefers hot americano, half sugar %d\n" % number)
        os.fdatasync(log)
        fcntl.flock(lock, fcntl.LOCK_UN)
        return False

    return write


def journal(folder: str) -> Write:
    """Return what keeps an entry in the journal of the vault."""
    from mdmem import Vault
    from mdmem.store.journal import Journal, Record

    vault = Vault.open(folder)
    kept = Journal(vault.place.state / "journal")

    def write(number: int) -> bool:
        kept.append(Record(op="add", path="memory/daily/2026-11-29.md", text=f"Prefers hot americano {number}"))
        return False

    return write


def add(folder: str) -> Write:
    """Return what adds an entry to the vault."""
    from mdmem import Vault

    vault = Vault.open(folder)

    def write(number: int) -> bool:
        done = vault.add(f"Prefers hot americano, half sugar {number}")
        return done.pending or done.commit is None

    return write


def writer(kind: str, folder: str, adds: int, start, results) -> None:
    """Write so many lines as soon as all writers are ready."""
    write = {"bare": bare, "journal": journal, "add": add}[kind](folder)
    times, pending = [], 0
    start.wait()
    for number in range(adds):
        before = time.perf_counter()
        pending += write(number)
        times.append(time.perf_counter() - before)
    results.put((times, pending))


def measured(kind: str, folder: str, writers: int, adds: int) -> tuple[list[float], int, float]:
    """Let so many processes write at once; return all times sorted, what is pending, and the seconds in all."""
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(writers + 1), context.Queue()
    crowd = [context.Process(target=writer, args=(kind, folder, adds, start, results)) for _ in range(writers)]
    for process in crowd:
        process.start()
    start.wait()
    before = time.perf_counter()
    found = [results.get() for _ in crowd]
    took = time.perf_counter() - before
    for process in crowd:
        process.join()
    return sorted(time for times, _ in found for time in times), sum(pending for _, pending in found), took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adds", type=int, default=100, help="of each writer; a tenth where there are many")
    parser.add_argument("--writers", default="1,16")
    options = parser.parse_args()
    print(f"{processes.machine()}\n\n| | writers | p50 ms | p99 ms | a second | pending |\n| --- |{' ---: |' * 5}")
    for writers in map(int, options.writers.split(",")):
        for kind in ("bare", "journal", "add"):
            # An add takes a hundred times as long as what it is compared with, and many a writer waits.
            adds = options.adds if writers == 1 and kind == "add" else max(options.adds // 10, 1)
            adds *= 1 if kind == "add" else 50
            with tempfile.TemporaryDirectory() as folder:
                prepare(folder)
                times, pending, took = measured(kind, folder, writers, adds)
            p50, p99 = (times[len(times) * part // 100] * 1000 for part in (50, 99))
            print(f"| {kind} | {writers} | {p50:.1f} | {p99:.1f} | {len(times) / took:.0f} | {pending} |", flush=True)


def prepare(folder: str) -> None:
    """Make a vault of the folder."""
    from mdmem import Vault

    Vault.init(folder)


if __name__ == "__main__":
    main()
