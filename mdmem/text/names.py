"""File names that stand for something else than a note: what editors and synchronisers leave for a moment, and copies.

Pure: it is given names, never files.
"""

from __future__ import annotations

import re

_PASSING = re.compile(
    r"""\A(?:
        \.\#.* | \#.*\#                         # Emacs: a lock, which is a dangling link, and an autosave
        | .*~ | \..*\.sw. | 4913                # vim: backup, swap file, and its probe whether it may write here
        | \.goutputstream-.* | sed[A-Za-z0-9]{6}  # GNOME; sed -i
        | .*\.tmp | \.~lock\..*\#               # many; LibreOffice
        | .*\.crswap | .*___jb_[a-z]+___        # browsers; JetBrains
        | \..*\.kate-swp                        # Kate
        | ~syncthing~.* | \.syncthing\..*       # Syncthing
        | \..*\.mdmem-.*                        # a replacement of ours at work
    )\Z""",
    re.VERBOSE | re.DOTALL,
)

_COPIES = re.compile(r"\.sync-conflict-\d{8}-\d{6}|\.orig\Z", re.DOTALL)


def is_passing(name: str) -> bool:
    """Tell whether a file of this name lives for a moment only: it is never indexed and never committed."""
    return _PASSING.match(name) is not None


def is_copy(name: str) -> bool:
    """Tell whether a name says that a synchroniser or a merge left a second version of a note there."""
    return _COPIES.search(name) is not None
