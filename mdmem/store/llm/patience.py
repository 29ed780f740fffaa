"""How long an endpoint asks to wait: `Retry-After`, in seconds or as a date."""

from __future__ import annotations

import math
import re
import time
from datetime import UTC


def wished(value: str | None) -> float | None:
    """Return the seconds that a `Retry-After` asks for, never below 0; None for one that says nothing."""
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text) if len(text) < 300 else math.inf
    from email.utils import parsedate_to_datetime  # 20 ms, for the few that name a date

    try:
        moment = parsedate_to_datetime(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError, IndexError):  # what is no date fails in many ways
        return None
    return max(0.0, seconds)
