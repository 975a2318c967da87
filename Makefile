PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo checkup test bench lint clean

demo: $(READY)
	$(BIN)/python -m memorepair.demo

checkup: $(READY)
	$(BIN)/python -m memorepair.demo.checkup

test: $(READY)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

bench: $(READY)
	$(BIN)/python -m bench.nave

lint: $(READY)
	$(BIN)/ruff check src tests bench notebooks
	$(BIN)/ruff format --check src tests bench notebooks
	$(BIN)/mypy src tests bench
	$(BIN)/basedpyright src tests bench
	$(BIN)/lint-imports

# The environment is made once and reused; it is made anew when pyproject.toml changes.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[solvers,dev]"
	touch $@

clean:
	rm -rf $(VENV) dist build out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
