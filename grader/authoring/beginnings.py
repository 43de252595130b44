"""Write the first files of a course, an assignment or an exercise. No existing file is overwritten."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.course.folder import CONFIG_FILE, Course
from grader.errors import CourseError
from grader.model.label import Label, label_of
from grader.notebooks.cells import solutions, solved_exercise, tested_exercise
from grader.pages.headings import Headings, points_in

# Making an exercise file from a solution cell that the author has already written.

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class SolutionCell:
    """The code of a solution cell and of the cells before it."""

    code: str
    before: tuple[str, ...] = ()

    @cached_property
    def node(self) -> Definition:
        """The last function or class that the cell defines."""
        try:
            definitions = [node for node in ast.parse(self.code).body if isinstance(node, Definition)]
        except SyntaxError as error:
            raise CourseError(f"The solution cell is not Python: line {error.lineno}, {error.msg}.") from None
        if not definitions:
            raise CourseError("The solution cell defines no function and no class. Write the solution there first.")
        return definitions[-1]

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_module(self) -> bool:
        """Whether it is a class of torch's."""
        return isinstance(self.node, ast.ClassDef) and any("Module" in ast.unparse(base) for base in self.node.bases)

    @property
    def is_numpy(self) -> bool:
        """Whether the cell computes with arrays instead of tensors."""
        used = " ".join(self.imports)
        return "numpy" in used and "torch" not in used and not self.is_class

    @property
    def arguments(self) -> list[str]:
        """The required arguments of the function."""
        return _required(self.node) if isinstance(self.node, ast.FunctionDef) else []

    @property
    def methods(self) -> dict[str, list[str]]:
        """The required arguments of the methods of a class that anybody may call, and of `__init__`."""
        functions = [function for function in getattr(self.node, "body", ()) if isinstance(function, ast.FunctionDef)]
        return {
            function.name: _required(function)[1:]
            for function in functions
            if (function.name == "__init__" or not function.name.startswith("_")) and not function.decorator_list
        }

    @property
    def marks(self) -> dict[str, int]:
        """A mark for each statement with a unique name, and the line on which it ends."""
        marked = [(_mark(node), node) for node in ast.walk(self.node) if isinstance(node, ast.stmt) and _mark(node)]
        names = [mark for mark, _ in marked]
        return {mark: node.end_lineno or 0 for mark, node in marked if names.count(mark) == 1}

    @property
    def text(self) -> str:
        """The text of the definition, with marks at its lines."""
        by_line = {line: mark for mark, line in self.marks.items()}
        lines = self.code.split("\n")
        line_numbers = range(self.node.lineno, (self.node.end_lineno or 0) + 1)
        return "\n".join(
            f"{lines[line - 1]}  #: {by_line[line]}" if line in by_line else lines[line - 1] for line in line_numbers
        )

    @property
    def imports(self) -> list[str]:
        """The imports of the notebook that the definition needs."""
        names = {node.id for node in ast.walk(self.node) if isinstance(node, ast.Name)}
        return sorted(set(_imports((*self.before, self.code), names)))


