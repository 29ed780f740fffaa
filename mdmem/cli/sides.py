"""Three versions of a text as people compare them: side by side on a terminal, or as a page of HTML.

It must never ask the vault for anything. What a page holds is escaped; it runs nothing and loads nothing.
"""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from html import escape
from itertools import zip_longest

from mdmem.cli import render, terminal
from mdmem.cli.terminal import BOLD, DIM, Part
from mdmem.model import Clash, Conflict, Proposal
from mdmem.text import screen

NAMES = ("base", "ours", "theirs")
NARROW = 24
"""Columns below which a version is too narrow to be read beside others."""

GAP = " │ "
NOTHING, UNKNOWN = "(nothing)", "(not known)"


def listed(found: Sequence[Conflict]) -> None:
    """Write one line for each conflict: its number, where it is and why."""
    for each in found:
        since = render.minute(each.noted) if each.noted else ""
        terminal.line((f"{each.number:<2}", DIM), " ", (render.one_line(each.address), BOLD))
        places = ", ".join(clash.where for clash in each.clashes[:3]) + (", …" if len(each.clashes) > 3 else "")
        said = (places, each.why, since, each.meanwhile)
        terminal.line("   ", "  ".join(render.one_line(part) for part in said if part))


def shown(found: Conflict) -> None:
    """Write the places of a conflict with their three versions."""
    listed([found])
    for clash in found.clashes:
        terminal.line()
        terminal.line((render.one_line(clash.where), DIM))
        _compare(_versions(found, clash))
    if found.proposal is not None:
        _proposed(found.proposal, found.file or "")


def _proposed(said: Proposal, file: str) -> None:
    """Write what a model would change in the file, and why; or why it is not to be had."""
    terminal.line()
    terminal.line((f"proposed by {render.one_line(said.model)}", DIM))
    if said.text:
        terminal.block(said.text if not file else _changed(file, said.text))
    for text in (said.reason, *(f"doubt: {doubt}" for doubt in said.doubts)):
        if text:
            render.wrapped(text)


def _changed(before: str, after: str) -> str:
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return "\n".join(list(lines)[3:])


def _versions(found: Conflict, clash: Clash) -> tuple[str, str, str]:
    """Give the three texts as they are shown: of what git left the base may be unknown."""
    base = UNKNOWN if found.kind == "git" and found.base is None and not clash.base else clash.base
    return base or NOTHING, clash.ours or NOTHING, clash.theirs or NOTHING


def _compare(texts: Sequence[str]) -> None:
    columns = [_lines(text) for text in texts]
    wide = _widths(columns)
    if wide is None:
        for name, lines in zip(NAMES, columns, strict=True):
            terminal.line((name, BOLD))
            for line in lines:
                for start, end in screen.wrap(line, max(terminal.columns() - 2, 1)):
                    terminal.line("  ", line[start:end])
        return
    _row(NAMES, wide, BOLD)
    terminal.line(("─┼─".join("─" * width for width in wide), DIM))
    wrapped = [list(_wrapped(lines, width)) for lines, width in zip(columns, wide, strict=True)]
    for cells in zip_longest(*wrapped, fillvalue=""):
        _row(cells, wide, "")


def _lines(text: str) -> list[str]:
    return screen.clean(text).expandtabs(4).removesuffix("\n").split("\n")


def _widths(columns: Sequence[Sequence[str]]) -> list[int] | None:
    """Give each version the room it needs, or a third of what there is; None where that is too little."""
    needed = [max(screen.width(name), *map(screen.width, lines)) for name, lines in zip(NAMES, columns, strict=True)]
    room = terminal.columns() - 2 * len(GAP)
    if sum(needed) <= room:
        return needed
    return [room // 3] * 3 if room // 3 >= NARROW else None


def _wrapped(lines: Sequence[str], width: int) -> Iterator[str]:
    for line in lines:
        yield from (line[start:end] for start, end in screen.wrap(line, width)) if line else ("",)


def _row(cells: Sequence[str], wide: Sequence[int], style: str) -> None:
    parts: list[Part] = []
    for place, (cell, width) in enumerate(zip(cells, wide, strict=True)):
        last = place == len(cells) - 1
        parts += [(cell, style), "" if last else " " * (width - screen.width(cell)), "" if last else (GAP, DIM)]
    terminal.line(*parts)


# As a page

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; table-layout: fixed; margin: 0 0 1.5rem }
th, td { border: 1px solid #8886; padding: .4rem .6rem; text-align: left; vertical-align: top }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9rem }
.why { color: #777 }
"""


def page(found: Sequence[Conflict]) -> str:
    """Return one page of HTML with all conflicts side by side."""
    title = f"{len(found)} conflict{'' if len(found) == 1 else 's'}"
    body = "\n".join(_section(each) for each in found)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>mdmem: {title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"{body}\n</body>\n</html>"
    )


def _section(found: Conflict) -> str:
    since = render.minute(found.noted) if found.noted else ""
    said = ", ".join(_safe(part) for part in (found.why, since, found.meanwhile) if part)
    head = f'<h2>{found.number}. {_safe(found.address)}</h2>\n<p class="why">{said}</p>'
    return "\n".join([head, *(_table(clash.where, _versions(found, clash)) for clash in found.clashes)])


def _table(where: str, texts: Sequence[str]) -> str:
    names = "".join(f'<th scope="col">{name}</th>' for name in NAMES)
    cells = "".join(f"<td><pre>{_safe(text)}</pre></td>" for text in texts)
    return f"<table>\n<caption>{_safe(where)}</caption>\n<tr>{names}</tr>\n<tr>{cells}</tr>\n</table>"


def _safe(text: str) -> str:
    return escape(screen.clean(text))
