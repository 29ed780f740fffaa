"""When a job is due: each night once, whatever the machine and its clock did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mdmem import Vault, fsio, schedule
from mdmem.schedule import due
from mdmem.schedule.due import Moment, is_past, latest

NIGHT = Moment(3, 0)
WEEK = Moment(4, 30, weekday=6)
BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def runs(
    start: datetime, end: datetime, moment: Moment, *, asleep: tuple[datetime, datetime] | None = None
) -> list[datetime]:
    """Ask every five minutes of real time, as an hourly cron would twelve times as seldom, and list the runs."""
    last, now, made = start, start.astimezone(UTC), []
    while now <= end.astimezone(UTC):
        here = now.astimezone(start.tzinfo)
        if not (asleep and asleep[0] <= here < asleep[1]) and is_past(last, here, moment):
            last = here
            made.append(here)
        now += timedelta(minutes=5)
    return made


@pytest.mark.parametrize(
    ("last", "now", "moment", "due"),
    [
        ("2026-11-28 03:00:07", "2026-11-29 02:59:59", NIGHT, False),
        ("2026-11-28 03:00:07", "2026-11-29 03:00:00", NIGHT, True),
        ("2026-11-29 03:00:00", "2026-11-29 03:00:00", NIGHT, False),
        ("2026-11-29 02:59:59", "2026-11-29 03:35:00", NIGHT, True),
        ("2026-11-29 14:00:00", "2026-11-30 02:35:00", NIGHT, False),
        ("2026-11-29 14:00:00", "2026-11-30 03:00:00", NIGHT, True),
        ("2026-11-22 04:30:01", "2026-11-29 04:29:59", WEEK, False),
        ("2026-11-22 04:30:01", "2026-11-29 04:30:00", WEEK, True),
        ("2026-11-29 04:30:00", "2026-12-05 23:59:00", WEEK, False),
        ("2026-11-01 00:00:00", "2026-11-29 00:00:00", WEEK, True),
    ],
)
def test_the_moment_counts_and_not_the_hours_since(last: str, now: str, moment: Moment, due: bool) -> None:
    assert is_past(at(last), at(now), moment) is due


def test_what_never_ran_is_due() -> None:
    assert is_past(None, at("2026-11-29 12:00"), NIGHT)


@pytest.mark.parametrize("day", range(22, 30))
def test_the_latest_moment_of_a_week_is_on_its_day(day: int) -> None:
    expected = at("2026-11-29 04:30") if day == 29 else at("2026-11-22 04:30")
    assert latest(at(f"2026-11-{day} 12:00"), WEEK) == expected


def test_after_three_days_of_sleep_it_runs_once() -> None:
    asleep = (at("2026-11-25 22:00"), at("2026-11-28 22:10"))
    made = runs(at("2026-11-25 03:00"), at("2026-11-29 12:00"), NIGHT, asleep=asleep)
    assert made == [at("2026-11-28 22:10"), at("2026-11-29 03:00")]


@pytest.mark.parametrize(
    ("zone", "night"),
    [(BERLIN, "2026-03-29"), (BERLIN, "2026-10-25"), (NEW_YORK, "2026-03-08"), (NEW_YORK, "2026-11-01")],
)
@pytest.mark.parametrize("moment", [NIGHT, Moment(2, 30), Moment(1, 30), Moment(0, 0)])
def test_a_night_in_which_the_clock_changes_has_one_run(zone: ZoneInfo, night: str, moment: Moment) -> None:
    start = at(f"{night} 12:00", zone) - timedelta(days=1)
    made = runs(start, at(f"{night} 23:00", zone), moment)
    assert [each.date().isoformat() for each in made] == [night]


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(hours=5), timedelta(hours=23)])
def test_a_clock_set_back_makes_no_second_run_before_the_next_night(back: timedelta) -> None:
    last = at("2026-11-29 03:00:10")
    now = last - back
    assert not is_past(last, now, NIGHT)
    assert is_past(last, at("2026-11-30 03:00"), NIGHT)


def test_a_run_noted_by_a_clock_that_was_a_year_ahead_does_not_stop_the_rest() -> None:
    now = at("2026-11-29 12:00")
    assert is_past(at("2027-11-29 03:00"), now, NIGHT)
    assert not is_past(now, now + timedelta(hours=1), NIGHT)


def test_runs_are_noted_for_each_job_alone(vault: Vault, clock: Any) -> None:
    assert schedule.is_due(vault.place, "nightly") and schedule.is_due(vault.place, "verify")
    schedule.note_run(vault.place, "nightly")
    assert not schedule.is_due(vault.place, "nightly") and schedule.is_due(vault.place, "verify")
    assert schedule.last_run(vault.place, "nightly") == clock.moment
    clock.move(days=1)
    assert schedule.is_due(vault.place, "nightly")


def test_what_is_installed_at_noon_has_missed_no_night(vault: Vault, clock: Any) -> None:
    due.begin(vault.place, "nightly")
    assert not schedule.is_due(vault.place, "nightly") and schedule.last_run(vault.place, "nightly") is None
    clock.set("2026-11-30T02:59:59+01:00")
    due.begin(vault.place, "nightly")
    assert not schedule.is_due(vault.place, "nightly")
    clock.set("2026-11-30T03:00:00+01:00")
    due.begin(vault.place, "nightly")
    assert schedule.is_due(vault.place, "nightly")


@pytest.mark.parametrize(
    "garbage", [b"", b"\xff\xfe", b"yesterday", b"2026-11-29T03:00:00", b" installed", b"x" * 5000]
)
def test_a_note_that_cannot_be_read_makes_the_job_due(vault: Vault, garbage: bytes) -> None:
    vault.place.prepare()
    fsio.put("runs/nightly", garbage, root=vault.place.state)
    assert schedule.is_due(vault.place, "nightly")
    schedule.note_run(vault.place, "nightly")
    assert not schedule.is_due(vault.place, "nightly")
