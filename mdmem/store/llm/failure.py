"""Why an attempt to have an answer failed, and whether another may do better."""

from __future__ import annotations

from mdmem.errors import ModelFailed


class Failure(ModelFailed):
    """One attempt that failed.

    With `again` it may pass; `after` is how many seconds the other side asks to wait, None where it does not say.
    `free` means that the prompt was not taken, so that it cost nothing.
    """

    def __init__(
        self, message: str, hint: str = "", *, again: bool = False, after: float | None = None, free: bool = False
    ) -> None:
        super().__init__(message, hint)
        self.again = again
        self.after = after
        self.free = free
