"""How well search answers questions whose answers are known: recall, nDCG, MRR, time, and how much of it is chance.

`judgements.py` reads questions and judgements, `asking.py` asks a vault, `metrics.py` measures single answers and the
chance in their means, `report.py` is what comes of it all:

    questions, judgements = read_queries("queries.jsonl"), read_qrels("qrels.tsv")
    report = run(Vault.open("~/memory"), questions, judgements)
"""

from mdmem.evaluate.asking import MODES, run, tuned
from mdmem.evaluate.judgements import Question, parse_qrels, parse_queries, read_qrels, read_queries
from mdmem.evaluate.metrics import interval, measure, mrr, ndcg, percentile, recall, resample
from mdmem.evaluate.report import (
    HEADLINE,
    Comparison,
    Difference,
    Group,
    Outcome,
    Report,
    Run,
    against,
    compare,
)

__all__ = [
    "HEADLINE",
    "MODES",
    "Comparison",
    "Difference",
    "Group",
    "Outcome",
    "Question",
    "Report",
    "Run",
    "against",
    "compare",
    "interval",
    "measure",
    "mrr",
    "ndcg",
    "parse_qrels",
    "parse_queries",
    "percentile",
    "read_qrels",
    "read_queries",
    "recall",
    "resample",
    "run",
    "tuned",
]
