"""A release as one file: all inside, and graded as the ordinary notebook. That it runs alone is for test_homes.py."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.checks.validate import fresh_single_file
from grader.classroom.run import autograde
from grader.course.folder import Course, read_config
from grader.errors import CourseError
from grader.notebooks.cells import fill_in, is_test_cell, points_of, solutions
from grader.notebooks.parsing import parse_notebook
from grader.notebooks.single_file import as_ordinary, in_one_file
from grader.release.leaks import LeakError
from grader.release.one_file import FOLDER, in_colab, public_folder, write_single_files
from support.command_line import grader
from support.our_course import ASSIGNMENTS
from support.plain_nbgrader import nbgrader
from support.proof import some_in_ci

pytestmark = pytest.mark.slow

WRONG = "def attention_weights(all_attention_scores):\n    return all_attention_scores"
PUBLIC = "c.GraderCourse.public_url = {!r}\n"
FIGURE = re.compile(r'<img data-file="([^"]+)" alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)">')


class ReleasedPair(NamedTuple):
    course: Course
    assignment: str
    ordinary: Any
    single: Any


@pytest.fixture(scope="module", params=some_in_ci(ASSIGNMENTS, one_in=6))
def released_pair(request: pytest.FixtureRequest, new_course: Callable[[], Course]) -> ReleasedPair:
    course, assignment = new_course(), request.param
    folder = write_single_files(course, assignment)
    assert [path.name for path in folder.iterdir()] == [f"{assignment}.ipynb"]
    both = course.read("release", assignment), course.read(FOLDER, assignment)
    return ReleasedPair(course, assignment, *both)


def modules_in(notebook: Any) -> dict[str, str]:
    """What the folded cell registers, as the modules' texts."""
    cell = next(cell for cell in notebook.cells if cell.id == "checks-inside")
    found: dict[str, str] = {}
    calls = cell.source[cell.source.index('\n_module("') :]
    exec(calls, {"_module": lambda name, text: found.update({name: text.removeprefix("\n")})})
    return found


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_single_file_holds_every_module(released_pair: ReleasedPair) -> None:
    beside = released_pair.course.folder("release") / released_pair.assignment
    assert modules_in(released_pair.single) == {path.stem: path.read_text() for path in beside.glob("*.py")}
    assert {"checks", "checking"} <= modules_in(released_pair.single).keys()


def test_single_file_holds_every_figure_with_description(released_pair: ReleasedPair) -> None:
    texts = "\n".join(cell.source for cell in released_pair.single.cells if cell.cell_type == "markdown")
    before = "\n".join(cell.source for cell in released_pair.ordinary.cells if cell.cell_type == "markdown")
    folder = released_pair.course.folder("release") / released_pair.assignment
    shown = [(html.unescape(alt), place) for place, alt, _ in FIGURE.findall(texts)]
    assert shown == re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", before) != []
    assert [base64.b64decode(data) for _, _, data in FIGURE.findall(texts)] == [
        (folder / place).read_bytes() for _, place in shown
    ]
    assert "](images/" not in texts


def test_single_file_has_the_cells_of_nbgrader(released_pair: ReleasedPair) -> None:
    """What was put in has no part in grading."""
    known = [
        [(cell.id, cell.source, cell.metadata) for cell in notebook.cells if "nbgrader" in cell.metadata]
        for notebook in (released_pair.ordinary, released_pair.single)
    ]
    assert known[0] == known[1] != []
    nbformat.validate(released_pair.single)


# --- handed in -------------------------------------------------------------------------------------------------------


def test_single_file_is_parsed_as_the_ordinary_notebook(released_pair: ReleasedPair) -> None:
    ordinary, single = (
        parse_notebook(nbformat.writes(one).encode()) for one in (released_pair.ordinary, released_pair.single)
    )
    assert single == ordinary


@pytest.fixture(scope="module")
def graded(released_pair: ReleasedPair) -> dict[str, Any]:
    """The same answers from both forms: right ones, one that is wrong, and one that is not there."""
    answers = solutions(released_pair.course.read("source", released_pair.assignment))
    answers.popitem()
    answers |= {4: WRONG} if released_pair.assignment == "self_attention" else {}
    for student, notebook in (("ordinary", released_pair.ordinary), ("single", released_pair.single)):
        path = released_pair.course.notebook(f"submitted/{student}", released_pair.assignment)
        path.parent.mkdir(parents=True)
        nbformat.write(fill_in(notebook, answers), path)
    return {result.student: result for result in autograde(released_pair.course, released_pair.assignment)}


