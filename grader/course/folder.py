"""A course folder: its parts, and nbgrader with its settings."""

from __future__ import annotations

import copy
import glob
import os
import re
import shutil
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.course.exercise_texts import read_exercise_files
from grader.course.wiring import wired
from grader.errors import CourseError
from grader.model.exercise_files import ExerciseFiles
from grader.term.reading import read_rules
from grader.term.rules import AssignmentRules, Rules

# Packages that may be missing or broken are imported where they are needed, so that `grader doctor` can report them.
if TYPE_CHECKING:
    from nbformat import NotebookNode
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import Config

    from grader.course.loading import Catalogue, Exercises
    from grader.model.label import Label

CONFIG_FILE = "nbgrader_config.py"
STEPS = ("source", "release", "submitted", "autograded", "feedback")
STRUCTURE = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")  # noqa: PTH118  as nbgrader writes it


def open_course(root: Path = Path()) -> Course:
    """Open the course that this process works for, and apply the settings that hold for the whole process.

    Entry points call this, and pass the course on. Nothing else changes sys.path, PATH or warning filters.
    """
    course = Course(root)
    take_plugins_from(course.root)
    put_on_path(folder_of_alembic())
    ignore_order_of_rows()
    ignore_missing_ids()
    return course


class Course:
    """A course folder with its settings, rules and exercise files, each read when first needed, and then kept.

    To see later changes to them, open the course again. Notebooks and submissions are not kept.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not (self.root / CONFIG_FILE).is_file():
            raise CourseError(f"There is no {CONFIG_FILE} in {self.root}. Run this in the course folder.")

    def at(self, root: Path, settings: Mapping[str, str]) -> Course:
        """This course as already read, with another root and other `settings` for some folders and the gradebook."""
        moved = Course(root)
        moved.settings, moved.exercise_files, moved._rules = self.settings, self.exercise_files, self._rules
        moved._config = self.config()
        moved._config.CourseDirectory.update({**settings, "root": str(moved.root)})
        return moved

    @cached_property
    def settings(self) -> str:
        """The text of nbgrader_config.py."""
        return (self.root / CONFIG_FILE).read_text()

    def config(self) -> Config:
        """The settings as on nbgrader's command line: a copy, since nbgrader changes what it gets."""
        return copy.deepcopy(self._config)

    @cached_property
    def _config(self) -> Config:
        try:
            config = read_config(self.settings)
        except (Exception, SystemExit) as error:  # it is the user's own Python code, so anything can happen
            reason = f"{type(error).__name__}: {error}"
            raise CourseError(f"{CONFIG_FILE} cannot be read. Fix it, then run this again. {reason}") from None
        if Path(config.CourseDirectory.get("directory_structure", STRUCTURE)) != Path(STRUCTURE):
            raise CourseError(
                f"c.CourseDirectory.directory_structure in {CONFIG_FILE} does not work here. Set it to {STRUCTURE}, "
                "or use nbgrader alone."
            )
        config.CourseDirectory.root = str(self.root)
        return config

    def rules(self, assignment: str) -> AssignmentRules:
        """The term's rules for an assignment."""
        return self._rules.of(assignment)

    @cached_property
    def _rules(self) -> Rules:
        return read_rules(self.root, self.assignments())

    @cached_property
    def exercise_files(self) -> ExerciseFiles:
        """The texts of the course's exercise files, for the processes that grade."""
        return read_exercise_files(self._config, self.root)

    def catalogue(self, assignment: str | None = None) -> Catalogue:
        """Load all exercises. Those from a package may belong to assignments that this course does not have."""
        from grader.course.loading import load  # imports torch

        files = self.exercise_files
        return load(files, None if files.package else self.assignments(), assignment=assignment)

    def exercises(self, assignment: str) -> Exercises:
        """The exercises of an assignment, in the order of its notebooks; none if all its tests are nbgrader's own."""
        from grader.course.loading import in_order_of
        from grader.notebooks.cells import tested_exercise

        labels: list[Label | None] = []
        for name in self.notebooks("source", assignment):
            labels += map(tested_exercise, self.read("source", assignment, name).cells)
        return in_order_of(self.catalogue(assignment).of(assignment), labels)

    def called(self, step: str) -> str:
        """The name of the folder of a step here: source, release, submitted, autograded or feedback."""
        return str(self._config.CourseDirectory.get(f"{step}_directory", step))

    def folder(self, path: str | Path) -> Path:
        """The path of a step's folder, or of one in it, such as submitted/ada. Other paths are in the root folder."""
        step, _, below = str(path).partition("/")
        return self.root / (self.called(step) if step in STEPS else step or "/") / below

    def api(self, config: Config | None = None) -> NbGraderAPI:
        """nbgrader's own interface, with `config` or the settings of nbgrader_config.py."""
        from nbgrader.apps.api import NbGraderAPI

        return NbGraderAPI(config=config or self.config())

    def need_plain_path(self) -> None:
        """Refuse paths with [, * or ?, since nbgrader finds files by patterns."""
        for folder in (self.root, *map(self.folder, STEPS)):
            if glob.escape(str(folder)) != str(folder):
                raise CourseError(
                    f"nbgrader finds nothing in {folder}, because it reads [, * and ? as a pattern. Rename the folder, "
                    "then run this again."
                )

    def assignments(self) -> list[str]:
        return sorted({path.parent.name for path in self.folder("source").glob("*/*.ipynb")})

    def notebooks(self, folder: str, assignment: str) -> list[str]:
        """The names of an assignment's notebooks in a folder."""
        return sorted(path.stem for path in (self.folder(folder) / assignment).glob("*.ipynb"))

    def released_cells(self, assignment: str) -> list[tuple[str, str]]:
        """The cells of the released notebooks, in order: the notebook and the name of each."""
        cells = []
        for name in self.notebooks("release", assignment):
            for cell in self.read("release", assignment, name).cells:
                cells.append((name, cell.metadata.get("nbgrader", {}).get("grade_id", "")))
        return cells

    def chosen(self, names: list[str] | None) -> list[str]:
        """The named assignments, or all; unknown names are an error."""
        assignments = self.assignments()
        for name in names or []:
            if name not in assignments:
                raise CourseError(f"There is no assignment “{name}”. {self._list(assignments)}")
        return names or assignments

    def notebook(self, folder: str, assignment: str, name: str = "") -> Path:
        """The path of a notebook in a folder such as source, release or submitted/ada; without `name`, of the one named
        after the assignment."""
        return self.folder(folder) / assignment / f"{name or assignment}.ipynb"

    def read(self, folder: str, assignment: str, name: str = "") -> NotebookNode:
        import nbformat
        from nbformat.reader import NotJSONError

        path = self.notebook(folder, assignment, name)
        try:
            return nbformat.read(path, as_version=4)
        except (OSError, NotJSONError, ValueError) as error:
            advice = "Fix it, or restore a copy." if folder == "source" else f"Run: grader release {assignment}"
            reason = error.strerror if isinstance(error, OSError) else "it is not a notebook"
            raise CourseError(f"{path} cannot be read: {reason}. {advice}") from error

    def students(self, assignment: str) -> list[str]:
        """All students who have anything for this assignment in submitted/."""
        return [path.name for path in self._submitted() if _exists(path / assignment)]

    def submitters(self) -> list[str]:
        """All students who have a folder in submitted/."""
        return [path.name for path in self._submitted() if path.name[0] != "." and path.is_dir()]

    def strays(self) -> list[str]:
        """The names of anything among the students' folders that is not a folder."""
        return [path.name for path in self._submitted() if path.name[0] != "." and not path.is_dir()]

    def _submitted(self) -> list[Path]:
        try:
            return sorted(self.folder("submitted").iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise CourseError(
                f"The folder {self.called('submitted')}/ cannot be read: {error.strerror}. Fix that, then run this "
                "again."
            ) from None

    def _list(self, assignments: list[str]) -> str:
        if assignments:
            return f"Assignments: {', '.join(assignments)}."
        return f"There are none yet. Put them in {self.called('source')}/NAME/."


def _exists(path: Path) -> bool:
    """Whether something is there; also true if we may not look."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def folder_of_alembic() -> Path:
    """The folder of the program alembic: beside our interpreter, or where else pip may put programs."""
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    folders.append(Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))))
    spec = find_spec("alembic")
    if spec and spec.origin:
        folders.append(Path(spec.origin).parent.parent / "bin")  # pip install --target
    return next((folder for folder in folders if (folder / "alembic").is_file()), folders[0])


def take_plugins_from(folder: Path) -> None:
    """Let nbgrader import a course's own plug-ins. They come last, so that they cannot hide a library."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def ignore_order_of_rows() -> None:
    """Silence SQLAlchemy's warning about the order in which nbgrader adds rows; the rows are right."""
    warnings.filterwarnings("ignore", "Object of type", RuntimeWarning)


def ignore_missing_ids() -> None:
    """Silence nbformat's warnings about cells without ids of their own, as in the header that nbgrader writes."""
    warnings.filterwarnings("ignore", "Cell is missing an id", FutureWarning)
    warnings.filterwarnings("ignore", "Non-unique cell id", FutureWarning)


def put_on_path(folder: Path) -> None:
    """Let nbgrader find `alembic`, which it starts by name to make a new gradebook."""
    path = os.environ.get("PATH", os.defpath)
    if path.split(os.pathsep)[0] != str(folder):  # once is enough, even if a process opens several courses
        os.environ["PATH"] = os.pathsep.join([str(folder), path])


def reason_of(result: Mapping[str, Any]) -> str:
    """Why nbgrader's interface failed: the first error in a traceback of its log."""
    log = result.get("log") or ""
    errors = re.findall(r"^\s*([\w.]+(?:Error|Exception|Conflict|Entry)\w*: .*)", log, re.MULTILINE)
    errors = errors or re.findall(r"^\[ERROR\] (.*)", log, re.MULTILINE)
    return str(errors[0]) if errors else "it does not say why."


def read_config(settings: str) -> Config:
    """Read settings from a text such as nbgrader_config.py, and add our parts if it names none."""
    from traitlets.config import PyFileConfigLoader

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, CONFIG_FILE).write_text(settings)
        config: Config = PyFileConfigLoader(CONFIG_FILE, path=folder).load_config()
        return wired(config)


def copy_course(source: Course, target: Path) -> Course:
    """Make a fresh course folder with the same source, exercises and settings; everything it makes stays in it.

    Tables of known mistakes take long to make. They are copied too, and used if they are of the same exercises.
    """
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    for path in source.root.glob("*.py"):  # plugins, too
        shutil.copyfile(path, target / path.name)
    source_settings = source.config().CourseDirectory
    settings = {f"{step}_directory": step for step in STEPS}
    settings["db_url"] = f"sqlite:///{target.resolve()}/gradebook.db"
    with (target / CONFIG_FILE).open("a") as config:
        for key, value in settings.items():
            if key in source_settings:
                config.write(f"\nc.CourseDirectory.{key} = {value!r}\n")
    shutil.copytree(source.folder("source"), target / "source", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    for table in source.folder("release").glob("*/known_mistakes.py"):
        copy_of_table = target / "release" / table.parent.name / table.name
        copy_of_table.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(table, copy_of_table)
    files = source.exercise_files
    if files.texts and not files.package:
        folder = target / Path(files.folder).relative_to(source.root)
        shutil.copytree(files.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Course(target)
