"""The doctor: each problem is named by place and fix, nothing is changed, and a broken vault is looked at as well."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from vault_sandbox import git, write

from mdmem import Vault, doctor
from mdmem.doctor import links, machine
from mdmem.model import Diagnosis

Named = tuple[str, str, int | None]


def named(vault: Vault) -> set[Named]:
    return {(one.kind, one.path, one.line) for one in examined(vault)}


def examined(vault: Vault) -> tuple[Diagnosis, ...]:
    return doctor.examine(Vault.open(vault.root).place)


def tree(folder: Path) -> dict[str, str]:
    """Give every name below a folder with what stands there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = f"{stat.st_mode:o} {stat.st_mtime_ns} {hashlib.sha256(data).hexdigest()}"
    return found


def test_a_new_vault_has_nothing_but_notes(vault: Vault) -> None:
    assert {one.severity for one in examined(vault)} <= {"note"}


def conflict(vault: Vault) -> Named:
    write(vault, "memory/a.md", "fine\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    return "conflict", "memory/a.md", 3


def front(vault: Vault) -> Named:
    write(vault, "memory/a.md", "---\ntitle: part one: start\n---\ntext\n")
    return "front-matter", "memory/a.md", 2


def utf16(vault: Vault) -> Named:
    write(vault, "memory/a.md", "wide".encode("utf-16"))
    return "encoding", "memory/a.md", 1


def invalid(vault: Vault) -> Named:
    write(vault, "memory/a.md", b"one\ntwo \xe9\n")
    return "encoding", "memory/a.md", 2


def nul(vault: Vault) -> Named:
    write(vault, "memory/a.md", b"one\0\n")
    return "encoding", "memory/a.md", 1


def torn(vault: Vault) -> Named:
    write(vault, "memory/daily/2026-11-28.md", "# d\n\n- 09:00 half a li")
    return "torn", "memory/daily/2026-11-28.md", 3


def zeros(vault: Vault) -> Named:
    write(vault, "memory/a.md", b"text\n" + bytes(10))
    return "torn", "memory/a.md", 2


def secret(vault: Vault) -> Named:
    write(vault, "memory/a.md", "fine\nfine\npassword=hunter2hunter2\n")
    return "secret", "memory/a.md", 3


def doubled(vault: Vault) -> Named:
    for name in "ab":
        write(vault, f"memory/{name}.md", "---\nid: same\n---\ntext\n")
    return "duplicate-id", "memory/b.md", 1


def case(vault: Vault) -> Named:
    write(vault, "memory/README.md", "x")
    write(vault, "memory/readme.md", "y")
    return "twin", "memory/readme.md", None


def form(vault: Vault) -> Named:
    write(vault, "memory/re\u0301sume\u0301.md", "x")
    write(vault, "memory/r\u00e9sum\u00e9.md", "y")
    return "twin", "memory/r\u00e9sum\u00e9.md", None


def device(vault: Vault) -> Named:
    write(vault, "memory/CON.md", "x")
    return "name", "memory/CON.md", None


def link(vault: Vault) -> Named:
    (vault.root / "memory/l.md").symlink_to("MEMORY.md")
    return "passed-over", "memory/l.md", None


def nested(vault: Vault) -> Named:
    subprocess.run(["git", "init", "-q", str(vault.root / "memory/other")], check=True)
    return "passed-over", "memory/other", None


def synchronised(vault: Vault) -> Named:
    write(vault, "memory/a.sync-conflict-20261129-101112-ABCDEFG.md", "x")
    return "copy", "memory/a.sync-conflict-20261129-101112-ABCDEFG.md", None


def original(vault: Vault) -> Named:
    write(vault, "memory/a.md.orig", "x")
    return "copy", "memory/a.md.orig", None


def second_name(vault: Vault) -> Named:
    os.link(write(vault, "memory/a.md", "x"), vault.root / "other")
    return "hard-link", "memory/a.md", None


def dangling(vault: Vault) -> Named:
    write(vault, "memory/a.md", "see [[b]]\n\nand [[nowhere|text]], not `[[code]]`\n")
    write(vault, "memory/b.md", "x")
    return "dangling-link", "memory/a.md", 3


def ignored(vault: Vault) -> Named:
    write(vault, ".gitignore", "secret*\n")
    write(vault, "memory/secrets.md", "x")
    return "ignored", "memory/secrets.md", None


def filtered(vault: Vault) -> Named:
    with (vault.root / ".gitattributes").open("a") as file:
        file.write("memory/a.md filter=crypt\n")
    write(vault, "memory/a.md", "x")
    return "filtered", "memory/a.md", None


def locked(vault: Vault) -> Named:
    path = write(vault, ".git/index.lock", "")
    os.utime(path, (1, 1))
    return "git-lock", str(path), None


def detached(vault: Vault) -> Named:
    git(vault, "checkout", "-q", "--detach")
    return "git-busy", str(vault.root / ".git/HEAD"), None


def merging(vault: Vault) -> Named:
    write(vault, ".git/MERGE_HEAD", git(vault, "rev-parse", "HEAD"))
    return "git-busy", str(vault.root / ".git"), None


def object_gone(vault: Vault) -> Named:
    blob = git(vault, "rev-parse", "HEAD:memory/MEMORY.md")
    path = vault.root / ".git/objects" / blob[:2] / blob[2:]
    path.unlink()
    return "git-object", "memory/MEMORY.md", None


def open_state(vault: Vault) -> Named:
    vault.place.state.chmod(0o755)
    return "permissions", str(vault.place.state), None


def damaged_journal(vault: Vault) -> Named:
    path = vault.place.state / "journal/damaged.log"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\nhalf a record\n")
    return "journal", str(path), None


def flipped_journal(vault: Vault) -> Named:
    vault.add("one")
    (path,) = (vault.place.state / "journal").glob("*.log")
    data = bytearray(path.read_bytes())
    data[len(data) // 4] ^= 1
    path.write_bytes(data)
    return "journal", str(path), None


def folder_as_log(vault: Vault) -> Named:
    (vault.root / "memory/daily/2026-11-29.md").mkdir(parents=True)
    return "no-file", "memory/daily/2026-11-29.md", None


def folder_as_memory(vault: Vault) -> Named:
    (vault.root / "memory/MEMORY.md").unlink()
    (vault.root / "memory/MEMORY.md").mkdir()
    return "no-file", "memory/MEMORY.md", None


def pipe_as_log(vault: Vault) -> Named:
    (vault.root / "memory/daily").mkdir()
    os.mkfifo(vault.root / "memory/daily/2026-11-29.md")
    return "passed-over", "memory/daily/2026-11-29.md", None


def link_as_log(vault: Vault) -> Named:
    (vault.root / "memory/daily").mkdir()
    (vault.root / "memory/daily/2026-11-29.md").symlink_to("/nowhere")
    return "passed-over", "memory/daily/2026-11-29.md", None


def link_beside_memory(vault: Vault) -> Named:
    (vault.root / "MEMORY.md").symlink_to("/nowhere")
    return "no-file", "MEMORY.md", None


def file_as_daily(vault: Vault) -> Named:
    write(vault, "memory/daily", "x")
    return "no-folder", "memory/daily", None


def file_as_folder(vault: Vault) -> Named:
    shutil.rmtree(vault.root / "memory")
    write(vault, "memory", "x")
    return "no-folder", "memory", None


def no_folder(vault: Vault) -> Named:
    shutil.rmtree(vault.root / "memory")
    return "no-folder", "memory", None


def settings(vault: Vault) -> Named:
    write(vault, "mdmem.toml", "# mine\n[search]\nk = 'many'\n")
    return "settings", "mdmem.toml", 3


def large(vault: Vault) -> Named:
    with (vault.root / "memory/a.md").open("wb") as file:
        file.truncate(40 << 20)
    return "large", "memory/a.md", None


PROBLEMS = (
    *(conflict, front, utf16, invalid, nul, torn, zeros, secret, doubled, case, form, device, link, nested),
    *(synchronised, original, second_name, dangling, ignored, filtered, locked, detached, merging, object_gone),
    *(open_state, damaged_journal, flipped_journal, settings, large, folder_as_log, folder_as_memory, pipe_as_log),
    *(link_as_log, link_beside_memory, file_as_daily, file_as_folder, no_folder),
)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda each: each.__name__)
def test_each_problem_is_named_with_its_place_and_a_fix(vault: Vault, problem: Callable[[Vault], Named]) -> None:
    wanted = problem(vault)
    found = [one for one in examined(vault) if (one.kind, one.path, one.line) == wanted]
    assert len(found) == 1 and found[0].message and found[0].hint, examined(vault)


def test_everything_at_once_is_found_and_nothing_is_changed(vault: Vault) -> None:
    vault.search("anything")
    wanted = {problem(vault) for problem in (torn, case, device, link, dangling, open_state, locked)}
    before = tree(vault.root)
    assert wanted <= named(vault)
    assert tree(vault.root) == before


def test_a_secret_is_not_shown(vault: Vault) -> None:
    secret(vault)
    assert not any("hunter2" in f"{one.message}{one.hint}" for one in examined(vault))


def test_a_broken_vault_is_looked_at_all_the_same(vault: Vault) -> None:
    place = Vault.open(vault.root).place
    for path in (vault.root / ".git/objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"garbage")
    wanted = front(vault)
    found = doctor.examine(place)
    assert wanted in {(one.kind, one.path, one.line) for one in found}
    assert any(one.room == "history" and one.severity != "note" for one in found)


TARGETS = ("b", "B", "b.md", "archives/plan", "plan", "My Plan", "the-plan", "Nickname", "2026-11-29", "picture.png")
INNER = ("plan#Part", "#Here", "daily/2026-11-29#14:30", "2026-11-29#14:30")


@pytest.mark.parametrize("target", [*TARGETS, *INNER])
def test_links_lead_where_obsidian_takes_them(vault: Vault, target: str) -> None:
    write(vault, "memory/a.md", f"[[{target}]]\n")
    write(vault, "memory/b.md", "x")
    write(vault, "memory/archives/plan.md", "---\nid: the-plan\ntitle: My Plan\naliases: [Nickname]\n---\n# Part\n")
    write(vault, "memory/daily/2026-11-29.md", "# d\n\n- 14:30 x\n")
    write(vault, "memory/archives/picture.png", "")
    assert [one for one in examined(vault) if one.kind == "dangling-link"] == []


@pytest.mark.parametrize("target", ["c", "archives/b", "2026-11-29#14:31", "other.png"])
def test_other_links_lead_nowhere(vault: Vault, target: str) -> None:
    write(vault, "memory/a.md", f"\n[[{target}]]\n")
    write(vault, "memory/b.md", "x")
    write(vault, "memory/daily/2026-11-29.md", "# d\n\n- 14:30 x\n")
    assert ("dangling-link", "memory/a.md", 2) in named(vault)


def test_old_versions_are_named(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version", "3.39.4")
    (one,) = [one for one in examined(vault) if one.kind == "version"]
    assert one.message == "SQLite is 3.39; at least 3.40 is tested"


def test_a_full_disk_and_a_network_file_system_are_named(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "NEARLY", 1 << 60)
    monkeypatch.setattr(machine, "_mount", lambda path: ("nfs4", frozenset({"rw", "nolock"})))
    kinds = [one.kind for one in examined(vault)]
    assert "disk" in kinds and kinds.count("file-system") == 4


def test_a_synchronised_folder_is_named(tmp_path: Path) -> None:
    vault, _ = Vault.init(tmp_path / "Dropbox" / "v")
    assert any("synchronised by Dropbox" in one.message for one in examined(vault))


def test_held_texts_are_counted(vault: Vault) -> None:
    from mdmem.model import Held

    texts = [Held(1, "a", "daily/2026-11-29#14:30", "x", "stale copy", None, "journal")]
    (one,) = [one for one in doctor.examine(vault.place, held=texts) if one.kind == "held"]
    assert one.message == "1 text is held: stale copy"


def test_a_check_that_fails_is_a_finding(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> bool:
        raise ValueError("no way")

    monkeypatch.setattr(links, "_targets", broken)
    write(vault, "memory/a.md", "[[b]]")
    (one,) = [one for one in examined(vault) if one.kind == "check"]
    assert one.message == "dangling links could not be looked at: no way" and one.room == "links"


def test_a_journal_that_is_badly_damaged_is_named_with_how_many_lines_are(vault: Vault) -> None:
    for text in ("one", "two", "three"):
        vault.add(text)
    (path,) = (vault.place.state / "journal").glob("*.log")
    data = bytearray(path.read_bytes())
    for at in range(10, len(data), 37):
        data[at] ^= 1
    path.write_bytes(data)
    (one,) = [one for one in examined(vault) if one.kind == "journal"]
    count = int(one.message.split()[0])
    assert count >= 3 and one.message == f"{count} lines of the journal cannot be read"
    assert "damaged.log" in one.hint and "mdmem recover" in one.hint and one.severity == "error"
