"""What the long-lived process did, in lines for a person: STATE/watch.log.

Owns the file, of at most 1 MB with one older one beside it, and saying a lasting trouble once. It must never fail
whoever has something to say.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.text import screen

NAME = "watch.log"
LIMIT = 1_000_000
LONGEST = 2_000
"""Characters of one line; what libraries say can be endless."""
REMEMBERED = 200
"""Notices."""

Say = Callable[[str], None]


class Log:
    """The log in `state`. `also` gets each line as well, for somebody who looks on."""

    def __init__(self, state: Path, *, clock: Callable[[], datetime], also: Say | None = None) -> None:
        self.path = state / NAME
        self._clock = clock
        self._also = also
        self._told: dict[str, str] = {}
        self._noticed: OrderedDict[str, None] = OrderedDict()
        self._guard = threading.Lock()
        self._fd = -1

    def say(self, text: str) -> None:
        """Write one line: the moment, and what happened."""
        text = screen.clean(text, one_line=True)
        cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
        with self._guard:
            line = f"{self._clock().isoformat(timespec='seconds')} {cut}"
            with suppress(MdmemError, OSError):  # a full disk, which is what the next line may be about
                self._write(line.encode("utf-8") + b"\n")
            if self._also:
                with suppress(OSError, ValueError):
                    self._also(line)

    def trouble(self, about: str, text: str) -> None:
        """Say what is wrong, once for as long as it is the same."""
        with self._guard:
            known = self._told.get(about) == text
            self._told[about] = text
        if not known:
            self.say(f"{about}: {text}")

    def well(self, about: str) -> None:
        """Note that nothing is wrong any more, and say so if something was."""
        with self._guard:
            was = self._told.pop(about, None)
        if was is not None:
            self.say(f"{about}: works again")

    def notice(self, text: str) -> None:
        """Say what a vault has to say; what it said already not again, as far as that is remembered."""
        with self._guard:
            known = text in self._noticed
            self._noticed[text] = None
            self._noticed.move_to_end(text)
            if len(self._noticed) > REMEMBERED:
                self._noticed.popitem(last=False)
        if not known:
            self.say(text)

    def _write(self, data: bytes) -> None:
        if self._fd < 0 or not os.fstat(self._fd).st_nlink:
            self._close()
            self._fd = fsio.reach(NAME, root=self.path.parent, flags=os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        fsio.write(self._fd, data)  # it stays open: should the vault be moved away, its log still says why all ended
        if os.fstat(self._fd).st_size > LIMIT:
            self._close()
            fsio.move(NAME, f"{NAME}.1", root=self.path.parent)

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
