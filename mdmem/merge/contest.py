"""Two versions of a file that clash, and the file as it stands: what each choice makes of it.

Pure. It must never take out of the file what was done to it since, nor decide where that was done at the very place
which clashes: whoever asks is told. Where that place is gone since, what is chosen comes back, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from mdmem.merge.choice import both, contrast, sides
from mdmem.merge.files import Merged, is_text, three_way
from mdmem.merge.lines import Take
from mdmem.merge.origin import added
from mdmem.merge.remains import Remains, is_bare, remains
from mdmem.model import Clash

Content = bytes | None


@dataclass(frozen=True, slots=True)
class Contest:
    """Two versions of a file that come from `base`, None for no file; the file got the lines of the one that `stands`.

    `whole` are the merge with our version where they clash, and with theirs. The file may still be as one of the
    versions was, or have been changed since.
    """

    path: str
    base: Content
    ours: Content
    theirs: Content
    stands: Take
    whole: tuple[Content, Content]

    @classmethod
    def of(cls, path: str, base: Content, ours: Content, theirs: Content, *, stands: Take) -> Contest:
        """Set two versions against each other; where they would merge, all that theirs changed is at stake."""
        mine, yours = sides(path, base, ours, theirs)
        return cls(path, base, ours, theirs, stands, (ours if mine == yours else mine, yours))

    def clashes(self, now: Content) -> tuple[Clash, ...]:
        """List where they clash, in lines of the file as it stands."""
        versions = [(self.ours, self.theirs), self.sides(now)]
        for ours, theirs in versions if self.nearest(now) == now else reversed(versions):
            found = three_way(self.path, self.base, ours, theirs, take=self.stands).clashes
            if found:
                return found
        return contrast(self.ours or b"", self.whole[1] or b"")

    def sides(self, now: Content) -> tuple[Content, Content]:
        """Give the file as it stands with our version where they clash, and with theirs."""
        return self._made("ours", now).data, self._made("theirs", now).data

    def choose(self, take: Take, now: Content) -> Merged:
        """Give the file as it stands with one version where they clash.

        What was done at that place since is a clash, but for the version that stands: of that it is the latest form.
        """
        made = self._made(take, now)
        return Merged(made.data, ()) if take == self.stands else made

    def both(self, now: Content) -> Content:
        """Give the file as it stands with both versions where they clash."""
        mine, yours = self.sides(now)
        if mine is None or yours is None:
            return yours if mine is None else mine
        return both(self.path, mine, yours)

    def nearest(self, now: Content) -> Content:
        """Give the version that the file as it stands is nearest to: itself where that is one of them, or gone.

        What was taken out of a file says nothing about where it came from: a merged version has the most to take out.
        """
        first = self.whole if self.stands == "ours" else self.whole[::-1]
        versions = (*first, self.ours, self.theirs)
        known = [one for one in versions if one is not None]
        return now if now is None or now in versions or not known else min(known, key=lambda one: added(one, now))

    def is_gone(self, now: Content) -> bool:
        """Tell whether the place that clashes, or a part of it, was taken out of the file since."""
        left = self._remains(now)
        return (now is None and self._standing is not None) or (left is not None and left.now != now)

    @property
    def _standing(self) -> Content:
        return self.whole[self.stands == "theirs"]

    def _remains(self, now: Content) -> Remains | None:
        """Give what is left to choose from: None for a file that is as one of the versions was, or no text."""
        known = self._standing if now is None else self.nearest(now)
        pair = self.whole if known == self.whole[0] else self.whole[::-1]
        if known == now or known is None or pair[0] != known or pair[1] is None:
            return None
        is_parted = all(is_text(self.path, data) for data in (*pair, now))
        return remains(self.path, known, pair[1], now) if is_parted else None

    def _made(self, take: Take, now: Content) -> Merged:
        mine, yours = self.whole
        wanted, other = (mine, yours) if take == "ours" else (yours, mine)
        known, left = self.nearest(now), self._remains(now)
        if left is not None:
            stood = self._standing if now is None else known
            texts = (left.other, left.now, left.version) if wanted == stood else (left.version, left.now, left.other)
            made = three_way(self.path, *texts, take="theirs")
            data = left.now if made.clashes and take == self.stands else made.data
            return Merged(None if now is None and is_bare(self.path, data or b"") else data, made.clashes)
        if known == now:
            return Merged(wanted, ())
        made = three_way(self.path, other if known in self.whole else known, now, wanted, take="theirs")
        return Merged(now, made.clashes) if made.clashes and take == self.stands else made
