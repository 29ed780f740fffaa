"""Merging texts: two changes of one file brought together, and one change as a patch or taken back.

    changes.py     one change as the smallest patch of bytes, and taken back out of a later text
    lines.py       lines aligned, and two sides' changes merged by line
    parts.py       a text of named parts: which version of each, and how they are laid out
    logs.py        daily logs by entry; documents.py front matter by key, by tags.py where that is a set
    origin.py      which of several versions a save was made from
    files.py       whole files: which way for which kind, encoding, line endings
    choice.py      what a person makes of two versions that clash; git's markers
    bullets.py     a list of bullets, whose comments are no part of what they say
    contest.py     the same in a file that was changed since; remains.py where the place is gone from it

Pure. It must never lose what either side wrote, never write a marker into somebody's text, and never guess.
"""

from mdmem.merge.bullets import bases, settled
from mdmem.merge.changes import Patch, backward, forward, patch, revert
from mdmem.merge.choice import Block, blocks, both, cut, filled, marked, sides
from mdmem.merge.contest import Contest
from mdmem.merge.files import Merged, is_text, left, three_way
from mdmem.merge.lines import Take
from mdmem.merge.origin import nearest
from mdmem.model import Clash

__all__ = [
    "Block",
    "Clash",
    "Contest",
    "Merged",
    "Patch",
    "Take",
    "backward",
    "bases",
    "blocks",
    "both",
    "cut",
    "filled",
    "forward",
    "is_text",
    "left",
    "marked",
    "nearest",
    "patch",
    "revert",
    "settled",
    "sides",
    "three_way",
]
