"""Texts that would steer a terminal, in every field there is, printed by every command on a real one.

What arrives there is compared with what the program itself writes: colours out of a known set, ends of lines, and
the bar of a progress. In JSON every text must come back as it was.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

import hostile_commands as commands
from hostile_commands import Home
from outcome import Outcome, chance

ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"
STEERING = (
    *(
        f"{ESC}]0;title{BEL}",
        f"{ESC}]52;c;aGFja2Vk{BEL}",
        f"{ESC}]52;c;aGFja2Vk{ST}",
        f"{ESC}]8;;http://x{ST}x{ESC}]8;;{ST}",
    ),
    *(f"{ESC}]{code};x{BEL}" for code in (1, 2, 4, 7, 9, 10, 11, 12, 50, 104, 133, 777, 1337)),
    *(
        f"{ESC}[{code}"
        for code in ("2J", "H", "33m", "7m", "1;1H", "6n", "c", ">c", "?1049h", "?25l", "?1000h", "?2004h")
    ),
    *(f"{ESC}[{code}" for code in ("5i", "4i", "21t", "18t", "20t", "3;0;0t", "1K", "10A", "8m", "?47h", "!p", "200~")),
    *(f"{ESC}P{code}{ST}" for code in ("$q q", "+q544e", "0;1|17/ab", "tmux;x", "q#0;2;0;0;0")),
    *(
        f"{ESC}_Gx{ST}",
        f"{ESC}^x{ST}",
        f"{ESC}Xx{ST}",
        f"{ESC}c",
        f"{ESC}7",
        f"{ESC}(0",
        f"{ESC}#8",
        f"{ESC}N",
        f"{ESC}",
    ),
    *("\x9b31m", "\x9d0;t\x9c", "\x90q\x9c", "\x9fx\x9c", "\x84", "\x85", "\x8d", "\x98x\x9c"),
    *(
        "over\rwritten",
        "a\bb",
        "a\x0bb",
        "a\x0cb",
        "a\x0eb\x0f",
        "\x07",
        "\x05",
        "\x7f\x7f",
        "\x11\x13",
        "\x1a",
        "\x04",
    ),
    *("\x08" * 20 + "hidden", "tab\tbed", "\x1b[\x1b[31m", "\x1b\x1b]0;x\x07", "\x1b[38;5;1m", "\x1b[38:2::1:2:3m"),
)
HIDING = (
    *(
        "abc\u202edef",
        "\u202aabc\u202c",
        "\u202dx\u202c",
        "\u2066x\u2069",
        "\u2067x",
        "\u2068x",
        "\u200ex",
        "\u200fx",
        "\u061cx",
    ),
    *(
        "a\u200bb",
        "a\u200b\u200b\u200bb",
        "a\u2060b",
        "\ufeffa",
        "a\u00adb",
        "a\u180eb",
        "a\u034fb",
        "\u115fa",
        "\u3164",
        "\uffa0",
    ),
    *(
        "a\u2028b",
        "a\u2029b",
        "\u2061x",
        "\u2064x",
        "\u206ax",
        "\u206fx",
        "\ufff9a\ufffab\ufffb",
        "\ufffe",
        "\uffff",
        "\ufdd0",
    ),
    *(
        "hi\U000e0001\U000e0041\U000e007f",
        "\U000e0101x",
        "\U0001d173x",
        "\U0001bca0x",
        "\U0010ffff",
        "x\ufe00\ufe01",
        "x\ufe0f\ufe0f",
    ),
    *(" \u200d ", "a \u200c b", "\u17b4x", "\u180bx", "\u2069" * 9),
)
MARKING = (
    *(
        "[/x]",
        "[link=http://x]y[/link]",
        "[bold]x",
        "[red]x[/red]",
        "[/]",
        "[[x]]",
        "\\[x]",
        "[@click=x]y[/]",
        ":smile:",
    ),
    *(
        "%s %d %n",
        "{0} {x!r}",
        "$(touch x)",
        "`touch x`",
        "<b>x</b>",
        "&#27;[31m",
        "\\x1b[31m",
        "\\u001b[31m",
        "\\033[31m",
    ),
)
BROKEN = ("byte\udcff", "\udc9b31m", "\udc80\udc9f", "\ud83d", "\udcc2\udc9b", "nul\0nul")
HARMLESS = ("👩‍👩‍👧", "❤️‍🔥", "می‌خواهم", "क्‍ष", "1️⃣", "שלום", "e\u0301", "会员卡", "🏳️‍🌈", "👍🏽", "日本語　全角", "ß ﬁ Ω")
"""What people write, and what therefore must be shown as it is."""

SINGLE = tuple(f"a{chr(code)}b" for code in (*range(1, 10), *range(11, 13), *range(14, 32), *range(127, 160)))
"""Every control there is but the ends of lines, by itself inside a word."""

PAYLOADS = (*STEERING, *HIDING, *MARKING, *BROKEN, *SINGLE)

OURS = re.compile("\x1b\\[(?:0|1|2|31|32|1;33)m")
"""The styles of `cli.terminal`."""

BAR = re.compile("\x1b\\[(?:[0-9;]*m|[12]?K|\\?25[lh]|1?A)|\r")
"""What a bar of rich writes; only where a bar is."""


INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u3164\uffa0" + "".join(map(chr, range(0xE0100, 0xE01F0)))
"""Letters and marks that print as nothing. One selector after a character may pass; these are never meant."""


def forbidden(seen: str, *, bar: bool = False) -> list[str]:
    """List what of an output no terminal should have received."""
    rest = OURS.sub("", (BAR.sub("", seen) if bar else seen).replace("\r\n", "\n"))
    found = []
    for at, char in enumerate(rest):
        kind = unicodedata.category(char)
        bad = kind in ("Cc", "Cs", "Zl", "Zp", "Cn") and char not in "\n\t"
        bad = bad or char in INVISIBLE or (kind == "Cf" and not _joins(rest, at)) or _selects_nothing(rest, at)
        if bad:
            found.append(ascii(rest[max(0, at - 20) : at + 20]))
    return found


def _selects_nothing(text: str, at: int) -> bool:
    """Tell whether a variation selector follows another one, or no character at all."""
    before = text[at - 1 : at]
    return "\ufe00" <= text[at] <= "\ufe0f" and (before.isspace() or "\ufe00" <= before <= "\ufe0f" or not before)


def _joins(text: str, at: int) -> bool:
    """Tell whether a joiner stands inside a word or emoji, or a sign of its script is visible."""
    around = text[at - 1 : at] + text[at + 1 : at + 2]
    if text[at] in "\u200c\u200d":
        return len(around) == 2 and not around[0].isspace() and not around[1].isspace()
    return (
        unicodedata.name(text[at], "").startswith(("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")) and text[at] != "\u061c"
    )


def settle(folder: Path, wanted: Sequence[str] = PAYLOADS) -> Home:
    """Make a vault with each payload in every field there is."""
    home = commands.settle(folder)
    commands.furnish(home)
    memory = home.vault / "memory"
    lines = ["# 2026-11-29\n\n- 14:30 Whoosh\n"]
    for number, text in enumerate(wanted):
        at = f"{number // 60 % 24:02}:{number % 60:02}"
        flat = text.replace("\n", " ")
        lines.append(
            f"- {at} whoosh {flat} end #{flat} <!-- mdmem: id={_value(flat)} source={_value(flat)} x={flat} -->\n"
        )
        quoted = json.dumps(text, ensure_ascii=number % 2 == 0).replace("\\ud", "\\\\ud")
        front = f"---\nid: {quoted}\ntitle: {quoted}\ntags: [{quoted}]\nstatus: {quoted}\n---\n"
        broken = f"---\n{flat}: [\n---\n"
        name = flat.replace("/", "|").replace("\0", "0")[:60]
        for folder_name, head in (("titled", front), ("broken", broken)):
            place = (
                memory
                / folder_name
                / os.fsdecode(os.fsencode(f"{number} {name}.md") if _fits(name) else b"%d.md" % number)
            )
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(
                f"{head}# {text} whoosh\n\n{text}\n".encode(
                    "utf-8", "surrogatepass" if _pairs(text) else "surrogateescape"
                )
            )
    (memory / "daily/2026-11-28.md").write_bytes("".join(lines).encode("utf-8", "surrogatepass"))
    _settings(home, wanted)
    _history(home, wanted)
    return home


def _fits(name: str) -> bool:
    with suppress(UnicodeEncodeError):
        return len(os.fsencode(name)) < 200
    return False


def _pairs(text: str) -> bool:
    return any("\ud800" <= char < "\udc80" or "\udd00" <= char <= "\udfff" for char in text)


def _is_broken(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _value(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def _settings(home: Home, wanted: Sequence[str]) -> None:
    """Name settings and values like the payloads, and have git's rules hide files called like them."""
    clean = [text for text in wanted if not any("\ud800" <= char <= "\udfff" for char in text)]
    lines = [f"{json.dumps(text)} = {json.dumps(text)}\n" for text in dict.fromkeys(clean) if "\x7f" not in text]
    (home.vault / "mdmem.toml").write_text("".join(lines))
    (home.vault / ".gitignore").write_text("".join(f"ignored{text!r}*\n" for text in clean[:20]) + "ignored\x1b[31m*\n")
    (home.vault / "memory/ignored\x1b[31m.md").write_text("# Ignored\n")


