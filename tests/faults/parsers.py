"""Every parser under texts made to break it: no error but the declared ones, no time or memory without an end.

Three kinds of input: what hypothesis makes of hostile alphabets, megabytes of one thing repeated, and files in which
one key is changed. What is promised to come back is compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from hostile_commands import CODE
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from outcome import Outcome, chance, spread
from outcome import seed as run_seed

from mdmem import Vault, config
from mdmem.errors import MdmemError
from mdmem.evaluate import judgements
from mdmem.serve import protocol
from mdmem.store import archive
from mdmem.store.journal import lines as journal
from mdmem.store.journal.story import Story
from mdmem.text import (
    analyze,
    changes,
    dates,
    entries,
    fields,
    frontmatter,
    items,
    markdown,
    mentions,
    passages,
    query,
    screen,
    secrets,
    units,
)

PIECES = (
    *(
        "---\n",
        "...\n",
        "\n",
        "\r\n",
        "\r",
        "\ufeff",
        "\t",
        " ",
        "    ",
        "- 14:30 ",
        "* 9:05 ",
        "- **14:30** ",
        "## 14:30 x",
    ),
    *(
        "- [ ] 14:30 ",
        "- 14:30-15:00 ",
        "14：30 ",
        "24:00 ",
        "- 14:30:59 ",
        "# ",
        "### ",
        "=====\n",
        "-----\n",
        "> ",
        "| a |\n",
    ),
    *("```", "~~~", "`", "``", "<!--", "-->", "<!-- mdmem: id=a%20b source=x -->", "<!-- mdmem:", "<x>", "&amp;", "\\"),
    *(
        "[[",
        "]]",
        "[[a|b]]",
        "![[x]]",
        "[x](y)",
        "](",
        "((",
        "))",
        "http://a.b/c?d#e",
        "#tag",
        "#标签",
        "#a/b",
        "##",
        "#1",
    ),
    *(
        "key: value\n",
        "key:\n",
        "  - x\n",
        "id: '",
        'title: "',
        "? a\n: b\n",
        "&a ",
        "*a",
        "!!python/object ",
        "<<: ",
        "{",
        "}",
    ),
    *(
        "[",
        "]",
        ",",
        "|\n",
        ">-\n",
        "%YAML 1.2\n",
        "@",
        "%",
        "\0",
        "\x1b[31m",
        "\x85",
        "\u2028",
        "\u202e",
        "\udcff",
        "é",
        "e\u0301",
    ),
    *(
        "会员卡",
        "👩‍👩‍👧",
        '"',
        "'",
        "-word",
        "AND ",
        "OR ",
        "NOT ",
        "tag:",
        "in:",
        "word*",
        "(",
        ")",
        "2026-11-29",
        "31 February",
    ),
    *(
        "yesterday",
        "last week",
        "3 days ago",
        "12:30:45",
        "0x1F",
        "1e999",
        "9" * 30,
        "no",
        "null",
        "~",
        "a" * 50,
        "x@000000",
    ),
)
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)
NOW = datetime(2026, 11, 29, 14, 30, tzinfo=UTC)
PATHS = ("memory/daily/2026-11-29.md", "memory/archives/plan.md", "memory/MEMORY.md", "notes/x.md")


def _encoded(text: str) -> bytes:
    """Give the bytes of a text, which need not be UTF-8."""
    return text.encode(
        "utf-8",
        "surrogateescape"
        if all(c < "\ud800" or c > "\udfff" or "\udc80" <= c <= "\udcff" for c in text)
        else "surrogatepass",
    )


def _units(text: str) -> None:
    for path in PATHS:
        for unit in units.read(path, _encoded(text)).units:
            for passage in passages.passages(unit):
                analyze.bag(passage.fields, _same)


def _same(word: str) -> str:
    return word


def _log(text: str) -> None:
    """Take a log apart; every entry can be taken out, and a text that is laid out comes back."""
    text = text.replace("\0", "")  # which no entry may hold
    log = entries.parse(text)
    for entry in log.entries[:3]:
        entries.remove(text, entry)
    wanted = _refusing(lambda: items.normalise(text))
    if isinstance(wanted, str):
        (made,) = entries.parse("# x\n\n" + items.render("14:30", wanted) + "\n").entries
        assert made.text == wanted, (made.text, wanted)


def _markdown(text: str) -> None:
    markdown.tags(text)
    markdown.links(text)
    markdown.strip_comments(text)
    markdown.headings(text)
    markdown.conflict_markers(text)
    secrets.kinds(text)
    changes.compare(PATHS[0], _encoded(text), _encoded(text[::-1]))
    screen.clean(text)
    screen.clean_marked(text, [(0, 3), (2, 9)])
    screen.wrap(screen.clean(text, one_line=True), 7)


def _key(text: str) -> None:
    """Change one key; no other line may differ, and the key must read back."""
    changed = _refusing(lambda: fields.set_field(text, "status", "done"))
    if not isinstance(changed, str):
        return
    assert frontmatter.front_matter(changed).fields.get("status") == "done"
    before, after = (version.removeprefix("\ufeff").split("\n")[::-1] for version in (text, changed))
    for _ in range(2):
        while before and after and before[-1] == after[-1]:
            before.pop()
            after.pop()
        before.reverse()
        after.reverse()
    assert len(after) <= 3, after  # one line, or a block of its own: two rules and the line


def _query(text: str) -> None:
    short = query.cut(text)[0]
    node = query.parse(short)
    if node is not None:
        list(query.leaves(node))
        query.loosened(node)
    query.wording(short)
    analyze.whole_terms(short, _same)


def _dates(text: str) -> None:
    _refusing(lambda: dates.span(text, NOW))
    _refusing(lambda: dates.moment(text, NOW))
    for mention in mentions.mentions(text, NOW):
        list(mentions.possible(mention, text))


def _journal(text: str) -> None:
    data = _encoded(text)
    whole = [line for line in journal.split(data) if journal.is_whole(line)]
    for line in whole:
        _refusing(lambda line=line: journal.marked(line) if journal.is_mark(line) else journal.record_id(line))
    name = "2026-11-29.log"
    grown = Story().read({name: data[: len(data) // 2]}).read({name: data})
    assert list(grown.ids()) == list(Story().read({name: data}).ids())


def _judgements(text: str) -> None:
    _refusing(lambda: judgements.parse_queries(text, "queries"))
    _refusing(lambda: judgements.parse_qrels(text, "qrels"))


def _settings(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for body in (text, f"[search]\nk = {text}", f"embedding.model = {json.dumps(text)}"):
            (Path(folder) / config.MARKER).write_bytes(_encoded(body))
            for name, value in config.load(Path(folder)).values.items():
                assert config.parse(config.named(name), config.show(value)) == value


def _protocol(text: str) -> None:
    for line in _encoded(text).split(b"\n"):
        found = _refusing(lambda line=line: protocol.shape(line))
        if found is not None:
            _refusing(lambda found=found: protocol.query(found))
            _refusing(lambda found=found: protocol.answer(found))


def _archive(text: str) -> None:
    data = _encoded(text)
    assert archive.expand(archive.compress(data)) == data
    _refusing(lambda: archive.expand(archive.MAGIC + data))
    _refusing(lambda: archive.expand(data))


def _refusing(call: Callable[[], object]) -> object:
    """Call something that may refuse in words; None when it does."""
    try:
        return call()
    except (MdmemError, ValueError):
        return None


PARSERS: Mapping[str, Callable[[str], object]] = {
    "front matter": frontmatter.front_matter,
    "one key changed": _key,
    "units, passages, words": _units,
    "log": _log,
    "markdown": _markdown,
    "query": _query,
    "dates and mentions": _dates,
    "journal": _journal,
    "judgements": _judgements,
    "settings": _settings,
    "protocol": _protocol,
    "archive": _archive,
}


def fuzzed(name: str, *, examples: int) -> Outcome:
    """Feed one parser so many texts out of hostile pieces; a failure is given as small as it can be made."""
    tries = [0]

    @seed(run_seed())
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(TEXT)
    def feed(text: str) -> None:
        tries[0] += 1
        PARSERS[name](text)

    try:
        feed()
    except Exception as error:
        return Outcome(
            tries[0], [f"{name}: {type(error).__name__}: {error!s:.500} {getattr(error, '__notes__', '')!s:.800}"]
        )
    return Outcome(tries[0])


REPEATED = (
    *(
        "[[",
        "((",
        "- - - ",
        "#",
        "`",
        "<!--",
        "<!-- mdmem: ",
        "](",
        "**",
        "> ",
        "|",
        "\\",
        "&",
        "{",
        "[",
        "a ",
        "a",
        "-",
        "_",
    ),
    *(
        "\n",
        "\n\n",
        "- 14:30 x\n",
        "# x\n",
        "#a ",
        "#a/",
        "```\n",
        "~",
        "\t",
        " ",
        "\r",
        "\u3000",
        "会",
        "👩\u200d",
        "\u0301",
    ),
    *(
        "\x1b[",
        "\u202e",
        "http://",
        "a@",
        "1.",
        "0",
        "2026-",
        "12:30 ",
        "last ",
        "day ",
        "in 3 ",
        '"',
        "'",
        "tag:",
        "NOT ",
        "(a ",
        "a OR ",
    ),
    *("\0", "\udcff", "---\n", "x: y\n", "  - a\n", "!a ", "%41", "<a>", "=", "é", "AKIA", "sk-", "eyJ", "password: "),
)
"""What is repeated to a megabyte."""

CHILD = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import parsers
piece, size = eval(sys.argv[2]), int(sys.argv[3])
text = piece * (size // len(piece.encode("utf-8", "surrogatepass")))
for name in sys.argv[1].split("|"):
    for form in (text, "---\\n" + text[:60000] + "\\n---\\n" + text[:1000], "- 14:30 " + text):
        started = time.process_time()
        parsers.PARSERS[name](form)
        print(name, round(time.process_time() - started, 2), flush=True)
"""
MEMORY = 2 << 30
"""Bytes of address space a parser may have; libraries and the megabyte itself take most of it."""


