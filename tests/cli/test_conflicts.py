"""Versions that did not merge: how they look on terminals of any width, as JSON and as a page."""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from mdmem.cli import sides
from mdmem.model import Clash, Conflict
from mdmem.text import screen

MDMEM = [sys.executable, "-m", "mdmem"]
COFFEE = Clash("entry 14:30", "用户喜欢喝咖啡\n", "用户喜欢喝美式咖啡\n", "用户咖啡因过敏\n")
LONG = Clash("line 3", "", "a long line of plain words that no third of eighty columns can hold\n", "x\ty\n\nz\n")
HOSTILE = Clash("line <4>", "\x1b]52;c;eA==\x07", "<script>alert(1)</script>\n", "\u202e</pre></td><b>\n")


def conflict(*clashes, number=1):
    noted = datetime(2026, 11, 29, 14, 30, tzinfo=UTC)
    return Conflict(
        number, f"id{number}", "kept", "memory/daily/2026-11-29.md", "daily/2026-11-29#14:30", "test", noted,
        clashes, None, None, None,
    )  # fmt: skip


def shown(capsys, monkeypatch, columns, *clashes):
    if columns:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr("mdmem.cli.terminal.columns", lambda: columns)
    sides.shown(conflict(*clashes))
    return capsys.readouterr().out.split("\n")


def test_three_versions_stand_side_by_side(capsys, monkeypatch):
    lines = shown(capsys, monkeypatch, 80, COFFEE)
    assert lines[-4:-1] == [
        "base           │ ours               │ theirs",
        "───────────────┼────────────────────┼───────────────",
        "用户喜欢喝咖啡 │ 用户喜欢喝美式咖啡 │ 用户咖啡因过敏",
    ]


def test_what_happened_meanwhile_is_told(capsys):
    found = replace(conflict(COFFEE), meanwhile="renamed from <archives>\x07")
    sides.listed([found])
    assert capsys.readouterr().out.endswith("  renamed from <archives><U+0007>\n")
    assert "14:30, renamed from &lt;archives&gt;" in sides.page([found])


@pytest.mark.parametrize("columns", [20, 40, 80, 100, 200])
def test_nothing_is_wider_than_the_terminal_and_nothing_is_cut(capsys, monkeypatch, columns):
    lines = shown(capsys, monkeypatch, columns, COFFEE, LONG, HOSTILE)[3:]
    assert [line for line in lines if screen.width(line) > columns] == []
    text = "\n".join(lines)
    for word in ("用户喜欢喝美式", "third", "eighty", "hold"):
        assert word in text
    assert "\x1b]" not in text


def test_bars_line_up_whatever_the_characters(capsys, monkeypatch):
    lines = [line for line in shown(capsys, monkeypatch, 100, LONG, COFFEE) if "│" in line]
    for block in (lines[:4], lines[-2:]):
        places = {tuple(screen.width(line[:at]) for at, char in enumerate(line) if char == "│") for line in block}
        assert len(places) == 1


class Page(HTMLParser):
    """The elements of a page and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)

    def handle_data(self, data):
        self.text += data


def test_a_page_runs_nothing_of_what_it_shows():
    page = Page(sides.page([conflict(COFFEE, HOSTILE), conflict(LONG, number=2)]))
    assert page.elements.count("table") == 3
    assert {"script", "b"}.isdisjoint(page.elements)
    assert "<script>alert(1)</script>" in page.text
    assert "用户咖啡因过敏" in page.text
    assert not {"\x1b", "\u202e"} & set(page.text)


def two(run, address, texts):
    """Have an entry become the second text, and a third typed for the first."""
    assert run("add", "--at", "2026-11-29 14:30", texts[0]).returncode == 0
    return {"EDITOR": f"sh -c 'echo {texts[1]} | {' '.join(MDMEM)} edit {address} - && echo {texts[2]} > \"$0\"'"}


def test_an_edit_that_does_not_merge_says_so_and_is_resolved(run, on_terminal, vault, tmp_path):
    address = "daily/2026-11-29#14:30"
    env = two(run, address, ("tea", "green tea", "black tea")) | {"TMPDIR": str(tmp_path)}
    code, seen = on_terminal(*MDMEM, "edit", address, env=env)
    assert (code, "1 conflict kept" in seen, "mdmem conflicts" in seen) == (12, True, True)
    assert list(tmp_path.glob("mdmem-*")) == []
    found = json.loads(run("conflicts", "--json").stdout)["conflicts"]
    assert [(one["kind"], one["address"], one["clashes"][0]["theirs"]) for one in found] == [
        ("kept", address, "- 14:30 black tea\n")
    ]
    done = run("conflicts", "1", "--both", "--json")
    assert json.loads(done.stdout)["change"]["op"] == "resolve"
    assert (vault / "memory/daily/2026-11-29.md").read_text() == (
        "# 2026-11-29\n\n- 14:30 green tea\n- 14:30 black tea\n"
    )
    done = run("conflicts")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "note: there are no conflicts\n")


def test_a_save_from_an_older_copy_is_listed_and_resolved_before_it_is_committed(run, vault):
    path = vault / "memory/archives/plan.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("one\n\ntwo\n\nthree\n")
    assert run("commit").returncode == 0
    assert run("edit", "archives/plan", "-", input="ONE\n\ntwo\n\nTHREE\n").returncode == 0
    path.write_text("one\n\ntwo\n\ndrei\n")
    done = run("status")
    assert "note: archives/plan was saved from an older copy, and " in done.stderr
    (found,) = json.loads(run("conflicts", "--json").stdout)["conflicts"]
    assert (found["path"], found["clashes"][0]["ours"]) == ("memory/archives/plan.md", "THREE\n")
    assert run("conflicts", "1", "--both").returncode == 0
    assert path.read_text() == "ONE\n\ntwo\n\nTHREE\ndrei\n"
    done = run("undo")
    assert "note: the conflict waits again: `mdmem conflicts`" in done.stderr
    assert path.read_text() == "ONE\n\ntwo\n\ndrei\n"
    assert run("conflicts", "1", "--ours").returncode == 0
    assert path.read_text() == "ONE\n\ntwo\n\nTHREE\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--ours"], 2),
        (["1", "--ours", "--theirs"], 2),
        (["1", "--html", "--both"], 2),
        (["1"], 1),
        (["0", "--ours"], 1),
        (["x"], 2),
    ],
)
def test_what_cannot_be_meant(run, vault, words, code):
    done = run("conflicts", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
