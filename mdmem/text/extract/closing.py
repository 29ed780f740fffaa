"""Which to-dos an entry reports as done: "Sent the script to Chen", 作文交给老师了, 承诺完成.

Owns how something is said to be done, and what has to be the same for it to be that to-do: its object, and either who
or what else it names, or that it was promised. It must never guess: a name alone is no object, and of two to-dos that
could be meant none is closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from mdmem.model import Entry
from mdmem.text.extract import noise
from mdmem.text.extract.parts import words_of
from mdmem.text.extract.phrases import joined
from mdmem.text.extract.sentences import Sentence, masked, plain, split

Similar = Callable[[str, str], float]

ENOUGH = 0.6
"""Share of an English to-do's words, days and names of months apart, that the report has."""

_PAST = {
    "sent": "send",
    "bought": "buy",
    "paid": "pay",
    "told": "tell",
    "wrote": "write",
    "gave back": "give",
    "gave": "give",
    "brought": "bring",
    "got": "get",
    "took": "take",
    "met": "meet",
    "rang": "ring",
    "spoke": "speak",
    "made": "make",
    "handed in": "hand",
    "picked up": "pick",
    "set up": "set",
}
_VERB = re.compile(
    joined(
        rf"""
        ^(?:(?:and|so|finally|just|already|ok|okay|done:),? )*(?:(?:I|we)(?:'ve| have)? (?:just |finally |already
        |now |also )*)?(?P<verb>{"|".join(_PAST)}|(?!need|plan|want|start|try|tri|stopp|fail|hop)[a-z]{{2,12}}ed)\b
        """
    ),
    re.IGNORECASE,
)
_TOLD = re.compile(
    joined(
        r"""
        ^(?:that's |it's |all )?(?:done|finished|completed)(?: with (?:that|this|the))?\b|\bdone with (?:that|this)\b
        |\b(?:is|are|was|were|ha(?:s|ve) been) (?:now |already )?(?:done|finished|sent|paid
        |booked|ordered|returned|handed in|delivered|renewed)\b
        |承诺(?:已经?)?(?:完成|兑现)|(?:这|那)件(?:事|待办).{0,4}(?:完成|办|做)(?:好|完)?了|待办完成|^(?:搞定|办好
        |做完|完成)了
        """
    ),
    re.IGNORECASE,
)
_GIVEN = re.compile(
    joined(
        r"""
        (?P<verb>[发交寄还送买订约付写打洗修换办缴续])(?:给|过去|到|出去?|完|好|上去|清)?[^，。了的]{0,12}了(?!吗
        |一[半部些])
        |已经?(?P<other>[发交寄还送买订约付写打洗修换办缴续])
        """
    )
)
_NOT = re.compile(
    joined(
        r"""
        \b(?:not|n't|never|almost|nearly|half|partly|partially|still|yet|except|but|want(?:ed)? to|tried|should|will
        |going to|again|asked|another|first|part|draft of|copy of|tomorrow|before|wrong|old
        |(?:to|sent|told|gave|showed) (?:me|us))\b|n't\b
        |没|未|还差|一半|部分|差点|快要|准备|打算|想|要是|除了|但|不过|忘|又|再|另一|初稿|退|错|别的|取消|明天|后天
        |下周|该|得[把去先]|需要?|给我|[发寄送]来|收到
        """
    ),
    re.IGNORECASE,
)
_WHO_EN = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")
_WHO_ZH = re.compile(
    r"(?:答应(?:了|过)?|给|跟|和|向|问|帮|替)(?P<who>[一-鿿]{2,4}?)(?=[：:，,把发寄交送买写打周下本明后今的 一]|\d|$)"
    r"|[一-鿿]{1,3}(?:老师|女士|先生|医生|阿姨|经理)"
)
_TO = re.compile(r"\bto (?:the )?(?P<en>[A-Z]\w+)|给 ?(?P<zh>[A-Z]\w+|[一-鿿]{2,3})")
"""Who something went to, according to a report."""
_ACT = re.compile("[发交寄还送买订约付写打洗修换办缴续]")
_DAY = re.compile(
    joined(
        r"""
        [（(](?:said )?\d{4}[^）)]*[）)]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:tomorrow|tonight|today
        |next|this) ?(?:week|month)?\b|\b(?:by|before|until|at)\b|\d{1,2}:\d\d
        |[这本下]?(?:周|星期)[一-日末天]|[今明后]天|\d+ ?[月号日点]
        """
    ),
    re.IGNORECASE,
)
_ACTS = frozenset(
    """
    发给 发过 过去 交给 交上 上去 寄出 寄给 还给 送给 写完 写好 完成 答应 承诺 之前 以前 前把 已经 要在
    """.split()  # noqa: SIM905 - words, not a list of strings, are what a person reads and mends
)
_HAN = re.compile("[㐀-鿿]{2,}")


