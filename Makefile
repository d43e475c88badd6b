# On a machine with python3 (>= 3.11) and make: `make demo` and `make test` set everything up.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-slow docs tutorials wheels claims scrutiny vectors conformance check bench
.PHONY: experiments clean fuzz

# what is compiled once is kept, for workers and for the commands that tests start
unexport PYTHONDONTWRITEBYTECODE

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

setup: .venv/tools

# what the library needs
.venv/library: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	touch $@

# what its tests and linters need as well
.venv/tools: .venv/library
	$(PIP) --editable '.[test,check]'
	touch $@

# what the site is built with
.venv/site: .venv/library
	$(PIP) --editable '.[docs]'
	touch $@

# the site in docs/_build; every warning is an error
docs: .venv/site
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs auto docs docs/_build

# links and accessibility of the site; the tutorials done literally, in an empty environment
tutorials: docs setup
	$(BIN)/python -m tests.docs.check_site docs/_build
	$(BIN)/python -m tests.docs.follow

# the same with every Python that is there, an environment for each page
wheels: setup
	for version in 3.11 3.12 3.13; do \
	  $(BIN)/python -m tests.docs.follow --fresh --python python$$version || exit 1; done

demo: .venv/library
	$(BIN)/exactdp compare --k 51914 --epsilon 0.35 --delta 1e-5

test: setup
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# what takes minutes, and ten times as many examples of what is drawn at random
test-slow: setup
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m 'slow or hypothesis' --hypothesis-profile thorough

# malformed calls and files: one line each, the right exit code, nothing left behind; resumable
# (--first), and a failure says how it is repeated
fuzz: setup
	$(BIN)/python -m tests.cli.fuzz 100000 --keep-going

# every entry of the ledger is run and its evidence recorded; then the pages are written
claims: setup
	$(BIN)/python -m exactdp.proofs_check.record
	$(BIN)/python -m exactdp.proofs_check.markdown

# checks that never come near their bound, mutants that die for another reason; and checks that
# accept wrong values of a helper
scrutiny: setup
	$(BIN)/python -m exactdp.proofs_check.scrutiny
	-$(BIN)/python -m exactdp.proofs_check.scrutiny --corrupt

# the conformance vectors, made anew by scripts that share no code with the calculators
vectors: setup
	$(BIN)/python -m tools.generate

# docs/conformance.md: every vector put to every library that is installed (about four minutes)
conformance: setup
	$(PIP) --editable '.[peers]'
	$(PIP) --no-deps ldp-toolbox  # its clients; what it depends on is for a dashboard
	$(PIP) --no-deps opacus  # its accountants, which need no PyTorch
	$(BIN)/python -m tools.conformance.matrix docs/conformance.md
	$(BIN)/ruff format --quiet docs/conformance.md

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(PIP) --editable '.[bench]'
	$(BIN)/python -m benchmarks.gshm
	$(BIN)/python -m benchmarks.discrete
	$(BIN)/python -m benchmarks.samplers
	$(BIN)/python -m benchmarks.binary_field
	$(BIN)/python -m benchmarks.histograms
	$(BIN)/python -m benchmarks.releases
	$(BIN)/python -m benchmarks.frames
	$(BIN)/python -m benchmarks.audit
	$(BIN)/python -m benchmarks.broken
	$(BIN)/python -m benchmarks.sparse_vectors
	$(BIN)/python -m benchmarks.reach
	$(BIN)/python -m benchmarks.local
	$(BIN)/python -m benchmarks.sketches

# the local papers' figures; some hours, less with --runs
experiments: setup
	$(PIP) --editable '.[experiments]'
	$(BIN)/python -m experiments.compressive_privatization
	$(BIN)/python -m experiments.compressive_beyond
	$(BIN)/python -m experiments.sparse_vectors

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
