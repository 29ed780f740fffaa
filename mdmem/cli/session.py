"""One run of a command: the vault it works on, what it has to say, and the numbers of the last list."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from mdmem import config
from mdmem.cli import terminal
from mdmem.errors import BadInput, MdmemError, NotFound, NoVault

if TYPE_CHECKING:
    from pathlib import Path

    from mdmem.model import Answer, Entry, Query
    from mdmem.vault import Vault

MOST = 1_000_000_000

TELLING = ("complete", "status", "mdmem")
"""Commands that say each time which settings are ignored, and the one that must say nothing."""


@contextmanager
def opened(command: str, explicit: str | None, as_json: bool = False, *, say: bool = True) -> Iterator[Vault]:
    """Open the vault that is meant, for `command`; at the end say what it has to say, unless the caller does.

    With `as_json`, a failure leaves stderr to the error, which is one JSON object.
    """
    from mdmem.vault import Vault

    with terminal.diverted(), terminal.progress() as progress:
        vault = Vault.open(explicit, command=command)
        if progress:
            vault.show_progress(progress)
        if vault.settings.findings and command not in TELLING:
            from mdmem.cli import render
            from mdmem.vault import preferences

            vault.notices += map(render.problem, preferences.untold(vault.settings, vault.place.state))
        try:
            yield vault
        except MdmemError:
            if say and not as_json:
                tell(vault.notices)
            raise
        if say:
            tell(vault.notices)


@contextmanager
def ending_as_by_hand() -> Iterator[None]:
    """Have a terminal that closes, or a `kill`, end what runs here as Ctrl-C does: with all that it has started."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    kinds = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(kind, end) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def root(explicit: str | None) -> Path | None:
    """Return the root of the vault that is meant; outside of any None. Raises NoVault for a named one that is none."""
    try:
        return config.find_vault(explicit=explicit)
    except NoVault:
        if explicit is not None:
            raise
        return None


def tell(notices: Iterable[str]) -> None:
    """Say each notice once."""
    for notice in dict.fromkeys(notices):
        terminal.note(notice)


def answer(query: Query, found: Path, settings: config.Settings) -> Answer:
    """Have a query answered by the process that watches the vault at `found`, or here where there is none.

    The numbers of the list are kept for this terminal. Raises what a search raises.
    """
    from mdmem.serve import client

    name = terminal.name()
    reply = client.search(found, settings, query, terminal=name)
    if reply.answer is not None:
        return reply.answer
    with opened("search", str(found), say=False) as vault:
        made = vault.search(query)
        show(vault, [hit.entry for hit in made.hits])
        notices = dict.fromkeys(filter(None, [reply.notice, *made.notices, *vault.notices]))
    return replace(made, notices=tuple(notices))


def moment(vault: Vault, text: str | None) -> datetime | None:
    """Return the moment that was typed; on a mere day, the present time of day. Raises BadInput."""
    if text is None:
        return None
    from mdmem.text import dates

    start, end = _span(vault.settings, text)
    whole = end - start >= timedelta(hours=23)  # a day may be short by the hour that summer time takes
    now = config.now(vault.settings)
    return datetime.combine(start, now.time(), now.tzinfo) if whole else dates.moment(text, now)


def since(settings: config.Settings, text: str | None) -> datetime | None:
    """Return the beginning of the day, month or minute that was typed. Raises BadInput."""
    return None if text is None else _span(settings, text)[0]


def until(settings: config.Settings, text: str | None) -> datetime | None:
    """Return the end of the day, month or minute that was typed: it belongs to what is asked for. Raises BadInput."""
    return None if text is None else _span(settings, text)[1]


def _span(settings: config.Settings, text: str) -> tuple[datetime, datetime]:
    from mdmem.text import dates  # its tables take a while, and most commands name no date

    try:
        return dates.span(text, config.now(settings))
    except ValueError as error:
        raise BadInput(f"{text!r} is no date or time", f"write {dates.EXAMPLES}") from error


def readable(text: str) -> str:
    """Return what was typed, with bytes that are no UTF-8 as U+FFFD: no text that is searched holds such."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def positive(number: int | None, option: str) -> int | None:
    """Return the number. Raises BadInput unless it is from 1 to a billion, which is more than any list has."""
    if number is not None and not 1 <= number <= MOST:
        bound = "1 or more" if number < 1 else f"{MOST:,} at most"
        raise BadInput(f"{option} must be {bound}, not {number}", f"leave {option} out for the usual")
    return number


def show(vault: Vault, entries: Sequence[Entry]) -> None:
    """Count that these are shown, and keep the numbers under which a terminal shows them."""
    use(vault, entries)
    name = terminal.name()
    if name is not None:
        vault.remember(name, [entry.address for entry in entries])


def use(vault: Vault, entries: Sequence[Entry]) -> None:
    """Count that these are shown."""
    from mdmem.vault import usage

    usage.note(vault.place, [entry.address for entry in entries])


def entry(vault: Vault, address: str | None, last: bool) -> Entry:
    """Return what is meant by an address, an id, a number of the last list, or --last. Raises NotFound, BadInput."""
    if (address is None) != last:
        raise BadInput("which entry is not clear", "give an ADDRESS, a number of the last list, or --last")
    if address is None:
        return vault.last()
    if not (address.isascii() and address.isdecimal()):
        return vault.get(address)
    name = terminal.name()
    try:
        if name is None:
            raise NotFound(f"there is no list here that {address} could be a number of", "give the address")
        meant = vault.recall(name, int(address))
    except NotFound:
        return _named_by_number(vault, address)
    return vault.get(meant)


def _named_by_number(vault: Vault, address: str) -> Entry:
    """A document may be called `2024`; where there is none, the missing number is what to complain of."""
    try:
        return vault.get(address)
    except NotFound:
        hint = "search or list first, or give the address"
        raise NotFound(f"nothing has the number {address} on this terminal", hint) from None
