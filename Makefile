# Needs Python 3.11 or newer with pip, and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP = $(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python
INSTALL = $(PIP) install --quiet --no-deps --no-warn-script-location --root-user-action ignore

# A stamp's name carries a checksum of what was installed: other contents, another stamp.
LOCKED := $(VENV)/locked-$(shell $(PYTHON) -VV | cat - requirements.lock | cksum | cut -d' ' -f1)
READY := $(VENV)/ready-$(shell cat requirements.lock pyproject.toml setup.py | cksum | cut -d' ' -f1)

.DEFAULT_GOAL := demo
.PHONY: demo test lint format types layers notebooks check installed-layout lock clean

demo: $(READY)
	$(BIN)/prefixplace demo

test: $(READY)
	$(BIN)/pytest --cov --cov-report=term

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Types and layers are checked on the installed layout, where the rooms are part of the package.
types: installed-layout
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p prefixplace_opt

layers: installed-layout
	cd build/types && ../../$(BIN)/lint-imports --no-cache ../../pyproject.toml

notebooks: $(READY)
	$(BIN)/python notebooks/execute.py

check: lint types layers test notebooks

installed-layout: $(READY)
	rm -rf build/lib build/bdist.* build/types
	$(INSTALL) --no-build-isolation --target build/types .

# Everything is pinned in the lock, so pip resolves nothing (--no-deps).
$(LOCKED): requirements.lock
	@$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info < (3, 15) or sys.exit( \
	    "prefixplace-opt needs Python 3.11 to 3.14, and this is " + sys.version.split()[0] \
	    + ": name another with make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear --without-pip $(VENV)
	$(INSTALL) --require-hashes -r requirements.lock
	@touch $@

$(READY): $(LOCKED)
	$(INSTALL) --no-build-isolation --editable .
	@touch $@

# Pins the newest releases that pyproject.toml allows; run it with the oldest supported Python.
lock:
	$(PYTHON) -m venv --clear build/lock-venv
	build/lock-venv/bin/python -m pip install --quiet pip-tools
	build/lock-venv/bin/python -m piptools compile --quiet --upgrade \
	    --extra scip --extra cluster --extra zstd --extra dev \
	    --generate-hashes --allow-unsafe --strip-extras --no-header \
	    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	    --output-file requirements.lock pyproject.toml

clean:
	rm -rf build dist .venv .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache *.egg-info
	find . -name '*.nb[ic]' -delete
