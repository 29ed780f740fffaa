"""Whether what a claim says stands in the entries that it names: numbers, names, words, yes or no, how sure.

Owns that comparison, which knows words and not meanings: a claim that it cannot make out in its sources goes to a
person. It must never count a text that a reader of the log does not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache

from mdmem.distill import amounts, partners
from mdmem.distill.partners import nearest
from mdmem.distill.words import Pool, clauses, content, is_surname, names, negations, numbers, pool, unknown
from mdmem.model import Entry
from mdmem.text.analyze import is_cjk, unify
from mdmem.text.extract.days import absolute
from mdmem.text.screen import clean

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


def told(sources: Sequence[Entry]) -> str:
    """Give what people say in some entries, as a reader sees it."""
    return "\n".join(said_by_people(seen(entry.text)) for entry in sources)


def doubt(text: str, sources: Sequence[Entry], replaced: str = "") -> str:
    """Say what of a claim does not stand in its sources, or in the line it replaces; "" where all does."""
    said = told(sources)
    if not said.strip():
        return "only the assistant said so"
    known = f"{said}\n{replaced}" if replaced else said
    here = pool(f"{known}\n{_dating(sources)}")
    return (
        _unknown_number(text, here, sources)
        or _unknown_name(text, here)
        or contradiction(text, said)
        or _unknown_words(text, here)
        or _other_subject(text, said)
        or ("" if _squeezed(text).rstrip(".。") in here.folded else _rearranged(text, said, replaced, sources))
    )


def _rearranged(text: str, said: str, replaced: str, sources: Sequence[Entry]) -> str:
    return _strange_amount(text, said, replaced, sources) or partners.doubt(text, f"{said}\n{replaced}")


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


def _strange_amount(text: str, told: str, old: str, sources: Sequence[Entry]) -> str:
    """Say which number of a claim its sources have of something else. Dates that were counted are left out."""
    days = {part for entry in sources for part in _days(entry)}

    def undated(each: str) -> str:
        return _DATED.sub(lambda match: " " if set(_parts(match[0])) <= days else match[0], unify(each))

    return next(amounts.strange(undated(text), undated(told), undated(old)), "")


@lru_cache(maxsize=256)
def _days(entry: Entry) -> frozenset[str]:
    """Give the parts of the dates that an entry names by where they lie from its own, which is one of them."""
    if entry.date is None:
        return frozenset()
    told = [entry.date.date().isoformat(), *_counted(entry)]
    return frozenset(part for each in told for part in _parts(each))


@lru_cache(maxsize=256)
def _counted(entry: Entry) -> tuple[str, ...]:
    """List the dates that an entry names by where they lie from its own, as `2026-11-29`, and those it has so."""
    if entry.date is None:
        return ()
    text = entry.text[:_DATING]
    told = (absolute(text, text, entry.date, ahead=ahead) for ahead in (True, False))
    return tuple(dict.fromkeys(found for each in told for found in _ISO.findall(each)))


def _dating(sources: Sequence[Entry]) -> str:
    """Give the weekdays and months of the dates that entries name without them."""
    words: list[str] = []
    for day in (day for entry in sources for day in _counted(entry) if day.count("-") == 2):
        try:
            found = date.fromisoformat(day)
        except ValueError:
            continue
        number = "一二三四五六日"[found.weekday()]
        words += [f"{found:%A %B}", f"周{number} 星期{number}"]
    return " ".join(words)


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
    """Say which words of a claim do not stand in its sources, or that it says nothing that could."""
    if not content(text):
        return "it says too little to be compared with its sources"
    new = list(dict.fromkeys(unknown(text, here)))
    person = next((word for word in new if is_cjk(word[0]) and is_surname(word[0]) and 2 <= len(word) <= 3), "")
    if person:
        return f"its sources do not name {person}"
    return "its sources do not say " + ", ".join(new[:4]) if new else ""


_KIN = (
    r"(?:mother|mum|mom|father|dad|parents?|sister|brother|wife|husband|partner|son|daughter|friend|boss|manager"
    r"|colleague|neighbou?r|roommate|flatmate|girlfriend|boyfriend|aunt|uncle|cousin)"
)
_USER = re.compile(rf"(?i)\W*(?:the )?(?:user|i)\b(?!['’]s {_KIN})|\W*(?:用户|我)(?!们)")
_THEIRS = re.compile(
    rf"(?i)(?:he|she|they|(?:my|our|his|her) {_KIN})\b"
    r"|[他她]|我?(?:妈妈?|爸爸?|妹妹|弟弟|姐姐|哥哥|老[公婆板师]|男友|女友|同事|朋友|室友|儿子|女儿)"
)
_NAMED = re.compile(
    r"([A-ZÀ-Þ][\w'-]+) (?:is|was|has|had|will|can|does|did|\w{2,}s|\w{3,}ed)\b"
    r"|([A-ZÀ-Þ][\w-]+)['’]s |([A-ZÀ-Þ][\w'-]+) ?(?=[\u4e00-\u9fff])|([\u4e00-\u9fff]{2,3})的"
)


def _other_subject(text: str, told: str) -> str:
    """Say that a claim about the user rests on what somebody else likes, has or does, who is not named in it."""
    near = nearest(content(text), told) if _USER.match(text) else []
    others = [subject(clause.text) for clause in near]
    if not others or any(not other or other.casefold() in text.casefold() for other in others):
        return ""
    return f"its source says so of {others[0]}"


def subject(clause: str) -> str:
    """Name whom a clause is about, where that is another than who writes; "" where it is not sure."""
    found = None if _USER.match(clause) else _NAMED.match(clause) or _THEIRS.match(clause)
    return next(filter(None, found.groups()), found[0]) if found else ""


# --- yes or no


def contradiction(text: str, told: str) -> str:
    """Say that a clause of the claim says no where its source says yes, or is surer than it."""
    for clause in clauses(text):
        units = content(clause.text)
        near = nearest(units, told)
        if not units or not near:
            continue
        if all((negations(one.text) - negations(clause.text)) % 2 for one in near):
            return "its source says the opposite"
        if all(one.asks for one in near) and not clause.asks:
            return "its source only asks"
        if (
            _HAS.search(clause.text)
            and not _WISHES.search(clause.text)
            and all(_WISHES.search(one.text) for one in near)
        ):
            return "its source only wishes so"
        if all(UNSURE.search(one.sentence) for one in near) and not UNSURE.search(clause.sentence):
            return "its source is less sure"
    return ""


_HAS = re.compile(r"(?i)\b(?:has|have|owns?)\b|有")
_WISHES = re.compile(r"(?i)\b(?:wants?|wish(?:es)?|hopes?|needs?|(?:would|['’]d) (?:like|love))\b|想|希望|需要|打算")
UNSURE = re.compile(
    r"(?i)\b(?:maybe|perhaps|might|possibly|not sure|unsure|apparently|thinking (?:of|about)|considering|rumou?rs?)\b"
    r"|可能|也许|或许|大概|好像|似乎|不确定|说不定|据说|考虑"
)
