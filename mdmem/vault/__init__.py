"""The aggregate: everything a vault can do, and the only wiring of the stores.

`core.py` is the one object through which everything goes. A write passes `delivery.py` (journal to file), then
`commits.py` (file to history); a read passes `index.py` (files to indexes), then `reading.py` (hits and entries cut
from the files). `history.py` reads commits as changes, `place.py` knows where everything is, `birth.py` makes a vault.
"""

from mdmem.vault.core import Vault

__all__ = ["Vault"]
