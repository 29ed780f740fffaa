"""The commands of `schedule`, in this process, with stand-ins for crontab, systemctl and the program that is run."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from schedule_sandbox import System, plan

from mdmem import Vault, schedule
from mdmem.cli import app
from mdmem.schedule import crontab

TABLE = b"# mine\r\nMAILTO=ada\n\xff odd\n\n0 5 * * 1 backup 100\\%"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]

PROGRAM = "#!/bin/sh\necho '{}'\n"


@pytest.fixture
def system(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    """Both stand-ins on PATH, and one for mdmem, which says that it runs."""
    made = System(tmp_path / "system", world / "config_home/systemd/user")
    monkeypatch.setenv("PATH", made.path)
    program = made.programs / "mdmem"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    return made


@pytest.fixture
def cron(system: System) -> System:
    """A machine without a systemd that can be reached."""
    system.set("offline")
    return system


@pytest.fixture
def run(vault: Vault, system: System, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in the vault."""
    monkeypatch.chdir(vault.root)

    def call(*words: str) -> Done:
        code = app.main(words)
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return call


def changed_by_hand(system: System, old: bytes, new: bytes) -> None:
    assert system.table and old in system.table
    system.table = system.table.replace(old, new, 1)


# cron


def test_cron_is_chosen_where_systemd_cannot_be_reached(run: Run, vault: Vault, cron: System) -> None:
    done = run("schedule", "install")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["checkpoint", *["nightly"] * 2, *["verify"] * 2]
    assert cron.table.count(b"\n") == 5 and os.fsencode(f"--vault={vault.root} nightly") in cron.table


def test_what_is_printed_is_what_is_installed(run: Run, vault: Vault, cron: System) -> None:
    printed = run("schedule", "install", "--print", "--cron").stdout
    assert cron.writes == 0 and not (vault.place.state / "runs").exists()
    run("schedule", "install", "--cron")
    assert cron.table.decode() == printed


def test_install_twice_and_remove_leave_a_crontab_as_it_was(run: Run, cron: System) -> None:
    cron.table = TABLE
    cron.set("lenient")
    assert run("schedule", "install").returncode == 0
    once, writes = cron.table, cron.writes
    again = run("schedule", "install")
    assert again.returncode == 0 and again.stderr.startswith("note: nothing was to be changed\n")
    assert cron.table == once and cron.writes == writes
    done = run("schedule", "remove")
    assert done.returncode == 0
    assert done.stderr == "note: removed from the crontab: checkpoint, nightly, nightly-late, verify, verify-late\n"
    assert cron.table == TABLE
    assert run("schedule", "remove").returncode == 1
    assert cron.table == TABLE


def test_a_cron_that_wants_a_final_newline_keeps_it(run: Run, cron: System) -> None:
    cron.table = TABLE
    run("schedule", "install")
    assert run("schedule", "remove").returncode == 0
    assert cron.table == TABLE + b"\n"


def test_a_crontab_that_cannot_be_read_is_not_written(run: Run, cron: System) -> None:
    cron.table = TABLE
    cron.set("broken")
    for words in (["install"], ["install", "--cron"], ["show"], ["remove"]):
        done = run("schedule", *words)
        assert done.returncode == 12, words
        assert "error: the crontab cannot be read: crontab: your account has expired\nhint: nothing" in done.stderr
    assert cron.table == TABLE and cron.writes == 0


def test_where_nothing_runs_jobs_there_is_no_guessing(run: Run, cron: System) -> None:
    (cron.programs / "crontab").unlink()
    if shutil.which("crontab"):
        pytest.skip("this machine has a crontab of its own")
    done = run("schedule", "install")
    assert done.returncode == 13 and "there is no crontab, and systemd says: Failed to connect" in done.stderr
    assert run("schedule", "install", "--cron").returncode == 13
    assert run("schedule", "install", "--systemd").returncode == 13
    assert run("schedule", "install", "--print", "--cron").returncode == 0
    assert run("schedule", "show").returncode == 1


def test_several_vaults_stay_apart(run: Run, cron: System, vault: Vault, tmp_path: Path) -> None:
    others = [tmp_path / name for name in ("it's", "50% off", "花")]
    for other in (vault.root, *others):
        Vault.init(other)
        assert run("--vault", str(other), "schedule", "install").returncode == 0
    assert cron.table and len(cron.table.splitlines()) == 20
    for other in others:
        assert run("--vault", str(other), "schedule", "remove").returncode == 0
    assert len(cron.table.splitlines()) == 5 and os.fsencode(f"--vault={vault.root} ") in cron.table
    assert run("schedule", "show").returncode == 0


