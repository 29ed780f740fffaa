"""Appending, replacing and reading files as whole things, with real files; faults come in at single calls."""

from __future__ import annotations

import errno
import os
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdmem
from mdmem import fsio
from mdmem.errors import BadInput, StorageFailed

PACKAGE = Path(mdmem.__file__).parent.parent


def python(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)})


def appended(path: str, data: bytes, root: Path, **options: Any) -> fsio.Appended:
    done = fsio.append(path, data, root=root, **options)
    fsio.sync(done)
    return done


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def before(call: Callable[..., Any], *actions: Callable[[], object]) -> Callable[..., Any]:
    """Wrap a call so that each of its first rounds is preceded by one action."""
    waiting = list(actions)

    def wrapped(*args: Any, **options: Any) -> Any:
        if waiting:
            waiting.pop(0)()
        return call(*args, **options)

    return wrapped


def save_over(path: Path, data: bytes) -> None:
    fresh = path.with_name(path.name + "~")
    fresh.write_bytes(data)
    fresh.replace(path)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[fsio.Snapshot]:
    (tmp_path / "plan.md").write_bytes(b"old\n")
    (tmp_path / "plan.md").chmod(0o640)
    snapshot = fsio.read("plan.md", root=tmp_path)
    assert snapshot
    yield snapshot


def left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.rglob("*mdmem-*"))


# -- names

ODD_NAMES = ["a\x7fb", "a\x85b", "é" * 128, "a" * 256, "\ud800"]


@pytest.mark.parametrize("path", ["a.md", "memory/daily/2026-11-29.md", "x/ä é.md", "名/前.md", "a" * 255, "-x", "a b"])
def test_paths_of_an_address(path: str) -> None:
    assert fsio.check_relative(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "a/",
        "./a",
        ".git/config",
        "a/.hidden",
        "a\\b",
        "a\0b",
        "a\nb",
        *ODD_NAMES,
    ],
)
def test_what_is_no_path_of_an_address(path: str) -> None:
    with pytest.raises(BadInput):
        fsio.check_relative(path)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/./b", "a\0b", "\ud800"])
def test_nothing_is_reached_outside(tmp_path: Path, path: str) -> None:
    for call in (fsio.read, fsio.look, fsio.unlink, fsio.mkdir):
        with pytest.raises(BadInput):
            call(path, root=tmp_path)


