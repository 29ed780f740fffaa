"""A line of memory taken apart: who it is about, its words, and the values in it that may change.

Owns what counts as a word, a value and a person, in English and Chinese. It must never decide what two lines mean for
each other; that is for `changes`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from mdmem.text.analyze import STOP_WORDS, unify
from mdmem.text.extract.phrases import joined, words

WAS = re.compile(
    joined(
        r"""
        \((?:was|were|previously|formerly|before|not|instead of|old|used to be):? (?P<a>[^)]{1,60})\)
        |(?:\b(?:instead of|rather than|no longer)|[,;–—-] ?not) (?P<b>[^,.;()]{1,40})
        |[,;–—-] ?(?:(?:it )?(?:was|were)|previously|formerly|before that) (?P<c>[^,.;()]{1,40})
        |\bfrom (?P<d>[^,.;()]{1,40}?) (?:over )?to \b|(?:原来|之前|以前|原先|原本)(?:是|为|在|叫
        |用)?(?P<e>[^，,。；;（）()]{1,20})|不再(?:是|用|在)?(?P<f>[^，,。；;（）()]{1,20})
        |从(?P<g>[^，,。；;从]{1,20}?)(?:改|换|调|搬|升|降|挪|迁)|[（(](?:原|之前)(?P<h>[^）)]{1,20})[）)]
        """
    ),
    re.IGNORECASE,
)
ENDED = re.compile(
    joined(
        r"""
        \b(?:no longer|not|never|don't|doesn't|do not|does not|can't|cannot|stopped|quit|gave up|given up|without
        |isn't|aren't)\b|\bno (?!one\b)\w+|不(?!错|过|同|但|仅|只|少|断|得不|管|如|久|要紧|知)|戒|别|没有|从不|停
        """
    ),
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[,;:.!—–](?=\s|[\u3400-\u9fff]|\Z)|[，。；：！、]|\s[-–—]\s")
_WORD = re.compile(r"[a-z][a-z0-9_'.-]*[a-z0-9]|[a-z]|\d[\d.:,]*")
_HAN = re.compile("[\u3400-\u9fff]+")
_LINK = re.compile(r"\[\[([^\]|#\n]{1,120})[^\]\n]{0,120}\]\]")
_ASIDE = re.compile(
    r"[，,；;] ?(?:[^，,；;。]{1,6}?(?:也|都)?(?:是)?(?:这么|这样|同样)(?:劝|说|认为|觉得|建议|想)"
    r"|(?:my |our )?\w+ (?:says|thinks|agrees|said|thought) so).{0,20}",
    re.IGNORECASE,
)
"""Who else thinks so: nobody that the line is about."""

_FUNCTION = STOP_WORDS | frozenset(
    """
    now was were previously formerly anymore more longer instead any since today new old used changed change moved move
    moves switched switch after all user users no not never don't doesn't stopped quit gave up given again im also
    still really only just always usually rescheduled postponed raised lowered renamed replaced took over takes upgraded
    rather than been
    """.split()  # noqa: SIM905 - a list literal of sixty words is no easier to read
)
_PARTICLES = re.compile(
    joined(
        r"""
        从今天起|从现在起|以后|今后|现在|目前|不再|再也|原来|之前|以前|已经|用户|我们?|他们?|她们?
        |[了的是在也都就再不没别改换成为到去把被跟和与给很最更一个只戒]|特别|非常|比较
        """
    )
)
_DAYS = joined(
    r"""
    mon(?:day)?s?|tue(?:s(?:day)?s?)?|wed(?:nesday)?s?|thu(?:rs(?:day)?s?)?|fri(?:day)?s?|sat(?:urday)?s?
    |sun(?:day)?s?
    """
)
_VALUES = r"""
LANGUAGE \b(English|German|French|Spanish|Italian|Chinese|Mandarin|Japanese|Korean|Dutch|Portuguese|Russian|Polish)\b
         |([中英日韩德法俄]文|[英日韩德法俄汉]语|普通话|粤语)
