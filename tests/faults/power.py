"""Power loss, modelled: what was not synced may be gone, torn or zeros, and a name may not be there.

Every call that changes the disk is recorded while mdmem works. A crash state is a prefix of that record in which each
write that no sync followed is kept, dropped, cut at a sector or all zeros, and each change of a name whose folder was
not synced is kept or dropped; names that one rename changes go together. What git wrote, which syncs for itself, is
there as soon as that git had ended, and not before. Indexes are left out: they are made anew. The state is built as
real files, and mdmem works on it.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import acts
from outcome import Outcome, budget, chance, in_memory, seed, spread

from mdmem import Vault, fsio
from mdmem.model import NewEntry
from mdmem.store.repo.command import Git, Result

SECTOR = 512
PARTS = 8
"""In how many parts the steps of a scenario are tried side by side."""

GONE = ("index", "vectors.sqlite", "vectors.sqlite-wal", "vectors.sqlite-shm")
"""What lies in STATE and is not modelled: it can be deleted at any time."""


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes written, or with None a file cut to `offset`."""

    inode: int
    offset: int
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Names:
    """Names that change together: (folder, name, what it now leads to).

    Durable when one of their folders is synced, for a rename is one transaction of every file system with a journal.
    """

    entries: tuple[tuple[int, str, int | None], ...]

    @property
    def folders(self) -> set[int]:
        return {folder for folder, _, _ in self.entries}


@dataclass(frozen=True, slots=True)
class Sync:
    inode: int


@dataclass(frozen=True, slots=True)
class Saved:
    """Somebody else saved the whole file, durably."""

    inode: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """git ended, and this is what its folder then holds."""

    files: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Said:
    """An operation told its caller that it was done."""

    number: int


Step = Data | Names | Sync | Saved | Ended | Said
Node = bytes | dict[str, int]


@dataclass
class Tape:
    """What stood there first, by inode, and what happened then."""

    root: Path
    start: int
    nodes: dict[int, Node] = field(default_factory=dict)
    repository: dict[str, bytes] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


@contextmanager
def recorded(root: Path) -> Iterator[Tape]:
    """Record what the block changes below a vault; no other process may."""
    tape = Tape(root, os.stat(root).st_ino)
    _survey(root, tape.nodes)
    tape.repository = _repository(root, {})
    wrapped = {name: WRAP[name](tape, getattr(fsio.calls, name)) for name in WRAP}
    with mock.patch.multiple(fsio.calls, **wrapped), mock.patch.object(Git, "run", _run(tape, Git.run)):
        _tapes.append(tape)
        try:
            yield tape
        finally:
            _tapes.pop()


def _survey(folder: Path, nodes: dict[int, Node]) -> int:
    inode, names = os.stat(folder).st_ino, {}
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            names[entry.name] = _survey(Path(entry.path), nodes)
        else:
            names[entry.name] = entry.inode()
            nodes[entry.inode()] = Path(entry.path).read_bytes()
    nodes[inode] = names
    return inode


def _repository(root: Path, known: dict[str, bytes]) -> dict[str, bytes]:
    """Read git's own files; objects never change, so those that are known are not read again."""
    found = {}
    for above, folders, names in os.walk(root / ".git"):
        if "mdmem" in folders and above == str(root / ".git"):
            folders.remove("mdmem")
        inner = os.path.relpath(above, root)
        found[f"{inner}/"] = b""
        for name in names:
            path = f"{inner}/{name}"
            is_object = path.startswith(".git/objects/") and path in known
            found[path] = known[path] if is_object else (root / path).read_bytes()
    return found


def _inode(name: Any, folder: int | None) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
    except FileNotFoundError:
        return None


def _here(folder: int | None) -> int:
    assert folder is not None, "every name that changes is reached from an open folder"
    return os.fstat(folder).st_ino