def test_vaults_that_are_installed_at_once_do_not_take_lines_from_each_other(cron: System) -> None:
    cron.table = TABLE
    plans = [plan(f"/vault {number}") for number in range(8)]
    with ThreadPoolExecutor(8) as crowd:
        list(crowd.map(crontab.install, plans))
    assert cron.table and all(crontab.slots(each) for each in plans)
    with ThreadPoolExecutor(8) as crowd:
        list(crowd.map(crontab.remove, (each.id for each in plans)))
    assert cron.table == TABLE + b"\n"


def test_a_vault_that_is_gone_can_be_removed_when_named(run: Run, vault: Vault, cron: System, tmp_path: Path) -> None:
    cron.table = TABLE + b"\n"
    run("schedule", "install")
    shutil.rmtree(vault.root / "memory")
    (vault.root / "mdmem.toml").unlink()
    assert run("schedule", "remove").returncode == 10
    assert run("--vault", str(vault.root), "schedule", "show").returncode == 0
    assert run("--vault", str(vault.root), "schedule", "remove").returncode == 0
    assert cron.table == TABLE + b"\n"
    assert run("--vault", str(vault.root), "schedule", "remove").returncode == 10


def test_show_tells_states_and_last_runs(run: Run, vault: Vault, cron: System) -> None:
    assert run("schedule", "show").returncode == 1
    assert run("schedule").returncode == 1
    run("schedule", "install")
    changed_by_hand(cron, b"20 * * * *", b"21 * * * *")
    cron.table = b"".join(cron.table.splitlines(keepends=True)[:-1])
    found = json.loads(run("schedule", "show", "--json").stdout)
    assert found["vault"] == str(vault.root) and len(found["id"]) == 12
    states = {each["name"]: each["state"] for each in found["entries"]}
    assert states == {
        "checkpoint": "changed by hand",
        "nightly": "as installed",
        "nightly-late": "as installed",
        "verify": "as installed",
        "verify-late": "missing",
    }
    assert not any(each["last"] for each in found["entries"])
    schedule.note_run(vault.place, "nightly")
    ran = [each["job"] for each in json.loads(run("schedule", "show", "--json").stdout)["entries"] if each["last"]]
    assert ran == ["nightly", "nightly"] and run("schedule", "show").stdout.count("last run 20") == 2
    assert run("--json", "schedule").stdout == run("schedule", "show", "--json").stdout


def test_a_newline_in_a_path_is_for_systemd_alone(run: Run, system: System, tmp_path: Path) -> None:
    root = tmp_path / "new\nline"
    Vault.init(root)
    done = run("--vault", str(root), "schedule", "install", "--cron")
    assert done.returncode == 12 and done.stderr.count("\n") == 2 and system.table is None
    assert run("--vault", str(root), "schedule", "install", "--print", "--cron").returncode == 12
    assert run("--vault", str(root), "schedule", "install", "--systemd").returncode == 0
    assert run("--vault", str(root), "schedule", "remove").returncode == 0


def test_bytes_that_are_no_utf8_are_for_cron_alone(run: Run, system: System, tmp_path: Path) -> None:
    root = tmp_path / "odd \udcff"
    Vault.init(root)
    assert run("--vault", str(root), "schedule", "install", "--systemd").returncode == 12
    assert run("--vault", str(root), "schedule", "install", "--cron").returncode == 0
    assert b"--vault=" in system.table and b"odd \xff" in system.table
    assert run("--vault", str(root), "schedule", "show").returncode == 0


def test_the_environment_is_what_a_job_needs_and_no_secret(
    run: Run, cron: System, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"XDG_CACHE_HOME": str(tmp_path / "a cache"), "XDG_CONFIG_HOME": "relative"}
    values |= {"OPENAI_API_KEY": "sk-secret", "MDMEM_LLM_PROVIDER": "openai", "MDMEM_LLM_MODEL": "any"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    done = run("schedule", "install")
    table = cron.table or b""
    assert done.returncode == 0
    assert b"secret" not in table and b"relative" not in table and b"a cache" in table
    assert b" TZ=Europe/Berlin " in table and os.fsencode(f" HOME={world} ") in table
    notes = done.stderr.splitlines()
    assert notes[0].startswith("note: only this shell sets MDMEM_EMBEDDING_MODEL, MDMEM_LLM_MODEL, MDMEM_LLM_PROVIDER:")
    assert notes[1] == (
        "note: scheduled runs do not see OPENAI_API_KEY: "
        "put a line OPENAI_API_KEY=… into your crontab, above those of mdmem (`crontab -e`)"
    )


def test_the_command_of_a_language_model_is_found(
    run: Run, cron: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tools" / "ask"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{cron.path}{os.pathsep}{program.parent}")
    monkeypatch.setenv("MDMEM_LLM_PROVIDER", "command")
    monkeypatch.setenv("MDMEM_LLM_COMMAND", "ask --token sk-secret")
    assert run("schedule", "install").returncode == 0
    assert cron.table and os.fsencode(f" PATH={program.parent}:") in cron.table and b"secret" not in cron.table


# systemd


def test_systemd_is_chosen_where_it_can_be_reached(run: Run, system: System) -> None:
    done = run("schedule", "install")
    assert done.returncode == 0
    written = sorted(each.name for each in system.units.iterdir())
    assert len(written) == 6 and system.on == [name for name in written if name.endswith(".timer")]
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in system.units.iterdir())
    assert system.asked[0] == "daemon-reload" and system.asked[1].startswith("enable --now mdmem-checkpoint-")
    assert system.table is None and "enable-linger" in done.stderr
    before = {each: each.stat().st_mtime_ns for each in system.units.iterdir()}
    again = run("schedule", "install")
    assert again.returncode == 0 and "nothing was to be changed" in again.stderr and len(system.asked) == 2
    assert {each: each.stat().st_mtime_ns for each in system.units.iterdir()} == before