def repeated(names: Sequence[str], pieces: Sequence[str], *, size: int = 1 << 20, seconds: float = 20) -> Outcome:
    """Give parsers a megabyte of one piece, in a process of little memory; each may take so many seconds of a CPU."""
    return spread(pieces, lambda piece: _repeated(names, piece, size, seconds), seconds=40)


def _repeated(names: Sequence[str], piece: str, size: int, seconds: float) -> Outcome:
    words = ["|".join(names), ascii(piece), str(size)]
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD.format(limit=MEMORY), *words],
            env={**os.environ, "PYTHONPATH": f"{CODE}{os.pathsep}{Path(__file__).parent}"},
            capture_output=True,
            text=True,
            timeout=20 * seconds * len(names),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        last = (error.stdout or b"").decode().strip().rpartition("\n")[2]
        said = f"{piece!a}: no end after {error.timeout:.0f} s; the last that ended was {last or 'none'}"
        return Outcome(len(names), [said])
    failures = [f"{piece!a}: {done.stderr[-400:]}"] if done.returncode else []
    late = [line for line in done.stdout.splitlines() if float(line.rpartition(" ")[2]) > seconds]
    return Outcome(len(names), failures + [f"{piece!a}: {line} s" for line in late])


def bombs() -> Outcome:
    """Read blocks of YAML that would grow, nest or count without an end; all are plain text with a finding."""
    grown = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    blocks = {
        "aliases": grown,
        "merge keys": "a: &a {x: 1}\n" + "b: {<<: *a}\n",
        "20 MB": "x: " + "y" * 20_000_000 + "\n",
        "200,000 keys": "".join(f"k{number}: v\n" for number in range(200_000)),
        "depth": "x: " + "[" * 1001 + "]" * 1001 + "\n",
        "block depth": "".join(" " * depth + "a:\n" for depth in range(300)),
        "tag": "x: !!python/object/apply:os.system ['true']\n",
        "bytes": "x: !!binary " + "A" * 50_000 + "\n",
        "documents": "a: b\n" + "--- \n" * 2,
        "huge number as a key": "1" * 60_000 + ": x\n",
    }
    failures = []
    for name, block in blocks.items():
        source = f"---\n{block}---\n# Text\n\nfound\n"
        started = time.perf_counter()
        found = units.read(PATHS[1], source.encode())
        if "found" not in found.units[0].text or (
            name not in ("documents", "huge number as a key") and not found.problems
        ):
            failures.append(f"{name}: {found.problems}")
        if time.perf_counter() - started > 20:
            failures.append(f"{name}: {time.perf_counter() - started:.1f} s")
    return Outcome(len(blocks), failures)


