"""What a sentence is made of, as far as two of them can be compared without understanding: words, numbers, names.

Pure, for English and Chinese. It must never look a word up anywhere but in its own short lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

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
    all every each rather instead
    one ones thing things something someone more most any some other others than via per about because since due
    however although therefore but while both result merged version hence thus please
    """.split()  # noqa: SIM905 - a list literal of a hundred words is no easier to read
)
_FRAME_ZH = re.compile(
    "用户|本人|自己|喜欢|喜爱|偏爱|偏好|最爱|热爱|希望|想要|需要|提到|表示|说过|补充|觉得|认为|特别|尤其|非常|比较|目前|现在|已经"
    "|以及|或者|还有|而且|并且|但是|然而|不过|因此|所以|因为|由于|例如|包括|其中|等等|一个|一种|这个|那个|他们|她们|我们"
    "|[的了着是在和与也都就把被很]"
)

NEGATION = "not"
"""The unit that stands for every way of saying no."""

_NO = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|hat(?:es?|ed|ing)|dislik(?:es?|ed|ing)"
    r"|detest(?:s|ed)?|avoid(?:s|ed|ing)?|refus(?:es?|ed|ing)|stopp?(?:s|ed|ing)?|quit(?:s|ting)?|gave up|gives up"
    r"|allergic|allergy|intoleran(?:t|ce)|except|un(?:able|willing))\b"
    r"|n['’]t\b|\b(?:do|does|did|is|are|was|were|ca|wo|would|should|could|has|have|must)nt\b"
    r"|[不没無无别未勿莫]|讨厌|反感|厌恶|拒绝|避免|戒|过敏|禁",
    re.IGNORECASE,
)
_NOT_NO = re.compile(
    r"\bnot (?:only|just|merely)\b|\bno (?:doubt|problem|matter|wonder|later than|more than|less than)\b|\bno\. ?\d"
    r"|(.)不\1|不[错仅但只过断久同管论]|差不多|了不起|对不起|不好意思|不得不|要不然|没错|没问题"
    r"|特别|别[的人墅名致]|[分区级性类识个告]别|[无無]论|未来|无锡|无线",
    re.IGNORECASE,
)


def negations(text: str) -> int:
    """Count the words of a clause that say no."""
    return len(_NO.findall(_NOT_NO.sub(" ", text)))


# --- clauses

_SENTENCE = re.compile(r"[^.!?。！？…\n]*(?:[.!?](?=\S)[^.!?。！？…\n]*)*[.!?。！？…\n]*")
_CLAUSE = re.compile(
    r"(?<!\d)[,，](?!\d)|(?<=\d), |[;；、，]|(?<!\d):(?!\d)|[：—]|\s[-–]\s|\b(?:but|and|although|while)\b|但是?|而"
)
_ASKS = re.compile(r"[?？]|[吗呢][。！\s]*\Z")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence, the sentence, and whether that asks."""

    text: str
    sentence: str
    asks: bool


def clauses(text: str) -> Iterator[Clause]:
    """Yield the clauses of a text, in order."""
    for sentence in _SENTENCE.findall(text):
        asks = bool(_ASKS.search(sentence.rstrip()))
        for piece in _CLAUSE.split(sentence):
            if re.search(r"\w", piece):
                yield Clause(piece.strip(), sentence, asks)


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


def content(text: str) -> tuple[str, ...]:
    """List what a text says, each once: stems of words, pairs of CJK characters, without what only carries it.

    Plain numbers and dates are left to `numbers`.
    """
    folded = unify(text).casefold().replace("’", "'")
    found: dict[str, None] = {}
    for run in runs(_FRAME_ZH.sub(" ", _AMOUNT.sub(" ", folded))):
        if is_cjk(run[0]):
            found.update(dict.fromkeys([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]))
        elif not is_frame(run):
            found[stem(run)] = None
    return tuple(found)


def unknown(text: str, here: Pool) -> Iterator[str]:
    """Yield each word of a text that says something and does not stand in another, in either language.

    Numbers are left to `numbers`. CJK text is taken apart into the longest stretches that the other text has; what
    remains are single characters, which say something unless they only join.
    """
    folded = unify(text).casefold().replace("’", "'")
    for run in runs(_FRAME_ZH.sub(" ", _AMOUNT.sub(" ", folded))):
        if is_cjk(run[0]):
            yield from _strange(run, here)
        elif not is_frame(run) and run not in _ENGLISH and not here.has(stem(run)):
            yield run


def _strange(run: str, here: Pool) -> Iterator[str]:
    """Yield the stretches of a run of CJK characters that are not known, with one known character at most in front."""
    rest = ""
    for piece in pieces(run, here):
        joins = piece in _JOINING or piece in _DIGITS or piece in _SCALES
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


def pieces(run: str, here: Pool) -> Iterator[str]:
    """Take a run of CJK characters apart into the longest stretches that a text has, and single characters."""
    at = 0
    while at < len(run):
        end = at + 1
        while end < len(run) and run[at : end + 1] in here.folded:
            end += 1
        yield run[at:end]
        at = end


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

    def has(self, unit: str) -> bool:
        """Tell whether a unit of `content`, or each part of one, stands in the text."""
        if is_cjk(unit[0]):
            return unit in self.folded
        return unit in self.stems or all(stem(part) in self.stems for part in _PART.split(unit) if part)


def pool(text: str) -> Pool:
    """Make a text ready for comparing."""
    folded = unify(text).casefold().replace("’", "'")
    words = [run for run in runs(folded) if not is_cjk(run[0])]
    parts = (part for word in words for part in _PART.split(word) if part)
    told = re.sub(r"\s+", "", folded)
    return Pool(f"{told}\n{_FRAME_ZH.sub('', told)}", frozenset(map(stem, (*words, *parts))), frozenset(numbers(text)))


# --- numbers

_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_ENGLISH = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"eleven": 11, "twelve": 12},
    **{"twice": 2, "thrice": 3, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100},
    "dozen": 12,
}
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
NUMERAL = re.compile(
    "(?<![十百千万〇零一二两三四五六七八九])(?!十分|千万别|万一|三明治|四川|五行|百度|百科|[一二两三四五六七八九十]点?[儿些]|一)"
    "[〇零一二两三四五六七八九十百千万]+"
)
WORD_NUMBER = re.compile(r"\b(?:" + "|".join(word for word in _ENGLISH if word != "one") + r")\b")


def numbers(text: str) -> tuple[str, ...]:
    """List the numbers of a text, each once: as digits, without the commas of thousands; numerals count as well."""
    folded = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unify(text).casefold())
    return tuple(
        dict.fromkeys(digits(match[0]) for kind in (NUMBER, WORD_NUMBER, NUMERAL) for match in kind.finditer(folded))
    )


def digits(number: str) -> str:
    """Give a number of a text, which is one of those three kinds, in digits."""
    if number in _ENGLISH:
        return str(_ENGLISH[number])
    return number if number[0].isdecimal() else str(_value(number))


def _value(numeral: str) -> int:
    """Read Chinese numerals: 十五, 二十, 三百零五, 两千; digits in a row, as in a year, too."""
    if not any(char in _SCALES for char in numeral):
        return int("".join(str(_DIGITS[char]) for char in numeral))
    total = digit = 0
    for char in numeral:
        if char in _SCALES:
            scale = _SCALES[char]
            total = (total + digit) * scale if scale == 10_000 else total + max(digit, 1) * scale
            digit = 0
        else:
            digit = _DIGITS[char]
    return total + digit


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
