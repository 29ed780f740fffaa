"""How much each memory is used: counted where it is shown, written down in `.mdmem/usage.tsv`, weighed by age.

A line is an address, a month or a year, the name of the clone that counted, and its count. Only that clone raises the
count of its lines, and counts only grow. So whatever git's union of two versions leaves standing, of several lines for
one address, time and clone the highest is right, and the counts of different clones add up: nothing is lost, nothing
counted twice, and a fold that is repeated changes nothing. A whole year counts in the place of its months. It must
never write down what was asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from mdmem.errors import StorageFailed
from mdmem.model import Change
from mdmem.store import usage as counters
from mdmem.vault import facts, messages
from mdmem.vault.place import Place
from mdmem.vault.rewriting import Planned, Read

if TYPE_CHECKING:
    from mdmem.vault.parts import Parts

OP = "nightly"

HALVED = 3
"""Months after which having been used counts half."""

Rows = dict[tuple[str, str, str], int]
"""Counts by address, time (`2026-11` or `2025`) and clone."""


def note(place: Place, addresses: Iterable[str]) -> None:
    """Count that these were shown, where that is wished for and can be written down. Never fails, never waits long."""
    if place.settings.flag("usage.record"):
        shown = [one for one in dict.fromkeys(addresses) if not any("\ud800" <= sign <= "\udfff" for sign in one)]
        with suppress(OSError, StorageFailed):  # the repository is being moved, or read-only
            place.prepare()
            counters.add(place.state, _origin(place), shown, f"{place.now():%Y-%m}")


def scores(place: Place) -> dict[str, float]:
    """Give how much each address is used: what was shown this month counts 1, three months ago 0.5."""
    replica, own = counters.read(place.state, _origin(place))
    rows = _with_own(_read(place.content(facts.USAGE)), replica, own)
    now = _months(f"{place.now():%Y-%m}")
    found: dict[str, float] = {}
    for (address, time, _), count in rows.items():
        age = max(0, now - _months(time))
        found[address] = found.get(address, 0.0) + count * 0.5 ** (age / HALVED)
    return found


def waiting(place: Place) -> int:
    """Count the lines that a fold would write."""
    replica, own = counters.read(place.state, _origin(place))
    rows = _read(place.content(facts.USAGE))
    return sum(rows.get(key, 0) != count for key, count in _folded(place, rows, replica, own).items())


def fold(parts: Parts) -> tuple[Change | None, int]:
    """Write the counts of this clone down by one commit; give it, and how many lines are new. Raises what a write
    raises."""
    place = parts.place
    replica, own = counters.read(place.state, _origin(place))
    written = 0

    def plan(read: Read) -> Planned:
        nonlocal written
        data = read(facts.USAGE)
        before = _read(data)
        after = _folded(place, before, replica, own)
        written = sum(before.get(key, 0) != count for key, count in after.items())
        if not written:
            return Planned({})
        return Planned({facts.USAGE: _written(data, after)}, _message(written))

    change = parts.rewriting.rewrite(plan, op=OP) if own else None
    last = _months(f"{place.now():%Y-%m}") - 1
    counters.forget(place.state, _origin(place), before=f"{last // 12:04}-{last % 12 + 1:02}")
    return change, written if change else 0


def _message(count: int) -> str:
    why = "How often each memory was shown on this machine, so that what is used least gives way first."
    return messages.message(f"Note the use of {count} {'memories' if count > 1 else 'memory'}", why, op=OP)


def _origin(place: Place) -> str:
    """Name this very vault: its copy, with a copy of STATE, is another, whose counts must not be taken for these."""
    named = f"{place.root}\n{place.repo.git_dir.stat().st_ino}"
    return hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest()


def _folded(place: Place, rows: Rows, replica: str, own: counters.Counts) -> Rows:
    """Add this clone's counts, and make one line of the months of each year that is over for a year."""
    after = _with_own(rows, replica, own)
    year = place.now().year
    for address, time, clone in [key for key in after if key[2] == replica]:
        if len(time) > 4 and int(time[:4]) < year - 1:
            whole = (address, time[:4], clone)
            after[whole] = after.get(whole, 0) + after.pop((address, time, clone))
    return after


def _with_own(rows: Rows, replica: str, own: counters.Counts) -> Rows:
    found = dict(rows)
    for (address, month), count in own.items():
        if (address, month[:4], replica) not in rows:
            key = (address, month, replica)
            found[key] = max(found.get(key, 0), count)
    return found


def _read(data: bytes | None) -> Rows:
    """Read what is written down: of equal lines the highest, and no month of a year that stands there as a whole."""
    rows: Rows = {}
    for fields in facts.rows(data):
        if _is_count(fields):
            key = (fields[0], fields[1], fields[2])
            rows[key] = max(rows.get(key, 0), int(fields[3]))
    return {key: count for key, count in rows.items() if len(key[1]) == 4 or (key[0], key[1][:4], key[2]) not in rows}


def _is_count(fields: tuple[str, ...]) -> bool:
    if len(fields) != 4 or not (fields[3].isascii() and fields[3].isdecimal() and len(fields[3]) < 10):
        return False
    year, dash, month = fields[1].partition("-")
    known = year.isascii() and year.isdecimal() and len(year) == 4
    return known and (not dash or (month.isascii() and month.isdecimal() and len(month) == 2 and 1 <= int(month) <= 12))


def _written(data: bytes | None, rows: Mapping[tuple[str, str, str], int]) -> bytes:
    """Write all counts in order, and behind them what is none."""
    lines = [facts.line((*key, str(count))) for key, count in sorted(rows.items())]
    others = [facts.line(fields) for fields in facts.rows(data) if not _is_count(fields)]
    ending = "\r\n" if data and b"\r\n" in data else "\n"
    return "".join(line + ending for line in (*lines, *others)).encode("utf-8", "surrogateescape")


def _months(time: str) -> int:
    """Count the months from the year 0; a whole year counts as its middle."""
    return int(time[:4]) * 12 + (int(time[5:]) - 1 if len(time) > 4 else 6)
