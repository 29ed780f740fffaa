"""Whom a clause is about: the user, somebody of theirs, or somebody with a name; and who is to do what a to-do says.

Owns those signs. It must name somebody only where the beginning of the clause does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mdmem.distill.partners import nearest
from mdmem.distill.words import content, stem, wide_pool
from mdmem.text.analyze import unify

_KIN = (
    r"(?:mother|mum|mom|father|dad|parents?|sister|brother|wife|husband|partner|son|daughter|friend|boss|manager"
    r"|colleague|neighbou?r|roommate|flatmate|girlfriend|boyfriend|aunt|uncle|cousin|landlord|landlady|doctor)"
)
_KIN_ZH = (
    "(?:妈妈?|爸爸?|母亲|父亲|[弟妹哥姐]{1,2}|[堂表][弟妹哥姐]|爷爷|奶奶|外[公婆]|姥[姥爷]|[叔舅姑姨]{1,2}|婆婆|岳[父母]|老[公婆板师]|妻子"
    "|丈夫|太太|男友|女友|同事|朋友|室友|儿子|女儿|孩子|领导|房东|邻居)"
)
_NAME_ZH = (
    r"[阿老](?![板是师家婆公虎说])[\u4e00-\u9fff](?!板|师)"
    r"|小(?![时心区孩学说吃便组程红朋猫狗])[\u4e00-\u9fff](?=[\u4e00-\u9fff])"
)
_USER = re.compile(rf"(?i)\W*(?:the )?(?:user|i|we)\b(?!['’]s {_KIN})|\W*(?:用户|我们?)(?!的?{_KIN_ZH})")
_OF = re.compile(
    rf"(?i)\W*(?:the )?(?P<owner>[\w-]+)['’]s (?P<kin>{_KIN})\b|\W*(?P<pronoun>my|our|his|her|their) (?P<one>{_KIN})\b"
    r"|(?-i:\W*(?P<bare>Mum|Mom|Dad|Mother|Father|Grandma|Grandpa)\b)"
    rf"|\W*(?:(?P<name>用户|我|{_NAME_ZH}|[A-Z]\w+ ?)的?)?(?P<han>{_KIN_ZH})"
    rf"|\W*(?:the )?(?P<whose>[\w-]+) of (?:my|our|his|her|their) (?P<behind>{_KIN})\b"
)
"""Whose mother, sister or friend a clause is about."""

_NAMED = re.compile(
    r"([A-ZÀ-Þ][\w'-]+) (?:is|was|has|had|will|can|does|did|lent|gave|sent|took|told|said|made|got|bought|sold|paid"
    r"|met|went|came|wrote|knew|ate|drank|ran|won|lost|left|kept|brought|taught|\w{2,}s|\w{3,}ed)\b"
    r"|([A-ZÀ-Þ][\w-]+)['’]s |([A-ZÀ-Þ][\w'-]+) ?(?=[\u4e00-\u9fff])|([\u4e00-\u9fff]{2,3})的"
    rf"|({_NAME_ZH})"
)
_OTHERS = re.compile(r"(?i)(?:he|she|they)\b|[他她]")
_OWN_ACT = re.compile(
    r"(?i)(?:likes|loves|enjoys|prefers|hates|dislikes|uses|owns|has|lives|works|drinks|eats|wants|needs|bought|owes|is|speaks"
    r"|learns|plays|moved)\b|不?(?:喜欢|讨厌|爱|想|欠|住|养)"
)
"""What a claim begins with that leaves the user out."""


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody: "user" or a name, and who of theirs it is ("" for themselves). Nothing at all where it is not sure."""

    name: str = ""
    kin: str = ""

    def __str__(self) -> str:
        if not self.kin or not self.name or self.name == "user":
            return self.kin or self.name
        return f"{self.name}'s {self.kin}" if self.kin.isascii() else f"{self.name}{self.kin}"


def who(clause: str, *, implied: bool = False) -> Who:
    """Tell whom a clause is about. With `implied` one that begins with a verb of liking or having is the user's."""
    if _USER.match(clause):
        return Who("user")
    if found := _OF.match(clause):
        if found["whose"]:
            return Who(found["behind"].casefold(), found["whose"].casefold())
        owner = (found["owner"] or found["name"] or "").strip()
        theirs = owner.casefold() not in ("", "user", "用户", "我") or (found["pronoun"] or "").casefold() in _ANOTHER
        name = (owner or found["pronoun"]) if theirs else "user"
        return Who(name, next(filter(None, (found[group] for group in ("kin", "one", "bare", "han")))).casefold())
    if implied and _OWN_ACT.match(clause):
        return Who("user")
    found = _NAMED.match(clause) or _OTHERS.match(clause)
    return Who(next(filter(None, found.groups()), found[0])) if found else Who()


_ANOTHER = ("his", "her", "their")


def subject(clause: str) -> str:
    """Name whom a clause is about, where that is another than who writes; "" where it is not sure."""
    found = who(clause)
    return "" if found == Who("user") else found.kin if found.name == "user" else found.name