def untouched(folder: Path, *, files: int) -> Outcome:
    """Make files of every kind, read them by all commands that read, and compare bytes and times."""
    vault = Vault.init(folder / "vault")[0]
    random = chance("untouched")
    for number in range(files):
        text = "".join(random.choices(PIECES, k=random.randrange(60)))
        head = random.choice(("", "---\ntitle: x # why\r\nid: '0012'\n---\n", "\ufeff", "# x\r\n"))
        kind = (
            f"daily/{date(2020, 1, 1) + timedelta(number)}.md"
            if number % 3 == 0
            else f"archives/{number % 7}/{number}.md"
        )
        place = vault.root / "memory" / kind
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(_encoded(head + text))
    vault.commit()
    before = _picture(vault.root)
    entries_of = Vault.open(vault.root).list()
    for reading in (
        lambda one: one.search("x"),
        lambda one: one.list(),
        lambda one: one.tags(),
        lambda one: one.status(),
    ):
        reading(Vault.open(vault.root))
    for entry in entries_of[:: max(1, len(entries_of) // 50)]:
        with suppress(MdmemError):
            Vault.open(vault.root).get(entry.address)
    Vault.open(vault.root).reindex(full=True)
    Vault.open(vault.root).commit()
    return Outcome(files, [f"changed by reading: {name}" for name in sorted(before ^ _picture(vault.root))])


def _picture(root: Path) -> set[tuple[str, int, bytes]]:
    files = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {(str(path), path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def _fuzz(name: str) -> Callable[[Path], Outcome]:
    return lambda folder: fuzzed(name, examples=2000)


FULL: Mapping[str, Callable[[Path], Outcome]] = {
    **{f"parser: {name}": _fuzz(name) for name in PARSERS},
    "parsers: a megabyte of one thing": lambda folder: repeated(list(PARSERS), REPEATED),
    "parsers: YAML that grows": lambda folder: bombs(),
    "reading changes no byte": lambda folder: untouched(folder, files=2000),
}
