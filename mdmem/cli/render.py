"""Answers as people read them: which lines, what stands out, how they fit a narrow terminal.

It must never ask the vault for anything, and it writes through `terminal` alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from mdmem.cli import terminal
from mdmem.cli.terminal import BAD, BOLD, DIM, GOOD, MARK, Part
from mdmem.config import BY_NAME, TABLE, Settings, Value, show
from mdmem.model import (
    Added,
    Answer,
    Change,
    Edit,
    Entry,
    Finding,
    Held,
    Hit,
    Model,
    Reindexed,
)
from mdmem.text import screen

SHOWN = 20
"""What a commit did to so many entries is told one by one; `--json` has all of it."""

INDENT = "   "
LONGEST = 200
"""Columns of a text of which only the beginning is meant, also where no terminal bounds it."""

NARROW = 24
"""A rest of a line below this many columns is too little for a text; it gets lines of its own."""


def one_line(text: str) -> str:
    """Return the text as one clean line."""
    return screen.clean(" ".join(text.split()), one_line=True)


def minute(date: datetime | None) -> str:
    """Return the date as people write it."""
    return "undated" if date is None else f"{date:%Y-%m-%d %H:%M}"


def counted(number: int, noun: str) -> str:
    """Return `1 entry`, `2 entries`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"


# Search


def answer(found: Answer, *, explain: bool) -> None:
    """Write the hits with their numbers; with `explain` how they were found, and why each is where it is."""
    for reason in found.reasons if explain else ():
        wrapped(reason, DIM, "")
    for number, hit in enumerate(found.hits, 1):
        _flow(_headline(hit), number=number)
        _passage(hit)
        if explain:
            _explanation(hit)


def _headline(hit: Hit) -> Iterator[Part]:
    first, last = hit.lines
    yield hit.entry.address, BOLD
    date = minute(hit.entry.date)
    yield date, DIM
    if hit.entry.title and not date.startswith(hit.entry.title):
        yield hit.entry.title
    yield f"line {first}" if first == last else f"lines {first}-{last}", DIM


def _flow(parts: Iterable[Part], *, number: int | None = None) -> None:
    """Write parts two spaces apart, on as many lines as they need, after the number if there is one."""
    room = terminal.columns()
    lead = "" if number is None else f"{number:<2} "
    row: list[Part] = [(lead, DIM)]
    used, first = len(lead), True
    for text, style in _pieces(parts, room - len(INDENT)):
        taken = screen.width(text)
        if not first and used + 2 + taken > room:
            terminal.line(*row)
            row, used, first = [INDENT], len(INDENT), True
        gap = "" if first else "  "
        row += [gap, (text, style)]
        used, first = used + len(gap) + taken, False
    terminal.line(*row)


def _pieces(parts: Iterable[Part], room: int) -> Iterator[tuple[str, str]]:
    """Yield cleaned text and style of each part, of one wider than `room` word by word."""
    for part in parts:
        text, style = part if isinstance(part, tuple) else (part, "")
        text = screen.clean(text, one_line=True)
        if not text:
            continue
        for piece in text.split() if screen.width(text) > room else [text]:
            yield piece, style


def _passage(hit: Hit) -> None:
    text, marks = screen.clean_marked(hit.snippet, hit.marks)
    for start, end in screen.wrap(text, max(terminal.columns() - len(INDENT), 1)):
        terminal.line(INDENT, *_marked(text, start, end, marks))


def _marked(text: str, start: int, end: int, marks: Sequence[screen.Span]) -> Iterator[Part]:
    """Yield the parts of `text[start:end]`, the marked ones in their style."""
    at = start
    for first, last in marks:
        first, last = max(first, at), min(last, end)
        if first < last:
            yield text[at:first]
            yield text[first:last], MARK
            at = last
    yield text[at:end]


def _explanation(hit: Hit) -> None:
    for reason in (f"score {hit.score:.{2 if hit.score >= 0.1 else 4}f}", *hit.why):
        wrapped(reason, DIM)


def wrapped(text: str, style: str = "", indent: str = INDENT) -> None:
    """Write a text on as many lines as it needs."""
    text = one_line(text)
    for start, end in screen.wrap(text, max(terminal.columns() - len(indent), 1)):
        terminal.line(indent, (text[start:end], style))


