#!/usr/bin/env python3
"""How good claims are that are found without a model: precision and recall on labelled entries, and the time it takes.

    python bench/distill.py [--half build|held] [--wrong] [--vault DIR]
    python bench/distill.py --retold [--half build|held] [--wrong]

The entries are those of `tests/text/extract.jsonl`, 100 in English and 100 in Chinese, about half of them noise. They
were written for this, before the rules; the half `held` was set aside while the rules were made. Only claims count that
are sure enough to go to memory unseen. `--wrong` lists each that is wrong or missed, which spends the half set aside.

With --retold, claims as a model may write them are held against the entries they name: how many of the true ones go to
memory unseen, and how many of the false ones (`tests/text/retold.tsv`).

With --vault, the claims of the logs of any vault are printed instead, `?` before those that are for review.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "text"))

import labelled
import retold

from mdmem.model import Claim, Entry
from mdmem.text import extract, units


def sure(entry: Entry) -> list[Claim]:
    """Find the claims of an entry that may go to memory unseen."""
    return [claim for claim in extract.claims(entry) if claim.confidence >= extract.SURE]


def table(found: Sequence[labelled.Outcome]) -> Iterator[str]:
    """Yield a Markdown table of precision and recall, by language and kind."""
    yield "| language | kind | labels | found | wrong | precision | recall |"
    yield "|---|---|---|---|---|---|---|"
    for language in (*labelled.LANGUAGES, "both"):
        for kind in (*labelled.KINDS, "all"):
            some = [each for each in found if language in ("both", each.language) and kind in ("all", each.kind)]
            count = {how: sum(each.how == how for each in some) for how in ("found", "wrong", "missed")}
            precision, recall = labelled.rates(some)
            row = (language, kind, count["found"] + count["missed"], count["found"], count["wrong"])
            yield f"| {' | '.join(map(str, row))} | {precision:.3f} | {recall:.3f} |"


def entries(vault: Path) -> Iterator[Entry]:
    """Read the entries of a vault's logs as they stand in the files."""
    for path in sorted((vault / "memory" / "daily").glob("*.md")):
        for unit in units.read(f"memory/daily/{path.name}", path.read_bytes()).units:
            if unit.kind == "entry":
                yield labelled.entry(unit.text, path.stem[:10], **dict(unit.meta))


def print_vault(vault: Path) -> None:
    started, count = time.perf_counter(), 0
    for entry in entries(vault):
        count += 1
        for claim in extract.claims(entry):
            mark = " " if claim.confidence >= extract.SURE else "?"
            print(f"{mark} {claim.confidence:.2f} {entry.address[6:16]} {claim.kind:<10} {claim.text}")
    print(f"{count} entries in {time.perf_counter() - started:.1f} s", file=sys.stderr)


def print_retold(half: str, *, wrong: bool) -> None:
    print("\n".join(retold.table(half)))
    for row in retold.told(half) if wrong else ():
        if row.accepted != row.honest:
            print(f"{row.number}: {row.reason or 'accepted'}\n    {row.said}\n    {row.text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("build", "held"), default="")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--retold", action="store_true")
    parser.add_argument("--vault", type=Path)
    options = parser.parse_args()
    if options.vault:
        return print_vault(options.vault)
    if options.retold:
        return print_retold(options.half, wrong=options.wrong)
    found = list(labelled.outcomes(labelled.read(options.half), sure))
    print("\n".join(table(found)))
    for each in found:
        if options.wrong and each.how != "found":
            print(f"{each.id} {each.how} {each.kind}: {each.said}")
    return None


if __name__ == "__main__":
    main()
