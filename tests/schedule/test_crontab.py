"""A crontab as text: commands that survive cron and the shell, and a person's lines that survive us."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule_sandbox import PATHS, plan

from mdmem.errors import Refused
from mdmem.schedule import cron

VAULT = "/home/ada/memory"
HOSTILE = [*PATHS, "/not utf-8: \udcff\udc80"]

TABLES = [
    b"",
    b"\n",
    b"# a comment\n\n\n0 5 * * 1 backup\n",
    b"0 5 * * 1 backup",
    b"# only a comment",
    b"MAILTO=ada@example.org\nPATH=/x:/y\n0 5 * * 1 backup 100\\% # mdmem\n",
    b"0 5 * * 1 backup\r\n\r\n* * * * * x\r\n",
    b"\xff\xfe odd \x00 bytes \x80\n\x0c\n",
    b"0 3 * * * mdmem nightly # mdmem nightly zzz 12345678\n",
    b"   \t\n@reboot x # mdmem nightly 0123456789ab 01234567\n",
    b"x" * 100_000,
]


def fields(line: bytes) -> tuple[list[bytes], bytes]:
    """Part a line of a crontab into its five fields and its command."""
    *when, command = line.split(b" ", 5)
    return when, command


def given_to_shell(command: bytes, *, collapsing: bool) -> bytes:
    """Return what cron hands to the shell: all up to a `%` that has no backslash before it, which goes.

    Debian's, as the first of them all, also makes two backslashes one (`collapsing`); others leave them.
    """
    out, escaped = bytearray(), False
    for byte in command:
        if escaped:
            if byte == 0x25 or (collapsing and byte == 0x5C):
                out.pop()
            escaped = False
            out.append(byte)
        elif byte == 0x25:
            break
        else:
            escaped = byte == 0x5C
            out.append(byte)
    return bytes(out)


def run(command: bytes, folder: Path) -> None:
    done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, env={}, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def recorder(folder: Path) -> Path:
    """Make a program that writes down its words and the environment it got."""
    program = folder / "it's 100% mdmem"
    out = str(folder / "out").replace("'", "'\\''")
    program.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" > '{out}'\n/usr/bin/env -0 > '{out}.env'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("collapsing", [True, False])
@pytest.mark.parametrize("path", HOSTILE)
def test_the_shell_gets_the_words_back(path: str, collapsing: bool, tmp_path: Path) -> None:
    made = plan(path, str(recorder(tmp_path)), XDG_CACHE_HOME=path)
    for line in cron.lines(made).values():
        marked = cron.marked(line, "nightly", made.id, joined=True)
        assert marked.count(b"\n") == 1 and b"\\\\" not in marked
        _, command = fields(marked.removesuffix(b"\n"))
        run(given_to_shell(command, collapsing=collapsing), tmp_path)
        words = (tmp_path / "out").read_bytes().split(b"\0")
        assert words[0] == os.fsencode(f"--vault={path}")
        assert os.fsencode(f"XDG_CACHE_HOME={path}") in (tmp_path / "out.env").read_bytes().split(b"\0")
    assert not (tmp_path / "ran").exists()


@given(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])), st.booleans())
def test_every_word_survives_cron(word: str, collapsing: bool) -> None:
    command = f"printf %s {cron.quote(word)}".replace("printf %s", "printf '\\%s'").encode()
    shell = given_to_shell(command, collapsing=collapsing)
    assert subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=True).stdout == word.encode()


def test_a_program_with_an_equals_sign_is_no_variable(tmp_path: Path) -> None:
    folder = tmp_path / "a=b"
    folder.mkdir()
    line = cron.lines(plan(VAULT, str(recorder(folder)), TZ="Asia/Shanghai"))["nightly"]
    run(given_to_shell(fields(line)[1], collapsing=True), tmp_path)
    assert b"--vault=/home/ada/memory\0nightly\0" in (folder / "out").read_bytes()
    assert b"TZ=Asia/Shanghai" in (folder / "out.env").read_bytes()


def test_a_newline_is_refused() -> None:
    with pytest.raises(Refused, match="newline") as caught:
        cron.lines(plan("/a\nb"))
    assert "--systemd" in caught.value.hint


def test_times_are_those_of_crontab() -> None:
    when = {name: b" ".join(fields(line)[0]).decode() for name, line in cron.lines(plan(VAULT)).items()}
    assert when == {
        "checkpoint": "20 * * * *",
        "nightly": "0 3 * * *",
        "nightly-late": "35 * * * *",
        "verify": "30 4 * * 0",
        "verify-late": "50 * * * *",
    }


@pytest.mark.parametrize("table", TABLES)
def test_in_and_out_leaves_every_byte(table: bytes) -> None:
    made = plan(VAULT)
    once = cron.installed(table, made)
    assert once.startswith(table) and once.endswith(b"\n")
    assert cron.installed(once, made) == once
    assert {slot.state for slot in cron.states(once, made)} == {"as installed"}
    assert cron.removed(once, made.id) == table


@given(st.lists(st.sampled_from([*TABLES[:-1], b"\n", b"x\n", b"\r"]), max_size=4).map(b"".join), st.data())
def test_several_vaults_come_and_go_in_any_order(table: bytes, data: st.DataObject) -> None:
    plans = [plan("/a"), plan("/b b"), plan("/c%")]
    text = table
    for each in data.draw(st.permutations(plans)):
        text = cron.installed(text, each)
    assert all(cron.installed(text, each) == text for each in plans)
    for each in data.draw(st.permutations(plans)):
        text = cron.removed(text, each.id)
        assert not list(cron.found(text, each.id))
    assert text in (table, table + b"\n")  # the newline stays where another vault's lines stood on it


def test_lines_that_a_person_put_between_ours_stay_where_they_are() -> None:
    made = plan(VAULT)
    lines = cron.installed(b"MAILTO=ada\n", made).splitlines(keepends=True)
    lines.insert(3, b"# mine\n")
    lines.append(b"5 5 * * * mine")
    assert cron.installed(b"".join(lines), made) == b"".join(lines)
    assert cron.removed(b"".join(lines), made.id) == b"MAILTO=ada\n# mine\n5 5 * * * mine"


def test_another_version_is_replaced_in_its_place() -> None:
    old, new = plan(VAULT, "/old/mdmem"), plan(VAULT, "/new/mdmem")
    table = cron.installed(b"# first\n", old) + b"# last\n"
    assert {slot.state for slot in cron.states(table, new)} == {"another version"}
    now = cron.installed(table, new)
    assert b"/old/" not in now and now.startswith(b"# first\n20 ") and now.endswith(b"# last\n")
    assert cron.removed(now, new.id) == b"# first\n# last\n"


def test_what_only_an_older_version_had_goes_and_so_does_a_second_one() -> None:
    made = plan(VAULT)
    gone = cron.marked(b"1 1 * * * /opt/mdmem compact", "compact", made.id)
    table = gone + cron.installed(b"", made)
    table += table.splitlines(keepends=True)[2]
    assert cron.installed(table, made) == cron.installed(b"", made)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"0 3 * * *", b"0 4 * * *"), (b"0 3 * * *", b"#0 3 * * *"), (b" nightly ", b" nightly --dry-run ")],
)
def test_a_line_changed_by_hand_is_named_and_left(old: bytes, new: bytes) -> None:
    made = plan(VAULT)
    whole = cron.installed(b"", made)
    lines = whole.splitlines(keepends=True)
    lines[1] = lines[1].replace(old, new, 1)
    table = b"".join(lines)
    assert [slot.name for slot in cron.states(table, made) if slot.state == "changed by hand"] == ["nightly"]
    assert cron.installed(table, made) == table
    assert cron.removed(table, made.id) == lines[1]
    assert cron.installed(table, made, force=True) == whole
    assert cron.removed(table, made.id, force=True) == b""


def test_a_line_that_went_is_missing_and_comes_back() -> None:
    made = plan(VAULT)
    table = b"".join(cron.installed(b"", made).splitlines(keepends=True)[1:])
    assert [slot.name for slot in cron.states(table, made) if slot.state == "missing"] == ["checkpoint"]
    assert {slot.state for slot in cron.states(cron.installed(table, made), made)} == {"as installed"}


def test_lines_with_cr_and_blanks_behind_them_are_still_ours() -> None:
    made = plan(VAULT)
    table = cron.installed(b"x\n", made).replace(b"\n", b"\r\n")
    assert {slot.state for slot in cron.states(table, made)} == {"as installed"}
    assert cron.removed(table, made.id) == b"x\r\n"
