"""Commands that find: search."""

from typing import Annotated, get_args

import typer

from mdmem import config
from mdmem.cli import options, render, session, shapes, terminal
from mdmem.errors import BadInput
from mdmem.model import Answer, Mode, Query


def search(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.", show_default=False)],
    k: options.Count = None,
    mode: Annotated[str, typer.Option(metavar="MODE", help="hybrid, keyword or semantic.")] = "hybrid",
    since: options.Since = None,
    until: options.Until = None,
    tag: options.Tags = None,
    within: options.Within = None,
    page: options.Page = 1,
    max_chars: Annotated[int | None, typer.Option(metavar="N", help="Bound the texts' length together.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Only passages with exactly these words.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each hit is where it is.")] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Rank anew what a running mdmem has just ranked.")
    ] = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Search memory and print the best hits, numbered.

    A word with one dash belongs to the query (-tea leaves out tea); after -- every word does.
    `mdmem show 2` then shows the second hit. Exits with 1 when nothing was found.

    \b
    Examples:
      mdmem search coffee order
      mdmem search '"half sugar"' --since 2026-11-01 -k 3
      mdmem search tag:movies -horror --json
    """
    found = config.find_vault(explicit=vault)
    settings = config.load(found)
    query = Query(
        session.readable(" ".join(words)),
        k=session.positive(k, "-k") or settings.whole("search.k"),
        mode=_mode(mode),
        since=session.since(settings, since),
        until=session.until(settings, until),
        tags=tuple(map(session.readable, tag or ())),
        within=within,
        page=session.positive(page, "--page") or 1,
        max_chars=session.positive(max_chars, "--max-chars"),
        exact=exact,
        fresh=no_cache,
    )
    answer = session.answer(query, found, settings)
    notices = list(dict.fromkeys(answer.notices))
    if as_json:
        terminal.value(shapes.answer(answer, notices=notices, explain=explain))
    else:
        session.tell(notices)
        render.answer(answer, explain=explain)
        _tell_rest(answer, query)
    return 0 if answer.hits else 1


def _mode(word: str) -> Mode:
    for mode in get_args(Mode):
        if word == mode:
            return mode  # type: ignore[no-any-return]
    raise BadInput(f"there is no mode {word}", f"the modes are {', '.join(get_args(Mode))}")


def _tell_rest(answer: Answer, query: Query) -> None:
    shown = (query.page - 1) * query.k + len(answer.hits)
    if not answer.hits:
        terminal.note("nothing found" + (" on this page" if answer.total else ""))
    elif answer.total > shown and terminal.is_terminal():
        terminal.note(f"{answer.total - shown} more: --page {query.page + 1}")
