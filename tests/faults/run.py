#!/usr/bin/env python3
"""Try every fault many times, and print what came of it: fault, tries, failures.

    python tests/faults/run.py [ROW…] [--seconds N] [--seed N] [--list]

A ROW is part of a row's name. Each row runs in a process, a folder, a home and a git identity of its own, ten minutes
at most; rows that need but one core run beside each other, in memory, the others alone and on the disk. Ends with 1
when anything was not as promised; what exactly stands below the table.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from outcome import in_memory

HERE = Path(__file__).resolve().parent
CODE = HERE.parent.parent
LIMIT = 600
"""Seconds after which a row is ended."""

SHOWN = 10
"""How many failures of a row are printed."""

IDENTITY = "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
XDG = ("CONFIG_HOME", "CACHE_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR")
STEERING = ("GIT_", "MDMEM_", "XDG_", "FAULTS_")
NAMES = ("EDITOR", "VISUAL", "NO_COLOR", "COLUMNS")


def modules() -> Iterator[str]:
    """Yield the modules beside this one that have rows."""
    for path in sorted(HERE.glob("*.py")):
        if not path.name.startswith("test_") and "\nFULL" in path.read_text(encoding="utf-8"):
            yield path.stem


def is_alone(name: str, module: str) -> bool:
    """Tell whether a row needs the whole machine, as its module says: it uses all cores, or the time."""
    return name in getattr(sys.modules.get(module), "ALONE", ())


def is_short(name: str) -> bool:
    """Tell whether a row is over soon: such rows come last, when a core has nothing else to do any more."""
    return name.startswith("parser:")


def rows() -> dict[str, tuple[str, Callable[[Path], object] | None]]:
    """Gather all rows: name → (module, what tries it)."""
    found = {}
    for module in modules():
        try:
            full = importlib.import_module(module).FULL
        except Exception as error:  # the other kinds can be tried all the same
            full = {f"{module} cannot be imported: {error}": None}
        for name, attempt in full.items():
            if name in found:
                raise ValueError(f"two rows are named {name!r}")
            found[name] = (module, attempt)
    return found


def world(home: Path, options: argparse.Namespace) -> dict[str, str]:
    """Make a home, and give the environment of a row."""
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text(IDENTITY)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(STEERING) and name not in NAMES}
    made = {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "TZ": "Europe/Berlin", "MDMEM_EMBEDDING_MODEL": ""}
    made |= {f"XDG_{name}": str(home / name.lower()) for name in XDG}
    made |= {"PYTHONPATH": os.pathsep.join(map(str, (CODE, HERE, HERE.parent))), "FAULTS_SEED": str(options.seed)}
    # A socket's address has room for a hundred bytes, which a folder of folders soon fills.
    (home / "runtime_dir").mkdir(mode=0o700)
    return kept | made | ({"FAULTS_SECONDS": str(options.seconds)} if options.seconds else {})


def attempt(name: str, module: str, folder: Path, options: argparse.Namespace) -> dict[str, object]:
    """Run one row in a process of its own, and give its outcome."""
    result = folder / "outcome.json"
    (folder / "work").mkdir()
    process = subprocess.Popen(
        [sys.executable, __file__, "--one", module, name, str(folder / "work"), str(result)],
        env=world(folder / "home", options),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=max(LIMIT, 2 * (options.seconds or 0)))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        return {"tries": 0, "failures": [f"not over after {LIMIT} s: {os.fsdecode(said)[-1000:]}"], "note": ""}
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    if not result.exists():
        return {"tries": 0, "failures": [f"ended with {process.returncode}: {os.fsdecode(said)[-2000:]}"], "note": ""}
    found: dict[str, object] = json.loads(result.read_text())
    return found


def one(module: str, name: str, folder: str, result: str) -> None:
    """Be the process of one row."""
    outcome = importlib.import_module(module).FULL[name](Path(folder))
    Path(result).write_text(json.dumps(asdict(outcome)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--seconds", type=float, help="give each row that can choose so many seconds")
    parser.add_argument("--seed", type=int, default=20261129)
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no row is left behind
    sys.path[:0] = [str(CODE), str(HERE), str(HERE.parent)]
    chosen = {
        name: module
        for name, (module, _) in rows().items()
        if not options.rows or any(word in name or word == module for word in options.rows)
    }
    if options.list:
        print(*chosen, sep="\n")
        return 0
    return report(chosen, options)


def report(chosen: dict[str, str], options: argparse.Namespace) -> int:
    """Run the rows; print the table as it grows, then what went wrong."""
    print(f"seed {options.seed}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| fault | tries | failures | seconds | |\n| --- | ---: | ---: | ---: | --- |", flush=True)
    wrong: dict[str, list[str]] = {}

    def run(name: str) -> None:
        if failures := row(name, chosen[name], options):
            wrong[name] = failures

    try:
        alone = [name for name, module in chosen.items() if is_alone(name, module)]
        shared = [name for name in reversed(chosen) if name not in alone]
        shared.sort(key=is_short)
        for names, jobs in ((shared, os.cpu_count() or 1), (alone, 1)):
            with ThreadPoolExecutor(jobs) as pool:
                list(pool.map(run, names))
    finally:  # also after Ctrl-C
        for name, failures in wrong.items():
            print(f"\n{name}: {len(failures)} failures")
            for failure in failures[:SHOWN]:
                print(f"  - {failure}")
    return 1 if wrong else 0


def row(name: str, module: str, options: argparse.Namespace) -> list[str]:
    """Run one row, print its line of the table, and give its failures."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    started = time.monotonic()
    try:
        with nullcontext(folder) if is_alone(name, module) else in_memory(folder) as place:
            found = attempt(name, module, place, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    failures = [str(failure) for failure in found["failures"]]  # type: ignore[attr-defined]
    seconds = time.monotonic() - started
    print(f"| {name} | {found['tries']} | {len(failures)} | {seconds:.0f} | {found['note']} |", flush=True)
    return failures


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        sys.exit(main())
