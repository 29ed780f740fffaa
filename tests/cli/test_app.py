"""The program from outside, without a vault: help, what words mean, exit codes, errors in two lines, broken streams."""

import json
import os
import subprocess
import sys

import pytest

from mdmem import config
from mdmem.cli import app

MDMEM = [sys.executable, "-m", "mdmem"]


def built(name):
    return app._built([name]).commands[name]


def test_every_command_has_help_with_an_example(run):
    shown = run("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    for name in app.COMMANDS:
        assert f"\n  {name} " in shown.stdout
        assert f"  mdmem {name}" in (built(name).help or "").replace("\x08", ""), name


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_command_names_the_vault_and_prints_json(name):
    commands = getattr(built(name), "commands", {name: built(name)})
    for command in commands.values():
        assert {"vault", "as_json"} <= {param.name for param in command.params}


def test_whatever_asks_has_yes():
    assert "--yes" in {option for param in built("rm").params for option in param.opts}


@pytest.mark.parametrize("line", ["--help", "search --help", "search x", "config list", "add x", "--version", ""])
def test_starting_loads_nothing_heavy(line, environment, folder):
    words = line.split()
    heavy = ["pydantic", "rich", "whoosh", "git", "tomllib", "tomlkit", "yaml", "frontmatter", "zstandard"]
    heavy += ["mdmem.distill", "mdmem.text.extract"] if "x" in words or not words else ["sqlite3", "mdmem.vault"]
    heavy += ["mdmem.cli.schedule", "mdmem.cli.find"] if line in ("", "--version") else []
    code = (
        "import sys; from mdmem.cli.app import main; main(sys.argv[1:]);"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr.strip().split("\n")[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["search", "coffee", "-tea"], ["search", "--", "coffee", "-tea"]),
        (["search", "-tea", "coffee", "-k", "5", "--json"], ["search", "-k", "5", "--json", "--", "-tea", "coffee"]),
        (["search", "a", "-k5"], ["search", "-k5", "--", "a"]),
        (["search", "-kilo", "-5"], ["search", "--", "-kilo", "-5"]),
        (["search", "a", "--since", "-x", "b"], ["search", "--since", "-x", "--", "a", "b"]),
        (["search", "a", "--", "--json", "-k"], ["search", "--", "a", "--json", "-k"]),
        (["search", "-h"], ["search", "-h"]),
        (["--vault", "search", "search", "-x"], ["--vault", "search", "search", "--", "-x"]),
        (["search", "a", "--vault=/v"], ["search", "--vault=/v", "--", "a"]),
        (["search", "-"], ["search", "--", "-"]),
        (["add", "-5 degrees", "-t", "cold"], ["add", "-t", "cold", "--", "-5 degrees"]),
        (["add", "--source=my tool", "x"], ["add", "--source=my tool", "--", "x"]),
        (["add", "-"], ["add", "--", "-"]),
    ],
)
def test_a_dash_belongs_to_the_text_or_to_an_option(words, meant):
    place = app._place(words)
    assert app._arranged(words, place, built(words[place])) == meant


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ([], 0),
        (["--help"], 1),
        (["search", "x"], 0),
        (["--vault", "list", "add"], 2),
        (["--vault=list", "--json", "log"], 2),
        (["unknown"], 0),
    ],
)
def test_the_command_is_found_among_the_words(words, place):
    assert app._place(words) == place


@pytest.mark.parametrize(
    ("words", "said", "told"),
    [
        (["serach", "x"], "no such command 'serach'", "mdmem --help"),
        (["search"], "missing argument 'query'", "mdmem search --help"),
        (["search", "x", "--dry-run"], "no such option: --dry-run", "mdmem search -- --dry-run"),
        (["search", "x", "-k", "many"], "invalid value for '-k': 'many'", "mdmem search --help"),
        (["list", "--nothing"], "no such option: --nothing", "mdmem list --help"),
        (["config", "frob"], "no such command 'frob'", "mdmem config --help"),
        (["config", "get", "serch.k"], "there is no setting serch.k", "search.k"),
    ],
)
def test_a_usage_error_is_two_lines_and_exit_2(run, words, said, told):
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert first.startswith("error: ") and said in first.lower()
    assert second.startswith("hint: ") and told in second
    done = run(*words, "--json") if "--nothing" not in words else run("list", "--json", "--nothing")
    shape = json.loads(done.stderr)
    assert list(shape) == ["error"] and list(shape["error"]) == ["code", "message", "hint"]
    assert (shape["error"]["code"], done.stdout) == ("usage", "")


def test_no_vault_is_exit_10_and_says_how_to_make_one(run):
    for words in (["config", "path"], ["config", "set", "search.k", "3"]):
        done = run(*words)
        assert done.returncode == 10
        assert "mdmem init" in done.stderr


def test_a_vault_may_be_named_before_or_after_the_command(run, folder):
    root = folder / "elsewhere"
    root.mkdir()
    (root / "mdmem.toml").write_text("[search]\nk = 3\n")
    for words in (
        ["--vault", str(root), "config", "get", "search.k"],
        ["config", "get", "search.k", "--vault", str(root)],
    ):
        assert run(*words).stdout == "3\n"
    done = run("--vault", str(folder), "config", "get", "search.k", "--vault", str(root))
    assert done.stdout == "3\n"


