"""Units of systemd as text: read back by a parser after its manuals, and by systemd itself where it is at hand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from schedule_sandbox import PATHS, plan

from mdmem.errors import Refused
from mdmem.schedule import units
from mdmem.schedule.jobs import JOBS

HOSTILE = [*PATHS, "/new\nline", "/\n[Service]\nExecStart=/bin/false", "/ends in a backslash\\"]
SYSTEMD = Path("/lib/systemd/systemd")
ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "s": 32, "\\": 92, '"': 34, "'": 39}


def values(text: str) -> dict[str, list[str]]:
    """Read a unit as systemd.syntax(7) says: comments and sections apart, a final backslash joins lines."""
    found: dict[str, list[str]] = {}
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        if line and not line.startswith(("#", ";", "[")):
            key, sign, value = line.partition("=")
            assert sign, f"no assignment: {line!r}"
            found.setdefault(key.strip(), []).append(value.strip())
    return found


def words(value: str) -> list[str]:
    """Part a value into words: quotes, and escapes as in C, also inside of quotes."""
    found: list[str] = []
    for match in re.finditer(r'"((?:[^"\\]|\\.)*)"|(\S+)', value):
        raw = match[1] if match[1] is not None else match[2]
        found.append(re.sub(r"\\(x[0-9a-f]{2}|.)", _unescaped, raw))
    return found


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if code.startswith("x") else chr(ESCAPES[code])


def expanded(word: str) -> str:
    """Resolve specifiers; any but `%%` would be one that a path must not bring in."""
    assert not re.search(r"%[^%]", word.replace("%%", "")), word
    return word.replace("%%", "%")


def substituted(word: str) -> str:
    """Substitute variables as a command line does: `$$` is `$`, and there must be no other."""
    assert "$" not in word.replace("$$", ""), word
    return word.replace("$$", "$")


def command(text: bytes) -> list[str]:
    (value,) = values(text.decode())["ExecStart"]
    first, *rest = map(expanded, words(value))
    return [first, *map(substituted, rest)]


@pytest.mark.parametrize("path", HOSTILE)
def test_a_command_line_reads_back(path: str) -> None:
    made = plan(path, XDG_CONFIG_HOME=path)
    for job in JOBS:
        text = units.files(made)[units.name(job.name, made.id, "service")]
        assert command(text) == ["/opt/venv/bin/mdmem", f"--vault={path}", *job.words]
        environment = [expanded(word) for value in values(text.decode())["Environment"] for word in words(value)]
        assert environment == ["PATH=/usr/bin:/bin", f"XDG_CONFIG_HOME={path}"]


def test_a_program_with_a_dollar_is_started_by_a_shell() -> None:
    """In the first word, a path, systemd takes `$$` for what it is."""
    made = plan("/v", "/opt/$x/mdmem")
    text = units.files(made)[units.name("nightly", made.id, "service")]
    first, *rest = command(text)
    assert first == "/bin/sh" and rest[:3] == ["-c", 'exec "$0" "$@"', "/opt/$x/mdmem"]


@pytest.mark.parametrize("path", ["/\udcff", "/latin \udce9"])
def test_what_is_no_utf8_is_refused(path: str) -> None:
    with pytest.raises(Refused, match="UTF-8") as caught:
        units.files(plan(path))
    assert "--cron" in caught.value.hint


def test_timers_catch_up_once_and_services_are_gentle() -> None:
    made = plan("/v")
    found = {name: values(text.decode()) for name, text in units.files(made).items()}
    when = {job.name: found[units.name(job.name, made.id, "timer")] for job in JOBS}
    assert {name: timer["OnCalendar"] for name, timer in when.items()} == {
        "checkpoint": ["*-*-* *:20:00"],
        "nightly": ["*-*-* 03:00:00"],
        "verify": ["Sun *-*-* 04:30:00"],
    }
    assert all(timer["Persistent"] == ["true"] for timer in when.values())
    service = found[units.name("verify", made.id, "service")]
    assert service["Type"] == ["oneshot"] and service["SuccessExitStatus"] == ["11"]
    assert service["After"] == [f"mdmem-checkpoint-{made.id}.service mdmem-nightly-{made.id}.service"]


def test_a_unit_that_somebody_changed_is_known() -> None:
    made = plan("/v")
    (name, text), *_ = units.files(made).items()
    assert units.state(text, text) == "as installed"
    assert (
        units.state(text, units.files(plan("/v", "/new/mdmem"))[name.replace("timer", "service")]) == "another version"
    )
    assert units.state(text.replace(b"20:00", b"25:00"), text) == "changed by hand"
    assert units.state(b"", text) == units.state(b"\xff", text) == "changed by hand"
    assert units.state(None, text) == "missing"


@pytest.fixture
def own_systemd() -> Iterator[tuple[Path, list[str], dict[str, str]]]:
    """Give a folder for units, and how systemd is run for a user, for it does not for root, with its environment."""
    with tempfile.TemporaryDirectory(prefix="units-") as place:
        folder, home, runtime = (Path(place, name) for name in ("units", "home", "runtime"))
        Path(place).chmod(0o755)
        for each in (folder, home, runtime):
            each.mkdir()
        runtime.chmod(0o700)
        environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "PATH": os.environ["PATH"]}
        before: list[str] = []
        if not os.geteuid():
            before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            os.chown(runtime, 65534, 65534)
        yield folder, before, environment | {"SYSTEMD_UNIT_PATH": f"{folder}:"}


@pytest.mark.skipif(not SYSTEMD.exists() or not shutil.which("setpriv"), reason="systemd is not installed here")
def test_systemd_reads_the_same_command_lines(own_systemd: tuple[Path, list[str], dict[str, str]]) -> None:
    folder, before, environment = own_systemd
    plans = [plan(path, "/bin/echo") for path in HOSTILE]
    written = {name: text for made in plans for name, text in units.files(made).items()}
    for name, text in written.items():
        (folder / name).write_bytes(text)
    (folder / "all.target").write_text(f"[Unit]\nWants={' '.join(written)}\n")
    words = [*before, str(SYSTEMD), "--user", "--test", "--unit=all.target", "--log-target=console"]
    done = subprocess.run(words, env=environment, capture_output=True, timeout=60, check=False)
    if done.returncode:
        pytest.skip(f"systemd does not run here: {done.stderr[-200:]!r}")
    assert str(folder).encode() not in done.stderr  # where it names what it does not understand
    shown = {unescaped(line) for line in re.findall(rb"Command Line: (.*)", done.stdout)}
    for made in plans:
        vault = str(made.vault).replace("$", "$$")
        for job in JOBS:
            wanted = f"/bin/echo --vault={vault} {' '.join(job.words)}"
            assert wanted in shown, (wanted, shown)


def unescaped(line: bytes) -> str:
    r"""Undo how systemd shows the words of a command line: octal and C escapes, and quotes around a whole word."""

    def meant(found: re.Match[bytes]) -> bytes:
        code = found[1].decode()
        return bytes([int(code, 8) if code.isdigit() else ESCAPES.get(code, ord(code))]) if found[1] else b""

    return re.sub(rb'\\([0-7]{3}|.)|"', lambda found: meant(found) if found[1] else b"", line).decode()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed here")
def test_systemd_finds_nothing_to_complain_of(own_systemd: tuple[Path, list[str], dict[str, str]]) -> None:
    folder, before, environment = own_systemd
    for name, text in units.files(plan('/it\'s 50% "$x" \\ 花', "/bin/echo")).items():
        (folder / name).write_bytes(text)
    words = [*before, "systemd-analyze", "--user", "--man=no", "verify", *map(str, sorted(folder.iterdir()))]
    done = subprocess.run(words, env=environment, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
