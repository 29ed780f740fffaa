"""Files that went paired with files that came."""

from __future__ import annotations

import pytest

from mdmem.text import renames

TEXT = b"# Plan\n\nWe begin in May.\n\nAda leads the work.\n\nThe budget is small.\n"
TEMPLATE = b"# Week\n\n## Done\n\n## Open\n\n## Next\n\n"


@pytest.mark.parametrize(
    ("gone", "come", "found"),
    [
        ({"a.md": TEXT}, {"b.md": TEXT}, {"a.md": "b.md"}),
        ({"a.md": TEXT}, {"x/b.md": TEXT, "x/a.md": TEXT}, {"a.md": "x/a.md"}),
        ({"a.md": TEXT, "b.md": TEXT}, {"x/b.md": TEXT}, {"b.md": "x/b.md"}),
        ({"a.md": TEXT}, {"b.md": TEXT.replace(b"small", b"large")}, {"a.md": "b.md"}),
        ({"a.md": TEXT}, {"b.md": b"# Plan\n\nsomething else\n"}, {}),
        ({"a.md": b"\n"}, {"b.md": b"\n"}, {}),
        ({"w1.md": TEMPLATE + b"wrote the first chapter\n"}, {"w2.md": TEMPLATE + b"met Noor about the flat\n"}, {}),
        ({}, {"a.md": TEXT}, {}),
    ],
)
def test_pairs(gone: dict[str, bytes], come: dict[str, bytes], found: dict[str, str]) -> None:
    assert renames.find(gone, come) == found


def test_many_files_are_paired_by_name_alone_where_they_differ() -> None:
    gone = {f"a/{n}.md": TEXT + b"%d\n" % n for n in range(60)}
    come = {f"b/{n}.md": TEXT + b"%d again\n" % n for n in range(60)}
    assert renames.find(gone, come) == {f"a/{n}.md": f"b/{n}.md" for n in range(60)}


@pytest.mark.parametrize(
    ("moved", "found"),
    [
        ({"m/a/1.md": "m/b/1.md", "m/a/x/2.md": "m/b/x/2.md"}, ("m/a", "m/b")),
        ({"m/a/1.md": "m/b/1.md"}, None),
        ({"m/a/1.md": "m/b/1.md", "m/c/2.md": "m/b/2.md"}, None),
    ],
)
def test_folders(moved: dict[str, str], found: tuple[str, str] | None) -> None:
    assert renames.folders(moved) == found


def test_sorts_what_happened() -> None:
    before = {"edited.md": b"1", "gone.md": b"2", "old.md": TEXT}
    after = {"edited.md": b"3", "gone.md": None, "old.md": None, "new.md": TEXT, "fresh.md": b"4"}
    assert renames.sort(before, after) == renames.Sorted(
        ("edited.md",), ("fresh.md",), ("gone.md",), {"old.md": "new.md"}
    )


@pytest.mark.parametrize(
    ("now", "holds"), [(TEXT + b"more\n", True), (TEXT.replace(b"small", b"large"), False), (b"", False)]
)
def test_holds_all(now: bytes, holds: bool) -> None:
    assert renames.holds_all(now, TEXT) is holds
