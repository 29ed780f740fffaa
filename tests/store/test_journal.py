"""The journal: what it acknowledged comes back, whatever is torn, compacted, stopped or full around it."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mdmem
from mdmem import fsio
from mdmem.errors import Busy, StorageFailed
from mdmem.store import journal as module
from mdmem.store.journal import Journal, Mark, Receipt, Record, Tracked, lines

PACKAGE = Path(mdmem.__file__).parent.parent
DAY = 86400.0
NOON = 1_764_417_600.0  # 2025-11-29 12:00 UTC
APPENDER = """if True:
    import pathlib, sys
    from mdmem.store.journal import Journal, Record
    journal = Journal(pathlib.Path(sys.argv[1]))
    for number in range(100):
        record = Record(id=f"{sys.argv[2]}-{number}", op="add", text="x" * int(sys.argv[3]))
        journal.append(record)
        if number % 2:
            journal.mark("committed", [record.id], commit="c0ffee")
"""


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal(tmp_path: Path, clock: Clock) -> Journal:
    return Journal(tmp_path / "journal", clock=clock)


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    return tmp_path / "journal" / "2025-11-29.log"


def start(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )


def add(journal: Journal, *texts: str) -> list[str]:
    records = [Record(op="add", text=text) for text in texts]
    for record in records:
        journal.append(record)
    return [record.id for record in records]


def texts(journal: Journal) -> list[str | None]:
    return [tracked.record.text for tracked in journal.scan()]


def states(journal: Journal) -> list[str]:
    return [tracked.state for tracked in journal.scan()]


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


FULL = Record(
    id="0123456789abcdef",
    op="add",
    path="memory/daily/2025-11-29.md",
    text="one\ntwo 名 \udce9 \ud800 \u2028 \0",
    meta=(("source", "cli"), ("id", "x"), ("source", "twice")),
    at="2025-11-29T14:30:00+01:00",
    source="cli",
    reason="because",
    group="batch",
    before="b" * 64,
    after="a" * 64,
    extra={"tags": ["a", "b"], "deep": {"n": 1}},
)


# -- appending and scanning


def test_a_record_comes_back_as_it_was(journal: Journal) -> None:
    journal.append(FULL)
    assert journal.scan() == (Tracked(FULL),)


@given(text=st.text(), meta=st.lists(st.tuples(st.text(), st.text())), op=st.text(min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_record_comes_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, meta: list[tuple[str, str]], op: str
) -> None:
    journal = Journal(tmp_path_factory.mktemp("state") / "journal")
    record = Record(op=op, text=text, meta=tuple(meta))
    journal.append(record, Record(op="add", text="next"))
    assert [tracked.record.text for tracked in journal.scan()] == [text, "next"]
    assert journal.scan()[0].record == record


def test_an_empty_journal(tmp_path: Path, journal: Journal, segment: Path) -> None:
    assert (journal.scan(), journal.receipts(), journal.is_empty(), journal.compact()) == ((), (), True, 0)
    journal.append()
    assert not segment.parent.exists()
    add(journal, "one")
    assert not journal.is_empty()
    assert segment.stat().st_mode & 0o777 == 0o600
    assert segment.parent.stat().st_mode & 0o777 == 0o700


def test_order_is_that_of_appending(journal: Journal, clock: Clock) -> None:
    add(journal, "one", "two")
    clock.now += DAY
    add(journal, "three")
    clock.now -= 366 * DAY
    add(journal, "four")
    assert texts(journal) == ["one", "two", "three", "four"]


def test_marks_tell_what_became_of_records(journal: Journal) -> None:
    one, two, three, four, five = add(journal, "1", "2", "3", "4", "5")
    journal.mark("placed", [one, two], path="a.md")
    journal.mark("placed", [one], path="b.md", block="- 14:30 1\n", offset=0)
    journal.mark("committed", [one], commit="c0ffee", durable=True)
    journal.mark("void", [three], reason="undone")
    journal.mark("held", [four], reason="stale copy")
    journal.mark("placed", ["unknown"])
    journal.mark("placed", [])
    scanned = journal.scan()
    assert [tracked.state for tracked in scanned] == ["committed", "placed", "void", "held", "waiting"]
    assert (scanned[0].path, scanned[0].block, scanned[0].offset) == ("b.md", "- 14:30 1\n", 0)
    assert scanned[0].commit == "c0ffee"
    assert (scanned[2].reason, scanned[3].reason) == ("undone", "stale copy")
    assert [tracked.record.id for tracked in journal.scan(settled=False)] == [two, four, five]


def test_the_last_mark_counts(journal: Journal) -> None:
    (one,) = add(journal, "1")
    for state in ("held", "placed", "committed", "held"):
        journal.mark(state, [one])
    assert states(journal) == ["held"]


def test_placings_are_in_order_even_when_the_clock_goes_back(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = add(journal, "1", "2", "3")
    journal.mark_all([Mark(state="placed", ids=(id,)) for id in ids[:2]])
    monkeypatch.setattr(time, "time_ns", lambda: 5)
    later = Journal(tmp_path / "journal")
    later.scan()
    later.mark("placed", [ids[2]])
    orders = [tracked.order for tracked in journal.scan()]
    assert orders == sorted(set(orders)) and orders[0] > 0


def test_placings_come_after_those_that_only_receipts_remember(
    journal: Journal, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = add(journal, "1")
    journal.mark("placed", [one])
    journal.mark("committed", [one])
    clock.now += DAY
    assert journal.compact() == 1
    monkeypatch.setattr(time, "time_ns", lambda: 5)
    later = Journal(tmp_path / "journal")
    (two,) = add(later, "2")
    later.mark("placed", [two])
    assert later.scan()[0].order > journal.receipts()[0].order > 0


# -- torn and damaged lines


@pytest.mark.parametrize("torn", [b"\n0bad", b"\n00000000 {}\n", b"\0" * 4096, b"junk\n\xff\n", b"\n1234567"])
def test_a_torn_line_eats_no_other(journal: Journal, segment: Path, torn: bytes) -> None:
    add(journal, "one")
    with segment.open("ab") as file:
        file.write(torn)
    add(journal, "two")
    assert texts(journal) == ["one", "two"]


def test_every_cut_keeps_the_records_before_it(journal: Journal, segment: Path) -> None:
    ends = [segment.stat().st_size for text in "abc" if add(journal, text)]
    whole = segment.read_bytes()
    for cut in range(len(whole)):
        segment.write_bytes(whole[:cut])
        # The closing newline is not needed to read a line.
        assert texts(journal) == list("abc")[: sum(end - 1 <= cut for end in ends)]


def test_every_flipped_byte_harms_one_record_at_most(journal: Journal, segment: Path) -> None:
    add(journal, "a", "b", "c")
    whole = segment.read_bytes()
    for place in range(len(whole)):
        segment.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        assert "".join(filter(None, texts(journal))) in ("abc", "bc", "ac", "ab", "a", "c")
        assert len(texts(journal)) >= 1


def test_what_a_later_version_added_is_skipped(journal: Journal, segment: Path) -> None:
    add(journal, "one")
    with segment.open("ab") as file:
        file.write(lines.compose({"id": "f" * 16, "op": "add", "text": "two", "later": 1}))
    assert texts(journal) == ["one", "two"]


def test_a_record_counts_once(journal: Journal) -> None:
    journal.append(FULL, FULL)
    journal.append(FULL)
    assert len(journal.scan()) == 1


# -- failures


def test_a_failed_write_keeps_nothing(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    add(journal, "one")
    monkeypatch.setattr(fsio.calls, "write", failing(errno.ENOSPC))
    with pytest.raises(StorageFailed, match=r"cannot write journal/2025-11-29\.log: the disk is full"):
        add(journal, "two")
    assert texts(journal) == ["one"]


def test_a_failed_sync_keeps_nothing(journal: Journal, segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(journal, "one")
    calls: list[int] = []

    def fail(fd: int) -> None:
        calls.append(fd)
        # Somebody else is quicker with a record of their own.
        with segment.open("ab") as file:
            file.write(lines.compose({"id": "f" * 16, "op": "add", "text": "theirs"}))
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(fsio.calls, "fdatasync", fail)
        with pytest.raises(StorageFailed, match="the disk reports an error"):
            journal.append(FULL, Record(op="add", text="two"))
    assert len(calls) == 1
    add(journal, "three")
    assert texts(journal) == ["one", "theirs", "three"]


def test_a_short_write_is_repeated_whole(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = [30]
    monkeypatch.setattr(fsio.calls, "write", lambda fd, data: os.write(fd, data[: cuts.pop() if cuts else None]))
    add(journal, "one")
    assert texts(journal) == ["one"]


def test_a_batch_that_does_not_fit_is_not_kept_in_part(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(fsio.calls, "write", lambda fd, data: os.write(fd, data[:-10]))
        with pytest.raises(StorageFailed, match="the disk is full"):
            journal.append(*(Record(op="add", text=text) for text in "abc"))
    assert texts(journal) == []


def test_a_limit_on_file_sizes_keeps_nothing(journal: Journal, tmp_path: Path) -> None:
    code = """if True:
        import pathlib, resource, sys
        from mdmem import errors
        from mdmem.store.journal import Journal, Record
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        journal = Journal(pathlib.Path(sys.argv[1]), clock=lambda: 1_764_417_600.0)
        try:
            journal.append(*(Record(op="add", text="x" * 300) for _ in range(5)))
        except errors.StorageFailed as error:
            sys.stdout.write(error.message)
    """
    with start(code, tmp_path / "journal") as process:
        told = process.communicate()[0]
    assert told == "cannot write journal/2025-11-29.log: the limit on file sizes is reached"
    assert texts(journal) == []


def test_an_error_while_blanking_hides_no_other(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsio.calls, "fdatasync", failing(errno.EIO))
    monkeypatch.setattr(fsio.calls, "pwrite", failing(errno.EROFS))
    with pytest.raises(StorageFailed, match="the disk reports an error"):
        add(journal, "one")


def test_a_missing_state_is_not_made(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "none" / "journal")
    with pytest.raises(StorageFailed, match="it is not there"):
        add(journal, "one")
    assert (journal.scan(), journal.is_empty(), (tmp_path / "none").exists()) == ((), True, False)


def test_an_odd_segment_is_named(journal: Journal, segment: Path) -> None:
    segment.parent.mkdir()
    os.mkfifo(segment)
    with pytest.raises(StorageFailed, match="it is not a regular file"):
        add(journal, "one")
    with pytest.raises(StorageFailed, match="it is not a regular file"):
        journal.scan()


def test_a_folder_that_is_none_is_named(tmp_path: Path, journal: Journal) -> None:
    (tmp_path / "journal").write_text("")
    with pytest.raises(StorageFailed, match="cannot read journal"):
        journal.scan()


def test_names_are_durable_before_the_first_record(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def record(name: str, call: Callable[..., Any]) -> None:
        def wrapped(fd: int, *args: Any) -> Any:
            calls.append(f"{name} {Path(os.readlink(f'/proc/self/fd/{fd}')).name}")
            return call(fd, *args)

        monkeypatch.setattr(fsio.calls, name, wrapped)

    record("fsync", os.fsync)
    record("fdatasync", os.fdatasync)
    record("write", os.write)
    ids = add(journal, "one")
    assert calls[0] == "fsync journal" and calls[1].startswith("fsync ")
    assert calls[2:] == ["write 2025-11-29.log", "fdatasync 2025-11-29.log"]
    calls.clear()
    add(journal, "two")
    assert calls == ["write 2025-11-29.log", "fdatasync 2025-11-29.log"]
    calls.clear()
    journal.mark("placed", ids)
    assert calls == ["write 2025-11-29.log"]


# -- compacting


def settle(journal: Journal, *ids: str, commit: str = "c0ffee") -> None:
    for id in ids:
        journal.mark("placed", [id], path="a.md", block=f"- {id}\n", offset=0)
    journal.mark("committed", ids, commit=commit)


def test_a_settled_day_becomes_receipts(journal: Journal, clock: Clock, segment: Path) -> None:
    journal.append(FULL)
    settle(journal, FULL.id)
    (void,) = add(journal, "never mind")
    journal.mark("void", [void])
    assert journal.compact() == 0
    order = journal.scan()[0].order
    clock.now += DAY
    assert journal.compact() == 1
    assert (journal.scan(), journal.is_empty(), segment.exists()) == ((), True, False)
    assert journal.receipts() == (
        Receipt(
            id=FULL.id,
            op="add",
            state="committed",
            path="a.md",
            block=sha256(f"- {FULL.id}\n".encode()).hexdigest(),
            order=order,
            commit="c0ffee",
            at=FULL.at,
            group="batch",
            before=FULL.before,
            after=FULL.after,
        ),
        Receipt(id=void, op="add", state="void"),
    )
    assert b"never mind" not in b"".join(path.read_bytes() for path in segment.parent.rglob("*.log"))


def test_what_is_not_settled_stays_with_its_marks(journal: Journal, clock: Clock, segment: Path) -> None:
    done, held, placed, _ = add(journal, "done", "held", "placed", "waiting")
    settle(journal, done)
    journal.mark("held", [held, done], reason="stale copy")
    journal.mark("committed", [done])
    journal.mark("placed", [placed], path="b.md", block="- b\n", offset=7)
    before = journal.scan(settled=False)
    clock.now += DAY
    assert journal.compact() == 1
    assert journal.scan() == before
    assert [receipt.id for receipt in journal.receipts()] == [done]
    assert b'"text":"done"' not in segment.read_bytes()
    assert journal.compact() == 0


def test_a_settled_today_is_kept_until_it_is_large(
    journal: Journal, segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(journal, *add(journal, "one"))
    assert journal.compact() == 0
    monkeypatch.setattr(module, "_LIMIT", 100)
    assert journal.compact() == 1
    assert not segment.exists()


def test_a_large_held_text_is_not_copied_again_and_again(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIMIT", 100)
    (held,) = add(journal, "x" * 10_000)
    settle(journal, *add(journal, "one"))
    assert journal.compact() == 0
    settle(journal, *add(journal, "y" * 20_000))
    assert journal.compact() == 1
    assert [tracked.record.id for tracked in journal.scan()] == [held]


def test_marks_about_an_earlier_day_outlive_their_own(journal: Journal, clock: Clock) -> None:
    (old,) = add(journal, "old")
    clock.now += DAY
    (new,) = add(journal, "new")
    journal.mark("held", [old], reason="conflict")
    settle(journal, new)
    clock.now += DAY
    journal.compact()
    assert [(t.record.text, t.state, t.reason) for t in journal.scan()] == [("old", "held", "conflict")]
    settle(journal, old)
    clock.now += DAY
    while journal.compact():
        assert states(journal) in ([], ["committed"])
    assert journal.is_empty()


def test_a_segment_in_use_is_left_alone(journal: Journal, clock: Clock, segment: Path) -> None:
    settle(journal, *add(journal, "one"))
    clock.now += DAY
    with segment.open() as writer:
        fcntl.flock(writer, fcntl.LOCK_SH)
        assert journal.compact() == 0
    assert states(journal) == ["committed"]
    assert journal.compact() == 1


def test_a_stopped_compaction_stops_nobody(journal: Journal, segment: Path) -> None:
    add(journal, "one")
    code = """if True:
        import fcntl, sys
        with open(sys.argv[1]) as segment:
            fcntl.flock(segment, fcntl.LOCK_EX)
            sys.stdout.write("held\\n")
            sys.stdout.flush()
            sys.stdin.readline()
    """
    with start(code, segment) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGSTOP)
        add(journal, "two", "three")
        assert texts(journal) == ["one", "two", "three"]
        assert segment.with_name("2025-11-29-0001.log").exists()
        holder.kill()
    add(journal, "four")
    assert texts(journal) == ["one", "two", "three", "four"]


def test_a_journal_whose_every_segment_is_seized_is_busy(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_flock", lambda fd, mode: False)
    with pytest.raises(Busy):
        add(journal, "one")


def test_a_segment_that_was_compacted_under_a_writer_is_not_written(
    journal: Journal, segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(journal, *add(journal, "one"))
    flock = fcntl.flock

    def compacted_first(fd: int, mode: int) -> None:
        if segment.exists():
            segment.unlink()
        flock(fd, mode)

    monkeypatch.setattr(module.fcntl, "flock", compacted_first)
    add(journal, "two")
    assert texts(journal) == ["two"]


@pytest.mark.parametrize("when", ["before it is opened", "after it was opened"])
def test_a_scan_sees_the_journal_of_one_moment(
    journal: Journal, clock: Clock, segment: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    settle(journal, *add(journal, "one"))
    clock.now += DAY
    add(journal, "two")
    call, rounds = fsio.opened if when.startswith("before") else fsio.leads_to, [0]

    def meanwhile(*args: Any, **options: Any) -> Any:
        rounds[0] += 1
        if rounds[0] == 1:
            journal.compact()
        return call(*args, **options)

    monkeypatch.setattr(fsio, call.__name__, meanwhile)
    assert texts(journal) == ["two"]
    assert rounds[0] > 1


def test_two_compactions_at_once(journal: Journal, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(journal, *add(journal, "one"))
    clock.now += DAY
    seize = module._flock

    def second(fd: int, mode: int) -> bool:
        monkeypatch.setattr(module, "_flock", seize)
        assert journal.compact() == 1
        return seize(fd, mode)

    monkeypatch.setattr(module, "_flock", second)
    assert journal.compact() == 0
    assert len(journal.receipts()) == 1


def test_a_segment_that_vanishes_before_it_is_seized(
    journal: Journal, clock: Clock, segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(journal, *add(journal, "one"))
    clock.now += DAY
    is_due = Journal._is_due

    def vanish(self: Journal, stem: str) -> bool:
        due = is_due(self, stem)
        segment.unlink()
        return due

    monkeypatch.setattr(Journal, "_is_due", vanish)
    assert journal.compact() == 0


def test_a_journal_that_never_stands_still_is_busy(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    add(journal, "one")
    monkeypatch.setattr(fsio, "leads_to", lambda *_, **__: False)
    with pytest.raises(Busy):
        journal.scan()


def test_damaged_lines_are_set_aside(journal: Journal, clock: Clock, segment: Path) -> None:
    settle(journal, *add(journal, "one"))
    with segment.open("ab") as file:
        file.write(b"\n0bad0bad {what is left of a text\n" + b"\0" * 100)
    clock.now += DAY
    assert journal.compact() == 1
    assert (segment.parent / "damaged.log").read_bytes() == b"\n0bad0bad {what is left of a text\n"
    assert journal.is_empty()


def test_a_segment_of_blanks_goes(journal: Journal, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(fsio.calls, "fdatasync", failing(errno.EIO))
        with pytest.raises(StorageFailed):
            add(journal, "one")
    assert not journal.is_empty()
    clock.now += DAY
    assert journal.compact() == 1
    assert journal.is_empty()


@pytest.mark.parametrize("point", range(40))
def test_a_compaction_that_fails_anywhere_loses_nothing(
    journal: Journal, clock: Clock, monkeypatch: pytest.MonkeyPatch, point: int
) -> None:
    done, _, held = add(journal, "done", "waiting", "held")
    settle(journal, done)
    journal.mark("held", [held])
    clock.now += DAY
    left = [point]

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return call(*args, **options)

        return wrapped

    with monkeypatch.context() as patch:
        for name in ("write", "fsync", "fdatasync", "rename", "unlink", "mkdir"):
            patch.setattr(fsio.calls, name, counted(getattr(fsio.calls, name)))
        try:
            journal.compact()
        except StorageFailed:
            assert left[0] < 0
    open_ones = journal.scan(settled=False)
    assert [(tracked.record.text, tracked.state) for tracked in open_ones] == [
        ("waiting", "waiting"),
        ("held", "held"),
    ]
    journal.compact()
    assert journal.scan() == open_ones
    assert [receipt.id for receipt in journal.receipts()] == [done]


def test_old_receipts_go_but_not_by_a_jump_of_the_clock(journal: Journal, clock: Clock) -> None:
    folder = journal._folder / "receipts"
    settle(journal, *add(journal, "first"))
    clock.now += 1000 * DAY
    assert journal.compact() == 1
    settle(journal, *add(journal, "second"))
    clock.now += DAY
    assert journal.compact() == 1
    assert len(journal.receipts()) == 2
    for day in range(1, 40):
        fsio.put(f"journal/receipts/2025-01-{day:02}.log", b"", root=folder.parent.parent)
    settle(journal, *add(journal, "third"))
    clock.now += DAY
    assert journal.compact() == 1
    assert len(list(folder.iterdir())) == 31
    assert len(journal.receipts()) == 3


def test_damaged_receipts_are_skipped(journal: Journal, clock: Clock) -> None:
    settle(journal, *add(journal, "one"))
    clock.now += DAY
    journal.compact()
    (path,) = (journal._folder / "receipts").iterdir()
    path.write_bytes(b"\n0bad\n" + path.read_bytes())
    assert len(journal.receipts()) == 1


# -- many processes


@pytest.mark.parametrize("size", [10, 9000])
def test_many_writers_and_a_compaction_lose_nothing(tmp_path: Path, size: int) -> None:
    folder = tmp_path / "journal"
    writers = [start(APPENDER, folder, f"{number:016}", size) for number in range(16 if size < 100 else 4)]
    # For whom every segment is of another day, so that each is compacted while it is written.
    keeper = Journal(folder, clock=lambda: time.time() + 2 * DAY)
    rounds = 0
    while any(writer.poll() is None for writer in writers):
        rounds += keeper.compact()
        keeper.scan()
        time.sleep(0.002)
    rounds += keeper.compact()
    assert [writer.communicate() and writer.returncode for writer in writers] == [0] * len(writers)
    expected = {f"{number:016}-{count}" for number in range(len(writers)) for count in range(100)}
    waiting = {tracked.record.id for tracked in keeper.scan() if tracked.state == "waiting"}
    settled = {tracked.record.id for tracked in keeper.scan() if tracked.state == "committed"}
    settled |= {receipt.id for receipt in keeper.receipts()}
    assert rounds > 0
    assert waiting == {id for id in expected if int(id[17:]) % 2 == 0}
    assert settled == expected - waiting
    assert not (folder / "damaged.log").exists()


def test_a_journal_that_grows_says_the_same_as_one_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LIMIT", 0)
    folder = tmp_path / "journal"
    reader, writer = Journal(folder), Journal(folder)
    for number in range(200):
        record = Record(op="add", text=f"text {number}")
        writer.append(record)
        if number % 3:
            writer.mark("placed", [record.id], path="a.md", block=f"text {number}\n", offset=number)
        if number % 4:
            writer.mark("committed", [record.id], commit=f"{number:040x}")
        if number % 50 == 49:
            with (folder / f"{writer._day()}.log").open("ab") as file:
                file.write(b"\n00000000 {torn")
        fresh = Journal(folder)
        assert reader.scan() == fresh.scan()
        assert reader.scan(settled=False) == fresh.scan(settled=False)
        assert (reader.last, reader._order) == (fresh.last, fresh._order)
        if number % 70 == 69:
            assert writer.compact()
            assert reader.scan() == Journal(folder).scan()
