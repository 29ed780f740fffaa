"""Whether a vault is still where it was when the process began.

Owns telling a vault that was moved, removed or unmounted from one whose files were deleted. It must only look.
"""

from __future__ import annotations

import os
import stat as modes
from dataclasses import dataclass
from pathlib import Path

from mdmem import config
from mdmem.errors import NoVault

Identity = tuple[int, int]
NOWHERE = -1


class Gone(NoVault):
    """The vault is not there any more: there is nothing left to do."""


@dataclass(frozen=True, slots=True)
class Presence:
    """The folders of a vault as they were found: none may become another."""

    root: Path
    folders: tuple[tuple[Path, Identity], ...]
    memory: int

    @classmethod
    def of(cls, root: Path, *others: Path) -> Presence:
        """Remember where the vault is, its git directory and its state. Raises Gone."""
        folders = (root, *others)
        return cls(root, tuple((folder, _identity(folder)) for folder in folders), _device(root / "memory"))

    def check(self) -> None:
        """Raise Gone unless everything is there as it was."""
        for folder, identity in self.folders:
            if _identity(folder) != identity:
                raise Gone(f"{folder} is another folder than before", "start `mdmem watch` again")
        try:
            os.stat(self.root / config.MARKER)
        except OSError as error:
            raise Gone(f"{self.root} is no vault any more: {config.MARKER} {_said(error)}", "") from error

    def has_memory(self) -> bool:
        """Tell whether memory/ is there, on the device that it was on."""
        now = _device(self.root / "memory")
        return now != NOWHERE and self.memory in (NOWHERE, now)


def _identity(folder: Path) -> Identity:
    try:
        stat = os.stat(folder)
    except OSError as error:
        raise Gone(f"{folder} {_said(error)}", "it was moved, removed or unmounted") from error
    return stat.st_dev, stat.st_ino


def _said(error: OSError) -> str:
    return "is not there" if isinstance(error, FileNotFoundError) else f"cannot be reached: {error.strerror}"


def _device(folder: Path) -> int:
    """Give the device that a real folder is on."""
    try:
        stat = os.lstat(folder)
    except OSError:
        return NOWHERE
    return stat.st_dev if modes.S_ISDIR(stat.st_mode) else NOWHERE
