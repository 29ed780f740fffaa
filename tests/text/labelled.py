"""The labelled entries of `extract.jsonl`, and how the claims found in them are scored.

Half of the entries, chosen by a hash of their ids, was looked at while the rules were made; the other was set aside.
A claim counts as found when its kind is the one of a label, and its text holds the label's words and none of those that
it must not hold. Each label is found once; every other claim is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from mdmem.model import Claim, Entry

SET = Path(__file__).with_name("extract.jsonl")
KINDS = ("preference", "fact", "decision", "todo")
LANGUAGES = ("en", "zh")
ZONE = ZoneInfo("Europe/Berlin")


@dataclass(frozen=True, slots=True)
class Label:
    """A claim that an entry holds: its kind, the words of its line, and words that are none of it."""

    kind: str
    must: tuple[str, ...]
    but: tuple[str, ...]

    def is_met(self, claim: Claim) -> bool:
        text = claim.text.casefold()
        held = all(word.casefold() in text for word in self.must)
        return claim.kind == self.kind and held and not any(word.casefold() in text for word in self.but)


@dataclass(frozen=True, slots=True)
class Labelled:
    """An entry with what it holds; nothing for noise."""

    id: str
    language: str
    half: str
    entry: Entry
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One claim of one language and kind: `found`, `wrong` (was none), or `missed`, with its text or words."""

    id: str
    language: str
    kind: str
    how: str
    said: str


def entry(text: str, day: str = "2026-03-11", **meta: str) -> Entry:
    """Make an entry of a daily log, at ten in the morning."""
    said = datetime.fromisoformat(f"{day}T10:00").replace(tzinfo=ZONE)
    address = f"daily/{day}#10:00"
    path = f"memory/daily/{day}.md"
    return Entry("entry", address, address, path, (1, 1), said, "", (), text, tuple(meta.items()))


def read(half: str = "") -> Iterator[Labelled]:
    """Read the set, or one half of it."""
    for line in SET.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if half in ("", row["half"]):
            meta = {"source": row["source"]} if "source" in row else {}
            labels = tuple(Label(each["kind"], tuple(each["must"]), tuple(each["not"])) for each in row["claims"])
            yield Labelled(row["id"], row["lang"], row["half"], entry(row["text"], row["date"], **meta), labels)


def outcomes(rows: Iterable[Labelled], claims: Callable[[Entry], Sequence[Claim]]) -> Iterator[Outcome]:
    """Compare the claims that are found in each entry with its labels."""
    for row in rows:
        left = list(row.labels)
        for claim in claims(row.entry):
            met = next((label for label in left if label.is_met(claim)), None)
            if met:
                left.remove(met)
            yield Outcome(row.id, row.language, claim.kind, "found" if met else "wrong", claim.text)
        for label in left:
            yield Outcome(row.id, row.language, label.kind, "missed", ", ".join(label.must))


def rates(some: Sequence[Outcome]) -> tuple[float, float]:
    """Return precision and recall."""
    found, wrong, missed = (sum(each.how == how for each in some) for how in ("found", "wrong", "missed"))
    return found / max(1, found + wrong), found / max(1, found + missed)
