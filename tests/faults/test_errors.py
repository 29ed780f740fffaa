"""Calls that fail: a full disk, a read-only file system, a broken one. What is said is true, and nothing is lost."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from vault_sandbox import again, body, git, status, write

from mdmem import Vault, fsio
from mdmem.errors import StorageFailed

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def lived(vault: Vault) -> Vault:
    vault.add("one")
    write(vault, "memory/plan.md", "# Plan\n")
    vault.commit()
    return vault


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