# Entries


def entries(found: Sequence[Entry]) -> None:
    """Write one line for each entry or document, with its number."""
    room = terminal.columns()
    number_wide = len(str(len(found)))
    wide = max((screen.width(one_line(entry.address)) for entry in found), default=0)
    left = number_wide + 2 + wide + 2
    for number, entry in enumerate(found, 1):
        address = one_line(entry.address)
        head: tuple[Part, ...] = ((f"{number:<{number_wide}}", DIM), "  ", (address, BOLD))
        if room - left < NARROW:
            terminal.line(*head)
            terminal.line(INDENT, screen.fit(summary(entry), room - len(INDENT)))
        else:
            pad = " " * (wide - screen.width(address) + 2)
            terminal.line(*head, pad, screen.fit(summary(entry), room - left))


def summary(entry: Entry) -> str:
    """Return an entry as one clean line, a document by date and title."""
    if entry.kind == "entry":
        return one_line(entry.text)
    return one_line("  ".join(filter(None, (f"{entry.date:%Y-%m-%d}" if entry.date else "", entry.title))))


def entry(shown: Entry) -> None:
    """Write the text; on a terminal, say first where it stands."""
    if terminal.is_terminal():
        first, last = shown.lines
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        tags = [(f"#{tag}", DIM) for tag in shown.tags]
        _flow([(shown.address, BOLD), (minute(shown.date), DIM), (f"{shown.path}, {lines}", DIM), *tags])
    terminal.block(shown.text)


def today(path: str, found: Sequence[Entry], attention: Sequence[str]) -> None:
    """Write the log of today, and one line about what needs attention."""
    terminal.line((path, BOLD))
    long = True
    for entry in found:
        first, *rest = entry.text.split("\n")
        if rest or long:
            terminal.line()
        terminal.line((entry.address.partition("#")[2], DIM), "  ", first)
        for more in rest:
            terminal.line(INDENT, more)
        long = bool(rest)
    if not found:
        terminal.line("nothing yet; `mdmem add TEXT` keeps something")
    if attention:
        more = f" (and {len(attention) - 1} more: `mdmem status`)" if len(attention) > 1 else ""
        terminal.line()
        terminal.line(f"! {one_line(attention[0])}{more}")


def tags(counts: Sequence[tuple[str, int]]) -> None:
    """Write each tag with its count."""
    wide = max((len(str(count)) for _, count in counts), default=0)
    for tag, count in counts:
        terminal.line((f"{count:>{wide}}", DIM), "  ", f"#{tag}")


def added(each: Added) -> None:
    """Write the address, where there is one already."""
    if each.address is not None:
        terminal.line(each.address)


# History


def changes(made: Iterable[Change]) -> None:
    """Write each commit, and what it did to which entries."""
    for change in made:
        head: list[Part] = [
            (change.commit[:7], MARK),
            (minute(change.date), DIM),
            change.actor,
            (change.subject, BOLD),
        ]
        _flow(head)
        if change.reason:
            wrapped(change.reason, DIM)
        for edit in change.edits[:SHOWN]:
            _brief(edit)
        if len(change.edits) > SHOWN:
            terminal.line(INDENT, (f"… and {len(change.edits) - SHOWN} more", DIM))


def done(change: Change) -> None:
    """Write the one commit that a command made."""
    _flow([(change.commit[:7], MARK), change.subject])


def _brief(edit: Edit) -> None:
    sign, style = {"added": ("+", GOOD), "changed": ("~", MARK), "removed": ("-", BAD)}[edit.kind]
    text = screen.fit(one_line((edit.before if edit.kind == "removed" else edit.after) or ""), LONGEST)
    address = one_line(edit.address)
    left = len(INDENT) + 2 + screen.width(address) + 2
    room = terminal.columns()
    if room - left < NARROW:
        terminal.line(INDENT, (sign, style), f" {address}")
        terminal.line(INDENT, "  ", screen.fit(text, room - len(INDENT) - 2))
    else:
        terminal.line(INDENT, (sign, style), f" {address}  ", screen.fit(text, room - left))


