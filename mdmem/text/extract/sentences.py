"""The sentences of an entry: prose alone, one line each, with who speaks and under which label they stand.

Owns what of a Markdown text is somebody's own saying: code, quotations, tables, comments, pictures and tags are not.
It must never change a word: a sentence is a stretch of the text with its line breaks as spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from mdmem.model import ClaimKind
from mdmem.text.extract.labels import is_noted, is_reason, label_of, tag_of
from mdmem.text.extract.phrases import joined
from mdmem.text.lines import Line, lines

LONGEST_TEXT = 20_000
"""Characters of an entry that are looked at."""

LONGEST = 320
"""Characters of a sentence: what is longer is no line that somebody reads."""

MOST = 400
"""Sentences of an entry that are looked at."""

MASK = "\ue000"
"""Stands in `masked` for each character of a quotation or a code span: no rule may find its words there."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence; `masked` is as long as `text`, without what is quoted in it.

    `label` is the kind that a heading, a label or a box says it is of, `tag` the one that a tag of its paragraph names;
    `noted` that it asks to be remembered. `done` is a box that is ticked, `paragraph` counts from the top.
    """

    text: str
    masked: str
    speaker: str = ""
    label: ClaimKind | None = None
    tag: ClaimKind | None = None
    noted: bool = False
    done: bool = False
    paragraph: int = 0


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or list item, its line breaks as spaces."""

    text: str
    label: ClaimKind | None = None
    tag: ClaimKind | None = None
    done: bool = False


_BOX = re.compile(r"\[([ xX])\]\s+")
_MARKER = re.compile(r"\s*(?:[-+*•]|\d{1,9}[.)])\s+")
_TAG = r"#[\w/-]*[^\W\d][\w/-]*"
_TAGS_AFTER = re.compile(rf"(?:\s+{_TAG})+\s*\Z")
_TAIL = 300
_TAGS_BEFORE = re.compile(rf"\s*(?:{_TAG}\s+)+")
_DROPPED = re.compile(
    r"<!--.{0,500}?-->|!\[[^\]\n]{0,300}\]\([^)\n]{0,500}\)"
    r"|\[(?:shares?|shared|image|photo|picture|gif|sticker|video|图片|照片|表情|视频|语音)\b[^\]\n]{0,400}\]",
    re.IGNORECASE,
)
_BETWEEN_HAN = re.compile(
    "(?<=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])"
)
_EMPHASIS = re.compile(r"(`[^`\n]{1,300}`)|(?<![\w*])\*{1,3}(?=\S)([^*\n]{1,200}?)(?<=\S)\*{1,3}(?![\w*])")
_QUOTED = re.compile(
    r"`[^`\n]{1,300}`|“[^”]{0,2000}(?:”|\Z)|「[^」]{0,2000}(?:」|\Z)|『[^』]{0,2000}(?:』|\Z)"
    r'|(?<![\w"])"[^"]{1,2000}"(?!\w)|(?<=[：:，, 说])"[^"]{1,2000}"|《[^》]{1,80}》'
)
_TRADITIONAL = (
    "歡欢會会個个們们說说話话買买賣卖來来時时點点從从讓让還还過过對对間间開开關关電电號号學学習习慣惯愛爱討讨厭厌記记憶忆給给請请務务約约訂订"
    "發发這这裡里裏里後后週周禮礼繼继續续結结離离養养貓猫媽妈爺爷兒儿孫孙醫医師师員员長长廠厂業业畢毕職职辭辞遷迁決决確确選选擇择換换變变為为"
    "與与許许應应該该須须準准備备幫帮帶带歸归條条處处嗎吗麼么樣样誰谁幾几歲岁飲饮貴贵錢钱賬账繳缴辦办場场聽听讀读寫写車车騎骑飛飞機机興兴趣趣"
    "極极總总隻只雙双張张陳陈劉刘楊杨趙赵鄭郑馮冯許许葉叶蕭萧鍾钟貝贝實实際际嚴严重重藥药過过敏敏達达傳传單单價价圖图書书東东門门風风氣气溫温"
    "質质無无經经濟济產产術术強强難难動动勞劳廣广國国園园圓圆頭头顏颜題题類类顧顾驗验體体鐘钟錄录鎖锁隊队險险雖虽靈灵預预項项領领願愿緊紧終终統统憶忆將将戶户權权刪删檔档執执輸输滿满"
)
_PLAIN = {
    ord("’"): "'",
    **{code: chr(code - 0xFEE0) for start, end in ("０９", "ＡＺ", "ａｚ") for code in range(ord(start), ord(end) + 1)},
    **{ord(one): other for one, other in zip(_TRADITIONAL[::2], _TRADITIONAL[1::2], strict=True)},
}
_SHORTENED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|approx|No|Nr|e\.g|i\.e|a\.m|p\.m|cf|incl|Inc|Ltd|Co)|\b[A-Z])\.\Z"
)
_ENDING = re.compile(r"[。！？!?…]+[”」』）)]*\s*|\.(?:[)\"”*]*)(?=\s|\Z)\s*|[;；]\s*")
_SPEAKER = re.compile(
    joined(
        r"""
        \*{0,2}(?P<name>[A-Z][\w'’.-]{1,20}(?: [A-Z][\w'’.-]{0,20}){0,2}|user|human|me|assistant|ai|bot
        |[\u4e00-\u9fff·]{1,5})\*{0,2}\s?[:：]\*{0,2}\s*(?=\S)
        """
    )
)
_SURNAMES = frozenset(
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛范彭鲁韦马苗凤方俞任袁柳鲍史唐"
    "费廉岑薛雷贺倪汤罗毕郝安常于傅皮齐康伍余顾孟黄穆萧尹姚邵湛汪毛狄臧戴宋庞熊纪舒屈项祝董梁杜阮闵贾江郭梅林钟徐邱骆"
    "高夏蔡田樊胡凌霍万卢莫房丁邓洪包左石崔吉龚程邢裴陆翁段焦侯宁仇甘厉刘叶白蒲卓池乔温庄晏柴瞿阎连习艾易廖耿匡文欧沙"
    "关向古沐游楚佟阿小老"
)
_NO_NAMES = frozenset(
    """
    周一 周二 周三 周四 周五 周六 周日 周末 周会 周报 方案 方案一 方案二 时间 高铁 温度 金额 安排 白天 常用 小结 小时
    关于 任务 文档 文件 连接 马上 方法 方式 程序 计划 包括 许愿 夏天 华为 齐了 安全 康复 何时 何地 小说 老师 老板 游戏
    游记 古诗 向导 高兴 全部 后续 小计 关键 连续 石头 万一 易错 沙发 温馨提示 余额 金句
    """.split()  # noqa: SIM905 - words, not a list of strings, are what a person reads and mends
)
_LABEL_WORDS = frozenset(
    """
    note notes update fyi ps todo decision reminder warning error info debug idea question answer summary status ci
    lunch dinner breakfast result results cause reason fix workaround plan agenda decisions weather today tomorrow
    yesterday monday tuesday wednesday thursday friday saturday sunday recipe title subject date time place from to re
    fw fwd next step steps source link tip important goal goals context example output input log build test tests
    version retro candidates chosen final rule rules warning caution edit meeting project issue topic team name address
    remember preference preferences boundary fact facts promise likes dislikes
    phone email mood sleep food done deadline due reading listening watching system prompt instruction
    """.split()  # noqa: SIM905
)
_REPLY = re.compile("收到|好[的啊吧呀，,]|嗯|哈|谢|行[，,。！]|可以[，,。！]|没问题|哦|哇|对[，,。！]|是的")
_GOES_ON = re.compile(r"(?:and|but|or|because|so|with|without|to|for|in|on|at|of|which|that|than|from|if|as) ")
_ONESELF = frozenset(["me", "我", "myself", "本人"])


