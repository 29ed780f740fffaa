"""What has had its time: entries and documents with `expires`, and entries that are tagged as temporary.

Owns finding them. It must never take out what might still count: a date that cannot be read is a finding, a log of a
day to come stays, and so does what a person has put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from posixpath import basename

from mdmem import config, indexer
from mdmem.model import Finding
from mdmem.text import entries, expiry, markdown, packs, units
from mdmem.text.units import Unit
from mdmem.vault.place import Place
from mdmem.vault.removal import Act, Found, Going, Spot, Wanted, is_kept, wanted_back, written

_TRACES = re.compile(rb"expires|#temp", re.IGNORECASE)
"""What a file holds in which anything can expire: the others, nearly all, are not parsed."""

LOOK = "`mdmem doctor` says more"

AHEAD = timedelta(days=1)
"""How far the newest commit may be ahead of the clock: another machine's clock is not set by this one's."""


def doubt(place: Place) -> str:
    """Say why the clock of this machine, by which git dates commits, cannot be believed; "" where it can."""
    newest, now = next(place.repo.history(paths=place.own(), k=1), None), datetime.now(UTC)
    if newest is None or newest.date - now <= AHEAD:
        return ""
    here, there = (f"{config.local(place.settings, moment):%Y-%m-%d %H:%M}" for moment in (now, newest.date))
    return f"the clock says {here}, but the newest commit is of {there}"


def find(place: Place, now: datetime) -> Found:
    """Find what has expired by now. Reads every file, and parses those that name a time or the tag."""
    acts: list[Act] = []
    versions: dict[str, bytes] = {}
    findings: list[Finding] = []
    for file in indexer.scan(str(place.root), place.settings.items("roots")).files:
        if not file.path.endswith(".md") or is_kept(file.path):
            continue
        day = entries.log_date(basename(file.path))
        if day is not None and day > now.date():
            continue
        data = place.content(file.path)
        if data is None:
            findings.append(Finding(file.path, None, "cannot be read: what of it has expired stays", LOOK))
        elif _TRACES.search(data) and markdown.decode(data).editable and not packs.is_pack(data):
            here = list(_in_file(place, file.path, data, now, findings))
            acts += here
            versions |= {file.path: data} if here else {}
    return Found(_without_those_back(place, acts), versions, tuple(findings))


def awaited(place: Place, path: str, data: bytes) -> str:
    """Say why a log must stay where its entries can be taken out: one of them is still to expire. "" for none."""
    if not _TRACES.search(data):
        return ""
    now, ends = place.now(), []
    for unit in units.read(path, data).units:
        with suppress(ValueError):
            end = deadline(place, unit) if unit.kind == "entry" else None
            ends += [end[0]] if end and not expiry.is_over(end[0], now) else []
    return f"an entry of it expires on {min(ends, key=datetime.timestamp):%Y-%m-%d}" if ends else ""


def _in_file(place: Place, path: str, data: bytes, now: datetime, findings: list[Finding]) -> Iterator[Act]:
    for unit in units.read(path, data).units:
        if unit.kind != "entry" and units.is_log(path):
            continue
        try:
            end = deadline(place, unit)
        except ValueError as error:
            what = f"`expires` is not understood, and nothing is taken out: {error}"
            findings.append(Finding(path, unit.line, what, f"write it as in {expiry.EXAMPLES}"))
            continue
        if unit.kind == "entry" and not written(unit):
            findings += _overlooked(path, unit)
        if end and expiry.is_over(end[0], now):
            going = Going(path, unit.address, unit.text, end[1], unit.kind, (written(unit) or "").strip())
            spot = Spot(path, unit.start, unit.end, "" if unit.kind == "entry" else None)
            yield Act((going,), (spot,))


def _overlooked(path: str, unit: Unit) -> Iterator[Finding]:
    """Name what looks like an `expires` of an entry, and is none for the way in which or the place where it stands."""
    for number in expiry.overlooked(unit.text):
        where = "at the end of the entry's first line"
        hint = f"write `<!-- mdmem: expires=DATE -->` {where}, DATE as in {expiry.EXAMPLES}"
        yield Finding(path, unit.text_line + number, "`expires` is not understood, and nothing is taken out", hint)


def deadline(place: Place, unit: Unit) -> tuple[datetime, str] | None:
    """Give the moment from which on a unit no longer counts, and why. ValueError for an `expires` that says nothing.

    What is written out counts before the tag.
    """
    said = (written(unit) or "").strip()
    if said:
        end = expiry.end(said, lambda moment: config.local(place.settings, moment))
        return (end, f"expired {said}") if end else None
    if unit.kind == "entry" and unit.day and expiry.is_temporary(unit.tags):
        days = place.settings.whole("nightly.temp_days")
        since = place.moment(unit.day, unit.time)
        end = expiry.after(since, days, lambda moment: config.local(place.settings, moment))
        return end, f"#{expiry.TEMPORARY} since {unit.day}, for {days} day{'s' if days > 1 else ''}"
    return None


def _without_those_back(place: Place, acts: list[Act]) -> tuple[Act, ...]:
    """Leave out what a person has put back, whatever it says by now; another `expires` than it had then counts."""
    back = wanted_back(place) if acts else {}
    return tuple(act for act in acts if not _is_back(act.going[0], back))


def _is_back(going: Going, back: Wanted) -> bool:
    return any(going.until in back.get(key, ()) for key in going.keys)
