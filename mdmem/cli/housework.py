"""What keeping house did, as people read it and as JSON: a line for each step, and below it what it was about.

It must never ask the vault for anything, and it writes through `terminal` alone.
"""

from typing import TYPE_CHECKING

from mdmem.cli import terminal
from mdmem.cli.render import INDENT, LONGEST, NARROW, one_line, problem, wrapped
from mdmem.cli.shapes import Shape, finding
from mdmem.cli.terminal import BAD, BOLD, DIM, GOOD, MARK
from mdmem.text import screen

if TYPE_CHECKING:  # the steps bring the whole vault along, which no help text needs
    from mdmem.nightly import Item, Outcome, Report

STYLES = {"done": GOOD, "nothing": DIM, "planned": MARK, "refused": BAD, "failed": BAD}
WIDE = len("duplicates")
SHOWN = 20
"""So many things of a step are told one by one; `--json` has all of them."""


def outcome(each: "Outcome") -> None:
    """Write what came of a step, as soon as it is over."""
    commits = [f" {commit[:7]}" for commit in each.commits]
    terminal.line((f"{each.step:<{WIDE}}", BOLD), "  ", (each.summary, STYLES[each.state]), ("".join(commits), MARK))
    for item in each.items[:SHOWN]:
        _item(item)
    if len(each.items) > SHOWN:
        terminal.line(INDENT, (f"… and {len(each.items) - SHOWN} more", DIM))
    for pair in each.similar[:SHOWN]:
        _wrapped(f"alike ({pair.cosine:.2f}): {pair.addresses[0]}  {pair.texts[0]}", MARK)
        _wrapped(f"and {pair.addresses[1]}  {pair.texts[1]}", "")
    if each.problem:
        _wrapped(each.problem, BAD)
        _wrapped(each.hint, DIM)
    for said in (*map(problem, each.findings), *each.notices):
        terminal.note(said)


def _item(item: "Item") -> None:
    """Write one thing: where it is, why, and how it begins."""
    address, room = one_line(item.address), terminal.columns()
    left = len(INDENT) + screen.width(address) + 2
    text = screen.fit(one_line(f"{item.why}: {item.text}" if item.text else item.why), LONGEST)
    if room - left < NARROW:
        terminal.line(INDENT, address)
        terminal.line(INDENT, "  ", (screen.fit(text, room - len(INDENT) - 2), DIM))
    else:
        terminal.line(INDENT, address, "  ", (screen.fit(text, room - left), DIM))


def _wrapped(text: str, style: str) -> None:
    wrapped(screen.fit(one_line(text), 2 * LONGEST), style)


def summary(report: "Report") -> None:
    """Write in one line how it ended."""
    left = [each.step for each in report.outcomes if not each.is_well]
    if report.dry_run:
        terminal.line("nothing was changed")
    elif left:
        terminal.line((f"left undone: {', '.join(left)}", BAD))


def troubles(report: "Report") -> None:
    """Say on stderr what was left undone, and no more: that is all that cron should mail."""
    for each in report.outcomes:
        if not each.is_well:
            terminal.error(f"nightly, {each.step}: {each.problem}", each.hint or "`mdmem nightly` tries again")


def shape(report: "Report") -> Shape:
    """Return the shape of a report."""
    return {
        "dry_run": report.dry_run,
        "complete": report.is_complete,
        "steps": [_step(each) for each in report.outcomes],
        "took_ms": round(report.took_ms, 1),
    }


def _step(each: "Outcome") -> Shape:
    return {
        "step": each.step,
        "state": each.state,
        "summary": each.summary,
        "commits": list(each.commits),
        "items": [{"address": item.address, "text": item.text, "why": item.why} for item in each.items],
        "similar": [
            {"addresses": list(pair.addresses), "texts": list(pair.texts), "cosine": pair.cosine}
            for pair in each.similar
        ],
        "findings": [finding(each) for each in each.findings],
        "notices": list(each.notices),
        "problem": each.problem or None,
        "hint": each.hint or None,
        "took_ms": round(each.took_ms, 1),
    }