def closed(entry: Entry, open_todos: Sequence[str], *, similar: Similar | None = None) -> list[str]:
    """Return those of the to-dos, texts as in memory, that an entry surely reports as done; [] for none.

    `similar` is the cosine of two texts by a model, where there is one: it may only rule a to-do out.
    """
    if noise.refuses_entry(entry):
        return []
    done: list[str] = []
    for report, told in _reports(list(split(entry.text))):
        fit = [todo for todo in dict.fromkeys(open_todos) if _is_meant(report, todo, told)]
        if len(fit) == 1 and fit[0] not in done and (not similar or similar(report, fit[0]) >= 0.3):
            done.append(fit[0])
    return done


def is_report(text: str) -> bool:
    """Tell whether a text says of something that it was done."""
    return bool(_VERB.match(text) or _GIVEN.search(text) or _TOLD.search(text))


def _reports(sentences: list[Sentence]) -> Iterator[tuple[str, bool]]:
    """Yield what is said to be done, and whether that is told in so many words, of it or of the sentence before."""
    before = ""
    for sentence in sentences:
        hidden, told = sentence.masked, bool(_TOLD.search(sentence.masked))
        if sentence.speaker or re.search(r"[?？]|[吗呢][。]?$", hidden) or _NOT.search(_TOLD.sub(" ", hidden)):
            before = ""
            continue
        if told or _VERB.match(hidden) or _GIVEN.search(hidden):
            bare = told and len(words_of(_TOLD.sub(" ", hidden))) <= 3
            yield (before + " " + sentence.text if bare else sentence.text), told
        before = sentence.text


def _is_meant(report: str, todo: str, told: bool) -> bool:
    """Tell whether it is this to-do that is reported."""
    wanted, said = (_DAY.sub(" ", plain(text)) for text in (todo, report))
    if _HAN.search(wanted) and _HAN.search(said):
        return _is_meant_han(said, wanted, told)
    if _HAN.search(wanted) or _HAN.search(said):
        return False
    return _is_meant_latin(said, wanted, told)


def _is_meant_latin(said: str, wanted: str, told: bool) -> bool:
    names = frozenset(word for found in _WHO_EN.findall(wanted) for word in words_of(found))
    goal, words = words_of(wanted), words_of(said)
    verb = _VERB.match(masked(said))
    past = verb["verb"].casefold() if verb else ""
    acts = words_of(_PAST.get(past, past))
    shared = (goal & words) - acts
    object_ = goal - acts - words_of(wanted.split()[0]) - {"about"}
    same = told or bool(acts & words_of(" ".join(wanted.split()[:3])))
    gone = _TO.search(said)
    if not same or not shared - names or (gone and names and not words_of(gone["en"] or "") & names):
        return False
    return len(shared) >= max(2, ENOUGH * len(object_)) or object_ == words - acts


def _is_meant_han(said: str, wanted: str, told: bool) -> bool:
    people = {found["who"] or found[0] for found in _WHO_ZH.finditer(wanted)}
    people |= set(re.findall("[A-Z][a-z]+", wanted))
    shared_who = any(who in said for who in people)
    if people and not shared_who and _TO.search(said) and not told:
        return False
    for who in people:
        said, wanted = said.replace(who, "，"), wanted.replace(who, "，")
    given = _GIVEN.search(said)
    act = (given["verb"] or given["other"]) if given else ""
    if not told and (not act or act != "".join(_ACT.findall(wanted))[-1:]):
        return False
    pairs = [_pairs(text) for text in (said, wanted)]
    shared = {pair for pair in pairs[0] & pairs[1] if pair not in _ACTS}
    return len(shared) >= (1 if shared_who and (told or act) else 2)


def _pairs(text: str) -> set[str]:
    return {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}
