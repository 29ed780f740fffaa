"""A vault as one thread of the long-lived process has it open: a `Vault` serves one thread at a time.

Owns opening it anew when its settings were changed, and passing on what it has to say.
"""

from __future__ import annotations

from pathlib import Path

from mdmem import config
from mdmem.serve.log import Log
from mdmem.vault import Vault

COMMAND = "watch"


class Opened:
    """The vault at `root`, open for one thread."""

    def __init__(self, root: Path, log: Log) -> None:
        self._log = log
        self.vault = Vault.open(root, command=COMMAND)
        self.fingerprint = config.fingerprint(self.vault.settings)

    def renew(self) -> bool:
        """Open it anew if its settings are others than before; tell whether they were."""
        now = config.fingerprint(config.load(self.vault.root))
        if now == self.fingerprint:
            return False
        self.tell()
        self.vault = Vault.open(self.vault.root, command=COMMAND)
        self.fingerprint = config.fingerprint(self.vault.settings)
        return True

    def tell(self) -> bool:
        """Log what the vault has to say, and each commit that it made; tell whether it had anything to say."""
        notices = list(dict.fromkeys(self.vault.notices))
        self.vault.notices.clear()
        for notice in notices:
            self._log.notice(notice)
        self.tell_commits()
        return bool(notices)

    def tell_commits(self) -> None:
        """Log each commit that the vault made since this was done last."""
        for commit, subject in self.vault.upkeep.made():
            self._log.say(f"committed {commit[:8]}: {subject}")
