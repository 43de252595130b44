"""The parts that nbgrader_config.py plugs into nbgrader: a reader, a repairer, and the run that judges."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook, Notebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, Execute, IgnorePattern, NbGraderPreprocessor
from traitlets import Bool, Enum, Integer

from grader.course.exercise_texts import hidden_folders, read_exercise_files
from grader.course.folder import ignore_order_of_rows
from grader.course.loading import Exercises, in_order_of, load
from grader.errors import CourseError
from grader.gradebook.hidden_seed import hidden_seed, secret_of
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.host.notebook_settings import Settings
from grader.host.scratch import files_beside
from grader.model.exercise import DEFAULT_SEED
from grader.model.ordinary import OrdinaryTests
from grader.model.submission import Files, ReleasedCell
from grader.notebooks import brevity
from grader.notebooks.cells import demos_of, exercise_of
from grader.notebooks.modules_beside import given_beside, put_beside
from grader.notebooks.parsing import NOTES_KEY, content_of, parse_notebook, why_not_whole
from grader.notebooks.repair import add_notes, known_cells, repair
from grader.notebooks.safe_html import safe_texts
from grader.notebooks.verdict_cells import refuse_to_score

# If nbgrader is the entry point, importing this module is our only chance before it writes rows.
ignore_order_of_rows()

# The key in nbgrader's resources for what `grader autograde` has read once for a whole class.
IN_MEMORY = "grader"
Resources = dict[str, Any]  # passed by nbconvert from step to step


class SubmissionExporter(NotebookExporter):
    """Reads submissions that nbformat would refuse: they get zero points and a note in the gradebook."""

    def from_filename(self, filename: str, resources: Resources | None = None, **kw: object) -> tuple[str, Resources]:
        if not self.parent._sanitizing:  # nbgrader's second pass reads what the first one wrote
            output: tuple[str, Resources] = super().from_filename(filename, resources, **kw)
            return output
        resources = dict(resources or {})
        metadata = dict(resources.get("metadata", {}))
        path = Path(filename)
        metadata["name"] = path.stem
        metadata["path"] = str(path.parent)
        resources["metadata"] = metadata
        self._remove_copies_of_links(path.parent, resources["nbgrader"])
        content = content_of(path)
        problem = "" if content is None else why_not_whole(content)
        if problem:  # zero points would say nothing about it
            raise CourseError(f"{path.name} is not a complete notebook: {problem}. Ask the student to submit it again.")
        parsed: tuple[str, Resources] = self.from_notebook_node(parse_notebook(content), resources, **kw)
        return parsed

    def _remove_copies_of_links(self, submitted: Path, names: dict[str, str]) -> None:
        """Remove the targets of links: nbgrader has copied them into the folder that the student's code may read."""
        copy = Path(self.parent._format_dest(names["assignment"], names["student"]))
        course = self.parent.coursedir
        source = Path(course.format_path(course.source_directory, ".", names["assignment"]))
        for link in links(submitted):
            path = link.relative_to(submitted)
            if (source / path).exists():  # nbgrader has already put the course's own file there
                continue
            if (copy / path).is_dir():
                shutil.rmtree(copy / path)
            else:
                (copy / path).unlink(missing_ok=True)


def links(folder: Path) -> list[Path]:
    """All links in a folder and in those within it; none is followed."""
    names = (Path(level, name) for level, folders, files in os.walk(folder) for name in folders + files)
    return sorted(path for path in names if path.is_symlink())


class RepairSubmission(NbGraderPreprocessor):
    """Restores the course's cells from nbgrader's record of the released notebook, and makes the rest harmless."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        names = resources["nbgrader"]
        cells = resources[IN_MEMORY].notebook.cells if IN_MEMORY in resources else recorded_cells(self, names)
        notes = nb.metadata.pop(NOTES_KEY, [])
        was_empty = not nb.cells
        repairs = repair(nb, cells)
        if not was_empty:  # else every cell is missing, and a note already says why
            notes += repairs
        if brevity.is_long(nb):
            notes.append(brevity.NOTE)
        add_notes(nb, notes)
        safe_texts(nb)
        for note in notes:
            self.log.warning("%s: %s", names["student"], note)
        return nb, resources


def recorded_cells(preprocessor: NbGraderPreprocessor, names: dict[str, str]) -> list[ReleasedCell]:
    """The cells of a released notebook, from nbgrader's gradebook."""
    with Gradebook(names["db_url"]) as gradebook:
        recorded = gradebook.find_notebook(names["notebook"], names["assignment"])
        return known_cells(recorded, _read_released(preprocessor, names) or _clear_recorded(preprocessor, recorded))


def _read_released(preprocessor: NbGraderPreprocessor, names: dict[str, str]) -> NotebookNode | None:
    """The released notebook, if it is where nbgrader puts it."""
    course = CourseDirectory(parent=preprocessor)
    folder = course.format_path(course.release_directory, ".", names["assignment"])
    path = Path(folder, f"{names['notebook']}.ipynb")
    return nbformat.read(path, as_version=4) if path.is_file() else None


