"""What a sentence is made of, as far as two of them can be compared without understanding: words, numbers, names.

Pure, for English and Chinese. It must never look a word up anywhere but in its own short lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from mdmem.distill import vocabulary
from mdmem.distill.figures import DIGITS, ENGLISH, SCALES, numbers
from mdmem.text.analyze import STOP_WORDS, identifiers, is_cjk, unify

# --- words that carry the sentence and not what it says

_FRAME = frozenset(
    """
    user users person i im me my we our us he she they his her their
    dislike dislikes disliked hate hates hated
    like likes liked liking love loves loved enjoy enjoys enjoyed prefer prefers preferred preference preferences
    want wants wanted wish wishes need needs needed has have having had be being been is are was were do does did
    say says said tell told mention mentions mentioned report reports reported note notes noted
    also both very really quite especially particularly including include includes such like as now currently still
    promise promises promised all every each rather instead
    one ones thing things something someone more most any some other others than via per about because since due
    however although therefore but while both result merged version hence thus please
    """.split()  # noqa: SIM905 - a list literal of a hundred words is no easier to read
)
_FRAME_ZH = re.compile(
    "用户|本人|自己|喜欢|喜爱|偏爱|偏好|最爱|热爱|希望|想要|需要|提到|表示|说过|补充|觉得|认为|特别|尤其|非常|比较|目前|现在|已经"
    "|以及|或者|还有|而且|并且|但是|然而|不过|因此|所以|因为|由于|例如|包括|其中|等等|一个|一种|这个|那个|他们|她们|我们"
    "|[的了着是在和与也都就把被很]"
)

# --- what it says

_RUN = re.compile(r"[^\W_]+(?:['’._+#/@&-]+[^\W_]+)*[+#]*")
_AMOUNT = re.compile(r"(?<![A-Za-z0-9_.])\d[\d.,:/-]*(?![\d.,:/-]*[A-Za-z])\s?[年月日号点时分秒度元%]?")
_PART = re.compile(r"[._/@&'-]")
_SUFFIX = re.compile(r"(?:'s|’s|ings?|ies|ied|ed|es|ers?|ly|ions?|ments?|ics?|s|e|y)\Z")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Cut the usual endings off an English word, for comparing alone."""
    if not (word.isascii() and word.replace("'", "").isalpha()) or len(word) < 4:
        return word
    cut = _SUFFIX.sub("", word)
    cut = _SUFFIX.sub("", cut) if len(cut) > 5 else cut
    cut = cut if len(cut) >= 3 else word
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "aeiou" else cut


def shown(unit: str, text: str) -> str:
    """Give the word of a text that a stem was cut from."""
    return next((run for run in runs(unify(text)) if stem(run.casefold().removesuffix("'s")) == unit), unit)


def _folded(text: str) -> str:
    return re.sub(r"(?<=\byear)(s?)[ -]old\b", r"\1", unify(text).casefold().replace("’", "'"))


def content(text: str) -> tuple[str, ...]:
    """List what a text says, each once: stems of words, pairs of CJK characters, without what only carries it.

    Plain numbers and dates are left to `numbers`.
    """
    folded = _folded(text)
    found: dict[str, None] = {}
    for run in runs(_FRAME_ZH.sub(" ", _AMOUNT.sub(" ", folded))):
        if is_cjk(run[0]):
            found.update(dict.fromkeys([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]))
        elif not is_frame(run):
            found[stem(run)] = None
    return tuple(found)


def unknown(text: str, here: Pool, *, plain: re.Pattern[str] | None = None) -> Iterator[str]:
    """Yield each word of a text that says something and does not stand in another, in either language.

    Numbers are left to `numbers`. CJK text is taken apart into the longest stretches that the other text has; what
    remains are single characters, which say something unless they only join. Stretches that are `plain` count as known.
    """
    folded = _folded(text)
    for run in runs(_FRAME_ZH.sub(" ", _AMOUNT.sub(" ", folded))):
        if is_cjk(run[0]):
            yield from _strange(run, here, plain)
        elif not is_frame(run) and run not in ENGLISH and not here.has(stem(run)):
            yield run


def _strange(run: str, here: Pool, plain: re.Pattern[str] | None) -> Iterator[str]:
    """Yield the stretches of a run of CJK characters that are not known, with one known character at most in front."""
    rest = ""
    for piece in pieces(run, here, plain):
        joins = piece in _JOINING or piece in DIGITS or piece in SCALES
        known = len(piece) > 1 or (joins and not rest) or (piece == run and piece in here.folded)
        if known and rest:
            yield rest
        rest = "" if known else rest + piece
    if rest:
        yield rest


_JOINING = frozenset(
    "给对为到从向去来有会将让用及这那此其某位名之所以而且或但则若被比跟同于由地得吧呢啊哦呀嘛么叫个他她它还再又起自"
)
"""Characters that join others and say little alone."""


