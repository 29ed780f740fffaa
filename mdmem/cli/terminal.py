"""The terminal: everything that is written to it or read from it passes here.

Owns stdin, stdout and stderr. Text comes in parts, so that what is style can be told from what is data: no part
is written that `screen.clean` has not seen. It must know nothing of memory; that is the part of `render`.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, Any, TextIO

from mdmem.text import screen

if TYPE_CHECKING:
    from mdmem.model import Progress

Part = str | tuple[str, str]
"""A piece of a line: text, or text and its style."""

BOLD, DIM, MARK, GOOD, BAD = "1", "2", "1;33", "32", "31"
ENDLESS = 1_000_000
"""The width of a pipe or a file: nothing is wrapped or cut."""

_data: TextIO | None = None  # the real stdout, while `own_streams` holds it


@contextmanager
def own_streams() -> Iterator[None]:
    """Keep stdout for the data of this program: what a child or a C library writes there goes to stderr."""
    global _data
    _open_missing()
    before = sys.stdout
    before.flush()
    fd = os.dup(1)
    os.dup2(2, 1)
    _data = sys.stdout = _writer(fd, before.encoding)
    try:
        yield
    finally:
        _close(_data)
        _data, sys.stdout = None, before
        os.dup2(fd, 1)
        os.close(fd)


def _writer(fd: int, encoding: str) -> TextIO:
    return open(fd, "w", encoding=encoding, errors="backslashreplace", newline="\n", closefd=False)


def _open_missing() -> None:
    """Put /dev/null where a standard stream is closed, or the next file opened would receive what is printed."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(fd) if fd == 0 else _writer(fd, "utf-8"))  # noqa: SIM115


def _close(stream: TextIO) -> None:
    """Write what is left; where nobody reads any more, drop it."""
    try:
        stream.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()


@contextmanager
def diverted() -> Iterator[None]:
    """Send to stderr what libraries print, while they work."""
    with redirect_stdout(sys.stderr):
        yield


def flush() -> None:
    """Write what is still kept back. Raises OSError."""
    _out().flush()


def descriptor() -> int:
    """Return the number of the real stdout, for a child that the person works with."""
    return _out().fileno()


def _out() -> TextIO:
    return _data or sys.stdout


# What it can do


def is_terminal(stream: TextIO | None = None) -> bool:
    """Tell whether a person looks at this stream, stdout unless another is named."""
    try:
        return (stream or _out()).isatty()
    except ValueError:  # closed
        return False


def name() -> str | None:
    """Return a name for the terminal and the session on it, None where there is no terminal."""
    for stream in (_out(), sys.stdin, sys.stderr):
        with suppress(OSError, ValueError):
            return f"{os.ttyname(stream.fileno())}:{os.getsid(0)}"
    return None


def columns() -> int:
    """Return how many columns a line may take: `COLUMNS`, else the terminal's, `ENDLESS` where there is none."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isascii() and wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if not is_terminal():
        return ENDLESS
    try:
        return os.get_terminal_size(_out().fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _coloured() -> bool:
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# Writing


def line(*parts: Part) -> None:
    """Write one line of data."""
    coloured = _coloured()
    _out().write("".join(_painted(part, coloured) for part in parts).rstrip(" ") + "\n")


def _painted(part: Part, coloured: bool) -> str:
    if isinstance(part, str):
        return screen.clean(part, one_line=True)
    text, style = screen.clean(part[0], one_line=True), part[1]
    return f"\x1b[{style}m{text}\x1b[0m" if coloured and style and text else text


def block(text: str) -> None:
    """Write lines of data as they are."""
    cleaned = screen.clean(text)
    _out().write(cleaned if cleaned.endswith("\n") else cleaned + "\n")


def exact(text: str) -> None:
    """Write lines of data for a program to read: byte by byte into a pipe or a file, as `block` does on a terminal."""
    if is_terminal():
        block(text)
    else:
        _out().flush()
        _out().buffer.write(os.fsencode(text))


def value(shape: Any) -> None:
    """Write one JSON value, on one line."""
    _out().write(_json(shape, _out()) + "\n")


def _json(shape: Any, stream: TextIO) -> str:
    utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    return screen.escape(json.dumps(shape, ensure_ascii=not utf8))


def note(text: str) -> None:
    """Say something on stderr, on one line."""
    _say(f"note: {screen.clean(text, one_line=True)}")


def log(text: str) -> None:
    """Show a line of a log on stderr."""
    _say(screen.clean(text, one_line=True))


def error(message: str, hint: str) -> None:
    """Say on stderr what happened and what to do, in two lines."""
    _say(f"error: {screen.clean(message, one_line=True)}\nhint: {screen.clean(hint, one_line=True)}")


def error_value(code: str, message: str, hint: str) -> None:
    """Say the same as one JSON object."""
    _say(_json({"error": {"code": code, "message": message, "hint": hint}}, sys.stderr))


def _say(text: str) -> None:
    with suppress(OSError, ValueError):  # nobody listens: there is no other place to complain
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


@contextmanager
def progress() -> "Iterator[Progress | None]":
    """Give a function that shows a bar on stderr once something takes over a second. None without a TTY."""
    if not is_terminal(sys.stderr):
        yield None
        return
    started = time.monotonic()
    bars: list[Any] = []

    def advance(doing: str, done: int, all_of_them: int) -> None:
        if not bars and time.monotonic() - started < 1:
            return
        if not bars:
            from rich import progress as rich
            from rich.console import Console

            bars.append(rich.Progress(console=Console(file=sys.stderr), transient=True))
            bars[0].start()
            bars[0].add_task(doing, total=all_of_them)
        bars[0].start()
        bars[0].update(bars[0].task_ids[0], description=doing, completed=done, total=all_of_them)
        if done >= all_of_them:
            bars[0].stop()  # before anything is printed below it

    try:
        yield advance
    finally:
        for bar in bars:
            bar.stop()


# Reading


def read() -> str:
    """Return all of stdin; bytes that are not UTF-8 stay what they are, as lone surrogates."""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def confirm(question: str) -> bool:
    """Ask a question that is answered by y or n; no answer is no."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{screen.clean(question, one_line=True)} [y/N] ")
        sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
