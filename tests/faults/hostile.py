"""Somebody else's vault, full of planted programs: every command is run in it, and none of them may run.

A *canary* is one planted program, filter, pickle or setting; it leaves a mark when it is run or obeyed. The vault is
made by an honest hand, planted, and then opened by every command there is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import hostile_commands as commands
import hostile_plants as plants
from hostile_commands import Home
from outcome import Outcome, chance


def everything(home: Home) -> list[str]:
    """Plant all that a repository and a folder can hold."""
    kinds = (plants.settings, plants.hooks, plants.attributes, plants.repositories)
    kinds += (plants.modules, plants.relative, plants.model, plants.wishes)
    return [name for kind in kinds for name in kind(home)]


def drivers(home: Home) -> list[str]:
    """Plant the same, but so that commits are made."""
    planted = everything(home)
    plants.without_filters(home)
    return planted


def fetching(home: Home) -> list[str]:
    """Plant a partial clone with all its objects gone."""
    return [*plants.settings(home), *plants.missing_objects(home)]


def stale_state(home: Home) -> list[str]:
    """Copy a vault with its repository and a forged STATE to where another was, as an archive is unpacked."""
    home.run("search", "whoosh")
    home.run("watch", "stop")
    planted = list(plants.state(home))
    copy = home.base / "copy"
    shutil.copytree(home.vault, copy, symlinks=True)
    shutil.rmtree(home.vault)
    copy.rename(home.vault)
    for manifest in (home.vault / ".git/mdmem").glob("*/index/*/manifest.json"):
        plants.seal(manifest)
    return planted


SCENES: Mapping[str, Callable[[Home], list[str]]] = {
    "everything": everything,
    "drivers": drivers,
    "fetching": fetching,
    "forged state": stale_state,
}


def run(folder: Path, scene: str, wanted: Iterable[str], *, way: str = "") -> Outcome:
    """Plant a scene in an empty folder and run commands in it, in a certain way: see `_environment`."""
    home = commands.settle(folder)
    commands.furnish(home)
    planted = SCENES[scene](home)
    home = Home(folder, _environment(home, way))
    failures, tries = list[str](), 0
    for name in wanted:
        for words in commands.lines(name):
            tries += len(planted)
            failures += _fired(home, scene, words)
    return Outcome(tries, failures, f"{len(planted)} canaries in the scene {scene!r}")


def _environment(home: Home, way: str) -> dict[str, str]:
    """Give what the environment is to say: `GIT_*` variables, a PATH with a relative part, the models there are."""
    match way:
        case "variables":
            return plants.variables(home)
        case "path":
            return {"PATH": f".{os.pathsep}{home.environment()['PATH']}", "EDITOR": ""}
        case "model":
            return {"MDMEM_EMBEDDING_MODEL": commands.UNSET}
    return {}


def _fired(home: Home, scene: str, words: list[str]) -> list[str]:
    """Run one command and name what it should not have done."""
    before, plain = set(plants.marks(home)), _written(home)
    try:
        done = home.run(*words)
    except subprocess.TimeoutExpired:
        return [f"{scene}: `{' '.join(words)}` did not end"]
    failures = [f"{scene}: `{' '.join(words)}` ran {mark}" for mark in sorted(set(plants.marks(home)) - before)]
    failures += [f"{scene}: `{' '.join(words)}` wrote {place}" for place in sorted(_written(home) - plain)]
    if b"Traceback" in done.stderr or done.returncode == 70 or done.returncode < 0:
        failures.append(f"{scene}: `{' '.join(words)}` ended with {done.returncode}: {done.stderr[-600:]!r}")
    return failures


def _written(home: Home) -> set[str]:
    """Name what lies beside the vault, where nothing but an `init` elsewhere may put anything."""
    return {path.name for path in home.base.iterdir()} - {"other", "marks"}


def traps_work(folder: Path) -> list[str]:
    """Use a planted vault without any care, and give the marks: what would have run."""
    home = commands.settle(folder)
    commands.furnish(home)
    everything(home)
    top = home.vault
    (top / "memory/new.md").write_text("changed\n")
    plants.git(home, "add", "--all")
    plants.git(home, "status")
    plants.without_filters(home)
    plants.git(home, "commit", "--allow-empty", "-am", "x")
    (top / "memory/archives/plan.md").write_text("changed\n")
    plants.git(home, "log", "-p", "--show-signature")
    plants.git(home, "diff")
    plants.git(home, "status", folder=top / "memory/nested")
    careless = home.environment() | plants.variables(home)
    subprocess.run(["git", "status"], cwd=top, env=careless, capture_output=True, check=False)
    for words in (["-c", "import typing, whoosh"], ["-m", "mdmem", "list"]):
        subprocess.run([sys.executable, *words], cwd=top, env=home.environment(), capture_output=True, check=False)
    subprocess.run(["sh", "-c", "PATH=.:$PATH; vi"], cwd=top, env=home.environment(), capture_output=True, check=False)
    return plants.marks(home)


def forgeries_work(folder: Path) -> list[str]:
    """Open a forged index with Whoosh alone, and give the marks."""
    home = commands.settle(folder)
    commands.furnish(home)
    stale_state(home)
    plants.opened_carelessly(home)
    return plants.marks(home)


def _full(scene: str, way: str = "") -> Callable[[Path], Outcome]:
    """Try a scene by every command; where only the way is another, by half of them, which depends on the seed."""

    def attempt(folder: Path) -> Outcome:
        names = commands.commands()
        wanted = set(chance("hostile", scene, way).sample(names, len(names) // (2 if way else 1)))
        return run(folder, scene, (name for name in names if name in wanted), way=way)

    return attempt


FULL: Mapping[str, Callable[[Path], Outcome]] = {
    "hostile vault: planted programs, filters, modules": _full("everything"),
    "hostile vault: the same, with commits and models": _full("drivers", "model"),
    "hostile vault: objects to be fetched by a command": _full("fetching"),
    "hostile vault: forged STATE": _full("forged state"),
    "hostile environment: GIT_* names programs and places": _full("drivers", "variables"),
    "hostile vault: PATH with a relative part": _full("drivers", "path"),
}
