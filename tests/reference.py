#!/usr/bin/env python3
"""Writes the command reference in README.md, between two comments, from the program's own help texts.

python tests/reference.py            writes it
python tests/reference.py --check    fails if it is not up to date, or if a link in a document leads nowhere
"""

from __future__ import annotations

import difflib
import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mdmem.cli.app import COMMANDS
from mdmem.config import TABLE, show

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
FIRST, LAST = "<!-- commands -->\n", "<!-- /commands -->\n"


def helped(*words: str) -> str:
    """Return the help text of a command."""
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mdmem", *words, "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip("\n")


def commands(text: str) -> list[str]:
    """Return the names of the commands that a help text lists."""
    return re.findall(r"^  ([a-z]+) ", text.partition("\nCommands:\n")[2], re.MULTILINE)


def summary(text: str) -> str:
    """Return the first sentence of a help text."""
    return re.split(r"(?<=[.]) ", " ".join(text.split("\n\n")[1].split()))[0]


def chapter(*words: str) -> Iterator[str]:
    """Yield the help text of a command, to be folded out, and those of its own commands."""
    text = helped(*words)
    name = " ".join(("mdmem", *words))
    yield f"<details>\n<summary><code>{name}</code>: {html.escape(summary(text), quote=False)}</summary>\n"
    yield f"```text\n{text}\n```\n\n</details>\n"
    for below in commands(text):
        yield from chapter(*words, below)


def settings() -> Iterator[str]:
    """Yield the table of settings."""
    yield "Settings (`mdmem config list` shows those in force):\n"
    yield "| name | default | meaning | in the environment |\n| --- | --- | --- | --- |"
    for each in TABLE:
        default = show(each.default)
        shown = f"`{default}`" if default else "(empty)"
        yield f"| `{each.name}` | {shown} | {each.description} | `{each.env}` |"


def written(readme: str) -> str:
    """Return the README with the reference in its place."""
    before, first, rest = readme.partition(FIRST)
    _, last, after = rest.partition(LAST)
    if not last:
        sys.exit(f"README.md has no place for the reference: {FIRST.strip()} and {LAST.strip()}")
    lines = [line for name in COMMANDS for line in chapter(name)]
    return "".join((before, first, "\n", "\n".join([*lines, *settings()]), "\n\n", last, after))


def dead_links() -> Iterator[str]:
    """Yield a line for each relative link of the project's own documents that leads nowhere."""
    for path in sorted(ROOT.glob("*.md")):
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", text):
            if not (path.parent / target).exists():
                yield f"{path.relative_to(ROOT)}: there is no {target}"


def main(words: list[str]) -> int:
    old = README.read_text(encoding="utf-8")
    new = written(old)
    if words != ["--check"]:
        README.write_text(new, encoding="utf-8")
        return 0
    problems = list(difflib.unified_diff(old.split("\n"), new.split("\n"), "README.md", "help texts", lineterm=""))
    problems += ["README.md is not up to date: run `make docs`"] if problems else []
    problems += dead_links()
    print("\n".join(problems) or "README.md is up to date, and all its links lead somewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
