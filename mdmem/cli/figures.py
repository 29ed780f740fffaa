"""What there is in a vault, in numbers, as people read it. It writes through `terminal` alone."""

from collections.abc import Iterator, Sequence

from mdmem.cli import render, terminal
from mdmem.cli.terminal import DIM
from mdmem.model import Coverage, Spending, Status
from mdmem.text import screen


def status(now: Status) -> None:
    """Write counts, places and freshness."""
    rows = [
        ("vault", now.vault),
        ("state", now.state_dir),
        ("index", now.index_dir or "none yet; the next search makes it"),
        ("entries", f"{now.entries}"),
        ("documents", f"{now.documents}"),
        ("passages", f"{now.chunks}"),
        ("not indexed", render.counted(now.stale, "file")),
        ("last commit", (now.head or "none")[:12]),
        ("uncommitted", render.counted(now.uncommitted, "file")),
        ("pending", f"{now.pending}"),
        *([("watched by", f"pid {now.watch['pid']}")] if now.watch["running"] else ()),
        ("model", f"{now.model}, {now.model_state}" if now.model else "none"),
        *(_coverage(now.vectors) if now.vectors else ()),
        *(_spending(now.llm) if now.llm else ()),
        *((name, f"{render.counted(files, 'file')}, {size:,} bytes") for name, files, size in now.layers),
    ]
    _table(rows)


def _coverage(now: Coverage) -> Iterator[tuple[str, str]]:
    """Yield the rows on what the model has seen."""
    rest = [f"{now.missing:,} to come"] if now.missing else []
    rest += [f"{now.unreadable:,} that the model cannot read"] if now.unreadable else []
    yield "vectors", ", ".join((f"{render.counted(now.embedded, 'passage')}", *rest))
    behind = "not filled yet" if now.behind is None else f"behind by {render.counted(now.behind, 'passage')}"
    yield "vector index", "in step" if now.behind == 0 else behind


def _spending(now: Spending) -> Iterator[tuple[str, str]]:
    """Yield the rows on the language model and what it was asked."""
    yield "language model", f"{now.provider}, {now.model or 'without a name'}" if now.provider != "none" else "none"
    if now.provider != "none":
        calls, tokens = f"{now.calls:,} of {now.calls_limit:,} calls", f"{now.tokens:,} of {now.tokens_limit:,} tokens"
        yield "asked today", f"{calls}, {tokens}"
    if now.calls_in_all:
        guessed = ", in part guessed" if now.guessed else ""
        calls = "1 call" if now.calls_in_all == 1 else f"{now.calls_in_all:,} calls"
        yield "asked in all", f"{calls}, {now.tokens_in_all:,} tokens{guessed}"


def _table(rows: Sequence[tuple[str, str]]) -> None:
    wide = max(screen.width(name) for name, _ in rows)
    for name, text in rows:
        if wide + 2 + screen.width(text) > terminal.columns():
            terminal.line((name, DIM))
            render.wrapped(text)
        else:
            terminal.line((f"{name:<{wide}}", DIM), "  ", text)
