"""Faults at the n-th call that may change something: the process is killed there, or the call fails.

Counted are the calls that `fsio.calls` names and each start of git. A killed process is a fork that ends by SIGKILL, so
that nothing of it clears up. `SWEEP=1 pytest tests/faults` tries every point; without it, one in so many is.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from mdmem import Vault, fsio
from mdmem.errors import MdmemError
from mdmem.store.repo.command import Git

CALLS = ("write", "pwrite", "truncate", "fsync", "fdatasync", "rename", "rename_how", "link", "unlink")
CALLS += ("mkdir", "chmod", "open")

EVERY = int(os.environ.get("SWEEP", "8"))
"""One point in so many is tried."""

Fault = Callable[[int, str], None]
"""Told the number and name of a call before it happens."""


@contextmanager
def counted(fault: Fault) -> Iterator[list[int]]:
    """Let the fault be asked at each call of the block, which gets the numbers of the calls so far."""
    numbers = [0]

    def wrapped(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: Any, **options: Any) -> object:
            if name != "open" or int(args[1]) & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                numbers.append(numbers[-1] + 1)
                fault(numbers[-1], name)
            return real(*args, **options)

        return call

    with (
        mock.patch.multiple(fsio.calls, **{name: wrapped(name, getattr(fsio.calls, name)) for name in CALLS}),
        mock.patch.object(Git, "_start", wrapped("git", Git._start)),
    ):
        yield numbers


def killed(act: Callable[[], object], at: int) -> bool | None:
    """Run an action in a fork that is killed at its n-th call: None when it was, else whether the action ended well."""

    def fault(number: int, name: str) -> None:
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        code = 1
        try:
            with counted(fault):
                act()
            code = 0
        except MdmemError:
            pass
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status) == 0


def failing(code: int, at: int, *, ever: bool) -> Fault:
    """Make a fault: the n-th call fails with this errno, and with `ever` all that follow, too."""

    def fault(number: int, name: str) -> None:
        if name != "git" and (number >= at if ever else number == at):
            raise OSError(code, os.strerror(code))

    return fault


def copy(vault: Vault, to: Path) -> Path:
    """Copy a vault with its repository and state."""
    shutil.copytree(vault.root, to, symlinks=True)
    return to
