"""What `expires` may say, and what it must not be taken for."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from mdmem.text import expiry

BERLIN = ZoneInfo("Europe/Berlin")


def local(moment: datetime) -> datetime:
    return moment.replace(tzinfo=BERLIN) if moment.tzinfo is None else moment.astimezone(BERLIN)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2026-12-31", "2027-01-01T00:00:00+01:00"),
        (" 2026-12-31 ", "2027-01-01T00:00:00+01:00"),
        ("2026/7/5", "2026-07-06T00:00:00+02:00"),
        ("2026年12月31日", "2027-01-01T00:00:00+01:00"),
        ("２０２６年１２月３１日", "2027-01-01T00:00:00+01:00"),
        ("2026-12-31 18:00", "2026-12-31T18:00:00+01:00"),
        ("2026-12-31T18:00:05.5Z", "2026-12-31T19:00:05+01:00"),
        ("2026-12-31T18:00+08:00", "2026-12-31T11:00:00+01:00"),
        ("2026-10-25 02:30", "2026-10-25T02:30:00+01:00"),
        ("2026-03-29 02:30", "2026-03-29T03:30:00+02:00"),
    ],
)
def test_dates_and_moments(text: str, end: str) -> None:
    found = expiry.end(text, local)
    assert found is not None and found.timestamp() == datetime.fromisoformat(end).timestamp()


@pytest.mark.parametrize("text", ["never", "永久", "9999-12-31"])
def test_never(text: str) -> None:
    assert expiry.end(text, local) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "soon",
            "2026",
            "2026-12",
            "12/31/2026",
            "2026-02-30",
            "2026-13-01",
            "Friday",
            "yesterday",
            "in 3 days",
            "18:00",
        ),
        *(
            "2026-12-31 25:00",
            "2026-12-31 18:00+99:99",
            "0000-01-01",
            "20261231",
            "1e9",
            "2026-12-31x",
            "\0",
            "9" * 5000,
        ),
    ],
)
def test_anything_else_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="is no date or moment"):
        expiry.end(text, local)


def test_temporary_tags() -> None:
    assert expiry.is_temporary(["a", "Temp"]) and expiry.is_temporary(["temp/shopping"])
    assert not expiry.is_temporary(["template", "a/temp"])
