"""The aggregate: everything a vault can do, and the only wiring of the stores.

`core.py` is the one object through which everything goes. What is added passes `intake.py` (checked), `delivery.py`
(journal to file, in the form of `daylog.py`) and `commits.py` (file to history, in the words of `messages.py`); what is
changed passes `amendment.py` (the order of it) and `replacement.py` (files as a whole). A read passes `index.py` (files
to indexes), then `reading.py` (hits and entries cut from the files). `history.py` reads commits as changes, `place.py`
knows where everything is, `birth.py` makes a vault.
"""

from mdmem.vault.core import Vault

__all__ = ["Vault"]
