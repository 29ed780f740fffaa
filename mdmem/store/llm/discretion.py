"""What may be repeated of what an endpoint or a program says: no key, no memory, nothing that steers a terminal.

Pure. It must never let through more than a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MOST = 200
"""Characters of a stranger's words that are shown."""

READ = 4096
"""Characters of them that are looked at."""

KEY_RUN, PROMPT_RUN, EASTERN_RUN = 6, 12, 5
"""So many characters in a row are taken for a piece of a key, or of the prompt: fewer of a script without spaces."""

SHORTEST = 4
"""What is shorter is no secret, and stands in every other word."""

_STEERING = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)")

_WESTERN = re.compile("[^\u2e80-\U0010ffff]")


def told(said: str, *, secrets: Iterable[str], prompt: str) -> str:
    """Return on one line what was said, with `…` for every piece of a secret or of the prompt in it."""
    line = _line(said[:READ])
    asked = _line(prompt)
    hidden = {*_pieces(line, asked, PROMPT_RUN), *_pieces(_WESTERN.sub("\0", line), asked, EASTERN_RUN)}
    for secret in secrets:
        if len(secret) >= SHORTEST:
            hidden.update(_pieces(line, secret, KEY_RUN))
    shown = re.sub("\0+", "…", "".join("\0" if at in hidden else char for at, char in enumerate(line)))
    return shown if len(shown) <= MOST else shown[: MOST - 1] + "…"


def _line(text: str) -> str:
    seen = "".join(char if char.isprintable() else " " for char in _STEERING.sub(" ", text))
    return " ".join(seen.split())


def _pieces(line: str, source: str, run: int) -> Iterator[int]:
    """Yield the places of all that stands in the source as well, for at least so many characters."""
    run = min(run, len(source))
    known = {source[at : at + run] for at in range(len(source) - run + 1)} - {""}
    for at in range(len(line) - run + 1):
        if line[at : at + run] in known:
            yield from range(at, at + run)
