"""`recover` as a whole command: what is listed, put back or let go, and how it looks on any terminal."""

import json
import re
import sys

import pytest

from mdmem.text import screen

MDMEM = [sys.executable, "-m", "mdmem"]
LOG = "memory/daily/2026-11-23.md"
COFFEE, WHOOSH, LAST = "用户喜欢喝美式咖啡，半糖", "Decided on Whoosh for BM25", "Half sugar from now on"
KEYS = ["number", "id", "address", "text", "reason", "noted", "source"]


@pytest.fixture
def deleted(run, vault):
    """Two entries kept, and taken out by hand; a later one stayed."""
    for minute, text in enumerate((COFFEE, WHOOSH, LAST)):
        assert run("add", "--at", f"2026-11-23 09:0{minute}", text).returncode == 0
    (vault / LOG).write_text(f"# 2026-11-23\n\n- 09:02 {LAST}\n")
    return vault


def held(run):
    """Give what `recover --json` lists."""
    return json.loads(run("recover", "--json").stdout)["held"]


def test_nothing_held_is_exit_1(run, vault):
    done = run("recover")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "note: nothing is held, and nothing waits\n"
    done = run("recover", "--json")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (1, {"held": []}, "")


def test_it_lists_what_was_deleted_and_changes_nothing(run, deleted):
    before = (deleted / LOG).read_bytes()
    for _ in range(2):
        done = run("recover")
        assert (done.returncode, done.stderr) == (0, "")
        assert re.sub(r"since [\d-]+ [\d:]+", "since <now>", done.stdout) == (
            f"1  daily/2026-11-23#09:00\n   {COFFEE}\n   deleted · since <now> · text in journal\n"
            f"2  daily/2026-11-23#09:01\n   {WHOOSH}\n   deleted · since <now> · text in journal\n"
        )
    assert (deleted / LOG).read_bytes() == before


def test_json_has_every_field_of_each(run, deleted):
    first, second = held(run)
    assert list(first) == list(second) == KEYS
    assert (first["number"], first["text"], first["reason"], first["source"]) == (1, COFFEE, "deleted", "journal")
    assert second["address"] == "daily/2026-11-23#09:01"
    assert first["id"] != second["id"]


@pytest.mark.parametrize("by", ["number", "id"])
def test_one_is_put_back_below_by_number_or_id(run, deleted, by):
    run("commit")
    wanted = held(run)[1]
    done = run("recover", str(wanted[by]), "--json")
    assert done.returncode == 0
    change = json.loads(done.stdout)["change"]
    assert (change["op"], [one["address"] for one in change["edits"]]) == ("restore", [wanted["address"]])
    assert (deleted / LOG).read_text() == f"# 2026-11-23\n\n- 09:02 {LAST}\n- 09:01 {WHOOSH}\n"
    assert [one["text"] for one in held(run)] == [COFFEE]


def test_it_needs_no_commit_of_the_edit(run, deleted):
    assert run("recover", "1").returncode == 0
    assert (deleted / LOG).read_text() == f"# 2026-11-23\n\n- 09:02 {LAST}\n- 09:00 {COFFEE}\n"
    assert [one["text"] for one in held(run)] == [WHOOSH]


def test_a_document_comes_back_byte_for_byte(run, vault):
    path, data = vault / "memory" / "plan.md", b"\xef\xbb\xbf# Plan\r\n\r\nno final newline"
    path.write_bytes(data)
    run("commit")
    path.unlink()
    run("commit")
    [one] = held(run)
    assert (one["address"], one["text"], one["source"][:7]) == ("plan", "Plan", "commit ")
    assert run("recover", "1").returncode == 0
    assert path.read_bytes() == data
    assert held(run) == []


def test_the_commit_told_is_the_one_that_puts_back(run, deleted):
    change = json.loads(run("recover", "1", "--json").stdout)["change"]
    assert (change["op"], change["subject"]) == ("restore", f"Put back: {COFFEE}")
    assert [(one["kind"], one["address"]) for one in change["edits"]] == [("added", "daily/2026-11-23#09:00")]
    assert [one["op"] for one in json.loads(run("log", "-k", "2", "--json").stdout)["changes"]] == ["restore", "save"]


def test_several_come_back_with_one_commit(run, deleted):
    done = run("recover", "1", "2", "1", "--json")
    [change] = json.loads(done.stdout)["changes"]
    assert change["subject"] == "Put back 2 entries"
    assert (deleted / LOG).read_text() == f"# 2026-11-23\n\n- 09:02 {LAST}\n- 09:00 {COFFEE}\n- 09:01 {WHOOSH}\n"
    assert held(run) == []


