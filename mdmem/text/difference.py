"""What two texts that are alike say differently: an opposite, a number, a time, a unit, a name, a word.

Pure. A model puts who likes and who dislikes coffee side by side, for both are about the same: only words tell. Every
doubt is a difference. It must never find none between texts of which one denies, dates or counts otherwise, so that
one content word in the place of another is enough, unless the tables say that both mean the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from unicodedata import normalize

from mdmem.text import contrasts

LONGER = 1.6
"""How many times as long as the other a text is that says more."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_STOP = r"\s;，。；、()\[\]{}<>\"'“”《》" + _CJK
_NUMBER = re.compile(rf"[^,{_STOP}]*\d(?:[^{_STOP}]*[\w%°])?")
_WORD = re.compile(r"[a-zà-ɏ]+(?:[-'][a-zà-ɏ]+)*")
_NAME = re.compile(r"(?<![\w.])(?:[A-ZÀ-Þ][\w'-]*|@\w+|\w*[a-z][A-Z]\w*)")
_LETTER = re.compile(r"(?<![A-Za-z0-9'.])(?:[B-Z]|(?<=[^.!?:] )A|(?<=[^\W\d_A-Za-z])A)(?![A-Za-z0-9'])")
_START = re.compile(r"(?:\A|[.!?:;。！？：；\n]\s*|[-*]\s+)$")
_FIXED = re.compile(
    r"`[^`]+`|《[^》]+》|「[^」]+」|“[^”]+”|\"[^\"]+\"|\[\[[^\]]+\]\]|https?://\S+|\S+@\S+|[\w.~-]*(?:[/_][\w.-]+)+"
)
_HAN_NUMBER = re.compile(f"[{''.join(contrasts.HAN_NUMBERS)}]+")
_NO_NUMBER = re.compile("万一|[十千]分|半天|三明治|四川|(?:周|星期|礼拜)[二三四五六]")
_SIGN = re.compile(f"[{_CJK}]")


def difference(one: str, other: str) -> str:
    """Say in a word what two texts say differently; "" where nothing is found."""
    first, second = (normalize("NFKC", text).replace("’", "'") for text in (one, other))
    looks = (("numbers", _numbers), ("negation", _negations), ("question", _asks), ("tense", _tense), ("name", _quotes))
    for what, look in looks:
        if look(first) != look(second):
            return what
    if _ended(first, second) or _ended(second, first):
        return "tense"
    if _has_other_names(first, second) or _has_other_names(second, first):
        return "names"
    if _excludes(first, second):
        return "opposites"
    if _exchanges(first, second):
        return "words"
    if _is_turned(first, second):
        return "order"
    short, long = sorted(len(re.sub(r"\W", "", text)) for text in (first, second))
    return "length" if long > LONGER * short else ""


# Numbers, dates, times, versions


