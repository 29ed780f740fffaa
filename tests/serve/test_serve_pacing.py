"""When a change is due, by a clock that the test sets."""

from __future__ import annotations

import itertools
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.serve.log import Log
from mdmem.serve.pacing import ABSENT, CALM, LONGEST, OVERDUE, QUIET, SHRUNK, Due, Pace, State
from mdmem.serve.rounds import Patience

numbers = itertools.count(1)


def state(size: int = 100, inode: int = 7) -> State:
    """A state that no file was in before."""
    stamp = next(numbers)
    return size, stamp, stamp, inode


def begun(**files: State) -> Pace:
    """A vault at rest, with these files besides one that never changes."""
    pace = Pace()
    pace.begin({"memory/rest.md": (10, 1, 1, 1)} | files, (), 0.0)
    return pace


def seen(pace: Pace, now: float, **files: State | None) -> None:
    """Let the files look like this; others stay."""
    present = dict(pace._known) | files
    pace.see({path: each for path, each in present.items() if each is not None}, now)


def test_nothing_is_due_at_rest() -> None:
    assert begun(a=state()).due(1e6) == Due(False, {}, {}, float("inf"))


def test_a_save_is_indexed_compared_and_committed_in_this_order() -> None:
    pace = begun(a=state())
    fresh = state()
    seen(pace, 100.0, a=fresh)
    assert pace.due(100.1) == Due(False, {}, {}, pytest.approx(QUIET - 0.1))
    due = pace.due(100.0 + QUIET)
    assert (due.index, due.observe, due.save) == (True, {"a": fresh}, {})
    pace.indexed()
    pace.observed(due.observe)
    assert pace.due(100.0 + QUIET) == Due(False, {}, {}, pytest.approx(CALM - QUIET))
    assert pace.due(100.0 + CALM).save == {"a": fresh}
    pace.saved({"a": fresh})
    assert pace.due(1000.0) == Due(False, {}, {}, float("inf"))


def test_what_is_saved_again_and_again_is_looked_at_after_a_while_and_committed_at_last() -> None:
    pace = begun(a=state())
    indexed, compared, committed = [], [], []
    for step in range(0, 340):
        now = step / 10
        if step % 2 == 0:
            seen(pace, now, a=state())
        due = pace.due(now)
        if due.index:
            indexed.append(now)
            pace.indexed()
        if due.observe:
            compared.append(now)
            pace.observed(due.observe)
        if due.save:
            committed.append(now)
    assert indexed[0] == pytest.approx(OVERDUE, abs=0.2)
    assert compared[0] == pytest.approx(OVERDUE, abs=0.2)
    assert committed == []  # no state has stood for QUIET: it may be half a save
    seen(pace, 34.0, a=state())
    assert pace.due(34.0 + QUIET).save.keys() == {"a"}


def test_edits_pausing_for_less_than_calm_are_committed_after_the_longest_wait() -> None:
    pace = begun(a=state())
    committed = []
    for step in range(0, 40):
        now = float(step)
        due = pace.due(now)
        committed += [now] if due.save else []
        pace.saved(due.save)
        seen(pace, now, a=state())
    assert committed == [LONGEST]


def test_a_burst_is_one_commit() -> None:
    pace = begun()
    for step in range(50):
        seen(pace, step / 10, **{f"f{step}": state(inode=100 + step)})
    last = 4.9
    assert pace.due(last + CALM - 0.01).save == {}
    assert len(pace.due(last + CALM).save) == 50


@pytest.mark.parametrize("size", [0, 49])
def test_an_emptied_or_halved_file_waits_longer(size: int) -> None:
    pace = begun(a=state(100))
    seen(pace, 0.0, a=state(size))
    assert pace.due(CALM + SHRUNK - 0.01).save == {}
    assert pace.due(CALM + SHRUNK).save.keys() == {"a"}


def test_a_file_halved_keeps_no_other_from_being_committed() -> None:
    pace = begun(a=state(100))
    seen(pace, 0.0, a=state(20), b=state(inode=9))
    assert pace.due(CALM).save.keys() == {"b"}


def test_half_of_a_slow_save_is_never_committed() -> None:
    pace = begun(a=state(1000))
    for step, size in enumerate([0, 200, 400, 600, 800]):
        seen(pace, step * 1.5, a=state(size))
        assert pace.due(step * 1.5 + 1.4).save == {}
    whole = state(1000)
    seen(pace, 7.5, a=whole)
    assert pace.due(7.5 + CALM).save == {"a": whole}


