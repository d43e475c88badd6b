# On a machine with python3 (>= 3.11) and make: `make demo` and `make test` set everything up.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo engines answers large test test-all test-slow docs links tutorials installation wheels statements claims scrutiny vectors
.PHONY: conformance check bench experiments clean fuzz peers-tests calculator site browser smoke npm lock papers rocq sdist

# what is compiled once is kept, for workers and for the commands that tests start
unexport PYTHONDONTWRITEBYTECODE

# uv installs in seconds what takes pip minutes
UV := $(BIN)/uv pip install --quiet --python

setup: .venv/tools

# what the library needs
.venv/library: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(UV) $(BIN)/python --editable .
	touch $@

# what its tests and linters need as well
.venv/tools: .venv/library proofs_check/pyproject.toml
	$(UV) $(BIN)/python --editable . --editable proofs_check --group test --group check
	touch $@

# a library installed by hand may have replaced others by versions that do not fit: they come back
.PHONY: versions
versions: setup
	$(UV) $(BIN)/python --group test --group check

# an environment with the group `docs` alone: what the group lacks shows here
.venv-docs/ready: .venv/library
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-docs
	$(UV) .venv-docs/bin/python --editable . --editable proofs_check --group docs
	touch $@

# the site in docs/_build; every warning is an error. All pages are written each time: Sphinx forgets
# the index words of the others, by which the search finds a page
docs: .venv-docs/ready
	.venv-docs/bin/sphinx-build --fail-on-warning --keep-going --quiet --write-all --jobs auto \
	  docs docs/_build

# links and accessibility of the site, whose pictures stay blank here
links: setup .venv-docs/ready
	.venv-docs/bin/sphinx-build --fail-on-warning --keep-going --quiet --jobs auto \
	  -D pictures=0 -D toc_object_entries=0 -d build/links/read docs build/links/site
	$(BIN)/python -m tests.docs.check_site build/links/site

# the calculator, one HTML file that works offline: needs Node and npm, fetches Pyodide from npm and
# python-flint's wheel for WebAssembly from PyPI
calculator: .venv/tools
	$(BIN)/python -m tools.calculator.build build/calculator.html

# one command for every claim of ARTIFACT.md that takes less than a minute
smoke: setup
	$(BIN)/python -m tools.smoke

