"""Every error a person may meet: what happened, what to do, and the exit code that tells a script.

Owns the error hierarchy and nothing else. An error of the user's *data* is a `Finding` in a report, not an exception.
"""

from typing import ClassVar


class MdmemError(Exception):
    """Base of all errors: `message` says what happened, `hint` what to do about it."""

    exit_code: ClassVar[int] = 1
    code: ClassVar[str] = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotFound(MdmemError):
    """Nothing has this address, or nothing matches."""

    exit_code = 1
    code = "not_found"


class BadInput(MdmemError):
    """What was typed cannot be meant: a bad option, date, address or text."""

    exit_code = 2
    code = "usage"


class NoVault(MdmemError):
    """There is no vault here, or no git repository around it."""

    exit_code = 10
    code = "no_vault"


class Busy(MdmemError):
    """Another process holds a lock: nothing was kept, nothing was changed."""

    exit_code = 11
    code = "busy"


class Refused(MdmemError):
    """Going on would lose or overwrite something."""

    exit_code = 12
    code = "refused"


class Conflicted(Refused):
    """Two versions do not merge: the file is as it was, and what was given is kept as a conflict."""

    code = "conflict"


class Missing(MdmemError):
    """Something asked for by name is not there: a mode, a model, a program, a key."""

    exit_code = 13
    code = "missing"


class ModelFailed(MdmemError):
    """The language model gave no answer that can be used: nothing changes, and the next run tries again."""

    exit_code = 14
    code = "model"


class BudgetSpent(ModelFailed):
    """The language model was not asked: what may be spent on one day is spent."""

    code = "budget"


class StorageFailed(MdmemError):
    """Input or output failed: disk full, read-only, not a regular file, broken disk."""

    exit_code = 14
    code = "io"


class Damaged(StorageFailed):
    """An index does not hold what was written: it is built anew, since nothing is in it that the files have not."""