def test_an_undecodable_name_is_reached(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    appended(name, b"x\n", tmp_path)
    assert os.listdir(os.fsencode(tmp_path)) == [b"caf\xe9.md"]


# -- appending


def test_append_makes_file_and_folders(tmp_path: Path) -> None:
    done = appended("memory/daily/2026-11-29.md", b"# 2026-11-29\n", tmp_path)
    file = tmp_path / "memory/daily/2026-11-29.md"
    assert file.read_bytes() == b"# 2026-11-29\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert (done.offset, done.stat.st_size, done.file.closed) == (0, 13, True)


def test_append_goes_behind_what_is_there(tmp_path: Path) -> None:
    appended("a.md", b"one\n", tmp_path)
    done = appended("a.md", b"two\n", tmp_path)
    assert (done.offset, (tmp_path / "a.md").read_bytes()) == (4, b"one\ntwo\n")


@pytest.mark.parametrize(
    ("there", "joint"),
    [
        (b"", b""),
        (b"a\n", b""),
        (b"a", b"\n"),
        (b"a\nb", b"\n"),
        (b"a\r\nb", b"\r\n"),
        (b"a\r\n", b""),
        (b"\nb", b"\n"),
        (b"a\r\n" + b"b" * 70_000, b"\n"),
    ],
)
def test_an_unfinished_line_gets_the_files_own_ending(tmp_path: Path, there: bytes, joint: bytes) -> None:
    (tmp_path / "a.md").write_bytes(there)
    done = appended("a.md", b"x\n", tmp_path)
    assert (tmp_path / "a.md").read_bytes() == there + joint + b"x\n"
    assert done.offset == len(there + joint)


@given(st.binary(max_size=40), st.binary(min_size=1, max_size=40))
def test_append_keeps_every_byte(tmp_path_factory: pytest.TempPathFactory, there: bytes, data: bytes) -> None:
    root = tmp_path_factory.getbasetemp()
    (root / "any.md").write_bytes(there)
    done = appended("any.md", data, root)
    content = (root / "any.md").read_bytes()
    assert content.startswith(there) and content[done.offset :] == data
    assert content[len(there) : done.offset] in (b"", b"\n", b"\r\n")


def test_append_only_to_the_state_that_was_seen(tmp_path: Path, base: fsio.Snapshot) -> None:
    (tmp_path / "plan.md").write_bytes(b"saved meanwhile\n")
    with pytest.raises(fsio.Displaced):
        fsio.append("plan.md", b"x\n", root=tmp_path, expect=base.stamp)
    with pytest.raises(fsio.Displaced):
        fsio.append("plan.md", b"x\n", root=tmp_path, expect="missing")
    with pytest.raises(fsio.Displaced):
        fsio.append("other.md", b"x\n", root=tmp_path, expect=base.stamp)
    assert (tmp_path / "plan.md").read_bytes() == b"saved meanwhile\n"
    assert not (tmp_path / "other.md").exists()


def test_append_as_expected(tmp_path: Path, base: fsio.Snapshot) -> None:
    appended("plan.md", b"x\n", tmp_path, expect=base.stamp)
    appended("new.md", b"x\n", tmp_path, expect="missing")
    assert ((tmp_path / "plan.md").read_bytes(), (tmp_path / "new.md").read_bytes()) == (b"old\nx\n", b"x\n")


def test_a_vault_that_is_gone_does_not_come_back(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="it is not there"):
        fsio.append("a.md", b"x\n", root=tmp_path / "vault")
    assert not (tmp_path / "vault").exists()


@pytest.mark.parametrize("vanish", [False, True])
def test_append_to_a_file_that_is_replaced_meanwhile(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch, vanish: bool
) -> None:
    file = tmp_path / "plan.md"
    action = file.unlink if vanish else lambda: save_over(file, b"theirs\n")
    monkeypatch.setattr(fsio.calls, "write", before(os.write, action))
    with pytest.raises(fsio.Displaced):
        fsio.append("plan.md", b"x\n", root=tmp_path)
    assert vanish or file.read_bytes() == b"theirs\n"


def test_append_beside_somebody_who_appends_without_a_lock(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.md"
    monkeypatch.setattr(fsio.calls, "write", before(os.write, lambda: file.write_bytes(b"old\ntheirs\n")))
    with pytest.raises(fsio.Displaced):
        fsio.append("plan.md", b"x\n", root=tmp_path)
    assert file.read_bytes() == b"old\ntheirs\nx\n"


class Disk:
    """A disk with room for so many bytes more; `meanwhile` happens when it is full."""

    def __init__(self, room: int, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.room = room
        self.meanwhile = meanwhile

    def write(self, fd: int, data: bytes) -> int:
        if not self.room:
            self.meanwhile()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = os.write(fd, data[: self.room])
        self.room -= count
        return count


@pytest.mark.parametrize("room", [0, 1, 6])
def test_a_full_disk_leaves_the_file_as_it_was(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(fsio.calls, "write", Disk(room).write)
    with pytest.raises(StorageFailed, match=r"cannot append to plan\.md: the disk is full") as caught:
        fsio.append("plan.md", b"1234567\n", root=tmp_path)
    assert (tmp_path / "plan.md").read_bytes() == b"old\n"
    assert isinstance(caught.value.__cause__, OSError) and caught.value.__cause__.errno == errno.ENOSPC


def test_a_full_disk_never_cuts_what_others_wrote(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def theirs() -> None:
        with (tmp_path / "plan.md").open("ab") as file:
            file.write(b"theirs\n")

    monkeypatch.setattr(fsio.calls, "write", Disk(2, theirs).write)
    with pytest.raises(StorageFailed):
        fsio.append("plan.md", b"1234567\n", root=tmp_path)
    assert (tmp_path / "plan.md").read_bytes() == b"old\n12theirs\n"


def test_the_first_error_is_told_when_cutting_back_fails(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsio.calls, "write", Disk(2).write)
    monkeypatch.setattr(fsio.calls, "truncate", failing(errno.EIO))
    with pytest.raises(StorageFailed, match="the disk is full"):
        fsio.append("plan.md", b"1234567\n", root=tmp_path)


def test_a_short_write_is_completed(tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsio.calls, "write", lambda fd, data: os.write(fd, data[:3]))
    appended("plan.md", b"1234567\n", tmp_path)
    assert (tmp_path / "plan.md").read_bytes() == b"old\n1234567\n"


def test_a_write_of_nothing_is_an_error(tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsio.calls, "write", lambda fd, data: 0)
    with pytest.raises(StorageFailed, match="the disk reports an error"):
        fsio.append("plan.md", b"x\n", root=tmp_path)


def test_a_limit_on_file_sizes_cuts_nothing_off(tmp_path: Path, base: fsio.Snapshot) -> None:
    code = """if True:
        import pathlib, resource, sys
        from mdmem import errors, fsio
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        try:
            fsio.append("plan.md", b"x" * 200, root=pathlib.Path(sys.argv[1]))
        except errors.StorageFailed as error:
            sys.stdout.write(error.message)
    """
    assert python(code, tmp_path).stdout == "cannot append to plan.md: the limit on file sizes is reached"
    assert (tmp_path / "plan.md").read_bytes() == b"old\n"


def test_without_descriptors_the_error_is_clean(tmp_path: Path, base: fsio.Snapshot) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.open(os.devnull, os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (held[0] + 2, hard))
    try:
        with pytest.raises(StorageFailed, match="too many files are open"):
            fsio.append("plan.md", b"x\n", root=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(held[0])
    assert (tmp_path / "plan.md").read_bytes() == b"old\n"


def odd(kind: str, path: Path) -> None:
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            here = Path.cwd()
            os.chdir(path.parent)  # the name of a socket may have a hundred bytes
            server.bind(path.name)
            os.chdir(here)
    else:
        path.symlink_to("plan.md" if kind == "link" else "nowhere")


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket", "link", "dangling link"])
def test_only_regular_files_are_touched(tmp_path: Path, base: fsio.Snapshot, kind: str) -> None:
    odd(kind, tmp_path / "odd.md")
    why = "it is a symbolic link" if "link" in kind else "it is not a regular file"
    with pytest.raises(StorageFailed, match=why):
        fsio.append("odd.md", b"x\n", root=tmp_path)
    with pytest.raises(StorageFailed, match=why):
        fsio.replace("odd.md", b"x\n", root=tmp_path, base=None, tmp=tmp_path / "tmp")
    if kind != "folder":
        with pytest.raises(StorageFailed, match=why):
            fsio.read("odd.md", root=tmp_path)
    assert (tmp_path / "plan.md").read_bytes() == b"old\n"
    assert left(tmp_path) == []


def test_no_folder_is_reached_through_a_link(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir(), root.mkdir()
    (outside / "a.md").write_bytes(b"theirs\n")
    (root / "in").symlink_to(outside)
    for call in (fsio.read, fsio.look, fsio.unlink):
        with pytest.raises(StorageFailed, match="a folder on the way is a link"):
            call("in/a.md", root=root)
    with pytest.raises(StorageFailed, match="a folder on the way is a link"):
        fsio.append("in/a.md", b"x\n", root=root)
    with pytest.raises(StorageFailed, match="a folder on the way is a link"):
        fsio.mkdir("in", root=root)
    assert [path.read_bytes() for path in outside.iterdir()] == [b"theirs\n"]


# -- syncing


def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def record(call: Callable[[int], None]) -> Callable[[int], None]:
        def wrapped(fd: int) -> None:
            names.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
            call(fd)

        return wrapped

    monkeypatch.setattr(fsio.calls, "fsync", record(os.fsync))
    monkeypatch.setattr(fsio.calls, "fdatasync", record(os.fdatasync))
    return names


def test_a_new_file_syncs_each_folder_and_an_old_one_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = synced(monkeypatch)
    appended("memory/daily/a.md", b"x\n", tmp_path)
    assert names == ["a.md", "daily", "memory", tmp_path.name]
    names.clear()
    appended("memory/daily/a.md", b"x\n", tmp_path)
    assert names == ["a.md"]


def test_a_failed_sync_is_told_and_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def fail(fd: int) -> None:
        tries.append(fd)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fsio.calls, "fdatasync", fail)
    done = fsio.append("a.md", b"x\n", root=tmp_path)
    with pytest.raises(StorageFailed, match=r"cannot save a\.md: the disk reports an error"):
        fsio.sync(done)
    assert len(tries) == 1 and done.file.closed


# -- reading


def test_read(tmp_path: Path, base: fsio.Snapshot) -> None:
    assert (base.data, base.stat.st_size) == (b"old\n", 4)
    assert base.stamp == fsio.stamp((tmp_path / "plan.md").stat())
    assert fsio.read("none.md", root=tmp_path) is None
    assert fsio.read("no/folder.md", root=tmp_path) is None
    assert fsio.look("none.md", root=tmp_path) is None


def test_read_waits_until_a_file_stands_still(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, fstat = tmp_path / "plan.md", os.fstat
    # The first look is for the kind, the next two are around the reading.
    write = before(fstat, lambda: None, lambda: None, lambda: file.write_bytes(b"half a sa"))
    monkeypatch.setattr(os, "fstat", write)
    snapshot = fsio.read("plan.md", root=tmp_path)
    assert snapshot and snapshot.data == b"half a sa"


def test_read_gives_up_on_a_file_that_never_stands_still(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fstat = os.fstat

    def grow(fd: int) -> os.stat_result:
        with (tmp_path / "plan.md").open("ab") as file:
            file.write(b"x")
        return fstat(fd)

    monkeypatch.setattr(os, "fstat", grow)
    with pytest.raises(fsio.Displaced):
        fsio.read("plan.md", root=tmp_path)


# -- replacing


def replace(tmp_path: Path, data: bytes, base: fsio.Snapshot | None, **options: Any) -> fsio.Replaced:
    return fsio.replace("plan.md", data, root=tmp_path, base=base, **{"tmp": tmp_path / "tmp", **options})


def test_replace(tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    names = synced(monkeypatch)
    done = replace(tmp_path, b"new\n", base)
    now = (tmp_path / "plan.md").stat()
    assert (tmp_path / "plan.md").read_bytes() == b"new\n"
    assert stat.S_IMODE(now.st_mode) == 0o640
    assert (fsio.stamp(now), done.links) == (fsio.stamp(done.stat), 1)
    assert done.kept and done.kept.read_bytes() == b"old\n"
    assert len(names) == 2 and names[1] == tmp_path.name


def test_replace_twice(tmp_path: Path, base: fsio.Snapshot) -> None:
    done = replace(tmp_path, b"new\n", base)
    replace(tmp_path, b"newer\n", fsio.Snapshot(b"new\n", done.stat))
    assert (tmp_path / "plan.md").read_bytes() == b"newer\n"


def test_replace_nothing_makes_a_private_file(tmp_path: Path) -> None:
    done = fsio.replace("a/b.md", b"new\n", root=tmp_path, base=None, tmp=tmp_path / "tmp")
    assert (tmp_path / "a/b.md").read_bytes() == b"new\n"
    assert stat.S_IMODE((tmp_path / "a/b.md").stat().st_mode) == 0o600
    assert (done.kept, left(tmp_path)) == (None, [])


def test_replace_reports_other_names_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_bytes(b"old\n")
    (tmp_path / "twin.md").hardlink_to(tmp_path / "plan.md")
    assert replace(tmp_path, b"new\n", fsio.read("plan.md", root=tmp_path)).links == 2
    assert (tmp_path / "twin.md").read_bytes() == b"old\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_replace_keeps_the_owner(tmp_path: Path, base: fsio.Snapshot) -> None:
    os.chown(tmp_path / "plan.md", 1234, 1235)
    replace(tmp_path, b"new\n", fsio.read("plan.md", root=tmp_path))
    now = (tmp_path / "plan.md").stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (1234, 1235, 0o640)


def test_replace_goes_on_where_the_owner_cannot_be_kept(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = list(base.stat)
    values[4] += 1  # the owner
    monkeypatch.setattr(fsio.calls, "chown", failing(errno.EPERM))
    replace(tmp_path, b"new\n", fsio.Snapshot(b"old\n", os.stat_result(values)))
    assert (tmp_path / "plan.md").read_bytes() == b"new\n"


@pytest.mark.parametrize("there", [b"theirs\n", None])
def test_replace_compares_before_it_writes(tmp_path: Path, base: fsio.Snapshot, there: bytes | None) -> None:
    (tmp_path / "plan.md").unlink()
    if there:
        (tmp_path / "plan.md").write_bytes(there)
    with pytest.raises(fsio.Displaced) as caught:
        replace(tmp_path, b"new\n", base)
    assert (caught.value.theirs and caught.value.theirs.data) == there
    assert (fsio.read("plan.md", root=tmp_path) is None) == (there is None)
    assert left(tmp_path) == []


def test_replace_accepts_the_same_bytes_saved_again(tmp_path: Path, base: fsio.Snapshot) -> None:
    save_over(tmp_path / "plan.md", b"old\n")
    replace(tmp_path, b"new\n", base)
    assert (tmp_path / "plan.md").read_bytes() == b"new\n"


@pytest.mark.parametrize("save", [save_over, Path.write_bytes])
def test_a_save_between_compare_and_exchange_gets_its_name_back(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path, bytes], object]
) -> None:
    file = tmp_path / "plan.md"
    inode: list[int] = []

    def rival() -> None:
        save(file, b"theirs\n")
        inode.append(file.stat().st_ino)

    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, rival))
    with pytest.raises(fsio.Displaced) as caught:
        replace(tmp_path, b"new\n", base)
    assert caught.value.theirs and caught.value.theirs.data == b"theirs\n"
    assert (file.read_bytes(), file.stat().st_ino) == (b"theirs\n", inode[0])
    assert left(tmp_path) == []


def test_of_two_saves_meanwhile_the_last_has_the_name_and_the_first_is_kept(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.md"
    rivals = (lambda: save_over(file, b"first\n"), lambda: save_over(file, b"second\n"))
    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, *rivals))
    with pytest.raises(fsio.Displaced) as caught:
        replace(tmp_path, b"new\n", base)
    assert caught.value.theirs and caught.value.theirs.data == b"second\n"
    assert file.read_bytes() == b"second\n"
    assert [stray.path.read_bytes() for stray in fsio.sweep(tmp_path / "tmp")] == [b"first\n"]


def test_saves_without_end_lose_nothing(tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plan.md"
    rivals = [lambda n=n: save_over(file, b"save %d\n" % n) for n in range(9)]
    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, *rivals))
    with pytest.raises(fsio.Displaced):
        replace(tmp_path, b"new\n", base)
    assert file.read_bytes().startswith(b"save ")
    assert [stray.path.read_bytes()[:5] for stray in fsio.sweep(tmp_path / "tmp")] == [b"save "]


def test_a_link_that_came_in_between_is_put_back(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.md"

    def rival() -> None:
        file.unlink()
        file.symlink_to("elsewhere")

    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, rival))
    with pytest.raises(fsio.Displaced) as caught:
        replace(tmp_path, b"new\n", base)
    assert (caught.value.theirs, os.readlink(file), left(tmp_path)) == (None, "elsewhere", [])


def test_a_save_after_an_unreadable_one_has_the_name(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.md"

    def rival() -> None:
        file.unlink()
        file.symlink_to("elsewhere")

    rivals = (rival, lambda: save_over(file, b"theirs\n"))
    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, *rivals))
    with pytest.raises(fsio.Displaced):
        replace(tmp_path, b"new\n", base)
    assert b"theirs\n" in [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]


def test_a_rename_gap_is_no_deletion(tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, (tmp_path / "plan.md").unlink))
    with pytest.raises(fsio.Displaced):
        replace(tmp_path, b"new\n", base)
    assert not (tmp_path / "plan.md").exists()
    assert left(tmp_path) == []


def test_a_gap_while_a_save_is_put_back_keeps_the_save(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.md"
    rivals = (lambda: save_over(file, b"theirs\n"), file.unlink)
    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, *rivals))
    with pytest.raises(fsio.Displaced) as caught:
        replace(tmp_path, b"new\n", base)
    assert caught.value.theirs and caught.value.theirs.data == b"theirs\n"
    assert [stray.path.read_bytes() for stray in fsio.sweep(tmp_path / "tmp")] == [b"theirs\n"]


