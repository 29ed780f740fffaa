"""A command as the language model: what it is told, how it fails, and that nothing of it stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_llm import KEY, NOON, PROMPT, trouble, until

from mdmem import config
from mdmem.errors import BadInput, Missing, Refused
from mdmem.store import llm
from mdmem.store.llm import budget
from mdmem.store.llm.budget import Tally
from mdmem.store.lock import Lock

HEAD = f"#!{sys.executable}\nimport json, os, signal, subprocess, sys, time\n"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Give a function that writes a program and opens the model that it is; `{folder}` is a folder for its notes."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (tmp_path / "state").mkdir()
    (tmp_path / "vault").mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MDMEM_LLM_PROVIDER", "command")

    def write(text: str, words: str = "answerer", seconds: float = 60) -> Any:
        place = folder / "answerer"
        place.write_text(HEAD + text.replace("{folder}", str(folder)))
        place.chmod(0o755)
        monkeypatch.setenv("MDMEM_LLM_COMMAND", words)
        monkeypatch.setenv("MDMEM_LLM_TIMEOUT_S", str(seconds))
        return model(tmp_path)

    return write


def model(tmp_path: Path, root: str = "vault") -> Any:
    settings = config.load(tmp_path / root)
    state = tmp_path / "state"
    lock = Lock(state / "locks" / "llm.lock", command="test")
    return llm.open(settings, state=state, root=tmp_path / root, lock=lock, now=lambda: NOON)


def living(folder: Path, name: str) -> list[int]:
    """List the processes that a program noted there and that still run."""
    found = [int(word) for word in (folder / name).read_text().split()]
    return [pid for pid in found if Path(f"/proc/{pid}").exists() and state_of(pid) != "Z"]


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return "Z"


def test_it_reads_the_prompt_and_answers(command: Any, tmp_path: Path) -> None:
    asked = command("print(sys.stdin.read()[::-1], end='')", "answerer -p '--words with blanks' $HOME ~ *")
    got = asked.ask(PROMPT)
    assert got.text == PROMPT[::-1] and got.model == asked.name == "answerer" and got.guessed
    assert budget.read(tmp_path / "state", NOON.date()).today == Tally(
        1, got.tokens_in, got.tokens_out, got.tokens_in * 2
    )


def test_what_it_is_told_and_where_it_runs(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "kept")
    monkeypatch.chdir(tmp_path / "vault")
    asked = command(
        "sys.stdin.read()\n"
        "there, alone = os.listdir('.'), os.getsid(0) == os.getpid()\n"
        "print(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), there, alone]))",
        "answerer '' \"a 'b' c\" $HOME '*' ; rm",
    )
    words, place, environment, there, alone = json.loads(asked.ask(PROMPT).text)
    assert words == ["", "a 'b' c", "$HOME", "*", ";", "rm"]  # no shell
    assert environment["MINE"] == "kept" and environment["MDMEM_HOOKS"] == "off" and alone
    assert there == [] and not Path(place).exists()  # a folder of its own, gone by now
    for folder in (tmp_path / "vault", tmp_path / "state", Path.home()):
        assert not Path(place).is_relative_to(folder)
    assert KEY not in " ".join(words)


def test_large_prompts_and_large_answers_pass_each_other(command: Any) -> None:
    asked = command("for line in sys.stdin: sys.stdout.write(line.upper()); print('x' * 20, file=sys.stderr)")
    prompt = "line of a long prompt 热\n" * 8000
    assert asked.ask(prompt).text == prompt.upper()


def test_a_byte_at_a_time(command: Any) -> None:
    asked = command("data = sys.stdin.buffer.read()\nfor at in range(40): os.write(1, data[at:at + 1])")
    assert asked.ask("a热" * 10).text == "a热" * 10


FAILS: dict[str, tuple[str, str]] = {
    "exit status": ("sys.stdin.read(); print('half an answer'); sys.exit(3)", "ended with 3: half an answer"),
    "a complaint": (
        "sys.stdin.read(); print('a\\n\\x1b[31mno credit\\x07', file=sys.stderr); sys.exit(1)",
        "1: no credit",
    ),
    "a traceback": ("sys.stdin.read(); raise ValueError('broken pipes')", "ended with 1: ValueError: broken pipes"),
    "key and prompt repeated": (
        "print(sys.stdin.read(), os.environ['OPENAI_API_KEY'], file=sys.stderr); sys.exit(1)",
        "1: … …",
    ),
    "killed": ("sys.stdin.read(); os.kill(os.getpid(), signal.SIGKILL)", "was killed by signal 9"),
    "crashed": ("sys.stdin.read(); os.abort()", "was killed by signal 6"),
    "nothing": ("sys.stdin.read()", "gave an empty answer"),
    "blanks": ("sys.stdin.read(); print(' \\n\\t')", "gave an empty answer"),
    "no UTF-8": ("sys.stdin.read(); os.write(1, b'caf\\xe9')", "not UTF-8"),
    "a flood": ("while True: os.write(1, b'x' * 65536)", "more than 256 KiB"),
    "a flood of 300 KB": ("sys.stdin.read(); os.write(1, b'x' * 300_000)", "more than 256 KiB"),
    "a flood of complaints": (
        "sys.stdin.read()\nfor _ in range(999): os.write(2, b'x' * 9999)\nsys.exit(1)",
        "ended with 1: xxx",
    ),
    "stdin closed": ("os.close(0); time.sleep(0.2); print('I know best')", "before it had read the prompt"),
    "stdin half read": ("os.read(0, 9); print('I know best')", "before it had read the prompt"),
}


@pytest.mark.parametrize("name", FAILS)
def test_a_command_that_fails_is_an_error_that_says_so_and_nothing_else(name: str, command: Any) -> None:
    text, message = FAILS[name]
    error = trouble(command(text), PROMPT * 4000)  # more than a pipe holds
    assert message in error.message and error.message.startswith("answerer ")


HANGS: dict[str, str] = {
    "hangs": "time.sleep(600)",
    "hangs with an answer": "print('an answer', flush=True); time.sleep(600)",
    "closes all and hangs": "[os.close(fd) for fd in (0, 1, 2)]; time.sleep(600)",
    "will not be ended": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
    "stops": "os.kill(os.getpid(), signal.SIGSTOP)",
    "reads nothing": "time.sleep(600)",
    "talks on": "while True: print('.', end='', flush=True); time.sleep(0.05)",
    "has a child": "subprocess.run(['sleep', '600'])",
}
NOTE = "open('{folder}/pid', 'w').write(str(os.getpid()))\n"
CHILD = "child = subprocess.Popen(['sleep', '600'])\nopen('{folder}/pid', 'a').write(f' {child.pid}')\n"


@pytest.mark.parametrize("name", HANGS)
def test_a_command_that_hangs_is_ended_with_all_it_started(name: str, command: Any, tmp_path: Path) -> None:
    began = time.monotonic()
    error = trouble(command(NOTE + CHILD + HANGS[name], seconds=1), PROMPT * 4000)
    assert "in time" in error.message and time.monotonic() - began < 60
    until(lambda: not living(tmp_path / "programs", "pid"))  # killed, it still takes a moment to be gone


def test_what_it_leaves_behind_is_ended_and_not_waited_for(command: Any, tmp_path: Path) -> None:
    got = command(NOTE + CHILD + "sys.stdin.read(); print('an answer')").ask(PROMPT)
    assert got.text == "an answer\n" and got.seconds < 50  # the child keeps stdout open for 600 s
    until(lambda: not living(tmp_path / "programs", "pid"))  # killed, it still takes a moment to be gone


def test_what_a_child_says_at_once_still_counts(command: Any) -> None:
    asked = command("sys.stdin.read(); sys.stdout.write('a'); sys.stdout.flush(); subprocess.Popen(['echo', 'b'])")
    assert asked.ask(PROMPT).text == "ab\n"


def test_ctrl_c_ends_it_with_all_it_started(command: Any, tmp_path: Path) -> None:
    command(CHILD + NOTE.replace("'w'", "'a'").replace("str(", "' ' + str(") + "time.sleep(600)")
    code = "import sys; from test_llm_command import *; model(Path(sys.argv[1])).ask(PROMPT)"
    path = os.pathsep.join(sys.path)
    child = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path],
        cwd=Path(__file__).parent,
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )
    note = tmp_path / "programs" / "pid"
    until(lambda: note.exists() and len(note.read_text().split()) == 2)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert b"KeyboardInterrupt" in err
    until(lambda: not living(tmp_path / "programs", "pid"))


def test_it_has_the_name_that_the_user_gives_it(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_LLM_MODEL", "qwen2.5:7b")
    asked = command("sys.stdin.read(); sys.exit(2)", f"answerer --key {KEY}")
    assert asked.name == "qwen2.5:7b" and trouble(asked).message == "qwen2.5:7b ended with 2"


def test_what_is_no_program_cannot_be_started(command: Any, tmp_path: Path) -> None:
    asked = command("")
    (tmp_path / "programs" / "answerer").write_text("#!/no/such/interpreter\n")
    with pytest.raises(Missing, match="cannot be started: No such file"):
        asked.ask(PROMPT)


# Where a program may lie


def test_a_program_inside_the_vault_is_run_only_where_the_user_trusts_it(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("sys.stdin.read(); print('from outside')")
    inside = tmp_path / "vault" / "bin" / "answerer"
    inside.parent.mkdir()
    inside.write_text(HEAD + "sys.stdin.read(); print('from inside')")
    inside.chmod(0o755)
    (tmp_path / "programs" / "linked").symlink_to(inside)
    (tmp_path / "programs" / "way").symlink_to(tmp_path / "vault")
    for words in (str(inside), "linked", str(tmp_path / "programs" / "way" / "bin" / "answerer")):
        monkeypatch.setenv("MDMEM_LLM_COMMAND", words)
        with pytest.raises(Refused, match="inside of the vault"):
            model(tmp_path)
    monkeypatch.setenv("PATH", f"{inside.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("MDMEM_LLM_COMMAND", "answerer")
    with pytest.raises(Refused, match="inside of the vault"):
        model(tmp_path)


def test_a_program_is_not_found_by_where_one_is(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command("sys.stdin.read(); print('from outside')")
    planted = tmp_path / "vault" / "planted"
    planted.write_text(HEAD + "print('from inside')")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path / "vault")
    monkeypatch.setenv("MDMEM_LLM_COMMAND", "planted")
    for path in ("", ".", f".:{os.environ['PATH']}", f":{os.environ['PATH']}"):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(Missing, match="planted was not found"):
            model(tmp_path)
    for words in ("./planted", "bin/planted", "../vault/planted"):
        with pytest.raises(BadInput, match=r"found by PATH or named by an absolute path"):
            config.parse(config.BY_NAME["llm.command"], words)
