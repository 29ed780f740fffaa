"""Whom a clause is about: the user, somebody of theirs, or somebody with a name; and who is to do what a to-do says.

Owns those signs. It must name somebody only where the beginning of the clause does.
"""

from __future__ import annotations

import re

from mdmem.distill.partners import nearest
from mdmem.distill.words import content, stem
from mdmem.text.analyze import unify

_KIN = (
    r"(?:mother|mum|mom|father|dad|parents?|sister|brother|wife|husband|partner|son|daughter|friend|boss|manager"
    r"|colleague|neighbou?r|roommate|flatmate|girlfriend|boyfriend|aunt|uncle|cousin)"
)
_KIN_ZH = (
    "(?:妈妈?|爸爸?|母亲|父亲|[弟妹哥姐]{1,2}|[堂表][弟妹哥姐]|爷爷|奶奶|外[公婆]|姥[姥爷]|[叔舅姑姨]{1,2}|婆婆|岳[父母]|老[公婆板师]|妻子"
    "|丈夫|太太|男友|女友|同事|朋友|室友|儿子|女儿|孩子|领导|房东|邻居)"
)
_USER = re.compile(rf"(?i)\W*(?:the )?(?:user|i)\b(?!['’]s {_KIN})|\W*(?:用户|我)(?!们|的?{_KIN_ZH})")
_THEIRS = re.compile(
    rf"(?i)(?:he|she|they|(?:my|our|his|her) {_KIN})\b"
    rf"|[他她]|我?{_KIN_ZH}"
)
_NAMED = re.compile(
    r"([A-ZÀ-Þ][\w'-]+) (?:is|was|has|had|will|can|does|did|lent|gave|sent|took|told|said|made|got|bought|sold|paid"
    r"|met|went|came|wrote|knew|ate|drank|ran|won|lost|left|kept|brought|taught|\w{2,}s|\w{3,}ed)\b"
    r"|([A-ZÀ-Þ][\w-]+)['’]s |([A-ZÀ-Þ][\w'-]+) ?(?=[\u4e00-\u9fff])|([\u4e00-\u9fff]{2,3})的"
    r"|([阿老](?![板是师家婆公虎说])[\u4e00-\u9fff]|小(?![时心区孩学说吃便组程红朋猫狗])[\u4e00-\u9fff])(?=[\u4e00-\u9fff])"
)
_OF = re.compile(rf"(?i)\W*(?:the )?([\w-]+)['’]s ({_KIN})\b")
"""Whose mother, sister or friend a clause is about."""


def other_subject(text: str, told: str) -> str:
    """Say that a claim about the user rests on what somebody else likes, has or does, who is not named in it."""
    if theirs := _OF.match(text):
        found = [_OF.match(clause.text) for clause in nearest(content(text), told)]
        owners = [one[1] for one in found if one and one[2].casefold() == theirs[2].casefold()]
        strange = theirs[1].casefold() == "user" and owners and len(owners) == len(found)
        return f"its source says so of {owners[0]}" if strange else ""
    near = nearest(content(text), told) if _USER.match(text) else []
    others = [subject(clause.text) for clause in near]
    if near and all(others) and all(_act(one.text) == _act(text) != "" for one in near):
        return f"its source says so of {others[0]}"
    if not others or any(not other or other.casefold() in text.casefold() for other in others):
        return ""
    return f"its source says so of {others[0]}"


def _act(clause: str) -> str:
    """Give the word behind who a clause is about, as its stem; "" where there is none."""
    found = _ACT.match(unify(clause))
    return stem(found[1].casefold()) if found else ""


_ACT = re.compile(r"(?i)\W*(?:the )?(?:(?:my|our|his|her) )?[\w'-]+ (?:has |have |had |will )?([a-z]+)\b")


def owed_by_others(text: str, told: str) -> str:
    """Name who is to do what a to-do says, where its source says that of another than the user; else ""."""
    found = [_THEY_WILL.match(one.sentence.strip()) for one in nearest(content(text), told)]
    who = found[0][1] or found[0][2] if found and found[0] and all(found) else ""
    meant = re.search(
        rf"(?i){re.escape(who)} (?:to|will)\b|\b(?:wait|remind|ask|follow|check|chase)|[等催问收提跟]", text
    )
    return "" if meant else who


_THEY_WILL = re.compile(
    rf"((?!I\b|We\b|User\b)[A-ZÀ-Þ][\w'-]+|(?:My|Our) {_KIN}) (?:has )?"
    r"(?:promised|will|owes|is going to|wants to|has to|needs to|must)\b"
    r"|([\u4e00-\u9fff]{2,3}?|[A-Z]\w+ ?)(?:答应|说|会|要|得|承诺)[^我]*[给发还寄带借]我"
)


def subject(clause: str) -> str:
    """Name whom a clause is about, where that is another than who writes; "" where it is not sure."""
    found = None if _USER.match(clause) else _NAMED.match(clause) or _THEIRS.match(clause)
    who = next(filter(None, found.groups()), found[0]) if found else ""
    return re.sub(r"(?i)^(?:my|our|his|her) |^我(?=.)", "", who)
