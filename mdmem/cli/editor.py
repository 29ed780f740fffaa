"""The person's own editor: opens a text in it and gives back what was saved.

Owns the temporary file. It must never lose what was typed: the file goes only when the caller says it was taken.
"""

import errno
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmem import fsio
from mdmem.cli import terminal
from mdmem.errors import MdmemError, Missing, Refused


@contextmanager
def edited(text: str) -> Iterator[str]:
    """Let the person edit `text` and give the result. If the block fails, the file is kept and the error names it.

    Raises Missing where there is no editor, Refused where it fails, StorageFailed.
    """
    path = _begun(text)
    try:
        _run(path)
        yield path.read_bytes().decode("utf-8", "surrogateescape")
    except BaseException as error:
        _keep(path, text, error)
        raise
    path.unlink(missing_ok=True)


def _begun(text: str) -> Path:
    """Make the file. Raises StorageFailed."""
    folder = tempfile.gettempdir()
    with fsio.telling("write to", folder):
        handle, name = tempfile.mkstemp(prefix="mdmem-", suffix=".md", dir=folder)  # 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_encoded(text))
        except OSError:
            os.unlink(name)
            raise
    return Path(name)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _keep(path: Path, text: str, error: BaseException) -> None:
    """Remove the file if it holds nothing, or nothing new, else say where it is."""
    left = path.read_bytes() if path.exists() else b""
    if not left.strip() or left == _encoded(text):
        path.unlink(missing_ok=True)
    elif isinstance(error, MdmemError):
        error.hint = f"{error.hint}; your text is kept in {path}".removeprefix("; ")
    else:
        terminal.note(f"your text is kept in {path}")


def _run(path: Path) -> None:
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        program, *words = shlex.split(command) or ["vi"]
        child = subprocess.Popen([_found(program), *words, str(path)], stdout=terminal.descriptor())
    except (OSError, ValueError) as error:
        why = "there is no such program" if isinstance(error, FileNotFoundError) else fsio.why(error)
        raise Missing(f"the editor {command!r} cannot be started: {why}", "set EDITOR to one that is there") from error
    code = _wait(child)
    if code != 0:
        raise Refused(f"the editor {command!r} failed with exit code {code}", "nothing was changed; try again")


def _found(program: str) -> str:
    """Look a program up as a shell does, but never in a relative part of PATH: that would be the vault."""
    search = os.pathsep.join(filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep)))
    found = shutil.which(program, path=search)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
    return found


def _wait(child: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # meant for the editor, which got it as well
            continue
