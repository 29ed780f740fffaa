"""Whether a job's time has passed since it last ran, and when that was.

Owns STATE/runs, one file for each job. A run that was missed counts once, however long the machine slept, however the
clock was set, and in the nights when it goes forward or back. It must never fail a job because of such a file.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.vault.place import Place

BEGUN = " installed"
"""What stands behind a moment at which a job was installed, and did not run."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of day on the user's clock; every day, or on one weekday (0 is Monday)."""

    hour: int
    minute: int
    weekday: int | None = None

    @property
    def period(self) -> timedelta:
        return timedelta(days=1 if self.weekday is None else 7)


def latest(now: datetime, moment: Moment) -> datetime:
    """Return the last time that this moment came, up to `now`, an aware time on the user's clock; in UTC.

    An hour that the clock leaves out or shows twice makes no difference: each date has the moment once.
    """
    clock = time(moment.hour, moment.minute, tzinfo=now.tzinfo)
    days = (now.date() - timedelta(days=back) for back in range(9))
    wanted = (day for day in days if moment.weekday in (None, day.weekday()))
    came = (datetime.combine(day, clock).astimezone(UTC) for day in wanted)
    return next(each for each in came if each <= now)


def is_past(last: datetime | None, now: datetime, moment: Moment) -> bool:
    """Tell whether the moment came since the last run. A run in the far future was noted by a wrong clock."""
    if last is None:
        return True
    # In UTC: two times of one zone are subtracted as its clock shows them.
    ahead = last.astimezone(UTC) - now.astimezone(UTC)
    return ahead > moment.period or last.astimezone(UTC) < latest(now, moment)


def is_due(place: Place, name: str, moment: Moment) -> bool:
    """Tell whether a job of a vault is due now."""
    return is_past(_noted(place, name)[0], place.now(), moment)


def last_run(place: Place, name: str) -> datetime | None:
    """Return when a job last ran in a vault; None when it never did, or that is not known."""
    moment, is_run = _noted(place, name)
    return moment if is_run else None


def note_run(place: Place, name: str) -> None:
    """Note that a job ran just now. Where that cannot be written, it is due again, which does no harm."""
    _note(place, name, "")


def begin(place: Place, name: str) -> None:
    """Count a job's times from now on, where it never ran: what is installed at noon has missed no night."""
    if _noted(place, name)[0] is None:
        _note(place, name, BEGUN)


def _note(place: Place, name: str, word: str) -> None:
    with suppress(MdmemError):
        place.prepare()
        fsio.put(_path(name), f"{place.now().isoformat(timespec='seconds')}{word}\n".encode(), root=place.state)


def _noted(place: Place, name: str) -> tuple[datetime | None, bool]:
    """Return from when on a job's times count, None when that is not known, and whether it ran then."""
    with suppress(MdmemError, ValueError):
        snapshot = fsio.read(_path(name), root=place.state, limit=1000)
        text = snapshot.data.decode().strip() if snapshot else ""
        moment = datetime.fromisoformat(text.removesuffix(BEGUN))
        return (moment if moment.tzinfo else None), not text.endswith(BEGUN)
    return None, False


def _path(name: str) -> str:
    return f"runs/{name}"
