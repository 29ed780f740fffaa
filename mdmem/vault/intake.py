"""What `add` is given and what it gives back: entries checked and made records, records told as added.

Owns the refusal of what no log can hold, before anything is kept. It must never write.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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


def committed_by_others(journal: Journal, records: Collection[str]) -> dict[str, str]:
    """Look whether another process committed records of ours along with its own: record id → commit."""
    if not records:
        return {}
    settled = {one.id: one.commit for one in journal.receipts() if one.id in records}
    settled |= {one.record.id: one.commit for one in journal.scan() if one.record.id in records}
    return {id: commit for id, commit in settled.items() if commit}


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
