"""Messages between the head of a class and its crew: plain data, without torch and without a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.model.exercise_files import ExerciseFiles
from grader.model.verdict import Scored

Files = Mapping[str, bytes]  # the files beside a notebook, by place


@dataclass(frozen=True)
class ReleasedCell:
    """A cell of the released notebook that nbgrader keeps track of."""

    grade_id: str
    cell_type: str
    source: str
    grade: bool
    solution: bool
    locked: bool
    points: float
    task: bool = False
    checksum: str | None = None
    released: str | None = None  # what students got in its place; None if that is the source

    @property
    def handed_out(self) -> str:
        """The source without what a release leaves out, such as hidden tests and mark schemes."""
        return self.source if self.released is None else self.released

    @property
    def max_score(self) -> float:
        """The points, as nbgrader calls them."""
        return self.points

    @property
    def is_provided(self) -> bool:
        """Whether the course wrote it, so that its source is restored."""
        return self.locked or (self.grade and not self.solution)


@dataclass(frozen=True)
class AssignmentNotebook:
    """A notebook of an assignment, as it was released."""

    name: str
    kernelspec: str | None  # as JSON
    cells: Sequence[ReleasedCell]
    demos: frozenset[str]  # sources of cells that need not be run


@dataclass(frozen=True)
class Assignment:
    """What all submissions have in common."""

    name: str
    db_url: str
    notebooks: Sequence[AssignmentNotebook]
    provided_files: Files  # what the course puts beside every notebook
    settings: str  # nbgrader_config.py; it may define classes, so each process of a crew reads it for itself
    device: str
    confined: bool
    exercises: ExerciseFiles = field(default_factory=ExerciseFiles)
    hidden: Sequence[str] = ()  # folders of the head that no student's code may read


@dataclass(frozen=True)
class Submission:
    """The files that one student submitted for an assignment."""

    student: str
    notebooks: Mapping[str, bytes | None]  # those that are there, by name; None if not a file
    files: Files
    hidden_seed: str = ""  # decides its hidden inputs, with its content
    attempt: str = ""  # which one of this student's it is

    def result(self, error: str = "") -> Graded:
        """The result of this submission, with nothing in it so far."""
        return Graded(self.student, error=error, attempt=self.attempt)


@dataclass
class GradedNotebook:
    """The result for one notebook."""

    text: str = ""  # of the autograded notebook, to be written; empty if it is missing
    scores: dict[str, float | None] = field(default_factory=dict)  # by cell
    comments: dict[str, str | None] = field(default_factory=dict)


@dataclass
class Graded:
    """The result of a submission."""

    student: str
    notebooks: dict[str, GradedNotebook] = field(default_factory=dict)  # by name; all of the assignment
    verdicts: Sequence[Scored] = ()  # of the test cells, in order
    blocked: Sequence[str] = ()  # what the code tried and was not allowed to do
    error: str = ""  # why there is no result
    unchanged: bool = False  # it had its grade already
    attempt: str = ""  # which one of this student's it is
    newest_verdicts: Sequence[Scored] = ()  # those of the newest attempt, if an earlier one counts

    @property
    def points(self) -> float:
        return float(sum(verdict.points for verdict in self.verdicts))

    @property
    def max_points(self) -> float:
        return float(sum(verdict.max_points for verdict in self.verdicts))

    def to_json(self) -> dict[str, Any]:
        """The result for programs; just the error, if there is one."""
        if self.error:
            return {"error": self.error}
        exercises = [scored.to_json() for scored in self.verdicts]
        return {"points": self.points, "max_points": self.max_points, "exercises": exercises}
