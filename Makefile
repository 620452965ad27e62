# Everything a user or a contributor runs.  Needs Python 3.11 or newer and make, nothing else.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Bytecode is kept: without it every worker of the tests, and every command that they start, compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-quick test-slow check bench docs lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/'

# The lock file names every package, so nothing is resolved: a release made after it cannot come in through a dependency.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("privproof needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

demo: $(READY)  ## verdicts on the shipped examples
	@$(BIN)/python examples/demo.py

test: $(READY)  ## the test suite
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not long" $(REPORT)

test-long: $(READY)  ## the longer cases that it leaves out
	$(BIN)/python -m pytest -n auto --dist worksteal -m "long and not slow" $(REPORT)

test-quick: $(READY)  ## one test of each file of unit, cli and papers, in less than a minute
	$(BIN)/python -m pytest -n auto --dist worksteal --quick tests/unit tests/cli tests/papers tests/logic tests/release tests/audits

test-slow: $(READY)  ## every test, every case of every sweep, and every property on all its examples: hours
	PRIVPROOF_EXAMPLES=all $(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY)  ## style and types
	$(BIN)/ruff check src tests proofs benchmarks examples
	$(BIN)/ruff format --check src tests proofs benchmarks examples
	$(BIN)/mypy

# The tests nearest to the gate, to asking and to the checker, and the least that they must reach there, in percent of lines and
# branches.  Not among them: those that measure time ("quickly"), or try very many documents, because tracing slows both down.
NEAREST := $(addprefix tests/unit/test_,$(addsuffix .py,gate asking nothing_compared potentials pufferfish what_runs measures mixtures \
	promises settled_shifts composition selections exponential_choices integer_alignments ratio_cones every_length rounded_outputs \
	time_limits worst_way profiles stream_integrals integrals store deltas_of_epsilons smallest_delta enclosed_profiles \
	linear cells norms bounded_range certified_bounds products_of_scales noisy_records truncated_noise growing_shifts data_keys kept_lists \
	unmatched_draws reports)) \
	$(addprefix tests/conformance/test_,$(addsuffix .py,registers corners discrete_gaussian gaussian runs records proofs_from_text automata_from_text \
	tested_numbers draws)) \
	$(filter-out %_definitions.py,$(wildcard tests/unit/test_checker*.py)) $(wildcard tests/*/test_checker_*.py) \
	tests/conformance/test_checker_language.py tests/papers/test_dpctl.py tests/property/test_unbounded.py \
	tests/property/test_tensor_diagrams.py tests/logic/test_bounds_by_vectors.py tests/logic/test_endless_formulas.py tests/logic/test_rewards.py \
	tests/logic/test_paths_and_long_run.py

.PHONY: coverage
coverage: $(READY)  ## how much of the gate, of asking and of the checker is tested
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" -k "not quickly" --cov --cov-report= $(NEAREST)
	$(BIN)/coverage report --fail-under=97 --include='src/privproof/evidence/gate.py'
	$(BIN)/coverage report --fail-under=91 --include='src/privproof/asking.py'
	$(BIN)/coverage report --fail-under=92 --include='src/privproof_checker/*' --sort=cover

# Results and a page of curves are in bench/; BENCH=--before=FOLDER measures a checkout of another version in the same run.
bench: $(READY)  ## time and memory of every engine by size, beside baselines, in bench/; Gaussian noise, audits and releases beside peers
	mkdir -p bench
	$(BIN)/python benchmarks/growth.py --json bench/growth.json --html bench/growth.html $(BENCH)
	$(BIN)/python benchmarks/rechecking.py --quick --json bench/rechecking.json
	$(BIN)/python benchmarks/gaussian.py
	$(BIN)/python benchmarks/audits.py
	$(BIN)/python benchmarks/auditors.py
	$(BIN)/python benchmarks/release.py --parquet 20000000

.PHONY: bench-quick bench-details
bench-quick: $(READY)  ## the same for small sizes, in less than two minutes
	mkdir -p bench
	$(BIN)/python benchmarks/growth.py --quick --json bench/quick.json --html bench/quick.html $(BENCH)

bench-details: $(READY)  ## tables that look closer at some engines: half an hour
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/rechecking.py
	$(BIN)/python benchmarks/logic_storm.py
	$(BIN)/python benchmarks/laplace.py
	$(BIN)/python benchmarks/lengths.py
	$(BIN)/python benchmarks/runs.py
	$(BIN)/python benchmarks/release.py

.PHONY: proofs
proofs: $(READY)  ## rules of the checker in Coq, and what was extracted from them beside the checker; needs coq and OCaml's zarith
	mkdir -p proofs/build
	cd proofs && for file in Vectors Linear Dominate Nonneg Compare Extract; do coqc -Q . "" $$file.v || exit 1; done
	cp proofs/recheck.ml proofs/build
	cd proofs/build && ocamlfind ocamlopt -w -a -package zarith -linkpkg rules.mli rules.ml recheck.ml -o recheck
	$(BIN)/python proofs/corpus.py > proofs/build/corpus.txt
	proofs/build/recheck < proofs/build/corpus.txt

.PHONY: pictures
pictures: $(READY)  ## the pictures of the documentation, drawn anew
	for script in docs/pictures/ideas/draw_ideas.py docs/pictures/terminal/record.py docs/pictures/release/draw.py docs/pictures/audit/draw_audits.py; \
	    do $(BIN)/python $$script || exit 1; done
	for file in docs/pictures/streams/*.svg; \
	    do $(BIN)/privproof convert examples/models/streams/$$(basename $$file .svg).yaml $$file || exit 1; done

docs: $(READY)  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html"

lock: $(READY)  ## pin the versions anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --extra dev --output-file requirements.lock pyproject.toml

clean:  ## forget the environment
	rm -rf $(VENV) site
