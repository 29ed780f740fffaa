"""Paths that lead out of a vault: typed, written into files, or standing on the disk. Nothing outside is opened.

What is opened is read from a trace of the system calls, by the path the kernel gives an open file, and compared with
the places that may be: the vault, the home, the interpreter and its libraries.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import hostile_commands as commands
from hostile_commands import CODE, ENTRY, Home
from outcome import Outcome

from mdmem import Vault, fsio, indexer
from mdmem.errors import MdmemError

HERE = Path(__file__).parent
SECRET = "# 2026-11-29\n\n- 14:30 secret outside of the vault\n"
OPENS = "open,openat,openat2,creat"
OPENED = re.compile(r"^(?:\d+ +)?\w+\(.*\) = \d+<(?P<path>.*)>$")
MARK = re.compile(r'"/mark/(?P<number>\d+)"')

UPWARDS = (
    *("..", "%2e%2e", "%252e%252e", ".%2e", "．．", "‥", "\u2024\u2024", "..\u200b", "....", "%c0%ae%c0%ae"),
    *("..\t", "\\.\\.", "..;", "\udcc0\udcae\udcc0\udcae", ". .", "..\0"),
)
BETWEEN = ("/", "\\", "%2f", "//", "／", "∕", "/./", "%5c", "\n/")
BEFORE = ("", "memory/", "daily/", "/", "archives/plan/")
AFTER = ("outside/secret", "outside/secret.md", f"outside/{ENTRY.partition('/')[2]}", "outside")


def payloads(base: Path) -> list[str]:
    """List paths that try to lead to what lies beside the vault, or to what no memory is."""
    outside = base / "outside"
    plain = (f"{outside}/secret", f"{outside}/secret.md", f"{outside}", "/etc/shadow", "/etc/hostname")
    plain += ("/proc/self/environ", "/proc/self/cwd/../outside/secret.md", "/proc/self/root/etc/hostname")
    plain += ("/dev/zero", "/dev/stdin", "/dev/tty", "/proc/self/fd/0", "file:///etc/hostname", "~/secret", "~root/x")
    plain += ("$HOME/secret", "|cat /etc/hostname", "`cat /etc/hostname`", "$(cat /etc/hostname)", "-", "--", "-x")
    plain += ("@/etc/hostname", "C:\\secret.md", "\\\\host\\share\\secret.md", "//host/share", ".git/config")
    plain += ("/.git/config", "memory/.git/config", ".mdmem/usage", "/.mdmem/usage.tsv", ".", "..", "/", "//", "a//b")
    plain += ("./plan", "archives/./plan", "archives//plan", "archives/plan/", "archives/.hidden", ".hidden")
    plain += (f"{ENTRY}/../../../outside/secret", f"{ENTRY}@000000", "daily/2026-11-29#../../outside/secret")
    plain += ("x" * 300, "x/" * 3000, "x" * 100_000, "é" * 200, "x\0y", "x\ny", "x\x1by", "\udcff", "x\u2028y", " ", "")
    plain += (
        "linked/secret",
        "linked.md",
        "daily/linked",
        "folder/secret",
        "*",
        "?",
        "[a-z]*",
        "**/*",
        "CON",
        "nul.md",
    )
    made = (
        before + between.join([up] * depth) + between + after
        for depth, up, between, before, after in product((1, 2), UPWARDS, BETWEEN, BEFORE, AFTER)
    )
    return list(dict.fromkeys((*plain, *made)))


TYPED: tuple[Callable[[str], list[str]], ...] = (
    lambda path: ["show", "--", path],
    lambda path: ["search", "secret", "--in", path],
    lambda path: ["search", f"in:{path}"],
    lambda path: ["list", "--in", path],
    lambda path: ["log", "--", path],
    lambda path: ["edit", "--set", "status=changed", "--", path],
    lambda path: ["rm", "--yes", "--", path],
    lambda path: ["reindex", "--", path],
    lambda path: ["diff", "--", path],
    lambda path: ["undo", "--", path],
    lambda path: ["add", "text", "--tag", path],
    lambda path: ["add", "text", "--at", path],
    lambda path: ["add", "text", "--source", path, "--id", path],
    lambda path: ["config", "set", "--", "timezone", path],
    lambda path: ["config", "set", "--", "roots", path],
    lambda path: ["config", "set", "--", "embedding.model", path],
    lambda path: ["config", "set", "--", path, "1"],
    lambda path: ["config", "get", "--", path],
)
"""Where a path, or what might be taken for one, can be typed."""


def orders(base: Path, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Give each payload to two ways of typing it in turn, the plain ones to six; and some to files as well."""
    for number, path in enumerate(wanted):
        often = 6 if number < 90 else 2
        ways = [TYPED[(number * often + step) % len(TYPED)] for step in range(often)]
        for way in ways:
            if not any("\0" in word for word in way(path)):  # no process can be given such a word
                yield {"words": way(path)}
        if number < 90 or number % 10 == 0:
            yield from written(path)
    yield {"words": ["reindex", "--full"]}


