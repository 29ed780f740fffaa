"""Distilling: from what a model or a pattern says of log entries to an edit of MEMORY.md that can harm nothing.

    prompt.py      entries in batches, and a batch as the text that a model is asked
    reply.py       its answer as claims, or the reason why it is none
    checks.py      what becomes of each claim, by support.py, danger.py and jest.py
    support.py     whether the sources of a claim say so: subjects.py of whom, stance.py yes or no and how sure,
                   limits.py how far, dating.py when, rates.py how often, amounts.py how much, partners.py whether words
                   belong together
    words.py       what they are compared by, with clauses.py, figures.py, and the words of vocabulary/ that say the
                   same or little
    replacing.py   whether a claim may take the place of a line of memory
    danger.py      hidden text, secrets, markup, and by orders.py orders to a model: never memory unasked
    jest.py        what was said as a joke, in a story, for a while, or taken back
    revision.py    claims into MEMORY.md, on the lines of the program alone; page.py is that file as read, laying.py
                   where lines go in it
    folding.py     lines that say the same, or are done, out of it again
    overflow.py    the document that takes what MEMORY.md has no room for
    merging.py     two versions of a text merged by a model, and whether a fact of either is lost

Pure. It must never touch a file or ask a model itself, never take an answer at its word, and never change or remove a
line that a person wrote.
"""

from mdmem.distill import merging, overflow
from mdmem.distill.checks import Outcome, Verdict, is_foreign, judge
from mdmem.distill.danger import is_line
from mdmem.distill.folding import Folded, alike, folded, joined
from mdmem.distill.page import known_lines
from mdmem.distill.prompt import Batch, checkpoint, part
from mdmem.distill.reply import BadReply
from mdmem.distill.reply import read as read_reply
from mdmem.distill.revision import Moved, Refusal, Revision, revise

__all__ = [
    "BadReply",
    "Batch",
    "Folded",
    "Moved",
    "Outcome",
    "Refusal",
    "Revision",
    "Verdict",
    "alike",
    "checkpoint",
    "folded",
    "is_foreign",
    "is_line",
    "joined",
    "judge",
    "known_lines",
    "merging",
    "overflow",
    "part",
    "read_reply",
    "revise",
]
