"""Make up a class: write the gradebook and autograded/ without grading anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

import nbformat

from grader.course.folder import Course
from grader.gradebook.class_gradebook import ClassGradebook, GradebookEntry
from grader.gradebook.marks import AnswerChange
from grader.gradebook.records import Record
from grader.model.answer import Lost, sentence_of
from grader.model.label import Label
from grader.model.submission import Graded, GradedNotebook
from grader.model.verdict import Reason, Scored, Verdict
from grader.notebooks.cells import METADATA_KEY, STOPPED, fill_in, solved_exercise
from support.our_course import EXERCISES

ASSIGNMENT = "self_attention"
MAX_POINTS = {1: 3, 2: 3, 3: 2, 4: 2, 5: 3, 6: 4, 7: 5, 8: 8}


@dataclass
class Paper:
    """A graded paper. Exercises that are not mentioned are right, and earn full marks."""

    student: str
    credit: Mapping[int, float] = field(default_factory=dict)
    named: Mapping[Label, Sequence[str]] = field(default_factory=dict)  # misconceptions
    reason: Mapping[int, Reason] = field(default_factory=dict)
    says: Mapping[Label, Sequence[str]] = field(default_factory=dict)
    lost: Mapping[Label, Lost] = field(default_factory=dict)  # exercises that got no answer
    stopped: Mapping[Label | None, Lost] = field(default_factory=dict)  # solution cells, or one of no exercise
    blocked: Sequence[str] = ()
    cells: Mapping[Label, str] = field(default_factory=dict)
    timestamp: datetime | None = None

    def verdicts(self) -> list[Scored]:
        return [Scored(self._verdict(number), float(points)) for number, points in MAX_POINTS.items()]

    def _verdict(self, number: int) -> Verdict:
        lost = self.lost.get(number)
        credit = self.credit.get(number, 0.0 if lost else 1.0)
        names = self.named.get(number, ())
        reason = Reason.MISCONCEPTION if names else Reason.RIGHT if credit == 1 else Reason.WRONG
        sentence = sentence_of(lost) if lost else "Right." if credit == 1 else "Something differs."
        says = tuple(self.says.get(number, [sentence]))
        return Verdict(
            exercise=number,
            title=EXERCISES[number].title,
            credit=credit,
            reason=self.reason.get(number, Reason.NO_ANSWER if lost else reason),
            sentences=says,
            heading=says[0] if len(names) > 1 and len(says) > 1 else "",
            misconceptions=tuple(names),
            cases=4,
            lost=lost,
        )


def grade(course: Course, *submissions: Paper) -> None:
    """Write these submissions as `grader autograde` would."""
    release = course.read("release", ASSIGNMENT)
    entries = []
    for submission in submissions:
        verdicts = submission.verdicts()
        notebook = fill_in(release, submission.cells)
        for cell in notebook.cells:
            if lost := submission.stopped.get(solved_exercise(cell)):
                cell.metadata[METADATA_KEY] = {STOPPED: asdict(lost)}
        content = nbformat.writes(notebook)
        path = course.notebook(f"autograded/{submission.student}", ASSIGNMENT)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        scores: dict[str, float | None] = {
            f"test-exercise-{scored.verdict.exercise}": scored.points for scored in verdicts
        }
        record = Record("", hashlib.sha256(content.encode()).hexdigest(), verdicts, submission.blocked)
        entries.append(
            GradebookEntry(
                Graded(submission.student, {ASSIGNMENT: GradedNotebook(scores=scores)}),
                record,
                submission.timestamp,
                AnswerChange({}, {}),
            )
        )
    with course.api().gradebook as gradebook:
        ClassGradebook(gradebook, ASSIGNMENT).write(entries, {})
