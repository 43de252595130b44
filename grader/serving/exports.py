"""The class report and the points of all, as `grader report` and `grader export` write them, made anew each time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tornado.web import HTTPError

from grader.course.folder import Course
from grader.errors import CourseError
from grader.serving.handler import Handler
from grader.serving.student_pages import MOST_WRITTEN

Content = TypeVar("Content")
KINDS = {".csv": "text/csv; charset=UTF-8", ".json": "application/json"}


class CommandOutput(Handler):
    """Something that a command writes."""

    async def of_course(self, make: Callable[[Course], Content]) -> Content:
        """Make it from the course as it is now, beside other work."""
        self.must_see_class()
        course = Course(self.services.course.root)  # its rules may have changed
        with self.one_of_few(MOST_WRITTEN):
            return await asyncio.get_running_loop().run_in_executor(self.services.writing, make, course)

    async def send_file(self, write: Callable[[Course], Path]) -> None:
        try:
            path = await self.of_course(write)
        except CourseError as error:  # nothing is graded yet, say
            self.refuse(404, str(error))
        self.set_header("Content-Type", KINDS[path.suffix])
        self.finish(path.read_bytes())


class ReportFile(CommandOutput):
    """The report on an assignment, for programs."""

    async def get(self, assignment: str) -> None:
        if assignment not in self.services.course.assignments():
            raise HTTPError(404)

        def write(course: Course) -> Path:
            from grader.pages.report import write_report

            paths = write_report(course, assignment)
            return next(path for path in paths if self.request.path.endswith(path.suffix))

        await self.send_file(write)


class TermFile(CommandOutput):
    """The points of all assignments, and the weighted total."""

    async def get(self) -> None:
        def write(course: Course) -> Path:
            from grader.publishing.whole_term import export_term

            return export_term(course)

        await self.send_file(write)
