"""A step of nbgrader's generate_assignment that puts files beside a released notebook: the grader's modules, and
AGENTS.md, which tells AI assistants how to help, unless the author has written one.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.course.folder import CONFIG_FILE, Course
from grader.notebooks.modules_beside import for_students, given_beside, put_beside
from grader.release.known_mistakes import FILE, table_for

ASSISTANTS = Path(__file__).with_name("AGENTS.md")


class ModulesBeside(NbGraderPreprocessor):
    """Runs first: the gradebook keeps the cells as they are after this, and submissions are restored to that."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.source = for_students(cell.source)
        course, assignment = CourseDirectory(parent=self), resources["nbgrader"]["assignment"]
        steps = course.source_directory, course.release_directory
        source, release = (Path(course.format_path(step, ".", assignment)) for step in steps)
        release.mkdir(parents=True, exist_ok=True)
        put_beside(release, given_beside(source))
        root = Path(course.root)
        is_ours = (root / CONFIG_FILE).is_file()  # nbgrader reads settings from elsewhere, too
        if is_ours and (table := table_for(Course(root), assignment)):
            (release / FILE).write_bytes(table)
        if not (source / ASSISTANTS.name).exists():
            shutil.copyfile(ASSISTANTS, release / ASSISTANTS.name)
        return nb, resources
