"""The class report: a page, a table and a JSON file that say the same."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.standings import ClassGrades, read_class
from grader.host.scratch import write_whole
from grader.pages.class_summary import summary
from grader.pages.copies import LETTERS, WORDS
from grader.pages.page_parts import REPORT, template
from grader.pages.report_lines import Identical, Points, Summary, as_json
from grader.pages.spreadsheet import defused, number
from grader.pages.submitted_work import files_of
from grader.pages.text_html import sentence_html
from grader.sandbox.plain_text import one_line, plural
from grader.term.times import format_time

# Links from the report to the feedback pages and graded notebooks in the course folder.


@dataclass(frozen=True)
class Link:
    place: str  # relative to the report, as a URL
    called: str  # the name of the notebook


@dataclass(frozen=True)
class Links:
    """The links of one student."""

    pages: Sequence[Link]
    notebooks: Sequence[Link]


def links_of(course: Course, student: str, assignment: str, report: Path) -> Links:
    """Links to the files that exist now, relative to the folder of the report."""

    def found(step: str, ending: str) -> list[Link]:
        paths = sorted((course.folder(step) / student / assignment).glob(f"*.{ending}"))
        return [Link(quote(os.fsencode(os.path.relpath(path, report))), path.stem) for path in paths]

    return Links(found("feedback", "html"), found("autograded", "ipynb"))


MOST_GROUPS = 100  # of students with the same file or text to show


def write_report(
    course: Course,
    assignment: str,
    students: Sequence[str] = (),
) -> list[Path]:
    """Write the page, the table and the JSON of an assignment; returns their paths, the page first.

    If `students` are named, only they are in the report, which is written beside that of the class.
    """
    class_summary = summarize(course, assignment, students)
    folder = course.root / REPORT
    folder.mkdir(exist_ok=True)
    links = {line.student: links_of(course, line.student, assignment, folder) for line in class_summary.students}
    as_page = page(class_summary, links, len(set(students)))
    contents = {
        "html": as_page,
        "csv": table(class_summary),
        "json": json.dumps(as_json(class_summary), indent=2) + "\n",
    }
    paths = []
    for ending, content in contents.items():
        path = folder / f"{assignment}{'-students' if students else ''}.{ending}"
        write_whole(path, content.encode("utf-8-sig" if ending == "csv" else "utf-8"))
        paths.append(path)
    return paths


def summarize(course: Course, assignment: str, students: Sequence[str] = ()) -> Summary:
    """What the report on an assignment says."""
    grades = of_these(read_class(course, assignment), students)
    submitted = files_of(course, assignment, [standing.student for standing in grades.submissions])
    return summary(grades, submitted)


def of_these(grades: ClassGrades, students: Sequence[str]) -> ClassGrades:
    """The class reduced to these students; the whole class if none is named."""
    if not students:
        return grades
    if unknown := sorted(set(students) - {standing.student for standing in grades.standings}):
        raise CourseError(f"There is no student called {', '.join(map(one_line, unknown))}.")
    chosen = replace(grades, standings=[standing for standing in grades.standings if standing.student in students])
    if not chosen.graded:
        raise CourseError(f"None of them has a grade yet. Run: grader autograde {grades.assignment}")
    return chosen


def table(told: Summary) -> str:
    """The report as CSV for spreadsheets, with a line for each student."""
    exercises = [line.exercise for line in told.exercises]
    stopped = Counter((line.student, line.kind) for line in told.stopped)
    denied = {line.student: "; ".join(line.attempts) for line in told.denied}
    text = io.StringIO()
    writer = csv.writer(text)
    head = ["student", "last name", "first name", "status", "points", "of", "penalty", "hours late"]
    tail = ["misconceptions", "timeouts", "crashes", "denied actions"]
    tail += ["identical: with", "hand-in"]
    writer.writerow(map(defused, [*head, *(f"exercise {label}" for label in exercises), *tail]))
    for line in told.students:
        name = line.student
        is_graded = line.points is not None
        numbers = [line.points or 0.0, told.points.max, line.penalty, line.seconds_late / 3600]
        writer.writerow([
            *map(defused, (name, line.last_name, line.first_name, line.status)),
            *(number(value) if is_graded else "" for value in numbers),
            *("waiting" if label in line.waiting else _points(line.exercises.get(label)) for label in exercises),
            defused("; ".join(f"{held.exercise}: {held.name}" for held in line.misconceptions)),
            *(stopped[name, kind] or "" for kind in ("timeout", "crash")),
            defused(denied.get(name, "")),
            defused("; ".join(_others(name, told.identical))),
            defused(line.hand_in),
        ])  # fmt: skip
    return text.getvalue()


def _points(points: float | None) -> str:
    """The points as text; empty if they do not count, or if there is no grade."""
    return "" if points is None else number(points)


def _others(student: str, groups: Iterable[Identical]) -> list[str]:
    """The others in the groups of this student, each once."""
    those = [other for group in groups if student in group.students for other in group.students]
    return [other for other in dict.fromkeys(those) if other != student]


def page(told: Summary, links: Mapping[str, Links] | None = None, chosen: int = 0) -> str:
    """The report as a self-contained page without scripts. All values are escaped as text.

    `links` lead to each student's files; `chosen` is the number of students if they are not the whole class.
    """
    filled = template(
        "report.html",
        text=one_line,
        number=number,
        percent=lambda share: f"{share:.0%}",
        duration=duration,
        students=lambda count: plural(count, "student"),
        moment=lambda text: format_time(datetime.fromisoformat(text), told.zone),
        code=lambda sentence: sentence_html(one_line(sentence, 1000)),
    )
    counts = [part.students + part.waiting for part in told.points.distribution]
    return filled.render(
        told=told,
        links=links or {},
        called=names_of({line.student: (line.first_name, line.last_name) for line in told.students}),
        chosen=chosen,
        fullest=max(1, *counts),
        in_short=in_short(told),
        to_look_at=to_look_at(told),
        words=WORDS,
        letters=LETTERS,
        most=MOST_GROUPS,
    )


def names_of(students: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Students' names for a page, by id, from their first and last names. Ids are added where names are the same."""
    names = {student: " ".join(filter(None, both)) for student, both in students.items()}
    count = Counter(names.values())
    return {
        student: name if count[name] == 1 else f"{name} ({student})" for student, name in names.items() if name.strip()
    }


