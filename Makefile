PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo test check bench docs clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml packages/thresher-evals/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[web,dev]' --editable packages/thresher-evals
	touch $@

demo: install
	$(BIN)/thresher demo

test: install
	$(BIN)/python -m pytest

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install
	$(BIN)/python benchmarks/all.py

docs: install
	$(BIN)/python tools/write_docs.py

clean:
	rm -rf $(VENV) .thresher .mypy_cache .ruff_cache .pytest_cache