def _open(tape: Tape, real: Callable[..., int]) -> Callable[..., int]:
    def call(name: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        was = _inode(name, dir_fd) if flags & os.O_CREAT else 0
        fd = real(name, flags, mode, dir_fd=dir_fd)
        if was is None:
            tape.nodes[os.fstat(fd).st_ino] = b""
            tape.steps.append(Names(((_here(dir_fd), name, os.fstat(fd).st_ino),)))
        return fd

    return call


def _write(tape: Tape, real: Callable[..., int]) -> Callable[..., int]:
    def call(fd: int, data: bytes) -> int:
        count = real(fd, data)
        end = os.lseek(fd, 0, os.SEEK_CUR)
        tape.steps.append(Data(os.fstat(fd).st_ino, end - count, bytes(data[:count])))
        return count

    return call


def _pwrite(tape: Tape, real: Callable[..., int]) -> Callable[..., int]:
    def call(fd: int, data: bytes, offset: int) -> int:
        count = real(fd, data, offset)
        tape.steps.append(Data(os.fstat(fd).st_ino, offset, bytes(data[:count])))
        return count

    return call


def _truncate(tape: Tape, real: Callable[..., None]) -> Callable[..., None]:
    def call(fd: int, size: int) -> None:
        real(fd, size)
        tape.steps.append(Data(os.fstat(fd).st_ino, size, None))

    return call


def _sync(tape: Tape, real: Callable[..., None]) -> Callable[..., None]:
    def call(fd: int) -> None:
        real(fd)
        tape.steps.append(Sync(os.fstat(fd).st_ino))

    return call


def _mkdir(tape: Tape, real: Callable[..., None]) -> Callable[..., None]:
    def call(name: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        real(name, mode, dir_fd=dir_fd)
        made = _inode(name, dir_fd)
        assert made is not None
        tape.nodes[made] = {}
        tape.steps.append(Names(((_here(dir_fd), name, made),)))

    return call


def _unlink(tape: Tape, real: Callable[..., None]) -> Callable[..., None]:
    def call(name: Any, *, dir_fd: int | None = None) -> None:
        real(name, dir_fd=dir_fd)
        tape.steps.append(Names(((_here(dir_fd), name, None),)))

    return call


def _link(tape: Tape, real: Callable[..., None]) -> Callable[..., None]:
    def call(name: Any, to: Any, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        real(name, to, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        target = _here(dst_dir_fd)
        tape.steps.append(Names(((target, to, _inode(to, dst_dir_fd)),)))

    return call


def _rename(tape: Tape, real: Callable[..., None]) -> Callable[..., None]:
    def call(name: Any, to: Any, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        real(name, to, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        source, target = _here(src_dir_fd), _here(dst_dir_fd)
        tape.steps.append(Names(((source, name, None), (target, to, _inode(to, dst_dir_fd)))))

    return call


def _rename_how(tape: Tape, real: Callable[..., None]) -> Callable[..., None]:
    def call(flags: int, source: int, name: str, target: int, to: str) -> None:
        real(flags, source, name, target, to)
        here, there = _here(source), _here(target)
        tape.steps.append(Names(((here, name, _inode(name, source)), (there, to, _inode(to, target)))))

    return call


WRAP: dict[str, Callable[[Tape, Any], Any]] = {
    "open": _open,
    "write": _write,
    "pwrite": _pwrite,
    "truncate": _truncate,
    "fsync": _sync,
    "fdatasync": _sync,
    "mkdir": _mkdir,
    "unlink": _unlink,
    "link": _link,
    "rename": _rename,
    "rename_how": _rename_how,
}


def _run(tape: Tape, real: Callable[..., Result]) -> Callable[..., Result]:
    known = tape.repository

    def call(self: Git, *words: str, **options: Any) -> Result:
        nonlocal known
        done = real(self, *words, **options)
        now = _repository(tape.root, known)
        if now != known:
            known = now
            tape.steps.append(Ended(now))
        return done

    return call


# Crash states


@dataclass(frozen=True, slots=True)
class State:
    """The files after a crash: path → bytes, a folder's with `/` at its end; and how many operations had said done."""

    files: dict[str, bytes]
    done: int

    @property
    def digest(self) -> bytes:
        sums = hashlib.sha256(str(self.done).encode())
        for path, data in sorted(self.files.items()):
            sums.update(b"%s\0%d\0%s" % (os.fsencode(path), len(data), data))
        return sums.digest()


def crash(tape: Tape, numbers: random.Random, until: int) -> State:
    """Let the power fail after so many steps, and choose what becomes of all that was not durable."""
    durable: set[int] = set()
    fates: dict[int, str] = {}
    mood = numbers.random()
    for number in range(until - 1, -1, -1):
        step = tape.steps[number]
        if isinstance(step, Sync):
            durable.add(step.inode)
        elif isinstance(step, Data | Names):
            safe = not durable.isdisjoint({step.inode} if isinstance(step, Data) else step.folders)
            fates[number] = "keep" if safe else _fate(step, numbers, mood)
    return _state(tape, until, fates, numbers)


def _fate(step: Data | Names, numbers: random.Random, mood: float) -> str:
    if mood < 0.15:
        return "drop"
    if mood < 0.25:
        return "keep"
    if isinstance(step, Names) or step.content is None:
        return numbers.choice(("keep", "drop"))
    return numbers.choice(("keep", "drop", "cut", "zero"))


def _state(tape: Tape, until: int, fates: dict[int, str], numbers: random.Random) -> State:
    contents = {inode: bytearray(node) for inode, node in tape.nodes.items() if isinstance(node, bytes)}
    folders = {inode: dict(node) for inode, node in tape.nodes.items() if isinstance(node, dict)}
    repository, done = tape.repository, 0
    for number, step in enumerate(tape.steps[:until]):
        if isinstance(step, Ended):
            repository = step.files
        elif isinstance(step, Saved):
            contents[step.inode][:] = step.content
        elif isinstance(step, Said):
            done = step.number
        elif isinstance(step, Names) and fates[number] == "keep":
            for folder, name, inode in step.entries:
                if inode is None:
                    folders[folder].pop(name, None)
                else:
                    folders[folder][name] = inode
        elif isinstance(step, Data) and fates[number] != "drop":
            _change(contents[step.inode], step, fates[number], numbers)
    files = dict(repository)
    _gather(tape.start, "", contents, folders, files)
    return State(files, done)


def _change(content: bytearray, step: Data, fate: str, numbers: random.Random) -> None:
    if step.content is None:
        del content[step.offset :]
        return
    data = bytes(len(step.content)) if fate == "zero" else step.content
    if fate == "cut":
        first = step.offset // SECTOR + 1
        last = (step.offset + len(data)) // SECTOR
        data = data[: numbers.randint(first, last) * SECTOR - step.offset] if first <= last else b""
    if data:
        content.extend(bytes(max(0, step.offset - len(content))))
        content[step.offset : step.offset + len(data)] = data


def _gather(
    inode: int, path: str, contents: dict[int, bytearray], folders: dict[int, dict[str, int]], found: dict[str, bytes]
) -> None:
    for name, inner in folders[inode].items():
        inside = f"{path}{name}"
        if path == ".git/" and name != "mdmem":
            continue
        if path.startswith(".git/mdmem/") and path.count("/") == 3 and name in GONE:
            continue
        if inner in folders:
            found[f"{inside}/"] = b""
            _gather(inner, f"{inside}/", contents, folders, found)
        else:
            found[inside] = bytes(contents[inner])


def build(state: State, root: Path) -> Path:
    """Make the files of a crash state, and nothing else."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for path in sorted(path for path in state.files if path.endswith("/")):
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, data in state.files.items():
        if not path.endswith("/"):
            fd = os.open(root / path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(fd, data)
            os.close(fd)
    return root


# What mdmem does, and what must be there afterwards

Ops = Sequence[Callable[[Vault], object]]


def _save(path: str, data: bytes) -> Callable[[Vault], object]:
    """Save a file in one durable step, as a person does long before the power fails."""

    def act(vault: Vault) -> None:
        (vault.root / path).write_bytes(data)
        _tapes[-1].steps.append(Saved(os.stat(vault.root / path).st_ino, data))

    return act


_tapes: list[Tape] = []
"""What is being recorded, the innermost last."""


def _another(text: str) -> Callable[[Vault], object]:
    return lambda vault: vault.add(text)


SCENARIOS: dict[str, Ops] = {
    "adding": (_another("first"), _another("second"), _another("third " * 300), _another("fourth")),
    "a new day": (lambda vault: vault.add("a", at=acts.NOW.replace(day=28)), _another("b")),
    "batches": (
        lambda vault: vault.add_batch(NewEntry(f"batch {number}") for number in range(5)),
        lambda vault: vault.add_batch(NewEntry(f"large {number} " * 90) for number in range(3)),
    ),
    "changing": (
        _another("first"),
        lambda vault: vault.edit(acts.FIRST, "changed"),
        lambda vault: vault.set_field("a", "title", "x"),
        lambda vault: vault.remove("a"),
    ),
    "undoing": (lambda vault: vault.undo(), _another("first"), lambda vault: vault.undo()),
    "editing by hand": (
        _save("memory/a.md", b"by hand\n"),
        lambda vault: vault.commit(),
        _another("first"),
        lambda vault: vault.remove("b"),
    ),
}


@dataclass(frozen=True, slots=True)
class Performed:
    """What was done, what it did to the disk, and what the vault held before, between and after."""

    name: str
    tape: Tape
    held: Sequence[dict[str, bytes]]


def perform(name: str, folder: Path) -> Performed:
    """Do the operations of a scenario one after the other, in an empty folder."""
    root = acts.lived(folder / "lived")
    held = [acts.memory(root)]
    with acts.standing_clock(), recorded(root) as tape:
        for number, op in enumerate(SCENARIOS[name], 1):
            op(Vault.open(root))
            tape.steps.append(Said(number))
            held.append(acts.memory(root))
    return Performed(name, tape, held)


def _judge(root: Path, state: State, held: Sequence[dict[str, bytes]], by_hand: bool) -> list[str]:
    acts.recover(root)
    now = acts.memory(root)
    if now not in held[state.done : state.done + 2] and not _is_on_the_way(now, held[state.done : state.done + 2]):
        wanted = held[state.done]
        names = [name for name in now.keys() | wanted.keys() if now.get(name) != wanted.get(name)]
        return [f"after {state.done} operations {[(name, (now.get(name) or b'gone')[-300:]) for name in names]}"]
    acts.recover(root)
    return acts.unrest(root, by_hand=by_hand)


def started_anew(name: str) -> AbstractContextManager[object]:
    """Let the machine have been switched on again since."""
    return mock.patch.object(fsio, "boot", lambda: name)


def _is_on_the_way(now: dict[str, bytes], held: Sequence[dict[str, bytes]]) -> bool:
    """Tell whether some entries of a batch are there that was not acknowledged yet: its records were torn apart."""
    if len(held) < 2 or now.keys() - held[1].keys():
        return False
    before, after = held
    for path in after:
        lines, rest = now.get(path, b"").splitlines(), iter(after[path].splitlines())
        if not now.get(path, b"").startswith(before.get(path, b"")) or not all(line in rest for line in lines):
            return False
    return True


def states(
    scenario: Performed,
    folder: Path,
    numbers: random.Random,
    *,
    tries: int,
    until: float = math.inf,
    part: slice = slice(None),
) -> Outcome:
    """Try crash states of one scenario, each of them another; one in eight fails again while mdmem recovers.

    `part` says after which steps the power may fail.
    """
    name, tape = scenario.name, scenario.tape
    seen: set[bytes] = set()
    failures: list[str] = []
    drawn = 0
    while len(seen) < tries and drawn < 20 * tries and time.monotonic() < until:
        drawn += 1
        state = crash(tape, numbers, numbers.choice(range(len(tape.steps) + 1)[part]))
        again = drawn % 8 == 0
        if not again and state.digest in seen:
            continue
        root = build(state, folder / "crashed")
        if again:
            with acts.standing_clock(), started_anew("second"), recorded(root) as second:
                Vault.open(root).today()
            state = State(crash(second, numbers, numbers.randint(0, len(second.steps))).files, state.done)
            if state.digest in seen:
                continue
            build(state, root)
        seen.add(state.digest)
        with started_anew("third"):
            problems = _judge(root, state, scenario.held, "by hand" in name)
        for problem in problems:
            failures.append(f"{name}, state {drawn} of seed {seed()}: {problem}")
    return Outcome(len(seen), failures)


def _full(folder: Path) -> Outcome:
    """≥ 5,000 different crash states."""
    until = time.monotonic() + budget(420)
    with in_memory(folder) as place:
        scenarios = {name: perform(name, place / name) for name in SCENARIOS}
    lots = [(name, part) for part in range(PARTS) for name in SCENARIOS]

    def attempt(lot: tuple[str, int]) -> Outcome:
        name, part = lot
        with in_memory(folder) as place:
            numbers = chance("power", name, part)
            return states(scenarios[name], place, numbers, tries=105, until=until, part=slice(part, None, PARTS))

    return spread(lots, attempt, seconds=420)


FULL = {"power loss": _full}

ALONE = tuple(FULL)
