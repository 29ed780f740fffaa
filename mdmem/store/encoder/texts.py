"""What every way of serving does with texts: make them safe, split them to fit, encode them side by side.

Owns nothing of a model. A text is always encoded alone: a quantised model scales its numbers to all that it is given at
once, so that in a batch a vector would depend on its neighbours (measured: down to a cosine of 0.97 to itself).
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vector = NDArray[float32]

AHEAD = 8
"""Texts a thread that are handed out before the first is asked for."""


def clean(text: str) -> str:
    """Replace what is no character, one for one: NUL, which ends a text in C, and lone surrogates, no UTF-8."""
    text = text.replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def split(text: str, count: Callable[[str], int], *, window: int) -> list[str]:
    """Split a text into pieces of at most `window` tokens and about one size, after white space where there is some.

    Together the pieces are the text. `count` counts tokens as the model would, prefix and specials included. A scrap at
    the end would be near to anything: on abstracts of one window and a little, equal pieces find more.
    """
    total = count(text)
    if total <= window:
        return [text]
    wanted = math.ceil(total / (0.9 * window))
    pieces: list[str] = []
    start = 0
    while start < len(text):
        rest = text[start : start + 8 * window]
        aim = math.ceil((len(text) - start) / max(1, wanted - len(pieces)))
        size = _border(rest, aim) if aim < len(rest) else len(rest)
        if count(rest[:size]) > window:
            size = _fitting(rest, count, window)
        pieces.append(rest[:size])
        start += size
    return pieces


def _fitting(text: str, count: Callable[[str], int], window: int) -> int:
    """Find about the most characters that fit, one at least. Counting is dear: guessed by proportion, then halved."""
    low, high, size = 0, len(text) + 1, min(len(text), 4 * window)
    for turn in range(64):
        found = count(text[:size])
        low, high = (size, high) if found <= window else (low, size)
        if high - low <= 1 or (low == size and found >= 0.9 * window):
            break
        guess = int(0.96 * size * window / found) if turn < 4 else (low + high) // 2
        size = max(low + 1, min(guess, high - 1))
    border = _border(text, low)
    return max(1, border if count(text[:border]) <= window else low)


def _border(text: str, size: int) -> int:
    """Give the end of the last white space in the last quarter, else the size itself."""
    for end in range(size, size * 3 // 4, -1):
        if text[end - 1].isspace():
            return end
    return size


def workers() -> int:
    """Count the processors this process may use."""
    return len(os.sched_getaffinity(0))


def in_order(texts: Sequence[str], encode: Callable[[str], Vector | None], threads: int) -> Iterator[Vector | None]:
    """Encode texts in threads and yield the vectors in their order; closing the iterator stops the work."""
    if threads == 1 or len(texts) == 1:
        yield from map(encode, texts)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads, "mdmem-encoder")
    waiting: deque[Future[Vector | None]] = deque()
    try:
        for text in texts:
            waiting.append(pool.submit(encode, text))
            if len(waiting) >= AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def unit(vector: Vector) -> Vector | None:
    """Give the vector at unit length; None when it holds what is no number, or nothing at all."""
    import numpy as np

    length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if 1e-6 < length < float("inf") else None
