"""The one place that writes to disk, in the vault and in STATE: append, replace, put, unlink, mkdir, sync.

Owns how a file is reached, how its bytes change as a whole, and when they are durable. A file is named by a path
with `/` beneath a root folder. It must never follow a link below the root, wait for a file that is no regular one,
repeat a sync that failed, or know what the bytes mean. Who changes a file that others change too holds a lock.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import stat as modes
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from unicodedata import category

from mdmem.errors import BadInput, Refused, StorageFailed

# Each call that may change the disk has a name here, so that a test can record it, let it fail or drop it.
_open = os.open
_write = os.write
_pwrite = os.pwrite
_truncate = os.ftruncate
_fsync = os.fsync
_fdatasync = os.fdatasync
_rename = os.rename
_link = os.link
_unlink = os.unlink
_mkdir = os.mkdir
_chmod = os.fchmod
_chown = os.fchown

_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_NOREPLACE, _EXCHANGE = 1, 2
_UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}
_LATE_WRITERS = 5.0
"""Seconds for which an editor may still write into a file that was taken out of its place."""

_LEFT = re.compile(
    r"(?:\..*\.)?mdmem-[0-9a-f]{16}(?:-(?P<was>[0-9a-f]{64})-(?P<new>[0-9a-f]{64}))?\.(?P<kind>part|put|swap)"
)
_TRY_AGAIN = "then run the command again"
_CAUSES = {
    errno.ENOSPC: ("the disk is full", f"free some space, {_TRY_AGAIN}"),
    errno.EDQUOT: ("the disk quota is used up", f"free some space, {_TRY_AGAIN}"),
    errno.EFBIG: ("the limit on file sizes is reached", f"raise `ulimit -f`, {_TRY_AGAIN}"),
    errno.EROFS: ("the file system is read-only", f"make it writable, {_TRY_AGAIN}"),
    errno.EACCES: ("permission denied", "look at owner and mode of the file and its folders"),
    errno.EPERM: ("permission denied", "look at owner, mode and attributes (`lsattr`) of the file"),
    errno.ELOOP: ("it is a symbolic link", "put the file itself there: links are not followed"),
    errno.ENOTDIR: ("a folder on the way is a link or no folder", "links are not followed: use real folders"),
    errno.EISDIR: ("it is not a regular file", "move it away, or choose another name"),
    errno.ENXIO: ("it is not a regular file", "move it away, or choose another name"),
    errno.ENOENT: ("it is not there", "look whether the folder was moved or unmounted"),
    errno.EMFILE: ("too many files are open", f"raise `ulimit -n`, {_TRY_AGAIN}"),
    errno.ENFILE: ("too many files are open", f"close other programs, {_TRY_AGAIN}"),
    errno.EIO: ("the disk reports an error", "look at the disk before you go on"),
}


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells two states of a file apart without reading it."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bytes of a file as they stood between two equal looks at it."""

    data: bytes
    stat: os.stat_result

    @property
    def stamp(self) -> Stamp:
        return stamp(self.stat)


@dataclass(frozen=True, slots=True)
class Appended:
    """Where appended bytes begin, and the file right after. `sync` makes it durable and closes `file`."""

    path: str
    root: Path
    offset: int
    stat: os.stat_result
    file: io.FileIO
    fresh: bool


@dataclass(frozen=True, slots=True)
class Replaced:
    """The file after `replace`. `links` above 1: other names still lead to the old content, as `kept` does."""

    stat: os.stat_result
    links: int
    kept: Path | None


@dataclass(frozen=True, slots=True)
class Stray:
    """A file in tmp/ with content of somebody else: `before` and `after` are the SHA-256 of the change it met."""

    path: Path
    before: str
    after: str


class Displaced(Refused):
    """Somebody else saved the file meanwhile. `theirs` is that version, if it could be read; it is in place."""

    def __init__(self, path: str, theirs: Snapshot | None = None) -> None:
        super().__init__(f"{path} was saved by another program just now", "run the command again")
        self.theirs = theirs


