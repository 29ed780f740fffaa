"""A command that reads a prompt on its standard input and writes the answer: `claude -p`, `llm`, `ollama run …`.

Owns which program that is, where it runs and what it is told. It must never run by a shell, in a vault, or out of one
that the user does not trust.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path

from mdmem import config
from mdmem.config import Settings
from mdmem.errors import Missing, Refused
from mdmem.store.llm import answer, discretion, talk
from mdmem.store.llm.answer import LIMIT, Answer
from mdmem.store.llm.failure import Failure
from mdmem.store.llm.talk import Heard

QUIET = "MDMEM_HOOKS"
"""Set to `off` for the command: hooks that would have mdmem remember what is said there do nothing then."""

SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
"""What the names of variables say that hold what must not be repeated."""


class Command:
    """A program and its words. Raises Missing where there is none, Refused for one inside of `fence`."""

    __slots__ = ("_words", "name")

    def __init__(self, settings: Settings, *, fence: Path | None) -> None:
        words = shlex.split(settings.text("llm.command"))
        if not words:
            raise Missing("no command is named that is the language model", "`mdmem config set --user llm.command …`")
        program = _found(os.path.expanduser(words[0]), config.environment().get("PATH", os.defpath))
        if fence is not None and _is_inside(program, fence):
            hint = "move it elsewhere: what is in a vault may change with every pull"
            raise Refused(f"{program} is inside of the vault, and is not run", hint)
        self._words = [program, *words[1:]]
        self.name = called(settings)

    def attempt(self, prompt: str, seconds: float) -> Answer:
        """Have the prompt answered within so many seconds. Raises Failure, Missing."""
        environment = config.environment()
        told = environment | {QUIET: "off"}
        try:
            # Not in the vault, nor in STATE, from where programs look upwards for instructions to follow.
            with tempfile.TemporaryDirectory(prefix="mdmem-", ignore_cleanup_errors=True) as folder:
                heard = talk.run(self._words, prompt.encode(), folder=folder, environment=told, seconds=seconds)
        except OSError as error:  # a file that is no program, its interpreter missing, no memory
            hint = "look whether it runs in a shell"
            raise Missing(f"{self._words[0]} cannot be started: {error.strerror}", hint) from error
        secrets = [value for name, value in environment.items() if len(value) > 5 and _is_secret(name)]
        return Answer(answer.checked(self._judged(heard, prompt, secrets), self.name))

    def _judged(self, heard: Heard, prompt: str, secrets: list[str]) -> str:
        if heard.is_late:
            hint = "the next run tries again; `mdmem config set --user llm.timeout_s …` has it wait longer"
            raise Failure(f"{self.name} did not answer in time", hint)
        if len(heard.out) > LIMIT:
            raise Failure(f"{self.name} answered with more than {LIMIT // 1024} KiB", "no answer of use is as long")
        if heard.status != 0:
            raise self._failed(heard, prompt, secrets)
        if heard.unread:
            raise Failure(f"{self.name} ended before it had read the prompt", "it must read all of its standard input")
        try:
            return heard.out.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Failure(f"{self.name} answered with what is not UTF-8") from error

    def _failed(self, heard: Heard, prompt: str, secrets: list[str]) -> Failure:
        """Repeat the last thing it said: on stderr, or where some programs complain, in place of the answer."""
        said = (heard.err.strip() or heard.out.strip()[: discretion.READ]).decode("utf-8", "ignore")
        last = said.rpartition("\n")[2]
        shown = discretion.told(last, secrets=secrets, prompt=prompt)
        how = f"was killed by signal {-heard.status}" if heard.status < 0 else f"ended with {heard.status}"
        hint = "look whether it runs in a shell; the next run tries again"
        return Failure(f"{self.name} {how}" + (f": {shown}" if shown else ""), hint)


def called(settings: Settings) -> str:
    """Return what to call it: as the user does, else by its program. Its other words may hold anything."""
    words = shlex.split(settings.text("llm.command"))
    return settings.text("llm.model") or os.path.basename(words[0] if words else "")


def _found(program: str, path: str) -> str:
    """Return the absolute path of a program. Raises Missing."""
    if os.path.isabs(program):
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return program
        raise Missing(f"there is no program {program}", "look at llm.command")
    for folder in path.split(os.pathsep):
        place = os.path.join(folder, program)
        # A relative part of PATH leads into whatever folder one is in.
        if os.path.isabs(folder) and os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    raise Missing(f"the program {program} was not found", "install it, add its folder to PATH, or look at llm.command")


def _is_inside(program: str, folder: Path) -> bool:
    real = Path(os.path.realpath(folder))
    return any(Path(place).is_relative_to(real) for place in (os.path.realpath(program), os.path.abspath(program)))


def _is_secret(name: str) -> bool:
    return any(word in name.upper() for word in SECRETS)
