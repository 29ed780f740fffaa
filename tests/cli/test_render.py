"""What people see of hand-made answers: every field, narrow and wide, on a terminal and in a pipe."""

import json
import re
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from mdmem.cli import figures, render, shapes, terminal
from mdmem.config import Settings
from mdmem.model import Added, Answer, Change, Edit, Entry, Finding, Hit, Reindexed, Status
from mdmem.text import screen

AT = datetime(2026, 11, 29, 14, 30, 7, 250, tzinfo=timezone(timedelta(hours=1)))
MOVIES = Entry(
    "entry",
    "daily/2026-11-29#14:30",
    "daily/2026-11-29#14:30",
    "memory/daily/2026-11-29.md",
    (7, 9),
    AT,
    "2026-11-29",
    ("movies",),
    "User likes science fiction\n\nabove all *Interstellar*",
)
CARD = Entry(
    "entry",
    "daily/2026-11-28#09:05",
    "card",
    "memory/daily/2026-11-28.md",
    (3, 3),
    AT - timedelta(days=1),
    "2026-11-28",
    (),
    "会员卡有效期到三月，续费打八折，请在到期前完成续费，否则优惠将失效。",
)
PLAN = Entry(
    "document",
    "archives/plan",
    "archives/plan",
    "memory/archives/plan.md",
    (1, 40),
    None,
    "Project plan",
    (),
    "# Plan\n",
)


def hit(entry, **changes):
    fields = {"lines": entry.lines, "text": entry.text, "score": 0.83, "ranks": {"keyword": 1}, "snippet": entry.text}
    return Hit(entry, **(fields | changes))


def answer(*hits, total=0):
    return Answer("coffee", "keyword", hits, total or len(hits), 12.44)


@pytest.fixture(autouse=True)
def no_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


def test_hits_are_numbered_with_address_date_title_lines_and_snippet(capsys):
    render.answer(answer(hit(MOVIES), hit(PLAN)), explain=False)
    assert capsys.readouterr().out == (
        "1  daily/2026-11-29#14:30  2026-11-29 14:30  lines 7-9\n"
        "   User likes science fiction  above all *Interstellar*\n"
        "2  archives/plan  undated  Project plan  lines 1-40\n"
        "   # Plan\n"
    )