def check_relative(path: str) -> str:
    """Return `path` if it may be part of an address, else raise BadInput.

    Relative, `/` between components, none empty, dot-led or above 255 bytes, no backslash, NUL or control.
    """
    for part in _parts(path):
        if part.startswith(".") or "\\" in part or any(category(char) == "Cc" for char in part):
            raise BadInput(f"{path!r} is no path of a vault", "no `\\`, control or leading `.` in a name")
    return path


def _parts(path: str) -> list[str]:
    """Split a path into names that lead nowhere but down; weaker than an address, to reach any file there is."""
    parts = path.split("/")
    try:
        fits = all(part not in ("", ".", "..") and len(os.fsencode(part)) <= 255 for part in parts)
    except UnicodeEncodeError:
        fits = False
    if not fits or "\0" in path:
        raise BadInput(f"{path!r} is no path of a vault", "use names with `/` between them, without `..`")
    return parts


@contextmanager
def telling(verb: str, path: str) -> Iterator[None]:
    """Turn an OSError of the block into a StorageFailed that says what could not be done to `path`, and why."""
    try:
        yield
    except OSError as error:
        cause, hint = _CAUSES.get(error.errno or 0, (error.strerror or str(error), "look at the disk"))
        raise StorageFailed(f"cannot {verb} {path}: {cause}", hint) from error


def stamp(stat: os.stat_result) -> Stamp:
    """Take from a stat what tells two states of a file apart."""
    return Stamp(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@contextmanager
def _folder(root: Path, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """Walk down from the root, one real folder at a time, and lend the last one's descriptor."""
    here = _open(root, _FOLDER)
    try:
        for name in names:
            above, here = here, _step(here, name, create)
            os.close(above)
        yield here
    finally:
        os.close(here)


def _step(here: int, name: str, create: bool) -> int:
    with suppress(FileNotFoundError):
        return _open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here)
    if not create:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    with suppress(FileExistsError):
        _mkdir(name, 0o700, dir_fd=here)
    return _open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here)


def _regular(folder: int, name: str, flags: int) -> int:
    """Open a regular file of mode 0600 and no other kind."""
    fd = _open(name, flags | _SAFELY, 0o600, dir_fd=folder)
    if not modes.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
    return fd


