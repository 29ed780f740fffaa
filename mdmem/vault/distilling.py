"""The checkpoint: what matters in log entries that were never distilled, brought into MEMORY.md by one commit.

Owns which entries are asked about, and that all of it happens together or not at all: the lines, what was distilled,
what waits for a person. A model is asked outside of every lock; what it said is judged against the files as they are
when they are written. It must never distil an entry twice, nor change a line that is not the program's.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from mdmem import config, distill, fsio
from mdmem.errors import MdmemError
from mdmem.model import Change, Claim, Distilled, Entry
from mdmem.store.lock import Lock
from mdmem.text import claims, extract, markdown, units
from mdmem.vault import authorship, curated, facts, messages, nearness, undistilled, usage
from mdmem.vault.authorship import Authorship
from mdmem.vault.curated import Page
from mdmem.vault.place import Place
from mdmem.vault.rewriting import Content, Planned, Read, Rewriting
from mdmem.vault.undistilled import Fresh

if TYPE_CHECKING:
    from mdmem.store.llm import Model
    from mdmem.vault.parts import Parts

MOST_CALLS = 24
"""How often a model is asked in one checkpoint; what is left is for the next."""

REPLIES = "replies"
"""A folder of STATE: answers of a model that could not be used, to be looked at."""

Similar = Callable[[str, str], float]
"""How near two texts are in meaning, from -1 to 1."""


@dataclass(frozen=True, slots=True)
class Round:
    """What is judged together: the new entries of one day, those of them that count, and what a model claims of these.

    `claims` is None where patterns find them.
    """

    entries: tuple[Entry, ...]
    counted: tuple[Entry, ...]
    claims: tuple[Claim, ...] | None = None


@dataclass(slots=True)
class Outcome:
    """What has come of rounds so far."""

    page: Page
    rejected: set[str]
    review: list[tuple[Claim, str]] = field(default_factory=list)
    dropped: list[tuple[Claim, str]] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    confirmed: list[tuple[str, str]] = field(default_factory=list)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Distilling:
    """The checkpoints of a vault. `model` is asked, or patterns alone are used; `similar` is for them."""

    place: Place
    rewriting: Rewriting
    model: Model | None = None
    similar: Similar | None = None
    usage: Callable[[str], float] = lambda line: 0.0
    _failures: list[str] = field(default_factory=list)
    _templates: frozenset[str] = frozenset()

    def run(self, *, dry_run: bool = False) -> Distilled:
        """Distil what is new. Raises StorageFailed, Busy; a model that does not answer is a failure in the result."""
        fresh = undistilled.find(self.place)
        rounds = self._rounds(fresh)
        done = sum(len(one.entries) for one in rounds)
        left = fresh.entries[done:]  # the rounds are the first days
        found = Distilled(done, len(left), model=self.model.name if self.model else None)
        if done:
            found = self._apply(rounds, found, dry_run=dry_run)
        if not dry_run:
            undistilled.remember(self.place, fresh, left)
        return replace(found, failures=tuple(self._failures))

    # What is said of the entries

    def _rounds(self, fresh: Fresh) -> list[Round]:
        if not fresh.entries:
            return []
        texts = {entry.address: entry.text for entry in fresh.entries}
        texts |= self._shown(fresh.entries, texts)
        days = [tuple(group) for _, group in groupby(fresh.entries, key=lambda one: one.date and one.date.date())]
        rounds = [Round(day, tuple(entry for entry in day if undistilled.counts(entry, texts))) for day in days]
        return rounds if self.model is None else list(self._asked(rounds, self.model))

    def _shown(self, entries: Sequence[Entry], known: Mapping[str, str]) -> dict[str, str]:
        """Give the texts of entries of old whose addresses stand in new ones."""
        named = {
            f"daily/{one.removeprefix('daily/')}"
            for entry in entries
            for one in undistilled.ADDRESS.findall(entry.text)
        }
        found: dict[str, str] = {}
        for path in {units.path_of(address) for address in named - known.keys()}:
            data = self.place.content(path)
            read = units.read(path, data).units if data else ()
            found |= {unit.address: unit.text for unit in read if unit.address in named}
        return found

    def _asked(self, rounds: Sequence[Round], model: Model) -> Iterator[Round]:
        """Ask the model about each day, until it fails or has been asked often enough."""
        page = curated.read(self.place)
        calls = 0
        for one in rounds:
            batches = distill.part(one.counted)
            if calls and calls + len(batches) > MOST_CALLS:
                return
            said: list[Claim] = []
            for batch in batches:
                calls += 1
                answer = self._ask(batch, page, model)
                if answer is None:
                    return
                said += answer
            yield replace(one, claims=tuple(said))

    def _ask(self, batch: distill.Batch, page: Page, model: Model) -> tuple[Claim, ...] | None:
        template = config.prompt("checkpoint", batch.language)
        self._templates |= {template}
        known = curated.near(page, batch.entries)
        prompt = distill.checkpoint(template, batch.entries, known, today=self.place.now().date())
        try:
            reply = model.ask(prompt).text
        except MdmemError as error:
            self._failures.append(error.message)
            return None
        read = distill.read_reply(reply, known, template=template)
        if not isinstance(read, distill.BadReply) and _is_foreign(read, batch):
            read = distill.BadReply("it is about other entries")
        if isinstance(read, distill.BadReply):
            said = f"{model.name} gave an answer that cannot be used: {read.reason}"
            self._failures.append(f"{said}; {self._keep(reply)}")
            return None
        return read

    def _keep(self, reply: str) -> str:
        name = f"{REPLIES}/{self.place.now():%Y-%m-%dT%H%M%S}.txt"
        try:
            fsio.put(name, reply.encode("utf-8", "surrogateescape"), root=self.place.state, durable=False)
        except MdmemError as error:
            return error.message
        return f"it is kept in {self.place.state / name}"

    # What becomes of it

    def _apply(self, rounds: Sequence[Round], found: Distilled, *, dry_run: bool) -> Distilled:
        whose = authorship.of(self.place, curated.path(self.place))
        made: dict[object, tuple[Planned, Distilled]] = {}
        latest = found

        def plan(read: Read) -> Planned:
            nonlocal latest
            archive = curated.archive(self.place.now().year)
            paths = (curated.path(self.place), archive, facts.DISTILLED, facts.REVIEW, facts.REJECTED)
            now, standing = tuple(map(read, paths)), [self._standing(one) for one in rounds]
            if (now, *standing) not in made:  # most often nobody saved anything since it was made, before the lock
                made[(now, *standing)] = self._plan(standing, dict(zip(paths, now, strict=True)), whose, found)
            planned, latest = made[(now, *standing)]
            return planned

        plan(self.rewriting.read)
        change: Change | None = None if dry_run else self.rewriting.rewrite(plan, op="checkpoint")
        return replace(latest, commit=change.commit if change else None)

    def _standing(self, one: Round) -> Round:
        """Give a round without what a model claims of entries that were changed or taken out while it thought."""
        cited = {source.partition("@")[0] for claim in one.claims or () for source in claim.sources}
        gone = {entry.address for entry in one.counted if entry.address in cited and not self._stands(entry)}
        if not gone:
            return one
        kept = [claim for claim in one.claims or () if not gone & {each.partition("@")[0] for each in claim.sources}]
        return replace(one, claims=tuple(kept))

    def _stands(self, entry: Entry) -> bool:
        data = self.place.content(entry.path)
        found = units.read(entry.path, data).units if data else ()
        return any(unit.address == entry.address and unit.text == entry.text for unit in found)

    def _plan(
        self, rounds: Sequence[Round], files: dict[str, Content], whose: Authorship, found: Distilled
    ) -> tuple[Planned, Distilled]:
        home = curated.path(self.place)
        page = Page.of(files[home], set(whose.ours))
        pending = facts.keys(files[facts.REVIEW])
        outcome = Outcome(page, facts.keys(files[facts.REJECTED]) | whose.taken_out.keys())
        for one in rounds:
            self._judge(one, outcome)
        today = self.place.now().date().isoformat()
        waits = [(claim, why) for claim, why in outcome.review if claims.digest(claim.text) not in pending]
        files = {
            **page.files(home, self.place.now().year, files.__getitem__),
            facts.DISTILLED: facts.with_rows(files[facts.DISTILLED], _distilled(rounds)),
            facts.REVIEW: facts.with_rows(files[facts.REVIEW], [curated.row(*one, today) for one in waits]),
            facts.REJECTED: facts.with_rows(
                files[facts.REJECTED], [(key, today, text) for key, text in sorted(whose.taken_out.items())]
            ),
        }
        told = replace(
            found,
            added=tuple(outcome.added),
            confirmed=tuple(outcome.confirmed),
            replaced=tuple(outcome.replaced),
            moved=tuple(one.line for one in page.moved),
            review=tuple(waits),
            dropped=tuple(outcome.dropped),
            diff=_diff(home, page.before, page.text),
            notices=tuple(dict.fromkeys(outcome.notices)),
        )
        return Planned(files, messages.of_checkpoint(told)), told

    def _judge(self, one: Round, outcome: Outcome) -> None:
        page = outcome.page
        said = one.claims if one.claims is not None else tuple(self._extracted(one.counted, page))
        verdicts = distill.judge(
            said,
            one.counted,
            memory=page.text,
            ours=page.ours,
            rejected=outcome.rejected,
            templates=tuple(self._templates),
        )
        kept = [verdict.claim for verdict in verdicts if verdict.outcome in ("accept", "confirm")]
        outcome.review += [(one.claim, one.reason) for one in verdicts if one.outcome == "review"]
        outcome.dropped += [(one.claim, one.reason) for one in verdicts if one.outcome == "drop"]
        if not kept and not page.text:  # no file is made for nothing
            return
        budget = self.place.settings.whole("memory.max_chars")
        made = distill.revise(page.text, kept, ours=page.ours, budget=budget, usage=self.usage)
        if isinstance(made, distill.Refusal):
            outcome.review += [(claim, made.reason) for claim in kept]
            return
        page.take(made)
        outcome.added += made.added
        outcome.confirmed += made.confirmed
        outcome.replaced += made.replaced
        outcome.review += [(claim, curated.NOT_OURS) for claim in made.left]
        outcome.notices += made.notices

    def _extracted(self, entries: Sequence[Entry], page: Page) -> Iterator[Claim]:
        """Yield what patterns find, each claim with the line that it replaces; of this round the later one counts."""
        found: list[Claim] = []
        held = [said for line in distill.known_lines(page.text) if (said := claims.read(line))]
        known = [said.text for said in held]
        for entry in entries:
            todos = [said.text for said in held if said.box == " "]
            todos += [one.text for one in found if one.kind == "todo" and not one.replaces]
            for done in extract.closed(entry, todos, similar=self.similar):
                found = [one for one in found if one.text != done]
                if done in known:
                    found.append(Claim("todo", f"[x] {done}", (claims.guarded(entry),), replaces=done))
            for claim in extract.claims(entry, similar=self.similar):
                if old := extract.replaced(claim, [one.text for one in found], similar=self.similar):
                    found = [one for one in found if one.text != old]
                found.append(replace(claim, replaces=extract.replaced(claim, known, similar=self.similar)))
        yield from found


def checkpoint(parts: Parts, *, dry_run: bool) -> Distilled:
    """Run a checkpoint, alone. See `Vault.checkpoint`."""
    with parts.upkeep_lock.hold(0):
        parts.catch_up()
        model = _model(parts)
        similar = nearness.measure(parts.meaning) if model is None else None
        made = Distilling(parts.place, parts.rewriting, model, similar, _usage(parts.place))
        done = made.run(dry_run=dry_run)
        if model is not None and not done.failures:
            done = _with_merges(parts, model, done) if not dry_run else _with_plans(parts, done)
    parts.kept.update()
    return done


def _with_merges(parts: Parts, model: Model, done: Distilled) -> Distilled:
    """Have the model propose what to make of versions that did not merge."""
    made: list[str] = []
    try:
        made += (change.subject for change in parts.proposals.make(model))
    except MdmemError as error:
        return replace(done, merged=tuple(made), failures=(f"no merge was proposed: {error.message}",))
    return replace(done, merged=tuple(made))


def _with_plans(parts: Parts, done: Distilled) -> Distilled:
    count = len(parts.proposals.open())
    said = f"{messages.counted(count, 'conflict')} would be shown to the model, to propose a merge"
    return replace(done, notices=(*done.notices, said)) if count else done


def _usage(place: Place) -> Callable[[str], float]:
    """Give what tells how much the entries are used that a line of memory comes from."""
    scores: dict[str, float] = {}

    def used(line: str) -> float:
        if not scores:
            scores.update({"": 0.0, **usage.scores(place)})
        said = claims.read(line)
        return sum(scores.get(source.partition("@")[0], 0.0) for source in said.sources) if said else 0.0

    return used


def _model(parts: Parts) -> Model | None:
    from mdmem.store import llm

    place = parts.place
    lock = Lock(place.state / "locks" / "llm.lock", command=place.command)
    return llm.open(place.settings, state=place.state, root=place.root, lock=lock, now=place.now)


def _is_foreign(said: Sequence[Claim], batch: distill.Batch) -> bool:
    """Tell whether an answer names sources, and none of them was asked about: it is old, or somebody else's."""
    return any(claim.sources for claim in said) and distill.is_foreign(said, batch.entries)


def _distilled(rounds: Sequence[Round]) -> Iterator[tuple[str, str]]:
    for entry in (entry for one in rounds for entry in one.entries):
        yield undistilled.digest(entry), entry.date.date().isoformat() if entry.date else entry.title


def _diff(path: str, before: str, after: str) -> str:
    old, new = (markdown.readable(text).splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
