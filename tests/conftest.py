"""What all tests share: a home of their own, so that nothing of the developer's is read or changed."""

from __future__ import annotations

import os

import pytest

FOREIGN = ("MDMEM_", "GIT_", "XDG_", "EDITOR", "VISUAL", "COLUMNS", "NO_COLOR", "PYTHONDONTWRITEBYTECODE")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds; `make fast` leaves it out")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put HOME and git's identity at a temporary place for this process and its children."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[name]
    os.environ["HOME"] = str(home)
