"""Whether what a claim says stands in the entries that it names: numbers, names, words, yes or no, how sure.

Owns that comparison, which knows words and not meanings: a claim that it cannot make out in its sources goes to a
person. It must never count a text that a reader of the log does not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from mdmem.distill.words import Clause, Pool, clauses, content, is_surname, names, negations, numbers, pool
from mdmem.model import Entry
from mdmem.text.analyze import is_cjk, unify
from mdmem.text.extract.days import absolute
from mdmem.text.screen import clean

ENOUGH = 0.7
"""The share of a claim's words that must stand in its sources, or in the line that it takes the place of."""

LONGEST = 20_000
"""Characters of an entry that a claim may rest on."""

_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)|<[A-Za-z/!][^>]*>", re.DOTALL)
_SHOWN = re.compile(r"<U\+[0-9A-F]{4,6}>")
_ASSISTANT = re.compile(
    r"(?i)\A\W*(?:assistant|ai|bot|model|claude|chat-?gpt|gpt|gemini|助手|助理|机器人|模型)\W{0,4}\s*[:：]"
)
_SPEAKER = re.compile(r"(?i)\A\W*(?:user|human|me|person|用户|我|人)\W{0,4}\s*[:：]")


def seen(text: str) -> str:
    """Give what a reader sees of an entry: no comments, HTML, alternative texts, addresses of links, hidden signs."""
    return _SHOWN.sub("", clean(_UNSEEN.sub(" ", text[:LONGEST])))


def said_by_people(text: str) -> str:
    """Give a text without the lines of an assistant in a transcript."""
    kept, assistant = [], False
    for line in text.split("\n"):
        assistant = bool(_ASSISTANT.match(line)) or (assistant and not _SPEAKER.match(line))
        kept += [] if assistant else [line]
    return "\n".join(kept)


def doubt(text: str, sources: Sequence[Entry], replaced: str = "") -> str:
    """Say what of a claim does not stand in its sources, or in the line it replaces; "" where all does."""
    told = "\n".join(said_by_people(seen(entry.text)) for entry in sources)
    if not told.strip():
        return "only the assistant said so"
    here = pool(f"{told}\n{replaced}")
    return (
        _unknown_number(text, here, sources)
        or _unknown_name(text, here)
        or _contradiction(text, told)
        or _unknown_words(text, here)
        or _other_subject(text, told)
    )


# --- numbers and names


def _unknown_number(text: str, here: Pool, sources: Sequence[Entry]) -> str:
    known = {part for number in here.numbers for part in (number, *_parts(number))}
    known |= set(_afternoon(known))
    clock = known | {"0"} | ({"30"} if "半" in here.folded or "half past" in here.folded else set())
    days = {part for entry in sources for part in _days(entry)}
    dated = {part for match in _DATED.finditer(unify(text)) for part in _parts(match[0])}
    for number in numbers(text):
        parts = set(_parts(number))
        if number in known or parts <= (clock if ":" in number else known if re.search("[/-]", number) else set()):
            continue
        if ":" in number or not (parts <= dated and parts <= known | days):
            return f"its sources do not say {number}"
    return ""


def _parts(number: str) -> tuple[str, ...]:
    return tuple(part.lstrip("0") or "0" for part in re.split(r"\D", number) if part)


def _afternoon(known: set[str]) -> Iterator[str]:
    """Yield the hours of the afternoon that `3 pm` and 下午三点 stand for."""
    yield from (str(int(number) + 12) for number in known if number.isdecimal() and 1 <= int(number[:3]) <= 11)


_DATED = re.compile(
    r"(?i)\b[12]\d{3}(?:-\d\d?){1,2}\b|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:%s)\w*(?:,? [12]\d{3})?"
    r"|\b(?:%s)\w*\.? \d{1,2}(?:st|nd|rd|th)?\b(?:,? [12]\d{3})?|\d+ ?[年月日号]|\b(?:in|since|until|by) [12]\d{3}\b"
    % (("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",) * 2)
)
"""Numbers that are parts of a date."""

_ISO = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b")
_DATING = 2_000
"""Characters of an entry that are searched for days."""


@lru_cache(maxsize=256)
def _days(entry: Entry) -> frozenset[str]:
    """Give the parts of the dates that an entry names by where they lie from its own, which is one of them."""
    if entry.date is None:
        return frozenset()
    text = entry.text[:_DATING]
    told = [entry.date.date().isoformat()]
    told += [absolute(text, text, entry.date, ahead=ahead) for ahead in (True, False)]
    return frozenset(part for each in told for found in _ISO.findall(each) for part in _parts(found))


_VERBS = frozenset(
    """
    add ask avoid book bring buy call cancel check choose copy do drink eat finish fix get give go keep learn let live
    make meet move open order own pay pick plan play prepare put read remember renew return run send set speak start
    stop study switch take try use visit wait work write
    """.split()  # noqa: SIM905 - as in `words`
)
"""Words that begin a claim with a capital and are no names."""

_MONTHS = re.compile(r"(?i)(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber|\w+day")
_SUBJECT = re.compile(r"(?:is|was|has|had|will|can|does|did|wants|\w{2,}s)\b")


