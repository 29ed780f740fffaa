"""What a model answered, as claims, or the reason why it is no answer.

Owns the grammar of a reply: headings, bullets, sources in brackets, the number of a line that is replaced. It must
never raise, whatever the answer is, and never make a claim of what stands under no heading that was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mdmem.model import Claim, ClaimKind
from mdmem.text import claims, sections

LARGEST = 256 * 1024
"""Bytes of an answer; a good one has two or three thousand."""

MOST = 100
"""Claims of one answer."""

_ITEM = 1_000
"""Characters of a bullet that are read, with its sources; what is longer is no claim, whatever else it says."""

_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)\Z")
_BOLD = re.compile(r"(?:\d{1,2}[.、)]\s*)?(?:\*\*|__)([^*_]+)(?:\*\*|__)[ \t]{0,3}[:：]?\Z")
_BULLET = re.compile(
    r"\s*(?:[-*+•·‣–—]|\d{1,3}[.、)](?!\d))[ \t]*(?P<box>\[[ xX]?\](?!\()[ \t]*|[☐☑✅][ \t]*)?"
    r"(?P<text>.*)\Z",
    re.DOTALL,
)
_NOTHING = frozenset(
    (
        "",
        "none",
        "nothing",
        "nothing new",
        "nothing to report",
        "na",
        "n a",
        "empty",
        "no new preferences",
        "no new facts",
    )
) | {"无", "沒有", "没有", "暂无", "空", "无内容", "没有内容"}
_DECLINED = re.compile(
    r"\b(?:i (?:cannot|can['’]?t|can not|won['’]?t|am unable|am not able)|i['’]m (?:sorry|unable|not able|afraid)"
    r"|sorry,|as an ai|unable to (?:help|assist|comply))"
    r"|抱歉|对不起|很遗憾|我(?:无法|不能|没有办法)|作为(?:一个|一名)?(?:ai|人工智能|语言模型)",
    re.IGNORECASE,
)

_ADDRESS = (
    r"[^\s\[\](){}【】（）,，;；、#][^\[\]【】()（）,，;；、#\n]*"
    r"#[0-2]?[0-9][:：][0-5][0-9](?:[:：][0-5][0-9])?(?:\.\d+)?(?:@[0-9a-fA-F]{6})?"
)
_ONE = re.compile(_ADDRESS)
_OPENED = r"[\[【(（]\s*(?:(?:sources?|from|see|来源|出处|见)\s*[:：]?\s*)?"
_CITED = re.compile(
    rf"(?<!\[){_OPENED}"
    rf"(`?{_ADDRESS}`?(?:\s*(?:[,，;；、]|and|和)\s*`?{_ADDRESS}`?)*)\s*(?:\](?!\((?!replac|supersed))|[】)）])",
    re.IGNORECASE,
)
_AROUND = re.compile(rf"{_OPENED}`?(?:{_CITED.pattern}(?:[\s`,，;；、]|and\b|和)*)+[\]】)）]", re.IGNORECASE)
"""Brackets in which there is nothing but others that cite: `(source: [ADDRESS])`."""
_LABEL = re.compile(r"\s*(?:sources?|from|来源|出处)\s*[:：]?\s*\Z", re.IGNORECASE)
_REPLACES = re.compile(
    r"[(（\[【]\s*(?:replac\w*|supersed\w*|instead of|取代|替换|替代|代替)\s*了?\s*[:：]?\s*"
    r"[`\[]?m(\d{1,4})[`\]]?[^()（）\[\]【】\n]*[)）\]】]",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"[(（\[【]\s*(?:unsure|not sure|uncertain|low confidence|不确定|存疑|低置信度?)\s*[)）\]】]", re.IGNORECASE
)
DOUBTED = 0.3
"""The confidence of a claim that the model itself is not sure of."""


@dataclass(frozen=True, slots=True)
class BadReply:
    """Why nothing of an answer can be used."""

    reason: str


def read(reply: str | bytes, known: Sequence[str] = (), *, template: str = "") -> tuple[Claim, ...] | BadReply:
    """Read a reply to `prompt.checkpoint` as claims, which still have to be judged.

    `known` are the lines that the prompt showed, `template` is its text before it was filled. A claim's sources are the
    addresses as the model gave them; where it replaces a line that was not shown, `replaces` is the number alone.
    """
    text = decoded(reply)
    if isinstance(text, BadReply):
        return text
    text = unfenced(text)
    if _repeats(text, template):
        return BadReply("it repeats the prompt")
    rows = _items(text)
    if rows is None:
        return BadReply("it declines" if _DECLINED.search(text[:400]) else "it has none of the headings asked for")
    found = [_claim(kind, item, known) for kind, item in rows if not _is_nothing(item)]
    if not rows:
        return BadReply("there is nothing but prose under its headings")
    return BadReply(f"it has {len(found)} claims, more than {MOST}") if len(found) > MOST else tuple(found)


def decoded(reply: str | bytes) -> str | BadReply:
    """Give a reply as text with LF, or the reason why it is none."""
    if len(reply) > LARGEST:
        return BadReply(f"it is longer than {LARGEST // 1024} KiB")
    try:
        text = reply.decode("utf-8") if isinstance(reply, bytes) else reply
        size = len(text.encode("utf-8"))
    except UnicodeError:
        return BadReply("it is not UTF-8")
    if size > LARGEST:
        return BadReply(f"it is longer than {LARGEST // 1024} KiB")
    text = _THOUGHT.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    return text if text.strip() else BadReply("it is empty")


def unfenced(text: str) -> str:
    """Take the fence off an answer that is one block of code, whatever is said around it."""
    marks = list(_FENCE.finditer(text))
    if not marks or _heads(text[: marks[0].start()]):
        return text
    closing = [mark for mark in marks[1:] if mark[1][0] == marks[0][1][0] and mark[0].strip() == mark[1]]
    return text[marks[0].end() : closing[-1].start() if closing else len(text)]


def _heads(text: str) -> bool:
    return any(_heading(line)[0] for line in text.split("\n"))


def _repeats(text: str, template: str) -> bool:
    """Tell whether most of what a template asks stands in the answer."""
    asked = {line.strip() for line in template.split("\n") if len(line.strip()) > 30}
    if not asked:
        return False
    said = {line.strip() for line in text.split("\n")}
    return len(asked & said) * 2 >= len(asked)


def _items(text: str) -> list[tuple[ClaimKind, str]] | None:
    """List the bullets under headings for a kind, with the lines that go on beneath them; None without headings."""
    found: list[tuple[ClaimKind, str]] = []
    kind: ClaimKind | None = None
    headed = open_ = fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced, open_ = not fenced, False
            continue
        is_heading, named = _heading(line)
        if fenced or is_heading:
            kind, open_ = (kind, False) if fenced else (named, False)
            headed = headed or named is not None
            continue
        bullet = _BULLET.match(line)
        if kind and bullet and line.strip():
            found.append((kind, _boxed(bullet)))
            open_ = True
        elif open_ and line[:1] in (" ", "\t") and line.strip():
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line.strip()}")
        elif kind and line.strip() and _is_nothing(line):
            found.append((kind, ""))
        else:
            open_ = open_ and not line.strip()
    return found if headed else None


def _heading(line: str) -> tuple[bool, ClaimKind | None]:
    """Tell whether a line is a heading, and of which kind: marked as one, in bold, or nothing but a kind's name."""
    marked = _HEADING.match(line) or _BOLD.match(line.strip())
    if marked:
        kind = sections.kind_of(marked[1])
        return bool(kind) or line.lstrip().startswith("#"), kind
    kind = sections.named(line) if line.strip() and not re.match(r"\s*[-*+•]\s", line) else None
    return kind is not None, kind


