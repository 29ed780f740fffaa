"""Where the program starts, and where every error ends.

Owns the list of commands, what the words of the command line mean before typer sees them, and the exit code. It
builds only the command that is asked for, and imports nothing that this does not need: each millisecond here is
waited for by every search.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Annotated, Any

import typer

from mdmem import config
from mdmem.cli import terminal
from mdmem.errors import BadInput, Busy, MdmemError, StorageFailed

COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("capture", "init"),
    "add": ("capture", "add"),
    "search": ("find", "search"),
    "show": ("memory", "show"),
    "list": ("memory", "list_"),
    "tags": ("memory", "tags"),
    "edit": ("memory", "edit"),
    "rm": ("memory", "rm"),
    "undo": ("history", "undo"),
    "commit": ("history", "commit"),
    "log": ("history", "log"),
    "diff": ("history", "diff"),
    "recover": ("recovery", "recover"),
    "conflicts": ("conflicts", "conflicts"),
    "unpack": ("archives", "unpack"),
    "checkpoint": ("distilling", "checkpoint"),
    "review": ("distilling", "review"),
    "nightly": ("nightly", "nightly"),
    "reindex": ("index", "reindex"),
    "watch": ("watching", "app"),
    "status": ("index", "status"),
    "doctor": ("health", "doctor"),
    "verify": ("health", "verify"),
    "eval": ("evaluation", "eval_"),
    "schedule": ("schedule", "app"),
    "config": ("settings", "app"),
    "model": ("models", "app"),
}
"""The module of each command and its name there, in the order of the help."""

HELP_NAMES = ["-h", "--help"]
UNEXPECTED, INTERRUPTED = 70, 130
UsageProblem: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command of these words, `sys.argv` by default, and return the exit code."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        with terminal.own_streams():
            return _guarded(words)
    except KeyboardInterrupt:
        return INTERRUPTED


def _guarded(words: list[str]) -> int:
    """Run the command; the one place where an error becomes words on stderr and an exit code."""
    try:
        code = _run(words)
        terminal.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        return 0
    except Busy as error:
        return error.exit_code if "--quiet" in _options(words) else _told(words, error)
    except MdmemError as error:
        return _told(words, error)
    except UsageProblem as error:
        return _fail(words, BadInput.code, BadInput.exit_code, _usage(error), _usage_hint(error))
    except OSError as error:
        place = f" {error.filename}" if error.filename else ""
        message = f"the system refused something{place}: {error.strerror or error}"
        return _fail(words, StorageFailed.code, StorageFailed.exit_code, message, "MDMEM_DEBUG=1 shows where")
    except Exception as error:
        message = f"this should not have happened: {type(error).__name__}: {error}"
        return _fail(words, "unexpected", UNEXPECTED, message, "MDMEM_DEBUG=1 shows where; please report it")
    return code


def _told(words: list[str], error: MdmemError) -> int:
    return _fail(words, error.code, error.exit_code, error.message, error.hint)


def _options(words: list[str]) -> list[str]:
    """Return the words among which options are: what follows `--` is text."""
    return words[: words.index("--")] if "--" in words else words


def _fail(words: list[str], code: str, exit_code: int, message: str, hint: str) -> int:
    if config.debugging():
        import traceback

        traceback.print_exc()
    if "--json" in _options(words):
        terminal.error_value(code, message, hint)
    else:
        terminal.error(message, hint or "`mdmem --help` shows what there is")
    return exit_code


# What was typed


def _run(words: list[str]) -> int:
    if "_MDMEM_COMPLETE" in os.environ:
        _built(COMMANDS).main(prog_name="mdmem")
    place = _place(words)
    wanted = words[place] if place < len(words) else None
    command = _built(_needed(wanted, words))
    if wanted in ("search", "add"):
        words = _arranged(words, place, command.commands[wanted])
    try:
        with command.make_context("mdmem", [*words]) as context:
            return command.invoke(context) or 0
    except typer.Exit as leave:  # after --help
        return leave.exit_code


def _place(words: Sequence[str]) -> int:
    """Return where the command stands among the words; behind them all where there is none."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--vault" else 1
    return at