def in_short(told: Summary) -> list[str]:
    """The class in a few sentences."""
    said = _points_in_short(told.points, len(told.waiting))
    shares = [(line.share_of_full_marks, line) for line in told.exercises if not line.waiting]
    counted = [(share, line) for share, line in shares if share is not None]
    share, hardest = min(counted, key=lambda pair: pair[0], default=(1.0, None))
    if hardest and share < 1:
        title = f", {hardest.title}" if hardest.title else ""
        said.append(f"Hardest: exercise {hardest.exercise}{title} ({share:.0%} got full marks).")
    named = [(mistakes.exercise, line) for mistakes in told.mistakes for line in mistakes.misconceptions]
    exercise, line = max(named, key=lambda pair: pair[1].count, default=(None, None))  # of several, the first
    if line and line.count > 1:
        said.append(
            f"Most common misconception: “{line.name}” in exercise {exercise} ({plural(line.count, 'student')})."
        )
    return said


def _points_in_short(points: Points, waiting: int) -> list[str]:
    most, full, grade = number(points.max), points.full_marks, "final grade" if waiting else "grade"
    said = []
    if points.final == 1:
        said.append(f"One student has a {grade}: {number(points.median or 0.0)} of {most} points.")
    elif points.median is not None and points.middle_half:
        low, high = map(number, points.middle_half)
        said.append(
            f"{points.final} students have a {grade}. The median is {number(points.median)} of {most} points; "
            f"the middle half got {low} to {high}."
        )
    if points.final:
        said.append(f"{plural(full, 'student').capitalize()} {'has' if full == 1 else 'have'} full marks.")
    if waiting:
        has = "has" if waiting == 1 else "have"
        said.append(f"{plural(waiting, 'student')} {has} no final grade yet (waiting for manual grading).")
    return said


def to_look_at(told: Summary) -> list[tuple[str, str]]:
    """What an instructor should look at, with the section that says more."""
    kinds = Counter(line.kind for line in told.stopped)
    counts = [
        ("waiting", len(told.waiting), "submission", "waiting for manual grading"),
        ("no-grade", len(told.no_grade), "submission", "without a grade"),
        ("empty", len(told.empty), "notebook", "with nothing filled in"),
        ("stopped", kinds["timeout"], "timeout", ""),
        ("stopped", kinds["crash"], "crash", ""),
        ("denied", len(told.denied), "submission", "that tried something not allowed"),
        ("in-process", len(told.in_process), "test", "that can be fooled"),
        ("identical", len(told.identical), "group", "with the same file or text"),
        ("late", len(told.late), "late submission", ""),
        ("late-without-time", len(told.late_without_time), "submission", "late by an unknown time"),
        ("no-time", len(told.no_time), "submission", "without a submission time"),
        ("no-submission", len(told.no_submission), "student", "without a submission"),
    ]
    return [(section, f"{plural(count, what)} {which}".strip()) for section, count, what, which in counts if count]


def duration(seconds: float) -> str:
    """A duration in its two largest units, such as 1 day 6 hours."""
    parts = []
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(round(seconds), size)
        if count:
            parts.append(plural(int(count), unit))
    return " ".join(parts[:2])
