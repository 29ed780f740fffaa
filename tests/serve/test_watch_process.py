"""`mdmem watch` as a process: one for each vault, in the background if wished, with a log, and with an end."""

from __future__ import annotations

import json
import os
import signal
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from vault_sandbox import fill_up, git, small_disk, write
from watch_sandbox import found, in_history, mdmem, until, watched

from mdmem import Vault
from mdmem.errors import BadInput
from mdmem.serve import detachment, sight
from mdmem.serve.log import LIMIT, Log
from mdmem.serve.rounds import NEVER, Rounds
from mdmem.serve.watch import cover


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_in_the_background_it_holds_on_to_nothing_and_ends_when_told(vault: Vault, tmp_path: Path) -> None:
    keep = os.open(tmp_path / "kept", os.O_CREAT | os.O_RDWR)
    now = json.loads(mdmem(vault.root, "watch", "--detach", "--json", pass_fds=[keep]).stdout)
    pid = now["pid"]
    try:
        assert alive(pid) and os.getsid(pid) not in (pid, os.getsid(0))
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        assert {os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1, 2)} == {"/dev/null"}
        held = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()]
        assert not any("kept" in each for each in held)
        status = json.loads(mdmem(vault.root, "watch", "status", "--json").stdout)
        assert status["running"] and status["answers"] and status["pid"] == pid
        assert json.loads(mdmem(vault.root, "status", "--json").stdout)["watch"] == {"running": True, "pid": pid}
        assert found(vault.root, "anything")["served_by"] == "watch"
        second = mdmem(vault.root, "watch", "--detach", code=11)
        assert f"pid {pid}" in second.stderr and "Traceback" not in second.stderr
        assert f"pid {pid}" in mdmem(vault.root, "watch", code=11).stderr
        assert json.loads(mdmem(vault.root, "watch", "stop", "--json").stdout) == {"stopped": True, "pid": pid}
        assert not alive(pid) and not Path(now["socket"]).exists()
    finally:
        os.close(keep)
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
    mdmem(vault.root, "watch", "stop", code=1)
    assert json.loads(mdmem(vault.root, "watch", "status", "--json", code=1).stdout)["running"] is False
    assert json.loads(mdmem(vault.root, "status", "--json").stdout)["watch"] == {"running": False, "pid": None}


def test_where_it_cannot_begin_the_command_says_why(tmp_path: Path) -> None:
    mdmem(tmp_path, "watch", "--detach", code=10)
    (tmp_path / "mdmem.toml").touch()
    done = mdmem(tmp_path, "watch", "--detach", code=10)
    assert "no git repository" in done.stderr


def test_an_error_of_the_process_reaches_its_parent() -> None:
    def work(tell: object) -> None:
        raise BadInput("no such thing", "try another")

    with pytest.raises(BadInput, match="no such thing") as raised:
        detachment.detach(work)
    assert raised.value.hint == "try another"


def test_signals_end_it_well_in_the_middle_of_work(vault: Vault) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with watched(vault) as running:
            write(vault, "memory/a.md", f"# A {number}\n")
            running.stop(number)
    with watched(vault):
        in_history(vault, "memory/a.md", f"# A {signal.SIGHUP}\n")
    assert git(vault, "status", "--porcelain") == ""
    git(vault, "fsck", "--strict")


