"""Commands that make memory: init, add."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mdmem.cli import editor, options, render, session, shapes, terminal
from mdmem.errors import BadInput, StorageFailed
from mdmem.model import Added, NewEntry
from mdmem.text import secrets

if TYPE_CHECKING:
    from mdmem.vault import Vault

KEYS = ("text", "at", "tags", "source", "id")


def init(
    folder: Annotated[str | None, typer.Argument(metavar="DIR", help="Where; the current folder if left out.")] = None,
    hooks: Annotated[bool, typer.Option("--hooks", help="Install the git hooks too.")] = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Make a vault, and a git repository if there is none.

    What is there already stays as it is: run it again at any time.

    \b
    Examples:
      mdmem init ~/memory
      mdmem init --hooks
    """
    from mdmem.config import expand
    from mdmem.vault import Vault

    with terminal.diverted():
        made, notices = Vault.init(expand(folder or vault or "."), hooks=hooks)
    if as_json:
        terminal.value({"vault": str(made.root), "notices": list(notices)})
    else:
        terminal.line(str(made.root))
        session.tell(notices)


def add(
    text: Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="The text; - reads it from stdin.")] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", "-t", autocompletion=options.complete_tags, metavar="TAG", help="Add #TAG; may be repeated."
        ),
    ] = None,
    at: Annotated[str | None, typer.Option(metavar="WHEN", help="When it was, instead of now.")] = None,
    source: Annotated[str | None, typer.Option(metavar="NAME", help="Where it comes from.")] = None,
    identity: Annotated[str | None, typer.Option("--id", metavar="ID", help="A name of its own.")] = None,
    batch: Annotated[str | None, typer.Option(metavar="FORM", help="Many entries from stdin: lines or jsonl.")] = None,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Add an entry to today's log and print its address.

    Without TEXT it is read from a pipe, or written in $EDITOR. Once this exits with 0, the text is safe.
    A batch has an entry on each line: plain text, or JSON with the keys text, tags, at, source, id.

    \b
    Examples:
      mdmem add "Prefers hot americano, half sugar" --tag coffee
      mdmem add --at "yesterday 14:30" Project planning moved to Thursday
      git log -1 --format=%s | mdmem add --source git
      mdmem add --batch jsonl < entries.jsonl
    """
    with session.opened("add", vault, as_json) as opened:
        common = NewEntry("", tuple(tag or ()), session.moment(opened, at), source, identity)
        if batch is not None:
            _add_batch(opened, common, batch, text or [], as_json)
        elif not text and sys.stdin.isatty():
            with editor.edited("") as typed:
                _add_one(opened, replace(common, text=typed), as_json)
        else:
            typed = " ".join(text) if text and text != ["-"] else terminal.read()
            _add_one(opened, replace(common, text=typed), as_json)


def _add_one(vault: "Vault", entry: NewEntry, as_json: bool) -> None:
    if not entry.text.strip():
        raise BadInput("there is no text to add", "give it as TEXT, or pipe it in")
    done = vault.add(entry.text, tags=entry.tags, at=entry.at, source=entry.source, id=entry.id)
    _show([done], as_json)
    _warn([entry])


def _add_batch(vault: "Vault", common: NewEntry, form: str, text: list[str], as_json: bool) -> None:
    if text not in ([], ["-"]) or common.id is not None:
        raise BadInput("a batch takes its entries from stdin", "leave out TEXT and --id")
    if form not in ("lines", "jsonl"):
        raise BadInput(f"there is no form {form} of a batch", "the forms are lines and jsonl")
    given: list[tuple[int, NewEntry]] = []
    try:
        # The vault checks each entry as it comes, and keeps none before it has seen all.
        done = vault.add_batch(_batch(vault, common, form, terminal.read(), given))
    except BadInput as error:
        hint = "" if error.hint.startswith("nothing") else f"{error.hint}; "
        raise BadInput(f"line {given[-1][0]}: {error.message}", f"{hint}nothing was added") from error
    _show(done, as_json)
    _warn([entry for _, entry in given])


def _batch(
    vault: "Vault", common: NewEntry, form: str, source: str, given: list[tuple[int, NewEntry]]
) -> Iterator[NewEntry]:
    """Yield an entry for each line that is not blank, and note in `given` which line it is. Raises BadInput."""
    for number, line in enumerate(source.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            given.append((number, common))
            text = line.rstrip("\r")
            entry = replace(common, text=text) if form == "lines" else _from_json(vault, common, line)
            given[-1] = (number, entry)
            yield entry


def _from_json(vault: "Vault", common: NewEntry, line: str) -> NewEntry:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"this is not JSON: {error}", "write one object on each line") from error
    if not isinstance(item, dict) or not set(item) <= set(KEYS):
        raise BadInput("this is no object with the known keys alone", f"the keys are {', '.join(KEYS)}")
    words = {key: item[key] for key in item if key != "tags" and item[key] is not None}
    tags = item.get("tags") or []
    if not _are_texts(words.values()) or not isinstance(tags, list) or not _are_texts(tags):
        raise BadInput("a value is no text", "tags is a list of texts, every other value a text")
    if not words.get("text", "").strip():
        raise BadInput("there is no text", 'write {"text": "…"}')
    return NewEntry(
        words["text"],
        common.tags + tuple(tags),
        session.moment(vault, words["at"]) if "at" in words else common.at,
        words.get("source", common.source),
        words.get("id"),
    )


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _warn(entries: list[NewEntry]) -> None:
    found = dict.fromkeys(kind for entry in entries for kind in secrets.kinds(entry.text))
    if found:
        terminal.note(f"this looks like {' and '.join(found)}; what is in git history stays there")


def _show(done: list[Added], as_json: bool) -> None:
    try:
        for each in done:
            if as_json:
                terminal.value(shapes.added(each))
            else:
                render.added(each)
        terminal.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"the text is kept, but where could not be printed: {error.strerror}"
        raise StorageFailed(message, "nothing to repeat; `mdmem show --last` shows it") from error
