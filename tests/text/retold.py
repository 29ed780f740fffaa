"""Claims as a model may write them, each beside the entry it names: true to it, or not. From `retold.tsv`.

A row has: half, `honest` or `false`, language, kind, day and text of the entry, claim. The half `build` was looked at
while the checks were made; of the half `held` only the false claims were, in the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import labelled

from mdmem.distill import judge
from mdmem.model import Claim

SET = Path(__file__).with_name("retold.tsv")


@dataclass(frozen=True, slots=True)
class Told:
    """One claim, its label, and what the checks say: whether it may go to memory, else why not."""

    number: int
    honest: bool
    language: str
    said: str
    text: str
    accepted: bool
    reason: str


def told(half: str = "") -> Iterator[Told]:
    """Judge each claim of a half, `build` or `held`, or of both."""
    for number, row in enumerate(SET.read_text(encoding="utf-8").splitlines()):
        own, label, language, kind, day, said, text = row.split("\t")
        if half not in ("", own):
            continue
        entry = labelled.entry(said, day)
        (found,) = judge([Claim(kind, text, (entry.address,))], [entry], memory="# Memory\n", ours=())
        yield Told(number, label == "honest", language, said, text, found.outcome == "accept", found.reason)


def table(half: str) -> Iterator[str]:
    """Yield a Markdown table of how many claims of each label and language go to memory, and how many to review."""
    rows = list(told(half))
    yield "| claims | language | all | to memory | to review |"
    yield "|---|---|---|---|---|"
    for honest, language in product((True, False), labelled.LANGUAGES):
        some = [row.accepted for row in rows if (row.honest, row.language) == (honest, language)]
        yield f"| {'true' if honest else 'false'} | {language} | {len(some)} | {sum(some)} | {len(some) - sum(some)} |"