def _history(home: Home, wanted: Sequence[str]) -> None:
    """Commit with each payload as message and author."""
    environment = home.environment()
    for number, text in enumerate(wanted):
        flat = text.replace("\0", " ").encode("utf-8", "surrogatepass")
        name = flat.replace(b"\n", b" ").replace(b"<", b"").replace(b">", b"") or b"x"
        message = b"%s subject\n\n%s body\n\nMdmem-Op: %s\nMdmem-Source: %s\n" % (flat, flat, name, name)
        (home.vault / "memory/archives/history.md").write_bytes(b"# History %d\n\n%s\n" % (number, flat))
        for words in (
            ["add", "-f", "memory/archives/history.md"],
            ["commit", "-q", "--allow-empty-message", "-F", "-"],
        ):
            author = {os.fsencode(f"GIT_{who}_NAME"): b"a " + name for who in ("AUTHOR", "COMMITTER")}
            whole = {os.fsencode(key): os.fsencode(value) for key, value in environment.items()} | author
            subprocess.run(["git", *words], cwd=home.vault, env=whole, input=message, capture_output=True, check=False)


def on_terminal(
    home: Home, words: Sequence[str], *, columns: int = 80, typed: bytes = b"", **extra: str
) -> tuple[int, str]:
    """Run the program on a terminal of its own; give its exit code and what arrived there.

    One that does not end within a minute gets SIGTERM, and -15 is its code; so is that of one that is to last.
    """
    child, terminal = pty.fork()
    if not child:
        os.chdir(home.vault)
        ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        words = [os.fsencode(word) for word in (str(home.script), *words)]
        os.execve(words[0], words, home.environment() | extra)
    os.write(terminal, typed)
    seen, until = b"", time.monotonic() + (3 if commands.lasts(words) else 60)
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # how a terminal ends
            break
        if not chunk:
            break
        seen += chunk
    else:
        os.kill(child, 15)
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, seen.decode("utf-8", "surrogateescape")