# the conformance vectors as a package for npm, in build/npm
npm:
	rm -rf build/npm && mkdir -p build/npm/vectors
	cp vectors/npm/* LICENSE build/npm
	cp exactdp/oracle/vectors/*.json build/npm/vectors
	cd build/npm && npm pack --silent

# what requirements.lock pins: the library with its extras for releases and pictures, and exactdp-proofs
lock: setup
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --universal \
	  --no-emit-package exactdp --no-emit-package exactdp-proofs \
	  --extra frames --extra plots pyproject.toml proofs_check/pyproject.toml -o requirements.lock

# the note on the exact CSH and the errata as papers, in build/papers; needs xelatex (Debian:
# texlive-xetex, texlive-latex-recommended, fonts-dejavu)
papers: setup
	$(BIN)/python -m tools.papers build/papers
	cd build/papers && for paper in exact-csh errata; do \
	  xelatex -interaction=nonstopmode -halt-on-error $$paper.tex >$$paper.out || exit 1; done

# the site with the calculator, as it is published
site: calculator docs
	cp build/calculator.html docs/_build

# the calculator and six pages of the site in headless Chromium (Debian: chromium; elsewhere set
# CHROMIUM to its path): numbers against the command line, the keyboard, axe (some minutes)
browser: site
	mkdir -p build/browser
	cp tests/browser/* build/browser
	cd build/browser && npm install --silent --no-audit --no-fund
	cd build/browser && node calculator.mjs ../calculator.html "$(CURDIR)/$(BIN)/exactdp"
	cd build/browser && node pages.mjs "$(CURDIR)/docs/_build"

# the tutorials as notebooks: every cell must print what the page says
notebooks: setup
	$(BIN)/python -m tests.docs.notebooks

# links and accessibility of the site; the notebooks; README and the tutorials done literally, in an
# empty environment
tutorials: docs notebooks
	$(BIN)/python -m tests.docs.check_site docs/_build
	$(BIN)/python -m tests.docs.follow

# the wheel alone and with each extra that users install, each in an environment of its own
installation: setup
	$(BIN)/python -m tests.installation --versions newest base $(EXTRAS)

# the tests of the source distribution, run where nothing else is; TESTS: paths, by default all tests
sdist: setup
	$(BIN)/python -m tests.installation.sdist $(TESTS)

EXTRAS := local registry proofs scale frames engines plots testing

# the wheel with every extra alone, on every supported Python (one that is not installed is skipped,
# and the table says so), with the newest and the lowest versions of all libraries; then README and
# the tutorials, an environment for each page
wheels: setup
	$(BIN)/python -m tests.installation $(PYTHONS:%=--python %)
	$(BIN)/python -m tests.docs.follow --fresh $(PYTHONS:%=--python %)

PYTHONS ?= 3.11 3.12 3.13 3.14

# releases from frames of every kind against plain Python, with the lowest and the newest versions of
# all engines, Spark among them (it needs Java 17), and 500 random frames; the settings of the tests
# need a newer pytest than users do
engines: .venv-engines/lowest .venv-engines/newest
	for versions in lowest newest; do \
	  .venv-engines/$$versions/bin/python -m pytest -q -m 'slow or not slow' tests/frames || exit 1; done
	.venv-engines/newest/bin/python -m tests.frames.fuzz 500

# stated errors against 10 000 releases of every mechanism; and "auto" against every mechanism by its
# name, on 200 random questions (five minutes of the processor)
answers: setup
	$(BIN)/python -m tests.frames.errors
	$(BIN)/python -m pytest -q -m 'slow or not slow' tests/frames/test_least_error.py

# 10^8 rows from Parquet on Spark against SQL of DuckDB (an hour or so, 20 GB of disk)
large: .venv-engines/newest
	.venv-engines/newest/bin/python -m tests.frames.large $(ROWS)

.venv-engines/lowest: RESOLUTION := --resolution lowest-direct
.venv-engines/lowest .venv-engines/newest: .venv/tools
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $@
	$(BIN)/uv pip install --quiet --python $@/bin/python $(RESOLUTION) \
	  --editable '.[engines,spark,testing]' 'pytest>=9.0'

demo: .venv/library
	$(BIN)/exactdp calibrate sparse-histograms --sparsity 51914 --epsilon 0.35 --delta 1e-5

# audits fork the process that runs them, which costs more the larger it is: they come first, in
# processes that import nothing for other tests
test: versions
	$(BIN)/python -m pytest -q -n auto --dist worksteal $(FORKING)
	$(BIN)/python -m pytest -q -n auto --dist worksteal $(FORKING:%=--ignore %)

FORKING := tests/audit tests/oracle exactdp/audit exactdp/oracle

# the tests that need other libraries as well, in an environment of their own; they also need Java
# (Spark) and Node. TORCH: what installs PyTorch, by default a CPU build from PyTorch's own index,
# since a plain `torch` brings gigabytes of CUDA libraries on Linux
test-all: .venv-all/ready
	.venv-all/bin/python -m pytest -q -rs -n auto --dist worksteal -m 'not slow' $(PYTORCH:%=--ignore %)
	.venv-all/bin/python -m pytest -q -rs -m 'slow or not slow' $(PYTORCH)
	.venv-all/bin/python -m pytest -q -rs -m slow tests/frames -k spark

# in a process of its own: PyTorch registers finalizers of the whole interpreter, and an audit of a
# program that reads these finds sets of text, which it refuses
PYTORCH := tests/accounting/interop/test_adapters.py tests/accounting/interop/test_opacus_loop.py

TORCH ?= --torch-backend cpu torch
UV_ALL := $(UV) .venv-all/bin/python

.venv-all/ready: .venv/tools
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-all
	$(UV_ALL) $(TORCH)
	$(UV_ALL) --editable '.[peers,spark]' --editable proofs_check --group test opacus
	$(UV_ALL) --no-deps ldp-toolbox  # its clients; what it depends on is for a dashboard
	touch $@

# other libraries' own tests of accountants, cloned into a temporary folder, with exactdp's
# accountants; prints which fail and why (some minutes). SOURCES: other repositories, such as
# `--source opacus=FOLDER`
peers-tests: .venv-all/ready
	$(UV_ALL) jax hypothesis
	.venv-all/bin/python -m vectors.peers_tests $(SOURCES)

# what takes minutes, and twenty times as many examples of what is drawn at random, fresh ones each
# time
test-slow: setup
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m '(slow or hypothesis) and not peers' --hypothesis-profile thorough

# malformed calls and files: one line each, the right exit code, nothing left behind; resumable
# (--first), and a failure says how it is repeated; then damaged privacy statements, each put to both
# checkers
fuzz: setup
	$(BIN)/python -m tests.cli.fuzz 100000 --keep-going
	$(BIN)/python -m tests.checker.fuzz 100000

# a thousand privacy statements over all calculators, and a thousand that claim less than the truth:
# both checkers say valid of all of the former and of none of the latter (seven minutes)
statements: setup
	$(BIN)/python -m tests.statement.drawn 1000

# every entry of the ledger is run and its evidence recorded
claims: setup
	$(BIN)/python -m exactdp_proofs.record

# checks that never come near their bound, mutants that die for another reason; statements about
# privacy whose check passes with a mechanism 3 % weaker; and checks that accept wrong values of a
# helper
scrutiny: setup
	$(BIN)/python -m exactdp_proofs.scrutiny
	$(BIN)/python -m exactdp_proofs.weakness --slow
	-$(BIN)/python -m exactdp_proofs.scrutiny --corrupt

# the conformance vectors, made anew by scripts that share no code with the calculators
vectors: setup
	$(BIN)/python -m vectors.generate

# docs/conformance.md: every vector put to every library that is installed (about twenty minutes;
# with Python 3.13, the one Python that opake-accounting runs with)
conformance: setup
	$(UV) $(BIN)/python --editable '.[peers]'
	$(UV) $(BIN)/python --no-deps ldp-toolbox  # its clients; what it depends on is for a dashboard
	$(UV) $(BIN)/python --no-deps opacus  # its accountants, which need no PyTorch
	$(UV) $(BIN)/python --no-deps random-allocation  # it asks for an older numpy than it needs
	$(BIN)/python -m vectors.conformance.matrix docs/conformance.md
	$(BIN)/ruff format --quiet docs/conformance.md

check: versions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 . # files are opened with an encoding
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 0 -m slow -k mypy tests/types # what users write, and their mistakes
	$(BIN)/lint-imports

# what the figures of the pages rest on, and the audits of broken mechanisms
bench: setup
	$(UV) $(BIN)/python --editable . --group bench
	$(BIN)/python -m lab.benchmarks.samplers
	$(BIN)/python -m lab.benchmarks.frames
	$(BIN)/python -m lab.benchmarks.broken
	$(BIN)/python -m lab.benchmarks.sparse_vectors
	$(BIN)/python -m lab.benchmarks.local
	$(BIN)/python -m lab.benchmarks.sketches
	$(BIN)/python -m lab.benchmarks.pld
	$(BIN)/python -m lab.benchmarks.pld_batches

# the local papers' figures; some hours, less with --runs
experiments: setup
	$(UV) $(BIN)/python --editable '.[local,plots]' --editable proofs_check --group experiments
	$(BIN)/python -m lab.experiments.compressive_privatization
	$(BIN)/python -m lab.experiments.compressive_beyond
	$(BIN)/python -m lab.experiments.sparse_vectors
	$(BIN)/python -m lab.experiments.key_sets

# the theorems behind the checker's rules, and the program that is extracted from them; needs Rocq
# (Debian: coq, libcoq-coquelicot, libcoq-bignums, libzarith-ocaml-dev), and says what is missing
rocq:
	$(MAKE) --no-print-directory -C checker/rocq
	cd proofs_check/rocq && coqc -R ../../checker/rocq DP Papers.v

clean:
	$(MAKE) --no-print-directory -C checker/rocq clean
	rm -rf build .venv .venv-all .venv-docs .venv-engines .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
