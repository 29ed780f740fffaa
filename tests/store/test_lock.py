"""Locks between real processes and threads: held, awaited, given up, and never leaked."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mdmem
from mdmem import fsio
from mdmem.errors import Busy, StorageFailed
from mdmem.store import lock as module
from mdmem.store.lock import Lock

PACKAGE = Path(mdmem.__file__).parent.parent
HOLDER = """if True:
    import pathlib, sys, time
    from mdmem.store.lock import Lock
    lock = Lock(pathlib.Path(sys.argv[1]), command="nightly")
    with lock.hold(5000, shared=sys.argv[2] == "shared"):
        sys.stdout.write("held\\n")
        sys.stdout.flush()
        sys.stdin.readline()
    sys.stdout.write("released\\n")
"""
WRITER = """if True:
    import pathlib, sys
    from mdmem.store.lock import Lock
    lock, counter = Lock(pathlib.Path(sys.argv[1]), command="add"), pathlib.Path(sys.argv[2])
    for _ in range(50):
        with lock.hold(60_000):
            counter.write_text(str(int(counter.read_text()) + 1))
"""
WAITER = """if True:
    import pathlib, signal, sys
    from mdmem.store.lock import Lock
    if sys.argv[2] == "thread":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
    sys.stdout.write("waiting\\n")
    sys.stdout.flush()
    try:
        with Lock(pathlib.Path(sys.argv[1]), command="edit").hold(60_000):
            pass
    except KeyboardInterrupt:
        sys.stdout.write("interrupted\\n")