def test_a_new_file_never_covers_one_that_came_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plan.md"
    monkeypatch.setattr(fsio.calls, "rename_how", before(fsio.calls.rename_how, lambda: file.write_bytes(b"theirs\n")))
    with pytest.raises(fsio.Displaced) as caught:
        replace(tmp_path, b"new\n", None)
    assert caught.value.theirs and caught.value.theirs.data == b"theirs\n"
    assert (file.read_bytes(), left(tmp_path)) == (b"theirs\n", [])


@pytest.mark.parametrize("existing", [True, False])
def test_replace_where_the_file_system_knows_no_exchange(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch, existing: bool
) -> None:
    monkeypatch.setattr(fsio.calls, "_libc", object)
    path = "plan.md" if existing else "new.md"
    done = fsio.replace(path, b"new\n", root=tmp_path, base=base if existing else None, tmp=tmp_path / "tmp")
    assert ((tmp_path / path).read_bytes(), done.kept, left(tmp_path)) == (b"new\n", None, [])


def test_a_new_file_covers_nothing_where_the_file_system_knows_no_such_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.md"

    def come_first() -> object:
        file.write_bytes(b"theirs\n")
        return object()

    monkeypatch.setattr(fsio.calls, "_libc", come_first)
    with pytest.raises(fsio.Displaced):
        replace(tmp_path, b"new\n", None)
    assert (file.read_bytes(), left(tmp_path)) == (b"theirs\n", [])