def _is_nothing(line: str) -> bool:
    words = "".join(char if char.isalnum() else " " for char in line[:100]).casefold().split()
    return " ".join(words) in _NOTHING


def _boxed(bullet: re.Match[str]) -> str:
    box = (bullet["box"] or "").strip()
    done = "x" in box.casefold() or box in ("☑", "✅")
    return ("[x] " if done else "") + bullet["text"].strip()


def _claim(kind: ClaimKind, item: str, known: Sequence[str]) -> Claim:
    """Make a claim of a bullet: its marks are read and taken off, the rest is what it says."""
    item = item[:_ITEM]
    cited = (one[0] for group in _CITED.finditer(item) for one in _ONE.finditer(group[1]))
    sources = tuple(dict.fromkeys(one.strip("` ").replace("：", ":") for one in cited))
    mark = _REPLACES.search(item)
    unsure = _UNSURE.search(item)
    text = item
    for pattern in (_AROUND, _CITED, _REPLACES, _UNSURE):
        text = pattern.sub(" ", text)
    text = "\n".join(_tidy(line) for line in text.split("\n") if re.search(r"\w", _LABEL.sub("", line)))
    claim = Claim(kind, text.strip(), sources, DOUBTED if unsure else 1.0, _line(mark[1], known) if mark else "")
    return claim if kind == "todo" else replace(claim, text=claims.unboxed(claim.text)[1])


def _tidy(line: str) -> str:
    """Close the gaps that marks left, also in front of a full stop."""
    words = " ".join(line.split())
    return words[:-2] + words[-1] if words.endswith((" 。", " .")) else words


def _line(number: str, known: Sequence[str]) -> str:
    """Give what a numbered line says; the number itself where there is no such line."""
    place = int(number) - 1
    if not 0 <= place < len(known):
        return f"m{number}"
    said = claims.read(known[place])
    return said.text if said else known[place]
