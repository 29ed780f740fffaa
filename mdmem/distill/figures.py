"""The numbers of a text, in figures and in words, in English and Chinese.

Pure. Owns their spelling: 1,200 and 1200, twelve and 12, 一千五 and 1500 are one number each.
"""

from __future__ import annotations

import re

from mdmem.text.analyze import unify

DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
ENGLISH = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17},
    **{"eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60},
    **{"seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "twice": 2, "thrice": 3, "dozen": 12},
}
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
NUMERAL = re.compile(
    "(?<![十百千万〇零一二两三四五六七八九])(?!十分|千万别|万一|三明治|四川|五行|百度|百科|[一二两三四五六七八九十]点?[儿些]|一(?![十百千万]))"
    "[〇零一二两三四五六七八九十百千万]+"
)
WORD_NUMBER = re.compile(r"\b(?:" + "|".join(word for word in ENGLISH if word != "one") + r")\b")


def numbers(text: str) -> tuple[str, ...]:
    """List the numbers of a text, each once: as digits, without the commas of thousands; numerals count as well."""
    folded = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unify(text).casefold())
    return tuple(
        dict.fromkeys(digits(match[0]) for kind in (NUMBER, WORD_NUMBER, NUMERAL) for match in kind.finditer(folded))
    )


def digits(number: str) -> str:
    """Give a number of a text, which is one of those three kinds, in digits."""
    if number in ENGLISH:
        return str(ENGLISH[number])
    return number if number[0].isdecimal() else str(_value(number))


def _value(numeral: str) -> int:
    """Read Chinese numerals: 十五, 二十, 三百零五, 两千; digits in a row, as in a year, too."""
    if not any(char in SCALES for char in numeral):
        return int("".join(str(DIGITS[char]) for char in numeral))
    if re.search("[百千万][一二三四五六七八九]\\Z", numeral):  # 一千五 is 1500
        return _value(numeral[:-1]) + DIGITS[numeral[-1]] * SCALES[numeral[-2]] // 10
    total = digit = 0
    for char in numeral:
        if char in SCALES:
            scale = SCALES[char]
            total = (total + digit) * scale if scale == 10_000 else total + max(digit, 1) * scale
            digit = 0
        else:
            digit = DIGITS[char]
    return total + digit