def edits(found: Iterable[Edit]) -> None:
    """Write what was added, changed and removed, line by line."""
    from difflib import unified_diff

    for edit in found:
        terminal.line((edit.address, BOLD), f"  {edit.kind}")
        before, after = _lines(edit.before), _lines(edit.after)
        for line in list(unified_diff(before, after, lineterm="", n=1))[3:]:  # after the names and the first place
            style = {"+": GOOD, "-": BAD, "@": DIM}.get(line[:1], "")
            terminal.line(INDENT, ("…" if line[:1] == "@" else line, style))


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.removesuffix("\n").split("\n")


# Upkeep


def reindexed(result: Reindexed) -> None:
    """Write the counts, and the files that could not be read."""
    embedded = f", {result.embedded} embedded" if result.embedded else ""
    terminal.line(
        (f"+{result.added}", GOOD),
        (f" ~{result.modified}", MARK),
        (f" -{result.removed}", BAD),
        f"  {result.unchanged} unchanged, {counted(result.chunks, 'passage')}{embedded}, {result.took_ms / 1000:.1f} s",
    )
    findings(result.failures)


def held(kept: Iterable[Held]) -> None:
    """Write each text that is held or waits, with its number and why."""
    for each in kept:
        noted = f"since {minute(each.noted)}" if each.noted else ""
        why = " · ".join(filter(None, (each.reason, noted, f"text in {each.source}")))
        _flow([(each.address, BOLD)], number=each.number)
        wrapped(headline(each))
        wrapped(why, DIM)


def headline(kept: Held) -> str:
    """Return the beginning of a text that is held, on one line."""
    return screen.fit(one_line(kept.text), LONGEST)


def findings(found: Iterable[Finding]) -> None:
    """Say on stderr what is wrong where, and the fix."""
    for each in found:
        terminal.note(problem(each))


def problem(found: Finding) -> str:
    """Return in one sentence what is wrong where, and the fix."""
    place = found.path if found.line is None else f"{found.path}:{found.line}"
    return f"{place}: {found.message}" + (f"; {found.hint}" if found.hint else "")


def models(found: Iterable[Model]) -> None:
    """Write each model with what is known of it, and where it comes from."""
    for model in found:
        chosen = ("[chosen]", MARK) if model.chosen else ""
        _flow([(model.name, BOLD), (model.state, GOOD if model.state == "ready" else BAD), chosen])
        vectors = [f"{counted(model.vectors, 'vector')} of this vault"] if model.vectors else []
        if model.precision:
            wrapped("; ".join([_nature(model), *vectors]))
        if model.source:
            wrapped(f"{model.kind}: {model.source}", DIM)


def prepared(model: Model, seconds: float) -> None:
    """Write what a preparation made, and what it measured."""
    _flow([(model.name, BOLD), (model.state, GOOD), f"{seconds:.1f} s"])
    wrapped(_nature(model))
    wrapped(_agreement(model))
    wrapped(model.folder, DIM)


def _nature(model: Model) -> str:
    scripts = ", ".join(model.scripts) or "no script that is known"
    return f"{model.precision}, {model.dimension} dimensions, {model.window} tokens; reads {scripts}"


def _agreement(model: Model) -> str:
    found = model.agreement
    if not found:
        return "served as its package has it: there is nothing to compare it with"
    return (
        f"against the original, on sample texts: cosine {found['cosine']:.3f} at worst,"
        f" similarities correlate {found['correlation']:.3f}, {found['neighbours']:.0%} of nearest neighbours the same"
    )


def settings(now: Settings) -> None:
    """Write every setting with its value, where that comes from, and what it means."""
    for setting in TABLE:
        head: list[Part] = [(setting.name, BOLD), show(now.value(setting.name)) or "(empty)"]
        origin = now.origin(setting.name)
        _flow([*head, (f"[{origin}]", DIM)])
        wrapped(setting.description, DIM)


def guarded(path: str, values: Mapping[str, Value]) -> None:
    """Write what a vault's file sets that can run or send something."""
    terminal.line((path, BOLD))
    for name, value in values.items():
        _flow([INDENT + f"{name} = {show(value)}"])
        wrapped(BY_NAME[name].description, DIM, INDENT * 2)