def test_one_that_is_not_listed_keeps_all_from_coming_back(run, deleted):
    before = (deleted / LOG).read_bytes()
    for drop, done in ([], "put back"), (["--drop", "--yes"], "forgotten"):
        told = run("recover", "1", "7", "2", "9", *drop)
        assert (told.returncode, told.stdout) == (1, "")
        assert told.stderr == (
            "error: nothing that is held has the number 7 or 9\n"
            f"hint: nothing was {done}; `mdmem recover` lists what there is\n"
        )
    assert (deleted / LOG).read_bytes() == before
    assert [one["text"] for one in held(run)] == [COFFEE, WHOOSH]


def test_several_are_forgotten(run, deleted):
    done = run("recover", "1", "2", "--drop", "--yes")
    assert done.stderr == "note: forgotten: daily/2026-11-23#09:00, daily/2026-11-23#09:01\n"
    assert held(run) == []


def test_commit_lists_every_commit_it_made(run, vault):
    path = vault / "memory" / "plan.md"
    path.write_text("# Plan\n\none\n\ntwo\n\nthree\n")
    run("commit")
    older = path.read_text()
    run("edit", "plan", "-", input=older.replace("one", "ONE"))
    path.write_text(older.replace("three", "THREE"))
    changes = json.loads(run("commit", "--json").stdout)["changes"]
    assert [one["op"] for one in changes] == ["save", "restore"]
    assert path.read_text() == "# Plan\n\nONE\n\ntwo\n\nTHREE\n"


def test_commit_tells_a_deleted_document_in_one_short_line(run, vault):
    (vault / "memory" / "plan.md").write_text("# Plan\n\n" + "lorem ipsum " * 400)
    run("commit")
    (vault / "memory" / "plan.md").unlink()
    head, line = run("commit").stdout.splitlines()
    assert head.endswith("Delete plan")
    assert line.startswith("   - plan  # Plan lorem") and screen.width(line) < 250


@pytest.mark.parametrize("which", ["3", "0", "-1", "x", "daily/2026-11-23#09:00"])
def test_what_is_not_listed_is_exit_1(run, deleted, which):
    done = run("recover", "--", which)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"error: nothing that is held has the number {which}\n"
        "hint: nothing was put back; `mdmem recover` lists what there is\n"
    )


# Letting go


def test_to_forget_asks_or_wants_yes(run, on_terminal, deleted):
    done = run("recover", "1", "--drop")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is nobody here to ask" in done.stderr and "--yes" in done.stderr
    code, seen = on_terminal(*MDMEM, "recover", "1", "--drop", typed="n\n")
    assert code == 1 and COFFEE in seen and "nothing was forgotten" in seen
    assert len(held(run)) == 2
    code, seen = on_terminal(*MDMEM, "recover", "1", "--drop", typed="y\n")
    assert code == 0 and "forgotten: daily/2026-11-23#09:00" in seen
    assert [one["text"] for one in held(run)] == [WHOOSH]


def test_with_yes_it_is_forgotten_and_told(run, deleted):
    first = held(run)[0]
    done = run("recover", first["id"], "--drop", "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"dropped": first, "all": [first]})
    done = run("recover", "1", "--drop", "-y")
    assert (done.returncode, done.stderr) == (0, "note: forgotten: daily/2026-11-23#09:01\n")
    assert held(run) == []
    assert COFFEE not in (deleted / LOG).read_text()


def test_which_one_to_forget_must_be_said(run, deleted):
    done = run("recover", "--drop", "--yes")
    assert done.returncode == 2 and "which one is to be forgotten is not said" in done.stderr
    assert len(held(run)) == 2


# Terminals


@pytest.mark.parametrize("columns", [40, 80])
def test_it_fits_the_terminal(on_terminal, deleted, columns):
    code, seen = on_terminal(*MDMEM, "recover", env={"COLUMNS": str(columns)})
    plain = re.sub(r"\x1b\[[\d;]*m", "", seen)
    assert code == 0
    assert [line for line in plain.split("\n") if screen.width(line) > columns] == []
    assert COFFEE in re.sub(r"\s", "", plain)


def test_no_held_text_steers_the_terminal(run, on_terminal, vault):
    hostile = "before \x1b]52;c;eA==\x07 \x1b[2J \u202e after"
    run("add", "--at", "2026-11-23 09:00", "-", input=hostile)
    run("add", "--at", "2026-11-23 09:01", LAST)
    assert hostile in (vault / LOG).read_text()
    (vault / LOG).write_text(f"# 2026-11-23\n\n- 09:01 {LAST}\n")
    code, seen = on_terminal(*MDMEM, "recover")
    assert code == 0 and "before <U+001B>]52" in seen
    code, asked = on_terminal(*MDMEM, "recover", "1", "--drop", typed="n\n")
    assert code == 1 and "before <U+001B>]52" in asked
    for text in (seen, asked):
        assert not {"\x07", "\u202e"} & set(text)
        assert re.sub(r"\x1b\[[\d;]*m", "", text).count("\x1b") == 0
    done = run("recover", "--json")
    assert "\x1b" not in done.stdout and json.loads(done.stdout)["held"][0]["text"] == hostile
