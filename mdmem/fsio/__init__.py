"""The one place that writes to disk, in the vault and in STATE: append, replace, put, unlink, mkdir, sync.

Owns how a file is reached, how its bytes change as a whole, and when they are durable. A file is named by a path
with `/` beneath a root folder. It must never follow a link below the root, wait for a file that is no regular one,
repeat a sync that failed, or know what the bytes mean. Who changes a file that others change too holds a lock.

Beneath this: `calls` names each call that may change the disk, `trouble` tells why one failed, `paths` reaches a
file, `snapshot` looks at it, `holders` tells whether it is being written, `tail` appends to it, `replacement` puts
another in its place, `leftovers` clears what that left behind, `state` writes what nobody else saves, `uptime` tells
one run of the machine from the next.
"""

from mdmem.fsio.holders import being_written
from mdmem.fsio.leftovers import Stray, sweep
from mdmem.fsio.paths import check_relative, opened, reach, sync_folders
from mdmem.fsio.replacement import Replaced, remove, replace
from mdmem.fsio.snapshot import Displaced, Snapshot, Stamp, TooLarge, leads_to, look, read, stamp
from mdmem.fsio.state import datasync, make_executable, make_private, mkdir, move, overwrite, put, unlink, write
from mdmem.fsio.tail import Appended, append, sync, truncate
from mdmem.fsio.trouble import telling, told, why
from mdmem.fsio.uptime import boot

__all__ = [
    "Appended",
    "Displaced",
    "Replaced",
    "Snapshot",
    "Stamp",
    "Stray",
    "TooLarge",
    "append",
    "being_written",
    "boot",
    "check_relative",
    "datasync",
    "leads_to",
    "look",
    "make_executable",
    "make_private",
    "mkdir",
    "move",
    "opened",
    "overwrite",
    "put",
    "reach",
    "read",
    "remove",
    "replace",
    "stamp",
    "sweep",
    "sync",
    "sync_folders",
    "telling",
    "told",
    "truncate",
    "unlink",
    "why",
    "write",
]