def written(path: str) -> Iterator[dict[str, Any]]:
    """Write a path into the files of a vault: settings, front matter, links, a batch."""
    text = json.dumps(path)
    settings = f"timezone = {text}\nroots = [{text}]\n[embedding]\nmodel = {text}\n"
    yield {"words": ["list"], "files": {"mdmem.toml": settings}}
    field = text.replace("\\ud", "\\\\ud")
    front = f"---\nid: {field}\ntitle: {field}\naliases: [{field}]\ntags: [{field}]\ncreated: {field}\n---\n"
    links = f"# {path}\n\n[[{path}]] ![[{path}]] [x]({path}) ![x](<{path}>)\n\n[a]: {path}\n"
    yield {"words": ["list", "--json"], "files": {"mdmem.toml": "", "memory/archives/named.md": front + links}}
    yield {"words": ["show", "archives/named"]}
    entry = {"text": f"see [[{path}]]", "tags": [path], "at": path, "source": path, "id": path}
    for keys in (("text", "source", "id"), ("text", "at"), ("text", "tags")):
        yield {"words": ["add", "--batch", "jsonl"], "typed": json.dumps({key: entry[key] for key in keys}) + "\n"}


def settle(folder: Path) -> Home:
    """Make a vault, and beside it what nobody may touch."""
    home = commands.settle(folder)
    commands.furnish(home)
    outside = folder / "outside"
    (outside / "daily").mkdir(parents=True)
    for name in ("secret.md", "2026-11-29.md", "daily/2026-11-29.md", "MEMORY.md", "mdmem.toml", ".gitattributes"):
        (outside / name).write_text(SECRET if name.endswith(".md") else "")
    return home


