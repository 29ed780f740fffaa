"""`doctor` and `verify` as whole commands: what they print where, and how they end."""

import json

from mdmem import Vault


def test_doctor_prints_rooms_with_places_and_fixes(run, vault):
    (vault / "memory" / "a.md").write_text("\n[[nowhere]]\n")
    done = run("doctor")
    assert done.returncode == 3 and done.stderr == ""
    assert "links\n  ! memory/a.md:2: [[nowhere]] leads nowhere\n    write the note" in done.stdout


def test_doctor_json_is_one_object(run, vault):
    done = run("doctor", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["counts"]["error"] == 0
    assert {"path", "line", "message", "hint", "kind", "severity"} <= found["findings"][0].keys()


def test_verify_says_what_was_compared(run, vault):
    run("add", "green tea")
    done = run("verify")
    assert done.returncode == 0 and done.stdout.endswith("nothing differs\n")
    found = json.loads(run("verify", "--json", "--sample", "50%").stdout)
    assert found["findings"] == [] and found["retrieved"] == found["asked"]


def test_verify_exits_with_3_until_it_is_healed(run, vault):
    run("add", "green tea")
    run("search", "tea")
    (catalog,) = Vault.open(vault).place.state.glob("index/*/catalog.sqlite")
    catalog.write_bytes(b"garbage")
    done = run("verify")
    assert done.returncode == 3 and "1 difference left" in done.stdout
    done = run("verify", "--fix")
    assert done.returncode == 0 and "1 difference healed" in done.stdout
    assert run("verify").returncode == 0


def test_a_share_must_be_one(run, vault):
    for share in ("x", "0", "101%", "-5%"):
        done = run("verify", f"--sample={share}")
        assert done.returncode == 2 and "no share to compare" in done.stderr


def test_both_fit_a_narrow_terminal_and_a_pipe(run, vault):
    (vault / "memory" / "a.md").write_text("[[nowhere]]\n")
    for words in (("doctor",), ("verify",)):
        done = run(*words, env={"COLUMNS": "40"})
        assert all(len(line) <= 40 for line in done.stdout.splitlines())
        assert "\x1b" not in done.stdout
