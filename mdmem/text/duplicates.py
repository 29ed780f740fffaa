"""Entries that say the same word for word, and which of them are one fact told twice.

Pure. What was said again may be a second fact: a weight, a dose, a shift, a habit. Only what was said within minutes,
or has the same id, is one saying kept twice; the rest is for a person to decide. It must never make two events one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from unicodedata import normalize

from mdmem.text import items
from mdmem.text.entries import LogEntry
from mdmem.text.items import Pairs

CLOSE = 10
"""Minutes within which the same words come of one thing, kept twice."""

MANY = 12
"""Words, one for each 1.7 characters of Chinese: from here on the same words at two times are worth asking about."""

IDENTITY = ("id", "from")
"""What of a comment says which saying an entry is: a program that hands it in again gives the same."""

ROUTINE = 3
"""On so many days the same words are a habit, or a report that comes each day."""

STATES = {
    "temp",
    "todo",
    "done",
    "open",
    "closed",
    "wip",
    "doing",
    "waiting",
    "待办",
    "完成",
    "已完成",
    "进行中",
    "未完成",
}
"""Tags, and words of nested ones, that say how things stand: what differs in one of them is not the same."""

KINDS = {"status", "state", "priority", "状态", "优先级"}
"""What a tag is nested in that says how things stand, whatever it says: `#status/review`."""

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_TAGS = re.compile(r"(?:(?:\A|[ \t]+)#(?=[\w/-]*[^\W\d_])[\w/-]+)+[ \t]*\Z")
_CODE = re.compile(r"^(?: {4}|\t| {0,3}(?:```|~~~))", re.MULTILINE)
_AGAIN = re.compile(r"\b(?:again|another|once more|one more)\b|又|再|第[二三四五六七八九十]次|\+\d", re.IGNORECASE)
_THAT_DAY = re.compile(
    r"\b(?:to(?:day|night|morrow)|yesterday|this (?:morning|afternoon|evening|week|month)|last night|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|[今明昨后前]天|今[早晚]|刚刚?|现在|[早晚]上|[上下中]午|凌晨|(?:周|星期|礼拜)[一二三四五六日天]",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\A(?:(?:i|we|he|she|they|user|then|and|just|[A-Z]\w+)\s+)?(?:\w{2,}ed|had|took|ate|drank|ran|went|fed|slept|did|met|"
    r"saw|got|made|gave|called|bought|paid|sent|wrote|read|came|left|rode|swam|spent|won|lost|woke|fell|felt)\b|[了过完]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Told:
    """An entry where it stands. `section` is the heading that it stands under, `cited` whether anything names it."""

    path: str
    day: date
    entry: LogEntry
    address: str
    head: str
    section: str = ""
    cited: bool = False

    @property
    def minutes(self) -> int:
        return int(self.entry.time[:2]) * 60 + int(self.entry.time[3:5])


@dataclass(frozen=True, slots=True)
class Merge:
    """An entry that stays, with its text and comment as they shall be, and those that it stands for."""

    kept: Told
    text: str
    meta: Pairs
    gone: tuple[Told, ...]


def merges(told: Iterable[Told]) -> Iterator[Merge]:
    """Yield what was one saying kept twice, by the earliest of each."""
    for group in _groups(told):
        yield from _in_group(group)


def alike(told: Iterable[Told]) -> Iterator[tuple[Told, Told]]:
    """Yield entries of the same words that may be one fact or two, each with the earliest: only a person can tell.

    Short ones, values and what comes on many days are two things more often than one, and not worth asking about.
    """
    for group in _groups(told):
        text = folded(group[0].entry.text)
        if weight(text) < MANY or len({one.day for one in group}) >= ROUTINE:
            continue
        first = group[0]
        for other in group[1:]:
            if not other.cited and _agree(first, other) and not is_same(first, other):
                yield first, other


def _groups(told: Iterable[Told]) -> Iterator[list[Told]]:
    """Yield entries of the same words, the earliest first."""
    same: dict[tuple[str, ...], list[Told]] = defaultdict(list)
    for one in told:
        if said := folded(one.entry.text):
            meta = dict(one.entry.meta)
            same[said, meta.get("persona", ""), meta.get("source", ""), one.section, one.head].append(one)
    for group in same.values():
        if len(group) > 1:
            yield sorted(group, key=lambda one: (one.day, one.entry.time, one.path, one.entry.start))


def _in_group(group: Sequence[Told]) -> Iterator[Merge]:
    kept: dict[int, list[Told]] = {}
    for place, one in enumerate(group):
        for first, gone in kept.items():
            if is_same(group[first], one) and all(_agree(other, one) for other in gone):
                gone.append(one)
                break
        else:
            kept[place] = []
    for first, gone in kept.items():
        if gone:
            yield _united(group[first], gone)


def is_same(kept: Told, other: Told) -> bool:
    """Tell whether an entry with the same words as an earlier one is the same saying, kept twice."""
    if other.cited or not _agree(kept, other):
        return False
    metas = [dict(one.entry.meta) for one in (kept, other)]
    if any(metas[0].get(key) and metas[0].get(key) == metas[1].get(key) for key in IDENTITY):
        return True
    text = folded(kept.entry.text)
    if kept.path != other.path or _AGAIN.search(text) or is_measured(text):  # another log of a day is another source
        return False
    return other.minutes - kept.minutes <= CLOSE


def _agree(one: Told, other: Told) -> bool:
    """Tell whether the comments and the tags of two entries can be united."""
    first, second = dict(one.entry.meta), dict(other.entry.meta)
    if any(first[key] != second[key] for key in first.keys() & second.keys()):
        return False
    states = [set(filter(_is_state, map(str.casefold, tags(each.entry.text)))) for each in (one, other)]
    return first.get("expires") == second.get("expires") and states[0] == states[1]


def _is_state(tag: str) -> bool:
    words = set(tag.split("/"))
    return bool(words & STATES or words & KINDS)


def _united(kept: Told, gone: Sequence[Told]) -> Merge:
    text, meta = kept.entry.text, kept.entry.meta
    for one in gone:
        text = items.with_tags(text, tags(one.entry.text))
        meta += tuple(pair for pair in one.entry.meta if pair[0] not in dict(meta))
    return Merge(kept, text, meta, tuple(gone))


# What a text says


def folded(text: str) -> str:
    """Give the words of a text by which it is the same as another: without the tags at its ends; code as it is."""
    first, newline, rest = normalize("NFC", text).partition("\n")
    plain = _TAGS.sub("", first) + newline + rest
    *paragraphs, last = plain.rstrip().split("\n\n")
    if paragraphs and _TAGS.fullmatch(last.strip()):
        plain = "\n\n".join(paragraphs)
    if _CODE.search(plain):
        return "\n".join(line.rstrip() for line in plain.strip("\n").split("\n"))
    return " ".join(plain.split())


def tags(text: str) -> list[str]:
    """List the tags at the end of the first line, and those that are a last paragraph: what `folded` leaves out."""
    first = text.partition("\n")[0]
    last = text.rstrip().rpartition("\n\n")[2].strip() if "\n\n" in text else ""
    found = [_TAGS.search(first), _TAGS.fullmatch(last) if last else None]
    return [word.lstrip("#") for match in found if match for word in match[0].split()]


def weight(text: str) -> float:
    """Give the length of a text in words."""
    signs = len(_CJK.findall(text))
    return len(_WORD.findall(_CJK.sub(" ", text))) + signs / 1.7


def is_measured(text: str) -> bool:
    """Tell whether a text is a value more than a sentence: `weight 71.2`, `took aspirin`, 血压 120/80, 吃药一片."""
    counts = any(char.isdigit() for char in text) or _DOSE.search(text)
    return bool(counts) and weight(text) < MANY


_DOSE = re.compile(
    r"(?i)\b(?:took|taken|dose|doses|tablets?|pills?|drops|shots?|inject(?:ed|ion)|paid|ran|swam|walked|drank|ate)\b"
    r"|[一二两三四五六七八九十半][片粒颗针次杯支滴剂包瓶碗圈组个]|吃[了过]?药|服药|打针|用药"
)
"""What may be done twice within minutes."""


def is_event(text: str) -> bool:
    """Tell whether a text is of its day: of something that happened, or by words such as `today`."""
    return bool(_HAPPENED.search(text) or _THAT_DAY.search(text) or _AGAIN.search(text))


def section(source: str, entries: Sequence[LogEntry]) -> list[str]:
    """Give for each entry of a log, in file order, the last heading above it that is none of a day."""
    found, place, inside = [], 0, 0
    marks = list(re.finditer(r"^#{1,6}[ \t]+(.*?)[ \t\r]*$", source, re.MULTILINE))
    last = ""
    for entry in entries:
        while place < len(marks) and marks[place].start() < entry.start:
            mark = marks[place]
            if mark.start() >= inside and not re.fullmatch(r"[\d\s./-]*", mark[1]):
                last = mark[0].rstrip()
            place += 1
        found.append(last)
        inside = entry.end
    return found
