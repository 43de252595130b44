"""Find the cell of a source notebook that nbgrader refuses, since nbgrader itself does not say which one it is."""

from __future__ import annotations

from collections.abc import Iterator

from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooNewError, SchemaTooOldError, ValidationError
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions
from traitlets.config import Config

from grader.course.folder import Course
from grader.notebooks.cells import called

_REFUSED = (ValidationError, SchemaTooNewError, SchemaTooOldError, RuntimeError, LookupError, TypeError, ValueError)


def malformed_cells(course: Course, assignment: str) -> list[str]:
    """What is wrong with cells that nbgrader refuses, each with its notebook and its name."""
    notebooks = {name: course.read("source", assignment, name) for name in course.notebooks("source", assignment)}
    return [
        f"In {name}.ipynb, cell {called(cell) or 'without a name'}: {reason}."
        for name, notebook in notebooks.items()
        for cell, reason in _refused(notebook, course.config())
    ]


def _refused(notebook: NotebookNode, config: Config) -> Iterator[tuple[NotebookNode, str]]:
    metadata, names = MetadataValidator(), set()
    steps = [kind(config=config) for kind in (ClearSolutions, ClearHiddenTests, ClearMarkScheme)]
    for cell in notebook.cells:
        source, settings = cell.source, cell.metadata.get("nbgrader", {})
        try:
            metadata.upgrade_cell_metadata(cell)
            metadata.validate_cell(cell)
            if settings.get("task"):
                float(settings["points"])
            for step in steps:
                step.preprocess_cell(cell, {"language": "python"}, 0)
        except _REFUSED as error:
            yield cell, _reason(error, source)
        name = settings.get("grade_id")
        if name and name in names:
            yield cell, "two cells have this grade_id"
        names.add(name)


def _reason(error: Exception, source: str) -> str:
    """What nbgrader says, without the text of the cell."""
    if isinstance(error, KeyError):
        return f"its nbgrader metadata has no {error}"
    message = getattr(error, "message", str(error)).replace(source, "")
    return " ".join(message.split()).strip(" :.")
