"""Whose files they are, and whether anything is sent: modes under any umask, and system calls that reach a network."""

from __future__ import annotations

import os
import re
import shutil
import stat as modes
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import hostile_commands as commands
from hostile_commands import Home
from outcome import Outcome

CONNECTS = re.compile(r"(?:connect|sendto|sendmsg)\(\d+.*?sa_family=(?P<family>AF_\w+)(?P<rest>.*)")


def kept_private(folder: Path, wanted: Iterable[str], *, cache: Path | None = None) -> Outcome:
    """Run commands under a umask of 0 and look at all that they made. What git makes follows git's own rules."""
    home = commands.settle(
        folder, **({"XDG_CACHE_HOME": str(cache), "MDMEM_EMBEDDING_MODEL": commands.UNSET} if cache else {})
    )
    before = os.umask(0)
    try:
        commands.furnish(home)
        theirs = set(folder.rglob("*"))
        lines = [words for name in wanted for words in commands.lines(name) if words[:1] != ["init"]]
        home.run("watch", "--detach")
        home.run("watch", "stop")
        mine = [["config", "set", "--user", "search.k", "5"], ["config", "trust", "--yes"], ["search", "x"]]
        lines = [*mine, *(words for words in lines if not commands.lasts(words))]
        failures = [failure for words in lines for failure in _opened(home, words, theirs)]
    finally:
        os.umask(before)
    return Outcome(len(lines), list(dict.fromkeys(failures)))


def _opened(home: Home, words: list[str], theirs: set[Path]) -> Iterator[str]:
    home.run(*words)
    for path in home.base.rglob("*"):
        if path in theirs and not _is_state(path):
            continue
        if _is_gits(path) or path.suffix == ".swap":  # a version of a person's file, with the mode they gave it
            continue
        stat = path.lstat()
        wanted = 0o077 if not modes.S_ISLNK(stat.st_mode) else 0
        if stat.st_mode & wanted:
            name = re.sub(r"[0-9a-f]{12,}|\w{12,}\.(?=seg)", "<id>", str(path.relative_to(home.base)))
            yield f"{name} has the mode {modes.S_IMODE(stat.st_mode):o}"


def _is_state(path: Path) -> bool:
    return ".git/mdmem" in str(path)


def _is_gits(path: Path) -> bool:
    """Tell what git makes: its own files; and the one file a person named with `--run` is not here."""
    return ".git" in path.parts and not _is_state(path)


def silent(folder: Path, wanted: Iterable[str]) -> Outcome:
    """Run commands where there is no network, and see whether one of them tries to reach any."""
    home = commands.settle(folder, MDMEM_EMBEDDING_MODEL=commands.UNSET)
    commands.furnish(home)
    alone = ["unshare", "-n"] if _may_unshare() else []
    lines = [words for name in wanted for words in commands.lines(name) if not commands.lasts(words)]
    failures = []
    for words in lines:
        log = folder / "trace"
        traced = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-e", "signal=none", "-o", str(log)]
        subprocess.run(
            [*alone, *traced, str(home.script), *words],
            cwd=home.vault,
            env=home.environment(),
            input=b"typed\n",
            capture_output=True,
            timeout=120,
            check=False,
        )
        failures += [f"{' '.join(words)}: {what}" for what in _reached(log.read_text(errors="replace"))]
    return Outcome(len(lines), failures, "" if alone else "without a namespace of its own")


def _may_unshare() -> bool:
    found = shutil.which("unshare")
    return bool(found) and subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0


def _reached(log: str) -> Iterator[str]:
    """Yield what leads out of the machine, which a socket of the file system does not."""
    for found in CONNECTS.finditer(log):
        if found["family"] not in ("AF_UNIX", "AF_UNSPEC"):
            yield found[0][:200]


FULL: Mapping[str, Callable[[Path], Outcome]] = {
    "modes: files 0600, folders 0700 under any umask": lambda folder: kept_private(folder, commands.commands()),
    "network: no attempt by any command on defaults": lambda folder: silent(folder, commands.commands()),
}
