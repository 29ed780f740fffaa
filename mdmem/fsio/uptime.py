"""Which run of the machine this is: what was written and not synced in an earlier one may be gone."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def boot() -> str:
    """Name this run of the machine; "" where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()[:8]
    except OSError:
        return ""