def pieces(run: str, here: Pool, plain: re.Pattern[str] | None = None) -> list[str]:
    """Take a run of CJK characters apart into stretches that a text has, or that are plain, and single characters.

    As few characters as can be remain single, in as few pieces as can be.
    """
    best: list[tuple[int, int, int]] = [(0, 0, len(run))] * (len(run) + 1)  # singles, pieces, end of the first
    for at in reversed(range(len(run))):
        ends = [at + 1]
        while ends[-1] < len(run) and run[at : ends[-1] + 1] in here.folded:
            ends.append(ends[-1] + 1)
        word = plain.match(run, at) if plain else None
        ends += [word.end()] if word and word.end() > at + 1 else []
        best[at] = min((best[end][0] + (end == at + 1), best[end][1] + 1, end) for end in ends)
    found, at = [], 0
    while at < len(run):
        found.append(run[at : best[at][2]])
        at = best[at][2]
    return found


def runs(text: str) -> Iterator[str]:
    """Yield words and runs of CJK characters, in order."""
    for match in _RUN.finditer(text):
        at = 0
        word = match[0]
        for end in range(1, len(word) + 1):
            if end == len(word) or is_cjk(word[end]) != is_cjk(word[at]):
                piece = word[at:end].strip("'’._/@&-")
                if piece:
                    yield piece
                at = end


@dataclass(frozen=True, slots=True)
class Pool:
    """A text that others are compared with: folded, its stems, its numbers."""

    folded: str
    stems: frozenset[str]
    numbers: frozenset[str]
    senses: frozenset[int] = frozenset()

    def has(self, unit: str) -> bool:
        """Tell whether a unit of `content`, or each part of one, stands in the text."""
        if is_cjk(unit[0]):
            return unit in self.folded
        return self._says(unit) or all(self._says(stem(part)) for part in _PART.split(unit) if part)

    def _says(self, unit: str) -> bool:
        return unit in self.stems or not self.senses.isdisjoint(senses().get(unit, ()))


def pool(text: str) -> Pool:
    """Make a text ready for comparing."""
    folded = _folded(text)
    words = [run for run in runs(folded) if not is_cjk(run[0])]
    parts = (part for word in words for part in _PART.split(word) if part)
    told = re.sub(r"\s+", "", folded)
    return Pool(f"{told}\n{_FRAME_ZH.sub('', told)}", frozenset(map(stem, (*words, *parts))), frozenset(numbers(text)))


def wide_pool(text: str) -> Pool:
    """Make a text ready for comparing, together with the words that say the same as its own."""
    narrow = pool(text)
    meant = frozenset(sense for word in narrow.stems for sense in senses().get(word, ()))
    return replace(narrow, folded=f"{narrow.folded}\n{vocabulary.synonyms(narrow.folded)}", senses=meant)


_THINGS = frozenset(
    "茶酒奶糖盐油米面饭肉鱼虾蟹蛋菜果瓜豆汤粥辣甜咸酸苦鲜猫狗鸟马牛羊猪鸡鸭兔药病头手脚眼耳牙胃心肝肺腿腰背书笔车船床门窗花树草山水火雪雨风"
    "上下左右前后大小多少高低早晚男女子父母兄弟姐妹红黄蓝绿黑白紫灰东西南北新旧老冷热买卖借进出开关升降增减加快慢轻重长短内外公私正负软硬春夏秋冬"
    "无不没未别勿莫非都全总常偶"
)
"""Characters that each say something by themselves, or the opposite of another."""


def is_plain(word: str, told: str, *, loose: bool = False) -> bool:
    """Tell whether a word says too little to make a claim untrue.

    A stretch of CJK characters may also hold one character of what was told, between those that say little.
    """
    if not is_cjk(word[0]):
        return stem(word) in _plain()
    bare = vocabulary.plain_han().sub("", word)
    if not bare or (len(bare) == 1 and bare in told and bare not in _THINGS):
        return True
    return len(word) == 1 and word not in _THINGS and loose


@cache
def _plain() -> frozenset[str]:
    return frozenset(map(stem, vocabulary.plain()))


@cache
def senses() -> dict[str, frozenset[int]]:
    """Map the stems of English synonyms to the numbers of what they say."""
    found: dict[str, set[int]] = {}
    for number, group in enumerate(vocabulary.groups()):
        for word in group:
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


# --- names and what is quoted

_CAPITAL = re.compile(r"(?<![\w'’])[A-ZÀ-ÖØ-Þ][\w'’]*")
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|《([^》]+)》|「([^」]+)」|『([^』]+)』|\*([^*]+)\*")
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜"
    "范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)


def names(text: str) -> tuple[str, ...]:
    """List what names one thing exactly: words with a capital, identifiers, what is quoted or marked as code."""
    found = [next(filter(None, match.groups())) for match in _QUOTED.finditer(unify(text))]
    found += identifiers(text)
    found += (match[0] for match in _CAPITAL.finditer(unify(text)))
    return tuple(dict.fromkeys(name for name in found if not is_frame(name)))


def is_frame(name: str) -> bool:
    """Tell whether an English word, also with `'s`, only carries a sentence."""
    word = name.casefold().replace("’", "'").removesuffix("'s")
    return word in _FRAME or word.replace("'", "") in STOP_WORDS or not re.search(r"\w", word)


def is_surname(char: str) -> bool:
    """Tell whether a Chinese name may begin with a character."""
    return char in _SURNAMES
