"""What may be read of a submission: one value, whose fields are there however much of it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from grader.gradebook.fingerprint import EXERCISES
from grader.gradebook.items import Item
from grader.gradebook.published import PointsChange, PublishedPoints
from grader.model.denied import for_student
from grader.model.verdict import Scored
from grader.pages.feedback_content import apply_rule, explain, wait
from grader.pages.page_parts import Page, PageSection, render, state_of
from grader.pages.text_html import sentence_html
from grader.sandbox.plain_text import listed, one_line
from grader.serving.arrivals import Arrival, Stage
from grader.serving.grades import SubmissionGrade, SubmissionGrades
from grader.term.rules import Detail, Late, Rule
from grader.term.times import format_time

LATE = "This is late."


@dataclass(frozen=True)
class ExerciseResult:
    """What may be read of an exercise."""

    item: Item
    title: str
    heading: str
    state: str  # as on the feedback page
    points: float | None  # None if it does not count, or waits and has none so far
    rule: Rule | None = None  # of the term, as these points follow it
    remark: str = ""  # about the points; empty if they are just what the tests gave
    sentences: Sequence[str] = ()
    scored: Scored | None = None  # None if there is no test, or if no more than points may be read

    @property
    def section(self) -> PageSection:
        """The same on the feedback page: a line of the overview, and sentences below if they may be read."""
        headline = "" if self.rule in (Rule.VOID, Rule.BONUS) else self.remark  # the points say so there
        section = PageSection("", self.heading, self.points, self.item.max_points, self.state, headline)
        if self.scored:
            section.name = f"part-{one_line(self.item.name)}"
            section.points = None if self.rule is Rule.FULL else self.points  # what the rule gives is added below
            explain(section, self.scored)
            section.title = self.heading
        if self.state == "waiting":
            wait(section, self.points)
        apply_rule(section, self.rule)
        return section

    def to_json(self) -> dict[str, Any]:
        """For programs. Points that do not count, or are not given yet, are 0."""
        points, max_points = self.points or 0.0, self.item.max_points
        credit = min(1.0, points / max_points) if max_points else 1.0
        return {
            "exercise": self.item.exercise,
            "credit": credit,
            "reason": "",
            **(self.scored.to_json() if self.scored else {}),
            "title": self.title,
            "heading": self.heading,
            "state": self.state,
            "points": points,
            "max_points": max_points,
            "remark": self.remark,
            "sentences": list(self.sentences),
        }


@dataclass(frozen=True)
class Result:
    """What may be read of a submission. What may not is None or empty."""

    error: str = ""
    points: float | None = None
    max_points: float | None = None
    waits: Sequence[str] = ()  # exercises that wait for points from a person
    penalty: float = 0.0  # points taken off for being late
    exercises: Sequence[ExerciseResult] | None = None
    notes: Sequence[str] | None = None  # what the code tried, and was not allowed to
    missing: str = ""  # which of several notebooks are not there
    late: str = ""  # that it is
    late_rule: str = ""  # what that costs
    attempt: str = ""  # which one this is, if the best of several counts
    counting: str = ""  # which submission counts, if it is another one
    news: Sequence[str] = ()  # that these points were published, and what has changed with that

    @property
    def remarks(self) -> list[str]:
        """About the whole submission."""
        waiting = f"Waiting for your instructor: {listed(self.waits)}." if self.waits else ""
        attempt = f"This is {self.attempt}." if self.attempt else ""
        return list(filter(None, [self.late, self.missing, waiting, attempt, self.counting]))

    @property
    def notices(self) -> list[str]:
        """Those that the feedback page does not say by itself."""
        late = "" if self.penalty else self.late
        return [*self.news, *filter(None, [late, self.missing, self.counting])]

    @property
    def total(self) -> str:
        """The points in words; empty if they may not be read."""
        if self.points is None or self.max_points is None:
            return ""
        return f"{round(self.points, 2):g} of {round(self.max_points, 2):g}{' so far' if self.waits else ''}"

    def to_json(self) -> dict[str, Any]:
        """For programs: without what may not be read."""
        data: dict[str, Any] = {"error": self.error} if self.error else {}
        if self.points is not None:
            data |= {"points": self.points, "max_points": self.max_points}
            data |= {"waits": list(self.waits), "penalty": self.penalty}
        if self.exercises is not None:
            data["exercises"] = [exercise.to_json() for exercise in self.exercises]
        if self.notes is not None:
            data["notes"] = list(self.notes)
        return data

    def page(self, title: str, student: str) -> str:
        """The feedback page with no more than this."""
        score, max_score = self.points, self.max_points or 0.0
        contents = Page(
            title=title,
            student=student,
            notebook=title,
            score=score,
            max_score=max_score,
            without_rules=sum(exercise.item.max_points for exercise in self.exercises or ()) or max_score,
            late_penalty=self.penalty,
            attempt=self.attempt,
            why_late=self.late_rule,
            sections=[exercise.section for exercise in self.exercises or ()],
            notes=[],
            blocked=list(map(sentence_html, self.notes or ())),
            waits=len(self.waits),
        )
        return render(contents)


def result_of(arrival: Arrival, grades: SubmissionGrades, detail: Detail) -> Result:
    """As much of the result of a submission as may be read now. That we could not grade it always may."""
    late, missing = LATE if grades.late_by(arrival) else "", _missing(arrival, grades)
    error = str(arrival.result.get("error") or "")
    grade = None if error or detail is Detail.NOTHING else grades.grade(arrival)
    if grade is None:
        return Result(error=error, missing=missing, late=late)
    standing = grade.standing
    counting = _counting(arrival, grades)
    with_exercises, with_verdicts = detail.shows_exercises, detail in (Detail.MISTAKES, Detail.EVERYTHING)
    return Result(
        points=standing.total,
        max_points=grade.max_points,
        waits=standing.waits,
        penalty=standing.penalty,
        exercises=list(_exercises(grade, grades, with_verdicts)) if with_exercises else None,
        notes=[f"Your code tried to {for_student(kind)}." for kind in grade.findings.tried] if with_verdicts else None,
        missing=missing,
        late=late and _late(standing, grades.rules.late),
        late_rule=grades.rules.late.words if grades.rules.late else "",
        attempt="" if counting else standing.hand_in,
        counting=counting,
        news=[] if counting else published_news(grades, arrival.student, detail),
    )


def published_news(grades: SubmissionGrades, student: str, detail: Detail) -> list[str]:
    """That a student's points were published, and what has changed with that, as far as it may be read."""
    publication, points = grades.publication, grades.published(student)
    if publication is None or points is None or detail is Detail.NOTHING:
        return []
    time = format_time(datetime.fromisoformat(publication.at), grades.rules.zone)
    sentences = [f"These points were published on {time}."]
    for change in publication.changed:
        if change.student == student and change.before is not None:
            if change.before != points.total:
                sentences.append(f"Before, you had {round(change.before, 2):g}.")
            if change.exercises and detail.shows_exercises:
                sentences.append(_describe_change(change, grades))
    return [" ".join(sentences[:2]), *sentences[2:]]


