"""A course folder for tests, with its release compiled once, and small tools to hand in and to read scores.

Tests that write take `course`, a copy of their own. A module that grades one class for many tests takes
`new_course` in a fixture of module scope.
"""

from __future__ import annotations

import functools
import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from support.places import ROOT

# Before nbformat, which builds a grammar otherwise that nobody needs.
from grader.classroom import fork_server  # noqa: F401  # isort: skip
import nbformat
import nbgrader.api
import pytest
import torch
from filelock import FileLock
from selenium.webdriver import Chrome

from grader.course.folder import Course, copy_course, open_course
from grader.gradebook.hidden_seed import SECRET_FILE
from grader.host import zygote_process
from grader.model.label import Label
from grader.notebooks.cells import fill_in, solutions
from grader.release.compiling import compile_into
from support.chromium import headless_chromium
from support.observers import Messages

gc.disable()  # until all tests are found: until then little becomes garbage, and to look for it takes seconds
# Numbers are few here: threads would only wait for one another, on a busy machine a hundred times as long.
torch.set_num_threads(1)
open_course(ROOT)  # what holds for a whole process: here, tests are what begins one

ASSIGNMENT = "self_attention"
NO_DISK = "from grader.sandbox import own_disk; own_disk.mount = lambda *_, **__: (_ for _ in ()).throw(OSError)"


@pytest.fixture(scope="session")
def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the processes of one run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def released_course(request: pytest.FixtureRequest, of_all_workers: Path) -> Course:
    """A scratch copy of the course with every assignment released. Read it; take `course` to write into one."""
    if folder := request.config.getoption("released"):  # in a container, where it can be read only
        return Course(Path(folder))
    folder = of_all_workers / "released"
    with FileLock(f"{folder}.lock"):  # the first one compiles for all
        if not folder.exists():
            scratch = copy_course(Course(ROOT), of_all_workers / "being-released" / "course")
            (scratch.root / SECRET_FILE).write_bytes(b"the same in every run: no test passes by chance")
            compiled = of_all_workers / "compiled"
            for assignment in scratch.assignments():  # without the search for leaks, which has tests of its own
                compile_into(scratch, assignment, compiled)
            shutil.rmtree(scratch.folder("release"))
            compiled.rename(scratch.folder("release"))
            scratch.root.parent.rename(folder)
    return Course(folder / "course")


@pytest.fixture(scope="session")
def wheel(of_all_workers: Path) -> Path:
    """The package as it is installed elsewhere, built once for all."""
    folder = of_all_workers / "wheel"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            source = of_all_workers / "being-built"  # a build leaves things where it is done
            for name in ("grader", "source"):
                shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
            for name in ("pyproject.toml", "setup.py", "nbgrader_config.py", "README.md", "LICENSE"):
                shutil.copy(ROOT / name, source / name)
            build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
            subprocess.run([*build, "-w", str(source / "built"), str(source)], check=True)
            (source / "built").rename(folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def new_course(released_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Course]:
    """Makes copies of the released course, its gradebook included."""

    def make() -> Course:
        return _copy(released_course, tmp_path_factory.mktemp("copy") / "course")

    return make


@pytest.fixture
def course(released_course: Course, tmp_path: Path) -> Course:
    """A released course of this test's own."""
    return _copy(released_course, tmp_path / "course")


@pytest.fixture(scope="session")
def solved(released_course: Course) -> dict[Label, str]:
    """The reference solutions of self_attention as student code, by number of exercise."""
    return solutions(released_course.read("source", ASSIGNMENT))


@pytest.fixture(scope="session")
def make_notebook() -> Callable[..., Any]:
    """`make_notebook(course, {3: source}, assignment=…, demos=False)`: the release with these solutions in it.

    The cells that only draw and print are left out unless `demos` is true: they cost seconds and earn nothing.
    """
    return _make_notebook


@pytest.fixture(scope="session")
def submit() -> Callable[..., Path]:
    """`submit(course, "ada", {3: source}, assignment=…, demos=False)` hands in; returns the path of the notebook.

    A notebook, a text or bytes may be handed in, in place of solutions.
    """
    return _submit


@pytest.fixture(scope="session")
def scores() -> Callable[..., dict[str, float | None]]:
    """`scores(course, "ada", assignment=…)`: the automatic score of every test cell in the gradebook, by grade id."""
    return _scores


@pytest.fixture(scope="session")
def _zygote_without_disks() -> Iterator[zygote_process.Zygote]:
    """Another warm process, beside the one that all other tests have: to start one takes seconds."""
    before = "sys.path.remove("
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zygote_process, "PROGRAM", zygote_process.PROGRAM.replace(before, f"{NO_DISK}\n{before}", 1))
        zygote = zygote_process.OwnZygote()
    yield zygote
    zygote.close()


