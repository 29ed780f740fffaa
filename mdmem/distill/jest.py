"""What was said in jest, in a story, for a while, or taken back: true as a log, and no memory.

Owns those signs. They only ever send a claim to a person, so that one too many costs a glance and no memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmem.model import Claim, Entry
from mdmem.text import expiry

_JOKE = re.compile(
    r"\b(?:ha(?:ha)+|he(?:he)+|lol|lmao|rofl|jk|j/k|(?:just|only) (?:kidding|joking)|kidding|joking|sarcasm)\b"
    r"|(?<!\S)/s\b|哈哈|嘿嘿|嘻嘻|呵呵|玩笑|逗你|说笑|笑死|狗头|\b(?:doge|hhh+|2333+)\b|[(（]笑[)）]|[😂🤣😜😝😹]",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\brole-?play|\bpretend|\bin character\b|\bact (?:as|like)\b|\bimagine (?:you|that you)\b"
    r"|\bplay(?:s|ing)? the (?:role|part)|\bmarry me\b"
    r"|\byou(?:'re|’re| are| were) (?:now |like |such )?(?:my|a|an|the|so)\b"
    r"|\bbe my (?:mom|mum|mother|dad|father|wife|husband|girl|boy|master)|扮演|假装|假设你|装作"
    r"|你(?:就|真|也|可|简直|才|现在)?是|[当做]我的?[^，。！？,.!?]{0,4}"
    r"(?:妈|娘|爸|爹|老婆|老公|妻|夫|女友|男友|女朋友|男朋友|女人|男人|主人|宠物|奴)",
    re.IGNORECASE,
)
_STAGE = re.compile(
    r"\A\s*\*[a-z]+s(?: [a-z ]+)?\*|\A\s*(?:\*[^*\n]+\*|[（(][^（）()\n]{1,40}[)）])\s*(?:\Z|[\"“「]|\n)"
)
_TAKEN_BACK = re.compile(
    r"\b(?:i (?:never|didn['’]?t) (?:say|said|mean|meant)|misunderst\w+|misheard|scratch that|that was wrong|my mistake"
    r"|i was wrong|disregard that|never ?mind)\b"
    r"|误会|误解|搞错|弄错|说错|听错|记错|不是[这那]个意思|当我没说",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:for now|for the moment|just (?:this once|for today|today)|only (?:today|this once|for today)|for today"
    r"|temporar(?:y|ily))\b|暂时|临时|今天先|就这一次|仅限?今天|这次先",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"剧情|台词|人设|女主角?|男主角?|\bprotagonist|\bheroine|\bchapter \d"
    r"|\bin (?:the|this|that|a) (?:film|movie|novel|series|episode|story)\b|(?:电影|小说|剧)里",
    re.IGNORECASE,
)
_STORIES = frozenset(
    ("joke", "jokes", "fun", "roleplay", "role-play", "story", "fiction", "game", "rp", "玩笑", "段子", "角色扮演")
) | {"故事", "小说", "剧本", "同人"}
_ABOUT_ITSELF = re.compile(
    r"\W*(?:(?:the |this |your |an? )?(?:assistant|ai|agent|bot|chatbot|(?:language )?model|llm|claude|chat-?gpt|gpt)\b"
    r"|助手|助理|机器人|模型|ai|人工智能|本助手|(?:i|i'm|i’m|my)\b|我(?!们))",
    re.IGNORECASE,
)
_AGENTS = frozenset(("agent", "assistant", "ai", "bot", "model", "llm", "claude", "gpt", "chatgpt", "proxy"))


def doubt(claim: Claim, sources: Sequence[Entry]) -> str:
    """Say why what a claim rests on was not meant, or does not hold; "" where nothing shows that."""
    texts = [claim.text, *(entry.text for entry in sources)]
    if any(map(_JOKE.search, texts)):
        return "it was said as a joke"
    if any(map(_ROLE.search, texts)) or any(map(_STAGE.search, texts)):
        return "it was said in play"
    if claim.kind != "preference" and (
        (claim.kind != "todo" and any(map(_TOLD.search, texts)))
        or any(_STORIES.intersection(_tags(entry)) for entry in sources)
    ):
        return "it belongs to a story or a joke"
    if any(map(_TAKEN_BACK.search, texts)):
        return "it was a misunderstanding, or taken back"
    if claim.kind != "todo" and any(map(_PASSING.search, texts)):
        return "it holds for a while only"
    if any(map(passes, sources)):
        return "its source holds for a while only"
    if _ABOUT_ITSELF.match(claim.text) and all(_by_agent(entry) for entry in sources):
        return "an assistant says it of itself"
    return ""


def passes(entry: Entry) -> bool:
    """Tell whether an entry says of itself that it is not for good."""
    until = dict(entry.meta).get("expires", "").strip().casefold()
    return expiry.is_temporary(entry.tags) or (until != "" and until not in expiry.NEVER)


def _tags(entry: Entry) -> set[str]:
    return {part.casefold() for tag in entry.tags for part in tag.split("/")}


def _by_agent(entry: Entry) -> bool:
    held = dict(entry.meta)
    words = {held.get("source", "").casefold(), held.get("role", "").casefold(), held.get("author", "").casefold()}
    return bool(words & _AGENTS)
