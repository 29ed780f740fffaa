"""Calls that fail: a full disk, a read-only file system, a broken one. What is said is true, and nothing is lost."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sweep
from vault_sandbox import DAY, HEADING, again, body, committed, git, log, ops, status, write

from mdmem import Vault, fsio
from mdmem.errors import MdmemError, StorageFailed
from mdmem.model import Added, Change

pytestmark = pytest.mark.usefixtures("clock")

FIRST = "daily/2026-11-29#14:30"
CODES = [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EACCES, errno.EMFILE, errno.EROFS]


@pytest.fixture
def lived(vault: Vault) -> Vault:
    vault.add("one")
    write(vault, "memory/plan.md", "# Plan\n")
    vault.commit()
    return vault


def faults(
    lived: Vault, tmp_path: Path, act: Callable[[Vault], object], *, ever: bool
) -> Iterator[tuple[Vault, Added | Change | None, MdmemError | None, int]]:
    """Yield, for each point at which a call fails, a vault, what the action returned, and its error."""
    at, reached = 1, True
    while reached:
        vault = Vault.open(sweep.copy(lived, tmp_path / f"copy {at} {ever}"))
        done, error = None, None
        with sweep.counted(sweep.failing(CODES[at % len(CODES)], at, ever=ever)) as calls:
            try:
                done = act(vault)
            except MdmemError as caught:
                error = caught
        reached = calls[-1] >= at
        yield vault, done, error, at
        at += sweep.EVERY // 2 or 1
    assert at > 5


@pytest.mark.parametrize("ever", [False, True])
@pytest.mark.parametrize("large", [False, True])
def test_adding(lived: Vault, tmp_path: Path, ever: bool, large: bool) -> None:
    text = "new entry " + "word " * (400 if large else 0) + "."
    before = log(lived)
    for vault, done, error, at in faults(lived, tmp_path, lambda one: one.add(text), ever=ever):
        if error:
            assert isinstance(error, StorageFailed), at
            assert log(vault) == before
        else:
            assert isinstance(done, Added)
            assert done.notices or not done.pending, at
        again(vault).status()
        again(vault).status()
        after = f"{before}- 14:30:05 {text}\n"
        # Where nothing can be written any more, a record that could not be synced cannot be struck out either.
        assert log(vault) in ((before, after) if error and ever else (before,) if error else (after,)), at
        assert committed(vault) == log(vault)
        assert status(vault) == ""


@pytest.mark.parametrize("ever", [False, True])
@pytest.mark.parametrize("act", ["edit", "rm", "undo"])
def test_changing(lived: Vault, tmp_path: Path, act: str, ever: bool) -> None:
    calls: dict[str, Callable[[Vault], object]] = {
        "edit": lambda vault: vault.edit(FIRST, "changed"),
        "rm": lambda vault: vault.remove("plan"),
        "undo": lambda vault: vault.undo(),
    }
    path = DAY if act == "edit" else "memory/plan.md"
    before, count = log(lived, path), len(ops(lived))
    after = HEADING + "- 14:30 changed\n" if act == "edit" else None
    for vault, _, error, at in faults(lived, tmp_path, calls[act], ever=ever):
        now = log(vault, path) if (vault.root / path).exists() else None
        assert now in (before, after), at
        if error and not ever:
            assert now == before, (at, error.message)
        again(vault).status()
        again(vault).status()
        assert (log(vault, path) if (vault.root / path).exists() else None) == now, at
        assert len(ops(vault)) == count + (now == after), at
        assert status(vault) == ""


def test_a_sync_that_fails_after_the_append_is_said_and_loses_nothing(
    lived: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    real = fsio.calls.fdatasync

    def second_fails(fd: int) -> None:
        calls.append("sync")
        if len(calls) == 2:  # the first is the journal's
            raise OSError(errno.EIO, "broken")
        real(fd)

    with monkeypatch.context() as patch:
        patch.setattr(fsio.calls, "fdatasync", second_fails)
        done = lived.add("note")
    assert not done.pending
    assert any("may not be durable" in notice for notice in done.notices)
    assert body(lived) == "- 14:30 one\n- 14:30:05 note\n"


def test_a_journal_that_cannot_be_synced_keeps_nothing(lived: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(fd: int) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(fsio.calls, "fdatasync", fails)
        with pytest.raises(StorageFailed):
            lived.add("note")
    again(lived).status()
    assert body(lived) == "- 14:30 one\n"


@pytest.mark.parametrize("length", [1, 10, 19])
def test_a_short_write_is_completed_or_taken_back(lived: Vault, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    real, broken = fsio.calls.write, []

    def short(fd: int, data: bytes) -> int:
        if data.startswith(b"- 14:30:05"):
            broken.append(fd)
            return real(fd, data[:length])
        if broken and fd == broken[0]:
            raise OSError(errno.ENOSPC, "full")
        return real(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(fsio.calls, "write", short)
        done = lived.add("a new entry")
    assert broken
    assert done.pending
    assert any("the disk is full" in notice for notice in done.notices)
    assert body(lived) == "- 14:30 one\n"
    again(lived).status()
    assert body(lived) == "- 14:30 one\n- 14:30:05 a new entry\n"


def test_few_descriptors(lived: Vault, tmp_path: Path) -> None:
    """Whatever limit is met: an error in words, and nothing half done."""
    from vault_sandbox import python

    code = """
import resource, sys
from mdmem import Vault
from mdmem.errors import MdmemError
vault = Vault.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), 4096))
try:
    print(vault.add("note").pending)
except MdmemError as error:
    print(error.message)
    sys.exit(error.exit_code)
"""
    kept = 0
    for limit in (4, 6, 8, 10, 14):
        child = python(code, lived.root, limit)
        out, err = child.communicate()
        assert "Traceback" not in err, err
        assert child.returncode in (0, 14), (limit, out, err)
        kept += child.returncode == 0
    again(lived).status()
    written = sum(path.read_text().count(" note") for path in (lived.root / "memory/daily").iterdir())
    assert written == kept
    assert status(lived) == ""
    assert git(lived, "fsck", "--no-dangling") == ""
