"""Whole commands as a person types them, and all that they print: `tests/transcripts/*.txt`.

A transcript is prose at the left margin, and below it, indented by two spaces, a terminal:

      $ mdmem show nothing
      ! error: there is nothing at nothing
      ! hint: `mdmem list` shows addresses
      [1]

- `$ ` begins a command; a backslash at its end takes in the next line. It is run by `sh` in a folder `~/memory`,
  which holds a copy of `sample_vault` under git unless the transcript's name begins with `new`. There is no model
  unless the name begins with `meaning`: then it is MiniLM, prepared.
- What the command wrote to stdout follows as it is, then stderr with `! ` before each line, then the exit code in
  brackets if it is not 0. A line of stdout that could be taken for one of these has a backslash before it.
- `on-terminal COMMAND` runs a command on a terminal of 80 columns; `editor SED-SCRIPT` is an editor for `EDITOR`.
- What differs from run to run stands as `<today>`, `<time>`, `<ms>`, `<s>`, `<commit>` or `<id>`; the home is `~`. With
  a model, whose numbers depend on the processor, scores and what led to them stand as `<n>`.

`make transcripts` writes the expected lines anew. Read the difference: it is what people will see.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent
SCRIPTS = sorted((HERE / "transcripts").glob("*.txt"))
ZONE = ZoneInfo("Europe/Berlin")  # the sample vault's

PROGRAMS = {
    "mdmem": 'exec "{python}" -m mdmem "$@"\n',
    "on-terminal": 'exec "{python}" "{here}/transcripts/on_terminal.py" "$@"\n',
    "editor": 'sed -i -e "$1" "$2"\n',
    "crontab": """\
case $1 in
-l) [ -e '{folder}/table' ] || {{ echo 'no crontab for lin' >&2; exit 1; }}
    cat '{folder}/table' ;;
-)  cat > '{folder}/new' && mv '{folder}/new' '{folder}/table' ;;
esac
""",
    "systemctl": "echo 'Failed to connect to bus: No medium found' >&2; exit 1\n",
}
"""Those that a transcript may run besides the system's own. The last two keep it from those of whoever tests."""

GITCONFIG = """\
[user]
    name = Lin Yue
    email = yue@example.org
[init]
    defaultBranch = main
"""


# The format


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield ("prose", line) and ("command", lines) in the order of the file; expected lines are left out."""
    lines = iter(text.split("\n"))
    for line in lines:
        if line.startswith("  $ "):
            command = line
            while command.endswith("\\"):
                command += "\n" + next(lines)
            yield "command", command
        elif line and not line.startswith(" "):
            yield "prose", line


def shown(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what a command printed, as lines of a transcript."""
    *lines, rest = done.stdout.split("\n")
    lines = [re.sub(r"^(?=[$!] |\[\d+\]$|\\)", r"\\", line) for line in lines]
    lines += [rest, "(and no newline)"] if rest else []
    lines += [f"! {line}" for line in done.stderr.removesuffix("\n").split("\n") if done.stderr]
    lines += [f"[{done.returncode}]"] if done.returncode else []
    return [f"  {line}" if line else "" for line in lines]


# The place


@dataclass(frozen=True, slots=True)
class Place:
    """A home of its own with a vault in it, and the environment of somebody who lives there."""

    home: Path
    environment: dict[str, str]

    @property
    def vault(self) -> Path:
        return self.home / "memory"

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a line of shell in the vault."""
        return subprocess.run(
            ["sh", "-c", command],
            cwd=self.vault,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            timeout=60,
            check=False,
        )


def settle(folder: Path, *, empty: bool = False, models: Path | None = None) -> Place:
    """Make a home, the programs that transcripts may use, and a vault unless it is to be empty.

    `models` is a cache in which MiniLM is prepared.
    """
    folder = folder.resolve()
    home, programs = folder / "home", folder / "bin"
    home.mkdir()
    programs.mkdir()
    (home / ".gitconfig").write_text(GITCONFIG)
    for name, body in PROGRAMS.items():
        path = programs / name
        path.write_text("#!/bin/sh\n" + body.format(python=sys.executable, here=HERE, folder=programs))
        path.chmod(0o755)
    place = Place(home, environment(home, programs) | with_model(models))
    if empty:
        place.vault.mkdir()
        return place
    shutil.copytree(ROOT / "sample_vault", place.vault)
    done = place.run("mdmem init")
    assert done.returncode == 0, done.stderr
    return place


def environment(home: Path, programs: Path) -> dict[str, str]:
    """Return an environment that holds nothing of the developer's."""
    return {
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONSAFEPATH": "1",  # or a vault's own json.py would be imported
        "LANG": "C.UTF-8",
        "TZ": "Europe/Berlin",
        "TERM": "xterm",
        "TMPDIR": str(home.parent),
    }