def test_printed_units_are_those_installed(run: Run, system: System) -> None:
    printed = run("schedule", "install", "--print", "--systemd").stdout
    assert not system.units.exists() and system.asked == []
    run("schedule", "install")
    for each in system.units.iterdir():
        assert f"# {each}\n{each.read_text()}" in printed


def test_remove_disables_and_takes_only_its_own(run: Run, system: System, tmp_path: Path) -> None:
    Vault.init(tmp_path / "other")
    run("--vault", str(tmp_path / "other"), "schedule", "install")
    (system.units / "mine.timer").write_text("[Timer]\n")
    before = {each.name: each.read_bytes() for each in system.units.iterdir()}
    run("schedule", "install")
    done = run("schedule", "remove")
    assert done.returncode == 0
    assert {each.name: each.read_bytes() for each in system.units.iterdir()} == before
    assert len(system.on) == 3 and system.asked[-1] == "daemon-reload" and "disable --now" in system.asked[-2]


def test_units_of_another_mdmem_are_replaced_and_a_persons_are_left(
    run: Run, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    run("schedule", "install")
    monkeypatch.delenv("TZ")
    run("schedule", "install")
    assert b"Tokyo" not in b"".join(each.read_bytes() for each in system.units.iterdir())
    (timer,) = system.units.glob("mdmem-nightly-*.timer")
    (masked,) = system.units.glob("mdmem-verify-*.timer")
    mine = timer.read_bytes().replace(b"03:00", b"05:00")
    timer.write_bytes(mine)
    masked.unlink()
    masked.symlink_to("/dev/null")
    done = run("schedule", "install")
    assert done.returncode == 3 and timer.name in done.stderr and masked.name in done.stderr
    assert timer.read_bytes() == mine and masked.is_symlink()
    done = run("schedule", "remove")
    assert done.returncode == 3
    kept = sorted(each.name.split("-")[1] for each in system.units.iterdir())
    assert kept == ["nightly", "nightly", "verify", "verify"]  # a service stays with its timer
    assert run("schedule", "remove", "--yes").returncode == 0
    assert list(system.units.iterdir()) == [] and system.on == []


def test_a_timer_that_was_switched_off_is_told_and_comes_on_again(run: Run, system: System) -> None:
    run("schedule", "install")
    (system.folder / "on" / system.on[1]).unlink()
    found = json.loads(run("schedule", "show", "--json").stdout)["entries"]
    assert [each["name"].split("-")[1] for each in found if each["state"] == "switched off"] == ["nightly"]
    assert run("schedule", "install").returncode == 0 and len(system.on) == 3


def test_what_runs_a_vault_already_stays_the_choice_and_both_are_named(run: Run, system: System) -> None:
    run("schedule", "install", "--cron")
    assert run("schedule", "install").returncode == 0
    assert not system.units.exists()
    done = run("schedule", "install", "--systemd")
    assert "the crontab runs these jobs as well: `mdmem schedule remove --cron`" in done.stderr
    assert run("schedule", "remove", "--cron").returncode == 0
    assert system.table == b"" and len(system.on) == 3
    assert run("schedule", "show").stdout.count("systemd/user/mdmem-") == 6


def test_units_go_where_a_linked_folder_leads(run: Run, system: System, world: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (world / "config_home").symlink_to(tmp_path / "dotfiles")
    assert run("schedule", "install").returncode == 0
    assert len(list((tmp_path / "dotfiles/systemd/user").iterdir())) == 6
    assert run("schedule", "remove").returncode == 0


def test_both_at_once_is_no_choice(run: Run, system: System) -> None:
    assert run("schedule", "install", "--cron", "--systemd").returncode == 2
