"""What `add` is given and what it gives back: entries checked and made records, records told as added.

Owns the refusal of what no log can hold, before anything is kept. It must never write.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mdmem import config
from mdmem.errors import BadInput
from mdmem.model import Added, NewEntry
from mdmem.store.journal import Journal, Record
from mdmem.text import entries
from mdmem.vault.daylog import Placed
from mdmem.vault.place import Place


def record(place: Place, item: NewEntry, group: str) -> Record:
    """Make the record of an entry. Raises BadInput for what cannot be kept."""
    meta = tuple((key, value) for key, value in (("id", item.id), ("source", item.source)) if value)
    try:
        text = entries.with_tags(entries.normalise(item.text), item.tags)
        entries.render("00:00", text, meta)
    except ValueError as error:
        raise BadInput(f"this cannot be kept: {error}", "nothing was kept") from error
    at = config.local(place.settings, item.at) if item.at else place.now()
    return Record(
        op="add",
        path=place.log_path(at.date()),
        text=text,
        meta=meta,
        at=at.isoformat(timespec="seconds"),
        source=item.source,
        group=group,
    )


def whole(records: Sequence[Record]) -> Sequence[Record]:
    """Have each record of a batch say how many there are: a batch of which some never reached the disk is none."""
    if len(records) < 2:
        return records
    return [replace(record, extra={"of": len(records)}) for record in records]


def committed_by_others(journal: Journal, records: Collection[str]) -> dict[str, str]:
    """Look whether another process committed records of ours along with its own: record id → commit."""
    return journal.commits(records) if records else {}


def added(
    records: Sequence[Record], placed: Mapping[str, Placed], commits: Mapping[str, str], notices: Sequence[str]
) -> list[Added]:
    """Tell where each record went, and whether that is the end of its way."""
    found = []
    for one in records:
        spot = placed.get(one.id)
        address = spot.address if spot else None
        found.append(
            Added(
                address=address,
                id=dict(one.meta).get("id") or address,
                path=spot.path if spot else one.path,
                lines=spot.lines if spot else None,
                commit=commits.get(one.id),
                pending=one.id not in commits,
                notices=tuple(notices),
            )
        )
    return found
