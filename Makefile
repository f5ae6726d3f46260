# Everything a developer runs. `make` alone lists it.

PYTHON ?= python3
# Which tests `make test` and `make check` run: an expression over pytest's markers; empty runs all.
MARKERS ?= not slow and not long
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check docs format-check lint types format bench clean

help:  ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

demo: $(READY)  ## Show all of Deadheat on a built-in corpus
	$(BIN)/deadheat demo

test: $(READY)  ## Run the tests, the pages and the examples in docstrings
	$(BIN)/pytest -n auto -q -m "$(MARKERS)"

check: format-check lint types docs test  ## Format, lint, types, site and tests: all that must hold

docs: $(READY)  ## Build the site into site/
	@$(BIN)/python -m docs.assets.gallery
	@$(BIN)/zensical build --clean --strict

format-check: $(READY)
	$(BIN)/ruff format --check --quiet --diff .

lint: $(READY)
	$(BIN)/ruff check --quiet .

types: $(READY)
	$(BIN)/mypy

format: $(READY)  ## Rewrite the code in the common format
	$(BIN)/ruff check --quiet --select I --fix .
	$(BIN)/ruff format --quiet .

bench: $(READY)  ## Compare with other programs, side by side
	@set -e; for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python -m "benchmarks.$$(basename "$$file" .py)"; done

clean:  ## Remove the environment and everything that was made
	rm -rf .venv build dist out deadheat-demo site .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The pins go in as a variable and not as an option, so that they hold in build environments too.
$(READY): pyproject.toml constraints.txt src/deadheat/version.py
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null || \
	  { echo "Deadheat needs Python 3.11, 3.12 or 3.13, and '$(PYTHON)' is not; try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "'$(PYTHON)' has no venv module; install it (Debian, Ubuntu: the package python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@echo "compiling (once, about half a minute)"; $(BIN)/python -m deadheat.kernels
	@touch $@
