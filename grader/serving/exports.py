"""For programs: the points of all as `grader report` and `grader export` write them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from tornado.web import HTTPError

from grader.course.folder import Course
from grader.errors import CourseError
from grader.serving.handler import Handler
from grader.serving.student_pages import MOST_WRITTEN

KINDS = {".csv": "text/csv; charset=UTF-8", ".json": "application/json"}


class _Written(Handler):
    """A file that a command writes."""

    async def send(self, write: Callable[[Course], Path]) -> None:
        self.must_see_class()
        course = Course(self.services.course.root)  # its rules may have changed
        loop = asyncio.get_running_loop()
        try:
            with self.one_of_few(MOST_WRITTEN):
                path = await loop.run_in_executor(self.services.writing, write, course)
        except CourseError as error:  # nothing is graded yet, say
            self.refuse(404, str(error))
        self.set_header("Content-Type", KINDS[path.suffix])
        self.finish(path.read_bytes())


class ReportFile(_Written):
    """The report on an assignment."""

    async def get(self, assignment: str) -> None:
        if assignment not in self.services.course.assignments():
            raise HTTPError(404)

        def write(course: Course) -> Path:
            from grader.pages.report import write_report

            written = write_report(course, assignment, self.services.desk.tell)
            return next(path for path in written if self.request.path.endswith(path.suffix))

        await self.send(write)


class TermFile(_Written):
    """The points of all assignments, and the weighted total."""

    async def get(self) -> None:
        def write(course: Course) -> Path:
            from grader.publishing.whole_term import export_term

            return export_term(course, self.services.desk.tell)

        await self.send(write)
