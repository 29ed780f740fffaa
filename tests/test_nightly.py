"""Keeping house: what goes, what stays, who is asked, and that nothing is done by halves or twice."""

from __future__ import annotations

import hashlib
import signal
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from vault_sandbox import again, body, committed, git, log, ops, python, status, subjects, write

from mdmem import Vault, config, nightly
from mdmem.errors import BadInput, Busy, Refused
from mdmem.nightly import Outcome
from mdmem.text import claims
from mdmem.vault.rewriting import Planned

if TYPE_CHECKING:
    from conftest import Clock


OLD = "memory/daily/2026-11-10.md"
HOME = "memory/MEMORY.md"
QUIET = ("expire", "duplicates", "usage")
"""Steps that no index is needed for."""


def step(vault: Vault, name: str, *, dry_run: bool = False, yes: bool = False) -> Outcome:
    """Run one step, as the next command does."""
    agree = (lambda step, count, total: True) if yes else None
    [outcome] = nightly.run(again(vault), steps=[name], dry_run=dry_run, agree=agree).outcomes
    return outcome


def gone(outcome: Outcome) -> list[str]:
    return [item.address for item in outcome.items]


def fingerprint(vault: Vault) -> str:
    """Give a sum of everything under the vault but the state, and of the journal."""
    places = [path for path in vault.root.rglob("*") if path.is_file() and "mdmem" not in path.parts]
    places += [path for path in (vault.place.state / "journal").rglob("*") if path.is_file()]
    sums = (f"{path}:{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in sorted(places))
    return hashlib.sha256("\n".join(sums).encode()).hexdigest()


def day(entries: str, name: str = "2026-11-10") -> str:
    return f"# {name}\n\n{entries}"


# What has expired


def test_a_temporary_entry_goes_on_the_eighth_day_and_undo_brings_it_back(vault: Vault, clock: Clock) -> None:
    write(vault, OLD, day("- 10:00 Milk, eggs #temp\n- 10:05 Bread is out of stock\n"))
    vault.commit()
    clock.set("2026-11-16T23:00:00+01:00")
    assert step(vault, "expire").state == "nothing"
    clock.set("2026-11-18T03:00:00+01:00")
    outcome = step(vault, "expire")
    assert gone(outcome) == ["daily/2026-11-10#10:00"] and "#temp since 2026-11-10" in outcome.items[0].why
    assert body(vault, OLD) == "- 10:05 Bread is out of stock\n" and committed(vault, OLD) == log(vault, OLD)
    assert subjects(vault)[0] == "Expire 1 entry" and ops(vault)[0] == "nightly"
    assert again(vault).log(k=1)[0].actor == "nightly"
    again(vault).undo()
    assert "Milk, eggs" in log(vault, OLD)


def test_what_was_put_back_stays_until_it_gets_another_time(vault: Vault, clock: Clock) -> None:
    past = "memory/daily/2020-05-10.md"  # before any clock that dates the commits
    write(vault, past, day("- 10:00 Milk #temp\n- 10:05 Oats <!-- mdmem: expires=2020-05-12 -->\n", "2020-05-10"))
    vault.commit()
    assert len(gone(step(vault, "expire"))) == 2
    again(vault).undo()
    assert step(vault, "expire").state == "nothing" and "Milk" in log(vault, past) and "Oats" in log(vault, past)
    again(vault).set_field("daily/2020-05-10#10:05", "expires", "2097-01-05")
    clock.set("2097-01-04T12:00:00+01:00")
    assert step(vault, "expire").state == "nothing"
    clock.set("2097-01-06T12:00:00+01:00")
    assert gone(step(vault, "expire")) == ["daily/2020-05-10#10:05"]


def test_what_was_put_back_and_then_corrected_stays(vault: Vault, clock: Clock) -> None:
    entries = "- 10:00 Mikl #temp\n- 10:05 Otas <!-- mdmem: expires=2020-05-12 -->\n- 10:06 Rye #temp\n"
    past = "memory/daily/2020-05-10.md"
    write(vault, past, day(entries, "2020-05-10"))
    write(vault, "memory/offer.md", "---\nexpires: 2020-05-12\n---\nTxet\n")
    vault.commit()
    assert len(gone(step(vault, "expire", yes=True))) == 4
    again(vault).undo()
    for typo, word, path in (("Mikl", "Milk", past), ("Otas", "Oats", past), ("Txet", "Text", "memory/offer.md")):
        write(vault, path, log(vault, path).replace(typo, word))
    again(vault).commit()
    assert step(vault, "expire").state == "nothing"
    # Another time is another wish, also one that is over already.
    again(vault).set_field("daily/2020-05-10#10:05", "expires", "2020-05-13")
    again(vault).set_field("daily/2020-05-10#10:06", "expires", "2020-05-14")
    assert gone(step(vault, "expire")) == ["daily/2020-05-10#10:05", "daily/2020-05-10#10:06"]


def test_times_as_people_type_them(vault: Vault, clock: Clock) -> None:
    for number, said in enumerate(
        ("=2026-11-20 18:00", '="2026-11-20 18:00"', "='2026-11-20'", "=2026/11/20  18:00 id=x", "=“2026年11月20日”")
    ):
        write(vault, f"memory/daily/2026-11-0{number + 1}.md", f"- 10:00 Milk <!-- mdmem: expires{said} -->\n")
    assert len(gone(step(vault, "expire", yes=True))) == 5


@pytest.mark.parametrize(
    "said",
    [
        "Milk <!-- mdmem: expires: 2026-11-20 -->",
        "Milk <!-- mdmem: expires = 2026-11-20 -->",
        "Milk <!-- mdmem: expires=in two weeks -->",
        "牛奶 <!-- mdmem: expires：2026-11-20 -->",
        "Milk\n  <!-- mdmem: expires=2026-11-20 -->",
        "Milk <!-- mdmem: expires=2026-11-20 --> and eggs",
    ],
)
def test_a_time_that_is_overlooked_is_named(vault: Vault, clock: Clock, said: str) -> None:
    write(vault, OLD, day(f"- 09:00 First\n- 10:00 {said}\n- 11:00 `<!-- mdmem: expires: x -->` is written so\n"))
    outcome = step(vault, "expire")
    assert outcome.state == "nothing" and [one.path for one in outcome.findings] == [OLD]
    assert outcome.findings[0].line == 4 + said.count("\n") and "expires" in outcome.findings[0].message


def test_a_date_counts_until_the_end_of_its_day_and_before_the_tag(vault: Vault, clock: Clock) -> None:
    write(
        vault,
        OLD,
        day(
            "- 10:00 Valid until today <!-- mdmem: expires=2026-11-29 -->\n"
            "- 10:01 Over at noon <!-- mdmem: expires=2026-11-29T12:00 -->\n"
            "- 10:02 Kept for long #temp <!-- mdmem: expires=2027-11-29 -->\n"
            "- 10:03 Kept for good #temp <!-- mdmem: expires=never -->\n"
            "- 10:04 In another zone <!-- mdmem: expires=2026-11-29T14:00+08:00 -->\n"
        ),
    )
    assert gone(step(vault, "expire")) == ["daily/2026-11-10#10:01", "daily/2026-11-10#10:04"]
    clock.set("2026-11-30T00:00:00+01:00")
    assert gone(step(vault, "expire")) == ["daily/2026-11-10#10:00"]


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/Los_Angeles", "Europe/Berlin"])
def test_the_day_is_the_users_own(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("MDMEM_TIMEZONE", zone)
    vault = Vault.init(tmp_path / "vault")[0]
    write(vault, OLD, day("- 10:00 Over <!-- mdmem: expires=2026-11-28 -->\n"))
    offset = {"Asia/Shanghai": "+08:00", "America/Los_Angeles": "-08:00", "Europe/Berlin": "+01:00"}[zone]
    clock.set(f"2026-11-28T23:59:00{offset}")
    assert step(vault, "expire").state == "nothing"
    clock.set(f"2026-11-29T00:01:00{offset}")
    assert step(vault, "expire").state == "done"


@pytest.mark.parametrize(("name", "end"), [("2026-03-22", "2026-03-29"), ("2026-10-18", "2026-10-25")])
def test_nights_in_which_the_clock_is_set(vault: Vault, clock: Clock, name: str, end: str) -> None:
    clock.set(f"{name}T12:00:00+01:00")
    write(vault, f"memory/daily/{name}.md", day("- 03:30 Short-lived #temp\n- 02:30 Odd hour #temp\n", name))
    before, after = {"2026-03-29": ("+01:00", "+02:00"), "2026-10-25": ("+02:00", "+01:00")}[end]
    clock.set(f"{end}T01:30:00{before}")
    assert step(vault, "expire").state == "nothing"
    clock.set(f"{end}T03:29:00{after}")
    early = [f"daily/{name}#02:30"] if end == "2026-10-25" else []  # in March there is no half past two that night
    assert gone(step(vault, "expire")) == early
    clock.set(f"{end}T03:30:00{after}")
    assert len(gone(step(vault, "expire"))) == 2 - len(early) and body(vault, f"memory/daily/{name}.md") == ""


def test_documents_expire_too_but_never_what_an_agent_is(vault: Vault, clock: Clock) -> None:
    front = "---\nexpires: 2020-11-01\n---\nText\n"
    for name in ("archives/offer", "SOUL", "IDENTITY", "persona/Soul", "MEMORY", "archives/later"):
        write(vault, f"memory/{name}.md", front if name != "archives/later" else front.replace("2020", "2090"))
    write(vault, "memory/archives/tagged.md", "---\ntags: [temp]\ncreated: 2020-01-01\n---\n#temp\n")
    vault.commit()
    assert gone(step(vault, "expire")) == ["archives/offer"]
    assert not (vault.root / "memory/archives/offer.md").exists() and status(vault) == ""
    again(vault).undo()
    assert (vault.root / "memory/archives/offer.md").read_text() == front
    assert step(vault, "expire").state == "nothing"


def test_what_is_not_understood_is_named_and_stays(vault: Vault, clock: Clock) -> None:
    write(vault, OLD, day("- 10:00 One <!-- mdmem: expires=soon -->\n- 10:01 Two <!-- mdmem: expires=2026-13-01 -->\n"))
    write(vault, "memory/list.md", "---\nexpires: [2026-01-01]\n---\nText\n")
    write(vault, "memory/two.md", "---\nexpires: 2026-01-01\nExpires: never\n---\nText\n")
    twice = day("- 10:00 One <!-- mdmem: expires=2026-01-01 expires=never -->\n", "2026-11-11")
    write(vault, "memory/daily/2026-11-11.md", twice)
    before = fingerprint(vault)
    outcome = step(vault, "expire")
    assert outcome.state == "nothing" and outcome.is_well and fingerprint(vault) == before
    found = [(each.path, each.line) for each in outcome.findings]
    assert found[:2] == [(OLD, 3), (OLD, 4)]
    assert found[2:] == [("memory/daily/2026-11-11.md", 3), ("memory/list.md", 1), ("memory/two.md", 1)]


def test_a_log_of_a_day_to_come_is_left_alone(vault: Vault, clock: Clock) -> None:
    write(vault, "memory/daily/2031-01-01.md", day("- 10:00 Over <!-- mdmem: expires=2026-01-01 -->\n", "2031-01-01"))
    assert step(vault, "expire").state == "nothing"


def test_a_clock_that_went_back_expires_nothing(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "memory/daily/2020-05-10.md", day("- 10:00 Milk #temp\n", "2020-05-10"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2098-01-01T10:00:00Z")
    git(vault, "add", "memory")
    git(vault, "commit", "-qm", "By a clock that is right")
    outcome = step(vault, "expire")
    assert outcome.state == "refused" and "newest commit" in outcome.problem and not outcome.is_well
    assert "Milk" in log(vault, "memory/daily/2020-05-10.md")


def test_no_byte_but_the_entry_changes(vault: Vault, clock: Clock) -> None:
    data = b"\xef\xbb\xbf# 2026-11-10\r\n\r\n- 09:00 Stays \xff\r\n- 10:00 Goes #temp\r\n\r\n  more\r\n- 11:00 Last"
    write(vault, OLD, data)
    step(vault, "expire")
    assert (vault.root / OLD).read_bytes() == data.replace(b"- 10:00 Goes #temp\r\n\r\n  more\r\n", b"")


def test_an_older_copy_does_not_bring_it_back(vault: Vault, clock: Clock) -> None:
    notes = "".join(f"- 10:0{number} Note number {number}\n" for number in range(6))
    write(vault, OLD, day(f"- 09:00 Milk #temp\n{notes}"))
    vault.commit()
    copy = log(vault, OLD)
    assert step(vault, "expire").state == "done"
    write(vault, OLD, copy + "- 12:00 Typed into the older copy\n")
    again(vault).commit()
    again(vault).search("milk")
    assert "Milk" not in log(vault, OLD) and "Typed into the older copy" in log(vault, OLD)


def test_lines_of_memory_that_came_from_it_are_named(vault: Vault, clock: Clock) -> None:
    write(vault, OLD, day("- 10:00 The guest room is taken <!-- mdmem: expires=2026-11-20 -->\n"))
    line = "- The guest room is taken. <!-- mdmem: from=daily/2026-11-10#10:00@123456 -->\n"
    write(vault, "memory/MEMORY.md", f"# Memory\n\n## Facts\n\n{line}")
    vault.commit()
    outcome = step(vault, "expire")
    assert any("The guest room is taken" in said for said in outcome.notices)
    assert line in log(vault, "memory/MEMORY.md")


# A tenth


def many(vault: Vault, count: int, temporary: int) -> None:
    lines = [f"- 10:{number:02} Thought number {number} of that day" for number in range(count)]
    lines = [line + " #temp" if number < temporary else line for number, line in enumerate(lines)]
    write(vault, OLD, day("\n".join(lines) + "\n"))
    vault.commit()


def test_more_than_a_tenth_is_asked_about(vault: Vault, clock: Clock) -> None:
    many(vault, 40, 5)
    before = fingerprint(vault)
    outcome = step(vault, "expire")
    assert outcome.state == "refused" and "5 of 41" in outcome.problem and "--yes" in outcome.hint
    assert len(outcome.items) == 5 and fingerprint(vault) == before
    asked = []
    report = nightly.run(again(vault), steps=["expire"], agree=lambda *what: bool(asked.append(what)))
    assert not report.is_complete and asked == [("expire", 5, 41)] and fingerprint(vault) == before
    assert step(vault, "expire", yes=True).state == "done" and log(vault, OLD).count("#temp") == 0


def test_a_few_or_a_tenth_may_go(vault: Vault, clock: Clock) -> None:
    many(vault, 6, 3)
    assert step(vault, "expire").state == "done"
    many(vault, 50, 5)
    assert step(vault, "expire").state == "done"


def test_a_clock_far_ahead_does_not_empty_the_vault(vault: Vault, clock: Clock) -> None:
    many(vault, 30, 20)
    clock.set("2099-01-01T03:00:00+01:00")
    assert step(vault, "expire").state == "refused" and log(vault, OLD).count("#temp") == 20


# What was kept twice


def test_what_was_kept_twice_becomes_one(vault: Vault, clock: Clock) -> None:
    write(
        vault,
        OLD,
        day(
            "- 10:00 User likes science fiction #movies\n- 10:00:30 User likes  science fiction #books\n"
            "- 10:02 User likes science fiction <!-- mdmem: id=sf -->\n- 10:05 Something else\n"
        ),
    )
    vault.commit()
    outcome = step(vault, "duplicates")
    assert gone(outcome) == ["daily/2026-11-10#10:00:30", "daily/2026-11-10#10:02"]
    assert body(vault, OLD) == (
        "- 10:00 User likes science fiction #movies #books <!-- mdmem: id=sf -->\n- 10:05 Something else\n"
    )
    assert subjects(vault)[0] == "Merge 2 entries kept twice" and status(vault) == ""
    assert step(vault, "duplicates").state == "nothing"
    again(vault).undo()
    assert log(vault, OLD).count("science fiction") == 3
    assert step(vault, "duplicates").state == "nothing"  # a person wanted them back


LANDLORD = "Our landlord Mr Okafor lives in the flat above and wants the rent on the third of each month"
SHIFT = "夜班：重启了支付网关，因为连接池又满了，等客户的运维团队给出修复方案"


@pytest.mark.parametrize("said", [LANDLORD, SHIFT])
def test_the_same_words_at_another_time_are_only_proposed(vault: Vault, clock: Clock, said: str) -> None:
    write(vault, OLD, day(f"- 10:00 {said}\n- 11:00 weight 71.2\n- 12:00 ok\n- 22:00 {said}\n"))
    other = "memory/daily/2026-11-11.md"
    write(vault, other, day(f"- 09:00 {said}\r\n- 11:00 weight 71.2\r\n- 12:00 ok\r\n", "2026-11-11"))
    vault.commit()
    before = log(vault, OLD), log(vault, other)
    outcome = step(vault, "duplicates")
    assert outcome.state == "nothing" and outcome.is_well and (log(vault, OLD), log(vault, other)) == before
    places = [tuple(address.partition("@")[0] for address in pair.addresses) for pair in outcome.similar]
    first = "daily/2026-11-10#10:00"
    assert places == [(first, "daily/2026-11-10#22:00"), (first, "daily/2026-11-11#09:00")]
    waiting = again(vault).parts.review.listed()
    assert [one.claim.text for one in waiting] == [said, said]
    again(vault).parts.review.reject([waiting[0].id])
    assert [len(step(vault, "duplicates").similar), len(again(vault).parts.review.listed())] == [1, 1]
    again(vault).parts.review.accept([waiting[1].id])
    assert said in log(vault, OLD) and said not in log(vault, other) and not step(vault, "duplicates").similar


def test_what_a_program_handed_in_twice_by_one_id_becomes_one(vault: Vault, clock: Clock) -> None:
    write(vault, OLD, day(f"- 10:00 {LANDLORD} <!-- mdmem: id=a7 -->\n"))
    write(vault, "memory/daily/2026-11-12.md", day(f"- 21:00 {LANDLORD} <!-- mdmem: id=a7 -->\n", "2026-11-12"))
    assert gone(step(vault, "duplicates")) == ["daily/2026-11-12#21:00"]


def test_what_is_named_by_its_address_stays(vault: Vault, clock: Clock) -> None:
    write(vault, OLD, day("- 10:00 User likes green tea\n- 10:01 User likes green tea\n"))
    write(vault, "memory/archives/tea.md", "See [[daily/2026-11-10#10:01]].\n")
    assert step(vault, "duplicates").state == "nothing"


def test_copies_of_documents_are_named_only(vault: Vault, clock: Clock) -> None:
    for name in ("one", "two"):
        write(vault, f"memory/archives/{name}.md", "# The same\n\nText.\n")
    outcome = step(vault, "duplicates")
    assert outcome.state == "nothing" and "archives/two" in outcome.findings[0].message
    assert (vault.root / "memory/archives/two.md").exists()


# Uses


def test_uses_of_two_clones_add_up_after_a_union(vault: Vault, clock: Clock, tmp_path: Path) -> None:
    from mdmem.vault import usage

    vault.add("Green tea")
    address = "daily/2026-11-29#14:30"
    usage.note(vault.place, [address, address])
    usage.note(vault.place, [address])
    assert step(vault, "usage").state == "done" and ops(vault)[0] == "nightly"
    git(tmp_path, "clone", "-q", str(vault.root), "clone")
    clone = Vault.open(tmp_path / "clone")
    usage.note(clone.place, [address])
    assert step(clone, "usage").state == "done"
    usage.note(vault.place, [address])
    assert step(vault, "usage").state == "done" and step(vault, "usage").state == "nothing"
    git(vault, "pull", "-q", "--no-edit", "--no-rebase", str(clone.root), "main")
    lines = log(vault, ".mdmem/usage.tsv").splitlines()
    assert sorted(int(line.rsplit("\t", 1)[1]) for line in lines)[-2:] == [1, 3] or len(lines) == 3
    assert usage.scores(again(vault).place) == {address: 4.0}

    clock.set("2027-02-28T10:00:00+01:00")
    assert usage.scores(again(vault).place) == {address: 2.0}


def test_a_fold_that_is_repeated_or_taken_back_counts_nothing_twice(vault: Vault, clock: Clock) -> None:
    from mdmem.vault import usage

    usage.note(vault.place, ["daily/2026-11-10#10:00", "archives/tab\tname"])
    assert step(vault, "usage").state == "done"
    before = usage.scores(vault.place)
    again(vault).undo("HEAD")
    assert usage.scores(vault.place) == before
    assert step(vault, "usage").state == "done" and usage.scores(vault.place) == before
    clock.set("2029-03-01T10:00:00+01:00")
    usage.note(vault.place, ["daily/2026-11-10#10:00"])
    assert step(vault, "usage").state == "done"
    assert "\t2026\t" in log(vault, ".mdmem/usage.tsv") and "\t2026-11\t" not in log(vault, ".mdmem/usage.tsv")
    assert step(vault, "usage").state == "nothing"


def test_a_copy_of_the_vault_counts_for_itself(vault: Vault, clock: Clock, tmp_path: Path) -> None:
    import shutil

    from mdmem.vault import usage

    usage.note(vault.place, ["archives/plan"])
    assert step(vault, "usage").state == "done"
    shutil.copytree(vault.root, tmp_path / "copy")
    copy = Vault.open(tmp_path / "copy")
    usage.note(copy.place, ["archives/plan"])
    assert step(copy, "usage").state == "done" and usage.scores(copy.place) == {"archives/plan": 2.0}


def test_reading_never_fails_for_counting(vault: Vault, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.vault import usage

    (vault.place.state / "usage.sqlite").write_bytes(b"no database at all" * 100)
    usage.note(vault.place, ["archives/plan"])
    assert usage.scores(vault.place) == {}
    usage.note(vault.place, ["archives/plan"])
    assert usage.scores(vault.place) == {"archives/plan": 1.0}
    monkeypatch.setenv("MDMEM_USAGE_RECORD", "false")
    usage.note(again(vault).place, ["archives/plan"])
    assert usage.scores(vault.place) == {"archives/plan": 1.0}


# The whole


def furnished(vault: Vault) -> None:
    from mdmem.vault import usage

    write(vault, OLD, day("- 10:00 Milk #temp\n- 11:00 User likes green tea\n- 11:01 User likes green tea\n"))
    vault.commit()
    usage.note(vault.place, ["daily/2026-11-10#11:00"])


def test_a_second_night_changes_nothing(vault: Vault, clock: Clock) -> None:
    furnished(vault)
    report = nightly.run(again(vault))
    assert report.is_complete and [each.state for each in report.outcomes][:2] == ["done", "done"]
    before, head = fingerprint(vault), git(vault, "rev-parse", "HEAD")
    report = nightly.run(again(vault))
    assert {each.state for each in report.outcomes} == {"nothing"}
    assert fingerprint(vault) == before and git(vault, "rev-parse", "HEAD") == head


def test_a_dry_run_tells_everything_and_changes_nothing(vault: Vault, clock: Clock) -> None:
    furnished(vault)
    vault.parts.journal.append()  # what stands there is not touched either
    before = fingerprint(vault)
    report = nightly.run(again(vault), dry_run=True)
    states = {each.step: each.state for each in report.outcomes}
    assert (states["expire"], states["duplicates"], states["usage"]) == ("planned", "planned", "planned")
    assert report.outcomes[0].items[0].text == "Milk #temp" and fingerprint(vault) == before
    assert not (vault.place.state / "runs").exists()


def test_files_of_every_kind_stay_as_they_are_where_there_is_nothing_to_do(vault: Vault, clock: Clock) -> None:
    write(vault, OLD, b"# 2026-11-10\r\n\r\n- 10:00 One\r\n\r\n- 10:01 Two  \r\n")
    write(vault, "memory/archives/a.md", b"---\r\nexpires:\r\n---\r\nText\r\n\r\n")
    write(vault, "memory/archives/b.md", b"\xff\xfee\x00x\x00p\x00i\x00r\x00e\x00s\x00")
    vault.commit()
    before, head = fingerprint(vault), git(vault, "rev-parse", "HEAD")
    assert nightly.run(again(vault)).is_complete
    assert fingerprint(vault) == before and git(vault, "rev-parse", "HEAD") == head


def test_a_step_fails_alone(vault: Vault, clock: Clock) -> None:
    furnished(vault)
    lock = vault.root / ".git" / "index.lock"
    place = vault.place.state / "locks" / "indexes.lock"
    nightly.run(again(vault), steps=["verify"])
    holder = python(
        "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True);"
        "time.sleep(60)",
        place,
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        report = nightly.run(again(vault))
    finally:
        holder.kill()
        holder.communicate()
    states = {each.step: each.state for each in report.outcomes}
    assert states["verify"] == "failed" and not report.is_complete and not lock.exists()
    assert (states["expire"], states["duplicates"], states["usage"]) == ("done", "done", "done")
    assert next(each for each in report.outcomes if each.step == "verify").problem


def test_a_merge_that_is_not_over_stops_what_would_change_files(vault: Vault, clock: Clock) -> None:
    furnished(vault)
    (vault.root / ".git" / "MERGE_HEAD").write_text(git(vault, "rev-parse", "HEAD") + "\n")
    report = nightly.run(again(vault), steps=QUIET)
    assert [each.state for each in report.outcomes] == ["failed"] * 3 and "Milk" in log(vault, OLD)
    (vault.root / ".git" / "MERGE_HEAD").unlink()
    assert nightly.run(again(vault), steps=QUIET).is_complete and "Milk" not in log(vault, OLD)


def test_each_step_can_be_taken_back(vault: Vault, clock: Clock) -> None:
    furnished(vault)
    report = nightly.run(again(vault), steps=QUIET)
    commits = [commit for each in report.outcomes for commit in each.commits]
    assert len(commits) == 3 and ops(vault)[:3] == ["nightly"] * 3
    for commit in commits:
        again(vault).undo(commit)
    assert "Milk" in log(vault, OLD) and log(vault, OLD).count("green tea") == 2
    assert not (vault.root / ".mdmem/usage.tsv").exists()


def test_only_one_keeps_house_and_a_checkpoint_is_waited_for(vault: Vault, clock: Clock) -> None:
    furnished(vault)
    code = (
        "import sys, time; from mdmem import Vault; v = Vault.open(sys.argv[1], command=sys.argv[2])\n"
        "with v.parts.upkeep_lock.hold(0): print('held', flush=True); sys.stdin.readline()"
    )
    other = python(code, vault.root, "nightly", stdin=-1)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    with pytest.raises(Busy, match="nightly"):
        nightly.run(again(vault), steps=["expire"])
    other.communicate("\n")
    other = python(code, vault.root, "checkpoint", stdin=-1)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    threading.Timer(0.5, lambda: other.communicate("\n")).start()
    assert nightly.run(again(vault), steps=["expire"]).is_complete
    other.wait()


def test_an_unknown_step_is_named(vault: Vault) -> None:
    with pytest.raises(BadInput, match="there is no step tidy"):
        nightly.run(vault, steps=["expire", "tidy"])


KILLED = """
import os, signal, sys
from mdmem import Vault, config, fsio, nightly
from mdmem.fsio import calls
from datetime import datetime
moment = datetime.fromisoformat("2026-11-29T14:30:05+01:00")
config.now = lambda settings: config.local(settings, moment)
left = int(sys.argv[3])
def counted(call):
    def wrapped(*words, **options):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*words, **options)
    return wrapped
for name in ("write", "pwrite", "truncate", "fsync", "fdatasync", "rename", "rename_how", "link", "unlink", "mkdir"):
    setattr(calls, name, counted(getattr(calls, name)))
print(nightly.run(Vault.open(sys.argv[1]), steps=[sys.argv[2]]).is_complete)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", QUIET)
def test_killed_anywhere_the_next_night_finishes_it(vault: Vault, clock: Clock, name: str) -> None:
    furnished(vault)
    other = "memory/archives/offer.md"
    write(vault, other, "---\nexpires: 2026-11-01\n---\nText\n")
    vault.commit()
    start = git(vault, "rev-parse", "HEAD")
    wanted = ""
    for calls in range(0, 400, 5):
        done = python(KILLED, vault.root, name, calls)
        _, err = done.communicate()
        assert done.returncode in (0, -signal.SIGKILL), err
        assert step(vault, name).is_well
        assert step(vault, name).state == "nothing"
        assert status(vault) == ""
        made = git(vault, "rev-parse", f"{start}..HEAD").count("\n")
        state = log(vault, OLD) + str((vault.root / other).exists())
        wanted = wanted or state
        assert state == wanted and made <= 2, git(vault, "log", "--oneline")
        if done.returncode == 0:
            break
        git(vault, "reset", "-q", "--hard", start)
        for path in (vault.place.state / "journal").rglob("*"):
            if path.is_file():
                path.unlink()
    else:
        pytest.fail("it never came to its end")


# Git


def test_loose_objects_are_packed_and_none_is_lost(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.store.repo import repacking

    for number in range(8):
        vault.add(f"note {number}")
    orphan = git(vault, "hash-object", "-w", "--stdin", data=b"what no branch has")
    assert step(vault, "git").state == "nothing"
    for loose, packs in ((20, 12), (20, 1)):
        monkeypatch.setattr(repacking, "LOOSE", loose)
        monkeypatch.setattr(repacking, "PACKS", packs)
        assert step(vault, "git", dry_run=True).state == "planned"
        outcome = step(vault, "git")
        assert outcome.state == "done" and "now 1 packs" in outcome.summary
        assert git(vault, "cat-file", "-p", orphan) == "what no branch has"
        assert git(vault, "fsck", "--strict", "--no-dangling") == ""
        vault.add("one more")


def test_a_repository_at_work_or_of_others_is_left_alone(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.store.repo import repacking

    monkeypatch.setattr(repacking, "LOOSE", 1)
    lock = vault.root / ".git" / "refs" / "heads" / "x.lock"
    lock.touch()
    assert "git is at work" in step(vault, "git").summary and lock.exists()
    lock.unlink()
    write(vault, "program.py", "print()\n")
    git(vault, "add", "program.py")
    git(vault, "commit", "-qm", "Code")
    assert "other things" in step(vault, "git").summary
    monkeypatch.setenv("MDMEM_NIGHTLY_GIT", "always")
    assert step(vault, "git").state == "done"
    monkeypatch.setenv("MDMEM_NIGHTLY_GIT", "never")
    assert "never" in step(vault, "git").summary


# Indexes


def test_indexes_are_verified_in_full_on_sundays_and_after_a_week(vault: Vault, clock: Clock) -> None:
    said = []
    for moment in ("2026-11-30", "2026-12-01", "2026-12-06", "2026-12-06", "2026-12-07", "2026-12-15"):
        clock.set(f"{moment}T03:00:00+01:00")
        said.append("in full" in step(vault, "verify").summary)
    assert said == [True, False, True, False, False, True]


def test_a_damaged_index_is_healed(vault: Vault) -> None:
    vault.add("Green tea")
    vault.search("tea")
    (catalog,) = vault.place.state.glob("index/*/catalog.sqlite")
    catalog.write_bytes(b"garbage")
    assert step(vault, "verify", dry_run=True).state == "planned"
    outcome = step(vault, "verify")
    assert outcome.state == "done" and "1 healed" in outcome.summary
    assert [hit.text for hit in again(vault).search("tea")] == ["Green tea"]


# What may come between


def test_a_file_that_is_changed_while_somebody_thinks_is_left_for_the_next_night(vault: Vault, clock: Clock) -> None:
    many(vault, 12, 5)

    def agree(name: str, count: int, total: int) -> bool:
        write(vault, OLD, log(vault, OLD) + "- 23:00 Typed meanwhile\n")
        return True

    [outcome] = nightly.run(again(vault), steps=["expire"], agree=agree).outcomes
    assert outcome.state == "nothing" and "changed meanwhile" in outcome.notices[0]
    assert log(vault, OLD).count("#temp") == 5 and "Typed meanwhile" in log(vault, OLD)
    assert step(vault, "expire", yes=True).state == "done" and "Typed meanwhile" in log(vault, OLD)


def test_a_fact_that_cannot_be_written_fails_its_own_step(vault: Vault, clock: Clock) -> None:
    furnished(vault)
    (vault.root / ".mdmem" / "usage.tsv").mkdir(parents=True)
    report = nightly.run(again(vault), steps=QUIET)
    assert [each.state for each in report.outcomes] == ["done", "done", "failed"] and report.outcomes[2].problem
    (vault.root / ".mdmem" / "usage.tsv").rmdir()
    assert step(vault, "usage").state == "done"


def test_interrupted_what_was_finished_stays(vault: Vault, clock: Clock) -> None:
    furnished(vault)

    def told(outcome: Outcome) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nightly.run(again(vault), steps=QUIET, told=told)
    assert "Milk" not in log(vault, OLD) and log(vault, OLD).count("green tea") == 2 and status(vault) == ""
    assert nightly.run(again(vault), steps=QUIET).is_complete and log(vault, OLD).count("green tea") == 1


def test_a_log_of_which_everything_goes_keeps_its_heading(vault: Vault, clock: Clock) -> None:
    write(vault, OLD, day("- 10:00 Milk #temp\n"))
    assert step(vault, "expire").state == "done" and log(vault, OLD) == "# 2026-11-10\n\n"
    vault.add("Oats")
    assert "Oats" in log(vault)


def test_a_log_of_a_closed_year_waits_for_what_is_still_to_expire(vault: Vault, clock: Clock) -> None:
    late, other = "memory/daily/2026-12-28.md", "memory/daily/2026-12-30.md"
    write(vault, late, day("- 10:00 Milk #temp\n", "2026-12-28"))
    write(vault, other, day("- 10:00 Oats\n", "2026-12-30"))
    vault.commit()
    clock.set("2027-01-01T03:00:00+01:00")
    assert nightly.run(again(vault), steps=["expire", "pack"]).outcomes[1].state == "done"
    assert (vault.root / late).exists() and not (vault.root / other).exists()
    clock.set("2027-01-05T03:00:00+01:00")
    [expired, packed] = nightly.run(again(vault), steps=["expire", "pack"]).outcomes
    assert gone(expired) == ["daily/2026-12-28#10:00"] and packed.state == "done" and not (vault.root / late).exists()


# What a person decides about


@pytest.mark.large
@pytest.mark.usefixtures("minilm", "clock")
@pytest.mark.parametrize("choice", ["accept", "reject", "edited"])
def test_entries_that_are_alike_wait_for_a_person(vault: Vault, choice: str) -> None:
    vault.add("The backup job runs every night on the old laptop")
    vault.add("Every night the backup job runs on the old laptop")
    again(vault).reindex()
    [pair] = nightly.run(again(vault), steps=["duplicates"]).similar
    [waiting] = again(vault).pending()
    assert (waiting.claim.replaces, waiting.claim.text) == pair.texts and "nearly the same" in waiting.reason
    if choice == "accept":
        again(vault).accept(waiting.id)
        assert body(vault, "memory/daily/2026-11-29.md").count("- 14:30") == 1 and ops(vault)[0] == "rm"
    elif choice == "reject":
        again(vault).reject(waiting.id)
        assert body(vault, "memory/daily/2026-11-29.md").count("- 14:30") == 2
        nightly.run(again(vault), steps=["duplicates"])
    else:
        again(vault).edit("daily/2026-11-29#14:30", "The backup job is gone.")
    assert again(vault).pending() == []


# MEMORY.md


def folded(vault: Vault, text: str, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """Have the program write a MEMORY.md, and fold it nine days later."""
    parts = again(vault).parts
    made = parts.rewriting.rewrite(lambda read: Planned({HOME: text.encode()}, "Checkpoint\n"), op="checkpoint")
    assert made is not None
    git(vault, "commit", "-q", "--amend", "-m", "Checkpoint", "-m", "Mdmem-Op: checkpoint")
    monkeypatch.setattr(config, "now", lambda settings: config.local(settings, datetime.now() + timedelta(days=9)))
    return step(vault, "fold")


def test_what_is_done_or_said_twice_leaves_memory(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "- [x] Send the script. <!-- mdmem: from=daily/2026-11-03#10:45@27f3c2 -->",
        "- [ ] Send the flowers. <!-- mdmem: from=daily/2026-11-03#10:46@27f3c3 -->",
        "- ~~Meets on Tuesdays.~~ <!-- mdmem: from=daily/2026-11-03#10:47@27f3c4 -->",
        "- Likes tea. <!-- mdmem: from=daily/2026-11-03#10:48@27f3c5 -->",
        "- LIKES  tea <!-- mdmem: from=daily/2026-11-04#10:48@27f3c6 -->",
    ]
    outcome = folded(vault, "# Memory\n\n" + "\n".join(lines) + "\n", monkeypatch)
    assert outcome.state == "done" and len(outcome.items) == 3 and len(outcome.commits) == 1
    left = [claims.read(line) for line in log(vault, HOME).splitlines() if line.startswith("- ")]
    assert [said.text for said in left if said] == ["Send the flowers.", "Likes tea."]
    assert left[1] is not None and left[1].confirmations == 2 and len(left[1].sources) == 2
    archive = log(vault, f"memory/archives/memory/{vault.place.now().year}.md")
    assert lines[0] in archive and lines[2] in archive
    assert step(vault, "fold").state == "nothing" and status(vault) == ""
    again(vault).undo()
    assert log(vault, HOME) == "# Memory\n\n" + "\n".join(lines) + "\n"


def test_lines_of_a_person_are_not_folded(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# Memory\n\n- [x] Send the script.\n- ~~Meets on Tuesdays.~~\n- Likes tea.\n- LIKES  tea\n"
    assert folded(vault, text, monkeypatch).state == "nothing" and log(vault, HOME) == text


ONE = "- The lease ends in August 2027 <!-- mdmem: from=daily/2026-11-03#10:45@27f3c2 -->"
TWO = (
    "- The lease runs until the end of August 2027 "
    "<!-- mdmem: from=daily/2026-11-03#10:45@27f3c2,daily/2026-11-04#09:00@27f3c3 confirmations=2 -->"
)


@pytest.mark.parametrize("choice", ["accept", "reject", "edited"])
def test_lines_of_one_entry_that_say_nearly_the_same_wait_for_a_person(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    text = f"# Memory\n\n{ONE}\n{TWO}\n"
    outcome = folded(vault, text, monkeypatch)
    assert outcome.state == "nothing" and log(vault, HOME) == text
    [pair], [waiting] = outcome.similar, again(vault).pending()
    assert (waiting.claim.replaces, waiting.claim.text) == pair.texts and "nearly the same" in waiting.reason
    assert (pair.addresses, waiting.noted) == (("MEMORY", "MEMORY"), "2026-11-03")
    if choice == "accept":
        again(vault).accept(waiting.id)
        both = TWO.replace("runs until the end of", "ends in")
        assert log(vault, HOME) == f"# Memory\n\n{both}\n" and ops(vault)[0] == "review"
        again(vault).undo()
        assert log(vault, HOME) == text
        return
    if choice == "reject":
        again(vault).reject(waiting.id)
    else:
        write(vault, HOME, text.replace("lease runs", "contract runs"))
    assert again(vault).pending() == []
    assert step(vault, "fold").similar == () and again(vault).pending() == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ONE, TWO.replace("10:45@27f3c2", "10:46@27f3c4")),
        (ONE, TWO.replace("August", "May")),
        (ONE, TWO.replace("lease runs until the end of August 2027", "landlady of the lease is called Vega")),
        (ONE, ONE.replace("ends", "does not end")),
        (ONE, ONE.partition(" <!--")[0].replace("ends", "ends at last")),
        (ONE.replace("- ", "- [ ] "), TWO),
    ],
)
def test_lines_that_say_two_things_are_not_proposed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, one: str, other: str
) -> None:
    assert folded(vault, f"# Memory\n\n{one}\n{other}\n", monkeypatch).similar == ()


def test_a_line_that_a_person_has_edited_is_not_taken_out(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    folded(vault, f"# Memory\n\n{ONE}\n{TWO}\n", monkeypatch)
    text = f"# Memory\n\n{ONE}\n{TWO.partition(' <!--')[0]}\n"
    write(vault, HOME, text)
    [waiting] = again(vault).pending()
    with pytest.raises(Refused):
        again(vault).accept(waiting.id)
    assert log(vault, HOME) == text
