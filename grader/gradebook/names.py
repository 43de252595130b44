"""The names of students that graders see: their ids, or, in an anonymous assignment that is not published yet, codes
that nobody can turn back without the course's secret."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from nbgrader.api import Student
from sqlalchemy import select

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_rows import Person
from grader.gradebook.connection import is_new, open_gradebook
from grader.gradebook.hidden_seed import secret_of
from grader.gradebook.published import Publication, Publications, Told, told_now
from grader.gradebook.standings import ClassGrades, Standing
from grader.model.submission import Graded

_LENGTH = 10  # of a code, in hexadecimal: enough to tell thousands apart


class Names:
    """The names by which the students of one assignment are shown."""

    def __init__(self, course: Course, assignment: str) -> None:
        self._course = course
        self._assignment = assignment
        rules = course.rules(assignment)
        self.hidden = rules.anonymous and not Publications(course, assignment).numbers
        self._ruled = {*rules.extensions, *(student for group in rules.groups for student in group)}

    def __call__(self, student: str) -> str:
        """The name by which this student is shown."""
        if not self.hidden:
            return student
        said = f"{self._assignment}\0{student}".encode("utf-8", "surrogateescape")
        return hmac.new(self._secret, said, hashlib.sha256).hexdigest()[:_LENGTH]

    def text(self, text: str) -> str:
        """Replace the ids of students in a message by codes, if they are hidden."""
        return self._named.sub(lambda found: self(found[0]), text) if self.hidden else text

    def telling(self, tell: Callable[[str], None]) -> Callable[[str], None]:
        return lambda text: tell(self.text(text))

    @contextlib.contextmanager
    def in_errors(self) -> Iterator[None]:
        """Replace ids by codes in errors, too."""
        try:
            yield
        except CourseError as error:
            if not self.hidden:
                raise
            raise CourseError(self.text(str(error))) from None

    def result(self, graded: Graded) -> Graded:
        return replace(graded, student=self(graded.student), error=self.text(graded.error))

    def told_now(self, course: Course, tell: Callable[[str], None]) -> tuple[Mapping[str, Told], float]:
        """What every student would be shown now, in this course or a copy of it, and the maximum points."""
        found, most = told_now(course, self._assignment, tell)
        return self._told(found), most

    def publication(self, publication: Publication | None) -> Publication | None:
        return publication and replace(publication, students=self._told(publication.students))

    def _told(self, found: Mapping[str, Told]) -> Mapping[str, Told]:
        if not self.hidden:
            return found
        told = {self(student): replace(one, rules=[*map(self.text, one.rules)]) for student, one in found.items()}
        return dict(sorted(told.items()))

    def grades(self, grades: ClassGrades) -> ClassGrades:
        """The grades with codes for ids, sorted by code so that the order gives nobody away."""
        if not self.hidden:
            return grades
        standings = [self._standing(standing) for standing in grades.standings]
        return replace(grades, standings=sorted(standings, key=lambda standing: standing.student))

    def _standing(self, standing: Standing) -> Standing:
        return replace(standing, person=Person(self(standing.student)), by=standing.by and self(standing.by))

    def whose(self, code: str) -> str:
        """The student with this code."""
        for student in self._known:
            if self(student) == code:
                return student
        raise CourseError(f"Nobody in {self._assignment} has the code {code}.")

    @cached_property
    def _secret(self) -> bytes:
        return secret_of(self._course.root)

    @cached_property
    def _known(self) -> list[str]:
        """The ids of all students that may be in messages, longest first."""
        found = {*self._course.submitters(), *self._course.students(self._assignment), *self._ruled}
        api = self._course.api()
        if not is_new(api):
            with contextlib.closing(open_gradebook(api, lambda _: None)) as gradebook:
                found |= set(gradebook.db.scalars(select(Student.id)))
        return sorted(found, key=lambda student: (-len(student), student))

    @cached_property
    def _named(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, self._known)) or '(?!)'})(?!\w)")
