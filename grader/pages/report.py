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
from grader.model.label import Label
from grader.pages.class_summary import summary as summary_of
from grader.pages.copies import LETTERS, WORDS
from grader.pages.page_parts import REPORT, template
from grader.pages.report_lines import Identical, MisconceptionLine, MistakeLine, Mistakes, Points, Summary, as_json
from grader.pages.spreadsheet import defused, number
from grader.pages.submitted_work import files_of
from grader.pages.text_html import sentence_html
from grader.sandbox.plain_text import one_line, plural
from grader.term.times import format_time

# Links from the report to the feedback pages and graded notebooks in the course folder.


@dataclass(frozen=True)
class Link:
    url: str  # relative to the report
    name: str  # of the notebook


@dataclass(frozen=True)
class Links:
    """The links of one student."""

    pages: Sequence[Link]
    notebooks: Sequence[Link]


def links_of(course: Course, student: str, assignment: str, report: Path) -> Links:
    """Links to the files that exist now, relative to the folder of the report."""

    def links_to(step: str, ending: str) -> list[Link]:
        paths = sorted((course.folder(step) / student / assignment).glob(f"*.{ending}"))
        return [Link(quote(os.fsencode(os.path.relpath(path, report))), path.stem) for path in paths]

    return Links(links_to("feedback", "html"), links_to("autograded", "ipynb"))


MAX_GROUPS = 100  # of students with the same file or text to show


def write_report(
    course: Course,
    assignment: str,
    students: Sequence[str] = (),
) -> list[Path]:
    """Write the page, the table and the JSON of an assignment; returns their paths, the page first.

    If `students` are named, only they are in the report, which is written beside that of the class.
    """
    summary = summarize(course, assignment, students)
    folder = course.root / REPORT
    folder.mkdir(exist_ok=True)
    links = {line.student: links_of(course, line.student, assignment, folder) for line in summary.students}
    contents = {
        "html": page(summary, links, len(set(students))),
        "csv": table(summary),
        "json": json.dumps(as_json(summary), indent=2) + "\n",
    }
    paths = []
    for ending, content in contents.items():
        path = folder / f"{assignment}{'-students' if students else ''}.{ending}"
        write_whole(path, content.encode("utf-8-sig" if ending == "csv" else "utf-8"))
        paths.append(path)
    return paths


def summarize(course: Course, assignment: str, students: Sequence[str] = ()) -> Summary:
    """What the report on an assignment says."""
    grades = select_class(read_class(course, assignment), students)
    submitted = files_of(course, assignment, [standing.student for standing in grades.submissions])
    return summary_of(grades, submitted)


def select_class(grades: ClassGrades, students: Sequence[str]) -> ClassGrades:
    """The class reduced to these students; the whole class if none is named."""
    if not students:
        return grades
    unknown = sorted(set(students) - {standing.student for standing in grades.standings})
    if unknown:
        raise CourseError(f"There is no student called {', '.join(map(one_line, unknown))}.")
    chosen = replace(grades, standings=[standing for standing in grades.standings if standing.student in students])
    if not chosen.graded:
        raise CourseError(f"None of them has a grade yet. Run: grader autograde {grades.assignment}")
    return chosen


def table(summary: Summary) -> str:
    """The report as CSV for spreadsheets, with a line for each student."""
    labels = [line.exercise for line in summary.exercises]
    stopped = Counter((line.student, line.kind) for line in summary.stopped)
    denied = {line.student: "; ".join(line.attempts) for line in summary.denied}
    head = ["student", "last name", "first name", "status", "points", "of", "penalty", "hours late"]
    head += [f"exercise {label}" for label in labels]
    head += ["misconceptions", "timeouts", "crashes", "denied actions", "identical: with", "hand-in", "own code"]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(defused, head))
    for line in summary.students:
        row = list(map(defused, (line.student, line.last_name, line.first_name, line.status)))
        if line.points is None:
            row += ["", "", "", ""]
        else:
            row += map(number, (line.points, summary.points.max, line.penalty, line.seconds_late / 3600))
        row += ["waiting" if label in line.waiting else _points(line.exercises.get(label)) for label in labels]
        misconceptions = [f"{mistake.exercise}: {mistake.name}" for mistake in line.misconceptions]
        row.append(defused("; ".join(misconceptions)))
        row += [str(stopped[line.student, kind] or "") for kind in ("timeout", "crash")]
        row.append(defused(denied.get(line.student, "")))
        row.append(defused("; ".join(_partners(line.student, summary.identical))))
        row.append(defused(line.hand_in))
        row.append(defused(line.own_code))
        writer.writerow(row)
    return text.getvalue()


def _points(points: float | None) -> str:
    """The points as text; empty if they do not count, or if there is no grade."""
    return "" if points is None else number(points)


def _partners(student: str, groups: Iterable[Identical]) -> list[str]:
    """The others in the groups of this student, each once."""
    members = dict.fromkeys(member for group in groups if student in group.students for member in group.students)
    return [member for member in members if member != student]


