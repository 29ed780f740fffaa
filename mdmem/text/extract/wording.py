"""The line that a sentence becomes: its own words without filler, its days made absolute, and who said it.

Owns what is filler. It may cut at the beginning and add a date; it must never add a word, and never cut one that says
something: what is left has to mean the same.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from mdmem.model import ClaimKind
from mdmem.text.extract.days import absolute
from mdmem.text.extract.phrases import joined
from mdmem.text.extract.sentences import Sentence

_LEAD = re.compile(
    joined(
        r"""
        (?:[\s\u200d\ufe0f\u2190-\u2bff\u3030\U0001f000-\U0001fbff~～・·*_]+(?=\S)|(?:please )?(?:remember|note|nb
        |n\.b\.|ps|p\.s\.|fyi|btw|update|reminder|correction|for the record|important|pro tip|heads[- ]up|info
        |memo)\s?[:：,，—-]\s*|(?:please )?(?:remember|note|keep in mind|bear in mind|be aware|don't forget
        |do not forget|for the record|know)(?: also)? that\s+|(?:by the way|btw|honestly|actually|well|yeah|yep
        |yes|oh|so|ok|okay|anyway|also|and|but|hey|hmm|ah|to be honest|tbh|in fact|of course|sure|wow|plus
        |as i said|as you know|like i said|fyi|personally|thanks|no worries|for me|nope|no|right|true|definitely
        |absolutely|totally|exactly|i know)(?:,? (?-i:[A-Z])[\w’'-]+)?\s?[,，:：—–!.-]+\s*|(?:请)?(?:记住|记一下
        |记下来?|注意|备注|另外|对了|顺便(?:说一下|提一下|一提)?|补充(?:一下|一句|说明)?|更新|提醒|说明|其实|话说
        |总之|反正|嗯|哦|好的|是的|重要)\s?[:：,，、。！!]\s*|(?:so|and|but|plus|also|then|well|yeah) (?=(?:i|we
        |my|our|i'm|i've|i'll)\b)|(?:请)?记住(?=我|用户|他|她))
        """
    ),
    re.IGNORECASE,
)
_FILLER: dict[ClaimKind, re.Pattern[str]] = {
    "todo": re.compile(
        joined(
            r"""
        (?:todo|to-do|to do|fixme|action)(?:\s?[:：-]\s*|\s+(?=\w))
        |(?:please )?(?:remember|don't forget|do not forget|be sure|note to self
        |remind me|make sure)\s?:? (?:to )?(?=[a-z])|(?:i |we )?(?:still |really |also |just )*(?:need|have
        |have got|'ve got|got|ought) to (?=[a-z])|(?:i |we )(?:must|gotta) (?=[a-z])|待办\s?[:：]\s*|(?:千万
        |可)?(?:别忘了|不要忘记?了?|别忘记?|勿忘)(?=\S)|(?:要|请)?记得(?:要)?(?=\S)|提醒我(?=\S)
        """
        ),
        re.IGNORECASE,
    ),
    "preference": re.compile(
        joined(
            r"""
        (?:from (?:now|today|here|tomorrow)(?: on(?:wards?)?)?|from this \w+ on|starting (?:today|now)
        |as of (?:today|now)|henceforth|going forward|for the future),? (?=\w)|从(?:今天|现在|今日)(?:起|开始
        |往后)[，,]?(?=\S)|(?:今后|以后|往后)[，,]?(?:请|都)?(?=我|用|回|不)
        """
        ),
        re.IGNORECASE,
    ),
    "decision": re.compile(r"(?:final )?(?:decision|decided|决定|结论|决议)\s?[:：]\s*", re.IGNORECASE),
    "fact": re.compile(r"(?:fact|info|事实)\s?[:：]\s*", re.IGNORECASE),
}
_ROUNDS = 4


def trimmed(sentence: Sentence) -> Sentence:
    """Return the sentence without what only leads up to it: emoji, interjections, "remember that", 记住."""
    text, hidden = sentence.text, sentence.masked
    for _ in range(_ROUNDS):
        lead = _LEAD.match(hidden)
        if not lead or not lead[0] or lead.end() >= len(text):
            break
        text, hidden = text[lead.end() :], hidden[lead.end() :]
    return replace(sentence, text=text, masked=hidden)


def line(sentence: Sentence, kind: ClaimKind, said: datetime | None) -> str:
    """Return one line of Markdown for a sentence that tells a claim of a kind."""
    filler = None if sentence.speaker else _FILLER[kind].match(sentence.masked)
    cut = filler.end() if filler and filler.end() < len(sentence.text) else 0
    text = absolute(sentence.text[cut:], sentence.masked[cut:], said, ahead=kind == "todo")
    if cut or kind == "todo":
        text = _capital(text)
    text = text.rstrip("；;，, ")
    if not sentence.speaker:
        return text
    return f"{sentence.speaker}：{text}" if not sentence.speaker.isascii() else f"{sentence.speaker}: {text}"


def _capital(text: str) -> str:
    """Begin with a capital where the first word is a plain one."""
    word = re.match(r"[a-z]+(?=[ ,.'’])", text)
    return text[0].upper() + text[1:] if word else text