def test_settings_are_set_where_they_belong(run, folder):
    (folder / "mdmem.toml").write_text("# mine\n[search]\nk = 3 # few\n")
    assert run("config", "set", "search.k", "4").returncode == 0
    assert (folder / "mdmem.toml").read_text() == "# mine\n[search]\nk = 4 # few\n"
    assert run("config", "set", "--user", "search.k", "5").returncode == 0
    assert (folder.parent / "home" / ".config" / "mdmem" / "config.toml").read_text().strip() == "[search]\nk = 5"
    shape = json.loads(run("config", "get", "search.k", "--json").stdout)
    assert (shape["value"], shape["origin"]) == (4, "vault")
    shape = json.loads(run("config", "list", "--json", env={"MDMEM_SEARCH_K": "6"}).stdout)
    assert {"name": "search.k", "value": 6, "origin": "environment"}.items() <= shape["settings"][2].items()


def test_a_setting_that_another_source_overrules_is_said(run, folder):
    (folder / "mdmem.toml").write_text("")
    done = run("config", "set", "search.k", "4", env={"MDMEM_SEARCH_K": "6"})
    assert "the environment sets search.k to 6" in done.stderr


def test_settings_of_a_cloned_vault_cannot_name_the_users_vault(run, folder):
    (folder / "mdmem.toml").write_text('[vault]\ndefault = "/etc"\n')
    done = run("config", "list")
    assert "mdmem.toml:2" in done.stderr
    assert run("config", "get", "vault.default").stdout == "\n"
    assert run("config", "set", "vault.default", "/etc").returncode == 2


# Streams


def test_a_closed_stdout_is_no_error(run):
    done = run(
        "config", "list", stdout=None, capture_output=False, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1)
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_all_streams_closed_is_no_error(run):
    done = run("config", "list", capture_output=False, stdin=None, preexec_fn=lambda: os.closerange(0, 3))
    assert done.returncode == 0


def test_a_reader_that_goes_away_ends_it_quietly(environment):
    keep, give = os.pipe()
    os.close(keep)
    done = subprocess.run([*MDMEM, "config", "list"], stdout=give, stderr=subprocess.PIPE, env=environment, check=False)
    os.close(give)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_behind_stdout_is_said(run):
    with open("/dev/full", "w") as full:
        done = run("config", "list", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 14
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
@pytest.mark.parametrize("encoding", ["", "ascii", "latin-1"])
def test_no_locale_breaks_it(run, folder, locale, encoding):
    (folder / "mdmem.toml").write_text('roots = ["日记", "résumé"]\n')
    env = {"LC_ALL": locale, "PYTHONIOENCODING": encoding}
    assert run("config", "list", env=env).returncode == 0
    shape = json.loads(run("config", "get", "roots", "--json", env=env).stdout)
    assert shape["value"] == ["日记", "résumé"]
    assert run("config", "get", "日记", env=env).returncode == 2


def test_output_in_a_pipe_is_plain(run):
    done = run("config", "list", env={"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"})
    assert "\x1b" not in done.stdout + done.stderr


def test_what_others_print_does_not_reach_stdout(capfd):
    from mdmem.cli import terminal

    with terminal.own_streams():
        with terminal.diverted():
            print("from a library")
            subprocess.run(["echo", "from a child"], check=True)
            terminal.value({"a": 1})
        terminal.flush()
    shown = capfd.readouterr()
    assert json.loads(shown.out) == {"a": 1}
    assert "from a library" in shown.err and "from a child" in shown.err


def test_an_unexpected_error_is_two_lines_and_a_traceback_only_when_asked_for(environment):
    code = "import sys; from mdmem.cli import app; app._run = lambda words: 1 / 0; sys.exit(app.main(['list']))"
    for debug in ("", "1"):
        env = {**environment, "MDMEM_DEBUG": debug}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 70
        assert ("Traceback" in done.stderr) == bool(debug)
        assert done.stderr.splitlines()[-2].startswith("error: ") and "MDMEM_DEBUG=1" in done.stderr.splitlines()[-1]


def test_an_interrupt_is_exit_130(environment):
    code = (
        "import sys, os, signal; from mdmem.cli import app;"
        "app._run = lambda words: os.kill(os.getpid(), signal.SIGINT); sys.exit(app.main(['list']))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


# Completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_there(run, shell):
    done = run(env={"_MDMEM_COMPLETE": f"source_{shell}"})
    assert "mdmem" in done.stdout and done.returncode == 0


def test_commands_and_options_are_completed(run):
    def offered(words):
        env = {"_MDMEM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
        return run(env=env).stdout.split()

    assert offered("mdmem se") == ["search"]
    assert offered("mdmem config ") == ["get", "set", "list", "path", "trust"]
    assert offered("mdmem config get search.b") == ["search.bm25_k1", "search.bm25_b"]
    names = [setting.name for setting in config.TABLE if setting.name.startswith("sea")]
    assert offered("mdmem config get sea") == names and len(names) > 5
    assert "--since" in offered("mdmem list --s")
    assert offered("mdmem show dai") == []