def _describe_change(change: PointsChange, grades: SubmissionGrades) -> str:
    items = grades.rows.items if grades.rows else ()
    numbered = {item.label for item in items if item.exercise is not None}
    lines = []
    for line in change.exercises:
        label, _, _ = line.rpartition(": ")
        lines.append(f"Exercise {line}" if label in numbered else line)
    reasons = listed(change.why).replace(EXERCISES, "changed tests")  # students do not know the files
    return f"{listed(lines)}, because of {reasons}."


def total_of(standing: PublishedPoints, max_points: float) -> Result:
    """The points alone."""
    return Result(points=standing.total, max_points=max_points, waits=standing.waits, penalty=standing.penalty)


def result_now(arrival: Arrival, grades: SubmissionGrades | None) -> Result:
    """What counts now for the student of a submission, once it is graded, and whether the submission is late."""
    if grades is None:
        return Result()
    standing = grades.standing(arrival.student) if arrival.state is Stage.GRADED else None
    result = total_of(standing, grades.most(arrival.student)) if standing else Result()
    return replace(result, late=LATE if grades.late_by(arrival) else "")


def _missing(arrival: Arrival, grades: SubmissionGrades) -> str:
    names = grades.course.notebooks("release", arrival.assignment)
    missing = [name for name in names if arrival.notebooks and name not in arrival.notebooks]
    return f"Not submitted yet: {listed(missing)}." if missing else ""


def _late(standing: PublishedPoints, rule: Late | None) -> str:
    words = f" ({rule.words})" if rule else ""
    return f"This is late: {standing.penalty:g} points are taken off{words}." if standing.penalty else LATE


def _counting(arrival: Arrival, grades: SubmissionGrades) -> str:
    """Which submission counts, if it is another one."""
    counting, row = grades.counting_arrival(arrival.student), grades.counting(arrival.student)
    if counting == arrival or row is None:
        return ""
    if counting is not None and counting.student == arrival.student:
        if grades.counts(arrival):
            return f"This is the same file as submission {counting.number}, whose time counts."
        return f"Submission {counting.number} counts, not this one."
    time = f" of {format_time(row.timestamp, grades.rules.zone)}" if row.timestamp else ""
    by = f" by {row.student_id}" if row.student_id != arrival.student else ""
    return f"The submission{time}{by} counts, not this one."


def _exercises(grade: SubmissionGrade, grades: SubmissionGrades, with_verdicts: bool) -> Iterator[ExerciseResult]:
    """All that earns points, in the order of the notebook."""
    verdicts = {scored.verdict.label: scored for scored in grade.findings.verdicts}
    for item in grades.rows.items if grades.rows else ():
        yield _exercise(item, grade.standing, verdicts.get(item.label), with_verdicts and grade.explains)


def _exercise(item: Item, standing: PublishedPoints, scored: Scored | None, with_verdicts: bool) -> ExerciseResult:
    label, verdict = item.label, scored.verdict if scored else None
    points, rule = standing.points.get(label), item.rule
    state = state_of(points or 0.0, item.max_points)
    if label in standing.void:
        state, points, rule = "void", None, Rule.VOID
    elif label in standing.waits:
        state, points = "waiting", points or None
    if (rule is Rule.VOID and state != "void") or (rule is Rule.FULL and state != "full"):
        rule = None  # it is newer than these points, which were published
    title = verdict.title if verdict else item.name
    is_wrong = verdict is not None and not verdict.right
    return ExerciseResult(
        item=item,
        title=title,
        heading=title if item.exercise is None else f"Exercise {item.exercise}: {title}",
        state=state,
        points=points,
        rule=rule,
        remark=_remark(item, rule, standing, scored),
        sentences=verdict.sentences if verdict and is_wrong and with_verdicts else (),
        scored=scored if with_verdicts else None,
    )


def _remark(item: Item, rule: Rule | None, standing: PublishedPoints, scored: Scored | None) -> str:
    """Why the points are not just what the tests gave."""
    tests = f"; the tests gave {scored.points:g}" if scored else ""
    if rule is Rule.VOID:
        return "This does not count."
    if rule is Rule.FULL:
        return "Everyone who submitted gets full marks."
    if item.label in standing.by_hand:
        return f"Your instructor set these points{tests}."
    return "This is a bonus." if rule is Rule.BONUS else ""
