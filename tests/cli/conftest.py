"""The program as people run it: in a folder of its own, with a home of its own, in a pipe or on a terminal."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import mdmem

MDMEM = [sys.executable, "-m", "mdmem"]
HERE = str(Path(__file__).parent)
CODE = str(Path(mdmem.__file__).parents[1])


@pytest.fixture
def environment(tmp_path):
    """An environment that holds nothing of the developer's."""
    kept = ("MDMEM_", "LC_", "LANG", "GIT_", "COLUMNS", "NO_COLOR", "EDITOR", "VISUAL", "XDG_", "TERM", "TZ")
    names = {name: value for name, value in os.environ.items() if not name.startswith(kept)}
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")
    return names | {
        "PYTHONPATH": f"{CODE}{os.pathsep}{HERE}",
        "HOME": str(home),
        "TERM": "xterm",
        "TZ": "Europe/Berlin",
        "MDMEM_EMBEDDING_MODEL": "",
    }


@pytest.fixture
def folder(tmp_path):
    """The folder in which the program is run."""
    made = tmp_path / "vault"
    made.mkdir()
    return made


@pytest.fixture
def run(environment, folder):
    """Return a function that runs mdmem with pipes: stdin is what is given, else nothing."""

    def call(*words, env=(), **options):
        options = {"capture_output": True, "stdin": subprocess.DEVNULL} | options
        if "input" in options:
            del options["stdin"]
        whole = {**environment, **dict(env)}
        text = {"encoding": "utf-8", "errors": "surrogateescape"}
        return subprocess.run([*MDMEM, *words], cwd=folder, env=whole, check=False, **text, **options)

    return call


@pytest.fixture
def on_terminal(environment, folder):
    """Return a function that runs a program on a terminal and returns its exit code and what appeared there."""

    def call(*words, typed="", env=()):
        keep, give = pty.openpty()
        child = subprocess.Popen(
            words,
            stdin=give,
            stdout=give,
            stderr=give,
            cwd=folder,
            env={**environment, **dict(env)},
            start_new_session=True,
        )
        os.close(give)
        os.write(keep, typed.encode())
        seen = b""
        try:
            while chunk := os.read(keep, 65536):
                seen += chunk
        except OSError:  # how a terminal ends
            pass
        os.close(keep)
        return child.wait(), seen.decode("utf-8", "surrogateescape").replace("\r\n", "\n")

    return call


@pytest.fixture
def vault(run, folder):
    """A new vault."""
    done = run("init")
    assert done.returncode == 0, done.stderr
    return folder
