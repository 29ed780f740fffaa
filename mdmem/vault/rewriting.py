"""Whole files changed by one commit: after what waits, on top of what is in history, over nothing that nobody has seen.

Owns that order, which every change of what is there already has in common. It must never mix a change silently with
what another wrote, nor call a plan's work done while a file of it is as it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mdmem import fsio
from mdmem.errors import Busy, MdmemError, Refused, StorageFailed
from mdmem.model import Change
from mdmem.store.journal import Record
from mdmem.vault import history
from mdmem.vault.commits import Commits
from mdmem.vault.delivery import Delivery
from mdmem.vault.place import Place
from mdmem.vault.replacement import Replacements, Step, held

TRIES = 5
LATER = "nothing was changed: try again when that is over"

Content = bytes | None
Read = Callable[[str], Content]
"""Gives what a file of the vault holds now, None for no file."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What files shall hold, None for no file, and the message that says why."""

    files: Mapping[str, Content]
    message: str = ""


@dataclass(slots=True)
class Rewriting:
    """The way of a change to whole files into history."""

    place: Place
    notices: list[str]
    delivery: Delivery
    commits: Commits
    replacements: Replacements

    def rewrite(self, plan: Callable[[Read], Planned], *, op: str) -> Change | None:
        """Have files as `plan` says, all or none; give the commit, None where they are so already.

        The plan is made under the write lock, so it must be quick, and made anew when somebody saved one of its files
        meanwhile. Raises Busy, Refused for a file that never comes to rest, StorageFailed.
        """
        with self.changing():
            for _ in range(TRIES):
                steps, message = self._steps(plan)
                if not steps:
                    return None
                self.commit_before([step.path for step in steps])
                records = self.carry_out(steps, op=op, message=message)
                if records is not None:
                    return self.finish(records)
        raise Refused(f"{steps[0].path} is being saved all the time", "nothing was changed: try again")

    def read(self, path: str) -> Content:
        """Give what a file holds now, None for no file. Raises StorageFailed."""
        return held(self.place.read(path))

    def _steps(self, plan: Callable[[Read], Planned]) -> tuple[list[Step], str]:
        seen: dict[str, fsio.Snapshot | None] = {}

        def read(path: str) -> Content:
            if path not in seen:
                seen[path] = self.place.read(path)
            return held(seen[path])

        planned = plan(read)
        for path in planned.files:  # what the plan would write without having looked
            read(path)
        steps = [Step(path, seen[path], wanted) for path, wanted in sorted(planned.files.items())]
        return [step for step in steps if step.before != step.wanted], planned.message

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the write lock over files that are as history and the journal have them.

        Raises Busy, also while git is in the middle of something: it could neither go on nor back.
        """
        with self.delivery.writing(self.place.settings.whole("lock.timeout_ms")):
            if reason := self.place.repo.unfinished():
                raise Busy(reason, LATER)
            self.delivery.deliver()
            yield

    def commit_before(self, paths: Sequence[str]) -> None:
        """Commit what is in files before they are changed, so that each change is a commit of its own.

        Raises Busy when that is not possible now, StorageFailed when the disk does not let it be: a change on top
        could not be told apart later. A path that git does not take at all is changed all the same.
        """
        try:
            self.commits.commit_by_hand(paths)
        except MdmemError as error:
            raise not_yet(f"what {paths[0]} holds", "", error) from error
        for path in self.commits.changed(paths):
            if reason := self.commits.obstacle(path):
                raise not_yet(f"what {path} holds", reason, self.commits.failure)

    def carry_out(self, steps: Sequence[Step], *, op: str, message: str) -> list[Record] | None:
        """Do all steps of a change durably; None, and nothing is done, when somebody saved a file of it meanwhile.

        What goes is taken away last: what it held may stand in a file that comes.
        """
        steps = sorted(steps, key=lambda step: step.wanted is None)
        try:
            return self.replacements.carry_out(steps, op=op, message=message, group=os.urandom(8).hex())
        except fsio.Displaced:
            return None

    def finish(self, records: Sequence[Record]) -> Change:
        """Commit a change and give it; without a commit when git cannot take it now."""
        commits = self.commits.commit_placed()
        commit = next((commits[record.id] for record in records if record.id in commits), None)
        if commit:
            return history.change(self.place, history.named(self.place, commit))
        first = records[0]
        subject = str(first.extra["message"]).partition("\n")[0]
        actor = "person" if first.op in history.BY_PERSON else first.op
        return Change("", self.place.now(), actor, self.place.repo.person.name, first.op, None, subject, "", ())


def not_yet(what: str, reason: str, error: MdmemError | None) -> MdmemError:
    """Make the error for what must be in history before the files are changed: the reason, or what failed there."""
    reason = error.message if error else reason
    message = f"{what} is not yet in history{f': {reason}' if reason else ''}"
    if isinstance(error, StorageFailed):
        return StorageFailed(message, f"nothing was changed: {error.hint}")
    return Busy(message, LATER)