def test_single_file_is_graded_as_the_ordinary_notebook(
    released_pair: ReleasedPair, graded: dict[str, Any], scores: Any
) -> None:
    ordinary, single = (
        scores(released_pair.course, student, released_pair.assignment) for student in ("ordinary", "single")
    )
    assert single == ordinary
    assert 0 < sum(single.values()) < graded["single"].max_points
    assert [one.verdict.sentences for one in graded["single"].verdicts] == [
        one.verdict.sentences for one in graded["ordinary"].verdicts
    ]


@pytest.mark.usefixtures("graded")
def test_single_file_when_graded_has_the_ordinary_cells(released_pair: ReleasedPair) -> None:
    """And no note: nothing had to be repaired or shortened."""
    graded = [
        released_pair.course.read(f"autograded/{student}", released_pair.assignment)
        for student in ("ordinary", "single")
    ]
    ordinary, single = ([(cell.id, cell.source) for cell in notebook.cells] for notebook in graded)
    assert single == ordinary
    assert single[0][0] == "intro"


def test_single_file_is_graded_by_nbgrader(released_pair: ReleasedPair, scores: Any) -> None:
    if released_pair.assignment != "multi_head_attention":  # one is enough
        return
    path = released_pair.course.notebook("submitted/by-nbgrader", released_pair.assignment)
    path.parent.mkdir(parents=True)
    nbformat.write(
        fill_in(released_pair.single, solutions(released_pair.course.read("source", released_pair.assignment))), path
    )
    nbgrader(released_pair.course, "autograde", released_pair.assignment, "--student", "by-nbgrader")
    points = scores(released_pair.course, "by-nbgrader", released_pair.assignment)
    assert sum(points.values()) == sum(map(points_of, filter(is_test_cell, released_pair.ordinary.cells)))
    read = released_pair.course.read("autograded/by-nbgrader", released_pair.assignment)
    assert "checks-inside" not in {cell.id for cell in read.cells}


MODULE = {"own.py": b"x = 1\n"}
NOTEBOOK = new_notebook(cells=[new_markdown_cell("![a](a.png)"), new_code_cell("import own")])


def test_as_ordinary_keeps_what_students_add_to_a_cell() -> None:
    single, _ = in_one_file(NOTEBOOK, MODULE | {"a.png": b"abc"})
    added = [cell.source + "\n\nx = 5" for cell in single.cells]
    for cell, source in zip(single.cells, added, strict=True):
        cell.source = source
    kept = [cell.source for cell in as_ordinary(single.cells)]
    assert len(kept) == 4
    assert kept[0] == added[0]
    assert kept[1] == "![a](a.png)\n\nx = 5"
    assert kept[2:] == added[2:]


def test_as_ordinary_drops_changed_module_texts() -> None:
    single, _ = in_one_file(NOTEBOOK, MODULE)
    for cell in single.cells:
        cell.source = cell.source.replace("x = 1", "x = 2")
    assert [cell.source for cell in as_ordinary(single.cells)] == ["![a](a.png)", "import own"]


# --- any course ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["x = 1", 'x = "\\n"\n', "x = '''a'''\n", "x = '\\\\'", "y = r'''\\\\'''", '"""a"""\nx = "b\'"\n# \\']
)
def test_in_one_file_keeps_any_module_text(text: str) -> None:
    single, inside = in_one_file(NOTEBOOK, {"own.py": text.encode()})
    assert inside == {"own.py"}
    assert modules_in(single) == {"own": text}
    assert len(as_ordinary(single.cells)) == 2


def test_in_one_file_orders_modules_by_imports() -> None:
    files = {
        "a.py": b"from b import x",
        "b.py": b"def f():\n    import c\nx = 1",
        "c.py": b"import math, d",
        "d.py": b"",
    }
    single, _ = in_one_file(NOTEBOOK, files)
    assert list(modules_in(single)) == ["d", "c", "b", "a"]
    with pytest.raises(CourseError, match=r"in a circle: (a, d, c, b, a|a, b, c, d, a|.*a.*)\."):
        in_one_file(NOTEBOOK, files | {"d.py": b"import a"})
    with pytest.raises(CourseError, match=r"d\.py, line 1: .*release again"):
        in_one_file(NOTEBOOK, files | {"d.py": b"import"})


