"""Claims that wait for a person: accepted, changed, or rejected for good.

Owns what becomes of them. Each decision is one commit; what was rejected is never proposed again. It must never write
a line that nobody said yes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from mdmem import distill
from mdmem.errors import BadInput, NotFound, Refused
from mdmem.model import Change, Claim, Pending
from mdmem.text import changes, claims, units
from mdmem.vault import authorship, curated, facts, messages, similar
from mdmem.vault.curated import Page
from mdmem.vault.place import Place, is_meant, pick, split_guard
from mdmem.vault.rewriting import Planned, Read, Rewriting


@dataclass(slots=True)
class Review:
    """What waits for a person's yes, numbered from 1, oldest first."""

    place: Place
    rewriting: Rewriting
    remove: Callable[[str], Change]

    def listed(self) -> list[Pending]:
        """List what waits. Raises StorageFailed."""
        found = self._listed(self.rewriting.read)
        pairs = [*self._pairs(), *self._lines(self.rewriting.read)]
        return found + [replace(one, number=number) for number, one in enumerate(pairs, len(found) + 1)]

    def _pairs(self) -> Iterator[Pending]:
        """Yield the entries that say nearly the same as an earlier one, where both are still there as they were."""
        rejected = facts.keys(self.rewriting.read(facts.REJECTED))
        for pair in similar.kept(self.place):
            earlier, later = pair.addresses
            id = similar.key(pair)
            if id not in rejected and all(self._stands(address) for address in pair.addresses):
                claim = Claim("fact", pair.texts[1], (later,), pair.cosine, pair.texts[0])
                why = f"says nearly the same as {earlier}: to accept it takes out the later one"
                yield Pending(0, id, claim, why, later.rpartition("/")[2].partition("#")[0])

    def _lines(self, read: Read) -> Iterator[Pending]:
        """Yield the lines of MEMORY.md that say nearly the same as an earlier one, where both are still there."""
        kept = similar.kept(self.place, similar.LINES)
        if not kept:
            return
        rejected, text = facts.keys(read(facts.REJECTED)), curated.text_of(read(curated.path(self.place)))
        there = {said.text: said for said in map(claims.read, text.splitlines()) if said}
        for pair in kept:
            id, (earlier, later) = similar.line_key(pair), pair.texts
            if id not in rejected and earlier in there and later in there:
                claim = Claim("fact", later, there[later].sources, pair.cosine, earlier)
                why = "says nearly the same as an earlier line of MEMORY.md: to accept it takes out the later one"
                noted = next(iter(claim.sources), "").rpartition("/")[2].partition("#")[0]
                yield Pending(0, id, claim, why, noted)

    def _stands(self, guarded: str) -> bool:
        address, wanted = split_guard(guarded)
        data = self.place.content(units.path_of(address))
        found = pick(units.read(units.path_of(address), data).units, address) if data else None
        return found is not None and is_meant(found, wanted or "")

    def _listed(self, read: Read) -> list[Pending]:
        """List what waits by these files: not what was rejected, or stands in memory, since another clone said so."""
        home = curated.path(self.place)
        rejected = facts.keys(read(facts.REJECTED))
        known = {
            claims.digest(said.text) for said in map(claims.read, curated.text_of(read(home)).splitlines()) if said
        }
        waiting = [one for one in curated.pending(read(facts.REVIEW)) if one.id not in rejected and one.id not in known]
        return [replace(one, number=number) for number, one in enumerate(waiting, 1)]

    def accept(self, ids: Sequence[str], *, text: str | None = None) -> Change | None:
        """Take claims into MEMORY.md, the one that is named with another `text` where one is given.

        What it replaces goes, also where a person wrote it: they said so. Raises NotFound, BadInput, Refused, Busy.
        """
        if pairs := [id for id in ids if id.startswith((similar.PAIR, similar.LINE))]:
            if len(pairs) < len(ids) or text is not None:
                hint = "nothing was changed: accept it without --text, and by itself"
                raise BadInput("what says the same as another is only taken out", hint)
            change = self._take_out([id for id in pairs if id.startswith(similar.PAIR)])
            lines = [id for id in pairs if id.startswith(similar.LINE)]
            return self._join(lines) if lines else change
        if text is not None and (len(ids) != 1 or not text.strip() or "\n" in text.strip()):
            raise BadInput("the new text must be one line, for one claim", "nothing was changed")
        if text is not None and (reason := distill.is_line(text.strip())):
            raise BadInput(f"that can be no line of MEMORY.md: {reason}", "nothing was changed: write it otherwise")

        def plan(read: Read) -> Planned:
            chosen = self._chosen(read, ids)
            if text is None and (hidden := [one for one in chosen if not one.claim.text.isprintable()]):
                hint = "nothing was changed: write it anew with --text, or --reject it"
                raise Refused(f"claim {hidden[0].number} holds characters that do not show", hint)
            wanted = [one.claim if text is None else replace(one.claim, text=text.strip()) for one in chosen]
            home = curated.path(self.place)
            page = Page.of(read(home), set(authorship.of(self.place, home).ours))
            self._revise(page, wanted)
            files = {
                **page.files(home, self.place.now().year, read),
                facts.REVIEW: facts.without(read(facts.REVIEW), {one.id for one in chosen}),
            }
            if text is not None:  # the claim as it was proposed is not wanted
                files[facts.REJECTED] = facts.with_rows(read(facts.REJECTED), self._rejected(chosen))
            lines = [f"- {one.kind}: {changes.headline(one.text)}" for one in wanted]
            return Planned(files, self._message("Accept", wanted, lines, op="review" if text is None else "edit"))

        # What a person has typed is theirs, and no later claim may take its place.
        return self.rewriting.rewrite(plan, op="review" if text is None else "edit")

    def _take_out(self, ids: Sequence[str]) -> Change | None:
        """Take out the later entries of pairs, each by a commit of its own; give the last."""
        waiting = {one.id: one for one in self._pairs()}
        change = None
        for id in ids:
            if id not in waiting:
                raise NotFound(f"nothing that waits has the id {id}", "`mdmem review` lists it")
            change = self.remove(waiting[id].claim.sources[0])
        return change

    def _join(self, ids: Sequence[str]) -> Change | None:
        """Take out the later lines of pairs, by one commit; the earlier ones get their sources."""

        def plan(read: Read) -> Planned:
            waiting, home = {one.id: one for one in self._lines(read)}, curated.path(self.place)
            page = Page.of(read(home), set(authorship.of(self.place, home).ours))
            chosen = [waiting[id].claim for id in dict.fromkeys(ids) if id in waiting]
            if len(chosen) < len(set(ids)):
                raise NotFound("one of them waits no more", "nothing was changed; `mdmem review` lists what does")
            for claim in chosen:
                text = distill.joined(page.text, (claim.replaces, claim.text), ours=page.ours)
                if text is None:
                    hint = "nothing was changed: take out one of them by hand"
                    raise Refused(f"a person wrote one of the lines: {changes.headline(claim.text)}", hint)
                page.ours |= set(distill.known_lines(text)) - set(distill.known_lines(page.text))
                page.text = text
            lines = [f"- said twice: {changes.headline(claim.text)}" for claim in chosen]
            return Planned({home: page.data}, self._message("Take out", chosen, lines))

        return self.rewriting.rewrite(plan, op="review")

    def _revise(self, page: Page, wanted: Sequence[Claim]) -> None:
        """Take claims into a page: what one replaces goes, and where that is gone already, it is new."""
        rest = [claim for claim in wanted if not page.put_instead(claim)]
        budget = self.place.settings.whole("memory.max_chars")
        while True:
            made = distill.revise(page.text, rest, ours=page.ours, budget=budget)
            if isinstance(made, distill.Refusal):
                raise Refused(made.reason, "nothing was changed: edit MEMORY.md by hand")
            if not made.left:
                page.take(made)
                return
            rest = [replace(claim, replaces="") if claim in made.left else claim for claim in rest]

    def reject(self, ids: Sequence[str]) -> Change | None:
        """Reject claims for good. Raises NotFound, Busy."""

        def plan(read: Read) -> Planned:
            chosen = self._chosen(read, ids)
            files = {
                facts.REVIEW: facts.without(read(facts.REVIEW), {one.id for one in chosen}),
                facts.REJECTED: facts.with_rows(read(facts.REJECTED), self._rejected(chosen)),
            }
            lines = [f"- {one.claim.kind}: {changes.headline(one.claim.text)}" for one in chosen]
            return Planned(files, self._message("Reject", [one.claim for one in chosen], lines))

        return self.rewriting.rewrite(plan, op="review")

    def _chosen(self, read: Read, ids: Sequence[str]) -> list[Pending]:
        waiting = {one.id: one for one in (*self._listed(read), *self._pairs(), *self._lines(read))}
        for id in ids:
            if id not in waiting:
                raise NotFound(f"nothing that waits has the id {id}", "nothing was changed; `mdmem review` lists it")
        return [waiting[id] for id in dict.fromkeys(ids)]

    def _rejected(self, chosen: Sequence[Pending]) -> list[tuple[str, str, str]]:
        today = self.place.now().date().isoformat()
        return [(one.id, today, one.claim.text) for one in chosen]

    def _message(self, verb: str, wanted: Sequence[Claim], lines: Sequence[str], *, op: str = "review") -> str:
        one = changes.headline(wanted[0].text)
        subject = f"{verb}: {one}" if len(wanted) == 1 else f"{verb} {messages.counted(len(wanted), 'claim')}"
        return messages.message(subject, "\n".join(lines), op=op)
