"""The part of nbgrader's generate_assignment that puts the grader's modules beside a released notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.notebooks.beside import FILES, for_students, given_beside


class ModulesBeside(NbGraderPreprocessor):
    """Comes first: what a cell says afterwards is what the gradebook keeps, and what a submission is restored to."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.source = for_students(cell.source)
        course, assignment = CourseDirectory(parent=self), resources["nbgrader"]["assignment"]
        steps = course.source_directory, course.release_directory
        source, release = (Path(course.format_path(step, ".", assignment)) for step in steps)
        for place, content in given_beside(source).items():
            path = release / place
            if place in FILES or path.exists():  # what the course ignores is not there
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)  # a copy of a file that is closed for writing is, too
                path.write_bytes(content)
        return nb, resources
