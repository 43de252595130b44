"""Work out what an instructor wants to know: what the class understood, what it did not, and whom to look at."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from grader.gradebook.graded import Stopped
from grader.gradebook.items import Item
from grader.gradebook.standing import Standing
from grader.gradebook.standings import ClassGrades
from grader.model.answer import sentence_of
from grader.model.label import Label, as_in
from grader.model.verdict import Reason, Verdict
from grader.pages.copies import Work, identical
from grader.pages.report_lines import (
    Bin,
    Counts,
    Denied,
    ExercisePoints,
    HeldMistake,
    Holders,
    Identical,
    LateStudent,
    Mistakes,
    Named,
    Points,
    StoppedCode,
    StudentLine,
    Summary,
)
from grader.pages.sentence_groups import said_of_each
from grader.term.rules import Rule
from grader.term.times import local

BINS = 12  # at most, in the distribution of points
ROUND = (0.5, 1, 2, 2.5, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000)  # widths that a bin may have


def summary(grades: ClassGrades, files: Mapping[str, str] | None = None) -> Summary:
    """Summarize a class. `files` are digests of submissions."""
    graded = grades.graded
    titles = _titles(graded)
    empty = {standing.student for standing in graded if _is_empty(standing, grades.course_solutions)}
    return Summary(
        assignment=grades.assignment,
        written=local(datetime.now(UTC), grades.zone).isoformat(timespec="seconds"),
        due=local(grades.duedate, grades.zone).isoformat() if grades.duedate else None,
        zone=grades.zone,
        environments=sorted({one.result.environment for one in graded if one.result.environment}),
        counts=Counts(len(grades.standings), len(graded)),
        points=_points(grades),
        exercises=[_exercise(item, titles, graded) for item in grades.items],
        mistakes=_mistakes([standing for standing in graded if standing.student not in empty], grades.items, titles),
        stopped=[line for standing in grades.submissions for line in _stopped(standing)],
        denied=[Denied(standing.student, standing.blocked) for standing in grades.submissions if standing.blocked],
        identical=_identical(grades, files or {}, empty),
        in_process=_in_process(graded),
        late=_late(graded),
        late_rule=grades.late.words if grades.late else "",
        late_without_time=[standing.student for standing in graded if standing.is_called_late],
        no_time=[one.student for one in graded if grades.late and not one.has_time and not one.is_called_late],
        waiting=[standing.student for standing in graded if standing.waits],
        empty=[standing.student for standing in graded if standing.student in empty],
        no_submission=[standing.student for standing in grades.standings if not standing.has_submitted],
        no_grade=[
            standing.student for standing in grades.standings if standing.has_submitted and not standing.is_graded
        ],
        students=[_student(standing, grades) for standing in grades.standings],
    )


def _titles(graded: Iterable[Standing]) -> dict[Label | None, str]:
    verdicts = [scored.verdict for standing in graded for scored in standing.verdicts]
    return {verdict.exercise: verdict.title for verdict in verdicts if verdict.exercise is not None}


def _is_empty(standing: Standing, given: Mapping[Label, Sequence[str]]) -> bool:
    """Whether nothing was filled in, or nothing can be read. Such a notebook would be in every list of mistakes.

    Missing functions are not enough: cells may be filled in with other names, or with code that does not run. An
    unreadable file becomes a notebook without these cells, or with blank ones.
    """
    reasons = {scored.verdict.reason for scored in standing.verdicts}
    if not reasons or not reasons <= {Reason.TO_DO, Reason.MISSING}:
        return False
    return reasons == {Reason.TO_DO} or all(
        source.split() in [known.split() for known in ("", *given.get(number, ()))]
        for number, source in standing.solutions.items()
    )


def _in_process(graded: Iterable[Standing]) -> list[str]:
    verdicts = [scored.verdict for standing in graded for scored in standing.verdicts]
    return list(dict.fromkeys(verdict.label for verdict in verdicts if verdict.in_process))


def _bin_width(most: float) -> float:
    """A round number that goes into `most` at most BINS times."""
    return next((width for width in ROUND if most / width <= BINS), math.ceil(most / BINS))


def _points(grades: ClassGrades) -> Points:
    """The points of a class and their distribution. Points above the maximum go into the last bin."""
    most = grades.max_points
    totals = [standing.total for standing in grades.graded if not standing.waits]
    so_far = [standing.total for standing in grades.graded if standing.waits]
    width = _bin_width(most) if most else 1.0
    count = max(1, math.ceil(most / width))
    final, open_ = (Counter(min(count - 1, int(total / width)) for total in some) for some in (totals, so_far))
    quarters = statistics.quantiles(totals, n=4, method="inclusive") if len(totals) > 1 else totals * 3
    return Points(
        max=most,
        max_without_rules=grades.without_rules,
        final=len(totals),
        mean=round(statistics.mean(totals), 2) if totals else None,
        median=round(quarters[1], 2) if totals else None,
        middle_half=(round(quarters[0], 2), round(quarters[2], 2)) if totals else None,
        full_marks=sum(total >= most for total in totals),
        distribution=[Bin(index * width, (index + 1) * width, final[index], open_[index]) for index in range(count)],
    )


def _exercise(item: Item, titles: Mapping[Label | None, str], graded: Sequence[Standing]) -> ExercisePoints:
    """How well an exercise was understood, whether it counts or not."""
    points = [standing.raw.get(item.cell, 0.0) for standing in graded if item.cell not in standing.waits]
    full = sum(earned >= item.max_points for earned in points)
    none = sum(earned <= 0 < item.max_points for earned in points)
    return ExercisePoints(
        exercise=item.label,
        title=titles.get(item.exercise, ""),
        max_points=item.max_points,
        full_marks=full,
        some_points=len(points) - full - none,
        no_points=none,
        waiting=len(graded) - len(points),
        share_of_full_marks=round(full / len(points), 4) if points else None,
        mean_points=round(statistics.mean(points), 2) if points else None,
        rule=item.rule.words if item.rule else "",
    )


def _verdicts(standing: Standing, items: Sequence[Item]) -> list[Verdict]:
    """The verdicts that still hold. Where a person gave full marks, or has yet to look, nothing counts as wrong."""
    by_hand = {
        item.exercise or item.name
        for item in items
        if item.cell in standing.waits or standing.raw.get(item.cell, 0.0) >= item.max_points > 0
    }
    verdicts = [scored.verdict for scored in standing.verdicts]
    return [one for one in verdicts if one.right or (one.exercise or one.title) not in by_hand]


def _mistakes(graded: Sequence[Standing], items: Sequence[Item], titles: Mapping[Label | None, str]) -> list[Mistakes]:
    named: dict[Label | None, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    others: dict[Label | None, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    says: dict[tuple[Label | None, str], str] = {}
    says_beside: dict[tuple[Label | None, str], str] = {}  # if there were several in one verdict
    for standing in graded:
        for verdict in _verdicts(standing, items):
            exercise, names = verdict.exercise, verdict.misconceptions
            for name in names:
                named[exercise][name].append(standing.student)
            for one in verdict.functions.values() or [verdict]:
                found = says if len(one.misconceptions) == 1 else says_beside
                found.update({(exercise, name): text for name, text in said_of_each(one).items()})
            if not names and not verdict.right:
                kind = f"{verdict.title}: {verdict.reason}" if verdict.in_process else verdict.reason
                others[exercise][kind].append(standing.student)
    return [
        Mistakes(
            exercise=exercise,
            title=titles.get(exercise, ""),
            misconceptions=[
                Named(name, len(students), students, (says_beside | says).get((exercise, name), ""))
                for name, students in _ranked(named[exercise])
            ],
            other_mistakes=[Holders(name, len(students), students) for name, students in _ranked(others[exercise])],
        )
        for exercise in as_in([item.exercise for item in items], {*named, *others})
    ]


def _ranked(found: Mapping[str, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """The mistakes and who made them, the most frequent first."""
    who = {str(name): list(dict.fromkeys(students)) for name, students in found.items()}
    return sorted(who.items(), key=lambda mistake: (-len(mistake[1]), mistake[0]))


def _stopped(standing: Standing) -> list[StoppedCode]:
    """Code that stopped in hidden cases or in a cell, each once even if both its cell and its verdict report it."""
    verdicts = [scored.verdict for scored in standing.verdicts]
    of_functions = [each for verdict in verdicts for each in (verdict.functions.values() or [verdict])]
    found = dict.fromkeys(Stopped(each.exercise, each.lost) for each in of_functions if each.lost)
    found |= dict.fromkeys(standing.stopped)
    return [
        StoppedCode(
            student=standing.student,
            exercise=stopped.exercise,
            kind="timeout" if stopped.lost.loss.is_timeout else "crash",
            said=sentence_of(stopped.lost),
        )
        for stopped in found
    ]


def _identical(grades: ClassGrades, files: Mapping[str, str], empty: Collection[str]) -> list[Identical]:
    works = {}
    for one in grades.submissions:
        file = "" if one.student in empty else files.get(one.student, "")
        works[one.student] = Work(one.solutions, one.result.words, file)
    return identical(works, grades.course_solutions, grades.course_words, grades.released_lines)


def _late(graded: Sequence[Standing]) -> list[LateStudent]:
    late = sorted((standing for standing in graded if standing.late_by), key=lambda standing: -standing.late_by)
    return [
        LateStudent(standing.student, round(standing.late_by.total_seconds()), standing.penalty) for standing in late
    ]


def _student(standing: Standing, grades: ClassGrades) -> StudentLine:
    has_grade = standing.is_graded
    waiting = grades.waiting.get(standing.student, ())
    status = (
        "waiting" if waiting else "graded" if has_grade else "no grade" if standing.has_submitted else "no submission"
    )
    return StudentLine(
        student=standing.student,
        last_name=standing.person.last_name,
        first_name=standing.person.first_name,
        status=status,
        points=round(standing.total, 2) if has_grade else None,
        penalty=standing.penalty,
        seconds_late=round(standing.late_by.total_seconds()),
        exercises={item.label: _counted(standing, item) for item in grades.items} if has_grade else {},
        waiting=waiting,
        misconceptions=[
            HeldMistake(verdict.exercise, name)
            for verdict in _verdicts(standing, grades.items)
            for name in verdict.misconceptions
        ],
        hand_in=standing.attempt,
    )


def _counted(standing: Standing, item: Item) -> float | None:
    """The points that count; None if the item is void, or waits for points from a person."""
    if item.rule is Rule.VOID or item.cell in standing.waits:
        return None
    return standing.counted.points.get(item.cell, 0.0)
