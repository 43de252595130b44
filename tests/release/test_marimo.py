"""The notebooks for marimo: made from the release, one name for each variable, and the same course."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shutil
import symtable
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from warm_python import WarmPython

from grader.authoring.beginnings import new_assignment, new_course, new_exercise
from grader.classroom.run import autograde
from grader.cli import app
from grader.course.folder import Course
from grader.errors import CourseError
from grader.notebooks.cells import fill_in, solutions
from grader.release.leaks import LeakError
from grader.release.marimo import FOLDER, convert_release, with_unique_names, write_marimo
from support.our_course import ASSIGNMENTS, of_assignment
from support.places import ROOT
from support.proof import some_in_ci
from support.snapshots import files_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=some_in_ci(ASSIGNMENTS, one_in=6))
def converted(request: pytest.FixtureRequest, new_course: Callable[[], Course]) -> Path:
    """The notebook of one assignment for marimo, as it is handed out."""
    return convert_release(new_course(), request.param)


@pytest.fixture(scope="module")
def solved_notebook(converted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with all exercises solved."""
    course, assignment = Course(converted.parents[2]), converted.stem
    folder = tmp_path_factory.mktemp("solved") / assignment
    shutil.copytree(converted.parent, folder)
    answers = solutions(course.read("source", assignment))
    write_marimo(
        fill_in(course.read("release", assignment), answers), course.exercises(assignment), folder / converted.name
    )
    learns_for_short(folder / converted.name)
    return folder / converted.name


def learns_for_short(notebook: Path) -> None:
    """Where a model learns, a few steps will do here: tests/end_to_end/test_homes.py takes them all."""
    source = notebook.read_text()
    assert ("train_step(" in source) == ("in range(steps):" in source)
    notebook.write_text(source.replace("in range(steps):", "in range(min(steps, 20)):"))


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmPython]:
    python = WarmPython(tmp_path_factory.mktemp("python"))
    yield python
    python.close()


def functions_of(notebook: Path) -> int:
    return sum(len(exercise.functions) for exercise in of_assignment(notebook.stem))


def test_marimo_check_finds_nothing(converted: Path, python: WarmPython) -> None:
    done = python.run("-m", "marimo", "check", "--strict", converted, folder=converted.parent)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_marimo_notebook_defines_each_name_in_one_cell(converted: Path) -> None:
    """Searched with the compiler's tables of names, without the code that made them unique."""
    count: Counter[str] = Counter()
    for cell in symtable.symtable(converted.read_text(), converted.name, "exec").get_children():
        defined = {one.get_name() for one in cell.get_symbols() if one.is_local() and not one.is_parameter()}
        count.update(name for name in defined if not name.startswith("_"))
    assert count.total() > 30
    assert [name for name, cells in count.items() if cells > 1] == []


def test_marimo_notebook_when_run_is_still_to_do(converted: Path, python: WarmPython) -> None:
    done = python.run(converted, folder=converted.parent)
    said = re.split(r"\n(?! )", done.stderr.strip())  # what a check says goes on in lines that are indented
    assert done.returncode == 0
    assert [words for words in said if "still to do" not in words] == []
    assert len(said) == functions_of(converted)
    assert "✓" not in done.stdout


def test_marimo_notebook_when_solved_is_green(solved_notebook: Path, python: WarmPython) -> None:
    done = python.run(solved_notebook, folder=solved_notebook.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("is right on the examples of this notebook.") == functions_of(solved_notebook)
    assert "once you have solved" not in done.stdout


def test_marimo_check_cell_depends_on_its_functions(converted: Path) -> None:
    """In marimo, a cell depends on the names that stand in it."""
    cells = {cell.name: cell for cell in ast.parse(converted.read_text()).body if isinstance(cell, ast.FunctionDef)}
    for exercise in of_assignment(converted.stem):
        in_cell = {node.id for node in ast.walk(cells[f"check_{exercise.number}"]) if isinstance(node, ast.Name)}
        assert {function.entry for function in exercise.functions} <= in_cell


def test_marimo_check_cell_may_name_its_exercise(tmp_path: Path) -> None:
    new_course(tmp_path)
    course = Course(tmp_path)
    new_assignment(course, "week1")
    new_exercise(course, "the-mean", "week1")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell('check("the-mean")')])
    write_marimo(notebook, Course(tmp_path).exercises("week1"), tmp_path / "week1.py")
    assert "the_mean  # this cell runs again" in (tmp_path / "week1.py").read_text()