def _required(function: ast.FunctionDef) -> list[str]:
    """The names of the arguments without defaults."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    return [alias.arg for alias in parameters[: len(parameters) - len(function.args.defaults)]]


def _mark(node: ast.stmt) -> str:
    match node:
        case ast.Return(value=ast.expr()):
            return "result"
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)]):
            return name
        case _:
            return ""


def _imports(codes: Iterable[str], names: set[str]) -> Iterator[str]:
    for code in codes:
        try:
            nodes = ast.parse(code).body
        except SyntaxError:  # a cell with a magic command
            continue
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                needed = [alias for alias in node.names if (alias.asname or alias.name.split(".")[0]) in names]
                if needed:
                    node.names = needed
                    yield ast.unparse(node)


POINTS = 2

_TEMPLATES = Path(__file__).parent / "templates"
_USUAL = {"schema_version": 3, "task": False}  # metadata of every nbgrader cell
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def new_course(folder: Path) -> list[Path]:
    """Make an empty course; returns the files written."""
    _must_be_plain(folder.name)
    if (folder / CONFIG_FILE).exists():
        raise CourseError(f"{folder} is already a course. Go there, then run: grader new assignment NAME")
    (folder / "source").mkdir(parents=True, exist_ok=True)
    (folder / "exercises").mkdir(exist_ok=True)
    files = [_write(folder / CONFIG_FILE, "config", name=folder.name)]
    if not (folder / ".gitignore").exists():
        files.append(_write(folder / ".gitignore", "gitignore"))
    return files


def new_assignment(course: Course, name: str) -> list[Path]:
    """Make an assignment without exercises; returns the files written."""
    _must_be_plain(name)
    path = course.notebook("source", name)
    if path.exists():
        raise CourseError(f"There is already an assignment {name}. Run: grader new exercise NAME --assignment {name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    title = nbformat.v4.new_markdown_cell(f"# {name}", id="title")
    nbformat.write(nbformat.v4.new_notebook(cells=[title], metadata={"kernelspec": kernel}), path)
    return [path]


@dataclass(frozen=True)
class NewExercise:
    """The files of a new exercise."""

    files: Sequence[Path]
    from_cell: bool  # whether it was made from a solution in the notebook


def new_exercise(course: Course, name: str, assignment: str) -> NewExercise:
    """Make an exercise from a solution cell in the notebook, or else an example that asks for the mean."""
    label = label_of(name)
    if label is None:
        raise CourseError(
            f"“{name}” cannot be the name of an exercise. Use a number, or a letter and then letters, digits, - and _."
        )
    course.chosen([assignment])
    path, notebook = _notebook_of(course, assignment, label)
    place = _place_of(notebook, label)
    heading = Headings.of(notebook).by_anchor.get(f"exercise-{label}", "")
    if place is None and heading:
        raise CourseError(
            f"The notebook has a section for exercise {label}, but no solution cell. Add one there: in nbgrader's "
            f"toolbar, choose “Autograded answer”, and give it the ID exercise-{label}."
        )
    points = points_in(heading)
    words = {
        "label": label,
        "written": repr(label),
        "assignment": assignment,
        "points": f"{POINTS if points is None else points:g}",
        "identity": f"number={label}" if isinstance(label, int) else f'name="{label}"',
    }
    files = _an_example(course, notebook, words) if place is None else _from_cell(course, notebook, place, words)
    nbformat.write(notebook, path)
    return NewExercise([path, *files], place is not None)


def _an_example(course: Course, notebook: NotebookNode, words: dict[str, Any]) -> list[Path]:
    """Write an example that works, with right and wrong code from students; its section goes to the end."""
    assignment, label = words["assignment"], words["label"]
    words["function"] = _function_for(label)
    _must_be_new(course, label, words["function"], assignment)
    notebook.cells += _section(words)
    return [
        _write(_file_of(course, words), "exercise", **words),
        _write(course.root / "corpus" / assignment / f"{label}.txt", "corpus", **words),
    ]


def _from_cell(course: Course, notebook: NotebookNode, place: int, words: dict[str, Any]) -> list[Path]:
    """Write an exercise file with the solution from this place in the notebook, and add a test cell."""
    label = words["label"]
    before = [cell.source for cell in notebook.cells[:place] if cell.cell_type == "code"]
    words |= _of_cell(label, SolutionCell(solutions(notebook)[label], tuple(before)))
    _must_be_new(course, label, words["function"], words["assignment"])
    if label not in map(tested_exercise, notebook.cells):
        notebook.cells.insert(place + 1, _test_cell(words, "test_of_cell"))
    return [_write(_file_of(course, words), "exercise_of_cell", **words)]


def _file_of(course: Course, words: dict[str, Any]) -> Path:
    return _exercises_of(course) / f"{words['assignment']}_{words['label']}.py".replace("-", "_")


def _place_of(notebook: NotebookNode, label: Label) -> int | None:
    """The place of the solution cell. If it has only an id so far, it also gets nbgrader's metadata."""
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and cell.id == f"exercise-{label}" and "nbgrader" not in cell.metadata:
            cell.metadata["nbgrader"] = nbformat.from_dict(_marks_of_solution(label))
        if solved_exercise(cell) == label:
            return place
    return None


def _marks_of_solution(label: Label) -> dict[str, object]:
    return {"grade": False, "solution": True, "locked": False, "grade_id": f"exercise-{label}", **_USUAL}


