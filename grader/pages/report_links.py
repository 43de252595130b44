"""Where the report's links lead: to the feedback pages and graded notebooks that lie in the course folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from grader.course.folder import Course


@dataclass(frozen=True)
class Link:
    place: str  # as seen from the report, fit for a page
    called: str  # as its notebook


@dataclass(frozen=True)
class Links:
    """Those of one student."""

    pages: Sequence[Link]
    notebooks: Sequence[Link]


def links_of(course: Course, student: str, assignment: str, report: Path) -> Links:
    """What lies there now, seen from the folder of the report."""

    def found(step: str, ending: str) -> list[Link]:
        paths = sorted((course.folder(step) / student / assignment).glob(f"*.{ending}"))
        return [Link(quote(os.fsencode(os.path.relpath(path, report))), path.stem) for path in paths]

    return Links(found("feedback", "html"), found("autograded", "ipynb"))
