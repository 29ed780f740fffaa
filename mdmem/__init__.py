"""mdmem: the memory you can read."""

from typing import TYPE_CHECKING, Any

from mdmem.errors import MdmemError
from mdmem.model import Entry, Hit, Query

if TYPE_CHECKING:
    from mdmem.vault import Vault

__all__ = ["Entry", "Hit", "MdmemError", "Query", "Vault"]


def __getattr__(name: str) -> Any:
    if name == "Vault":  # loaded when asked for, so that a warm search need not load the engine
        from mdmem.vault import Vault

        return Vault
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
