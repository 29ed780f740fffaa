"""A file that another program has open and is in the middle of writing: nothing is done to it, and nothing is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from vault_sandbox import DAY, again, body, committed, git, ops, python, write

from mdmem import Vault, fsio
from mdmem.errors import Busy

pytestmark = pytest.mark.usefixtures("clock")

WRITER = """
import json, sys
with open(sys.argv[1], sys.argv[2]) as file:
    for line in sys.stdin:
        file.write(json.loads(line))
        file.flush()
        print("written", flush=True)
"""


class Writer:
    """Another program that saves a file in pieces."""

    def __init__(self, path: Path, mode: str) -> None:
        self.process = python(WRITER, path, mode, stdin=-1)

    def write(self, piece: str) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(piece) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"

    def close(self) -> None:
        assert self.process.communicate()[1] == ""


@contextmanager
def writing(vault: Vault, path: str = DAY, mode: str = "w") -> Iterator[Writer]:
    writer = Writer(vault.root / path, mode)
    try:
        yield writer
    finally:
        writer.close()


@pytest.fixture
def kept(vault: Vault) -> Vault:
    for text in ("one", "two", "three"):
        vault.add(text)
    return again(vault)


def test_an_entry_waits_until_the_save_is_whole(kept: Vault) -> None:
    with writing(kept) as writer:
        writer.write("# 2026-11-29\n")
        added = kept.add("meanwhile")
        assert added.pending and "is being saved by another program" in added.notices[0]
        writer.write("\n- 08:00 by hand\n")
        assert "meanwhile" not in body(kept)
    kept = again(kept)
    kept.commit()
    for text in ("by hand", "meanwhile", "one", "two", "three"):
        assert body(kept).count(text) == 1, text
    assert committed(kept) == (kept.root / DAY).read_text()


def test_half_a_save_is_neither_committed_nor_taken_for_a_deletion(kept: Vault) -> None:
    before = ops(kept)
    with writing(kept) as writer:
        writer.write("# 2026-11-29\n\n- 09:30")
        assert again(kept).commit() == []
        kept = again(kept)
        assert kept.held() == []
        assert DAY in kept.upkeep.scan() and DAY not in kept.upkeep.at_rest(kept.upkeep.scan())
        assert ops(kept) == before
        writer.write(" by hand\n")
    assert [change.op for change in again(kept).commit()] == ["save", "restore"]
    assert "- 09:30 by hand\n" in body(kept) and ops(kept)[2:] == before


@pytest.mark.parametrize("way", ["edit", "remove", "set", "undo"])
def test_a_change_is_refused_while_its_file_is_written(kept: Vault, way: str) -> None:
    write(kept, "memory/plan.md", "# Plan\n\none\n")
    kept.commit()
    with writing(kept, "memory/plan.md") as writer:
        writer.write("# Pl")
        with pytest.raises(Busy, match="another program"):
            match way:
                case "edit":
                    again(kept).edit("plan", "another")
                case "remove":
                    again(kept).remove("plan")
                case "set":
                    again(kept).set_field("plan", "tags", "x")
                case _:
                    again(kept).undo(git(kept, "log", "-1", "--format=%H", "--", "memory/plan.md"))
        writer.write("an\n\nby hand\n")
    assert (kept.root / "memory/plan.md").read_text() == "# Plan\n\nby hand\n"


def test_one_who_only_appends_or_has_long_been_still_keeps_nobody_waiting(kept: Vault) -> None:
    with writing(kept, mode="a") as writer:
        writer.write("- 23:00 behind\n")
        assert not fsio.being_written([DAY], root=kept.root)
        assert not again(kept).add("meanwhile").pending
    with writing(kept, mode="r+") as writer:
        writer.write("# 2026-11-29\n")
        assert fsio.being_written([DAY], root=kept.root) == {DAY}
        os.utime(kept.root / DAY, (1, 1))
        assert fsio.being_written([DAY], root=kept.root) == {DAY}  # its inode has changed just now
    assert not fsio.being_written([DAY, "memory/none.md"], root=kept.root)
