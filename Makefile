# Python 3.11 or later and make are all that a bare clone needs; everything else goes into .venv, once.

SHELL := /bin/sh
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help

# The first interpreter of these that is new enough; name another one with `make PYTHON=/path/to/python …`.
CANDIDATES := python3 python3.13 python3.12 python3.11 python3.14 python
NEW_ENOUGH := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(shell for p in $(CANDIDATES); do "$$p" -c '$(NEW_ENOUGH)' 2>/dev/null && echo "$$p" && break; done) python3)

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

TASK ?= Summarise the files of this folder into SUMMARY.md
WORKSPACE ?= examples/notes

.PHONY: help run test check format clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: export TASK := $(TASK)
run: export WORKSPACE := $(WORKSPACE)
run: $(READY) ## Run an agent on examples/notes (TASK="…" WORKSPACE=dir ARGS="…" change what it does)
	@yes=; \
	if ! [ -t 0 ] || ! [ -t 1 ]; then \
		echo "No terminal: nobody can be asked, so --yes approves what policy asks (safety rules still hold)."; \
		yes=--yes; \
	fi; \
	exec $(BIN)/perdure run "$$TASK" --workspace "$$WORKSPACE" $$yes $(ARGS)

test: $(READY) ## Run every test (ARGS="tests/brain -x" goes to pytest)
	@$(BIN)/python -m pytest $(ARGS)

check: $(READY) ## Check format, lint, walls and types
	@failed=; \
	check() { echo "$$1"; shift; "$$@" || failed=yes; }; \
	check "Format (ruff format --check)" $(BIN)/ruff format --check .; \
	check "Lint (ruff check)" $(BIN)/ruff check .; \
	check "Walls (lint-imports)" $(BIN)/lint-imports --no-logo; \
	check "Types (mypy --strict)" $(BIN)/mypy --strict perdure tests; \
	[ -z "$$failed" ]

format: $(READY) ## Format the code and mend what ruff can mend
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

clean: ## Remove the environment, caches and builds
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find perdure tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null || { \
		echo "Perdure needs Python 3.11 or later with its venv module; $(PYTHON) is" \
			"$$("$(PYTHON)" -V 2>&1 || true). Install one, or name it: make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@"$(BIN)/python" -c pass 2>/dev/null || { \
		echo "Making $(VENV) with $$("$(PYTHON)" -V)"; "$(PYTHON)" -m venv --clear $(VENV); }
	@echo "Installing perdure and its development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
