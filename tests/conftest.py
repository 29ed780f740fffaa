"""A world of its own for every test: home, settings, git identity, zone and clock; nothing of the developer's."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mdmem import Vault, config
from mdmem.store import encoder

OTHERS = ("GIT_", "MDMEM_", "XDG_", "OPENAI_")
XDG = ("CONFIG_HOME", "CACHE_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR")
MINILM = "all-MiniLM-L6-v2"
IDENTITY = "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"


def pytest_configure(config: pytest.Config) -> None:
    # A shell that runs the tests in the background has them ignore Ctrl-C, and so would every program they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "slow: takes seconds; `make fast` leaves it out")
    config.addinivalue_line("markers", "large: needs torch, chromadb, openai or a model; `make compat` leaves it out")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case by escapes where its text is not UTF-8: such names cannot be sent between processes."""
    return ascii(val)[1:-1] if isinstance(val, str) and any("\ud800" <= char <= "\udfff" for char in val) else None


@pytest.fixture(autouse=True)
def world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home with a git identity; what could steer mdmem or git from outside is gone."""
    for name in list(os.environ):
        if name.startswith(OTHERS) or name in ("EDITOR", "VISUAL", "NO_COLOR", "COLUMNS"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(IDENTITY)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setenv("MDMEM_EMBEDDING_MODEL", "")  # fixtures below bring a model in where one is wanted
    for name in XDG:
        monkeypatch.setenv(f"XDG_{name}", str(home / name.lower()))
    return home


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's cache in which MiniLM is prepared, made once for all workers of a run."""
    from filelock import FileLock

    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    cache = shared / "models"
    with FileLock(shared / "models.lock"):
        encoder.prepare(MINILM, cache / "mdmem")
    return cache


@pytest.fixture
def minilm(models: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """MiniLM, ready to serve in every vault; gives its name."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(models))
    monkeypatch.setenv("MDMEM_EMBEDDING_MODEL", MINILM)
    return MINILM


@pytest.fixture(scope="session")
def template(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vault of `meaning_sandbox`, in which MiniLM has embedded everything; to be copied."""
    import meaning_sandbox

    home = tmp_path_factory.mktemp("template")
    (home / ".gitconfig").write_text(IDENTITY)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"HOME": home, "GIT_CONFIG_NOSYSTEM": 1, "TZ": "Europe/Berlin"}.items():
            patch.setenv(name, str(value))
        patch.setenv("XDG_CACHE_HOME", str(models))
        patch.setenv("MDMEM_EMBEDDING_MODEL", MINILM)
        made = Vault.init(home / "vault")[0]
        meaning_sandbox.fill(made)
        made.reindex()
    return made.root


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A new vault with its first commit."""
    return Vault.init(tmp_path / "vault")[0]


class Clock:
    """A clock that stands still until it is set or moved."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def set(self, text: str) -> None:
        self.moment = datetime.fromisoformat(text)

    def move(self, **delta: float) -> None:
        self.moment += timedelta(**delta)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """The user's clock, at half past two on 29 November 2026."""
    made = Clock(datetime.fromisoformat("2026-11-29T14:30:05+01:00"))
    monkeypatch.setattr(config, "now", lambda settings: config.local(settings, made.moment))
    yield made
