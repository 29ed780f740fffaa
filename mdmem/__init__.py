"""mdmem: the memory you can read.

Markdown files under git are the memory. `Vault` is the one object through which everything goes: it wires small
adapters together and owns every write. A write is journal, file, commit; a crash after any of them loses nothing. A
read brings the index up to date from the files first, ranks, and cuts what it shows from the files as they are.

    errors.py        every error a person may meet, with its exit code
    model.py         the nouns: Entry, Query, Hit, Answer, Change, Finding …
    config.py        find the vault; typed settings from one table; the only reader of the environment
    fsio/            every disk write: append, replace, put, unlink, mkdir, sync
      calls.py         the calls that may change the disk, each by a name; trouble.py says why one failed
      paths.py         how a file is reached: no links, regular files only; snapshot.py what stands there
      tail.py          append, as a whole or not at all; state.py writes what nobody else saves
      replacement.py   another file in its place, or none; leftovers.py clears what that leaves in tmp/
    text/            pure functions: no files, no clock, no environment
      entries.py       the daily log's grammar: where entries begin and end; items.py lays one out
      markdown.py      decoding, headings, tags, links; lines.py says what each line is
      frontmatter.py   YAML at the top of a document, read; fields.py changes one key and no other byte
      units.py         what a file holds as units of memory, and their addresses
      chunk.py         passages of a document, by headings, with exact spans
      analyze.py       what a text is found by: words, identifiers and their parts, CJK pairs
      query.py         what was typed, as a tree; snippet.py what to show of a hit
      changes.py       two versions of a file compared by entry
      dates.py         moments as people write them; secrets.py what looks like one; screen.py what a terminal may get
    store/           one adapter for each outside thing; adapters never meet
      journal/         acknowledged changes, durable until they are in history; lines.py is their grammar
      lock.py          locks between processes
      repo/            git: commits by plumbing, history through GitPython
      catalog.py       SQLite: what is indexed, folded texts, tags
      lexical.py       Whoosh: terms and numbers of each passage
      generations.py   whole sets of index files, their sums, and which of them serves
    indexer.py       files against catalog, as a merge of two sorted streams
    retrieve.py      from a query to an order of units; takes its leg as an argument, no I/O of its own
    merge.py         taking one change back out of a text that has changed since
    vault/           the aggregate, and the only wiring of the stores
    cli/             the command line: parse, one call of Vault, one call of render; app.py is the one error boundary

Imports go strictly downward, in this order: errors, model; config, fsio, text; store; indexer, retrieve, merge; vault;
cli. Only `vault` imports `store`, and each library has one home, where it is imported inside functions.
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