@pytest.fixture
def without_disks(_zygote_without_disks: zygote_process.Zygote, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that gives no process a view of its own."""
    monkeypatch.setattr(zygote_process, "the_zygote", _zygote_without_disks)


@pytest.fixture
def other_zygote(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """`other_zygote("import os")`: from now on, the warm process is one that begins with this statement."""
    begins = "from grader.sandbox.zygote"
    program = zygote_process.PROGRAM

    def use(statement: str) -> None:
        monkeypatch.setattr(zygote_process, "PROGRAM", program.replace(begins, f"{statement}\n{begins}", 1))
        zygote_process.close_zygote()

    yield use
    zygote_process.close_zygote()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> Iterator[Messages]:
    """What the grader logs meanwhile."""
    logger, handler = logging.getLogger("grader"), Messages()
    monkeypatch.setattr(logger, "level", logging.INFO)
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """A shell makes what it runs in the background deaf to Ctrl-C, and whatever that starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _copy(released: Course, target: Path) -> Course:
    shutil.copytree(released.root, target)
    return Course(target)


def _make_notebook(
    course: Course, answers: Mapping[Label, str] | None = None, assignment: str = ASSIGNMENT, demos: bool = False
) -> Any:
    notebook = fill_in(course.read("release", assignment), answers or {})
    if not demos:
        notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    return notebook


def _submit(
    course: Course,
    student: str,
    what: Mapping[Label, str] | str | bytes | Any = None,
    assignment: str = ASSIGNMENT,
    demos: bool = False,
) -> Path:
    path = course.notebook(f"submitted/{student}", assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(what, nbformat.NotebookNode):
        what = nbformat.writes(what)
    elif what is None or isinstance(what, Mapping):
        what = nbformat.writes(_make_notebook(course, what, assignment, demos))
    path.write_bytes(what.encode() if isinstance(what, str) else what)
    return path


def _scores(course: Course, student: str, assignment: str = ASSIGNMENT) -> dict[str, float | None]:
    with course.api().gradebook as gradebook:
        notebook = gradebook.find_submission_notebook(assignment, assignment, student)
        return {grade.cell.name: grade.auto_score for grade in notebook.grades}


@pytest.fixture(autouse=True)
def _same_random_numbers() -> None:
    """What a test draws, or the code that it runs, is the same in every run: no test passes by chance."""
    torch.default_generator.manual_seed(0)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the verdicts on student code down, in tests/data")
    parser.addoption("--released", help="a folder with the released course, made before")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """`make records` ends with what decides how many verdicts."""
    if config.getoption("record"):
        from support.deciders import decided_in, table

        reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
        if verdicts := decided_in(reports):
            terminalreporter.write_line(table(verdicts))


def pytest_itemcollected(item: pytest.Item) -> None:
    if "browser" in getattr(item, "fixturenames", ()):
        item.add_marker("browser")


def pytest_collection_finish() -> None:
    """What is there now, much more than a test makes, stays to the end: to look through it again takes long."""
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A headless Chromium, for the tests of one module."""
    with headless_chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture(autouse=True, scope="session")
def _known_version_of_gradebooks() -> Iterator[None]:
    """nbgrader starts another program to find it out, which takes a second for each new gradebook."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nbgrader.api, "get_alembic_version", functools.cache(nbgrader.api.get_alembic_version))
        yield


@pytest.fixture(autouse=True, scope="session")
def _own_environment() -> Any:
    """What a test leaves in the environment ends with the tests."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