WAYS: tuple[tuple[int, dict[str, str]], ...] = (
    (20, {}),
    (80, {"LANG": "C", "LC_ALL": "C"}),
    (80, {"NO_COLOR": "1"}),
    (1, {"TERM": "dumb"}),
)
"""Columns and variables of terminals that are not the usual one."""

PRINTING = (["list"], ["search", "whoosh"], ["log"], ["status"], ["show", "--last"])


def printed(folder: Path, wanted: Iterable[str], *, payloads: Sequence[str] = PAYLOADS, shown: int = 40) -> Outcome:
    """Print every payload by every command, and some entries one by one."""
    home = settle(folder, payloads)
    failures, tries = list[str](), 0
    addresses = _addresses(home)
    lines = [words for name in wanted for words in commands.lines(name) if "init" not in words]
    lines += [["show", "--", address] for address in addresses[:: max(1, len(addresses) // shown)]]
    for words in lines:
        tries += len(payloads) if words[:1] != ["show"] else 1
        failures += _looked_at(home, words, 80, {})
    return Outcome(tries, failures, f"{len(payloads)} payloads, {len(lines)} commands")


def elsewhere(folder: Path, *, payloads: Sequence[str] = PAYLOADS) -> Outcome:
    """Print them on terminals that are narrow, plain or without UTF-8."""
    home = settle(folder, payloads)
    every = [(words, columns, extra) for columns, extra in WAYS for words in PRINTING]
    failures = [failure for words, columns, extra in every for failure in _looked_at(home, words, columns, extra)]
    return Outcome(len(every) * len(payloads), failures)


def _looked_at(home: Home, words: Sequence[str], columns: int, extra: Mapping[str, str]) -> Iterator[str]:
    code, seen = on_terminal(home, words, columns=columns, typed=b"n\n\x04", **extra)
    if code == -15 and not commands.lasts(words):
        yield f"{' '.join(words)!a} did not end: {seen[-500:]!a}"
    # Whatever brings an index up to date may show a bar, on a machine where that takes a second.
    for found in forbidden(seen, bar=True)[:3]:
        yield f"{' '.join(words)!a} at {columns} columns {dict(extra)}: {found}"
    if "Traceback" in seen or code == 70:
        yield f"{' '.join(words)!a} ended with {code}: {seen[-500:]!a}"
    if "NO_COLOR" in extra and OURS.search(seen):
        yield f"{' '.join(words)!a} used colours in spite of NO_COLOR"


def _addresses(home: Home) -> list[str]:
    listed = json.loads(home.run("list", "--json").stdout)
    return [entry["address"] for entry in listed["entries"] if "\0" not in entry["address"]]


ECHOES = (
    *(
        ("search",),
        ("show",),
        ("search", "x", "--since"),
        ("search", "x", "--in"),
        ("list", "--tag"),
        ("log",),
        ("diff",),
    ),
    *(("undo",), ("config", "get"), ("config", "set", "timezone"), ("search", "--mode"), ("add", "--at"), ("reindex",)),
    *(("edit", "--set", "x=y"), ("rm", "--yes"), ("--vault",), ("search", "x", "-k"), ("model", "path"), ("config",)),
)
"""What says again what was typed: a query, or an error about a word."""


def echoed(folder: Path, *, payloads: Sequence[str], often: int) -> Outcome:
    """Type each payload so often where it is said again: in the commands in turn, from one that depends on the seed."""
    home = commands.settle(folder)
    commands.furnish(home)
    failures, tries = list[str](), 0
    first = chance("echoed").randrange(len(ECHOES))
    for number, text in enumerate(payloads):
        word = text.replace("\0", "0")
        if any("\ud800" <= char <= "\udfff" and not "\udc80" <= char <= "\udcff" for char in word):
            continue
        for step in range(often):
            tries += 1
            failures += _looked_at(home, [*ECHOES[(first + number * often + step) % len(ECHOES)], word], 80, {})
    return Outcome(tries, failures)


def as_json(folder: Path, *, payloads: Sequence[str] = PAYLOADS) -> Outcome:
    """Keep each payload, and read it back from every JSON there is: the same text, and not one bad byte on the way."""
    home = commands.settle(folder)
    commands.furnish(home)
    texts = [f"<{text}>" for text in payloads if not set("\0\r") & set(text) and not _is_broken(text)]
    texts += [f"<{text}>" for text in HARMLESS]
    batch = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = commands_run(home, ["add", "--batch", "jsonl", "--json"], batch)
    addresses = [json.loads(line)["address"] for line in done.splitlines()]
    failures = []
    for words in (["list", "--json"], ["--json"], ["log", "--json", "-k", "1"], ["diff", "HEAD~1", "HEAD", "--json"]):
        out = commands_run(home, words)
        if bad := forbidden(out):
            failures.append(f"{words}: {bad[:3]}")
        held = json.dumps(json.loads(out), ensure_ascii=True)
        failures += [
            f"{words} lost {text!a}" for text in texts if json.dumps(text, ensure_ascii=True)[1:-1] not in held
        ]
    for address, text in list(zip(addresses, texts, strict=True))[::17]:
        shown = json.loads(commands_run(home, ["show", address, "--json"]))["text"]
        if shown != text:
            failures.append(f"{text!a} came back as {shown!a}")
    for text in HARMLESS:
        if f"<{text}>" not in on_terminal(home, ["show", addresses[texts.index(f"<{text}>")]])[1]:
            failures.append(f"{text!a} was not shown as it is")
    return Outcome(len(texts), failures)


def commands_run(home: Home, words: Sequence[str], typed: str = "") -> str:
    """Run a command with pipes and give what it printed."""
    done = subprocess.run(
        [str(home.script), *words],
        cwd=home.vault,
        env=home.environment(),
        input=typed.encode("utf-8", "surrogateescape"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("utf-8")


CLOSED = (
    "{} </dev/null | head -1",
    "{} </dev/null >&-",
    "{} 2>&- </dev/null",
    "{} <&- >&- 2>&-",
    "{} </dev/null | :",
)
"""How a shell runs a command whose streams are closed, at once or soon."""


def pipes(folder: Path, wanted: Iterable[str], *, ways: int) -> Outcome:
    """Print into pipes that nobody reads, that are closed at once, and with no streams at all: in so many ways each."""
    home = settle(folder, PAYLOADS[:40])
    failures, tries = list[str](), 0
    for words in (words for name in wanted for words in commands.lines(name)):
        if "init" in words or commands.lasts(words):
            continue
        line = " ".join(f"'{word}'" for word in (str(home.script), *words))
        for shell in chance("pipes", words).sample(CLOSED, ways):
            tries += 1
            done = subprocess.run(
                ["sh", "-c", shell.format(line)],
                cwd=home.vault,
                env=home.environment(),
                capture_output=True,
                timeout=60,
                check=False,
            )
            if b"Traceback" in done.stderr or b"Exception ignored" in done.stderr or done.returncode in (70, 120):
                failures.append(f"{shell.format(' '.join(words))}: {done.returncode} {done.stderr[-300:]!r}")
    return Outcome(tries, failures)


FULL: Mapping[str, Callable[[Path], Outcome]] = {
    "terminal: every payload in every field, by every command": lambda folder: printed(folder, commands.commands()),
    "terminal: narrow, plain, without UTF-8 or colours": lambda folder: elsewhere(folder),
    "terminal: what was typed, said again": lambda folder: echoed(folder, payloads=PAYLOADS, often=1),
    "terminal: JSON gives every text back": lambda folder: as_json(folder),
    "terminal: closed pipes and streams": lambda folder: pipes(folder, commands.commands(), ways=1),
}
