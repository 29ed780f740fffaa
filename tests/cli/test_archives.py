"""What is packed, as people see it: found and shown as before, changed only once it is taken out."""

import json

import pytest

FIRST = "daily/2019-03-14#14:30"


@pytest.fixture
def packed(run, folder):
    """A vault with a log of long ago, in an archive."""
    assert run("init").returncode == 0
    for text in ("Likes flat whites #coffee", "喜欢喝咖啡"):
        assert run("add", "--at", "2019-03-14 14:30", text).returncode == 0
    done = run("nightly", "--step", "pack")
    assert done.returncode == 0, done.stderr
    assert not (folder / "memory/daily/2019-03-14.md").exists()
    return folder / "memory/archives/daily/2019.md.zst"


def test_it_is_shown_and_found_as_before(run, packed):
    assert run("show", FIRST).stdout == "Likes flat whites #coffee\n"
    assert run("show", "2019-03-14").stdout.startswith("# 2019-03-14\n\n- 14:30 Likes flat whites #coffee\n- 14:30:00 ")
    assert "喜欢喝咖啡" in run("search", "咖啡", "--in", "daily/2019-03").stdout
    assert FIRST in run("list").stdout
    assert "coffee" in run("tags").stdout
    hit = json.loads(run("search", "whites", "--json").stdout)["hits"][0]
    assert (hit["address"], hit["path"]) == (FIRST, "memory/archives/daily/2019.md.zst")
    assert run("diff", "HEAD~1").stdout == ""
    assert "Add: Likes flat whites #coffee" in run("log", FIRST).stdout
    assert run("doctor").returncode == run("verify").returncode == 0


@pytest.mark.parametrize("words", [("rm", FIRST, "--yes"), ("edit", FIRST, "-"), ("edit", FIRST, "--set", "id=x")])
def test_it_is_changed_once_it_is_taken_out(run, packed, words):
    before = packed.read_bytes()
    done = run(*words, input="Likes long blacks\n")
    assert (done.returncode, done.stdout) == (12, "")
    assert done.stderr == (
        f"error: {FIRST} is in the archive memory/archives/daily/2019.md.zst\n"
        "hint: nothing was changed; `mdmem unpack daily/2019-03-14` puts it back as a file of its own, to be changed\n"
    )
    assert packed.read_bytes() == before
    done = run("unpack", "daily/2019-03-14")
    assert (done.returncode, done.stdout[9:]) == (0, "Unpack daily/2019-03-14\n")
    assert not packed.exists()
    assert run(*words, input="Likes long blacks\n").returncode == 0


def test_unpack_says_what_it_did(run, packed):
    change = json.loads(run("unpack", "2019", "--json").stdout)["change"]
    assert (change["op"], change["actor"], change["edits"]) == ("unpack", "person", [])
    done = run("unpack", "2019")
    assert (done.returncode, done.stderr) == (
        1,
        "error: no archive holds 2019\nhint: name a year, a month, a day, or a compressed document\n",
    )


def test_a_damaged_archive_is_named(run, packed):
    packed.write_bytes(packed.read_bytes()[:-3])
    assert run("search", "whites").returncode == 1
    for words in (("verify", "--quiet"), ("nightly", "--quiet", "--step", "pack")):
        done = run(*words)
        assert done.returncode == 3 and "2019.md.zst" in done.stdout + done.stderr, words
    done = run("doctor")
    assert "memory/archives/daily/2019.md.zst: the archive is cut short" in done.stdout
    for words in (("unpack", "2019"), ("show", FIRST)):
        done = run(*words)
        assert (done.returncode, done.stdout) == (14, "")
        assert done.stderr.startswith("error: memory/archives/daily/2019.md.zst: the archive is cut short\nhint: ")