def test_the_gap_of_a_rename_is_no_deletion() -> None:
    pace = begun(a=state())
    seen(pace, 0.0, a=None)
    assert pace.due(QUIET).index
    assert pace.due(CALM).save == {}
    back = state(inode=8)
    seen(pace, 3.0, a=back)
    assert pace.due(3.0 + CALM).save == {"a": back}
    pace.saved({"a": back})
    assert pace.due(ABSENT * 2).save == {}


def test_a_deletion_is_committed_after_a_minute() -> None:
    pace = begun(a=state())
    seen(pace, 0.0, a=None)
    assert pace.due(ABSENT - 0.01).save == {}
    assert pace.due(ABSENT, deletions=False).save == {}
    assert pace.due(ABSENT).save == {"a": None}


def test_a_file_under_another_name_is_committed_under_both() -> None:
    pace = begun(a=(100, 5, 5, 7))
    seen(pace, 0.0, a=None, b=(100, 5, 6, 7))
    assert pace.due(CALM).save == {"a": None, "b": (100, 5, 6, 7)}


def test_everything_gone_is_told_from_one_file_gone() -> None:
    pace = begun(**{"memory/a.md": state()})
    seen(pace, 0.0, **{"memory/a.md": None})
    assert not pace.is_empty()
    seen(pace, 1.0, **{"memory/rest.md": None})
    assert pace.is_empty()


def test_what_differs_from_history_at_the_beginning_is_committed() -> None:
    pace = Pace()
    edited = state()
    pace.begin({"a": edited, "b": state()}, ["a", "gone"], 0.0)
    assert pace.due(CALM).save == {"a": edited}
    assert pace.due(ABSENT).save == {"a": edited, "gone": None}


def test_a_state_that_was_overtaken_stays_open() -> None:
    pace = begun(a=state())
    first, second = state(), state()
    seen(pace, 0.0, a=first)
    seen(pace, 1.0, a=second)
    pace.saved({"a": first})
    pace.observed({"a": first})
    assert pace.due(1.0 + CALM).save == {"a": second}
    assert pace.due(1.0 + CALM).observe == {"a": second}


def test_at_the_end_what_stands_still_and_is_whole_may_be_committed() -> None:
    pace = begun(a=state(100), b=state(100), c=state(100))
    still = state(90)
    seen(pace, 0.0, a=still, b=state(10), c=None)
    seen(pace, 0.9, d=state(inode=12))
    assert pace.at_rest(1.0) == {"a": still}


def test_what_fails_is_told_once_in_words(tmp_path: Path) -> None:
    said: list[str] = []
    patience = Patience("meaning", Log(tmp_path, clock=datetime.now, also=said.append))
    for _ in range(2):
        with pytest.raises(FileNotFoundError) as caught:
            (tmp_path / "vault/.git").stat()
        assert patience.failed(caught.value) > 0
    [line] = said
    assert line.partition(" ")[2] == f"meaning: cannot reach {tmp_path}/vault/.git: it is not there"


change = st.tuples(st.sampled_from("abc"), st.sampled_from([None, 0, 10, 100]), st.floats(0.01, 5))


@given(st.lists(change, max_size=60))
@settings(max_examples=150, deadline=None)
def test_in_any_order_of_changes_all_is_committed_at_last_and_nothing_that_did_not_stand(
    changes: list[tuple[str, int | None, float]],
) -> None:
    pace = begun(a=state(100, 11), b=state(100, 12))
    now, since = 0.0, {}
    for path, size, pause in changes:
        fresh = None if size is None else state(size, ord(path))
        if fresh != pace._known.get(path):
            since[path] = now
        seen(pace, now, **{path: fresh})
        now += pause
        due = pace.due(now)
        assert all(now - since[name] >= QUIET for name in due.save)
        assert all(now - since[name] >= ABSENT for name, each in due.save.items() if each is None)
        pace.saved(due.save)
    latest = dict(pace._known)
    due = pace.due(now + ABSENT)
    assert all(latest.get(name) == each for name, each in due.save.items())
    pace.saved(due.save)
    assert pace.waiting == 0