@pytest.mark.parametrize("existing", [True, False])
def test_replace_beside_the_file_when_tmp_is_another_device(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch, existing: bool
) -> None:
    call = fsio.calls.rename_how

    def other_device(flags: int, source: int, name: str, target: int, to: str) -> None:
        if not name.startswith("."):
            failing(errno.EXDEV)()
        call(flags, source, name, target, to)

    monkeypatch.setattr(fsio.calls, "rename_how", other_device)
    path = "plan.md" if existing else "ä" * 127
    done = fsio.replace(path, b"new\n", root=tmp_path, base=base if existing else None, tmp=tmp_path / "tmp")
    assert ((tmp_path / path).read_bytes(), done.kept, left(tmp_path)) == (b"new\n", None, [])


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize(
    ("call", "code", "why"),
    [
        ("write", errno.ENOSPC, "the disk is full"),
        ("fsync", errno.EIO, "the disk reports an error"),
        ("rename_how", errno.EROFS, "the file system is read-only"),
    ],
)
def test_a_failed_replacement_changes_nothing(
    tmp_path: Path,
    base: fsio.Snapshot,
    monkeypatch: pytest.MonkeyPatch,
    existing: bool,
    call: str,
    code: int,
    why: str,
) -> None:
    monkeypatch.setattr(fsio.calls, call, failing(code))
    path = "plan.md" if existing else "new.md"
    with pytest.raises(StorageFailed, match=f"cannot write {path}: {why}"):
        fsio.replace(path, b"new\n", root=tmp_path, base=base if existing else None, tmp=tmp_path / "tmp")
    assert (tmp_path / "plan.md").read_bytes() == b"old\n"
    assert not (tmp_path / "new.md").exists()
    assert left(tmp_path) == []


