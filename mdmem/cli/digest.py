"""What was distilled, and what waits for a yes, as people read it."""

from collections.abc import Sequence

from mdmem.cli import render, terminal
from mdmem.cli.terminal import BAD, BOLD, DIM, GOOD, MARK
from mdmem.model import Distilled, Pending
from mdmem.text import claims, screen

_STYLES = {"+": GOOD, "-": BAD, "@": DIM}
"""Of the lines of a difference."""


def done(what: Distilled) -> None:
    """Say what a checkpoint changed, one line for each claim."""
    for subject in what.merged:
        _line("*", GOOD, subject)
    if not what.entries:
        if not what.waiting:
            terminal.note("nothing new to distil")
        return
    for line in what.added:
        _line("+", GOOD, claims.told(line))
    for old, new in what.replaced:
        before, after = claims.told(old), claims.told(new)
        if before == after:  # it got its tick, and no other words
            _line("x", GOOD, after)
        else:
            _line("~", MARK, f"{after}  (was: {before})")
    for _, new in what.confirmed:
        _line("=", DIM, claims.told(new))
    for line in what.moved:
        _line("→", DIM, f"{claims.told(line)}  (to the archive)")
    for claim, why in what.review:
        instead = f"; instead of: {claim.replaces}" if claim.replaces else ""
        _line("?", BAD, f"{claim.text}  ({why}{instead})")
    by = what.model or "patterns"
    told = [f"{render.counted(what.entries, 'new entry')} distilled by {render.one_line(by)}"]
    if what.review:
        told.append(f"{render.counted(len(what.review), 'claim')} to review: `mdmem review`")
    for one in (*told, *what.notices):
        terminal.note(one)


def planned(what: Distilled) -> None:
    """Show what a checkpoint would change: the difference on stdout, the rest on stderr."""
    for line in what.diff.splitlines():
        terminal.line((screen.clean(line, one_line=True), _STYLES.get(line[:1], "")))
    for claim, why in what.review:
        terminal.note(f"to review: {render.one_line(claim.text)} ({why})")
    for claim, why in what.dropped:
        terminal.note(f"not kept: {render.one_line(claim.text)} ({why})")
    for notice in what.notices:
        terminal.note(notice)
    read = f"{render.counted(what.entries, 'new entry')} read by {render.one_line(what.model or 'patterns')}"
    terminal.note(f"{read}; nothing was changed" if what.entries else "nothing new to distil")


def pending(waiting: Sequence[Pending]) -> None:
    """List claims that wait, each with why, from where and what it would replace."""
    for one in waiting:
        render.wrapped(f"{one.number:<2} {one.claim.text}", BOLD, "")
        render.wrapped(f"{one.claim.kind}, since {one.noted}: {one.reason}")
        if one.claim.replaces:
            render.wrapped(f"instead of: {one.claim.replaces}", MARK)
        if one.claim.sources:
            render.wrapped(f"from {', '.join(one.claim.sources)}", DIM)


def _line(sign: str, style: str, text: str) -> None:
    render.wrapped(f"{sign} {text}", style, "")
