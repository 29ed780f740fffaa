"""Whether what a claim says stands in the entries that it names: numbers, names, words, yes or no, how sure.

Owns that comparison, which knows words and not meanings: a claim that it cannot make out in its sources goes to a
person. It must never count a text that a reader of the log does not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mdmem.distill import amounts, dating, partners, rates, stance, subjects
from mdmem.distill.dating import parts
from mdmem.distill.figures import numbers
from mdmem.distill.vocabulary import plain_han
from mdmem.distill.words import Pool, content, is_plain, is_surname, names, unknown, wide_pool
from mdmem.model import Entry
from mdmem.text.analyze import is_cjk, unify
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
    here = wide_pool(f"{known}\n{dating.named_days(sources)}")
    return (
        _unknown_number(text, here, sources)
        or _unknown_name(text, here)
        or stance.contradiction(text, said)
        or next(rates.strange(text, known), "")
        or _unknown_words(text, here)
        or subjects.other_subject(text, said)
        or ("" if _squeezed(text).rstrip(".。") in here.folded else _rearranged(text, said, replaced, sources))
    )


def _rearranged(text: str, said: str, replaced: str, sources: Sequence[Entry]) -> str:
    return _strange_amount(text, said, replaced, sources) or partners.doubt(text, f"{said}\n{replaced}")


# --- numbers and names


def _unknown_number(text: str, here: Pool, sources: Sequence[Entry]) -> str:
    known = {part for number in here.numbers for part in (number, *parts(number))}
    known |= set(_afternoon(known))
    clock = known | {"0"} | ({"30"} if "半" in here.folded or "half past" in here.folded else set())
    days = {part for entry in sources for part in dating.days(entry)}
    dated = {part for match in dating.DATED.finditer(unify(text)) for part in parts(match[0])}
    for number in numbers(text):
        pieces = set(parts(number))
        if number in known or pieces <= (clock if ":" in number else known if re.search("[/-]", number) else set()):
            continue
        if ":" in number or not (pieces <= dated and pieces <= known | days):
            return f"its sources do not say {number}"
    return ""


def _afternoon(known: set[str]) -> Iterator[str]:
    """Yield the hours of the afternoon that `3 pm` and 下午三点 stand for."""
    yield from (str(int(number) + 12) for number in known if number.isdecimal() and 1 <= int(number[:3]) <= 11)


def _strange_amount(text: str, told: str, old: str, sources: Sequence[Entry]) -> str:
    """Say which number of a claim its sources have of something else. Dates that were counted are left out."""
    days = {part for entry in sources for part in dating.days(entry)}

    def undated(each: str) -> str:
        return dating.DATED.sub(lambda match: " " if set(parts(match[0])) <= days else match[0], unify(each))

    return next(amounts.strange(undated(text), undated(told), undated(old)), "")


_VERBS = frozenset(
    """
    add ask avoid book bring buy call cancel check choose copy do drink eat finish fix get give go keep learn let live
    make meet move open order own pay pick plan play prepare put read remember renew return run send set speak start
    stop study switch take try use visit wait work write
    """.split()  # noqa: SIM905 - as in `words`
)
"""Words that begin a claim with a capital and are no names."""

_SUBJECT = re.compile(r"(?:is|was|has|had|will|can|does|did|wants|\w{2,}s)\b")


def _unknown_name(text: str, here: Pool) -> str:
    """Say which name of a claim its sources do not know. A capital that only begins a sentence makes no name."""
    plain = unify(text)
    for name in names(text):
        units = content(name)
        known = all(here.has(unit) for unit in units) or _squeezed(name) in here.folded
        if known or dating.DAY_OR_MONTH.fullmatch(name):
            continue
        at = plain.find(name)
        begins = at >= 0 and not re.sub(r"[\W_]+", "", re.split(r"[.!?。！？:：]", plain[:at])[-1])
        ending = re.search(r"(?:s|ed|ing|ly)\Z", name)
        is_subject = bool(_SUBJECT.match(plain[at + len(name) :].lstrip()))
        if begins and (name.casefold() in _VERBS or is_plain(name.casefold(), "")):
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
    new = list(dict.fromkeys(unknown(text, here, plain=plain_han())))
    strange = (word for word in new if not is_plain(word, here.folded))
    person = next((word for word in strange if is_cjk(word[0]) and is_surname(word[0]) and 2 <= len(word) <= 3), "")
    if person:
        return f"its sources do not name {person}"
    loose = sum(len(unit) == 2 for unit in content(text) if is_cjk(unit[0]) and here.has(unit)) >= 6
    heavy = [word for word in new if not is_plain(word, here.folded, loose=loose)]
    if not heavy and sum(map(len, new)) > sum(len(unit) for unit in content(text) if here.has(unit)):
        heavy = new  # more of it is new than stands in the sources
    return "its sources do not say " + ", ".join(heavy[:4]) if heavy else ""