def test_marimo_progress_cell_depends_on_all_functions(tmp_path: Path) -> None:
    exercises = Course(ROOT).exercises("self_attention")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("check()")])
    write_marimo(notebook, exercises, tmp_path / "all.py")
    (line,) = re.findall("^ *(.*)  # this cell runs again", (tmp_path / "all.py").read_text(), re.MULTILINE)
    assert line.split(", ") == [function.entry for one in exercises.values() for function in one.functions]


def test_marimo_notebook_keeps_layout_and_comments(converted: Path) -> None:
    def lines(text: str) -> Counter[str]:
        """Without the underscores, which are what may differ."""
        return Counter(line.strip().replace("_", "") for line in text.splitlines() if line.strip())

    release = Course(converted.parents[2]).read("release", converted.stem)
    given = sum((lines(cell.source) for cell in release.cells if cell.cell_type == "code"), Counter[str]())
    assert not given - lines(converted.read_text())


def test_marimo_notebook_shows_every_figure(converted: Path) -> None:
    release = Course(converted.parents[2]).read("release", converted.stem)
    drawn = re.findall(r"!\[([^\]]*)\]\((images/[^)]+)\)", "\n".join(cell.source for cell in release.cells))
    calls = [node for node in ast.walk(ast.parse(converted.read_text())) if isinstance(node, ast.Call)]
    images = [call for call in calls if ast.unparse(call.func) == "mo.image"]
    where = [ast.unparse(call.args[0]).removeprefix("mo.notebook_dir() / ") for call in images]
    shown = [
        (ast.literal_eval(path), ast.literal_eval(call.keywords[0].value))
        for path, call in zip(where, images, strict=True)
    ]
    assert drawn
    assert shown == [(path, description) for description, path in drawn]
    assert [path for path, _ in shown if not (converted.parent / path).is_file()] == []
    assert "![" not in converted.read_text()


def test_marimo_export_can_be_graded(solved_notebook: Path, converted: Path, python: WarmPython) -> None:
    course, assignment = Course(converted.parents[2]), converted.stem
    command = re.search(r"`(marimo export [^`]+)`", solved_notebook.read_text())
    assert command is not None
    done = python.run("-m", *command[1].split(), folder=solved_notebook.parent)
    assert done.returncode == 0, done.stderr
    handed_in = course.notebook("submitted/ada", assignment)
    handed_in.parent.mkdir(parents=True)
    shutil.copyfile(solved_notebook.with_suffix(".ipynb"), handed_in)
    (graded,) = autograde(course, assignment)
    assert graded.error == ""
    assert graded.points == graded.max_points > 0


def test_convert_release_when_release_leaks_raises(course: Course) -> None:
    path = course.notebook("release", "self_attention")
    changed = nbformat.read(path, 4)
    changed.cells[4].source += f"\n\n\n{solutions(course.read('source', 'self_attention'))[2]}"
    nbformat.write(changed, path)
    with pytest.raises(LeakError, match=rf"{FOLDER}/self_attention(.|\n)*exercise-2, `D = all_queries"):
        convert_release(course, "self_attention")