def _clear_recorded(preprocessor: NbGraderPreprocessor, recorded: Notebook) -> NotebookNode:
    """The recorded cells without what nbgrader takes out of a release only after it has recorded them."""
    cells = []
    for cell in recorded.source_cells:
        metadata = {"nbgrader": {"grade_id": cell.name}}
        cells.append(nbformat.v4.new_markdown_cell(cell.source, metadata=metadata))
    notebook = nbformat.v4.new_notebook(cells=cells)
    for step in (ClearHiddenTests, ClearMarkScheme):
        step(parent=preprocessor, enforce_metadata=False).preprocess(notebook, {})
    return notebook


class RunAndJudge(Execute):
    """Runs the notebook in a sandbox and writes verdicts into its test cells, in place of nbgrader's Execute."""

    timeout = Integer(10, allow_none=True, help="Time limit for one cell, in seconds.").tag(config=True)
    case_timeout = Integer(5, help="Time limit for one hidden case, in seconds.").tag(config=True)
    submission_timeout = Integer(300, help="Time limit for a whole notebook, in seconds.").tag(config=True)
    memory = Integer(4 * 2**30, help="Memory limit for a notebook, in bytes.").tag(config=True)
    seed = Integer(DEFAULT_SEED, help="The seed for random hidden cases.").tag(config=True)
    device = Enum(["cpu", "cuda"], "cpu", help="The device to test code on.").tag(config=True)
    confined = Bool(True, help="Whether submissions run in the kernel's sandbox.").tag(config=True)
    by_user = Bool(False, help="Without Landlock: whether submissions may run as a separate user instead.").tag(
        config=True
    )

    def __call__(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        if not self.enabled:  # nbgrader autograde --no-execute: submitted outputs must not count as scores
            refuse_to_score(nb, "The notebook was not run, so nothing was compared.")
        output: tuple[NotebookNode, Resources] = super().__call__(nb, resources)
        return output

    def preprocess(self, nb: NotebookNode, resources: Resources, km: object = None) -> tuple[NotebookNode, Resources]:  # noqa: ARG002
        limits = Limits(
            cell=self.timeout or self.submission_timeout,
            case=self.case_timeout,
            submission=self.submission_timeout,
            memory=self.memory,
        )
        names = resources.get("nbgrader", {})
        if IN_MEMORY in resources:
            data = resources[IN_MEMORY]
            files, demos, seed, cells = data.files, data.notebook.demos, data.hidden_seed, data.notebook.cells
            exercises, hidden = data.exercises, data.hidden
        else:
            folder = resources.get("metadata", {}).get("path")
            if folder and names:
                put_beside(Path(folder), self._companion_files(names))
            files, demos = files_beside(Path(folder) if folder else None), self._demos(names)
            seed, cells = (self._hidden_seed(names), recorded_cells(self, names)) if names else ("", [])
            exercises, hidden = self._exercises(names)
        # Take the order of the release: students may have moved cells.
        exercises = in_order_of(exercises, (exercise_of(cell.grade_id) for cell in cells))
        settings = Settings(
            exercises,
            hidden,
            self.device,
            self.confined,
            f"{self.seed} {seed}",
            names.get("student", ""),
            by_user=self.by_user,
            limits=limits,
            ordinary=self._ordinary_tests(cells),
        )
        grade_notebook(nb, files, settings, demos)
        brevity.shorten(nb)
        return nb, resources

    def _companion_files(self, names: dict[str, str]) -> Files:
        """The files that students get, but that nbgrader, which copies source/, does not put beside a submission."""
        course = CourseDirectory(parent=self)
        files = given_beside(Path(course.format_path(course.source_directory, ".", names["assignment"])))
        replaceable_files = self.config.Autograde.get("exclude_overwriting", {}).get(names["assignment"], [])
        return {name: content for name, content in files.items() if name not in replaceable_files}

    def _ordinary_tests(self, cells: Sequence[ReleasedCell]) -> OrdinaryTests:
        """The ordinary tests, with the configuration of nbgrader's own parts for hidden tests and ignored output."""
        hiding, ignoring = ClearHiddenTests(parent=self), IgnorePattern(parent=self)
        unheard = ignoring.pattern if ignoring.enabled else ""
        return OrdinaryTests.of(cells, hiding.begin_test_delimeter, hiding.end_test_delimeter, unheard)

    def _exercises(self, names: dict[str, str]) -> tuple[Exercises, list[str]]:
        """The exercises of the assignment, and the folders that no student's code may read.

        nbgrader creates this step anew for each submission, and passes no course, so the files are read each time.
        """
        root = Path(CourseDirectory(parent=self).root)
        files = read_exercise_files(self.config, root)
        return load(files).of(names.get("assignment", "")), [str(root), *hidden_folders(files)]

    def _hidden_seed(self, names: dict[str, str]) -> str:
        """The seed of a first attempt: nbgrader does not count attempts."""
        secret = secret_of(Path(CourseDirectory(parent=self).root))
        return hidden_seed(secret, names["assignment"], names["student"])

    def _demos(self, names: dict[str, str]) -> frozenset[str]:
        """The cells that need not run, by the released notebook: tags of a submission could be the student's."""
        released = _read_released(self, names) if names else None
        return demos_of(released) if released else frozenset()