def _function_for(label: Label) -> str:
    function = f"exercise_{label}" if isinstance(label, int) else label.replace("-", "_")
    if keyword.iskeyword(function):
        raise CourseError(f"“{label}” is a Python keyword, so no function can have that name. Choose another name.")
    return function


def _notebook_of(course: Course, assignment: str, label: Label) -> tuple[Path, NotebookNode]:
    """The notebook with this exercise's solution cell, or else the first one."""
    names = course.notebooks("source", assignment)
    notebooks = {course.notebook("source", assignment, name): course.read("source", assignment, name) for name in names}
    for path, notebook in notebooks.items():
        if _place_of(notebook, label) is not None:
            return path, notebook
    return next(iter(notebooks.items()))


def _of_cell(label: Label, cell: SolutionCell) -> dict[str, Any]:
    """The words for the template of an exercise file that is made from this cell."""
    draw = "rng.normal(size=(4, 3))" if cell.is_numpy else "randn(rng, 4, 3)"
    drawn = f"({', '.join(draw for _ in cell.arguments) or '…'},)"
    names = ["Case", "Exercise", *([] if cell.is_numpy else ["randn"]), "wrong"]
    if cell.is_class and not cell.is_module:
        names = ["OBJECTS", "Case", "Exercise", "using", "wrong"]
        number = "int(rng.integers(1, 100))"
        drawn = f"using([{', '.join(number for _ in cell.methods.get('__init__', ()))}]"
        calls = {method: arguments for method, arguments in cell.methods.items() if method != "__init__"}
        for method, arguments in calls.items():
            drawn += f', ("{method}", {", ".join(number for _ in arguments)})'
        drawn += ")"
    elif cell.is_class:
        names = ["MODULE", "Case", "ClassCase", "Exercise", "randn", "wrong"]
        drawn = 'ClassCase([3], {}, {"output": [randn(rng, 4, 3)]})'
    return {
        "function": cell.node.name,
        "title": str(label).replace("-", " ").capitalize(),
        "solution": cell.text,
        "imports": "".join(f"{line}\n" for line in cell.imports),
        "form": f"\n    form={names[0]}," if cell.is_class else "",
        "names": ", ".join(names),
        "inputs": f"{drawn}, numpy=True" if "rng.normal" in drawn or "rng.integers" in drawn else drawn,
        "mark": next(iter(cell.marks), "a mark"),
    }


def _must_be_plain(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise CourseError(f"“{name}” cannot be a name here. Use letters, digits, - and _.")


def _must_be_new(course: Course, label: Label, function: str, assignment: str) -> None:
    for label_in_use, exercise in course.exercises(assignment).items():
        if label == label_in_use or function in [function.entry for function in exercise.functions]:
            raise CourseError(f"There is already an exercise {label_in_use} in {assignment}. Choose another name.")


def _exercises_of(course: Course) -> Path:
    """The course's folder of exercises; a package of exercises cannot be added to from here."""
    files = course.exercise_files
    if files.package:
        raise CourseError(f"The exercises of this course are in the package {files.package}. Add it there.")
    return Path(files.folder) if files.folder else course.root / "exercises"


def _section(words: dict[str, Any]) -> list[NotebookNode]:
    label = words["label"]
    solution = _marks_of_solution(label)
    code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    return [
        text(_text("section", **words), id=f"about-exercise-{label}"),
        code(_text("solution", **words), id=f"exercise-{label}", metadata={"nbgrader": solution}),
        _test_cell(words, "test"),
    ]


def _test_cell(words: dict[str, Any], template: str) -> NotebookNode:
    name = f"test-exercise-{words['label']}"
    marks = {
        "grade": True,
        "solution": False,
        "locked": True,
        "grade_id": name,
        **_USUAL,
        "points": float(words["points"]),
    }
    return nbformat.v4.new_code_cell(_text(template, **words), id=name, metadata={"nbgrader": marks})


def _text(template: str, **words: object) -> str:
    return Template((_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")).substitute(words).rstrip("\n")


def _write(path: Path, template: str, **words: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(f"{_text(template, **words)}\n")
    except FileExistsError:
        raise CourseError(f"{path} already exists, and was not changed. Choose another name.") from None
    return path
