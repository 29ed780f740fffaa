"""`verify`: every index compared with the files, and what differs mended, no more than that.

Owns the order of it: first what the files of an index are, then what stands in them, then whether it can be found. It
must never change a memory file, and changes an index only with `fix`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mdmem.errors import Damaged, MdmemError
from mdmem.model import Diagnosis, Progress, Query, Verification
from mdmem.store import generations
from mdmem.text import packs
from mdmem.vault import archives, comparison
from mdmem.vault.comparison import Differences, Look
from mdmem.vault.index import Index, Stores
from mdmem.vault.meaning import Meaning
from mdmem.vault.place import Place
from mdmem.vault.searching import Recent, ranked

if TYPE_CHECKING:  # only where there is a model
    from mdmem.vault.likeness import Unlike

UNREADABLE = "unreadable"
"""The kind of what is wrong with a file itself: that no index can heal."""

PASSAGES, UNITS = 100, 50
"""What is compared by its words and vectors, and searched for, unless a share is asked for."""

SEARCHED = 500
"""Passages that are searched for at most: to find one takes some 10 ms, as long as to compare many."""


def verify(
    place: Place,
    index: Index,
    meaning: Meaning,
    *,
    sample: float | None = None,
    fix: bool = False,
    progress: Progress | None = None,
) -> Verification:
    """Compare the files with the indexes; all by hash, a sample (a share between 0 and 1) by what it takes longer to.

    With `fix` what differs is indexed or embedded again, and nothing else; each finding tells whether it is healed.
    Raises Busy when another process is at the index, StorageFailed when it cannot be mended.
    """
    started = time.monotonic()
    work = _Work(place, index, meaning, sample, partial(progress, "verifying") if progress else None)
    first = work.compare()
    if fix and any(one.kind != UNREADABLE for one in first.findings):
        work.heal()
        second = work.compare()
        left = {_name(one) for one in second.findings}
        healed = tuple(replace(one, healed=True) for one in first.findings if _name(one) not in left)
        first = replace(second, findings=(*healed, *second.findings))
    return replace(first, took_ms=(time.monotonic() - started) * 1000)


def _name(one: Diagnosis) -> tuple[str, str, str]:
    return one.kind, one.path, one.message


class _Work:
    """One comparison, and what it found to be mended."""

    def __init__(
        self,
        place: Place,
        index: Index,
        meaning: Meaning,
        sample: float | None,
        step: Callable[[int, int], None] | None,
    ) -> None:
        self.place = place
        self.index = index
        self.meaning = meaning
        self.sample = sample
        self.step = step
        self.made = Differences()
        self.unlike: Unlike | None = None

    def compare(self) -> Verification:
        """Compare everything once."""
        harmed = self._harm()
        if harmed:
            return Verification(findings=(harmed,))
        before = self._presence()  # a refresh, as by any search, mends this in passing
        self.index.refresh()
        try:
            with self.index.open() as stores:
                done = self._all(stores)
                stores.check()
        except Damaged as error:
            return Verification(findings=(_damaged(error.message),))
        early = tuple(replace(one, healed=True) for one in before.found)
        return replace(done, behind=before.behind, findings=(*early, *done.findings))

    def _harm(self) -> Diagnosis | None:
        """Read all files of the index, against their sums."""
        generation = generations.named(self.index.state)
        if generation is None:
            return None
        harm = generations.harm(generation)
        return _damaged(harm, f"index/{generation.name}") if harm else None

    def _presence(self) -> Differences:
        generation = generations.current(self.index.state, self.index.identity()).generation
        stores = self.index.opened(generation) if generation else None
        if stores is None:
            return Differences()
        try:
            return comparison.presence(self._look(), stores)
        except Damaged:
            return Differences()
        finally:
            stores.close()

    def _look(self) -> Look:
        sealed = generations.sealed_ns(self.index.state)
        return Look(self.place.root, self.index.scan(), self.index.sources(), sealed)

    def _all(self, stores: Stores) -> Verification:
        self.made = made = comparison.files(self._look(), stores, self.step)
        numbers = sorted(made.known.keys() - made.units)
        seed = self.place.now().date().toordinal()
        some = comparison.sample(numbers, self.sample, usual=PASSAGES, seed=seed)
        sampled = comparison.rows(made, stores, self.index.sources(), some, fully=self.sample is not None)
        share = None if self.sample is None else min(self.sample, SEARCHED / max(1, len(numbers)))
        asked = comparison.sample(numbers, share, usual=UNITS, seed=seed)
        tried, retrieved = self._retrieve(stores, asked)
        self.unlike = unlike = self._vectors(stores, some)
        return Verification(
            files=made.files,
            units=len(made.known),
            sampled=sampled,
            vectors=unlike.vectors if unlike else 0,
            compared=unlike.compared if unlike else 0,
            neighbours=unlike.neighbours if unlike else 0,
            asked=tried,
            retrieved=retrieved,
            behind=made.behind,
            findings=(*self._unreadable(made.unread), *made.found, *(unlike.found if unlike else ())),
        )

    def _unreadable(self, paths: Sequence[str]) -> Iterator[Diagnosis]:
        """Name files that cannot be read: no index can have what they say, and none is to be blamed for it."""
        for path in paths:
            try:
                self.place.legible(path)
            except MdmemError as error:
                hint = archives.remedy(self.place, path) if packs.is_archive(path) else error.hint
                why = f"cannot be read: {error.message.removeprefix(f'{path}: ')}"
                yield Diagnosis(UNREADABLE, path, None, why, hint, room="files")

    def _retrieve(self, stores: Stores, chosen: Sequence[int]) -> tuple[int, int]:
        rare = comparison.rarity(stores)
        tried = found = 0
        for number in chosen:
            path, unit, _ = self.made.known[number]
            text = comparison.phrase(unit, rare)
            if not text:
                continue
            tried += 1
            if self._is_found(stores, number, text):
                found += 1
            else:
                self.made.found.append(comparison.lost(path, unit))
        return tried, found

    def _is_found(self, stores: Stores, number: int, text: str) -> bool:
        """Tell whether a search for these words comes upon a unit: where in the order, depends on the others."""
        query = Query(text, k=len(self.made.known), mode="keyword", fresh=True)
        ranking = ranked(self.place, stores, lambda: self.meaning, Recent(), query)
        return any(hit.unit == number and hit.tier == 0 for hit in ranking.order)

    def _vectors(self, stores: Stores, chosen: Sequence[int]) -> Unlike | None:
        card = self.meaning.card()
        if card is None:
            return None
        from mdmem.vault import likeness

        return likeness.compare(self.place, self.meaning, stores, card, chosen)

    def heal(self) -> None:
        """Mend what the last comparison found."""
        if self._harm():
            self.index.retire()
        if self.made.units or self.made.paths:
            self.index.forget(self.made.units, self.made.paths)
        self.index.refresh()
        card = self.meaning.card()
        if self.unlike and card and self.unlike.found:
            from mdmem.vault import likeness

            with self.index.open() as stores:
                likeness.mend(self.meaning, stores, card, self.unlike)


def _damaged(message: str, path: str = "index") -> Diagnosis:
    hint = "`mdmem verify --fix` builds it anew, as the next search does"
    return Diagnosis("damaged", path, None, f"the index is damaged: {message}", hint, room="index")