"""


def start(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "write.lock"


@pytest.fixture(params=["alarm", "thread"])
def lock(path: Path, request: pytest.FixtureRequest) -> Iterator[Lock]:
    """A lock that is waited for in either way: where the alarm is somebody else's, by a thread."""
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    if request.param == "thread":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
    yield Lock(path, command="add")
    assert signal.getsignal(signal.SIGALRM) is [signal.SIG_DFL, signal.SIG_IGN][request.param == "thread"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


by_thread = pytest.mark.parametrize("lock", ["thread"], indirect=True)
by_alarm = pytest.mark.parametrize("lock", ["alarm"], indirect=True)


@pytest.fixture(params=["exclusive"])
def holder(path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    with start(HOLDER, path, request.param) as process:
        assert said(process) == "held"
        yield process
        process.kill()


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def is_free(path: Path) -> bool:
    with Lock(path, command="probe").try_hold() as held:
        return held


def waiting_threads() -> int:
    return sum(thread.name == "mdmem-lock" for thread in threading.enumerate())


def test_held_and_given_back(path: Path, lock: Lock) -> None:
    with lock.hold(0):
        assert not is_free(path)
    assert is_free(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_error_gives_it_back(path: Path, lock: Lock) -> None:
    with pytest.raises(ZeroDivisionError), lock.hold(0):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), lock.try_hold():
        raise ZeroDivisionError
    assert is_free(path)


def test_holding_is_counted(path: Path, lock: Lock) -> None:
    with lock.hold(0):
        with lock.hold(0), lock.try_hold() as held:
            assert held
        assert not is_free(path)
    assert is_free(path)


@pytest.mark.usefixtures("holder")
def test_a_busy_lock_names_its_holder(lock: Lock, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(Busy) as caught, lock.hold(20):
        pytest.fail("not reached")
    assert caught.value.message == f"another mdmem (pid {holder.pid}, nightly) is writing"
    with lock.try_hold() as held:
        assert not held


@pytest.mark.parametrize("note", [b"", b"{}", b"\xff", b'{"pid": 1', b'{"pid": 1}'])
def test_an_unreadable_note_names_nobody(path: Path, lock: Lock, note: bytes) -> None:
    with lock.hold(0):
        path.write_bytes(note)
        assert Lock(path, command="x").holder() == "another mdmem is writing"


def test_without_a_lock_file_nobody_is_named(lock: Lock) -> None:
    assert lock.holder() == "another mdmem is writing"


def test_a_stopped_holder_keeps_it(path: Path, lock: Lock, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGSTOP)
    with pytest.raises(Busy), lock.hold(50):
        pytest.fail("not reached")
    holder.send_signal(signal.SIGCONT)
    release(holder)
    with lock.hold(5000):
        assert not is_free(path)


def test_a_killed_holder_gives_it_back(path: Path, lock: Lock, holder: subprocess.Popen[str]) -> None:
    holder.kill()
    with lock.hold(5000):
        assert not is_free(path)


def test_waiting_ends_when_it_is_given_back(lock: Lock, holder: subprocess.Popen[str]) -> None:
    threading.Timer(0.05, release, [holder]).start()
    with lock.hold(20_000):
        assert holder.wait() == 0


@by_thread
def test_giving_up_often_costs_one_thread_and_leaks_nothing(
    path: Path, lock: Lock, holder: subprocess.Popen[str]
) -> None:
    for _ in range(5):
        with pytest.raises(Busy), lock.hold(5):
            pytest.fail("not reached")
    assert waiting_threads() == 1
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Busy), lock.hold(5):
        pytest.fail("not reached")
    assert len(os.listdir("/proc/self/fd")) == descriptors
    release(holder)
    while waiting_threads():
        time.sleep(0.001)
    assert is_free(path)
    with lock.hold(5000):
        assert not is_free(path)


@by_thread
def test_a_wait_is_taken_up_again(path: Path, lock: Lock, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(Busy), lock.hold(5):
        pytest.fail("not reached")
    threading.Timer(0.05, release, [holder]).start()
    with lock.hold(20_000):
        assert not is_free(path)
    assert is_free(path)


@by_thread
def test_a_wait_that_came_to_nothing_is_begun_anew(
    path: Path, tmp_path: Path, lock: Lock, holder: subprocess.Popen[str]
) -> None:
    with pytest.raises(Busy), lock.hold(5):
        pytest.fail("not reached")
    release(holder)
    while waiting_threads():
        time.sleep(0.001)
    with start(HOLDER, path, "exclusive") as second:
        assert said(second) == "held"
        threading.Timer(0.05, release, [second]).start()
        with lock.hold(20_000):
            assert second.wait() == 0


@pytest.mark.parametrize("way", ["alarm", "thread"])
def test_ctrl_c_ends_a_wait(path: Path, holder: subprocess.Popen[str], way: str) -> None:
    with start(WAITER, path, way) as waiter:
        assert said(waiter) == "waiting"
        while not is_blocked(waiter.pid):
            time.sleep(0.001)
        waiter.send_signal(signal.SIGINT)
        assert (said(waiter), waiter.wait()) == ("interrupted", 0)
    assert holder.poll() is None


def is_blocked(pid: int) -> bool:
    """Tell whether any thread of a process waits for a lock."""
    return any(f" {pid} " in line and "->" in line for line in Path("/proc/locks").read_text().splitlines())


@by_alarm
def test_a_lock_that_comes_with_the_alarm_is_not_leaked(
    path: Path, lock: Lock, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def ring_after(fd: int, mode: int) -> None:
        if mode == fcntl.LOCK_EX:
            release(holder)
            flock(fd, mode)
            signal.raise_signal(signal.SIGALRM)
        flock(fd, mode)

    monkeypatch.setattr(module.fcntl, "flock", ring_after)
    with pytest.raises(Busy), lock.hold(20_000):
        pytest.fail("not reached")
    assert is_free(path)


@by_alarm
def test_an_alarm_that_rings_while_it_is_stopped_harms_nothing(
    path: Path, lock: Lock, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    setitimer = signal.setitimer

    def ring_before(which: int, seconds: float, interval: float = 0) -> None:
        if seconds:
            release(holder)
        else:
            signal.raise_signal(signal.SIGALRM)
        setitimer(which, seconds, interval)

    monkeypatch.setattr(module.signal, "setitimer", ring_before)
    with lock.hold(20_000):
        assert not is_free(path)
    assert is_free(path)


@by_thread
def test_an_interrupted_wait_gives_the_lock_back(
    path: Path, lock: Lock, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: threading.Condition, *_: object) -> bool:
        # The lock arrives, and Ctrl-C with it.
        release(holder)
        while not self.wait(0.001) and not is_done(self):
            pass
        raise KeyboardInterrupt

    def is_done(guard: threading.Condition) -> bool:
        return any(wait.done for wait in made if wait._guard is guard)

    made: list[Any] = []
    create = module._Wait.__init__

    def remember(self: Any, fd: int, mode: int) -> None:
        made.append(self)
        create(self, fd, mode)

    monkeypatch.setattr(module._Wait, "__init__", remember)
    monkeypatch.setattr(threading.Condition, "wait_for", interrupt)
    with pytest.raises(KeyboardInterrupt), lock.hold(20_000):
        pytest.fail("not reached")
    assert is_free(path)


def test_threads_wait_for_each_other(lock: Lock) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with lock.hold(60_000):
                inside += 1
                most = max(most, inside)
                time.sleep(0.0001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_thread_that_waits_too_long_is_told(lock: Lock) -> None:
    told: list[str] = []

    def work() -> None:
        try:
            with lock.hold(5):
                pass
        except Busy as busy:
            told.append(busy.message)

    with lock.hold(0):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert told == [f"another mdmem (pid {os.getpid()}, add) is writing"]


def test_processes_never_hold_it_together(path: Path, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    writers = [start(WRITER, path, counter) for _ in range(4)]
    assert [writer.communicate() and writer.returncode for writer in writers] == [0] * 4
    assert counter.read_text() == "200"


@pytest.mark.parametrize("holder", ["shared"], indirect=True)
@pytest.mark.usefixtures("holder")
def test_readers_share_and_keep_writers_out(path: Path, lock: Lock) -> None:
    with lock.hold(0, shared=True), lock.try_hold(shared=True) as held:
        assert held
        assert Lock(path, command="x").holder() == "another mdmem is writing"
    with pytest.raises(Busy), lock.hold(5):
        pytest.fail("not reached")


def test_a_reader_does_not_become_a_writer(path: Path, lock: Lock) -> None:
    with lock.hold(0, shared=True):
        with pytest.raises(RuntimeError), lock.hold(0):
            pytest.fail("not reached")
        assert is_free_for_readers(path)
    with lock.hold(0), lock.hold(0, shared=True):
        assert not is_free_for_readers(path)
    assert is_free(path)


def is_free_for_readers(path: Path) -> bool:
    with Lock(path, command="probe").try_hold(shared=True) as held:
        return held


def test_closing_another_descriptor_does_not_drop_it(path: Path, lock: Lock) -> None:
    with lock.hold(0):
        path.open().close()
        assert not is_free(path)


def test_a_child_with_a_copy_does_not_keep_it(path: Path, lock: Lock) -> None:
    with lock.hold(0):
        child = subprocess.Popen(["sleep", "60"], pass_fds=[lock._fd])
    try:
        assert is_free(path)
    finally:
        child.kill()
        child.wait()


def test_a_deleted_lock_file_is_made_anew(path: Path, lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    flock = fcntl.flock

    def delete_first(fd: int, mode: int) -> None:
        if not calls:
            path.unlink()
        calls.append(fd)
        flock(fd, mode)

    monkeypatch.setattr(module.fcntl, "flock", delete_first)
    with lock.hold(1000):
        assert path.exists()
        assert not is_free(path)


def test_a_full_disk_keeps_nobody_from_locking(path: Path, lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fsio.calls, "pwrite", full)
    with lock.hold(0):
        assert not is_free(path)


def test_a_state_that_is_missing_or_odd_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageFailed, match=r"cannot write locks/write\.lock: it is not there"),
        Lock(tmp_path / "none" / "locks" / "write.lock", command="x").hold(0),
    ):
        pytest.fail("not reached")
    (tmp_path / "locks").mkdir()
    os.mkfifo(tmp_path / "locks" / "write.lock")
    with (
        pytest.raises(StorageFailed, match="it is not a regular file"),
        Lock(tmp_path / "locks" / "write.lock", command="x").hold(0),
    ):
        pytest.fail("not reached")


def test_a_file_system_without_locks_is_named(lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    descriptors = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(module.fcntl, "flock", refuse)
    with pytest.raises(StorageFailed, match=r"cannot lock locks/write\.lock"), lock.hold(0):
        pytest.fail("not reached")
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_an_error_in_a_wait_is_told(lock: Lock, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock

    def refuse_waiting(fd: int, mode: int) -> None:
        if mode == fcntl.LOCK_EX:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        flock(fd, mode)

    monkeypatch.setattr(module.fcntl, "flock", refuse_waiting)
    with pytest.raises(StorageFailed, match=r"cannot lock locks/write\.lock"), lock.hold(1000):
        pytest.fail("not reached")
    assert holder.poll() is None


@by_thread
def test_without_a_thread_to_wait_the_error_is_clean(
    lock: Lock, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(StorageFailed, match="no thread can be started"), lock.hold(1000):
        pytest.fail("not reached")
    assert holder.poll() is None
