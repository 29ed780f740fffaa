#!/bin/sh
# The core without the large libraries: adding, showing, listing and keyword search need neither torch nor chromadb.
# Runs the tests that need no more, on each supported Python that is at hand.
set -eu
cd "$(dirname "$0")/.."
libraries='typer rich gitpython python-frontmatter whoosh3 watchdog zstandard pyyaml tomlkit'
tools='pytest pytest-xdist hypothesis markdown-it-py numpy' # numpy is for the tests alone
found=0 failed=
for version in 3.11 3.12 3.13; do
    python=
    for each in "python$version" "$HOME/.pyenv/versions/$version"*/bin/python; do
        if "$each" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" >/dev/null 2>&1; then
            python=$each
            break
        fi
    done
    if [ -z "$python" ]; then
        echo "Python $version is not at hand"
        continue
    fi
    echo "Python $version"
    venv=.venv/compat-$version
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
    run=$venv/bin/python
    # shellcheck disable=SC2086  # lists of words
    "$run" -m pip install -q --disable-pip-version-check -c constraints.txt $libraries $tools hatchling editables
    "$run" -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
    "$run" -c '
import importlib.util, sys
heavy = [name for name in ("torch", "sentence_transformers", "chromadb", "onnxruntime") if importlib.util.find_spec(name)]
sys.exit(f"not a small environment: {heavy}" if heavy else 0)'
    "$run" -m pytest -n 2 -m 'not large' -p no:cacheprovider "$@" || failed="$failed $version"
    found=$((found + 1))
done
[ -z "$failed" ] || echo "Failed on Python$failed" >&2
[ "$found" -gt 0 ] && [ -z "$failed" ]