def traced(home: Home, wanted: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    """Carry out orders in one process under strace; give what each said, and (order, path) of all that was opened."""
    log, notes = home.base / "trace", home.base / "notes"
    done = subprocess.run(
        [
            *("strace", "-f", "-qq", "-y", "-s", "200", "-e", f"trace={OPENS}", "-e", "signal=none", "-o", str(log)),
            *(sys.executable, "-P", str(HERE / "hostile_driver.py"), str(notes)),
        ],
        cwd=home.vault,
        env=home.environment(),
        input="".join(json.dumps(order) + "\n" for order in wanted).encode(),
        capture_output=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    opened, number = list[tuple[int, str]](), -1
    for line in log.read_text(errors="surrogateescape").split("\n"):
        if mark := MARK.search(line):
            number = int(mark["number"])
        elif found := OPENED.match(line):
            opened.append((number, found["path"]))
    said = [json.loads(line) for line in notes.read_text(errors="surrogatepass").splitlines()]
    return said, opened


def allowed(home: Home) -> re.Pattern[str]:
    """Give the paths that may be opened: places with all that is in them, and folders on the way there."""
    places = {str(home.vault), str(home.home), str(home.base / "run"), str(home.base / "bin"), str(HERE)}
    places |= {str(CODE / "mdmem")}
    places |= {sys.prefix, sys.base_prefix, sysconfig.get_paths()["stdlib"], *site.getsitepackages()}
    places |= {os.path.realpath(place) for place in places} | {"/usr", "/lib", "/lib64", "/bin", "/sbin"}
    single = {"/dev/null", "/dev/urandom", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd"}
    single |= {"/etc/gitconfig", "/etc/locale.alias", "/etc/ssl/openssl.cnf"}
    single |= {"/proc/locks", "/etc/mime.types", "/etc/timezone", str(home.base / "notes"), str(home.base / "trace")}
    single |= {str(above) for above in home.vault.parents} | {str(CODE), *sys.path}
    single |= {str(home.base / name) for name in ("queries.jsonl", "qrels.tsv")} | {tempfile.gettempdir()}
    within = "|".join(map(re.escape, sorted(places)))
    alone = "|".join(map(re.escape, sorted(single)))
    scratch = r"/tmp/(?:mdmem-|tmp|#)[^/]*(?:/.*)?|/tmp/[a-z0-9_]{8}|/sys/.*|pipe:.*"
    # Who has a log open is asked by listing processes and their descriptors.
    system = r"/proc(?:/(?:\d+/(?:fd|maps|status|mountinfo|cgroup|stat)|meminfo|cpuinfo|filesystems|sys/.*|mounts))?"
    return re.compile(rf"(?:{within})(?:/.*)?|{alone}|{scratch}|{system}", re.DOTALL)


def typed(folder: Path, *, count: int) -> Outcome:
    """Try so many payloads in all ways of giving a path to the program."""
    home = settle(folder)
    found = payloads(folder)
    step = max(1, (len(found) - 90) // max(1, count - 90))
    wanted = (found[:90] + found[90::step])[:count]
    return judged(home, list(orders(folder, wanted)), tries=len(wanted))


def judged(home: Home, wanted: Sequence[dict[str, Any]], *, tries: int) -> Outcome:
    """Carry out orders and name what was opened or changed outside, and what ended in another way than in words."""
    before = picture(home.base / "outside")
    said, opened = traced(home, wanted)
    may = allowed(home)
    failures = [
        f"{wanted[number]['words'] if number >= 0 else 'start'!r:.300} opened {path}"
        for number, path in dict.fromkeys(opened)
        if not may.fullmatch(path)
    ]
    failures += _answers(wanted, said)
    if picture(home.base / "outside") != before:
        failures.append("something outside was changed")
    return Outcome(tries, failures, f"{len(wanted)} commands, {len(opened)} files opened")


def _answers(wanted: Sequence[dict[str, Any]], said: Sequence[dict[str, Any]]) -> Iterator[str]:
    for order, answer in zip(wanted, said, strict=True):
        words = f"{order['words']!r:.300}"
        if answer["code"] not in (0, 1, 2, 3, 10, 12, 13, 14) or "Traceback" in answer["err"]:
            yield f"{words} ended with {answer['code']}: {answer['err'][-500:]}"
        if "secret outside" in answer["out"] + answer["err"]:
            yield f"{words} showed what lies outside"


def picture(folder: Path) -> list[tuple[str, int, bytes]]:
    """Sum up a folder: names, times of change, contents."""
    return [
        (str(path), path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    ]


# What stands on the disk


def standing(home: Home) -> Iterator[str]:
    """Put links, pipes, sockets, devices and odd names where memory files are looked for."""
    outside, memory = home.base / "outside", home.vault / "memory"
    for place, to in {
        "memory/linked.md": outside / "secret.md",
        "memory/linked": outside,
        "memory/daily/linked": outside,
        "memory/daily/2026-11-28.md": outside / "2026-11-29.md",
        "memory/dangling.md": home.base / "made by a dangling link",
        "memory/loop.md": Path("loop.md"),
        "memory/loop": Path("."),
        "memory/proc.md": Path("/proc/self/environ"),
        "memory/zero.md": Path("/dev/zero"),
        "MEMORY.md": outside / "MEMORY.md",
        "notes": outside,
        ".mdmem": outside,
        "real/below": outside,
    }.items():
        (home.vault / place).parent.mkdir(exist_ok=True)
        (home.vault / place).symlink_to(to)
        yield place
    os.mkfifo(memory / "pipe.md")
    os.mkfifo(memory / "daily/2026-11-27.md")
    with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):
        os.chdir(memory)  # a socket's path may have 107 bytes
        listener.bind("socket.md")
    with suppress(PermissionError):
        os.mknod(memory / "device.md", 0o600 | 0o020000, os.makedev(1, 5))
    (memory / "folder.md").mkdir()
    os.link(outside / "secret.md", memory / "hard link.md")
    for name in (b"-rf.md", b"new\nline.md", b"\xff\xfe.md", b"esc\x1b[31m.md", b"a" * 252 + b".md", b"back\\slash.md"):
        Path(os.fsdecode(os.fsencode(memory) + b"/" + name)).write_text("# Odd\n")
    yield from ("two pipes", "a socket", "a device", "a folder", "a hard link", "six odd names")
    (home.vault / "mdmem.toml").write_text('roots = ["notes", "real"]\n')


LINKED = ("memory", "memory/daily", "memory/archives", "mdmem.toml", ".gitattributes")


def on_disk(folder: Path, wanted: Iterable[str]) -> Outcome:
    """Run commands in a vault in which links and other things stand where files should."""
    home = settle(folder)
    here = os.getcwd()
    try:
        planted = list(standing(home))
    finally:
        os.chdir(here)
    return _every(home, wanted, tries=len(planted))


def linked(folder: Path, wanted: Sequence[str], places: Sequence[str] = LINKED) -> Outcome:
    """Run commands in vaults of which a part is a link to the outside."""
    done = Outcome(0)
    for place in places:
        home = settle(folder / place.replace("/", " "))
        there = home.vault / place
        shutil.rmtree(there) if there.is_dir() else there.unlink(missing_ok=True)
        there.symlink_to(home.base / "outside" / (place if place.startswith((".", "mdmem")) else "."))
        done += _every(home, wanted, tries=1)
    return done


def _every(home: Home, wanted: Iterable[str], *, tries: int) -> Outcome:
    every = [words for name in wanted for words in commands.lines(name) if not commands.lasts(words)]
    kept = [words for words in every if words[:1] not in (["init"], ["model"]) and "--model" not in words]
    return judged(home, [{"words": words, "typed": "typed\n"} for words in kept], tries=tries * len(kept))


# What is swapped while it is in use


def swaps(folder: Path, *, times: int) -> Outcome:
    """Swap a folder and a file for links to the outside, as fast as can be, while others read and append there."""
    vault = Vault.init(folder / "vault")[0]
    outside, inside = folder / "outside", vault.root / "memory"
    outside.mkdir()
    for place in (outside, inside / "swapped"):
        place.mkdir(exist_ok=True)
        (place / "file.md").write_text("secret outside\n" if place == outside else "inside\n")
    stop, count = threading.Event(), [0]
    swapping = threading.Thread(target=_swap, args=(inside, outside, stop, count))
    swapping.start()
    failures, uses = list[str](), 0
    try:
        while count[0] < times or uses < times // 5:
            failures += _used(vault)
            uses += 1
    finally:
        stop.set()
        swapping.join()
    if [path.name for path in outside.iterdir()] != ["file.md"] or (
        outside / "file.md"
    ).read_text() != "secret outside\n":
        failures.append(f"what lies outside was changed: {sorted(outside.iterdir())}")
    return Outcome(count[0], failures, f"{6 * uses} uses meanwhile")


def _swap(inside: Path, outside: Path, stop: threading.Event, count: list[int]) -> None:
    """Let `swapped` be in turn a folder and a link, and the file in it a file and a link."""
    (inside / "link").symlink_to(outside)
    (inside / "linked file").symlink_to(outside / "file.md")
    while not stop.is_set():
        for _ in range(2):
            _exchange(inside / "swapped", inside / "link")
            count[0] += 1
        for _ in range(2):
            with suppress(OSError):
                _exchange(inside / "swapped" / "file.md", inside / "linked file")
                count[0] += 1


def _exchange(one: Path, other: Path) -> None:
    fsio.calls.rename_how(fsio.calls.EXCHANGE, -1, str(one), -1, str(other))


def _used(vault: Vault) -> Iterator[str]:
    path = "memory/swapped/file.md"
    with suppress(MdmemError):
        found = fsio.read(path, root=vault.root)
        if found and b"secret" in found.data:
            yield "a link was followed by a read"
    with suppress(MdmemError):
        fsio.sync(fsio.append(path, b"appended\n", root=vault.root))
    with suppress(MdmemError):
        fsio.replace("memory/swapped/new.md", b"new\n", root=vault.root, base=None, tmp=vault.place.state / "tmp")
    with suppress(MdmemError):
        fsio.mkdir("memory/swapped/deep", root=vault.root)
    with suppress(MdmemError, OSError):
        for file in indexer.scan(str(vault.root)).files:
            if "outside" in file.path:
                yield f"the scan went to {file.path}"


FULL: Mapping[str, Callable[[Path], Outcome]] = {
    "paths: typed, in settings, front matter, links, batches": lambda folder: typed(folder, count=100),
    "paths: links, pipes, sockets, devices, odd names": lambda folder: on_disk(folder, commands.commands()),
    "paths: a part of the vault is a link": lambda folder: linked(folder, commands.commands()),
    "paths: links swapped between check and use": lambda folder: swaps(folder, times=10_000),
}