def _unknown_name(text: str, here: Pool) -> str:
    """Say which name of a claim its sources do not know. A capital that only begins a sentence makes no name."""
    plain = unify(text)
    for name in names(text):
        units = content(name)
        known = all(here.has(unit) for unit in units) or _squeezed(name) in here.folded
        if known or _MONTHS.fullmatch(name):
            continue
        at = plain.find(name)
        begins = at >= 0 and not re.sub(r"[\W_]+", "", re.split(r"[.!?。！？:：]", plain[:at])[-1])
        ending = re.search(r"(?:s|ed|ing|ly)\Z", name)
        is_subject = bool(_SUBJECT.match(plain[at + len(name) :].lstrip()))
        if begins and name.casefold() in _VERBS:
            continue
        if not begins or not name.isalpha() or not name[0].isupper() or not ending or is_subject:
            return f"its sources do not name {name}"
    return ""


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", unify(text).casefold())


# --- words


def _unknown_words(text: str, here: Pool) -> str:
    """Say that too much of a claim does not stand in its sources, or that it says nothing that could."""
    units = content(text)
    if not units:
        return "it says too little to be compared with its sources"
    missing = [unit for unit in units if not here.has(unit)]
    new = [unit for unit in missing if is_cjk(unit[0]) and not any(char in here.folded for char in unit)]
    named = next((unit for unit in new if unit == units[0] or (is_surname(unit[0]) and len(unit) == 2)), "")
    if named:
        return f"its sources do not name {named}"
    if sum(_weight(unit, here) for unit in missing) > (1 - ENOUGH) * len(units) or len(new) > 1:
        return "its sources do not say " + ", ".join((new or missing)[:4])
    return ""


def _weight(unit: str, here: Pool) -> float:
    """Say how much a missing unit counts: a pair of characters that are there, apart, may be another order of words.

    In a long text most characters are there, and that says less.
    """
    if not is_cjk(unit[0]) or not all(char in here.folded for char in unit):
        return 1.0
    return 0.4 if len(here.folded) <= 400 else 0.6


_USER = re.compile(r"(?i)\W*(?:the )?(?:user|i)\b|\W*(?:用户|我)(?!们)")
_THEIRS = re.compile(
    r"(?i)(?:he|she|they|(?:my|our|his|her) (?:mother|mum|mom|father|dad|parents?|sister|brother|wife|husband|partner"
    r"|son|daughter|friend|boss|manager|colleague|neighbou?r|roommate|flatmate|girlfriend|boyfriend|aunt|uncle"
    r"|cousin))\b"
    r"|[他她]|我?(?:妈妈?|爸爸?|妹妹|弟弟|姐姐|哥哥|老[公婆板师]|男友|女友|同事|朋友|室友|儿子|女儿)"
)
_NAMED = re.compile(
    r"([A-ZÀ-Þ][\w'-]+) (?:is|was|has|had|will|can|does|did|\w{2,}s|\w{3,}ed)\b|([A-ZÀ-Þ][\w'-]+) ?(?=[\u4e00-\u9fff])"
)


def _other_subject(text: str, told: str) -> str:
    """Say that a claim about the user rests on what somebody else likes, has or does, who is not named in it."""
    near = _nearest(content(text), told) if _USER.match(text) else []
    others = [_subject(clause.text) for clause in near]
    if not others or any(not other or other.casefold() in text.casefold() for other in others):
        return ""
    return f"its source says so of {others[0]}"


def _subject(clause: str) -> str:
    """Name whom a clause is about, where that is another than who writes; "" where it is not sure."""
    found = None if _USER.match(clause) else _NAMED.match(clause) or _THEIRS.match(clause)
    return next(filter(None, found.groups()), found[0]) if found else ""


# --- yes or no


def _contradiction(text: str, told: str) -> str:
    """Say that a clause of the claim says no where its source says yes, or is surer than it."""
    for clause in clauses(text):
        units = content(clause.text)
        near = _nearest(units, told)
        if not units or not near:
            continue
        if all((negations(one.text) - negations(clause.text)) % 2 for one in near):
            return "its source says the opposite"
        if all(one.asks for one in near) and not clause.asks:
            return "its source only asks"
        if all(_UNSURE.search(one.sentence) for one in near) and not _UNSURE.search(clause.sentence):
            return "its source is less sure"
    return ""


_UNSURE = re.compile(
    r"(?i)\b(?:maybe|perhaps|might|possibly|not sure|unsure|apparently|thinking (?:of|about)|considering|rumou?rs?)\b"
    r"|可能|也许|或许|大概|好像|似乎|不确定|说不定|据说|考虑"
)


@lru_cache(maxsize=32)
def _clauses(told: str) -> tuple[tuple[Clause, Pool], ...]:
    """Give the clauses of what was told, ready for comparing: many claims rest on the same entries."""
    return tuple((clause, pool(clause.text)) for clause in clauses(told))


def _nearest(units: Sequence[str], told: str) -> list[Clause]:
    """Give the clauses that share the most with some units, where that is at least half of them."""
    scored = [(sum(map(here.has, units)), clause) for clause, here in _clauses(told)]
    best = max((score for score, _ in scored), default=0)
    return [clause for score, clause in scored if score == best] if best * 2 >= len(units) and best else []
