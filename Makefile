# Most people need `make demo` and `make test`. CONTRIBUTING.md says what else there is.
.PHONY: demo test slow proof gpu pythons newest hub hub-installed labs-installed install packages lint types validate release records how-right lock site gallery screenshots clean

VENV := .venv
GRADER := $(VENV)/bin/grader
# More processes than cores: a test that waits for a sandbox, a browser or the disk leaves its core to others. With two for
# each core, everything takes longer again.
PROCESSES := $(shell expr $$(nproc) \* 3 / 2)
ON_ALL_CORES := -n $(PROCESSES) --dist loadscope --no-loadscope-reorder
PYTEST := $(VENV)/bin/python -m pytest -q $(ON_ALL_CORES)
QUIETLY := .ci/quietly
# Nothing is printed of what is as it should be.
define if_wrong
@told=$$($(1) 2>&1) || { echo "$$told"; exit 1; }
endef
# Compiled once, on all cores, and not in each of some hundred processes; pip itself compiles on one.
unexport PYTHONDONTWRITEBYTECODE

demo: install
	@$(GRADER) demo

# Lint, types and the plain tests, in three minutes; with TESTS=tests/pages, the plain tests of a room.
test: install lint types
	@$(PYTEST) -m "not slow and not browser and not proof" $(TESTS)

# What CI runs beside the plain tests.
slow: install
	@$(PYTEST) -m "$(or $(MARKS),(slow or browser) and not proof)"

# Everything, the large collections of student code among it: an hour and more.
proof: install lint types
	@$(PYTEST)

# On a machine with a GPU, which may have no network: its own Python has PyTorch, and wheels of the rest lie in $(WHEELS).
# docs/gpu.md says how to bring them.
GPU_PYTHON := python3
WHEELS := wheels
TESTS_OF_GPU := $(CURDIR)/benchmarks:$(CURDIR)/tests:$(CURDIR)/tests/judging:$(CURDIR)/tests/end_to_end
GPU_SITE := $(CURDIR)/build/gpu/site-packages
gpu:
	[ ! -d $(WHEELS) ] || $(GPU_PYTHON) -m pip install --quiet --no-index --no-deps --no-compile --upgrade \
		--target $(GPU_SITE) $(WHEELS)/*.whl
	PYTHONPATH=$(GPU_SITE):$(CURDIR):$(TESTS_OF_GPU) OMP_NUM_THREADS=1 COLUMNS=140 $(GPU_PYTHON) tests/gpu/check.py $(GPU_PARTS)

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	@$(QUIETLY) install "Installing into $(VENV), most of it PyTorch" $(MAKE) --no-print-directory packages

packages:
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --disable-pip-version-check --no-compile -c constraints.txt -e '.[dev]'
	$(VENV)/bin/python -m compileall -qq -j 0 -x 'site-packages/.*/tests/' $(VENV)/lib || true # some files are for other versions of Python
	touch $(VENV)/installed

lint: install
	$(call if_wrong,$(VENV)/bin/ruff check .)
	$(call if_wrong,$(VENV)/bin/ruff format --check .)

types: install
	$(call if_wrong,$(VENV)/bin/mypy)

# Another course, and ours, go from the wheel to grades with other Pythons and another PyTorch, each in an environment of its
# own. docs/installing.md says which have been tried.
PYTHONS := python3.12 python3.13
TORCH := 2.15.0
pythons:
	mkdir -p build
	grep -v '^torch==' constraints.txt > build/constraints.txt
	for python in $(PYTHONS); do \
		own=build/$$(basename $$python)-torch-$(TORCH); \
		$$python -m venv $$own || exit 1; \
		$$own/bin/python -m pip install --quiet -c build/constraints.txt torch==$(TORCH) -e '.[dev]' || exit 1; \
		$$own/bin/python -m pytest -n0 tests/end_to_end/test_second_course.py || exit 1; \
	done

# Whatever is newest now, and the fast tests with it.
newest:
	python3 -m venv build/newest
	build/newest/bin/python -m pip install --quiet --upgrade -e '.[dev]'
	build/newest/bin/python -m pytest $(ON_ALL_CORES) -m "not slow and not browser and not proof"

# JupyterHub and a proxy in Python go into an environment of their own, as on a hub's machine. All that they need is listed,
# and nothing is looked for.
HUB := build/hub
hub: install hub-installed
	$(VENV)/bin/python -m pytest -n0 tests/end_to_end/test_hub.py

hub-installed: $(HUB)/installed

$(HUB)/installed: tests/data/hub/requirements.txt
	python3 -m venv $(HUB)
	$(HUB)/bin/python -m pip install --quiet --no-deps -r $<
	touch $@

# The packages that courses use most, to see what they ask for in a sandbox. Only tests/sandbox/test_labs.py needs them.
labs-installed: $(VENV)/labs

$(VENV)/labs: $(VENV)/installed
	$(VENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-compile -c constraints.txt -e '.[labs]'
	touch $@

# The verdict on each piece of student code in tests/data, written down anew. Read what `git diff` shows before you commit it.
# One file holds them all, and would be one process's.
records: install
	$(VENV)/bin/python -m pytest -q -n $(PROCESSES) --dist worksteal tests/judging/test_records.py -k verdicts_on_record --record

# The tables of docs/how_right.md, from the records.
how-right: install
	PYTHONPATH=tests $(VENV)/bin/python tests/house/how_right.py

validate: install
	$(GRADER) validate

release: install
	$(GRADER) release

# The environment that students work in, with the versions that grade: what the notebooks import, and all that this brings.
STUDENTS := ipywidgets jupyterlab matplotlib numpy torch
EXACTLY := import sys; from packaging.requirements import Requirement; from grader.autograders.packages import versions; \
	print(*versions(map(Requirement, sys.argv[1:])), sep="\n")
lock: install
	@$(VENV)/bin/python -c '$(EXACTLY)' $(STUDENTS) > release/requirements.txt

# The documentation, for a browser: open build/site/index.html. Most of its time goes into the gallery.
site: install gallery
	@rm -rf build/site
	@$(QUIETLY) site "Building build/site" \
		$(VENV)/bin/python -m sphinx --fail-on-warning --keep-going --quiet \
		--doctree-dir build/doctrees --fresh-env docs build/site

gallery: install
	@$(QUIETLY) gallery "Grading a made-up class for the gallery" $(VENV)/bin/python docs/gallery.py build/extra

# All pictures of pages in docs/images, from a fresh demo; needs Chromium and its driver.
screenshots: install
	$(VENV)/bin/python docs/screenshots.py

clean:
	rm -rf $(VENV) demo build *.egg-info