def test_a_full_disk_is_told_once_and_then_all_is_committed(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    with small_disk(place, 6) as mounted:
        if not mounted:
            pytest.skip("nothing can be mounted here")
        vault = Vault.init(place / "vault")[0]
        with watched(vault) as running:
            write(vault, "memory/a.md", "# A\n")
            ballast = fill_up(place)
            time.sleep(8)
            assert running.process.poll() is None
            ballast.unlink()
            until(lambda: git(vault, "ls-files", "memory/a.md") == "memory/a.md", running.log)
            assert running.log().count("commit: ") <= 3


def test_the_log_is_private_bounded_and_harmless(tmp_path: Path) -> None:
    seen: list[str] = []
    log = Log(tmp_path, clock=lambda: datetime(2026, 11, 29, tzinfo=UTC), also=seen.append)
    log.say("a \x1b[31m path\nin two lines")
    assert log.path.read_text() == "2026-11-29T00:00:00+00:00 a <U+001B>[31m path<U+000A>in two lines\n"
    assert log.path.stat().st_mode & 0o777 == 0o600
    for _ in range(3):
        log.trouble("commit", "the disk is full")
    log.well("commit")
    log.well("commit")
    log.notice("put back")
    log.notice("put back")
    said = [line.partition(" ")[2] for line in seen[1:]]
    assert said == ["commit: the disk is full", "commit: works again", "put back"]
    for _ in range(LIMIT // 2_000 + 3):
        log.say("x" * 5_000)
    assert {path.name for path in tmp_path.glob("watch.log*")} == {"watch.log", "watch.log.1"}
    assert all(path.stat().st_size < LIMIT + 3_000 for path in tmp_path.glob("watch.log*"))
    log.path.unlink()
    log.say("again")
    assert log.path.exists()


def test_a_round_that_fails_is_told_once_and_tried_again(tmp_path: Path) -> None:
    tries: list[float] = []

    def work() -> float:
        tries.append(time.monotonic())
        if len(tries) < 3:
            raise OSError("no such luck")
        return NEVER

    seen: list[str] = []
    rounds = Rounds("work", work, Log(tmp_path, clock=lambda: datetime.now(UTC), also=seen.append))
    rounds.start()
    until(lambda: len(tries) == 3)
    rounds.ring()
    until(lambda: len(tries) == 4)
    rounds.stop()
    assert rounds.join(10)
    assert [line.partition(" ")[2] for line in seen] == ["work: no such luck", "work: works again"]


def test_folders_are_watched_but_for_what_is_hidden_or_another_s(tmp_path: Path) -> None:
    below = ("daily", "archives/.obsidian/plugins", "archives/deep", "other/.git")
    for name in (*(f"memory/{each}" for each in below), "notes/a"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "memory/link").symlink_to(tmp_path / "notes")
    found = cover(tmp_path, ["notes", "missing"], [tmp_path])
    assert {(os.path.relpath(path, tmp_path), whole) for path, whole in found} == {
        (".", False),
        ("memory", False),
        ("memory/daily", True),
        ("memory/archives", False),
        ("memory/archives/deep", True),
        ("notes", True),
    }


def test_events_that_do_not_come_are_noticed_and_done_without(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    log = Log(vault.place.state, clock=lambda: datetime.now(UTC), also=seen.append)
    changed: list[int] = []
    silent = sight.Sight(
        vault.root, vault.place.state, log, changed=lambda: changed.append(1), waiting=lambda: changed.append(2)
    )
    monkeypatch.setattr(sight, "LATE", 0.3)
    monkeypatch.setattr(silent, "_tell", lambda path, is_folder: None)  # as a queue that lost everything
    until(lambda: silent.tend(()) == sight.POLL and silent.polling)
    assert [line.partition(" ")[2][:9] for line in seen] == ["no events", "no events"]
    assert "begun anew" in seen[0] and "looked at every 2 seconds" in seen[1]
    monkeypatch.undo()
    monkeypatch.setattr(sight, "EVENTS_AGAIN", 0.0)
    until(lambda: silent.tend(()) and not silent.polling)
    silent.stop()
    assert seen[2].endswith("events come again")


def test_a_heartbeat_comes_back(vault: Vault) -> None:
    log = Log(vault.place.state, clock=lambda: datetime.now(UTC))
    eyes = sight.Sight(vault.root, vault.place.state, log, changed=lambda: None, waiting=lambda: None)
    eyes.tend(())
    until(lambda: eyes._back)
    assert not eyes.polling
    eyes.stop()