def page(summary: Summary, links: Mapping[str, Links] | None = None, chosen: int = 0) -> str:
    """The report as a self-contained page without scripts. All values are escaped as text.

    `links` lead to each student's files; `chosen` is the number of students if they are not the whole class.
    """
    report = template(
        "report.html",
        text=one_line,
        number=number,
        percent=lambda share: f"{share:.0%}",
        duration=duration,
        students=lambda count: plural(count, "student"),
        moment=lambda text: format_time(datetime.fromisoformat(text), summary.zone),
        code=lambda sentence: sentence_html(one_line(sentence, 1000)),
    )
    counts = [interval.students + interval.waiting for interval in summary.points.distribution]
    return report.render(
        summary=summary,
        links=links or {},
        names_of_students=names_of({line.student: (line.first_name, line.last_name) for line in summary.students}),
        chosen=chosen,
        fullest=max(1, *counts),
        in_short=in_short(summary),
        mistakes=most_frequent_first(summary.mistakes),
        to_look_at=to_look_at(summary),
        words=WORDS,
        letters=LETTERS,
        max_groups=MAX_GROUPS,
    )


def names_of(students: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Students' names for a page, by id, from their first and last names. Ids are added where names are the same."""
    names = {student: " ".join(filter(None, first_and_last)) for student, first_and_last in students.items()}
    counts = Counter(names.values())
    unique: dict[str, str] = {}
    for student, name in names.items():
        if name.strip():
            unique[student] = name if counts[name] == 1 else f"{name} ({student})"
    return unique


def in_short(summary: Summary) -> list[str]:
    """The class in a few sentences."""
    sentences = _points_in_short(summary.points, len(summary.waiting))
    shares = [(line.share_of_full_marks, line) for line in summary.exercises if not line.waiting]
    known_shares = [(share, line) for share, line in shares if share is not None]
    share, hardest = min(known_shares, key=lambda pair: pair[0], default=(1.0, None))
    if hardest and share < 1:
        title = f", {hardest.title}" if hardest.title else ""
        sentences.append(f"Hardest: exercise {hardest.exercise}{title} ({share:.0%} got full marks).")
    exercise, line = next(iter(most_frequent_first(summary.mistakes)), (None, None))
    if isinstance(line, MisconceptionLine) and line.count > 1:
        students = plural(line.count, "student")
        sentences.append(f"Most common misconception: “{line.name}” in exercise {exercise} ({students}).")
    return sentences


def _points_in_short(points: Points, waiting: int) -> list[str]:
    max_points, full, grade = number(points.max), points.full_marks, "final grade" if waiting else "grade"
    sentences = []
    if points.final == 1:
        sentences.append(f"One student has a {grade}: {number(points.median or 0.0)} of {max_points} points.")
    elif points.median is not None and points.middle_half:
        low, high = map(number, points.middle_half)
        sentences.append(
            f"{points.final} students have a {grade}. The median is {number(points.median)} of {max_points} points; "
            f"the middle half got {low} to {high}."
        )
    if points.final:
        sentences.append(f"{plural(full, 'student').capitalize()} {'has' if full == 1 else 'have'} full marks.")
    if waiting:
        has = "has" if waiting == 1 else "have"
        sentences.append(f"{plural(waiting, 'student')} {has} no final grade yet (waiting for manual grading).")
    return sentences


def most_frequent_first(mistakes: Sequence[Mistakes]) -> list[tuple[Label | None, MistakeLine]]:
    """The mistakes of all exercises: misconceptions before others, and of each those of most students first."""
    lines: list[tuple[Label | None, MistakeLine]] = []
    for of_exercise in mistakes:
        lines += [(of_exercise.exercise, line) for line in (*of_exercise.misconceptions, *of_exercise.other_mistakes)]
    return sorted(lines, key=lambda pair: (not isinstance(pair[1], MisconceptionLine), -pair[1].count))


def to_look_at(summary: Summary) -> list[tuple[str, str]]:
    """What an instructor should look at, with the section that says more."""
    kinds = Counter(line.kind for line in summary.stopped)
    counts = [
        ("waiting", len(summary.waiting), "submission", "waiting for manual grading"),
        ("no-grade", len(summary.no_grade), "submission", "without a grade"),
        ("empty", len(summary.empty), "notebook", "with nothing filled in"),
        ("stopped", kinds["timeout"], "timeout", ""),
        ("stopped", kinds["crash"], "crash", ""),
        ("denied", len(summary.denied), "submission", "that tried something not allowed"),
        ("in-process", len(summary.in_process), "test", "that can be fooled"),
        ("identical", len(summary.identical), "group", "with the same file or text"),
        ("late", len(summary.late), "late submission", ""),
        ("late-without-time", len(summary.late_without_time), "submission", "late by an unknown time"),
        ("no-time", len(summary.no_time), "submission", "without a submission time"),
        ("no-submission", len(summary.no_submission), "student", "without a submission"),
    ]
    return [(section, f"{plural(count, noun)} {remark}".strip()) for section, count, noun, remark in counts if count]


def duration(seconds: float) -> str:
    """A duration in its two largest units, such as 1 day 6 hours."""
    units = []
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(round(seconds), size)
        if count:
            units.append(plural(int(count), unit))
    return " ".join(units[:2])