def split(text: str) -> Iterator[Sentence]:
    """Yield the sentences of an entry, from top to bottom."""
    blocks = enumerate(_blocks(text[:LONGEST_TEXT]))
    found = (replace(sentence, paragraph=place) for place, block in blocks for sentence in _sentences(block))
    yield from islice(found, MOST)


def _blocks(text: str) -> Iterator[_Block]:
    """Yield paragraphs and items, without what is no prose; a paragraph that wraps is put together."""
    label: ClaimKind | None = None
    open_: list[str] = []
    before: tuple[str, bool] = ("blank", False)
    for line in lines(text):
        raw = text[line.start : line.end].strip()
        quoted = raw.startswith(">") or (before == ("text", True) and line.kind == "text")
        prose = line.kind in ("text", "item") and not quoted and not _is_row(raw)
        if open_ and not (prose and line.kind == "text" and _wraps(open_[-1], raw)):
            yield _block(open_, label)
            open_ = []
        if line.kind == "heading" or (line.kind == "text" and prose and not open_ and label_of(raw)[2]):
            label = label_of(raw.strip("# "))[0]
        elif prose:
            label = label if line.kind == "item" or open_ or _starts_item(line, raw) else None
            open_.append(raw)
        before = (line.kind, quoted)
    if open_:
        yield _block(open_, label)


def _starts_item(line: Line, raw: str) -> bool:
    return line.kind == "text" and bool(_MARKER.match(raw))


def _is_row(raw: str) -> bool:
    return raw.startswith("|") or raw.count(" | ") >= 2