@pytest.fixture
def release_for_marimo(course: Course, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Runs `grader release self_attention --marimo` in the course folder; returns the exit code."""

    def run() -> int:
        monkeypatch.chdir(course.root)
        monkeypatch.setattr(sys, "argv", ["grader", "release", "self_attention", "--marimo"])
        with pytest.raises(SystemExit) as ended:
            app.run()
        return int(ended.value.code or 0)

    return run


def test_release_marimo_leaves_the_release_alone(
    course: Course, release_for_marimo: Callable[[], int], capsys: pytest.CaptureFixture[str]
) -> None:
    before = files_in(course.root / "release")
    assert release_for_marimo() == 0
    assert "release_marimo/self_attention/self_attention.py" in capsys.readouterr().out
    assert (course.root / FOLDER / "self_attention/self_attention.py").is_file()
    assert files_in(course.root / "release") == before


def outputs(cells: list[str]) -> str:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        names: dict[str, object] = {}
        for cell in cells:
            exec(cell, names)
    return shown.getvalue()


def test_with_unique_names_numbers_only_names_used_elsewhere() -> None:
    cells = ["x = 1\ny = 2", "print(x)", "x = 3", "print(x + 1)", "y = x = 5\nprint(x, y)"]
    renamed = with_unique_names(cells)
    assert renamed == ["x = 1\n_y = 2", "print(x)", "x_2 = 3", "print(x_2 + 1)", "_y = _x = 5\nprint(_x, _y)"]


@pytest.mark.parametrize(
    "cell",
    [
        "x = [4]\nprint((lambda x: x)(7), (lambda y=x: y)(), (lambda x=x: x)())",
        "x = [4, 5]\nprint([x for x in x], {y: x for y in x}, [y for y in x if y in x])",
        "x = 2\ndef half(x):\n    x = x / 2\n    return x\nprint(half(x))",
        "x = 2\ndef outer():\n    def inner():\n        return x\n    return inner()\nprint(outer())",
        "x = 2\nclass A:\n    x = 1\n    def f(self, y=x):\n        return x, y\nprint(A().f(), A.x)",
        "x = {'a': 1}\nprint(f'{x[\"a\"]:>{x[\"a\"] + 3}} x {x!r} {{x}}', f\"é {x}\", 'x')",
        "é = 'ü'; x = 1; print(é, x) ; x = 5  # ß x\nprint(x, '''x\nü''', x, f'''{x}\n  x {x}''')",
        "for x, *rest in [(1, 2, 3)]:\n    print(x, rest)\nwith open('/dev/null') as x:\n    print(x.name)",
        "x = [n for n in range(3)]\nx[0] += 1\nx += [5]\ndel x[1]\nprint(*x, sep=str(x))",
    ],
)
def test_with_unique_names_does_not_change_what_code_does(cell: str) -> None:
    cells = ["x = 'first'\nprint(x)", cell, "x = 'last'\nprint(x)"]
    renamed = with_unique_names(cells)
    assert renamed[0] == "_x = 'first'\nprint(_x)"
    assert outputs(renamed) == outputs(cells)
    assert "x" not in {name for code in renamed for name in defined_by(code)}


def defined_by(code: str) -> set[str]:
    """The global names that a cell leaves behind."""
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)
    return set(names)


@pytest.mark.parametrize(
    "cell",
    [
        "total = total + 1",
        "total = 1\ndef add():\n    global total\n    total += 1",
        "import math as total",
        "def total():\n    return 1",
        "try:\n    1 / 0\nexcept ArithmeticError as total:\n    print(total)",
    ],
)
def test_with_unique_names_when_name_cannot_be_renamed_raises(cell: str) -> None:
    with pytest.raises(CourseError, match=r"total(.|\n)*release again"):
        with_unique_names(["total = 0", "print(total)", cell, "print(total)"])


def test_with_unique_names_renames_in_f_strings() -> None:
    cells = ["x = 1", "x = 2\nprint(f'{x}' f\"é {x!r} {{x}}\", f'''x\n{ x:>{x + 3}}''', 'x')"]
    after = "_x = 2\nprint(f'{_x}' f\"é {_x!r} {{x}}\", f'''x\n{ _x:>{_x + 3}}''', 'x')"
    assert with_unique_names(cells) == ["_x = 1", after]


def test_with_unique_names_when_cell_is_no_python_raises() -> None:
    with pytest.raises(CourseError, match="%matplotlib inline"):
        with_unique_names(["x = 1\n%matplotlib inline"])


def test_with_unique_names_leaves_recursive_functions() -> None:
    cells = ["def f(n):\n    return n and f(n - 1)\nx = f(3)", "x = 4"]
    assert with_unique_names(cells) == [cells[0].replace("x", "_x"), "_x = 4"]


def test_release_marimo_when_not_installed_says_what_to_install(
    release_for_marimo: Callable[[], int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "marimo", None)
    assert release_for_marimo() == 1
    said = capsys.readouterr().err
    assert "pip install 'attention-grader[marimo]'" in " ".join(said.split())
    assert "Traceback" not in said