def test_explain_adds_score_ranks_and_reasons(capsys):
    shown = replace(answer(hit(CARD, why=("keyword: rank 1, BM25 0.83 (续费 0.8)",))), reasons=("semantic leg: e5",))
    render.answer(shown, explain=True)
    told = capsys.readouterr().out
    assert told.startswith("semantic leg: e5\n1  ")
    assert told.endswith("   score 0.83\n   keyword: rank 1, BM25 0.83 (续费 0.8)\n")
    render.answer(shown, explain=False)
    told = capsys.readouterr().out
    assert not any(word in told for word in ("semantic leg", "score", "BM25"))


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_nothing_is_wider_than_the_terminal(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    render.answer(answer(hit(MOVIES), hit(CARD, marks=((0, 3), (11, 13))), hit(PLAN)), explain=True)
    render.entries([MOVIES, CARD, PLAN])
    render.changes([CHANGE])
    figures.status(STATUS)
    lines = capsys.readouterr().out.split("\n")
    addresses = {line for line in lines if re.fullmatch(r"\W*[0-9]?\W*\S+", line)}  # which is never cut
    assert [line for line in lines if screen.width(line) > columns and line not in addresses] == []


def test_wide_characters_line_up_in_forty_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    render.answer(answer(hit(CARD)), explain=False)
    assert capsys.readouterr().out == (
        "1  daily/2026-11-28#09:05\n   2026-11-28 09:05  line 3\n".replace("09:05  ", f"{CARD.date:%H:%M}  ")
        + "   会员卡有效期到三月，续费打八折，请在\n"
        "   到期前完成续费，否则优惠将失效。\n"
    )


def test_list_is_one_line_each_and_aligned(capsys):
    render.entries([MOVIES, PLAN])
    assert capsys.readouterr().out == (
        "1  daily/2026-11-29#14:30  User likes science fiction above all *Interstellar*\n"
        "2  archives/plan           Project plan\n"
    )


def test_show_in_a_pipe_is_the_text_alone(capsys):
    render.entry(MOVIES)
    assert capsys.readouterr().out == MOVIES.text + "\n"


def test_today_shows_times_and_one_line_of_attention(capsys):
    render.today("memory/daily/2026-11-29.md", [MOVIES], ["two files wait", "and more"])
    assert capsys.readouterr().out == (
        "memory/daily/2026-11-29.md\n\n14:30  User likes science fiction\n\n"
        "   above all *Interstellar*\n\n! two files wait (and 1 more: `mdmem status`)\n"
    )


def test_tags_are_counted(capsys):
    render.tags([("movies", 12), ("会员", 1)])
    assert capsys.readouterr().out == "12  #movies\n 1  #会员\n"


CHANGE = Change(
    "3fa9c1b2d4",
    AT,
    "person",
    "A B <a@b>",
    "edit",
    None,
    "edit daily/2026-11-29#14:30",
    "it was wrong",
    (Edit("changed", "daily/2026-11-29#14:30", "old\nsame", "new\nsame"), Edit("removed", "plan", "gone", None)),
)
STATUS = Status("/v", "/s", None, 1, 2, 3, 0, "3fa9c1b2d4e5f6", 0, 1, (("L1", 1, 2000), ("L2", 2, 1)))


def test_changes_say_when_who_what_why(capsys):
    render.changes([CHANGE])
    assert capsys.readouterr().out == (
        "3fa9c1b  2026-11-29 14:30  person  edit daily/2026-11-29#14:30\n"
        "   it was wrong\n"
        "   ~ daily/2026-11-29#14:30  new same\n"
        "   - plan  gone\n"
    )


def test_edits_are_shown_line_by_line(capsys):
    render.edits(CHANGE.edits)
    assert capsys.readouterr().out == (
        "daily/2026-11-29#14:30  changed\n   -old\n   +new\n    same\nplan  removed\n   -gone\n"
    )


def test_reindexed_counts_files_and_names_the_bad_ones(capsys):
    render.reindexed(Reindexed(3, 1, 0, 10, 99, 0, 1234.5, (Finding("memory/a.md", 3, "bad", "fix it"),)))
    shown = capsys.readouterr()
    assert shown.out == "+3 ~1 -0  10 unchanged, 99 passages, 1.2 s\n"
    assert shown.err == "note: memory/a.md:3: bad; fix it\n"


def test_settings_show_value_origin_and_meaning(capsys):
    render.settings(Settings({"search.k": 3}, {"search.k": "vault"}))
    assert "search.k  3  [vault]\n   hits on one page\n" in capsys.readouterr().out


def test_an_address_that_is_not_known_yet_prints_nothing(capsys):
    render.added(Added(None, None, None, None, None, True))
    assert capsys.readouterr().out == ""


# JSON


def shape_of(capsys, value):
    terminal.value(value)
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1
    return json.loads(shown)


def test_search_has_the_promised_keys_in_order(capsys):
    shape = shape_of(capsys, shapes.answer(answer(hit(MOVIES)), notices=["n"], explain=False))
    assert list(shape)[:6] == ["query", "mode", "took_ms", "served_by", "notices", "hits"]
    promised = ["id", "address", "path", "lines", "date", "title", "tags", "score", "ranks", "text", "snippet"]
    assert list(shape["hits"][0])[:11] == promised
    assert shape["hits"][0]["date"] == "2026-11-29T14:30:07+01:00"
    assert (shape["hits"][0]["lines"], shape["took_ms"]) == ([7, 9], 12.4)


@pytest.mark.parametrize(
    ("shape", "promised"),
    [
        (shapes.entry(MOVIES), "address id path lines date title tags text"),
        (shapes.added(Added("a", "i", "p", (1, 2), "c", False)), "address id path lines commit pending"),
        (shapes.reindexed(Reindexed()), "added modified removed unchanged chunks embedded failures took_ms"),
        (
            shapes.status(STATUS),
            "vault state_dir index_dir entries documents chunks stale model watch head pending",
        ),
    ],
)
def test_other_shapes_have_the_promised_keys_in_order(capsys, shape, promised):
    names = promised.split()
    assert list(shape_of(capsys, shape))[: len(names)] == names


def test_failures_have_path_line_and_message():
    shape = shapes.reindexed(Reindexed(failures=(Finding("a", 1, "m", "h"),)))["failures"][0]
    assert list(shape)[:3] == ["path", "line", "message"]


# Payloads: in every field, on a real terminal

PAYLOADS = [
    *(f"a{char}b" for char in map(chr, (*range(9), *range(11, 32), *range(127, 160)))),
    *(f"a{chr(code)}b" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x200E, 0x2028, 0xFEFF)),
    *(f"a{chr(0xE0000 + code)}b" for code in range(0x20, 0x7F)),
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[H",
    "\x1bP1$r\x1b\\",
    "\x9b31m",
    "[bold red]markup[/]",
    "line\nbreak\ttab\rreturn",
    "\udcff\udc80",
]

SCRIPT = """
import sys
from mdmem.cli import figures, render, terminal
from mdmem.config import Settings
from mdmem.errors import NotFound
from mdmem.model import *
from test_render import AT, PAYLOADS
for bad in PAYLOADS:
    entry = Entry("entry", bad, bad, bad, (1, 2), AT, bad, (bad,), bad)
    change = Change(bad, AT, bad, bad, bad, bad, bad, bad, (Edit("changed", bad, bad, bad + "x"),))
    hit = Hit(entry, (1, 2), bad, 1.0, {bad: 1}, bad, ((0, 1),), (bad,))
    render.answer(Answer(bad, "keyword", (hit,), 1, 1.0), explain=True)
    render.entries([entry, Entry("document", bad, bad, bad, (1, 1), None, bad, (), bad)])
    render.entry(entry); render.today(bad, [entry], [bad, bad]); render.tags([(bad, 1)])
    render.added(Added(bad, bad, bad, None, None, False)); render.changes([change]); render.done(change)
    render.edits(change.edits); render.findings([Finding(bad, 1, bad, bad)])
    figures.status(Status(bad, bad, bad, 1, 1, 1, 1, bad, 0, 0, ((bad, 1, 1),)))
    render.settings(Settings({"timezone": bad}, {"timezone": bad}))
    terminal.value({"a": bad}); terminal.note(bad); terminal.error(bad, bad); terminal.error_value(bad, bad, bad)
terminal.flush()
"""


def test_no_payload_in_any_field_reaches_a_terminal(on_terminal):
    code, seen = on_terminal(sys.executable, "-c", SCRIPT)
    assert code == 0, seen[-2000:]
    own_styles = re.sub(r"\x1b\[(0|1|2|1;33|32|31)m", "", seen)
    assert len(own_styles) < len(seen)
    assert {char for char in own_styles if screen.clean(char) != char} == set()


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(on_terminal, env):
    script = "from mdmem.cli import terminal; terminal.line(('x', terminal.BOLD)); terminal.flush()"
    assert on_terminal(sys.executable, "-c", script) == (0, "\x1b[1mx\x1b[0m\n")
    assert on_terminal(sys.executable, "-c", script, env=env) == (0, "x\n")
