"""Claims into MEMORY.md: new lines, confirmations, lines that take another's place, and what there is no room for.

Owns the edit. It must never touch a byte of a line that a person wrote, never lose a line without saying where it went,
and never change anything when it is asked the same again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from mdmem.distill import page as pages
from mdmem.distill.checks import is_ours
from mdmem.distill.laying import laid
from mdmem.distill.page import Bullet, Page
from mdmem.model import Claim, ClaimKind
from mdmem.text import claims as lines
from mdmem.text import markdown
from mdmem.text.claims import fold, unboxed

BUDGET = 8_000
"""Characters that MEMORY.md should not exceed."""

TITLE = "# Memory"


@dataclass(frozen=True, slots=True)
class Moved:
    """A line of the program's for which MEMORY.md has no room."""

    kind: ClaimKind
    line: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why MEMORY.md is not to be changed at all."""

    reason: str


@dataclass(frozen=True, slots=True)
class Revision:
    """MEMORY.md as it should be, and how it came about. Lines are without endings, pairs are (before, after).

    `moved` belongs into the overflow before the text is written; some of it may never have stood in the file. `left`
    are claims that could not be applied: the line to be replaced is a person's by now, or gone.
    """

    text: str
    added: tuple[str, ...] = ()
    confirmed: tuple[tuple[str, str], ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    moved: tuple[Moved, ...] = ()
    left: tuple[Claim, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class _Plan:
    """What is to be done: the new line of each bullet, by its start ("" to take it out), and lines to be added.

    `free` are the bullets, by their start, that are the program's to change; `at` has all of them by it.
    """

    page: Page
    free: frozenset[int]
    at: dict[int, Bullet]
    lines: dict[int, str] = field(default_factory=dict)
    added: list[tuple[Claim, str]] = field(default_factory=list)
    confirmed: list[tuple[str, str]] = field(default_factory=list)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    dropped: set[int] = field(default_factory=set)
    left: list[Claim] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Give MEMORY.md with all of it done."""
        return laid(self.page, self.lines, self.kept(), title=TITLE)

    def kept(self) -> list[tuple[Claim, str]]:
        """List what is to be added and did not move."""
        return [row for place, row in enumerate(self.added) if place not in self.dropped]


def unused(_line: str) -> float:
    """Say of every line that it was never used."""
    return 0.0