def other_subject(text: str, told: str) -> str:
    """Say that a claim rests on what somebody else likes, has or does than it says."""
    if found := _disowned(text, told) or _debtor(text, told):
        return found
    mine = who(text, implied=True)
    near = [(clause.text, who(clause.text)) for clause in nearest(content(text), told)]
    if not mine.name or not near or not all(other.name for _, other in near):
        return ""
    if any(_is_same(mine, other, text, clause) for clause, other in near):
        return ""
    return f"its source says so of {near[0][1]}".replace("of user", "of the user")


def _disowned(text: str, told: str) -> str:
    """Say whose something is, where a claim speaks of it as if it were the user's; else ""."""
    owned = [_OWNED.match(clause.text) for clause in nearest(content(text), told)]
    found = owned[0] if owned and all(owned) else None
    if not found or not re.match(rf"(?i)\W*(?:the |an? )?{re.escape(found[2])}\b", text) or found[1] in text:
        return ""
    return f"its source says so of {found[1]}'s {found[2]}"


_OWNED = re.compile(r"\W*(?:(?i:my|our|the) )?([\w-]+)['’]s (\w+)\b")


def _debtor(text: str, told: str) -> str:
    """Say who owes, where a claim has a debt the other way round; else ""."""
    debts = [_owes(clause.text) for clause in nearest(content(text), told)]
    mine = _owes(text)
    if mine is None or not debts or any(debt is None or debt == mine for debt in debts):
        return ""
    return "its source says that the other one owes it"


def _owes(clause: str) -> bool | None:
    """Tell whether a clause has the user owe something, or another owe it them; None where there is no debt."""
    found = _OWES.search(clause)
    return None if found is None else not any(found[group] for group in ("en", "me", "zh", "mich"))


_OWES = re.compile(
    r"(?:\b(?!I\b|User\b)(?P<en>[A-ZÀ-Þ][\w'-]+) )?(?i:(?:still )?\bowes?\b)(?P<me> (?:me|us|the user)\b)?"
    rf"|(?P<zh>{_NAME_ZH}|[A-Z]\w+ ?)?[还仍]?欠(?P<mich>我|用户)?"
)
"""A debt, and the signs of its being another's."""


def _is_same(mine: Who, other: Who, text: str, clause: str) -> bool:
    """Tell whether two are one, or the claim names who the clause is about and says another thing of itself."""
    if mine.name.casefold() == other.name.casefold() and (
        mine.kin == other.kin or (mine.kin and other.kin and wide_pool(other.kin).has(*content(mine.kin)[:1]))
    ):
        return True
    if other.name.casefold() in ("he", "she", "they", *_ANOTHER):
        return mine != Who("user")
    named = (other.kin or other.name).casefold() in text.casefold() or (
        other == Who("user") and (mine.kin or mine.name).casefold() in clause.casefold()
    )
    return named and not (_act(clause) and _act(clause) == _act(text))


def _act(clause: str) -> str:
    """Give the word behind who a clause is about, as its stem; "" where there is none."""
    plain = unify(clause)
    found = _ACT.match(plain)
    if _OWN_ACT.match(plain):
        found = re.match(r"\W*([a-z]+)", plain, re.IGNORECASE)
    return stem(found[1].casefold()) if found else ""


_ACT = re.compile(r"(?i)\W*(?:the )?(?:(?:my|our|his|her|[\w-]+['’]s) )?[\w'-]+ (?:has |have |had |will )?([a-z]+)\b")


def owed_by_others(text: str, told: str) -> str:
    """Name who is to do what a to-do says, where its source says that of another than the user; else ""."""
    near = [one.sentence.strip() for one in nearest(content(text), told)]
    found = [_THEY_WILL.search(sentence) for sentence in near]
    name = next(filter(None, found[0].groups()), "").strip() if found and found[0] and all(found) else ""
    if not name or _FOLLOWS.search(text) or re.match(rf"\W*{re.escape(name)}\b", text):
        return ""
    return name


_THEY_WILL = re.compile(
    rf"\A\W*((?!I\b|We\b|User\b)[A-ZÀ-Þ][\w'-]+|(?:My|Our) {_KIN}) (?:has )?"
    r"(?:promised|will|owes|is going to|wants to|has to|needs to|must)\b"
    r"|\A\W*([\u4e00-\u9fff]{2,3}?|[A-Z]\w+ ?)(?:答应|说|会|要|得|承诺)[^我]*[给发还寄带借]我"
    rf"|\A\W*({_NAME_ZH}|[A-Z]\w+ ?)(?:负责|来)|(?i:\b(?:remind|tell|ask)) ([A-ZÀ-Þ]\w+) to\b"
    r"|(?:提醒|叫|让)([阿小老][\u4e00-\u9fff])"
)
_FOLLOWS = re.compile(r"(?i)\b(?:wait|remind|ask|tell|follow|check|chase)|[等催问收提跟叫让]")
"""What the user is to do about what others do."""
