"""Commands on entries and documents: show, list, tags, edit, rm, and what `mdmem` alone shows."""

import hashlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mdmem.cli import editor, options, render, session, shapes, terminal
from mdmem.errors import BadInput, Conflicted, Refused
from mdmem.model import Change, Entry
from mdmem.text import screen

if TYPE_CHECKING:
    from mdmem.vault import Vault


def today(vault: str | None, as_json: bool) -> None:
    """Show today's log, and one line about what needs attention."""
    with session.opened("mdmem", vault, as_json) as opened:
        path, entries = opened.today()
        attention = opened.attention()
        if as_json:
            log = [shapes.entry(entry) for entry in entries]
            terminal.value({"path": path, "entries": log, "attention": list(attention)})
        else:
            render.today(path, entries, attention)


def show(
    address: options.Address = None,
    last: options.Last = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Show an entry or document.

    A character that is not visible is written as <U+202E>; `--json` has the text as it is. What `mdmem edit -` is given
    may be either.

    \b
    Examples:
      mdmem show daily/2026-11-29#14:30
      mdmem show 2
      mdmem show --last
    """
    with session.opened("show", vault, as_json) as opened:
        entry = session.entry(opened, address, last)
        session.use(opened, [entry])
        if as_json:
            terminal.value(shapes.entry(entry))
        else:
            render.entry(entry)


def list_(
    k: options.Count = None,
    page: options.Page = 1,
    since: options.Since = None,
    until: options.Until = None,
    tag: options.Tags = None,
    within: options.Within = None,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """List entries and documents, newest first.

    Exits with 1 when there are none.

    \b
    Examples:
      mdmem list -k 20
      mdmem list --since 2026-11-01 --tag movies --json
    """
    with session.opened("list", vault, as_json) as opened:
        entries = opened.list(
            k=session.positive(k, "-k"),
            page=session.positive(page, "--page") or 1,
            tags=tuple(map(session.readable, tag or ())),
            within=None if within is None else opened.resolve_path(within),
            since=session.since(opened.settings, since),
            until=session.until(opened.settings, until),
        )
        session.show(opened, entries)
        if as_json:
            terminal.value({"entries": [shapes.entry(entry) for entry in entries]})
        elif entries:
            render.entries(entries)
        else:
            terminal.note("nothing found")
    return 0 if entries else 1


def tags(as_json: options.Json = False, vault: options.Vault = None) -> None:
    """List all tags with how often they are used.

    \b
    Example:
      mdmem tags
    """
    with session.opened("tags", vault, as_json) as opened:
        counts = opened.tags()
        if as_json:
            terminal.value(shapes.tags(counts))
        else:
            render.tags(counts)


def edit(
    address: options.Address = None,
    text: Annotated[str | None, typer.Argument(metavar="-", help="Take the new text from stdin.")] = None,
    assign: Annotated[
        str | None, typer.Option("--set", metavar="KEY=VALUE", help="Set one field; KEY= removes it.")
    ] = None,
    last: options.Last = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> None:
    """Edit an entry or document in $EDITOR.

    \b
    Examples:
      mdmem edit 2
      mdmem edit daily/2026-11-29#14:30 --set source=meeting
      echo "New text" | mdmem edit daily/2026-11-29#14:30 -
    """
    if last and address == "-":
        address, text = None, "-"
    if text not in (None, "-") or (text and assign):
        raise BadInput("the new text comes from stdin or the editor", "write - for stdin, nothing for the editor")
    with session.opened("edit", vault, as_json) as opened:
        entry = session.entry(opened, address, last)
        if assign is not None:
            change: Change | None = _set_field(opened, entry, assign)
        elif text is not None:
            change = _replace(opened, entry, _as_it_is(entry, terminal.read()))
        elif not sys.stdin.isatty():
            raise BadInput("there is no terminal for an editor", "write - after the address to read stdin")
        else:
            change = _edit_by_hand(opened, entry)
        _show(change, as_json)


def _as_it_is(entry: Entry, text: str) -> str:
    """Return a text that may come from `show`, with the characters that this writes as `<U+202E>`. Raises Refused."""
    found = screen.uncleaned(text, entry.text)
    if found is None:
        what = f"{entry.address} holds characters that are not visible, and what `show` writes for them as well"
        raise Refused(what, f"pipe the text of `mdmem show {entry.address} --json`; nothing was changed")
    return found


def _set_field(vault: "Vault", entry: Entry, assign: str) -> Change:
    key, equals, value = assign.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"{assign} sets nothing", "write --set KEY=VALUE, or KEY= to remove it")
    return vault.set_field(_pinned(entry), key.strip(), value or None)


def _edit_by_hand(vault: "Vault", entry: Entry) -> Change | None:
    given = entry.text if entry.text.endswith("\n") else entry.text + "\n"  # editors end the last line anyway
    conflict: Conflicted | None = None
    with editor.edited(given) as typed:
        try:
            return None if typed == given else _replace(vault, entry, typed)
        except Conflicted as error:  # what was typed is kept there: the editor's file may go
            conflict = error
    raise conflict


def _replace(vault: "Vault", entry: Entry, text: str) -> Change | None:
    if not text.strip():
        raise BadInput(f"an empty text would remove {entry.address}", f"if so, use `mdmem rm {entry.address}`")
    if not entry.text.endswith("\n"):
        text = text.rstrip("\n")
    if text in (entry.text, entry.text.replace("\r\n", "\n")):
        return None
    return vault.edit(entry.address, text, was=entry.text)


def rm(
    address: options.Address = None,
    last: options.Last = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Delete an entry or document; `mdmem undo` brings it back.

    \b
    Examples:
      mdmem rm 2
      mdmem rm daily/2026-11-29#14:30 --yes
    """
    with session.opened("rm", vault, as_json) as opened:
        entry = session.entry(opened, address, last)
        if not yes and not sys.stdin.isatty():
            raise BadInput("there is nobody here to ask", f"add --yes to delete {entry.address}")
        if not yes and not terminal.confirm(f"Delete {entry.address} ({render.summary(entry)})?"):
            terminal.note("nothing was deleted")
            return 1
        _show(opened.remove(_pinned(entry)), as_json)
    return 0


def _pinned(entry: Entry) -> str:
    """Return the address of this very text: should it have become another meanwhile, the vault refuses."""
    digest = hashlib.sha256(entry.text.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{entry.address}@{digest[:6]}"


def _show(change: Change | None, as_json: bool) -> None:
    if change is None:
        terminal.note("nothing was changed")
    if as_json:
        terminal.value({"change": None if change is None else shapes.change(change)})
    elif change is not None:
        render.done(change)