@lru_cache(maxsize=512)
def _numbers(text: str) -> tuple[str, ...]:
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.casefold().replace("：", ":"))
    plain = re.sub(r"(?<=\d) ?([ap])\.?m\b", r"\1m", plain)
    words = (re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", word.strip(".:-/!?")) for word in _NUMBER.findall(plain))
    found = [part for word in words for part in _parts(word)]
    found += [contrasts.NUMBERS[word] for word in _WORD.findall(plain) if word in contrasts.NUMBERS]
    han = _HAN_NUMBER.findall(_NO_NUMBER.sub(" ", plain))
    found += ["".join(map(contrasts.HAN_NUMBERS.__getitem__, word)) for word in han]
    return tuple(str(int(word)) if word.isascii() and word.isdecimal() and len(word) < 20 else word for word in found)


def _parts(word: str) -> list[str]:
    """Part a number from the unit right behind it: `5kg` counts as `5 kg`, whose unit is a word."""
    found = re.fullmatch(r"(\d[\d.:]*)([a-zµ]+|[%°])", word)
    return [found[1], *([found[2]] if found[2] in ("%", "°", "am", "pm") else [])] if found else [word]


# Names, and what stands for itself


def _has_other_names(one: str, other: str) -> bool:
    """Tell whether a text names somebody or something that another does not; the first word may be any word."""
    plain, words = _FIXED.sub(" ", one), set(re.findall(r"\w+", other.casefold()))
    return any(
        not _START.search(plain[: found.start()]) and not set(_bare(found[0]).split("-")) <= words | {"i", "im", "ive"}
        for found in _NAME.finditer(plain)
        if _stem(_bare(found[0])) not in _known()
    )


def _bare(name: str) -> str:
    return re.sub(r"'s?$", "", name).lstrip("@").casefold().replace("'", "")


def _quotes(text: str) -> list[str]:
    """Give what is quoted, links and paths, and single letters that name something: `plan B`, `方案A`."""
    letters = sorted(letter for letter in _LETTER.findall(text) if letter != "I")
    return letters + sorted(found.strip('`"“”').casefold() for found in _FIXED.findall(text))


def _asks(text: str) -> bool:
    return "?" in text or bool(re.search(r"[吗呢]\W*$", text))


# Time


def _tense(text: str) -> tuple[bool, bool]:
    """Tell whether a text speaks of what will be, and of what was."""
    words = set(_WORD.findall(text.casefold().replace("going to", "will")))
    return bool(words & {"will", "shall", "'ll"}), bool(words & {"was", "were", "had"})


def _ended(one: str, other: str) -> bool:
    """Tell whether a verb is past in one text that is not in another."""
    past, others = (set(_WORD.findall(text.casefold())) for text in (one, other))
    stems = {_stem(word) for word in others if not word.endswith("ed")}
    return any(word.endswith("ed") and _stem(word) in stems for word in past - others)


# Opposites and other words


@lru_cache(maxsize=512)
def _negations(text: str) -> int:
    plain = text.casefold().replace("used to", "used-to")
    words = _WORD.findall(plain)
    count = len([word for word in words if word in contrasts.NEGATIONS or word.endswith("n't")])
    signs = re.sub("|".join(contrasts.HARMLESS), "", plain)
    return count + len(re.findall("|".join(contrasts.NEGATION_SIGNS), signs))


def _excludes(first: str, second: str) -> bool:
    """Tell whether one text has a word of one side of a table where the other has one of another side."""
    pairs = zip(_sides(first), _sides(second), strict=True)
    return any(one and other and one != other for one, other in pairs)


@lru_cache(maxsize=512)
def _sides(text: str) -> tuple[frozenset[int], ...]:
    bag = _bag(text)
    return tuple(frozenset(place for place, side in enumerate(group) if side & bag) for group in _groups())


def _exchanges(first: str, second: str) -> bool:
    """Tell whether each text has a word that the other lacks, or signs stand in the place of others."""
    bags = [_said(text) for text in (first, second)]
    only = [set(bag) - set(other) for bag, other in (bags, bags[::-1])]
    known = [{word for word in only[side] if _like(word) & set(bags[1 - side])} for side in (0, 1)]
    if only[0] - known[0] and only[1] - known[1]:
        return True
    signs = [_SIGN.findall(text) for text in (first, second)]
    return any(
        kind == "replace" and _mean(signs[0][a:b]) and _mean(signs[1][c:d]) and not _same(signs[0][a:b], signs[1][c:d])
        for kind, a, b, c, d in SequenceMatcher(None, signs[0], signs[1], autojunk=False).get_opcodes()
    )


def _mean(signs: Sequence[str]) -> bool:
    return any(sign not in contrasts.IDLE_SIGNS for sign in signs)


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    return bool(_like("".join(one)) & {"".join(other)})


# The tables


@cache
def _groups() -> tuple[tuple[frozenset[str], ...], ...]:
    return tuple(
        tuple(frozenset(_stem(word) for word in side.split()) for side in line.split("|"))
        for line in contrasts.GROUPS.strip().split("\n")
    )


@cache
def _synonyms() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    alike = [frozenset(map(_stem, line.split())) for line in contrasts.ALIKE.strip().split("\n")]
    for side in (*alike, *(side for group in _groups() for side in group)):
        for word in side:
            found.setdefault(word, set()).update(side)
    return found


def _like(word: str) -> set[str]:
    """Give the words that may stand for a word, itself among them."""
    return _synonyms().get(word, set()) | {word}


@cache
def _known() -> frozenset[str]:
    """Give words that are written with a capital and no names: days and months are in the tables."""
    return frozenset(word for group in _groups() if len(group) > 5 for side in group for word in side)


@cache
def _idle() -> frozenset[str]:
    return frozenset(map(_stem, contrasts.IDLE.split())) | frozenset(map(_stem, contrasts.NUMBERS))


@cache
def _han_words() -> tuple[str, ...]:
    words = {word for group in _groups() for side in group for word in side if not word.isascii()}
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


# Words


def _stems(text: str) -> list[str]:
    plain = re.sub(r"(?<=\d)(?=[a-z])", " ", text.casefold())
    plain = plain.replace("have to", "have-to").replace("going to", "going-to").replace("science fiction", "sci-fi")
    return [_stem(word.removesuffix("'s")) for word in _WORD.findall(plain)]


def _said(text: str) -> list[str]:
    """Give the stems that say something."""
    return [word for word in _stems(text) if word not in _idle()]


@lru_cache(maxsize=512)
def _bag(text: str) -> frozenset[str]:
    """Give the words of a text as the tables have them: English by stem, Chinese the longest there are."""
    found, plain = set(_stems(text)), text.casefold()
    found |= {_stem(part) for word in list(found) for part in word.split("-")}
    for word in _han_words():
        if word in plain:
            found.add(word)
            plain = plain.replace(word, " ")
    return frozenset(found)


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Cut an English word to what its forms have in common; short ones stay as they are."""
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > 4:
            return word[:-2]
    if word.endswith("y") and len(word) > 3:
        return word[:-1] + "i"
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            cut = word[: -len(ending)]
            return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "ls" else cut
    return word


def _is_turned(first: str, second: str) -> bool:
    """Tell whether the same words stand in another order, where it matters: `tea over coffee`, `A gave B`."""
    both = f" {first.casefold()} {second.casefold()} "
    words = set(_WORD.findall(both))
    matters = any(word in words if word.isascii() else word in both for word in contrasts.DIRECTED)
    lists = [[_bare(name) for name in _NAME.findall(text)] for text in (first, second)]
    if matters or any(len(side) > 1 for side in _sides(first)):
        lists = [[*_said(text), *_SIGN.findall(text)] for text in (first, second)]
    common = Counter(lists[0]) & Counter(lists[1])
    return [word for word in lists[0] if common[word]] != [word for word in lists[1] if common[word]]
