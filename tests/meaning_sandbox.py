"""A small vault whose texts are near in meaning to questions that share no word with them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from vault_sandbox import again, write

from mdmem import Vault
from mdmem.model import Answer
from mdmem.store.catalog import Passage

MINILM = "all-MiniLM-L6-v2"
E5 = "multilingual-e5-small"

COFFEE = "daily/2026-11-02#09:10"
KITTEN = "daily/2026-11-02#18:40"
OPERA = "daily/2026-11-07#10:05"
PROJECTOR = "daily/2026-11-07#11:00"
RUN = "daily/2026-11-10#08:30"
INVOICE = "daily/2026-11-10#16:20"
DATABASE = "daily/2026-11-17#09:30"
NOODLES = "daily/2026-11-17#12:15"
BACKUPS = "daily/2026-11-24#09:00"
DENTIST = "daily/2026-11-24#20:10"

FILES = {
    "daily/2026-11-02": "- 09:10 Americano before noon #habit\n- 18:40 The kitten slept on the windowsill\n",
    "daily/2026-11-07": "- 10:05 约好了和小雨去看京剧\n- 11:00 Promised Mara to bring the projector\n",
    "daily/2026-11-10": "- 08:30 Ran ten kilometres along the river #habit\n- 16:20 Invoice PAY-70312-QX was settled\n",
    "daily/2026-11-17": "- 09:30 Decided to move the database in January\n- 12:15 Noodles, far too salty\n",
    "daily/2026-11-24": "- 09:00 Decided on backups to the old laptop\n- 20:10 The dentist wants to see me in spring\n",
    "archives/bread": "# Sourdough\n\nFlour, water, salt.\n\n## Baking\n\nForty minutes in a hot oven, with steam.\n",
    "archives/garden": "# Garden\n\nTomatoes want sun.\n\n## Pests\n\nSnails come out at night and eat the lettuce.\n",
}

MEANT = {
    "what do I drink when I get up": COFFEE,
    "a pet having a nap": KITTEN,
    "jogging for fitness": RUN,
    "teeth appointment": DENTIST,
    "copies of my data in case the disk dies": BACKUPS,
    "slugs destroying vegetables": "archives/garden",
    "how to make a loaf": "archives/bread",
    "restaurant food was bad": NOODLES,
}
"""Vague questions, each with the memory that it is about."""


def fill(vault: Vault) -> None:
    """Write the files."""
    for name, text in FILES.items():
        heading = f"# {name[6:]}\n\n" if name.startswith("daily/") else ""
        write(vault, f"memory/{name}.md", heading + text)


def copy(template: Path, root: Path) -> Vault:
    """Copy a vault with its vectors, without its index, which is bound to its place."""
    shutil.copytree(template, root, symlinks=True)
    vault = Vault.open(root)
    shutil.rmtree(vault.place.state / "index")
    return again(vault)


def addresses(answer: Answer) -> list[str]:
    return [hit.entry.address for hit in answer]


def scored(answer: Answer) -> list[tuple[str, float]]:
    return [(hit.entry.address, hit.score) for hit in answer]


def vectors(vault: Vault) -> sqlite3.Connection:
    """Open the cache of vectors as SQLite."""
    return sqlite3.connect(vault.place.state / "vectors.sqlite")


def rows(vault: Vault, sql: str, values: Iterable[object] = ()) -> list[tuple[object, ...]]:
    """Ask the cache of vectors."""
    db = vectors(vault)
    try:
        with db:
            return db.execute(sql, tuple(values)).fetchall()
    finally:
        db.close()


def passages(vault: Vault) -> list[Passage]:
    """List the passages of the index, brought up to date."""
    with vault.parts.index.open() as stores:
        return stores.catalog.passages()
