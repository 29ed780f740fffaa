"""The machine around a vault: disks, file systems, versions, the model, settings, and what may leave the machine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mdmem import config
from mdmem.config import TABLE, show
from mdmem.doctor.subject import Subject
from mdmem.model import Diagnosis, Severity
from mdmem.text import scripts
from mdmem.text.passages import passages
from mdmem.vault import models
from mdmem.vault.meaning import Meaning

PYTHON, SQLITE, GIT = (3, 11), (3, 40), (2, 30)
"""The oldest versions that are tested, or that later parts need."""

FULL, NEARLY = 100 << 20, 1 << 30
"""Bytes of free space below which writing soon fails, and below which it is worth a word."""

NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "vboxsf", "vmhgfs", "davfs"}
"""File systems on other machines: locks and syncs may mean less there than they say."""

SYNCHRONISED = re.compile(
    r"(?i)(dropbox.*|onedrive.*|google ?drive|my drive|icloud ?drive.*|com~apple~clouddocs|nextcloud|owncloud|pcloud)\Z"
)
SENDING = re.compile(r"download|base_url|endpoint|provider|remote|webhook|command|notify")
"""Settings by which something could be fetched or sent."""


def versions(subject: Subject) -> Iterator[Diagnosis]:
    """Name programs that are older than what is tested."""
    import sqlite3

    if sys.version_info[:2] < PYTHON:
        yield _old("Python", sys.version_info[:2], PYTHON, "error")
    if (found := _numbers(sqlite3.sqlite_version)) < SQLITE:
        yield _old("SQLite", found, SQLITE, "warning")
    said = os.fsdecode(subject.place.repo.git.run("--version").out)
    if (found := _numbers(said)) < GIT:
        yield _old("git", found, GIT, "warning")


def _numbers(text: str) -> tuple[int, ...]:
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _old(name: str, found: tuple[int, ...], wanted: tuple[int, ...], severity: Severity) -> Diagnosis:
    is_, least = ".".join(map(str, found)), ".".join(map(str, wanted))
    return Diagnosis("version", ".", None, f"{name} is {is_}; at least {least} is tested", f"update {name}", severity)


def free_space(subject: Subject) -> Iterator[Diagnosis]:
    """Name disks that are full, or nearly."""
    seen = set()
    for path in (subject.place.root, subject.place.state, subject.place.repo.git_dir):
        there = next(each for each in (path, *path.parents) if each.exists())
        device, disk = there.stat().st_dev, os.statvfs(there)
        if device in seen:
            continue
        seen.add(device)
        free = disk.f_bavail * disk.f_frsize
        if free < NEARLY:
            severity: Severity = "error" if free < FULL else "warning"
            yield Diagnosis("disk", str(path), None, f"{free >> 20:,} MB are free", "make room", severity)
        if disk.f_files and disk.f_favail < 1_000:
            yield Diagnosis("disk", str(path), None, f"{disk.f_favail} files more fit on the disk", "make room")


def file_systems(subject: Subject) -> Iterator[Diagnosis]:
    """Name places where locks or durability may not hold: other machines' disks, and folders that are synchronised."""
    for what, path in (("the vault", subject.place.root), ("its state", subject.place.state)):
        kind, options = _mount(path)
        if kind in NETWORK or kind.startswith("fuse."):
            message = f"{what} lies on {kind}: locks between machines and power cuts are not covered there"
            yield Diagnosis("file-system", str(path), None, message, "write from one machine only", "warning")
        if "nolock" in options or "nobrl" in options:
            yield Diagnosis(
                "file-system", str(path), None, f"{what} lies where locks do nothing", "mount it with locks"
            )
        if "ro" in options:
            yield Diagnosis("read-only", str(path), None, f"{what} is mounted read-only", "mount it to be written")
    root = subject.place.root
    by = next((part for part in root.parts if SYNCHRONISED.match(part)), "")
    by = by or next(("Syncthing" for each in (root, *root.parents) if (each / ".stfolder").exists()), "")
    if by:
        message = f"the vault is synchronised by {by}, its .git with it: two machines at once can damage the history"
        hint = "synchronise by git push and pull instead, or leave .git out"
        yield Diagnosis("file-system", str(root), None, message, hint, "warning")


def _mount(path: Path) -> tuple[str, frozenset[str]]:
    """Give the kind and the options of the file system that a path lies on, as the kernel lists them."""
    best = ("", "", frozenset[str]())
    try:
        listed = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").split("\n")
    except OSError:
        return "", frozenset()
    for line in listed:
        before, _, after = line.partition(" - ")
        words, rest = before.split(" "), after.split(" ")
        if len(words) < 6 or len(rest) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), words[4])
        if path.is_relative_to(point) and len(point) >= len(best[0]):
            best = point, rest[0], frozenset((*words[5].split(","), *rest[2].split(",")))
    return best[1], best[2]


def settings_in_force(subject: Subject) -> Iterator[Diagnosis]:
    """Name settings that were ignored, and why."""
    for one in subject.place.settings.findings:
        yield Diagnosis("settings", one.path, one.line, one.message, one.hint, "warning")


def what_may_leave(subject: Subject) -> Iterator[Diagnosis]:
    """Name settings by which something may be fetched or sent; without any, nothing leaves the machine."""
    settings = subject.place.settings
    for setting in TABLE:
        value = settings.value(setting.name)
        if SENDING.search(setting.name) and value and value != setting.default:
            message = f"{setting.name} = {show(value)} lets mdmem reach a network"
            hint = f"set by the {settings.origin(setting.name)}; `mdmem config set` changes it"
            yield Diagnosis("network", ".", None, message, hint, "note")


def model_of_meaning(subject: Subject) -> Iterator[Diagnosis]:
    """Tell why searches by meaning do not work, and which passages the model cannot read."""
    meaning = Meaning(subject.place, [])
    if not meaning.model:
        yield Diagnosis("model", ".", None, "no model is set: searches go by words alone", severity="note")
        return
    card = meaning.card()
    now = models.state(meaning.model, card, config.cache_dir())
    if now != "ready" or card is None:
        message = f"the model {meaning.model} is {now}: searches go by words alone"
        yield Diagnosis("model", ".", None, message, models.fix(meaning.model, now), "warning")
        return
    where, count, total = None, 0, 0
    for note in subject.notes:
        for unit in note.reading.units:
            for passage in passages(unit):
                total += bool(passage.saying)
                if passage.saying and not scripts.readable(passage.saying, card.scripts):
                    where = where or (note.path, unit.line)
                    count += 1
    if where:
        message = f"{count:,} of {total:,} passages are in scripts that {card.name} cannot read; the first is here"
        hint = "words find them all the same; `mdmem model list` shows models that read more"
        yield Diagnosis("model", *where, message, hint, "note")


CHECKS = (versions, free_space, file_systems, settings_in_force, what_may_leave, model_of_meaning)
