"""`schedule` as whole commands, with stand-ins for crontab and systemctl; and what its jobs print when all is well."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from schedule_sandbox import System

from mdmem import Vault
from mdmem.store.lock import Lock

MDMEM = [sys.executable, "-m", "mdmem"]
TABLE = b"# mine\r\nMAILTO=ada\n\xff odd\n\n0 5 * * 1 backup 100\\%"


@pytest.fixture
def system(tmp_path, environment):
    """Both stand-ins on PATH."""
    made = System(tmp_path / "system", tmp_path / "home/.config/systemd/user")
    environment["PATH"] = made.path
    return made


@pytest.fixture
def cron(system):
    """A machine without a systemd that can be reached."""
    system.set("offline")
    return system


def changed_by_hand(system, old, new):
    assert old in system.table
    system.table = system.table.replace(old, new, 1)


def test_cron_is_installed_and_removed(run, vault, cron):
    cron.table = TABLE
    done = run("schedule", "install")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["checkpoint", *["nightly"] * 2, *["verify"] * 2]
    assert run("schedule", "install").stderr.startswith("note: nothing was to be changed\n")
    assert run("schedule", "remove").returncode == 0
    assert cron.table == TABLE + b"\n"  # which this cron insists on


@pytest.mark.slow
def test_what_a_person_changed_is_named_and_left_until_they_agree(run, vault, cron, on_terminal):
    run("schedule", "install")
    whole = cron.table
    changed_by_hand(cron, b"0 3 * * *", b"0 4 * * *")
    mine = cron.table
    done = run("schedule", "install")
    assert done.returncode == 3 and "changed by hand" in done.stdout and "and left: nightly;" in done.stderr
    assert cron.table == mine
    code, seen = on_terminal(*MDMEM, "schedule", "install", typed="n\n")
    assert code == 3 and "Replace what was changed by hand: nightly (crontab:2)?" in seen and cron.table == mine
    code, seen = on_terminal(*MDMEM, "schedule", "install", typed="y\n")
    assert code == 0 and cron.table == whole
    changed_by_hand(cron, b"0 3 * * *", b"#0 3 * * *")
    done = run("schedule", "remove", "--json")
    assert done.returncode == 3 and json.loads(done.stdout)["left"] == ["nightly"]
    assert cron.table.startswith(b"#0 3") and cron.table.count(b"\n") == 1
    assert run("schedule", "remove", "--yes").returncode == 0
    assert cron.table == b""


def test_a_command_that_would_not_start_is_not_installed(run, vault, cron, tmp_path):
    copy = tmp_path / "source"
    shutil.copytree(os.path.dirname(os.path.dirname(__import__("mdmem").__file__)) + "/mdmem", copy / "mdmem")
    script = copy / "bin" / "mdmem"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable} -S\nimport sys\nfrom mdmem.__main__ import main\nsys.exit(main())\n")
    script.chmod(0o755)
    site = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    environment = {"PYTHONPATH": f"{copy}{os.pathsep}{site}", "HOME": str(tmp_path / "home"), "PATH": cron.path}
    done = subprocess.run([script, "schedule", "install"], cwd=vault, env=environment, capture_output=True, text=True)
    assert done.returncode == 13 and "No module named" in done.stderr and "nothing was installed" in done.stderr
    assert cron.table is None


# What the jobs say


@pytest.mark.slow
def test_a_full_verification_runs_when_it_is_due_and_says_nothing(run, vault):
    run("add", "green tea")
    job = ("verify", "--sample=1", "--fix", "--quiet", "--if-due")
    note = Vault.open(vault).place.state / "runs" / "verify"
    done = run(*job)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    first = note.read_bytes()
    done = run(*job)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "") and note.read_bytes() == first
    assert run(*job[:-2], "--if-due").stderr.startswith("note: verify is not due yet: it last ran ")
    assert json.loads(run(*job, "--json").stdout)["due"] is False
    note.write_text("2020-01-05T04:30:00+01:00\n")
    run("verify")
    assert note.read_text().startswith("2020")  # a sample is not the whole
    assert run(*job).returncode == 0 and note.read_bytes() >= first


@pytest.mark.slow
def test_a_quiet_run_speaks_of_what_is_wrong(run, vault):
    run("add", "green tea")
    run("search", "tea")
    (catalog,) = Vault.open(vault).place.state.glob("index/*/catalog.sqlite")
    catalog.write_bytes(b"garbage")
    done = run("verify", "--quiet")
    assert done.returncode == 3 and "1 difference left" in done.stdout
    assert (done := run("verify", "--quiet", "--fix")).returncode == 0 and done.stdout + done.stderr == ""
    assert run("--vault", str(vault / "gone"), "verify", "--quiet").stderr.startswith("error: ")


def test_a_quiet_run_that_finds_another_at_it_goes_without_a_word(run, vault):
    run("add", "green tea")
    state = Vault.open(vault).place.state
    with Lock(state / "locks" / "indexes.lock", command="test").hold(1000):
        loud, quiet = run("verify", "--fix"), run("verify", "--fix", "--quiet")
    assert loud.returncode == 11 and "error: another mdmem" in loud.stderr
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (11, "", "")