def reach(path: str, *, root: Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file and return its descriptor, the caller's to close; O_CREAT makes its folders too."""
    *folders, name = _parts(path)
    with telling(_verb(flags), path), _folder(root, folders, create=bool(flags & os.O_CREAT)) as folder:
        return _regular(folder, name, flags)


@contextmanager
def opened(path: str, *, root: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Lend what `reach` opens. An OSError of the block becomes StorageFailed."""
    fd = reach(path, root=root, flags=flags)
    try:
        with telling(_verb(flags), path):
            yield fd
    finally:
        os.close(fd)


def _verb(flags: int) -> str:
    return "read" if flags & os.O_ACCMODE == os.O_RDONLY else "write"


def look(path: str, *, root: Path) -> os.stat_result | None:
    """Stat what stands at `path`, a link itself and not its target; None when nothing does."""
    *folders, name = _parts(path)
    try:
        with telling("look at", path), _folder(root, folders) as folder:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except StorageFailed as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def leads_to(path: str, fd: int, *, root: Path) -> bool:
    """Tell whether `path` still names the file that is open as `fd`."""
    there = look(path, root=root)
    return there is not None and os.path.samestat(there, os.fstat(fd))


def read(path: str, *, root: Path) -> Snapshot | None:
    """Read a regular file between two equal stats; None when missing, Displaced when it never stands still."""
    *folders, name = _parts(path)
    with telling("read", path), suppress(FileNotFoundError):
        with _folder(root, folders) as folder:
            if snapshot := _settled(folder, name):
                return snapshot
        raise Displaced(path)
    return None


def _settled(folder: int, name: str) -> Snapshot | None:
    """Read what stands still there; None when it does not."""
    for pause in (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032):
        time.sleep(pause)
        with io.FileIO(_regular(folder, name, os.O_RDONLY), "r") as file:
            before = os.fstat(file.fileno())
            data = file.readall()
            if stamp(before) == stamp(os.fstat(file.fileno())):
                return Snapshot(data, before)
    return None


def append(path: str, data: bytes, *, root: Path, expect: Stamp | Literal["any", "missing"] = "any") -> Appended:
    """Add bytes to the end of a file in one write, after the file's own line ending where its last line has none.

    `expect` is the state the caller has seen; the file and its folders are made unless that is a stamp. Displaced:
    the file was another, or became another meanwhile, so that nobody knows whether the bytes are in it: look, and
    redo. StorageFailed: the file is as it was. Not durable before `sync`, which must follow, best outside the lock.
    """
    *folders, name = _parts(path)
    with (
        telling("append to", path),
        ExitStack() as failed,
        _folder(root, folders, create=isinstance(expect, str)) as folder,
    ):
        file = failed.enter_context(_at_end(folder, name, path, expect))
        before = os.fstat(file.fileno())
        joint = _missing_ending(file.fileno(), before.st_size)
        _write_whole(file.fileno(), joint + data, before.st_size)
        after = os.fstat(file.fileno())
        whole = after.st_size == before.st_size + len(joint) + len(data)
        if not (whole and _still_there(folder, name, after)):
            raise Displaced(path)
        failed.pop_all()
        return Appended(path, root, before.st_size + len(joint), after, file, before.st_size == 0)


def _at_end(folder: int, name: str, path: str, expect: Stamp | str) -> io.FileIO:
    making = {"any": os.O_CREAT, "missing": os.O_CREAT | os.O_EXCL}.get(str(expect), 0)
    try:
        file = io.FileIO(_regular(folder, name, os.O_RDWR | os.O_APPEND | making), "r+")
    except (FileExistsError, FileNotFoundError) as error:
        raise Displaced(path) from error
    if isinstance(expect, Stamp) and stamp(os.fstat(file.fileno())) != expect:
        file.close()
        raise Displaced(path)
    return file


def _missing_ending(fd: int, size: int) -> bytes:
    tail = os.pread(fd, 65536, max(0, size - 65536))
    if not tail or tail.endswith(b"\n"):
        return b""
    line_end = tail.rfind(b"\n")
    return b"\r\n" if line_end > 0 and tail[line_end - 1] == 0x0D else b"\n"


def _write_whole(fd: int, data: bytes, size: int) -> None:
    written = 0
    try:
        while written < len(data):
            # A second round is rare: it completes a write that came back short, or learns from its error why.
            written += _some(_write(fd, data[written:]))
    finally:
        if 0 < written < len(data):
            _cut_back(fd, size, written)


def _some(count: int) -> int:
    if count <= 0:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return count


def _cut_back(fd: int, size: int, written: int) -> None:
    # What failed already is the error to tell; a torn line that cannot be cut is mended by whoever delivers it.
    with suppress(OSError):
        if os.fstat(fd).st_size == size + written:
            _truncate(fd, size)


def _still_there(folder: int, name: str, stat: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), stat)
    except FileNotFoundError:
        return False


def sync(appended: Appended) -> None:
    """Make appended bytes durable, for a new file also each folder's entry, and close the file whatever happens."""
    with telling("save", appended.path), appended.file:
        _fdatasync(appended.file.fileno())
        if appended.fresh:
            _sync_chain(appended.root, _parts(appended.path)[:-1])


def sync_folders(path: str, *, root: Path) -> None:
    """Make the name of `path`, and those of the folders it lies in, durable up to the root."""
    with telling("save", path):
        _sync_chain(root, _parts(path)[:-1])


def _sync_chain(root: Path, folders: list[str]) -> None:
    for depth in range(len(folders), -1, -1):
        with _folder(root, folders[:depth]) as folder:
            _sync_folder(folder)


def _sync_folder(folder: int) -> None:
    fd = _open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        _fsync(fd)
    finally:
        os.close(fd)


@dataclass(frozen=True, slots=True)
class _Change:
    """One replacement on its way: first `draft`, then `swap` in the folder `spare`, at last `name` in `folder`."""

    path: str
    data: bytes
    base: Snapshot | None
    folder: int
    name: str
    spare: int
    prefix: str = ""
    token: str = field(default_factory=lambda: os.urandom(8).hex())

    @property
    def draft(self) -> str:
        return f"{self.prefix}mdmem-{self.token}.part"

    @property
    def swap(self) -> str:
        # The hashes tell, after a crash, whether this file is the base, ours, or a save that nobody has seen.
        was = sha256(self.base.data if self.base else b"").hexdigest()
        return f"{self.prefix}mdmem-{self.token}-{was}-{sha256(self.data).hexdigest()}.swap"


def replace(path: str, data: bytes, *, root: Path, base: Snapshot | None, tmp: Path) -> Replaced:
    """Put other bytes in the place of `base`, or of nothing, as a whole and durably; they are prepared in `tmp`.

    Displaced: what stood there was not the base; it stands there again. The version that was taken out stays in
    `tmp` until `sweep`, in case an editor is still writing into it. StorageFailed: nothing was changed or, when
    only the folder could not be synced, not durably.
    """
    *folders, name = _parts(path)
    with telling("write", path), _folder(root, folders, create=base is None) as folder:
        try:
            with _folder(tmp.parent, [tmp.name], create=True) as spare:
                return _replace(_Change(path, data, base, folder, name, spare), tmp)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        beside = f".{os.fsdecode(os.fsencode(name)[:80])}."
        return _replace(_Change(path, data, base, folder, name, folder, beside), None)


def remove(path: str, *, root: Path, base: Snapshot, tmp: Path) -> None:
    """Take a file away that still holds `base`, durably; what was taken stays in `tmp` until `sweep`.

    Displaced: what stood there was not the base; it stands there again. StorageFailed: nothing was changed or, when
    only the folder could not be synced, not durably.
    """
    *folders, name = _parts(path)
    with telling("remove", path), _folder(root, folders) as folder:
        try:
            with _folder(tmp.parent, [tmp.name], create=True) as spare:
                _take_out(_Change(path, b"", base, folder, name, spare))
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        beside = f".{os.fsdecode(os.fsencode(name)[:80])}."
        change = _Change(path, b"", base, folder, name, folder, beside)
        _take_out(change)
        _discard(folder, change.swap)


def _take_out(change: _Change) -> None:
    base = change.base
    if not _same(_standing(change.folder, change.name), base):
        raise Displaced(change.path, _peek(change.folder, change.name))
    _rename(change.name, change.swap, src_dir_fd=change.folder, dst_dir_fd=change.spare)
    held = _peek(change.spare, change.swap)
    if not _same(held, base):
        # Where the name was taken again meanwhile, what was taken out stays in tmp/, and `sweep` names it.
        with suppress(OSError):
            _link(change.swap, change.name, src_dir_fd=change.spare, dst_dir_fd=change.folder)
            _unlink(change.swap, dir_fd=change.spare)
        raise Displaced(change.path, held)
    _sync_folder(change.folder)


def _replace(change: _Change, tmp: Path | None) -> Replaced:
    base = change.base
    with _drafted(change) as file:
        theirs = _standing(change.folder, change.name)
        if not _same(theirs, base):
            raise Displaced(change.path, theirs)
        kept = None
        if base is None:
            _enter(change)
        elif _exchange(change):
            # Before the sync: a foreign save should not be away from its name for the length of one.
            _inspect(change, base)
            kept = tmp and tmp / change.swap
            if kept is None:
                _discard(change.spare, change.swap)
        _sync_folder(change.folder)
        return Replaced(os.fstat(file.fileno()), base.stat.st_nlink if base else 1, kept)


@contextmanager
def _drafted(change: _Change) -> Iterator[io.FileIO]:
    """Lend the new file, written and durable; whatever still has its first name at the end goes away."""
    try:
        fd = _regular(change.spare, change.draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with io.FileIO(fd, "w") as file:
            _write_whole(fd, change.data, 0)
            if change.base is not None:
                _dress(fd, change.base.stat)
            _fsync(fd)
            yield file
    finally:
        _discard(change.spare, change.draft)


def _dress(fd: int, like: os.stat_result) -> None:
    ours = os.fstat(fd)
    if (ours.st_uid, ours.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            _chown(fd, like.st_uid, like.st_gid)
    _chmod(fd, modes.S_IMODE(like.st_mode))


def _peek(folder: int, name: str) -> Snapshot | None:
    """Read what stands there; None when it is nothing, no regular file, or still being written."""
    with suppress(OSError):
        return _settled(folder, name)
    return None


def _standing(folder: int, name: str) -> Snapshot | None:
    """Read what stands there, and refuse anything that is no regular file."""
    with suppress(FileNotFoundError):
        return _settled(folder, name)
    return None


def _same(one: Snapshot | None, other: Snapshot | None) -> bool:
    return (one and one.data) == (other and other.data)


def _enter(change: _Change) -> None:
    """Give the draft a name that must still be free."""
    try:
        try:
            _rename_how(_NOREPLACE, change.spare, change.draft, change.folder, change.name)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            _link(change.draft, change.name, src_dir_fd=change.spare, dst_dir_fd=change.folder)
    except FileExistsError as error:
        raise Displaced(change.path, _peek(change.folder, change.name)) from error


def _exchange(change: _Change) -> bool:
    """Swap draft and file. False where the file system cannot: then the old content is gone, not in hand."""
    _rename(change.draft, change.swap, src_dir_fd=change.spare, dst_dir_fd=change.spare)
    try:
        _rename_how(_EXCHANGE, change.spare, change.swap, change.folder, change.name)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            _rename(change.swap, change.name, src_dir_fd=change.spare, dst_dir_fd=change.folder)
            return False
        _discard(change.spare, change.swap)
        if isinstance(error, FileNotFoundError):
            raise Displaced(change.path) from error
        raise
    return True


def _inspect(change: _Change, base: Snapshot) -> None:
    """Look at what was taken out. Not the base: what was saved last gets the name, and Displaced is raised."""
    held = _peek(change.spare, change.swap)
    if _same(held, base):
        return
    there = change.data
    with suppress(OSError):
        for _ in range(5):
            _rename_how(_EXCHANGE, change.spare, change.swap, change.folder, change.name)
            out = _peek(change.spare, change.swap)
            if out and out.data == there:
                break
            # Saved once more while ours stood there: that version is the newest, so it goes back instead.
            there, held = held.data if held else b"", out
        if there == change.data:
            _discard(change.spare, change.swap)
    raise Displaced(change.path, held)


def _discard(folder: int, name: str) -> None:
    with suppress(OSError):
        _unlink(name, dir_fd=folder)


@cache
def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _rename_how(flags: int, source: int, name: str, target: int, to: str) -> None:
    import ctypes

    call = getattr(_libc(), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(source, os.fsencode(name), target, os.fsencode(to), flags):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def sweep(tmp: Path) -> tuple[Stray, ...]:
    """Clear what replacements left in `tmp`, under the lock they run under; give back what is not ours to delete.

    A version taken out less than 5 s ago stays, for an editor may still write into it.
    """
    with telling("clear", str(tmp)):
        try:
            with _folder(tmp, []) as folder:
                found = [_clear(folder, name, tmp) for name in sorted(entry.name for entry in tmp.iterdir())]
        except FileNotFoundError:
            return ()
    return tuple(stray for stray in found if stray is not None)


def _clear(folder: int, name: str, tmp: Path) -> Stray | None:
    left = _LEFT.fullmatch(name)
    if not left:
        return None
    if left["kind"] == "swap":
        snapshot = _peek(folder, name)
        digest = snapshot and sha256(snapshot.data).hexdigest()
        if digest not in (left["was"], left["new"]):
            return Stray(tmp / name, left["was"], left["new"])
        done = digest == left["new"] or _age(folder, name) > _LATE_WRITERS
    else:
        done = left["kind"] == "part" or _is_abandoned(folder, name)
    if done:
        _discard(folder, name)
    return None


def _age(folder: int, name: str) -> float:
    """Seconds since the file got its name; never negative, for a clock that was put back must not keep it for ever."""
    return abs(time.time() - os.stat(name, dir_fd=folder, follow_symlinks=False).st_ctime)


def _is_abandoned(folder: int, name: str) -> bool:
    """Tell whether the writer of a draft is gone: `put` needs no lock but that on its own draft."""
    with suppress(BlockingIOError, FileNotFoundError), io.FileIO(_regular(folder, name, os.O_RDONLY), "r") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def put(path: str, data: bytes, *, root: Path, durable: bool = True) -> None:
    """Give a file of STATE new content as a whole, whatever it held; prepared in `tmp/` beneath the root."""
    *folders, name = _parts(path)
    draft = f"mdmem-{os.urandom(8).hex()}.put"
    with (
        telling("write", path),
        _folder(root, folders, create=True) as folder,
        _folder(root, ["tmp"], create=True) as spare,
    ):
        try:
            with io.FileIO(_regular(spare, draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                _write_whole(file.fileno(), data, 0)
                if durable:
                    _fsync(file.fileno())
                _rename(draft, name, src_dir_fd=spare, dst_dir_fd=folder)
        finally:
            _discard(spare, draft)
        if durable:
            _sync_folder(folder)


def truncate(path: str, size: int, *, root: Path, expect: Stamp) -> None:
    """Cut a file to `size` bytes, durably; Displaced when it is not in the state the caller has seen."""
    with opened(path, root=root, flags=os.O_RDWR) as fd:
        if stamp(os.fstat(fd)) != expect:
            raise Displaced(path)
        _truncate(fd, size)
        _fdatasync(fd)


def unlink(path: str, *, root: Path) -> bool:
    """Remove a file's name, durably; False when there was none."""
    *folders, name = _parts(path)
    with telling("remove", path):
        try:
            with _folder(root, folders) as folder:
                _unlink(name, dir_fd=folder)
                _sync_folder(folder)
        except FileNotFoundError:
            return False
    return True


def mkdir(path: str, *, root: Path) -> None:
    """Make a folder of mode 0700, and those above it that are missing, each durable; what is there already stays."""
    names = _parts(path)
    with telling("make", path):
        for depth in range(len(names)):
            with _folder(root, names[:depth]) as above:
                if not _is_folder(above, names[depth]):
                    os.close(_step(above, names[depth], True))
                    # Only here: a folder that was there already may be one that we cannot even open.
                    _sync_folder(above)


def _is_folder(above: int, name: str) -> bool:
    with suppress(FileNotFoundError):
        os.close(_step(above, name, False))
        return True
    return False


def move(path: str, to: str, *, root: Path) -> None:
    """Give a file another name in its folder, durably; what had that name before is gone."""
    *folders, name = _parts(path)
    with telling("move", path), _folder(root, folders) as folder:
        _rename(name, _parts(to)[-1], src_dir_fd=folder, dst_dir_fd=folder)
        _sync_folder(folder)


def write(fd: int, data: bytes) -> int:
    """Write once to an open file and return how many bytes went in; for logs with rules of their own."""
    return _write(fd, data)


def overwrite(fd: int, data: bytes, offset: int) -> None:
    """Write over bytes of an open file that was not opened to append."""
    _pwrite(fd, data, offset)


def datasync(fd: int) -> None:
    """Make the bytes of an open file durable; after a failure, never again on this descriptor."""
    _fdatasync(fd)


def make_executable(path: str, *, root: Path) -> None:
    """Let the owner of a file run it."""
    with opened(path, root=root) as fd:
        _chmod(fd, modes.S_IMODE(os.fstat(fd).st_mode) | 0o700)