def test_write_single_files_when_other_files_exist_raises(course: Course) -> None:
    folder = course.folder("release") / "self_attention"
    (folder / "data.csv").write_text("1,2")
    (folder / "more").mkdir()
    (folder / "more/module.py").write_text("x = 1")
    with pytest.raises(CourseError, match=r"there is also data\.csv, more/module\.py\. "):
        write_single_files(course, "self_attention")
    assert not (course.root / FOLDER).exists()


def test_write_single_files_when_too_large_raises(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.notebooks.parsing.MAX_BYTES", 150_000)
    with pytest.raises(CourseError, match=r"self_attention\.ipynb would be too large to read as a single file"):
        write_single_files(course, "self_attention")


def test_write_single_files_when_a_module_leaks_raises(course: Course) -> None:
    answer = solutions(course.read("source", "self_attention"))[7]
    (course.folder("release") / "self_attention/checks.py").write_text(answer)
    with pytest.raises(LeakError, match=rf"{FOLDER}/self_attention(.|\n)*checks-inside, line \d+: .* exercise-7"):
        write_single_files(course, "self_attention")


def test_release_single_file_writes_only_that(course: Course) -> None:
    ended = grader("release", "multi_head_attention", "--single-file", folder=course.root)
    assert ended.returncode == 0, ended.stderr
    made = f"{FOLDER}/multi_head_attention"
    assert f"{made} is ready, too" in ended.stdout
    assert len(list((course.root / made).iterdir())) == 1
    assert not (course.root / "release_marimo").exists()


def test_fresh_single_file_when_stale_says_so(course: Course, new_course: Callable[[], Course]) -> None:
    assert list(fresh_single_file(course, course, "self_attention")) == []  # nobody has made it
    path = write_single_files(course, "self_attention") / "self_attention.ipynb"
    other = new_course()
    assert [one.state for one in fresh_single_file(course, other, "self_attention")] == ["good"]
    path.write_text(path.read_text().replace("**This notebook", "**That notebook"))
    (found,) = fresh_single_file(course, other, "self_attention")
    assert found.state == "bad"
    assert "is out of date: self_attention.ipynb. Run: grader release self_attention --single-file" in found.text


# --- links to Colab --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "opened"),
    [
        ("https://github.com/ada/notes/tree/main", "ada/notes/blob/main/week%201/one.ipynb"),
        ("https://github.com/a-b/c.d/tree/v1/some/folder/", "a-b/c.d/blob/v1/some/folder/week%201/one.ipynb"),
    ],
)
def test_in_colab_returns_the_address_of_a_github_folder(named: str, opened: str) -> None:
    folder = public_folder(read_config("c = get_config()\n" + PUBLIC.format(named)))
    assert in_colab(folder, "week 1", "one") == f"https://colab.research.google.com/github/{opened}"
    assert in_colab(public_folder(read_config("c = get_config()\n")), "week1", "one") == ""


@pytest.mark.parametrize(
    "named", ["nowhere", "https://example.org/notes", "https://github.com/ada/notes", "https://github.com/a/b/tree/x)y"]
)
def test_release_when_public_url_is_no_github_folder_says_so(named: str, course: Course) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(PUBLIC.format(named))
    ended = grader("release", "self_attention", "--single-file", folder=course.root)
    assert ended.returncode == 1
    assert f"public_url is “{named}”, which is not the address of a GitHub folder" in " ".join(ended.stderr.split())


def test_single_file_has_a_colab_link_that_as_ordinary_drops(course: Course) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(PUBLIC.format("https://github.com/ada/notes/tree/main"))
    write_single_files(course, "self_attention")
    single = course.read(FOLDER, "self_attention")
    address = "https://colab.research.google.com/github/ada/notes/blob/main/self_attention/self_attention.ipynb"
    assert single.cells[0].source.endswith(f"\n\n[Open it in Colab]({address})")
    assert as_ordinary(single.cells)[0].id == "intro"
