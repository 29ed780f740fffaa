"""Plain writes, for what nobody saves by hand: whole files of STATE, names, folders, bytes of files that are open.

Owns changes that need not look at what was there before. It must never change the text of a memory file.
"""

from __future__ import annotations

import fcntl
import io
import os
import stat as modes
from contextlib import suppress
from pathlib import Path

from mdmem.fsio import calls, paths
from mdmem.fsio.tail import write_whole
from mdmem.fsio.trouble import telling


def put(path: str, data: bytes, *, root: Path, durable: bool = True, create: bool = True) -> None:
    """Give a file of STATE new content as a whole, whatever it held; prepared in `tmp/` beneath the root.

    Its folder is made, unless `create` says that one that is missing was removed.
    """
    *folders, name = paths.split(path)
    draft = f"mdmem-{os.urandom(8).hex()}.put"
    with (
        telling("write", path),
        paths.descend(root, folders, create=create) as folder,
        paths.descend(root, ["tmp"], create=True) as spare,
    ):
        try:
            with io.FileIO(paths.open_regular(spare, draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                write_whole(file.fileno(), data, 0)
                if durable:
                    calls.fsync(file.fileno())
                calls.rename(draft, name, src_dir_fd=spare, dst_dir_fd=folder)
        finally:
            paths.discard(spare, draft)
        if durable:
            paths.sync_folder(folder)


def unlink(path: str, *, root: Path) -> bool:
    """Remove a file's name, durably; False when there was none."""
    *folders, name = paths.split(path)
    with telling("remove", path):
        try:
            with paths.descend(root, folders) as folder:
                calls.unlink(name, dir_fd=folder)
                paths.sync_folder(folder)
        except FileNotFoundError:
            return False
    return True


def mkdir(path: str, *, root: Path) -> None:
    """Make a folder of mode 0700, and those above it that are missing, each durable; what is there already stays."""
    names = paths.split(path)
    with telling("make", path):
        for depth in range(len(names)):
            with paths.descend(root, names[:depth]) as above:
                if not _is_folder(above, names[depth]):
                    os.close(paths.step(above, names[depth], True))
                    # Only here: a folder that was there already may be one that we cannot even open.
                    paths.sync_folder(above)


def _is_folder(above: int, name: str) -> bool:
    with suppress(FileNotFoundError):
        os.close(paths.step(above, name, False))
        return True
    return False


def move(path: str, to: str, *, root: Path) -> None:
    """Give a file another name in its folder, durably; what had that name before is gone."""
    *folders, name = paths.split(path)
    with telling("move", path), paths.descend(root, folders) as folder:
        calls.rename(name, paths.split(to)[-1], src_dir_fd=folder, dst_dir_fd=folder)
        paths.sync_folder(folder)


def make_executable(path: str, *, root: Path) -> None:
    """Let the owner of a file run it."""
    with paths.opened(path, root=root) as fd:
        calls.chmod(fd, modes.S_IMODE(os.fstat(fd).st_mode) | 0o700)


def make_private(path: str, *, root: Path) -> None:
    """Keep others from a file of STATE that a library made, whatever the umask was then."""
    with paths.opened(path, root=root) as fd:
        if modes.S_IMODE(os.fstat(fd).st_mode) != 0o600:
            calls.chmod(fd, 0o600)


def write(fd: int, data: bytes) -> int:
    """Write once to an open file and return how many bytes went in; for logs with rules of their own."""
    return calls.write(fd, data)


def overwrite(fd: int, data: bytes, offset: int) -> None:
    """Write over bytes of an open file that was not opened to append."""
    calls.pwrite(fd, data, offset)


def datasync(fd: int) -> None:
    """Make the bytes of an open file durable; after a failure, never again on this descriptor."""
    calls.fdatasync(fd)
