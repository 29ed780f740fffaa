"""Entries of the logs that were kept twice, merged; what else says the same word for word, proposed; copies, named.

Owns looking for them in the files. It must never merge what anything still names by its address.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from posixpath import basename, dirname

from mdmem import indexer
from mdmem.model import Finding, Resemblance
from mdmem.text import claims, duplicates, entries, markdown, units
from mdmem.text.duplicates import Merge, Told
from mdmem.vault import facts, similar
from mdmem.vault.place import Place
from mdmem.vault.removal import Act, Found, Going, Spot, is_kept, wanted_back

MOST = 20
"""So many pairs in one night: more are a burden, and the next night comes."""

_LOG = re.compile(r"\d{4}-\d\d-\d\d\.md")
_NAMED = re.compile(r"(?:daily/|memory/)?\d{4}-\d\d-\d\d#\d\d:\d\d(?::\d\d)?(?:\.\d+)?")
_HEAD = re.compile(
    r"(?P<mark>(?:[-*] (?P<box>\[[ xX]\] )?|#{1,6} )?)(?:\*\*)?\d\d[:：]\d\d(?:[:：]\d\d)?(?:\*\*)?(?= |\Z)"
)


@dataclass(frozen=True, slots=True)
class Twice:
    """What is merged, what is proposed, the earlier of each pair first, and documents that are copies, named."""

    found: Found
    pairs: tuple[Resemblance, ...] = ()


def find(place: Place) -> Twice:
    """Find the entries that were kept twice or say the same, and documents of the same bytes. Reads every file."""
    logs: dict[str, bytes] = {}
    documents: dict[bytes, list[str]] = defaultdict(list)
    named: set[str] = set()
    for file in indexer.scan(str(place.root), place.settings.items("roots")).files:
        data = place.content(file.path) if file.path.endswith(".md") else None
        if data is None:
            continue
        text = markdown.decode(data)
        named |= {found.rpartition("/")[2] for found in _NAMED.findall(text.text)}
        if _LOG.fullmatch(basename(file.path)) and text.editable:
            logs[file.path] = data
        elif data.strip() and not units.is_log(file.path) and not is_kept(file.path):
            documents[hashlib.sha256(data).digest()].append(file.path)
    told = [one for path, data in logs.items() for one in _told(path, data, named)]
    pairs = tuple(islice(_pairs(place, logs, told), MOST))
    acts = _acts(place, duplicates.merges(told), logs)
    versions = {spot.path: logs[spot.path] for act in acts for spot in act.spots}
    return Twice(Found(acts, versions, tuple(_copies(documents))), pairs)


def _pairs(place: Place, logs: dict[str, bytes], told: list[Told]) -> Iterator[Resemblance]:
    """Yield the pairs to propose, but for those that a person has decided about."""
    rejected = facts.keys(place.content(facts.REJECTED))
    for pair in duplicates.alike(told):
        one, two = (_guarded(place, logs, each) for each in pair)
        found = Resemblance((one[0], two[0]), (one[1], two[1]), 1.0)
        if similar.key(found) not in rejected:
            yield found


def _guarded(place: Place, logs: dict[str, bytes], told: Told) -> tuple[str, str]:
    found = units.read(told.path, logs[told.path], only={told.address}).units
    unit = next(one for one in found if one.address == told.address)
    return claims.guarded(place.entry(told.path, unit)), unit.text


def _told(path: str, data: bytes, named: set[str]) -> Iterator[Told]:
    source = markdown.decode(data).text
    day = entries.log_date(basename(path))
    found = entries.parse(source).entries
    for entry, section in zip(found, duplicates.section(source, found), strict=True):
        head = _HEAD.match(source, entry.start)
        if head and day:  # one with a stretch of time is like no other
            label = f"{basename(path).removesuffix('.md')}#{entry.label}"
            address = f"{units.stem_of(path)}#{entry.label}"
            scope = f"{dirname(path)}\n{section}"
            yield Told(path, day, entry, address, (head["box"] or "").lower(), scope, label in named)


def _acts(place: Place, merges: Iterator[Merge], logs: dict[str, bytes]) -> tuple[Act, ...]:
    acts = [_act(merge, logs) for merge in merges]
    back = wanted_back(place) if acts else {}
    return tuple(act for act in acts if not any(key in back for one in act.going for key in one.keys))


def _act(merge: Merge, logs: dict[str, bytes]) -> Act:
    kept = merge.kept
    source = markdown.decode(logs[kept.path]).text
    fresh = entries.replace(source, kept.entry, text=merge.text, meta=merge.meta)
    end = len(fresh) - (len(source) - kept.entry.end)
    spots = [Spot(kept.path, kept.entry.start, kept.entry.end, fresh[kept.entry.start : end])]
    spots += [Spot(one.path, one.entry.start, one.entry.end) for one in merge.gone]
    why = f"says what {kept.address} says"
    going = (Going(one.path, one.address, markdown.readable("\ufeff" + one.entry.text), why) for one in merge.gone)
    return Act(tuple(going), tuple(spots))


def _copies(documents: dict[bytes, list[str]]) -> Iterator[Finding]:
    for paths in documents.values():
        if len(paths) > 1:
            first, *others = map(units.stem_of, paths)
            what = f"holds the same bytes as {', '.join(others)}"
            yield Finding(paths[0], None, what, f"`mdmem rm` takes one of them out, if {first} is enough")
