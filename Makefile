# Two targets are all that most people need: `make demo` and `make test`.
.PHONY: demo test test-browser install lint types check validate release clean

VENV := .venv
GRADER := $(VENV)/bin/grader

demo: install
	$(GRADER) demo

test: install lint types check validate

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

lint: install
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: install
	$(VENV)/bin/mypy

check: install
	$(VENV)/bin/python -m pytest $(PYTEST)

test-browser: install
	$(VENV)/bin/python -m pytest -m browser

validate: install
	$(GRADER) validate

release: install
	$(GRADER) release

clean:
	rm -rf $(VENV) demo build *.egg-info