def test_a_failed_sync_of_the_folder_is_told(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsio.paths, "sync_folder", failing(errno.EIO))
    with pytest.raises(StorageFailed):
        replace(tmp_path, b"new\n", base)
    assert (tmp_path / "plan.md").read_bytes() == b"new\n"


def test_an_error_without_a_name_of_ours_is_still_told(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsio.calls, "write", failing(errno.ENOTTY))
    with pytest.raises(StorageFailed, match="Inappropriate ioctl"):
        fsio.append("plan.md", b"x\n", root=tmp_path)


def test_what_failed_is_said_without_the_number_of_it(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        os.stat(tmp_path / "gone")
    assert fsio.why(caught.value) == f"cannot reach {tmp_path / 'gone'}: it is not there"
    assert fsio.why(OSError(errno.EMFILE, "Too many open files")) == "too many files are open"
    assert fsio.why(OSError("anything else")) == "anything else"
    assert fsio.why(StorageFailed("the disk is full", "hint")) == "the disk is full"


# -- sweeping


def test_sweep_leaves_what_an_editor_may_still_write_into(
    tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = replace(tmp_path, b"new\n", base).kept
    assert kept
    assert (fsio.sweep(tmp_path / "tmp"), kept.exists()) == ((), True)
    monkeypatch.setattr(fsio.leftovers, "LATE_WRITERS", -1.0)
    assert (fsio.sweep(tmp_path / "tmp"), kept.exists()) == ((), False)


def test_sweep_gives_back_what_an_editor_wrote_too_late(tmp_path: Path, base: fsio.Snapshot) -> None:
    with (tmp_path / "plan.md").open("r+b") as editor:
        kept = replace(tmp_path, b"new\n", base).kept
        editor.write(b"typed late\n")
    (stray,) = fsio.sweep(tmp_path / "tmp")
    assert (stray.path, stray.path.read_bytes()) == (kept, b"typed late\n")
    assert stray.before == sha256(b"old\n").hexdigest()
    assert stray.after == sha256(b"new\n").hexdigest()


def test_sweep_clears_what_a_kill_left(tmp_path: Path) -> None:
    tmp = tmp_path / "tmp"
    assert fsio.sweep(tmp) == ()
    tmp.mkdir()
    was, new = sha256(b"old\n").hexdigest(), sha256(b"new\n").hexdigest()
    (tmp / f"mdmem-{'0' * 16}.part").write_bytes(b"ne")
    (tmp / f"mdmem-{'1' * 16}-{was}-{new}.swap").write_bytes(b"new\n")
    (tmp / f".plan.md.mdmem-{'2' * 16}.part").write_bytes(b"ne")
    (tmp / f"mdmem-{'3' * 16}.put").write_bytes(b"half")
    (tmp / "index.4711").write_bytes(b"somebody else's")
    assert fsio.sweep(tmp) == ()
    assert [path.name for path in tmp.iterdir()] == ["index.4711"]


def test_sweep_leaves_what_is_being_put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def swept(*args: Any, **options: Any) -> None:
        assert fsio.sweep(tmp_path / "tmp") == ()
        os.rename(*args, **options)

    monkeypatch.setattr(fsio.calls, "rename", swept)
    fsio.put("current", b"one", root=tmp_path)
    assert (tmp_path / "current").read_bytes() == b"one"


def test_sweep_passes_over_what_goes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = tmp_path / f"mdmem-{'3' * 16}.put"
    draft.write_bytes(b"whole by now")
    monkeypatch.setattr(fsio.paths, "open_regular", before(fsio.paths.open_regular, draft.unlink))
    assert fsio.sweep(tmp_path) == ()


# -- STATE, names and folders


def test_put(tmp_path: Path) -> None:
    fsio.put("index/current", b"one", root=tmp_path)
    fsio.put("index/current", b"two", root=tmp_path, durable=False)
    assert (tmp_path / "index/current").read_bytes() == b"two"
    assert left(tmp_path) == []


def test_a_failed_put_keeps_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsio.put("current", b"one", root=tmp_path)
    monkeypatch.setattr(fsio.calls, "write", Disk(1).write)
    with pytest.raises(StorageFailed, match="cannot write current: the disk is full"):
        fsio.put("current", b"two", root=tmp_path)
    assert ((tmp_path / "current").read_bytes(), left(tmp_path)) == (b"one", [])


def test_truncate(tmp_path: Path, base: fsio.Snapshot) -> None:
    fsio.truncate("plan.md", 2, root=tmp_path, expect=base.stamp)
    assert (tmp_path / "plan.md").read_bytes() == b"ol"
    with pytest.raises(fsio.Displaced):
        fsio.truncate("plan.md", 0, root=tmp_path, expect=base.stamp)
    assert (tmp_path / "plan.md").read_bytes() == b"ol"


def test_unlink(tmp_path: Path, base: fsio.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    names = synced(monkeypatch)
    assert fsio.unlink("plan.md", root=tmp_path)
    assert names == [tmp_path.name]
    assert not fsio.unlink("plan.md", root=tmp_path)
    assert not fsio.unlink("no/folder.md", root=tmp_path)


def test_mkdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = synced(monkeypatch)
    fsio.mkdir("a/b", root=tmp_path)
    fsio.mkdir("a/b", root=tmp_path)
    assert stat.S_IMODE((tmp_path / "a/b").stat().st_mode) == 0o700
    assert names == [tmp_path.name, "a"]
    with pytest.raises(StorageFailed, match="cannot make none/c: it is not there"):
        fsio.mkdir("none/c", root=tmp_path / "nowhere")


def test_make_executable(tmp_path: Path, base: fsio.Snapshot) -> None:
    fsio.make_executable("plan.md", root=tmp_path)
    assert stat.S_IMODE((tmp_path / "plan.md").stat().st_mode) == 0o740


def test_move(tmp_path: Path, base: fsio.Snapshot) -> None:
    fsio.put("new", b"new\n", root=tmp_path)
    fsio.move("new", "plan.md", root=tmp_path)
    assert (tmp_path / "plan.md").read_bytes() == b"new\n"
    with pytest.raises(StorageFailed, match="cannot move new: it is not there"):
        fsio.move("new", "plan.md", root=tmp_path)


def test_a_read_only_place_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsio.calls, "mkdir", failing(errno.EROFS))
    with pytest.raises(StorageFailed, match=r"cannot append to memory/a\.md: the file system is read-only"):
        fsio.append("memory/a.md", b"x\n", root=tmp_path)


def test_no_descriptor_stays_open(tmp_path: Path, base: fsio.Snapshot) -> None:
    count = len(os.listdir("/proc/self/fd"))
    replace(tmp_path, b"new\n", base)
    appended("memory/a.md", b"x\n", tmp_path)
    fsio.put("memory/b", b"x", root=tmp_path)
    for path in ("memory", "memory/a.md/x", "none/x"):
        with pytest.raises(StorageFailed):
            fsio.append(path, b"x", root=tmp_path / "none" if path[0] == "n" else tmp_path)
    with pytest.raises(fsio.Displaced):
        fsio.append("memory/a.md", b"x", root=tmp_path, expect="missing")
    assert len(os.listdir("/proc/self/fd")) == count


def test_a_file_above_the_limit_is_not_read(tmp_path: Path, base: fsio.Snapshot) -> None:
    assert fsio.read("plan.md", root=tmp_path, limit=len(base.data)) == base
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(10**11)
    with pytest.raises(fsio.TooLarge, match=r"huge\.md is too large: 95,367 MB, and at most 1 MB are read"):
        fsio.read("huge.md", root=tmp_path, limit=2**20)
    assert fsio.read("none.md", root=tmp_path, limit=1) is None


def test_a_folder_that_was_removed_does_not_come_back(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="it is not there"):
        fsio.put("gone/file", b"x", root=tmp_path, create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("error: sha1 file '.git/x' write error. Out of diskspace", "the disk is full"),
        ("fatal: write error: No space left on device\nmore", "the disk is full"),
        ("database or disk is full", "the disk is full"),
        ("unable to create temporary file: Permission denied", "permission denied"),
        ("cannot open '.git/index.lock': Read-only file system", "the file system is read-only"),
        ("fsync error on '.git/x': Input/output error", "the disk reports an error"),
    ],
)
def test_the_system_is_heard_in_the_words_of_others(words: str, cause: str) -> None:
    found = fsio.told(words)
    assert found and found[0] == cause and found[1]


def test_words_of_no_trouble_tell_nothing() -> None:
    assert fsio.told("fatal: your current branch has no commits yet") is None
    assert fsio.told("error: unable to open 'a': No such file or directory") is None