def revise(
    source: str,
    accepted: Iterable[Claim],
    *,
    ours: Container[str],
    budget: int = BUDGET,
    usage: Callable[[str], float] = unused,
) -> Revision | Refusal:
    """Give MEMORY.md with the claims that were accepted, or confirm a line of it.

    `source` is the file decoded by `markdown.decode`, "" for none. `ours` holds the lines, without endings, that are
    byte-equal to what a commit of the program's wrote. `budget` is in characters; `usage` tells how much a line is
    used, more is better.
    """
    if markdown.conflict_markers(source):
        return Refusal("MEMORY.md holds an unresolved conflict")
    page = pages.read(source)
    plan = _planned(page, _free(page, ours), accepted)
    there, gone = len(page.bullets), len(plan.replaced)
    if gone > max(1, there // 4):  # one line may always be corrected, however few there are
        return Refusal(f"it would take {gone} of {there} lines out of MEMORY.md; a quarter is the most")
    text = _fitted(plan, budget, usage)
    written = {line for _, line in plan.kept()} | {line for line in plan.lines.values() if line}
    if not written <= {bullet.line for bullet in pages.read(text).bullets}:
        return Refusal("a block of code or a comment in MEMORY.md is not closed, and would swallow new lines")
    return Revision(
        text=text,
        added=tuple(line for _, line in plan.kept()),
        confirmed=tuple(plan.confirmed),
        replaced=tuple(plan.replaced),
        moved=tuple(plan.moved),
        left=tuple(plan.left),
        notices=tuple(plan.notices),
    )


# --- what is to be done


def _free(page: Page, ours: Container[str]) -> frozenset[int]:
    """Find the bullets that are the program's to change. One that stands twice was copied by a person."""
    times = Counter(bullet.line for bullet in page.bullets)
    return frozenset(each.start for each in page.bullets if is_ours(each, ours) and times[each.line] == 1)


def _planned(page: Page, free: frozenset[int], accepted: Iterable[Claim]) -> _Plan:
    plan = _Plan(page, free, {bullet.start: bullet for bullet in page.bullets})
    bullets = {fold(bullet.said.text): bullet for bullet in reversed(page.bullets)}
    for key, claim in _current(_merged(accepted), bullets).items():
        said, other = bullets.get(key), fold(_text(claim.replaces))
        if claim.replaces and (said or other != key):
            _supersede(plan, claim, bullets.get(other), said)
        elif said:
            _confirm(plan, said, claim)
        elif key not in page.known:
            plan.added.append((claim, lines.line_of(claim)))
    return plan


def _merged(accepted: Iterable[Claim]) -> dict[str, Claim]:
    """Give each claim once, by its normal form, with the sources of all that say the same."""
    found: dict[str, Claim] = {}
    for claim in accepted:
        key = fold(claim.text)
        first = found.get(key, claim)
        sources = tuple(dict.fromkeys((*first.sources, *claim.sources)))
        text = " ".join(first.text.split())
        found[key] = replace(first, text=text, sources=sources, replaces=first.replaces or claim.replaces)
    return found


def _current(found: dict[str, Claim], bullets: Mapping[str, Bullet]) -> dict[str, Claim]:
    """Leave out a claim that another one of the same call takes the place of before it ever stood anywhere."""
    for key, claim in list(found.items()):
        other = fold(_text(claim.replaces))
        if key in found and other in found and other != key and other not in bullets:
            del found[other]
            found[key] = replace(claim, replaces="")
    return found


def _text(line: str) -> str:
    said = lines.read(line)
    return said.text if said else line


def _supersede(plan: _Plan, claim: Claim, target: Bullet | None, said: Bullet | None) -> None:
    """Put a claim in the place of a line; where it stands somewhere already, that line only goes."""
    if target is None or target.start not in plan.free or target.start in plan.lines:
        if said is None:  # else it took that place before
            plan.left.append(claim)
        return
    if said is None:
        line = lines.line_of(claim)
    elif said is not target:
        line = ""
        _confirm(plan, said, claim)
    elif unboxed(claim.text)[0] == "x" and said.said.box == " ":
        line = lines.write(lines.confirmed(replace(target.said, box="x"), claim.sources))
    else:
        _confirm(plan, target, claim)
        return
    plan.lines[target.start] = line
    plan.replaced.append((target.line, line))


def _confirm(plan: _Plan, bullet: Bullet, claim: Claim) -> None:
    line = lines.write(lines.confirmed(bullet.said, claim.sources))
    if (
        bullet.start in plan.free
        and bullet.start not in plan.lines
        and not set(claim.sources) <= set(bullet.said.sources)
    ):
        plan.lines[bullet.start] = line
        plan.confirmed.append((bullet.line, line))


# --- room


def _fitted(plan: _Plan, budget: int, usage: Callable[[str], float]) -> str:
    """Carry the plan out; what is too much for the budget moves, the least used and oldest lines first."""
    text = plan.text()
    if len(text) <= budget or not (plan.added or plan.free):
        return text
    own = sum(len(bullet.line) + len(plan.page.ending) for bullet in plan.page.bullets if bullet.start in plan.free)
    theirs = len(plan.page.source) - own
    if theirs >= budget:
        plan.notices.append(f"MEMORY.md has {theirs} characters that are people's own, and its budget is {budget}")
        plan.moved += [Moved(claim.kind, line) for claim, line in plan.added]
        plan.added.clear()
        return plan.text()
    rows = deque(sorted(_movable(plan, usage)))
    while rows and len(text) > budget:
        surplus = len(text) - budget
        while rows and surplus > 0:
            surplus -= len(_move(plan, rows.popleft()[1])) + len(plan.page.ending)
        text = plan.text()
    if len(text) > budget:
        plan.notices.append(f"MEMORY.md has {len(text)} characters, and its budget is {budget}")
    return text


def _movable(plan: _Plan, usage: Callable[[str], float]) -> Iterator[tuple[tuple[bool, bool, float, str, int], int]]:
    """Yield the lines that may move, by rank: new ones and open to-dos last, then by use, age and place.

    A line is named by its start, a new one by -1 and less.
    """
    for place, bullet in enumerate(plan.page.bullets):
        line = plan.lines.get(bullet.start, bullet.line)
        if bullet.start in plan.free and line:
            is_new = any(line == after for _, after in plan.replaced)
            is_open = bullet.said.box == " "
            yield (is_new, is_open, usage(bullet.line), max(bullet.said.sources), place), bullet.start
    for place, (claim, _) in enumerate(plan.added):
        yield (True, claim.kind == "todo", 0.0, max(claim.sources, default=""), place), -1 - place


def _move(plan: _Plan, start: int) -> str:
    """Move a line out of MEMORY.md, and give it."""
    if start < 0:
        claim, line = plan.added[-1 - start]
        kind = claim.kind
        plan.dropped.add(-1 - start)
    else:
        bullet = plan.at[start]
        line, kind = plan.lines.get(start, bullet.line), bullet.kind or ("todo" if bullet.said.box else "fact")
        plan.lines[start] = ""
    plan.moved.append(Moved(kind, line))
    return line
