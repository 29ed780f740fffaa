"""MEMORY.md folded at night: lines of the program that say the same, or are done, on their way out of it.

Owns since when a line stands there. It must never touch a line that a person wrote or ticked, nor one that only nearly
says what another does: that is for a person to decide.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice

from mdmem import distill
from mdmem.errors import MdmemError
from mdmem.model import Change, Resemblance
from mdmem.text import changes, claims, units
from mdmem.vault import authorship, curated, facts, messages
from mdmem.vault import similar as similars
from mdmem.vault.curated import Page
from mdmem.vault.parts import Parts
from mdmem.vault.rewriting import Planned, Read

DAYS = 7
"""For so long a line that is done or struck stays to be seen."""

WHY = "Lines of mdmem's own that say the same become one; what is done or struck for a week goes to the archive."


@dataclass(frozen=True, slots=True)
class Folding:
    """What was folded: texts that went to the archive, texts that joined another line; None where nothing changed.

    `similar` are lines that say nearly the same, for a person to decide about.
    """

    moved: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    similar: tuple[Resemblance, ...] = ()
    change: Change | None = None


def fold(parts: Parts, *, dry_run: bool) -> Folding:
    """Fold MEMORY.md by one commit. Raises StorageFailed, Refused, Busy."""
    place, home = parts.place, curated.path(parts.place)
    whose = authorship.of(place, home)
    limit = place.now() - timedelta(days=DAYS)
    done = Folding()

    def plan(read: Read) -> Planned:
        nonlocal done
        page = Page.of(read(home), set(whose.ours))
        made = distill.folded(page.text, ours=page.ours, is_old=lambda line: whose.since.get(line, limit) < limit)
        moved, merged = (one.line for one in made.moved), (line for line, _ in made.merged)
        near = distill.alike(made.text, ours=page.ours | {line for _, line in made.merged})
        found = (Resemblance((units.stem_of(home),) * 2, pair, 1.0) for pair in near)
        rejected = facts.keys(read(facts.REJECTED))
        similar = tuple(islice((pair for pair in found if similars.line_key(pair) not in rejected), similars.MOST))
        done = Folding(tuple(map(claims.told, moved)), tuple(map(claims.told, merged)), similar)
        if made.text == page.text:
            return Planned({})
        page.text = made.text
        page.moved += made.moved
        return Planned(page.files(home, place.now().year, read), _message(done))

    if dry_run:
        plan(parts.rewriting.read)
        return done
    change = parts.rewriting.rewrite(plan, op="nightly")
    with suppress(MdmemError):  # the next night finds them again
        similars.keep(place, done.similar, similars.LINES)
    return replace(done, change=change)


def _message(done: Folding) -> str:
    count = messages.counted(len(done.moved) + len(done.merged), "line")
    lines = [f"- to the archive: {changes.headline(text)}" for text in done.moved]
    lines += [f"- said twice: {changes.headline(text)}" for text in done.merged]
    return messages.message(f"Fold {count} of MEMORY.md", f"{WHY}\n\n" + "\n".join(lines), op="nightly")
