"""What the tests of the vault share: the user's own git, a log's text, and history in one line each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import mdmem
from mdmem import Vault

CODE = Path(mdmem.__file__).parent.parent
DAY = "memory/daily/2026-11-29.md"
HEADING = "# 2026-11-29\n\n"


def git(folder: Path | Vault, *words: str, data: bytes | None = None, code: int = 0) -> str:
    """Run git as the user does, without the final newline; the test fails when it ends otherwise."""
    root = folder.root if isinstance(folder, Vault) else folder
    done = subprocess.run(["git", *words], cwd=root, input=data, capture_output=True, check=False)
    assert done.returncode == code, os.fsdecode(done.stdout + done.stderr)
    return os.fsdecode(done.stdout).removesuffix("\n")


def python(code: str, *words: object, env: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
    """Start a program that has mdmem at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(CODE), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def again(vault: Vault) -> Vault:
    """Open the vault as the next command does."""
    return Vault.open(vault.root)


def log(vault: Vault, path: str = DAY) -> str:
    """Give a log as it is on disk."""
    return (vault.root / path).read_bytes().decode("utf-8", "surrogateescape")


def body(vault: Vault, path: str = DAY) -> str:
    """Give a log without its heading."""
    return log(vault, path).removeprefix(f"# {Path(path).stem}\n\n")


def committed(vault: Vault, path: str = DAY) -> str:
    """Give a file as HEAD has it."""
    done = subprocess.run(["git", "show", f"HEAD:./{path}"], cwd=vault.root, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def write(vault: Vault, path: str, data: str | bytes) -> Path:
    """Save a file as an editor does, in place."""
    place = vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    return place


def subjects(vault: Vault) -> list[str]:
    """List the subjects of all commits, newest first."""
    return git(vault, "log", "--format=%s").split("\n")


def ops(vault: Vault) -> list[str]:
    """List what kind of change each commit is, newest first."""
    return git(vault, "log", "--format=%(trailers:key=Mdmem-Op,valueonly,separator=)").split("\n")


def status(vault: Vault) -> str:
    """Give what the user's git has to say about the vault."""
    return git(vault, "status", "--porcelain", "--", ".")


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[bool]:
    """Put a disk of its own at an empty folder; gives whether that can be done here."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(words, check=False, capture_output=True).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill_up(place: Path) -> Path:
    """Leave no byte of a disk free; give the file that takes them."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast
