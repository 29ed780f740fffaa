"""Packs: any bytes in them come back, whatever stands in a log, and a pack that was changed by hand loses nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.text import changes, packs, units

A, B = "memory/daily/2025-03-14.md", "memory/daily/2025-03-15.md"
LINE = b"<!-- mdmem: file=daily/2025-01-01.md bytes=5 -->\n"

names = st.builds(
    lambda folder, day, slug: f"memory/{folder}2025-{day}{slug}.md",
    st.sampled_from(["", "daily/"]),
    st.sampled_from(["01-01", "03-14", "12-31"]),
    st.sampled_from(["", "-1430-slug", "-a b", "-喝咖啡", "-\udcff\udce9", "-100%", "-x>y-->z", "-é", "-\u2028\u200b"]),
)
pieces = st.lists(
    st.sampled_from([b"", b"\n", b"\r\n", LINE, b"\xef\xbb\xbf", b"\xff\0", b"- 14:30 one\n", b"# x\n\n", b" "])
)
logs = st.dictionaries(names, st.builds(b"".join, pieces) | st.binary(max_size=60), min_size=1, max_size=6)


def held(data: bytes) -> dict[str, bytes]:
    return {log.path: log.data for log in packs.members(data)}


@settings(max_examples=300, deadline=None)
@given(logs)
def test_what_is_packed_comes_back(logs: dict[str, bytes]) -> None:
    data = packs.pack(logs)
    assert held(data) == logs
    assert packs.is_pack(data)
    assert packs.is_whole(data)
    lines = data.split(b"\n")
    for log in packs.members(data):
        assert b"\n".join(lines[log.line - 1 :]).startswith(log.data)


def test_it_is_in_the_order_of_the_days_and_a_person_can_read_it() -> None:
    data = packs.pack({B: b"- 09:00 b\n", "memory/2025-03-14-x y.md": b"x", A: b"# 2025-03-14\n\n- 14:30 a\n"})
    assert data.split(b"\n", 1)[0].startswith(b"<!-- mdmem: logs=3 sha256=")
    assert data.split(b"\n", 1)[1] == (
        b"<!-- mdmem: file=2025-03-14-x%20y.md bytes=1 -->\nx\n"
        b"<!-- mdmem: file=daily/2025-03-14.md bytes=24 -->\n# 2025-03-14\n\n- 14:30 a\n\n"
        b"<!-- mdmem: file=daily/2025-03-15.md bytes=10 -->\n- 09:00 b\n\n"
    )


PACK = packs.pack({A: b"- 14:30 one\n", B: b"- 09:00 two\n"})


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        (PACK.replace(b"one", b"won"), {A: b"- 14:30 won\n", B: b"- 09:00 two\n"}),
        (PACK.replace(b"one", b"one and more"), {A: b"- 14:30 one and more\n", B: b"- 09:00 two\n"}),
        (PACK.replace(b"- 14:30 one\n", b""), {A: b"", B: b"- 09:00 two\n"}),
        (PACK + b"- 23:00 behind\n", {A: b"- 14:30 one\n", B: b"- 09:00 two\n\n- 23:00 behind"}),
        (PACK.replace(b"\n", b"\r\n"), {A: b"- 14:30 one\r\n\r", B: b"- 09:00 two\r\n\r"}),
        (PACK[:-8], {A: b"- 14:30 one\n", B: b"- 09:"}),
        (PACK.replace(b"bytes=12", b"bytes=999999"), {A: b"- 14:30 one\n", B: b"- 09:00 two\n"}),
        (PACK.replace(b"bytes=12", b"bytes=0"), {A: b"- 14:30 one\n", B: b"- 09:00 two\n"}),
    ],
)
def test_one_that_was_changed_by_hand_loses_no_line(changed: bytes, wanted: dict[str, bytes]) -> None:
    assert not packs.is_whole(changed)
    found = held(changed)
    assert {path: data.rstrip(b"\r\n") for path, data in found.items()} == {
        path: data.rstrip(b"\r\n") for path, data in wanted.items()
    }
    reading = units.read("memory/archives/daily/2025.md.zst", changed)
    assert (1, units.CHANGED) in reading.problems


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_are_read(data: bytes, at: int) -> None:
    torn = PACK[:at] + data + PACK[at:]
    assert all(packs.fits(log.path) for log in packs.members(torn))
    units.read("memory/archives/daily/2025.md.zst", torn)


@pytest.mark.parametrize(
    "name",
    (
        *(
            "../../etc/2025-01-01.md",
            "daily/../2025-01-01.md",
            "/2025-01-01.md",
            "daily/x.md",
            "archives/2025-01-01.md",
        ),
        *("daily/2025-13-01.md", "daily/2025-01-01.md.zst", "daily/2025-01-01-%0A.md", "daily/2025-01-01-%2F..%2Fx.md"),
    ),
)
def test_a_name_that_no_log_can_have_makes_no_pack(name: str) -> None:
    data = b"<!-- mdmem: logs=1 sha256=%s -->\n<!-- mdmem: file=%s bytes=1 -->\nx\n" % (b"0" * 64, name.encode())
    assert not packs.is_pack(data)
    assert not held(data)
    assert [unit.address for unit in units.read("memory/archives/x.md", data).units] == ["archives/x"]


def test_a_log_that_looks_like_a_pack_is_a_log() -> None:
    found = units.read(A, PACK).units
    assert {unit.address.partition("#")[0] for unit in found} == {"daily/2025-03-14"}


def test_entries_have_their_own_addresses_and_the_lines_of_the_pack() -> None:
    found = units.read("memory/archives/daily/2025.md.zst", PACK).units
    assert [(unit.address, unit.line, unit.text) for unit in found] == [
        ("daily/2025-03-14#14:30", 3, "one"),
        ("daily/2025-03-15#09:00", 6, "two"),
    ]
    some = units.read("memory/archives/daily/2025.md.zst", PACK, only={"daily/2025-03-15#09:00"}).units
    assert [unit.address for unit in some] == ["daily/2025-03-15#09:00"]


def test_where_packs_lie() -> None:
    assert packs.homes(A) == ("memory/archives/daily/2025.md.zst", "memory/archives/daily/2025-03.md.zst")
    assert packs.homes("memory/archives/plan.md") == ()
    assert packs.homes("notes/2025-03-14.md") == ()


def test_a_log_that_only_moved_into_a_pack_or_out_of_it_did_not_change() -> None:
    home = "memory/archives/daily/2025.md.zst"
    gone, come = changes.compare(A, b"- 14:30 one\n", None), changes.compare(home, None, PACK)
    assert [(edit.kind, edit.address) for edit in changes.gathered((*gone, *come))] == [
        ("added", "daily/2025-03-15#09:00")
    ]
    other = changes.compare(A, b"- 14:30 other\n", None)
    assert [(edit.kind, edit.before, edit.after) for edit in changes.gathered((*come, *other))][:1] == [
        ("changed", "other", "one")
    ]
