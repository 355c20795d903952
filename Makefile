# Every target sets up what it needs: a fresh machine wants only Python 3.11+, git and make.
#   .venv        what a user gets: the wheel with its dependencies (make demo)
#   .venv-test   the same wheel, and the tools that check it (make test, lint, typecheck, bench)
# Both are brought up to date when pyproject.toml, constraints.txt or a source file changes.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test pytest test-slow test-external test-browser lint typecheck format bench clean

# Keeps the checkout off sys.path, where `import domains` would find a second copy of the package.
export PYTHONSAFEPATH := 1

# Override with `make PYTHON=...`. Tried by running it: a name on PATH may be an empty shim.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$python" && break; done)
ARGS ?=

FOLDERS := core domains server agent eval
# Folders too, so that a deleted file is noticed.
SOURCES := $(shell find $(FOLDERS) -not -name __pycache__ -not -name '*.pyc' 2>/dev/null)

ifneq ($(wildcard ../shared/data/.),)
export LLM_MODULO_TEST_DATA ?= $(abspath ../shared/data)
endif

help:  ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

demo: .venv/.installed  ## a small complete experiment; options in ARGS, as in ARGS="--model NAME"
	@.venv/bin/llm-modulo demo $(ARGS)

test: lint typecheck pytest  ## lint, types, and the suite against the installed wheel

pytest: .venv-test/.installed  ## the suite alone; ARGS="tests/packaging -k wheel" chooses tests
	@.venv-test/bin/python -m pytest -m "not slow and not external and not browser" $(ARGS)

test-external: .venv-test/.engines

test-slow test-external test-browser: test-%: .venv-test/.installed  ## what make test leaves out
	@.venv-test/bin/python -m pytest -m $* $(ARGS)

lint: .venv-test/.tools  ## ruff: rules and formatting
	@.venv-test/bin/python -m ruff check .
	@.venv-test/bin/python -m ruff format --check .

format: .venv-test/.tools  ## ruff: mend what it can
	@.venv-test/bin/python -m ruff check --fix .
	@.venv-test/bin/python -m ruff format .

# mypy gets the checkout in the shape of the installed package, as a tree of symbolic links.
typecheck: .venv-test/.tools  ## mypy, strict
	@rm -rf .typecheck && mkdir -p .typecheck/llm_modulo
	@cd .typecheck/llm_modulo && ln -s ../../core/* $(addprefix ../../,$(filter-out core,$(FOLDERS))) .
	@.venv-test/bin/python -m mypy

bench: .venv-test/.installed  ## every benchmark in benchmarks/, one after another
	@for file in benchmarks/*.py; do \
		echo "== $$file" && .venv-test/bin/python "$$file" $(ARGS) || exit 1; done

clean:  ## remove everything that these targets made
	rm -rf .venv .venv-test .typecheck build dist *.egg-info \
		.mypy_cache .pytest_cache .ruff_cache .hypothesis

# $(call venv,FOLDER): makes the virtual environment, or keeps the one that works.
define venv
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer with the venv module was found." \
		"Install one (on Debian: python3 and python3-venv) or name it: make PYTHON=python3.12" >&2; \
		exit 1; }
	@$(1)/bin/python -c '' 2>/dev/null || { echo "Making $(1) with $(PYTHON)."; \
		$(PYTHON) -m venv --clear $(1); }
endef
pip_install = -m pip -qq --disable-pip-version-check install --constraint constraints.txt

.venv/.tools: pyproject.toml constraints.txt
	$(call venv,.venv)
	@.venv/bin/python $(pip_install) build setuptools
	@touch $@

# The remains of an earlier build would be packed again, so they go first.
dist/.built: .venv/.tools README.md LICENSE $(SOURCES)
	@rm -rf build dist *.egg-info
	@echo "Building the wheel." && mkdir -p build
	@.venv/bin/python -m build --wheel --no-isolation >build/log 2>&1 || { cat build/log; exit 1; }
	@rm -rf build *.egg-info && touch $@

.venv/.installed: dist/.built
	@echo "Installing llm-modulo into .venv (a few minutes the first time)."
	@.venv/bin/python -m pip uninstall -qq --yes llm-modulo
	@.venv/bin/python $(pip_install) dist/*.whl
	@touch $@

.venv-test/.tools: pyproject.toml constraints.txt scripts/requirements.py
	$(call venv,.venv-test)
	@echo "Installing libraries and tools into .venv-test (a few minutes the first time)."
	@.venv-test/bin/python scripts/requirements.py dev >.venv-test/requirements.txt
	@.venv-test/bin/python $(pip_install) --requirement .venv-test/requirements.txt
	@touch $@

.venv-test/.installed: .venv-test/.tools dist/.built
	@.venv-test/bin/python $(pip_install) --no-deps --force-reinstall dist/*.whl
	@.venv-test/bin/python -m pip check >/dev/null || .venv-test/bin/python -m pip check
	@touch $@

# Planning engines that are not ours to bring; they stay in .venv-test, where `planners` lists them.
.venv-test/.engines: .venv-test/.tools
	@echo "Installing further planning engines into .venv-test."
	@.venv-test/bin/python scripts/requirements.py engines >.venv-test/engines.txt
	@.venv-test/bin/python $(pip_install) --requirement .venv-test/engines.txt
	@touch $@
