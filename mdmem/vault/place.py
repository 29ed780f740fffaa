"""Where a vault stands: its folder, its repository, its state on this machine and its settings.

Owns finding these and turning addresses into paths and back into entries. It must never write, but for making the
folder of the state.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from mdmem import config, fsio
from mdmem.errors import BadInput, Busy, MdmemError, NotFound, Refused, StorageFailed
from mdmem.model import Entry
from mdmem.store.repo import Repo
from mdmem.text import markdown, packs, units
from mdmem.text.units import Unit
from mdmem.vault import archives, facts

SETTINGS = (config.MARKER, ".gitattributes", *facts.FILES)
"""Files of the vault besides memory that are committed with it."""

RENAME_GAP = 0.1
"""Seconds for which a file may be missing while an editor renames its new version into place."""

GUARD = re.compile(r"(?P<address>.*)@(?P<hash>[0-9a-f]{6})\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A vault's surroundings. `command` names the running command in locks and reflogs."""

    root: Path
    repo: Repo
    state: Path
    settings: config.Settings
    command: str

    @classmethod
    def find(cls, root: Path, *, command: str) -> Place:
        """Find the repository and the state of the vault at `root`. Raises NoVault."""
        repo = Repo.discover(root)
        name = hashlib.sha256((repo.prefix or ".").encode("utf-8", "surrogateescape")).hexdigest()[:16]
        parent = config.state_override() or repo.state_parent
        if parent != repo.state_parent:
            name = hashlib.sha256(str(repo.vault).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return cls(repo.vault, repo, parent / name, config.load(repo.vault), command)

    def prepare(self) -> None:
        """Make the state's folder. Raises StorageFailed."""
        if self.state.is_dir():
            return
        # From the repository down, where it lies in it: a vault that was moved away must not begin to come back.
        above = self.repo.git_dir if self.state.is_relative_to(self.repo.git_dir) else Path("/")
        fsio.mkdir(str(self.state.relative_to(above)), root=above)

    def now(self) -> datetime:
        """Give the present moment on the user's clock."""
        return config.now(self.settings)

    def moment(self, day: date, clock: str | None) -> datetime:
        """Give the aware moment of a day and a local time (`14:30`, `14:30:05`; None: midnight)."""
        hour, minute, second = (*map(int, (clock or "0:0").split(":")), 0)[:3]
        return config.local(self.settings, datetime(day.year, day.month, day.day, hour, minute, second))

    def log_path(self, day: date) -> str:
        """Give the path of a day's log: `memory/daily/…`, unless the vault keeps that day right under memory/."""
        daily, flat = f"memory/daily/{day}.md", f"memory/{day}.md"
        if fsio.look(daily, root=self.root) is None and fsio.look(flat, root=self.root) is not None:
            return flat
        return daily

    def require_rest(self, paths: Iterable[str]) -> None:
        """Leave files alone that another program is in the middle of writing. Raises Busy."""
        for path in sorted(fsio.being_written(paths, root=self.root)):
            raise Busy(f"{path} is being saved by another program", "nothing was changed: try again in a moment")

    def own(self) -> list[str]:
        """List the folders and files that are the vault's, in whatever else its repository holds."""
        return ["memory", *self.settings.items("roots"), "MEMORY.md", *SETTINGS]

    @property
    def homes(self) -> tuple[str, ...]:
        """The folders that memory files are in, each with its slash."""
        return tuple(f"{folder.strip('/')}/" for folder in ("memory", *self.settings.items("roots")))

    @property
    def largest(self) -> int:
        """The MB of a file beyond which it is not even read: what is to be indexed may be committed, too."""
        return max(self.settings.whole("commit.max_file_mb"), self.settings.whole("index.max_file_mb"))

    def read(self, path: str) -> fsio.Snapshot | None:
        """Read a file of the vault as it stands; None when it is not there. For what it says, see `legible`.

        Raises StorageFailed, also for one that is too large.
        """
        try:
            return fsio.read(path, root=self.root, limit=self.largest * 2**20)
        except fsio.TooLarge as error:
            hint = "split it or move it away, or raise commit.max_file_mb"
            raise StorageFailed(error.message, hint) from error

    def content(self, path: str) -> bytes | None:
        """Give a file's bytes; None where there is none that can be read: others say what is wrong with it."""
        try:
            snapshot = self.read(path)
        except MdmemError:
            return None
        return snapshot.data if snapshot else None

    def legible(self, path: str) -> bytes | None:
        """Give what a file says, of an archive what is packed in it; None when it is not there. Raises StorageFailed.

        That is what is shown, indexed and searched. What is written, committed or compared with history is `read`.
        """
        snapshot = self.read(path)
        return archives.legible(path, snapshot.data) if snapshot else None

    def said(self, path: str) -> bytes | None:
        """Give what a file says, like `legible`; None also where it cannot be read."""
        try:
            return self.legible(path)
        except MdmemError:
            return None

    def awaited(self, path: str) -> fsio.Snapshot | None:
        """Read a file that is missing, for as long as an editor may take to rename its new version into place."""
        snapshot, deadline = None, time.monotonic() + RENAME_GAP
        while snapshot is None and time.monotonic() < deadline:
            time.sleep(0.01)
            snapshot = self.read(path)
        return snapshot

    def is_memory(self, path: str) -> bool:
        """Tell whether a path is that of a memory file in one of the homes."""
        return path.endswith((".md", packs.ARCHIVE)) and path.startswith(self.homes)

    def entry(self, path: str, unit: Unit) -> Entry:
        """Give a unit as users see it."""
        return Entry(
            kind="entry" if unit.kind == "entry" else "document",
            address=unit.address,
            id=unit.id,
            path=path,
            lines=(unit.line, unit.last_line),
            date=self.moment(unit.day, unit.time) if unit.day else None,
            title=unit.title,
            tags=unit.tags,
            text=unit.text,
            meta=unit.meta,
        )


def split_guard(address: str) -> tuple[str, str | None]:
    """Part an address from the `@` and six hex digits that may follow it."""
    found = GUARD.match(address)
    return (found["address"], found["hash"]) if found else (address, None)


def check_guard(unit: Unit, wanted: str | None) -> None:
    """Refuse a unit whose text is not the one that was meant."""
    if wanted and not is_meant(unit, wanted):
        raise Refused(
            f"{unit.address} holds another text than @{wanted} stands for", f"look first: mdmem show {unit.address}"
        )


def is_meant(unit: Unit, wanted: str) -> bool:
    """Tell whether these six hex digits stand for the text of a unit."""
    return hashlib.sha256(unit.text.encode("utf-8", "surrogatepass")).hexdigest()[:6] == wanted


def whole(path: str, data: bytes) -> Unit:
    """Give a daily log as one document: the file as it is."""
    text = markdown.readable(markdown.decode(data).text)
    stem = units.stem_of(path)
    lines = max(1, text.count("\n") + (not text.endswith("\n")))
    return Unit("document", stem, stem, 0, len(text), 1, lines, text, 1, stem.rpartition("/")[2], markdown.tags(text))


def pick(found: Iterable[Unit], address: str) -> Unit | None:
    """Find a unit by address or explicit id; the address counts first."""
    listed = list(found)
    return next((u for u in listed if u.address == address), next((u for u in listed if u.id == address), None))


def checked(address: str) -> str:
    """Return an address without `memory/`, `.md` and blanks around it. Raises BadInput for what can be none."""
    address = address.strip()
    stem, sign, label = address.partition("#")
    stem = re.sub(r"\.md(\.zst)?\Z", "", stem.removeprefix("memory/"))
    if not stem or "\0" in address:
        raise BadInput(f"{address!r} is no address", "an address looks like daily/2026-11-29#14:30 or archives/plan")
    return stem + sign + label


def nearest(address: str, known: Iterable[str]) -> NotFound:
    """Make the error for an address that leads nowhere, with the names most like it."""
    import difflib

    near = difflib.get_close_matches(address, list(known), 3, 0.6)
    hint = f"near: {', '.join(near)}" if near else "`mdmem list` and `mdmem search` print addresses"
    return NotFound(f"there is nothing at {address}", hint)