def _needed(wanted: str | None, words: Sequence[str]) -> Iterable[str]:
    """Name the commands to build: the one that is asked for, none for today's log, all to list or to guess from."""
    if wanted is None:
        return COMMANDS if set(words) & set(HELP_NAMES) else ()
    return [wanted] if wanted in COMMANDS else COMMANDS


def _arranged(words: list[str], place: int, command: Any) -> list[str]:
    """Put what is text after `--`, so that a word of it may begin with a dash.

    In a query that is every word with one dash but `-k` and `-h`; in an entry it is a quoted text with spaces.
    """
    valued = {each for option in command.params if not getattr(option, "is_flag", True) for each in option.opts}
    kept, text = words[: place + 1], list[str]()
    rest = iter(words[place + 1 :])
    for word in rest:
        if word == "--":
            text += rest
        elif _is_text(word, words[place]):
            text.append(word)
        else:
            kept.append(word)
            if word in valued:
                kept += islice(rest, 1)
    return [*kept, "--", *text] if text else kept


def _is_text(word: str, name: str) -> bool:
    if not word.startswith("-"):
        return True
    if name == "add":
        return word == "-" or " " in word.partition("=")[0]
    return not word.startswith("--") and not re.fullmatch("-h|-k[0-9]*", word)


def _usage(error: Any) -> str:
    """Return what typer says, as the first line of an error."""
    text = " ".join(error.format_message().split()).rstrip(".")
    return text[:1].lower() + text[1:]


def _usage_hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "mdmem"
    option = getattr(error, "option_name", None)
    if context and context.info_name in ("search", "add") and type(error).__name__ == "NoSuchOption":
        return f"after -- any word is text: `{path} -- {option}`; `{path} --help` shows the options"
    return f"see `{path} --help`"


# The commands


def _built(names: Iterable[str]) -> Any:
    """Return the program with these commands."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, invoke_without_command=True)
    app.callback(context_settings={"help_option_names": HELP_NAMES})(mdmem)
    for name in names:
        module, attribute = COMMANDS[name]
        made = getattr(import_module(f"mdmem.cli.{module}"), attribute)
        if isinstance(made, typer.Typer):
            app.add_typer(made, name=name)
        else:
            app.command(name)(made)
    command = typer.main.get_command(app)
    _lighten(command)
    return command


def mdmem(
    ctx: typer.Context,
    vault: Annotated[
        str | None, typer.Option("--vault", metavar="DIR", help="The vault, instead of the one around here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print today's log as JSON.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """The memory you can read: Markdown files under git, with search.

    Without a command it shows today's log.

    \b
    Examples:
      mdmem init ~/memory
      mdmem add "Prefers hot americano, half sugar" --tag coffee
      mdmem search coffee
    """
    if version:
        terminal.line(f"mdmem {_version()}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        from mdmem.cli import memory

        memory.today(vault, as_json)


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("mdmem")
    except metadata.PackageNotFoundError:
        return "(not installed)"


@dataclass(frozen=True, slots=True)
class Plain:
    """How a word becomes a value: as it is, or as a whole number."""

    whole: bool

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None and (getattr(param, "multiple", False) or param.nargs == -1):
            return ()
        if self.whole and isinstance(value, str):
            try:
                return int(value)
            except ValueError:
                raise typer.BadParameter(f"{value!r} is no whole number", ctx=ctx, param=param) from None
        return value


def _lighten(command: Any) -> None:
    """Keep typer from loading pydantic (60 ms), which it does to convert even a text to a text.

    Versions of typer that convert by other means have no such attribute, and stay as they are.
    """
    command.get_help_option(typer.Context(command, help_option_names=HELP_NAMES))
    for param in (*command.params, getattr(command, "_help_option", None)):
        if getattr(param, "_runtime_param", "none") is None:
            param._runtime_param = Plain(whole=param.type_descriptor.annotation is int)
    for below in getattr(command, "commands", {}).values():
        _lighten(below)
