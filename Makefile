# Two commands do all the set-up on a machine that has Python 3.11 and make:
#   make demo   learn a graph from the example data, with pictures in demo-output/
#   make test   everything that CI checks, but for
#   make docs         the documentation as pages, in build/docs/
#   make test-bench   the libraries that kgmi is compared with, for real
#   make coverage     make test, and which lines it ran
#   make test-random  the property tests with cases drawn anew on every run (not in CI)
#   make test-browser  the report and the web page in a real Chromium
#   make test-cluster  counting and learning on Dask, with real worker processes
#   make test-readme  the commands of the README in full, as pip install . installs kgmi
#   make test-gpu     counting and training with PyTorch, on the CPU
#   make test-lab     the attention laboratory: its tests, and the quick form of all its experiments
# The first interpreter on the path that is new enough; PYTHON=… chooses another.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin

.PHONY: coverage demo docs test test-random test-browser test-bench test-cluster test-gpu test-lab test-readme lint unit clean

# The stamps make a second call free: pip runs again only when pyproject.toml changes.
.venv/installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "kgmi needs Python 3.11 or newer; say where it is: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: .venv/installed
	$(BIN)/kgmi learn --example paper --out demo-output --pictures

test: lint unit

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: .venv/installed-dev
	$(BIN)/python -m pytest -n 2

# Which lines the tests run; it takes a third longer than make test.
coverage: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

# The property tests with cases that are drawn anew on every run; make test draws the same ones every time.
test-random: .venv/installed-dev
	KGMI_TEST_RANDOM=1 $(BIN)/python -m pytest -n 2 -m 'hypothesis and not peers and not torch and not cluster'

# What the README tells users to run: a fresh environment and a copy of this folder are made for it.
test-readme: .venv/installed-dev
	$(BIN)/python -m pytest -m readme tests/test_readme.py

# The libraries that kgmi is compared with, in an environment of their own: they are many and large.
.venv-bench/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]' 'pytest>=8.2' 'hypothesis>=6.100'
	@touch $@

test-bench: .venv-bench/installed
	.venv-bench/bin/python -m pytest -m peers tests/test_bench_libraries.py tests/test_bench_networks_libraries.py \
		tests/test_bench_order.py tests/test_bench_stream.py tests/test_learning_networks.py \
		tests/test_interchange_libraries.py tests/test_outputs.py tests/test_readme.py

# Dask in an environment of its own, so that make test shows that nothing else needs it.
.venv-cluster/installed: pyproject.toml
	$(PYTHON) -m venv .venv-cluster
	.venv-cluster/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,cluster]'
	@touch $@

test-cluster: .venv-cluster/installed
	.venv-cluster/bin/python -m pytest -m cluster tests/cluster tests/counts tests/golden

# What needs PyTorch in an environment of its own: its CPU build, as CI has no GPU.
.venv-gpu/installed: pyproject.toml
	$(PYTHON) -m venv .venv-gpu
	.venv-gpu/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[gpu]' 'torch==2.13.0' \
		'pytest>=8.2' 'hypothesis>=6.100'
	@touch $@

test-gpu: .venv-gpu/installed
	.venv-gpu/bin/python -m pytest -m torch tests/test_attention.py tests/test_device.py tests/test_device_counts.py \
		tests/counts tests/golden

# The laboratory in the same environment: it needs PyTorch and nothing else.
test-lab: .venv-gpu/installed
	.venv-gpu/bin/python -m pytest -m lab tests/lab

# The pages in the system's Chromium: KGMI_CHROMIUM says where it is, else it is looked for.
.venv-browser/installed: pyproject.toml
	$(PYTHON) -m venv .venv-browser
	.venv-browser/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,browser]'
	@touch $@

test-browser: .venv-browser/installed
	.venv-browser/bin/python -m pytest -m browser tests/browser

# The documentation, with warnings as errors; nothing is fetched, and the pages work from the file system.
.venv-docs/installed: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: .venv-docs/installed
	.venv-docs/bin/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs build/docs
	@echo "open build/docs/index.html"

clean:
	rm -rf docs/_copied .venv-docs .venv-browser .venv .venv-bench .venv-cluster .venv-gpu demo-output paper-output build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
