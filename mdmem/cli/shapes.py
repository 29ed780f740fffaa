"""The nouns of mdmem as JSON values: which keys, in which order. Keys are only ever added."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from mdmem.config import TABLE, Settings
from mdmem.model import (
    Added,
    Answer,
    Change,
    Claim,
    Conflict,
    Coverage,
    Diagnosis,
    Distilled,
    Edit,
    Entry,
    Finding,
    Held,
    Hit,
    Model,
    Pending,
    Reindexed,
    Spending,
    Status,
    Verification,
)

Shape = dict[str, Any]


def moment(date: datetime | None) -> str | None:
    """Return ISO 8601 with offset, to the second."""
    return None if date is None else date.isoformat(timespec="seconds")


def answer(found: Answer, *, notices: Sequence[str], explain: bool) -> Shape:
    """Return the shape of a search."""
    return {
        "query": found.query,
        "mode": found.mode,
        "took_ms": round(found.took_ms, 1),
        "served_by": found.served_by,
        "notices": list(notices),
        "hits": [_hit(hit, explain) for hit in found.hits],
        "total": found.total,
    } | ({"reasons": list(found.reasons)} if explain else {})


def _hit(hit: Hit, explain: bool) -> Shape:
    of = hit.entry
    shape = {
        "id": of.id,
        "address": of.address,
        "path": of.path,
        "lines": list(hit.lines),
        "date": moment(of.date),
        "title": of.title,
        "tags": list(of.tags),
        "score": round(hit.score, 6),
        "ranks": hit.ranks,
        "text": hit.text,
        "snippet": hit.snippet,
        "kind": of.kind,
    }
    return shape | {"why": list(hit.why)} if explain else shape


def entry(shown: Entry) -> Shape:
    """Return the shape of one entry or document."""
    return {
        "address": shown.address,
        "id": shown.id,
        "path": shown.path,
        "lines": list(shown.lines),
        "date": moment(shown.date),
        "title": shown.title,
        "tags": list(shown.tags),
        "text": shown.text,
        "kind": shown.kind,
        "meta": dict(shown.meta),
    }


def added(entry: Added) -> Shape:
    """Return the shape of an entry that was added."""
    return {
        "address": entry.address,
        "id": entry.id,
        "path": entry.path,
        "lines": None if entry.lines is None else list(entry.lines),
        "commit": entry.commit,
        "pending": entry.pending,
    }


def change(made: Change) -> Shape:
    """Return the shape of one commit."""
    return {
        "commit": made.commit or None,
        "date": moment(made.date),
        "actor": made.actor,
        "author": made.author,
        "op": made.op,
        "source": made.source,
        "subject": made.subject,
        "reason": made.reason,
        "edits": [edit(each) for each in made.edits],
    }


def edit(done: Edit) -> Shape:
    """Return the shape of what happened to one entry or document."""
    return {"kind": done.kind, "address": done.address, "before": done.before, "after": done.after}


def conflict(found: Conflict) -> Shape:
    """Return the shape of two versions that did not merge."""
    places = [
        {"where": clash.where, "base": clash.base, "ours": clash.ours, "theirs": clash.theirs}
        for clash in found.clashes
    ]
    return {
        "number": found.number,
        "id": found.id,
        "kind": found.kind,
        "address": found.address,
        "path": found.path,
        "why": found.why,
        "meanwhile": found.meanwhile,
        "noted": moment(found.noted),
        "clashes": places,
        "base": found.base,
        "ours": found.ours,
        "theirs": found.theirs,
        "proposal": None if found.proposal is None else asdict(found.proposal),
    }


def tags(counts: Iterable[tuple[str, int]]) -> Shape:
    """Return the shape of the tags."""
    return {"tags": [{"tag": tag, "count": count} for tag, count in counts]}


def reindexed(done: Reindexed) -> Shape:
    """Return the shape of a refresh of the indexes."""
    return {
        "added": done.added,
        "modified": done.modified,
        "removed": done.removed,
        "unchanged": done.unchanged,
        "chunks": done.chunks,
        "embedded": done.embedded,
        "failures": [finding(each) for each in done.failures],
        "took_ms": round(done.took_ms, 1),
    }


def held(kept: Held) -> Shape:
    """Return the shape of a text that is held or waits."""
    return {
        "number": kept.number,
        "id": kept.id,
        "address": kept.address,
        "text": kept.text,
        "reason": kept.reason,
        "noted": moment(kept.noted),
        "source": kept.source,
    }


def claim(said: Claim, reason: str) -> Shape:
    """Return the shape of a claim, and why it is where it is."""
    return {
        "kind": said.kind,
        "text": said.text,
        "sources": list(said.sources),
        "confidence": said.confidence,
        "replaces": said.replaces or None,
        "reason": reason,
    }


def pending(one: Pending) -> Shape:
    """Return the shape of a claim that waits for a person."""
    return {"number": one.number, "id": one.id, "noted": one.noted, **claim(one.claim, one.reason)}


def distilled(done: Distilled) -> Shape:
    """Return the shape of what a checkpoint did."""
    return {
        "entries": done.entries,
        "waiting": done.waiting,
        "added": list(done.added),
        "confirmed": [{"before": old, "after": new} for old, new in done.confirmed],
        "replaced": [{"before": old, "after": new} for old, new in done.replaced],
        "moved": list(done.moved),
        "review": [claim(*each) for each in done.review],
        "dropped": [claim(*each) for each in done.dropped],
        "merged": list(done.merged),
        "diff": done.diff,
        "model": done.model,
        "commit": done.commit or None,
        "failures": list(done.failures),
    }


def finding(found: Finding) -> Shape:
    """Return the shape of something that is wrong."""
    return {"path": found.path, "line": found.line, "message": found.message, "hint": found.hint}


def diagnosis(found: Diagnosis) -> Shape:
    """Return the shape of one thing that the doctor or a verification found."""
    return {
        "path": found.path,
        "line": found.line,
        "message": found.message,
        "hint": found.hint,
        "kind": found.kind,
        "severity": found.severity,
        "room": found.room,
        "healed": found.healed,
    }


def examined(found: Sequence[Diagnosis]) -> Shape:
    """Return the shape of what the doctor found, with counts."""
    counts = {name: sum(each.severity == name for each in found) for name in ("error", "warning", "note")}
    return {"findings": [diagnosis(each) for each in found], "counts": counts}


def verified(done: Verification) -> Shape:
    """Return the shape of a comparison of the indexes with the files."""
    return {
        "findings": [diagnosis(each) for each in done.findings],
        "left": done.left,
        "healed": sum(each.healed for each in done.findings),
        "files": done.files,
        "units": done.units,
        "sampled": done.sampled,
        "vectors": done.vectors,
        "compared": done.compared,
        "neighbours": done.neighbours,
        "asked": done.asked,
        "retrieved": done.retrieved,
        "behind": done.behind,
        "took_ms": round(done.took_ms, 1),
    }


def status(now: Status) -> Shape:
    """Return the shape of the state of a vault."""
    return {
        "vault": now.vault,
        "state_dir": now.state_dir,
        "index_dir": now.index_dir,
        "entries": now.entries,
        "documents": now.documents,
        "chunks": now.chunks,
        "stale": now.stale,
        "model": now.model,
        "watch": now.watch,
        "head": now.head,
        "pending": now.pending,
        "uncommitted": now.uncommitted,
        "layers": [{"name": name, "files": files, "bytes": size} for name, files, size in now.layers],
        "model_state": now.model_state,
        "vectors": None if now.vectors is None else _coverage(now.vectors),
        "llm": None if now.llm is None else _spending(now.llm),
    }


def _spending(now: Spending) -> Shape:
    return {
        "provider": now.provider,
        "model": now.model,
        "calls": now.calls,
        "calls_limit": now.calls_limit,
        "tokens": now.tokens,
        "tokens_limit": now.tokens_limit,
        "calls_in_all": now.calls_in_all,
        "tokens_in_all": now.tokens_in_all,
        "guessed": now.guessed,
    }


def _coverage(now: Coverage) -> Shape:
    return {
        "embedded": now.embedded,
        "missing": now.missing,
        "unreadable": now.unreadable,
        "index_in_step": now.behind == 0,
        "index_behind": now.behind,
    }


def model(shown: Model) -> Shape:
    """Return the shape of a model of meaning."""
    return {
        "name": shown.name,
        "chosen": shown.chosen,
        "state": shown.state,
        "precision": shown.precision or None,
        "dimension": shown.dimension or None,
        "window": shown.window or None,
        "scripts": list(shown.scripts),
        "kind": shown.kind or None,
        "source": shown.source or None,
        "folder": shown.folder or None,
        "agreement": dict(shown.agreement),
        "vectors": shown.vectors,
    }


def setting(settings: Settings, name: str) -> Shape:
    """Return the shape of one setting in force."""
    found = next(each for each in TABLE if each.name == name)
    return {
        "name": name,
        "value": _plain(settings.value(name)),
        "origin": settings.origin(name),
        "default": _plain(found.default),
        "env": found.env,
        "scope": found.scope,
        "description": found.description,
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
