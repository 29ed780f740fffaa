"""Every setting, with its kind, default, meaning and who may set it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Value = bool | int | float | str | tuple[str, ...] | tuple[float, ...]
Scope = Literal["vault", "user"]
Kind = (
    Literal["zone", "folder", "folders", "whole", "number", "flag", "word", "words", "weights", "model"]
    | Literal["url", "label", "variable", "command"]
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `scope` is the least trusted file that may set it; `low` and `high` bound a number.

    `choices` are the words that can be chosen from. One that is `guarded` can run or send something: a vault's file
    sets it only where the user has trusted that vault, unless it sets `off`, with which nothing is run or sent.
    """

    name: str
    kind: Kind
    default: Value
    description: str
    scope: Scope = "vault"
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    guarded: bool = False
    off: Value | None = None

    @property
    def env(self) -> str:
        return "MDMEM_" + self.name.replace(".", "_").upper()


TABLE: tuple[Setting, ...] = (
    Setting("timezone", "zone", "", "IANA time zone of dates and times; empty: the system's"),
    Setting("roots", "folders", (), "further folders of the vault whose Markdown files are memory too"),
    Setting("search.k", "whole", 10, "hits on one page", low=1, high=1000),
    Setting("search.bm25_k1", "number", 1.2, "BM25: how slowly repeated words stop counting", high=10),
    Setting("search.bm25_b", "number", 0.75, "BM25: how much long passages are held back", high=1),
    Setting("search.fusion", "word", "zscore", "how hybrid joins its two legs", choices=("zscore", "rrf")),
    Setting(
        "search.weights",
        "weights",
        (),
        "of keyword and semantic; empty: what suits the model (rrf: 0.3, 0.7)",
        high=1000,
    ),
    Setting("search.rrf_k", "number", 60, "rrf: how slowly lower ranks stop counting", high=10_000),
    Setting(
        "search.routes",
        "words",
        (),
        "rules by which a query goes to one leg alone",
        choices=("short", "definition", "relation"),
    ),
    Setting("search.half_life_days", "number", 0, "age at which a dated hit counts half; 0: age is nothing", high=1e5),
    Setting("embedding.model", "model", "all-MiniLM-L6-v2", "the model of semantic search; empty: none"),
    Setting(
        "embedding.download",
        "flag",
        False,
        "fetch a model that is not at hand from its hub",
        scope="user",
        guarded=True,
        off=False,
    ),
    Setting(
        "llm.provider",
        "word",
        "none",
        "the language model: none, an OpenAI-compatible endpoint, or a command",
        scope="user",
        choices=("none", "openai", "command"),
        guarded=True,
        off="none",
    ),
    Setting(
        "llm.base_url",
        "url",
        "https://api.openai.com/v1",
        "openai: the address of the endpoint",
        scope="user",
        guarded=True,
    ),
    Setting("llm.model", "label", "", "openai: the model's name; command: what to call it", scope="user", guarded=True),
    Setting(
        "llm.key_env",
        "variable",
        "OPENAI_API_KEY",
        "openai: the variable that holds the key; empty: none is sent",
        scope="user",
        guarded=True,
    ),
    Setting(
        "llm.command",
        "command",
        "",
        "command: what to run; reads the prompt, writes the answer; no shell",
        scope="user",
        guarded=True,
    ),
    Setting("llm.timeout_s", "number", 120, "seconds for one answer, with all retries", low=0.1, high=3600),
    Setting("llm.retries", "whole", 3, "openai: how often to try again", high=10),
    Setting(
        "llm.calls_per_day",
        "whole",
        200,
        "calls of the language model on one day, retries included",
        scope="user",
        low=1,
        high=1_000_000,
        guarded=True,
    ),
    Setting(
        "llm.tokens_per_day",
        "whole",
        1_000_000,
        "tokens to and from the language model on one day",
        scope="user",
        low=1,
        high=1_000_000_000,
        guarded=True,
    ),
    Setting("memory.max_chars", "whole", 8000, "characters of MEMORY.md; what is more goes to an archive", high=10**6),
    Setting("nightly.temp_days", "whole", 7, "days after which an entry tagged #temp goes", low=1, high=36_500),
    Setting("nightly.similar", "number", 0.92, "cosine from which two entries may say the same", low=0.5, high=1),
    Setting(
        "nightly.git",
        "word",
        "auto",
        "packing the repository; auto: where it holds nothing but the vault",
        choices=("auto", "always", "never"),
    ),
    Setting("usage.record", "flag", True, "count which memories are shown, never what was asked"),
    Setting("lock.timeout_ms", "whole", 500, "how long a write waits for another process", high=60_000),
    Setting("commit.max_file_mb", "whole", 32, "larger files are named, not read or committed", low=1, high=1024),
    Setting("index.max_file_mb", "whole", 32, "larger files are named, not indexed", low=1, high=1024),
    Setting("vault.default", "folder", "", "the vault used where no other is found", scope="user"),
)
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in TABLE}
