"""Do to a notebook what `nbgrader autograde` does, but in memory, and common work only once for a whole class.

The preprocessors are those of nbgrader_config.py. Where nbgrader's own ones would ask the gradebook, they find what
was read from it before; and what they would write into it is returned.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import fastjsonschema
from nbformat import NotebookNode
from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.nbgraderformat.common import BaseMetadataValidator
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets.utils.importstring import import_item

from grader.course.exercise_texts import hidden_folders
from grader.course.folder import read_config
from grader.course.loading import Exercises, load
from grader.gradebook.preprocessors import IN_MEMORY, Resources
from grader.model.submission import Assignment, AssignmentNotebook, Files, ReleasedCell

_LOG = logging.getLogger(__name__)  # not nbgrader's, which prints
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


@dataclass
class CellMarks:
    """What the gradebook is to store about one cell."""

    auto_score: float | None = None
    auto_comment: str | None = None
    manual_score: None = None  # it is in the gradebook, and is dealt with there
    needs_manual_grade: bool = False


@dataclass
class ConversionData:
    """What preprocessors read instead of folders and a gradebook, and what they write, for one submission."""

    notebook: AssignmentNotebook
    files: Files
    hidden_seed: str
    exercises: Exercises
    hidden: Sequence[str]  # folders
    grades: dict[str, CellMarks] = field(default_factory=dict)  # by cell
    comments: dict[str, CellMarks] = field(default_factory=dict)


class Conversion:
    """All the steps that a notebook goes through."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        config = read_config(assignment.settings)
        config.RunAndJudge.device = assignment.device
        config.RunAndJudge.confined = assignment.confined
        self._exercises = load(assignment.exercises, checked=True).of(assignment.name)
        self._hidden = [*assignment.hidden, *hidden_folders(assignment.exercises)]
        converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
        names = [*converter.sanitize_preprocessors, *converter.autograde_preprocessors]
        self._steps = []
        for name in names:
            preprocessor = import_item(name) if isinstance(name, str) else name
            # The main process does penalties: they depend on points that a person has given.
            if preprocessor is not AssignLatePenalties:
                step = _IN_MEMORY.get(preprocessor, preprocessor)(config=config)
                step.log = _LOG
                self._steps.append(step)

    def run(
        self, notebook: NotebookNode, released: AssignmentNotebook, student: str, files: Files, hidden_seed: str
    ) -> tuple[NotebookNode, ConversionData]:
        """The autograded notebook, and what is to be written into the gradebook."""
        name = self._assignment.name
        data = ConversionData(released, files, hidden_seed, self._exercises, self._hidden)
        resources: Resources = {
            "metadata": {"name": released.name, "path": ""},
            "nbgrader": {
                "student": student, "assignment": name, "notebook": released.name, "db_url": self._assignment.db_url
            },
            IN_MEMORY: data,
        }  # fmt: skip
        for step in self._steps:
            notebook, resources = step(notebook, resources)
        return notebook, data


class _ReleasedCells:
    """A stand-in for the gradebook, to be asked about the released notebook."""

    def __init__(self, cells: Sequence[ReleasedCell]) -> None:
        self._by_name = {cell.grade_id: cell for cell in cells}

    def find_source_cell(self, name: str, *_: str) -> ReleasedCell:
        if name not in self._by_name:
            raise MissingEntry(name)
        return self._by_name[name]

    find_graded_cell = find_source_cell


class _ReleasedKernelspec(OverwriteKernelspec):
    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        kernelspec = json.loads(resources[IN_MEMORY].notebook.kernelspec or "null")
        if kernelspec:
            nb.metadata["kernelspec"] = kernelspec
        return nb, resources


class _OverwriteFromMemory(OverwriteCells):
    """Restores the cells that students may not change. Our repairer has already added missing ones."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        self.notebook_id = self.assignment_id = ""
        self.gradebook = _ReleasedCells(resources[IN_MEMORY].notebook.cells)
        return NbGraderPreprocessor.preprocess(self, nb, resources)  # type: ignore[no-any-return]


class _MarksInMemory:
    """A stand-in for the gradebook, which keeps scores and comments."""

    def __init__(self, data: ConversionData) -> None:
        self._data = data
        self.db = self

    def find_grade(self, name: str, *_: str) -> CellMarks:
        return self._data.grades.setdefault(name, CellMarks())

    def find_comment(self, name: str, *_: str) -> CellMarks:
        return self._data.comments.setdefault(name, CellMarks())

    def commit(self) -> None:
        """Do nothing: the main process commits many submissions at once."""


class _SaveInMemory(SaveAutoGrades):
    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        self.notebook_id = self.assignment_id = self.student_id = ""
        self.gradebook = _MarksInMemory(resources[IN_MEMORY])
        return NbGraderPreprocessor.preprocess(self, nb, resources)  # type: ignore[no-any-return]


class _CompiledSchema(BaseMetadataValidator):
    def __init__(self) -> None:
        super().__init__()
        self._check = fastjsonschema.compile(self.schema, use_default=False)

    def validate_cell(self, cell: NotebookNode) -> None:
        if "nbgrader" in cell.metadata:
            try:
                self._check(cell.metadata["nbgrader"])
            except fastjsonschema.JsonSchemaValueException as error:
                raise ValidationError(str(error)) from error


class _CompiledValidator(MetadataValidator, _CompiledSchema):
    """nbgrader's own checks, with a schema that is compiled once instead of read again for every cell."""


class _CheckCompiled(CheckCellMetadata):
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self._validator = _CompiledValidator()

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        self._validator.validate_nb(nb)
        return nb, resources


_IN_MEMORY = {
    OverwriteKernelspec: _ReleasedKernelspec,
    OverwriteCells: _OverwriteFromMemory,
    SaveAutoGrades: _SaveInMemory,
    CheckCellMetadata: _CheckCompiled,
}