def with_model(models: Path | None) -> dict[str, str]:
    """Return what of the environment says whether there is a model."""
    return {"XDG_CACHE_HOME": str(models)} if models else {"MDMEM_EMBEDDING_MODEL": ""}


# What differs from run to run


def plain(text: str, place: Place, now: datetime) -> str:
    """Return the text with a placeholder for all that another run would print differently."""
    text = text.replace(str(place.home), "~").replace(str(place.home.parent), "<tmp>")
    text = re.sub(r'"took_ms": [\d.]+', '"took_ms": <ms>', text)
    text = re.sub(r"\b\d+\.\d s$", "<s> s", text)
    if "XDG_CACHE_HOME" in place.environment:
        text = re.sub(r"(score|cosine|keyword:|semantic:) [+-]?\d+\.\d+", r"\1 <n>", text)
    text = re.sub(r"(# mdmem [a-z-]+) [0-9a-f]{12} [0-9a-f]{8}", r"\1 <id> <id>", text)
    text = text.replace(sys.executable, "<python>")
    text = re.sub(r"(index/|mdmem/|<tmp>/mdmem-)[\w-]{8,}", r"\1<id>", text)
    return _without_commits(_without_now(text, now), place)


def _without_now(text: str, now: datetime) -> str:
    """Replace the moments of the last minutes, and the days in the names of logs."""
    for ago in range(-1, 4):
        moment = now - timedelta(minutes=ago)
        text = re.sub(rf"{moment:%Y-%m-%d([#T ])%H:%M}(:\d\d)?(\.\d+)?(\+\d\d:\d\d)?", r"<today>\1<time>", text)
        text = re.sub(rf"^  {moment:%H:%M}(:\d\d)?(\.\d)?  ", "  <time>  ", text)
        text = text.replace(f"daily/{moment:%Y-%m-%d}.md", "daily/<today>.md")
    return text


def _without_commits(text: str, place: Place) -> str:
    """Replace what begins like the name of a commit of the vault."""
    words = re.findall(r"(?:(?<![0-9A-Za-z])|(?<=\dm))[0-9a-f]{7,40}(?![0-9A-Za-z])", text)
    if words:
        listed = ["git", "-C", str(place.vault), "rev-list", "--all", "--reflog"]
        done = subprocess.run(listed, capture_output=True, text=True, env=place.environment, check=False)
        for word in sorted(words, key=len, reverse=True):
            if f"\n{word}" in f"\n{done.stdout}":
                text = text.replace(word, "<commit>")
    return text


# A whole transcript


def played(script: Path, place: Place) -> str:
    """Run a transcript's commands and return it as it would be had all of them been expected to do just that.

    Whatever happens, no process watches the vault afterwards.
    """
    try:
        return "\n".join(_lines(script.read_text(encoding="utf-8"), place)) + "\n"
    finally:
        if (place.vault / "mdmem.toml").exists():
            place.run("mdmem watch stop")


def _lines(text: str, place: Place) -> Iterator[str]:
    before = ""
    for kind, line in commands(text):
        if before not in ("", kind):
            yield ""
        before = kind
        yield line
        if kind == "command":
            done = place.run(line.removeprefix("  $ "))
            yield from (plain(each, place, datetime.now(ZONE)) for each in shown(done))


def scripts(*, meaning: bool) -> list[object]:
    """List the transcripts that have a model, or those that have none, as parameters of a test."""
    return [pytest.param(each, id=each.stem) for each in SCRIPTS if each.stem.startswith("meaning") == meaning]


@pytest.mark.slow
@pytest.mark.parametrize("script", scripts(meaning=False))
def test_transcript(script: Path, tmp_path: Path) -> None:
    place = settle(tmp_path, empty=script.stem.startswith("new"))
    assert played(script, place) == script.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("script", scripts(meaning=True))
def test_transcript_with_a_model(script: Path, tmp_path: Path, models: Path) -> None:
    assert played(script, settle(tmp_path, models=models)) == script.read_text(encoding="utf-8")


def rewrite(script: Path) -> str:
    """Write a transcript anew, and return its name, with a word if it changed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        models = prepared(home / "models") if script.stem.startswith("meaning") else None
        text = played(script, settle(home, empty=script.stem.startswith("new"), models=models))
    changed = text != script.read_text(encoding="utf-8")
    script.write_text(text, encoding="utf-8")
    return f"{script.relative_to(ROOT)}{': changed' if changed else ''}"


def prepared(cache: Path) -> Path:
    """Prepare MiniLM in a cache, which takes 15 seconds."""
    from mdmem.store import encoder

    encoder.prepare("all-MiniLM-L6-v2", cache / "mdmem")
    return cache


def main(names: list[str]) -> None:
    """Write the transcripts of these names anew, or all of them."""
    wanted = [script for script in SCRIPTS if not names or script.stem in names]
    with ThreadPoolExecutor(os.cpu_count()) as crowd:
        for said in crowd.map(rewrite, wanted):
            print(said)


if __name__ == "__main__":
    main(sys.argv[1:])
