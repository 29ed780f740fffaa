"""Until when a memory counts: what people write for `expires`, and how long something temporary stays.

Pure. What is taken out of memory must be beyond doubt: only whole dates and moments are read, each in one way, and
nothing is taken to be in the past because it usually is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, time, timedelta
from unicodedata import normalize

from mdmem.text import items

EXAMPLES = "2026-12-31, 2026-12-31 18:00, 2026-12-31T18:00+08:00, 2026年12月31日, never"

TEMPORARY = "temp"
"""The tag of what is meant to go by itself; tags nested under it count too."""

QUOTES = "\"'`“”‘’「」 "
"""What people put around a value, as they would in other formats."""

NEVER = {"never", "none", "no", "permanent", "永不", "永久", "长期", "无"}

Local = Callable[[datetime], datetime]
"""Gives a moment, naive or of another zone, on the user's clock."""

_DAY = r"(\d{4})(?:-(\d\d?)-(\d\d?)|/(\d\d?)/(\d\d?)|\.(\d\d?)\.(\d\d?)|年(\d\d?)月(\d\d?)[日号])"
_CLOCK = r"(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?"
_ZONE = r" ?(z|[+-]\d\d:?\d\d)"
_WRITTEN = re.compile(rf"{_DAY}(?:[t ] ?{_CLOCK}(?:{_ZONE})?)?")


def end(text: str, local: Local) -> datetime | None:
    """Return the moment, aware, from which on a text with this `expires` no longer counts; None for never.

    A date counts until the end of that day. ValueError for anything else than a date or a moment.
    """
    plain = " ".join(normalize("NFKC", text[:100]).casefold().strip(QUOTES).split())
    if plain in NEVER:
        return None
    found = _WRITTEN.fullmatch(plain)
    if not found:
        raise ValueError(f"{text[:40]!r} is no date or moment")
    year, month, day = (int(part) for part in found.groups()[:9] if part)
    hour, minute, second, zone = found.groups()[9:]
    try:
        midnight = datetime(year, month, day)
        if year == 9999:  # the last day there is stands for never
            return None
        if hour is None:
            return _latest(midnight + timedelta(days=1), local)
        written = datetime.combine(midnight, time(int(hour), int(minute), int(second or 0)))
        if zone:
            return local(datetime.fromisoformat(f"{written.isoformat()}{zone.upper()}"))
        return _latest(written, local)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text[:40]!r} is no date or moment: {error}") from error


_COMMENT = re.compile(r"<!--[ \t]*mdmem[:：](?:(?!-->).){0,200}\bexpires\b(?:(?!-->).){0,200}-->", re.IGNORECASE)


def overlooked(text: str) -> Iterator[int]:
    """Yield the lines of an entry's text, from 0, that hold a comment with `expires`, which there is only text.

    The comment of an entry is no part of its text, and what stands in code is meant so.
    """
    fence = ""
    for number, line in enumerate(text.split("\n")):
        inside, fence = fence, items.fence_after(line, fence)
        if not (inside or fence) and _COMMENT.search(re.sub("`[^`]*`", "", line)):
            yield number


def _latest(naive: datetime, local: Local) -> datetime:
    """Return the moment at which clocks show this, the later one where they do twice, or pass over it."""
    return max((local(naive.replace(fold=fold)) for fold in (0, 1)), key=datetime.timestamp)


def is_temporary(tags: Iterable[str]) -> bool:
    """Tell whether one of the tags says that a text is for some days only."""
    return any(tag.casefold().partition("/")[0] == TEMPORARY for tag in tags)


def after(moment: datetime, days: int, local: Local) -> datetime:
    """Return the same time of day so many days later, whatever the clocks did in between."""
    return _latest(moment.replace(tzinfo=None, fold=0) + timedelta(days=days), local)


def is_over(end: datetime, now: datetime) -> bool:
    """Tell whether a moment has come. Two aware moments of one zone would be compared by what its clocks show."""
    return end.timestamp() <= now.timestamp()