PHONE    (?<![\w.-])(\+?\d[\d -]{5,16}\d)(?![\w-])
ROLE     \b(?:led|owned|run|managed|maintained|headed|taught|handled|chaired|hosted) by ([\w'’-]+)
         |由([\u3400-\u9fffA-Za-z]{2,8}?)(?:负责|主持|牵头|维护|接手)
WEEKDAY  \b({DAYS})\b|(?:周|星期|礼拜)([一二三四五六日天])
TIME     \b(\d{1,2}(?::\d\d)? ?[ap]m|\d{1,2}[:：]\d\d)\b|([一二三四五六七八九十两\d]{1,3}点半?)
DATE     \b(\d{4}-\d\d-\d\d)|(\d{1,2} ?月(?: ?\d{1,2} ?[日号])?)
         |\b((?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?: \d{1,2})?)\b
PLACE    \b(?:live|lives|living|based|moved|moving|relocated|settled|resides?) (?:in|to|at|back to|near)
         (?: \w+ to)? ((?:the )?[\w'’-]+)
         |(?:现居|定居|住在|住到|搬到了?|搬去了?|搬进了?|(?<!不)住(?!院|宿))(?:在|了)?([\u3400-\u9fff]{2})
WORK     \b(?:works?|working|job|started|employed) (?:at|for|with) ([\w'’-]+)
         |在([\u3400-\u9fffA-Za-z]{2,12}?)(?:工作|上班|任职|实习)|(?:入职|跳槽到|跳槽去)了?([\u3400-\u9fffA-Za-z]{2,8})
NUMBER   (?<![\w.:-])v?(\d[\d,.]*\d|\d)(?![\d:]|-\d| ?[ap]m)
"""
_PARTS_OF_DAY = re.compile(
    joined(
        r"""
        \b(morning|breakfast|lunch|noon|afternoon|evening|night|dinner|weekend|summer|winter)s?\b|(早上|早晨|早餐
        |上午|中午|午饭|下午|晚上|晚饭|睡前|周末|夏天|冬天)
        """
    ),
    re.IGNORECASE,
)
_KIN = re.compile(
    joined(
        r"""
        \b(mum|mom|mother|dad|father|sister|brother|son|daughter|wife|husband|partner|girlfriend|boyfriend|grandma
        |grandpa|aunt|uncle|cousin|boss|landlord|landlady|adviser|advisor|doctor|dentist|teacher|roommate
        |neighbou?r|friend|cat|dog|colleague)\b|(妈|爸|哥|姐|弟|妹|爷|奶|外公|外婆|老公|老婆|儿子|女儿|孩子|男友
        |女友|室友|房东|导师|老板|同事|朋友|猫|狗)
        """
    ),
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"([A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,2}|[\u3400-\u9fff]{2,4})[:：] ?(?=\S)")
_NAME = re.compile(r"[A-Z][\w'’-]+")
_SELF = re.compile(r"(?:I|I'm|I've|My|We|Our|The user|User|Users?'s)\b|我|用户|咱")
_LEAD_ZH = re.compile("^(?:现在|目前|今年|去年|最近|已经|刚|从[^，,]{1,6}起|以后|今后|早上|下午|晚上|中午|，|,)+")
_WHO_ZH = re.compile(
    joined(
        r"""
        ([㐀-鿿]{2,5}?)(?:现在|也|都|已经|目前|不|刚|上个?月|去年|今年|还|又|很|最|特别)*(?:住|搬|在|是|喜欢|讨厌
        |爱|对|负责|换|有|改|离职|入职|跳槽|去|养|叫|吃|喝|用)
        """
    )
)
_VERB_ZH = re.compile("喜欢|讨厌|不|每|最|爱|只|还|又|要|会|习惯|一般|平时")
_PERSON = re.compile(
    joined(
        r"""
        ['’]s? |s?['’] | (?:is|has|lives|works|moved|was|likes|loves|hates|prefers|doesn't|does|can't|now
        |no longer|and|got|started|drinks|eats|plays|leads|owns|speaks)\b|[不喜住在搬对]
        """
    )
)
_OPENERS = frozenset(
    """
    the a an no not from now planning meeting never always prefers prefer likes like drinks drink eats eat uses use
    wants lives works has is new our all every batch port staging production release deadline next retro standup weekly
    moved switched decided going replies answers window hot dark short
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line: who it is about ("" for oneself and for things), its words, its values by sort, and the times of day.

    `spoken` tells whether it names who said it, `negative` whether it begins by saying what is not.
    """

    text: str
    who: str
    spoken: bool
    kin: frozenset[str]
    words: frozenset[str]
    values: Mapping[str, frozenset[str]]
    negative: bool
    times: frozenset[str]

    @property
    def given(self) -> frozenset[str]:
        """The words of all its values."""
        return frozenset(
            word for values in self.values.values() for value in values for word in (value, *words_of(value))
        )

    @property
    def topic(self) -> frozenset[str]:
        """Its words without the values: what it is about."""
        return self.words - self.given


@lru_cache(maxsize=2048)  # each claim is compared with every line of memory
def read(text: str) -> Line:
    """Take a line apart. What it says was so before is no value of it."""
    plain = unify(text)
    spoken = _SPEAKER.match(plain)
    own = plain[spoken.end() :] if spoken else plain
    without = WAS.sub(" ", own)
    found = {sort: frozenset(map(_value, pattern.finditer(without))) for sort, pattern in _sorts().items()}
    return Line(
        text=plain,
        who=_who(plain),
        spoken=spoken is not None,
        kin=frozenset(each[0].casefold() for each in _KIN.finditer(_ASIDE.sub("", plain))),
        words=words_of(own),
        values={sort: values for sort, values in found.items() if values},
        negative=bool(ENDED.search(CLAUSE.split(own)[0])),
        times=frozenset(each[0].casefold().rstrip("s") for each in _PARTS_OF_DAY.finditer(plain)),
    )


def overlap(one: frozenset[str], other: frozenset[str], *, wide: bool = False) -> float:
    """Return the share of words that both have: of the fewer, or of the more where it is `wide`."""
    size = max(len(one), len(other)) if wide else min(len(one), len(other))
    return len(one & other) / size if size else 0.0


def numbers_of(text: str) -> frozenset[str]:
    """Return the numbers of a text as `values` has them."""
    return frozenset(found.replace(",", "").rstrip(".") for found in re.findall(r"\d[\d.,]*", text))


def words_of(text: str) -> frozenset[str]:
    """Return the words that say something, English ones without endings, Chinese ones as pairs of characters."""
    linked = _LINK.sub(lambda found: re.sub(r"[-_/]+", " ", found[1]), text)
    plain = unify(linked).casefold().replace("’", "'")
    found = {_stem(word) for word in _WORD.findall(plain) if word not in _FUNCTION}
    for run in _HAN.findall(_PARTICLES.sub(" ", plain)):
        found.update([run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)])
    return frozenset(found)


@cache
def _sorts() -> dict[str, re.Pattern[str]]:
    table = words(_VALUES)
    return {
        name.casefold(): re.compile(pattern.replace("{DAYS}", _DAYS), re.IGNORECASE) for name, pattern in table.items()
    }


def _value(found: re.Match[str]) -> str:
    value = next(group for group in found.groups() if group).casefold().replace(",", "").strip(" .")
    return value[:3] if re.fullmatch(_DAYS, value) else value


def _who(text: str) -> str:
    if spoken := _SPEAKER.match(text):
        return spoken[1].casefold()
    if _HAN.match(text):
        lead = _WHO_ZH.match(_LEAD_ZH.sub("", text))
        return lead[1] if lead and not _SELF.match(lead[1]) and not _VERB_ZH.match(lead[1]) else ""
    if _SELF.match(text) or not (name := _NAME.match(text)) or name[0].casefold() in _OPENERS:
        return ""
    bare = re.sub(r"['’]s$", "", name[0])
    return bare.casefold() if bare != name[0] or _PERSON.match(text, name.end()) else ""


def _stem(word: str) -> str:
    if re.fullmatch(_DAYS, word):
        return word[:3]
    word = word.removesuffix("'s").strip(".,:").replace(",", "")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
