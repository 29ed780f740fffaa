"""`nightly` as a whole command: what it prints where, whom it asks, how it ends; and that reading is counted."""

import fcntl
import json
import sys

import pytest

from mdmem import Vault
from mdmem.vault import usage

OLD = "memory/daily/2020-01-05.md"


def fill(vault, count, temporary):
    """Write a log of which some entries have expired."""
    lines = [f"- 10:{number:02} Thought {number}{' #temp' * (number < temporary)}\n" for number in range(count)]
    (vault / OLD).parent.mkdir(exist_ok=True)
    (vault / OLD).write_text("# 2020-01-05\n\n" + "".join(lines))


def test_a_line_for_each_step(run, vault):
    fill(vault, 5, 1)
    done = run("nightly", "--dry-run")
    assert done.returncode == 0 and done.stdout.endswith("nothing was changed\n") and "Thought 0" in done.stdout
    assert (vault / OLD).read_text().count("#temp") == 1
    done = run("nightly")
    assert done.returncode == 0 and done.stderr == ""
    names = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert names == ["expire", "duplicates", "fold", "pack", "verify", "usage", "git"]
    assert not (vault / OLD).exists()  # its year is over: it was packed
    assert "#temp" not in run("show", "daily/2020-01-05").stdout
    assert run("nightly", "--quiet").stdout == ""


def test_json_is_one_object(run, vault):
    fill(vault, 5, 1)
    found = json.loads(run("nightly", "--json", "--dry-run").stdout)
    assert found["dry_run"] and found["complete"] and found["steps"][0]["state"] == "planned"
    assert found["steps"][0]["items"][0]["address"] == "daily/2020-01-05#10:00"
    done = run("nightly", "--json", "--step", "expire")
    assert len(json.loads(done.stdout)["steps"][0]["commits"]) == 1 and done.stderr == ""


@pytest.mark.slow
def test_where_nobody_can_be_asked_it_is_left_out(run, vault):
    fill(vault, 9, 5)
    done = run("nightly", "--step", "expire")
    assert done.returncode == 3 and "more than a tenth" in done.stdout and "--yes" in done.stdout
    done = run("nightly", "--step", "expire", "--quiet")
    assert done.returncode == 3 and done.stdout == "" and "more than a tenth" in done.stderr
    done = run("nightly", "--step", "expire", "--json")
    step = json.loads(done.stdout)["steps"][0]
    assert done.returncode == 3 and step["state"] == "refused" and "--yes" in step["hint"] and len(step["items"]) == 5
    assert run("nightly", "--step", "expire", "--yes").returncode == 0
    assert "#temp" not in (vault / OLD).read_text()


@pytest.mark.slow
def test_a_person_is_asked(on_terminal, run, vault):
    fill(vault, 9, 5)
    command = (sys.executable, "-m", "mdmem", "nightly", "--step", "expire")
    code, seen = on_terminal(*command, typed="n\n")
    assert code == 3 and "Remove 5 of 10 memories, more than a tenth? [y/N]" in seen
    assert (vault / OLD).read_text().count("#temp") == 5
    code, seen = on_terminal(*command, typed="y\n")
    assert code == 0 and "5 entries expired" in seen


@pytest.mark.slow
def test_a_second_one_ends_with_11_and_with_quiet_without_a_word(run, vault):
    state = Vault.open(vault).place.state
    run("nightly", "--step", "expire")
    with open(state / "locks" / "upkeep.lock", "r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(json.dumps({"pid": 4711, "command": "nightly"}).ljust(511) + "\n")
        held.flush()
        done = run("nightly")
        assert done.returncode == 11 and "(pid 4711, nightly) keeps house" in done.stderr and done.stdout == ""
        done = run("nightly", "--quiet")
        assert (done.returncode, done.stdout, done.stderr) == (11, "", "")
        assert run("nightly", "--dry-run").returncode == 0


def test_it_runs_when_due_and_notes_it(run, vault):
    fill(vault, 5, 1)
    assert run("nightly", "--if-due", "--quiet").returncode == 0 and not (vault / OLD).exists()
    fill(vault, 5, 1)
    done = run("nightly", "--if-due")
    assert done.returncode == 0 and "not due" in done.stderr and "#temp" in (vault / OLD).read_text()


def test_an_unknown_step(run, vault):
    done = run("nightly", "--step", "tidy")
    assert done.returncode == 2 and "the steps are expire, duplicates" in done.stderr


@pytest.mark.slow
def test_fits_a_narrow_terminal(run, vault):
    fill(vault, 5, 1)
    done = run("nightly", "--dry-run", env={"COLUMNS": "40"})
    assert all(len(line) <= 40 for line in done.stdout.splitlines() if line.startswith(" "))


@pytest.mark.slow
def test_what_is_shown_is_counted_and_nothing_else(run, vault):
    (vault / "memory" / "plan.md").write_text("# Plan\n\nGreen tea for everyone\n")
    run("commit")
    before = {path: path.read_bytes() for path in vault.rglob("*") if path.is_file() and ".git" not in path.parts}
    assert run("search", "green", "tea").returncode == 0
    run("show", "plan")
    run("list", "-k", "1")
    run("search", "nothing-of-the-kind")
    place = Vault.open(vault).place
    assert usage.scores(place)["plan"] >= 2.0 and b"green" not in (place.state / "usage.sqlite").read_bytes()
    after = {path: path.read_bytes() for path in vault.rglob("*") if path.is_file() and ".git" not in path.parts}
    assert after == before
    run("search", "green", env={"MDMEM_USAGE_RECORD": "false"})
    assert usage.scores(place) == usage.scores(Vault.open(vault).place)