def _wraps(before: str, raw: str) -> bool:
    """Tell whether a line goes on with the sentence of the line before it, rather than begins a note of its own."""
    if before.endswith(tuple(".!?。！？:：;；…")) or _SPEAKER.match(raw):
        return False
    if before.endswith(("，", "、", ",")) or _GOES_ON.match(raw):
        return True
    return len(before) >= (30 if raw[:1].islower() or not before.isascii() else 60)


def _block(parts: list[str], label: ClaimKind | None) -> _Block:
    text = " ".join(_DROPPED.sub(" ", " ".join(parts)).partition("<!--")[0].split())
    text = _BETWEEN_HAN.sub("", text) if len(parts) > 1 else text
    text = _EMPHASIS.sub(lambda found: found[1] or found[2], text)
    text = text[found.end() :] if (found := _MARKER.match(text)) else text.strip()
    done = False
    if box := _BOX.match(text):
        text, label, done = text[box.end() :], "todo", box[1] != " "
    kind, end, alone = label_of(text)
    if kind and not alone:
        text, label = text[end:], kind
    tag = tag_of(text[:_TAIL] + " " + text[-_TAIL:])
    text = _without_tags(text)
    text = text[found.end() :] if (found := _TAGS_BEFORE.match(text)) else text
    return _Block(text, label, tag, done)


def _without_tags(text: str) -> str:
    """Leave out the tags at the end; only so much of it is looked at that many of them take no time."""
    return text[:-_TAIL] + _TAGS_AFTER.sub("", text[-_TAIL:])


def masked(text: str) -> str:
    """Return a text of the same length without what is quoted or code in it, in the forms that rules are written in."""
    hidden = _QUOTED.sub(lambda found: MASK * len(found[0]), text)
    return plain(hidden.replace("[[", MASK * 2).replace("]]", MASK * 2))


def plain(text: str) -> str:
    """Return a text of the same length with straight apostrophes, plain letters and simplified characters."""
    return text.translate(_PLAIN)


def _sentences(block: _Block) -> Iterator[Sentence]:
    """Yield the sentences of a block; a label of it holds for the first of them alone, one within it for its own."""
    speaker, start = _speaker(block.text)
    text = block.text[start:]
    hidden, at, label = masked(text), 0, block.label
    for end in _ends(hidden):
        lead = len(text[at:end]) - len(text[at:end].lstrip())
        own, skip, alone = label_of(hidden[at + lead : end])
        if own and not alone and at:
            label, lead = own, lead + skip
        kept = _without_tags(text[at + lead : end].strip())
        if kept and len(kept) <= LONGEST:
            cover = hidden[at + lead : at + lead + len(kept)]
            tag = None if is_reason(cover) else block.tag
            yield Sentence(kept, cover, speaker, label, tag, is_noted(cover), block.done)
        at, label = end, label if block.done else None


def _ends(hidden: str) -> Iterator[int]:
    """Yield where sentences end. After a semicolon a clause may go on with what was said; `together` mends that."""
    for found in _ENDING.finditer(hidden):
        if found[0][0] == "." and _SHORTENED.search(hidden[max(0, found.start() - 8) : found.start() + 1]):
            continue
        yield found.end()
    yield len(hidden)


def together(first: Sentence, second: Sentence) -> Sentence:
    """Put two halves of a sentence together again that a semicolon divides."""
    space = " " if first.text.endswith(";") else ""
    return replace(first, text=first.text + space + second.text, masked=first.masked + space + second.masked)


def _speaker(text: str) -> tuple[str, int]:
    """Return who speaks in a turn of a conversation and where it begins; "" for nobody else than the author."""
    found = _SPEAKER.match(text)
    if not found:
        return "", 0
    name = found["name"]
    if name.casefold() in _ONESELF:
        return "", found.end()
    if not name.isascii() and not _is_chinese_name(name, text[found.end() :]):
        return "", 0
    if name.isascii() and (_is_label(name) or name.isupper()):
        return ("AI", found.end()) if name == "AI" else ("", 0)
    return name, found.end()


def _is_label(name: str) -> bool:
    return any(word.casefold() in _LABEL_WORDS or word.endswith(("ed", "ing")) for word in name.split())


def _is_chinese_name(name: str, rest: str) -> bool:
    if name in ("用户", "助手", "机器人", "系统"):
        return True
    kin = re.fullmatch("[我他她]?(?:爸|妈|哥|姐|弟|妹|爷爷|奶奶|外公|外婆|老公|老婆){1,2}", name)
    return bool(kin) or (name[0] in _SURNAMES and 2 <= len(name) <= 4 and name not in _NO_NAMES and _is_said(rest))


def _is_said(rest: str) -> bool:
    """Tell whether what follows a word with a colon is what somebody said, rather than what the word stands for."""
    return "我" in rest or bool(_REPLY.match(rest))
